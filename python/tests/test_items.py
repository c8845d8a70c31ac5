"""Tests of strings, sets, rankings and arbitrary objects as rows."""

import pickle
import weakref
from dataclasses import astuple

import numpy as np
import pytest

import eigenhedge
from eigenhedge import KernelPCA, KernelRidge, Model, OnlineKernelPCA

LINES = [f"disk sd{'abc'[i % 3]} error {i}" if i % 2 else f"user {'ann bob'.split()[i % 2]} logged in {i}" for i in range(60)]
BASKETS = [{"bread", "milk", f"item {i % 4}"} if i % 2 else {"nails", "glue", f"item {i % 4}"} for i in range(40)]


def jaccard(a, b):
    return len(a & b) / len(a | b)


def test_a_stream_of_texts_is_learned_row_by_row():
    whole = eigenhedge.run(LINES, 2, kernel="spectrum", budget=20, learner="anchored", center=False)
    learner = Model(None, 2, kernel="spectrum", budget=20, learner="anchored", center=False)
    trials = [learner.step(line) for line in LINES]
    assert [trial.expected_loss for trial in trials] == list(whole.expected_losses)
    estimator = OnlineKernelPCA(2, kernel="spectrum", budget=20, center=False, random_state=0)
    for start in range(0, 60, 20):
        estimator.partial_fit(LINES[start : start + 20])
    assert estimator.summary_["expected_loss"] == whole.summary["expected_loss"]
    coordinates = estimator.transform(LINES)
    kinds = np.arange(60) % 2 == 1
    assert abs(coordinates[kinds].mean(axis=0) - coordinates[~kinds].mean(axis=0)).max() > 0.5


def test_a_function_learns_what_the_named_kernel_learns_and_cannot_be_saved(tmp_path):
    options = {"budget": 10, "learner": "tracking"}
    named = eigenhedge.run(BASKETS, 1, kernel="jaccard", **options)
    ours = eigenhedge.run(BASKETS, 1, kernel=jaccard, **options)
    assert ours.losses == pytest.approx(named.losses, abs=1e-12)
    assert ours.model.transform(BASKETS[:3]) == pytest.approx(named.model.transform(BASKETS[:3]), abs=1e-9)
    for attempt in (lambda: ours.model.save(tmp_path / "x"), lambda: pickle.dumps(ours.model)):
        with pytest.raises(ValueError, match="a learner whose kernel is a function cannot be saved"):
            attempt()
    restored = pickle.loads(pickle.dumps(named.model))
    assert restored.step(BASKETS[0]).loss == named.model.step(BASKETS[0]).loss


def test_a_function_is_given_the_objects_and_may_raise():
    seen = []

    class Word:
        def __init__(self, text):
            self.text = text

    def kernel(a, b):
        assert isinstance(a, Word) and isinstance(b, Word)
        if a.text == "bad" or b.text == "bad":
            raise RuntimeError("bad word")
        seen.append(a)
        return float(a.text == b.text)

    learner = Model(None, 1, kernel=kernel, learner="anchored")
    for text in "abcabc":
        learner.step(Word(text))
    assert seen
    with pytest.raises(RuntimeError, match="bad word"):
        learner.step(Word("bad"))
    assert learner.rows == 6
    with pytest.raises(TypeError, match="row 1: must be a text, or a set or list of texts and numbers, got float"):
        eigenhedge.run(["a", 1.0], 1, kernel="spectrum")
    with pytest.raises(TypeError, match="the rows must be a list"):
        eigenhedge.run("abc", 1, kernel="spectrum")


def test_objects_that_are_no_longer_needed_are_dropped():
    learner = Model(None, 1, kernel=lambda a, b: a[0] * b[0] + a[1] * b[1], budget=4, hindsight=False, learner="anchored")
    rng, alive = np.random.default_rng(0), weakref.WeakSet()

    class Held:
        def __init__(self, values):
            self.values = values
            alive.add(self)

        def __getitem__(self, i):
            return self.values[i]

    for _ in range(600):
        learner.step(Held(rng.normal(size=2)))
    assert len(alive) < 150


@pytest.mark.parametrize("kernel", ["jaccard", jaccard])
def test_batch_methods_take_sets(kernel):
    gram = np.array([[jaccard(a, b) for b in BASKETS] for a in BASKETS])
    pca = KernelPCA(2, kernel=kernel).fit(BASKETS)
    wanted = KernelPCA(2, kernel="precomputed").fit(gram)
    assert pca.eigenvalues_ == pytest.approx(wanted.eigenvalues_)
    assert abs(pca.transform(BASKETS)[:, 0]) == pytest.approx(abs(wanted.transform(gram)[:, 0]), abs=1e-9)
    target = np.array([float("milk" in basket) for basket in BASKETS])
    ridge = KernelRidge(alpha=0.5, kernel=kernel).fit(BASKETS, target)
    assert ridge.predict(BASKETS) == pytest.approx(gram @ np.linalg.solve(gram + 0.5 * np.eye(40), target))
    with pytest.raises((ValueError, AttributeError), match="candidates|has no attribute"):
        pca.inverse_transform([[0.1, 0.2]])


def test_rankings_are_rows_of_distinct_numbers():
    rows = np.array([np.random.default_rng(i).permutation(5) for i in range(30)], dtype=float)
    run = eigenhedge.run(rows, 2, kernel="kendall", center=False)
    assert run.summary["best_loss"] <= run.summary["expected_loss"]
    # The kernel depends only on the order of the numbers in a row.
    assert eigenhedge.run(np.exp(rows), 2, kernel="kendall", center=False).losses == pytest.approx(run.losses)
    with pytest.raises(ValueError, match="to be a ranking"):
        eigenhedge.run([[1.0, 1.0, 2.0]], 1, kernel="mallows")


def test_a_list_of_items_is_the_same_as_its_text():
    texts = ["a b c", "b c d", "a d e", "a b"]
    one = eigenhedge.run(texts, 1, kernel="intersection").losses
    assert list(eigenhedge.run([text.split() for text in texts], 1, kernel="intersection").losses) == list(one)


def test_means_and_discrepancies_equal_sums_of_kernels():
    gram = np.array([[jaccard(a, b) for b in BASKETS] for a in BASKETS])
    mean = eigenhedge.kernel_mean(BASKETS[:10], BASKETS, kernel="jaccard")
    assert mean.values == pytest.approx(gram[:10].mean(axis=0))
    assert mean.squared_norm == pytest.approx(gram[:10, :10].mean())
    found = eigenhedge.mmd(BASKETS[:10], BASKETS[10:], kernel=jaccard, splits=0)
    assert found.biased == pytest.approx(gram[:10, :10].mean() + gram[10:, 10:].mean() - 2 * gram[:10, 10:].mean())
    assert found.p_value is None


def test_a_p_value_tells_samples_of_one_source_from_others():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 3))
    same = eigenhedge.mmd(rows[:30], rows[30:], gamma=0.3, splits=199)
    other = eigenhedge.mmd(rows[:30], 0.8 + rows[30:], gamma=0.3, splits=199)
    assert (same.biased, same.unbiased) == pytest.approx(astuple(eigenhedge.mmd(rows[:30], rows[30:], gamma=0.3))[:2])
    assert other.p_value == 1 / 200
    assert same.p_value > 0.05
    assert same == eigenhedge.mmd(rows[:30], rows[30:], gamma=0.3, seed=0)
    with pytest.raises(ValueError, match="splits must be a whole number"):
        eigenhedge.mmd(rows, rows, splits=-1)


def test_the_best_candidate_is_the_nearest():
    found = eigenhedge.preimage(BASKETS[:3], [0.2, 0.7, 0.1], kernel="jaccard", candidates=BASKETS[:3])
    assert found.point == BASKETS[1]
    found = eigenhedge.preimage([[0.0], [1.0]], [0.5, 0.5], gamma=1.0, candidates=[[3.0], [0.4]], criterion="angle")
    assert found.point.tolist() == [0.4]
