"""A copy of a public object is independent of the object."""

import copy
import inspect
import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import eigenhedge
from eigenhedge import river

ROWS = np.random.default_rng(1).normal(size=(200, 3)) * [3.0, 2.0, 1.0]
NAMES = list("abc")


def stream(model, rows):
    for row in rows:
        model.learn_one(dict(zip(NAMES, row, strict=True)))


def loaded(data):
    buffer = io.BytesIO()
    joblib.dump(data, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


#: For each public class, functions that make an object, change it, and return its state.
OBJECTS = {
    "Model": (
        lambda: eigenhedge.run(ROWS, 1).model,
        lambda model: model.learn(ROWS),
        lambda model: (model.rows, model.to_bytes()),
    ),
    "OnlinePCA": (
        lambda: eigenhedge.OnlinePCA(1).fit(ROWS),
        lambda model: model.partial_fit(4.0 + ROWS),
        lambda model: (model.n_samples_seen_, model.components_.tolist(), model.mean_.tolist()),
    ),
    "OnlineKernelPCA": (
        lambda: eigenhedge.OnlineKernelPCA(1, budget=10, learner="tracking").fit(ROWS[:60]),
        lambda model: model.partial_fit(4.0 + ROWS[:60]),
        lambda model: (model.n_samples_seen_, model.transform(ROWS).tolist()),
    ),
    "OnlineImputer": (
        lambda: eigenhedge.OnlineImputer(1).fit(ROWS),
        lambda model: model.partial_fit(4.0 + ROWS),
        lambda model: (model.n_samples_seen_, model.model_.center.tolist()),
    ),
    "KernelPCA": (
        lambda: eigenhedge.KernelPCA(1).fit(ROWS[:50]),
        lambda model: model.fit(2.0 * ROWS[50:]),
        lambda model: model.transform(ROWS).tolist(),
    ),
    "KernelRidge": (
        lambda: eigenhedge.KernelRidge().fit(ROWS[:50], ROWS[:50, 0]),
        lambda model: model.fit(ROWS[50:], ROWS[50:, 1]),
        lambda model: model.predict(ROWS).tolist(),
    ),
    "Monitor": (
        lambda: eigenhedge.Monitor(warm_up=60).fit(ROWS),
        lambda model: model.update(4.0 + ROWS),
        lambda model: (model.totals_, model.open_incidents),
    ),
    "Fleet": (
        lambda: fleet(),
        lambda model: model.update(["x"] * len(ROWS), ROWS),
        lambda model: {key: model[key].to_bytes() for key in model},
    ),
    "Moments": (
        lambda: eigenhedge.Moments(3, 1).update(ROWS),
        lambda model: model.update(ROWS),
        lambda model: model.to_bytes(),
    ),
    "Average": (
        lambda: averaged(1),
        lambda average: average.add(eigenhedge.run(ROWS, 2, learner="tracking", center="none").model),
        lambda average: (average.terms, average.loss(ROWS[0])),
    ),
    "Experts": (
        lambda: eigenhedge.Experts(3, 1),
        lambda experts: experts.step([0.1, 0.9, 0.5]),
        lambda experts: experts.kept_probabilities.tolist(),
    ),
    "Pair": (
        lambda: eigenhedge.Pair(3, 2, 1),
        lambda pair: [pair.step(row, row[:2]) for row in ROWS[:20]],
        lambda pair: pair.gains,
    ),
    "CappedHedge": (
        lambda: eigenhedge.CappedHedge(3, 1, 0.5),
        lambda model: model.step([0.1, 0.9, 0.5]),
        lambda model: model.dropped_probabilities.tolist(),
    ),
    "SubspaceAnomaly": (
        lambda: trained(river.SubspaceAnomaly(warm_up=60)),
        lambda model: stream(model, 4.0 + ROWS),
        lambda model: model._model.totals,
    ),
    "river.OnlinePCA": (
        lambda: trained(river.OnlinePCA(1)),
        lambda model: stream(model, 4.0 + ROWS),
        lambda model: model.summary["rows"],
    ),
}
#: Public classes whose objects never change.
FIXED = {"Alarms", "Client", "Discrepancy", "ExpertsResult", "KernelMean", "PairResult", "Preimage", "RunResult", "Trial"}
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "joblib": loaded,
}


def averaged(k):
    average = eigenhedge.Average(3)
    average.add(eigenhedge.run(ROWS, k, learner="tracking", center="none").model)
    return average


def fleet():
    models = eigenhedge.Fleet(1)
    models.update(["x", "y"] * 100, ROWS)
    return models


def trained(model):
    stream(model, ROWS)
    return model


def test_every_public_class_is_tested():
    classes = {name for name in [*eigenhedge.__all__, "SubspaceAnomaly"] if inspect.isclass(getattr(eigenhedge, name))}
    assert classes <= set(OBJECTS) | FIXED
    assert {f"river.{name}" for name in river.__all__} <= set(OBJECTS) | {"river.SubspaceAnomaly"}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", OBJECTS)
def test_a_copy_and_its_original_are_independent(name, way):
    make, learn, state = OBJECTS[name]
    original = make()
    before = state(original)
    other = COPIES[way](original)
    assert state(other) == before
    learn(other)
    assert state(original) == before and state(other) != before
    after = state(other)
    learn(original)
    learn(original)
    assert state(other) == after


@pytest.mark.parametrize("name", [name for name, (make, *_) in OBJECTS.items() if hasattr(make(), "get_params")])
def test_a_clone_has_learned_nothing(name):
    make, _, state = OBJECTS[name]
    original = make()
    before = state(original)
    fresh = clone(original)
    assert not [key for key in vars(fresh) if key.endswith("_")]
    assert fresh.get_params().keys() == original.get_params().keys()
    fresh.fit(ROWS[:50], ROWS[:50, 0])
    assert state(original) == before
