"""Pictures of a run. Need matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._core import Learner
    from ._online import Online
    from ._run import Run
    from ._types import Ledger

__all__ = ["losses", "portfolio", "scree"]


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("eigenhedge.plot needs matplotlib: pip install eigenhedge[plot]") from None
    return pyplot.subplots()[1]


def losses(run: Run, ax: Axes | None = None) -> Axes:
    """Draw total loss against rows: expected, of the choices drawn, and where the best subspace and the bound end.

    A first row that only fixes the center is no part of the totals.

    Parameters
    ----------
    run : Run
        What :func:`eigenhedge.run` returned.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = _axes(ax)
    first = 0 if run.ledger["first_row_loss"] is None else 1
    rows = np.arange(first + 1, len(run.losses) + 1)
    ax.plot(rows, np.cumsum(run.losses[first:]), lw=1, alpha=0.6, label="loss of the choices drawn")
    ax.plot(rows, np.cumsum(run.expected_losses[first:]), lw=2, label="expected loss")
    for key, style in (("best_loss", ":"), ("bound", "--")):
        value = run.ledger[key]
        if isinstance(value, dict):
            ax.axhspan(value["low"], value["high"], alpha=0.2, label=key.replace("_", " "))
        elif value is not None:
            ax.axhline(value, ls=style, color="black", lw=1, label=key.replace("_", " "))
    ax.set(xlabel="row", ylabel="total loss", title=f"{run.ledger['learner']}, k = {run.ledger['k']}")
    ax.legend()
    return ax


def portfolio(run: Run | Learner | Online, ax: Axes | None = None) -> Axes:
    """Draw the weight of each member of a portfolio.

    Parameters
    ----------
    run : Run, Learner or fitted online estimator
        With the learner ``"auto"``.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    members = _ledger(run)["members"]
    if not members:
        raise ValueError("only a portfolio (learner='auto') has weights to draw")
    ax = _axes(ax)
    ax.barh([member["name"] for member in members], [member["weight"] for member in members])
    ax.invert_yaxis()
    ax.set(xlabel="weight", xlim=(0, 1))
    return ax


def scree(model: Run | Learner | Online, ax: Axes | None = None) -> Axes:
    """Draw how surely each direction is kept, and the share of the energy along those that are.

    Parameters
    ----------
    model : Run, Learner or fitted online estimator
        The model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = _axes(ax)
    learner = _learner(model)
    kept = learner.probabilities
    ax.bar(np.arange(1, len(kept) + 1), kept, alpha=0.4, label="probability of being kept")
    if learner.energies is not None:
        energies, total = learner.energies
        if total > 0:
            ax.plot(np.arange(1, len(energies) + 1), energies / total, "o-", label="share of the energy")
    ax.set(xlabel="direction", ylim=(0, 1.05))
    ax.legend()
    return ax


def _learner(model: Run | Learner | Online) -> Learner:
    return cast("Learner", getattr(model, "learner_", None) or getattr(model, "model", model))


def _ledger(model: Run | Learner | Online) -> Ledger:
    return _learner(model).ledger
