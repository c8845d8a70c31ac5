"""Tables of any kind as C-ordered arrays of float64."""

import numpy as np
from scipy import sparse

#: Most entries of a sparse table that are made dense at once: 8 MiB.
BLOCK = 1 << 20


def as_rows(X):
    """Return a two-dimensional C-ordered float64 array with the rows of ``X``.

    NumPy arrays of float64 in C order are returned as they are. Accepted are other arrays, nested lists, SciPy sparse
    matrices, and tables of pandas, polars and Arrow.
    """
    if sparse.issparse(X):
        X = X.toarray()
    elif hasattr(X, "to_numpy") and not isinstance(X, np.ndarray):
        X = X.to_numpy()
    elif type(X).__module__.partition(".")[0] == "pyarrow":
        X = np.column_stack([np.asarray(column) for column in X.columns])
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if np.ndim(X) != 2:
        raise ValueError(f"the rows must form a table of 2 dimensions, got {np.ndim(X)}")
    return rows


def blocks(X):
    """Yield C-ordered dense pieces of a table, so that a sparse one is never dense as a whole."""
    if not sparse.issparse(X):
        yield X
        return
    X = X.tocsr()
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        yield np.ascontiguousarray(X[start : start + step].toarray(), dtype=np.float64)


def is_plain(X, width):
    """Whether ``X`` needs no preparation: finite float64 rows of this width, in C order."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == width
        and X.shape[0] > 0
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and bool(np.isfinite(X.sum()))
    )
