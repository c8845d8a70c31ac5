"""Measure the errors of cells filled by `auto` and other methods, on streams of up to 14 columns.

Run `cargo xtask bench imputation` with EIGENHEDGE_DATA (or --data) set to the folder of real data.
Cells are removed at random, or in a block of 100 rows of each column. `auto`, the last value and
the mean of the last 100 rows know only earlier rows and the other cells of the row. Linear
interpolation and scikit-learn's IterativeImputer know the whole table. The error is the root mean
square over the removed cells from row 200 on. Errors are averaged over the streams by the geometric
mean. The coverage of `auto` is the share of these cells within 1.645 standard errors.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from streams import features

import eigenhedge

ROWS = 1000
FIRST = 200
BLOCK = 100
WITHIN = 1.645
# Maximum number of columns, because IterativeImputer fits a regression for each column.
MOST_COLUMNS = 14


def tables(data: Path) -> dict[str, np.ndarray]:
    """Return the streams by name, with columns of mean 0 and standard deviation 1."""
    found = {file.stem: np.load(file)["rows"] for file in sorted((data / "streams").glob("*.npz"))}
    found |= {"weather": features(data / "noaa_weather.csv"), "elec2": features(data / "elec2.csv")[-ROWS:]}
    found = {name: rows for name, rows in found.items() if rows.shape[1] <= MOST_COLUMNS}
    standard = {}
    for name, rows in found.items():
        used = rows[:ROWS].astype(float)
        used = used[:, used.std(axis=0) > 0]
        standard[name] = (used - used.mean(axis=0)) / used.std(axis=0)
    return standard


def holes(shape: tuple[int, int], kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return True for each cell to remove. `kind` is a share of the cells, or "block"."""
    if kind != "block":
        return rng.random(shape) < float(kind)
    mask = np.zeros(shape, bool)
    for column, first in enumerate(rng.integers(FIRST, shape[0] - BLOCK, shape[1])):
        mask[first : first + BLOCK, column] = True
    return mask


def online(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows as filled by `auto`, and the standard errors of the filled cells."""
    run = eigenhedge.run(rows, max(1, rows.shape[1] // 3), missing="fill", filled=True, best="none")
    return run.filled, run.fill_errors


def rolling(rows: np.ndarray) -> np.ndarray:
    means = pd.DataFrame(rows).rolling(BLOCK, min_periods=1).mean().shift(1).ffill().to_numpy()
    return np.where(np.isnan(rows), means, rows)


def iterative(rows: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return IterativeImputer(random_state=0, keep_empty_features=True).fit_transform(rows)


WAYS = {
    "last value": lambda rows: pd.DataFrame(rows).ffill().to_numpy(),
    "mean of the last 100 rows": rolling,
    "linear interpolation": lambda rows: pd.DataFrame(rows).interpolate(limit_direction="both").to_numpy(),
    "IterativeImputer": iterative,
}


def error(filled: np.ndarray, rows: np.ndarray, mask: np.ndarray) -> float:
    """Return the root mean square error of the removed cells. NaN counts as 0, the mean."""
    return float(np.sqrt(np.mean((np.nan_to_num(filled[mask]) - rows[mask]) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("EIGENHEDGE_DATA"))
    parser.add_argument("--only", nargs="*", help="names of streams")
    options = parser.parse_args()
    if options.data is None:
        print("not measured: EIGENHEDGE_DATA names no folder")
        return
    streams = {name: rows for name, rows in tables(Path(options.data)).items() if not options.only or name in options.only}
    for kind in ("0.05", "0.2", "block"):
        case = "a block of 100 rows" if kind == "block" else f"{float(kind):.0%} of the cells"
        errors: dict[str, list[float]] = {}
        covered = []
        for name, rows in streams.items():
            removed = holes(rows.shape, kind, np.random.default_rng(0))
            table = np.where(removed, np.nan, rows)
            mask = removed.copy()
            mask[:FIRST] = False
            filled, deviations = online(table)
            of = {"auto": error(filled, rows, mask)} | {way: error(fill(table), rows, mask) for way, fill in WAYS.items()}
            [errors.setdefault(way, []).append(lost) for way, lost in of.items()]
            covered.append(float((np.abs(filled - rows) <= WITHIN * deviations)[mask].mean()))
            text = ", ".join(f"{way} {lost:.3f}" for way, lost in of.items())
            print(f"{case}, {name}: {text}; 90 % intervals hold {covered[-1]:.1%}", flush=True)
        for way, lost in errors.items():
            print(f"mean, {case}, {way}: {np.exp(np.mean(np.log(lost))):.3f}")
        print(f"mean, {case}, 90 % intervals hold {np.mean(covered):.1%} (least {min(covered):.1%}, most {max(covered):.1%})")


if __name__ == "__main__":
    main()
