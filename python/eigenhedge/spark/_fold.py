"""One model over a table, from merged moments, or over a stream, with one trial per micro-batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter

from .._core import Model, Moments
from .._types import Floats
from ._columns import Features, check_present, column
from ._recipes import LearnerRecipe, resumed, settings

if TYPE_CHECKING:
    from .._pca import OnlinePCA

#: Schema of moments: index of the node in its level of the merge tree, and moments as bytes.
STATE = "part long, state binary"
#: Maximum number of moments that a task merges. All of them are in memory at once.
FAN_IN = 16
WEIGHT = "__weight"
#: Maximum size in bytes of the rows sent to a worker at once.
BATCH_BYTES = 1 << 26
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
MERGEABLE = ("leader", "anchored", "product-sets")


def fit(
    df: DataFrame,
    k: int,
    features: str | Sequence[str],
    *,
    weight: str | None = None,
    standardize: bool = False,
    missing: str = "fail",
    levels: int = 2,
    **options: Any,
) -> OnlinePCA:
    """Fit an :class:`eigenhedge.OnlinePCA` to all rows in one pass over the partitions, from their moments.

    Parameters
    ----------
    df, k, features, weight, missing, levels
        Same as for :func:`fold`.
    standardize : bool, default=False
        True to standardize columns to mean 0 and standard deviation 1, computed from all rows.
    **options
        Options of :func:`eigenhedge.run`. The default learner is ``"leader"``, whose directions are
        those of PCA. ``"anchored"`` and ``"product-sets"`` are also supported.

    Examples
    --------
    >>> from eigenhedge.spark import fit, session
    >>> spark = session("local[1]")
    >>> df = spark.createDataFrame([(t % 3, t % 5, 1.0) for t in range(60)], "a int, b int, c double")
    >>> fit(df, 1, ["a", "b", "c"]).n_samples_seen_
    60
    """
    learner = options.get("learner") or "leader"
    if learner not in MERGEABLE:
        raise ValueError(
            f"learner must be one of {', '.join(MERGEABLE)} to be merged over partitions, got {learner!r}, which depends on the "
            "order of rows; run one for each key (fit_by_key), or learn by micro-batches with their bound (learn_stream)"
        )
    moments = fold(df, k, features, weight=weight, missing=missing, levels=levels)
    if missing != "fail":
        options["missing"] = missing
    return moments.finish(k, standardize=standardize, **options)


def fold(
    df: DataFrame,
    k: int,
    features: str | Sequence[str],
    *,
    weight: str | None = None,
    missing: str = "fail",
    levels: int = 2,
) -> Moments:
    """Compute the :class:`eigenhedge.Moments` of all rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        DataFrame with at least one row.
    k : int
        Maximum number of directions kept by models of the moments.
    features : str or list of str
        Numeric columns, or the name of one column of arrays or ML vectors, which is faster for rows
        of more than a few hundred numbers.
    weight : str, optional
        Column with the weight of each row. By default, every weight is 1.
    missing : {"fail", "skip"}, default="fail"
        Handling of rows with null or NaN cells: raise an error, or skip and count them.
    levels : int, default=2
        Number of levels of the merge tree on the cluster. At each level, a task merges the moments
        of up to 16 parts. The driver merges the remaining moments.
    """
    columns, selected = _selected(df, features, weight)
    width = columns.width or _width(df, columns)
    with _small_batches(df, width):
        found = folded(selected, k, columns, missing, weight is not None, levels)
    if found is None:
        raise ValueError("the DataFrame must have at least one row")
    return found


def _selected(df: DataFrame, features: str | Sequence[str], weight: str | None) -> tuple[Features, DataFrame]:
    columns = Features.of(df, features)
    check_present(df, [] if weight is None else [weight], "weight")
    weights = [] if weight is None else [column(weight).cast("double").alias(WEIGHT)]
    return columns, df.select(*columns.expressions(), *weights)


def folded(selected: DataFrame, k: int, columns: Features, missing: str, is_weighted: bool, levels: int) -> Moments | None:
    """Return the moments of the rows, merged in the order of the partitions, or None without rows."""

    def state(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        moments: Moments | None = None
        for batch in batches:
            rows = columns.of_arrow(batch)
            if not len(rows) or (missing == "skip" and not rows.shape[1]):
                continue
            weights = batch.column(WEIGHT).to_numpy(zero_copy_only=False) if is_weighted else None
            moments = moments or Moments(rows.shape[1], k, names=columns.names, missing=missing)
            try:
                moments.update(rows, weights)
            except ValueError as error:
                raise ValueError(_explained(error, rows, columns)) from None
        if moments is not None:
            context = TaskContext.get()
            yield _one(0 if context is None else context.partitionId(), moments).to_batches()[0]

    def merge(node: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return _one(node[0].as_py(), _merged(table.to_pylist()))

    states = selected.mapInArrow(state, STATE)
    for _ in range(levels):
        nodes = states.withColumn("node", F.expr(f"part div {FAN_IN}"))
        states = nodes.groupBy("node").applyInArrow(merge, STATE)
    rows = [row.asDict() for row in states.collect()]
    return _merged(rows) if rows else None


def _explained(error: ValueError, rows: Floats, columns: Features) -> str:
    """Return a message that names the column of a missing cell, but not the row, whose index is within the batch."""
    missing = np.argwhere(np.isnan(rows))
    if not len(missing):
        return str(error)
    name = columns.columns[0 if columns.is_array else int(missing[0, 1])]
    return f"column {name!r}: every cell must have a number, got a null or NaN; missing='skip' passes such rows over"


def _one(part: int, moments: Moments) -> pa.Table:
    return pa.table({"part": pa.array([part], pa.int64()), "state": pa.array([moments.to_bytes()], pa.binary())})


def _merged(rows: list[dict[str, Any]]) -> Moments:
    first, *others = sorted(rows, key=lambda row: row["part"])
    moments = Moments.from_bytes(bytes(first["state"]))
    for other in others:
        moments.merge(Moments.from_bytes(bytes(other["state"])))
    return moments


def _width(df: DataFrame, columns: Features) -> int:
    first = df.select(F.size(columns.packed())).first()
    return max(1, first[0]) if first is not None else 1


@contextmanager
def _small_batches(df: DataFrame, width: int) -> Iterator[None]:
    """Limit the rows that Spark sends to a worker at once to ``BATCH_BYTES``."""
    conf = df.sparkSession.conf
    before = conf.get(BATCH_ROWS)
    conf.set(BATCH_ROWS, str(min(int(before or 10_000), max(1, BATCH_BYTES // (8 * width)))))
    try:
        yield
    finally:
        conf.set(BATCH_ROWS, before)


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

    The loss of all rows of a micro-batch is computed for the subspace that was chosen before it.
    Workers sum ``x xᵀ`` over the rows x, and the model on the driver makes one step with the sum,
    as by :meth:`eigenhedge.Model.step_batch`. The model is saved in the checkpoint with the number of
    the micro-batch, so that a micro-batch which Spark repeats is not learned twice.

    Parameters
    ----------
    streaming_df, k, features, weight
        Same as for :func:`fold`. Rows have at most 4096 numbers.
    checkpoint : str
        Checkpoint location of the query, on storage that driver and workers share.
    first_batch : {"none", "center", "standardize"}, default="none"
        Use of the first micro-batch. ``"center"`` subtracts the means of its columns from all rows.
        ``"standardize"`` also divides by their standard deviations.
    **options
        Options of :func:`eigenhedge.run`, without ``center`` and ``standardize``. ``missing`` may
        be ``"fail"`` or ``"skip"``.

    Returns
    -------
    pyspark.sql.streaming.DataStreamWriter
        Query that has not been started. :func:`stream_model` reads the learned model.

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
    columns, selected = _selected(streaming_df, features, weight)
    standardize = "none" if first_batch == "none" else "warmup:2"
    recipe = LearnerRecipe(k, columns.names, {**options, "center": "none", "standardize": standardize})
    if columns.width is not None:
        recipe.begin(columns.width)
    batches = MicroBatches(recipe, columns, weight is not None, first_batch, _folder(checkpoint))
    return selected.writeStream.foreachBatch(batches.learn).option("checkpointLocation", checkpoint)


def stream_model(spark: SparkSession, checkpoint: str) -> Model:
    """Read the model of a query of :func:`learn_stream` from its checkpoint. The query may be running.

    Rows that are passed to the model must be in units of the input.
    """
    found = _saved(spark, _folder(checkpoint))
    if found is None:
        raise ValueError(f"{checkpoint}: no micro-batch has been learned")
    return Model.from_bytes(found[1])


@dataclass(eq=False)
class MicroBatches:
    """Learner of micro-batches on the driver, which saves its model in ``folder``."""

    recipe: LearnerRecipe
    features: Features
    is_weighted: bool
    first_batch: str
    folder: str
    #: Number of the last learned micro-batch, model, settings and slot, or None before they are read.
    last: tuple[int, bytes, str, int] | None = None

    def learn(self, df: DataFrame, batch_id: int) -> None:
        """Make one step with a micro-batch, unless it was learned before a restart of the query."""
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
        model: Any = resumed(self.recipe, *self.last[1:3], self.features.width) if self.last else self.recipe.begin(len(mean))
        if self.first_batch != "none":
            if self.last is None:
                spread = np.sqrt(np.diag(scatter) / moments.weight) if self.first_batch == "standardize" else np.ones_like(mean)
                # The mean of these two rows is ``mean``, and their standard deviation is ``spread``.
                model._warm_up(np.stack([mean + spread, mean - spread]))
            mean, scatter = (mean - model.center) / model.scale, scatter / np.outer(model.scale, model.scale)
        model._step_standard_matrix(scatter + moments.weight * np.outer(mean, mean), moments.rows)
        # The older of the two copies is replaced, so that one copy survives a failure.
        slot = 1 - self.last[3] if self.last else 0
        self.last = None
        last = (batch_id, model.to_bytes(), settings(self.recipe), slot)
        _save(spark, self.folder, *last)
        self.last = last


def _folder(checkpoint: str) -> str:
    return checkpoint.rstrip("/") + "/eigenhedge"


def _saved(spark: SparkSession, folder: str) -> tuple[int, bytes, str, int] | None:
    found: list[tuple[int, bytes, str, int]] = []
    for slot in (0, 1):
        try:
            rows = spark.read.schema(SAVED).parquet(f"{folder}/{slot}").collect()
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
        else:
            found += [(row.batch_id, bytes(row.model), row.settings, slot) for row in rows]
    return max(found, default=None)


def _save(spark: SparkSession, folder: str, batch_id: int, data: bytes, made_with: str, slot: int) -> None:
    frame = spark.createDataFrame([(batch_id, bytearray(data), made_with)], SAVED)
    frame.coalesce(1).write.mode("overwrite").parquet(f"{folder}/{slot}")
