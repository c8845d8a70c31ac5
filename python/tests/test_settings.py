"""Tests of experts, pairs, matrices, averages and bounds."""

import inspect
import pathlib
import pickle
import re

import numpy as np
import pytest

import eigenhedge
from eigenhedge import Average, Model, bounds

LEARNERS = ["capped-hedge", "leader", "perturbed-leader", "product-sets"]


def test_every_function_of_the_rust_module_has_its_name_here():
    sources = pathlib.Path(__file__).parents[2] / "crates/eigenhedge/src"
    texts = [path.read_text() for path in [*sources.glob("bounds*.rs"), *sources.glob("bounds/**/*.rs")]]
    names = [name for text in texts for name in re.findall(r"^pub fn (\w+)", text, re.MULTILINE)]
    assert len(names) > 10
    assert [name for name in names if not hasattr(bounds, name)] == []


def test_bounds_have_docstrings():
    assert [name for name in bounds.__all__ if not getattr(bounds, name).__doc__] == []


def test_a_setting_has_fields_and_checks_them():
    setting = bounds.Setting(0.5, 2, 20, price=1.5)
    assert (setting.eta, setting.k, setting.dimension, setting.norm_square, setting.price) == (0.5, 2, 20, 1.0, 1.5)
    assert repr(setting) == "Setting(0.5, 2, 20, norm_square=1.0, price=1.5)"
    assert bounds.Setting(0.5, 2, "inf").dimension == float("inf")
    wrong = [
        ({"eta": -1.0}, "eta must be finite and positive, got -1"),
        ({"eta": float("nan")}, "eta must be finite and positive, got NaN"),
        ({"norm_square": 0.0}, "norm_square must be finite and positive, got 0"),
        ({"price": -1.0}, "price must be finite and not negative, got -1"),
    ]
    for change, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            bounds.Setting(**{"eta": 1.0, "k": 2, "dimension": 5, **change})


WRONG_ARGUMENTS = {
    "hedge": [
        ({"eta": -1.0}, "eta must be finite and positive, got -1"),
        ({"eta": 0.0}, "eta must be finite and positive, got 0"),
        ({"eta": float("nan")}, "eta must be finite and positive, got NaN"),
        ({"best": -1.0}, "best must be finite and not negative, got -1"),
        ({"experts": 0}, "experts must be at least 1, got 0"),
    ],
    "capped_hedge": [({"eta": -1.0}, "eta must be finite and positive, got -1")],
    "set_divergence": [({"k": 5}, "k must be at most the number of experts, 4, got 5")],
    "set_experts": [
        ({"eta": -1.0}, "eta must be finite and positive, got -1"),
        ({"k": 4}, "k must be less than the number of experts, 4, got 4"),
    ],
    "pair": [
        ({"best": float("inf")}, "best must be finite, got inf"),
        ({"rows": 0}, "rows must be at least 1, got 0"),
    ],
    "shift_cost": [
        ({"alpha": -0.1}, "alpha must be greater than 0 and at most 1, got -0.1"),
        ({"alpha": 1.5}, "alpha must be greater than 0 and at most 1, got 1.5"),
    ],
    "shifting": [({"alpha": 0.0}, "alpha must be greater than 0 and at most 1, got 0")],
    "additive": [({"squares_norm": -1.0}, "squares_norm must be finite and not negative, got -1")],
    "additive_rate": [({"rows": 0}, "rows must be at least 1, got 0")],
    "uncentered": [({"best": -1.0}, "best must be finite and not negative, got -1")],
    "centered": [
        ({"prior": -1.0}, "prior must be finite and not negative, got -1"),
        ({"offset": -1.0}, "offset must be finite and not negative, got -1"),
    ],
    "centered_on_the_mean": [({"first_square": -1.0}, "first_square must be finite and not negative, got -1")],
    "self_confident": [({"best": -1.0}, "best must be finite and not negative, got -1")],
    "tuned_rate": [
        ({"divergence": -1.0}, "divergence must be finite and not negative, got -1"),
        ({"ceiling": -1.0}, "ceiling must be finite and not negative, got -1"),
        ({"scale": 0.0}, "scale must be finite and positive, got 0"),
    ],
    "tuned_regret": [({"scale": -1.0}, "scale must be finite and positive, got -1")],
    "lower_regret": [({"scale": -1.0}, "scale must be finite and positive, got -1")],
}


@pytest.mark.parametrize("name", bounds.__all__[1:])
def test_bounds_check_the_range_of_their_arguments(name):
    right = {"setting": bounds.Setting(1.0, 2, 5), "k": 2, "dimension": 5, "experts": 4, "rows": 10, "changes": 1}
    right |= {"eta": 1.0, "alpha": 0.1, "best": 10.0, "prior": 1.0, "offset": 1.0, "first_square": 1.0}
    right |= {"squares_norm": 1.0, "divergence": 2.0, "ceiling": 10.0, "scale": 1.0}
    function = getattr(bounds, name)
    arguments = {each: right[each] for each in inspect.signature(function).parameters}
    assert function(**arguments) is not None
    for change, sentence in WRONG_ARGUMENTS.get(name, []):
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            function(**arguments | change)
    assert set(WRONG_ARGUMENTS) < set(bounds.__all__)


def test_small_objects_have_a_repr_and_survive_pickling():
    rng = np.random.default_rng(0)
    model, average, pair = Model(3, 1, learner="tracking", center=False), Average(3), eigenhedge.Pair(2, 3, 1, seed=4)
    experts = [eigenhedge.Experts(4, 2, learner=name, seed=3) for name in LEARNERS]
    for _ in range(20):
        average.add(model)
        trial = model.step(rng.normal(size=3))
        pair.step(rng.normal(size=2), rng.normal(size=3))
        [one.step(rng.uniform(size=4)) for one in experts]
    setting = bounds.Setting(0.5, 1, "inf", norm_square=4.0)
    objects = [average, pair, trial, setting, *experts]
    copies = [pickle.loads(pickle.dumps(one)) for one in objects]
    assert [repr(one) for one in copies] == [repr(one) for one in objects]
    assert repr(pair).startswith("<Pair k=1: rows 20, gain ") and repr(average) == "<Average: terms 20>"
    assert repr(experts[1]) == "<Experts leader: n=4, k=2>"
    x, y, losses = rng.normal(size=2), rng.normal(size=3), rng.uniform(size=4)
    assert copies[0].loss(y) == average.loss(y)
    assert copies[1].step(x, y) == pair.step(x, y) and copies[1].best_gain == pair.best_gain
    assert (copies[2].coordinates == trial.coordinates).all()
    assert bounds.uncentered(copies[3], 3.0) == bounds.uncentered(setting, 3.0)
    assert [one.step(losses) for one in copies[4:]] == [one.step(losses) for one in experts]


def test_bounds_are_their_formulas():
    assert bounds.hedge(1.0, 10.0, 4) == pytest.approx((10 + np.log(4)) / (1 - np.exp(-1)))
    assert bounds.divergence(2, 2) is None
    setting = bounds.Setting(0.5, 1, 3, norm_square=4.0)
    lost = (0.5 * (20 - 30 / 4) + 4 * np.log(1.5)) / (1 - np.exp(-0.5))
    assert bounds.pair(setting, 30.0, 10) == pytest.approx(4 * (20 - lost))
    with pytest.raises(ValueError, match="the dimension must be a whole number or inf"):
        bounds.divergence(2, 2.5)


@pytest.mark.parametrize("learner", ["capped-hedge", "leader", "perturbed-leader", "product-sets"])
def test_every_learner_over_experts_runs(learner):
    losses = np.random.default_rng(0).uniform(size=(200, 5)) * [0.2, 0.4, 0.6, 0.8, 1.0]
    run = eigenhedge.experts(losses, 3, learner=learner, eta=0.3)
    assert run.losses.sum() < losses[:, 2:].sum()
    assert run.best_loss == pytest.approx(losses[:, :2].sum())
    if run.bound is not None:
        assert run.expected_losses.sum() <= run.bound
    assert (run.theorem is None) == ("leader" in learner)
    if run.kept_probabilities is not None:
        assert run.kept_probabilities.sum(axis=1) == pytest.approx(3.0)


def test_mixing_is_for_capped_hedge():
    losses = np.random.default_rng(0).uniform(size=(50, 4))
    run = eigenhedge.experts(losses, 2, mixing="past-average", alpha=0.01)
    assert run.expected_losses.sum() <= run.bound
    assert run.bound > eigenhedge.experts(losses, 2).bound
    with pytest.raises(ValueError, match="read by the learner capped-hedge only"):
        eigenhedge.experts(losses, 2, learner="leader", mixing="fixed-share")


def test_pairs_find_what_belongs_together_within_the_bound():
    x = np.random.default_rng(1).uniform(-1, 1, size=(400, 2))
    run = eigenhedge.pair(x, np.c_[0 * x[:, 0], x[:, 0]], 1, alpha=0.0, norm_bound=2.0)
    assert run.bound <= run.expected_gains.sum() <= run.best_gain
    assert abs(run.left[0] @ [1, 0]) == pytest.approx(np.sqrt(0.5), abs=0.05)
    assert abs(run.right[0] @ [0, 1]) == pytest.approx(np.sqrt(0.5), abs=0.05)
    with pytest.raises(ValueError, match="must have as many rows"):
        eigenhedge.pair(x, x[1:], 1)


def test_a_matrix_is_the_sum_of_its_rows_and_the_variance_minimiser_is_k_one_less():
    options = {"learner": "tracking", "mixing": "none", "center": False, "norm_bound": 1.0, "eta": 2.0}
    learner = Model(3, 2, **options)
    days, total = np.random.default_rng(2), np.zeros((3, 3))
    for _ in range(100):
        factor = days.normal(size=(3, 2)) * [[1.0], [0.5], [0.01]]
        covariance = factor @ factor.T
        covariance /= np.linalg.eigvalsh(covariance)[-1]
        learner.step(matrix=covariance)
        total += covariance
    summary = learner.summary
    assert summary["best_loss"] == pytest.approx(np.linalg.eigvalsh(total)[0])
    assert summary["expected_loss"] <= summary["bound"]
    assert learner.step([0.1, 0.2, 0.3]).loss >= 0
    with pytest.raises(TypeError, match="a row or a matrix"):
        learner.step()
    with pytest.raises(ValueError, match="without center"):
        Model(3, 2).step(matrix=np.eye(3))
    with pytest.raises(ValueError, match="rows that are not standardized by the model"):
        Model(3, 2, center="none", standardize="running").step(matrix=np.eye(3))


def test_the_average_has_the_average_loss():
    rows = np.random.default_rng(3).normal(size=(80, 4)) * [3, 2, 1, 0.5]
    learner, average = Model(4, 2, learner="anchored", center=False), Average(4)
    new, losses = np.array([1.0, -1.0, 0.5, 2.0]), []
    for row in rows:
        average.add(learner)
        losses.append(learner.__copy__().step(new).expected_loss)
        learner.step(row)
    assert average.terms == 80
    assert average.loss(new) == pytest.approx(np.mean(losses))
    assert np.trace(average.projection) == pytest.approx(2.0)
    assert average.components(2).shape == (2, 4)
    with pytest.raises(ValueError, match="single learner"):
        average.add(Model(4, 2))


def test_hebbian_learners_take_their_parameters():
    rows = np.random.default_rng(4).normal(size=(300, 3)) * [3, 2, 1]
    for name, options in {"gha": {"beta": 2.0}, "apex": {"stage": 50}, "oja": {"step_half_life": 20.0}}.items():
        k = 1 if name == "oja" else 2
        plain = eigenhedge.run(rows, k, learner=name)
        changed = eigenhedge.run(rows, k, learner=name, **options)
        assert (plain.losses != changed.losses).any(), name


def test_capping_fills_what_zeros_leave():
    assert eigenhedge.capping([1, 0, 0, 0], 2) == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    with pytest.raises(ValueError, match="zeros only"):
        eigenhedge.capping([0, 0, 0], 2)


def test_rounding_makes_no_corner():
    found = eigenhedge.corners([1 / 6, 1 / 3, 1 / 2], 2)
    assert [members for _, members in found] == [[1, 2], [0, 2]]


def test_a_batch_is_one_choice_for_all_its_rows(rng):
    X = rng.normal(size=(60, 4))
    weights = rng.uniform(0.5, 2.0, size=60)
    learner = eigenhedge.Model(4, 2, learner="tracking", center="none")
    expected, loss = learner.step_batch(X[:20], weights[:20])
    # The first choice keeps 2 of 4 directions at random, so half of the energy is lost on average.
    assert expected == pytest.approx(0.5 * (weights[:20, None] * X[:20] ** 2).sum())
    assert loss <= (weights[:20, None] * X[:20] ** 2).sum()
    learner.step_batch(X[20:])
    assert learner.rows == 60
    scatter = eigenhedge.Model(4, 2, learner="leader", center="none")
    scatter.learn(X, sample_weight=weights)
    values, vectors = np.linalg.eigh((weights[:, None] * X).T @ X)
    np.testing.assert_allclose(abs(scatter.components @ vectors[:, ::-1][:, :2]), np.eye(2), atol=1e-7)
    assert scatter.summary["best_loss"] == pytest.approx(values[:2].sum())
    with pytest.raises(ValueError, match="one number for each of 60 rows, got 3"):
        scatter.learn(X, sample_weight=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="finite and not negative, got -1"):
        scatter.learn(X[:1], sample_weight=[-1.0])
    centered = eigenhedge.Model(4, 2)
    with pytest.raises(ValueError, match="needs plain rows without weights"):
        centered.step_batch(X, weights)
