"""Coordinates, losses and alarms of rows by an existing model, without learning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from .. import _core
from .._core import Model
from .._snapshot import load
from .._types import Floats
from ._columns import Features, of_cells
from ._recipes import alarm_columns

OF_MODELS = "coordinates array<double>, loss double"
OF_MONITORS = "score double, q double, t2 double, limit double, alarm boolean, causes array<string>, shares array<double>"


def score(df: DataFrame, model: Any, features: str | Sequence[str] | None = None, *, prefix: str = "") -> DataFrame:
    """Append the results of a model to each row, without learning.

    These are the columns ``coordinates`` and ``loss``, or ``score``, ``q``, ``t2``, ``limit``, ``alarm``,
    ``causes`` and ``shares`` of a monitor. Numbers are null for rows without a score.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows. The DataFrame may be streaming.
    model : Model, estimator, Monitor, or bytes of a model file
        Model to apply. A monitor must have ended its warm-up. It must have neither lags nor
        differences, because the previous row may be on another machine.
    features : str or list of str, optional
        Numeric columns in the order of the model, or one column of arrays or ML vectors. By
        default, the column names of the model.
    prefix : str, default=""
        Prefix of the names of the new columns.

    Examples
    --------
    >>> from eigenhedge.spark import fit, score, session
    >>> spark = session("local[1]")
    >>> df = spark.createDataFrame([(t % 3, t % 5, 1.0) for t in range(60)], "a int, b int, c double")
    >>> score(df, fit(df, 1, ["a", "b", "c"])).columns
    ['a', 'b', 'c', 'coordinates', 'loss']
    """
    fields, names, judge = _judge_of(model)
    features = names if features is None else features
    if features is None:
        raise ValueError("features must name the columns: the model does not know their names")
    columns = Features.of(df, features)
    new = [(prefix + field.name, field) for field in fields]
    for name, _ in new:
        if name in df.columns:
            raise ValueError(f"the DataFrame must have no column {name!r} already; rename it, or give a prefix")
    schema = StructType(list(df.schema.fields))
    for name, field in new:
        schema = schema.add(name, field.dataType)
    arrow = to_arrow_schema(StructType(fields))
    vector = columns.columns[0]
    rows_name = f"__{vector}" if columns.is_vector else vector
    if columns.is_vector:
        df = df.withColumn(rows_name, columns.expressions()[0])
        columns = Features((rows_name,), is_array=True)

    def judged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = judge(columns.of_arrow(batch))
            told = [pa.array(found[field.name], type=field.type, from_pandas=True) for field in arrow]
            given = [batch.column(name) for name in schema.names[: -len(told)]]
            yield pa.RecordBatch.from_arrays([*given, *told], names=schema.names)

    return df.mapInArrow(judged, schema)


def score_udf(model: Any) -> Callable[..., Any]:
    """Return :func:`score` as a Pandas UDF for SQL and column expressions.

    It takes one column of arrays, or the columns of the model in order, and returns a struct of the
    columns that :func:`score` appends.
    """
    fields, _, judge = _judge_of(model)
    names = [field.name for field in fields]

    def judged(*columns: pd.Series) -> pd.DataFrame:
        if len(columns) == 1 and columns[0].dtype == object:
            rows = of_cells(columns[0], "row")
        else:
            rows = np.column_stack([cells.to_numpy(dtype=np.float64, na_value=np.nan) for cells in columns])
        found = judge(rows)
        return pd.DataFrame({name: pd.Series(list(found[name]), dtype=object) for name in names})

    judged.__annotations__ = {"columns": pd.Series, "return": pd.DataFrame}
    made: Callable[..., Any] = F.pandas_udf(judged, StructType(fields))
    return made


def _judge_of(model: Any) -> tuple[list[Any], list[str] | None, Callable[[Floats], dict[str, Any]]]:
    """Return the fields that a model appends, its column names, and a function of rows."""
    if isinstance(model, (bytes, bytearray)):
        model = load(bytes(model))
    from .._monitor import Monitor

    if isinstance(model, Monitor):
        return _of_monitor(model._fitted())
    fields = StructType.fromDDL(OF_MODELS).fields
    if isinstance(model, Model):

        def embed(rows: Floats) -> dict[str, Any]:
            coordinates, losses = model._embed(rows, True)
            return {"coordinates": list(coordinates), "loss": losses}

        return fields, model.feature_names, embed
    if not hasattr(model, "score_samples") or not hasattr(model, "transform"):
        raise TypeError(f"the model must be a Model, an estimator, a monitor or bytes of a snapshot, got {type(model).__name__}")

    def estimate(rows: Floats) -> dict[str, Any]:
        table = rows if names is None else pd.DataFrame(rows, columns=names)
        return {"coordinates": list(np.asarray(model.transform(table))), "loss": -model.score_samples(table)}

    names = list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
    return fields, names, estimate


def _of_monitor(monitor: _core.Monitor) -> tuple[list[Any], list[str] | None, Callable[[Floats], dict[str, Any]]]:
    if monitor.lags or monitor.has_differences:
        raise ValueError(
            "the monitor must have neither lags nor differences (lags=0, differences=False), because the row before may be on "
            "another machine; stream_by_key keeps the rows of a key together"
        )
    if monitor.limit is None:
        raise ValueError("the monitor must have ended its warm-up before it can score rows")
    names = monitor.feature_names
    return StructType.fromDDL(OF_MONITORS).fields, names, lambda rows: alarm_columns(monitor.judge(rows), names)
