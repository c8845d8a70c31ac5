"""Merged moments and merged models are equivalent to one pass over all rows."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import low_rank, projector
from sklearn.decomposition import PCA

import eigenhedge
from eigenhedge import Moments


def parts_of(X, rng, count=20):
    cuts = np.sort(rng.integers(0, len(X) + 1, count - 1))
    return np.split(rng.permutation(X), cuts)


def folded(X, rng, **options):
    parts = [Moments(X.shape[1], 3, **options).update(part) for part in parts_of(X, rng)]
    parts = [Moments.from_bytes(part.to_bytes()) for part in parts]
    return parts[0].merge(*parts[1:])


def test_a_model_of_parts_is_pca_of_all_rows(rng):
    X = low_rank(rng, rows=3000) + np.where(np.arange(8) == 3, 1e6, 1.0)
    moments = folded(X, rng)
    model, whole = moments.finish(), PCA(3, svd_solver="full").fit(X)
    assert np.abs(projector(model.components_) - projector(whole.components_)).max() < 1e-8
    np.testing.assert_allclose(model.mean_, whole.mean_, rtol=1e-12)
    np.testing.assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-8)
    np.testing.assert_allclose(moments.scatter, len(X) * np.cov(X.T, bias=True), rtol=1e-6, atol=1e-6)
    low, high = moments.best_loss()
    assert low == high == pytest.approx(-model.score_samples(X).sum(), rel=1e-8)
    assert (moments.rows, model.n_samples_seen_, model.summary_["uncharged_rows"]) == (3000, 3000, 3000)


def test_standard_units_weights_and_missing_cells(rng):
    X = low_rank(rng, rows=400) * np.arange(1, 9)
    scaled = (X - X.mean(0)) / X.std(0)
    model, whole = folded(X, rng).finish(2, standardize=True), PCA(2).fit(scaled)
    assert np.abs(projector(model.components_) - projector(whole.components_)).max() < 1e-8
    np.testing.assert_allclose(model.scale_, X.std(0), rtol=1e-10)
    holes = np.vstack([X, np.full((5, 8), np.nan)])
    moments = folded(holes, rng, missing="skip")
    assert (moments.rows, moments.skipped_rows) == (400, 5)
    weights = rng.integers(0, 4, 400)
    weighted = Moments(8, 3).update(X, weights)
    repeated = Moments(8, 3).update(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.scatter, repeated.scatter, rtol=1e-9, atol=1e-9)
    assert weighted.weight == repeated.weight == weights.sum()


def test_columns_are_matched_by_name(rng):
    X, names = low_rank(rng, rows=50), [f"x{i}" for i in range(8)]
    wanted = Moments(8, 2).update(X).scatter
    frame = pd.DataFrame(X, columns=names)
    batch = pa.RecordBatch.from_pandas(frame[names[::-1]])
    for table in [frame, batch, pa.Table.from_pandas(frame), frame.assign(other="text")[["other", *names]].drop(columns="other")]:
        assert (Moments(8, 2, names=names).update(table).scatter == wanted).all()
    with pytest.raises(ValueError, match="'x3' is missing"):
        Moments(8, 2, names=names).update(frame.rename(columns={"x3": "y"}))
    assert list(Moments(8, 2, names=names).update(frame).finish().feature_names_in_) == names
    with pytest.raises(ValueError, match="column 7 must be 'x7' as in the first model, got 'y'"):
        Moments(8, 2, names=names).merge(Moments(8, 2, names=[*names[:7], "y"]))


def test_models_read_back_and_go_on_learning(rng, tmp_path):
    X = low_rank(rng, rows=200)
    model = folded(X, rng).finish(2, learner="anchored", center="none")
    eigenhedge.save(model, tmp_path / "model.eh")
    read = eigenhedge.load(tmp_path / "model.eh")
    assert type(read) is eigenhedge.OnlinePCA and (read.components_ == model.components_).all()
    read.partial_fit(X[:5])
    assert read.n_samples_seen_ == 205
    moments = pickle.loads(pickle.dumps(Moments(8, 3).update(X)))
    assert (moments.rows, moments.finish(8).components_.shape) == (200, (8, 8))


def test_long_rows_are_sketched(rng):
    X = rng.normal(size=(120, 6)) @ rng.normal(size=(6, 5000)) + 0.1 * rng.normal(size=(120, 5000))
    moments = Moments(5000, 3).update(X[:50]).merge(Moments(5000, 3).update(X[50:]))
    low, high = moments.best_loss()
    loss = -moments.finish().score_samples(X).sum()
    best = ((X - X.mean(0)) ** 2).sum() - (PCA(3, svd_solver="full").fit(X).singular_values_ ** 2).sum()
    assert moments.scatter is None and low <= best * (1 + 1e-9) and best <= loss * (1 + 1e-9) <= high * (1 + 1e-8)


def test_fitted_models_are_merged(rng):
    X = low_rank(rng, rows=300)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    parts = [eigenhedge.OnlinePCA(2, learner="leader").fit(frame[i : i + 100]) for i in (0, 100, 200)]
    before = [part.model_.to_bytes() for part in parts]
    merged, whole = eigenhedge.merge(*parts), eigenhedge.OnlinePCA(2, learner="leader").fit(frame)
    assert before == [part.model_.to_bytes() for part in parts]
    np.testing.assert_allclose(merged.score_samples(frame), whole.score_samples(frame), atol=1e-10)
    assert merged.learner == "leader" and merged.n_samples_seen_ == 300
    learners = [eigenhedge.Model(8, 2, learner="leader") for _ in range(2)]
    [learner.learn(rows) for learner, rows in zip(learners, (X[:1], X[1:]), strict=True)]
    np.testing.assert_allclose(eigenhedge.merge(*learners).losses(X), -whole.score_samples(frame), atol=1e-10)
    fleets = [eigenhedge.Fleet(2, learner="leader") for _ in range(2)]
    for fleet, keys in zip(fleets, ("ab", "bc"), strict=True):
        fleet.update(list(keys) * 50, X[:100])
    united = eigenhedge.merge(*fleets)
    assert (list(united), united["b"].rows, len(fleets[0])) == (["a", "b", "c"], 100, 2)


def test_refusals_say_what_must_be(rng):
    X = low_rank(rng, rows=40)
    tracking = eigenhedge.OnlinePCA(2, learner="tracking").fit(X)
    with pytest.raises(ValueError, match="the learner must be one of leader, anchored, product-sets, got tracking"):
        eigenhedge.merge(tracking, tracking)
    with pytest.raises(TypeError, match="all models must be of one class"):
        eigenhedge.merge(tracking, tracking.model_)
    with pytest.raises(ValueError, match="got auto, which depends on the order of rows"):
        Moments(8, 2).update(X).finish(learner="auto")
    with pytest.raises(ValueError, match="k must be 2 as in the first part, got 3"):
        Moments(8, 2).merge(Moments(8, 3))
    with pytest.raises(ValueError, match="missing must be fail or skip"):
        Moments(8, 2, missing="fill")
    with pytest.raises(ValueError, match="the state is not a file saved by eigenhedge"):
        Moments.from_bytes(b"nothing")
    moments = Moments(8, 2).update(X)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7: entry 2 of the row must be finite"):
        moments.update(bad)
    for weights in ([1.0], [-1.0] * 40):
        with pytest.raises(ValueError, match="sample_weight"):
            moments.update(X, weights)
    assert moments.rows == 40
