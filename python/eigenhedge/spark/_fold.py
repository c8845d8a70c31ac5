"""One model over a large table: partitions are reduced to moments, which are merged in a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .._moments import Moments
from .._types import Floats
from ._columns import Features, check_present, column

if TYPE_CHECKING:
    from .._pca import OnlinePCA

#: Schema of the state of one or several partitions: number of the first partition in its level, and moments as bytes.
STATE = "part long, state binary"
#: Number of states that a task merges. All of them are in memory at once.
FAN_IN = 16
#: Name of the weight column.
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
    """Fit one model to all rows in one pass over the partitions, with :func:`fold` and :meth:`eigenhedge.Moments.finish`.

    Parameters
    ----------
    df, k, features, weight, missing, levels
        Same as for :func:`fold`.
    standardize : bool, default=False
        True to standardize columns to mean 0 and standard deviation 1 by all rows.
    **options
        Options of :func:`eigenhedge.run`, such as ``center="none"``. The default learner is ``"leader"``, whose
        directions are those of PCA. ``"anchored"`` and ``"product-sets"`` are also supported. Other learners depend on
        the order of rows.

    Returns
    -------
    OnlinePCA
        Fitted estimator, which can continue learning.

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
    """Compute the moments of all rows: exactly, or as a sketch if rows have more than 4096 numbers.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows.
    k : int
        Maximum number of directions kept by models.
    features : str or list of str
        Numeric columns, or the name of one column of arrays or ML vectors, which is faster for more than a few hundred
        numbers.
    weight : str, optional
        Column with the weight of each row.
    missing : {"fail", "skip"}, default="fail"
        Handling of rows with null or NaN cells: raise an error, or skip and count them.
    levels : int, default=2
        Number of levels of the merge tree on the cluster. Each level merges 16 states into one. The rest is merged on
        the driver.

    Returns
    -------
    eigenhedge.Moments
        Moments of all rows, equal for every partitioning up to rounding. ``best_loss`` bounds the loss of the best
        subspace.

    Examples
    --------
    >>> from eigenhedge.spark import fold, session
    >>> spark = session("local[1]")
    >>> df = spark.createDataFrame([(t % 3, t % 5) for t in range(60)], "a int, b int")
    >>> fold(df, 1, ["a", "b"]).rows
    60
    """
    columns = Features.of(df, features)
    check_present(df, [] if weight is None else [weight], "weight")
    weights = [] if weight is None else [column(weight).cast("double").alias(WEIGHT)]
    selected = df.select(*columns.expressions(), *weights)
    width = columns.width or _width(df, columns)
    with _small_batches(df, width):
        found = folded(selected, k, columns, missing, weight is not None, levels)
    if found is None:
        raise ValueError("the DataFrame must have at least one row")
    return found


def folded(selected: DataFrame, k: int, columns: Features, missing: str, is_weighted: bool, levels: int) -> Moments | None:
    """Return the moments of selected rows, or None if there are no rows. Parts are merged in order."""

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
    """Return the error message. For a missing cell, it names the column instead of the row number in the batch."""
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
    """Return the length of the first array in the column."""
    first = df.select(F.size(columns.packed())).first()
    return max(1, first[0]) if first is not None else 1


@contextmanager
def _small_batches(df: DataFrame, width: int) -> Iterator[None]:
    """Make Spark send long rows in smaller batches, of fewer than ten thousand rows."""
    conf = df.sparkSession.conf
    before = conf.get(BATCH_ROWS)
    conf.set(BATCH_ROWS, str(min(int(before or 10_000), max(1, BATCH_BYTES // (8 * width)))))
    try:
        yield
    finally:
        conf.set(BATCH_ROWS, before)
