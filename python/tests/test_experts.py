"""Tests of experts and the capped simplex."""

import itertools
import pickle

import numpy as np
import pytest

from eigenhedge import CappedHedge, Hedge, capping, corners


def test_capping_scales_what_it_does_not_cap(rng):
    for n, d in [(2, 1), (5, 2), (9, 8), (20, 3)]:
        w = rng.exponential(size=n) ** 3
        capped = capping(w, d)
        assert capped.sum() == pytest.approx(1)
        assert capped.max() <= 1 / d + 1e-15
        below = capped < 1 / d - 1e-12
        ratios = capped[below] / w[below]
        assert ratios.size == 0 or np.ptp(ratios) < 1e-12 * ratios.max()
        # Without the cap, every capped entry would be at least 1 / d.
        assert (w[~below] * (ratios.max() if ratios.size else np.inf) >= 1 / d - 1e-12).all()


def test_corners_mix_to_what_they_came_from(rng):
    for n, d in [(3, 2), (6, 3), (12, 5)]:
        w = capping(rng.exponential(size=n), d)
        mixture = corners(w, d)
        assert len(mixture) <= n and sum(c for c, _ in mixture) == pytest.approx(1)
        total = np.zeros(n)
        for coefficient, members in mixture:
            assert len(members) == len(set(members)) == d
            total[members] += coefficient / d
        np.testing.assert_allclose(total, w, atol=1e-12)


def test_hedge_is_exponential_weights(rng):
    hedge, totals = Hedge(4, eta=0.7), np.zeros(4)
    for losses in rng.uniform(size=(50, 4)):
        weights = np.exp(-0.7 * totals)
        expected, loss = hedge.step(losses)
        assert expected == pytest.approx(weights / weights.sum() @ losses)
        assert loss == losses[hedge.dropped[0]]
        totals += losses


def test_capped_hedge_stays_within_its_bound(rng):
    n, k, eta = 8, 3, 0.5
    hedge, total, losses = CappedHedge(n, k, eta, seed=1), 0.0, rng.uniform(size=(200, n))
    for row in losses:
        total += hedge.step(row)[0]
    best = min(losses[:, list(kept)].sum() for kept in itertools.combinations(range(n), n - k))
    d = n - k
    assert best <= total <= (eta * best + d * np.log(n / d)) / (1 - np.exp(-eta))


def test_hedge_survives_pickling(rng):
    hedge = CappedHedge(6, 2, 0.4, mixing="fixed-share", alpha=0.1, seed=9)
    hedge.step(rng.uniform(size=6))
    other = pickle.loads(pickle.dumps(hedge))
    for losses in rng.uniform(size=(20, 6)):
        assert hedge.step(losses) == other.step(losses)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: capping([1.0, -1.0], 1), "entry 1 of w must be finite and not negative"),
        (lambda: capping([1.0, 1.0], 2), "d must be at least 1 and less than the number of weights 2, got 2"),
        (lambda: capping([0.0, 0.0, 0.0], 2), "a positive entry, got zeros only"),
        (lambda: corners([0.5, 0.2], 1), "w must total 1"),
        (lambda: corners([0.9, 0.1], 2), "entry 0 of the probabilities must be between 0 and 1"),
        (lambda: CappedHedge(3, 3, 1.0), "k must be at least 1 and less than"),
        (lambda: CappedHedge(3, 1, 0.0), "eta must be positive"),
        (lambda: CappedHedge(3, 1, 1.0, mixing="past-avg"), "mixing must be one of none, fixed-share, past-average"),
        (lambda: CappedHedge(3, 1, 1.0).step([0.1, 2.0, 0.0]), "entry 1"),
    ],
)
def test_wrong_values_are_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(
    "damage",
    [lambda b: b[:-5], lambda b: b"", lambda b: b[:2] + b"\xff" * 7 + b[9:], lambda b: b[:20] + b"\x7f" * 8 + b[28:]],
)
def test_a_damaged_state_is_refused(damage):
    restore, (state,) = CappedHedge(6, 2, 0.4).__reduce__()
    assert restore(state).__reduce__()[1] == (state,)
    with pytest.raises(ValueError, match="not a saved state"):
        restore(damage(state))
