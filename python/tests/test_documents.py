"""Docstrings, stubs and examples say what is true."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import eigenhedge
from eigenhedge import _core

MODULES = ["_run", "_pca", "_kernel_pca", "_kernel_methods", "_experts", "_snapshot", "_rows", "_online", "river", "plot"]
EXAMPLES = sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.py"))
PACKAGE = pathlib.Path(eigenhedge.__file__).parent


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"eigenhedge.{name}")
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.parametrize("item", [_core.Learner, _core.CappedHedge, _core.capping, _core.corners], ids=lambda item: item.__name__)
def test_examples_in_docstrings_of_the_core(item):
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(item), {}, item.__name__, None, 0)
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


def stubs():
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return names


def test_stubs_name_what_the_module_holds_and_nothing_else():
    typed = stubs()
    assert set(typed) == {name for name in vars(_core) if not name.startswith("__")} | {"__version__"}
    usual = set(dir(object)) | {"__module__"}
    for name, members in typed.items():
        item = getattr(_core, name)
        if inspect.isclass(item):
            held = {member for member in vars(item) if member not in usual or member in ("__sizeof__", "__reduce__")}
            assert members - {"__init__"} == held - {"__getstate__"} | (members & {"__getstate__"}), name
        elif members is not None:
            assert members == list(inspect.signature(item).parameters), name


def test_stubs_of_methods_take_the_same_arguments():
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    for cls in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for method in (node for node in cls.body if isinstance(node, ast.FunctionDef)):
            if method.name.startswith("__") or any(getattr(d, "id", "") == "property" for d in method.decorator_list):
                continue
            signature = inspect.signature(getattr(getattr(_core, cls.name), method.name))
            taken = [name for name in signature.parameters if name != "self"]
            assert [a.arg for a in method.args.args if a.arg != "self"] == taken, f"{cls.name}.{method.name}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    outcome = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip()


def test_readme_runs():
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "README.md", "exec"), {})
