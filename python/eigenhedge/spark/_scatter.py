"""Sums over the rows of a micro-batch. Each partition sends what is smaller: its rows, or the sum of their dyads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from .._core import Learner
from .._types import Floats
from ._columns import Features

#: What a partition sends: its number, its rows, and a table of numbers with its number of lines.
PART = "part int, rows long, lines int, is_sum boolean, numbers binary"


@dataclass(frozen=True)
class Batch:
    """Rows times the roots of their weights, or the sum of the dyads of so many rows."""

    count: int
    numbers: Floats
    is_sum: bool

    def teach(self, learner: Learner) -> None:
        """One trial."""
        if self.is_sum:
            learner.step(matrix=self.numbers, rows=self.count)
        else:
            learner.step_batch(self.numbers)


@dataclass(frozen=True)
class Reading:
    """How rows are read out of Arrow: columns, weights, what becomes of missing cells, center and scale."""

    features: Features
    weight: str | None
    skips: bool
    measure: tuple[Floats, Floats] | None = None

    def blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Floats, Floats | None]]:
        """Rows and weights of the rows that count."""
        for batch in batches:
            rows = self.features.of_arrow(batch)
            weights = None if self.weight is None else batch.column(self.weight).to_numpy(zero_copy_only=False)
            bad = ~np.isfinite(rows).all(axis=1)
            if bad.any() and not (self.skips and np.isnan(rows[bad]).any(axis=1).all()):
                row, place = (int(x) for x in np.argwhere(~np.isfinite(rows))[0])
                name = self.features.columns[0] if self.features.is_array else self.features.columns[place]
                rule = "finite" if np.isinf(rows[row, place]) else "finite (missing='skip' passes rows with missing cells over)"
                raise ValueError(f"column {name!r}: every number must be {rule}, got {rows[row, place]}")
            if weights is not None:
                if not (np.isfinite(weights) & (weights >= 0.0)).all():
                    raise ValueError(f"weights must be finite and not negative, got {weights[~(weights >= 0.0)][:1]}")
                bad = bad | (weights == 0.0)
            if bad.any():
                rows, weights = rows[~bad], None if weights is None else weights[~bad]
            if self.measure is not None:
                center, scale = self.measure
                rows = (rows - center) / scale
            if len(rows):
                yield rows, weights


def batch_of(df: DataFrame, reading: Reading) -> Batch | None:
    """Sum up the rows of a DataFrame, over partitions in their order; None if there are no rows."""

    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        count, waiting, total = 0, [], None
        for rows, weights in reading.blocks(batches):
            count += len(rows)
            waiting.append(rows if weights is None else rows * np.sqrt(weights)[:, None])
            if sum(map(len, waiting)) > rows.shape[1]:
                total, waiting = _plus(total, np.concatenate(waiting)), []
        if count:
            held = np.concatenate(waiting) if waiting else None
            numbers = held if total is None else total if held is None else _plus(total, held)
            yield _part(count, numbers, total is not None)

    parts = sorted(df.mapInArrow(fold, PART).collect(), key=lambda part: part.part)
    if not parts:
        return None
    tables = [np.frombuffer(part.numbers).reshape(part.lines, -1) for part in parts]
    _check_widths(tables)
    count, width = sum(part.rows for part in parts), tables[0].shape[1]
    if count <= width and not any(part.is_sum for part in parts):
        return Batch(count, np.concatenate(tables), is_sum=False)
    total = sum(table if part.is_sum else table.T @ table for part, table in zip(parts, tables))
    return Batch(count, np.asarray(total), is_sum=True)


def moments_of(df: DataFrame, reading: Reading) -> tuple[Floats, Floats] | None:
    """Mean and deviation of the columns; None if there are no rows."""

    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        count, moments = 0, None
        for rows, weights in reading.blocks(batches):
            count += len(rows)
            moments = _joined(moments, _moments(rows, weights))
        if moments is not None:
            yield _part(count, moments, True)

    joined = None
    for part in sorted(df.mapInArrow(fold, PART).collect(), key=lambda part: part.part):
        joined = _joined(joined, np.frombuffer(part.numbers).reshape(3, -1))
    return None if joined is None else (joined[1], np.sqrt(joined[2] / joined[0]))


def _part(count: int, numbers: Floats, is_sum: bool) -> pa.RecordBatch:
    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    lines = np.ascontiguousarray(numbers)
    cells = [[part], [count], [len(lines)], [is_sum], [lines.tobytes()]]
    types = [pa.int32(), pa.int64(), pa.int32(), pa.bool_(), pa.binary()]
    arrays = [pa.array(cell, type=kind) for cell, kind in zip(cells, types)]
    return pa.RecordBatch.from_arrays(arrays, names=["part", "rows", "lines", "is_sum", "numbers"])


def _plus(total: Floats | None, rows: Floats) -> Floats:
    product: Floats = rows.T @ rows
    return product if total is None else total + product


def _moments(rows: Floats, weights: Floats | None) -> Floats:
    """Weight, mean and sum of squared distances from it, for each column."""
    weights = np.ones(len(rows)) if weights is None else weights
    whole = weights.sum()
    mean = weights @ rows / whole
    return np.stack([np.full_like(mean, whole), mean, weights @ (rows - mean) ** 2])


def _joined(a: Floats | None, b: Floats) -> Floats:
    """The moments of two sets of rows together."""
    if a is None:
        return b
    _check_widths([a, b])
    whole, apart = a[0] + b[0], b[1] - a[1]
    return np.stack([whole, a[1] + apart * (b[0] / whole), a[2] + b[2] + apart**2 * (a[0] * b[0] / whole)])


def _check_widths(tables: list[Floats]) -> None:
    widths = sorted({table.shape[1] for table in tables})
    if len(widths) > 1:
        raise ValueError(f"all rows must have one length, got {widths[0]} and {widths[-1]}")
