"""The package has no circular imports."""

import ast
import graphlib
import pathlib

import pytest

import eigenhedge

FOLDER = pathlib.Path(eigenhedge.__file__).parent


def imported(package, tree, modules):
    """Yield the modules of the package that a file imports, also in functions and for type checkers."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        if isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*parents, *([node.module] if node.module else [])])
            names = [f"{source}.{name}" if f"{source}.{name}" in modules else source for name in names]
        yield from (name for name in names if name in modules)


def imports(folder):
    files = {}
    for path in folder.rglob("*.py"):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        files[".".join(parts[:-1] if is_package else parts)] = (".".join(parts[:-1]), ast.parse(path.read_text()))
    # The native module is not a Python file.
    modules = {*files, f"{folder.name}._core"}
    return {name: set(imported(package, tree, modules)) - {name} for name, (package, tree) in files.items()}


def test_files_do_not_import_each_other_in_a_circle():
    graphlib.TopologicalSorter(imports(FOLDER)).prepare()


def test_a_circle_is_found(tmp_path):
    (tmp_path / "__init__.py").write_text("from . import _a\n")
    (tmp_path / "_a.py").write_text("from ._b import b\na = 1\n")
    (tmp_path / "_b.py").write_text("def b():\n    from ._a import a\n    return a\n")
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(imports(tmp_path)).prepare()
