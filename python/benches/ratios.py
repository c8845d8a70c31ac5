"""Measure the speed of the package, and exit with status 1 if a limit is not kept.

The limits are ratios or differences of times of the same run, so they depend little on the machine.
Times are processor times of one thread, each the shortest of several laps. The last line, about two
threads, compares elapsed times, and needs two free cores.
"""

import sys
import threading
import time

import numpy as np
from sklearn.decomposition import IncrementalPCA
from threadpoolctl import threadpool_limits

from eigenhedge import Model, OnlinePCA

N, K = 64, 10
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, K)) @ rng.normal(size=(K, N)) + 0.1 * rng.normal(size=(4000, N))
failed = False


def least(work, times=7, clock=time.thread_time):
    best = float("inf")
    for _ in range(times):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def judge(what, value, limit, kept):
    global failed
    failed |= not kept
    print(f"{'ok  ' if kept else 'FAIL'} {what:<72} {value:>10} (limit {limit})")


def per_row(model, rows=200):
    pieces = [X[i : i + 1] for i in range(1000, 1000 + rows)]
    return least(lambda: [model.partial_fit(piece) for piece in pieces]) / rows


with threadpool_limits(1):
    theirs = per_row(IncrementalPCA(K).fit(X[:1000]))
print(f"IncrementalPCA.partial_fit of one row: {1e6 * theirs:.1f} µs")
for learner in ["anchored", "tracking", "auto"]:
    for hindsight in [True, False]:
        ours = per_row(OnlinePCA(K, learner=learner, hindsight=hindsight).fit(X[:1000]))
        text = f"OnlinePCA({learner}, hindsight={hindsight}).partial_fit of one row is faster by"
        wanted = learner == "anchored" or learner == "tracking"
        judge(text, f"{theirs / ours:.1f} x", "5 x" if wanted else "none", not wanted or theirs / ours >= 5)

CASES = [
    ("tracking", {"mixing": "none"}, True),
    ("tracking", {"max_rank": 12}, False),
    ("tracking", {}, True),
    ("gha", {}, True),
    ("oja", {}, True),
    ("anchored", {}, False),
]
for learner, options, wanted in CASES:
    model = Model(N, 1 if learner == "oja" else K, learner=learner, hindsight=False, **options)
    model.learn(X[:2000])
    rows = list(X[2000:3000])
    ours = least(lambda: [model.step(row) for row in rows]) / len(rows)
    text = f"Model({learner}, {options}).step ({1e6 * ours:.1f} µs) is faster by"
    judge(text, f"{theirs / ours:.1f} x", "50 x" if wanted else "none", not wanted or theirs / ours >= 50)

for learner in ["anchored", "tracking"]:
    for block in [100, 1000]:
        pieces = [X[i : i + block] for i in range(1000, 3000, block)]
        through, bare = [], []
        for _ in range(7):
            model = OnlinePCA(K, learner=learner, random_state=0).partial_fit(X[:1000])
            through.append(least(lambda: [model.partial_fit(piece) for piece in pieces], 1))
            model = Model(N, K, learner=learner, seed=0)
            model.learn(X[:1000])
            bare.append(least(lambda: model.learn(X[1000:3000]), 1))
        over = (min(through) - min(bare)) / 2000
        text = f"{learner}, blocks of {block}: time of one row above that of one call for all"
        judge(text, f"{1e6 * over:.2f} µs", "3 µs", over <= 3e-6)


def fit():
    OnlinePCA(K, random_state=0).fit(X)


def both():
    threads = [threading.Thread(target=fit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ratio = least(both, 5, time.perf_counter) / least(fit, 5, time.perf_counter)
judge("two threads that fit two models take, of the time of one", f"{ratio:.2f} x", "1.3 x", ratio < 1.3)
sys.exit(failed)
