"""Times of the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._types import Floats


def row_times(X: Any) -> Floats | None:
    """Return the seconds since 1970 of an index of times, NaN where a time is missing; None for a table without one."""
    index = getattr(X, "index", None)
    if getattr(getattr(index, "dtype", None), "kind", "") != "M":
        return None
    times = np.asarray(index, dtype="datetime64[ns]")
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e9)
