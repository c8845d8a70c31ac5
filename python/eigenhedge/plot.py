"""Pictures of a run or of a monitor. Need matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._core import Learner
    from ._monitor import Alarms
    from ._online import Online
    from ._run import Run
    from ._types import Ledger

__all__ = ["losses", "monitor", "portfolio", "scree"]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("eigenhedge.plot needs matplotlib: pip install eigenhedge[plot]") from None
    return pyplot


def _axes(ax: Axes | None) -> Axes:
    return cast("Axes", _pyplot().subplots()[1]) if ax is None else ax


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


def monitor(alarms: Alarms, times: Any = None, figure: Figure | None = None) -> Figure:
    """Draw the answers of a monitor: score, Q and T² with their limits, events and changes, and contributions of columns.

    Parameters
    ----------
    alarms : Alarms
        What :meth:`eigenhedge.Monitor.update` returned, with ``contributions=True`` for the picture of the columns.
    times : array-like of shape (n_rows,), default=None
        The horizontal axis: numbers, or dates that matplotlib can draw; None is the numbers of the rows.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Figure
    """
    x = alarms.row if times is None else np.asarray(times)
    if len(x) != len(alarms):
        raise ValueError(f"there must be a time for each of the {len(alarms)} rows, got {len(x)}")
    count = 3 if alarms.contributions is None else 4
    figure = _pyplot().figure(figsize=(9, 2.2 * count), layout="constrained") if figure is None else figure
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    shown = [("score", alarms.score, alarms.limit), ("Q", alarms.q, alarms.q_limit), ("T²", alarms.t2, alarms.t2_limit)]
    first = int(alarms.row[0]) if len(alarms) else 0
    for ax, (name, values, limits) in zip(axes, shown, strict=False):
        ax.plot(x, values, lw=0.8, label=name)
        ax.plot(x, limits, ls="--", color="black", lw=1, label="limit")
        for event in alarms.events:
            _span(ax, x, event["start"] - first, event["end"] - first)
        for change in alarms.changes:
            if 0 <= change["start"] - first < len(x):
                ax.axvline(x[change["start"] - first], color="tab:red", ls=":", lw=1)
        ax.set(ylabel=name, yscale="log")
    if alarms.contributions is not None and len(x) > 1:
        with np.errstate(invalid="ignore"):
            shares = np.clip(alarms.contributions / alarms.q_limit[:, None], 0.05, 20.0)
        mesh = axes[3].pcolormesh(x, np.arange(len(alarms.columns)), np.log10(shares).T, shading="nearest", cmap="Oranges")
        axes[3].set_yticks(np.arange(len(alarms.columns)), [str(name) for name in alarms.columns])
        figure.colorbar(mesh, ax=axes[3], label="log₁₀ of limits of Q")
    axes[-1].set_xlabel("row" if times is None else "time")
    return figure


def _span(ax: Axes, x: Any, start: int, end: int) -> None:
    """Shade rows, as far as they are there."""
    if end >= 0 and start < len(x):
        ax.axvspan(x[max(start, 0)], x[min(end + 1, len(x) - 1)], color="tab:red", alpha=0.15, lw=0)


def _learner(model: Run | Learner | Online) -> Learner:
    return cast("Learner", getattr(model, "learner_", None) or getattr(model, "model", model))


def _ledger(model: Run | Learner | Online) -> Ledger:
    return _learner(model).ledger
