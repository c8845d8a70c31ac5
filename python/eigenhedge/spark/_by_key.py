"""One model per key of a table or of a stream. Models of a stream are in the state store of the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import StructField, StructType

from .._types import Floats
from ._columns import (
    ORDER,
    ROW,
    Features,
    arranged,
    as_names,
    check_present,
    column,
    is_before,
    of_cells,
    order_expression,
    stacked,
)
from ._recipes import Recipe, recipe, resumed, settings
from ._session import PROVIDER, ROCKSDB


@dataclass(frozen=True)
class KeyedColumns:
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
        keys, order = as_names(key, "key"), as_names(order_by, "order_by")
        copied = [name for name in copy_columns if name not in keys and name not in order]
        check_present(df, keys, "key")
        check_present(df, order, "order_by")
        check_present(df, copied, "copy_columns")
        return cls(keys, order, copied, Features.of(df, features))

    @property
    def copied(self) -> list[str]:
        return list(dict.fromkeys([*self.keys, *self.order, *self.copy_columns]))

    @property
    def selected(self) -> list[str]:
        return [*self.copied, ROW, *(f"{ORDER}{i}" for i in range(len(self.order)))]

    def select(self, df: DataFrame) -> DataFrame:
        """Select the copied columns, the features as one array, and comparable order values."""
        order = [order_expression(df, name) for name in self.order]
        made = [self.features.packed(), *order]
        names = self.selected[len(self.copied) :]
        return df.select(*(column(name) for name in self.copied), *(x.alias(name) for x, name in zip(made, names)))

    def orders(self, table: Any) -> list[NDArray[Any]]:
        """Return the order columns of a table. Raise a ``ValueError`` for a missing value."""
        values = [table[f"{ORDER}{i}"].to_numpy() for i in range(len(self.order))]
        for name, found in zip(self.order, values):
            if (found.dtype.kind == "O" and any(value is None for value in found)) or (found != found).any():
                raise ValueError(f"order_by: the column {name!r} must have a value in every row, got a null")
        return values

    def check_key(self, key: tuple[Any, ...]) -> str:
        """Return the key as a string for messages. Raise a ``ValueError`` for a null."""
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
    """Fit one model per key to the rows of the key, in order.

    The models are exactly those that :class:`eigenhedge.Model` learns from these rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows of all keys. The rows of one key must fit into the memory of a worker.
    key, order_by : str or list of str
        Key columns, without null, and columns that determine the order of the rows of a key. Ties are
        ordered by the values of the rows, so that the result does not depend on the partitions.
    k : int or None
        Number of directions kept. With ``learner="monitor"``, None lets each monitor choose the number.
    features : str or list of str
        Numeric columns, or the name of one column of arrays or ML vectors.
    **options
        Options of :class:`eigenhedge.Model`, or with ``learner="monitor"`` of :class:`eigenhedge.Monitor`.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per key: the key, ``model`` (bytes for :func:`eigenhedge.load`), ``rows`` (number of
        rows), and losses, regret and bound, or counts for monitors.

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
    try:
        if model is None:
            model = made.begin(rows.shape[1])
        return model, made.step_each(model, rows)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


STATE = "learner"
LATE = ("drop", "learn")


def stream_by_key(
    streaming_df: DataFrame,
    key: str | Sequence[str],
    k: int | None,
    features: str | Sequence[str],
    order_by: str | Sequence[str],
    *,
    late: str = "drop",
    copy_columns: Sequence[str] = (),
    **options: Any,
) -> DataFrame:
    """Run one model per key of a stream, with exactly-once semantics.

    The checkpoint of the query stores the model of each key. With equal micro-batches, the results
    of a query that was killed and restarted are exactly those of an uninterrupted run. Within a
    micro-batch, the rows of a key are sorted by ``order_by``.

    Parameters
    ----------
    streaming_df : pyspark.sql.DataFrame
        Streaming DataFrame. A static DataFrame counts as one micro-batch.
    key, k, features, order_by, **options
        Same as for :func:`fit_by_key`, except that ``standardize="warmup:ROWS"`` is not supported.
    late : {"drop", "learn"}, default="drop"
        Handling of rows whose order value is less than the last one of the key in earlier
        micro-batches: skip them, so that their results are null, or learn them on arrival.
    copy_columns : list of str, default=()
        Columns copied to the output, in addition to those of ``key`` and ``order_by``.

    Returns
    -------
    pyspark.sql.DataFrame
        One result per row: the copied columns, ``late`` (true for a late row), losses and
        coordinates, or the columns of :class:`eigenhedge.Alarms`. :func:`models` reads the models.
    """
    if late not in LATE:
        raise ValueError(f"late must be one of {', '.join(LATE)}, got {late!r}")
    if str(options.get("standardize", "none")).startswith("warmup"):
        raise ValueError("standardize must be none or running for a stream: a micro-batch may end before the warm-up does")
    columns = KeyedColumns.of(streaming_df, key, features, order_by, copy_columns)
    made = recipe(k, columns.features.names, columns.features.width, options)
    selected = columns.select(streaming_df)
    last = [StructField(f"last_{i}", selected.schema[f"{ORDER}{i}"].dataType) for i in range(len(columns.order))]
    state = StructType([*StructType.fromDDL("model binary, settings string, rows long, late long").fields, *last])
    answers = StructType.fromDDL(f"late boolean, {made.answers}").fields
    output = StructType([*(selected.schema[name] for name in columns.copied), *answers])
    spark = streaming_df.sparkSession
    if spark.conf.get(PROVIDER, "") != ROCKSDB:
        # Queries with a checkpoint of another provider are not affected.
        spark.conf.set(PROVIDER, ROCKSDB)
    processor = KeyedProcessor(columns, made, state, late, [field.name for field in answers[1:]])
    grouped = selected.groupBy(*(column(name) for name in columns.keys))
    return grouped.transformWithStateInPandas(processor, output, "Append", "None")


def models(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Read the models of a query of :func:`stream_by_key` from its checkpoint. The query may be running.

    The result has one row per key: the key, ``model`` (bytes for :func:`eigenhedge.load`), ``rows``
    (number of rows learned), and ``late`` (number of late rows).
    """
    store = spark.read.format("statestore").option("path", checkpoint).option("stateVarName", STATE).load()
    return store.select("key.*", "value.model", "value.rows", "value.late")


@dataclass(eq=False)
class KeyedProcessor(StatefulProcessor):  # type: ignore[misc]
    columns: KeyedColumns
    made: Recipe
    schema: StructType
    late: str
    answers: list[str]

    def init(self, handle: Any) -> None:
        self.state = handle.getValueState(STATE, self.schema)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        where = self.columns.check_key(key)
        frame = pd.concat(list(rows), ignore_index=True)
        # Spark changes column names that are not Python identifiers.
        frame.columns = self.columns.selected
        numbers = of_cells(frame[ROW], self.columns.features.columns[0])
        order = self.columns.orders(frame)
        positions = arranged(order, numbers)
        frame = frame.iloc[positions]
        numbers = np.ascontiguousarray(numbers[positions])
        order = [values[positions] for values in order]

        saved = self.state.get()
        model: Any = None
        late, is_late = 0, np.zeros(len(numbers), dtype=bool)
        last = [values[-1] for values in order]
        if saved is not None:
            data, made_with, _, late, *before = saved
            model = resumed(self.made, bytes(data), made_with, self.columns.features.width)
            is_late = is_before(order, before)
            late += int(is_late.sum())
            last = before if is_late[-1] else last
        learned = np.ones(len(numbers), dtype=bool) if self.late == "learn" else ~is_late
        answers: dict[str, Any] = {}
        if learned.any():
            model, answers = learn_rows(self.made, model, numbers[learned], where)
        self.state.update((model.to_bytes(), settings(self.made), self.made.rows(model), late, *map(_plain, last)))
        told = frame[self.columns.copied].assign(late=is_late)
        for name in self.answers:
            told[name] = _spread(answers.get(name, []), learned)
        yield told

    def close(self) -> None:
        """Do nothing, because no resource is open."""


def _spread(values: Any, learned: NDArray[np.bool_]) -> Any:
    """Return ``values`` for the learned rows, and None for the other rows."""
    if learned.all():
        return values
    cells = np.full(len(learned), None, dtype=object)
    for place, value in zip(np.flatnonzero(learned), values):
        cells[place] = value
    return cells


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
