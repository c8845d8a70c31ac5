"""Construction, resumption, steps and summaries of models and monitors by key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import _core
from .._alarms import states
from .._core import Model
from .._monitor_options import core_options
from .._types import Floats

#: Schemas of the summary columns of a model, and of a monitor.
BRACKET = "struct<low: double, high: double>"
SUMMARY = f"expected_loss double, loss double, best_loss {BRACKET}, regret {BRACKET}, bound double, bound_holds boolean"
TOTALS = (
    "warm_up long, passed_over long, scored long, alarms long, events long, changes long, drift_rows long, drifts long, "
    "accepted long"
)


@dataclass(frozen=True)
class LearnerRecipe:
    """Recipe for a :class:`Model` with these options."""

    k: int
    names: list[str] | None
    options: dict[str, Any]

    answers = "expected_loss double, loss double, coordinates array<double>"
    summary = SUMMARY

    def begin(self, dim: int) -> Model:
        """Return a new model."""
        model = Model(dim, self.k, **self.options)
        if self.names is not None:
            model._set_feature_names(self.names)
        return model

    def resume(self, data: bytes) -> Model:
        """Load a saved model."""
        return Model.from_bytes(data)

    def step_each(self, model: Model, rows: Floats) -> dict[str, Any]:
        """Learn rows and return the output columns."""
        expected, losses, coordinates = model.step_each(rows)
        return {"expected_loss": expected, "loss": losses, "coordinates": list(coordinates)}

    def totals(self, model: Model) -> dict[str, Any]:
        """Return the columns of the summary."""
        summary = model.summary
        columns = {name: summary[name] for name in ("expected_loss", "loss", "bound", "bound_holds")}
        return {**columns, **{name: _bracket(summary[name]) for name in ("best_loss", "regret")}}

    def rows(self, model: Model) -> int:
        """Return the number of rows learned."""
        return model.rows


@dataclass(frozen=True)
class MonitorRecipe:
    """Recipe for a :class:`Monitor` with these options."""

    k: int | None
    names: list[str] | None
    options: dict[str, Any]

    answers = (
        "score double, q double, t2 double, limit double, alarm boolean, state string, drift_since long, change long, "
        "causes array<string>, shares array<double>"
    )
    summary = TOTALS

    def begin(self, dim: int) -> _core.Monitor:
        """Return a new monitor."""
        # Workers without monitors do not need scikit-learn, which takes a second to import.
        from .._monitor import Monitor

        return _core.Monitor(dim, names=self.names, **core_options(Monitor(self.k, **self.options).get_params(deep=False)))

    def resume(self, data: bytes) -> _core.Monitor:
        """Load a saved monitor."""
        return _core.Monitor.from_bytes(data)

    def step_each(self, monitor: _core.Monitor, rows: Floats) -> dict[str, Any]:
        """Score rows, update the recent level, and return the output columns."""
        return alarm_columns(monitor.update(rows, False, None), self.names)

    def totals(self, monitor: _core.Monitor) -> dict[str, Any]:
        """Return the columns of the summary."""
        return {name: count for name, count in monitor.totals.items() if name != "rows"}

    def rows(self, monitor: _core.Monitor) -> int:
        """Return the number of rows processed."""
        return monitor.totals["rows"]


Recipe: TypeAlias = LearnerRecipe | MonitorRecipe


def recipe(k: int | None, names: list[str] | None, dim: int | None, options: dict[str, Any]) -> Recipe:
    """Return the recipe for a model or monitor with these options. Check the options if the row length is known."""
    made: Recipe
    if options.get("learner") == "monitor":
        made = MonitorRecipe(k, names, {name: value for name, value in options.items() if name != "learner"})
    elif k is None:
        raise ValueError("k must be the number of directions to keep; only learner='monitor' chooses it itself")
    else:
        made = LearnerRecipe(k, names, options)
    if dim is not None:
        made.begin(dim)
    return made


def settings(made: Recipe) -> str:
    """Return the settings, other than the columns, that must not change between two runs of a query."""
    return json.dumps({"k": made.k, **made.options}, sort_keys=True, default=repr)


def resumed(made: Recipe, data: bytes, saved_settings: str, width: int | None) -> Any:
    """Load a saved model. Raise a ``ValueError`` if its columns or options differ from those of the query."""
    model: Any = made.resume(data)
    saved, given = json.loads(saved_settings), json.loads(settings(made))
    differences = [(name, saved.get(name), given.get(name)) for name in sorted({*saved, *given})]
    differences += [("the number of columns", model.dim, width or model.dim), ("columns", model.feature_names, made.names)]
    for name, before, now in differences:
        if before != now:
            raise ValueError(
                f"the query must go on with the columns and options of its checkpoint, where {name} is {before!r}, got {now!r}; "
                "for others begin a new checkpoint"
            )
    return model


def alarm_columns(found: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """Return the results of a monitor as columns. Causes are column names, or positions as strings."""
    causes = found["causes"].reshape(-1, 3)
    texts = [[_named(place, names) for place in row if place >= 0] for row in causes.tolist()]
    shares = [[float(x) for x, place in zip(row, places) if place >= 0] for row, places in zip(found["shares"], causes)]
    rows = {name: [None if row < 0 else row for row in found[name].tolist()] for name in ("drift_since", "change")}
    kept = {name: found[name] for name in ("score", "q", "t2", "limit", "alarm")}
    return {**kept, "state": states(found).tolist(), **rows, "causes": texts, "shares": shares}


def _named(place: int, names: list[str] | None) -> str:
    return str(place) if names is None else names[place]


def _bracket(value: Any) -> dict[str, float] | None:
    """Convert a number, or a lower and upper bound, to a dictionary with low and high."""
    if value is None or isinstance(value, dict):
        return value
    return {"low": value, "high": value}
