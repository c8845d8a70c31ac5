"""The River classes pass River's checks of estimators."""

import random

import numpy as np
import pandas as pd
import pytest
from river import anomaly, checks, compose, datasets, linear_model, metrics, preprocessing

import eigenhedge
from eigenhedge.river import OnlinePCA, SubspaceAnomaly


class Anomalies:
    """Rows near a line, and some outliers, in place of a downloaded data set."""

    def take(self, n):
        rng = np.random.default_rng(3)
        for i in range(n):
            t, odd = rng.normal(), i > 50 and rng.uniform() < 0.05
            noise = rng.normal(size=6) * (2.0 if odd else 0.1)
            yield {f"x{j}": float((j + 1) * t + noise[j]) for j in range(6)}, int(odd)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setattr(datasets, "CreditCard", lambda: Anomalies())
    random.seed(0)


def cases():
    for cls in [OnlinePCA, SubspaceAnomaly]:
        for parameters in cls._unit_test_params():
            yield cls(**parameters)


def names(model):
    datasets_credit_card, datasets.CreditCard = datasets.CreditCard, lambda: Anomalies()
    try:
        return [check.__name__ for check in checks.yield_checks(model)]
    finally:
        datasets.CreditCard = datasets_credit_card


@pytest.mark.parametrize(
    "model, index",
    [pytest.param(m, i, id=f"{m!r}-{n}") for m in cases() for i, n in enumerate(names(m))],
)
def test_river_check(model, index):
    assert not model._unit_test_skips()
    list(checks.yield_checks(model))[index](model.clone())


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    for t in rng.normal(size=count):
        yield {"a": t, "b": 2 * t + 0.1 * rng.normal(), "c": 0.1 * rng.normal()}


def test_a_missing_feature_is_at_its_mean():
    pca = OnlinePCA(1)
    for x in rows(200):
        pca.learn_one({name: value + 5 for name, value in x.items()})
    mean = dict(zip("abc", pca._model.center, strict=True))
    assert pca.transform_one({"a": 6.0}) == pca.transform_one({**mean, "a": 6.0})
    assert pca.transform_one({"a": 6.0, "b": None, "c": float("nan")}) == pca.transform_one({"a": 6.0})


def test_a_feature_that_appears_is_learned_while_there_is_room():
    narrow, wide = OnlinePCA(1), OnlinePCA(1, max_features=4)
    for pca in [narrow, wide]:
        for x in rows(50):
            pca.learn_one(x)
        for x in rows(300, seed=1):
            pca.learn_one({**x, "late": 100 * x["a"]})
    assert narrow.transform_one({"late": 50.0}) == narrow.transform_one({})
    assert abs(wide.transform_one({"late": 50.0})[0] - wide.transform_one({})[0]) > 25
    wide.learn_one({"later": 3.0})


def test_many_equals_one_by_one():
    table = pd.DataFrame(rows(80))
    table.iloc[5, 1] = np.nan
    one, many = OnlinePCA(2), OnlinePCA(2)
    for x in table.to_dict("records"):
        one.learn_one(x)
    many.learn_many(table[:40])
    many.learn_many(table[40:])
    assert one._model.to_bytes() == many._model.to_bytes()
    expected = pd.DataFrame([one.transform_one(x) for x in table.to_dict("records")])
    pd.testing.assert_frame_equal(many.transform_many(table), expected)


def test_coordinates_mean_the_same_from_row_to_row():
    rng = np.random.default_rng(0)
    # Two directions have equal variance, so the rotation between them is arbitrary at every row.
    X = rng.normal(size=(400, 4)) * [3.0, 3.0, 0.1, 0.1]
    turns = {}
    for form in ["aligned", "drawn"]:
        pca, coordinates = OnlinePCA(2, learner="leader", coordinates=form), []
        for x in X:
            pca.learn_one(dict(enumerate(x.tolist())))
            coordinates.append(list(pca.transform_one({0: 3.0, 1: 1.0, 2: 0.0, 3: 0.0}).values()))
        steps = np.linalg.norm(np.diff(coordinates[50:], axis=0), axis=1)
        turns[form] = int((steps > 0.5).sum())
    assert turns["aligned"] == 0 < turns["drawn"]


def test_a_row_has_the_coordinates_before_it_is_learned_that_it_has_when_it_is():
    pca = OnlinePCA(2, learner="anchored")
    *before, x = rows(51)
    for row in before:
        pca.learn_one(row)
    row = pca._row(pca._model, x)
    found = pca.transform_one(x)
    np.testing.assert_allclose([found[0], found[1]], pca._model.step(row).coordinates, rtol=1e-9, atol=1e-12)


def test_it_works_in_a_pipeline_with_a_metric():
    model = preprocessing.StandardScaler() | OnlinePCA(3) | linear_model.LogisticRegression()
    metric = metrics.ROCAUC()
    for x, y in datasets.Phishing().take(400):
        metric.update(y, model.predict_proba_one(x))
        model.learn_one(x, y)
    assert metric.get() > 0.7
    union = compose.Select("a") + OnlinePCA(1)
    for x in rows(10):
        union.learn_one(x)
    assert set(union.transform_one(x)) == {"a", 0}


@pytest.mark.parametrize(
    "make", [lambda d: anomaly.QuantileFilter(d, q=0.95), lambda d: anomaly.ThresholdFilter(d, threshold=0.5)]
)
def test_the_detector_beats_chance_by_far_and_filters(make):
    detector = make(SubspaceAnomaly(n_components=1, warm_up=50))
    metric, flagged = metrics.ROCAUC(), [[0, 0], [0, 0]]
    for x, y in Anomalies().take(1500):
        score = detector.score_one(x)
        assert 0 <= score < 1
        metric.update(y, score)
        flagged[y][detector.classify(score)] += 1
        detector.learn_one(x)
    assert metric.get() > 0.95
    (normal, false), (missed, found) = flagged
    assert found > 9 * missed and false < 0.06 * normal


def test_the_threshold_of_a_half_gives_the_alarms_of_the_monitor():
    stream = [x for x, _ in Anomalies().take(600)]
    detector = anomaly.ThresholdFilter(SubspaceAnomaly(warm_up=100, lags=1), threshold=0.5)
    classes = []
    for x in stream:
        classes.append(detector.classify(detector.score_one(x)))
        # The filter would not pass all rows to the detector.
        detector.anomaly_detector.learn_one(x)
    alarms = eigenhedge.Monitor(warm_up=100, lags=1).update(pd.DataFrame(stream))
    is_unusual = alarms.score > alarms.limit
    assert (is_unusual == classes)[~alarms.in_incident].all() and is_unusual.any()


def test_size_counts_the_other_side():
    small, large = OnlinePCA(1), OnlinePCA(1, max_features=500)
    for model in [small, large]:
        model.learn_one({"a": 1.0, "b": 2.0})
    assert large._raw_memory_usage - small._raw_memory_usage > 8 * 498


def test_the_absence_of_a_feature_says_nothing_when_it_is_filled_in():
    rng = np.random.default_rng(0)
    pca, detector = OnlinePCA(1, missing="fill"), SubspaceAnomaly(1, warm_up=200)
    for i, row in enumerate(rows(300)):
        row = {name: 1000.0 + value for name, value in row.items()}
        if i % 4 == 1:
            del row[["a", "b", "c"][rng.integers(3)]]
        pca.learn_one(row)
        detector.learn_one(row)
    assert pca.summary["certificate"]["filled_rows"] == 75
    whole = pca.transform_one({"a": 1001.0, "b": 1002.0, "c": 1000.0})[0]
    part = pca.transform_one({"a": 1001.0, "c": 1000.0})[0]
    assert abs(part - whole) < 0.2 * abs(whole)
    assert detector.score_one({"b": 1002.0, "c": 1000.0}) < 0.5 < detector.score_one({"b": 1002.0, "c": 1001.0})


def test_rows_that_lack_a_feature_are_passed_over():
    pca, detector = OnlinePCA(1, missing="skip"), SubspaceAnomaly(1, missing="skip", warm_up=20)
    for i, row in enumerate(rows(40)):
        if i % 4 == 1:
            del row["a"]
        pca.learn_one(row)
        detector.learn_one(row)
    assert (pca.summary["rows"], pca.summary["skipped_rows"]) == (30, 10)
    assert np.isfinite(pca.transform_one({"b": 1.0})[0])
    assert detector._model.totals["passed_over"] == 10 and detector.score_one({"b": 1.0}) == 0.0
