"""One learner for each key."""

import numpy as np
import pytest

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
    with pytest.raises(ValueError, match="warm-up"):
        Fleet(2, standardize="warmup:3").update(keys, X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'etta'"):
        Fleet(2, etta=3).update(keys, X)
    with pytest.raises(KeyError):
        Fleet(2)["nobody"]
    with pytest.raises(ValueError, match="must have learned from a row"):
        Fleet(2).save(tmp_path / "f.eh")
    fleet = Fleet(2)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        fleet.update(keys, X)
    assert sum(fleet[key].rows for key in fleet) == 7
    fleet.save(tmp_path / "f.eh")
    with pytest.raises(ValueError, match="a model for each key"):
        eigenhedge.load(tmp_path / "f.eh")
    (tmp_path / "cut.eh").write_bytes((tmp_path / "f.eh").read_bytes()[:-5])
    with pytest.raises(ValueError, match="is damaged"):
        Fleet.load(tmp_path / "cut.eh")
