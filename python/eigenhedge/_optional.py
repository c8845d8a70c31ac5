"""Optional packages, imported on first use."""

import importlib
from typing import Any


def needed(module: str, user: str, install: str) -> Any:
    """Import a module, or raise an ``ImportError`` that names ``user`` and the package to install."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(f"{user} needs {package}: pip install {install}") from None


def later(name: str, module: str) -> Any:
    """Import a name of this package, or raise an ``ImportError`` if scikit-learn is missing."""
    try:
        return getattr(importlib.import_module(f".{module}", __package__), name)
    except ModuleNotFoundError as error:
        if error.name != "sklearn":
            raise
        raise ImportError(f"eigenhedge.{name} needs scikit-learn: pip install eigenhedge[sklearn]") from None
