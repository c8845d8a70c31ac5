"""A model fitted with Spark agrees with one that is fitted without it."""

import numpy as np
import pandas as pd
import pytest
from conftest import FEATURES, message, near_plane
from pyspark.errors import PythonException
from pyspark.sql import functions as F
from sklearn.decomposition import PCA

import eigenhedge.spark as es


def projector(components):
    return components.T @ components


@pytest.fixture(scope="module")
def table(spark):
    rows = near_plane(np.random.default_rng(2), 900) * [1.0, 5.0, 1.0, 0.1, 2.0] + 100.0
    frame = pd.DataFrame(rows, columns=FEATURES).assign(w=np.arange(900) % 3)
    return rows, spark.createDataFrame(frame).repartition(18)


def test_the_directions_are_those_of_pca(table):
    rows, df = table
    exact = PCA(2).fit(rows)
    for levels in (0, 2):
        model = es.fit(df, 2, FEATURES, levels=levels)
        assert np.abs(projector(model.components_) - projector(exact.components_)).max() < 1e-8
        assert np.abs(model.mean_ - exact.mean_).max() < 1e-8
        assert list(model.feature_names_in_) == FEATURES and model.n_samples_seen_ == 900
    around_zero = es.fit(df.select(F.array(*FEATURES).alias("row")), 2, "row", center="none", learner="anchored")
    exact = np.linalg.svd(rows, full_matrices=False)[2][:2]
    assert np.abs(projector(around_zero.components_) - projector(exact)).max() < 1e-8


def test_standard_units_and_weights_are_those_of_the_rows_written_out(table):
    rows, df = table
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = es.fit(df, 2, FEATURES, standardize=True)
    assert np.abs(projector(model.components_) - projector(PCA(2).fit(standard).components_)).max() < 1e-8
    repeated = np.repeat(rows, np.arange(900) % 3, axis=0)
    moments = es.fold(df, 2, FEATURES, weight="w")
    assert moments.weight == len(repeated) and moments.rows == 600
    assert np.allclose(moments.mean, repeated.mean(axis=0))
    model = es.fit(df, 2, FEATURES, weight="w")
    assert np.abs(projector(model.components_) - projector(PCA(2).fit(repeated).components_)).max() < 1e-8


@pytest.mark.thorough
def test_long_rows_are_sketched_within_the_bracket(spark):
    rng = np.random.default_rng(3)
    n = 70_000
    rows = rng.normal(size=(12, 3)) @ rng.normal(size=(3, n)) + 0.05 * rng.normal(size=(12, n))
    seeds = spark.range(0, 12, 1, 2)

    def rows_of(batches):
        import pyarrow as pa

        for batch in batches:
            numbers = rows[batch.column(0).to_numpy()]
            yield pa.RecordBatch.from_arrays([pa.array(list(numbers), pa.list_(pa.float64()))], names=["row"])

    df = seeds.mapInArrow(rows_of, "row array<double>")
    moments = es.fold(df, 3, "row", levels=0)
    low, high = moments.best_loss()
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    best = float((exact[3:] ** 2).sum())
    assert low * (1 - 1e-9) <= best <= high * (1 + 1e-9)
    model = moments.finish()
    assert -model.score_samples(rows).sum() <= high * (1 + 1e-9)


def test_missing_cells_are_refused_or_passed_over(table):
    _, df = table
    holes = df.withColumn("b", F.when(F.col("w") == 1, None).otherwise(F.col("b")))
    with pytest.raises(PythonException) as error:
        es.fit(holes, 2, FEATURES)
    assert "column 'b': every cell must have a number, got a null or NaN; missing='skip' passes" in message(error)
    moments = es.fold(holes, 2, FEATURES, missing="skip")
    assert moments.rows == 600 and moments.skipped_rows == 300


def test_what_cannot_be_merged_is_refused(spark, table):
    _, df = table
    for learner in ("tracking", "auto"):
        with pytest.raises(ValueError, match=f"got '{learner}', which depends on the order of rows; run one for each key"):
            es.fit(df, 2, FEATURES, learner=learner)
    with pytest.raises(ValueError, match="at least one row"):
        es.fit(df.where("w > 5"), 2, FEATURES)
    with pytest.raises(ValueError, match="weight: the DataFrame must have a column 'weights'"):
        es.fit(df, 2, FEATURES, weight="weights")
    ragged = spark.sql("SELECT array(1.0D, 2.0D) AS row UNION ALL SELECT array(1.0D, 2.0D, 3.0D)").coalesce(1)
    with pytest.raises(PythonException) as error:
        es.fit(ragged, 1, "row")
    assert "the arrays of column 'row' must have one length, got 2 and 3" in message(error)


@pytest.mark.thorough
def test_the_setting_of_the_session_is_as_it_was(spark, table):
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(name, "77")
    es.fold(table[1].limit(5), 2, FEATURES, levels=0)
    assert spark.conf.get(name) == "77"
    spark.conf.set(name, "10000")
