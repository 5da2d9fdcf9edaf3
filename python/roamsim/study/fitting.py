"""Checks that the parts of a study's definition fit together: ids, functions, dimensions, files."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from roamsim.errors import UsageError
from roamsim.study.entries import (
    LEVELS,
    Cell,
    Drawing,
    Experiment,
    Measured,
    Sequencechart,
    Statement,
    Study,
    Tabulation,
)


def check(study: Study, folder: Path) -> None:
    """Refuses a definition whose parts do not fit together.

    Raises:
        UsageError: the text says which.
    """

    def refuse(text: str) -> None:
        raise UsageError(f"{folder}: {text}")

    kinds = (
        [e.id for e in study.experiments],
        [f.id for f in study.figures],
        [s.id for s in study.statements],
        [s.id for s in study.sequences],
        [t.id for t in study.tables],
        [d.id for d in study.drawings],
        [a.id for a in study.alternatives],
    )
    for ids in kinds:
        for name in ids:
            if ids.count(name) > 1:
                refuse(f"the id {name!r} is there twice")
    if study.headline and study.headline not in study.exhibit_ids:
        refuse(f"[study] headline: there is no figure, table, drawing or sequence {study.headline!r}")
    for name in study.exhibit_ids:
        if study.exhibit_ids.count(name) > 1:
            refuse(f"the id {name!r} is there twice: figures, tables, drawings and sequences share their ids")
    called = [study.checks, study.describe_packet, *(f.closed_form for f in study.figures)]
    called += [name for s in study.sequences for name in (s.function, s.marks)]
    called += [d.settings for d in study.drawings]
    called += [name for e in study.experiments for name in (e.measure, e.over_by)]
    called += [t.published for t in study.tables]
    called += [d.function for e in study.experiments for d in e.dimensions]
    called += [part.law for s in study.statements for part in _parts(s)]
    measured = [name for s in study.statements for name in (s.function, s.conditions)]
    shown = [t.function for t in study.tables] + [d.function for d in study.drawings]
    for module, file, names in (
        (study.code, "study.py", called),
        (study.measurements, "statements.py", measured),
        (study.exhibits, "exhibits.py", shown),
    ):
        for name in filter(None, names):
            if not callable(getattr(module, name, None)):
                refuse(f"{file} has no function {name!r}")
    drawn = [d for d in study.drawings if d.scenario]
    runnable: list[Experiment | Sequencechart | Drawing] = [*study.experiments, *study.sequences, *drawn]
    for of in runnable:
        if not study.scenario_path(of).is_file():
            refuse(f"{of.id}: there is no file {of.scenario}")
    dimensions = {e.id: {d.name for d in e.dimensions} for e in study.experiments}
    for experiment in study.experiments:
        for d in experiment.dimensions:
            if sum(map(bool, (d.choice, d.path, d.function))) != 1:
                refuse(f"experiment {experiment.id}, dimension {d.name}: give one of choice, path, function")
            if not d.choice and bool(d.values) == bool(d.quick and d.full):
                refuse(f"experiment {experiment.id}, dimension {d.name}: give the values, or those of quick and full")
    _check_declared(study, refuse)
    for entry in study.coverage:
        for name in entry.statements:
            if name not in kinds[2]:
                refuse(f"coverage of {entry.published!r}: there is no statement {name!r}")
        for pattern in entry.exhibits:
            if not fnmatch.filter(study.exhibit_ids, pattern):
                refuse(f"coverage of {entry.published!r}: there is no figure, table, drawing or sequence {pattern!r}")
        if not (entry.statements or entry.exhibits or entry.left_out):
            refuse(f"coverage of {entry.published!r}: give statements, exhibits, or what is left out and why")
    elements: list[Sequencechart | Tabulation | Drawing] = [*study.sequences, *study.tables, *study.drawings]
    for element in elements:
        if element.part not in study.parts:
            refuse(f"{element.id}: there is no part {element.part!r} in [study.parts]")
    for parameter in study.parameters:
        if parameter.experiment and parameter.experiment not in dimensions:
            refuse(f"parameter {parameter.name}: there is no experiment {parameter.experiment!r}")
    for figure in study.figures:
        for experiment_id in figure.experiments:
            if experiment_id not in dimensions:
                refuse(f"figure {figure.id}: there is no experiment {experiment_id!r}")
            for name in (figure.x, *figure.series, *figure.where):
                if name not in dimensions[experiment_id] and (name != "experiment" or name == figure.x):
                    refuse(f"figure {figure.id}: experiment {experiment_id} has no dimension {name!r}")
            _check_numbers(f"figure {figure.id}", study, experiment_id, figure.x, refuse)
        for clause in figure.clauses:
            if clause not in kinds[2]:
                refuse(f"figure {figure.id}: there is no statement {clause!r}")
        if figure.part not in study.parts:
            refuse(f"figure {figure.id}: there is no part {figure.part!r} in [study.parts]")


def _check_declared(study: Study, refuse: Callable[[str], None]) -> None:
    """Refuses statements and tables that ask for experiments and dimensions that are not there."""
    dimensions = {e.id: {d.name for d in e.dimensions} for e in study.experiments}

    def known(where: str, experiment: str, names: Iterable[str]) -> None:
        if experiment not in dimensions:
            refuse(f"{where}: there is no experiment {experiment!r}")
        for name in names:
            if name not in dimensions[experiment]:
                refuse(f"{where}: experiment {experiment} has no dimension {name!r}")

    def points(where: str, experiment: str, cell: Cell, *names: str) -> None:
        """What a cell asks for, and what it is compared with."""
        known(where, experiment, [*cell.where, *names])
        if cell.beside:
            other = dict(cell.beside[1])
            known(where, str(other.pop("experiment", experiment)), {**cell.where, **other})

    for statement in study.statements:
        for name in statement.readings_by:
            if name not in {alternative.id for alternative in study.alternatives}:
                refuse(f"statement {statement.id}: there is no alternative {name!r}")
        for part in _parts(statement):
            points(f"statement {statement.id}", part.experiment, part, *([part.x] if part.x else []))
            if part.x:
                _check_numbers(f"statement {statement.id}", study, part.experiment, part.x, refuse)
    for table in study.tables:
        columns = [table.columns] if table.columns else []
        for cell in table.cells:
            points(f"table {table.id}", table.experiment, cell, *table.rows, *table.where, *table.heads, *columns)
        if table.cells and not table.rows:
            refuse(f"table {table.id}: the dimensions of its rows are missing")


def _check_numbers(where: str, study: Study, experiment: str, x: str, refuse: Callable[[str], None]) -> None:
    """Refuses an axis without numbers."""
    dimensions = [d for e in study.experiments if e.id == experiment for d in e.dimensions if d.name == x]
    for label in (label for d in dimensions for level in LEVELS for label in d.labels(level)):
        try:
            number = float(label)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            refuse(f"{where}: x = {x!r} has the value {label!r}, and an x axis has numbers")


def _parts(statement: Statement) -> list[Measured]:
    """What a statement measures, under every reading."""
    return [*statement.measured, *(part for parts in statement.by_reading.values() for part in parts)]
