"""The parts that the estimators share."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _snapshot
from ._core import Model
from ._rows import blocks, check_numbers, is_plain, is_single
from ._sklearn import BaseEstimator, ClassNamePrefixFeaturesOutMixin, NotFittedError, TransformerMixin, validated
from ._types import Floats, Path, Summary, Table

if TYPE_CHECKING:
    from typing_extensions import Self


def check_n_components(n_components: Any) -> None:
    """Raise a ``ValueError`` if the number of components is neither a whole number, at least 1, nor None."""
    is_whole = isinstance(n_components, numbers.Integral) and not isinstance(n_components, bool)
    if n_components is not None and not (is_whole and n_components >= 1):
        reason = (
            "; that choice needs all rows, and an online estimator begins with the first one" if n_components == "mle" else ""
        )
        raise ValueError(f"n_components must be a whole number, at least 1, got {n_components!r}{reason}")


def seed_of(random_state: Any) -> int:
    """Return the seed of a model: an integer as it is, so that it means the same on the command line."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Coordinates and losses of rows, and rows out of coordinates."""

    @abstractmethod
    def _embed(self, X: Table) -> tuple[Floats, Floats]:
        """Coordinates and losses of rows that nobody has checked."""

    @abstractmethod
    def _invert(self, coordinates: Floats) -> Floats:
        """Rows with these coordinates."""

    def transform(self, X: Table) -> Floats:
        """Coordinates of rows. Learns nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; kernel values with the rows of the fit, when the kernel is precomputed.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Along the components, or in the directions that an online estimator most surely keeps now. Of single precision if the
            rows are.
        """
        coordinates = self._embed(X)[0]
        return coordinates.astype(np.float32) if is_single(X) else coordinates

    def inverse_transform(self, X: Table) -> Floats:
        """Rows with these coordinates; through a kernel, rows whose features are near them (pre-images).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        check_numbers(X)
        return self._invert(check_array(X, dtype=np.float64, order="C"))

    def score_samples(self, X: Table) -> Floats:
        """Minus the compression loss: the squared distance between a row, or its features, and their projection.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return -self._embed(X)[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        return tags


class Online(Transformer):
    """A transformer around a :class:`eigenhedge.Model`."""

    n_components: int | float | None
    n_components_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    random_state: Any
    _model: Model
    #: What to do about missing cells.
    _advice = "missing='fill' fills missing cells in, missing='skip' passes such rows over"
    #: Arguments that the model does not take.
    _not_options = frozenset({"n_components", "random_state"})

    def fit(self, X: Table, y: object = None) -> Self:
        """Forget everything, and learn from the rows of ``X`` in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; sparse matrices and tables are accepted.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        rows = self._prepared(X, reset=True)
        self._begin(rows)
        self._learn(rows)
        return self

    def partial_fit(self, X: Table, y: object = None) -> Self:
        """Go on learning from the rows of ``X``, one or more; the first call begins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self : object

        Notes
        -----
        Parameters that were changed after the first call take effect at the next ``fit``; another ``n_components`` is an
        error.
        """
        model = self.__dict__.get("_model")
        if model is None:
            return self.fit(X)
        if isinstance(self.n_components, numbers.Integral) and self.n_components != self.n_components_:
            raise ValueError(f"n_components must stay {self.n_components_} until the next fit, got {self.n_components}")
        if self._is_plain(X):
            model.learn(X)
        else:
            self._learn(self._prepared(X, reset=False))
        return self

    def score(self, X: Table, y: object = None) -> float:
        """Mean of :meth:`score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        score : float
        """
        return float(self.score_samples(X).mean())

    def save(self, path: Path) -> None:
        """Write a snapshot that :func:`eigenhedge.load` and the command line read.

        Parameters
        ----------
        path : path-like
            The file; it is complete or absent.
        """
        _snapshot.save(self, path)

    def _remembered(self) -> dict[str, Any]:
        """Python's part of a snapshot."""
        parameters = self.get_params(deep=False).items()
        plain = {name: value for name, value in parameters if _snapshot.is_plain(value)}
        return {"class": type(self).__name__, "parameters": plain}

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    @classmethod
    def _restored(cls, inner: Model, saved: dict[str, Any]) -> Self:
        """The estimator around a model that was saved; what is not known of its parameters has its default."""
        model = cls()
        known = model.get_params(deep=False)
        model.set_params(**{name: value for name, value in saved["parameters"].items() if name in known})
        model._model, model.n_components_, model.n_features_in_ = inner, inner.k, inner.dim
        if inner.feature_names is not None:
            model.feature_names_in_ = np.asarray(inner.feature_names, dtype=object)
        return model

    @property
    def inclusion_(self) -> Floats:
        """ndarray of shape (n_components,): how surely each direction is kept."""
        return self._fitted().inclusion

    @property
    def summary_(self) -> Summary:
        """dict: losses, best loss, regret and bound, with the keys of the command line's summary."""
        return self._fitted().summary

    @property
    def n_samples_seen_(self) -> int:
        """int: rows learned from since the last ``fit``."""
        return self._fitted().rows

    @property
    def model_(self) -> Model:
        """Model: the model inside."""
        return self._fitted()

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _fitted(self) -> Model:
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call fit or partial_fit first.")
        return model

    def _prepared(self, X: Table, reset: bool) -> Any:
        advice = None if self._allows_nan() else self._advice
        return validated(self, X, advice, reset=reset, accept_sparse="csr", dtype=np.float64, order="C")

    def _allows_nan(self) -> bool:
        """True if rows may have missing cells."""
        return getattr(self, "missing", None) not in (None, "fail")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags

    def _is_plain(self, X: object) -> bool:
        """True if rows can go to the model as they are."""
        return is_plain(X, self.n_features_in_) and not hasattr(self, "feature_names_in_")

    def _begin(self, X: Any) -> None:
        k = self._k(X)
        options = self._options(X)
        if options["feature_dim"] is None:
            options["feature_dim"] = self._room(k, X.shape[1])
        model = Model(X.shape[1], k, seed=seed_of(self.random_state), **options)
        self._model, self.n_components_ = model, k

    def _options(self, X: Any) -> dict[str, Any]:
        """Options of a model that begins with these rows."""
        parameters = self.get_params(deep=False)
        return {name: value for name, value in parameters.items() if name not in self._not_options}

    def _k(self, X: Any) -> int:
        check_n_components(self.n_components)
        return min(X.shape) if self.n_components is None else int(self.n_components)

    def _room(self, k: int, n_features: int) -> int | None:
        """Dimension of a space with room for one more direction than are kept, when the rows' own space has none."""
        return None if k < n_features else k + 1

    def _learn(self, X: Any) -> None:
        # A warm-up takes its scale from the whole table, which may come in blocks.
        if self._model.standardize.startswith("warmup") and self._model.rows == 0:
            any(not self._model._warm_up(block) for block in blocks(X))
        for block in blocks(X):
            self._model.learn(block)

    def _invert(self, coordinates: Floats) -> Floats:
        return self._model.reconstruct(coordinates)

    def _embed(self, X: Table) -> tuple[Floats, Floats]:
        model = self._fitted()
        if self._is_plain(X):
            return model._embed(X)
        pieces = [model._embed(block) for block in blocks(self._prepared(X, reset=False))]
        coordinates, losses = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
        return coordinates, losses
