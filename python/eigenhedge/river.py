"""Transformer and anomaly detector for River.

Values must be numbers. None, NaN and infinity count as missing. Texts, dates, durations and complex
numbers raise a ``ValueError``.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

try:
    from river import base
    from river.base.typing import FeatureName
except ModuleNotFoundError:
    raise ImportError("eigenhedge.river needs river: pip install eigenhedge[river]") from None
try:
    from river.base import AnomalyDetector
except ImportError:  # River before 0.26
    from river.anomaly.base import AnomalyDetector  # type: ignore[import-not-found, no-redef, unused-ignore]

from . import _core
from ._core import Model
from ._option_types import KernelName, LearnerName, StreamOptions
from ._options import TABLE, constructor, stores_arguments
from ._rows import check_numbers, check_value, takes_items
from ._saved import Saved, plain
from ._types import Floats, Self, Summary, Unpack

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OnlinePCA", "SubspaceAnomaly"]


class DictionaryRows(Saved):
    _get_params: Any
    _model: Any
    _places: dict[FeatureName, int]
    #: True if columns of the model may be reserved for features of later rows.
    _may_grow = False

    def _fitted(self) -> Any:
        if self._model is None:
            raise ValueError("a row must have been learned from first")
        return self._model

    def _feature_names(self) -> list[str] | None:
        names = list(self._places)
        is_complete = len(names) == self._fitted().dim and all(isinstance(name, str) for name in names)
        return [str(name) for name in names] if is_complete else None

    def _remembered(self) -> dict[str, Any]:
        other = next((name for name in self._places if not isinstance(name, (str, int))), None)
        if other is not None:
            raise ValueError(f"names of features must be texts or whole numbers to be saved, got {other!r}")
        parameters = plain(self._get_params())
        return {"class": f"river.{type(self).__name__}", "parameters": parameters, "names": list(self._places)}

    @classmethod
    def _restored(cls, inner: Any, saved: dict[str, Any]) -> Self:
        model, names = cls(**saved["parameters"]), saved["names"]
        model._model, model._places = inner, {name: place for place, name in enumerate(names)}
        least, most = (0 if cls._may_grow else inner.dim), "at most " * cls._may_grow
        if not least <= len(model._places) == len(names) <= inner.dim:
            raise ValueError(f"there must be {most}{inner.dim} features, each with a name of its own")
        return model

    def _filled(self, row: Floats, x: dict[FeatureName, Any]) -> Floats:
        """Set the cells of ``row`` to the values of ``x`` that are finite numbers, and return it."""
        for name, place in self._places.items():
            value = x.get(name)
            if isinstance(value, numbers.Real) and math.isfinite(value):
                row[place] = value
        return row

    def __sizeof__(self) -> int:
        return super().__sizeof__() + (0 if self._model is None else self._model.__sizeof__())


class OnlinePCA(DictionaryRows, base.MiniBatchTransformer):
    """Online PCA for River pipelines.

    The loss of each row is computed for a subspace that is chosen before the row is known. Then the model learns from
    the row. The model uses the features of the first row, and new features up to `max_features`. Other features are
    ignored. A missing feature is replaced by its mean, and a new feature counts as zero in the previous rows. With
    `missing="fill"`, missing features are filled in from the others and do not contribute to the loss, and a new
    feature starts with its first value. With `missing="skip"`, rows with missing features are skipped.

    Parameters
    ----------
    n_components
        Number of directions kept.
    learner
        Name of a learner in `eigenhedge.learners()`. The default follows drift.
    max_features
        Maximum number of features. By default, the number of features of the first row.
    seed
        Seed of the random draws. They affect the losses, but not the learned state, except that of
        `"perturbed-leader"`.
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

    n_components: int
    max_features: int | None
    kernel: KernelName | None
    missing: str | None
    _model: Model | None
    _may_grow = True

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

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"n_components": 2}
        yield {"n_components": 1, "learner": "tracking"}
        yield {"n_components": 3, "learner": "anchored", "max_features": 12}

    @property
    def summary(self) -> Summary | None:
        """Summary so far, with the keys of the command-line summary. It is None before the first row."""
        return None if self._model is None else self._model.summary

    def learn_one(self, x: dict[FeatureName, Any]) -> None:
        """Learn from one row, given as names and values of features."""
        check_values(x)
        model = self._welcome(x)
        model.step(self._row(model, x, learning=True))

    def transform_one(self, x: dict[FeatureName, Any]) -> dict[FeatureName, Any]:
        """Return the coordinates of a row in the directions most likely to be kept, or zeros before the first row.

        The basis is aligned from row to row, unless `coordinates="drawn"`.
        """
        check_values(x)
        if self._model is None:
            return dict.fromkeys(range(self.n_components), 0.0)
        return dict(enumerate(self._model._embed_next(self._row(self._model, x)[None, :])[0][0].tolist()))

    def learn_many(self, X: pd.DataFrame) -> None:
        """Learn from the rows of a DataFrame, in order."""
        names = list(X.columns)
        if len(X) == 0:
            return
        check_numbers(X)
        model = self._welcome(names)
        moves = self.missing in (None, "fail")
        if not moves or (set(self._places) <= set(names) and not X[list(self._places)].isna().to_numpy().any()):
            # `Model.learn` would not align the basis of the coordinates from row to row.
            model.step_each(self._table(model, X, learning=True))
            return
        # The mean that replaces a missing value changes with every row.
        for values in X.to_numpy():
            model.step(self._row(model, dict(zip(names, values, strict=True))))

    def transform_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the coordinates of the rows of a DataFrame, as a DataFrame with the same index."""
        import pandas as pd

        check_numbers(X)
        if self._model is None:
            coordinates = np.zeros((len(X), self.n_components))
        else:
            coordinates = self._model._embed_next(self._table(self._model, X))[0]
        return pd.DataFrame(coordinates, index=X.index, columns=range(self.n_components))

    def _begin(self, names: Iterable[FeatureName]) -> Model:
        if takes_items(self.kernel):
            raise ValueError(f"the rows of River are features with numbers, which the kernel {self.kernel!r} does not take")
        # Features are sorted, so that their order in a dictionary has no effect.
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
        """Return a row without observed features: NaN, or the values that replace missing features."""
        if self.missing == "fill":
            return np.full(model.dim, np.nan)
        if self.missing == "skip" and learning:
            # Columns reserved for later features are zero. They are not missing cells.
            row = np.zeros(model.dim)
            row[: len(self._places)] = np.nan
            return row
        center = model.center
        return np.zeros(model.dim) if center is None else center

    def _row(self, model: Model, x: dict[FeatureName, Any], learning: bool = False) -> Floats:
        return self._filled(self._without_cells(model, learning), x)

    def _table(self, model: Model, X: pd.DataFrame, learning: bool = False) -> Floats:
        rows = np.tile(self._without_cells(model, learning), (len(X), 1))
        for name, place in self._places.items():
            if name in X:
                values = X[name].to_numpy(dtype=np.float64, na_value=np.nan)
                known = np.isfinite(values)
                rows[known, place] = values[known]
        return rows


class SubspaceAnomaly(DictionaryRows, AnomalyDetector):
    """Anomaly detector for rows of sensor readings, based on `eigenhedge.Monitor`.

    The anomaly score is `score / (score + limit)`, between 0 and 1. Here `score` is that of the monitor, and `limit` is
    the score above which the row is an alarm. `ThresholdFilter` with a threshold of 0.5 gives the alarms of the monitor
    outside incidents. Rows of the warm-up have the anomaly score 0. A lasting fault has high scores only at its start,
    because the limit adapts to the most recent rows. With `mode="freeze:ROWS"`, it has high scores until it ends.

    The detector uses the features of the first row and ignores others. A feature without a value in
    a row is a missing cell.

    The detector standardizes the features by the warm-up rows. Do not put River's `StandardScaler`
    before it, because this scaler follows the rows and would hide a drift.

    Parameters
    ----------
    n_components
        Number of directions kept. By default, as many as explain `share` of the energy.
    share, mode, limit, lags, differences, standardize, missing, warm_up, incident_time, rebaseline
        Options of `eigenhedge.Monitor`. Skipped rows have the score 0.

    Examples
    --------

    >>> import numpy as np
    >>> from river import anomaly
    >>> from eigenhedge.river import SubspaceAnomaly

    >>> detector = anomaly.ThresholdFilter(SubspaceAnomaly(warm_up=100), threshold=0.5)
    >>> rng = np.random.default_rng(0)
    >>> for t in rng.normal(size=200):
    ...     detector.learn_one({"a": t, "b": 2 * t + 0.1 * rng.normal()})
    >>> [detector.classify(detector.score_one({"a": 1.0, "b": b})) for b in (2.0, -2.0)]
    [False, True]

    """

    @stores_arguments
    def __init__(
        self,
        n_components: int | None = None,
        *,
        share: float = 0.85,
        mode: str = "adapt",
        limit: str | float = "auto:0.01",
        lags: int | Literal["auto"] = 0,
        differences: bool | Literal["auto"] = "auto",
        standardize: bool = True,
        missing: Literal["fail", "skip", "fill"] = "fill",
        warm_up: int | None = None,
        incident_time: float = 1_000.0,
        rebaseline: str | int = "never",
    ) -> None:
        self._places, self._model = {}, None
        _core._check_monitor_options(**self._monitor_options())

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"warm_up": 60, "rebaseline": "after:50"}
        yield {"n_components": 1, "lags": 2, "mode": "freeze:60"}

    def learn_one(self, x: dict[FeatureName, Any]) -> None:
        """Learn from one row, given as names and values of features."""
        check_values(x)
        if self._model is None:
            names = sorted(x, key=sortable)
            known = [str(name) for name in names] if all(isinstance(name, str) for name in names) else None
            self._model = _core.Monitor(len(names), names=known, **self._monitor_options())
            self._places = {name: place for place, name in enumerate(names)}
        self._model.update(self._row(x)[None, :], False, None)

    def score_one(self, x: dict[FeatureName, Any]) -> float:
        """Return the anomaly score of a row: 0 to 1, 0.5 at the limit, 0 without a score."""
        check_values(x)
        score, limit = (None if self._model is None else self._model.look(self._row(x))) or (0.0, 1.0)
        return float(score / (score + limit))

    def _monitor_options(self) -> dict[str, Any]:
        options = self._get_params()
        return {"k": options.pop("n_components"), **options}

    def _row(self, x: dict[FeatureName, Any]) -> Floats:
        return self._filled(np.full(len(self._places), np.nan), x)


def check_values(x: dict[FeatureName, Any]) -> None:
    for name, value in x.items():
        if isinstance(value, (str, bytes)):
            way = "leave it out, or encode it as numbers, for example with river.preprocessing.OneHotEncoder"
            raise ValueError(f"feature {name!r} must be a number, got the text {value!r}: {way}")
        if type(value) is not float:
            check_value(value, f" in feature {name!r}")


def sortable(name: FeatureName) -> tuple[str, Any]:
    return (str(type(name)), name)
