"""Contenders of the benchmark: eigenhedge and its peers, with one interface.

The loss of a row is measured before the row is learned. For peers, only learning is timed. For
eigenhedge, the loss is timed too, because one step does both.
"""

import json
import os
import subprocess
import tempfile
import time

import numpy as np
import scipy.linalg
from sklearn.decomposition import PCA, IncrementalPCA

import eigenhedge


class Charged:
    """Base class of contenders, which measures the losses of blocks of rows and times learning."""

    def __init__(self, k):
        self.k = k

    def losses(self, rows):
        """Return the squared reconstruction error of each row for the current model."""
        raise NotImplementedError

    def learn(self, rows):
        raise NotImplementedError

    def run(self, rows, block, seconds=None, least=0):
        """Return the total loss, seconds per row and rows used. Stop after `seconds` and `least` rows."""
        total, spent, used = 0.0, 0.0, 0
        for start in range(0, len(rows), block):
            part = rows[start : start + block]
            total += float(self.losses(part).sum())
            before = time.perf_counter()
            self.learn(part)
            spent += time.perf_counter() - before
            used += len(part)
            if seconds is not None and spent > seconds and used >= least:
                break
        return total, spent / used, used


class Incremental(Charged):
    """scikit-learn's IncrementalPCA. It starts with the first k rows, because it needs that many."""

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
        if self.waiting is not None or (len(rows) < self.k and not hasattr(self.model, "components_")):
            self.waiting = rows if self.waiting is None else np.vstack([self.waiting, rows])
            if len(self.waiting) < self.k:
                return
            rows, self.waiting = self.waiting, None
        # Called with its checks, as by users. Without them, it would center the rows in place.
        self.model.partial_fit(rows)


class Refitted(Charged):
    """scikit-learn's PCA, refitted to all rows so far after every block."""

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
    """Oja's subspace rule with a constant step, orthonormalized after every row."""

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
    """Candid covariance-free incremental PCA (Weng, Zhang & Hwang 2003) with amnesic parameter 2."""

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
                norm = np.linalg.norm(vector)
                if norm == 0:
                    # In the paper, vector i starts with row i. Here, it starts with a nonzero residual.
                    vector[:] = rest
                    break
                amnesic = 2.0 if t > 4 else 0.0
                vector *= (t - 1 - amnesic) / t
                vector += (1 + amnesic) / t * rest * (rest @ vector / np.linalg.norm(vector))
                unit = vector / np.linalg.norm(vector)
                rest = rest - (rest @ unit) * unit


class Crate:
    """CCIPCA of the Rust crate irithyll, in a separate program that reads the rows from a file."""

    PROGRAM = os.environ.get("EIGENHEDGE_RUST_PEERS")

    def __init__(self, k):
        self.k = k

    def run(self, rows, block=1, seconds=None, least=0, charged=True):
        """Return the result of `Charged.run`. The loss is None if `charged` is False."""
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file, np.ascontiguousarray(rows))
            file.flush()
            limit = "inf" if seconds is None else str(seconds)
            command = [self.PROGRAM, file.name, str(self.k), limit, str(least), "loss" if charged else "time"]
            answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        return answer["loss"], answer["seconds"], answer["rows"]


class Textbook(Charged):
    """JMLR Algorithm 5 as in published code: dense matrices and four eigendecompositions per row."""

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
    """eigenhedge with one trial per row. Rows are passed in blocks, to reduce overhead."""

    def __init__(self, k, n, **options):
        self.learner = eigenhedge.Model(n, k, **options)

    def run(self, rows, block=100, seconds=None, least=0):
        """Return the total expected loss, seconds per row and rows used, as in `Charged.run`."""
        rows = np.ascontiguousarray(rows)
        total, spent, used = 0.0, 0.0, 0
        for start in range(0, len(rows), block):
            part = rows[start : start + block]
            before = time.perf_counter()
            losses, _, _ = self.learner.step_each(part)
            spent += time.perf_counter() - before
            total += float(losses.sum())
            used += len(part)
            if seconds is not None and spent > seconds and used >= least:
                break
        return total, spent / used, used


def best_fixed(rows, k):
    """Return the total loss of the best k-dimensional subspace around the mean of all rows."""
    deviation = rows - rows.mean(axis=0)
    n = rows.shape[1]
    if n > 2000:
        values = scipy.linalg.svdvals(deviation) ** 2
        return float(np.sort(values)[::-1][k:].sum())
    values = scipy.linalg.eigvalsh(deviation.T @ deviation)
    return float(np.maximum(values[: n - k], 0).sum())
