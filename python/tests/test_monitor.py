"""Tests of Monitor, in comparison with the program, after saving, and as an outlier detector."""

import copy
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import PROGRAM, needs_program
from sklearn.exceptions import NotFittedError

import eigenhedge
from eigenhedge import Monitor

NAMES = ["flow", "speed", "heat", "load", "noise"]


@pytest.fixture
def table(rng):
    """Return rows near a plane, with a temporary offset in sensor 2 and a stuck sensor 4."""
    X = rng.normal(size=(800, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(800, 5)) + 10.0
    X[500:540, 2] += 1.5
    X[650:680, 4] = X[650, 4]
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def program(tmp_path):
    def run(table, *arguments):
        table.to_csv(tmp_path / "rows.csv", index=False)
        call = [PROGRAM, "monitor", "rows.csv", "--out", "out.csv", "--quiet", *arguments]
        subprocess.run(call, check=True, cwd=tmp_path, capture_output=True)
        return pd.read_csv(tmp_path / "out.csv", float_precision="round_trip")

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
        {"k": 2, "lags": 2, "warm_up": 300, "incident_time": 500, "rebaseline": "after:30"},
        {"mode": "freeze:350", "limit": "conformal:0.02", "differences": True},
        {"lags": "auto", "share": 0.7, "standardize": False, "limit": "auto:0.02"},
    ],
    ids=str,
)
@needs_program
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
    assert pieces[1].alarm[50:90].any() and pieces[1].in_incident[50:90].sum() > 20


@needs_program
def test_fit_is_the_table_to_train_on(program, table, tmp_path):
    table[:400].to_csv(tmp_path / "normal.csv", index=False)
    answers = program(table[400:], "--train", "normal.csv", "--lags", "1")
    frames_are_equal(Monitor(lags=1).fit(table[:400]).update(table[400:]), answers)


def test_causes_events_and_changes_have_names(table):
    monitor = Monitor()
    alarms = monitor.update(table, contributions=True)
    assert (alarms.causes[500:540, 0] == "heat").mean() > 0.9 and alarms.causes[10, 0] is None
    fault = next(one for one in alarms.incidents if 498 <= one["start"] <= 502)
    assert fault["causes"][0][0] == "heat" and 537 <= fault["end"] <= 560
    assert alarms.in_incident[656:680].all() and (alarms.causes[656:680, 0] == "noise").all()
    assert any("stuck" in one["signs"] and one["causes"][0][0] == "noise" for one in alarms.incidents)
    assert any(change["kind"] == "rise" and abs(change["start"] - 500) <= 2 for change in alarms.changes)
    np.testing.assert_allclose(alarms.contributions[400:].sum(axis=1), alarms.q[400:], rtol=1e-10)
    assert np.isnan(alarms.contributions[:400]).all() and alarms.contributions.shape == (800, 5)
    nameless = Monitor().update(table.to_numpy())
    assert (nameless.causes[500:540, 0] == 2).mean() > 0.9 and (nameless.causes[:400] == -1).all()
    assert nameless.contributions is None
    assert monitor.totals_["alarms"] == alarms.alarm.sum()


def test_limits_of_single_statistics_are_passed_as_often_as_is_asked_for(rng):
    rates = []
    for _ in range(20):
        X = rng.normal(size=(2400, 3)) @ rng.normal(size=(3, 8)) + 0.2 * rng.normal(size=(2400, 8))
        alarms = Monitor(limit="auto:0.05").update(X)
        rates.append([(alarms.q > alarms.q_limit)[400:].mean(), (alarms.t2 > alarms.t2_limit)[400:].mean()])
    # The standard deviation of a rate is 0.02, and that of a mean of 20 rates is 0.0045.
    assert (np.abs(np.mean(rates, axis=0) - 0.05) < 0.018).all(), rates


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
    with pytest.raises(TypeError, match="only a Model or a transformer can be exported, got a Monitor"):
        eigenhedge.export(monitor, tmp_path / "m.json")


@needs_program
def test_files_of_the_command_line_come_back(program, table, tmp_path):
    program(table[:600], "--snapshot", "m.snap", "--limit", "auto:0.02")
    monitor = eigenhedge.load(tmp_path / "m.snap")
    assert type(monitor) is Monitor and monitor.limit == "auto:0.02" and list(monitor.feature_names_in_) == NAMES
    monitor.save(tmp_path / "again.snap")
    ours = monitor.update(table[600:]).to_frame()
    theirs = program(table[600:], "--start-from", "again.snap")
    for name in ["score", "q", "t2", "limit", "alarm", "cause_1", "share_1"]:
        assert (ours[name].to_numpy() == theirs[name].to_numpy()).all(), name
    damaged = (tmp_path / "m.snap").read_bytes()[:-9]
    (tmp_path / "m.snap").write_bytes(damaged)
    with pytest.raises(ValueError, match="m.snap: the file"):
        eigenhedge.load(tmp_path / "m.snap")


def test_judging_rows_learns_nothing(table):
    monitor = Monitor().fit(table[:400])
    before = monitor._model.to_bytes()
    labels = monitor.predict(table[400:])
    assert labels[100:140].mean() < -0.8 and labels[:100].mean() > 0.9
    scores = monitor.score_samples(table[400:])
    np.testing.assert_allclose(monitor.decision_function(table[400:]), scores - monitor.offset_)
    assert monitor._model.to_bytes() == before
    frozen = Monitor(mode="freeze:400").update(table)
    np.testing.assert_array_equal(-scores, frozen.score[400:])


def test_judging_rows_accepts_nothing(biased):
    Y = biased[1500:1900]
    never, soon = Monitor().fit(biased[:1000]), Monitor(rebaseline="after:50").fit(biased[:1000])
    np.testing.assert_array_equal(soon.score_samples(Y), never.score_samples(Y))


def test_few_rows_begin_a_warm_up(table):
    needed = "the warm-up must have at least 22 rows in fit, or 100 in update"
    with pytest.warns(UserWarning, match=f"rows have no score yet: {needed}, got 15"):
        monitor = Monitor(lags=2, warm_up=100).fit(table[:15])
    assert np.isnan(monitor.offset_)
    for judge in [monitor.score_samples, monitor.decision_function]:
        with pytest.raises(NotFittedError, match=f"no scores yet: {needed}"):
            judge(table)
    with pytest.warns(UserWarning, match=f"no row is an alarm yet: {needed}"):
        assert (monitor.predict(table) == 1).all()
    alarms = monitor.update(table[15:])
    assert np.isnan(alarms.score[:85]).all() and np.isfinite(alarms.score[85:]).all()


def test_missing_cells_are_filled_in_unless_they_are_refused_or_passed_over(table):
    table.iloc[450, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Monitor(missing="fail").update(table)
    assert np.isnan(Monitor(missing="skip").update(table).score[450])
    assert Monitor().update(table).score[450] < 20


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"mode": "frozen"}, "mode must be adapt or freeze:ROWS, got 'frozen'"),
        ({"mode": "gated"}, "mode must be adapt or freeze:ROWS, got 'gated'"),
        ({"limit": "auto:2"}, "limit must be ALPHA, auto:ALPHA or conformal:P .* got 'auto:2'"),
        ({"rebaseline": "soon"}, "rebaseline must be never or after:ROWS, got 'soon'"),
        ({"limit": 2.0}, "limit must be ALPHA, auto:ALPHA or conformal:P .* got 'auto:2.0'"),
        ({"limit": None}, "limit must be auto:ALPHA, conformal:P or a number, got None"),
        ({"rebaseline": True}, "rebaseline must be never, after:ROWS or a number of rows, got True"),
        ({"rebaseline": 0.5}, "rebaseline must be never or after:ROWS, got 'after:0.5'"),
        ({"mode": 400}, "mode must be adapt or freeze:ROWS, got 400"),
        ({"incident_time": 5.0}, "incident_time must be from 100 to 1e9, got 5"),
        ({"k": 9}, "9"),
        ({"warm_up": 5}, "warm_up must be at least 20 rows more than the lags, got 5"),
        ({"missing": "mend"}, "missing must be fail, skip or fill, got 'mend'"),
        ({"lags": 2.5}, "lags must be a whole number or auto, got '2.5'"),
        ({"lags": [1]}, r"lags must be a text or a number, got \[1\]"),
        ({"differences": "often"}, "differences must be True, False or 'auto', got 'often'"),
    ],
    ids=str,
)
def test_wrong_options_are_sentences(table, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Monitor(**options).update(table)


def test_numbers_of_numpy_are_options(table):
    plain = Monitor(2, lags=1, standardize=False, warm_up=100, event_gap=3).update(table)
    given = Monitor(np.int64(2), lags=np.int32(1), standardize=np.False_, warm_up=np.float64(100), event_gap=3.0)
    np.testing.assert_array_equal(given.update(table).score, plain.score)


@pytest.mark.parametrize("number, text", [({"limit": 0.02}, "auto:0.02"), ({"rebaseline": np.int64(30)}, "after:30")], ids=str)
def test_numbers_are_short_for_the_options_of_the_command_line(table, number, text, tmp_path):
    [name] = number
    monitor, other = Monitor(**number), Monitor(**{name: text})
    short, long = monitor.update(table), other.update(table)
    np.testing.assert_array_equal(short.alarm, long.alarm)
    np.testing.assert_array_equal(short.limit, long.limit)
    monitor.save(tmp_path / "m.eh")
    assert getattr(eigenhedge.load(tmp_path / "m.eh"), name) == text


@pytest.fixture
def biased(rng):
    """Return rows near a plane. Sensor 4 has a bias in rows 1500 to 1899."""
    X = rng.normal(size=(2600, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(2600, 6))
    X[1500:1900, 4] += 1.0
    return X


def test_the_two_verdicts_are_told_in_three_ways(biased):
    alarms = Monitor().update(biased)
    inside, scored = alarms.in_incident, ~np.isnan(alarms.score)
    assert (inside == (alarms.incident >= 0)).all()
    assert ((alarms.state == "alarm") == alarms.alarm).all()
    assert ((alarms.state == "incident") == (inside & ~alarms.alarm)).all()
    assert ((alarms.state == "normal") == (scored & ~(inside | alarms.alarm))).all()
    assert (alarms.state[:400] == "unscored").all() and not inside[:400].any()
    # The first row of an incident is an alarm, and its other rows are not.
    assert ((alarms.score > alarms.limit) == alarms.alarm)[scored & ~inside].all()
    numbers, first = np.unique(alarms.incident, return_index=True)
    assert alarms.alarm[first[numbers > 0]].all()
    frame = alarms.to_frame()
    assert list(frame)[:10] == "row score q t2 limit alarm state incident change cause_1".split()
    assert frame["incident"].isna().sum() == (~inside).sum()


def test_a_bias_that_lasts_is_an_incident_until_it_is_repaired(biased):
    monitor = Monitor()
    alarms = monitor.update(biased[:1900])
    assert alarms.in_incident[1550:].all()
    [incident] = monitor.open_incidents
    assert incident["incident"] == alarms.incident[-1] and incident["end"] is None
    assert abs(incident["start"] - 1500) <= 20 and incident["start"] <= incident["reported"] < 1550
    assert incident["causes"][0][0] == 4 and incident["grade"] == "critical" and "shift" in incident["signs"]
    assert alarms.incidents[-1] == incident
    after = monitor.update(biased[1900:])
    assert monitor.open_incidents == [] and not after.in_incident[100:].any()
    [closed] = [one for one in after.incidents if one["incident"] == incident["incident"]]
    assert closed["start"] == incident["start"] and 1890 <= closed["end"] < 2000 and closed["causes"][0][0] == 4
    assert list(closed) == list(incident) and closed["severity"] >= incident["severity"]
    totals = monitor.totals_
    assert totals["incident_rows"] == alarms.in_incident.sum() + after.in_incident.sum() and totals["accepted"] == 0
    assert totals["incidents"] == len({one["incident"] for one in [*alarms.incidents, *after.incidents]})
    frame = after.incidents_to_frame()
    assert list(frame["incident"]) == [one["incident"] for one in after.incidents]


def test_an_accepted_state_is_normal(biased):
    monitor = Monitor()
    monitor.update(biased[:1700])
    assert len(monitor.open_incidents) == 1
    assert monitor.accept() is monitor and monitor.open_incidents == [] and monitor.totals_["accepted"] == 1
    accepted = monitor.update(biased[1700:1900])
    assert accepted.alarm.mean() < 0.05 and accepted.in_incident.mean() < 0.1
    assert monitor.update(biased[1900:]).in_incident[50:].all()
    by_itself = Monitor(rebaseline="after:150").update(biased[:1900])
    [event] = [change for change in by_itself.changes if change["kind"] == "accepted"]
    assert event["start"] == event["end"] and abs(event["start"] - 1650) <= 25 and event["causes"] == []
    assert by_itself.in_incident[event["end"]] and by_itself.incidents[-1]["end"] is not None


def test_a_column_that_stays_empty_is_an_incident(rng):
    X = rng.normal(size=(900, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(900, 5))
    X[600:, 3] = np.nan
    monitor = Monitor()
    monitor.update(X)
    [incident] = monitor.open_incidents
    assert incident["signs"] == ["silent"] and incident["causes"][0][0] == 3 and incident["reported"] < 615


def test_too_few_rows_cannot_be_accepted(biased):
    with pytest.raises(NotFittedError):
        Monitor().accept()
    monitor = Monitor(lags=2)
    monitor.update(biased[:15])
    with pytest.raises(ValueError, match="at least 22 rows, got 15"):
        monitor.accept()
    assert monitor.totals_["accepted"] == 0


def test_shares_are_positive_sorted_and_at_most_one_in_all(table):
    alarms = Monitor(differences=True).update(table)
    rows = [shares[~np.isnan(shares)] for shares in alarms.shares]
    rows += [np.array([share for _, share in event["causes"]]) for event in [*alarms.events, *alarms.incidents]]
    assert sum(len(shares) > 0 for shares in rows) >= 400
    for shares in rows:
        assert (shares > 0).all() and (np.diff(shares) <= 0).all() and shares.sum() <= 1 + 1e-12


def test_a_constant_column_that_moves_is_an_event_of_its_own(rng):
    X = rng.normal(size=(900, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(900, 5))
    X[:, 3] = 7.0
    X[600:605, 3] = 7.5
    monitor = Monitor()
    alarms = monitor.update(X)
    [moved] = [event for event in alarms.events if event["kind"] == "moved"]
    assert 600 <= moved["start"] <= moved["end"] <= 604 and moved["causes"][0][0] == 3
    assert alarms.alarm[600] and alarms.causes[600, 0] == 3


def test_a_constant_column_gives_no_alarms(rng):
    X = rng.normal(size=(3000, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(3000, 5))
    without = Monitor().update(X)
    beside = Monitor().update(np.column_stack([X, np.full(3000, 7.0)]))
    assert beside.alarm.sum() <= without.alarm.sum() and beside.in_incident.sum() <= without.in_incident.sum()


@pytest.mark.parametrize("options", [{"lags": 3}, {"lags": 2, "differences": True}, {"differences": True}, {}], ids=str)
def test_every_row_of_a_table_has_a_score(table, options):
    monitor = Monitor(**options).fit(table[:400])
    scores = monitor.score_samples(table[400:])
    assert np.isfinite(scores).all() and np.isfinite(monitor.score_samples(table[400:401])).all()
    np.testing.assert_array_equal(monitor.predict(table[400:]), np.where(scores < monitor.offset_, -1, 1))
    # With enough earlier rows, `predict` agrees with alarms, except for stuck sensors.
    frozen = Monitor(mode="freeze:400", **options)
    alarms = frozen.update(table)
    assert ((monitor.predict(table[400:]) == -1) == alarms.alarm[400:])[5:250].all()
    assert alarms.alarm[500:540].any()


def test_rows_that_are_passed_over_have_no_score(table):
    monitor = Monitor(missing="skip", lags=2).fit(table[:400])
    rows = table[400:420].copy()
    rows.iloc[[0, 7], 1] = np.nan
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(monitor.score_samples(rows))), [0, 7])


def test_an_incident_that_is_saved_goes_on_to_the_bit(biased, tmp_path):
    monitor = Monitor(rebaseline="after:250")
    monitor.update(biased[:1600])
    monitor.save(tmp_path / "m.snap")
    loaded = eigenhedge.load(tmp_path / "m.snap")
    assert loaded.open_incidents == monitor.open_incidents != [] and loaded.get_params() == monitor.get_params()
    ours, theirs = monitor.update(biased[1600:]), loaded.update(biased[1600:])
    pd.testing.assert_frame_equal(ours.to_frame(), theirs.to_frame())
    assert repr(ours.incidents) == repr(theirs.incidents) and ours.reference_limit == theirs.reference_limit
    assert loaded.totals_ == monitor.totals_ and loaded._model.to_bytes() == monitor._model.to_bytes()
    assert "accepted" in {event["kind"] for event in ours.changes}


def test_an_error_names_the_row_and_keeps_what_came_before(table):
    X = table.to_numpy().copy()
    X[600, 0] = 1e200
    monitor = Monitor()
    with pytest.raises(ValueError, match="row 600: "):
        monitor.update(X)
    assert monitor.totals_["rows"] == 600
    with pytest.raises(NotFittedError):
        Monitor().predict(X)


def test_a_first_call_that_ends_within_the_warm_up_warns_once(recwarn):
    X = np.random.default_rng(0).normal(size=(500, 3))
    monitor = Monitor()
    with pytest.warns(
        UserWarning, match="no row has a score yet: the warm-up needs 400 rows in update, got 100; later calls continue"
    ):
        monitor.update(X[:100])
    recwarn.clear()
    for row in X[100:]:
        monitor.update(row[None, :])
    Monitor().update(X[:1])
    assert not recwarn


def test_a_notebook_shows_alarms_as_a_table():
    X = np.random.default_rng(0).normal(size=(600, 3))
    X[500:505, 1] += 20
    alarms = Monitor().update(pd.DataFrame(X, columns=["<a>", "b", "c"]))
    page = alarms._repr_html_()
    assert f"<td>{alarms.alarm.sum()}</td>" in page and "<td>500</td>" in page and "b " in page and "<svg" in page
    assert "<a>" not in page


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"limit": "auto:0.1"}, "limit must stay 'auto:0.01' until the next fit, got 'auto:0.1'"),
        ({"lags": 3}, "lags must stay 0 until the next fit, got 3"),
        ({"limit": "never"}, "limit must be"),
        ({"differences": "some"}, "differences must be True, False or 'auto', got 'some'"),
    ],
)
def test_a_parameter_changed_between_updates_is_refused(rng, changed, sentence):
    X = rng.normal(size=(300, 4))
    monitor = eigenhedge.Monitor(warm_up=50)
    monitor.update(X[:100])
    for one in (monitor, pickle.loads(pickle.dumps(monitor))):
        before = one._model.to_bytes()
        one.set_params(**changed)
        for call in (one.update, one.partial_fit):
            with pytest.raises(ValueError, match=sentence):
                call(X[100:])
        with pytest.raises(ValueError, match=sentence):
            eigenhedge.Fleet(one).update(["a"] * 200, X[100:])
        assert one._model.to_bytes() == before
    # The same rule in another form is no change, and a fit takes the new parameters.
    monitor.set_params(**eigenhedge.Monitor(warm_up=50, limit=0.01).get_params())
    monitor.update(X[100:])
    assert monitor.set_params(limit=0.1).fit(X).update(X[:5]).score.shape == (5,)
