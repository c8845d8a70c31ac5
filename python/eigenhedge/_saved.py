"""Base class of objects with a native model, and the data that Python stores in model files.

A model file contains a model, the names and scales of its columns, and a JSON object with data of the
calling program. Python stores its data under the key ``"python"``::

    {"python": {"class": "OnlinePCA", "parameters": {...}}}

Other keys belong to other programs. They are kept until the model learns a row.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from ._core import Model, Monitor
from ._types import Path, Self

#: Codes of the kinds of files other than models: a monitor, models by key, and monitors by key.
MONITOR, MODELS_BY_KEY, MONITORS_BY_KEY = 2, 4, 5


def kind_of(head: bytes) -> int:
    return int.from_bytes(head[12:16], "little")


def kind_of_file(path: Path) -> int:
    with open(path, "rb") as file:
        return kind_of(file.read(16))


def data_of(inner: Model | Monitor) -> dict[str, Any]:
    try:
        data = json.loads(inner._resume_state() or "{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that are None, Booleans, numbers or strings, which JSON can represent."""
    return {name: x for name, x in parameters.items() if x is None or isinstance(x, (bool, int, float, str))}


class Saved:
    """Base class of objects with a native model. All copies are deep, so none shares the model."""

    _fitted: Any
    _feature_names: Any
    _remembered: Any

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def save(self, path: Path) -> None:
        """Write a model file for :func:`eigenhedge.load` and for ``--start-from`` of the command line.

        An existing file is replaced atomically.
        """
        inner = self._fitted()
        data = {**data_of(inner), "python": self._remembered()}
        inner._set_feature_names(self._feature_names())
        inner._set_resume_state(json.dumps(data).encode())
        inner.save(path)
