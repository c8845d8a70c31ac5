"""Measure the cost of missing cells: the loss per observed cell, divided by that of the complete table.

Run `cargo xtask bench missing` with EIGENHEDGE_DATA (or --data) set to the folder of real data.
Cells are removed at random. The limits are for a forgetting leader and for `auto`, each relative to
its own loss on the complete table. The loss of `auto` must also be at most that of the leader. The
last line for a table is the leader with missing cells set to the running mean of their column. Row
0 sets the center and has no loss.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import eigenhedge

K = 10
SHARES = (0.05, 0.2, 0.5)
BARS = (1.08, 1.3, 2.0)
LEADER = {"learner": "forgetting-leader", "forget": 0.95}


def tep(data: Path) -> np.ndarray:
    """Return the rows of TEP, standardized by the first 400 rows and clipped at ±10."""
    rows = pd.read_csv(data / "tep.csv").drop(columns=["run", "t", "label_fault"]).to_numpy()
    return np.clip((rows - rows[:400].mean(axis=0)) / rows[:400].std(axis=0), -10.0, 10.0)


def pems(data: Path) -> np.ndarray:
    archive = np.load(data / "pems228.npz")
    return archive[archive.files[0]].astype(float)


def at_running_mean(rows: np.ndarray) -> np.ndarray:
    is_there = ~np.isnan(rows)
    counts = np.cumsum(is_there, axis=0)
    means = np.cumsum(np.where(is_there, rows, 0.0), axis=0) / np.maximum(counts, 1)
    return np.where(is_there, rows, means)


def filled(**options: object) -> Callable[[np.ndarray], float]:
    """Return a function for the loss per observed cell of a learner that fills cells."""

    def loss(rows: np.ndarray) -> float:
        run = eigenhedge.run(rows, K, missing="fill", **options)
        return run.expected_losses[1:].sum() / (~np.isnan(rows[1:])).sum()

    return loss


def mean_imputed(rows: np.ndarray) -> float:
    run = eigenhedge.run(at_running_mean(rows), K, reconstructions=True, **LEADER)
    return np.nansum((rows[1:] - run.reconstructions[1:]) ** 2) / (~np.isnan(rows[1:])).sum()


LEARNERS = {"forgetting-leader 0.95": filled(**LEADER), "auto": filled(), "running mean": mean_imputed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("EIGENHEDGE_DATA"))
    parser.add_argument("--masks", type=int, default=3, help="masks that are drawn for each share of missing cells")
    options = parser.parse_args()
    if options.data is None:
        print("not measured: EIGENHEDGE_DATA names no folder")
        return
    missed = []
    for table, read in (("TEP", tep), ("PeMS", pems)):
        rows = read(Path(options.data))
        leader: list[float] = []
        for name, loss in LEARNERS.items():
            complete = loss(rows)
            losses = []
            for share in SHARES:
                masks = (np.random.default_rng(seed).random(rows.shape) < share for seed in range(options.masks))
                losses.append(np.mean([loss(np.where(mask, np.nan, rows)) for mask in masks]))
            cells = "".join(f"{lost / complete:8.3f}" for lost in losses)
            print(f"{table:<5} {name:<24} complete {complete:10.5f}   5, 20, 50 % missing: {cells}", flush=True)
            if name == "running mean":
                continue
            leader = leader or losses
            for share, lost, bar, other in zip(SHARES, losses, BARS, leader, strict=True):
                case = f"{table}, {name}, {100 * share:.0f} %"
                missed += [f"{case}: {lost / complete:.3f} > {bar}"] if lost > bar * complete else []
                missed += [f"{case}: more than the leader"] if lost > other else []
    print("all bars met" if not missed else "missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
