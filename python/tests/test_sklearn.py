"""The estimators pass scikit-learn's checks, and agree with its PCA."""

import inspect
import itertools
import pickle
import sys
import warnings
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from conftest import low_rank, projector
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_outlier_detector, is_regressor
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import eigenhedge
from eigenhedge import KernelPCA, KernelRidge, Monitor, OnlineImputer, OnlineKernelPCA, OnlinePCA

ESTIMATORS = [
    OnlinePCA(),
    OnlinePCA(n_components=1, learner="auto"),
    OnlinePCA(n_components=1, learner="tracking"),
    OnlineKernelPCA(n_components=2, kernel="rbf"),
    OnlineKernelPCA(),
    OnlineImputer(),
    KernelPCA(n_components=2, kernel="rbf"),
    KernelPCA(n_components=1, kernel="precomputed"),
    OnlineKernelPCA(n_components=1, kernel="precomputed"),
    KernelRidge(),
    KernelRidge(kernel="rbf"),
    KernelRidge(kernel="polynomial"),
    KernelRidge(kernel="laplacian", alpha=1e-8),
    Monitor(),
    Monitor(1, mode="freeze:100", limit="conformal:0.05"),
]
TRANSFORMERS = ESTIMATORS[:7]
OTHERS = [estimator for estimator in ESTIMATORS if is_regressor(estimator) or is_outlier_detector(estimator)]

# Checks that scikit-learn runs on its own estimators, but not in check_estimator.
LEFT_OUT = """check_dataframe_column_names_consistency check_transformer_get_feature_names_out
check_transformer_get_feature_names_out_pandas check_get_feature_names_out_error
check_set_output_transform check_set_output_transform_pandas check_global_output_transform_pandas
check_set_output_transform_polars check_global_set_output_transform_polars check_inplace_ensure_writeable
check_estimators_pickle check_dict_unchanged check_methods_sample_order_invariance check_methods_subset_invariance
check_fit_idempotent check_estimators_dtypes check_f_contiguous_array_estimator check_readonly_memmap_input""".split()
# Parts of the names of checks that call transform, which only transformers have.
OF_TRANSFORMERS = ["feature_names_out", "output_transform", "set_output"]


def left_out():
    for estimator, name in itertools.product(TRANSFORMERS + OTHERS, LEFT_OUT):
        if estimator in TRANSFORMERS or not any(part in name for part in OF_TRANSFORMERS):
            yield pytest.param(estimator, name, id=f"{estimator!r}-{name}")


@estimator_checks.parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        pytest.fail(f"scikit-learn skipped the check: {reason}")


def test_every_estimator_is_checked():
    public = [getattr(eigenhedge, name) for name in eigenhedge.__all__]
    offered = {item for item in public if inspect.isclass(item) and issubclass(item, BaseEstimator)}
    assert offered == {type(estimator) for estimator in ESTIMATORS}
    assert offered == {OnlinePCA, OnlineKernelPCA, OnlineImputer, KernelPCA, KernelRidge, Monitor}


@pytest.mark.parametrize("estimator, name", list(left_out()))
def test_check_that_check_estimator_leaves_out(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.fail(f"scikit-learn no longer has {name}: choose what stands for it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", [OnlinePCA(1), OnlineKernelPCA(1, kernel="rbf"), Monitor()], ids=repr)
def test_partial_fit_refuses_another_number_of_features(estimator):
    estimator_checks.check_estimators_partial_fit_n_features(type(estimator).__name__, estimator)


@pytest.mark.parametrize("rows", [300, 3000])
def test_components_after_fit_are_those_of_pca(rng, rows):
    X = low_rank(rng, rows=rows)
    ours, theirs = OnlinePCA(3).fit(X), PCA(3).fit(X)
    # Both are eigenvectors of the same scatter matrix, so they are equal up to rounding.
    assert np.abs(projector(ours.components_) - projector(theirs.components_)).max() < 1e-9
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-7)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)


@pytest.mark.parametrize("learner", ["auto", "tracking", "leader", "forgetting-leader"])
def test_other_learners_agree_with_pca_within_their_sampling_error(rng, learner):
    X = low_rank(rng, rows=3000)
    ours, theirs = OnlinePCA(3, learner=learner, random_state=0).fit(X), PCA(3).fit(X)
    gap = np.linalg.norm(projector(ours.components_) - projector(theirs.components_), 2)
    # The error of a direction of variance v, estimated from m rows, is about noise · √(n / (m v)).
    # Here noise = 0.1, n = 8, v ≥ 1, and the shortest memory is m = 1 / (1 - 0.95) = 20 rows.
    assert gap < 3 * 0.1 * np.sqrt(8 / 20)


def test_online_kernel_pca_agrees_with_kernel_pca(rng):
    X = rng.normal(size=(150, 3))
    for kernel, options in [("rbf", {"gamma": 0.3}), ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0}), ("linear", {})]:
        kept = 2 if kernel == "linear" else 4
        ours = OnlineKernelPCA(kept, kernel=kernel, **options).fit(X)
        theirs = TheirKernelPCA(kept, kernel=kernel, **options).fit(X)
        fresh = rng.normal(size=(40, 3))
        # Coordinates in the same subspace have equal inner products.
        a, b = ours.transform(fresh), theirs.transform(fresh)
        assert np.abs(a @ a.T - b @ b.T).max() < 1e-6 * np.abs(b @ b.T).max(), kernel
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-4 * np.abs(b).max())


def test_kernel_pca_agrees_with_theirs(rng):
    X, fresh = rng.normal(size=(80, 4)), rng.normal(size=(20, 4))
    for kernel in ["linear", "rbf", "poly", "cosine"]:
        ours, theirs = KernelPCA(3, kernel=kernel).fit(X), TheirKernelPCA(3, kernel=kernel).fit(X)
        np.testing.assert_allclose(np.abs(ours.transform(fresh)), np.abs(theirs.transform(fresh)), atol=1e-7)
    named, given = KernelPCA(3, kernel="linear").fit(X), KernelPCA(3, kernel=np.dot).fit(X)
    np.testing.assert_allclose(np.abs(given.transform(fresh)), np.abs(named.transform(fresh)), atol=1e-9)
    with pytest.raises(ValueError, match="the kernel must be positive semidefinite"):
        KernelPCA(3, kernel="sigmoid", gamma=5.0).fit(X)


def test_fit_forgets_and_partial_fit_continues(rng):
    X = low_rank(rng)
    other = low_rank(np.random.default_rng(77))
    for learner in ["anchored", "auto", "tracking"]:
        pca = OnlinePCA(2, learner=learner, random_state=3)
        whole = clone(pca).fit(X)
        again = clone(pca).fit(other).fit(X)
        pieces = clone(pca)
        for start in [0, 1, 2, 10, 150]:
            stop = {0: 1, 1: 2, 2: 10, 10: 150, 150: len(X)}[start]
            pieces.partial_fit(X[start:stop])
        for pca in [again, pieces]:
            assert (pca.components_ == whole.components_).all()
            assert pca.summary_["loss"] == whole.summary_["loss"]
            assert pca.n_samples_seen_ == len(X)


def test_first_call_may_have_one_row():
    pca = OnlinePCA(2).partial_fit([[1.0, 2.0, 3.0]])
    assert pca.transform([[1.0, 2.0, 3.0]]).shape == (1, 2)
    assert pca.n_samples_seen_ == 1


def test_all_components_lose_nothing(rng):
    X = rng.normal(size=(60, 4))
    for kept in [None, 4]:
        pca = OnlinePCA(kept).fit(X)
        np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-12)
        assert pca.score(X) > -1e-24
    with pytest.raises(ValueError, match="n_components must be at most n_features=4, got 5"):
        OnlinePCA(5).fit(X)


def test_score_samples_is_minus_the_compression_loss(rng):
    X = low_rank(rng)
    pca = OnlinePCA(2).fit(X)
    loss = ((X - pca.inverse_transform(pca.transform(X))) ** 2).sum(axis=1)
    np.testing.assert_allclose(-pca.score_samples(X), loss, atol=1e-12)
    assert pca.score(X) == pytest.approx(-loss.mean())


@pytest.mark.parametrize("estimator", [OnlinePCA(2, random_state=0), OnlineKernelPCA(2, kernel="rbf", random_state=0)], ids=repr)
def test_pickle_goes_on_bit_for_bit(estimator, rng):
    X = low_rank(rng, rows=60)
    here = clone(estimator).fit(X[:30])
    there = pickle.loads(pickle.dumps(here))
    assert here.model_.to_bytes() in pickle.dumps(here)
    for pca in [here, there]:
        pca.partial_fit(X[30:])
    assert here.model_.to_bytes() == there.model_.to_bytes()
    assert (here.transform(X) == there.transform(X)).all()


def test_pipeline_grid_search_and_joblib(rng):
    X = low_rank(rng, rows=120)
    y = X @ rng.normal(size=8) > 0
    pipeline = make_pipeline(StandardScaler(), OnlinePCA(), LogisticRegression())
    search = GridSearchCV(pipeline, {"onlinepca__n_components": [1, 3, 8]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["onlinepca__n_components"] > 1
    kernels = make_pipeline(OnlineKernelPCA(3), LogisticRegression())
    grid = {"onlinekernelpca__kernel": ["linear", "rbf", "poly"], "onlinekernelpca__gamma": [0.1]}
    assert len(GridSearchCV(kernels, grid, cv=2).fit(X[:60], y[:60]).cv_results_["params"]) == 3


def test_unfitted_estimators_say_so():
    for estimator in [OnlinePCA(), OnlineKernelPCA(), KernelPCA(), KernelRidge()]:
        with pytest.raises(NotFittedError):
            (estimator.predict if hasattr(estimator, "predict") else estimator.transform)([[1.0, 2.0]])
    assert not hasattr(OnlinePCA(), "components_")


def test_names_that_are_nearly_right_are_suggested(rng):
    X = rng.normal(size=(5, 3))
    for estimator, near in [
        (OnlinePCA(1, learner="trackin"), "did you mean 'tracking'"),
        (OnlineKernelPCA(1, kernel="rdf"), "did you mean 'rbf'"),
        (OnlinePCA("mle"), "n_components must be a whole number, at least 1, got 'mle'; that choice needs all rows"),
        (
            OnlinePCA(1, random_state=2**70),
            r"seed must be a whole number, at least 0 and less than 2\*\*64, got 1180591620717411303424",
        ),
        (OnlinePCA(1, learner="tracking", mixing="fixed_share"), "did you mean 'fixed-share'"),
        (OnlinePCA(1, select="corner"), "did you mean 'corners'"),
    ]:
        with pytest.raises(ValueError, match=near):
            estimator.fit(X)


def test_single_precision_stays_single_and_weights_are_refused(rng):
    X = rng.normal(size=(30, 4)).astype(np.float32)
    for estimator in [OnlinePCA(2), OnlinePCA(2, whiten=True), OnlineKernelPCA(2), KernelPCA(2)]:
        assert estimator.fit_transform(X).dtype == estimator.transform(pd.DataFrame(X).to_numpy()).dtype == np.float32
        assert estimator.transform(X.astype(np.float64)).dtype == np.float64
    with pytest.raises(TypeError, match="sample_weight"):
        OnlinePCA(2).fit(X, sample_weight=np.ones(30))


def test_an_option_that_is_not_read_is_an_error(rng):
    with pytest.raises(ValueError, match="forget has no effect with the learner tracking"):
        OnlinePCA(1, learner="tracking", forget=0.5).fit(rng.normal(size=(5, 3)))


def test_missing_cells_are_told_to_scikit_learn_and_filled_in():
    from sklearn.utils import get_tags

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    assert not get_tags(OnlinePCA(2)).input_tags.allow_nan
    assert get_tags(OnlinePCA(2, missing="fill")).input_tags.allow_nan
    advice = r"column \d must be finite, got NaN \(Input X contains NaN\): missing='fill' fills missing cells in"
    with pytest.raises(ValueError, match=advice):
        OnlinePCA(2).fit(X)
    with pytest.raises(ValueError, match="column 'b' must be finite, got NaN .*: fill missing cells in first"):
        KernelRidge().fit(pd.DataFrame(X, columns=list("abcde")).fillna(dict.fromkeys("acde", 0.0)), np.zeros(200))
    pca = OnlinePCA(2, missing="fill").fit(X)
    assert np.isfinite(pca.transform(X)).all() and np.isfinite(pca.explained_variance_).all()
    assert pca.partial_fit(X[:3]).n_samples_seen_ == 203


def test_a_share_as_n_components_takes_the_fewest_directions_that_keep_it():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6)) * [9, 5, 3, 1, 0.5, 0.1] + 4
    for share in (0.5, 0.9, 0.99):
        wanted = PCA(share).fit(X).n_components_
        pca = eigenhedge.OnlinePCA(share).fit(X)
        assert pca.n_components_ == wanted and pca.transform(X).shape == (300, wanted)
        assert pca.partial_fit(X[:5]).n_components_ == wanted
    with pytest.raises(ValueError, match="needs at least 2 complete rows"):
        eigenhedge.OnlinePCA(0.9).partial_fit(X[:1])
    with pytest.raises(ValueError, match="n_components"):
        eigenhedge.OnlinePCA(1.5).fit(X)


#: Arguments of estimators that are not options of learners.
OWN = {
    OnlinePCA: "n_components whiten hindsight standardize",
    OnlineKernelPCA: "n_components hindsight standardize",
    KernelPCA: "n_components center solver tolerance max_rank",
    KernelRidge: "alpha",
    Monitor: "k share mode limit lags differences standardize missing warm_up event_gap change_time drift_time rebaseline",
}


@pytest.mark.parametrize("estimator, name", [(cls, name) for cls, names in OWN.items() for name in names.split()])
def test_arguments_without_sense_are_refused_at_fit(estimator, name, rng):
    # The core has other names for two options.
    pattern = {"center": "centered", "alpha": "float"}.get(name, name)
    # The name of the argument is in a note of the exception. Python 3.10 has no notes.
    if sys.version_info < (3, 11):
        pattern = None
    X = rng.normal(size=(60, 4))
    with pytest.raises((ValueError, TypeError), match=pattern):
        estimator(**{name: object()}).fit(X, X[:, 0])


@pytest.mark.parametrize("n_components", [0, -1, True, "two", 1.5, 0.0, np.nan])
def test_numbers_of_components_without_sense_are_refused(n_components, rng):
    for estimator in [OnlinePCA, OnlineKernelPCA, KernelPCA]:
        with pytest.raises(ValueError, match="n_components must be a whole number"):
            estimator(n_components).fit(rng.normal(size=(9, 4)))


@pytest.mark.parametrize("options", [{}, {"learner": "auto"}, {"standardize": "warmup:300"}, {"center": False}], ids=str)
def test_whitened_coordinates_have_variance_one_and_come_back(rng, options):
    X = low_rank(rng, rows=300) * np.arange(1, 9)
    pca, plain = OnlinePCA(3, whiten=True, **options).fit(X), OnlinePCA(3, **options).fit(X)
    z = pca.transform(X)
    np.testing.assert_allclose((z**2).sum(axis=0) / 299, 1.0, rtol=1e-6)
    np.testing.assert_allclose(pca.inverse_transform(z), plain.inverse_transform(plain.transform(X)), atol=1e-9)
    assert (pca.score_samples(X) == plain.score_samples(X)).all()
    theirs = PCA(3, whiten=True).fit(X).transform(X)
    if not options:
        np.testing.assert_allclose(np.abs(z), np.abs(theirs), atol=1e-6)


def test_whitening_leaves_directions_without_variance_as_they_are():
    X = np.outer(np.arange(20.0), [1.0, 2.0, 0.0])
    assert np.isfinite(OnlinePCA(2, whiten=True).fit(X).transform(X)).all()
    with pytest.raises(ValueError, match="whiten needs hindsight=True"):
        OnlinePCA(2, whiten=True, hindsight=False).fit(X)


def test_a_scaled_gamma_is_that_of_scikit_learn(rng):
    X = rng.normal(size=(80, 4)) * [1, 2, 3, 4] + 1.0
    wanted = 1 / (4 * X.var())
    theirs = TheirKernelPCA(3, kernel="rbf", gamma=wanted).fit(X).transform(X)
    for estimator in [KernelPCA, OnlineKernelPCA]:
        for table in [X, sparse.csr_array(X)]:
            pca = estimator(3, kernel="rbf", gamma="scale").fit(table)
            assert pca.gamma_ == pytest.approx(wanted, rel=1e-12)
            np.testing.assert_allclose(np.abs(pca.transform(X)), np.abs(theirs), atol=1e-6)
        assert estimator(2, kernel="rbf", gamma="scale").fit(np.ones((9, 4))).gamma_ == 1.0
        estimator(1, kernel="spectrum", gamma="scale").fit(["ab", "ba", "bab"])
    assert KernelRidge(kernel="rbf", gamma="scale").fit(X, X[:, 0]).gamma_ == pytest.approx(wanted)
    standard = OnlineKernelPCA(2, kernel="rbf", gamma="scale", standardize="running").fit(X)
    assert standard.gamma_ == 0.25
    assert KernelPCA(2, kernel="matern32", length_scale=2.0).fit(X).gamma_ == 0.125
    with pytest.raises(ValueError, match="gamma must be a number, got 'wide'"):
        KernelPCA(2, kernel="rbf", gamma="wide").fit(X)


def test_estimators_keep_the_repr_of_scikit_learn(rng):
    assert repr(OnlinePCA(3, learner="auto")) == "OnlinePCA(learner='auto', n_components=3)"
    assert "OnlinePCA" in OnlinePCA(3)._repr_html_() and "sk-" in OnlinePCA(3)._repr_html_()
