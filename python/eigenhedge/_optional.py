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


def later(name: str, module: str) -> Any:
    """Return a class of this package, or raise an ``ImportError`` with advice if scikit-learn is not installed."""
    try:
        return getattr(importlib.import_module(f".{module}", __package__), name)
    except ModuleNotFoundError as error:
        if error.name != "sklearn":
            raise
        raise ImportError(f"eigenhedge.{name} needs scikit-learn: pip install eigenhedge[sklearn]") from None
