"""Conversion of monitor options to the form of the native module."""

from __future__ import annotations

import numbers
from typing import Any

#: Options that are strings: the valid forms, and the form for which a number is short (None if there is none).
FORMS = {
    "limit": ("auto:ALPHA, conformal:P or a number", "auto:{}"),
    "rebaseline": ("never, after:ROWS or a number of rows", "after:{}"),
    "mode": ("adapt or freeze:ROWS", None),
}


def core_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with numbers converted to strings as on the command line."""
    return {name: _text(name, value) if name in FORMS else value for name, value in options.items()}


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    rule, form = FORMS[name]
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if form is None or not is_number:
        raise ValueError(f"{name} must be {rule}, got {value!r}")
    # A plain Python number, because the text of a NumPy number may contain its type.
    return form.format(int(value) if isinstance(value, numbers.Integral) else float(value))  # type: ignore[arg-type]
