"""Compare the monitor with other detectors on labeled sensor data.

Run `cargo xtask bench monitor peers` with EIGENHEDGE_DATA (or --data) set to the folder of real
data. All methods are trained on the training rows of the protocols, see no labels, and have the
same options for all runs of a data set. The limit of the peers is the 0.99 quantile of their
training scores. The monitor has its default limit, which 1 % of normal rows should exceed. Its
incidents count as alarms. PyOD is left out unless it is installed:
`target/python/environment/bin/pip install pyod`.
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
    """Return the monitor of this package as a peer."""

    def answer(train: np.ndarray, rows: np.ndarray) -> Answer:
        alarms = eigenhedge.Monitor(lags=lags).fit(train).update(rows)
        # The first rows have no score if there are too few previous rows for the lags.
        return np.nan_to_num(alarms.score), alarms.alarm | alarms.in_incident

    return answer


def by_quantile(score: Callable[[np.ndarray], np.ndarray], train: np.ndarray, rows: np.ndarray) -> Answer:
    """Return the scores of `rows`, and the alarms with a quantile of the training scores as the limit."""
    scores = score(rows)
    return scores, scores > np.quantile(score(train), QUANTILE)


def t2_and_q(train: np.ndarray, rows: np.ndarray) -> Answer:
    """Score rows by the larger of T² and Q of PCA, each divided by its training quantile."""
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
    forest = IsolationForest(random_state=0).fit(train)
    return by_quantile(lambda rows: -forest.score_samples(rows), train, rows)


def half_space_trees(train: np.ndarray, rows: np.ndarray) -> Answer:
    """Score rows by River's HalfSpaceTrees, which also learns after the training rows."""
    model = preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(seed=0)
    scores = []
    for row in np.vstack([train, rows]):
        x = dict(enumerate(row.tolist()))
        scores.append(model.score_one(x))
        model.learn_one(x)
    # Rows of the first window, of 250 rows, have no score.
    limit, after = np.quantile(scores[250 : len(train)], QUANTILE), np.array(scores[len(train) :])
    return after, after > limit


def every_row(train: np.ndarray, rows: np.ndarray) -> Answer:
    """Raise an alarm on every row, as a baseline."""
    return np.zeros(len(rows)), np.ones(len(rows), dtype=bool)


def pyod_pca(train: np.ndarray, rows: np.ndarray) -> Answer:
    """Score rows by PyOD's PCA: distances along all components, divided by eigenvalues."""
    from pyod.models.pca import PCA as Detector

    return by_quantile(Detector(random_state=0).fit(train).decision_function, train, rows)


def peers(lags: int) -> dict[str, Peer]:
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
    """Compare on SKAB: 34 runs, with the first 400 rows of each for training."""
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
    """Compare on TEP, with training on the normal run."""
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
