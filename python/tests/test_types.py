"""A type checker accepts correct uses of the package and rejects wrong ones."""

import inspect
import pathlib
import runpy
import subprocess
import sys
import typing

import numpy as np
import pytest

import eigenhedge
from eigenhedge import _types, bounds
from eigenhedge.typing import KernelName, LearnerName, Summary

HERE = pathlib.Path(__file__).parent / "typed"


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """Return the errors of mypy by file name, as pairs of a line number and a message."""
    # A cache next to the installed packages makes the next run fast.
    cache = pathlib.Path(sys.prefix, "mypy-cache")
    call = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "right.py", "wrong.py"]
    output = subprocess.run(call, cwd=HERE, capture_output=True, text=True).stdout
    found = {"right.py": [], "wrong.py": []}
    for line in output.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3 and parts[2].startswith(" error: "):
            found[parts[0]].append((int(parts[1]), parts[2]))
    assert "source files" in output.splitlines()[-1], output
    return found


def test_thirty_uses_have_no_mistake(messages):
    assert messages["right.py"] == []


def test_each_mistake_is_found_where_it_is(messages):
    lines = (HERE / "wrong.py").read_text().splitlines()
    mistakes = {number: line.split("# mistake: ")[1] for number, line in enumerate(lines, 1) if "# mistake: " in line}
    assert len(mistakes) >= 10
    assert sorted({line for line, _ in messages["wrong.py"]}) == sorted(mistakes)
    for line, message in messages["wrong.py"]:
        assert mistakes[line] in message


def test_thirty_uses_run():
    runpy.run_path(str(HERE / "right.py"))


def test_a_ledger_has_the_keys_and_values_of_its_type():
    run = eigenhedge.run(np.random.default_rng(0).normal(size=(40, 4)), 2, segments=2, learner="auto")
    nested = {
        "certificate": (_types.Certificate, run.summary["certificate"]),
        "members": (_types.Member, run.summary["members"][0]),
        "partitions": (_types.Partition, run.summary["partitions"][0]),
    }
    for declared, found in [(Summary, run.summary), *nested.values()]:
        assert list(typing.get_type_hints(declared)) == list(found)
    shifting = eigenhedge.run(np.eye(8)[:6], 2, learner="tracking", center=False, norm_bound=1.0, segments=2)
    assert list(typing.get_type_hints(_types.ShiftingBound)) == list(shifting.summary["shifting_bound"])


def test_events_and_incidents_have_the_keys_of_their_types():
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[450:460] += 20.0
    monitor = eigenhedge.Monitor()
    alarms = monitor.update(X[:455])
    for incident in [monitor.open_incidents[0], alarms.incidents[-1]]:
        assert list(typing.get_type_hints(_types.Incident)) == list(incident)
    for occurrence in [monitor.open_event_, monitor.update(X[455:]).events[0]]:
        assert list(typing.get_type_hints(_types.Event)) == list(occurrence)


def test_names_of_learners_and_kernels_are_those_of_the_registry():
    assert list(typing.get_args(LearnerName)) == [entry["name"] for entry in eigenhedge.learners()]
    assert set(typing.get_args(KernelName)) - {"poly"} == {entry["name"] for entry in eigenhedge.kernels()}


def test_bounds_have_the_arguments_of_their_types():
    declared = (pathlib.Path(bounds.__file__).with_suffix(".pyi")).read_text()
    for name in bounds.__all__[1:]:
        arguments = ", ".join(inspect.signature(getattr(bounds, name)).parameters)
        [line] = [line for line in declared.splitlines() if line.startswith(f"def {name}(")]
        assert [part.split(":")[0] for part in line.split("(")[1].split(")")[0].split(", ")] == arguments.split(", ")
