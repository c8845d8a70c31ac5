"""Base class of the scikit-learn estimators with a native model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._saved import Saved
from ._sklearn import BaseEstimator, NotFittedError, validated
from ._types import Table


class NativeEstimator(Saved, BaseEstimator):
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    missing: str | None
    _model: Any
    #: Methods that create the model.
    _first_calls = "fit or partial_fit"

    def _fitted(self) -> Any:
        if not self.__sklearn_is_fitted__():
            name = type(self).__name__
            raise NotFittedError(f"This {name} instance is not fitted yet: call {self._first_calls} first.")
        return self._model

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _adopt(self, inner: Any) -> None:
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
