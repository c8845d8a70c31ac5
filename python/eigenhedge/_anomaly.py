"""Base class of the River estimators, and the anomaly detector."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from river.base.typing import FeatureName

from . import _core
from ._options import stores_arguments
from ._rows import check_value
from ._saved import Saved, plain
from ._types import Floats

try:
    from river.base import AnomalyDetector
except ImportError:  # River before 0.26
    from river.anomaly.base import AnomalyDetector  # type: ignore[import-not-found, no-redef, unused-ignore]

if TYPE_CHECKING:
    from typing_extensions import Self


class DictionaryRows(Saved):
    """Base class of River estimators: a native model over rows that are given as dictionaries."""

    _get_params: Any
    _model: Any
    #: Column of each feature.
    _places: dict[FeatureName, int]
    #: True if there may be columns without a feature.
    _may_grow = False

    def _fitted(self) -> Any:
        if self._model is None:
            raise ValueError("a row must have been learned from first")
        return self._model

    def _feature_names(self) -> list[str] | None:
        """Return the names of all features if each is a string, and otherwise None."""
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

    def __sizeof__(self) -> int:
        return super().__sizeof__() + (0 if self._model is None else self._model.__sizeof__())


class SubspaceAnomaly(DictionaryRows, AnomalyDetector):
    """Anomaly detector for rows of sensor readings, based on `eigenhedge.Monitor`.

    The score is `score / (score + limit)`, between 0 and 1, where the limit is the monitor score that this row needs
    for an alarm. A value of 0.5 is therefore the limit. `ThresholdFilter` with a threshold of 0.5 gives the alarms of
    the monitor. `QuantileFilter` finds its own threshold. Rows of the warm-up have the score 0. A lasting fault has
    high scores only at its start, because the limit adapts to the most recent rows. With `mode="freeze:ROWS"`, it has
    high scores as long as it lasts.

    The detector uses the features of the first row and ignores others. A feature that a row lacks is a missing cell.

    The detector standardizes the features itself, by the warm-up rows. Do not put River's `StandardScaler` before it.
    That scaler follows the rows, so a drift of a feature would be scaled away before it can be reported.

    Parameters
    ----------
    n_components
        Number of normal directions. By default, as many as explain `share` of the energy.
    share
        Share of the energy of normal rows that the directions explain.
    mode
        `adapt`: the recent level and its limit follow the rows. `freeze:ROWS`: nothing changes after the first ROWS rows.
    limit
        Rule for the alarm limit: `auto:ALPHA` or `conformal:P`. A number is short for `auto:ALPHA`.
    lags
        Number of earlier rows appended to each row, or `auto`.
    differences
        True to also score the differences between rows. `auto` does so if levels are strongly autocorrelated.
    standardize
        True to standardize the features to mean 0 and standard deviation 1 by the warm-up rows.
    missing
        Handling of missing cells: `fill` them from the other cells, `skip` the row (its score is 0), or `fail`.
    warm_up
        Number of first rows, which count as normal. By default, 400, or 3 per feature and lag if that is more.
    drift_time
        Average number of rows between false reports of drift.
    rebaseline
        Automatic acceptance of a drift as the new reference: `never`, or `after:ROWS` of drift, for streams that change
        permanently.

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
        drift_time: float = 2_000.0,
        rebaseline: str | int = "never",
    ) -> None:
        self._places, self._model = {}, None
        _core._check_monitor_options(**self._monitor_options())

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"warm_up": 60, "rebaseline": "after:50"}
        yield {"n_components": 1, "lags": 2, "mode": "freeze:60"}

    def learn_one(self, x: dict[FeatureName, Any]) -> None:
        """Process one row and update the recent level.

        Parameters
        ----------
        x
            Names and values of features.

        """
        check_values(x)
        if self._model is None:
            names = sorted(x, key=sortable)
            known = [str(name) for name in names] if all(isinstance(name, str) for name in names) else None
            self._model = _core.Monitor(len(names), names=known, **self._monitor_options())
            self._places = {name: place for place, name in enumerate(names)}
        self._model.update(self._row(x)[None, :], False, None)

    def score_one(self, x: dict[FeatureName, Any]) -> float:
        """Return the anomaly score of a row, between 0 and 1: 0.5 at the limit, 0 without a score.

        Parameters
        ----------
        x
            Names and values of features.

        Returns
        -------
        The score.

        """
        check_values(x)
        score, limit = (None if self._model is None else self._model.look(self._row(x))) or (0.0, 1.0)
        return float(score / (score + limit))

    def _monitor_options(self) -> dict[str, Any]:
        options = self._get_params()
        return {"k": options.pop("n_components"), **options}

    def _row(self, x: dict[FeatureName, Any]) -> Floats:
        values = [x.get(name) for name in self._places]
        known = [isinstance(value, numbers.Real) and math.isfinite(value) for value in values]
        return np.array([value if is_known else math.nan for value, is_known in zip(values, known, strict=True)], dtype=float)


def check_values(x: dict[FeatureName, Any]) -> None:
    """Raise a ``ValueError`` if a feature is a text, a date, a duration or a complex number."""
    for name, value in x.items():
        if isinstance(value, (str, bytes)):
            way = "leave it out, or encode it as numbers, for example with river.preprocessing.OneHotEncoder"
            raise ValueError(f"feature {name!r} must be a number, got the text {value!r}: {way}")
        if type(value) is not float:
            check_value(value, f" in feature {name!r}")


def sortable(name: FeatureName) -> tuple[str, Any]:
    return (str(type(name)), name)
