"""Tables of all supported types with equal numbers give equal results."""

import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import eigenhedge
from eigenhedge import OnlineKernelPCA, OnlinePCA

COLUMNS = ["a", "b", "c", "d"]

KINDS = {
    "c": lambda X: X,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: X.astype(np.int64),
    "pandas": lambda X: pd.DataFrame(X, columns=COLUMNS),
    "polars": lambda X: pl.DataFrame(X, schema=COLUMNS),
    "arrow": lambda X: pa.table({name: X[:, i] for i, name in enumerate(COLUMNS)}),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
}


@pytest.fixture
def X(rng):
    # Every type represents these integers exactly.
    return rng.integers(-9, 9, size=(60, 4)).astype(float)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_bits(X, kind):
    table = KINDS[kind](X)
    assert (eigenhedge.run(table, 2).losses == eigenhedge.run(X, 2).losses).all()
    ours, plain = OnlinePCA(2).fit(table), OnlinePCA(2).fit(X)
    assert (ours.components_ == plain.components_).all()
    assert (ours.transform(table) == plain.transform(X).astype(ours.transform(table).dtype)).all()
    assert (ours.partial_fit(table).components_ == plain.partial_fit(X).components_).all()
    kernel = OnlineKernelPCA(2, kernel="rbf").fit(table)
    z = kernel.transform(table)
    assert (z == OnlineKernelPCA(2, kernel="rbf").fit(X).transform(X).astype(z.dtype)).all()
    learner = eigenhedge.Model(4, 2)
    learner.learn(table)
    assert (learner.transform(table) == eigenhedge.run(X, 2).model.transform(X)).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_names_of_columns_are_remembered(X, kind):
    pca = OnlinePCA(2).fit(KINDS[kind](X))
    assert list(pca.feature_names_in_) == COLUMNS
    renamed = KINDS[kind](X)
    if kind == "arrow":
        renamed = renamed.rename_columns(list("wxyz"))
    elif kind == "polars":
        renamed = renamed.rename(dict(zip(COLUMNS, "wxyz")))
    else:
        renamed = renamed.set_axis(list("wxyz"), axis=1)
    with pytest.raises(ValueError, match="feature names should match"):
        pca.transform(renamed)


OTHERS = {
    "dict": lambda X: {"a": X[:, 0], "b": X[:, 1]},
    "generator": lambda X: (row for row in X),
    "LazyFrame": lambda X: pl.DataFrame(X).lazy(),
    "PosixPath": lambda X: pathlib.Path("rows.csv"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_not_yet_a_table_is_refused_with_advice(X, kind):
    advice = {"dict": "DataFrame", "generator": "list", "LazyFrame": "collect", "PosixPath": "read it first"}[kind]
    calls = [OnlinePCA(2).fit, eigenhedge.Monitor().update, eigenhedge.Model(4, 2).learn]
    for call in calls if kind == "PosixPath" else [*calls, lambda table: eigenhedge.run(table, 2)]:
        with pytest.raises(TypeError, match=f"the rows must form a table, got {kind}: .*{advice}"):
            call(OTHERS[kind](X))


def test_set_output(X):
    for library, frame in [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]:
        table = OnlinePCA(2).set_output(transform=library).fit_transform(X)
        assert isinstance(table, frame)
        assert list(table.columns) == ["onlinepca0", "onlinepca1"]


def test_arrays_are_not_copied_and_not_changed(X):
    import tracemalloc

    wide = np.random.default_rng(0).normal(size=(2000, 500))
    wide.setflags(write=False)
    before = wide.copy()
    learner = eigenhedge.Model(500, 1, learner="oja")
    tracemalloc.start()
    learner.learn(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < wide.nbytes / 100
    assert (wide == before).all()


def test_a_row_may_be_anything_that_holds_numbers():
    steps = []
    strided = np.array([1.0, 9.0, 2.0, 9.0, 3.0, 9.0])[::2]
    for row in [np.array([1.0, 2.0, 3.0]), [1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], dtype=np.float32), strided]:
        steps.append(eigenhedge.Model(3, 1, center=False).step(row).expected_loss)
    assert len(set(steps)) == 1
    with pytest.raises(TypeError, match="must be a list of numbers, got str"):
        eigenhedge.Model(3, 1).step("abc")
    with pytest.raises(ValueError, match="2 dimensions, got 1"):
        eigenhedge.run([1.0, 2.0], 1)
    with pytest.raises(ValueError, match="row must have 3 entries, got 2"):
        eigenhedge.Model(3, 1).learn([[1.0, 2.0]])


@pytest.mark.parametrize("kind", ["object", "Float64"])
def test_missing_values_of_pandas_are_missing_cells(X, kind):
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    gaps, plain = frame.astype(kind), frame.copy()
    gaps.iloc[4, 1], plain.iloc[4, 1] = pd.NA, np.nan
    with pytest.raises(ValueError, match="row 4: entry 1 .* got NaN"):
        eigenhedge.run(gaps, 2)
    with pytest.raises(ValueError, match="row 4: column 'x1' must be finite, got NaN .* missing='fill'"):
        OnlinePCA(2).fit(gaps)
    for missing in ("skip", "fill"):
        losses = [eigenhedge.run(table, 2, missing=missing).losses for table in (gaps, plain, gaps.to_numpy().tolist())]
        np.testing.assert_array_equal(losses[0], losses[1])
        np.testing.assert_array_equal(losses[0], losses[2])
        components = [OnlinePCA(2, missing=missing).fit(table).components_ for table in (gaps, plain)]
        np.testing.assert_array_equal(*components)


def test_a_row_with_a_missing_value_of_pandas_is_a_row_with_nan():
    row = pd.Series([1.0, None, 2.0], dtype="Float64")
    models = [eigenhedge.Model(3, 1, missing="fill") for _ in range(2)]
    found = [model.step(given) for model, given in zip(models, (row, [1.0, np.nan, 2.0]), strict=True)]
    assert found[0].loss == found[1].loss


def test_an_infinite_cell_is_named(X):
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame.iloc[5, 2] = -np.inf
    for model in (OnlinePCA(2), OnlinePCA(2, missing="fill"), eigenhedge.Monitor(warm_up=30)):
        with pytest.raises(ValueError, match="row 5: column 'x2' must be finite, got infinity"):
            model.partial_fit(frame)
        with pytest.raises(ValueError, match="row 5: column 2 must be finite, got infinity"):
            model.partial_fit(frame.to_numpy())


def test_a_table_without_columns_is_refused(X):
    table = pd.DataFrame(X)[[]]
    for use in (lambda: eigenhedge.run(table, 1), lambda: OnlinePCA(1).fit(table), lambda: eigenhedge.Monitor().update(table)):
        with pytest.raises(ValueError, match="the table has no columns"):
            use()


@pytest.mark.parametrize("learner", ["tracking", "leader", "auto"])
def test_a_wide_sparse_table_is_learned_like_the_same_dense_one(learner):
    random = np.random.default_rng(4)
    table = sparse.random_array((40, 5000), density=0.002, rng=random, format="csr")
    table.data[::7] = 0.0
    shuffled = sparse.csr_array((table.data[::-1], table.indices[::-1], table.indptr), shape=table.shape)
    for X in (table, shuffled):
        found, wanted = (OnlinePCA(3, learner=learner, random_state=1, losses=True).fit(rows) for rows in (X, X.toarray()))
        np.testing.assert_array_equal(found.components_, wanted.components_)
        np.testing.assert_array_equal(found.mean_, wanted.mean_)
