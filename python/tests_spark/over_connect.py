"""Test the functions over Spark Connect, in a process without a classic Spark session."""

import os
import sys

import numpy as np
import pandas as pd
from conftest import FEATURES, alone, keyed
from pyspark.sql import SparkSession

import eigenhedge.spark as es

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
frame = keyed(np.random.default_rng(4), 2, 40)
df = spark.createDataFrame(frame)

model = es.fit(df, 2, FEATURES, levels=1)
direct = np.linalg.svd(frame[FEATURES] - frame[FEATURES].mean(), full_matrices=False)[2][:2]
assert np.abs(model.components_.T @ model.components_ - direct.T @ direct).max() < 1e-8
scored = es.score(df, model).select("loss").toPandas()
assert np.allclose(scored["loss"].sum(), -model.score_samples(frame[FEATURES]).sum())
for row in es.fit_by_key(df, "machine", 2, FEATURES, "time").collect():
    assert bytes(row.model) == alone(frame[frame["machine"] == row.machine], 2)[0].to_bytes()
answers = es.stream_by_key(df, "machine", 2, FEATURES, "time").toPandas()
for machine, rows in frame.groupby("machine"):
    told = answers[answers["machine"] == machine].sort_values("time")
    assert (told["loss"].to_numpy() == alone(rows, 2)[1][1]).all()
assert isinstance(answers, pd.DataFrame) and len(answers) == 80
print("all the same")
