"""Hedge, and runs of expert learners and of the pair learner over tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ._core import _DEFAULTS, CappedHedge, Experts, Pair
from ._rows import as_rows
from ._types import ExpertsName, Floats, Mixing, Select, Table


def Hedge(
    n: int,
    eta: float,
    *,
    mixing: Mixing = None,
    alpha: float | None = None,
    select: Select = None,
    seed: int = 0,
) -> CappedHedge:
    """Create a Hedge learner over ``n`` experts with learning rate ``eta``.

    It is a :class:`CappedHedge` that drops one expert per trial, whose loss it incurs. Its
    ``dropped_probabilities`` are the weights of Hedge.
    """
    return CappedHedge(n, n - 1, eta, mixing=mixing, alpha=alpha, select=select, seed=seed)


@dataclass(frozen=True)
class ExpertsResult:
    """Result of :func:`experts`.

    Attributes
    ----------
    expected_losses, losses : ndarray of shape (n_rows,)
        Total loss of the dropped experts in each row: its expectation, and its value for the drawn set.
    kept_probabilities : ndarray of shape (n_rows, n), or None
        Probability that each expert is kept, before each row. It is None for ``"leader"`` and ``"perturbed-leader"``.
    best_loss : float
        Total loss of the best fixed set of experts to drop, in hindsight.
    bound : float or None
        Upper bound on the total expected loss. It is None if no theorem covers the learner.
    theorem : str or None
        Theorem from which the bound follows.
    """

    expected_losses: Floats
    losses: Floats
    kept_probabilities: Floats | None
    best_loss: float
    bound: float | None
    theorem: str | None


def experts(
    losses: Table,
    k: int,
    *,
    learner: ExpertsName = "capped-hedge",
    eta: float = _DEFAULTS["experts_eta"],
    mixing: Mixing = None,
    alpha: float | None = None,
    select: Select = None,
    seed: int = 0,
) -> ExpertsResult:
    """Run an expert learner over a table of losses between 0 and 1, with a row for each trial.

    In each row, k experts are kept, and the losses of the other experts are charged. The options
    are those of :class:`Experts`.

    Examples
    --------
    >>> from eigenhedge import experts
    >>> run = experts([[0.0, 0.5, 1.0]] * 50, 2, eta=0.5)
    >>> run.best_loss, run.expected_losses.sum() <= run.bound
    (0.0, np.True_)
    >>> experts([[0.0, 0.5, 1.0]] * 50, 2, learner="leader").losses[-1]
    np.float64(0.0)
    """
    rows = as_rows(losses)
    learning = Experts(rows.shape[1], k, learner=learner, eta=eta, mixing=mixing, alpha=alpha, select=select, seed=seed)
    kept, pairs = [], []
    for row in rows:
        kept.append(learning.kept_probabilities)
        pairs.append(learning.step(row))
    expected, realised = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    best = float(np.sort(rows.sum(axis=0))[: rows.shape[1] - k].sum())
    bound = learning.bound(best)
    known = None if not kept or kept[0] is None else np.array(kept)
    return ExpertsResult(expected.copy(), realised.copy(), known, best, *(bound or (None, None)))


@dataclass(frozen=True)
class PairResult:
    """Result of :func:`pair`.

    Attributes
    ----------
    expected_gains, gains : ndarray of shape (n_rows,)
        Expected gain of each pair of rows over the random choice of directions, and gain of the
        directions that were drawn.
    best_gain, bound : float or None
        Total gain of the best fixed directions in hindsight, and lower bound on the total expected
        gain, as for :class:`Pair`.
    left, right : ndarray of shape (n_directions, n_left) and (n_directions, n_right)
        Learned directions, in descending order of their probability of being kept.
    probabilities : ndarray of shape (n_directions,)
        Probability that each direction is kept.
    """

    expected_gains: Floats
    gains: Floats
    best_gain: float | None
    bound: float | None
    left: Floats
    right: Floats
    probabilities: Floats


def pair(
    X: Table,
    Y: Table,
    k: int,
    *,
    eta: float = _DEFAULTS["pair_eta"],
    alpha: float = _DEFAULTS["pair_alpha"],
    center: bool = True,
    norm_bound: float | Literal["auto"] = "auto",
    seed: int = 0,
) -> PairResult:
    """Run the pair learner over two tables, to find directions of both that correlate with each other.

    Row i of ``X`` and row i of ``Y`` are a pair. The options are those of :class:`Pair`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenhedge import pair
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> run = pair(x, x[:, ::-1], 1, alpha=0.0, norm_bound=2.0)
    >>> bool(run.bound <= run.expected_gains.sum() <= run.best_gain)
    True
    """
    left, right = as_rows(X), as_rows(Y)
    if len(left) != len(right):
        raise ValueError(f"X and Y must have as many rows, got {len(left)} and {len(right)}")
    n, m = left.shape[1], right.shape[1]
    learner = Pair(n, m, k, eta=eta, alpha=alpha, center=center, norm_bound=norm_bound, seed=seed)
    steps = [learner.step(x, y) for x, y in zip(left, right, strict=True)]
    expected, realised = np.array(steps, dtype=np.float64).reshape(-1, 2).T
    return PairResult(expected.copy(), realised.copy(), learner.best_gain, learner.bound, *learner.directions)
