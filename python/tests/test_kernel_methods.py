"""Tests of batch kernel methods, in comparison with scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge

from eigenhedge import KernelPCA, KernelRidge, preimage


def test_kernel_ridge_is_theirs_with_a_variance(rng):
    X, y, fresh = rng.normal(size=(60, 3)), rng.normal(size=60), rng.normal(size=(20, 3))
    ridge = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y)
    theirs = TheirKernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y)
    np.testing.assert_allclose(ridge.predict(fresh), theirs.predict(fresh), atol=1e-10)
    np.testing.assert_allclose(ridge.dual_coef_, theirs.dual_coef_, atol=1e-10)
    process = GaussianProcessRegressor(RBF(1.0), alpha=0.3, optimizer=None).fit(X, y)
    mean, std = ridge.predict(fresh, return_std=True)
    their_mean, their_std = process.predict(fresh, return_std=True)
    np.testing.assert_allclose(mean, their_mean, atol=1e-9)
    np.testing.assert_allclose(std, their_std, atol=1e-9)
    assert ridge.log_likelihood_ == pytest.approx(process.log_marginal_likelihood_value_)


def test_leave_one_out_errors_are_those_of_refits(rng):
    X, y = rng.normal(size=(25, 2)), rng.normal(size=(25, 2))
    ridge = KernelRidge(alpha=0.5, kernel="laplacian").fit(X, y)
    for i in range(25):
        others = np.arange(25) != i
        refit = KernelRidge(alpha=0.5, kernel="laplacian").fit(X[others], y[others])
        np.testing.assert_allclose(ridge.leave_one_out_[i], y[i] - refit.predict(X[i : i + 1])[0], atol=1e-9)


def test_kernel_pca_pre_images_are_near_the_rows(rng):
    X = rng.normal(size=(80, 1)) @ [[1.0, 2.0, -1.0]] + 0.01 * rng.normal(size=(80, 3))
    pca = KernelPCA(6, kernel="rbf", gamma=0.05).fit(X)
    back = pca.inverse_transform(pca.transform(X))
    assert np.linalg.norm(back - X) < 0.05 * np.linalg.norm(X)


def test_cholesky_uses_few_rows_and_says_what_that_costs(rng):
    X = rng.normal(size=(200, 3))
    exact = KernelPCA(4, kernel="rbf", gamma=0.1).fit(X)
    few = KernelPCA(4, kernel="rbf", gamma=0.1, solver="cholesky", max_rank=40).fit(X)

    def loss(pca):
        return -pca.score_samples(X).sum()

    assert few._model.atoms().shape[0] <= 40
    assert loss(exact) <= loss(few) + 1e-9 and loss(few) <= loss(exact) + few.trace_error_ + 1e-9


def test_scores_are_minus_the_distance_to_the_projection(rng):
    X = rng.normal(size=(40, 3))
    pca = KernelPCA(2, kernel="linear").fit(X)
    Z = pca.transform(X)
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(-pca.score_samples(X), (centered**2).sum(axis=1) - (Z**2).sum(axis=1), atol=1e-10)


def test_kernel_ridge_refuses_what_is_no_kernel_by_the_name_of_its_parameter(rng):
    with pytest.raises(ValueError, match="alpha must be large enough to make K . alpha I positive definite, got 1e-8"):
        KernelRidge(alpha=1e-8, kernel="sigmoid", gamma=5.0).fit(rng.normal(size=(20, 3)), np.arange(20.0))


@pytest.mark.parametrize("estimator", [KernelPCA(2, kernel="rbf"), KernelPCA(2, kernel="precomputed"), KernelRidge()])
def test_pickling_changes_nothing(estimator, rng):
    X = rng.normal(size=(20, 20))
    X = X @ X.T
    estimator.fit(X, X[:, 0])
    other = pickle.loads(pickle.dumps(estimator))
    call = "predict" if hasattr(estimator, "predict") else "transform"
    assert (getattr(estimator, call)(X) == getattr(other, call)(X)).all()


def test_preimage_of_one_atom_is_the_atom(rng):
    atoms = rng.normal(size=(5, 3))
    for kernel, options in [("rbf", {"gamma": 0.3}), ("poly", {"degree": 2, "coef0": 1.0}), ("linear", {})]:
        found = preimage(atoms, [0, 0, 1, 0, 0], kernel=kernel, start=atoms[2] + 0.1, **options)
        assert found.squared_distance < 1e-9
        np.testing.assert_allclose(found.point, atoms[2], atol=1e-3)
    with pytest.raises(ValueError, match="weights must have 5 entries, got 2"):
        preimage(atoms, [1.0, 2.0])
