"""One model over a stream, with one trial per micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter

from .._core import Model
from ._columns import Features, check_present, column
from ._fold import WEIGHT, folded
from ._recipes import LearnerRecipe, resumed, settings

SAVED = "batch_id long, model binary, settings string"
FIRST = ("none", "center", "standardize")


def learn_stream(
    streaming_df: DataFrame,
    k: int,
    features: str | Sequence[str],
    checkpoint: str,
    *,
    first_batch: str = "none",
    weight: str | None = None,
    **options: Any,
) -> DataStreamWriter:
    """Learn one model from a stream, with one trial per micro-batch.

    The loss of all rows of a micro-batch is computed for the subspace chosen before it. Workers sum ``x xᵀ`` over the
    rows, and the model on the driver makes one step. The bound of the summary then depends on the largest eigenvalue of
    such a sum instead of the squared norm of a row. Small micro-batches learn faster, and large ones cost less.

    The model is saved in the checkpoint with the number of the micro-batch, so that a micro-batch that Spark repeats after a
    failure is not learned twice.

    Parameters
    ----------
    streaming_df : pyspark.sql.DataFrame
        Streaming DataFrame.
    k : int
        Number of directions kept.
    features : str or list of str
        Numeric columns, or the name of one column of arrays or ML vectors.
    checkpoint : str
        Checkpoint location of the query, on storage shared by driver and workers.
    first_batch : {"none", "center", "standardize"}, default="none"
        Use of the first micro-batch: none, the means of its columns as the center of all rows, or its means and
        standard deviations to standardize all rows.
    weight : str, optional
        Column with the weight of each row.
    **options
        Options of :func:`eigenhedge.run` except ``center``. ``missing`` may be ``"fail"`` or ``"skip"``.

    Returns
    -------
    pyspark.sql.streaming.DataStreamWriter
        Query before it is started: ``learn_stream(…).trigger(availableNow=True).start()``. :func:`stream_model` reads
        the learned model.

    Examples
    --------
    >>> from eigenhedge.spark import learn_stream, session, stream_model
    >>> spark = session("local[1]")
    >>> rows = spark.readStream.schema("a double, b double, c double").parquet("rows")
    >>> query = learn_stream(rows, 1, ["a", "b", "c"], "checkpoint").trigger(availableNow=True).start()
    >>> query.awaitTermination()
    >>> model = stream_model(spark, "checkpoint")
    """
    if first_batch not in FIRST:
        raise ValueError(f"first_batch must be one of {', '.join(FIRST)}, got {first_batch!r}")
    if options.get("center", "none") not in ("none", False):
        raise ValueError(
            "center must be none for micro-batches: first_batch='center' measures rows from the means of the first one"
        )
    if options.get("missing", "fail") not in ("fail", "skip"):
        raise ValueError(f"missing must be fail or skip for micro-batches, got {options['missing']!r}")
    if "standardize" in options:
        raise ValueError("standardize does not go with micro-batches: use first_batch='standardize'")
    columns = Features.of(streaming_df, features)
    check_present(streaming_df, [] if weight is None else [weight], "weight")
    standardize = "none" if first_batch == "none" else "warmup:2"
    recipe = LearnerRecipe(k, columns.names, {**options, "center": "none", "standardize": standardize})
    if columns.width is not None:
        recipe.begin(columns.width)
    batches = MicroBatches(recipe, columns, weight is not None, first_batch, _folder(checkpoint))

    def learn(batch: DataFrame, batch_id: int) -> None:
        batches.learn(batch, batch_id)

    weights = [] if weight is None else [column(weight).cast("double").alias(WEIGHT)]
    selected = streaming_df.select(*columns.expressions(), *weights)
    return selected.writeStream.foreachBatch(learn).option("checkpointLocation", checkpoint)


def stream_model(spark: SparkSession, checkpoint: str) -> Model:
    """Read the model of a query of :func:`learn_stream` after its last micro-batch.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Spark session.
    checkpoint : str
        Checkpoint location of the query, which may be running.

    Returns
    -------
    Model
        Model whose summary covers all micro-batches. It takes rows in units of the input.

    Examples
    --------
    >>> from eigenhedge.spark import session, stream_model
    >>> model = stream_model(session(), "checkpoint")
    """
    found = _saved(spark, _folder(checkpoint))
    if found is None:
        raise ValueError(f"{checkpoint}: no micro-batch has been learned")
    return Model.from_bytes(found[1])


class MicroBatches:
    """Model on the driver, with the settings of the query and the folder of its saved copies."""

    def __init__(self, recipe: LearnerRecipe, features: Features, is_weighted: bool, first_batch: str, folder: str) -> None:
        self.recipe = recipe
        self.features = features
        self.is_weighted = is_weighted
        self.first_batch = first_batch
        self.folder = folder
        #: Number of the last learned micro-batch, with the saved model and settings. None before it is read.
        self.last: tuple[int, bytes, str] | None = None

    def learn(self, df: DataFrame, batch_id: int) -> None:
        """Make one step, unless this micro-batch was learned before a restart of the query."""
        spark = df.sparkSession
        self.last = self.last or _saved(spark, self.folder)
        if self.last is not None and self.last[0] >= batch_id:
            return
        missing = self.recipe.options.get("missing") or "fail"
        moments = folded(df, self.recipe.k, self.features, missing, self.is_weighted, levels=0)
        if moments is None or not moments.rows:
            return
        mean, scatter = moments.mean, moments.scatter
        if mean is None or scatter is None:
            raise ValueError(f"rows must have at most 4096 numbers to be learned by micro-batches, got {moments.dim}")
        model: Any = resumed(self.recipe, *self.last[1:], self.features.width) if self.last else self.recipe.begin(len(mean))
        if self.first_batch != "none":
            if self.last is None:
                spread = np.sqrt(np.diag(scatter) / moments.weight) if self.first_batch == "standardize" else np.ones_like(mean)
                # These two rows have this mean and standard deviation.
                model._warm_up(np.stack([mean + spread, mean - spread]))
            mean, scatter = (mean - model.center) / model.scale, scatter / np.outer(model.scale, model.scale)
        model._step_standard_matrix(scatter + moments.weight * np.outer(mean, mean), moments.rows)
        self.last = None
        last = (batch_id, model.to_bytes(), settings(self.recipe))
        _save(spark, self.folder, *last)
        self.last = last


def _folder(checkpoint: str) -> str:
    return checkpoint.rstrip("/") + "/eigenhedge"


def _saved(spark: SparkSession, folder: str) -> tuple[int, bytes, str] | None:
    """Return the number, model and settings of the last saved micro-batch, or None if there is none."""
    rows: list[Any] = []
    for slot in (0, 1):
        try:
            rows += spark.read.schema(SAVED).parquet(f"{folder}/{slot}").collect()
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
    return max(((row.batch_id, bytes(row.model), row.settings) for row in rows), default=None)


def _save(spark: SparkSession, folder: str, batch_id: int, data: bytes, made_with: str) -> None:
    """Overwrite the older of two saved copies, so that the newer one survives a failure during writing."""
    frame = spark.createDataFrame([(batch_id, bytearray(data), made_with)], SAVED)
    frame.coalesce(1).write.mode("overwrite").parquet(f"{folder}/{batch_id % 2}")
