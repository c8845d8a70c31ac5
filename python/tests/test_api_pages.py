"""The API pages of the book, made from docstrings, have every public class, function and method."""

import importlib.util
import inspect
import pathlib

import eigenhedge

SCRIPT = pathlib.Path(__file__).parents[2] / "docs" / "api_pages.py"


def script():
    spec = importlib.util.spec_from_file_location("api_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_a_page_or_a_section(tmp_path):
    pages = dict(script().write(tmp_path))
    functions = (tmp_path / pages["functions"]).read_text()
    for name in eigenhedge.__all__:
        item = getattr(eigenhedge, name)
        if inspect.isclass(item):
            page = (tmp_path / pages[name]).read_text()
            methods = [method for method in vars(item) if not method.startswith("_") and inspect.isroutine(getattr(item, method))]
            assert all(f"\n## `{method}" in page for method in methods), name
        elif inspect.isroutine(item):
            assert f"\n## `{name}" in functions, name


def test_a_docstring_becomes_a_list_and_a_block_of_code():
    text = "Does it, see :func:`run`.\n\nParameters\n----------\nk : int\n    Number.\n\nExamples\n--------\n>>> 1\n1"
    page = script().markdown(text)
    assert "see `run`." in page
    assert "- `k` (int):\n  Number." in page
    assert page.endswith("```python\n>>> 1\n1\n```\n")
