"""The public names and signatures of the package are those of ``xtask/api/python.txt``."""

import ast
import builtins
import importlib
import inspect
import os
import pathlib
import re

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("river")

ROOT = pathlib.Path(__file__).parents[2]
SNAPSHOT = ROOT / "xtask" / "api" / "python.txt"
MODULES = ["eigenhedge", "eigenhedge.bounds", "eigenhedge.client", "eigenhedge.plot", "eigenhedge.river", "eigenhedge.typing"]


def signature(item):
    """Return the arguments as text, without types, whose text depends on the Python version."""
    try:
        found = inspect.signature(item)
    except (TypeError, ValueError):
        return "(...)"
    bare = [argument.replace(annotation=inspect.Parameter.empty) for argument in found.parameters.values()]
    return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.Signature(bare)))


def members(owner):
    """Yield public attributes, except those inherited from scikit-learn, River or Python."""
    for name in sorted(dir(owner)):
        origin = next((base for base in owner.__mro__ if name in vars(base)), object)
        own = origin.__module__.split(".")[0] in ("eigenhedge", "builtins") and not hasattr(builtins, origin.__name__)
        # scikit-learn adds `set_predict_request` and similar methods.
        if own and not name.startswith("_") and not re.fullmatch("set_.*_request", name):
            value = inspect.getattr_static(owner, name)
            # scikit-learn's `available_if` wraps a method.
            yield name, getattr(value, "fn", value)


def spark_lines():
    """Yield the functions in the sources of ``eigenhedge.spark``. PySpark may be missing."""
    folder = ROOT / "python" / "eigenhedge" / "spark"
    trees = [ast.parse(path.read_text()) for path in sorted(folder.glob("*.py"))]
    names = next(ast.literal_eval(node.value) for tree in trees for node in tree.body if is_list_of_names(node))
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
            yield f"function eigenhedge.spark.{node.name}({ast.unparse(node.args)})"


def is_list_of_names(node):
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__"


def lines():
    found = set(spark_lines())
    for module in MODULES:
        package = importlib.import_module(module)
        for name in package.__all__:
            item, path = getattr(package, name), f"{module}.{name}"
            if module == "eigenhedge.typing" or not (inspect.isclass(item) or inspect.isroutine(item)):
                found.add(f"name {path}")
            elif inspect.isclass(item):
                found.add(f"class {path}{signature(item)}")
                for member, value in members(item):
                    routine = callable(value) or isinstance(value, (classmethod, staticmethod))
                    shape = signature(value if inspect.isfunction(value) else getattr(item, member)) if routine else ""
                    found.add(f"{'method' if routine else 'attribute'} {path}.{member}{shape}")
            else:
                found.add(f"function {path}{signature(item)}")
    return found


def unnamed(changed):
    """Return the changed names that the section "Unreleased" of the changelog lacks."""
    section = (ROOT / "CHANGELOG.md").read_text().split("## [Unreleased]")[1].split("\n## [")[0]
    words = set(re.findall(r"\w+", section))
    names = {line.split(" ")[1].split("(")[0].rsplit(".", 1)[1] for line in changed}
    return sorted(names - words)


def test_public_names_and_signatures_are_those_of_the_snapshot():
    saved = set(SNAPSHOT.read_text().splitlines()) if SNAPSHOT.exists() else set()
    found = lines()
    if os.environ.get("EIGENHEDGE_WRITE"):
        lacking = unnamed(found ^ saved) if saved else []
        assert not lacking, f'the section "Unreleased" of CHANGELOG.md must name: {", ".join(lacking)}'
        SNAPSHOT.write_text("".join(f"{line}\n" for line in sorted(found)))
        return
    changes = [f"- {line}" for line in sorted(saved - found)] + [f"+ {line}" for line in sorted(found - saved)]
    advice = (
        'If this is intended: add a line to the section "Unreleased" of CHANGELOG.md that names each item, and run '
        "`EIGENHEDGE_WRITE=1 target/python/environment/bin/python -m pytest python/tests/test_api_snapshot.py`."
    )
    assert not changes, "the public interface changed:\n" + "\n".join(changes) + "\n" + advice
