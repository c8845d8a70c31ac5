"""Results of a monitor, and the times of the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _summary
from ._optional import later, needed
from ._types import Event, Floats

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Maximum number of events in the notebook display.
SHOWN = 12


@dataclass(frozen=True, repr=False)
class Alarms:
    """Results of a :class:`Monitor` for rows, as written by ``eigenhedge monitor``.

    Attributes
    ----------
    row : ndarray of int of shape (n_rows,)
        Number of each row since the start of the monitor, over all calls of ``update``.
    score : ndarray of shape (n_rows,)
        Anomaly score compared with the reference: minus the sum of the logarithms of three tail probabilities. The
        score, ``q``, ``t2`` and ``limit`` are NaN for rows without a score: rows of the warm-up, rows without enough
        lags, and skipped rows.
    q : ndarray of shape (n_rows,)
        Squared distance from the subspace of the kept directions.
    t2 : ndarray of shape (n_rows,)
        Hotelling's T² along the kept directions.
    limit : ndarray of shape (n_rows,)
        Score that the row needs for an alarm. It depends on the most recent rows.
    alarm : ndarray of bool of shape (n_rows,)
        True if the score exceeds its limit or a column is stuck.
    drift : ndarray of bool of shape (n_rows,)
        True while the level of the rows is away from the reference.
    state : ndarray of str of shape (n_rows,)
        Verdict in one word: ``"alarm"``, otherwise ``"drift"``, otherwise ``"normal"``, or ``"unscored"`` for a row without
        a score.
    drift_since : ndarray of int of shape (n_rows,)
        First row of the ongoing drift, or -1 without a drift.
    change : ndarray of int of shape (n_rows,)
        First row of a change in the level of the scores, given in the row at which it was detected. It is -1 in other
        rows.
    causes : ndarray of shape (n_rows, 3)
        Main causes: names of columns, or positions if there are no names. An entry without a cause is None (for names)
        or -1.
    shares : ndarray of shape (n_rows, 3)
        Shares of the causes in the squared deviations of all columns from their predictions by the other columns.
        They are positive, in descending order, and at most 1 in total.
    q_limit, t2_limit : ndarray of shape (n_rows,)
        Values of ``q`` and ``t2`` that normal rows exceed at the rate of the limit. Alarms depend on the score only.
    events : list of dict
        Events (one alarm or several nearby alarms) that ended before one of the rows. An event that has not ended is
        ``open_event``. Keys: kind, start, end, start_time, end_time, peak (row of the largest score), strength (score
        of that row), alarms (number of alarms), causes (pairs of column and share). The kind is "stuck" if a column was
        stuck in at least half of the alarms, "moved" if a column that was constant in the warm-up had another value in
        at least half of them, and otherwise "alarms". Rows are counted as in ``row``. The times are those of the
        DatetimeIndex or PeriodIndex of the rows, or None without such an index.
    changes : list of dict
        Detected changes, with the same keys as events. The kind is "rise" or "fall". The end is the row of the
        detection.
    drifts : list of dict
        Drifts, with the same keys as events. The strength is NaN. Kind "drift": started at start and reported at end.
        Kind "returned": started at start, and the level returned at end. Kind "accepted": the most recent rows became
        the reference after this row.
    columns : list
        Names of the columns, or their positions.
    reference_limit : float
        Limit of the score by the reference alone, after the last row. The requested share of rows like the reference
        exceeds this limit. It is NaN during the warm-up.
    contributions : ndarray of shape (n_rows, n_columns), or None
        Contributions of the columns to ``q``, which sum to ``q``. The attribute is None unless requested.
    key : list of str, or None
        Key of each row, for results of a :class:`Fleet`. Events, changes and drifts then also have a "key".
    open_event : dict or None
        Event that has not ended after the last row, which is also ``Monitor.open_event_``. It is None for results of a
        :class:`Fleet`, where ``fleet[key].open_event_`` is the event of a key.
    index : pandas.Index or None
        Index of the rows, if they were a pandas DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> X = np.random.default_rng(0).normal(size=(600, 4)) * [3, 2, 1, 1]
    >>> X[500, 1] = 40.0
    >>> alarms = eigenhedge.Monitor(2).update(X)
    >>> len(alarms), bool(alarms.alarm[500]), int(alarms.causes[500, 0])
    (600, True, 1)
    """

    row: NDArray[np.int64]
    score: Floats
    q: Floats
    t2: Floats
    limit: Floats
    alarm: NDArray[np.bool_]
    drift: NDArray[np.bool_]
    state: NDArray[np.str_]
    drift_since: NDArray[np.int64]
    change: NDArray[np.int64]
    causes: NDArray[Any]
    shares: Floats
    q_limit: Floats
    t2_limit: Floats
    events: list[Event]
    changes: list[Event]
    drifts: list[Event]
    columns: list[Any]
    reference_limit: float
    contributions: Floats | None = None
    key: list[str] | None = None
    open_event: Event | None = None
    index: Any = None

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        numbers = f"alarms {self.alarm.sum()}, events {len(self.events)}, drift rows {self.drift.sum()}"
        return f"<Alarms: rows {len(self)}, {numbers}, changes {len(self.changes)}>"

    def _repr_html_(self) -> str:
        numbers = [len(self), self.alarm.sum(), self.drift.sum(), len(self.changes), len(self.events)]
        found = sorted([*self.events, *self.changes, *self.drifts], key=lambda event: event["start"])
        lines = [_cells(event) for event in found[:SHOWN]]
        more = f"<p>{len(found) - SHOWN} more</p>" if len(found) > SHOWN else ""
        scored = self.score[np.isfinite(self.score)]
        line = _summary.spark_line(scored, "score over the rows")
        events = _summary.table(["", "from row", "to row", "causes"], lines) if lines else ""
        counts = _summary.table(["rows", "alarms", "drift rows", "changes", "events"], [numbers])
        return f"{line}{counts}{events}{more}"

    def of_key(self, key: object) -> Alarms:
        """Return the results of one key of a :class:`Fleet`, without the attribute ``key``.

        The key is converted by ``str``. Row numbers are still those of the fleet. A key that no row has is a ``KeyError``.
        """
        name = str(key)
        places = np.flatnonzero([one == name for one in self.key or []])
        if not len(places):
            raise KeyError(key)
        chosen: dict[str, Any] = {"key": None, "index": None if self.index is None else self.index[places]}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                chosen[field.name] = value[places]
            elif field.name in ("events", "changes", "drifts"):
                chosen[field.name] = [one for one in value if one["key"] == name]
        return replace(self, **chosen)

    def plot(self, times: Any = None, *, key: object = None) -> Figure:
        """Plot scores, limits, alarms, drift and changes with :func:`eigenhedge.plot.monitor`.

        Parameters
        ----------
        times : array-like of shape (n_rows,), default=None
            Values of the horizontal axis. None means the times of the index, or row numbers if it has no times.
        key : object, default=None
            Key to plot, required for results of a :class:`Fleet` with several keys.
        """
        return cast("Figure", later("monitor", "plot")(self, times, key=key))

    def to_frame(self) -> pd.DataFrame:
        """Return the results as a pandas DataFrame with the columns of the command-line output.

        Its index is that of the input if the input was a DataFrame.
        """
        pd = needed("pandas", "Alarms.to_frame", "pandas")
        names = ["row", "score", "q", "t2", "limit", "alarm", "state"]
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.key is not None:
            columns = {"row": columns.pop("row"), "key": self.key, **columns}
        for name in ["drift_since", "change"]:
            columns[name] = pd.array([None if row < 0 else row for row in getattr(self, name).tolist()], dtype="Int64")
        for i in range(self.causes.shape[1]):
            columns[f"cause_{i + 1}"], columns[f"share_{i + 1}"] = self.causes[:, i], self.shares[:, i]
        return pd.DataFrame(columns, index=self.index)


def _cells(event: Event) -> list[str]:
    """Return the kind of an event, its first and last row, with their times if known, and its causes."""
    start, end = (
        f"{row}" if time is None else f"{row} ({time})"
        for row, time in ((event["start"], event["start_time"]), (event["end"], event["end_time"]))
    )
    return [event["kind"], start, end, ", ".join(f"{column} {share:.0%}" for column, share in event["causes"])]


def states(found: dict[str, Any]) -> NDArray[np.str_]:
    """Return the verdicts of the native module as words: alarm, drift, unscored or normal."""
    plain = np.where(np.isnan(found["score"]), "unscored", "normal")
    words: NDArray[np.str_] = np.where(found["alarm"], "alarm", np.where(found["drift_since"] >= 0, "drift", plain))
    return words


def answers(
    found: dict[str, Any], names: list[str] | None, width: int, key: list[str] | None = None, *, index: Any, recent: RecentTimes
) -> Alarms:
    """Convert results of the native module, with column names and times if they are known."""
    columns: list[Any] = list(range(width)) if names is None else names
    if names is not None:
        # Index -1 selects the last entry, None.
        found["causes"] = np.array([*names, None], dtype=object)[found["causes"]]
    recent.enter(index, found["row"])
    for kind in ("events", "changes", "drifts"):
        found[kind] = [described(one, columns, recent) for one in found[kind]]
    return Alarms(columns=columns, drift=found["drift_since"] >= 0, state=states(found), key=key, index=index, **found)


def described(event: dict[str, Any], columns: list[Any], recent: RecentTimes) -> Event:
    """Convert an event, change or drift of the native module, with times and column names."""
    kind, start, end = (event.pop(name) for name in ("kind", "start", "end"))
    start_time = recent.of_drift(event.get("key"), start) if kind in ("drift", "returned") else recent.time(start)
    event["causes"] = [(columns[place], share) for place, share in event["causes"]]
    times = {"start_time": start_time, "end_time": recent.time(end)}
    return cast("Event", {"kind": kind, "start": start, "end": end, **times, **event})


#: Number of recent rows whose times are stored, because an event may start before the call in which it ends.
RECENT = 1 << 14


def row_index(X: Any) -> Any:
    return X.index if hasattr(X, "iloc") else None


def wall_times(index: Any) -> Any:
    """Convert an index to local times without a time zone, and periods to their starts. Return None without times."""
    if hasattr(index, "to_timestamp") and hasattr(index, "freq"):
        index = index.to_timestamp()
    if getattr(getattr(index, "dtype", None), "kind", "") != "M":
        return None
    return index if getattr(index, "tz", None) is None else index.tz_localize(None)


def row_times(X: Any) -> Floats | None:
    """Return the local times of the index in seconds, with NaN for missing times, or None if there are no times."""
    found = wall_times(row_index(X))
    if found is None:
        return None
    times = np.asarray(found, dtype="datetime64[ns]")
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e9)


class RecentTimes:
    """Times of the most recent rows of a stream, by row number, and of the starts of ongoing drifts."""

    def __init__(self) -> None:
        self._first = 0
        self._index: Any = None
        self._drifts: dict[Any, tuple[int, Any]] = {}

    def enter(self, index: Any, rows: NDArray[np.int64]) -> None:
        """Add the times of consecutive rows. Rows without times delete the stored times."""
        if len(rows) == 0:
            return
        if wall_times(index) is None:
            self._index = None
            return
        first = int(rows[0])
        follows = self._index is not None and first == self._first + len(self._index)
        if follows:
            kept = self._index[-RECENT:]
            self._first, self._index = first - len(kept), kept.append(index)
        else:
            self._first, self._index = first, index

    def time(self, row: int) -> Any:
        place = row - self._first
        if self._index is None or not 0 <= place < len(self._index):
            return None
        return self._index[place]

    def of_drift(self, key: object, since: int) -> Any:
        """Return the time of the first row of a drift. It is stored as long as the drift lasts."""
        known = self._drifts.get(key)
        if known is None or known[0] != since:
            known = self._drifts[key] = (since, self.time(since))
        return known[1]
