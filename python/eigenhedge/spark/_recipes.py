"""Common interface for creating, resuming and stepping models and monitors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._alarms import states
from .._core import Model
from .._types import Floats

#: Schemas of a lower and upper bound, and of the summaries of models and monitors.
BRACKET = "struct<low: double, high: double>"
SUMMARY = f"expected_loss double, loss double, best_loss {BRACKET}, regret {BRACKET}, bound double, bound_holds boolean"
TOTALS = (
    "warm_up long, passed_over long, scored long, alarms long, events long, changes long, incident_rows long, incidents long, "
    "accepted long"
)


@dataclass(frozen=True)
class RecipeOptions:
    k: Any
    names: list[str] | None
    options: dict[str, Any]


class LearnerRecipe(RecipeOptions):
    answers = "expected_loss double, loss double, coordinates array<double>"
    summary = SUMMARY
    resume = staticmethod(Model.from_bytes)

    def begin(self, dim: int) -> Model:
        model = Model(dim, self.k, **self.options)
        model._set_feature_names(self.names)
        return model

    def step_each(self, model: Model, rows: Floats) -> dict[str, Any]:
        expected, losses, coordinates = model.step_each(rows)
        return {"expected_loss": expected, "loss": losses, "coordinates": list(coordinates)}

    def totals(self, model: Model) -> dict[str, Any]:
        summary = model.summary
        columns = {name: summary[name] for name in ("expected_loss", "loss", "bound", "bound_holds")}
        return {**columns, **{name: _bracket(summary[name]) for name in ("best_loss", "regret")}}

    def rows(self, model: Model) -> int:
        return model.rows


class MonitorRecipe(RecipeOptions):
    answers = (
        "score double, q double, t2 double, limit double, alarm boolean, state string, incident long, change long, "
        "causes array<string>, shares array<double>"
    )
    summary = TOTALS
    resume = staticmethod(_core.Monitor.from_bytes)

    def begin(self, dim: int) -> _core.Monitor:
        # Imported here, because scikit-learn takes a second to import and models do not need it.
        from .._monitor import Monitor

        return Monitor(self.k, **self.options)._fresh(dim, self.names)

    def step_each(self, monitor: _core.Monitor, rows: Floats) -> dict[str, Any]:
        return alarm_columns(monitor.update(rows, False, None), self.names)

    def totals(self, monitor: _core.Monitor) -> dict[str, Any]:
        return {name: count for name, count in monitor.totals.items() if name != "rows"}

    def rows(self, monitor: _core.Monitor) -> int:
        return monitor.totals["rows"]


Recipe: TypeAlias = LearnerRecipe | MonitorRecipe


def recipe(k: int | None, names: list[str] | None, dim: int | None, options: dict[str, Any]) -> Recipe:
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
    """Return, as JSON, the settings other than columns that must not change when a query is restarted."""
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
    """Return the results of a monitor as columns. Causes are column names, or indices as strings."""
    causes = [[place for place in row if place >= 0] for row in found["causes"].tolist()]
    texts = [[str(place) if names is None else names[place] for place in places] for places in causes]
    shares = [row[~np.isnan(row)].tolist() for row in found["shares"]]
    rows = {name: [None if row < 0 else row for row in found[name].tolist()] for name in ("incident", "change")}
    kept = {name: found[name] for name in ("score", "q", "t2", "limit", "alarm")}
    return {**kept, "state": states(found).tolist(), **rows, "causes": texts, "shares": shares}


def _bracket(value: Any) -> dict[str, float] | None:
    if value is None or isinstance(value, dict):
        return value
    return {"low": value, "high": value}
