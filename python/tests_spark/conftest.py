"""Fixtures and helpers of the Spark tests, with one session on two cores."""

import numpy as np
import pandas as pd
import pytest

import eigenhedge
import eigenhedge.spark as es

FEATURES = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warehouse")
    session = es.session("local[2]", {"spark.sql.warehouse.dir": str(folder), "spark.sql.session.timeZone": "UTC"})
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def rng():
    return np.random.default_rng(19)


def near_plane(rng, rows, width=5, rank=2, noise=0.2):
    """Return rows near a subspace of dimension `rank`, around a nonzero mean."""
    return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, width)) + noise * rng.normal(size=(rows, width)) + 1.0


def keyed(rng, keys, rows):
    """Return shuffled rows of several keys, with a time (from 0) within each key."""
    frames = []
    for i in range(keys):
        frame = pd.DataFrame(near_plane(rng, rows), columns=FEATURES)
        frames.append(frame.assign(machine=f"m{i}", time=np.arange(rows, dtype=np.int64)))
    return pd.concat(frames).sample(frac=1.0, random_state=3).reset_index(drop=True)


def alone(frame, k, names=FEATURES, **options):
    """Return a model that learned the rows of one key without Spark, and its results."""
    learner = eigenhedge.Model(len(names), k, **options)
    learner._set_feature_names(names)
    rows = frame.sort_values("time", kind="stable")[names].to_numpy()
    return learner, learner.step_each(np.ascontiguousarray(rows))


def message(error):
    return str(error.value)


def pytest_configure(config):
    """Register the marker of slow tests, which only `cargo xtask test spark` runs."""
    config.addinivalue_line("markers", "thorough: more cases of what other tests show; some ten seconds each")
