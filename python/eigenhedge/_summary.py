"""A run in one sentence, and as a small table with a line of its losses."""

from __future__ import annotations

import html as escaping

import numpy as np

from ._types import Between, Floats, Ledger

#: Points of the line, and its size.
POINTS, WIDTH, HEIGHT = 120, 240, 36


def sentence(ledger: Ledger) -> str:
    """Return the account in one sentence."""
    told = [f"{name} {value}" for name, value in _account(ledger)]
    return f"<Run of {_title(ledger)}: {'; '.join(told)}>"


def html(ledger: Ledger, losses: Floats) -> str:
    """Return the account as a table, under a line of the losses over the rows."""
    cells = "".join(
        f'<tr><th style="text-align:left">{name}</th><td style="text-align:right">{escaping.escape(value)}</td></tr>'
        for name, value in _account(ledger)
    )
    caption = f'<caption style="text-align:left">{escaping.escape(_title(ledger))}{spark_line(losses)}</caption>'
    return f"<table>{caption}<tbody>{cells}</tbody></table>"


def rounded(value: float | Between) -> str:
    """Return a number with four digits or so, or the two that it lies between."""
    if isinstance(value, dict):
        return f"{rounded(value['low'])} to {rounded(value['high'])}"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def spark_line(losses: Floats) -> str:
    """Return a picture of the mean losses of stretches of rows; the highest fiftieth is cut off."""
    if len(losses) < 2:
        return ""
    means = np.array([stretch.mean() for stretch in np.array_split(losses, min(POINTS, len(losses)))])
    top = max(float(np.quantile(means, 0.98)), np.finfo(float).tiny)
    y = HEIGHT - 2 - (HEIGHT - 4) * np.minimum(means / top, 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(np.linspace(1, WIDTH - 1, len(means)), y))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="display:block" role="img" aria-label="expected loss over the rows">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1"/></svg>'
    )


def _title(ledger: Ledger) -> str:
    return f"{ledger['learner']}, k = {ledger['k']}, {ledger['rows']} rows of {ledger['dim']}"


def _account(ledger: Ledger) -> list[tuple[str, str]]:
    """Names and values, rounded for people."""
    energy = ledger["loss"] + ledger["kept_energy"]
    share = f" ({ledger['expected_loss'] / energy:.2%} of the energy)" if energy > 0 else ""
    account = [("expected loss", rounded(ledger["expected_loss"]) + share)]
    if ledger["best_loss"] is not None:
        account.append(("best fixed subspace", rounded(ledger["best_loss"])))
    if ledger["bound"] is not None:
        holds = "" if ledger["bound_holds"] is None else ", holds" if ledger["bound_holds"] else ", broken"
        account.append(("bound", rounded(ledger["bound"]) + holds))
    if ledger["members"]:
        leader = max(ledger["members"], key=lambda member: member["weight"])
        account.append(("heaviest member", f"{leader['name']} ({leader['weight']:.0%})"))
    return account
