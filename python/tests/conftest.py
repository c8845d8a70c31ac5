"""Fixtures and helpers of the tests."""

import os

# Set before SciPy is imported. Otherwise scikit-learn skips its check of array-API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest

#: Path of the program, or None if EIGENHEDGE_PROGRAM is not set.
PROGRAM = os.environ.get("EIGENHEDGE_PROGRAM")
#: Skips a test if `PROGRAM` is None.
needs_program = pytest.mark.skipif(PROGRAM is None, reason="EIGENHEDGE_PROGRAM does not name the program")


def projector(components):
    return components.T @ components


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def low_rank(rng, rows=400, length=8, rank=3, noise=0.1):
    """Return rows near a subspace, around a nonzero mean."""
    scales = np.linspace(3.0, 1.0, rank)
    directions = np.linalg.qr(rng.normal(size=(length, rank)))[0].T
    return (scales * rng.normal(size=(rows, rank))) @ directions + noise * rng.normal(size=(rows, length)) + 2.0
