"""Statements and tables that need no code: entries of statements.toml and study.toml define them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.estimates import survivors
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.entries import Cell, Label, Measured, Statement, Tabulation
from roamsim.study.judging import (
    Finding,
    difference,
    either,
    every,
    follows,
    positive,
    rises,
    with_interval,
    within,
)
from roamsim.study.law import by_law, exact_curve
from roamsim.study.law import exact as exact_value
from roamsim.study.metric import values_of

#: What the publication has of a column at a point, in the column's unit; `None` where it has nothing.
Published = Callable[[Mapping[str, Any], str], float | None]

#: What an exact law gives for a column in place of a row's value; `None` where it has nothing.
Law = Callable[[Mapping[str, Any], str, Data], float | None]

#: Significant digits of a published value in a table (chosen: four tell thousands of segments to the last one).
SHOWN_DIGITS = 4


def judged(statement: Statement, data: Data, function: Callable[[str], Callable[..., Any]]) -> Finding:
    """What a statement's rules say of what it measures.

    Args:
        statement: its entry.
        data: the rows of the runs.
        function: gives the functions of study.py by their names, among which are the laws.

    Raises:
        UsageError: there is no run with the labels that it asks for, or a metric or formula is none.
    """

    def of(parts: Sequence[Measured]) -> Finding:
        found = [_part(statement.id, part, data, function(part.law) if part.law else None) for part in parts]
        return found[0] if len(found) == 1 else every(found)

    if not statement.by_reading:
        return of(statement.measured)
    (name,) = statement.readings
    return either({value: of(parts) for value, parts in statement.by_reading.items()}, name.replace("_", " "))


def _part(statement: str, part: Measured, data: Data, law: Law | None) -> Finding:
    if part.x:
        runs = _curve_by_rule(part, _curve(statement, part, data), data)
        exact = _law_curve(part, law, data) if law else {}
        return by_law(runs, _curve_by_rule(part, exact_curve(exact), data)) if exact else runs
    runs = _by_rule(part, _estimate(statement, part, data))
    value = _law_value(part, law, data) if law else math.nan
    found = runs if math.isnan(value) else by_law(runs, _by_rule(part, exact_value(value)))
    return _of_survivors(part, found, data)


def _of_survivors(part: Measured, found: Finding, data: Data) -> Finding:
    """A finding. Which of two delays is larger has no verdict where the shares of missing messages differ."""
    if not (part.positive and part.beside):
        return found
    there = {**part.where, **part.beside[1]}
    elsewhere = str(there.pop("experiment", part.experiment))
    ends = survivors.uneven(
        [
            data.missing(part.experiment, part.column, **part.where),
            data.missing(elsewhere, part.column, **there),
        ]
    )
    if ends is None:
        return found
    why = f"no verdict: it is of the messages that arrived, and {survivors.between(ends)} did not"
    return replace(found, verdict="not decidable", measured=f"{found.measured}; {why}", needed=None)


def _by_rule(part: Measured, estimate: Estimate) -> Finding:
    what = part.label or part.column
    return positive(estimate, what) if part.positive else within(estimate, part.within[0], part.within[1], what)


def _curve_by_rule(part: Measured, curve: Mapping[float, Estimate], data: Data) -> Finding:
    what = part.label or part.column
    if part.rises:
        return rises(curve, what, data.place(part.x))
    formula, tolerance = part.follows
    there = dict(zip(curve, values_of([{"x": at} for at in curve], formula), strict=True))
    return follows(curve, there.__getitem__, tolerance, what, data.place(part.x))


def _law_value(part: Measured, law: Law, data: Data) -> float:
    """What a law gives in place of a mean, compared with another point as runs are; NaN where it gives nothing."""

    def mean(experiment: str, where: Mapping[str, Any]) -> float:
        values = [law(row, part.column, data) for row in data.rows(experiment, **where)]
        return (
            math.nan if None in values or not values else math.fsum(v for v in values if v is not None) / len(values)
        )

    here = mean(part.experiment, part.where)
    if not part.beside:
        return here * part.scale
    how, other = part.beside
    labels = {**part.where, **other}
    there = mean(str(labels.pop("experiment", part.experiment)), labels)
    if how == "less":
        return difference(here, there) * part.scale
    if not there:
        return math.nan
    return (difference(here / there, 1.0) if how == "gain_over" else here / there) * part.scale


def _law_curve(part: Measured, law: Law, data: Data) -> dict[float, float]:
    """What a law gives at each point of a curve; nothing where it lacks one."""
    least, most = part.between or (-math.inf, math.inf)
    found: dict[float, float] = {}
    for row in data.rows(part.experiment, **part.where):
        at = float(row[part.x])
        if least < at < most and at not in found:
            value = law(row, part.column, data)
            if value is None or math.isnan(value):
                return {}
            found[at] = value * part.scale
    return dict(sorted(found.items()))


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


def filled(
    table: Tabulation, data: Data, published: Published | None = None, words: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The rows of a table: means with their 95 % intervals by the labels of the experiment.

    Args:
        table: its entry.
        data: the rows of the runs.
        published: what the publication has at a point, for a table that shows it.
        words: for labels.
    """

    def word(label: Any) -> str:
        return (words or {}).get(str(label), str(label))

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
                heading = [_head(heads[table.columns], word(where[table.columns])), *heading]
            at = {**table.where, **cell.where, **where}
            estimate = _value(cell, table.experiment, at, data)
            shown = "" if math.isnan(estimate.mean) else with_interval(estimate)
            there = _published(cell, at, published) if published else None
            if there is not None:
                shown = f"{shown} [{there:.{SHOWN_DIGITS}g}]"
            cells.append(
                {
                    **{heads[name]: word(where[name]) for name in table.rows},
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


def _head(name: str, label: str) -> str:
    """The head of a column for a label of a dimension; a unit in brackets stands behind the label."""
    quantity = re.fullmatch(r"(.+) \(([^()]+)\)", name)
    return f"{quantity[1]} {label} {quantity[2]}" if quantity else f"{name} {label}"


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
