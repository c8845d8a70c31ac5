"""Every call that takes a table matches its columns by name, or rejects the table."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eigenhedge
from eigenhedge import Fleet, KernelPCA, KernelRidge, Model, Moments, Monitor, OnlineImputer, OnlineKernelPCA, OnlinePCA, river

COLUMNS = list("abcd")
ROWS = 120
FRAMES = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "polars": lambda X, names: pl.DataFrame(X, schema=names),
    "arrow": lambda X, names: pa.table({name: X[:, i] for i, name in enumerate(names)}),
}
ORDERS = {"reversed": [3, 2, 1, 0], "rotated": [1, 2, 3, 0], "swapped": [1, 0, 2, 3]}
TARGET = np.arange(ROWS) % 7.0
KEYS = ["x", "y"] * (ROWS // 2)


def learned(method, *arguments):
    """Return a function that learns a table, and returns the result of `method` for another."""

    def use(first, second):
        model = Model(4, 2)
        model.learn(first)
        result = getattr(model, method)(second, *arguments)
        return model.components if result is None else np.concatenate([np.ravel(part) for part in np.atleast_1d(result)])

    return use


def stepped(first, second):
    model = Model(4, 2)
    model.step_each(first)
    return model.step_each(second)[2]


def batch(first, second):
    model = Model(4, 2, learner="leader", center=False)
    model.step_batch(first)
    return np.array(model.step_batch(second))


def estimator(make, method, fitted="fit"):
    def use(first, second):
        model = make()
        getattr(model, fitted)(first)
        result = getattr(model, method)(second)
        return model._fitted().components if result is model else result

    return use


def alarms(first, second):
    monitor = Monitor(warm_up=60)
    monitor.update(first)
    return monitor.update(second).score


def fleet(first, second):
    models = Fleet(2)
    models.update(KEYS, first)
    return models.update(KEYS, second)[2]


def fleet_of_monitors(first, second):
    return Fleet(Monitor(warm_up=60).fit(first)).update(KEYS, second).score


def moments(first, second):
    return Moments(4, 2).update(first).update(second).scatter


def ridge(first, second):
    return KernelRidge().fit(first, TARGET).predict(second)


#: Functions of two tables, by the name of the public function or method that takes the second one.
CALLS = {
    "run": lambda first, second: eigenhedge.run(first, 2).model.transform(second),
    "Model.learn": learned("learn"),
    "Model.transform": learned("transform"),
    "Model.filled": learned("filled"),
    "Model.losses": learned("losses"),
    "Model.step_each": stepped,
    "Model.step_batch": batch,
    "Fleet.update": fleet,
    "Fleet(Monitor).update": fleet_of_monitors,
    "Moments.update": moments,
    "Monitor.update": alarms,
    "mmd": lambda first, second: np.array([eigenhedge.mmd(first, second, splits=9).biased]),
    "kernel_mean": lambda first, second: eigenhedge.kernel_mean(first, second).values,
    "preimage": lambda first, second: eigenhedge.preimage(first, np.ones(ROWS) / ROWS, candidates=second).point,
    "KernelRidge.predict": ridge,
    "KernelRidge.score": lambda first, second: np.array([KernelRidge().fit(first, TARGET).score(second, TARGET)]),
}
ESTIMATORS = {
    "OnlinePCA": lambda: OnlinePCA(2),
    "OnlineKernelPCA": lambda: OnlineKernelPCA(2, learner="tracking", budget=20),
    "OnlineImputer": lambda: OnlineImputer(2),
    "KernelPCA": lambda: KernelPCA(2),
    "Monitor": lambda: Monitor(warm_up=60),
}
for name, make in ESTIMATORS.items():
    for method in ("transform", "score_samples", "score", "predict", "decision_function", "partial_fit", "standard_errors"):
        if hasattr(make(), method) and (name, method) != ("OnlineKernelPCA", "partial_fit"):
            if (name, method) == ("Monitor", "partial_fit"):
                continue
            CALLS[f"{name}.{method}"] = estimator(make, method)
#: Functions and methods that are not tested here, with the reason.
OTHERS = {
    "Model.reconstruct": "coordinates",
    "experts": "losses of experts",
    "Experts.step": "losses of experts",
    "CappedHedge.step": "losses of experts",
    "pair": "two tables with columns of their own",
    "Monitor.partial_fit": "is Monitor.update",
    "OnlineKernelPCA.partial_fit": "is OnlinePCA.partial_fit",
}


def takers():
    """Yield the public functions and methods that take a table, except `fit` and similar methods."""
    for name in eigenhedge.__all__:
        thing = getattr(eigenhedge, name)
        if inspect.isclass(thing):
            methods = {f"{name}.{key}": value for key, value in inspect.getmembers(thing, callable) if key[0] != "_"}
        else:
            methods = {name: thing} if callable(thing) else {}
        for path, function in methods.items():
            try:
                arguments = set(inspect.signature(function).parameters)
            except ValueError:
                continue
            begins = path.split(".")[-1] in ("fit", "fit_transform", "fit_predict", "inverse_transform")
            if arguments & {"X", "losses", "atoms", "candidates"} and not begins:
                yield path


def test_every_function_that_takes_a_table_is_tested():
    missing = set(takers()) - set(CALLS) - set(OTHERS)
    assert not missing


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", FRAMES)
def test_the_order_of_named_columns_has_no_effect(rng, call, kind):
    X = rng.normal(size=(ROWS, 4)) * [4.0, 2.0, 1.0, 0.5] + [0.0, 1.0, 2.0, 3.0]
    first, frame = FRAMES[kind](X, COLUMNS), FRAMES[kind]
    wanted = CALLS[call](first, first)
    for order in ORDERS.values():
        try:
            found = CALLS[call](first, frame(X[:, order], [COLUMNS[i] for i in order]))
        except ValueError as error:
            assert "feature names should match" in str(error)
            continue
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", FRAMES)
def test_another_name_is_refused(rng, call, kind):
    X = rng.normal(size=(ROWS, 4))
    with pytest.raises(ValueError, match="feature names should match|'d' is missing"):
        CALLS[call](FRAMES[kind](X, COLUMNS), FRAMES[kind](X, list("abcx")))


def test_the_labels_of_a_series_are_names(rng):
    X = pd.DataFrame(rng.normal(size=(40, 4)) * [4.0, 2.0, 1.0, 0.5], columns=COLUMNS)
    for order in ORDERS.values():
        one, other = (eigenhedge.run(X[:30], 2).model for _ in range(2))
        for t in range(30, 40):
            a, b = one.step(X.iloc[t]), other.step(X.iloc[t, order])
            assert a.expected_loss == b.expected_loss
    with pytest.raises(ValueError, match="'d' is missing"):
        one.step(X.iloc[0].rename({"d": "e"}))


def test_a_key_column_may_be_in_any_table(rng):
    X = rng.normal(size=(ROWS, 4))
    wanted = Fleet(2).update(KEYS, X)
    frames = [
        pd.DataFrame(X, columns=COLUMNS).assign(key=KEYS),
        pl.DataFrame(X, schema=COLUMNS).with_columns(pl.Series("key", KEYS)),
        pa.table({**{name: X[:, i] for i, name in enumerate(COLUMNS)}, "key": KEYS}),
    ]
    for frame in frames:
        models = Fleet(2)
        for found, array in zip(models.update("key", frame), wanted, strict=True):
            np.testing.assert_array_equal(found, array)
        assert models.keys() == ["x", "y"] and models["x"].feature_names == COLUMNS


def test_rows_of_river_are_matched_by_name(rng):
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=COLUMNS)
    one, other = river.OnlinePCA(2), river.OnlinePCA(2)
    one.learn_many(X)
    other.learn_many(X.iloc[:, ::-1])
    np.testing.assert_array_equal(one.transform_many(X), other.transform_many(X.iloc[:, ::-1]))
