"""Tests of run, in comparison with the command line."""

import json
import subprocess
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from conftest import PROGRAM, low_rank, needs_program
from pandas.testing import assert_frame_equal

import eigenhedge
from eigenhedge import _summary

KEYS = """rows skipped_rows dim k learner eta uncharged_rows first_row_loss expected_loss loss kept_energy best_loss regret bound
bound_holds certificate advice rank_mean rank_max seconds rows_per_second""".split()


def test_run_equals_the_learner_row_by_row(rng):
    X = low_rank(rng, rows=80)
    for name in [entry["name"] for entry in eigenhedge.learners()]:
        k = 1 if name == "oja" else 2
        run = eigenhedge.run(X, k, learner=name, seed=4)
        learner = eigenhedge.Model(8, k, learner=name, seed=4)
        trials = [learner.step(row) for row in X]
        assert run.losses.tolist() == [trial.loss for trial in trials], name
        assert run.expected_losses.tolist() == [trial.expected_loss for trial in trials], name
        assert (run.coordinates == [trial.coordinates for trial in trials]).all(), name
        assert run.model.to_bytes() == learner.to_bytes(), name
        first = run.summary["first_row_loss"]
        assert first is None or first == run.expected_losses[0], name
        assert run.summary["loss"] == pytest.approx(run.losses[0 if first is None else 1 :].sum()), name


def test_the_ledger_has_the_keys_of_the_summary_and_adds_up(rng):
    summary = eigenhedge.run(low_rank(rng), 2, learner="anchored").summary
    assert set(KEYS) <= set(summary)
    assert summary["regret"] == pytest.approx(summary["expected_loss"] - summary["best_loss"])
    assert summary["bound_holds"] is True and summary["expected_loss"] <= summary["bound"]
    assert eigenhedge.run(low_rank(rng), 2, learner="leader").summary["bound"] is None


def test_losses_are_what_the_coordinates_leave_out(rng):
    X = rng.normal(size=(50, 5))
    run = eigenhedge.run(X, 2, center=False, coordinates="drawn")
    np.testing.assert_allclose((X**2).sum(axis=1) - (run.coordinates**2).sum(axis=1), run.losses, atol=1e-10)


@pytest.mark.parametrize("learner", ["auto", "tracking", "anchored", "leader", "perturbed-leader"])
def test_reconstructions_lose_what_is_charged(rng, learner):
    X = low_rank(rng, rows=60)
    run = eigenhedge.run(X, 2, learner=learner, reconstructions=True)
    np.testing.assert_allclose(((X - run.reconstructions) ** 2).sum(axis=1), run.losses, rtol=1e-9, atol=1e-9)
    without = eigenhedge.run(X, 2, learner=learner)
    assert without.reconstructions is None
    assert (without.losses == run.losses).all()


def test_reconstructions_are_refused_where_there_are_none(rng):
    X = low_rank(rng)
    for options, sentence in [
        ({"kernel": "rbf"}, "need plain rows"),
        ({"learner": "gha"}, "need a learner over subspaces"),
        ({"feature_dim": 20}, "need the space of the rows"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            eigenhedge.run(X, 2, reconstructions=True, **options)


CASES = [
    ({}, []),
    ({"coordinates": "drawn"}, ["--coordinates", "drawn"]),
    ({"learner": "tracking", "seed": 7}, ["--learner", "tracking", "--seed", "7"]),
    (
        {"learner": "tracking", "eta": 2.5, "mixing": "past-average", "alpha": 0.02, "center": False},
        ["--learner", "tracking", "--eta", "2.5", "--mixing", "past-average", "--alpha", "0.02", "--center", "none"],
    ),
    ({"learner": "tracking", "merge": 0.5}, ["--learner", "tracking", "--merge", "0.5"]),
    ({"learner": "tracking", "eta": "auto"}, ["--learner", "tracking", "--eta", "auto"]),
    ({"learner": "anchored", "center_prior": 3.0}, ["--learner", "anchored", "--center-prior", "3"]),
    ({"learner": "perturbed-leader", "seed": 5}, ["--learner", "perturbed-leader", "--seed", "5"]),
    ({"learner": "gha"}, ["--learner", "gha"]),
    (
        {"learner": "anchored", "kernel": "rbf", "gamma": 0.2, "budget": 30},
        ["--learner", "anchored", "--kernel", "rbf", "--gamma", "0.2", "--budget", "30"],
    ),
    ({"kernel": "poly", "degree": 2, "feature_dim": "inf"}, ["--kernel", "poly", "--degree", "2", "--feature-dim", "inf"]),
    ({"select": "corners", "max_rank": 6, "segments": 3}, ["--select", "corners", "--max-rank", "6", "--segments", "3"]),
    (
        {"learner": "tracking", "norm_bound": 50.0, "ceiling": 9.0},
        ["--learner", "tracking", "--norm-bound", "50", "--ceiling", "9"],
    ),
]


@needs_program
@pytest.mark.parametrize("options, arguments", CASES, ids=[" ".join(arguments) or "defaults" for _, arguments in CASES])
def test_the_command_line_gives_the_same_bits(tmp_path, rng, options, arguments):
    X = low_rank(rng, rows=120, length=6)
    table, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    table.write_text("".join(",".join(map(repr, row)) + "\n" for row in X.tolist()))
    command = [PROGRAM, "run", table, "-k", "2", "--out", out, "--summary", "json", *arguments]
    summary = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    answers = np.loadtxt(out, delimiter=",", skiprows=1)
    run = eigenhedge.run(X, 2, **options)
    assert (answers[:, 1] == run.expected_losses).all()
    assert (answers[:, 2] == run.losses).all()
    assert (answers[:, 3:] == run.coordinates).all()
    assert_frame_equal(run.to_frame(), pd.read_csv(out, float_precision="round_trip"), check_exact=True)
    timing = {"seconds", "rows_per_second"}
    found = {key: value for key, value in run.summary.items() if key not in timing}
    assert found == {key: value for key, value in summary.items() if key not in timing}


@needs_program
def test_a_file_is_read_like_by_the_command_line_and_a_page_is_written(tmp_path, rng):
    X = low_rank(rng, rows=300, length=4)
    times = pd.date_range("2026-03-01", periods=300, freq="min").strftime("%d.%m.%Y %H:%M")
    frame = pd.DataFrame(X, columns=[*"abcd"]).assign(note="ok", time=times)
    frame.to_csv(tmp_path / "rows.csv", index=False, sep=";", decimal=",")
    out, page = tmp_path / "out.csv", tmp_path / "page.html"
    subprocess.run([PROGRAM, "run", tmp_path / "rows.csv", "-k", "2", "--out", out, "--answers-as", "csv", "--quiet"], check=True)
    run = eigenhedge.run(str(tmp_path / "rows.csv"), 2, report=page)
    answers = pd.read_csv(out, float_precision="round_trip").drop(columns="time")
    assert_frame_equal(run.to_frame(), answers, check_exact=True)
    assert run.model.feature_names == [*"abcd"]
    assert "eigenhedge run: 300 rows of 4 columns" in page.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="missing.csv"):
        eigenhedge.run(tmp_path / "missing.csv", 2)


def test_errors_name_the_row_the_entry_and_the_value(rng):
    X = rng.normal(size=(20, 3))
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7: entry 2 of the row must be finite, unless missing is skip or fill, got NaN"):
        eigenhedge.run(X, 1)
    X[7, 2] = 100.0
    with pytest.raises(ValueError, match="row 7: the norm of the row must not exceed the norm bound 50, got 1"):
        eigenhedge.run(X, 1, norm_bound=50.0, center=False)
    for k, sentence in [(0, "k must be at least 1"), (3, "k must be at least 1 and less than the dimension 3, got 3")]:
        with pytest.raises(ValueError, match=sentence):
            eigenhedge.run(X, k)
    with pytest.raises(ValueError, match="eta must be positive and finite, got -1"):
        eigenhedge.run(X, 1, learner="tracking", eta=-1)
    with pytest.raises(ValueError, match="eta must be a number or auto, got 'fast'"):
        eigenhedge.run(X, 1, learner="tracking", eta="fast")
    with pytest.raises(ValueError, match="learner must be one of auto, .*, got 'ojja': did you mean 'oja'"):
        eigenhedge.run(X, 1, learner="ojja")
    with pytest.raises(TypeError, match="unexpected keyword argument 'kernal': did you mean 'kernel'"):
        eigenhedge.Model(3, 1, kernal="rbf")
    with pytest.raises(ValueError, match="gamma needs a kernel"):
        eigenhedge.run(X, 1, gamma=1.0)


def holes(share, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + 0.05 * rng.normal(size=(300, 6))
    X[rng.uniform(size=X.shape) < share] = np.nan
    return X


def test_missing_cells_are_filled_in_and_counted():
    X = holes(0.2)
    run = eigenhedge.run(X, 2, missing="fill")
    assert run.summary["certificate"]["missing_cells"] == np.isnan(X).sum()
    assert run.summary["best_loss"] is None
    assert all(np.isfinite(part).all() for part in (run.losses, run.expected_losses, run.coordinates))
    assert np.isfinite(run.model.transform(X)).all()
    assert run.expected_losses[200:].mean() < 0.1


def test_rows_with_missing_cells_are_passed_over():
    X = holes(0.1)
    run = eigenhedge.run(X, 2, missing="skip")
    incomplete = np.isnan(X).any(axis=1)
    assert run.summary["skipped_rows"] == incomplete.sum()
    whole = eigenhedge.run(X[~incomplete], 2)
    np.testing.assert_array_equal(run.losses[~incomplete], whole.losses)
    for array in (run.losses, run.expected_losses, run.coordinates):
        assert np.isnan(array[incomplete]).all() and np.isfinite(array[~incomplete]).all()
    assert "nan" not in run._repr_html_()


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({}, "entry .* of the row must be finite, unless missing is skip or fill, got NaN"),
        ({"missing": "drop"}, "missing must be one of fail, skip, fill, got 'drop'"),
        ({"missing": "filll"}, "did you mean 'fill'"),
        ({"missing": True}, "missing must be one of fail, skip, fill, got True"),
        ({"missing": 0}, "missing must be one of fail, skip, fill, got 0"),
        ({"missing": "fill", "kernel": "rbf"}, "missing fill is for plain rows"),
        ({"missing": "fill", "learner": "gha"}, "missing fill is not for the learner gha"),
        ({"missing": "fill", "segments": 2}, "segments has no effect with missing fill"),
    ],
)
def test_missing_cells_that_cannot_be_treated_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        eigenhedge.run(holes(0.2), 2, **options)


def test_infinity_is_no_missing_cell():
    X = holes(0.2)
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="must be finite or missing, got inf"):
        eigenhedge.run(X, 2, missing="fill")


def test_a_run_shows_its_account(rng):
    run = eigenhedge.run(low_rank(rng), 3)
    summary = run.summary
    energy = summary["loss"] + summary["kept_energy"]
    heaviest = max(summary["members"], key=lambda member: member["weight"])
    shown = [
        "auto, k = 3, 400 rows of 8",
        f"{summary['expected_loss']:.4g} ({summary['expected_loss'] / energy:.2%} of the energy)",
        f"best fixed subspace{_summary.rounded(summary['best_loss'])}",
        f"bound{_summary.rounded(summary['bound'])}, holds",
        f"{heaviest['name']} ({heaviest['weight']:.0%})",
    ]
    page = ElementTree.fromstring(run._repr_html_())
    assert all(text in "".join(page.itertext()) for text in shown)
    assert all(text in repr(run).replace("subspace ", "subspace").replace("bound ", "bound") for text in shown)
    assert [_summary.rounded(value) for value in (0.0012346, 999.96, 16768.4, {"low": 1.0, "high": 2e12})] == [
        "0.001235",
        "1000",
        "16,768",
        "1 to 2e+12",
    ]
    points = [tuple(map(float, point.split(","))) for point in page.find(".//polyline").get("points").split()]
    assert len(points) == 120 and all(0 <= x <= 240 and 0 <= y <= 36 for x, y in points)
    # The losses of the first rows are largest, so the line begins at the top.
    assert min(points[:5], key=lambda point: point[1])[1] == min(y for _, y in points)


def test_accounts_without_a_bound_or_rows_are_shown(rng):
    assert "bound" not in repr(eigenhedge.run(low_rank(rng), 3, learner="leader"))
    for rows in (0, 1):
        empty = eigenhedge.run(np.zeros((rows, 3)), 1)
        assert "expected loss 0" in repr(empty) and "<table>" in empty._repr_html_()
    wide = eigenhedge.run(rng.normal(size=(20, 5000)), 1)
    assert wide.summary["best_loss"] is None or " to " in repr(wide)


def test_a_run_knows_the_names_of_its_columns(rng):
    frame = pd.DataFrame(low_rank(rng), columns=list("abcdefgh"))
    assert eigenhedge.run(frame, 2).model.feature_names == list("abcdefgh")
    assert eigenhedge.run(frame.to_numpy(), 2).model.feature_names is None
    assert eigenhedge.run(frame.rename(columns={"a": 1}), 2).model.feature_names is None
