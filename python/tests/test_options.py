"""Every option of learners works in every interface of the package."""

import inspect
import typing

import numpy as np
import pytest
from sklearn.base import clone

import eigenhedge
from eigenhedge import Model, OnlineKernelPCA, OnlinePCA, _options, river
from eigenhedge.typing import Options

TABLE = {entry["name"]: entry for entry in eigenhedge.options()}
ROWS = np.random.default_rng(0).normal(size=(30, 5))


def example(name):
    """Return the example of an option as keyword arguments."""
    keywords = eval(f"dict({TABLE[name]['example']})")
    numbers = [option for option in keywords if TABLE[option]["type"] == "number" and not isinstance(keywords[option], str)]
    keywords.update({option: float(keywords[option]) for option in numbers})
    # In a summary, a list of numbers is a string.
    keywords.update({option: str(value) for option, value in keywords.items() if TABLE[option]["type"] == "numbers"})
    return keywords


@pytest.mark.parametrize("name", TABLE)
def test_an_option_is_a_keyword_of_everything_that_learns(name):
    keywords = example(name)
    assert name in keywords
    summary = eigenhedge.run(ROWS, 2, **keywords).summary
    # The model stores the rate set by a ceiling, but neither the ceiling nor the seed.
    if name not in ("ceiling", "horizon", "seed", "learner"):
        assert summary["options"][name] == keywords[name]
    assert name == "learner" or Model(5, 2, **{name: None}).rows == 0
    for model in [OnlinePCA, OnlineKernelPCA]:
        if name not in inspect.signature(model).parameters:
            assert name in (_options.OF_KERNELS | {"seed"} if model is OnlinePCA else {"seed", "segments"})
            continue
        if name == "missing" and model is OnlineKernelPCA:
            with pytest.raises(ValueError, match="missing fill is for plain rows"):
                model(2, **keywords).fit(ROWS)
            continue
        if name == "start_center" and model is OnlineKernelPCA:
            with pytest.raises(ValueError, match="start_center is a row of numbers"):
                model(2, **keywords).fit(ROWS)
            continue
        estimator = clone(model(2, **{"learner": "auto", **keywords})).fit(ROWS)
        assert estimator.get_params()[name] == keywords[name]
        assert name in ("learner", "ceiling", "horizon") or estimator.summary_["options"][name] == keywords[name]
    stream = river.OnlinePCA(2, **keywords).clone()
    assert getattr(stream, name) == keywords[name]
    if name in ("items", "substring"):
        with pytest.raises(ValueError, match="the rows of River are features with numbers"):
            stream.learn_one(dict(zip("abcde", ROWS[0], strict=True)))
        return
    stream.learn_one(dict(zip("abcde", ROWS[0], strict=True)))
    assert name in ("learner", "ceiling", "horizon", "seed") or stream.summary["options"][name] == keywords[name]


@pytest.mark.parametrize("taker", [eigenhedge.run, Model, eigenhedge.Fleet, OnlineKernelPCA, river.OnlinePCA])
def test_signatures_name_every_option(taker):
    named = set(inspect.signature(taker).parameters)
    assert set(TABLE) - named == ({"seed", "segments"} if taker is OnlineKernelPCA else set())
    assert not any(item.kind is item.VAR_KEYWORD for item in inspect.signature(taker).parameters.values())
    with pytest.raises(TypeError, match="unexpected keyword argument 'etta'"):
        taker(*{eigenhedge.run: [ROWS, 2], Model: [5, 2], eigenhedge.Fleet: [2]}.get(taker, []), etta=1.0)


#: Calls that check options. Estimators check them in `fit`, as scikit-learn requires.
CREATED = {
    "run": lambda **options: eigenhedge.run(ROWS, 2, **options),
    "Model": lambda **options: Model(5, 2, **options),
    "Fleet": lambda **options: eigenhedge.Fleet(2, **options),
    "river.OnlinePCA": lambda **options: river.OnlinePCA(2, **options),
    "Moments.finish": lambda **options: eigenhedge.Moments(5, 2).update(ROWS).finish(**options),
    "OnlinePCA": lambda **options: OnlinePCA(2, **options).fit(ROWS),
    "OnlineKernelPCA": lambda **options: OnlineKernelPCA(2, **options).fit(ROWS),
}


@pytest.mark.parametrize("name", CREATED)
def test_options_are_checked_where_they_are_given(name):
    with pytest.raises(TypeError, match="unexpected keyword argument 'learnr'"):
        CREATED[name](learnr="tracking")
    with pytest.raises(ValueError, match="learner must be one of .*, got 'trackin'"):
        CREATED[name](learner="trackin")
    with pytest.raises(ValueError, match="eta must be"):
        CREATED[name](learner="tracking", eta=-1.0)


@pytest.mark.parametrize("option", [{"share": 2.0}, {"mode": "adopt"}, {"limit": "auto:7"}, {"missing": "drop"}])
def test_options_of_monitors_are_checked_where_they_are_given(option):
    created = [
        lambda: river.SubspaceAnomaly(**option),
        lambda: eigenhedge.Fleet(eigenhedge.Monitor(**option)),
        lambda: eigenhedge.Monitor(**option).fit(ROWS),
    ]
    for create in created:
        with pytest.raises(ValueError, match=f"{next(iter(option))} must be"):
            create()


def test_documentation_and_types_name_every_option():
    words = " ".join(eigenhedge.run.__doc__.split())
    for name, entry in TABLE.items():
        assert f"\n{name} : " in eigenhedge.run.__doc__, name
        assert " ".join(entry["help"].split()) in words, name
    assert set(typing.get_type_hints(Options)) == set(TABLE)


def test_learners_tell_which_options_they_read():
    for learner in eigenhedge.learners():
        assert learner["reads"] == [name for name, entry in TABLE.items() if learner["name"] in entry["read_by"]]
    with pytest.raises(ValueError, match="forget has no effect with the learner auto"):
        Model(5, 2, forget=0.9)


def test_center_is_a_word_or_a_yes_or_no():
    summaries = [eigenhedge.run(ROWS, 2, center=center).summary for center in [True, "running", None, False, "none"]]
    assert [summary["options"]["center"] for summary in summaries] == ["running", "running", "running", "none", "none"]
    with pytest.raises(ValueError, match="mixing must be one of none, fixed-share, past-average, got True"):
        Model(5, 2, learner="tracking", mixing=True)


def test_a_start_center_is_a_number_a_list_or_an_array():
    rows = ROWS + 7.0
    for start in [7.0, [7.0] * 5, np.full(5, 7.0), "7", "7,7,7,7,7"]:
        found = eigenhedge.run(rows, 2, center_prior=4.0, start_center=start).summary
        assert found["options"]["start_center"] == "7"
    shifted = eigenhedge.run(ROWS, 2, center_prior=4.0).summary
    assert found["expected_loss"] == pytest.approx(shifted["expected_loss"], rel=1e-9)
    with pytest.raises(ValueError, match="start_center must be finite numbers"):
        eigenhedge.run(rows, 2, center_prior=4.0, start_center=[1.0, float("nan")])
    with pytest.raises(ValueError, match="5"):
        eigenhedge.run(rows, 2, center_prior=4.0, start_center=[1.0, 2.0])


def test_every_option_of_an_estimator_is_described():
    for model in [OnlinePCA, OnlineKernelPCA]:
        assert "{options}" not in model.__doc__
        described = [line.split(" : ")[0].strip() for line in model.__doc__.splitlines() if " : " in line]
        assert set(inspect.signature(model).parameters) <= set(described)
