"""Compare the speed and prequential loss of eigenhedge and its peers on the same streams.

Usage: peers.py [--quick] [--only PART] [--out FOLDER] [--threads N]

Parts: linear, table, kernel, textbook. The loss of a row is measured before the row is learned. In
the linear part, the loss is printed as the total squared reconstruction error divided by that of the
best fixed subspace in hindsight (around its best center). Contenders alternate, lap by lap, so that
a slow phase of the machine affects all of them. A ratio is the median over laps. The script writes
peers.json, peers.md and plots to FOLDER, prints verdicts, and exits with status 1 if one fails.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# NumPy's libraries read these variables only when they are loaded.
THREADS = next((b for a, b in zip(sys.argv, sys.argv[1:]) if a == "--threads"), "1")
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = THREADS

import numpy as np  # noqa: E402
import results_io  # noqa: E402
import streams  # noqa: E402
import verdicts  # noqa: E402
from contenders import Ccipca, Crate, Hedged, Incremental, Oja, Refitted, Textbook, best_fixed  # noqa: E402
from sklearn.decomposition import KernelPCA  # noqa: E402
from sklearn.kernel_approximation import Nystroem, RBFSampler  # noqa: E402

import eigenhedge  # noqa: E402

# Peers compute no coordinates. Drawn coordinates cost almost nothing.
QUIET = {"center": True, "norm_bound": "auto", "hindsight": False, "coordinates": "drawn"}
OURS = {
    "eigenhedge tracking": {"learner": "tracking", "eta": 4.0, "mixing": "none"},
    "eigenhedge tracking, fixed share": {"learner": "tracking", "eta": 4.0, "mixing": "fixed-share"},
    "eigenhedge auto": {"learner": "auto"},
}
PEERS = {
    "IncrementalPCA, batches of 1": (lambda k, n: Incremental(k), lambda k: 1),
    "IncrementalPCA, batches of k": (lambda k, n: Incremental(k), lambda k: k),
    "IncrementalPCA, batches of 256": (lambda k, n: Incremental(k), lambda k: 256),
    "PCA refitted every 500 rows": (lambda k, n: Refitted(k), lambda k: 500),
    "Oja, NumPy": (lambda k, n: Oja(k, n), lambda k: 1),
    "CCIPCA, NumPy": (lambda k, n: Ccipca(k, n), lambda k: 1),
}
if Crate.PROGRAM:
    PEERS["CCIPCA, Rust (irithyll)"] = (lambda k, n: Crate(k), lambda k: 1)
MADE = {"iid": streams.iid, "drift": streams.drift, "switch": streams.switch,
        "recurring": streams.recurring, "starvation": streams.starvation}  # fmt: skip
ROWS = {64: 4000, 256: 3000, 1024: 1500, 4096: 600}
# For k other than 10, where the times matter most.
FEWER_ROWS = {64: 2000, 256: 1500, 1024: 800, 4096: 400}


class Effort(NamedTuple):
    """Number of laps, and limits in seconds of the first lap and of each other lap."""

    laps: int
    whole: float
    part: float


QUICK, CLAIMED, OTHERS = Effort(3, 6.0, 0.1), Effort(5, 8.0, 0.25), Effort(3, 5.0, 0.1)
# Minimum rows per direction, because some peers only store the first k rows, at no cost.
LEAST_ROWS = 5


def cases(quick):
    """Yield the name, rows, k and effort of every case. Claims are about k = 10, with most laps."""
    if quick:
        sizes = [(64, 10, ROWS, QUICK), (1024, 10, ROWS, QUICK)]
    elif THREADS == "1":
        plans = [(10, ROWS, CLAIMED), (2, FEWER_ROWS, OTHERS), (50, FEWER_ROWS, OTHERS)]
        sizes = [(n, k, rows, effort) for k, rows, effort in plans for n in ROWS]
    else:
        sizes = [(n, 10, ROWS, CLAIMED) for n in ROWS]
    for n, k, rows, effort in sizes:
        for name, make in MADE.items():
            # More threads only change the time, and two streams suffice to measure it.
            if THREADS == "1" or name in ("iid", "drift"):
                yield name, make(n, k, rows[n], seed=1), k, effort
    if THREADS == "1":
        yield from ((*case, QUICK if quick else CLAIMED) for case in streams.real())


def linear(quick):
    """Yield times and losses of all linear contenders on each case. Only the first lap has losses."""
    for name, rows, k, effort in cases(quick):
        n = rows.shape[1]
        runs = {label: (lambda o=o: Hedged(k, n, **QUIET, **o), 100) for label, o in OURS.items()}
        runs |= {label: ((lambda make=make: make(k, n)), block(k)) for label, (make, block) in PEERS.items()}
        seconds, losses, used = {label: [] for label in runs}, {}, {}
        for lap in range(effort.laps):
            for label, (make, block) in runs.items():
                # A refit takes longer with more rows, so a part of the stream would favor it.
                if lap > 0 and label.startswith("PCA refitted"):
                    continue
                # The cost per row is constant for peers. Ours rises after a change, so it gets more time.
                limit = effort.whole if lap == 0 else effort.part * (4 if label in OURS else 1)
                loss, spent, count = run_once(make(), rows, block, limit, LEAST_ROWS * k, charged=lap == 0)
                seconds[label].append(spent)
                if lap == 0:
                    used[label] = count
                    # A total over part of the stream is not comparable.
                    losses[label] = loss if count == len(rows) else None
        yield {"stream": name, "rows": len(rows), "n": n, "k": k, "best": best_fixed(rows, k),
               "seconds": seconds, "losses": losses, "used": used}  # fmt: skip


def run_once(contender, rows, block, limit, least, charged):
    """Return the total loss, seconds per row and rows used. `Crate` needs the loss only if `charged`."""
    extra = {"charged": charged} if isinstance(contender, Crate) else {}
    return contender.run(rows, block=block, seconds=limit, least=least, **extra)


def table(quick, repeats):
    """Yield the losses of `auto`, its members and IncrementalPCA on six streams."""
    cases = [
        ("three subspaces", streams.three_subspaces(1), 2),
        ("starvation", streams.starvation(20, 2, 3000, 1), 2),
        ("leader trap", streams.leader_trap(12, 3600), 3),
        ("iid", streams.iid(20, 3, 3000, 1), 3),
        *(case for case in streams.real() if case[0] in ("TEP", "Yale-B")),
    ]
    for name, rows, k in cases:
        n = rows.shape[1]
        run = eigenhedge.run(rows, k, learner="auto")
        members = {member["name"]: member["expected_loss"] for member in run.summary["members"]}
        energy = float((rows**2).sum())
        square = float((rows**2).sum(axis=1).max())
        auto = run.summary["expected_loss"]
        label, least = min(members.items(), key=lambda item: item[1])
        peer = Incremental(k).run(rows, block=k)[0]
        allowed = 1.05 * least + 2 * np.log(len(members)) * square
        yield name, {
            "rows": len(rows), "n": n, "k": k, "energy": energy, "auto": auto, "best member": label,
            "best member loss": least, "allowed": allowed, "IncrementalPCA": peer,
            "best fixed": run.summary["best_loss"], "hedge term": run.summary["certificate"]["hedge_term"],
            "within": bool(auto <= allowed and auto <= peer),
        }  # fmt: skip


def kernel_peers(quick, repeats):
    """Compare kernel tracking with KernelPCA, and with IncrementalPCA on feature maps."""
    n, k, t, gamma = 16, 5, 2000, 0.5
    rows = 3 * streams.drift(n, k, t, seed=1)
    options = {"kernel": "rbf", "gamma": gamma, "center": False, "hindsight": False, "coordinates": "drawn"}
    learner = eigenhedge.Model(n, k, learner="tracking", eta=4.0, **options)
    learner.learn(rows[:-200])
    before = time.perf_counter()
    learner.learn(rows[-200:])
    at_the_end = (time.perf_counter() - before) / 200
    yield "kernel tracking, row 2000", {"seconds": at_the_end}
    for solver in ("arpack", "dense"):
        before = time.perf_counter()
        KernelPCA(n_components=k, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(rows)
        spent = time.perf_counter() - before
        yield f"KernelPCA refit, {solver}", {"seconds": spent, "ratio": spent / at_the_end}
    # The feature maps have as many features as our model has atoms. An online peer needs the first rows
    # to build its map, so losses count from row `first` on, after it has learned from the rows before.
    first = 500
    drawn = rows[np.random.default_rng(0).permutation(t)[:first]]
    maps = {
        "Nystroem(500) on the first 500 rows + IncrementalPCA": (Nystroem, rows[:first]),
        "Nystroem(500) on 500 rows of past and future + IncrementalPCA": (Nystroem, drawn),
        "RBFSampler(500) + IncrementalPCA": (RBFSampler, drawn),
    }

    def ours():
        learner, spent, losses = eigenhedge.Model(n, k, learner="tracking", eta=4.0, budget=500, **options), [], []
        for start in range(0, t, 100):
            before = time.perf_counter()
            losses.append(learner.step_each(rows[start : start + 100])[0])
            spent.append((time.perf_counter() - before) / 100)
        return np.concatenate(losses), spent

    def theirs(kind, landmarks):
        extra = {"kernel": "rbf"} if kind is Nystroem else {}
        features = kind(gamma=gamma, n_components=500, random_state=0, **extra).fit(landmarks)
        model, losses, spent = Incremental(k), [], []
        for i in range(t):
            before = time.perf_counter()
            image = features.transform(rows[i : i + 1])
            mapped = time.perf_counter() - before
            # The kernel of a row with itself is 1. Energy outside the features is lost too.
            losses.append(float(model.losses(image)[0] + max(1.0 - (image**2).sum(), 0.0)))
            before = time.perf_counter()
            model.learn(image)
            spent.append(mapped + time.perf_counter() - before)
        return np.array(losses), spent

    label = "kernel tracking, 500 atoms"
    runs = {label: [], **{peer: [] for peer in maps}}
    for _ in range(repeats):
        runs[label].append(ours())
        for peer, map_ in maps.items():
            runs[peer].append(theirs(*map_))
    # The first quarter is excluded, because rows are cheaper while the dictionary grows.
    per_row = {peer: [float(np.mean(spent[len(spent) // 4 :])) for _, spent in parts] for peer, parts in runs.items()}
    # The map of the first rows does not exist before row `first`, so its total loss is not comparable.
    late = next(iter(maps))
    for peer, parts in runs.items():
        ratios = sorted(theirs_ / ours_ for theirs_, ours_ in zip(per_row[peer], per_row[label]))
        yield peer, {
            "loss from row 500": float(parts[0][0][first:].sum()), "loss": None if peer == late else float(parts[0][0].sum()),
            "seconds": float(np.median(per_row[peer])), "spread": max(per_row[peer]) - min(per_row[peer]),
            "ratio": float(np.median(ratios)), "lowest ratio": ratios[0], "highest ratio": ratios[-1],
        }  # fmt: skip


def textbook(quick):
    """Time the published dense algorithm at n = 512, alternating with ours."""
    n, k = 512, 10
    rows = streams.iid(n, k, 600, seed=1)
    options = {
        "learner": "tracking",
        "mixing": "none",
        "eta": 1.0,
        "center": False,
        "norm_bound": 1.0,
        "hindsight": False,
        "coordinates": "drawn",
    }
    laps = [(Textbook(k, n).run(rows[:8], block=1)[1], Hedged(k, n, **options).run(rows)[1]) for _ in range(2 if quick else 5)]
    ratios = [theirs / ours for theirs, ours in laps]
    return {"seconds": float(np.median([lap[0] for lap in laps])), "ours": float(np.median([lap[1] for lap in laps])),
            "ratio": float(np.median(ratios)), "ratios": ratios}  # fmt: skip


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two sizes, few laps, one thread")
    parser.add_argument("--only", choices=["linear", "table", "kernel", "textbook"])
    parser.add_argument("--out", type=Path, default=Path("target/bench"))
    parser.add_argument("--threads", type=int, help="threads of the peers' libraries; by default 1, then 2")
    return parser.parse_args()


def with_two_threads(out):
    """Run the linear part with two threads in a new process. NumPy reads the number of threads at import."""
    print("\nagain, with two threads for the peers", flush=True)
    again = [sys.executable, __file__, "--threads", "2", "--only", "linear", "--out", str(out / "two-threads")]
    # The run prints verdicts, but the claims are about one thread.
    subprocess.run(again, check=False)
    report = out / "two-threads" / "peers.json"
    return json.loads(report.read_text()) if report.exists() else None


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    results = {"machine": results_io.machine(int(THREADS))}
    print(json.dumps(results["machine"]), flush=True)

    def wanted(part):
        return args.only in (None, part)

    if wanted("table"):
        results["table"] = dict(table(args.quick, 1))
        results_io.show_table(results["table"])
    if wanted("textbook"):
        results["textbook"] = textbook(args.quick)
        print(json.dumps(results["textbook"], indent=1), flush=True)
    if wanted("kernel"):
        results["kernel"] = dict(kernel_peers(args.quick, 1 if args.quick else 3))
        print(json.dumps(results["kernel"], indent=1), flush=True)
    if wanted("linear"):
        results["linear"] = []
        for case in linear(args.quick):
            results["linear"].append(case)
            results_io.show_case(case)
        if args.threads is None and not args.quick and args.only is None:
            results["two threads"] = with_two_threads(args.out)
    results["verdicts"] = verdicts.judge(results)
    results["minutes"] = (time.perf_counter() - began) / 60
    verdicts.show_peers_that_win(results)
    verdicts.show(results["verdicts"])
    results_io.write(results, args.out)
    return 0 if all(verdict["holds"] is not False for verdict in results["verdicts"]) else 1


if __name__ == "__main__":
    sys.exit(main())
