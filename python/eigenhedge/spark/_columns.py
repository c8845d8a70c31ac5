"""Lookup of DataFrame columns by name, type checks, and conversion to rows of numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .._types import Floats

#: Prefix of the columns with comparable order values, and name of the column with the features.
ORDER = "__order_"
ROW = "__row"
WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
NUMBERS = (*WHOLE, T.FloatType, T.DoubleType, T.DecimalType, T.BooleanType)


def column(name: str) -> Column:
    """Return the column with exactly this name, which may contain dots and backquotes."""
    return F.col("`" + name.replace("`", "``") + "`")


def as_names(given: str | Sequence[str], what: str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be the name of a column or a list of names, got {given!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"{what} must name each column once, got {names}")
    return names


def check_present(df: DataFrame, names: Iterable[str], what: str) -> None:
    present = df.columns
    for name in names:
        if name not in present:
            near = difflib.get_close_matches(name, present, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, present[:20]))}"
            raise ValueError(f"{what}: the DataFrame must have a column {name!r}; {hint}")


@dataclass(frozen=True)
class Features:
    columns: tuple[str, ...]
    is_array: bool
    is_vector: bool = False

    @classmethod
    def of(cls, df: DataFrame, given: str | Sequence[str]) -> Features:
        names = as_names(given, "features")
        check_present(df, names, "features")
        types = {field.name: field.dataType for field in df.schema.fields}
        first = types[names[0]]
        if len(names) == 1 and isinstance(first, T.ArrayType) and isinstance(first.elementType, NUMBERS):
            return cls(tuple(names), is_array=True)
        if len(names) == 1 and first.simpleString() == "vector":
            return cls(tuple(names), is_array=True, is_vector=True)
        for name in names:
            if not isinstance(types[name], NUMBERS):
                raise ValueError(
                    f"features: the column {name!r} must hold numbers, or be the only one and hold arrays of numbers, "
                    f"got {types[name].simpleString()}"
                )
        return cls(tuple(names), is_array=False)

    @property
    def names(self) -> list[str] | None:
        """Names of the feature columns, or None for a column of arrays."""
        return None if self.is_array else list(self.columns)

    @property
    def width(self) -> int | None:
        """Number of features, or None for a column of arrays, whose length is not known yet."""
        return None if self.is_array else len(self.columns)

    def expressions(self) -> list[Column]:
        if self.is_vector:
            from pyspark.ml.functions import vector_to_array

            return [vector_to_array(column(self.columns[0])).alias(self.columns[0])]
        return [column(name) for name in self.columns]

    def of_arrow(self, table: pa.RecordBatch | pa.Table) -> Floats:
        """Return the features of an Arrow table as rows of numbers, with NaN for null."""
        if self.is_array:
            return stacked(table.column(self.columns[0]), self.columns[0])
        rows = np.empty((table.num_rows, len(self.columns)))
        for place, name in enumerate(self.columns):
            rows[:, place] = _numbers(table.column(name))
        return rows

    def packed(self) -> Column:
        if self.is_array:
            return self.expressions()[0].cast("array<double>")
        return F.array(*(column(name).cast("double") for name in self.columns))


def of_cells(cells: Any, name: str) -> Floats:
    return stacked(pa.array(cells, type=pa.list_(pa.float64()), from_pandas=True), name)


def _numbers(cells: pa.Array | pa.ChunkedArray) -> Floats:
    if not pa.types.is_floating(cells.type):
        cells = pc.cast(cells, pa.float64())
    return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)


def stacked(lists: pa.Array | pa.ChunkedArray, name: str) -> Floats:
    """Return an Arrow column of arrays as rows of numbers. A null array becomes a row of NaN."""
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    lengths = pc.list_value_length(lists).drop_null().to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if len(lengths) else 0
    if (lengths != width).any():
        other = int(lengths[lengths != width][0])
        raise ValueError(f"the arrays of column {name!r} must have one length, got {width} and {other}")
    rows = _numbers(lists.flatten()).reshape(-1, width)
    if lists.null_count:
        whole = np.full((len(lists), width), np.nan)
        whole[np.asarray(lists.is_valid())] = rows
        rows = whole
    return rows


def order_expression(df: DataFrame, name: str) -> Column:
    """Return the order column as integers, floats or strings, which every process orders in the same way."""
    kind, it = df.schema[name].dataType, column(name)
    if isinstance(kind, (*WHOLE, T.FloatType, T.DoubleType)):
        return it.cast("long" if isinstance(kind, WHOLE) else "double")
    if isinstance(kind, T.DateType):
        return F.unix_date(it).cast("long")
    if isinstance(kind, T.TimestampType):
        return F.unix_micros(it)
    if isinstance(kind, T.TimestampNTZType):
        return F.timestamp_diff("MICROSECOND", F.lit("1970-01-01").cast("timestamp_ntz"), it)
    if isinstance(kind, T.StringType):
        return it
    rule = "numbers (no decimals), dates, times or texts"
    raise ValueError(f"order_by: the column {name!r} must hold {rule}, got {kind.simpleString()}")


def arranged(order: list[NDArray[Any]], rows: Floats) -> NDArray[np.int64]:
    """Return the indices that sort rows by their order values, and ties by the values of the rows.

    The sorted rows do not depend on the order in which Spark delivers them.
    """
    keys = [np.unique(values, return_inverse=True)[1] if values.dtype.kind in "OUT" else values for values in order]
    positions = np.lexsort(keys[::-1])
    same = np.ones(max(len(positions) - 1, 0), dtype=bool)
    for values in keys:
        same &= values[positions[1:]] == values[positions[:-1]]
    if same.any():
        tied = np.zeros(len(positions), dtype=bool)
        tied[1:] |= same
        tied[:-1] |= same
        among = positions[tied]
        positions[tied] = among[np.lexsort((*rows[among].T[::-1], *(values[among] for values in keys[::-1])))]
    return positions


def is_before(order: list[NDArray[Any]], last: Sequence[Any]) -> NDArray[np.bool_]:
    before = np.zeros(len(order[0]), dtype=bool)
    equal = np.ones(len(order[0]), dtype=bool)
    for values, limit in zip(order, last):
        before |= equal & (values < limit)
        equal &= values == limit
    return before
