"""Online PCA as a scikit-learn estimator."""

from __future__ import annotations

import numbers
from typing import Any, cast

import numpy as np

from ._estimator import forwarded
from ._online import Online
from ._option_types import LearnerName, PlainOptions
from ._options import OF_KERNELS, constructor, documented
from ._rows import blocks, is_sparse
from ._types import Floats, Table, Unpack


@documented(without=OF_KERNELS | {"seed", "learner"})
class OnlinePCA(Online):
    """Online principal component analysis, by default with the learner ``"anchored"``.

    The state of ``"anchored"``, ``"leader"`` and ``"product-sets"`` does not depend on the order of
    rows. They collect rows as moments at the speed of a matrix product, and decompose the moments
    when a result is needed. With ``losses=True``, another learner, or an option that needs single
    rows (such as ``norm_bound`` or ``standardize="running"``), rows are learned one by one: the
    learner commits to a subspace, the row arrives, its loss is recorded, and the learner updates.

    Parameters
    ----------
    n_components : int or float, default=None
        Number of directions kept, at most the number of features. A number between 0 and 1 means as many
        as explain that share of the variance of the rows of the first call. None means the smaller of the
        numbers of rows and features in the first call. Set a number if rows arrive one at a time.
    learner : str, default="anchored"
        Name of a learner in :func:`eigenhedge.learners`. The components of the default are those of PCA.
        To follow drift, use ``"auto"`` (with the components of its heaviest member) or ``"tracking"``.
    whiten : bool, default=False
        True to divide each coordinate by its standard deviation over all rows so far (the root of
        ``explained_variance_``). ``inverse_transform`` reverses this. Requires ``hindsight``.
    hindsight : bool, default=True
        True to also compute the best fixed subspace in hindsight, for the regret and the explained
        variance. Costs O(n²) operations per row of n features.
    losses : bool, default=False
        True to predict every row before it is learned. ``summary_`` then has losses, a regret and a
        bound. This takes about 30 times as long for 256 features. Up to rounding, it does not change the
        components if rows have at most 4096 numbers. The moments of longer rows are a sketch.
    batch : int, default=None
        Number of rows that are predicted and learned at once, as by :meth:`Model.step_batch`. Each call
        of ``partial_fit`` begins a new batch. None means no batches.
    standardize : str, default="none"
        Standardization of the columns to mean 0 and standard deviation 1: ``"none"``, ``"running"``
        (by the previous rows) or ``"warmup:ROWS"`` (by the first ROWS rows of the first call, or
        all if there are fewer). Coordinates, components and losses are then in standard units.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. They affect the losses, but not the learned state, except that of
        ``"perturbed-leader"``.
    {options}

    Attributes
    ----------
    n_components_, n_features_in_, n_samples_seen_ : int
        Number of directions kept, length of a row, and number of rows since the last ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows had names.

    Notes
    -----
    An option that has no effect with the learner is an error. A grid search over learners and their
    options therefore needs a list of grids, one for each learner:
    ``[{"learner": ["forgetting-leader"], "forget": [0.9, 0.99]}, {"learner": ["tracking"], "eta": [1.0, 4.0]}]``.

    ``score`` is minus the mean loss, and additional directions reduce the loss. A grid search over
    ``n_components`` therefore selects the largest number. Use ``n_components=0.95`` instead.

    The basis of ``transform`` changes while the model learns. Directions may swap or rotate after ``partial_fit``. In
    contrast, the coordinates of :func:`eigenhedge.run` and :meth:`eigenhedge.Model.step` are aligned from row to row.

    Control-C interrupts a long call between rows. Rows that were collected as moments in this call are discarded.

    There is no ``sample_weight``, because the losses of an online learner depend on the order of rows.
    :meth:`eigenhedge.Model.learn` and :meth:`eigenhedge.Moments.update` take weights.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import OnlinePCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 5)) + 0.01 * rng.normal(size=(500, 5))
    >>> pca = OnlinePCA(n_components=2, random_state=0).fit(X)
    >>> pca.transform(X).shape, bool(-pca.score(X) < 0.001)
    ((500, 2), True)
    >>> pca.partial_fit(X[:1]).n_samples_seen_
    501
    >>> OnlinePCA(2, losses=True).fit(X).summary_["bound_holds"]
    True
    """

    @constructor(without=OF_KERNELS | {"seed"})
    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        learner: LearnerName = "anchored",
        whiten: bool = False,
        hindsight: bool = True,
        losses: bool = False,
        batch: int | None = None,
        standardize: str = "none",
        random_state: Any = None,
        **options: Unpack[PlainOptions],
    ) -> None:
        pass

    whiten: bool
    hindsight: bool
    standardize: str
    losses: bool
    batch: int | None
    center: str | bool | None

    components_: Floats = forwarded(
        "components", "ndarray of shape (n_components, n_features): directions most likely to be kept, most likely first."
    )
    mean_: Floats = forwarded("center", "ndarray of shape (n_features,): center that is subtracted from a row.")
    scale_: Floats = forwarded("scale", "ndarray of shape (n_features,): divisor of a centered row, 0 for a constant column.")

    @property
    def explained_variance_(self) -> Floats:
        """ndarray of shape (n_components,): variance of all rows along each direction. Requires ``hindsight``."""
        return self._energies()[0] / max(1, self.n_samples_seen_ - 1)

    @property
    def explained_variance_ratio_(self) -> Floats:
        """ndarray of shape (n_components,): share of the variance along each direction."""
        energies, total = self._energies()
        return energies / total if total > 0 else np.zeros_like(energies)

    @property
    def singular_values_(self) -> Floats:
        """ndarray of shape (n_components,): norm of the vector of all coordinates along each direction."""
        return np.sqrt(self._energies()[0])

    @property
    def noise_variance_(self) -> float:
        """float: mean variance of the directions that are not kept."""
        energies, total = self._energies()
        left = min(self.n_features_in_, self.n_samples_seen_) - self.n_components_
        rest = max(0.0, total - energies.sum()) / max(1, self.n_samples_seen_ - 1)
        return rest / left if left > 0 else 0.0

    def get_covariance(self) -> Floats:
        """Return the covariance matrix of the rows in the model of probabilistic PCA."""
        components, noise = self.components_, self.noise_variance_
        along = np.maximum(self.explained_variance_ - noise, 0.0)
        covariance: Floats = (components.T * along) @ components
        covariance.flat[:: len(covariance) + 1] += noise
        return covariance

    def get_precision(self) -> Floats:
        """Return the inverse of the covariance matrix."""
        return cast(Floats, np.linalg.inv(self.get_covariance()))

    def _collects(self) -> bool:
        return not self.losses and self.batch is None

    def _learn(self, X: Any) -> None:
        if self.batch is None:
            super()._learn(X)
            return
        for rows in blocks(X):
            for start in range(0, len(rows), self.batch):
                self._model.step_batch(rows[start : start + self.batch])

    def _embed(self, X: Table, losses: bool = True) -> tuple[Floats, Floats]:
        coordinates, found = super()._embed(X, losses)
        return (coordinates / self._deviations() if self.whiten else coordinates), found

    def _invert(self, coordinates: Floats) -> Floats:
        return super()._invert(coordinates * self._deviations() if self.whiten else coordinates)

    def _deviations(self) -> Floats:
        deviations = np.sqrt(self.explained_variance_)
        return np.where(deviations > 0, deviations, 1.0)

    def _begin(self, X: Any) -> None:
        for name in ("whiten", "losses"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.batch is not None:
            is_whole = isinstance(self.batch, numbers.Integral) and not isinstance(self.batch, bool)
            if not (is_whole and self.batch >= 1):
                raise ValueError(f"batch must be a whole number, at least 1, got {self.batch!r}")
            if self.standardize != "none":
                raise ValueError(f"batch needs standardize='none', got {self.standardize!r}")
        if self.whiten and not self.hindsight:
            raise ValueError("whiten needs hindsight=True: variances are not followed without it")
        super()._begin(X)

    def _k(self, X: Any) -> int:
        if isinstance(self.n_components, numbers.Real) and not isinstance(self.n_components, numbers.Integral):
            share = float(self.n_components)
            if not 0.0 < share < 1.0:
                raise ValueError(f"n_components must be a whole number, or a share between 0 and 1, got {share}")
            return self._enough_for(share, X)
        k = super()._k(X)
        if k > X.shape[1]:
            raise ValueError(f"n_components must be at most n_features={X.shape[1]}, got {k}")
        return k

    def _enough_for(self, share: float, X: Any) -> int:
        """Return the smallest number of directions that explain this share of the variance of ``X``."""
        rows = X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)
        seen = rows[~np.isnan(rows).any(axis=1)]
        if len(seen) < 2:
            raise ValueError(f"n_components={share} needs at least 2 complete rows at the first call, got {len(seen)}")
        if self.center not in (False, "none"):
            seen = seen - seen.mean(axis=0)
        if self.standardize != "none":
            deviations = seen.std(axis=0)
            seen = seen / np.where(deviations > 0, deviations, 1.0)
        kept = np.cumsum(np.linalg.svd(seen, compute_uv=False) ** 2)
        return 1 if kept[-1] == 0 else int(np.searchsorted(kept, share * kept[-1]) + 1)

    def _energies(self) -> tuple[Floats, float]:
        energies = self._fitted().energies
        if energies is None:
            raise AttributeError("variances are followed with hindsight=True and for rows of at most 4096 numbers")
        return energies
