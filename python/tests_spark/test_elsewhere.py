"""Tests of merging with Dask and with processes, and of Spark Connect."""

import pathlib
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import reduce

import numpy as np
import pytest
from conftest import near_plane
from sklearn.decomposition import PCA

import eigenhedge
from eigenhedge.spark import _session

HERE = pathlib.Path(__file__).parent


def folded(rows):
    return eigenhedge.Moments(rows.shape[1], 2).update(rows)


def check(model, rows):
    exact = PCA(2).fit(rows).components_
    assert np.abs(model.components_.T @ model.components_ - exact.T @ exact).max() < 1e-8


def test_dask_and_processes_merge_what_spark_merges(rng):
    bag = pytest.importorskip("dask.bag")
    rows = near_plane(rng, 300)
    parts = bag.from_sequence(np.array_split(rows, 10), npartitions=4)
    moments = parts.map(folded).fold(eigenhedge.Moments.merge).compute(scheduler="synchronous")
    check(moments.finish(), rows)
    with ProcessPoolExecutor(2) as pool:
        check(reduce(eigenhedge.Moments.merge, pool.map(folded, np.array_split(rows, 6))).finish(), rows)


@pytest.mark.thorough
def test_everything_works_over_spark_connect():
    done = subprocess.run([sys.executable, HERE / "over_connect.py"], cwd=HERE, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert "all the same" in done.stdout


def test_a_java_that_is_missing_or_old_is_named(monkeypatch, tmp_path):
    for found, sentence in [(None, "none was found in JAVA_HOME or on the path"), (11, "Java 11 was found")]:
        monkeypatch.setattr(_session, "java_version", lambda: found)
        with pytest.raises(RuntimeError, match=f"Spark needs Java 17 or later, and {sentence}"):
            _session.session()
    monkeypatch.undo()
    assert _session.java_version() >= 17
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert _session.java_version() is None


def test_a_pyspark_that_is_missing_or_old_is_named(monkeypatch):
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", "3.5.1")
    with pytest.raises(ImportError, match="needs PySpark 4.0 or later, got 3.5.1; install it with: pip install"):
        _session.check_pyspark()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match="needs PySpark, which is not installed; install it with: pip install 'eigenhedge"):
        _session.check_pyspark()
