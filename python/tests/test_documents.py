"""Doctests have the documented output, and examples run."""

import doctest
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import eigenhedge
from eigenhedge import _core

MODULES = ["_run", "_pca", "_kernel_pca", "_kernel_methods", "_preimage", "_settings", "bounds", "_snapshot"]
MODULES += ["_rows", "_online", "river", "plot", "_monitor", "typing", "client"]
EXAMPLES = sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.py"))
# test_notebooks.py runs the examples with cells.
EXAMPLES = [path for path in EXAMPLES if "# %%" not in path.read_text()]


#: Skips a test with NumPy 1, because the examples have the output of NumPy 2.
printed_by_numpy_2 = pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 prints its numbers differently")


@printed_by_numpy_2
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"eigenhedge.{name}")
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@printed_by_numpy_2
@pytest.mark.parametrize("name", ["Model", "Moments", "CappedHedge", "Average", "capping", "corners"])
def test_examples_in_docstrings_of_the_core(name):
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(_core, name)), {}, name, None, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_everything_public_has_a_docstring_in_sections():
    for name in eigenhedge.__all__:
        item = getattr(eigenhedge, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(item), name
        if inspect.isclass(item):
            for method, function in inspect.getmembers(item, inspect.isroutine):
                if not method.startswith("_") and method in vars(item):
                    assert inspect.getdoc(function), f"{name}.{method}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    outcome = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip()


@pytest.mark.parametrize("folder", [0, 1], ids=["repository", "package"])
def test_readme_runs(folder, capsys):
    text = (pathlib.Path(__file__).parents[2 - folder] / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "README.md", "exec"), {})
