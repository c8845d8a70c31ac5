"""Results, events, plots and reports have the index or the times of the rows."""

import pickle
import subprocess

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import PROGRAM, needs_program

import eigenhedge

START = "2026-03-01 00:00"
INDICES = {
    "times": pd.date_range(START, periods=1500, freq="min"),
    "zone": pd.date_range(START, periods=1500, freq="min", tz="Asia/Tokyo"),
    "periods": pd.period_range(START, periods=1500, freq="min"),
}


def plant(index, rows=1500):
    """Return rows of four sensors, with faults in rows 800 to 829 and from row 1100 on."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(rows, 4))
    values[800:830, 1] += 3.0
    values[1100:, 3] += 3.0
    return pd.DataFrame(values, columns=list("abcd"), index=index)


def occurrences(alarms):
    return [*alarms.events, *alarms.changes, *alarms.incidents]


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("cuts", [[], [450, 805, 815, 1103], range(1, 1500, 7)], ids=["whole", "cut", "pieces"])
def test_events_have_the_labels_of_their_rows(index, cuts):
    table, monitor = plant(index), eigenhedge.Monitor(warm_up=400)
    found = []
    for piece in np.split(np.arange(1500), cuts):
        found += occurrences(monitor.update(table.iloc[piece]))
        if len(cuts) == 4:
            monitor = pickle.loads(pickle.dumps(monitor))
    assert {"alarms", "incident", "rise"} <= {one.get("kind", "incident") for one in found}
    for one in found:
        assert one["start_time"] == index[one["start"]]
        assert one["end_time"] == (None if one["end"] is None else index[one["end"]])
    [incident] = monitor.open_incidents
    assert incident["start_time"] == index[incident["start"]] and incident["reported_time"] == index[incident["reported"]]


def test_events_of_keys_have_the_labels_of_their_rows():
    index = INDICES["times"]
    table, fleet = plant(index), eigenhedge.Fleet(eigenhedge.Monitor(warm_up=150))
    pieces = [fleet.update(["left", "right"] * 250, table[i : i + 500]) for i in (0, 500, 1000)]
    found = [one for alarms in pieces for one in occurrences(alarms)]
    assert {one["key"] for one in found} == {"left", "right"}
    for one in found:
        assert one["start_time"] == index[one["start"]]
        assert one["end_time"] == (None if one["end"] is None else index[one["end"]])


def test_rows_without_times_have_none():
    table = plant(None)
    for rows in (table, table.to_numpy()):
        for one in occurrences(eigenhedge.Monitor().update(rows)):
            assert one["start_time"] is None and one["end_time"] is None
    monitor = eigenhedge.Monitor()
    timed = plant(INDICES["times"])
    monitor.update(timed[:805])
    for one in occurrences(monitor.update(timed[805:].reset_index(drop=True))):
        # An incident that was reported before row 805 has a start time.
        is_known = "incident" in one and one["start"] < 805
        assert one["start_time"] == (timed.index[one["start"]] if is_known else None)
        assert one["end_time"] is None


@pytest.mark.parametrize("index", [*INDICES.values(), [f"row {i}" for i in range(1500)]], ids=[*INDICES, "texts"])
def test_results_have_the_index_of_the_rows(index):
    table = plant(index)
    monitor = eigenhedge.Monitor()
    for piece in (table[:600], table[600:]):
        assert monitor.update(piece).to_frame().index.equals(piece.index)
    keys = ["left", "right"] * 750
    assert eigenhedge.Fleet(eigenhedge.Monitor(warm_up=99)).update(keys, table).to_frame().index.equals(table.index)
    frame = eigenhedge.run(table, 2).to_frame()
    assert frame.index.equals(table.index)
    assert table.join(frame)["z0"].notna().all()
    assert list(eigenhedge.run(table.to_numpy(), 2).to_frame().index) == list(range(1500))


def test_row_numbers_can_be_subtracted():
    alarms = eigenhedge.Monitor().update(plant(None))
    assert ((alarms.row - 1)[:2] == [-1, 0]).all()


def test_the_ongoing_event_is_the_next_to_end():
    table = plant(INDICES["times"])
    monitor = eigenhedge.Monitor()
    alarms = monitor.update(table[:803])
    assert alarms.open_event == monitor.open_event_ and alarms.open_event["start"] == 800
    assert alarms.open_event["start_time"] == table.index[800]
    assert alarms.open_event not in alarms.events
    assert f"{alarms.incidents[-1]['start']} ({alarms.incidents[-1]['start_time']})" in alarms._repr_html_()
    later = monitor.update(table[803:1000])
    assert later.open_event is None and later.events[0]["start"] == 800


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_pages_and_plots_show_the_local_times_of_the_index(index, tmp_path):
    monitor = eigenhedge.Monitor()
    alarms = monitor.update(plant(index))
    monitor.report(tmp_path / "page.html")
    assert "unusual since 2026-03-01T18:20" in (tmp_path / "page.html").read_text(encoding="utf-8")
    drawn = alarms.plot().axes[0].lines[0].get_xdata()
    np.testing.assert_array_equal(drawn, INDICES["times"].to_numpy())
    plt.close("all")


def test_times_can_be_given_beside_the_rows(tmp_path):
    table = plant(INDICES["times"])
    plain, given = eigenhedge.Monitor(), eigenhedge.Monitor()
    expected = plain.update(table)
    found = given.update(table.to_numpy(), times=INDICES["times"].strftime("%Y-%m-%d %H:%M:%S"))
    times = [[one["start_time"] for one in alarms.incidents] for alarms in (expected, found)]
    assert times[0] == times[1] and times[0]
    with pytest.raises(ValueError, match="times must have one time for each of 1500 rows, got 2"):
        given.update(table.to_numpy(), times=["2026-03-01", "2026-03-02"])


@needs_program
def test_times_of_events_are_those_of_the_command_line(tmp_path):
    table, monitor = plant(INDICES["times"]), eigenhedge.Monitor()
    table.rename_axis("time").to_csv(tmp_path / "rows.csv", date_format="%Y-%m-%dT%H:%M:%S")
    arguments = ["monitor", "rows.csv", "--events", "events.csv", "--events-detail", "--quiet"]
    subprocess.run([PROGRAM, *arguments], cwd=tmp_path, check=True)
    theirs = pd.read_csv(tmp_path / "events.csv")
    found = [one for piece in np.split(np.arange(1500), [500, 820]) for one in occurrences(monitor.update(table.iloc[piece]))]
    found += [] if monitor.open_event_ is None else [monitor.open_event_]
    found = [one for one in found if one["end"] is not None]
    ours = {
        (one.get("kind", "incident"), one["start"], one["start_time"].isoformat(), one["end_time"].isoformat()) for one in found
    }
    listed = theirs.dropna(subset=["end_time"])[["kind", "start", "start_time", "end_time"]]
    assert len(ours) > 3 and ours == set(listed.itertuples(index=False, name=None))
