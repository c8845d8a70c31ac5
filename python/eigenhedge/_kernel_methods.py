"""Batch kernel methods: kernel PCA and kernel ridge regression."""

from __future__ import annotations

import warnings
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ._core import _DEFAULTS, KernelComponents, KernelRegression, _kernel_advice
from ._lift import Lift, is_given, needs_kernel_name
from ._online import Transformer, check_n_components
from ._options import stores_arguments
from ._rows import PARAMETERS, as_rows, check_numbers, checked_items, is_single, scaled_gamma, takes_items
from ._sklearn import BaseEstimator, MultiOutputMixin, RegressorMixin, validated
from ._types import Floats, Gamma, Kernel, RowKernel, Self, Table

ADVICE = "fill missing cells in first, or leave such rows out"


class KernelPCA(Transformer):
    """Batch kernel principal component analysis, with the loss of any row.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None means all whose eigenvalue exceeds 10⁻¹² times the largest.
    kernel : str or callable, default="rbf"
        Name of a kernel in :func:`eigenhedge.kernels`, ``"precomputed"``, or a function of two rows. For
        kernels of texts or sets, rows are texts or sets. For a function, rows are any objects.
    gamma : float or "scale", default=None
        Kernel parameter γ. ``"scale"`` is 1 / (number of features · variance of all entries). None
        is 1 / number of features, as in scikit-learn, which suits columns of variance 1. A warning
        is issued if γ does not suit the rows.
    degree, coef0, length_scale : int, float, float, default=None
        Other kernel parameters. None means 3, 1 and (for a Matérn kernel) 1/√(2γ).
    items, substring : {"words", "chars"}, int, default=None
        Kind of items in a text, and number of items per substring for the spectrum kernel. None
        means characters for the spectrum kernel, words for kernels of sets, and 3 items.
    center : bool, default=True
        True to subtract the mean of the features.
    solver : {"auto", "dense", "partial", "cholesky"}, default="auto"
        ``"dense"`` computes all eigenvalues, and ``"partial"`` only the largest ones. ``"cholesky"`` computes a pivoted
        Cholesky factor, without the whole kernel matrix. ``"auto"`` is dense for up to 500 rows and partial for more.
    tolerance : float, default=1e-6
        Share of the trace of the kernel matrix that the solver ``"cholesky"`` may leave unexplained.
    max_rank : int, default=None
        Maximum number of rows that the solver ``"cholesky"`` uses. None means ten per component, and at least 100.
    remove_zero_eig : bool, default=False
        True to leave out components without energy even if ``n_components`` is given.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Largest eigenvalues of the (centered) kernel matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Eigenvectors of ``eigenvalues_``, or zero for an eigenvalue of 0.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the energy that each component explains.
    trace_error_ : float
        Energy outside the span of the rows that the solver ``"cholesky"`` uses.
    gamma_ : float
        Value of γ. A Matérn kernel with a given ``length_scale`` does not use it.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> pca = KernelPCA(10, kernel="rbf", gamma=0.2).fit(X)
    >>> pca.transform(X).shape
    (60, 10)
    >>> bool(pca.score_samples(X).max() <= 0)
    True
    """

    n_components: int | None
    kernel: Kernel
    center: bool
    solver: str
    tolerance: float
    max_rank: int | None
    remove_zero_eig: bool

    @stores_arguments
    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel = _DEFAULTS["kernel"],
        gamma: Gamma = None,
        degree: int | None = None,
        coef0: float | None = None,
        length_scale: float | None = None,
        items: Literal["words", "chars"] | None = None,
        substring: int | None = None,
        center: bool = True,
        solver: Literal["auto", "dense", "partial", "cholesky"] = "auto",
        tolerance: float = 1e-6,
        max_rank: int | None = None,
        remove_zero_eig: bool = False,
    ) -> None:
        pass

    def fit(self, X: Table, y: object = None) -> Self:
        """Fit the components to the rows or to the precomputed kernel matrix ``X``. ``y`` is ignored."""
        check_n_components(self.n_components)
        rows = _checked(self, X, reset=True)
        k = rows.shape[0] if self.n_components is None else min(self.n_components, rows.shape[0])
        max_rank = max(10 * k, 100) if self.max_rank is None else self.max_rank
        self.gamma_ = _gamma(self, rows)
        kernel = _chosen(self)
        _warn_of_scale(self, rows)
        self._lift = None
        if is_given(self.kernel):
            self._lift = Lift(self.kernel, rows, self.n_components or 0)
            rows, kernel = self._lift(rows), {"kernel": "linear"}
        self._model = KernelComponents(rows, k, kernel, self.center, self.solver, self.tolerance, max_rank)
        values = self._model.eigenvalues
        if self.remove_zero_eig or self.n_components is None:
            k = int((values > 1e-12 * values.max(initial=0.0)).sum())
        self._n_features_out = k
        self.eigenvalues_ = values[:k]
        self.explained_variance_ratio_ = self._model.explained_ratio[:k]
        self.trace_error_ = self._model.trace_error
        return self

    @property
    def eigenvectors_(self) -> Floats:
        """ndarray of shape (n_samples, n_components): eigenvectors of the kernel matrix."""
        check_is_fitted(self)
        lengths = np.sqrt(self.eigenvalues_)
        vectors: Floats = self._model.scores.T[:, : len(lengths)] / np.where(lengths > 0, lengths, 1.0)
        return vectors

    def fit_transform(self, X: Table, y: object = None) -> Floats:
        """Fit the components and return the coordinates of the rows of ``X``. ``y`` is ignored."""
        self.fit(X)
        scores = self._model.scores.T[:, : self._n_features_out]
        return np.ascontiguousarray(scores, dtype=np.float32 if is_single(X) else np.float64)

    score_samples = needs_kernel_name(Transformer.score_samples)
    inverse_transform = needs_kernel_name(Transformer.inverse_transform)

    def _embed(self, X: Table) -> tuple[Floats, Floats]:
        check_is_fitted(self)
        rows = _checked(self, X, reset=False)
        coordinates, losses = self._model.embed(rows if self._lift is None else self._lift(rows))
        return np.ascontiguousarray(coordinates[:, : self._n_features_out]), losses

    def _invert(self, coordinates: Floats) -> Floats:
        if takes_items(self.kernel):
            raise ValueError("texts and sets cannot be made from coordinates: preimage finds the best of candidates")
        left_out = len(self._model.eigenvalues) - self._n_features_out
        return self._model.invert(np.pad(coordinates, ((0, 0), (0, left_out))))


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression, with the variance of the equivalent Gaussian process.

    Parameters
    ----------
    alpha : float, default=1.0
        Regularization weight, which is also the noise variance of the Gaussian process.
    kernel : str or callable, default="rbf"
        Kernel as for :class:`KernelPCA`, but not ``"precomputed"``.
    gamma, degree, coef0, length_scale, items, substring : float or "scale", int, float, float, str, int, default=None
        Parameters of the kernel, as for :class:`KernelPCA`.

    Attributes
    ----------
    gamma_ : float
        Value of γ. A Matérn kernel with a given ``length_scale`` does not use it.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Weights of the fitted rows in a prediction.
    leave_one_out_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Leave-one-out errors: the target of each row minus its prediction from all other rows.
    log_likelihood_ : float or ndarray of shape (n_targets,)
        Log marginal likelihood of the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> ridge = KernelRidge(alpha=0.01, kernel="rbf", gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> mean, std = ridge.predict([[3.0], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(3.0)) < 0.01), bool(std[0] < 0.1), bool(std[1] > 0.99)
    (True, True, True)
    """

    alpha: float

    @stores_arguments
    def __init__(
        self,
        alpha: float = _DEFAULTS["ridge_alpha"],
        *,
        kernel: RowKernel = _DEFAULTS["kernel"],
        gamma: Gamma = None,
        degree: int | None = None,
        coef0: float | None = None,
        length_scale: float | None = None,
        items: Literal["words", "chars"] | None = None,
        substring: int | None = None,
    ) -> None:
        pass

    def fit(self, X: Table, y: Table) -> Self:
        """Fit the regression to the rows of ``X`` and their targets ``y``, one or several columns."""
        check_numbers(y)
        rows = checked_items(self, X, reset=True)
        if rows is not None:
            targets = check_array(y, dtype=np.float64, ensure_2d=False)
            check_consistent_length(rows, targets)
        else:
            rules: dict[str, Any] = {"dtype": np.float64, "order": "C", "multi_output": True, "y_numeric": True}
            rows, targets = validated(self, X, ADVICE, y, accept_sparse="csr", **rules)
        self._one_target = targets.ndim == 1
        targets = np.ascontiguousarray(targets.reshape(len(targets), -1), dtype=np.float64)
        self.gamma_ = _gamma(self, rows)
        _warn_of_scale(self, _dense(rows))
        self._model = KernelRegression(_dense(rows), targets, float(self.alpha), _chosen(self))
        self.dual_coef_ = self._shaped(self._model.coefficients.T)
        likelihood = self._model.log_likelihood()
        self.log_likelihood_ = float(likelihood[0]) if self._one_target else likelihood
        return self

    @property
    def leave_one_out_(self) -> Floats:
        """ndarray: target of each row minus its prediction from all other rows."""
        check_is_fitted(self)
        return self._shaped(self._model.leave_one_out().T)

    @overload
    def predict(self, X: Table, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: Table, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: Table, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict the targets of rows.

        With ``return_std=True``, also return the standard deviation of the predicted function, without noise.
        """
        check_is_fitted(self)
        mean, variance = self._model.predict(_checked(self, X, reset=False), return_std)
        mean = self._shaped(mean)
        return (mean, np.sqrt(variance)) if return_std else mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _shaped(self, columns: Floats) -> Floats:
        return columns[:, 0].copy() if self._one_target else np.ascontiguousarray(columns)


def _chosen(estimator: Any) -> dict[str, Any]:
    parameters = {name: getattr(estimator, name) for name in PARAMETERS}
    return {"kernel": estimator.kernel, **parameters, "gamma": None if estimator.gamma is None else estimator.gamma_}


def _gamma(estimator: Any, X: Any) -> float:
    if estimator.length_scale:
        return float(1 / (2 * estimator.length_scale**2))
    if estimator.gamma == "scale" and not takes_items(estimator.kernel):
        return scaled_gamma(X)
    gamma: float = 1 / X.shape[1] if estimator.gamma in (None, "scale") else estimator.gamma
    return gamma


def _warn_of_scale(estimator: Any, rows: Any) -> None:
    if not takes_items(estimator.kernel) and isinstance(estimator.kernel, str) and estimator.kernel != "precomputed":
        advice = _kernel_advice(rows[:200], _chosen(estimator))
        if advice is not None:
            warnings.warn(f"{advice}, or gamma='scale'", stacklevel=3)


def _checked(estimator: Any, X: Table, reset: bool) -> Any:
    rows = checked_items(estimator, X, reset)
    if rows is not None:
        return rows
    return _dense(validated(estimator, X, ADVICE, reset=reset, accept_sparse="csr", dtype=np.float64, order="C"))


def _dense(X: Table) -> Any:
    return X if isinstance(X, (np.ndarray, list)) else as_rows(X)
