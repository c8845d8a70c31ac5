"""Results are bitwise equal in the command line, run, Model, Fleet, the estimators and River."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import PROGRAM, needs_program

import eigenhedge
from eigenhedge import KernelPCA, KernelRidge, OnlinePCA, river

NAMES = [entry["name"] for entry in eigenhedge.learners()]
#: Number of directions of learners that cannot keep 2.
DIRECTIONS = {"oja": 1}
COLUMNS, ROWS = 12, 300


def drifting():
    """Return rows near a rotating plane, around a nonzero mean."""
    rng = np.random.default_rng(1)
    angles = np.linspace(0.0, 2.0, ROWS)[:, None]
    first, second, third, _ = np.linalg.qr(rng.normal(size=(COLUMNS, 4)))[0].T
    turning = np.cos(angles) * first + np.sin(angles) * third
    factors = rng.normal(size=(ROWS, 2)) * [3.0, 2.0]
    rows = factors[:, :1] * turning + factors[:, 1:] * second + 0.2 * rng.normal(size=(ROWS, COLUMNS))
    return rows + np.linspace(-4.0, 6.0, COLUMNS)


def heavy_tailed():
    """Return rows with infinite variance."""
    rng = np.random.default_rng(2)
    return rng.standard_t(1.5, size=(ROWS, 2)) @ rng.normal(size=(2, COLUMNS)) + 0.3 * rng.standard_t(1.5, size=(ROWS, COLUMNS))


STREAMS = {"drifting": drifting(), "heavy tails": heavy_tailed()}


def bits(numbers):
    return [float(number).hex() for number in np.ravel(numbers)]


def read(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def timeless(summary):
    return {key: value for key, value in summary.items() if key not in ("seconds", "rows_per_second")}


def same(found, wanted):
    """Assert that losses and coordinates are bitwise equal."""
    for name, a, b in zip(["expected losses", "losses", "coordinates"], found, wanted, strict=False):
        assert bits(a) == bits(b), name


@pytest.fixture(scope="module", params=[(name, stream) for name in NAMES for stream in STREAMS], ids=" on ".join)
def case(request):
    """Return the name of a learner, its number of directions, a stream, and the result of `run`."""
    name, stream = request.param
    k, X = DIRECTIONS.get(name, 2), STREAMS[stream]
    return name, k, X, eigenhedge.run(X, k, learner=name)


def answers(run):
    return run.expected_losses, run.losses, run.coordinates


def program(*arguments, folder):
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout


@needs_program
def test_the_command_line(case, tmp_path):
    name, k, X, run = case
    np.save(tmp_path / "rows.npy", X)
    options = ["--learner", name, "--out", "answers.csv", "--snapshot", "model.eh", "--summary", "json"]
    summary = json.loads(program("run", "rows.npy", "-k", k, *options, folder=tmp_path))
    table = read(tmp_path / "answers.csv")
    same([table[:, 1], table[:, 2], table[:, 3:]], answers(run))
    assert timeless(summary) == timeless(run.summary)
    model = eigenhedge.Model.load(tmp_path / "model.eh")
    assert bits(model.transform(X)) == bits(run.model.transform(X))
    program("transform", "model.eh", "rows.npy", "--out", "z.csv", folder=tmp_path)
    transformed = read(tmp_path / "z.csv")
    # The program transforms one row at a time, and Python blocks of rows. Their rounding differs.
    scale = np.abs(X).max()
    np.testing.assert_allclose(transformed[:, 1], run.model.losses(X), rtol=1e-9, atol=1e-13 * scale**2)
    np.testing.assert_allclose(transformed[:, 2:], run.model.transform(X), rtol=1e-9, atol=1e-13 * scale)


@needs_program
def test_compare(case, tmp_path):
    name, k, X, run = case
    np.save(tmp_path / "rows.npy", X)
    # With a warm-up longer than the table, no PCA is fitted, and all rows but the first are compared.
    options = ["--learners", name, "--warm-up", 2 * ROWS, "--summary", "json"]
    found = json.loads(program("compare", "rows.npy", "-k", k, *options, folder=tmp_path))
    total = 0.0
    for loss in run.expected_losses[1:]:
        total += float(loss)
    assert (found["rows"], found["first_row"], found["pca"]) == (ROWS - 1, 1, None)
    assert [learner["learner"] for learner in found["learners"]] == [name]
    assert bits([found["learners"][0]["expected_loss"]]) == bits([total])


@needs_program
@pytest.mark.parametrize("name", ["auto", "tracking", "leader", "anchored"])
@pytest.mark.parametrize("stream", STREAMS)
def test_kernels(name, stream, tmp_path):
    X = STREAMS[stream][:120]
    np.save(tmp_path / "rows.npy", X)
    options = {"learner": name, "kernel": "rbf", "gamma": 0.02, "budget": 25}
    run = eigenhedge.run(X, 2, **options)
    typed = [word for option, value in options.items() for word in (f"--{option}", value)]
    program("run", "rows.npy", "-k", 2, *typed, "--out", "answers.csv", folder=tmp_path)
    table = read(tmp_path / "answers.csv")
    same([table[:, 1], table[:, 2], table[:, 3:]], answers(run))
    model = eigenhedge.Model(COLUMNS, 2, **options)
    trials = [model.step(row) for row in X]
    same([[getattr(trial, part) for trial in trials] for part in ("expected_loss", "loss", "coordinates")], answers(run))
    found = eigenhedge.Fleet(2, **options).update(["own", "other"] * 120, np.repeat(X, 2, axis=0))
    same([part[::2] for part in found], answers(run))


def test_steps_of_a_model(case):
    name, k, X, run = case
    model = eigenhedge.Model(COLUMNS, k, learner=name)
    trials = [model.step(row) for row in X]
    same([[getattr(trial, part) for trial in trials] for part in ("expected_loss", "loss", "coordinates")], answers(run))
    assert timeless(model.summary) == timeless(run.summary)
    blocks = eigenhedge.Model(COLUMNS, k, learner=name)
    pieces = [blocks.step_each(piece) for piece in np.split(X, [1, 40, 41, 200])]
    same([np.concatenate(parts) for parts in zip(*pieces, strict=True)], answers(run))
    assert blocks.to_bytes() == model.to_bytes() == run.model.to_bytes()


def test_a_fleet(case):
    name, k, X, run = case
    other = X[::-1]
    keys = ["own", "other"] * ROWS
    mixed = np.stack([X, other], axis=1).reshape(2 * ROWS, COLUMNS)
    found = eigenhedge.Fleet(k, learner=name).update(keys, mixed)
    same([part[::2] for part in found], answers(run))


def test_an_estimator(case):
    name, k, X, run = case
    whole = OnlinePCA(k, learner=name, losses=True, random_state=0).fit(X)
    parts = OnlinePCA(k, learner=name, losses=True, random_state=0)
    for piece in np.split(X[:200], [1, 40, 41]):
        parts.partial_fit(piece)
    # `partial_fit` returns no losses, so the test passes the last rows to the model as it does.
    trials = [parts.model_.step(row) for row in X[200:]]
    losses = [[getattr(trial, part) for trial in trials] for part in ("expected_loss", "loss")]
    same(losses, [run.expected_losses[200:], run.losses[200:]])
    # Rows without output do not update the basis of the coordinates. Both bases span the same subspace.
    lengths = [np.linalg.norm(rows, axis=1) for rows in ([trial.coordinates for trial in trials], run.coordinates[200:])]
    np.testing.assert_allclose(*lengths, rtol=1e-6, atol=1e-9)
    for estimator in (whole, parts):
        assert timeless(estimator.summary_) == timeless(run.summary)
        assert bits(estimator.transform(X)) == bits(run.model.transform(X))


def test_river(case):
    name, k, X, run = case
    names = [f"x{i:02}" for i in range(COLUMNS)]
    one, many = (river.OnlinePCA(k, learner=name) for _ in range(2))
    for row in X:
        one.learn_one(dict(zip(names, row.tolist(), strict=True)))
    many.learn_many(pd.DataFrame(X, columns=names))
    for model in (one, many):
        assert timeless(model.summary) == timeless(run.summary)
        assert bits(model._model.transform(X)) == bits(run.model.transform(X))


@needs_program
@pytest.mark.parametrize("rows", [60, 520])
def test_batch_methods_have_one_set_of_defaults(tmp_path, rng, rows):
    X = np.round(rng.normal(size=(rows, 4)), 3)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    frame = pd.DataFrame(np.c_[X, y], columns=[*"abcd", "y"])
    frame.to_csv(tmp_path / "xy.csv", index=False)
    frame[[*"abcd"]].to_csv(tmp_path / "x.csv", index=False)
    (0.3 + frame[[*"abcd"]]).to_csv(tmp_path / "other.csv", index=False)
    # In the estimators, the default of gamma is that of scikit-learn, here 1 / 4.
    program("kernel-ridge", "xy.csv", "--target", "y", "--gamma", "0.25", "--out", "ridge.csv", folder=tmp_path)
    found = read(tmp_path / "ridge.csv")
    mean, deviation = KernelRidge().fit(X, y).predict(X, return_std=True)
    assert bits(found[:, 0]) == bits(mean) and bits(found[:, 1]) == bits(deviation)
    program("kernel-pca", "x.csv", "-k", "3", "--gamma", "0.25", "--out", "z.csv", folder=tmp_path)
    found = read(tmp_path / "z.csv")
    assert bits(found) == bits(KernelPCA(3).fit_transform(X))
    test = json.loads(program("mmd", "x.csv", "other.csv", "--summary", "json", folder=tmp_path))
    other = read(tmp_path / "other.csv")
    wanted = eigenhedge.mmd(X, other)
    assert [test[name] for name in ("biased", "unbiased", "p_value")] == [wanted.biased, wanted.unbiased, wanted.p_value]
    assert test["splits"] == 199 and KernelRidge().alpha == 1.0 and KernelPCA().kernel == KernelRidge().kernel == "rbf"


@needs_program
def test_pairs_and_experts_have_one_set_of_defaults(tmp_path, rng):
    X, Y, losses = rng.normal(size=(80, 3)), rng.normal(size=(80, 2)), rng.uniform(size=(80, 5))
    for name, table in {"x": X, "y": Y, "losses": losses}.items():
        np.save(tmp_path / f"{name}.npy", table)
    for given, options in [([], {}), (["--center", "none"], {"center": False})]:
        program("pair", "x.npy", "y.npy", "-k", "1", *given, "--out", "gains.csv", folder=tmp_path)
        found, run = read(tmp_path / "gains.csv"), eigenhedge.pair(X, Y, 1, **options)
        assert bits(found[:, 1]) == bits(run.expected_gains) and bits(found[:, 2]) == bits(run.gains)
    program("experts", "losses.npy", "-k", "2", "--out", "lost.csv", folder=tmp_path)
    found, run = read(tmp_path / "lost.csv"), eigenhedge.experts(losses, 2)
    assert bits(found[:, 1]) == bits(run.expected_losses) and bits(found[:, 2]) == bits(run.losses)
