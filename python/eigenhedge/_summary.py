"""Summary of a run as a sentence, and as an HTML table with a plot of its losses."""

from __future__ import annotations

import html as escaping
from collections.abc import Sequence

import numpy as np

from ._types import Between, Floats, Summary

#: Maximum number of points in the plot, and its width and height in pixels.
POINTS, WIDTH, HEIGHT = 120, 240, 36


def sentence(summary: Summary) -> str:
    told = [f"{name} {value}" for name, value in _lines(summary)]
    return f"<RunResult of {_title(summary)}: {'; '.join(told)}>"


def html(summary: Summary, losses: Floats) -> str:
    cells = "".join(
        f'<tr><th style="text-align:left">{name}</th><td style="text-align:right">{escaping.escape(value)}</td></tr>'
        for name, value in _lines(summary)
    )
    caption = f'<caption style="text-align:left">{escaping.escape(_title(summary))}{spark_line(losses)}</caption>'
    return f"<table>{caption}<tbody>{cells}</tbody></table>"


def rounded(value: float | Between) -> str:
    """Return a number as text with about four digits, or a range as ``LOW to HIGH``."""
    if isinstance(value, dict):
        return f"{rounded(value['low'])} to {rounded(value['high'])}"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def table(names: list[str], lines: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escaping.escape(name)}</th>" for name in names)
    rows = ["".join(f"<td>{escaping.escape(str(cell))}</td>" for cell in line) for line in lines]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"


def spark_line(losses: Floats, label: str = "expected loss over the rows") -> str:
    """Return an SVG plot of means over segments of rows, or "" for fewer than two rows.

    The highest 2 % of the means are clipped.
    """
    if len(losses) < 2:
        return ""
    means = np.array([stretch.mean() for stretch in np.array_split(losses, min(POINTS, len(losses)))])
    top = max(float(np.quantile(means, 0.98)), np.finfo(float).tiny)
    y = HEIGHT - 2 - (HEIGHT - 4) * np.minimum(means / top, 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(np.linspace(1, WIDTH - 1, len(means)), y))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="display:block" role="img" aria-label="{label}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1"/></svg>'
    )


def _title(summary: Summary) -> str:
    return f"{summary['learner']}, k = {summary['k']}, {summary['rows']} rows of {summary['dim']}"


def _lines(summary: Summary) -> list[tuple[str, str]]:
    energy = summary["loss"] + summary["kept_energy"]
    share = f" ({summary['expected_loss'] / energy:.2%} of the energy)" if energy > 0 else ""
    lines = [("expected loss", rounded(summary["expected_loss"]) + share)]
    if summary["best_loss"] is not None:
        lines.append(("best fixed subspace", rounded(summary["best_loss"])))
    if summary["bound"] is not None:
        holds = "" if summary["bound_holds"] is None else ", holds" if summary["bound_holds"] else ", broken"
        lines.append(("bound", rounded(summary["bound"]) + holds))
    if summary["members"]:
        leader = max(summary["members"], key=lambda member: member["weight"])
        lines.append(("heaviest member", f"{leader['name']} ({leader['weight']:.0%})"))
    return lines
