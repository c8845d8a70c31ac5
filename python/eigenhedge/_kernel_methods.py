"""Batch kernel methods: all rows at once."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ._core import KernelComponents, KernelRegression, _preimage
from ._lift import Lift, is_given, needs_kernel_name
from ._online import Transformer
from ._rows import as_numbers, as_rows, check_numbers
from ._types import Floats, Kernel, Table

if TYPE_CHECKING:
    from typing_extensions import Self

KERNEL = {
    "kernel": [str, callable],
    "gamma": [Interval(numbers.Real, 0, None, closed="neither"), None],
    "degree": [Interval(numbers.Integral, 1, None, closed="left"), None],
    "coef0": [Interval(numbers.Real, None, None, closed="neither"), None],
}


class KernelPCA(Transformer):
    """Kernel principal component analysis of all rows at once.

    Beside what scikit-learn's class of this name does, it tells the compression loss of any row, finds pre-images
    (``inverse_transform``), and has a solver that never forms the kernel matrix.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None is the number of rows.
    kernel : str or callable, default="linear"
        A name of :func:`eigenhedge.kernels`, ``"precomputed"``, or a function of two rows.
    gamma, degree, coef0 : float, int, float, default=None
        Parameters of the kernel; None is one over the number of features, 3 and 1.
    center : bool, default=True
        True analyses deviations from the mean of the features.
    solver : {"dense", "partial", "cholesky"}, default="dense"
        All eigenvalues; only the largest; or a pivoted Cholesky factor, whose components are combinations of few rows.
    tolerance : float, default=1e-6
        For ``"cholesky"``: stops when this share of the trace is left.
    max_rank : int, default=None
        For ``"cholesky"``: most rows that are used; None is ten for each component, and at least 100.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        The largest eigenvalues of the (centered) kernel matrix.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the energy that each component explains.
    trace_error_ : float
        Energy outside of the rows that are used; zero for exact solvers.
    gamma_ : float
        The γ in use.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(numbers.Integral, 1, None, closed="left"), None],
        **KERNEL,
        "center": ["boolean"],
        "solver": [StrOptions({"dense", "partial", "cholesky"})],
        "tolerance": [Interval(numbers.Real, 0, 1, closed="both")],
        "max_rank": [Interval(numbers.Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        center: bool = True,
        solver: str = "dense",
        tolerance: float = 1e-6,
        max_rank: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center
        self.solver = solver
        self.tolerance = tolerance
        self.max_rank = max_rank

    def fit(self, X: Table, y: object = None) -> Self:
        """Analyse the rows of ``X``; a square kernel matrix with ``kernel="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self._validate_params()
        X = _checked(self, X, reset=True)
        kept = X.shape[0] if self.n_components is None else min(self.n_components, X.shape[0])
        max_rank = max(10 * kept, 100) if self.max_rank is None else self.max_rank
        kernel, gamma, degree, coef0 = self.kernel, self.gamma, self.degree, self.coef0
        self._lift = None
        rows = X
        if is_given(kernel):
            self._lift = Lift(kernel, X, self.n_components or 0)
            rows, kernel, gamma, degree, coef0 = self._lift(X), "linear", None, None, None
        self._model = KernelComponents(
            rows, kept, kernel, gamma, degree, coef0, self.center, self.solver, self.tolerance, max_rank
        )
        self._n_features_out = kept
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        self.eigenvalues_ = self._model.eigenvalues
        self.explained_variance_ratio_ = self._model.explained_ratio
        self.trace_error_ = self._model.trace_error
        return self

    def fit_transform(self, X: Table, y: object = None) -> Floats:
        """Analyse the rows, and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
        """
        self.fit(X)
        return np.ascontiguousarray(self._model.scores.T)

    score_samples = needs_kernel_name(Transformer.score_samples)
    inverse_transform = needs_kernel_name(Transformer.inverse_transform)

    def _embed(self, X: Table) -> tuple[Floats, Floats]:
        check_is_fitted(self)
        X = _checked(self, X, reset=False)
        return self._model.embed(X if self._lift is None else self._lift(X))

    def _invert(self, coordinates: Floats) -> Floats:
        atoms = self._model.atoms()
        kernel: dict[str, Any] = {"kernel": self.kernel, "gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.array([preimage(atoms, row, **kernel).point for row in self._model.expand(coordinates)])


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression, with the variance of the Gaussian process that it is the mean of.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the squared norm; variance of the noise for the Gaussian process.
    kernel : str, default="linear"
        A name of :func:`eigenhedge.kernels`.
    gamma, degree, coef0 : float, int, float, default=None
        Parameters of the kernel; None is one over the number of features, 3 and 1.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Weights on the rows of the fit.
    leave_one_out_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Error at each row of a fit without it.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(numbers.Real, 0, None, closed="neither")],
        **KERNEL,
        "kernel": [str],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: float | None = None,
        degree: int | None = None,
        coef0: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Table, y: Table) -> Self:
        """Fit to targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets.

        Returns
        -------
        self : object
        """
        self._validate_params()
        check_numbers(X)
        check_numbers(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", multi_output=True, y_numeric=True)
        self._one_target = y.ndim == 1
        targets = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        self._model = KernelRegression(_dense(X), targets, float(self.alpha), self.kernel, self.gamma, self.degree, self.coef0)
        self.dual_coef_ = self._shaped(self._model.coefficients.T)
        likelihood = self._model.log_likelihood()
        self.log_likelihood_ = float(likelihood[0]) if self._one_target else likelihood
        return self

    @property
    def leave_one_out_(self) -> Floats:
        """ndarray: error at each row of a fit without it."""
        check_is_fitted(self)
        return self._shaped(self._model.leave_one_out().T)

    @overload
    def predict(self, X: Table, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: Table, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: Table, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Also return the standard deviation of the function, without noise.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        check_is_fitted(self)
        X = _checked(self, X, reset=False)
        mean, variance = self._model.predict(X, return_std)
        mean = self._shaped(mean)
        return (mean, np.sqrt(variance)) if return_std else mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _shaped(self, columns: Floats) -> Floats:
        return columns[:, 0].copy() if self._one_target else np.ascontiguousarray(columns)


def _checked(estimator: BaseEstimator, X: Table, reset: bool) -> Floats:
    check_numbers(X)
    return _dense(validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, order="C"))


def _dense(X: Table) -> Floats:
    return X if isinstance(X, np.ndarray) else as_rows(X)


@dataclass(frozen=True)
class Preimage:
    """The result of :func:`preimage`.

    Attributes
    ----------
    point : ndarray of shape (n_features,)
        The row.
    squared_distance : float
        Between its features and the combination.
    converged : bool
        True if the search came to rest.
    """

    point: Floats
    squared_distance: float
    converged: bool

    def __repr__(self) -> str:
        return f"Preimage({self.point}, squared_distance={self.squared_distance:.3g}, converged={self.converged})"


def preimage(
    atoms: Table,
    weights: ArrayLike,
    *,
    kernel: str = "rbf",
    gamma: float | None = None,
    degree: int | None = None,
    coef0: float | None = None,
    start: ArrayLike | None = None,
    steps: int = 200,
    tolerance: float = 1e-8,
) -> Preimage:
    """Find a row whose features are near a combination of the features of other rows.

    Parameters
    ----------
    atoms : array-like of shape (n_atoms, n_features)
        The rows that are combined.
    weights : array-like of shape (n_atoms,)
        Their weights.
    kernel : str, default="rbf"
        A name of :func:`eigenhedge.kernels` whose kernel has a gradient.
    gamma, degree, coef0 : float, int, float, default=None
        Parameters of the kernel.
    start : array-like of shape (n_features,), default=None
        Where to start; None is the nearest atom.
    steps : int, default=200
        Most steps.
    tolerance : float, default=1e-8
        Relative length of a step that counts as none.

    Returns
    -------
    Preimage
        The row, the squared distance, and whether the search came to rest.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import preimage
    >>> found = preimage([[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5], gamma=0.5)
    >>> found.point.round(3)
    array([0.5, 0. ])
    """
    if start is not None:
        start = as_numbers(start)
    return Preimage(*_preimage(as_rows(atoms), as_numbers(weights), kernel, gamma, degree, coef0, start, steps, tolerance))
