"""Index and times of the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._types import Floats

#: Number of recent rows whose times are stored, because an event may start before the call in which it ends.
RECENT = 1 << 14


def row_index(X: Any) -> Any:
    """Return the index of a pandas table, or None for other tables."""
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
        """Return the time of a row as in the index of its table, or None if it is unknown."""
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
