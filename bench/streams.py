"""Synthetic streams of rows for the benchmark, and real ones from the folder EIGENHEDGE_DATA.

Every stream is a float64 array of rows with norms of at most one.
"""

import os
from pathlib import Path

import numpy as np


def _subspace(rng, n, rank):
    return np.linalg.qr(rng.standard_normal((n, rank)))[0]


def _two_subspaces(rng, n, k):
    """Return bases of two k-dimensional subspaces, orthogonal to each other if 2k ≤ n."""
    both = _subspace(rng, n, min(2 * k, n))
    return both[:, :k], both[:, -k:]


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1).max()


def _in_subspace(rng, basis, rows, noise):
    n, rank = basis.shape
    signal = rng.standard_normal((rows, rank)) @ basis.T
    return signal + noise * rng.standard_normal((rows, n)) / np.sqrt(n)


def iid(n, k, rows, seed, noise=0.5):
    """Return rows in one k-dimensional subspace, plus noise in all directions."""
    rng = np.random.default_rng(seed)
    return _unit(_in_subspace(rng, _subspace(rng, n, k), rows, noise))


def drift(n, k, rows, seed, noise=0.2, turns=4.0):
    """Return rows in a subspace that rotates continuously, by `turns` quarter turns in total."""
    rng = np.random.default_rng(seed)
    start, to = _two_subspaces(rng, n, k)
    angle = np.linspace(0.0, turns * np.pi / 2, rows)[:, None]
    codes = rng.standard_normal((rows, k))
    signal = np.cos(angle) * (codes @ start.T) + np.sin(angle) * (codes @ to.T)
    return _unit(signal + noise * rng.standard_normal((rows, n)) / np.sqrt(n))


def switch(n, k, rows, seed, noise=0.1, segments=4):
    """Return rows with a new subspace in each segment."""
    rng = np.random.default_rng(seed)
    parts = np.array_split(np.arange(rows), segments)
    return _unit(np.vstack([_in_subspace(rng, _subspace(rng, n, k), len(part), noise) for part in parts]))


def recurring(n, k, rows, seed, noise=0.1, pattern=(0, 1, 0, 2, 1, 0)):
    """Return rows in a few subspaces. `pattern` has the index of the subspace of each segment."""
    rng = np.random.default_rng(seed)
    bases = [_subspace(rng, n, k) for _ in range(max(pattern) + 1)]
    parts = np.array_split(np.arange(rows), len(pattern))
    blocks = [_in_subspace(rng, bases[i], len(part), noise) for i, part in zip(pattern, parts)]
    return _unit(np.vstack(blocks))


def starvation(n, k, rows, seed, size=0.5):
    """Return unit rows in k directions (a tenth of the rows), then rows of norm `size` in k others."""
    rng = np.random.default_rng(seed)
    strong, weak = _two_subspaces(rng, n, k)
    first = rows // 10

    def pick(basis, count):
        return basis[:, rng.integers(basis.shape[1], size=count)].T

    return np.vstack([pick(strong, first), size * pick(weak, rows - first)])


def three_subspaces(seed, n=20, k=2, each=500):
    """Return rows in a k-dimensional subspace that changes twice, as in figure 3 of the JMLR paper."""
    rng = np.random.default_rng(seed)
    blocks = [rng.standard_normal((each, k)) @ _subspace(rng, n, k).T for _ in range(3)]
    return _unit(np.vstack(blocks))


def leader_trap(n, rows):
    """Return the n standard basis vectors in turn. The leader may have dropped each of them before."""
    return np.eye(n)[np.arange(rows) % n]


def data_folder():
    """Return the folder of real streams, or None if EIGENHEDGE_DATA is not a folder."""
    folder = os.environ.get("EIGENHEDGE_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def features(path):
    """Return the numeric columns of a CSV file, without labels, runs and times."""
    with path.open() as file:
        header, first = (next(file).strip().split(",") for _ in range(2))

    def is_feature(name, cell):
        try:
            float(cell)
        except ValueError:
            return False
        return not name.startswith("label") and name not in ("run", "t")

    wanted = [i for i, (name, cell) in enumerate(zip(header, first)) if is_feature(name, cell)]
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=wanted)


def _standardised(rows):
    deviation = rows[:400].std(axis=0)
    deviation[deviation == 0] = 1.0
    return _unit(np.clip((rows - rows[:400].mean(axis=0)) / deviation, -10, 10))


def tep(folder):
    """Return sensor readings of the Tennessee Eastman process."""
    return _standardised(features(folder / "tep.csv"))


def yale(folder, seed=0, each=200):
    """Return `each` faces of each of the persons 1, 2, 1, 3, 2, 1, drawn with replacement."""
    images = np.load(folder / "yaleb32_images.npy").astype(float)
    labels = np.load(folder / "yaleb32_labels.npy").ravel()
    persons = np.unique(labels)
    rng = np.random.default_rng(seed)
    rows = [images[rng.choice(np.flatnonzero(labels == persons[p - 1]), each)] for p in (1, 2, 1, 3, 2, 1)]
    return _unit(np.vstack(rows))


def usps(folder, rows=3000):
    archive = np.load(folder / "usps.npz")
    images = next(archive[name] for name in archive.files if archive[name].ndim == 2).astype(float)[:rows]
    return _unit(images - images.mean(axis=0))


def skab(folder):
    """Return the readings of eight sensors of a water circuit."""
    return _standardised(features(folder / "skab.csv"))


def real():
    """Yield the name, rows and k of each available real stream."""
    folder = data_folder()
    if folder is None:
        return
    for name, make, k in [("TEP", tep, 5), ("Yale-B", yale, 5), ("USPS", usps, 5), ("SKAB", skab, 2)]:
        try:
            yield name, make(folder), k
        except FileNotFoundError as missing:
            print(f"{name} is skipped: {missing}")
