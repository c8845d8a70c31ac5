"""Rows that are not numeric: texts, sets, and objects for kernels given as functions."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._core import kernels
from ._rows import as_rows, is_sparse
from ._types import Kernel, Table

#: Names of the kernels of texts and sets.
OF_ITEMS = frozenset(entry["name"] for entry in kernels() if entry["takes_items"])
#: Names of the parameters of named kernels.
PARAMETERS = tuple(dict.fromkeys(name for entry in kernels() for name in entry["reads"]))


class ItemRows(list[Any]):
    """List of texts, sets or objects, with the shape of a table with one column."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a table with one column."""
        return len(self), 1


def takes_items(kernel: Kernel | None) -> bool:
    """Return True if the rows of the kernel are texts, sets or objects."""
    return callable(kernel) or kernel in OF_ITEMS


def are_objects(X: Any) -> bool:
    """Return True if ``X`` is a sequence of objects that are neither numbers nor rows of numbers."""
    if is_sparse(X) or getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable):
        return False
    first = next(iter(X), None)
    return first is not None and not isinstance(first, (list, tuple, np.ndarray, numbers.Number))


def as_items(X: Any, kernel: Kernel | None, names: Any = None) -> ItemRows:
    """Return the rows of a list, a series or a table as items. The cells of a row of a wider table are its items.

    The columns of a table of numbers for a kernel function are matched by name if ``names`` is given.
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
    """Return the rows in the form that the kernel takes: items, or numbers in columns that are matched by name."""
    return as_items(X, kernel, names) if takes_items(kernel) else as_rows(X, names)
