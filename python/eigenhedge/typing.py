"""Types to annotate programs with: names of learners and kernels, options, rows, ledgers, events and drifts.

Examples
--------
>>> from eigenhedge.typing import LearnerName, Ledger
>>> def summary(name: LearnerName, ledger: Ledger) -> str:
...     return f"{name} lost {ledger['expected_loss']:.2f} in {ledger['rows']} rows"
"""

from ._option_types import FeatureOptions, KernelName, KernelParameters, LearnerName, Options, PlainOptions, StreamOptions
from ._types import Drift, Event, Floats, Kernel, Ledger, Table

__all__ = [
    "Drift",
    "Event",
    "FeatureOptions",
    "Floats",
    "Kernel",
    "KernelName",
    "KernelParameters",
    "LearnerName",
    "Ledger",
    "Options",
    "PlainOptions",
    "StreamOptions",
    "Table",
]
