"""Packages that are imported when they are used."""

import importlib
from typing import Any


def needed(module: str, user: str, install: str) -> Any:
    """Return the module; without its package, say who needs it and how it is installed."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(f"{user} needs {package}: pip install {install}") from None
