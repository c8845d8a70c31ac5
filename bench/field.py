"""Subspace trackers, tuned in hindsight: 52 settings of 11 families.

The loss of a row is its squared distance from the span of k directions that were learned from
earlier rows. Rows are centered by a mean of the earlier rows, so the first row has no loss. Arrays
have the axes

    rows        time, center, column
    directions  center, setting, direction, column

With these axes, one NumPy call per row handles all settings of a family on all centers. All random
initial directions are equal.
"""

import warnings

import numpy as np
from sklearn.decomposition import IncrementalPCA

#: Memories of the forgetting centers. A memory is the weight of the previous mean in the next one.
MEMORIES = (0.0, 0.5, 0.8, 0.98)
RUNNING = "running mean"
TINY = 1e-300
#: Number of first rows whose mean energy sets the initial scale of trackers.
FIRST = 20


def centered(rows, memories=MEMORIES):
    """Return the rows after the first, minus the running mean and minus a forgetting mean per memory."""
    running = np.cumsum(rows, axis=0) / np.arange(1, len(rows) + 1)[:, None]
    means = [running]
    for memory in memories:
        mean = rows.copy()
        for t in range(1, len(rows)):
            mean[t] = memory * mean[t - 1] + (1 - memory) * rows[t]
        means.append(mean)
    return np.stack([rows[1:] - mean[:-1] for mean in means], axis=1)


def orthonormal(directions):
    """Orthonormalize the rows of each matrix, in order, without changing their orientation."""
    try:
        factor = np.linalg.cholesky(directions @ np.swapaxes(directions, -1, -2))
        sizes = np.diagonal(factor, axis1=-2, axis2=-1)
        if np.all(sizes.min(axis=-1) > 1e-6 * sizes.max(axis=-1)):
            return np.linalg.solve(factor, directions)
    except np.linalg.LinAlgError:
        pass
    basis, factor = np.linalg.qr(np.swapaxes(directions, -1, -2))
    signs = np.where(np.diagonal(factor, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return signs[..., None] * np.swapaxes(basis, -1, -2)


def leading(rows, count):
    """Return the first `count` right singular vectors of each matrix of rows."""
    m, n = rows.shape[-2:]
    if m >= n:
        vectors = np.linalg.eigh(np.swapaxes(rows, -1, -2) @ rows)[1]
        return np.swapaxes(vectors[..., ::-1][..., :count], -1, -2)
    vectors = np.linalg.eigh(rows @ np.swapaxes(rows, -1, -2))[1][..., ::-1][..., :count]
    found = np.swapaxes(vectors, -1, -2) @ rows
    norms = np.linalg.norm(found, axis=-1)
    most = norms.max(axis=-1)
    # For rows of lower rank, the remaining directions are arbitrary.
    lacking = norms.min(axis=-1) < 1e-9 * most
    found = found + np.where(lacking, 1e-9 * most, 0.0)[..., None, None] * np.eye(found.shape[-2], n)
    return np.swapaxes(np.linalg.qr(np.swapaxes(found, -1, -2))[0], -1, -2)


def times(matrices, vectors):
    return (matrices @ vectors[..., None])[..., 0]


def outer(left, right):
    return left[..., :, None] * right[..., None, :]


def length(vectors):
    return np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))


class Tracker:
    """Base class of families: all settings of a family on all centers.

    `directions` determines the loss of the next row, and `learn` updates it.
    """

    name, settings = "", ()

    def __init__(self, rows, k):
        self.k, self.n, self.centers = k, rows.shape[2], rows.shape[1]
        self.directions = self.some_directions(k)
        self.time = 0

    def some_directions(self, count):
        basis = np.linalg.qr(np.random.default_rng(0).normal(size=(self.n, count)))[0]
        return np.tile(basis.T, (self.centers, len(self.settings), 1, 1))

    def setting(self):
        """Return the settings as an array that broadcasts with arrays over centers and settings."""
        return np.array(self.settings, dtype=float)[None, :]

    def step(self, row):
        """Return the coordinates of a row for each center and setting, then learn from the row."""
        row = row[:, None, :]
        codes = self.codes(row)
        self.learn(row, codes)
        self.time += 1
        return codes

    def codes(self, row):
        return times(self.directions, row)

    def learn(self, row, codes):
        raise NotImplementedError


class Oja(Tracker):
    """Oja's subspace rule, orthonormalized after every row. Rates are relative to the mean energy."""

    name, settings = "Oja", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)

    def __init__(self, rows, k):
        super().__init__(rows, k)
        self.rates = self.setting() / np.maximum((rows**2).sum(axis=2).mean(axis=0), TINY)[:, None]

    def learn(self, row, codes):
        self.directions = orthonormal(self.directions + outer(self.rates[..., None] * codes, row))


class Ccipca(Tracker):
    """Candid covariance-free incremental PCA (Weng, Zhang & Hwang 2003). Settings: amnesic parameters."""

    name, settings = "CCIPCA", (0, 2, 4)

    def __init__(self, rows, k):
        super().__init__(rows, k)
        self.vectors = np.zeros_like(self.directions)

    def learn(self, row, codes):
        count = self.time + 1
        amnesic = np.minimum(self.setting(), max(count - 2, 0))[..., None]
        old, new = (count - 1 - amnesic) / count, (1 + amnesic) / count
        rest = np.broadcast_to(row, (self.centers, len(self.settings), self.n))
        for i in range(min(self.k, count)):
            vector = self.vectors[:, :, i]
            if i == count - 1:
                vector[:] = rest
                break
            along = (rest * vector).sum(axis=-1, keepdims=True) / (length(vector) + TINY)
            vector[:] = old * vector + new * along * rest
            unit = vector / (length(vector) + TINY)
            rest = rest - unit * (rest * unit).sum(axis=-1, keepdims=True)
        if count >= self.k:
            self.directions = orthonormal(self.vectors / (length(self.vectors) + TINY))


class Past(Tracker):
    """Projection approximation subspace tracking (PAST, Yang 1995). Settings: memories."""

    name, settings = "PAST", (0.8, 0.9, 0.95, 0.98, 0.99, 0.999)
    #: Number of rows between two orthonormalizations of the factor.
    EVERY = 50

    def __init__(self, rows, k):
        super().__init__(rows, k)
        self.factor = self.directions
        energy = np.maximum((rows[:FIRST] ** 2).sum(axis=2).mean(axis=0) / self.n, TINY)
        self.start = np.eye(k) / energy[:, None, None, None] * np.ones((1, len(self.settings), 1, 1))
        self.most = 1e12 / energy[:, None]
        self.inverse = self.start.copy()

    def coordinates(self, row):
        return times(self.factor, row)

    def learn(self, row, codes):
        codes = self.coordinates(row)
        memory = self.setting()[..., None]
        change = times(self.inverse, codes)
        gain = change / (memory + (codes * change).sum(axis=-1, keepdims=True))
        inverse = (self.inverse - outer(gain, change)) / memory[..., None]
        self.inverse = (inverse + np.swapaxes(inverse, -1, -2)) / 2
        trace = np.trace(self.inverse, axis1=-2, axis2=-1)
        lost = ~np.isfinite(trace) | (trace > self.most)
        if lost.any():
            self.inverse[lost], gain[lost] = self.start[lost], 0.0
            self.factor = np.where(lost[..., None, None], self.directions, self.factor)
        error = row - times(np.swapaxes(self.factor, -1, -2), codes)
        self.factor = self.factor + outer(gain, error)
        self.directions = orthonormal(self.factor)
        if self.time % self.EVERY == self.EVERY - 1:
            self.factor = self.directions


class Petrels(Past):
    """PETRELS (Chi, Eldar & Calderbank 2013): PAST with coordinates by least squares."""

    name = "PETRELS"

    def coordinates(self, row):
        gram = self.factor @ np.swapaxes(self.factor, -1, -2)
        return np.linalg.solve(gram, times(self.factor, row)[..., None])[..., 0]


class Grouse(Tracker):
    """GROUSE (Balzano, Nowak & Recht 2010). Settings: shares of the angle to the row."""

    name, settings = "GROUSE", (0.02, 0.05, 0.1, 0.3, 0.6, 1.0)
    EVERY = 10

    def learn(self, row, codes):
        inside = times(np.swapaxes(self.directions, -1, -2), codes)
        outside = row - inside
        near, far, size = length(inside), length(outside), length(codes)
        angle = np.where((near > 1e-12) & (far > 1e-12), self.setting()[..., None] * np.arctan2(far, near), 0.0)
        turn = (np.cos(angle) - 1) * inside / np.maximum(near, TINY) + np.sin(angle) * outside / np.maximum(far, TINY)
        self.directions = self.directions + outer(codes / np.maximum(size, TINY), turn)
        if self.time % self.EVERY == self.EVERY - 1:
            self.directions = orthonormal(self.directions)


class Spirit(Tracker):
    """SPIRIT (Papadimitriou et al. 2005), orthonormalized after every row. Settings: memories."""

    name, settings = "SPIRIT", (0.9, 0.96, 0.98, 0.99, 0.998, 1.0)

    def __init__(self, rows, k):
        super().__init__(rows, k)
        energy = np.maximum((rows[:FIRST] ** 2).sum(axis=2).mean(axis=0) / self.n, TINY)
        self.energies = 0.01 * energy[:, None, None] * np.ones((1, len(self.settings), k))

    def learn(self, row, codes):
        rest = np.broadcast_to(row, (self.centers, len(self.settings), self.n))
        for i in range(self.k):
            vector = self.directions[:, :, i]
            code = (vector * rest).sum(axis=-1)
            self.energies[..., i] = self.setting() * self.energies[..., i] + code * code
            error = rest - code[..., None] * vector
            vector += (code / self.energies[..., i])[..., None] * error
            unit = vector / length(vector)
            rest = rest - unit * (unit * rest).sum(axis=-1, keepdims=True)
        self.directions = orthonormal(self.directions)


class WeightedPca(Tracker):
    """Exponentially weighted PCA, with the scatter matrix truncated to rank 30. Settings: memories.

    In this class, directions are columns. Until there are k rows, rounding errors determine the
    remaining directions. This changes totals by up to 2 % if the first rows dominate the loss.
    """

    name, settings = "weighted PCA", (0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
    RANK = 30
    EVERY = 100

    def __init__(self, rows, k):
        super().__init__(rows, min(self.RANK or k, rows.shape[2]))
        self.columns = np.ascontiguousarray(np.swapaxes(self.directions, -1, -2))
        self.values = np.zeros((self.centers, len(self.settings), self.k))

    def codes(self, row):
        return (row[..., None, :] @ self.columns)[..., 0, :]

    def learn(self, row, codes):
        columns = self.columns
        if self.k < self.n:
            residual = row - times(columns, codes)
            residual = residual - times(columns, self.codes(residual))
            size = length(residual)
            codes = np.concatenate([codes, size], axis=-1)
            columns = np.concatenate([columns, (residual / np.maximum(size, TINY))[..., None]], axis=-1)
        scatter = outer(codes, codes)
        at = np.arange(self.k)
        scatter[..., at, at] += self.setting()[..., None] * self.values
        values, vectors = np.linalg.eigh(scatter)
        self.values = np.maximum(values[..., ::-1][..., : self.k], 0.0)
        self.columns = columns @ vectors[..., ::-1][..., : self.k]
        if self.time % self.EVERY == self.EVERY - 1:
            self.columns = np.linalg.qr(self.columns)[0]


class RecursiveSvd(WeightedPca):
    """Recursive singular value decomposition of rank k, as in FRAHST. Settings: memories."""

    name, settings, RANK = "recursive SVD", (0.8, 0.9, 0.95, 0.98, 0.99, 0.998), None


class WindowPca(Tracker):
    """PCA of the last rows, refitted when a fiftieth of the window is new. Settings: window lengths."""

    name, settings = "window PCA", (50, 200, 1000)

    def __init__(self, rows, k):
        super().__init__(rows, k)
        self.rows = rows

    def learn(self, row, codes):
        known = self.time + 1
        for i, window in enumerate(self.settings):
            if known % max(1, window // 50) == 0 or known <= self.k + 2:
                last = np.swapaxes(self.rows[max(0, known - window) : known], 0, 1)
                if known < self.k:
                    last = np.concatenate([last, 1e-9 * self.directions[:, i]], axis=1)
                self.directions[:, i] = leading(last, self.k)


class FrequentDirections(Tracker):
    """Frequent directions (Liberty 2013): a sketch of up to 4k rows, shrunk to 2k when it is full."""

    name, settings = "frequent directions", (1,)

    def __init__(self, rows, k):
        super().__init__(rows, k)
        self.size = min(2 * k, self.n)
        self.sketch, self.full = np.zeros((self.centers, 2 * self.size, self.n)), 0

    def learn(self, row, codes):
        if self.full == 2 * self.size:
            _, values, vectors = np.linalg.svd(self.sketch, full_matrices=False)
            self.full = min(self.size, values.shape[-1] - 1)
            shrunk = np.sqrt(np.maximum(values**2 - values[:, self.full, None] ** 2, 0.0))
            self.sketch[:] = 0.0
            self.sketch[:, : self.full] = shrunk[:, : self.full, None] * vectors[:, : self.full]
        self.sketch[:, self.full] = row[:, 0]
        self.full += 1
        if self.full >= self.k and (self.time < 50 or self.time % 2 == 0):
            self.directions[:, 0] = leading(self.sketch[:, : self.full], self.k)


class Incremental(Tracker):
    """scikit-learn's IncrementalPCA in batches of k rows, or of two rows if k is 1."""

    name, settings = "IncrementalPCA", (1,)

    def __init__(self, rows, k):
        super().__init__(rows, k)
        self.rows, self.batch = rows, max(k, 2)
        self.models = [IncrementalPCA(n_components=k) for _ in range(self.centers)]

    def learn(self, row, codes):
        known = self.time + 1
        if known % self.batch == 0:
            for i, model in enumerate(self.models):
                model.partial_fit(self.rows[known - self.batch : known, i])
                self.directions[i, 0] = model.components_


#: Families whose leading directions do not depend on k, so that one run serves all values of k.
NESTED = (WeightedPca, WindowPca)
SINGLE = (Oja, Ccipca, Past, Petrels, Grouse, Spirit, RecursiveSvd, FrequentDirections, Incremental)
FAMILIES = NESTED + SINGLE
SETTINGS = sum(len(family.settings) for family in FAMILIES)


def totals(family, rows, ks):
    """Return the total loss of a family for each k: an array over centers and settings."""
    tracker = family(rows, max(ks))
    lost = np.zeros((len(ks), rows.shape[1], len(family.settings)))
    energies = (rows**2).sum(axis=2)
    at = np.array(ks) - 1
    for row, energy in zip(rows, energies):
        explained = np.cumsum(tracker.step(row) ** 2, axis=-1)[..., at]
        lost += np.maximum(energy[None, :, None] - np.moveaxis(explained, -1, 0), 0.0)
    return dict(zip(ks, lost))


def tuned(rows, ks, memories=MEMORIES):
    """Return the total loss of every setting: for each k, a list of (loss, family, setting, center).

    Losses around different centers are comparable, because each is a squared distance between a row
    and its prediction.
    """
    deviations = centered(np.asarray(rows, dtype=float), memories)
    centers = [RUNNING, *memories]
    found = {k: [] for k in ks}
    with warnings.catch_warnings():
        # IncrementalPCA divides by a variance that is zero when rows repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        for family in FAMILIES:
            parts = [ks] if family in NESTED else [[k] for k in ks]
            for part in parts:
                for k, lost in totals(family, deviations, part).items():
                    lost = np.where(np.isnan(lost), np.inf, lost)
                    found[k] += [(float(lost[i, j]), family.name, setting, center) for i, center in enumerate(centers)
                                 for j, setting in enumerate(family.settings)]  # fmt: skip
    return found
