"""Rows collected as moments give the same models as rows learned one by one."""

import pickle

import numpy as np
import pytest
from conftest import low_rank, projector
from scipy import sparse
from sklearn.decomposition import PCA

import eigenhedge
from eigenhedge import Model, Moments, OnlinePCA

#: Learners whose state does not depend on the order of the rows.
LEARNERS = ["anchored", "leader", "product-sets"]
#: Functions that make a table from a random generator.
TABLES = {
    "random": lambda rng: rng.normal(size=(300, 8)) * np.linspace(4.0, 1.0, 8),
    "low rank": lambda rng: low_rank(rng, noise=0.0),
    "far from zero": lambda rng: low_rank(rng) + 1e6,
    "constant columns": lambda rng: np.c_[rng.normal(size=(100, 3)) * [5.0, 3.0, 1.0], np.full((100, 3), 7.0)],
    "constant rows": lambda rng: np.tile([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (50, 1)),
    "two rows": lambda rng: rng.normal(size=(2, 6)),
    "few rows": lambda rng: low_rank(rng, rows=30, length=200, rank=5),
    "as many rows as columns": lambda rng: low_rank(rng, rows=40, length=40, rank=5),
    "long rows": lambda rng: low_rank(rng, rows=30, length=4200, rank=5),
    "sparse": lambda rng: sparse.random_array((200, 30), density=0.1, rng=rng, format="csr") * np.linspace(3, 1, 30),
}


def table(name, seed=3):
    return TABLES[name](np.random.default_rng(seed))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def assert_alike(found, wanted, X):
    """Assert that the losses, means and variances of two estimators are equal up to rounding."""
    X = dense(X)
    energy = np.square(X - X.mean(axis=0)).sum()
    scale = np.square(X).sum() * 1e-13 + energy * 1e-9
    np.testing.assert_allclose(found.mean_, wanted.mean_, atol=1e-9 * (1.0 + np.abs(X).max()))
    np.testing.assert_allclose(found.score_samples(X), wanted.score_samples(X), atol=scale)
    assert found.n_samples_seen_ == wanted.n_samples_seen_
    if X.shape[1] <= 4096:
        np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, atol=scale)
        np.testing.assert_allclose(found.noise_variance_, wanted.noise_variance_, atol=scale)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", TABLES)
def test_collected_rows_are_rows_one_by_one(name, learner):
    X = table(name)
    found, wanted = (OnlinePCA(2, learner=learner, losses=losses).fit(X) for losses in (False, True))
    assert_alike(found, wanted, X)
    assert found.summary_["expected_loss"] is None and wanted.summary_["expected_loss"] >= 0.0


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ["random", "few rows", "far from zero", "sparse", "long rows"])
def test_parts_in_any_order_are_the_whole(name, learner):
    X = table(name)
    whole = OnlinePCA(2, learner=learner).fit(X)
    shuffled = X[np.random.default_rng(0).permutation(X.shape[0])]
    pieces, asked, sent = (OnlinePCA(2, learner=learner) for _ in range(3))
    merged = []
    for start in range(0, X.shape[0], 13):
        part = shuffled[start : start + 13]
        pieces.partial_fit(part)
        asked.partial_fit(part)
        assert asked.components_.shape == (2, X.shape[1])
        sent = pickle.loads(pickle.dumps(sent.partial_fit(part)))
        merged.append(OnlinePCA(2, learner=learner).fit(part))
    for found in (pieces, asked, sent, eigenhedge.merge(*merged)):
        assert_alike(found, whole, X)


def test_components_are_those_of_pca_to_eight_digits():
    for seed, (rows, columns) in enumerate([(500, 16), (900, 64), (600, 200), (60, 200)]):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 6)) * np.arange(9.0, 3.0, -1) @ rng.normal(size=(6, columns))
        X += rng.normal(size=(rows, columns))
        theirs, ours = PCA(5, svd_solver="full").fit(X), OnlinePCA(5).fit(X)
        signs = np.sign((theirs.components_ * ours.components_).sum(axis=1))
        np.testing.assert_allclose(ours.components_, signs[:, None] * theirs.components_, atol=1e-8)
        np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
        np.testing.assert_allclose(ours.transform(X), signs * theirs.transform(X), atol=1e-6)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("standardize", ["none", "warmup:50"])
@pytest.mark.parametrize("missing", ["fail", "skip"])
def test_options_have_their_meaning_for_collected_rows(rng, center, standardize, missing):
    X = low_rank(rng) * np.arange(1.0, 9.0)
    if missing == "skip":
        X[rng.integers(0, 400, 20), 3] = np.nan
    options = {"center": center, "standardize": standardize, "missing": missing}
    found, wanted = (OnlinePCA(2, losses=losses, **options).fit(X).partial_fit(X[:70]) for losses in (False, True))
    assert found.summary_["skipped_rows"] == wanted.summary_["skipped_rows"]
    assert_alike_losses = np.testing.assert_allclose
    rows = X[~np.isnan(X).any(axis=1)]
    assert_alike_losses(found.score_samples(rows), wanted.score_samples(rows), atol=1e-7)
    assert_alike_losses(found.explained_variance_, wanted.explained_variance_, rtol=1e-8)
    assert_alike_losses(found.scale_, wanted.scale_)


@pytest.mark.parametrize(
    "options",
    [
        {"learner": "tracking"},
        {"learner": "auto"},
        {"standardize": "running"},
        {"missing": "fill"},
        {"norm_bound": 1e3},
        {"max_rank": 4},
        {"clip": 3.0, "learner": "leader"},
        {"segments": 2},
        {"center_prior": 3.0},
    ],
)
def test_rows_are_learned_one_by_one_if_their_order_has_an_effect(rng, options):
    X = low_rank(rng)
    found, wanted = (OnlinePCA(2, losses=losses, random_state=0, **options).fit(X) for losses in (False, True))
    assert found.summary_["expected_loss"] == wanted.summary_["expected_loss"] > 0.0
    np.testing.assert_array_equal(found.components_, wanted.components_)


def test_the_summary_of_collected_rows_has_no_invented_number(rng):
    X = low_rank(rng)
    pca = OnlinePCA(2).fit(X)
    summary = pca.summary_
    for name in ("expected_loss", "loss", "kept_energy", "regret", "bound", "bound_holds", "first_row_loss", "rank_mean"):
        assert summary[name] is None, name
    assert summary["rows"] == 400 and summary["best_loss"] == pytest.approx(-pca.score(X) * 400)
    # Rows that the model learns one by one later have losses.
    pca.model_.learn(X[:50])
    later = pca.summary_
    assert later["rows"] == 450 and later["uncharged_rows"] == 400 and 0.0 < later["best_loss"] < later["expected_loss"]


def test_an_error_adds_no_row(rng):
    X = low_rank(rng)
    pca = OnlinePCA(2).fit(X)
    bad = X.copy()
    bad[300, 2] = 1e200
    with pytest.raises(ValueError, match="row 300"):
        pca.partial_fit(bad)
    assert pca.n_samples_seen_ == 400
    np.testing.assert_array_equal(pca.components_, OnlinePCA(2).fit(X).components_)


def test_weighted_moments_are_weighted_rows(rng):
    X, weights = low_rank(rng), rng.uniform(0.0, 3.0, size=400)
    model = Model(8, 2, learner="leader", center=False)
    model.learn(X, weights)
    moments = Moments(8, 2).update(X[:3], weights[:3])
    moments.merge(Moments(8, 2).update(X[3:], weights[3:])).update(X[:0])
    found = moments.finish(center=False)
    np.testing.assert_allclose(projector(found.components_), projector(model.components), atol=1e-9)


def test_blocks_of_rows_have_the_coordinates_of_single_rows(rng):
    X = low_rank(rng, rows=300)
    for options in ({}, {"standardize": "running"}, {"missing": "fill"}, {"whiten": True}):
        pca = OnlinePCA(2, **options).fit(X)
        rows = X.copy()
        if "missing" in options:
            rows[::7, 2] = np.nan
        single = np.concatenate([pca.transform(row[None]) for row in rows])
        np.testing.assert_allclose(pca.transform(rows), single, atol=1e-12)
        losses = np.concatenate([pca.score_samples(row[None]) for row in rows])
        np.testing.assert_allclose(pca.score_samples(rows), losses, atol=1e-12)
        back = np.concatenate([pca.inverse_transform(row[None]) for row in single])
        np.testing.assert_allclose(pca.inverse_transform(single), back, atol=1e-12)


def test_a_subclass_may_have_a_constructor_of_its_own(rng):
    class Two(OnlinePCA):
        def __init__(self, learner="leader"):
            super().__init__(2, learner=learner)

    X = low_rank(rng)
    np.testing.assert_array_equal(Two().fit(X).components_, OnlinePCA(2, learner="leader").fit(X).components_)


def test_the_number_of_rows_can_only_be_assigned_to_itself(rng):
    pca = OnlinePCA(2).fit(low_rank(rng))
    pca.n_samples_seen_ = 400.0
    with pytest.raises(ValueError, match="must be the number of rows learned, 400, got 7"):
        pca.n_samples_seen_ = 7


@pytest.mark.parametrize("learner", ["tracking", "forgetting-leader", "auto"])
@pytest.mark.parametrize("center", [None, "none"])
def test_batches_lose_about_as_much_as_rows_one_by_one(learner, center):
    X = low_rank(np.random.default_rng(3), rows=2000) + (0.0 if center else 5.0)
    batches = OnlinePCA(2, learner=learner, center=center, batch=50, random_state=0)
    for start in range(0, len(X), 300):
        batches.partial_fit(X[start : start + 300])
    one_by_one = OnlinePCA(2, learner=learner, center=center, random_state=0).fit(X)
    assert batches.n_samples_seen_ == len(X)
    energy = np.square(X - (0.0 if center else X.mean(axis=0))).sum()
    found, wanted = (model.summary_["expected_loss"] for model in (batches, one_by_one))
    assert wanted - 0.01 * energy <= found <= wanted + 0.1 * energy
    # Batches have another learning rate, so the directions differ, but their losses are close.
    assert -batches.score(X) <= -one_by_one.score(X) + 0.02 * energy / len(X)


@pytest.mark.parametrize("batch", [0, 1.5, True, "many"])
def test_a_batch_is_a_whole_number(batch):
    with pytest.raises(ValueError, match="batch must be a whole number, at least 1"):
        OnlinePCA(2, learner="tracking", batch=batch).fit(table("random"))
