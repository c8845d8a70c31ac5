"""Signatures and documentation of options, from the table of options of the command line."""

import functools
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar, cast

from . import _core
from ._core import Model


def options() -> list[dict[str, Any]]:
    """Return a dictionary for each option.

    Its keys are name, type, word (a word that can replace a number), choices, default, example (keyword
    arguments), rule (range of values), help, read_by (learners with this option), needs_kernel.

    Examples
    --------
    >>> from eigenhedge import options
    >>> {entry["name"]: entry["example"] for entry in options()}["forget"]
    'learner="forgetting-leader", forget=0.99'
    """
    entries = _core.options()
    types = {entry["name"]: entry["type"] for entry in entries}
    return [{**entry, "example": _keywords(entry["example"], types)} for entry in entries]


def _keywords(arguments: str, types: dict[str, str]) -> str:
    written = []
    for part in arguments.split("--")[1:]:
        name, _, text = part.strip().partition(" ")
        name = name.replace("-", "_")
        is_text = types[name] == "choice" or text.isalpha()
        written.append(f"{name}={'True' if types[name] == 'flag' else repr(text) if is_text else text}".replace("'", '"'))
    return ", ".join(written)


TABLE = {entry["name"]: entry for entry in options()}
#: Names of the kernel option and of the options that require a kernel.
OF_KERNELS: frozenset[str] = frozenset({"kernel", *(name for name, entry in TABLE.items() if entry["needs_kernel"])})

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def takes_options(function: Function) -> Function:
    """Put all options into the signature of a function, and at {options} in its docstring."""
    setattr(function, "__signature__", _signature(function, ()))  # noqa: B010 (no type checker knows it)
    if function.__doc__:
        function.__doc__ = _with_options(function.__doc__, TABLE.values())
    return function


def constructor(without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Replace ``**options`` by all options not in ``without``, and store all arguments as attributes."""
    return lambda function: _storing(function, _signature(function, without))


def stores_arguments(function: Function) -> Function:
    return _storing(function, inspect.signature(function))


def _storing(function: Function, signature: inspect.Signature) -> Function:
    @functools.wraps(function)
    def initialize(self: object, *arguments: Any, **keywords: Any) -> None:
        bound = signature.bind(self, *arguments, **keywords)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)
        function(*bound.args, **bound.kwargs)

    vars(initialize)["__signature__"] = signature
    return cast(Function, initialize)


def documented(without: Collection[str] = ()) -> Callable[[Class], Class]:
    """Describe all options except those in ``without`` at {options} in the docstring of a class."""

    def decorate(described: Class) -> Class:
        entries = [entry for name, entry in TABLE.items() if name not in without]
        described.__doc__ = _with_options(described.__doc__ or "", entries)
        return described

    return decorate


def _signature(function: Callable[..., Any], without: Collection[str]) -> inspect.Signature:
    signature = inspect.signature(function)
    named = [item for item in signature.parameters.values() if item.kind is not item.VAR_KEYWORD]
    rest = [name for name in TABLE if name not in signature.parameters and name not in without]
    return signature.replace(
        parameters=[*named, *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in rest)]
    )


def _with_options(text: str, entries: Iterable[dict[str, Any]]) -> str:
    """Return a docstring with the options at {options}, and without its common indentation."""
    # Python 3.13 and later remove the indentation.
    return inspect.cleandoc(text).replace("{options}\n", "".join(map(_paragraph, entries)))


def _paragraph(entry: dict[str, Any]) -> str:
    kind = {"number": "float", "count": "int", "flag": "bool", "choice": "str", "numbers": "array-like"}[entry["type"]]
    if entry["word"]:
        kind += f' or "{entry["word"]}"'
    if 0 < len(entry["choices"]) < 5:
        kind = "{" + ", ".join(f'"{name}"' for name in entry["choices"]) + "}"
    default = f"; None is {entry['default']}" if entry["default"] else ""
    rule = f" Must be {entry['rule']}." if entry["rule"] else ""
    indent = " " * 4
    text = textwrap.fill(f"{entry['help']}{default}.{rule}", 130, initial_indent=indent, subsequent_indent=indent)
    return f"{entry['name']} : {kind}, default=None\n{text}\n"


# The signature of the native class lists the options too, for completion in editors and notebooks.
takes_options(Model)
