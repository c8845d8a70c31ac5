"""Results of a monitor, and the times of its rows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _summary
from ._optional import later, needed
from ._types import Event, Floats, Incident

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Maximum number of incidents in the notebook display.
SHOWN = 12


@dataclass(frozen=True, repr=False)
class Alarms:
    """Results of a :class:`Monitor` for rows.

    Attributes
    ----------
    row : ndarray of int of shape (n_rows,)
        Index of each row, counted from 0 over all calls of ``update``.
    score, q, t2 : ndarray of shape (n_rows,)
        Anomaly score relative to the reference, squared distance from the subspace of the kept
        directions, and Hotelling's T² along them. They and ``limit`` are NaN for warm-up rows,
        skipped rows, and rows with too few previous rows for the lags.
    limit : ndarray of shape (n_rows,)
        Score above which the row is an alarm. With ``mode="adapt"``, it depends on recent rows.
    alarm : ndarray of bool of shape (n_rows,)
        True if the score exceeds its limit or an incident opens. Rows of an incident raise no
        further alarms in the first 250 rows after its report, unless ``mode="freeze:ROWS"``.
    in_incident : ndarray of bool of shape (n_rows,)
        True for rows of an incident, from its report on.
    state : ndarray of str of shape (n_rows,)
        ``"alarm"``, ``"incident"`` (without an alarm), ``"normal"``, or ``"unscored"``.
    incident : ndarray of int of shape (n_rows,)
        Number of the ongoing incident, counted from 1, or -1 if there is none.
    change : ndarray of int of shape (n_rows,)
        At the row at which a change in the level of the scores was detected: the index of the first
        row after the change. Other entries are -1.
    causes : ndarray of shape (n_rows, 3)
        Main causes, largest share first: names of columns, or indices of columns without names.
        Missing entries are None (names) or -1 (indices).
    shares : ndarray of shape (n_rows, 3)
        Shares of the causes in the squared deviations of all columns from their predictions by the
        other columns. Missing entries are NaN.
    q_limit, t2_limit : ndarray of shape (n_rows,)
        Values of ``q`` and ``t2`` that the requested share of normal rows exceed (half this share
        if differences are scored too). Alarms do not depend on them.
    events : list of dict
        Events (groups of nearby alarms) that ended before one of these rows. Keys: kind ("alarms",
        or "stuck" or "moved" if that holds for at least half of the alarms), start, end, start_time,
        end_time, peak (row with the largest ratio of score to limit), strength (score of the peak),
        alarms (number of alarms), causes (pairs of column and share). Rows are indices as in
        ``row``. Times are those of the index or of the argument ``times``, or None.
    changes : list of dict
        Detected changes, with the keys of events. The kind is "rise" or "fall", or "accepted" if the
        most recent rows became the reference. The end is the row of the detection.
    incidents : list of dict
        Incidents that ended, and those that are ongoing after the last row. Keys: incident (number), start (estimated
        first row), reported (row of the report), end (last row, or None while ongoing), start_time, reported_time,
        end_time, severity, grade ("minor", "major" or "critical"), signs (list of "spike", "shift", "drift", "stuck",
        "moved" and "silent"), rows (number of rows from the report to the end), alarms (number of these rows with a
        score above the limit), peak (row of the greatest severity) and causes. Normal rows have an incident of severity
        s about once in 10^s times ``incident_time`` rows.
    columns : list
        Names of the columns, or their indices if they have no names.
    reference_limit : float
        Limit of the score by the reference alone, after the last row. It is NaN during the warm-up,
        and for a :class:`Fleet` whose keys have their own references.
    contributions : ndarray of shape (n_rows, n_columns), or None
        Contributions of the columns to ``q``, if requested.
    key : list of str, or None
        Key of each row, for results of a :class:`Fleet`. Events, changes and incidents then also have a "key".
    open_event : dict or None
        Event that is ongoing after the last row. It is None for results of a :class:`Fleet`.
    index : pandas.Index or None
        Index of the rows, if they were a pandas DataFrame.
    """

    row: NDArray[np.int64]
    score: Floats
    q: Floats
    t2: Floats
    limit: Floats
    alarm: NDArray[np.bool_]
    in_incident: NDArray[np.bool_]
    state: NDArray[np.str_]
    incident: NDArray[np.int64]
    change: NDArray[np.int64]
    causes: NDArray[Any]
    shares: Floats
    q_limit: Floats
    t2_limit: Floats
    events: list[Event]
    changes: list[Event]
    incidents: list[Incident]
    columns: list[Any]
    reference_limit: float
    contributions: Floats | None = None
    key: list[str] | None = None
    open_event: Event | None = None
    index: Any = None

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        numbers = f"incidents {len(self.incidents)}, alarms {self.alarm.sum()}, events {len(self.events)}"
        return f"<Alarms: rows {len(self)}, {numbers}, changes {len(self.changes)}>"

    def _repr_html_(self) -> str:
        numbers = [len(self), len(self.incidents), self.in_incident.sum(), self.alarm.sum()]
        found = sorted(self.incidents, key=lambda incident: -incident["severity"])
        lines = [_cells(incident) for incident in found[:SHOWN]]
        more = f"<p>{len(found) - SHOWN} more</p>" if len(found) > SHOWN else ""
        scored = self.score[np.isfinite(self.score)]
        line = _summary.spark_line(scored, "score over the rows")
        incidents = _summary.table(["signs", "severity", "from row", "to row", "causes"], lines) if lines else ""
        counts = _summary.table(["rows", "incidents", "rows inside", "alarms"], [numbers])
        return f"{line}{counts}{incidents}{more}"

    def of_key(self, key: object) -> Alarms:
        """Return the results of one key of a :class:`Fleet`. Entries of ``row`` count the rows of all keys."""
        name = str(key)
        places = np.flatnonzero([one == name for one in self.key or []])
        if not len(places):
            raise KeyError(key)
        chosen: dict[str, Any] = {"key": None, "index": None if self.index is None else self.index[places]}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                chosen[field.name] = value[places]
            elif field.name in ("events", "changes", "incidents"):
                chosen[field.name] = [one for one in value if one["key"] == name]
        return replace(self, **chosen)

    def plot(self, times: Any = None, *, key: object = None) -> Figure:
        """Plot scores, limits, alarms, incidents and changes with :func:`eigenhedge.plot.monitor`."""
        return cast("Figure", later("monitor", "plot")(self, times, key=key))

    def to_frame(self) -> pd.DataFrame:
        """Return the results as a pandas DataFrame with the columns of the command-line output."""
        pd = needed("pandas", "Alarms.to_frame", "pandas")
        names = ["row", "score", "q", "t2", "limit", "alarm", "state"]
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.key is not None:
            columns = {"row": columns.pop("row"), "key": self.key, **columns}
        for name in ["incident", "change"]:
            columns[name] = pd.array([None if row < 0 else row for row in getattr(self, name).tolist()], dtype="Int64")
        for i in range(self.causes.shape[1]):
            columns[f"cause_{i + 1}"], columns[f"share_{i + 1}"] = self.causes[:, i], self.shares[:, i]
        return pd.DataFrame(columns, index=self.index)

    def incidents_to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per incident."""
        return needed("pandas", "Alarms.incidents_to_frame", "pandas").DataFrame(self.incidents)


def _cells(incident: Incident) -> list[str]:
    start, end = (
        ("not over" if row is None else f"{row}") + ("" if time is None else f" ({time})")
        for row, time in ((incident["start"], incident["start_time"]), (incident["end"], incident["end_time"]))
    )
    causes = ", ".join(f"{column} {share:.0%}" for column, share in incident["causes"])
    return [" ".join(incident["signs"]), f"{incident['severity']:.1f} ({incident['grade']})", start, end, causes]


def states(found: dict[str, Any]) -> NDArray[np.str_]:
    plain = np.where(np.isnan(found["score"]), "unscored", "normal")
    words: NDArray[np.str_] = np.where(found["alarm"], "alarm", np.where(found["incident"] >= 0, "incident", plain))
    return words


def answers(
    found: dict[str, Any], names: list[str] | None, width: int, key: list[str] | None = None, *, index: Any, recent: RecentTimes
) -> Alarms:
    columns: list[Any] = list(range(width)) if names is None else names
    if names is not None:
        # Index -1 selects the last entry, None.
        found["causes"] = np.array([*names, None], dtype=object)[found["causes"]]
    recent.enter(index, found["row"])
    for kind in ("events", "changes", "incidents"):
        found[kind] = [described(one, columns, recent) for one in found[kind]]
    inside = found["incident"] >= 0
    return Alarms(columns=columns, in_incident=inside, state=states(found), key=key, index=index, **found)


def described(one: dict[str, Any], columns: list[Any], recent: RecentTimes) -> Any:
    """Add times and names of causes to an event, a change or an incident."""
    start, end = one["start"], one["end"]
    one["causes"] = [(columns[place], share) for place, share in one["causes"]]
    one["start_time"], one["end_time"] = recent.time(start), None if end is None else recent.time(end)
    if "incident" in one:
        times = recent.of_incident(one.get("key"), one["incident"], start, one["reported"])
        one["start_time"], one["reported_time"] = times
    return one


#: Maximum number of rows of earlier calls whose times are stored.
RECENT = 1 << 14


def row_index(X: Any) -> Any:
    return X.index if hasattr(X, "iloc") else None


def wall_times(index: Any) -> Any:
    """Convert an index to local times, and periods to their starts. Return None for an index without times."""
    if hasattr(index, "to_timestamp") and hasattr(index, "freq"):
        index = index.to_timestamp()
    if getattr(getattr(index, "dtype", None), "kind", "") != "M":
        return None
    return index if getattr(index, "tz", None) is None else index.tz_localize(None)


def index_of_times(times: Any, count: int) -> Any:
    index = needed("pandas", "times", "pandas").DatetimeIndex(times)
    if len(index) != count:
        raise ValueError(f"times must have one time for each of {count} rows, got {len(index)}")
    return index


def row_times(index: Any) -> Floats | None:
    """Return the local times of an index in seconds since 1970, with NaN for missing ones, or None without times."""
    found = wall_times(index)
    if found is None:
        return None
    times = np.asarray(found, dtype="datetime64[ns]")
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e9)


class RecentTimes:
    """Times of the most recent rows of a stream, and of the latest incident of each key."""

    def __init__(self) -> None:
        self._first = 0
        self._index: Any = None
        self._incidents: dict[Any, tuple[int, Any, Any]] = {}

    def enter(self, index: Any, rows: NDArray[np.int64]) -> None:
        """Add the times of consecutive rows. Rows without times delete the stored times."""
        if len(rows) == 0:
            return
        if wall_times(index) is None:
            self._index = None
            return
        first = int(rows[0])
        if self._index is not None and first == self._first + len(self._index):
            kept = self._index[-RECENT:]
            self._first, self._index = first - len(kept), kept.append(index)
        else:
            self._first, self._index = first, index

    def time(self, row: int) -> Any:
        place = row - self._first
        if self._index is None or not 0 <= place < len(self._index):
            return None
        return self._index[place]

    def of_incident(self, key: object, number: int, start: int, reported: int) -> tuple[Any, Any]:
        """Return the times of the first row and of the report of an incident."""
        known = self._incidents.get(key)
        if known is None or known[0] != number:
            known = self._incidents[key] = (number, self.time(start), self.time(reported))
        return known[1:]
