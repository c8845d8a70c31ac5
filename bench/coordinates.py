"""Measure the accuracy of River's logistic regression on four coordinates of ELEC2.

`EIGENHEDGE_DATA` must name the folder of `elec2.csv`. The first table is for the first 12,000 rows,
standardized by the first 400. The class of each row is predicted from its coordinates before the
row is learned. The last column is the share of rows after which a direction of the basis turned by
more than 45 degrees, including changes of sign. The second table has the accuracy on columns and on
coordinates, for other scales and for the whole stream.
"""

import csv
import os
import sys
from pathlib import Path

import numpy as np
from river import linear_model, preprocessing

import eigenhedge
from eigenhedge.river import OnlinePCA

ROWS, WARM_UP, K = 12_000, 400, 4


def whole_stream(path):
    with path.open() as file:
        table = np.array([[float(cell) for cell in line] for line in list(csv.reader(file))[1:]])
    return table[:, :-1], table[:, -1] > 0


def by_first_rows(X):
    """Return the rows, standardized by the first 400."""
    deviation = X[:WARM_UP].std(axis=0)
    deviation[deviation < 1e-12] = 1.0
    return (X - X[:WARM_UP].mean(axis=0)) / deviation


def by_rows_so_far(X):
    """Return the rows, each standardized by the rows so far with River's StandardScaler."""
    scaler, scaled = preprocessing.StandardScaler(), []
    for x in X.tolist():
        row = dict(enumerate(x))
        scaler.learn_one(row)
        scaled.append(list(scaler.transform_one(row).values()))
    return np.array(scaled)


def accuracy(Z, labels):
    """Return the share of rows whose label is predicted correctly by a model of earlier rows."""
    model, right = linear_model.LogisticRegression(), 0
    for z, label in zip(Z, labels, strict=True):
        x = dict(enumerate(z))
        right += model.predict_one(x) == label
        model.learn_one(x, bool(label))
    return right / len(labels)


def by_transformer(X, learner):
    """Return the coordinates from `transform_one`, and the share of rows that turn the basis."""
    pca, Z, turns, last = OnlinePCA(K, learner=learner), [], 0, None
    for x in X:
        row = dict(enumerate(x.tolist()))
        z = pca.transform_one(row)
        Z.append([z[j] for j in range(K)])
        pca.learn_one(row)
        origin, *unit = pca._model._embed_next(np.vstack([np.zeros(X.shape[1]), np.eye(X.shape[1])]))[0]
        basis = np.array(unit) - origin
        if last is not None:
            known = (last**2).sum(axis=0) > 0.5
            turns += bool(((basis * last).sum(axis=0)[known] < np.sqrt(0.5)).any())
        last = basis
    return Z, turns / len(X)


def main():
    folder = os.environ.get("EIGENHEDGE_DATA")
    if folder is None or not (Path(folder) / "elec2.csv").is_file():
        sys.exit("EIGENHEDGE_DATA must name a folder with elec2.csv: skipped")
    raw, all_labels = whole_stream(Path(folder) / "elec2.csv")
    X, labels = by_first_rows(raw)[:ROWS], all_labels[:ROWS]
    print(f"{'columns':20} {accuracy(X.tolist(), labels):.3f}")
    print(f"{'learner':20} aligned  drawn  transform_one  turns")
    for learner in ["anchored", "tracking", "auto"]:
        found = [
            accuracy(eigenhedge.run(X, K, learner=learner, coordinates=form).coordinates.tolist(), labels)
            for form in ["aligned", "drawn"]
        ]
        Z, turns = by_transformer(X, learner)
        print(f"{learner:20} {found[0]:7.3f} {found[1]:6.3f} {accuracy(Z, labels):14.3f} {turns:6.2%}", flush=True)
    scales = {
        "not scaled": raw,
        "scaled by the first 400 rows": by_first_rows(raw),
        "scaled by the rows so far": by_rows_so_far(raw),
    }
    print(f"\n{'rows and scale':42} columns anchored auto")
    for scale, scaled in scales.items():
        for rows in (ROWS, len(raw)):
            X, labels = scaled[:rows], all_labels[:rows]
            found = [
                accuracy(eigenhedge.run(X, K, learner=learner).coordinates.tolist(), labels) for learner in ("anchored", "auto")
            ]
            print(f"{rows} rows, {scale:30} {accuracy(X.tolist(), labels):7.3f} {found[0]:8.3f} {found[1]:5.3f}", flush=True)


if __name__ == "__main__":
    main()
