"""Explicit features for kernels given as a matrix or as a function.

The kernel matrix of the fitted rows is ``K = U Λ Uᵀ``. The rows of ``U Λ^(1/2)`` are features whose inner products are
the entries of ``K``. A point whose kernel values with the fitted rows are the vector ``κ`` has the features ``κ U
Λ^(-1/2)``. A method for plain rows, applied to these features, is the kernel version of that method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from ._core import _symmetric_eigen
from ._types import Floats, Given, Kernel, TypeIs

Method = TypeVar("Method", bound=Callable[..., Any])

#: Absolute value of a negative eigenvalue, relative to the largest absolute value, above which it
#: is not a rounding error, even in single precision.
INDEFINITE = 1e-5
#: Size of an eigenvalue, relative to the largest, up to which it counts as a rounding error.
NOTHING = 1e-12


def is_given(kernel: Kernel) -> TypeIs[Given]:
    return callable(kernel) or kernel == "precomputed"


def needs_kernel_name(method: Method) -> Method:
    """Hide a method that needs gradients or norms of features if the kernel is a matrix or a function."""
    return _hidden_if(is_given, "needs a kernel by name", method)


def needs_stream(method: Method) -> Method:
    """Hide a method if the kernel is a matrix, because a matrix has no values for future rows."""
    return _hidden_if(lambda kernel: kernel == "precomputed", "needs a kernel by name or as a function", method)


def _hidden_if(is_wrong: Callable[[Kernel], bool], reason: str, method: Method) -> Method:
    def check(estimator: Any) -> bool:
        if is_wrong(estimator.kernel):
            raise AttributeError(reason)
        return True

    available: Method = available_if(check)(method)
    return available


class Lift:
    """Map from kernel values with the fitted rows to explicit features.

    Negative eigenvalues are dropped, but a significant one is an error if fewer than ``k`` positive ones remain.
    """

    def __init__(self, kernel: Given, X: Any, k: int) -> None:
        self._kernel: Any = kernel
        self._atoms = X if callable(kernel) else None
        gram = self._values(X)
        if gram.shape[0] != gram.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix, got shape {gram.shape}")
        values, vectors = _symmetric_eigen(np.ascontiguousarray((gram + gram.T) / 2))
        vectors = vectors.T
        carries = values > NOTHING * max(values[-1], 0.0)
        if values[0] < -INDEFINITE * abs(values).max() and carries.sum() < k:
            raise ValueError(
                f"There are significant negative eigenvalues ({values[0]:g}, the largest is {values[-1]:g}): "
                "the kernel must be positive semidefinite"
            )
        if not carries.any():
            # The features of a zero kernel are zero.
            carries[-1], values[-1] = True, 1.0
            vectors[:, -1] = 0.0
        self._map = vectors[:, carries] / np.sqrt(values[carries])

    def __call__(self, X: Any) -> Floats:
        return np.ascontiguousarray(self._values(X) @ self._map)

    def _values(self, X: Any) -> Any:
        if self._atoms is None:
            return X
        return np.array([[self._kernel(row, atom) for atom in self._atoms] for row in X], dtype=np.float64)
