"""Tests of the HTML reports of monitors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import PROGRAM, needs_program

import eigenhedge

pd = pytest.importorskip("pandas")


def plant(rows: int = 1200, seed: int = 0) -> pd.DataFrame:
    """Return rows of five sensors. The readings of "flow" have an offset from row 900 on."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, 5)) + 0.2 * rng.normal(size=(rows, 5))
    values[900:, 2] += 3.0
    index = pd.date_range("2026-03-01", periods=rows, freq="min")
    return pd.DataFrame(values, columns=["temperature", "pressure", "flow", "speed", "current"], index=index)


def test_the_page_names_the_sensor_and_the_time(tmp_path: Path) -> None:
    monitor = eigenhedge.Monitor()
    table = plant()
    monitor.update(table[:700])
    monitor.update(table[700:])
    monitor.report(tmp_path / "page.html", title="Plant 7")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Plant 7" in page
    assert "unusual since 2026-03-01T15:" in page
    assert "flow unusual since" in page


def test_a_table_without_times_has_row_numbers(tmp_path: Path) -> None:
    monitor = eigenhedge.Monitor()
    monitor.update(plant().to_numpy())
    monitor.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "unusual since row 9" in page
    assert "2 unusual since row 9" in page


def test_a_loaded_monitor_keeps_its_counts(tmp_path: Path) -> None:
    monitor = eigenhedge.Monitor()
    table = plant()
    monitor.update(table[:800])
    monitor.save(tmp_path / "monitor.eh")
    loaded = eigenhedge.load(tmp_path / "monitor.eh")
    loaded.update(table[800:])
    loaded.report(tmp_path / "page.html")
    assert "1200 rows" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_fleet_has_a_line_for_each_key(tmp_path: Path) -> None:
    fleet = eigenhedge.Fleet(eigenhedge.Monitor(warm_up=200))
    table = pd.concat([plant(seed=1), plant(seed=2)]).sort_index(kind="stable")
    keys = ["north", "south"] * 1200
    fleet.update(keys, table)
    fleet.report(tmp_path / "page.html", title="Two plants", by="plant")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 of 2 are not normal now" in page
    assert "north" in page
    assert "south" in page


def test_models_and_new_monitors_have_no_page(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fleet of monitors"):
        eigenhedge.Fleet(1).report(tmp_path / "page.html")
    with pytest.raises(Exception, match="not fitted"):
        eigenhedge.Monitor().report(tmp_path / "page.html")


@needs_program
def test_events_and_charts_are_those_of_the_program(tmp_path: Path) -> None:
    table = plant()
    table.rename_axis("time").to_csv(tmp_path / "rows.csv", date_format="%Y-%m-%dT%H:%M:%S")
    command = [PROGRAM, "monitor", "rows.csv", "--report", "program.html", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True)
    monitor = eigenhedge.Monitor()
    monitor.update(table)
    monitor.report(tmp_path / "python.html", title="rows.csv")
    program, python = ((tmp_path / name).read_text(encoding="utf-8") for name in ["program.html", "python.html"])
    # Only the program reaches the end of the table. The monitor in Python could receive more rows.
    marks = [line for line in program.splitlines() if "unusual since" in line]
    assert marks
    for name in ["Score", "Distance from the directions (Q)", "flow"]:
        assert program.count(name) == python.count(name), name
