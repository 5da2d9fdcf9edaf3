"""Statements and tables that need no code: their entries in statements.toml and study.toml say all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.entries import Cell, Label, Measured, Statement, Tabulation
from roamsim.study.judging import Finding, either, every, follows, positive, rises, with_interval, within
from roamsim.study.metric import values_of

#: What the publication has of a column at a point, in the column's unit; `None` where it has nothing.
Published = Callable[[Mapping[str, Any], str], float | None]

#: Significant digits of a published value in a table (chosen: four tell thousands of segments to the last one).
SHOWN_DIGITS = 4


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
    """A value, alone or beside that of another point."""
    _require(statement, part.experiment, part.where, data)
    if part.beside:
        _, other = part.beside
        there = {**part.where, **other}
        _require(statement, str(there.pop("experiment", part.experiment)), there, data)
    return _value(part, part.experiment, part.where, data)


def _value(cell: Cell, experiment: str, where: Mapping[str, Any], data: Data) -> Estimate:
    if not cell.beside:
        return data.estimate(experiment, cell.metric, **where).scaled(cell.scale)
    how, other = cell.beside
    return data.compared(experiment, cell.metric, how, other, **where).scaled(cell.scale)


def _require(statement: str, experiment: str, where: Mapping[str, Any], data: Data) -> None:
    """Refuses labels that no run has: a misspelt one would leave nothing to measure."""
    if not data.rows(experiment, **where):
        asked = ", ".join(f"{name} = {label!r}" for name, label in where.items())
        labels = "; ".join(f"{name}: {_words(data.labels(experiment, name))}" for name in where)
        raise UsageError(f"statement {statement}: no run of experiment {experiment} has {asked}; there are {labels}")


def filled(table: Tabulation, data: Data, published: Published | None = None) -> list[dict[str, Any]]:
    """The rows of a table: means with their 95 % intervals by the labels of the experiment.

    Args:
        table: its entry.
        data: the rows of the runs.
        published: what the publication has at a point, for a table that shows it.
    """
    dimensions = [*table.rows, *([table.columns] if table.columns else [])]
    labels = [data.labels(table.experiment, dimension) for dimension in dimensions]
    heads = {name: table.heads.get(name, name.replace("_", " ")) for name in dimensions}
    cells = []
    for combination in product(*labels):
        where = dict(zip(dimensions, combination, strict=True))
        if any(name in table.where and label not in _many(table.where[name]) for name, label in where.items()):
            continue
        for cell in table.cells:
            heading = [cell.label or cell.column] if len(table.cells) > 1 or not table.columns else []
            if table.columns:
                heading = [f"{heads[table.columns]} {where[table.columns]}", *heading]
            at = {**table.where, **cell.where, **where}
            estimate = _value(cell, table.experiment, at, data)
            shown = "" if math.isnan(estimate.mean) else with_interval(estimate)
            there = _published(cell, at, published) if published else None
            if there is not None:
                shown = f"{shown} [{there:.{SHOWN_DIGITS}g}]"
            cells.append(
                {
                    **{heads[name]: str(where[name]) for name in table.rows},
                    "column": ", ".join(heading),
                    "cell": shown,
                }
            )
    if not cells:
        return []
    return (
        polars.DataFrame(cells)
        .pivot(on="column", index=[heads[name] for name in table.rows], values="cell")
        .to_dicts()
    )


def _published(cell: Cell, where: Mapping[str, Any], published: Published) -> float | None:
    """The published value of a cell, compared with another point as ours is."""
    here = published(where, cell.column)
    if here is None or not cell.beside:
        return here if here is None else here * cell.scale
    how, other = cell.beside
    there = published({**where, **other}, cell.column)
    if not there:
        return None
    return cell.scale * (here - there if how == "less" else here / there - (how == "gain_over"))


def _words(labels: Sequence[Label]) -> str:
    return ", ".join(repr(label) for label in labels)


def _many(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple) else [wanted]
