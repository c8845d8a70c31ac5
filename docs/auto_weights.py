"""Draws docs/src/figures/auto-weights.svg: the weights of the members of `auto` on the stream of the demo.

Usage: auto_weights.py STREAM PICTURE, with the file of `eigenhedge make three-subspaces --out STREAM`
"""

import sys

import matplotlib
import numpy as np
from matplotlib import pyplot

import eigenhedge

BLOCK = 10


def title(name: str) -> str:
    name = name.rsplit(", rank", 1)[0]
    return name.removesuffix(" eta auto").replace("forgetting-leader", "forgetting")


def main(table: str, picture: str) -> None:
    """Record the weights after each row, average them over blocks, and draw them as a stack."""
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    model = eigenhedge.Model(rows.shape[1], 2, hindsight=False)
    weights = []
    for row in rows:
        model.step(row)
        weights.append([member["weight"] for member in model.summary["members"]])
    names = [title(member["name"]) for member in model.summary["members"]]
    means = np.array(weights).reshape(-1, BLOCK, len(names)).mean(axis=1)
    matplotlib.rcParams.update({"svg.hashsalt": "weights", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11})
    figure, axes = pyplot.subplots(figsize=(6.4, 4.6))
    axes.stackplot(np.arange(len(means)) * BLOCK, means.T, labels=names, colors=pyplot.colormaps["tab10"].colors)
    axes.set(xlabel="row", ylabel="weight", xlim=(0, len(rows) - BLOCK), ylim=(0, 1))
    figure.legend(loc="lower center", ncols=2, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.3, 1, 1))
    figure.savefig(picture, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main(*sys.argv[1:])
