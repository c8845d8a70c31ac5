"""Combinations of features: pre-images, mean features, and distances between mean features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from ._core import _DEFAULTS, _best_candidate, _kernel_mean, _mmd, _preimage
from ._rows import as_numbers, as_points, column_names
from ._types import Floats, KernelArguments, RowKernel, Table, Unpack


@dataclass(frozen=True)
class Preimage:
    """Result of :func:`preimage`.

    Attributes
    ----------
    point : ndarray of shape (n_features,), or the candidate
        Row whose features are near the combination.
    squared_distance : float
        Squared distance between the features of the row and the combination. With
        ``criterion="angle"``, it is the cosine of the angle between them.
    converged : bool
        True if the search converged, and always True with candidates.
    """

    point: Any
    squared_distance: float
    converged: bool

    def __repr__(self) -> str:
        return f"Preimage({self.point}, squared_distance={self.squared_distance:.3g}, converged={self.converged})"


def preimage(
    atoms: Table,
    weights: ArrayLike,
    *,
    kernel: RowKernel = _DEFAULTS["kernel"],
    candidates: Table | None = None,
    criterion: Literal["distance", "angle"] = "distance",
    start: ArrayLike | None = None,
    steps: int = 200,
    tolerance: float = 1e-8,
    **parameters: Unpack[KernelArguments],
) -> Preimage:
    """Find a row whose features are near a combination of the features of other rows.

    Parameters
    ----------
    atoms, weights : array-like of shape (n_atoms, n_features) and (n_atoms,)
        Rows whose features are combined (also texts, sets or objects), and their weights.
    kernel : str or callable, default="rbf"
        Name of a kernel in :func:`eigenhedge.kernels`, or a function of two rows. Without
        candidates, the kernel must have a gradient.
    candidates : like atoms, default=None
        Rows among which the best one is selected. None means a search over all rows of numbers.
    criterion : {"distance", "angle"}, default="distance"
        Rule for the best candidate: the smallest distance or the smallest angle.
    start : array-like of shape (n_features,), default=None
        Starting point of the search. None means the nearest atom.
    steps, tolerance : int, float, default=200 and 1e-8
        Maximum number of steps, and relative length of a step at which the search stops.
    **parameters
        Parameters of the kernel: ``gamma`` (by default 1 / number of features), ``degree``,
        ``coef0``, ``length_scale``, ``items``, ``substring``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import preimage
    >>> found = preimage([[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5], gamma=0.5)
    >>> found.point.round(3)
    array([0.5, 0. ])
    >>> words = ["banana", "bandana", "cabana"]
    >>> preimage(words, [0.4, 0.2, 0.4], kernel="spectrum", substring=2, candidates=["anagram", "banal", "cab"]).point
    'banal'
    """
    chosen: dict[str, Any] = {"kernel": kernel, **parameters}
    points = as_points(atoms, kernel)
    if candidates is not None:
        rows = as_points(candidates, kernel, column_names(atoms))
        index, score = _best_candidate(points, as_numbers(weights), rows, criterion, chosen)
        return Preimage(rows[index], score, True)
    if start is not None:
        start = as_numbers(start, column_names(atoms))
    return Preimage(*_preimage(points, as_numbers(weights), chosen, start, steps, tolerance))


@dataclass(frozen=True)
class KernelMean:
    """Result of :func:`kernel_mean`.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Mean of the kernel values of each row with all rows of the sample.
    squared_norm : float
        Squared norm of the mean feature of the sample.
    """

    values: Floats
    squared_norm: float


def kernel_mean(
    X: Table, at: Table | None = None, *, kernel: RowKernel = _DEFAULTS["kernel"], **parameters: Unpack[KernelArguments]
) -> KernelMean:
    """Compute the mean of the features of a sample as a function of a row y: ``μ(y) = Σ k(x, y) / n``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or list of texts, sets or objects
        Sample of n rows.
    at : like X, default=None
        Rows at which the mean is evaluated. None means the rows of ``X``.
    kernel, **parameters
        Kernel and its parameters, as for :func:`preimage`.

    Examples
    --------
    >>> from eigenhedge import kernel_mean
    >>> kernel_mean([{"bread", "milk"}, {"bread"}], [{"bread"}, {"tea"}], kernel="intersection").values
    array([1., 0.])
    """
    points = as_points(X, kernel)
    others = points if at is None else as_points(at, kernel, column_names(X))
    squared_norm, values = _kernel_mean(points, others, {"kernel": kernel, **parameters})
    return KernelMean(values, squared_norm)


@dataclass(frozen=True)
class Discrepancy:
    """Result of :func:`mmd`.

    Attributes
    ----------
    biased : float
        Squared distance between the mean features of the samples. It is not negative, and biased upwards.
    unbiased : float or None
        Unbiased estimate of the squared distance, without the pairs of a row with itself. It can be
        negative. It is None if a sample has only one row.
    p_value : float or None
        Share of the splits of all rows into two samples, random ones and the given one, whose
        distance is at least that of the given split. It is None without splits.
    """

    biased: float
    unbiased: float | None
    p_value: float | None = None


def mmd(
    X: Table,
    Y: Table,
    *,
    kernel: RowKernel = _DEFAULTS["kernel"],
    splits: int = _DEFAULTS["mmd_splits"],
    seed: int = 0,
    **parameters: Unpack[KernelArguments],
) -> Discrepancy:
    """Compute the squared maximum mean discrepancy of two samples, and test whether their distributions are equal.

    If the distributions are equal, the probability of a p-value of at most 0.01 is at most 0.01.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples, n_features), or lists of texts, sets or objects
        Samples to compare.
    splits, seed : int, default=199 and 0
        Number of random splits for the p-value, or 0 for no p-value, and seed of the splits.
    kernel, **parameters
        Kernel and its parameters, as for :func:`preimage`. Without ``gamma``, it is 1 / median of the squared distances
        between the first 100 rows of each sample (for other kernels than RBF, of the quantity that γ multiplies).

    Examples
    --------
    >>> from eigenhedge import mmd
    >>> mmd([[0.0], [0.1]], [[0.0], [0.1]], gamma=1.0).biased
    0.0
    >>> mmd(["abab", "abba"], ["xyxy", "yxxy"], kernel="spectrum", substring=1).biased
    2.0
    >>> mmd([[0.0], [0.1], [0.2], [0.3]], [[2.0], [2.1], [2.2], [2.3]], gamma=1.0, splits=99).p_value < 0.1
    True
    """
    points = as_points(X, kernel), as_points(Y, kernel, column_names(X))
    return Discrepancy(*_mmd(*points, splits, seed, {"kernel": kernel, **parameters}))
