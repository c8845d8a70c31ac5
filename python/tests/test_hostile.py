"""Invalid input raises a regular exception with a message. It never panics or ends the process."""

import datetime
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import eigenhedge
import eigenhedge.river
from eigenhedge import CappedHedge, Hedge, KernelPCA, KernelRidge, Model, OnlineKernelPCA, OnlinePCA, preimage

ROWS = np.arange(24.0).reshape(8, 3) % 7

#: Calls with a table as the argument.
TAKERS = {
    "run": lambda X: eigenhedge.run(X, 1),
    "learn": lambda X: Model(3, 1).learn(X),
    "step_each": lambda X: Model(3, 1).step_each(X),
    "transform": lambda X: Model(3, 1).transform(X),
    "OnlinePCA.fit": lambda X: OnlinePCA(1).fit(X),
    "OnlinePCA.partial_fit": lambda X: OnlinePCA(1).fit(ROWS).partial_fit(X),
    "OnlinePCA.transform": lambda X: OnlinePCA(1).fit(ROWS).transform(X),
    "OnlinePCA.inverse_transform": lambda X: OnlinePCA(3).fit(ROWS).inverse_transform(X),
    "OnlineKernelPCA.fit": lambda X: OnlineKernelPCA(1, kernel="rbf").fit(X),
    "KernelPCA.fit": lambda X: KernelPCA(1).fit(X),
    "KernelPCA.transform": lambda X: KernelPCA(1).fit(ROWS).transform(X),
    "KernelRidge.fit": lambda X: KernelRidge().fit(X, np.arange(8.0)),
    "KernelRidge.fit targets": lambda X: KernelRidge().fit(ROWS, X),
    "KernelRidge.predict": lambda X: KernelRidge().fit(ROWS, np.arange(8.0)).predict(X),
    "preimage": lambda X: preimage(X, np.ones(8)),
}


def damaged(part, place, value):
    """Return a sparse matrix with an invalid entry in `part`, for example `indices`."""
    matrix = sparse.csr_array(ROWS)
    getattr(matrix, part)[place] = value
    return matrix


WHEN = datetime.datetime(2024, 5, 1)
TIMES = np.arange(8).astype("datetime64[s]")
NO_NUMBERS = {
    "masked": (np.ma.masked_equal(ROWS, 3.0), r"entry \(1, 0\) is masked: fill"),
    "masked rows": (list(np.ma.masked_equal(ROWS, 3.0)), r"entry \(0\) is masked: fill"),
    "dates": (np.repeat(TIMES[:, None], 3, axis=1), "must hold numbers, got dates"),
    "durations": (np.repeat(TIMES[:, None], 3, axis=1) - TIMES[0], "must hold numbers, got durations"),
    "complex": (ROWS + 1j, "must hold numbers, got complex numbers"),
    "records": (np.zeros((8, 3), dtype=[("a", float), ("b", float)]), "must hold numbers, got records"),
    "texts": ([[1.0, 2.0, 3.0]] * 7 + [[1.0, "red", 3.0]], "got the text 'red' in column 1, row 7: leave the column out"),
    "pandas texts": (pd.DataFrame(ROWS, columns=list("abc")).assign(b="red"), "got the text 'red' in column 'b', row 0"),
    "polars texts": (pl.DataFrame(ROWS, schema=list("abc")).with_columns(b=pl.lit("red")), "got the text 'red' in column 'b'"),
    "Arrow texts": (pa.table({"a": ROWS[:, 0], "b": ["red"] * 8, "c": ROWS[:, 2]}), "got the text 'red' in column 'b'"),
    "columns of one name": (pd.DataFrame(ROWS, columns=list("aba")), "names of the columns must differ, got 'a' twice"),
    "Arrow columns of one name": (pa.Table.from_arrays([*map(pa.array, ROWS.T)], names=list("aba")), "differ, got 'a' twice"),
    "indices out of range": (damaged("indices", 1, 99), "indices must be at least 0 and less than 3, got 99"),
    "indices below zero": (damaged("indices", 2, -5), "indices must be at least 0 and less than 3, got -5"),
    "pointers out of range": (damaged("indptr", -1, 1000), "its indptr must"),
    "list of dates": ([[WHEN, 1.0, 2.0]] * 8, r"got dates \(datetime\) at entry \(0, 0\)"),
    "list of NumPy dates": ([list(row) for row in np.repeat(TIMES[:, None], 3, axis=1)], "got dates"),
    "objects with a duration": (
        np.array([[1.0, 2.0, 3.0]] * 7 + [[1.0, np.timedelta64(5, "s"), 3.0]], dtype=object),
        r"got durations \(timedelta64\) at entry \(7, 1\)",
    ),
    "objects with a complex number": (
        np.array([[1.0, 2.0, np.complex128(1j)]] * 8, dtype=object),
        r"got complex numbers \(complex128\) at entry \(0, 2\)",
    ),
    "pandas": (pd.DataFrame(ROWS, columns=list("abc")).assign(b=TIMES), "got dates .* in column 'b'"),
    "pandas with a zone": (
        pd.DataFrame(ROWS, columns=list("abc")).assign(b=pd.DatetimeIndex(TIMES, tz="UTC")),
        "got dates .* in column 'b'",
    ),
    "pandas objects": (
        pd.DataFrame(ROWS, columns=list("abc")).assign(c=pd.Series([WHEN] * 8, dtype=object)),
        "got dates .* in column 'c'",
    ),
    "polars": (
        pl.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], "c": [datetime.timedelta(1)] * 8}),
        "got durations .* in column 'c'",
    ),
    "arrow": (
        pa.table({"a": ROWS[:, 0], "b": [WHEN.date()] * 8, "c": ROWS[:, 2]}),
        "got dates .* in column 'b'",
    ),
    "sparse": (sparse.csr_array(ROWS + 1j), "must hold numbers, got complex numbers"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_no_number_is_refused(taker, kind):
    table, sentence = NO_NUMBERS[kind]
    with pytest.raises(ValueError, match=sentence):
        TAKERS[taker](table)


@pytest.mark.parametrize("taker", TAKERS)
def test_a_mask_that_hides_nothing_is_no_reason_to_refuse(taker):
    TAKERS[taker](np.ma.masked_array(ROWS))


@pytest.mark.parametrize(
    "row, sentence",
    [
        (np.ma.masked_equal([1.0, 2.0, 3.0], 2.0), r"entry \(1\) is masked"),
        (TIMES[:3], "got dates"),
        (np.array([0.5j, 0.0, 0.0]), "got complex numbers"),
        ([1.0, np.timedelta64(5, "s"), 0.0], "got durations"),
        ([1.0, WHEN, 0.0], "got dates"),
        (np.ones((1, 3)), "1 dimension, got 2"),
    ],
)
def test_a_single_row_is_refused_in_the_same_words(row, sentence):
    for call in [
        Model(3, 1).step,
        CappedHedge(3, 1, 0.5).step,
        lambda row: eigenhedge.capping(row, 1),
        lambda row: eigenhedge.corners(row, 1),
        lambda row: preimage(np.eye(3), row),
        lambda row: preimage(np.eye(3), [1, 0, 0], start=row),
    ]:
        with pytest.raises(ValueError, match=sentence):
            call(row)


@pytest.mark.parametrize("value", [WHEN, np.datetime64("2024-05-01"), np.timedelta64(5, "s"), 1j, np.complex64(1j)])
def test_river_refuses_what_is_no_number(value):
    row = {"a": 1.0, "b": value}
    for model in [eigenhedge.river.OnlinePCA(1), eigenhedge.river.SubspaceAnomaly(1)]:
        with pytest.raises(ValueError, match="must hold numbers, got .* in feature 'b'"):
            model.learn_one(row)
        model.learn_one({"a": 1.0, "c": None})
        with pytest.raises(ValueError, match="feature 'c' must be a number, got the text 'red': leave it out"):
            model.learn_one({"a": 1.0, "c": "red"})
        use = model.score_one if hasattr(model, "score_one") else model.transform_one
        with pytest.raises(ValueError, match="must hold numbers, got .* in feature 'b'"):
            use(row)
    with pytest.raises(ValueError, match="must hold numbers, got .* in column 'b'"):
        eigenhedge.river.OnlinePCA(1).learn_many(pd.DataFrame([row, row]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: Model(2**33, 1),
        lambda: Model(2**40, 2**20, learner="gha"),
        lambda: Model(2**64 - 1, 1, hindsight=False),
        lambda: Model(3, 2**32, kernel="rbf"),
        lambda: OnlineKernelPCA(2**31).fit(ROWS),
        lambda: CappedHedge(2**40, 2, 0.5),
        lambda: CappedHedge(2**64 - 1, 2**63, 0.5),
        lambda: Hedge(2**40, 0.5),
    ],
)
def test_sizes_that_memory_cannot_hold_are_a_memory_error(call):
    with pytest.raises(MemoryError, match="GB of memory, more than there is"):
        call()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: Model(3, 2**64 - 1), "k must be at most 4294967296"),
        (lambda: Model(3, 2**62, kernel="rbf"), "k must be at most 4294967296"),
        (lambda: Model(8, 2**31), "k must be at least 1 and less than the dimension 8"),
        (lambda: Model(3, 2**20, learner="apex", kernel="rbf"), "GB of memory, more than there is"),
    ],
)
def test_numbers_of_directions_that_mean_nothing_are_an_error(call, sentence):
    with pytest.raises((ValueError, MemoryError), match=sentence):
        call()


def test_arrays_of_every_layout_give_the_same_bits(rng):
    X = rng.integers(-9, 9, size=(20, 3)).astype(float)
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    broadcast = np.broadcast_to(X[0], X.shape)
    kinds = [X[::-1][::-1], np.asfortranarray(X), X.astype(">f8"), X.astype(np.float16), X.astype(np.longdouble),
             X.astype(object), unaligned, np.ma.masked_array(X)]  # fmt: skip
    wanted = eigenhedge.run(X, 1).losses
    for kind in kinds:
        assert (eigenhedge.run(kind, 1).losses == wanted).all()
        assert Model(3, 1).step(np.asarray(kind)[0]).loss == wanted[0]
    assert (eigenhedge.run(broadcast, 1).losses == eigenhedge.run(broadcast.copy(), 1).losses).all()
    assert eigenhedge.run(X > 0, 1).summary["rows"] == 20


@pytest.mark.parametrize("use", ["learn", "step_each", "transform"])
def test_an_array_that_another_thread_changes_is_no_panic(use):
    X = np.random.default_rng(0).normal(size=(4000, 40))
    done = threading.Event()

    def change():
        while not done.is_set():
            X[:, 7] = np.nan
            X[:, 7] = 1.0

    threading.Thread(target=change).start()
    refused = 0
    try:
        for _ in range(20):
            learner = Model(40, 3)
            learner.learn(np.ones((1, 40)))
            try:
                getattr(learner, use)(X)
            except ValueError as error:
                assert "entry 7 of the row must be finite, " in str(error)
                refused += 1
            # Rejected input does not change the learner.
            learner.step(np.ones(40))
            assert np.isfinite(learner.summary["expected_loss"])
    finally:
        done.set()
    assert refused > 0


#: Exceptions for invalid arguments. Any other exception, such as a panic, fails a test.
NORMAL = (ValueError, TypeError, MemoryError, OverflowError)
VALUES = [0, -1, 1, 3, 2**32, 2**63, 2**64 - 1, 2**64, 0.0, 1e-320, 1e-3, 1e308, -1.5, np.nan, np.inf, -np.inf, True, "x", [], 1j]
OPTIONS = {
    **dict.fromkeys(["eta", "ceiling", "norm_bound", "center", "segments", "seed", "hindsight"], {}),
    **dict.fromkeys(["alpha", "merge"], {"learner": "tracking"}),
    **dict.fromkeys(["forget", "center_prior", "max_rank"], {"learner": "forgetting-leader"}),
    **dict.fromkeys(["gamma", "degree", "coef0", "budget", "feature_dim"], {"kernel": "polynomial"}),
    **dict.fromkeys(["learner", "mixing", "kernel", "select", "as_printed"], {}),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_no_value_of_an_option_is_a_panic(option):
    for value in VALUES:
        try:
            learner = Model(3, 1, **OPTIONS[option], **{option: value})
            losses = learner.step_each(ROWS)[0]
            assert learner.summary["rows"] == 8 and np.isfinite(losses).all()
            learner.reconstruct(learner.transform(ROWS))
        except NORMAL as error:
            assert str(error), f"{option}={value!r}"


@pytest.mark.parametrize("value", VALUES)
def test_no_value_of_a_size_or_parameter_is_a_panic(value):
    calls = [
        lambda: Model(value, 1),
        lambda: Model(3, value),
        lambda: Model(3, value, kernel="rbf", gamma=1.0).step_each(ROWS),
        lambda: Model(1, value, feature_dim=9).step_each(ROWS[:, :1]),
        lambda: CappedHedge(value, 1, 0.5),
        lambda: CappedHedge(3, value, 0.5),
        lambda: CappedHedge(3, 1, value, mixing="fixed-share", alpha=0.1).step([0.0, 1.0, 0.5]),
        lambda: CappedHedge(3, 1, 0.5, mixing="past-average", alpha=value).step([0.0, 1.0, 0.5]),
        lambda: CappedHedge(3, 1, 0.5).step([0.0, value, 1.0]),
        lambda: eigenhedge.capping([0.5, value, 0.25], 1),
        lambda: eigenhedge.capping([0.5, 0.25, 0.25], value),
        lambda: eigenhedge.corners([0.5, value, 0.25], 2),
        lambda: eigenhedge.corners([0.5, 0.25, 0.25], value),
        lambda: KernelPCA(value, kernel="rbf").fit(ROWS),
        lambda: KernelPCA(2, kernel="poly", gamma=value).fit(ROWS).inverse_transform([[0.0, value]]),
        lambda: KernelPCA(2, kernel="poly", degree=value).fit(ROWS),
        lambda: KernelPCA(2, kernel="sigmoid", coef0=value).fit(ROWS),
        lambda: KernelPCA(2, solver="cholesky", tolerance=value).fit(ROWS),
        lambda: KernelPCA(2, solver="cholesky", max_rank=value).fit(ROWS),
        lambda: KernelRidge(value).fit(ROWS, ROWS[:, 0]),
        lambda: preimage(ROWS, np.ones(8), steps=value),
        lambda: preimage(ROWS, np.ones(8), tolerance=value, steps=9),
        lambda: preimage(ROWS, [value] * 8, kernel="poly", start=[0.0, 0.0, value]),
        lambda: OnlinePCA(value).fit(ROWS),
    ]
    for call in calls:
        try:
            call()
        except NORMAL as error:
            assert str(error)


TABLES = [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((0, 0)), np.zeros(3), np.zeros((2, 2, 2)), 1.0, None, "x", {}, {"a": 1},
          set(), object(), [[]], [[1.0], [1.0, 2.0]], np.array([["a"]]), np.array([[b"a"]]), [[None, 1.0, 2.0]], [[10**400] * 3],
          pd.DataFrame(), pl.DataFrame(), pa.table({}), sparse.csr_array((0, 3)), np.full((8, 3), 1e200),
          np.full((8, 3), -np.inf)]  # fmt: skip


@pytest.mark.parametrize("taker", TAKERS)
def test_no_table_is_a_panic(taker):
    for table in TABLES:
        try:
            TAKERS[taker](table)
        except NORMAL as error:
            assert str(error), repr(table)


#: Code that makes a table, and code of a long call with it.
LONG = {
    "KernelPCA": ("rng.normal(size=(4000, 3))", "KernelPCA(2, kernel='rbf').fit(X)"),
    "KernelPCA precomputed": ("np.eye(4000)", "KernelPCA(2, kernel='precomputed').fit(X)"),
    "KernelRidge": ("rng.normal(size=(9000, 20))", "KernelRidge(kernel='rbf').fit(X, X[:, 0])"),
    "preimage": ("rng.normal(size=(50000, 9))", "preimage(X, X[:, 0])"),
    "OnlinePCA": ("rng.normal(size=(2000, 1500))", "OnlinePCA(9).fit(X)"),
    "OnlineKernelPCA": ("rng.normal(size=(50000, 3))", "OnlineKernelPCA(2, kernel='rbf').fit(X)"),
}


@pytest.mark.parametrize("call", LONG)
def test_control_c_ends_every_long_call_at_once(call):
    """Run in a separate process, because interrupted work may continue in the background."""
    table, work = LONG[call]
    script = f"""
import os, signal, threading, time
import numpy as np
from eigenhedge import *
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = {table}
sent = []
def send():
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.1, send).start()
try:
    {work}
    print("ended by itself")
except KeyboardInterrupt:
    print("took", time.process_time() - sent[0])
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("took"), done.stdout + done.stderr
    # In processor time, so that other programs do not count. The longest step that ignores interrupts takes 0.3 seconds.
    assert float(done.stdout.split()[1]) < 2.0
