"""Types for annotations: names of learners and kernels, options, tables, summaries, events and incidents.

Examples
--------
>>> from eigenhedge.typing import LearnerName, Summary
>>> def sentence(name: LearnerName, summary: Summary) -> str:
...     return f"{name} lost {summary['expected_loss']:.2f} in {summary['rows']} rows"
"""

from ._option_types import FeatureOptions, KernelName, KernelParameters, LearnerName, Options, PlainOptions, StreamOptions
from ._types import Event, Floats, Incident, Kernel, Summary, Table

# fmt: off
__all__ = [
    "Event", "FeatureOptions", "Floats", "Incident", "Kernel", "KernelName", "KernelParameters", "LearnerName", "Options",
    "PlainOptions", "StreamOptions", "Summary", "Table",
]
# fmt: on
