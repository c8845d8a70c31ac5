"""Options of monitors in the form of the core."""

from __future__ import annotations

import numbers
from typing import Any

#: Forms of the options that are texts, and the form that a number is short for.
FORMS = {
    "limit": ("auto:ALPHA, conformal:P or a number", "auto:{}"),
    "rebaseline": ("never, after:ROWS or a number of rows", "after:{}"),
    "mode": ("adapt or freeze:ROWS", None),
}


def core_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with numbers written in the form of the command line."""
    return {name: _text(name, value) if name in FORMS else value for name, value in options.items()}


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    rule, form = FORMS[name]
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if form is None or not is_number:
        raise ValueError(f"{name} must be {rule}, got {value!r}")
    # Python's own number, whose text has no type of NumPy.
    return form.format(int(value) if isinstance(value, numbers.Integral) else float(value))  # type: ignore[arg-type]
