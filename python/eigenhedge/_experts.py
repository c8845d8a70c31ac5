"""Hedge, a special case of capped Hedge."""

from ._core import CappedHedge
from ._types import Mixing, Select


def Hedge(
    n: int,
    eta: float,
    *,
    mixing: Mixing = None,
    alpha: float | None = None,
    select: Select = None,
    seed: int = 0,
) -> CappedHedge:
    """Create a Hedge learner over ``n`` experts, which draws one expert per trial and incurs its loss.

    Parameters
    ----------
    n : int
        Number of experts.
    eta : float
        Learning rate.
    mixing, alpha, select, seed : str, float, str, int
        Options of :class:`CappedHedge`.

    Returns
    -------
    CappedHedge
        Learner that drops one expert per trial. Its ``dropped_probabilities`` are the weights of Hedge.

    Examples
    --------
    >>> from eigenhedge import Hedge
    >>> hedge = Hedge(2, eta=1.0)
    >>> hedge.step([0.0, 1.0])[0]
    0.5
    >>> hedge.dropped_probabilities.round(3)
    array([0.731, 0.269])
    """
    return CappedHedge(n, n - 1, eta, mixing=mixing, alpha=alpha, select=select, seed=seed)
