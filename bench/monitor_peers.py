"""Compares the monitor with PCA's T²+Q, an isolation forest, River's HalfSpaceTrees and PyOD's PCA, on real sensors with labels.

Run `cargo xtask bench monitor peers` with EIGENHEDGE_DATA (or --data) set to the folder of real data. All are trained on the
rows that the protocols define as training, see no labels, and have one setting for all runs of a set. The limit of the peers is
the 0.99 quantile of their training scores. The monitor has its default limit, which one percent of normal rows should exceed.
Its incidents count as an alarm. PyOD is left out where it is not installed: `target/python/environment/bin/pip install
pyod`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from river import anomaly, preprocessing
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

import eigenhedge

QUANTILE = 0.99
#: Scores and alarms of the rows after the training rows.
Answer = tuple[np.ndarray, np.ndarray]
Peer = Callable[[np.ndarray, np.ndarray], Answer]


def monitor(lags: int) -> Peer:
    """The monitor of this package."""

    def answer(train: np.ndarray, rows: np.ndarray) -> Answer:
        alarms = eigenhedge.Monitor(lags=lags).fit(train).update(rows)
        # Rows without earlier rows have no score.
        return np.nan_to_num(alarms.score), alarms.alarm | alarms.in_incident

    return answer


def by_quantile(score: Callable[[np.ndarray], np.ndarray], train: np.ndarray, rows: np.ndarray) -> Answer:
    """Scores, with a quantile of the training scores as the limit."""
    scores = score(rows)
    return scores, scores > np.quantile(score(train), QUANTILE)


def t2_and_q(train: np.ndarray, rows: np.ndarray) -> Answer:
    """PCA that explains 0.85 of the variance: the larger of T² and Q, each divided by its quantile."""
    scaler = StandardScaler().fit(train)
    pca = PCA(0.85).fit(scaler.transform(train))

    def parts(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = scaler.transform(rows)
        t = pca.transform(z)
        return (t**2 / pca.explained_variance_).sum(axis=1), ((z - pca.inverse_transform(t)) ** 2).sum(axis=1)

    scales = [np.quantile(part, QUANTILE) for part in parts(train)]

    def score(rows: np.ndarray) -> np.ndarray:
        return np.maximum(*[part / scale for part, scale in zip(parts(rows), scales, strict=True)])

    return by_quantile(score, train, rows)


def isolation_forest(train: np.ndarray, rows: np.ndarray) -> Answer:
    """scikit-learn's isolation forest with its defaults."""
    forest = IsolationForest(random_state=0).fit(train)
    return by_quantile(lambda rows: -forest.score_samples(rows), train, rows)


def half_space_trees(train: np.ndarray, rows: np.ndarray) -> Answer:
    """River's HalfSpaceTrees with its defaults, which keep learning."""
    model = preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(seed=0)
    scores = []
    for row in np.vstack([train, rows]):
        x = dict(enumerate(row.tolist()))
        scores.append(model.score_one(x))
        model.learn_one(x)
    # The first window of 250 rows has no score.
    limit, after = np.quantile(scores[250 : len(train)], QUANTILE), np.array(scores[len(train) :])
    return after, after > limit


def every_row(train: np.ndarray, rows: np.ndarray) -> Answer:
    """An alarm on every row, to compare with."""
    return np.zeros(len(rows)), np.ones(len(rows), dtype=bool)


def pyod_pca(train: np.ndarray, rows: np.ndarray) -> Answer:
    """PyOD's PCA with its defaults: distances along all components, each divided by its eigenvalue."""
    from pyod.models.pca import PCA as Detector

    return by_quantile(Detector(random_state=0).fit(train).decision_function, train, rows)


def peers(lags: int) -> dict[str, Peer]:
    """All methods by name."""
    known = {
        f"eigenhedge monitor, lags {lags}": monitor(lags),
        "eigenhedge monitor": monitor(0),
        "PCA T²+Q": t2_and_q,
        "isolation forest": isolation_forest,
        "HalfSpaceTrees": half_space_trees,
        "an alarm on every row": every_row,
        "PyOD PCA": pyod_pca,
    }
    if importlib.util.find_spec("pyod") is None:
        del known["PyOD PCA"]
    return known


def skab(data: Path) -> pd.DataFrame:
    """SKAB by its published protocol: 34 runs, the first 400 rows of each are training."""
    table = pd.read_csv(data / "skab.csv")
    table = table[table["run"] != "anomaly-free/anomaly-free"]
    lines = []
    for name, peer in peers(5).items():
        labels, scores, alarms = [], [], []
        for _, run in table.groupby("run", sort=False):
            rows = run.drop(columns=["run", "datetime", "label_anomaly", "label_changepoint"]).to_numpy()
            score, alarm = peer(rows[:400], rows[400:])
            labels.append(run["label_anomaly"].to_numpy()[400:] > 0)
            scores.append(score)
            alarms.append(alarm)
        y, s, a = map(np.concatenate, (labels, scores, alarms))
        f1 = 2 * (y & a).sum() / (y.sum() + a.sum())
        lines.append((name, f1, a[~y].mean(), (~a)[y].mean(), roc_auc_score(y, s)))
    return pd.DataFrame(lines, columns=["SKAB", "F1", "false alarms", "missed", "AUC"])


def tep(data: Path) -> pd.DataFrame:
    """TEP, trained on the normal run."""
    table = pd.read_csv(data / "tep.csv")
    features = table.columns.drop(["run", "t", "label_fault"])
    train = table.loc[table["run"] == "d00_train", features].to_numpy()
    lines = []
    for name, peer in peers(2).items():
        areas, false = [], []
        for _, run in table[table["run"] != "d00_train"].groupby("run", sort=False):
            score, alarm = peer(train, run[features].to_numpy())
            y = run["label_fault"].to_numpy() > 0
            false.append(alarm[~y])
            if y.any() and not y.all():
                areas.append(roc_auc_score(y, score))
        lines.append((name, np.mean(areas), min(areas), np.concatenate(false).mean()))
    return pd.DataFrame(lines, columns=["TEP", "mean AUC", "least AUC", "false alarms"])


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("EIGENHEDGE_DATA"))
    args = parser.parse_args()
    for name, measure in [("skab.csv", skab), ("tep.csv", tep)]:
        if args.data is None or not (Path(args.data) / name).exists():
            print(f"not measured: {name} is not there")
            continue
        print(measure(Path(args.data)).to_string(index=False, float_format=lambda x: f"{x:.3f}"), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
