"""The list of the benchmark has every public call and every command, and all of them run."""

import importlib.util
import sys
from pathlib import Path

import pytest
from conftest import PROGRAM, needs_program


@pytest.fixture(scope="module")
def calls():
    path = Path(__file__).resolve().parents[2] / "bench/calls.py"
    spec = importlib.util.spec_from_file_location("calls", path)
    module = sys.modules["calls"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_program
def test_the_list_holds_every_public_call_and_every_command(calls):
    assert calls.differences(PROGRAM) == []


@needs_program
def test_a_call_or_command_that_is_not_in_the_list_is_named(calls, monkeypatch):
    monkeypatch.delitem(calls.CALLS, "Model.learn")
    monkeypatch.delitem(calls.COMMANDS_ON_PAIRS, "mmd")
    assert calls.differences(PROGRAM) == ["Model.learn", "eigenhedge mmd"]


@needs_program
def test_every_call_of_the_list_runs(calls, tmp_path):
    tables = [calls.Data(*sizes[0], tmp_path, PROGRAM) for sizes in (calls.QUICK_ROWS, calls.QUICK_PAIRS)]
    results = {}
    try:
        for name, (call, peer, on_pairs) in calls.all_calls().items():
            call(tables[on_pairs])
            results[name] = {"seconds": [1.0, 4.0, 16.0], "peer": peer, "peer_seconds": [2.0, 2.0, 2.0]}
            calls.PEERS[peer](tables[on_pairs])
    finally:
        [table.stop() for table in tables]
    lines = [line for line in calls.table(results).splitlines() if line.startswith("| `")]
    assert len(lines) == len(results) and all("| 1.0 | 2.0 |" in line for line in lines)
