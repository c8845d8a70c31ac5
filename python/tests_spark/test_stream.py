"""Tests of one model per key of a stream, with restarts and late rows."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from conftest import FEATURES, alone, keyed, message
from pyspark.errors import StreamingQueryException
from streams import answers_of, finish, rows_of, start, write

import eigenhedge
import eigenhedge.spark as es

HERE = pathlib.Path(__file__).parent


def commits(folder):
    place = pathlib.Path(folder, "checkpoint", "commits")
    return len([name for name in os.listdir(place) if name.isdigit()]) if place.exists() else 0


def wait_for(count, folder, query=None):
    end = time.monotonic() + 300
    while commits(folder) < count and time.monotonic() < end:
        assert query is None or query.isActive or query.exception() is None, query.exception()
        time.sleep(0.05)
    assert commits(folder) >= count


def check_against_one_machine(spark, folder, frame, late=None, **options):
    """Assert that results and models are bitwise equal to those of models without Spark."""
    answers = spark.read.parquet(os.path.join(folder, "out")).toPandas()
    models = es.models(spark, os.path.join(folder, "checkpoint")).toPandas().set_index("machine")
    assert len(answers) == len(frame)
    assert len(models) == frame["machine"].nunique()
    for machine, rows in frame.groupby("machine"):
        learner, (expected, losses, coordinates) = alone(rows, 2, **options)
        told = answers[answers["machine"] == machine].sort_values("time")
        assert (told["expected_loss"].to_numpy() == expected).all()
        assert (told["loss"].to_numpy() == losses).all()
        assert (np.stack(told["coordinates"].to_list()) == coordinates).all()
        assert bytes(models.loc[machine, "model"]) == learner.to_bytes()
        assert models.loc[machine, "rows"] == len(rows)


def test_a_query_that_is_stopped_and_killed_gives_the_bits_of_single_learners(spark, rng, tmp_path):
    frame = keyed(rng, 12, 80)
    pieces = [frame[(frame["time"] >= 8 * i) & (frame["time"] < 8 * i + 8)] for i in range(10)]
    for number, piece in enumerate(pieces[:6]):
        write(spark, piece, tmp_path, number)
    child = subprocess.Popen([sys.executable, HERE / "interrupted.py", tmp_path], cwd=HERE, start_new_session=True)
    try:
        wait_for(2, tmp_path)
    finally:
        # Kill Python, the JVM and the workers during a micro-batch.
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    done = commits(tmp_path)
    assert done < 6
    query = start(answers_of(spark, tmp_path), tmp_path)
    wait_for(done + 1, tmp_path, query)
    query.stop()
    query = start(answers_of(spark, tmp_path), tmp_path)
    # The number of micro-batches is not fixed. A kill between two log writes puts two files into one.
    query.processAllAvailable()
    query.stop()
    for number, piece in enumerate(pieces[6:], 6):
        write(spark, piece, tmp_path, number)
    finish(answers_of(spark, tmp_path), tmp_path)
    check_against_one_machine(spark, tmp_path, frame)
    some = es.models(spark, str(tmp_path / "checkpoint")).first()
    assert eigenhedge.load(bytes(some.model)).feature_names == FEATURES


@pytest.mark.parametrize("late", ["drop", pytest.param("learn", marks=pytest.mark.thorough)])
def test_late_rows_are_marked_and_dropped_or_learned_when_they_come(spark, rng, tmp_path, late):
    frame = keyed(rng, 2, 30)
    is_late = (frame["machine"] == "m1") & frame["time"].isin([3, 4])
    first, second = frame[(frame["time"] < 20) & ~is_late], frame[(frame["time"] >= 20) | is_late]
    write(spark, first, tmp_path, 0)
    write(spark, second, tmp_path, 1)
    finish(answers_of(spark, tmp_path, late=late), tmp_path)
    answers = spark.read.parquet(str(tmp_path / "out")).toPandas()
    models = es.models(spark, str(tmp_path / "checkpoint")).toPandas().set_index("machine")
    assert len(answers) == 60 and answers["late"].sum() == 2
    assert models.loc["m0", "late"] == 0 and models.loc["m1", "late"] == 2
    mine = frame[frame["machine"] == "m1"].sort_values("time")
    if late == "drop":
        learned = mine[~mine["time"].isin([3, 4])]
        assert answers[answers["late"]]["loss"].isna().all()
    else:
        # Rows of a micro-batch are sorted by time, so the late ones come first.
        learned = pd.concat(
            [first[first["machine"] == "m1"].sort_values("time"), second[second["machine"] == "m1"].sort_values("time")]
        )
        assert not answers[answers["late"]]["loss"].isna().any()
    learner = eigenhedge.Model(5, 2)
    learner._set_feature_names(FEATURES)
    learner.step_each(learned[FEATURES].to_numpy())
    assert bytes(models.loc["m1", "model"]) == learner.to_bytes()


@pytest.mark.thorough
def test_monitors_of_keys_go_on_across_restarts(spark, rng, tmp_path):
    frame = keyed(rng, 2, 120)
    options = {"learner": "monitor", "warm_up": 50, "differences": False}
    for number in range(2):
        write(spark, frame[frame["time"] // 60 == number], tmp_path, number)
        finish(answers_of(spark, tmp_path, **options), tmp_path)
    answers = spark.read.parquet(str(tmp_path / "out")).toPandas()
    models = es.models(spark, str(tmp_path / "checkpoint")).toPandas().set_index("machine")
    for machine, rows in frame.groupby("machine"):
        monitor = eigenhedge.Monitor(2, warm_up=50, differences=False)
        alarms = monitor.update(rows.sort_values("time")[FEATURES])
        told = answers[answers["machine"] == machine].sort_values("time")
        assert np.array_equal(told["score"].to_numpy(), alarms.score, equal_nan=True)
        assert (told["alarm"].to_numpy() == alarms.alarm).all() and (told["state"].to_numpy() == alarms.state).all()
        assert (told["incident"].fillna(-1).to_numpy() == alarms.incident).all()
        assert told["causes"].iloc[-1][0] == alarms.causes[-1][0]
        assert bytes(models.loc[machine, "model"]) == monitor._model.to_bytes()


@pytest.mark.thorough
def test_a_checkpoint_refuses_other_columns_and_options(spark, rng, tmp_path):
    frame = keyed(rng, 1, 20)
    write(spark, frame[frame["time"] < 10], tmp_path, 0)
    finish(answers_of(spark, tmp_path, learner="tracking"), tmp_path)
    write(spark, frame[frame["time"] >= 10], tmp_path, 1)
    rows = rows_of(spark, tmp_path)
    changed = {
        "where k is 2, got 3": es.stream_by_key(rows, "machine", 3, FEATURES, "time", learner="tracking"),
        "where columns is": es.stream_by_key(rows, "machine", 2, FEATURES[::-1], "time", learner="tracking"),
        "where the number of columns is 5, got 4": es.stream_by_key(rows, "machine", 2, FEATURES[:4], "time", learner="tracking"),
        "where learner is 'tracking'": answers_of(spark, tmp_path, learner="gha"),
    }
    for sentence, answers in changed.items():
        with pytest.raises(StreamingQueryException) as error:
            finish(answers, tmp_path)
        assert sentence in message(error)
    finish(answers_of(spark, tmp_path, learner="tracking"), tmp_path)
    check_against_one_machine(spark, tmp_path, frame, learner="tracking")


def test_rules_that_a_stream_cannot_keep_are_refused(spark, tmp_path, rng):
    df = spark.createDataFrame(keyed(rng, 1, 5))
    with pytest.raises(ValueError, match="late must be one of drop, learn, got 'wait'"):
        es.stream_by_key(df, "machine", 2, FEATURES, "time", late="wait")
    with pytest.raises(ValueError, match="standardize must be none or running"):
        es.stream_by_key(df, "machine", 2, FEATURES, "time", standardize="warmup:10")
