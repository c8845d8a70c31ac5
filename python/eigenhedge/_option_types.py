"""Types of options, for signatures."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypedDict

from numpy.typing import ArrayLike

# begin of options: `cargo xtask options` writes them
LearnerName: TypeAlias = Literal[
    "auto",
    "tracking",
    "anchored",
    "leader",
    "forgetting-leader",
    "perturbed-leader",
    "product-sets",
    "additive",
    "oja",
    "gha",
    "apex",
]
KernelName: TypeAlias = Literal[
    "linear",
    "polynomial",
    "poly",
    "rbf",
    "laplacian",
    "matern32",
    "matern52",
    "sigmoid",
    "cosine",
    "kendall",
    "mallows",
    "spectrum",
    "intersection",
    "jaccard",
]


class SharedOptions(TypedDict, total=False):
    """Options of models and estimators. None means the default of an option."""

    eta: float | Literal["auto"] | None
    ceiling: float | None
    horizon: int | None
    mixing: Literal["none", "fixed-share", "past-average"] | None
    alpha: float | None
    forget: float | None
    step_half_life: float | None
    beta: float | None
    stage: int | None
    center: str | bool | None
    center_prior: float | None
    start_center: ArrayLike | None
    clip: float | Literal["none"] | None
    missing: Literal["fail", "skip", "fill"] | None
    norm_bound: float | Literal["auto"] | None
    as_printed: bool | None
    merge: float | None
    max_rank: int | None
    feature_dim: int | Literal["inf"] | None
    select: Literal["systematic", "corners", "top"] | None
    coordinates: Literal["aligned", "drawn"] | None
    best: Literal["auto", "exact", "sketch", "none"] | None


class KernelParameters(TypedDict, total=False):
    """Parameters of kernels, except gamma."""

    degree: int | None
    coef0: float | None
    length_scale: float | None
    items: Literal["words", "chars"] | None
    substring: int | None


class FeatureOptions(SharedOptions, KernelParameters, total=False):
    """Options of kernel PCA."""

    budget: int | None


class PlainOptions(SharedOptions, total=False):
    """Options of online PCA without a kernel."""

    segments: int | Literal["auto"] | None


class StreamOptions(FeatureOptions, total=False):
    """Options for River."""

    kernel: KernelName | Callable[[Any, Any], float] | None
    gamma: float | None
    segments: int | Literal["auto"] | None


class Options(StreamOptions, total=False):
    """All options."""

    learner: LearnerName | None
    seed: int | None


# end of options
