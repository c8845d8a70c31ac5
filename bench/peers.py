"""eigenhedge beside its peers, on the same streams, in one process: speed and prequential loss.

Usage: peers.py [--quick] [--only PART] [--out FOLDER] [--threads N]

Parts: linear, table, kernel, textbook. Every row is charged before it is learned from; only learning is timed. Loss is
total squared reconstruction error over that of the best fixed subspace in hindsight (around its best center).
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", os.environ.get("EIGENHEDGE_BENCH_THREADS", "1"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])

import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402
import sklearn  # noqa: E402
from sklearn.decomposition import PCA, IncrementalPCA, KernelPCA  # noqa: E402
from sklearn.kernel_approximation import Nystroem, RBFSampler  # noqa: E402

import eigenhedge  # noqa: E402
import streams  # noqa: E402


class Charged:
    """Charges blocks of rows with what a model can reconstruct, and times what it learns."""

    name = "peer"

    def __init__(self, k):
        self.k = k

    def losses(self, rows):
        """Squared reconstruction error of each row by the present model."""
        raise NotImplementedError

    def learn(self, rows):
        raise NotImplementedError

    def run(self, rows, block, seconds=None):
        """Total loss, time for each row, and rows used: fewer than given when `seconds` have passed."""
        total, spent, used = 0.0, 0.0, 0
        for start in range(0, len(rows), block):
            part = rows[start : start + block]
            total += float(self.losses(part).sum())
            before = time.perf_counter()
            self.learn(part)
            spent += time.perf_counter() - before
            used += len(part)
            if seconds is not None and spent > seconds:
                break
        return total, spent / used, used


class Incremental(Charged):
    """scikit-learn's IncrementalPCA; the first k rows are needed before it can begin."""

    def __init__(self, k):
        super().__init__(k)
        self.model = IncrementalPCA(n_components=k)
        self.waiting = None

    def losses(self, rows):
        if not hasattr(self.model, "components_"):
            return (rows**2).sum(axis=1)
        deviation = rows - self.model.mean_
        kept = deviation @ self.model.components_.T
        return np.maximum((deviation**2).sum(axis=1) - (kept**2).sum(axis=1), 0)

    def learn(self, rows):
        if self.waiting is not None or len(rows) < self.k and not hasattr(self.model, "components_"):
            self.waiting = rows if self.waiting is None else np.vstack([self.waiting, rows])
            if len(self.waiting) < self.k:
                return
            rows, self.waiting = self.waiting, None
        # A copy: with `check_input=False` it would center the caller's rows in place.
        self.model.partial_fit(rows.copy(), check_input=False)


class Refitted(Charged):
    """PCA fitted afresh on everything so far, every block."""

    def __init__(self, k):
        super().__init__(k)
        self.model, self.seen = None, []

    def losses(self, rows):
        if self.model is None:
            return (rows**2).sum(axis=1)
        deviation = rows - self.model.mean_
        return np.maximum((deviation**2).sum(axis=1) - ((deviation @ self.model.components_.T) ** 2).sum(axis=1), 0)

    def learn(self, rows):
        self.seen.append(rows)
        everything = np.vstack(self.seen)
        if len(everything) >= self.k:
            self.model = PCA(n_components=self.k).fit(everything)


class Oja(Charged):
    """Oja's subspace rule with a constant step, orthonormalised at every row."""

    def __init__(self, k, n, step=0.1):
        super().__init__(k)
        self.basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, k)))[0]
        self.step = step

    def losses(self, rows):
        return np.maximum((rows**2).sum(axis=1) - ((rows @ self.basis) ** 2).sum(axis=1), 0)

    def learn(self, rows):
        for row in rows:
            self.basis += self.step * np.outer(row, row @ self.basis)
            self.basis = np.linalg.qr(self.basis)[0]


class Ccipca(Charged):
    """Candid covariance-free incremental PCA (Weng, Zhang & Hwang 2003), amnesic parameter 2."""

    def __init__(self, k, n):
        super().__init__(k)
        self.vectors, self.count = np.zeros((k, n)), 0

    def losses(self, rows):
        norms = np.linalg.norm(self.vectors, axis=1)
        known = self.vectors[norms > 0] / norms[norms > 0, None]
        basis = np.linalg.qr(known.T)[0] if len(known) else np.zeros((rows.shape[1], 0))
        return np.maximum((rows**2).sum(axis=1) - ((rows @ basis) ** 2).sum(axis=1), 0)

    def learn(self, rows):
        for row in rows:
            self.count += 1
            t, rest = self.count, row.copy()
            for i in range(min(self.k, t)):
                vector = self.vectors[i]
                if i == t - 1:
                    vector[:] = rest
                    break
                norm = np.linalg.norm(vector)
                amnesic = 2.0 if t > 4 else 0.0
                if norm > 0:
                    vector *= (t - 1 - amnesic) / t
                    vector += (1 + amnesic) / t * rest * (rest @ vector / np.linalg.norm(vector))
                    unit = vector / np.linalg.norm(vector)
                    rest = rest - (rest @ unit) * unit


class Textbook(Charged):
    """JMLR Algorithm 5 as published code has it: dense matrices, four eigendecompositions for each row."""

    def __init__(self, k, n, eta=1.0):
        super().__init__(k)
        self.weights, self.eta = np.eye(n) / n, eta

    def losses(self, rows):
        dropped = self.weights * (self.weights.shape[0] - self.k)
        return np.einsum("ij,jk,ik->i", rows, dropped, rows)

    def learn(self, rows):
        n = self.weights.shape[0]
        cap = 1.0 / (n - self.k)
        for row in rows:
            scipy.linalg.eigh(self.weights)  # to draw a subspace
            values, vectors = scipy.linalg.eigh(self.weights)  # for the logarithm
            log = (vectors * np.log(np.maximum(values, 1e-300))) @ vectors.T - self.eta * np.outer(row, row)
            values, vectors = scipy.linalg.eigh(log)  # for the exponential
            values = np.exp(values - values.max())
            values /= values.sum()
            mixed = (vectors * values) @ vectors.T
            values, vectors = scipy.linalg.eigh(mixed)  # to cap
            free = np.ones(n, dtype=bool)
            while (values > cap * (1 + 1e-12)).any():
                free &= values < cap
                values[~free] = cap
                values[free] *= (1 - cap * (~free).sum()) / values[free].sum()
            self.weights = (vectors * values) @ vectors.T


class Hedged:
    """eigenhedge, every row learned from by itself, in blocks of rows for the interpreter's sake."""

    def __init__(self, k, n, **options):
        self.learner = eigenhedge.Learner(n, k, **options)

    def run(self, rows, block=1000):
        rows = np.ascontiguousarray(rows)
        total, spent = 0.0, 0.0
        for start in range(0, len(rows), block):
            part = rows[start : start + block]
            before = time.perf_counter()
            losses, _, _ = self.learner.answer(part)
            spent += time.perf_counter() - before
            total += float(losses.sum())
        return total, spent / len(rows), len(rows)


def best_fixed(rows, k):
    """Loss of the best subspace around the mean."""
    deviation = rows - rows.mean(axis=0)
    n = rows.shape[1]
    if n > 2000:
        values = scipy.linalg.svdvals(deviation) ** 2
        return float(np.sort(values)[::-1][k:].sum())
    values = scipy.linalg.eigvalsh(deviation.T @ deviation)
    return float(np.maximum(values[: n - k], 0).sum())


def median_of(make, rows, repeats, **options):
    """Median time and spread over repeats; the loss is the same each time."""
    results = [make().run(rows, **options) for _ in range(repeats)]
    times = sorted(result[1] for result in results)
    loss, _, used = results[0]
    # A total over part of the stream compares with nothing.
    return {"loss": loss if used == len(rows) else None, "used": used, "seconds": times[len(times) // 2], "spread": times[-1] - times[0]}


QUIET = {"center": True, "norm_bound": "auto", "hindsight": False}
OURS = {
    "eigenhedge auto": {"learner": "auto"},
    "eigenhedge tracking": {"learner": "tracking", "eta": 4.0},
}
LINEAR = {
    "IncrementalPCA, batches of 1": (lambda k, n: Incremental(k), lambda k: 1),
    "IncrementalPCA, batches of k": (lambda k, n: Incremental(k), lambda k: k),
    "IncrementalPCA, batches of 256": (lambda k, n: Incremental(k), lambda k: 256),
    "PCA refitted every 500 rows": (lambda k, n: Refitted(k), lambda k: 500),
    "Oja, NumPy": (lambda k, n: Oja(k, n), lambda k: 1),
    "CCIPCA, NumPy": (lambda k, n: Ccipca(k, n), lambda k: 1),
}
MADE = {"iid": streams.iid, "drift": streams.drift, "switch": streams.switch,
        "recurring": streams.recurring, "starvation": streams.starvation}  # fmt: skip


def linear(quick, repeats):
    """Every linear peer on every stream and size."""
    sizes = [(64, 10), (1024, 10)] if quick else [(n, k) for n in (64, 256, 1024, 4096) for k in (2, 10, 50) if k < n / 1.2]
    cases = []
    for n, k in sizes:
        rows = {64: 4000, 256: 3000, 1024: 1500, 4096: 600}[n]
        cases += [(f"{name} n={n} k={k}", make(n, k, rows, seed=1), k) for name, make in MADE.items()]
    cases += list(streams.real())
    for name, rows, k in cases:
        n = rows.shape[1]
        best = best_fixed(rows, k)
        ours = {label: (lambda o=o: Hedged(k, n, **QUIET, **o)) for label, o in OURS.items()}
        for label, make in ours.items():
            yield name, label, best, median_of(make, rows, repeats)
        for label, (make, block) in LINEAR.items():
            yield name, label, best, median_of(lambda: make(k, n), rows, 1, block=block(k), seconds=4 if quick else 15)


def table(quick, repeats):
    """`auto`, its members and IncrementalPCA on the six streams of the docs' table; everything is centered."""
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
        members = {member["name"]: member["expected"] for member in run.ledger["members"]}
        energy = float((rows**2).sum())
        square = float((rows**2).sum(axis=1).max())
        auto = run.ledger["expected_loss"]
        label, least = min(members.items(), key=lambda item: item[1])
        peer = median_of(lambda: Incremental(k), rows, 1, block=k)["loss"]
        allowed = 1.05 * least + 2 * np.log(len(members)) * square
        yield name, {
            "rows": len(rows), "n": n, "k": k, "energy": energy, "auto": auto, "best member": label,
            "best member loss": least, "allowed": allowed, "IncrementalPCA": peer,
            "best fixed": run.ledger["best_loss"], "hedge term": run.ledger["certificate"]["hedge_term"],
            "within": bool(auto <= allowed and auto <= peer),
        }  # fmt: skip


def kernel_peers(quick, repeats):
    """Kernel tracking beside KernelPCA refitted, Nystroem and random features with IncrementalPCA."""
    n, k, t, gamma = 16, 5, 2000, 0.5
    rows = 3 * streams.drift(n, k, t, seed=1)
    options = {"kernel": "rbf", "gamma": gamma, "center": False, "hindsight": False}
    learner = eigenhedge.Learner(n, k, learner="tracking", eta=4.0, **options)
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
    # Beside feature maps of the same size, all in turn, several times over. An online peer has no map before it has seen the
    # rows that the map is made of: losses count from row `first` on, when it has learned from the rows before.
    first = 500
    drawn = rows[np.random.default_rng(0).permutation(t)[:first]]
    maps = {
        "Nystroem(500) on the first 500 rows + IncrementalPCA": (Nystroem, rows[:first]),
        "Nystroem(500) on 500 rows of past and future + IncrementalPCA": (Nystroem, drawn),
        "RBFSampler(500) + IncrementalPCA": (RBFSampler, drawn),
    }

    def ours():
        learner, spent, losses = eigenhedge.Learner(n, k, learner="tracking", eta=4.0, budget=500, **options), [], []
        for start in range(0, t, 100):
            before = time.perf_counter()
            losses.append(learner.answer(rows[start : start + 100])[0])
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
            # k(x, x) = 1: what the features do not carry is lost too.
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
    # Rows while the dictionary still grows are cheaper: they do not count.
    per_row = {peer: [float(np.mean(spent[len(spent) // 4 :])) for _, spent in parts] for peer, parts in runs.items()}
    # Before it exists, the map of the first rows has no loss that compares.
    late = next(iter(maps))
    for peer, parts in runs.items():
        ratios = sorted(theirs_ / ours_ for theirs_, ours_ in zip(per_row[peer], per_row[label]))
        yield peer, {
            "loss from row 500": float(parts[0][0][first:].sum()), "loss": None if peer == late else float(parts[0][0].sum()),
            "seconds": float(np.median(per_row[peer])), "spread": max(per_row[peer]) - min(per_row[peer]),
            "ratio": float(np.median(ratios)), "lowest ratio": ratios[0], "highest ratio": ratios[-1],
        }  # fmt: skip


def textbook(quick, repeats):
    """The published dense algorithm at n = 512."""
    n, k = 512, 10
    rows = streams.iid(n, k, 600, seed=1)
    ours = median_of(lambda: Hedged(k, n, learner="tracking", mixing="none", eta=1.0, center=False,
                                    norm_bound=1.0, hindsight=False), rows, repeats)  # fmt: skip
    theirs = Textbook(k, n).run(rows[:20], block=1)
    yield "textbook Algorithm 5, n=512", {"seconds": theirs[1], "ours": ours["seconds"], "ratio": theirs[1] / ours["seconds"]}


def machine():
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__, "eigenhedge": eigenhedge.__version__}  # fmt: skip
    model = "unknown"
    if Path("/proc/cpuinfo").exists():
        lines = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return {"processor": model, "threads": int(os.environ["OMP_NUM_THREADS"]), **versions}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two sizes, one repeat")
    parser.add_argument("--only", choices=["linear", "table", "kernel", "textbook"])
    parser.add_argument("--out", type=Path, default=Path("target/bench"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    repeats = 1 if args.quick else 3
    results = {"machine": machine()}
    print(json.dumps(results["machine"]))
    wanted = lambda part: args.only in (None, part)
    if wanted("table"):
        results["table"] = dict(table(args.quick, repeats))
        show_table(results["table"])
    if wanted("textbook"):
        results["textbook"] = dict(textbook(args.quick, repeats))
        print(json.dumps(results["textbook"], indent=1))
    if wanted("kernel"):
        results["kernel"] = dict(kernel_peers(args.quick, repeats))
        print(json.dumps(results["kernel"], indent=1))
    if wanted("linear"):
        results["linear"] = list(linear(args.quick, repeats))
        show_linear(results["linear"])
    (args.out / "peers.json").write_text(json.dumps(results, indent=1))
    print(f"written: {args.out / 'peers.json'}")
    return 0


def show_table(rows):
    print(f"{'stream':<18}{'auto':>10}{'best member':>13}{'allowed':>10}{'IncrementalPCA':>16}{'best fixed':>12}  member")
    for name, case in rows.items():
        numbers = [case["auto"], case["best member loss"], case["allowed"], case["IncrementalPCA"], case["best fixed"]]
        cells = "".join(f"{x:>{w}.2f}" for x, w in zip(numbers, (10, 13, 10, 16, 12)))
        print(f"{name:<18}{cells}  {case['best member']}{'' if case['within'] else '   NOT WITHIN'}")


def show_linear(rows):
    current = None
    for name, label, best, result in rows:
        if name != current:
            print(f"\n{name}: best fixed subspace {best:.4g}")
            current = name
        loss = f"only {result['used']} rows" if result["loss"] is None else f"{result['loss'] / best:.3f}"
        print(f"  {label:<34}{1e6 * result['seconds']:>12.1f} µs a row   loss over best: {loss}")


if __name__ == "__main__":
    sys.exit(main())
