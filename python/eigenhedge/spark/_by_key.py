"""One model per key of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from .._types import Floats
from ._columns import ORDER, ROW, Features, arranged, as_names, check_present, column, order_expression, stacked
from ._recipes import Recipe, recipe


@dataclass(frozen=True)
class KeyedColumns:
    """Columns for models by key: keys, order values, features, and columns copied to the output."""

    keys: list[str]
    order: list[str]
    copy_columns: list[str]
    features: Features

    @classmethod
    def of(
        cls,
        df: DataFrame,
        key: str | Sequence[str],
        features: str | Sequence[str],
        order_by: str | Sequence[str],
        copy_columns: Sequence[str] = (),
    ) -> KeyedColumns:
        """Find the columns in a DataFrame and check them."""
        keys, order = as_names(key, "key"), as_names(order_by, "order_by")
        copied = [name for name in copy_columns if name not in keys and name not in order]
        check_present(df, keys, "key")
        check_present(df, order, "order_by")
        check_present(df, copied, "copy_columns")
        return cls(keys, order, copied, Features.of(df, features))

    @property
    def copied(self) -> list[str]:
        """Columns copied to the output unchanged."""
        return list(dict.fromkeys([*self.keys, *self.order, *self.copy_columns]))

    @property
    def selected(self) -> list[str]:
        """Names of the columns returned by :meth:`select`, in order."""
        return [*self.copied, ROW, *(f"{ORDER}{i}" for i in range(len(self.order)))]

    def select(self, df: DataFrame) -> DataFrame:
        """Select the copied columns, the numbers of each row as one array, and the order values in comparable form."""
        order = [order_expression(df, name) for name in self.order]
        made = [self.features.packed(), *order]
        names = self.selected[len(self.copied) :]
        return df.select(*(column(name) for name in self.copied), *(x.alias(name) for x, name in zip(made, names)))

    def orders(self, table: Any) -> list[NDArray[Any]]:
        """Return the order values of an Arrow or pandas table. Raise a ``ValueError`` if one is missing."""
        values = [table[f"{ORDER}{i}"].to_numpy() for i in range(len(self.order))]
        for name, found in zip(self.order, values):
            if (found.dtype.kind == "O" and any(value is None for value in found)) or (found != found).any():
                raise ValueError(f"order_by: the column {name!r} must have a value in every row, got a null")
        return values

    def check_key(self, key: tuple[Any, ...]) -> str:
        """Return the key as a string for messages. Raise a ``ValueError`` if the key is null."""
        if any(value is None or value != value for value in key):
            raise ValueError(f"key: the column {self.keys[0]!r} must have a value in every row, got a null")
        return ", ".join(f"{name}={value!r}" for name, value in zip(self.keys, key))


def fit_by_key(
    df: DataFrame,
    key: str | Sequence[str],
    k: int | None,
    features: str | Sequence[str],
    order_by: str | Sequence[str],
    **options: Any,
) -> DataFrame:
    """Fit one model per key to its rows, in order, with exactly the results of :class:`eigenhedge.Model`.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows of all keys. The rows of one key must fit into the memory of a worker.
    key : str or list of str
        Key column or columns. No value may be null.
    k : int or None
        Number of directions kept. With ``learner="monitor"``, None lets each monitor choose the number.
    features : str or list of str
        Numeric columns, or the name of one column of arrays or ML vectors.
    order_by : str or list of str
        Columns that determine the order of the rows of a key. Ties are ordered by the values of the rows, so that the
        result does not depend on the partitions.
    **options
        Options of :func:`eigenhedge.run`, for any learner, and ``standardize`` and ``hindsight`` as for
        :class:`eigenhedge.Model`. With ``learner="monitor"``, options of :class:`eigenhedge.Monitor`.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per key: the key, ``model`` (bytes for :func:`eigenhedge.load`), ``rows``, and the values of the
        summary.

    Examples
    --------
    >>> from eigenhedge import load
    >>> from eigenhedge.spark import fit_by_key, session
    >>> spark = session("local[1]")
    >>> rows = [("pump", t, t % 3, t % 5, 1.0) for t in range(60)]
    >>> df = spark.createDataFrame(rows, "key string, t int, a int, b int, c double")
    >>> fitted = fit_by_key(df, "key", 1, ["a", "b", "c"], order_by="t")
    >>> load(bytes(fitted.first().model)).rows
    60
    """
    columns = KeyedColumns.of(df, key, features, order_by)
    made = recipe(k, columns.features.names, columns.features.width, options)
    selected = columns.select(df)
    keys = StructType([selected.schema[name] for name in columns.keys])
    summary = StructType.fromDDL(f"model binary, rows long, {made.summary}")
    schema = StructType([*keys.fields, *summary.fields])
    arrow = to_arrow_schema(summary)

    def learn(values: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        found = _learned(columns, made, tuple(value.as_py() for value in values), table)
        answer = pa.Table.from_pydict({name: [found[name]] for name in arrow.names}, schema=arrow)
        first = table.select(columns.keys).slice(0, 1)
        return pa.table([*first.columns, *answer.columns], names=[*columns.keys, *arrow.names])

    return selected.groupBy(*(column(name) for name in columns.keys)).applyInArrow(learn, schema)


def _learned(columns: KeyedColumns, made: Recipe, key: tuple[Any, ...], table: pa.Table) -> dict[str, Any]:
    where = columns.check_key(key)
    rows = stacked(table.column(ROW), columns.features.columns[0])
    rows = np.ascontiguousarray(rows[arranged(columns.orders(table), rows)])
    model = learn_rows(made, None, rows, where)[0]
    return {"model": model.to_bytes(), "rows": made.rows(model), **made.totals(model)}


def learn_rows(made: Recipe, model: Any, rows: Floats, where: str) -> tuple[Any, dict[str, Any]]:
    """Learn rows with the given model, or with a new one if it is None. Errors name the key."""
    try:
        if model is None:
            model = made.begin(rows.shape[1])
        return model, made.step_each(model, rows)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
