"""Scores computed with Spark are equal to those of the model without Spark."""

import numpy as np
import pandas as pd
import pytest
from conftest import FEATURES, near_plane
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as F

import eigenhedge
import eigenhedge.spark as es


@pytest.fixture(scope="module")
def table(spark):
    rows = near_plane(np.random.default_rng(1), 200)
    frame = pd.DataFrame(rows, columns=FEATURES).assign(id=np.arange(200))
    return rows, spark.createDataFrame(frame).repartition(3)


def sorted_by_id(df):
    return df.orderBy("id").toPandas()


def stacked(cells):
    return np.stack([np.asarray(cell) for cell in cells])


def test_scores_of_learners_estimators_and_bytes_equal_those_on_one_machine(table):
    rows, df = table
    learner = eigenhedge.Model(5, 2)
    learner.learn(rows)
    pca = eigenhedge.OnlinePCA(2).fit(pd.DataFrame(rows, columns=FEATURES))
    found = sorted_by_id(es.score(es.score(df, learner, FEATURES), pca, prefix="pca_"))
    assert (stacked(found["coordinates"]) == learner.transform(rows)).all()
    assert (found["loss"].to_numpy() == learner.losses(rows)).all()
    assert (stacked(found["pca_coordinates"]) == pca.transform(pd.DataFrame(rows, columns=FEATURES))).all()
    again = sorted_by_id(es.score(df, learner.to_bytes(), FEATURES))
    assert again["loss"].equals(found["loss"])


def test_arrays_vectors_and_sql_give_what_columns_give(spark, table):
    rows, df = table
    learner = eigenhedge.Model(5, 2)
    learner.learn(rows)
    packed = df.select("id", F.array(*FEATURES).alias("row"))
    found = sorted_by_id(es.score(packed, learner, "row"))
    assert (found["loss"].to_numpy() == learner.losses(rows)).all()
    vectors = sorted_by_id(es.score(packed.select("id", array_to_vector("row").alias("row")), learner, "row"))
    assert (vectors["loss"].to_numpy() == learner.losses(rows)).all()
    spark.udf.register("score", es.score_udf(learner))
    df.createOrReplaceTempView("rows")
    packed.createOrReplaceTempView("packed")
    told = spark.sql("SELECT id, score(a, b, c, d, e) AS s FROM rows").select("id", "s.*")
    assert (sorted_by_id(told)["loss"].to_numpy() == learner.losses(rows)).all()
    told = spark.sql("SELECT id, score(row).loss AS loss FROM packed")
    assert (sorted_by_id(told)["loss"].to_numpy() == learner.losses(rows)).all()


def test_a_monitor_tells_scores_alarms_and_causes(spark, table):
    rows, df = table
    monitor = eigenhedge.Monitor(2, differences=False).fit(pd.DataFrame(rows, columns=FEATURES))
    broken = df.withColumn("d", F.col("d") + F.when(F.col("id") == 7, 9.0).otherwise(0.0))
    found = sorted_by_id(es.score(broken, monitor))
    changed = rows.copy()
    changed[7, 3] += 9.0
    scores = -monitor.score_samples(pd.DataFrame(changed, columns=FEATURES))
    assert (found["score"].to_numpy() == scores).all()
    assert found["alarm"][7] and found["causes"][7][0] == "d"
    assert (found["alarm"].to_numpy() == (scores > -monitor.offset_)).all()
    assert (found["q"] > 0).all() and (found["t2"] > 0).all()


def test_a_row_that_comes_again_is_judged_as_the_first_time(spark, table):
    rows, _ = table
    monitor = eigenhedge.Monitor(2, differences=False).fit(rows)
    same = spark.createDataFrame(pd.DataFrame(np.repeat(rows[:1], 30, axis=0), columns=FEATURES)).coalesce(1)
    found = es.score(same, monitor, FEATURES).toPandas()
    assert found["score"].nunique() == 1 and not found["alarm"].any()
    assert found["causes"].map(tuple).nunique() == 1


def test_scores_that_cannot_be_are_refused(table):
    rows, df = table
    learner = eigenhedge.Model(5, 2)
    learner.learn(rows)
    with pytest.raises(ValueError, match="features must name the columns"):
        es.score(df, learner)
    with pytest.raises(ValueError, match="no column 'loss' already"):
        es.score(df.withColumnRenamed("id", "loss"), learner, FEATURES).count()
    with pytest.raises(ValueError, match="neither lags nor differences"):
        es.score(df, eigenhedge.Monitor(2, lags=1, differences=False).fit(rows), FEATURES)
    with pytest.raises(TypeError, match="the model must be a Model, an estimator"):
        es.score(df, "model.eh", FEATURES)
