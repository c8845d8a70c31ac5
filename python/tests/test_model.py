"""Tests of Model with snapshots, threads and interrupts."""

import copy
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import low_rank

import eigenhedge
from eigenhedge import Model, OnlinePCA


@pytest.mark.parametrize("options", [{}, {"learner": "tracking"}, {"learner": "apex"}, {"kernel": "rbf", "budget": 20}])
def test_a_saved_learner_goes_on_bit_for_bit(tmp_path, rng, options):
    X = low_rank(rng, rows=60)
    learner = Model(8, 2, seed=3, **options)
    learner.learn(X[:30])
    path = tmp_path / "model.eh"
    eigenhedge.save(learner, path)
    others = [eigenhedge.load(path), pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)]
    expected = learner.step_each(X[30:])
    for other in others:
        assert all((a == b).all() for a, b in zip(other.step_each(X[30:]), expected, strict=True))


def test_a_saved_estimator_comes_back_with_its_names(tmp_path, rng):
    import pandas as pd

    X = pd.DataFrame(low_rank(rng, rows=40), columns=list("abcdefgh"))
    pca = OnlinePCA(2, learner="tracking", eta=2.0, random_state=1).fit(X)
    pca.save(tmp_path / "model.eh")
    back = eigenhedge.load(tmp_path / "model.eh")
    assert back.get_params() == pca.get_params()
    assert list(back.feature_names_in_) == list("abcdefgh")
    assert (back.transform(X) == pca.transform(X)).all()
    assert (back.partial_fit(X).components_ == pca.partial_fit(X).components_).all()


def test_keys_of_other_programs_survive(tmp_path, rng):
    learner = Model(8, 2)
    learner._set_resume_state(b'{"columns": ["x"], "python": 3}')
    learner.save(tmp_path / "a.eh")
    assert isinstance(eigenhedge.load(tmp_path / "a.eh"), Model)
    pca = OnlinePCA(2).fit(low_rank(rng))
    pca.model_._set_resume_state(b'{"columns": ["x"]}')
    pca.save(tmp_path / "b.eh")
    assert b'"columns": ["x"]' in eigenhedge.load(tmp_path / "b.eh").model_._resume_state()


@pytest.mark.parametrize("damage", [lambda b: b[:50], lambda b: b"row,loss\n", lambda b: b[:-1] + bytes([b[-1] ^ 1])])
def test_damaged_files_are_refused_with_a_sentence(tmp_path, damage):
    path = tmp_path / "model.eh"
    path.write_bytes(damage(Model(4, 1).to_bytes()))
    with pytest.raises(ValueError, match="model.eh: the model (is|must)"):
        eigenhedge.load(path)


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="cannot be written"):
        Model(4, 1).save(tmp_path / "nowhere" / "model.eh")


def test_sizeof_tells_the_state_on_the_other_side():
    small, large = Model(10, 1, learner="oja", hindsight=False), Model(10_000, 1, learner="oja", hindsight=False)
    for learner in [small, large]:
        learner.step(np.ones(learner.dim))
    assert sys.getsizeof(large) - sys.getsizeof(small) >= 8 * 9_990


def test_control_c_ends_a_long_call(rng):
    X = rng.normal(size=(200_000, 150))
    learner = Model(150, 40, learner="anchored")
    # By default, a background process ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    began = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            learner.learn(X)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - began < 10
    assert 0 < learner.rows < len(X)
    learner.step(X[0])


def test_the_interpreter_lock_is_released(rng):
    X = rng.normal(size=(3000, 100))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    watcher = threading.Thread(target=tick)
    watcher.start()
    Model(100, 20, learner="anchored").learn(X)
    done.set()
    watcher.join()
    # If `learn` held the lock, the other thread could not run during the call.
    assert len(ticks) > 20


def test_two_threads_may_share_a_learner(rng):
    X = low_rank(rng)
    learner = Model(8, 2)
    threads = [threading.Thread(target=learner.learn, args=(X,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.rows == 4 * len(X)


@pytest.mark.parametrize("options", [{}, {"learner": "auto"}, {"center": False, "mixing": "none"}])
def test_long_rows_of_one_table_are_learned_as_one_after_another(rng, options):
    X = low_rank(rng, rows=60, length=600)
    together, alone = Model(600, 2, **options), Model(600, 2, **options)
    losses = together.step_each(X)[0]
    assert [alone.step(row).expected_loss for row in X] == losses.tolist()
    assert together.to_bytes() == alone.to_bytes()
    X[40, 7] = np.nan
    with pytest.raises(ValueError, match="row 40"):
        together.learn(X)
    assert together.rows == 100


@pytest.mark.parametrize(("rows", "columns", "hindsight"), [(20, 70_000, False), (300, 12, True)])
def test_no_bit_depends_on_the_number_of_threads(rng, rows, columns, hindsight):
    X = rng.normal(size=(rows, columns))
    alone, shared = Model(columns, 2, hindsight=hindsight), Model(columns, 2, hindsight=hindsight)
    alone.learn(X)
    eigenhedge.set_threads(3)
    try:
        shared.learn(X)
    finally:
        eigenhedge.set_threads(1)
    assert shared.to_bytes() == alone.to_bytes()
    with pytest.raises(ValueError, match="at least 1"):
        eigenhedge.set_threads(0)


def test_an_error_leaves_the_learner_as_it_was():
    learner = Model(3, 1)
    learner.step([1.0, 2.0, 3.0])
    before = learner.to_bytes()
    for row in [[1.0, np.inf, 0.0], [1.0], [1e300, 0.0, 0.0]]:
        with pytest.raises(ValueError):
            learner.step(row)
    assert learner.to_bytes() == before
    assert "rows=1" in repr(learner)


def test_every_learner_and_kernel_of_the_registries_can_be_named(rng):
    X = rng.normal(size=(20, 4))
    for entry in eigenhedge.learners():
        assert entry["summary"] and Model(4, 1, learner=entry["name"]).learn(X) is None
    for entry in eigenhedge.kernels():
        if entry["positive_definite"]:
            assert Model(4, 1, kernel=entry["name"]).learn(X) is None
