"""Tests of kernel estimators with sets of rows, and without a gamma."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from eigenhedge import KernelPCA, KernelRidge, OnlineKernelPCA, mmd


def table(rng, name):
    X = rng.normal(size=(120, 4)) * [3.0, 2.0, 1.0, 0.5]
    return {"different": X, "repeated": X[np.arange(120) % 17], "low rank": X @ np.diag([1.0, 1.0, 0.0, 0.0])}[name]


def grams(model, X):
    """Return numbers that do not depend on the signs and the rotation of components."""
    Z = model.transform(X)
    return np.c_[Z @ Z.T, model.score_samples(X)]


@pytest.mark.parametrize("learner", ["anchored", "leader"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", ["different", "repeated", "low rank"])
def test_sets_of_rows_are_learned_like_single_rows(rng, learner, center, name):
    X = table(rng, name)
    options = {"kernel": "rbf", "gamma": 0.1, "learner": learner, "center": center, "random_state": 0}
    # The rate is fixed, because a rate tuned by losses differs. Rows learned as a set have no losses.
    options |= {"eta": 2.0} if learner == "anchored" else {}
    single = OnlineKernelPCA(2, losses=True, **options).fit(X)
    whole = OnlineKernelPCA(2, **options).fit(X)
    parts = OnlineKernelPCA(2, **options).fit(X[:50])
    parts.partial_fit(X[50:60])
    parts = pickle.loads(pickle.dumps(parts))
    parts.partial_fit(X[60:])
    # Features of linearly dependent rows are nearly dependent, so rounding has a larger effect.
    atol = 1e-5 if name == "low rank" else 1e-7
    for model in (whole, parts):
        assert model.n_samples_seen_ == len(X)
        np.testing.assert_allclose(grams(model, X), grams(single, X), atol=atol)
        np.testing.assert_allclose(model.inclusion_, single.inclusion_, atol=1e-7)
    assert single.summary_["expected_loss"] > 0
    batch = KernelPCA(2, kernel="rbf", gamma=0.1, center=center).fit(X)
    np.testing.assert_allclose(grams(whole, X), grams(batch, X), atol=atol)


def test_without_gamma_the_unit_of_the_columns_does_not_matter(rng):
    near, far = rng.normal(1000, 200, size=(80, 3)), rng.normal(1300, 200, size=(80, 3))
    assert mmd(near, far).p_value < 0.01
    assert mmd(near, far).p_value == mmd(1024 * near, 1024 * far).p_value
    one, other = (OnlineKernelPCA(2).fit(unit * near) for unit in (1.0, 1024.0))
    assert one.gamma_ == pytest.approx(1024**2 * other.gamma_)
    np.testing.assert_allclose(one.transform(near), other.transform(1024 * near), atol=1e-9)


def test_estimators_with_the_default_of_scikit_learn_warn_if_it_does_not_fit(rng):
    X = rng.normal(1000, 200, size=(60, 3))
    for estimator in (KernelPCA(2), KernelRidge()):
        with pytest.warns(UserWarning, match="nearly the identity"):
            estimator.fit(X, X[:, 0])
        with pytest.warns(UserWarning, match="nearly constant"):
            estimator.set_params(gamma=1e-12).fit(X, X[:, 0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimator.set_params(gamma="scale").fit(X, X[:, 0])
