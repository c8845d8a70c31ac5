"""Write a page of the book for every public class of the package, and one page for its functions, from their docstrings.

``python docs/api_pages.py FOLDER`` writes files ``api-NAME.md`` and prints their lines for the table of contents. ``cargo xtask
book`` runs it in a copy of the book, so that the pages are never stale. Modules whose requirements are missing are skipped.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

UNDERLINE = re.compile("-{3,}")
LISTS = {"Parameters", "Attributes", "Returns", "Yields", "Raises"}
MODULES = ["eigenhedge", "eigenhedge.river", "eigenhedge.plot", "eigenhedge.bounds", "eigenhedge.spark"]


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and items of a module that users may use."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in names:
        item = getattr(module, name)
        if not name.startswith("__") and not inspect.ismodule(item) and callable(item):
            yield name, item


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield public methods and properties of a class that have a docstring of their own."""
    for name, item in inspect.getmembers(kind):
        described = inspect.isroutine(item) or inspect.isdatadescriptor(item)
        if described and not name.startswith("_") and inspect.getdoc(item):
            yield name, item


def signature(item: Any) -> str:
    """Return parameters without types, or nothing if they are not known."""
    try:
        parameters = inspect.signature(item).parameters.values()
    except (TypeError, ValueError):
        return ""
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters if parameter.name != "self"]
    return str(inspect.Signature(plain))


def markdown(doc: str) -> str:
    lines, out = doc.splitlines() or [""], []
    in_list = in_code = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if in_code and not line.strip():
            out.append("```")
            in_code = False
        if UNDERLINE.fullmatch(below):
            in_list = line in LISTS
            out += ["", f"**{line}**", ""]
        elif line.startswith(">>>") and not in_code:
            out += ["```python", line]
            in_code = True
        elif in_list and line and not UNDERLINE.fullmatch(line) and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out.append(f"- `{name}`" + (f" ({kind})" if kind else "") + ":")
        elif in_list and not UNDERLINE.fullmatch(line):
            out.append(f"  {line.strip()}".rstrip())
        elif not UNDERLINE.fullmatch(line):
            out.append(line)
    text = "\n".join([*out, "```"] if in_code else out)
    text = re.sub(r":[a-z]+:`~?([^`]+)`", r"`\1`", text)
    return re.sub(r"(?<!`)``(?!`)", "`", text).strip() + "\n"


def class_page(name: str, kind: type, module: str) -> str:
    parts = [f"# `{name}`\n", f"`{module}.{name}{signature(kind)}`\n", markdown(inspect.getdoc(kind) or "")]
    for method, item in methods(kind):
        call = signature(item) if inspect.isroutine(item) else ""
        parts += [f"## `{method}{call}`\n", markdown(inspect.getdoc(item) or "")]
    return "\n".join(parts)


def function_page(module: str, functions: list[tuple[str, Callable[..., Any]]]) -> str:
    parts = [f"# Functions of `{module}`\n"]
    for name, item in functions:
        parts += [f"## `{name}{signature(item)}`\n", markdown(inspect.getdoc(item) or "")]
    return "\n".join(parts)


def write(folder: pathlib.Path) -> list[tuple[str, str]]:
    written = []
    for module_name in MODULES:
        try:
            items = list(public(importlib.import_module(module_name)))
        except ImportError as reason:
            print(f"skipped {module_name}: {reason}", file=sys.stderr)
            continue
        short = module_name.replace("eigenhedge", "").strip(".")
        pages = {name: class_page(name, item, module_name) for name, item in items if inspect.isclass(item)}
        functions = [(name, item) for name, item in items if not inspect.isclass(item)]
        if functions:
            pages["functions"] = function_page(module_name, functions)
        for name, page in pages.items():
            title = f"{short}.{name}" if short else name
            target = f"api-{title.replace('.', '-').lower()}.md"
            (folder / target).write_text(page, encoding="utf-8")
            written.append((title, target))
    return written


if __name__ == "__main__":
    for title, target in write(pathlib.Path(sys.argv[1])):
        print(f"  - [`{title}`]({target})")
