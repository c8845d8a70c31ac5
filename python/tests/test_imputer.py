"""Tests of filled cells in run, Model.filled and OnlineImputer."""

import numpy as np
import pytest

import eigenhedge
from eigenhedge import Model, OnlineImputer


def table(rng, rows=600, n=8):
    """Return rows near a plane, with means that drift slowly."""
    levels = np.cumsum(0.02 * rng.normal(size=(rows, n)), axis=0)
    return rng.normal(size=(rows, 2)) @ rng.normal(size=(2, n)) + levels + 0.3 * rng.normal(size=(rows, n))


def with_holes(X, rng, share):
    holes = rng.random(X.shape) < share
    return np.where(holes, np.nan, X), holes


@pytest.mark.parametrize("options", [{}, {"standardize": "running"}, {"standardize": "warmup:50"}], ids=str)
def test_filled_rows_keep_observed_cells_and_beat_the_mean(rng, options):
    X = 5.0 + 3.0 * table(rng)
    Y, holes = with_holes(X, rng, 0.1)
    result = eigenhedge.run(Y, 3, missing="fill", filled=True, **options)
    assert (result.filled[~holes] == X[~holes]).all() and (result.fill_errors[~holes] == 0).all()
    late = holes & (np.arange(len(X)) > 50)[:, None]
    error = result.filled[late] - X[late]
    mean = np.broadcast_to(np.nanmean(Y, axis=0), X.shape)[late] - X[late]
    assert (error**2).mean() < 0.5 * (mean**2).mean()
    assert (result.fill_errors[late] > 0).all()


def test_nine_of_ten_intervals_contain_the_cell(rng):
    X = table(rng, rows=2000)
    for share in (0.05, 0.2):
        Y, holes = with_holes(X, rng, share)
        result = eigenhedge.run(Y, 3, missing="fill", filled=True)
        holes[:100] = False
        inside = np.abs(result.filled - X)[holes] <= 1.645 * result.fill_errors[holes]
        assert 0.85 < inside.mean() < 0.95, (share, inside.mean())


def test_a_model_fills_the_next_row_as_run_does(rng):
    Y, _ = with_holes(table(rng), rng, 0.1)
    Y[400] = np.nan
    Y[500, 3] = np.nan
    for end in (400, 500):
        model = Model(Y.shape[1], 3, missing="fill")
        model.learn(Y[:end])
        rows, (filled, errors) = model.rows, model.filled(Y[end : end + 1])
        wanted = eigenhedge.run(Y[: end + 1], 3, missing="fill", filled=True)
        assert np.allclose(filled[0], wanted.filled[-1]) and np.allclose(errors[0], wanted.fill_errors[-1])
        assert model.rows == rows


def test_columns_without_a_value_stay_missing(rng):
    Y = table(rng, rows=50)
    Y[:, 2] = np.nan
    result = eigenhedge.run(Y, 2, missing="fill", filled=True)
    assert np.isnan(result.filled[:, 2]).all() and np.isnan(result.fill_errors[:, 2]).all()
    assert np.isfinite(np.delete(result.filled, 2, axis=1)).all()


def test_filled_needs_missing_fill(rng):
    with pytest.raises(ValueError, match="filled=True needs missing='fill'"):
        eigenhedge.run(table(rng), 2, filled=True)
    assert eigenhedge.run(table(rng), 2).filled is None
    with pytest.raises(ValueError, match="plain rows"):
        Model(4, 1, kernel="rbf", gamma=1.0).filled(np.ones((1, 4)))


def test_the_imputer_fills_rows_saves_and_continues(rng, tmp_path):
    X = table(rng)
    Y, holes = with_holes(X, rng, 0.1)
    imputer = OnlineImputer(3).fit(Y[:400])
    whole = OnlineImputer(3).partial_fit(Y[:100]).partial_fit(Y[100:400])
    found = imputer.transform(Y[400:410])
    assert (found == whole.transform(Y[400:410])).all() and not np.isnan(found).any()
    assert (imputer.standard_errors(Y[400:410])[holes[400:410]] > 0).all()
    imputer.save(tmp_path / "model")
    again = eigenhedge.load(tmp_path / "model")
    assert type(again) is OnlineImputer and again.n_components == 3
    assert (again.transform(Y[400:410]) == found).all()
