"""A study's definition: the files of the folder `studies/NAME`, read and checked.

`study.toml` holds what is run (scenarios, dimensions, experiments, sequence charts), `figures.toml` the figures, and
`statements.toml` what the publication states, with the rule of each verdict, `coverage.toml` where each sentence and
figure of the publication is shown; their entries are described in `entries`. What needs code stands beside them:
settings that are computed, closed forms and checks in `study.py`, measurements in `statements.py`, tables and
drawings in `exhibits.py`, or in packages of these names of several files. How to write one: studies/README.md.
"""

from __future__ import annotations

import copyreg
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any

from roamsim._roamsim import decode_text
from roamsim.errors import UsageError, there_are
from roamsim.files import read_whole
from roamsim.scenarios.vary import variation
from roamsim.storing.manifests import StudyManifest
from roamsim.storing.rows import table_names
from roamsim.study.code import read_code
from roamsim.study.entries import (
    COMPARISONS,
    LEVELS,
    RULES,
    Alternative,
    Cell,
    Covered,
    Curve,
    Dimension,
    Drawing,
    Experiment,
    Extent,
    Figure,
    Label,
    Level,
    Measured,
    Parameter,
    Sequencechart,
    Statement,
    Study,
    Tabulation,
    of_alternative,
)
from roamsim.study.fitting import check

__all__ = [
    "LEVELS",
    "Covered",
    "Curve",
    "Drawing",
    "Experiment",
    "Figure",
    "Label",
    "Level",
    "Measured",
    "Parameter",
    "Point",
    "Sequencechart",
    "Statement",
    "Study",
    "Tabulation",
    "available",
    "labels_of",
    "load",
    "points",
    "replications",
]

FILES = ("study.toml", "figures.toml", "statements.toml")
OPTIONAL_FILES = ("coverage.toml",)


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of an experiment's dimensions: labels for tables, settings for the scenario."""

    labels: Mapping[str, Label]
    settings: Mapping[str, Any]


def points(study: Study, experiment: Experiment, level: Level) -> Iterator[Point]:
    """Every point of an experiment, the last dimension changing fastest."""
    base = {**experiment.set, **_extent(experiment, level).set}
    for point in _points(study, experiment.dimensions, level, Point({}, base)):
        more = study.function(experiment.over_by)(point.labels) if experiment.over_by else {}
        yield Point(point.labels, {**point.settings, **experiment.over, **more})


def _points(study: Study, dimensions: Sequence[Dimension], level: Level, so_far: Point) -> Iterator[Point]:
    if not dimensions:
        yield so_far
        return
    first, rest = dimensions[0], dimensions[1:]
    for label, settings in _values(study, first, level, so_far):
        point = Point({**so_far.labels, first.name: label}, {**so_far.settings, **settings})
        yield from _points(study, rest, level, point)


def _values(
    study: Study, dimension: Dimension, level: Level, so_far: Point
) -> Iterator[tuple[Label, Mapping[str, Any]]]:
    if dimension.choice:
        yield from dimension.choice.items()
        return
    spec = dimension.values or (dimension.quick if level == "quick" else dimension.full)
    for value in variation(dimension.name, spec).values:
        if dimension.path:
            yield value.shown, {dimension.path: value.shown}
        else:
            yield value.shown, study.function(dimension.function)(value.shown, so_far.labels)


def labels_of(experiment: Experiment, name: str, level: Level) -> list[Label]:
    """The values that a dimension of an experiment takes at a level; none where it has no such dimension."""
    found = [dimension for dimension in experiment.dimensions if dimension.name == name]
    return found[0].labels(level) if found else []


def _extent(experiment: Experiment, level: Level) -> Extent:
    return experiment.quick if level == "quick" else experiment.full


def replications(experiment: Experiment, level: Level) -> int:
    """How often each point is repeated."""
    return _extent(experiment, level).replications


# Finding and reading -----------------------------------------------------------------------------------------------


#: The studies of the package.
BUNDLED = Path(__file__).parents[1] / "studies"


def places() -> list[Path]:
    """Folders that may hold studies: `studies` here or above, and that of the package."""
    here = Path.cwd()
    candidates = [folder / "studies" for folder in (here, *here.parents)]
    candidates.append(BUNDLED)
    # In a source tree `studies` is a link to the package's folder.
    return list(dict.fromkeys(folder.resolve() for folder in candidates if folder.is_dir()))


def available() -> dict[str, Path]:
    """The studies that can be run: name and folder; where two folders have one name, the nearest wins."""
    found: dict[str, Path] = {}
    for place in places():
        for file in sorted(place.glob("*/study.toml")):
            found.setdefault(file.parent.name, file.parent)
    return dict(sorted(found.items()))


def of_folder(held: StudyManifest, results: str | os.PathLike[str], own: str | os.PathLike[str] | None) -> Study:
    """The study whose results a folder holds.

    A folder of results may come from anywhere, so it names a study of the package or none: where else a definition
    lies, whose code is run, only the user says.

    Args:
        held: the folder's manifest.
        results: the folder, for errors.
        own: the folder of the definition of a study of the user's own.

    Raises:
        UsageError: it is none of the package, or `own` is another study.
    """
    shown = os.fspath(results)
    if own is not None:
        study = load(Path(own))
        if study.name != held.study:
            raise UsageError(f"{shown!r} holds results of the study {held.study!r}, not of {study.name!r}")
        return study
    bundled = {file.parent.name: file.parent for file in BUNDLED.glob("*/study.toml")}
    if held.own or held.study not in bundled:
        raise UsageError(
            f"{shown!r} holds results of {held.study!r}, which is not a study of the package; name its folder: "
            "--study DIR"
        )
    return load(bundled[held.study])


def load(name: str | Path) -> Study:
    """Reads a study.

    Args:
        name: the name of one of `available`, or the path of a study's folder.

    Raises:
        UsageError: there is no such study, or its definition is malformed; the text says where.
    """
    folder = Path(name)
    if not (folder / "study.toml").is_file():
        known = available()
        if str(name) not in known:
            there = there_are(name, known) if known else "no folder `studies` was found here or above"
            if folder.is_dir():
                raise UsageError(f"{str(name)!r} is not a study: it has no study.toml; {there}")
            raise UsageError(f"there is no study {str(name)!r}; {there}")
        folder = known[str(name)]
    tree: dict[str, Any] = {}
    for file in (folder / name for name in (*FILES, *OPTIONAL_FILES)):
        if file.name in OPTIONAL_FILES and not file.is_file():
            continue
        try:
            tree |= tomllib.loads(decode_text(read_whole(file)).removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError as error:
            what, _, place = str(error).partition(" (at line ")
            where = f":{place.rstrip(')').replace(', column ', ':')}" if place else ""
            raise UsageError(f"{file}{where}: invalid TOML: {what}") from None
        except (OSError, ValueError) as error:
            raise UsageError(f"{file}: {error}") from None
    reader = _Reader(folder)
    head = tree.pop("study", {})
    dimensions = {
        key: reader.entry(Dimension, f"dimension {key}", {"name": key, **table})
        for key, table in tree.pop("dimension", {}).items()
    }
    code = read_code(folder.resolve())
    experiments = [_experiment(reader, entry, dimensions) for entry in tree.pop("experiment", [])]
    alternatives = [
        reader.entry(Alternative, "alternative", entry)
        for one in tree.pop("alternative", [])
        for entry, _ in _each(one)
    ]
    study = Study(
        name=folder.resolve().name,
        title=reader.text(head, "title"),
        published_as=reader.text(head, "published_as"),
        question=reader.text(head, "question"),
        answer=reader.text(head, "answer"),
        headline=str(head.get("headline", "")),
        seed=int(head.get("seed", 1)),
        checks=str(head.get("checks", "")),
        describe_packet=str(head.get("describe_packet", "")),
        parts={str(k): str(v) for k, v in head.get("parts", {}).items()},
        words={str(k): str(v) for k, v in head.get("words", {}).items()},
        terms={str(k): str(v) for k, v in head.get("terms", {}).items()},
        places={str(k): str(v) for k, v in head.get("places", {}).items()},
        folder=folder.resolve(),
        experiments=[*experiments, *(again for one in alternatives for again in _again(reader, one, experiments))],
        figures=[_figure(reader, entry) for one in tree.pop("figure", []) for entry, _ in _each(one)],
        statements=[_statement(reader, entry) for entry in tree.pop("statement", [])],
        sequences=[
            reader.entry(Sequencechart, "sequence", {**entry, "values": values})
            for one in tree.pop("sequence", [])
            for entry, values in _each(one)
        ],
        tables=[_table(reader, entry) for one in tree.pop("table", []) for entry, _ in _each(one)],
        drawings=[
            reader.entry(Drawing, "drawing", {**entry, "values": values})
            for one in tree.pop("drawing", [])
            for entry, values in _each(one)
        ],
        alternatives=alternatives,
        parameters=[reader.entry(Parameter, "parameter", entry) for entry in tree.pop("parameter", [])],
        coverage=[reader.entry(Covered, "covered", entry) for entry in tree.pop("covered", [])],
        code=code.get("study"),
        measurements=code.get("statements"),
        exhibits=code.get("exhibits"),
    )
    if tree:
        raise UsageError(f"{folder}: unknown part {next(iter(tree))!r}")
    check(study, folder)
    return study


def _each(
    entry: Mapping[str, Any], more: Mapping[str, Any] | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The entries that one with `each` stands for, and the values that made them."""
    entry = dict(entry)
    each = entry.pop("each", {})
    for combination in product(*each.values()):
        values = {**(more or {}), **dict(zip(each, combination, strict=True))}
        yield (_filled(entry, values) if values else entry), values


def _filled(tree: Any, values: Mapping[str, Any]) -> Any:
    """A tree whose texts have their braces filled; a text of one pair of braces alone becomes the value itself."""
    if isinstance(tree, Mapping):
        return {key: _filled(entry, values) for key, entry in tree.items()}
    if isinstance(tree, list):
        return [_filled(entry, values) for entry in tree]
    if not isinstance(tree, str) or "{" not in tree:
        return tree
    if "i" not in values:
        # The number of a copy (`name = "client-{i}"`) is the scenario's own.
        tree = tree.replace("{i}", "{{i}}")
    try:
        if re.fullmatch(r"\{[^{}]*\}", tree):
            return Formatter().get_field(tree[1:-1], (), values)[0]
        return tree.format(**values)
    except (LookupError, AttributeError, TypeError, ValueError) as error:
        names = ", ".join(values)
        raise UsageError(f"{tree!r}: its braces cannot be filled ({error}); there are values for {names}") from None


def _experiment(reader: _Reader, entry: dict[str, Any], dimensions: Mapping[str, Dimension]) -> Experiment:
    entry = dict(entry)
    where = f"experiment {entry.get('id', '?')}"
    for name in entry.get("dimensions", []):
        if name not in dimensions:
            raise UsageError(f"{reader.folder}: {where}: there is no [dimension.{name}]")
    entry["dimensions"] = [dimensions[name] for name in entry.get("dimensions", [])]
    if "measure" in entry:
        table = entry.setdefault("table", entry["measure"])
        if table in table_names():
            raise UsageError(
                f"{reader.folder}: {where}: {table!r} is the name of a result table; what is measured needs another "
                "`table`"
            )
    for level in LEVELS:
        entry[level] = reader.entry(Extent, f"{where}, {level}", entry.get(level, {}))
    return reader.entry(Experiment, where, entry)  # type: ignore[no-any-return]


def _again(reader: _Reader, alternative: Alternative, experiments: Sequence[Experiment]) -> Iterator[Experiment]:
    """The experiments that an alternative runs again, under `of_alternative`."""
    for name in alternative.experiments:
        one = next((experiment for experiment in experiments if experiment.id == name), None)
        if one is None:
            raise UsageError(f"{reader.folder}: alternative {alternative.id}: there is no experiment {name!r}")
        quick = 0 if alternative.full_only else alternative.quick or one.quick.replications
        yield replace(
            one,
            id=of_alternative(name, alternative.id),
            title=f"{one.title}; {alternative.name} instead of {alternative.instead_of}",
            scenario=alternative.scenario or one.scenario,
            over=alternative.set,
            over_by=alternative.function,
            dimensions=[replace(d, full=d.quick) if alternative.coarse else d for d in one.dimensions],
            alternative_of=name,
            quick=replace(one.quick, replications=quick),
            full=replace(one.full, replications=alternative.full or one.full.replications),
        )


def _figure(reader: _Reader, entry: dict[str, Any]) -> Figure:
    entry = dict(entry)
    where = f"figure {entry.get('id', '?')}"
    entry["y"] = _curves(reader, f"{where}, y", entry.get("y", []))
    return reader.entry(Figure, where, entry)  # type: ignore[no-any-return]


def _table(reader: _Reader, entry: dict[str, Any]) -> Tabulation:
    where = f"table {entry.get('id', '?')}"
    if bool(entry.get("function")) == bool(entry.get("cells")):
        raise UsageError(f"{reader.folder}: {where}: give a function, or an experiment with rows and cells")
    cells = _curves(reader, f"{where}, cells", entry.get("cells", []), Cell)
    for cell in cells:
        _check_comparison(cell, lambda text: UsageError(f"{reader.folder}: {where}: {text}"))
    return reader.entry(Tabulation, where, {**entry, "cells": cells})  # type: ignore[no-any-return]


def _curves(reader: _Reader, where: str, curves: Any, kind: type[Any] = Curve) -> list[Any]:
    curves = curves if isinstance(curves, list) else [curves]
    curves = [c if isinstance(c, dict) else {"column": c} for c in curves]
    return [reader.entry(kind, where, curve) for one in curves for curve, _ in _each(one)]


def _statement(reader: _Reader, entry: dict[str, Any]) -> Statement:
    where = f"statement {entry.get('id', '?')}"
    of_all = {rule: entry[rule] for rule in RULES if rule in entry}
    entry = {key: value for key, value in entry.items() if key not in RULES}
    tables = entry.get("measured", [])
    tables = [{**of_all, **part} for part in (tables if isinstance(tables, list) else [tables])]
    readings = entry.get("readings", {})
    if bool(entry.get("function")) == bool(tables) or len(readings) > 1 or (of_all and not tables):
        text = (
            "give a function, or what is measured with a rule and, where there are readings, the values of one name"
        )
        raise UsageError(f"{reader.folder}: {where}: {text}")

    def under(values: Mapping[str, Any]) -> list[Measured]:
        parts = [part for one in tables for part, _ in _each(one, values)]
        return [reader.entry(Measured, f"{where}, measured", part) for part in parts]

    named = [(name, value) for name, values in readings.items() for value in values]
    entry["by_reading"] = {
        str(value.get("name") if isinstance(value, Mapping) else value): under({name: value}) for name, value in named
    }
    entry["measured"] = [] if named else under({})
    statement: Statement = reader.entry(Statement, where, entry)
    for part in (*statement.measured, *(part for parts in statement.by_reading.values() for part in parts)):
        _check_rule(part, lambda text: UsageError(f"{reader.folder}: {where}: {text}"))
    return statement


def _check_rule(part: Measured, error: Callable[[str], UsageError]) -> None:
    """Refuses a part without one rule that fits what it measures."""
    if sum(bool(getattr(part, rule)) for rule in RULES) != 1:
        raise error(f"what is measured has one of {', '.join(RULES)}")
    if part.within and len(part.within) != 2:
        raise error("within is a range, [least, most]")
    if part.between and len(part.between) != 2:
        raise error("between is a part of a curve, [from, until]")
    if (
        part.follows
        and [isinstance(one, kind) for one, kind in zip(part.follows, (str, float), strict=False)] != [True] * 2
    ):
        raise error('follows is a formula of x and a tolerance, ["1 - x", 0.01]')
    if bool(part.x) != bool(part.rises or part.follows):
        raise error("rises and follows are about a curve over x, and the other rules about a value")
    _check_comparison(part, error)


def _check_comparison(cell: Cell, error: Callable[[str], UsageError]) -> None:
    if sum(bool(getattr(cell, how)) for how in COMPARISONS) > 1:
        raise error(f"give one of {', '.join(COMPARISONS)}")


class _Reader:
    """Makes dataclasses of tables, with errors that name the study, the entry and the key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, table: Mapping[str, Any], key: str) -> str:
        if key not in table:
            raise UsageError(f"{self.folder}: [study] lacks {key!r}")
        return str(table[key])

    def entry(self, kind: type[Any], what: str, table: Any) -> Any:
        """An instance of a dataclass from a table with the same keys."""
        if not isinstance(table, Mapping):
            raise UsageError(f"{self.folder}: {what}: expected a table, found {table!r}")
        what = f"{what} {table['id']}" if "id" in table and str(table["id"]) not in what else what
        known = {f.name: f for f in fields(kind)}
        for key in table:
            if key not in known:
                raise UsageError(f"{self.folder}: {what}: unknown key {key!r}; {there_are(key, known)}")
        for name, one in known.items():
            if name not in table and one.default is MISSING and one.default_factory is MISSING:
                raise UsageError(f"{self.folder}: {what}: the key {name!r} is missing")
        return kind(**table)


# A study holds the code of its folder, so other processes read the folder again.
copyreg.pickle(Study, lambda study: (load, (study.folder,)))
