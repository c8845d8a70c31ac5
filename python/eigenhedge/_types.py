"""Types shared by several signatures. Public ones are in :mod:`eigenhedge.typing`."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._option_types import KernelName, KernelParameters

if TYPE_CHECKING:
    from typing_extensions import Self as Self
    from typing_extensions import TypeIs as TypeIs
    from typing_extensions import Unpack as Unpack
else:
    # Annotations are not evaluated.
    Self = TypeIs = Unpack = None

Floats: TypeAlias = NDArray[np.float64]
Path: TypeAlias = str | PathLike[str]


class _Array(Protocol):
    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class _Frame(Protocol):
    def to_numpy(self, *args: Any, **kwargs: Any) -> Any: ...


class _Sparse(Protocol):
    def toarray(self, *args: Any, **kwargs: Any) -> Any: ...


#: Rows: arrays, lists, sparse matrices, and pandas, polars and Arrow tables. Strings and file names are not rows.
Table: TypeAlias = _Array | _Frame | _Sparse | list[Any] | tuple[Any, ...] | Sequence[Sequence[float]]
#: Kernels given as functions of two rows, kernels given as a function or a matrix, and all kernels.
RowKernel: TypeAlias = KernelName | Callable[[Any, Any], float]
Given: TypeAlias = Literal["precomputed"] | Callable[[Any, Any], float]
Kernel: TypeAlias = RowKernel | Given
Mixing: TypeAlias = Literal["none", "fixed-share", "past-average"] | None
Select: TypeAlias = Literal["systematic", "corners", "top"] | None
ExpertsName: TypeAlias = Literal["capped-hedge", "leader", "perturbed-leader", "product-sets"]
#: Kernel parameter gamma of an estimator. "scale" is 1 / (number of features · variance of the entries).
Gamma: TypeAlias = float | Literal["scale"] | None


class KernelArguments(KernelParameters, total=False):
    """All parameters of kernels."""

    gamma: float | None


class Between(TypedDict):
    """Lower and upper bound on an unknown number."""

    low: float
    high: float


class Certificate(TypedDict):
    """Costs of approximations. The page about the summary in the book explains them."""

    price: float | None
    hedge_term: float
    budget_error: float
    healed_rows: int
    clipped_rows: int
    filled_rows: int
    missing_cells: int


class Member(TypedDict):
    """Member of a portfolio, with its weight and its loss."""

    name: str
    weight: float
    expected_loss: float


class Partition(TypedDict):
    """Segments of a stream, each with its own best subspace."""

    loss: float
    cuts: list[int]


class ShiftingBound(TypedDict):
    """Bound relative to a comparator that may change its subspace."""

    segments: int
    best_loss: float
    bound: float
    holds: bool
    theorem: str


class Summary(TypedDict):
    """Summary of a run, with the keys of the command-line summary. Values that do not exist are None."""

    rows: int
    skipped_rows: int
    dim: int
    feature_dim: int | Literal["inf"]
    k: int
    learner: str
    eta: float | None
    options: dict[str, Any]
    uncharged_rows: int
    first_row_loss: float | None
    expected_loss: float
    loss: float
    kept_energy: float
    best_loss: float | Between | None
    regret: float | Between | None
    bound: float | None
    bound_holds: bool | None
    bound_reason: str
    certificate: Certificate
    members: list[Member]
    partitions: list[Partition]
    shifting_bound: ShiftingBound | None
    advice: str | None
    rank_mean: float
    rank_max: int
    seconds: float
    rows_per_second: float | None


class Event(TypedDict):
    """Event (one alarm or several nearby alarms), change in the level of the scores, or new reference. Unknown times are None."""

    kind: Literal["alarms", "stuck", "moved", "rise", "fall", "accepted"]
    start: int
    end: int
    start_time: Any
    end_time: Any
    peak: int
    strength: float
    alarms: int
    causes: list[tuple[Any, float]]


class Incident(TypedDict):
    """Stretch of rows in which something was wrong. The end is None while it is going on. Unknown times are None."""

    incident: int
    start: int
    reported: int
    end: int | None
    start_time: Any
    reported_time: Any
    end_time: Any
    severity: float
    grade: Literal["minor", "major", "critical"]
    signs: list[Literal["spike", "shift", "drift", "stuck", "moved", "silent"]]
    rows: int
    alarms: int
    peak: int
    causes: list[tuple[Any, float]]
