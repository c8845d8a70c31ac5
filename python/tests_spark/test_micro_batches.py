"""Tests of one model over a stream, with one trial per micro-batch."""

import os

import numpy as np
import pandas as pd
import pytest
from conftest import FEATURES, keyed, message, near_plane
from pyspark.errors import PythonException
from streams import rows_of, write

import eigenhedge
import eigenhedge.spark as es
from eigenhedge.spark._columns import Features
from eigenhedge.spark._fold import MicroBatches
from eigenhedge.spark._recipes import LearnerRecipe

WIDTH = 6


TRACKING = {"learner": "tracking", "norm_bound": 60.0}


def micro_batches(folder, first_batch="none", is_weighted=False, **options):
    """Return the object with which ``learn_stream`` learns, without a stream."""
    standardize = "none" if first_batch == "none" else "warmup:2"
    recipe = LearnerRecipe(2, None, {"center": "none", "standardize": standardize, **options})
    return MicroBatches(recipe, Features(("row",), is_array=True), is_weighted, first_batch, str(folder))


def table(spark, rows, **others):
    frame = pd.DataFrame({"row": list(rows), **others})
    return spark.createDataFrame(frame).repartition(2)


def learned(batches):
    return eigenhedge.Model.from_bytes(batches.last[1])


def iid(rng, learner, number, size):
    return near_plane(np.random.default_rng(0), size * 9, WIDTH)[size * number : size * (number + 1)]


def drift(rng, learner, number, size):
    return near_plane(np.random.default_rng(number // 2), size, WIDTH)


def adversary(rng, learner, number, size):
    """Return rows in a direction that the learner does not keep."""
    kept = np.zeros((1, WIDTH)) if learner is None else learner.components
    direction = np.linalg.eigh(kept.T @ kept)[1][:, 0]
    return np.tile(direction, (size, 1))


@pytest.mark.parametrize(
    ("stream", "options"),
    [
        (drift, {}),
        (adversary, TRACKING),
        *(
            pytest.param(stream, options, marks=pytest.mark.thorough)
            for stream, options in [(iid, {}), (adversary, {}), (iid, TRACKING), (drift, TRACKING)]
        ),
    ],
)
def test_regret_is_within_the_bound_of_batches(spark, rng, tmp_path, stream, options):
    batches, alike = micro_batches(tmp_path, **options), eigenhedge.Model(WIDTH, 2, center="none", **options)
    for number, size in enumerate([1, 40, 3, 40]):
        rows = stream(rng, None if number == 0 else learned(batches), number, size)
        batches.learn(table(spark, rows), number)
        alike.step_batch(rows)
    summary, single = learned(batches).summary, alike.summary
    assert summary["rows"] == single["rows"] == 84
    assert summary["expected_loss"] <= summary["bound"] and summary["bound_holds"]
    assert summary["expected_loss"] == pytest.approx(single["expected_loss"], rel=1e-9)
    assert summary["bound"] == pytest.approx(single["bound"], rel=1e-9)
    assert summary["regret"] == pytest.approx(summary["expected_loss"] - summary["best_loss"])


def test_the_newest_copy_survives_micro_batches_without_rows(spark, rng, tmp_path):
    batches = micro_batches(tmp_path)
    saved = []
    for number, size in enumerate([5, 0, 5, 0, 5]):
        if size:
            batches.learn(table(spark, rng.normal(size=(size, WIDTH))), number)
            saved.append(batches.last[3])
        else:
            batches.learn(table(spark, rng.normal(size=(1, WIDTH))).limit(0), number)
    assert saved == [0, 1, 0]
    again = micro_batches(tmp_path)
    again.learn(table(spark, rng.normal(size=(5, WIDTH))), 4)
    assert again.last == batches.last
    assert learned(batches).summary["rows"] == 15


@pytest.mark.thorough
def test_weights_count_rows_several_times(spark, rng, tmp_path):
    rows, weights = near_plane(rng, 30, WIDTH), rng.integers(0, 4, 30)
    weighted, repeated = micro_batches(tmp_path / "weighted", is_weighted=True), micro_batches(tmp_path / "repeated")
    weighted.learn(table(spark, rows, __weight=weights.astype(float)), 0)
    repeated.learn(table(spark, np.repeat(rows, weights, axis=0)), 0)
    a, b = learned(weighted), learned(repeated)
    assert a.rows == (weights > 0).sum() and b.rows == weights.sum()
    assert a.summary["expected_loss"] == pytest.approx(b.summary["expected_loss"], rel=1e-12)
    assert np.abs(a.components.T @ a.components - b.components.T @ b.components).max() < 1e-10


@pytest.mark.parametrize("first_batch", ["center", pytest.param("standardize", marks=pytest.mark.thorough)])
def test_the_first_batch_fixes_center_and_scale(spark, rng, tmp_path, first_batch):
    first, second = near_plane(rng, 50, WIDTH), near_plane(rng, 7, WIDTH)
    first[:, 3] = 1.5
    batches = micro_batches(tmp_path, first_batch)
    batches.learn(table(spark, first), 0)
    batches.learn(table(spark, second), 1)
    model = learned(batches)
    deviation = first.std(axis=0) if first_batch == "standardize" else np.ones(WIDTH)
    scale = np.where(np.arange(WIDTH) == 3, 1.0, deviation)
    assert np.allclose(model.center, first.mean(axis=0), atol=1e-12)
    alike = eigenhedge.Model(WIDTH, 2, center="none")
    for rows in (first, second):
        alike.step_batch((rows - first.mean(axis=0)) / scale)
    assert model.summary["expected_loss"] == pytest.approx(alike.summary["expected_loss"], rel=1e-9)
    # The model scales rows itself.
    assert np.allclose(model.losses(second), alike.losses((second - first.mean(axis=0)) / scale), rtol=1e-8)


def test_a_micro_batch_that_runs_again_is_not_learned_twice(spark, rng, tmp_path):
    frame = keyed(rng, 2, 30)
    checkpoint = str(tmp_path / "checkpoint")

    def learn():
        writer = es.learn_stream(rows_of(spark, tmp_path), 2, FEATURES, checkpoint, first_batch="center")
        writer.trigger(availableNow=True).start().awaitTermination()
        return es.stream_model(spark, checkpoint)

    for number in range(2):
        write(spark, frame[frame["time"] // 10 == number], tmp_path, number)
    before = learn()
    assert before.rows == 40 and before.feature_names == FEATURES
    # Simulate a driver that died after the model was saved and before the micro-batch was committed.
    for name in ("1", ".1.crc"):
        os.remove(tmp_path / "checkpoint" / "commits" / name)
    again = learn()
    assert again.to_bytes() == before.to_bytes()
    write(spark, frame[frame["time"] // 10 == 2], tmp_path, 2)
    assert learn().rows == 60
    with pytest.raises(ValueError, match="no micro-batch has been learned"):
        es.stream_model(spark, str(tmp_path / "nowhere"))


def test_micro_batches_that_cannot_be_learned_are_refused(spark, rng, tmp_path):
    df = spark.createDataFrame(keyed(rng, 1, 5))
    for options, sentence in [
        ({"center": "running"}, "center must be none for micro-batches"),
        ({"missing": "fill"}, "missing must be fail or skip for micro-batches"),
        ({"standardize": "running"}, "use first_batch='standardize'"),
        ({"first_batch": "mean"}, "first_batch must be one of none, center, standardize"),
        ({"weight": "w"}, "weight: the DataFrame must have a column 'w'"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            es.learn_stream(df, 2, FEATURES, str(tmp_path), **options)
    rows = near_plane(rng, 10, WIDTH)
    rows[3, 2] = np.nan
    with pytest.raises(PythonException) as error:
        micro_batches(tmp_path / "fails").learn(table(spark, rows), 0)
    assert "column 'row': every cell must have a number" in message(error)
    skipping = micro_batches(tmp_path / "skips", missing="skip")
    skipping.learn(table(spark, rows), 0)
    assert learned(skipping).rows == 9
    with pytest.raises(ValueError, match="a row of the symmetric matrix"):
        skipping.learn(table(spark, rows[:3, :5]), 1)
    changed = micro_batches(tmp_path / "skips", missing="skip", seed=5)
    with pytest.raises(ValueError, match="where seed is None, got 5; for others begin a new checkpoint"):
        changed.learn(table(spark, rows[:3]), 1)
