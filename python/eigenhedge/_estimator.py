"""Base classes of the scikit-learn estimators with a native model."""

from __future__ import annotations

import numbers
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._core import Model, Monitor
from ._rows import blocks, is_plain
from ._saved import Saved, plain
from ._sklearn import BaseEstimator, NotFittedError, validated
from ._types import Self, Table

Native = TypeVar("Native", Model, Monitor)


def forwarded(name: str, doc: str) -> Any:
    """Return a property whose value is an attribute of the native model."""
    return property(lambda estimator: getattr(estimator._fitted(), name), doc=doc)


class NativeEstimator(Saved, BaseEstimator, Generic[Native]):
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    missing: str | None
    _model: Native
    _first_calls = "fit or partial_fit"

    def _fitted(self) -> Native:
        if not self.__sklearn_is_fitted__():
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance is not fitted yet: call {self._first_calls} first.")
        return self._model

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _adopt(self, inner: Native) -> None:
        self._model, self.n_features_in_ = inner, inner.dim
        if inner.feature_names is not None:
            self.feature_names_in_ = np.asarray(inner.feature_names, dtype=object)

    def _prepared(self, X: Table, reset: bool, **rules: Any) -> Any:
        advice = None if self._allows_nan() else "missing='fill' fills missing cells in, missing='skip' passes such rows over"
        return validated(self, X, advice, reset=reset, dtype=np.float64, order="C", **rules)

    def _allows_nan(self) -> bool:
        return getattr(self, "missing", None) not in (None, "fail")

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags


class ModelEstimator(NativeEstimator[Model]):
    n_components: int | float | None
    n_components_: int

    @property
    def model_(self) -> Model:
        """Model: model that the estimator trains."""
        return self._fitted()

    def fit(self, X: Table, y: object = None) -> Self:
        """Reset the estimator and learn from the rows of ``X``, in order. ``y`` is ignored."""
        rows = self._prepared(X, reset=True)
        self._begin(rows)
        self._learn(rows)
        return self

    def partial_fit(self, X: Table, y: object = None) -> Self:
        """Learn from one or more further rows. The first call starts a new model. ``y`` is ignored.

        Parameters that are changed after the first call take effect at the next ``fit``, except that a changed
        ``n_components`` is an error.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X)
        self._check_continued()
        self._learn(X if self._is_plain(X) else self._prepared(X, reset=False))
        return self

    def _begin(self, X: Any) -> None:
        raise NotImplementedError

    def _learn(self, X: Any) -> None:
        for block in blocks(X):
            self._model.learn(block)

    def _is_plain(self, X: object) -> bool:
        return is_plain(X, self.n_features_in_) and not hasattr(self, "feature_names_in_")

    def _check_continued(self) -> None:
        if isinstance(self.n_components, numbers.Integral) and self.n_components != self.n_components_:
            raise ValueError(f"n_components must stay {self.n_components_} until the next fit, got {self.n_components}")

    def _remembered(self) -> dict[str, Any]:
        return {"class": type(self).__name__, "parameters": plain(self.get_params(deep=False))}

    @classmethod
    def _restored(cls, inner: Model, saved: dict[str, Any]) -> Self:
        """Return the estimator of a loaded model. Parameters that are not in the file have their defaults."""
        model = cls()
        known = model.get_params(deep=False)
        model.set_params(**{name: value for name, value in saved["parameters"].items() if name in known})
        model.n_components_ = inner.k
        model._adopt(inner)
        return model
