"""Imputation of missing cells as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import Model
from ._estimator import ModelEstimator, forwarded
from ._online import check_n_components, seed_of
from ._options import stores_arguments
from ._rows import is_single
from ._sklearn import OneToOneFeatureMixin, TransformerMixin
from ._types import Floats, Table


class OnlineImputer(OneToOneFeatureMixin, TransformerMixin, ModelEstimator):
    """Imputation of missing cells from the other cells of the row and from previous rows.

    The rows are learned in order, and the center follows their level. To fill in the rows of a time
    series, each before later rows are known, use ``eigenhedge.run(X, k, missing="fill", filled=True)``.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions kept. None means a third of the number of features, rounded down, and at least 1.
    learner : str, default="auto"
        Name of a subspace learner in :func:`eigenhedge.learners`.
    standardize : str, default="running"
        Standardization of the columns, as for :class:`OnlinePCA`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. They affect the filled cells only with ``"perturbed-leader"``.

    Notes
    -----
    A missing cell stays NaN if its column had no value in the learned rows. ``transform`` treats every
    row as the row after those learned, so the result does not depend on the other rows of the call.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import OnlineImputer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1)) @ [[3.0, 4.0, 1.0]] + 0.1 * rng.normal(size=(300, 3))
    >>> imputer = OnlineImputer(1).fit(X)
    >>> row = imputer.transform([[6.0, np.nan, 2.0]])
    >>> bool(abs(row[0, 1] - 8.0) < 0.5), bool(imputer.standard_errors([[6.0, np.nan, 2.0]])[0, 1] < 0.5)
    (True, True)
    """

    @stores_arguments
    def __init__(
        self, n_components: int | None = None, *, learner: str = "auto", standardize: str = "running", random_state: Any = None
    ) -> None:
        pass

    n_components: int | None
    learner: str
    standardize: str
    random_state: Any
    n_samples_seen_: int = forwarded("rows", "int: number of rows learned since the last ``fit``.")

    def _begin(self, X: Any) -> None:
        check_n_components(self.n_components)
        n_features = X.shape[1]
        k = max(1, n_features // 3) if self.n_components is None else int(self.n_components)
        if k > n_features:
            raise ValueError(f"n_components must be at most n_features={n_features}, got {k}")
        room = None if k < n_features else k + 1
        options: dict[str, Any] = {"learner": self.learner, "missing": "fill", "best": "none", "feature_dim": room}
        self._model = Model(n_features, k, seed=seed_of(self.random_state), standardize=self.standardize, **options)
        self.n_components_ = k

    def transform(self, X: Table) -> Floats:
        """Return the rows of ``X`` with their missing cells filled in, without learning."""
        filled = self._filled(X)[0]
        return filled.astype(np.float32) if is_single(X) else filled

    def standard_errors(self, X: Table) -> Floats:
        """Return the standard errors of the cells that :meth:`transform` fills in, and 0 for all other cells."""
        return self._filled(X)[1]

    def _filled(self, X: Table) -> tuple[Floats, Floats]:
        return self._fitted().filled(self._prepared(X, reset=False))

    def _allows_nan(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
