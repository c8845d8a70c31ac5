"""Plots of runs, models and monitors with matplotlib, which is imported on first use.

:func:`overview` and :func:`monitor` draw several plots and return the figure. Every other function draws on the axes
``ax``, or on new axes if ``ax`` is None, and returns them. ``run`` is the result of :func:`eigenhedge.run`.

Examples
--------
>>> import numpy as np
>>> import eigenhedge
>>> X = np.random.default_rng(0).normal(size=(200, 5)) * [5, 3, 1, 1, 1]
>>> run = eigenhedge.run(X, 2)
>>> ax = eigenhedge.plot.losses(run)
>>> ax.get_xlabel(), ax.get_ylabel()
('row', 'total loss')
>>> figure = eigenhedge.plot.monitor(eigenhedge.Monitor(2, warm_up=100).update(X))
>>> [ax.get_ylabel() for ax in figure.axes]
['score', 'Q', 'T²']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ._alarms import wall_times
from ._core import Model
from ._optional import needed
from ._summary import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._alarms import Alarms
    from ._online import Online
    from ._run import RunResult
    from ._types import Floats, Table

__all__ = ["biplot", "loadings", "losses", "monitor", "overview", "portfolio", "scree", "spectrum"]

#: Maximum numbers of column names on an axis, characters per name, and points per curve.
NAMES, LONGEST, POINTS = 40, 16, 1000


def losses(run: RunResult, ax: Axes | None = None) -> Axes:
    """Plot cumulative losses, expected and drawn, the loss of the best fixed subspace, and the bound.

    The first row is left out if it only sets the center. A bound or best loss of more than three
    times the largest total loss appears only in the legend, so that it does not flatten the curves.
    """
    _check_run(run, "losses")
    ax = _axes(ax)
    # Skipped rows have no loss. The first row with a loss may only set the center.
    seen = np.flatnonzero(~np.isnan(run.losses))
    first = 0 if run.summary["first_row_loss"] is None or not len(seen) else int(seen[0]) + 1
    rows = np.arange(first, len(run.losses))
    drawn, expected = (np.cumsum(np.nan_to_num(values[first:])) for values in (run.losses, run.expected_losses))
    shown = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), POINTS)).astype(int))
    ax.plot(rows[shown], drawn[shown], lw=1, alpha=0.6, label="loss as drawn")
    ax.plot(rows[shown], expected[shown], lw=2, label="expected loss")
    highest = top = max(float(drawn.max(initial=0.0)), float(expected.max(initial=0.0)), 1e-300)
    for name, value, style in [("best fixed subspace", run.summary["best_loss"], ":"), ("bound", run.summary["bound"], "--")]:
        if value is None:
            continue
        low, high = (value["low"], value["high"]) if isinstance(value, dict) else (value, value)
        if high > 3 * highest:
            ax.plot([], [], ls=style, color="black", lw=1, label=f"{name} {rounded(value)}, above the picture")
            continue
        top = max(top, high)
        ax.axhline(high, ls=style, color="black", lw=1, label=f"{name} {rounded(value)}")
        if low < high:
            ax.axhspan(low, high, color="black", alpha=0.1, lw=0)
    ax.set(xlabel="row", ylabel="total loss", ylim=(0, 1.05 * top))
    # Leave space for a legend of two lines between axes and title.
    ax.set_title(f"{run.summary['learner']}, k = {run.summary['k']}", pad=36)
    _legend_above(ax, 2)
    return _plain(ax)


def portfolio(run: RunResult | Model | Online, ax: Axes | None = None) -> Axes:
    """Plot the weights of the members of ``"auto"`` after the last row. Earlier weights are not stored."""
    members = _model_of(run).summary["members"]
    if not members:
        raise ValueError("only a portfolio (learner='auto') has weights to draw")
    ax = _axes(ax)
    ax.barh([member["name"] for member in members], [member["weight"] for member in members])
    ax.invert_yaxis()
    ax.set(xlabel="weight after the last row", xlim=(0, 1))
    return _plain(ax)


def scree(model: RunResult | Model | Online, ax: Axes | None = None) -> Axes:
    """Plot the share of the energy of each of the k directions, cumulative shares, and probabilities.

    Without ``hindsight``, only the probabilities are plotted.
    """
    ax = _axes(ax)
    inner = _model_of(model)
    kept, shares = inner.inclusion, _shares_of(inner)
    directions = np.arange(1, len(kept) + 1)
    if shares is not None:
        ax.bar(directions, shares, color="tab:blue", alpha=0.4, label="share of the energy")
        ax.plot(directions, np.cumsum(shares), "o-", color="tab:blue", label="shares added up")
        ax.annotate(f"{shares.sum():.1%}", (directions[-1], shares.sum()), (0, -14), textcoords="offset points", ha="center")
    ax.plot(directions, kept, "_", ms=16, mew=2, color="tab:orange", label="probability of being kept")
    ax.set(xlabel="direction", ylabel="share or probability", ylim=(0, 1.05), xlim=(0.4, len(kept) + 0.6))
    ax.locator_params(axis="x", integer=True)
    _legend_above(ax, 2)
    return _plain(ax)


def loadings(model: RunResult | Model | Online, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Plot the loadings of the columns in each direction as a heat map.

    The model must have no kernel. ``names`` replaces its column names.
    """
    components, labels = _components_of(model, names)
    ax = _axes(ax)
    limit = float(np.abs(components).max()) or 1.0
    image = ax.imshow(components, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    shown = np.arange(0, len(labels), -(-len(labels) // NAMES))
    texts = [labels[i] if len(labels[i]) <= LONGEST else labels[i][: LONGEST - 1] + "…" for i in shown]
    ax.set_xticks(shown, texts, rotation=90 if max(map(len, texts)) > 3 else 0)
    ax.set_yticks(np.arange(len(components)), [f"direction {i + 1}" for i in range(len(components))])
    ax.figure.colorbar(image, ax=ax, label="loading")
    return ax


def biplot(
    model: RunResult | Model | Online,
    X: Table,
    names: Sequence[str] | None = None,
    *,
    directions: tuple[int, int] = (0, 1),
    arrows: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Plot rows along two directions, with the columns as arrows.

    Parameters
    ----------
    model : RunResult, Model or fitted online estimator
        Model with at least two directions and without a kernel.
    X : array-like of shape (n_rows, n_columns)
        Rows to plot. Later rows are darker.
    names : sequence of str, default=None
        Names of the columns. None means those of the model.
    directions : tuple of int, default=(0, 1)
        Indices (from 0) of the two directions.
    arrows : int, default=10
        Maximum number of arrows, which are those with the largest loadings.
    """
    components, labels = _components_of(model, names)
    if max(directions) >= len(components):
        raise ValueError(f"directions must be less than {len(components)}, got {directions}")
    z = _model_of(model).transform(X)[:, list(directions)]
    ax = _axes(ax)
    ax.scatter(z[:, 0], z[:, 1], c=np.arange(len(z)), cmap="Blues", vmin=-len(z) / 2, vmax=1.5 * len(z), s=6)
    loads = components[list(directions)].T
    longest = np.argsort(-(loads**2).sum(axis=1))[:arrows]
    # The longest arrow is as long as the 99 % quantile of the distances of the rows from the origin.
    reach = float(np.quantile(np.hypot(*z.T), 0.99)) / max(float(np.hypot(*loads[longest[0]])), 1e-300)
    outline = needed("matplotlib.patheffects", "eigenhedge.plot", "eigenhedge[plot]").withStroke(linewidth=3, foreground="white")
    for i in longest:
        tip = reach * loads[i]
        ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": "tab:red", "alpha": 0.8})
        ax.annotate(labels[i], tip, 1.08 * tip, color="tab:red", ha="center", va="center", path_effects=[outline])
    limit = 1.2 * max(float(np.abs(z).max()), reach * float(np.abs(loads).max()))
    shares = _shares_of(model)
    x, y = (f"direction {i + 1}" + ("" if shares is None else f" ({shares[i]:.1%} of the energy)") for i in directions)
    ax.set(xlabel=x, ylabel=y, xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    return _plain(ax)


def spectrum(run: RunResult, window: int | None = None, ax: Axes | None = None) -> Axes:
    """Plot the share of the energy along each kept direction, and the lost share, in windows of rows.

    Directions are the principal directions of the coordinates in a window. ``window`` is the number of its rows, by
    default a sixtieth of all rows, at least 20, and at least four per direction.
    """
    _check_run(run, "spectrum")
    rows, k = run.coordinates.shape
    coordinates, lost = np.nan_to_num(run.coordinates), np.nan_to_num(run.expected_losses)
    window = max(1, min(rows, max(rows // 60, 4 * k, 20))) if window is None else window
    if not 1 <= window <= max(rows, 1):
        raise ValueError(f"window must be from 1 to the {rows} rows, got {window}")
    starts = np.arange(0, rows - window + 1, max(1, window // 2))
    energies = np.empty((k + 1, len(starts)))
    for place, start in enumerate(starts):
        z = coordinates[start : start + window]
        energies[:k, place] = np.linalg.eigvalsh(z.T @ z)[::-1]
        energies[k, place] = lost[start : start + window].sum()
    energies = np.maximum(energies, 0.0)
    ax = _axes(ax)
    blues = _pyplot().get_cmap("Blues")(np.linspace(0.85, 0.35, k))
    labels = [*(f"direction {i + 1}" for i in range(k)), "lost"]
    shares = energies / np.maximum(energies.sum(axis=0), 1e-300)
    ax.stackplot(starts + window / 2, shares, colors=[*blues, "tab:orange"], labels=labels)
    ax.set(xlabel="row", ylabel=f"share of the energy of {window} rows", ylim=(0, 1), xlim=(0, max(rows - 1, 1)))
    if k < 8:
        _legend_above(ax, min(k + 1, 4))
    return _plain(ax)


def overview(run: RunResult) -> Figure:
    """Plot a run in one figure: losses, scree plot, energy over time, and loadings or weights of the members."""
    _check_run(run, "overview")
    figure = _pyplot().figure(figsize=(11, 7.5), layout="constrained")
    axes = figure.subplots(2, 2)
    losses(run, axes[0, 0])
    scree(run, axes[0, 1])
    spectrum(run, ax=axes[1, 0])
    if run.model.components is not None:
        loadings(run, ax=axes[1, 1])
    elif run.summary["members"]:
        portfolio(run, axes[1, 1])
    else:
        axes[1, 1].remove()
    return cast("Figure", figure)


def monitor(alarms: Alarms, times: Any = None, figure: Figure | None = None, *, key: object = None) -> Figure:
    """Plot score, Q and T² with their limits, alarms, incidents, changes and contributions of a monitor.

    Alarms are points, incidents are shaded, and changes are dotted lines. The limit of the score is
    that of the reference alone. For a :class:`eigenhedge.Fleet` without a common reference, it is
    ``alarms.limit``, which also depends on the most recent rows.

    Parameters
    ----------
    alarms : Alarms
        Result of :meth:`eigenhedge.Monitor.update`.
    times : array-like of shape (n_rows,), default=None
        Numbers or dates of the horizontal axis. None means the local times of the index, or ``alarms.row``.
    figure : matplotlib Figure, default=None
        Figure to draw on. None means a new figure.
    key : object, default=None
        Key to plot, required for results of a :class:`eigenhedge.Fleet` with several keys.
        ``times`` then has one value for each row of this key.
    """
    if not hasattr(alarms, "reference_limit"):
        raise TypeError(f"plot.monitor needs the Alarms that update returns, got a {type(alarms).__name__}")
    keys = sorted(set(alarms.key or []))
    if key is None and len(keys) > 1:
        raise ValueError(f"the rows have {len(keys)} keys: set key to the one to plot, for example key={keys[0]!r}")
    alarms = alarms if key is None else alarms.of_key(key)
    times = wall_times(alarms.index) if times is None else times
    x = alarms.row if times is None else np.asarray(times)
    if len(x) != len(alarms):
        raise ValueError(f"there must be a time for each of the {len(alarms)} rows, got {len(x)}")
    count = 3 if alarms.contributions is None else 4
    if figure is None:
        figure = cast("Figure", _pyplot().figure(figsize=(9, 2.2 * count), layout="constrained"))
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    # The reference limit is NaN if each key of a fleet has its own reference.
    reference = alarms.limit if np.isnan(alarms.reference_limit) else alarms.reference_limit
    shown = [
        ("score", alarms.score, np.where(np.isnan(alarms.score), np.nan, reference)),
        ("Q", alarms.q, alarms.q_limit),
        ("T²", alarms.t2, alarms.t2_limit),
    ]
    places = {int(row): place for place, row in enumerate(alarms.row)}
    # Position of the first row of each stretch inside an incident, and of the row after its last row.
    edges = np.flatnonzero(np.diff(alarms.in_incident.astype(int), prepend=0, append=0))
    for ax, (name, values, limits) in zip(axes, shown, strict=False):
        ax.plot(x, values, lw=0.8, label="value")
        ax.plot(x, limits, ls="--", color="black", lw=1, label="limit")
        for start, end in zip(edges[::2], edges[1::2]):
            ax.axvspan(x[start], x[min(end, len(x) - 1)], color="tab:orange", alpha=0.2, lw=0, label="incident")
        for change in alarms.changes:
            if change["start"] in places:
                ax.axvline(x[places[change["start"]]], color="tab:red", ls=":", lw=1, label="change")
        ax.set(ylabel=name, yscale="log")
        _plain(ax)
    axes[0].plot(x[alarms.alarm], alarms.score[alarms.alarm], "o", color="tab:red", ms=3, mew=0, label="alarm")
    handles = {label: handle for handle, label in zip(*axes[0].get_legend_handles_labels())}
    _legend_above(axes[0], len(handles), handles.values(), handles.keys())
    if alarms.contributions is not None and len(x) > 1:
        with np.errstate(invalid="ignore"):
            shares = np.clip(alarms.contributions / alarms.q_limit[:, None], 0.05, 20.0)
        norm = needed("matplotlib.colors", "eigenhedge.plot", "eigenhedge[plot]").LogNorm(0.05, 20.0)
        columns = np.arange(len(alarms.columns))
        mesh = axes[3].pcolormesh(x, columns, shares.T, norm=norm, shading="nearest", cmap="Oranges", rasterized=True)
        axes[3].set_yticks(columns, [str(name) for name in alarms.columns])
        axes[3].invert_yaxis()
        bar = figure.colorbar(mesh, ax=axes[3], label="contribution ÷ limit of Q", ticks=[0.1, 1, 10], format="%g")
        bar.minorticks_off()
    axes[-1].set_xlabel("row" if times is None else "time")
    return figure


def _legend_above(ax: Axes, columns: int, *handles: Any) -> None:
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": columns}
    ax.legend(*handles, **place, frameon=False, fontsize="small", handlelength=1.5, columnspacing=1.2)


def _pyplot() -> Any:
    return needed("matplotlib.pyplot", "eigenhedge.plot", "eigenhedge[plot]")


def _axes(ax: Axes | None) -> Axes:
    return cast("Axes", _pyplot().subplots(layout="constrained")[1]) if ax is None else ax


def _plain(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _check_run(run: RunResult, name: str) -> None:
    if not hasattr(run, "expected_losses"):
        raise TypeError(
            f"plot.{name} needs the result of eigenhedge.run, which has the loss of each row, got a {type(run).__name__}"
        )


def _components_of(model: RunResult | Model | Online, names: Sequence[str] | None) -> tuple[Floats, list[str]]:
    inner = _model_of(model)
    components = inner.components
    if components is None:
        raise ValueError("through a kernel there are no loadings of columns")
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = inner.feature_names
    labels = [str(i) for i in range(inner.dim)] if names is None else [str(name) for name in names]
    if len(labels) != inner.dim:
        raise ValueError(f"there must be a name for each of the {inner.dim} columns, got {len(labels)}")
    return components, labels


def _shares_of(model: RunResult | Model | Online) -> Floats | None:
    energies = _model_of(model).energies
    return None if energies is None or not energies[1] > 0 else energies[0] / energies[1]


def _model_of(model: RunResult | Model | Online) -> Model:
    found = getattr(model, "model_", None) or getattr(model, "model", model)
    if not isinstance(found, Model):
        way = "; of a Pipeline, pass its last step, pipeline[-1]" if hasattr(model, "steps") else ""
        raise TypeError(f"the plot needs a Model, an online estimator or the result of run, got a {type(model).__name__}{way}")
    return found
