"""Transformer and anomaly detector for River.

Values must be numbers. None, NaN and infinity count as missing. Texts, dates, durations and complex numbers are an
error. The rest of this page is about the transformer.

Features are identified by name. The model uses the features of the first row, and new features up to ``max_features``.
Further features are ignored.

A known feature that a row lacks is a missing cell. With ``missing="fill"``, the loss is that of the other features, and
missing features are filled in for learning. A feature that is new to a running model starts with its first value. By
default, a missing feature is replaced by its mean, and a new feature counts as zero in the previous rows. With
``missing="skip"``, a row with a missing feature is skipped.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from river import base
    from river.base.typing import FeatureName
except ModuleNotFoundError:
    raise ImportError("eigenhedge.river needs river: pip install eigenhedge[river]") from None

from . import _core
from ._anomaly import DictionaryRows, SubspaceAnomaly, check_values, sortable
from ._core import Model
from ._options import TABLE, constructor
from ._rows import check_numbers, takes_items
from ._types import Floats, Summary

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from ._option_types import KernelName, LearnerName, StreamOptions

__all__ = ["OnlinePCA", "SubspaceAnomaly"]


class Stream(DictionaryRows, base.Estimator):
    """Base class of models over rows that are given as dictionaries."""

    n_components: int
    max_features: int | None
    kernel: KernelName | None
    missing: str | None
    _model: Model | None
    _may_grow = True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"n_components": 2}
        yield {"n_components": 1, "learner": "tracking"}
        yield {"n_components": 3, "learner": "anchored", "max_features": 12}

    @property
    def summary(self) -> Summary | None:
        """Summary so far, with the keys of the command-line summary. It is None before the first row."""
        return None if self._model is None else self._model.summary

    def _begin(self, names: Iterable[FeatureName]) -> Model:
        if takes_items(self.kernel):
            raise ValueError(f"the rows of River are features with numbers, which the kernel {self.kernel!r} does not take")
        # The features are sorted, so that their order in a dictionary has no effect.
        self._places = {name: place for place, name in enumerate(sorted(names, key=sortable))}
        dim = max(1, len(self._places) if self.max_features is None else self.max_features)
        self._places = {name: place for name, place in self._places.items() if place < dim}
        options = {name: getattr(self, name) for name in TABLE}
        if options["feature_dim"] is None and self.kernel is None and self.n_components >= dim:
            options["feature_dim"] = self.n_components + 1
        self._model = Model(dim, self.n_components, hindsight=self.kernel is None, **options)
        return self._model

    def _welcome(self, names: Iterable[FeatureName]) -> Model:
        model = self._begin(names) if self._model is None else self._model
        room = model.dim - len(self._places)
        if room > 0:
            for name in sorted((name for name in names if name not in self._places), key=sortable)[:room]:
                self._places[name] = len(self._places)
        return model

    def _without_cells(self, model: Model, learning: bool) -> Floats:
        """Return a row in which all features are missing: NaN, or the numbers that replace missing features."""
        if self.missing == "fill":
            return np.full(model.dim, np.nan)
        if self.missing == "skip" and learning:
            # A column without a feature is not a missing cell.
            row = np.zeros(model.dim)
            row[: len(self._places)] = np.nan
            return row
        center = model.center
        return np.zeros(model.dim) if center is None else center

    def _row(self, model: Model, x: dict[FeatureName, Any], learning: bool = False) -> Floats:
        row = self._without_cells(model, learning)
        for name, place in self._places.items():
            value = x.get(name)
            if isinstance(value, numbers.Real) and math.isfinite(value):
                row[place] = value
        return row

    def _table(self, model: Model, X: pd.DataFrame, learning: bool = False) -> Floats:
        """Convert the rows of a DataFrame to a table, by the same rules as for single rows."""
        rows = np.tile(self._without_cells(model, learning), (len(X), 1))
        for name, place in self._places.items():
            if name in X:
                values = X[name].to_numpy(dtype=np.float64, na_value=np.nan)
                known = np.isfinite(values)
                rows[known, place] = values[known]
        return rows

    def learn_one(self, x: dict[FeatureName, Any]) -> None:
        """Learn from one row.

        Parameters
        ----------
        x
            Names and values of features.
        """
        check_values(x)
        model = self._welcome(x)
        model.step(self._row(model, x, learning=True))


class OnlinePCA(Stream, base.MiniBatchTransformer):
    """Online PCA for River pipelines.

    The loss of each row is computed for a subspace chosen before the row is seen, and then the model learns from the
    row. `summary` reports the losses, the best fixed subspace in hindsight and the bound. The model uses the features
    of the first row, and new features up to `max_features`. Other features are ignored. A missing feature is replaced
    by its mean. With `missing="fill"`, it is filled in from the other features and does not contribute to the loss.

    Parameters
    ----------
    n_components
        Number of directions kept.
    learner
        Name of a learner in `eigenhedge.learners()`. The default follows drift.
    max_features
        Maximum number of features. By default, the number of features of the first row.
    seed
        Seed of the random draws, which affect the losses but not the learned state.
    options
        Other options of `eigenhedge.run`. None means the learner's default.

    Examples
    --------

    >>> from river import datasets
    >>> from eigenhedge.river import OnlinePCA

    >>> pca = OnlinePCA(n_components=2)
    >>> for x, y in datasets.TrumpApproval().take(100):
    ...     pca.learn_one(x)
    >>> sorted(pca.transform_one(x))
    [0, 1]
    >>> pca.summary["rows"]
    100

    """

    @constructor()
    def __init__(
        self,
        n_components: int = 2,
        *,
        learner: LearnerName = "auto",
        max_features: int | None = None,
        seed: int = 0,
        **options: Unpack[StreamOptions],
    ) -> None:
        self._places, self._model = {}, None
        _core._check_options(n_components, **{name: getattr(self, name) for name in TABLE})

    def transform_one(self, x: dict[FeatureName, Any]) -> dict[FeatureName, Any]:
        """Return the coordinates of a row in the directions most likely to be kept, or zeros before the first row.

        The basis is aligned from row to row, so that coordinates are comparable for downstream models. With the option
        `coordinates="drawn"`, the directions are in descending order of their probabilities.

        Parameters
        ----------
        x
            Names and values of features.

        Returns
        -------
        Coordinates by number.

        """
        check_values(x)
        if self._model is None:
            return dict.fromkeys(range(self.n_components), 0.0)
        return dict(enumerate(self._model._embed_next(self._row(self._model, x)[None, :])[0][0].tolist()))

    def learn_many(self, X: pd.DataFrame) -> None:
        """Learn from the rows of a DataFrame, in order.

        Parameters
        ----------
        X
            The rows.

        """
        names = list(X.columns)
        if len(X) == 0:
            return
        check_numbers(X)
        model = self._welcome(names)
        moves = self.missing in (None, "fail")
        if not moves or (set(self._places) <= set(names) and not X[list(self._places)].isna().to_numpy().any()):
            # `learn` cannot be used, because the basis of the coordinates must follow every row.
            model.step_each(self._table(model, X, learning=True))
            return
        # The mean that replaces a missing value changes with every row.
        for values in X.to_numpy():
            model.step(self._row(model, dict(zip(names, values, strict=True))))

    def transform_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the coordinates of the rows of a DataFrame.

        Parameters
        ----------
        X
            The rows.

        Returns
        -------
        DataFrame of coordinates with the same index.

        """
        import pandas as pd

        check_numbers(X)
        if self._model is None:
            coordinates = np.zeros((len(X), self.n_components))
        else:
            coordinates = self._model._embed_next(self._table(self._model, X))[0]
        return pd.DataFrame(coordinates, index=X.index, columns=range(self.n_components))
