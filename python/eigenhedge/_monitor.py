"""Monitor: scores, alarms, incidents, causes and change points for rows of sensor readings."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._alarms import Alarms, RecentTimes, answers, described, index_of_times, row_index, row_times
from ._estimator import NativeEstimator, forwarded
from ._options import stores_arguments
from ._sklearn import NotFittedError, OutlierMixin
from ._types import Event, Floats, Incident, Path, Self, Table


class Monitor(OutlierMixin, NativeEstimator[_core.Monitor]):
    """Monitor for rows of sensor readings: alarms, incidents, causes, events and change points.

    The rows of :meth:`fit`, or the first rows of :meth:`update`, count as normal and are the reference. The score of a
    later row combines three tail probabilities: of its distance from the directions of normal rows (``q``), of its
    position along these directions (``t2``), and of its most unusual column.

    An **alarm** is a row that is unusual compared with the reference and with the most recent rows: the start of a
    fault, or a single bad row. An **incident** is a stretch of rows in which something is wrong. It is reported once
    and lasts until the rows are usual again. A fault never becomes normal automatically, unless ``rebaseline`` is set.
    :meth:`accept` makes the current state the reference.

    :meth:`update` is for streams, with the results of ``eigenhedge monitor``. The methods of
    scikit-learn's outlier detectors compare rows with the reference only, without learning.

    Parameters
    ----------
    k : int, default=None
        Number of directions to keep. None means as many as explain ``share`` of the energy.
    share : float, default=0.85
        Share of the energy of normal rows that the directions explain, if ``k`` is None.
    mode : str, default="adapt"
        ``"adapt"``: the limit follows the level of the most recent rows. ``"freeze:ROWS"``: nothing
        changes after the first ROWS rows, or after ``fit``, and alarms depend on the reference only.
    limit : str or float, default="auto:0.01"
        ``"auto:ALPHA"`` or a number ALPHA aims at a share ALPHA of later rows above the limit. With
        ``"conformal:P"``, at most a share P exceeds it, if the rows are exchangeable.
    lags : int or "auto", default=0
        Number of previous rows appended to each row. ``"auto"`` means about 5 for 10 columns and 2 for 50.
    differences : bool or "auto", default="auto"
        True to also score the differences between consecutive rows. ``"auto"`` does so if the
        columns are strongly autocorrelated.
    standardize : bool, default=True
        True to standardize the columns by the normal rows.
    missing : {"fail", "skip", "fill"}, default="fill"
        Handling of NaN cells: raise an error, skip the row, or fill the cell from the other cells.
        ``"fill"`` skips rows without any value.
    warm_up : int, default=None
        Number of first rows of ``update`` that count as normal. None means 400, or 3 (lags + 1)
        times the number of columns if that is more. Later calls of ``update`` continue the warm-up.
    event_gap : int, default=5
        Maximum number of rows between two consecutive alarms of an event.
    change_time, incident_time : float, default=10000 and 1000
        Average number of rows between false reports of a change (10 to 1e9), and between false incidents (100 to 1e9).
    rebaseline : str or int, default="never"
        Automatic acceptance of an incident as the new reference: ``"never"``, or ``"after:ROWS"`` or
        a number once it has lasted so many rows.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of columns, and their names if the first rows had names.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(1000, 6))
    >>> X[700:, 4] += 2.0
    >>> monitor = eigenhedge.Monitor()
    >>> alarms = monitor.update(X)
    >>> bool(alarms.alarm[700:705].any()), bool(alarms.in_incident[710:].all()), monitor.open_incidents[0]["causes"][0][0]
    (True, True, 4)
    >>> monitor.accept().open_incidents
    []
    """

    differences: bool | Literal["auto"]
    _first_calls = "fit or update"
    _recent: RecentTimes
    #: True for a copy of a monitor of a fleet, until its next ``update`` or ``fit``.
    _is_copy = False
    #: Parameters that agree with those of the native monitor, or None if they were not compared yet.
    _checked: dict[str, Any] | None = None

    @stores_arguments
    def __init__(
        self,
        k: int | None = None,
        *,
        share: float = 0.85,
        mode: str = "adapt",
        limit: str | float = "auto:0.01",
        lags: int | Literal["auto"] = 0,
        differences: bool | Literal["auto"] = "auto",
        standardize: bool = True,
        missing: Literal["fail", "skip", "fill"] = "fill",
        warm_up: int | None = None,
        event_gap: int = 5,
        change_time: float = 10_000.0,
        incident_time: float = 1_000.0,
        rebaseline: str | int = "never",
    ) -> None:
        pass

    def fit(self, X: Table, y: object = None) -> Self:
        """Reset the monitor and use all rows of ``X`` as normal rows. ``y`` is ignored.

        With fewer than 20 rows plus the number of lags, a warning is issued, and ``update`` continues the warm-up.
        """
        rows = self._begin(X)
        if not self._model.fit(rows):
            warnings.warn(f"rows have no score yet: {self._needed_rows()}, got {len(rows)}", UserWarning, stacklevel=2)
        return self

    def update(self, X: Table, *, times: Any = None, contributions: bool = False) -> Alarms:
        """Score rows in order and update the recent level.

        The first call starts a warm-up, unless :meth:`fit` was called. A warning is issued if this
        call has several rows and does not complete the warm-up. A changed parameter needs a new
        ``fit``, otherwise later calls raise a ``ValueError``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Rows. If a row is invalid, the error names it, and the rows before it have been processed. If a DataFrame
            has a DatetimeIndex or PeriodIndex, results and :meth:`report` have its times.
        times : array-like of shape (n_rows,), default=None
            Times of the rows, for ``pandas.DatetimeIndex``. They replace those of the index.
        contributions : bool, default=False
            True to also return the contribution of each column to ``q``.

        Returns
        -------
        Alarms
        """
        is_first = not self.__sklearn_is_fitted__()
        index = row_index(X) if times is None else index_of_times(times, len(cast("Any", X)))
        if not is_first:
            self._check_continued()
        rows = self._begin(X) if is_first else self._prepared(X, reset=False)
        found = self._model.update(rows, contributions, row_times(index))
        if is_first and self._model.limit is None and len(rows) > 1:
            needed = f"the warm-up needs {self._model.warm_up_rows} rows in update, got {len(rows)}"
            warnings.warn(f"no row has a score yet: {needed}; later calls continue it", UserWarning, stacklevel=2)
        self._is_copy = False
        alarms = answers(found, self._feature_names(), self.n_features_in_, index=index, recent=self._recent)
        return replace(alarms, open_event=self.open_event_)

    def accept(self) -> Self:
        """Accept the current state as normal: the most recent rows become the reference.

        These are the rows since the start of the ongoing incident, which ends, or the last rows, at
        most as many as the warm-up had. If there are fewer than 20 plus the number of lags, raise a
        ``ValueError`` and leave the monitor unchanged.
        """
        self._fitted().accept()
        return self

    def partial_fit(self, X: Table, y: object = None) -> Self:
        """Process the rows of ``X`` like :meth:`update`, and return the monitor. ``y`` is ignored."""
        self.update(X)
        return self

    def score_samples(self, X: Table) -> Floats:
        """Return minus the scores of the rows of a separate table (higher is more normal), without learning.

        The score of a skipped row is NaN. With lags, copies of the first row replace the rows before
        it. Without lags and differences, the score of a row does not depend on the other rows, unless
        values have fewer decimals than in the warm-up.
        """
        return -self._score(X)[0]

    def decision_function(self, X: Table) -> Floats:
        """Return the limit minus the score of each row of ``X``, with scores as in :meth:`score_samples`.

        A negative value is an alarm by the reference alone.
        """
        score, limit = self._score(X)
        return limit - score

    def predict(self, X: Table) -> NDArray[np.int64]:
        """Return -1 for each row of ``X`` whose score exceeds the limit, and 1 for other rows.

        Scores are those of :meth:`score_samples`. If the warm-up has not ended, a warning is issued
        and all labels are 1. Stuck sensors are only found by :meth:`update`.
        """
        scores, limit = self._fitted().score(self._prepared(X, reset=False))
        if limit is None:
            warnings.warn(f"no row is an alarm yet: {self._needed_rows()}", UserWarning, stacklevel=2)
            return np.ones(len(scores), dtype=np.int64)
        return np.where(limit - scores < 0, -1, 1)

    @property
    def offset_(self) -> float:
        """float: minus the limit of the score by the reference alone. It is NaN during the warm-up."""
        limit = self._fitted().limit
        return float("nan") if limit is None else -limit

    totals_: dict[str, int] = forwarded(
        "totals",
        "dict: counts: rows, warm_up, passed_over, scored, alarms, events, changes, incident_rows, incidents, accepted.",
    )
    lags_: int = forwarded("lags", "int: number of earlier rows appended to each row.")
    n_directions_: int | None = forwarded("directions", "int or None: number of directions kept. It is None during the warm-up.")

    @property
    def open_event_(self) -> Event | None:
        """dict or None: ongoing event, as in ``Alarms.events``."""
        found: Any = self._fitted().open_event
        return None if found is None else described(found, self._columns(), self._recent)

    @property
    def open_incidents(self) -> list[Incident]:
        """list of dict: ongoing incidents, at most one, as in ``Alarms.incidents``."""
        found: list[dict[str, Any]] = self._fitted().open_incidents
        return [described(one, self._columns(), self._recent) for one in found]

    def report(self, path: Path, *, title: str = "Monitor") -> None:
        """Write the page of ``eigenhedge monitor --report``, a self-contained HTML file with the heading ``title``.

        Charts and the list of events cover the rows of :meth:`update` since the monitor was created,
        fitted or loaded. A monitor that was copied from a :class:`Fleet` has no charts. Use
        :meth:`Fleet.report`. The file is replaced atomically.
        """
        if self._is_copy:
            raise ValueError("a monitor taken from a fleet has no charts: call report of the fleet")
        self._fitted().report(path, title)

    def _begin(self, X: Table) -> Floats:
        self._check_options()
        rows: Floats = self._prepared(X, reset=True)
        self._model = self._new(rows.shape[1], self._feature_names())
        self._recent, self._is_copy, self._checked = RecentTimes(), False, self.get_params(deep=False)
        return rows

    def _new(self, dim: int, names: list[str] | None) -> _core.Monitor:
        return _core.Monitor(dim, names=names, **self.get_params(deep=False))

    def _check_options(self) -> None:
        if self.differences not in (True, False, "auto"):
            raise ValueError(f"differences must be True, False or 'auto', got {self.differences!r}")
        _core._check_monitor_options(**self.get_params(deep=False))

    def _check_continued(self) -> None:
        given = self.get_params(deep=False)
        if given == self._checked:
            return
        self._check_options()
        wanted = self._new(self._model.dim, None)._options()
        for name, value in self._model._options().items():
            if wanted[name] != value:
                raise ValueError(f"{name} must stay {value!r} until the next fit, got {given[name]!r}")
        self._checked = given

    def _fresh(self, dim: int, names: list[str] | None) -> _core.Monitor:
        """Return the native monitor for the keys of a fleet: a new one if this one is not fitted."""
        if not self.__sklearn_is_fitted__():
            return self._new(dim, names)
        self._check_continued()
        if self._model.dim != dim:
            raise ValueError(f"the rows must have {self._model.dim} columns like those of the monitor, got {dim}")
        return self._model

    def _score(self, X: Table) -> tuple[Floats, float]:
        scores, limit = self._fitted().score(self._prepared(X, reset=False))
        if limit is None:
            raise NotFittedError(f"This Monitor instance has no scores yet: {self._needed_rows()}.")
        return scores, limit

    def _needed_rows(self) -> str:
        inner = self._fitted()
        return f"the warm-up must have at least {20 + inner.lags} rows in fit, or {inner.warm_up_rows} in update"

    def _columns(self) -> list[Any]:
        names = self._feature_names()
        return list(range(self.n_features_in_)) if names is None else names

    def _remembered(self) -> dict[str, Any]:
        # The native monitor contains the options.
        return {"class": "Monitor", "parameters": {}}

    @classmethod
    def _restored(cls, inner: _core.Monitor, saved: dict[str, Any]) -> Self:
        monitor = cls(**inner._options())
        monitor._adopt(inner)
        monitor._recent = RecentTimes()
        return monitor

    def _allows_nan(self) -> bool:
        return self.missing != "fail"
