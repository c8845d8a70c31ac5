"""Helpers for a stream of files with rows of several keys, and for a query over the stream."""

import os
import pathlib

from conftest import FEATURES

import eigenhedge.spark as es

SCHEMA = "a double, b double, c double, d double, e double, machine string, time long"


def write(spark, frame, folder, number):
    """Add rows to the stream as one file. Spark reads the files in the order of `number`."""
    place = pathlib.Path(folder, "in", f"{number:04}.parquet")
    place.parent.mkdir(parents=True, exist_ok=True)
    staged = place.with_suffix(".part")
    frame.to_parquet(staged, index=False)
    os.utime(staged, (1_700_000_000 + number, 1_700_000_000 + number))
    staged.rename(place)


def rows_of(spark, folder):
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1").option("pathGlobFilter", "*.parquet")
    return reader.parquet(os.path.join(folder, "in"))


def answers_of(spark, folder, **options):
    """Return the streaming results of one model per machine."""
    return es.stream_by_key(rows_of(spark, folder), "machine", 2, FEATURES, "time", **options)


def start(answers, folder, **trigger):
    """Start the query, which writes Parquet files, and return it."""
    writer = answers.writeStream.option("checkpointLocation", os.path.join(folder, "checkpoint"))
    if trigger:
        writer = writer.trigger(**trigger)
    return writer.format("parquet").start(os.path.join(folder, "out"))


def finish(answers, folder):
    """Process all available files, then stop."""
    query = start(answers, folder, availableNow=True)
    query.awaitTermination()
