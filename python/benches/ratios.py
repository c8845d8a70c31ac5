"""Measures the package against the limits that it must keep. Exits with 1 when one is broken.

Everything is a ratio of two times of the same run, so that the machine matters little; each is the least of several.
"""

import sys
import threading
import time

import numpy as np
from sklearn.decomposition import IncrementalPCA

from eigenhedge import Learner, OnlinePCA

N, K = 64, 10
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, K)) @ rng.normal(size=(K, N)) + 0.1 * rng.normal(size=(4000, N))
failed = False


def least(work, times=5):
    """Shortest time of several."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def judge(what, value, limit, kept):
    global failed
    failed |= not kept
    print(f"{'ok  ' if kept else 'FAIL'} {what:<72} {value:>10} (limit {limit})")


def per_row(model, rows=200):
    """Seconds for one row, given one by one."""
    pieces = [X[i : i + 1] for i in range(1000, 1000 + rows)]
    return least(lambda: [model.partial_fit(piece) for piece in pieces]) / rows


theirs = per_row(IncrementalPCA(K).fit(X[:1000]))
print(f"IncrementalPCA.partial_fit of one row: {1e6 * theirs:.1f} µs")
for learner in ["anchored", "tracking", "auto"]:
    for hindsight in [True, False]:
        ours = per_row(OnlinePCA(K, learner=learner, hindsight=hindsight).fit(X[:1000]))
        text = f"OnlinePCA({learner}, hindsight={hindsight}).partial_fit of one row is faster by"
        wanted = learner == "anchored" or learner == "tracking"
        judge(text, f"{theirs / ours:.1f} x", "5 x" if wanted else "none", not wanted or theirs / ours >= 5)

for learner, eta, hindsight, wanted in [("tracking", None, True, False), ("tracking", None, False, True), ("oja", None, False, False), ("gha", None, False, False), ("anchored", None, False, False)]:
    model = Learner(N, 1 if learner == "oja" else K, learner=learner, hindsight=hindsight)
    model.learn(X[:1000])
    rows = list(X[1000:2000])
    ours = least(lambda: [model.step(row) for row in rows]) / len(rows)
    text = f"Learner({learner}, hindsight={hindsight}).step of one row is faster by"
    judge(text, f"{theirs / ours:.1f} x", "50 x" if wanted else "none", not wanted or theirs / ours >= 50)

for learner in ["anchored", "tracking"]:
    estimator = OnlinePCA(K, learner=learner, random_state=0)
    for block in [100, 1000]:
        pieces = [X[i : i + block] for i in range(1000, 3000, block)]

        def blocks():
            model = OnlinePCA(K, learner=learner, random_state=0).partial_fit(X[:1000])
            start = time.perf_counter()
            for piece in pieces:
                model.partial_fit(piece)
            # The ledger's seconds are those spent in Rust.
            return time.perf_counter() - start

        def rust():
            model = Learner(N, K, learner=learner, seed=0)
            model.learn(X[:1000])
            before = model.ledger["seconds"]
            for piece in pieces:
                model.learn(piece)
            return model.ledger["seconds"] - before

        over = (min(blocks() for _ in range(5)) - min(rust() for _ in range(5))) / 2000
        text = f"{learner}, blocks of {block}: Python's share of the time of one row"
        judge(text, f"{1e6 * over:.2f} µs", "3 µs", over <= 3e-6)


def fit():
    OnlinePCA(K, random_state=0).fit(X)


def both():
    threads = [threading.Thread(target=fit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ratio = least(both, 4) / least(fit, 4)
judge("two threads that fit two models take, of the time of one", f"{ratio:.2f} x", "1.3 x", ratio < 1.3)
sys.exit(failed)
