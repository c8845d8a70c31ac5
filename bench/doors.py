"""Measure the time per row of the Python interfaces ("doors"), compared with IncrementalPCA.

Usage: doors.py [--quick]

Doors: `Model.learn` without and with the best subspace in hindsight, `run`, `OnlinePCA.partial_fit`
with 1, 100 and all rows per call, and `learn_one` of River. Times are processor times of one thread
in microseconds per row, the medians of interleaved laps. Numbers in brackets are ratios to
`Model.learn` without hindsight. The script prints a verdict for each limit. Without --quick, its
status is 1 if a limit is exceeded.
"""

import os
import sys
import time
from statistics import median

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from sklearn.decomposition import IncrementalPCA  # noqa: E402

import eigenhedge  # noqa: E402
from eigenhedge import Model, OnlinePCA, river  # noqa: E402

SIZES = [(16, 4, 6000), (64, 10, 4000), (256, 10, 2000), (1024, 10, 1200)]
#: Number of rows for the doors that process one row per call, which are slow.
FEW = 300


def pieces(X, rows):
    return [X[i : i + rows] for i in range(0, len(X), rows)]


def partial(X, k, learner, rows):
    model = OnlinePCA(k, learner=learner)
    for piece in pieces(X, rows):
        model.partial_fit(piece)


def one_by_one(X, k, learner):
    model = river.OnlinePCA(k, learner=learner)
    for row in X:
        model.learn_one(dict(enumerate(row)))


def incremental(X, k, rows):
    model = IncrementalPCA(k)
    model.partial_fit(X[: max(rows, k)])
    for piece in pieces(X[max(rows, k) :], rows):
        if len(piece) == rows:
            model.partial_fit(piece)


def doors(X, k, learner):
    n, few, rows = X.shape[1], X[:FEW], len(X)
    yield "learn", rows, lambda: Model(n, k, learner=learner, hindsight=False).learn(X)
    yield "learn, account", rows, lambda: Model(n, k, learner=learner).learn(X)
    yield "run", rows, lambda: eigenhedge.run(X, k, learner=learner)
    yield "partial_fit, all", rows, lambda: partial(X, k, learner, rows)
    yield "partial_fit, 100", rows, lambda: partial(X, k, learner, 100)
    yield "partial_fit, 1", FEW, lambda: partial(few, k, learner, 1)
    yield "learn_one", FEW, lambda: one_by_one(few, k, learner)
    if learner == "tracking" and n == 64:
        yield "IncrementalPCA, 256", rows, lambda: incremental(X, k, 256)
        yield "IncrementalPCA, 1", FEW, lambda: incremental(few, k, 1)


def measure(X, k, learner, laps):
    found = list(doors(X, k, learner))
    seconds = {name: [] for name, _, _ in found}
    for _ in range(laps):
        for name, rows, work in found:
            start = time.process_time()
            work()
            seconds[name].append(1e6 * (time.process_time() - start) / rows)
    return {name: median(times) for name, times in seconds.items()}


def verdicts(n, times):
    """Yield the claim, the measured number and its upper limit for each requirement."""
    if n in (64, 1024):
        yield "run / learn with the account", times["run"] / times["learn, account"], 1.3
    if "IncrementalPCA, 1" in times:
        yield "run / IncrementalPCA in batches of 256", times["run"] / times["IncrementalPCA, 256"], 1.0
        yield "run / IncrementalPCA row by row", times["run"] / times["IncrementalPCA, 1"], 1 / 60


def main():
    laps = 1 if "--quick" in sys.argv else 5
    eigenhedge.set_threads(1)
    rng, failed = np.random.default_rng(3), False
    for n, k, rows in SIZES:
        frame = np.linalg.qr(rng.normal(size=(n, k)))[0]
        X = rng.normal(size=(rows, k)) @ frame.T + 0.4 * np.sqrt(k / n) * rng.normal(size=(rows, n))
        for learner in ("tracking", "auto"):
            times = measure(X, k, learner, laps)
            cells = "  ".join(f"{name} {time:.1f} [{time / times['learn']:.2f}]" for name, time in times.items())
            print(f"n = {n:<5} k = {k:<3} {learner:<9} {cells}", flush=True)
            for claim, number, limit in verdicts(n, times):
                failed |= number > limit
                print(f"    {'met' if number <= limit else 'NOT MET'}: {claim}: {number:.3f}, at most {limit:.3f}")
    sys.exit(1 if failed and laps > 1 else 0)


if __name__ == "__main__":
    main()
