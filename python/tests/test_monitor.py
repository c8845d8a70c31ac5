"""The monitor: equal to the command line, exact when it is saved, and an outlier detector."""

import copy
import os
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import eigenhedge
from eigenhedge import Monitor

PROGRAM = os.environ.get("EIGENHEDGE_PROGRAM")
NAMES = ["flow", "speed", "heat", "load", "noise"]


@pytest.fixture
def table(rng):
    """Rows near a plane; one sensor is off in rows 500 to 539, another is stuck from row 650 to 679."""
    X = rng.normal(size=(800, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(800, 5)) + 10.0
    X[500:540, 2] += 1.5
    X[650:680, 4] = X[650, 4]
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def program(tmp_path):
    if PROGRAM is None:
        pytest.skip("EIGENHEDGE_PROGRAM is not set")

    def run(table, *arguments):
        table.to_csv(tmp_path / "rows.csv", index=False)
        call = [PROGRAM, "monitor", "rows.csv", "--out", "out.csv", "--quiet", *arguments]
        subprocess.run(call, check=True, cwd=tmp_path, capture_output=True)
        return pd.read_csv(tmp_path / "out.csv")

    return run


def frames_are_equal(alarms, answers):
    frame = alarms.to_frame()
    assert list(frame) == list(answers)
    for name in frame:
        ours, theirs = frame[name].to_numpy(), answers[name].to_numpy()
        empty = pd.isna(ours)
        assert (empty == pd.isna(theirs)).all(), name
        assert (ours[~empty] == theirs[~empty]).all(), name


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 2, "mode": "learn", "lags": 2, "warm_up": 300},
        {"mode": "freeze:350", "limit": "conformal:0.02", "differences": True},
        {"lags": "auto", "share": 0.7, "standardize": False, "limit": "spot:0.01"},
    ],
    ids=str,
)
def test_rows_have_the_answers_of_the_command_line(program, table, options):
    arguments = []
    for name, value in options.items():
        value = {"standardize": "none", "differences": "on"}.get(name, value)
        arguments += ["-k" if name == "k" else "--" + name.replace("_", "-"), str(value)]
    monitor = Monitor(**options)
    pieces = [monitor.update(table[:450]), monitor.update(table[450:])]
    answers = program(table, *arguments)
    frames_are_equal(pieces[0], answers[:450])
    frames_are_equal(pieces[1], answers[450:].reset_index(drop=True))
    assert pieces[1].alarm[50:90].sum() > 10


def test_fit_is_the_table_to_train_on(program, table, tmp_path):
    table[:400].to_csv(tmp_path / "normal.csv", index=False)
    answers = program(table[400:], "--train", "normal.csv", "--lags", "1")
    frames_are_equal(Monitor(lags=1).fit(table[:400]).update(table[400:]), answers)


def test_causes_events_and_changes_have_names(table):
    monitor = Monitor()
    alarms = monitor.update(table, contributions=True)
    assert (alarms.causes[500:540, 0] == "heat").mean() > 0.9 and alarms.causes[10, 0] is None
    event = max((event for event in alarms.events if event["kind"] == "alarms"), key=lambda event: event["strength"])
    assert event["causes"][0][0] == "heat" and 500 <= event["start"] <= 502 and 537 <= event["end"] <= 541
    assert alarms.alarm[656:680].all() and (alarms.causes[656:680, 0] == "noise").all()
    assert any(event["start"] <= 656 and event["end"] == 679 for event in alarms.events)
    assert any(change["kind"] == "rise" and abs(change["start"] - 500) <= 2 for change in alarms.changes)
    np.testing.assert_allclose(alarms.contributions[400:].sum(axis=1), alarms.q[400:], rtol=1e-10)
    assert np.isnan(alarms.contributions[:400]).all() and alarms.contributions.shape == (800, 5)
    nameless = Monitor().update(table.to_numpy())
    assert (nameless.causes[500:540, 0] == 2).mean() > 0.9 and (nameless.causes[:400] == -1).all()
    assert nameless.contributions is None
    assert monitor.totals_["alarms"] == alarms.alarm.sum()


def test_limits_of_single_statistics_are_passed_as_often_as_is_asked_for(rng):
    X = rng.normal(size=(6000, 3)) @ rng.normal(size=(3, 8)) + 0.2 * rng.normal(size=(6000, 8))
    alarms = Monitor(limit="auto:0.05").update(X)
    for value, limit in [(alarms.q, alarms.q_limit), (alarms.t2, alarms.t2_limit)]:
        # 5600 rows: the standard error of a rate of 0.05 is 0.003.
        assert 0.035 < (value[400:] > limit[400:]).mean() < 0.065


def test_pickles_copies_and_files_go_on_to_the_bit(table, tmp_path):
    monitor = Monitor(lags=1, warm_up=100)
    monitor.update(table[:520])
    monitor.save(tmp_path / "m.snap")
    others = [pickle.loads(pickle.dumps(monitor)), copy.deepcopy(monitor), eigenhedge.load(tmp_path / "m.snap")]
    expected = monitor.update(table[520:]).to_frame()
    for other in others:
        assert type(other) is Monitor and other.get_params() == monitor.get_params()
        pd.testing.assert_frame_equal(other.update(table[520:]).to_frame(), expected)
        assert other.open_event_ == monitor.open_event_ and other.offset_ == monitor.offset_
    with pytest.raises(TypeError, match="must be a learner or a transformer to be exported, got a Monitor"):
        eigenhedge.export(monitor, tmp_path / "m.json")


def test_files_of_the_command_line_come_back(program, table, tmp_path):
    program(table[:600], "--snapshot", "m.snap", "--limit", "auto:0.02")
    monitor = eigenhedge.load(tmp_path / "m.snap")
    assert type(monitor) is Monitor and monitor.limit == "auto:0.02" and list(monitor.feature_names_in_) == NAMES
    monitor.save(tmp_path / "again.snap")
    ours = monitor.update(table[600:]).to_frame()
    theirs = program(table[600:], "--start-from", "again.snap")
    for name in ["score", "q", "t2", "limit", "alarm", "cause_1", "share_1"]:
        assert (ours[name] == theirs[name]).all(), name
    damaged = (tmp_path / "m.snap").read_bytes()[:-9]
    (tmp_path / "m.snap").write_bytes(damaged)
    with pytest.raises(ValueError, match="m.snap: the snapshot"):
        eigenhedge.load(tmp_path / "m.snap")


def test_judging_rows_learns_nothing(table):
    monitor = Monitor().fit(table[:400])
    before = monitor._detector.to_bytes()
    labels = monitor.predict(table[400:])
    assert labels[100:140].mean() < -0.8 and labels[:100].mean() > 0.9
    scores = monitor.score_samples(table[400:])
    np.testing.assert_allclose(monitor.decision_function(table[400:]), scores - monitor.offset_)
    assert monitor._detector.to_bytes() == before
    frozen = Monitor(mode="freeze:400").update(table)
    np.testing.assert_array_equal(-scores, frozen.score[400:])


def test_few_rows_begin_a_warm_up(table):
    with pytest.warns(UserWarning, match="there must be at least 22 normal rows, got 15"):
        monitor = Monitor(lags=2, warm_up=100).fit(table[:15])
    assert np.isnan(monitor.offset_) and (monitor.predict(table) == 1).all() and np.isnan(monitor.score_samples(table)).all()
    alarms = monitor.update(table[15:])
    assert np.isnan(alarms.score[:85]).all() and np.isfinite(alarms.score[85:]).all()


def test_missing_cells_fail_or_are_filled_in(table):
    table.iloc[450, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Monitor().update(table)
    assert np.isnan(Monitor(missing="skip").update(table).score[450])
    assert Monitor(missing="fill").update(table).score[450] < 20


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"mode": "frozen"}, "mode must be learn, gated or freeze:ROWS, got 'frozen'"),
        ({"limit": "auto:2"}, "limit must be auto:ALPHA, .* got 'auto:2'"),
        ({"k": 9}, "9"),
        ({"warm_up": 5}, "warm_up must be at least 20 rows more than the lags, got 5"),
        ({"missing": "mend"}, "missing"),
    ],
    ids=str,
)
def test_wrong_options_are_sentences(table, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Monitor(**options).update(table)


def test_an_error_names_the_row_and_keeps_what_came_before(table):
    X = table.to_numpy().copy()
    X[600, 0] = 1e200
    monitor = Monitor()
    with pytest.raises(ValueError, match="row 600: "):
        monitor.update(X)
    assert monitor.totals_["rows"] == 600
    with pytest.raises(NotFittedError):
        Monitor().predict(X)
