"""Online kernel PCA as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import _DEFAULTS, _median_gamma, kernels
from ._lift import Lift, is_given, needs_kernel_name, needs_stream
from ._online import Online, check_n_components
from ._option_types import FeatureOptions, LearnerName
from ._options import OF_KERNELS, constructor, documented
from ._rows import ItemRows, as_rows, checked_items, is_sparse, scaled_gamma, takes_items
from ._types import Gamma, Kernel, Table, Unpack


@documented(without={"seed", "segments", "learner", "kernel", "gamma"})
class OnlineKernelPCA(Online):
    """Online kernel principal component analysis.

    This estimator applies the learners of :class:`OnlinePCA` to kernel features. A row whose features
    are not combinations of those of the stored rows, the atoms, is stored too.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions kept. None means the number of rows of the first call. With the kernels ``"linear"`` and
        ``"precomputed"``, it is at most the dimension of the features. Set a number if rows arrive one at a time.
    learner : str, default="anchored"
        Name of a learner in :func:`eigenhedge.learners`. The components of the default are those of kernel PCA.
    kernel : str or callable, default="rbf"
        Name of a kernel in :func:`eigenhedge.kernels`, ``"precomputed"``, or a function of two rows.
        For kernels of texts or sets, rows are texts or sets, without ``inverse_transform``. For a
        function, rows are any objects, without ``inverse_transform`` and ``save``. With
        ``"precomputed"``, ``X`` is a kernel matrix, and there is no ``partial_fit`` either.
    gamma : float or "scale", default=None
        Kernel parameter γ. ``"scale"`` is 1 / (number of features · variance of all entries of the first call). None is
        1 / median of the squared distances between the first 200 rows (for other kernels than RBF, of the quantity that
        γ multiplies). For a single row or standardized columns, None is 1 / number of features.
    losses : bool, default=False
        True to learn rows one by one and record their losses, in T³ operations for T rows without a
        ``budget``. False learns all rows of a call at once if the learner does not depend on their
        order: for ``"anchored"`` and ``"leader"`` without ``budget``, ``max_rank``, ``hindsight`` and
        ``standardize="running"``. Calls with fewer than 32 rows are always learned one by one.
    hindsight : bool, default=False
        True to store all rows, so that ``summary_`` has a regret.
    standardize : str, default="none"
        Standardization of the columns, as for :class:`OnlinePCA`. Only for named kernels.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws.
    {options}

    Attributes
    ----------
    n_components_, n_features_in_, n_samples_seen_ : int
        Number of directions kept, length of a row, and number of rows since the last ``fit``.

    Notes
    -----
    An option that has no effect with the learner is an error. Kernel parameters that the kernel does not
    use are ignored. Without a ``budget``, there can be as many atoms as rows. T rows learned at once take
    memory for 5 T² numbers and about 2 T³ operations, so a million rows need a ``budget``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import OnlineKernelPCA
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    >>> X = np.c_[np.cos(angle), np.sin(angle)]
    >>> pca = OnlineKernelPCA(2, kernel="rbf", gamma=0.1, random_state=0).fit(X)
    >>> pca.transform(X).shape
    (200, 2)
    >>> bool(-pca.score(X) < 0.02)
    True
    """

    kernel: Kernel
    standardize: str
    gamma: Gamma
    losses: bool

    @constructor(without={"seed", "segments"})
    def __init__(
        self,
        n_components: int | None = None,
        *,
        learner: LearnerName = "anchored",
        kernel: Kernel = _DEFAULTS["kernel"],
        gamma: Gamma = None,
        losses: bool = False,
        hindsight: bool = False,
        standardize: str = "none",
        random_state: Any = None,
        **options: Unpack[FeatureOptions],
    ) -> None:
        pass

    @property
    def gamma_(self) -> float:
        """float: value of γ in use."""
        options = self._fitted()._changed_options()
        scale = options.get("length_scale")
        return float(options.get("gamma", 1 / self.n_features_in_ if scale is None else 1 / (2 * scale**2)))

    partial_fit = needs_stream(Online.partial_fit)
    inverse_transform = needs_kernel_name(Online.inverse_transform)
    save = needs_stream(Online.save)

    def _options(self, X: Any) -> dict[str, Any]:
        options = super()._options(X)
        if is_given(self.kernel):
            if self.standardize != "none":
                raise ValueError(f"standardize must be 'none' with a kernel that has no name, got {self.standardize!r}")
            if not callable(self.kernel):
                return {**options, **dict.fromkeys(OF_KERNELS)}
        # A grid search over kernels uses one set of parameters for all of them, as in scikit-learn.
        reads = {entry["name"]: entry["reads"] for entry in kernels()}
        reads["poly"] = reads["polynomial"]
        for name in OF_KERNELS - {"kernel", "budget"}:
            if name not in reads.get(self.kernel, ()):
                options[name] = None
        if options["gamma"] == "scale":
            # Standardized columns have variance 1, so both definitions agree.
            options["gamma"] = scaled_gamma(X) if self.standardize == "none" else None
        elif options["gamma"] is None and self.standardize == "none" and not takes_items(self.kernel):
            chosen = {name: options[name] for name in OF_KERNELS - {"budget"}}
            options["gamma"] = _median_gamma(as_rows(X[:1000]) if is_sparse(X) else X, chosen)
        return options

    def _learn(self, X: Any) -> None:
        # Sparse rows are converted only if all rows may be learned at once.
        is_set = not self.losses and vars(self).get("budget") is None
        if not (is_set and self._model._learn_set(as_rows(X) if is_sparse(X) else X)):
            super()._learn(X)

    def _prepared(self, X: Table, reset: bool, **rules: Any) -> Any:
        rows = checked_items(self, X, reset)
        if rows is not None:
            return rows
        numbers = super()._prepared(X, reset)
        if not is_given(self.kernel):
            return numbers
        numbers = numbers if isinstance(numbers, np.ndarray) else as_rows(numbers)
        if callable(self.kernel):
            return ItemRows(numbers)
        if reset:
            check_n_components(self.n_components)
            self._lift = Lift(self.kernel, numbers, int(self.n_components or 0))
        return self._lift(numbers)

    def _is_plain(self, X: object) -> bool:
        return not is_given(self.kernel) and not takes_items(self.kernel) and super()._is_plain(X)

    def _k(self, X: Any) -> int:
        check_n_components(self.n_components)
        if self.n_components is not None:
            return int(self.n_components)
        return int(min(X.shape) if self._is_linear() else X.shape[0])

    def _room(self, k: int, n_features: int) -> int | None:
        return k + 1 if self._is_linear() and k >= n_features else None

    def _is_linear(self) -> bool:
        return self.kernel in ("precomputed", "linear")
