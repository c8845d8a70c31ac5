"""One model per key of a stream, stored in the state store of the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import StructField, StructType

from ._by_key import KeyedColumns, learn_rows
from ._columns import ORDER, ROW, arranged, column, is_before, of_cells
from ._recipes import Recipe, recipe, resumed, settings
from ._session import PROVIDER, ROCKSDB

#: Name of the state variable of a key.
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

    The state of a key is its saved model, in the state store of the query's checkpoint. A query that is stopped or
    killed and restarted with the same checkpoint continues, and gives exactly the results of an uninterrupted run.
    Within a micro-batch, the rows of a key are sorted by ``order_by``.

    Parameters
    ----------
    streaming_df : pyspark.sql.DataFrame
        Streaming DataFrame. A static one counts as one micro-batch.
    key, k, features, order_by, **options
        Same as for :func:`fit_by_key`, except that ``standardize="warmup:ROWS"`` is not supported.
    late : {"drop", "learn"}, default="drop"
        Handling of rows whose order value is less than the last one learned for the key in an earlier micro-batch: skip
        them (their results are null), or learn them on arrival. Both mark and count such rows. A row with the same
        order value as the last one is not late.
    copy_columns : list of str
        Columns copied to the output, in addition to those of ``key`` and ``order_by``.

    Returns
    -------
    pyspark.sql.DataFrame
        One result per row: the copied columns, ``late``, and losses and coordinates. With ``learner="monitor"``, score,
        alarm, state, drift and causes instead. :func:`models` reads the models.

    Examples
    --------
    >>> from eigenhedge.spark import session, stream_by_key
    >>> spark = session("local[1]")
    >>> rows = spark.readStream.schema("key string, t int, a double, b double, c double").parquet("rows")
    >>> results = stream_by_key(rows, "key", 1, ["a", "b", "c"], order_by="t")
    >>> query = results.writeStream.option("checkpointLocation", "checkpoint").start("results")
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
        # Other queries keep the provider stored in their checkpoints.
        spark.conf.set(PROVIDER, ROCKSDB)
    processor = KeyedProcessor(columns, made, state, late, [field.name for field in answers[1:]])
    grouped = selected.groupBy(*(column(name) for name in columns.keys))
    return grouped.transformWithStateInPandas(processor, output, "Append", "None")


def models(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Read the models of a query of :func:`stream_by_key` from its checkpoint.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Spark session.
    checkpoint : str
        Checkpoint location of the query, which may be running.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per key: the key, ``model`` (bytes for :func:`eigenhedge.load`), number of learned ``rows``, and number of
        ``late`` rows.

    Examples
    --------
    >>> from eigenhedge.spark import models, session
    >>> models(session(), "checkpoint").columns
    ['key', 'model', 'rows', 'late']
    """
    store = spark.read.format("statestore").option("path", checkpoint).option("stateVarName", STATE).load()
    return store.select("key.*", "value.model", "value.rows", "value.late")


class KeyedProcessor(StatefulProcessor):  # type: ignore[misc]
    """Processor that learns the models of the keys of one task."""

    def __init__(self, columns: KeyedColumns, made: Recipe, state: StructType, late: str, answers: list[str]) -> None:
        self.columns = columns
        self.made = made
        self.schema = state
        self.late = late
        self.answers = answers

    def init(self, handle: Any) -> None:
        """Open the state variable."""
        self.state = handle.getValueState(STATE, self.schema)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        """Learn the rows of a key in a micro-batch and yield their results."""
        where = self.columns.check_key(key)
        frame = pd.concat(list(rows), ignore_index=True)
        # Spark converts the rows to tuples and changes names that are not Python identifiers.
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
    """Return the results of the learned rows, with None for the other rows."""
    if learned.all():
        return values
    cells = np.full(len(learned), None, dtype=object)
    for place, value in zip(np.flatnonzero(learned), values):
        cells[place] = value
    return cells


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
