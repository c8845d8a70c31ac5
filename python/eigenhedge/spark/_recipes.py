"""Models of keys: how they are made, resumed, stepped and summarized. Models and monitors differ in nothing else here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import _core
from .._alarms import states
from .._core import Model
from .._types import Floats

#: Columns of the summary of a model, and of a monitor.
BRACKET = "struct<low: double, high: double>"
SUMMARY = f"expected_loss double, loss double, best_loss {BRACKET}, regret {BRACKET}, bound double, bound_holds boolean"
TOTALS = (
    "warm_up long, passed_over long, scored long, alarms long, events long, changes long, drift_rows long, drifts long, "
    "accepted long"
)


@dataclass(frozen=True)
class LearnerRecipe:
    """A :class:`Model` with these options."""

    k: int
    names: list[str] | None
    options: dict[str, Any]

    answers = "expected_loss double, loss double, coordinates array<double>"
    summary = SUMMARY

    def begin(self, dim: int) -> Model:
        """A model before its first row."""
        model = Model(dim, self.k, **self.options)
        if self.names is not None:
            model._set_feature_names(self.names)
        return model

    def resume(self, data: bytes) -> Model:
        """The model of a snapshot."""
        return Model.from_bytes(data)

    def step_each(self, model: Model, rows: Floats) -> dict[str, Any]:
        """Learn from rows; return the columns of the answers."""
        expected, losses, coordinates = model.step_each(rows)
        return {"expected_loss": expected, "loss": losses, "coordinates": list(coordinates)}

    def totals(self, model: Model) -> dict[str, Any]:
        """Return the columns of the summary."""
        summary = model.summary
        columns = {name: summary[name] for name in ("expected_loss", "loss", "bound", "bound_holds")}
        return {**columns, **{name: _bracket(summary[name]) for name in ("best_loss", "regret")}}

    def rows(self, model: Model) -> int:
        """Rows learned from."""
        return model.rows


@dataclass(frozen=True)
class MonitorRecipe:
    """The monitor of a :class:`Monitor` with these options."""

    k: int | None
    names: list[str] | None
    options: dict[str, Any]

    answers = (
        "score double, q double, t2 double, limit double, alarm boolean, state string, drift_since long, change long, "
        "causes array<string>, shares array<double>"
    )
    summary = TOTALS

    def begin(self, dim: int) -> _core.Monitor:
        """A monitor before its first row."""
        # Here: workers that do not monitor need no scikit-learn, which takes a second to import.
        from .._monitor import Monitor

        return _core.Monitor(dim, names=self.names, **Monitor(self.k, **self.options).get_params(deep=False))

    def resume(self, data: bytes) -> _core.Monitor:
        """The monitor of a snapshot."""
        return _core.Monitor.from_bytes(data)

    def step_each(self, monitor: _core.Monitor, rows: Floats) -> dict[str, Any]:
        """Give the verdicts on rows, which the recent level follows; return the columns of the answers."""
        return alarm_columns(monitor.update(rows, False), self.names)

    def totals(self, monitor: _core.Monitor) -> dict[str, Any]:
        """Return the columns of the summary."""
        return {name: count for name, count in monitor.totals.items() if name != "rows"}

    def rows(self, monitor: _core.Monitor) -> int:
        """Rows looked at."""
        return monitor.totals["rows"]


Recipe: TypeAlias = LearnerRecipe | MonitorRecipe


def recipe(k: int | None, names: list[str] | None, dim: int | None, options: dict[str, Any]) -> Recipe:
    """The recipe for these options; ``learner="monitor"`` is a monitor. Options are checked if the length of a row is known."""
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
    """Settings that must not change between two runs of a query, beside the columns."""
    return json.dumps({"k": made.k, **made.options}, sort_keys=True, default=repr)


def resumed(made: Recipe, data: bytes, saved_settings: str, width: int | None) -> Any:
    """The model of a snapshot; an error if it was made with other columns or options than the query has."""
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
    """Answers of a monitor as columns; causes are names of columns, or positions as texts."""
    causes = found["causes"].reshape(-1, 3)
    texts = [[_named(place, names) for place in row if place >= 0] for row in causes.tolist()]
    shares = [[float(x) for x, place in zip(row, places) if place >= 0] for row, places in zip(found["shares"], causes)]
    rows = {name: [None if row < 0 else row for row in found[name].tolist()] for name in ("drift_since", "change")}
    kept = {name: found[name] for name in ("score", "q", "t2", "limit", "alarm")}
    return {**kept, "state": states(found).tolist(), **rows, "causes": texts, "shares": shares}


def _named(place: int, names: list[str] | None) -> str:
    return str(place) if names is None else names[place]


def _bracket(value: Any) -> dict[str, float] | None:
    """A number or a bracket as a bracket."""
    if value is None or isinstance(value, dict):
        return value
    return {"low": value, "high": value}
