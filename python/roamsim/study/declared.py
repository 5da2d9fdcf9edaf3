"""Statements and tables that need no code: their entries in statements.toml and study.toml say all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars

from roamsim import statistics
from roamsim.errors import UsageError
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.definition import Label, Measured, Statement, Tabulation
from roamsim.study.judging import Finding, either, every, follows, positive, rises, with_interval, within
from roamsim.study.metric import values_of


def judged(statement: Statement, data: Data) -> Finding:
    """What a statement's rules say of what it measures.

    Raises:
        UsageError: there is no run with the labels that it asks for, or a metric or formula is none.
    """
    if not statement.by_reading:
        return _every(statement.id, statement.measured, data)
    (name,) = statement.readings
    return either(
        {value: _every(statement.id, parts, data) for value, parts in statement.by_reading.items()},
        name.replace("_", " "),
    )


def _every(statement: str, measured: Sequence[Measured], data: Data) -> Finding:
    parts = [_part(statement, part, data) for part in measured]
    return parts[0] if len(parts) == 1 else every(parts)


def _part(statement: str, part: Measured, data: Data) -> Finding:
    what = part.label or part.column
    if part.x:
        curve = _curve(statement, part, data)
        if part.rises:
            return rises(curve, what)
        formula, tolerance = part.follows
        exact = dict(zip(curve, values_of([{"x": at} for at in curve], formula), strict=True))
        return follows(curve, exact.__getitem__, tolerance, what)
    estimate = _estimate(statement, part, data)
    return positive(estimate, what) if part.positive else within(estimate, part.within[0], part.within[1], what)


def _curve(statement: str, part: Measured, data: Data) -> dict[float, Estimate]:
    _require(statement, part.experiment, part.where, data)
    curve = data.curve(part.experiment, part.metric, part.x, **part.where)
    least, most = part.between or (-math.inf, math.inf)
    return {at: estimate.scaled(part.scale) for at, estimate in curve.items() if least < at < most}


def _estimate(statement: str, part: Measured, data: Data) -> Estimate:
    """A value, or its difference or ratio to that of another point, in pairs."""
    _require(statement, part.experiment, part.where, data)
    if not (part.less or part.over):
        return data.estimate(part.experiment, part.metric, **part.where).scaled(part.scale)
    where = {**part.where, **part.less, **part.over}
    experiment = str(where.pop("experiment", part.experiment))
    _require(statement, experiment, where, data)
    here = data.by_replication(part.experiment, part.metric, **part.where)
    there = data.by_replication(experiment, part.metric, **where)
    order = sorted(here.keys() & there.keys())
    ours, others = [here[r] for r in order], [there[r] for r in order]
    if part.less:
        return statistics.paired_difference(others, ours).scaled(part.scale)
    change = statistics.paired_ratio(others, ours)
    return Estimate(change.mean + 1, change.low + 1, change.high + 1, change.samples).scaled(part.scale)


def _require(statement: str, experiment: str, where: Mapping[str, Any], data: Data) -> None:
    """Refuses labels that no run has: a misspelt one would leave nothing to measure."""
    if not data.rows(experiment, **where):
        asked = ", ".join(f"{name} = {label!r}" for name, label in where.items())
        labels = "; ".join(f"{name}: {_words(data.labels(experiment, name))}" for name in where)
        raise UsageError(f"statement {statement}: no run of experiment {experiment} has {asked}; there are {labels}")


def filled(table: Tabulation, data: Data) -> list[dict[str, Any]]:
    """The rows of a table: means with their 95 % intervals by the labels of the experiment."""
    dimensions = [*table.rows, *([table.columns] if table.columns else [])]
    labels = [data.labels(table.experiment, dimension) for dimension in dimensions]
    cells = []
    for combination in product(*labels):
        where = dict(zip(dimensions, combination, strict=True))
        if any(name in table.where and label not in _many(table.where[name]) for name, label in where.items()):
            continue
        for cell in table.cells:
            heading = [cell.label or cell.column] if len(table.cells) > 1 or not table.columns else []
            if table.columns:
                heading = [f"{table.columns} {where[table.columns]}", *heading]
            estimate = data.estimate(table.experiment, cell.metric, **{**table.where, **where}).scaled(cell.scale)
            shown = "" if math.isnan(estimate.mean) else with_interval(estimate)
            cells.append(
                {**{name: str(where[name]) for name in table.rows}, "column": ", ".join(heading), "cell": shown}
            )
    if not cells:
        return []
    pivoted = polars.DataFrame(cells).pivot(on="column", index=list(table.rows), values="cell")
    return pivoted.rename({name: name.replace("_", " ") for name in table.rows}).to_dicts()


def _words(labels: Sequence[Label]) -> str:
    return ", ".join(repr(label) for label in labels)


def _many(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple) else [wanted]
