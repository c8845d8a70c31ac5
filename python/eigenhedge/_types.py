"""Types that several signatures name."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: Everything that :func:`eigenhedge._rows.as_rows` takes; the libraries of sparse matrices and tables declare no types.
Table: TypeAlias = Any
Path: TypeAlias = str | PathLike[str]
#: Kernels without a name, and all kernels.
Given: TypeAlias = Literal["precomputed"] | Callable[[Any, Any], float]
Kernel: TypeAlias = str | Given
#: The account of a run, with the keys of the command line's summary.
Ledger: TypeAlias = dict[str, Any]
