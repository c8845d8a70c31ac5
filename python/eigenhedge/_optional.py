"""Optional packages, imported on first use."""

import importlib
from typing import Any


def needed(module: str, user: str, install: str) -> Any:
    """Return a module, or raise an ``ImportError`` that names its user and the command to install it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(f"{user} needs {package}: pip install {install}") from None
