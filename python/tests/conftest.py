"""What the tests share."""

import os

# Before SciPy is imported: scikit-learn's check of array-API input is skipped without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest


def projector(components):
    """The projection on the span of orthonormal rows."""
    return components.T @ components


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def low_rank(rng, rows=400, length=8, rank=3, noise=0.1):
    """Rows near a subspace, around a mean that is not zero."""
    scales = np.linspace(3.0, 1.0, rank)
    directions = np.linalg.qr(rng.normal(size=(length, rank)))[0].T
    return (scales * rng.normal(size=(rows, rank))) @ directions + noise * rng.normal(size=(rows, length)) + 2.0
