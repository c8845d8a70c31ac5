"""Data of the plots: directions, shares and summaries of models, and rows of runs and monitors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._alarms import Alarms
    from ._online import Online
    from ._run import RunResult
    from ._types import Floats

#: Maximum number of points per curve.
POINTS = 1000


def of_one_key(alarms: Alarms, key: object) -> Alarms:
    """Return the results of the key, which may be None if there is only one key."""
    if not hasattr(alarms, "reference_limit"):
        raise TypeError(f"plot.monitor needs the Alarms that update returns, got a {type(alarms).__name__}")
    if key is not None:
        return alarms.of_key(key)
    keys = sorted(set(alarms.key or []))
    if len(keys) > 1:
        raise ValueError(f"the rows have {len(keys)} keys: set key to the one to plot, for example key={keys[0]!r}")
    return alarms


def check_run(run: RunResult, name: str) -> None:
    """Raise a ``TypeError`` if the argument is not the result of a run. ``name`` is that of the plot."""
    if not hasattr(run, "expected_losses"):
        raise TypeError(
            f"plot.{name} needs the result of eigenhedge.run, which has the loss of each row, got a {type(run).__name__}"
        )


def stretches(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the start of each run of true values, and the index after its end."""
    edges = np.flatnonzero(np.diff(mask.astype(int), prepend=0, append=0))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2])]


def thinned(count: int) -> Any:
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).astype(int))


def components_of(model: RunResult | Model | Online, names: Sequence[str] | None) -> tuple[Floats, list[str]]:
    inner = model_of(model)
    components = inner.components
    if components is None:
        raise ValueError("through a kernel there are no loadings of columns")
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = inner.feature_names
    labels = [str(i) for i in range(inner.dim)] if names is None else [str(name) for name in names]
    if len(labels) != inner.dim:
        raise ValueError(f"there must be a name for each of the {inner.dim} columns, got {len(labels)}")
    return components, labels


def shares_of(model: RunResult | Model | Online) -> Floats | None:
    energies = model_of(model).energies
    return None if energies is None or not energies[1] > 0 else energies[0] / energies[1]


def model_of(model: RunResult | Model | Online) -> Model:
    found = getattr(model, "model_", None) or getattr(model, "model", model)
    if not isinstance(found, Model):
        way = "; of a Pipeline, pass its last step, pipeline[-1]" if hasattr(model, "steps") else ""
        raise TypeError(f"the plot needs a Model, an online estimator or the result of run, got a {type(model).__name__}{way}")
    return found
