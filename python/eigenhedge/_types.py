"""Types that several signatures use. The public ones are in :mod:`eigenhedge.typing`."""

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
    # Annotations are never evaluated, so typing_extensions is not required.
    Self = TypeIs = Unpack = None

Floats: TypeAlias = NDArray[np.float64]
Path: TypeAlias = str | PathLike[str]


class _Array(Protocol):
    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class _Frame(Protocol):
    def to_numpy(self, *args: Any, **kwargs: Any) -> Any: ...


class _Sparse(Protocol):
    def toarray(self, *args: Any, **kwargs: Any) -> Any: ...


#: Rows: arrays, lists, sparse matrices, and pandas, polars and Arrow tables.
Table: TypeAlias = _Array | _Frame | _Sparse | list[Any] | tuple[Any, ...] | Sequence[Sequence[float]]
#: RowKernel: kernel name or function of two rows. Given: function or matrix. Kernel: any of these.
RowKernel: TypeAlias = KernelName | Callable[[Any, Any], float]
Given: TypeAlias = Literal["precomputed"] | Callable[[Any, Any], float]
Kernel: TypeAlias = RowKernel | Given
Mixing: TypeAlias = Literal["none", "fixed-share", "past-average"] | None
Select: TypeAlias = Literal["systematic", "corners", "top"] | None
ExpertsName: TypeAlias = Literal["capped-hedge", "leader", "perturbed-leader", "product-sets"]
#: Kernel parameter gamma of an estimator. "scale" is 1 / (number of features · variance of all entries).
Gamma: TypeAlias = float | Literal["scale"] | None


class KernelArguments(KernelParameters, total=False):
    gamma: float | None


class Between(TypedDict):
    low: float
    high: float


class Certificate(TypedDict):
    """Effects of approximations. The page about the summary in the book explains the keys."""

    price: float | None
    hedge_term: float
    budget_error: float
    healed_rows: int
    clipped_rows: int
    filled_rows: int
    missing_cells: int


class Member(TypedDict):
    name: str
    weight: float
    expected_loss: float


class Partition(TypedDict):
    """Partition of a stream into segments, each with its own best subspace.

    ``cuts`` are the indices of the first rows of all segments except the first.
    """

    loss: float
    cuts: list[int]


class ShiftingBound(TypedDict):
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
    """Event (group of nearby alarms), change in the level of the scores, or new reference.

    The attributes ``events`` and ``changes`` of :class:`eigenhedge.Alarms` explain the keys.
    """

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
    """Stretch of rows in which something was wrong.

    The attribute ``incidents`` of :class:`eigenhedge.Alarms` explains the keys.
    """

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
