"""Conversion of tables to C-ordered float64 arrays, and of texts, sets and objects to lists of items."""

from __future__ import annotations

import datetime
import numbers
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._core import kernels
from ._types import Floats, Kernel, Table

#: Names of columns, or None for columns without names.
Names: TypeAlias = Sequence[Any] | NDArray[np.object_] | None

#: Maximum number of entries of a dense block of a sparse table (8 MiB).
BLOCK = 1 << 20

#: Kinds of NumPy types that are not accepted: their names, with advice.
NO_NUMBERS = {
    "c": ("complex numbers", "Complex data not supported: give real and imaginary parts as columns of their own"),
    "m": ("durations", "divide them by a unit first, for example by numpy.timedelta64(1, 's')"),
    "M": ("dates", "turn them into numbers first, for example seconds since the first one, or leave them out"),
    "V": ("records", "numpy.lib.recfunctions.structured_to_unstructured turns them into columns"),
}

#: Python and NumPy types of values, by kind.
TYPES = {
    "c": (complex, np.complexfloating),
    "m": (datetime.timedelta, np.timedelta64),
    "M": (datetime.date, datetime.time, np.datetime64),
}


def is_sparse(X: object) -> bool:
    # SciPy is not imported.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def column_names(X: Any) -> NDArray[np.object_] | None:
    names = getattr(X, "columns", None) if hasattr(X, "to_numpy") else getattr(X, "column_names", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.array(list(names), dtype=object)


def as_rows(X: Any, names: Names = None) -> Floats:
    """Return a table as a C-ordered float64 array, which is not copied unless necessary.

    If ``names`` is given, the columns of a table with names are selected by name.
    """
    places = matching_places(column_names(X), names)
    check_numbers(X)
    if is_sparse(X):
        X = X.toarray()
    elif hasattr(X, "iloc") and _has_nullable_numbers(X):
        X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    elif hasattr(X, "to_numpy") and not isinstance(X, np.ndarray):
        X = X.to_numpy()
    elif _is_arrow(X):
        X = np.column_stack([np.asarray(column) for column in X.columns])
    rows = _required(X, 2, "the rows must form a table of 2 dimensions")
    return rows if places is None else np.ascontiguousarray(rows[:, places])


def matching_places(found: Names, names: Names) -> list[int] | None:
    """Return the index of each of ``names`` in ``found``, or None if both are equal or one of them is None."""
    if found is None or names is None or list(found) == list(names):
        return None
    places = {name: place for place, name in enumerate(found)}
    missing = next((name for name in names if name not in places), None)
    if missing is not None:
        raise ValueError(f"the rows must have the columns {list(names)}, which are matched by name, but {missing!r} is missing")
    return [places[name] for name in names]


def numeric(X: Any) -> Any:
    """Convert a pandas table with object columns to numbers. Return other tables unchanged."""
    dtypes = getattr(X, "dtypes", None) if hasattr(X, "iloc") and np.ndim(X) == 2 else None
    if dtypes is None or not any(getattr(dtype, "kind", "") == "O" for dtype in dtypes):
        return X
    return type(X)(as_rows(X), index=X.index, columns=X.columns)


def as_numbers(x: Any, names: Names = None) -> Floats:
    """Return a list of numbers as an array. Entries of a Series with text labels are selected by ``names``."""
    if isinstance(x, (str, bytes, dict)) or np.ndim(x) == 0:
        raise TypeError(f"must be a list of numbers, got {type(x).__name__}")
    check_numbers(x)
    labels = list(x.index) if hasattr(x, "iloc") else [None]
    places = matching_places(labels if all(isinstance(label, str) for label in labels) else None, names)
    if hasattr(x, "iloc") and _has_nullable_numbers(x):
        x = x.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = _required(x, 1, "must be a list of numbers of 1 dimension")
    return numbers if places is None else numbers[places]


def check_numbers(X: Any) -> None:
    """Raise an error for masked entries, duplicate names, cells that are not numbers, and what is not a table."""
    _check_kind(X)
    _check_names(X)
    is_table = hasattr(X, "iloc") or hasattr(X, "get_columns")
    if is_table and np.ndim(X) == 2 and X.shape[1] == 0:
        raise ValueError(f"the table has no columns (its shape is {tuple(X.shape)})")
    if is_sparse(X):
        _check_array(np.empty(0, X.dtype), "")
        _check_indices(X)
    elif isinstance(X, (np.ndarray, list, tuple)):
        for masked in [X] if isinstance(X, np.ndarray) else X:
            _check_mask(masked)
        _check_array(np.asarray(X), "")
    elif (columns := _columns(X)) is not None:
        for name, column in columns:
            _check_array(np.asarray(column), f" in column {name!r}")
    elif isinstance(getattr(X, "dtype", None), np.dtype):
        _check_array(np.asarray(X), "")


def _columns(X: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return the columns of a table that may not be numeric, or None if ``X`` is not a table."""
    if hasattr(X, "iloc") and np.ndim(X) == 2:
        others = [place for place, dtype in enumerate(X.dtypes) if getattr(dtype, "kind", "O") not in "biuf"]
        return ((X.columns[place], X.iloc[:, place].to_numpy()) for place in others)
    if hasattr(X, "get_columns"):
        return ((column.name, column.to_numpy()) for column in X.get_columns() if not column.dtype.is_numeric())
    return zip(X.column_names, X.columns, strict=True) if _is_arrow(X) and hasattr(X, "column_names") else None


def check_value(value: object, place: str) -> None:
    kind = _kind(type(value))
    if kind is not None:
        raise _refused(kind, type(value).__name__, place)


def check_cells(wrong: NDArray[np.bool_], names: Any, value: str, advice: str) -> None:
    """If a cell is wrong, raise a ``ValueError`` with the first such cell and the advice."""
    places = np.argwhere(wrong)
    if len(places):
        row, column = places[0]
        where = f"row {row}: column {column if names is None else repr(names[column])}"
        raise ValueError(f"{where} must be finite, got {value} (Input X contains {value}): {advice}")


def is_single(X: Any) -> bool:
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and not isinstance(X, np.ndarray):
        return len(dtypes) > 0 and all(str(dtype).lower() == "float32" for dtype in dtypes)
    return getattr(X, "dtype", None) == np.float32


def blocks(X: Any) -> Iterator[Floats]:
    if not is_sparse(X):
        yield X
        return
    X = X.tocsr()
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        yield np.ascontiguousarray(X[start : start + step].toarray(), dtype=np.float64)


def cells(X: Any) -> tuple[NDArray[np.int64], NDArray[np.uint32], Floats]:
    """Return a sparse table in CSR form: start of each row, and column and value of each stored cell."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    starts, columns = X.indptr.astype(np.int64), X.indices.astype(np.uint32)
    return starts, columns, np.ascontiguousarray(X.data, dtype=np.float64)


def scaled_gamma(X: Any) -> float:
    """Return 1 / (number of columns · variance of all entries), or 1 if the variance is 0."""
    mean, squares = X.mean(), (X.multiply(X) if is_sparse(X) else np.square(X)).mean()
    variance = float(squares - mean * mean)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def is_plain(X: Any, width: int) -> bool:
    """Return True for a finite float64 array in C order with ``width`` columns and at least one row."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == width
        and X.shape[0] > 0
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and bool(np.isfinite(X.sum()))
    )


def _is_arrow(X: object) -> bool:
    return type(X).__module__.partition(".")[0] == "pyarrow"


def _has_nullable_numbers(X: Any) -> bool:
    """Return True if all columns of a pandas table are numeric and at least one has a nullable pandas type."""
    dtypes = list(X.dtypes) if np.ndim(X) == 2 else [X.dtype]
    is_number = all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes)
    return is_number and not all(isinstance(dtype, np.dtype) for dtype in dtypes)


def _required(X: Any, ndim: int, rule: str) -> Floats:
    if getattr(getattr(X, "dtype", None), "kind", "") == "O" or isinstance(X, (list, tuple)):
        X = _without_na(X)
    # "E" converts subclasses, whose entries may have another meaning, to plain arrays.
    numbers = np.require(X, np.float64, ["C", "A", "E"])
    if np.ndim(X) != ndim:
        raise ValueError(f"{rule}, got {np.ndim(X)}")
    return numbers


def _without_na(X: Any) -> Any:
    if "pandas" not in sys.modules:
        return X
    array = np.asarray(X, dtype=object) if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype != object:
        return X
    return np.where([type(value).__name__ == "NAType" for value in array.flat], np.nan, array.ravel()).reshape(array.shape)


def _check_mask(X: Any) -> None:
    mask = np.ma.getmask(X)
    if mask is not np.ma.nomask and np.any(mask):
        place = ", ".join(map(str, np.argwhere(mask)[0]))
        raise ValueError(
            f"entry ({place}) is masked: fill masked entries first, for example with X.filled(0.0) or "
            "numpy.ma.filled(X, X.mean(axis=0))"
        )


def _check_kind(X: Any) -> None:
    advice = None
    if isinstance(X, (str, PathLike)):
        advice = "eigenhedge.run reads a file; for other calls read it first, for example with pandas.read_csv"
    elif isinstance(X, Mapping) and not is_sparse(X):
        advice = "pandas.DataFrame or polars.DataFrame makes a table of it"
    elif isinstance(X, Iterator):
        advice = "list(...) makes a table of its rows"
    elif hasattr(X, "collect_schema") and hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        advice = "its method collect() makes a table of it"
    if advice is not None:
        raise TypeError(f"the rows must form a table, got {type(X).__name__}: {advice}")


def _check_names(X: Any) -> None:
    names = getattr(X, "column_names", None) if _is_arrow(X) else getattr(X, "columns", None)
    if names is None or isinstance(X, np.ndarray) or getattr(names, "is_unique", False):
        return
    seen: set[Any] = set()
    for name in names:
        if not isinstance(name, Hashable):
            return
        if name in seen:
            raise ValueError(f"the names of the columns must differ, got {name!r} twice")
        seen.add(name)


def _check_indices(X: Any) -> None:
    """Raise a ``ValueError`` for indices out of range, which could crash SciPy."""
    if X.format in ("csr", "csc", "bsr"):
        shape = X.shape if X.format == "csr" else X.shape[::-1]
        if X.format == "bsr":
            shape = X.shape[0] // X.blocksize[0], X.shape[1] // X.blocksize[1]
        steps = np.diff(X.indptr)
        is_whole = len(X.indptr) == shape[0] + 1 and X.indptr[0] == 0 and not (steps < 0).any()
        if not is_whole or X.indptr[-1] > min(len(X.indices), len(X.data)):
            raise ValueError(
                "the sparse matrix is damaged: its indptr must begin with 0, never fall, and end with its number of entries"
            )
        places = [(X.indices, shape[1])]
    elif X.format == "coo":
        places = list(zip(X.coords, X.shape, strict=True))
    else:
        return
    for indices, size in places:
        if len(indices) and not 0 <= indices.min() <= indices.max() < size:
            wrong = indices[(indices < 0) | (indices >= size)][0]
            raise ValueError(f"the sparse matrix is damaged: its indices must be at least 0 and less than {size}, got {wrong}")


def _check_array(array: NDArray[Any], place: str) -> None:
    kind = array.dtype.kind
    if kind in NO_NUMBERS:
        raise _refused(kind, array.dtype, place)
    # Types that are not numbers. The kind of a text is None.
    kinds = {what: _kind(what) for what in set(map(type, array.flat))} if kind in "OSUT" else {}
    wrong = {what: kind for what, kind in kinds.items() if kind or issubclass(what, (str, bytes))}
    for index, value in np.ndenumerate(array) if wrong else ():
        found = wrong.get(type(value), "")
        if found:
            raise _refused(found, type(value).__name__, f" at entry ({', '.join(map(str, index))}){place}")
        if found is None and not _is_number(value):
            row, *column = index
            where = place or (f" in column {column[0]}" if column else "")
            advice = "leave the column out, or encode it as numbers"
            raise ValueError(f"the input must hold numbers, got the text {str(value)!r}{where}, row {row}: {advice}")


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _kind(what: type) -> str | None:
    return next((kind for kind, types in TYPES.items() if issubclass(what, types)), None)


def _refused(kind: str, name: object, place: str) -> ValueError:
    what, way = NO_NUMBERS[kind]
    return ValueError(f"the input must hold numbers, got {what} ({name}){place}: {way}")


OF_ITEMS = frozenset(entry["name"] for entry in kernels() if entry["takes_items"])
PARAMETERS = tuple(dict.fromkeys(name for entry in kernels() for name in entry["reads"]))


class ItemRows(list[Any]):
    """List of texts, sets or objects. Its shape is that of a table with one column."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), 1


def takes_items(kernel: Kernel | None) -> bool:
    return callable(kernel) or kernel in OF_ITEMS


def are_objects(X: Any) -> bool:
    """Return True if the first element of ``X`` is neither a number nor a list, tuple or array."""
    if is_sparse(X) or getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable):
        return False
    first = next(iter(X), None)
    return first is not None and not isinstance(first, (list, tuple, np.ndarray, numbers.Number))


def as_items(X: Any, kernel: Kernel | None, names: Any = None) -> ItemRows:
    """Return the rows of a list, a series or a table as items.

    A row of a table with several columns becomes a list of cells, or for a kernel function an array of numbers.
    """
    if isinstance(X, ItemRows):
        return X
    if callable(kernel) and not are_objects(X):
        return ItemRows(as_rows(X, names))
    if getattr(X, "ndim", 1) == 2:
        if X.shape[1] != 1:
            return ItemRows(np.asarray(X).tolist())
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X[:, 0]
    if isinstance(X, (str, bytes)):
        raise TypeError(f"the rows must be a list of texts, sets or objects, got {type(X).__name__}")
    return ItemRows(X)


def as_points(X: Table, kernel: Kernel | None, names: Any = None) -> Any:
    return as_items(X, kernel, names) if takes_items(kernel) else as_rows(X, names)


def checked_items(estimator: Any, X: Table, reset: bool) -> ItemRows | None:
    """Return the rows as items, or None if the estimator's kernel or ``X`` has rows of numbers."""
    if not takes_items(estimator.kernel) or (callable(estimator.kernel) and not are_objects(X)):
        return None
    rows = as_items(X, estimator.kernel)
    if not rows:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if reset:
        estimator.n_features_in_ = 1
    return rows
