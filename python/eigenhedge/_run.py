"""One learner over one table."""

from dataclasses import dataclass

import numpy as np

from ._core import Learner
from ._rows import as_rows


@dataclass(frozen=True)
class Run:
    """What :func:`run` returns.

    Attributes
    ----------
    expected_losses : ndarray of shape (n_rows,)
        What each row lost on average over the choices that could have been drawn.
    losses : ndarray of shape (n_rows,)
        What each row lost by the choice that was drawn.
    coordinates : ndarray of shape (n_rows, k)
        Each row in the directions that were kept for it.
    ledger : dict
        The account, with the keys of the command line's summary; what does not exist is None.
    model : Learner
        The learner, to go on with.
    """

    expected_losses: np.ndarray
    losses: np.ndarray
    coordinates: np.ndarray
    ledger: dict
    model: Learner


def run(
    X,
    k,
    *,
    learner="auto",
    eta=None,
    mixing=None,
    alpha=None,
    merge=None,
    center=None,
    center_prior=None,
    kernel=None,
    gamma=None,
    degree=None,
    coef0=None,
    feature_dim=None,
    as_printed=False,
    budget=None,
    max_rank=None,
    forget=None,
    ceiling=None,
    norm_bound="auto",
    select="systematic",
    segments=0,
    seed=0,
):
    """Run one learner over the rows of a table: one trial for each row.

    Before each row the learner commits to a k-dimensional subspace, is charged for what that subspace loses of the row,
    and learns. The same rows, options and seed give the same bits as ``eigenhedge run`` on the command line.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        The rows, in order: an array, a list, a sparse matrix, a table of pandas, polars or Arrow.
    k : int
        Number of directions kept.
    learner : str, default="auto"
        A name of :func:`eigenhedge.learners`.
    eta : float or "auto", default=None
        Learning rate. None is the learner's own default: 1, tuned to its loss for ``anchored``, 0.05 for ``oja``, ``gha``
        and ``apex``. An option that the learner does not read is an error.
    mixing : {"none", "fixed-share", "past-average"}, default=None
        None is ``"fixed-share"`` for ``tracking`` and ``"none"`` for the others.
    alpha : float, default=None
        Share that is mixed in; None is 0.001.
    merge : float, default=None
        With fixed share: what merging directions that differ little from the rest may cost, as a share of what mixing
        costs; None is 0.25, and 0 merges nothing, which is slow when noise touches every direction.
    center : bool, default=None
        Whether the running mean is subtracted. None is True, but False for learners that cannot.
    center_prior : float, default=None
        Imaginary rows at the origin that the running mean starts from; None is 0.
    kernel : str, default=None
        Learn from features of rows: a name of :func:`eigenhedge.kernels`.
    gamma, degree, coef0 : float, int, float, default=None
        Parameters of the kernel; None is one over the number of columns, 3 and 1.
    feature_dim : int or "inf", default=None
        Dimension of the space, when it is not that of the rows or of the kernel.
    as_printed : bool, default=False
        For ``anchored``: ICML Algorithm 6 as printed.
    budget : int, default=None
        For kernels: keep at most this many rows as atoms.
    max_rank : int, default=None
        At most this many explicit directions.
    forget : float, default=None
        For ``forgetting-leader``: factor on the memory at each row; None is 0.95.
    ceiling : float, default=None
        What the best subspace loses at most; tunes the rate, needs a norm bound.
    norm_bound : float or "auto", default="auto"
        Norm that no row exceeds; ``"auto"`` is the largest seen so far.
    select : {"systematic", "corners", "top"}, default="systematic"
        How the kept directions are drawn.
    segments : int, default=0
        Also compare with the best partition of the rows into up to this many segments.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    Run
        Losses, coordinates, ledger and model.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1)) @ [[3.0, 4.0, 0.0]] + 0.1 * rng.normal(size=(300, 3))
    >>> run = eigenhedge.run(X, 1)
    >>> run.coordinates.shape
    (300, 1)
    >>> run.ledger["rows"], run.ledger["learner"]
    (300, 'auto')
    >>> run.losses[200:].mean() < 0.1
    np.True_
    """
    rows = as_rows(X)
    model = Learner(
        rows.shape[1],
        k,
        learner=learner,
        eta=eta,
        mixing=mixing,
        alpha=alpha,
        merge=merge,
        center=center,
        center_prior=center_prior,
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        feature_dim=feature_dim,
        as_printed=as_printed,
        budget=budget,
        max_rank=max_rank,
        forget=forget,
        ceiling=ceiling,
        norm_bound=norm_bound,
        select=select,
        segments=segments,
        seed=seed,
    )
    expected_losses, losses, coordinates = model.answer(rows)
    return Run(expected_losses, losses, coordinates, model.ledger, model)
