"""Moments of rows, computed in parts, and merging of fitted models."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ._core import Folded, Model
from ._fleet import Fleet
from ._types import Floats, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from ._option_types import Options
    from ._pca import OnlinePCA

Mergeable = TypeVar("Mergeable", Model, "OnlinePCA", "Fleet[Any, Any]")


class Moments:
    """Moments of rows (count, mean and scatter matrix), computed in parts and merged into one model.

    Parts can be computed on any machine and merged in any order. The result is the model of all rows in one pass. Rows
    of up to 4096 numbers are represented exactly, and longer rows by a frequent-directions sketch. :meth:`best_loss`
    bounds the effect of the sketch.

    Parameters
    ----------
    dim : int
        Length of a row.
    k : int
        Maximum number of directions kept by models. It determines the size of the sketch of long rows.
    names : sequence of str, optional
        Names of the columns. The default is the names of the first table. Later tables are matched by name.
    missing : {"fail", "skip"}, default="fail"
        Handling of rows with missing cells (NaN, null): raise an error, or skip and count them.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> X = np.random.default_rng(0).normal(size=(1000, 5)) * [5, 4, 1, 1, 1]
    >>> parts = [eigenhedge.Moments(5, 2).update(part) for part in np.array_split(X, 10)]
    >>> moments = parts[0].merge(*parts[1:])
    >>> pca = moments.finish()
    >>> pca.components_.shape, pca.n_samples_seen_
    ((2, 5), 1000)
    """

    _folded: Folded

    def __init__(self, dim: int, k: int, *, names: Sequence[str] | None = None, missing: str = "fail") -> None:
        self._folded = Folded(dim, k, names=None if names is None else list(names), missing=missing)

    def update(self, X: Table, sample_weight: ArrayLike | None = None) -> Moments:
        """Add rows to the moments.

        Parameters
        ----------
        X : array-like of shape (n_rows, dim)
            Rows: an array, or a pandas, polars or Arrow table. On an error, nothing is added.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row, finite and not negative.

        Returns
        -------
        self : Moments
        """
        self._folded.update(X, sample_weight)
        return self

    def merge(self, *others: Moments) -> Moments:
        """Add the rows of other moments, which are not modified.

        Parameters
        ----------
        *others : Moments
            Moments with the same ``dim``, ``k`` and names.

        Returns
        -------
        self : Moments
        """
        for other in others:
            self._folded.merge(other._folded)
        return self

    def finish(self, k: int | None = None, *, standardize: bool = False, **options: Unpack[Options]) -> OnlinePCA:
        """Return a fitted model of all rows, which can continue learning.

        No row was predicted, so no loss is recorded. The summary of the model starts with the following rows.

        Parameters
        ----------
        k : int, optional
            Number of directions kept. The default is that of the constructor.
        standardize : bool, default=False
            True to standardize columns to mean 0 and standard deviation 1 by all rows. Learners other than ``"leader"``
            then require a ``norm_bound``.
        **options
            Options of :func:`eigenhedge.run`, such as ``center="none"``. The default learner is ``"leader"``, which
            keeps the principal components of all rows. ``"anchored"`` and ``"product-sets"`` are also supported.

        Returns
        -------
        OnlinePCA
            Fitted estimator.
        """
        # Workers that only add rows do not need scikit-learn, which takes a second to import.
        from ._pca import OnlinePCA

        k = self.k if k is None else k
        if k == self.dim and options.get("feature_dim") is None:
            # At least one direction must be dropped. If all are kept, an additional direction is dropped, in which all
            # rows are zero.
            options["feature_dim"] = k + 1
        options.setdefault("learner", "leader")
        made = self._folded.finish(k, standardize, **options)
        parameters = {"n_components": made.k, "learner": options["learner"], "standardize": made.standardize, "hindsight": True}
        return OnlinePCA._restored(made, {"parameters": {**parameters, **made._changed_options()}})

    def best_loss(self, k: int | None = None, *, center: bool = True, standardize: bool = False) -> tuple[float, float]:
        """Return a lower and an upper bound on the loss of the best k-dimensional subspace of all rows.

        Parameters
        ----------
        k : int, optional
            Number of directions kept. The default is that of the constructor.
        center : bool, default=True
            True for losses around the mean, False for losses around zero.
        standardize : bool, default=False
            True for losses in standard units, False for losses in units of the rows.

        Returns
        -------
        low, high : float
            No subspace has a loss below ``low``. The loss of a finished model on these rows is at most ``high``. Both
            are equal if rows are represented exactly.
        """
        return self._folded.best_loss(self.k if k is None else k, center, standardize)

    @property
    def dim(self) -> int:
        """int: length of a row."""
        return self._folded.dim

    @property
    def k(self) -> int:
        """int: maximum number of directions kept by models."""
        return self._folded.k

    @property
    def rows(self) -> int:
        """int: number of rows added."""
        return self._folded.rows

    @property
    def skipped_rows(self) -> int:
        """int: number of rows skipped because of missing cells."""
        return self._folded.skipped_rows

    @property
    def weight(self) -> float:
        """float: total weight of the rows."""
        return self._folded.weight

    @property
    def names(self) -> list[str] | None:
        """list of str, or None: names of the columns."""
        return self._folded.names

    @property
    def mean(self) -> Floats | None:
        """ndarray of shape (dim,): mean of the rows. It is None before the first row."""
        return self._folded.mean

    @property
    def scatter(self) -> Floats | None:
        """ndarray of shape (dim, dim), or None for long rows: weighted sum of d dᵀ, with deviations d from the mean."""
        return self._folded.scatter

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for :meth:`from_bytes` on any machine."""
        return self._folded.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """Read the bytes written by :meth:`to_bytes`. Raise a ``ValueError`` for other or damaged bytes."""
        moments = cls.__new__(cls)
        moments._folded = Folded.from_bytes(data)
        return moments

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Moments.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"<Moments dim={self.dim}, rows={self.rows}>"


def merge(first: Mergeable, *others: Mergeable) -> Mergeable:
    """Merge models fitted to parts of a table into the model of all rows.

    The learner must not depend on the order of rows (``"leader"``, ``"anchored"`` or ``"product-sets"``), and options
    and columns must match. Merging fleets combines their keys. Models of a common key are merged.

    Parameters
    ----------
    first : Model, OnlinePCA or Fleet
        First model.
    *others : of the same class
        Models to merge with the first one. No model is modified.

    Returns
    -------
    Model, OnlinePCA or Fleet
        New model of all rows.

    Examples
    --------
    >>> import eigenhedge, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) * [4, 2, 1, 1]
    >>> parts = [eigenhedge.OnlinePCA(1, learner="leader").fit(part) for part in np.array_split(X, 3)]
    >>> merged = eigenhedge.merge(*parts)
    >>> whole = eigenhedge.OnlinePCA(1, learner="leader").fit(X)
    >>> bool(np.allclose(merged.score_samples(X), whole.score_samples(X)))
    True
    """
    models: Any = (first, *others)
    for model in models:
        if type(model) is not type(first):
            raise TypeError(f"all models must be of one class, got a {type(first).__name__} and a {type(model).__name__}")
    if isinstance(first, Fleet):
        merged: Any = Fleet._merged(*models)
    elif isinstance(first, Model):
        merged = first.merge(*others)
    else:
        merged = _merged_estimators(*models)
    return cast("Mergeable", merged)


def _merged_estimators(first: OnlinePCA, *others: OnlinePCA) -> OnlinePCA:
    from ._pca import OnlinePCA

    if not isinstance(first, OnlinePCA):
        raise TypeError(f"a {type(first).__name__} cannot be merged: Model, OnlinePCA and Fleet can")
    inner, *rest = map(_named, (first, *others))
    return OnlinePCA._restored(inner.merge(*rest), first._remembered())


def _named(model: OnlinePCA) -> Model:
    inner = copy.copy(model._fitted())
    inner._set_feature_names(model._feature_names())
    return inner
