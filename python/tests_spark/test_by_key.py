"""Tests of one model per key of a table."""

import numpy as np
import pandas as pd
import pytest
from conftest import FEATURES, alone, keyed, message
from pyspark.errors import PythonException
from pyspark.sql import functions as F

import eigenhedge
import eigenhedge.spark as es


@pytest.mark.parametrize(
    "options",
    [
        {"learner": "tracking", "standardize": "running", "seed": 4},
        pytest.param({}, marks=pytest.mark.thorough),
        pytest.param({"learner": "gha"}, marks=pytest.mark.thorough),
    ],
)
def test_each_key_has_the_learner_of_one_machine_bit_for_bit(spark, rng, options):
    frame = keyed(rng, 4, 60)
    df = spark.createDataFrame(frame).repartition(5)
    found = es.fit_by_key(df, "machine", 2, FEATURES, "time", **options).toPandas().set_index("machine")
    assert sorted(found.index) == ["m0", "m1", "m2", "m3"]
    for machine, rows in frame.groupby("machine"):
        learner, _ = alone(rows, 2, **options)
        row = found.loc[machine]
        assert row["model"] == learner.to_bytes()
        assert row["rows"] == 60
        assert row["expected_loss"] == learner.summary["expected_loss"]
        assert row["bound"] == learner.summary["bound"] or np.isnan(row["bound"])
    loaded = eigenhedge.load(bytes(found.loc["m2", "model"]))
    assert loaded.feature_names == FEATURES


def test_monitors_by_key_equal_those_of_one_machine(spark, rng):
    frame = keyed(rng, 2, 150)
    df = spark.createDataFrame(frame).repartition(3)
    found = es.fit_by_key(df, "machine", None, FEATURES, "time", learner="monitor", warm_up=60).toPandas()
    for machine, rows in frame.groupby("machine"):
        monitor = eigenhedge.Monitor(warm_up=60)
        monitor.update(rows.sort_values("time")[FEATURES])
        row = found[found["machine"] == machine].iloc[0]
        assert bytes(row["model"]) == monitor._model.to_bytes()
        assert all(row[name] == count for name, count in monitor.totals_.items())
        assert eigenhedge.load(bytes(row["model"])).totals_ == monitor.totals_


@pytest.mark.thorough
def test_keys_order_and_rows_may_be_of_any_kind(spark, rng):
    frame = keyed(rng, 3, 30)
    df = spark.createDataFrame(frame)
    plain = {row.machine: bytes(row.model) for row in es.fit_by_key(df, "machine", 2, FEATURES, "time").collect()}
    packed = df.select(
        "machine",
        F.col("machine").substr(2, 1).cast("int").alias("number"),
        F.timestamp_seconds(F.col("time") + 1_700_000_000).alias("at"),
        F.timestamp_seconds(F.col("time")).cast("timestamp_ntz").alias("local"),
        F.format_string("%03d", "time").alias("text"),
        F.array(*FEATURES).alias("row"),
    )
    for order in ["at", "local", "text", ["text", "at"]]:
        for row in es.fit_by_key(packed, ["machine", "number"], 2, "row", order).collect():
            learner = eigenhedge.load(bytes(row.model))
            learner._set_feature_names(FEATURES)
            assert row.machine == f"m{row.number}" and learner.to_bytes() == plain[row.machine]


@pytest.mark.thorough
def test_rows_at_the_same_time_are_learned_in_one_order(spark, rng):
    frame = keyed(rng, 1, 40).assign(time=0)
    models = set()
    for seed in range(3):
        df = spark.createDataFrame(frame.sample(frac=1.0, random_state=seed)).repartition(3)
        models.add(bytes(es.fit_by_key(df, "machine", 2, FEATURES, "time").first().model))
    assert len(models) == 1


def test_tables_that_cannot_be_are_refused(spark, rng):
    df = spark.createDataFrame(keyed(rng, 2, 10))
    with pytest.raises(ValueError, match="features: the DataFrame must have a column 'aa'; did you mean 'a'?"):
        es.fit_by_key(df, "machine", 2, ["aa", "b"], "time")
    with pytest.raises(ValueError, match="key: the DataFrame must have a column 'plant'; it has 'a'"):
        es.fit_by_key(df, "plant", 2, FEATURES, "time")
    with pytest.raises(ValueError, match="'machine' must hold numbers, .*got string"):
        es.fit_by_key(df, "machine", 2, ["a", "machine"], "time")
    with pytest.raises(ValueError, match="order_by: the column 'x' must hold numbers .*got array<int>"):
        es.fit_by_key(df.withColumn("x", F.array(F.lit(1))), "machine", 2, FEATURES, "x")
    with pytest.raises(ValueError, match="k must be"):
        es.fit_by_key(df, "machine", None, FEATURES, "time")
    with pytest.raises(ValueError, match="eta"):
        es.fit_by_key(df, "machine", 2, FEATURES, "time", learner="tracking", eta=-1.0)


def test_rows_that_cannot_be_learned_are_named(spark, rng):
    df = spark.createDataFrame(keyed(rng, 2, 10))
    null_key = df.withColumn("machine", F.when(F.col("time") == 3, None).otherwise(F.col("machine")))
    with pytest.raises(PythonException) as error:
        es.fit_by_key(null_key, "machine", 2, FEATURES, "time").collect()
    assert "key: the column 'machine' must have a value in every row, got a null" in message(error)
    null_time = df.withColumn("time", F.when(F.col("time") == 3, None).otherwise(F.col("time")))
    with pytest.raises(PythonException) as error:
        es.fit_by_key(null_time, "machine", 2, FEATURES, "time").collect()
    assert "order_by: the column 'time' must have a value in every row, got a null" in message(error)
    null_cell = df.withColumn("b", F.when((F.col("time") == 3) & (F.col("machine") == "m1"), None).otherwise(F.col("b")))
    with pytest.raises(PythonException) as error:
        es.fit_by_key(null_cell, "machine", 2, FEATURES, "time").collect()
    assert "machine='m1': row 3" in message(error)
    found = es.fit_by_key(null_cell, "machine", 2, FEATURES, "time", missing="skip").toPandas()
    assert sorted(found["rows"]) == [9, 10]


def test_no_row_is_no_key(spark):
    empty = spark.createDataFrame(pd.DataFrame({"machine": ["a"], "time": [0], "x": [0.0], "y": [0.0]})).where("time > 5")
    assert es.fit_by_key(empty, "machine", 1, ["x", "y"], "time").collect() == []
