"""Tests of Fleet, one model or monitor per key."""

import copy
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import PROGRAM, needs_program

import eigenhedge
from eigenhedge import Fleet, Model


def rows(count=240, columns=5):
    rng = np.random.default_rng(3)
    keys = [f"key {i * i % 7}" for i in range(count)]
    return keys, rng.normal(size=(count, columns)) * [3, 2, 1, 1, 1] + 5


@pytest.mark.parametrize("max_groups", [None, 2])
@pytest.mark.parametrize("options", [{}, {"learner": "tracking", "standardize": "running"}])
def test_a_fleet_is_separate_learners(options, max_groups):
    keys, X = rows()
    fleet = Fleet(2, max_groups=max_groups, **options)
    first = fleet.update(keys[:100], X[:100])
    second = fleet.update(keys[100:], X[100:])
    expected_losses, losses, coordinates = (np.concatenate(parts) for parts in zip(first, second, strict=True))
    assert list(fleet) == list(dict.fromkeys(keys)) and len(fleet) == len(set(keys)) and "key 1" in fleet
    for key in set(keys):
        own = np.array([other == key for other in keys])
        learner = Model(5, 2, **options)
        wanted = learner.step_each(X[own])
        for found, answer in zip((expected_losses, losses, coordinates), wanted, strict=True):
            assert (found[own] == answer).all()
        assert fleet[key].rows == own.sum()
        assert (fleet[key].components == learner.components).all()


def test_a_saved_fleet_goes_on(tmp_path):
    keys, X = rows()
    whole, half = Fleet(2), Fleet(2)
    whole.update(keys, X)
    half.update(keys[:100], X[:100])
    half.save(tmp_path / "fleet.eh")
    again = Fleet.load(tmp_path / "fleet.eh", max_groups=3)
    assert again.k == 2 and again.keys() == half.keys()
    again.update(keys[100:], X[100:])
    for key in whole:
        assert whole[key].to_bytes() == again[key].to_bytes()


def test_columns_are_found_by_name():
    pandas = pytest.importorskip("pandas")
    keys, X = rows()
    table = pandas.DataFrame(X, columns=list("abcde"))
    one, other = Fleet(2), Fleet(2)
    one.update(keys, table)
    other.update(keys[:50], table[:50])
    other.update(keys[50:], table[50:][list("edcba")])
    assert all(one[key].to_bytes() == other[key].to_bytes() for key in one)
    assert one["key 1"].feature_names == list("abcde")
    with pytest.raises(ValueError, match="'a' is missing"):
        other.update(keys, table.drop(columns="a"))


def test_misuse_is_one_sentence(tmp_path):
    keys, X = rows(20)
    with pytest.raises(ValueError, match="max_groups must be at least 1, got 0"):
        Fleet(2, max_groups=0)
    with pytest.raises(ValueError, match="the list of keys"):
        Fleet(2).update(["a"] * 3, X)
    with pytest.raises(ValueError, match="standardize must be none or running, got 'warmup:3'"):
        Fleet(2, standardize="warmup:3")
    with pytest.raises(TypeError, match="unexpected keyword argument 'etta'"):
        Fleet(2, etta=3)
    with pytest.raises(KeyError):
        Fleet(2)["nobody"]
    with pytest.raises(ValueError, match="must have had a row before it is saved"):
        Fleet(2).save(tmp_path / "f.eh")
    fleet = Fleet(2)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        fleet.update(keys, X)
    assert sum(fleet[key].rows for key in fleet) == 7
    fleet.save(tmp_path / "f.eh")
    assert list(eigenhedge.load(tmp_path / "f.eh")) == list(fleet)
    with pytest.raises(ValueError, match="a model for each key"):
        eigenhedge.load(tmp_path / "f.eh", eigenhedge.Model)
    with pytest.raises(ValueError, match="must hold a Monitor, got a Fleet"):
        eigenhedge.load(tmp_path / "f.eh", eigenhedge.Monitor)
    (tmp_path / "cut.eh").write_bytes((tmp_path / "f.eh").read_bytes()[:-5])
    with pytest.raises(ValueError, match="is damaged"):
        Fleet.load(tmp_path / "cut.eh")


def sensors(count=900, faulty="key 2"):
    rng = np.random.default_rng(8)
    keys = [f"key {i % 3}" for i in range(count)]
    X = rng.normal(size=(count, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(count, 5)) + 5
    late = np.array([key == faulty for key in keys]) & (np.arange(count) > 700)
    X[late, 3] += 4.0
    return keys, X


@needs_program
def test_monitors_by_key_give_the_answers_of_the_command_line(tmp_path):
    pandas = pytest.importorskip("pandas")
    keys, X = sensors()
    table = pandas.DataFrame(X, columns=list("abcde"))
    table.insert(0, "machine", keys)
    table.to_csv(tmp_path / "t.csv", index=False)
    command = [
        "monitor",
        "t.csv",
        "--group-by",
        "machine",
        "--out",
        "o.csv",
        "--events",
        "e.csv",
        "--snapshot",
        "m.eh",
        "--warm-up",
        "100",
    ]
    subprocess.run([PROGRAM, *command], check=True, capture_output=True, cwd=tmp_path)
    fleet = Fleet(eigenhedge.Monitor(warm_up=100), max_groups=2)
    first = fleet.update(keys[:300], table.drop(columns="machine")[:300])
    alarms = fleet.update(keys[300:], table.drop(columns="machine")[300:])
    wanted = pandas.read_csv(tmp_path / "o.csv", float_precision="round_trip")
    for name in ["score", "q", "t2"]:
        found = np.concatenate([getattr(first, name), getattr(alarms, name)])
        np.testing.assert_allclose(found, wanted[name], rtol=1e-12, err_msg=name)
    assert (np.concatenate([first.alarm, alarms.alarm]) == wanted["alarm"]).all()
    assert list(wanted["machine"][300:]) == alarms.key and alarms.row[0] == 300
    assert "key 2" in {one["key"] for one in alarms.incidents if one["grade"] == "critical"}
    assert fleet["key 2"].open_incidents[0]["causes"][0][0] == "d"
    opened = Fleet.load(tmp_path / "m.eh")
    assert opened.keys() == fleet.keys() and opened["key 2"].open_incidents[0]["causes"][0][0] == "d"


def test_a_saved_fleet_of_monitors_goes_on(tmp_path):
    keys, X = sensors()
    whole, half = Fleet(eigenhedge.Monitor(warm_up=100)), Fleet(eigenhedge.Monitor(warm_up=100))
    after = whole.update(keys[:600], X[:600]) and whole.update(keys[600:], X[600:])
    half.update(keys[:600], X[:600])
    half.save(tmp_path / "fleet.eh")
    again = Fleet.load(tmp_path / "fleet.eh")
    assert repr(again) == "<Fleet of monitors, groups=3>"
    np.testing.assert_array_equal(again.update(keys[600:], X[600:]).score, after.score)


def saved_and_loaded(fleet, folder):
    fleet.save(folder / "fleet.eh")
    return Fleet.load(folder / "fleet.eh", max_groups=2)


#: Functions that return a fleet with the members of another one.
RETURNS = {
    "save": saved_and_loaded,
    "pickle": lambda fleet, folder: pickle.loads(pickle.dumps(fleet)),
    "copy": lambda fleet, folder: copy.copy(fleet),
    "merge": lambda fleet, folder: eigenhedge.merge(fleet, Fleet(fleet.k)),
}


@pytest.mark.parametrize("way", RETURNS)
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_a_fleet_of_monitors_that_comes_back_continues_its_table(tmp_path, way, missing):
    keys, X = sensors()
    X[np.random.default_rng(2).random(X.shape) < missing] = np.nan
    fleet = Fleet(eigenhedge.Monitor(warm_up=60, lags=2, differences=True, rebaseline=40))
    # The second part begins inside the incident.
    for rows in (slice(0, 450), slice(450, 740)):
        fleet.update(keys[rows], X[rows])
    other = RETURNS[way](fleet, tmp_path)
    wanted, found = fleet.update(keys[740:], X[740:]), other.update(keys[740:], X[740:])
    for name in ("row", "score", "limit", "alarm", "incident"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    assert [one["start"] for one in found.incidents] == [one["start"] for one in wanted.incidents]
    assert all(other[key]._model.to_bytes() == fleet[key]._model.to_bytes() for key in fleet)


def test_an_incident_of_one_key_is_accepted():
    keys, X = sensors()
    fleet = Fleet(eigenhedge.Monitor(warm_up=100))
    fleet.update(keys, X)
    assert fleet["key 2"].open_incidents
    fleet.accept("key 2")
    assert fleet["key 2"].open_incidents == []
    with pytest.raises(KeyError):
        fleet.accept("key 9")


def test_a_fitted_monitor_is_the_reference_of_every_key():
    keys, X = sensors()
    fitted = eigenhedge.Monitor(warm_up=100).fit(X[:500])
    fleet = Fleet(fitted)
    alarms = fleet.update(keys[500:], X[500:])
    assert np.isfinite(alarms.score).all()
    with pytest.raises(ValueError, match="must have 5 columns like those of the monitor, got 2"):
        Fleet(fitted).update(["a"], X[:1, :2])


def test_wrong_fleets_of_monitors_are_refused():
    with pytest.raises(ValueError, match="learner has no effect with a fleet of monitors"):
        Fleet(eigenhedge.Monitor(warm_up=100), learner="tracking")
    with pytest.raises(ValueError, match="accept needs a fleet of monitors"):
        Fleet(2).accept("a")
    keys, X = rows()
    models, monitors = Fleet(2), Fleet(eigenhedge.Monitor(warm_up=100))
    models.update(keys, X)
    monitors.update(keys, X)
    with pytest.raises(ValueError, match="a fleet of models cannot be merged with a fleet of monitors"):
        eigenhedge.merge(models, monitors)


@pytest.mark.parametrize("k", [2, eigenhedge.Monitor(warm_up=60)])
def test_a_pickled_fleet_goes_on(tmp_path, k):
    keys, X = sensors()
    whole, cut = Fleet(k), Fleet(k)
    whole.update(keys, X)
    cut.update(keys[:500], X[:500])
    copied = pickle.loads(pickle.dumps(cut))
    found, wanted = copied.update(keys[500:], X[500:]), cut.update(keys[500:], X[500:])
    assert list(copied) == list(whole)
    if k == 2:
        np.testing.assert_array_equal(found[0], wanted[0])
    else:
        np.testing.assert_array_equal(found.score, wanted.score)
        np.testing.assert_array_equal(found.limit, wanted.limit)
        assert copied["key 2"].open_incidents[0]["causes"] == whole["key 2"].open_incidents[0]["causes"]
    assert len(pickle.loads(pickle.dumps(Fleet(k)))) == 0


def test_a_column_of_a_table_names_the_keys():
    keys, X = sensors()
    table = pd.DataFrame(X, columns=list("abcde")).assign(machine=keys)
    alarms = Fleet(eigenhedge.Monitor(warm_up=60)).update("machine", table)
    other = Fleet(eigenhedge.Monitor(warm_up=60)).update(keys, table.drop(columns="machine"))
    assert alarms.key == other.key and alarms.columns == list("abcde")
    np.testing.assert_array_equal(alarms.score, other.score)
    polars = pytest.importorskip("polars")
    again = Fleet(eigenhedge.Monitor(warm_up=60)).update("machine", polars.from_pandas(table))
    np.testing.assert_array_equal(again.score, other.score)
    for rows in (table, X):
        with pytest.raises(ValueError, match="the name of a column of the table, got 'plant'"):
            Fleet(2).update("plant", rows)


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_a_missing_key_is_refused(missing):
    keys, X = rows(20)
    fleet = Fleet(2)
    with pytest.raises(ValueError, match="row 4: the key is missing"):
        fleet.update([*keys[:4], missing, *keys[5:]], X)
    assert len(fleet) == 0


@pytest.mark.parametrize("k", [2.5, 0, -1, True, None, "two", [2]])
def test_a_wrong_number_of_directions_is_refused_at_once(k):
    with pytest.raises(ValueError, match="k must be a whole number, at least 1, or a Monitor"):
        Fleet(k)


def test_charts_of_a_key_are_those_of_the_fleet(tmp_path):
    keys, X = sensors()
    fleet = Fleet(eigenhedge.Monitor(warm_up=60))
    fleet.update(keys, X)
    copied = fleet["key 1"]
    with pytest.raises(ValueError, match="call report of the fleet"):
        copied.report(tmp_path / "page.html")
    copied.update(X[:100])
    copied.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()


def test_the_results_of_a_key_are_its_rows():
    keys, X = sensors()
    alarms = Fleet(eigenhedge.Monitor(warm_up=60)).update(keys, pd.DataFrame(X))
    parts = {key: alarms.of_key(key) for key in set(keys)}
    assert sum(len(part) for part in parts.values()) == len(alarms)
    for key, part in parts.items():
        places = np.flatnonzero(np.array(keys) == key)
        np.testing.assert_array_equal(part.row, places)
        np.testing.assert_array_equal(part.index, places)
        np.testing.assert_array_equal(part.score, alarms.score[places])
        assert [event for event in alarms.events if event["key"] == key] == part.events
    with pytest.raises(KeyError):
        alarms.of_key("nobody")
