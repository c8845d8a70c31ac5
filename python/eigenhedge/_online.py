"""Base classes of the scikit-learn estimators."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from ._core import _DEFAULTS, Model
from ._estimator import ModelEstimator, forwarded
from ._options import TABLE
from ._rows import blocks, cells, check_numbers, is_single, is_sparse
from ._sklearn import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from ._types import Floats, Summary, Table


def check_n_components(n_components: Any) -> None:
    is_whole = isinstance(n_components, numbers.Integral) and not isinstance(n_components, bool)
    if n_components is not None and not (is_whole and n_components >= 1):
        reason = (
            "; that choice needs all rows, and an online estimator begins with the first one" if n_components == "mle" else ""
        )
        raise ValueError(f"n_components must be a whole number, at least 1, got {n_components!r}{reason}")


def seed_of(random_state: Any) -> int:
    """Return the seed of a model. An integer is used unchanged, with the effect of ``--seed``."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    @abstractmethod
    def _embed(self, X: Table) -> tuple[Floats, Floats]:
        """Return the coordinates and losses of rows. ``X`` has not been validated."""

    def _coordinates(self, X: Table) -> Floats:
        return self._embed(X)[0]

    @abstractmethod
    def _invert(self, coordinates: Floats) -> Floats:
        """Return the rows with these coordinates."""

    def transform(self, X: Table) -> Floats:
        """Return the coordinates of rows along the components, of shape (n_samples, n_components), without learning.

        For a precomputed kernel, ``X`` contains the kernel values of each row with the fitted rows.
        The result is in single precision if the rows are.
        """
        coordinates = self._coordinates(X)
        return coordinates.astype(np.float32) if is_single(X) else coordinates

    def inverse_transform(self, X: Table) -> Floats:
        """Return the rows with the coordinates ``X`` of shape (n_samples, n_components).

        With a kernel, the rows are pre-images: their features are near the points with these coordinates.
        """
        check_is_fitted(self)
        check_numbers(X)
        coordinates = check_array(X, dtype=np.float64, order="C")
        wanted = len(self.get_feature_names_out())
        if coordinates.shape[1] != wanted:
            raise ValueError(f"X must have {wanted} columns, one for each component, got {coordinates.shape[1]}")
        return self._invert(coordinates)

    def score_samples(self, X: Table) -> Floats:
        """Return minus the loss of each row of ``X``, as an array of shape (n_samples,).

        The loss is the squared distance between a row (or its features) and its projection.
        """
        return -self._embed(X)[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        return tags


class Online(Transformer, ModelEstimator):
    random_state: Any
    inclusion_: Floats = forwarded("inclusion", "ndarray of shape (n_components,): probability that each direction is kept.")
    summary_: Summary = forwarded(
        "summary", "dict: losses, best loss, regret and bound, with the keys of the command-line summary, or None without losses."
    )
    #: Constructor arguments that are options of the model.
    _option_names: frozenset[str] = frozenset({"learner", "hindsight", "standardize"} | TABLE.keys())

    def score(self, X: Table, y: object = None) -> float:
        """Return the mean of :meth:`score_samples`: minus the mean loss of ``X``. ``y`` is ignored."""
        return float(self.score_samples(X).mean())

    @property
    def n_samples_seen_(self) -> int:
        """int: number of rows learned since the last ``fit``. Another value cannot be assigned."""
        return self._fitted().rows

    @n_samples_seen_.setter
    def n_samples_seen_(self, rows: float) -> None:
        if rows != self.n_samples_seen_:
            raise ValueError(f"n_samples_seen_ must be the number of rows learned, {self.n_samples_seen_}, got {rows}")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _prepared(self, X: Table, reset: bool, **rules: Any) -> Any:
        return super()._prepared(X, reset, accept_sparse="csr", **rules)

    def _begin(self, X: Any) -> None:
        k = self._k(X)
        options = self._options(X)
        if options.get("feature_dim") is None:
            options["feature_dim"] = self._room(k, X.shape[1])
        model = Model(X.shape[1], k, seed=seed_of(self.random_state), **options)
        self._model, self.n_components_ = model, k

    def _options(self, X: Any) -> dict[str, Any]:
        # A subclass may have other constructor arguments. Options are attributes in any case.
        return {name: value for name, value in vars(self).items() if name in self._option_names}

    def _k(self, X: Any) -> int:
        check_n_components(self.n_components)
        return min(X.shape) if self.n_components is None else int(self.n_components)

    def _room(self, k: int, n_features: int) -> int | None:
        """Return the option ``feature_dim``: k + 1 if all directions are kept, otherwise None."""
        return None if k < n_features else k + 1

    def _collects(self) -> bool:
        return False

    def _learn(self, X: Any) -> None:
        # The warm-up uses the whole table, which may consist of several blocks.
        if self._model.standardize.startswith("warmup") and self._model.rows == 0:
            any(not self._model._warm_up(block) for block in blocks(X))
        # Long sparse rows are learned faster one by one.
        is_long = is_sparse(X) and X.shape[1] > _DEFAULTS["longest_exact"]
        if self._collects() and not is_long and all(map(self._model._collect, blocks(X))):
            return
        if is_sparse(X) and self._model.standardize == "none":
            self._model._learn_sparse(cells(X))
            return
        super()._learn(X)

    def _invert(self, coordinates: Floats) -> Floats:
        return self._model.reconstruct(coordinates)

    def _coordinates(self, X: Table) -> Floats:
        return self._embed(X, losses=False)[0]

    def _embed(self, X: Table, losses: bool = True) -> tuple[Floats, Floats]:
        model = self._fitted()
        if self._is_plain(X):
            return model._embed(X, losses)
        pieces = [model._embed(block, losses) for block in blocks(self._prepared(X, reset=False))]
        coordinates, found = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
        return coordinates, found
