"""A study's definition: what the folder `studies/NAME` says, read and checked.

`study.toml` holds what is run (scenarios, dimensions, experiments, sequence charts), `figures.toml` the figures, and
`statements.toml` what the publication states, with the rule of each verdict, `coverage.toml` where each sentence and
figure of the publication is shown. What needs code stands beside them:
settings that are computed, closed forms and checks in `study.py`, measurements in `statements.py`, tables and
drawings in `exhibits.py`, or in a package `exhibits` of several files. How to write one: studies/README.md.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import product
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any, Literal

from roamsim.errors import UsageError
from roamsim.study.code import read_code
from roamsim.study.metric import Metric, Share
from roamsim.vary import variation

Level = Literal["quick", "full"]
"""How much of a study is run: a short look, or the whole publication."""

LEVELS: tuple[Level, ...] = ("quick", "full")

FILES = ("study.toml", "figures.toml", "statements.toml")
OPTIONAL_FILES = ("coverage.toml",)

Label = str | float | int
"""A value of a dimension as tables and figures show it."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that an experiment varies.

    Exactly one of: `choice` (named settings), `path` (a scenario value takes the values of `quick` or `full`), or
    `function` (a function of study.py makes settings of a value and of the dimensions before it). `values` stands for
    `quick` and `full` where both take the same.
    """

    name: str
    choice: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: str = ""
    function: str = ""
    quick: str | Sequence[Any] = ""
    full: str | Sequence[Any] = ""
    values: str | Sequence[Any] = ""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of an experiment one level runs."""

    replications: int = 1
    set: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A scenario with settings, run at every combination of its dimensions."""

    id: str
    title: str
    scenario: str
    quick: Extent
    full: Extent
    dimensions: Sequence[Dimension]
    set: Mapping[str, Any] = field(default_factory=dict)
    trace: Sequence[str] = ()
    table: str = "signalling"  # whose rows figures and statements are about
    tables: Sequence[str] = ()  # others that are kept
    measure: str = ""  # of study.py: makes the rows of `table` of a finished run's tables


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric: a column of the result table or an expression of columns in SQL, scaled, and its name.

    Where it is a share of counted trials, `trials` is the column or expression that counts them, and `column` counts
    those that are meant.
    """

    column: str
    label: str = ""
    scale: float = 1.0
    trials: str = ""

    @property
    def metric(self) -> Metric:
        """As `Data` asks for it."""
        return Share(self.column, self.trials) if self.trials else self.column


@dataclass(frozen=True, slots=True)
class Measured(Curve):
    """What a statement measures without code: a metric of an experiment where labels are as in `where`.

    Attributes:
        experiment: whose runs.
        where: the labels of the point.
        less: labels that another point has instead: what is measured is the difference to it, in pairs.
        over: the same for the ratio.
        x: a dimension: what is measured is a curve over it.
    """

    experiment: str = ""
    where: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    less: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    over: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    x: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: `y` over `x` from the runs of some experiments, one line for each value of `series`."""

    id: str
    title: str
    part: str
    experiments: Sequence[str]
    x: str
    x_title: str
    y: Sequence[Curve]
    y_title: str
    series: Sequence[str] = ()
    series_title: str = ""
    where: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    closed_form: str = ""
    closed_form_title: str = "closed form"
    x_scale: float = 1.0
    logarithmic: bool = False
    note: str = ""
    clauses: Sequence[str] = ()  # the statements that it bears on


@dataclass(frozen=True, slots=True)
class Statement:
    """One checkable clause of what the publication reports.

    What is measured, and by which rule it is judged, says a `function` of statements.py; or `measured` and one of
    `within` (a range that the value lies in), `positive` (it is above zero) and `rises` (a curve does). Several parts
    are judged each, and the statement agrees when every one does.
    """

    id: str
    published: str
    rule: str
    function: str = ""
    measured: Sequence[Measured] = ()
    within: Sequence[float] = ()
    positive: bool = False
    rises: bool = False
    source: str = ""
    if_differs: str = ""  # why the full run differs; its numbers are those of the full run
    rests_on: str = ""  # what the verdict takes beyond the publication: a parameter left open, a policy, a condition


@dataclass(frozen=True, slots=True)
class Sequencechart:
    """A message-sequence chart of one run: the packets sent from `since_s` until `until_s`."""

    id: str
    title: str
    scenario: str
    nodes: Mapping[str, str]
    until_s: float
    part: str
    since_s: float = 0.0
    remark: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    function: str = ""  # of study.py: settings for the values of `each`
    values: Mapping[str, Any] = field(default_factory=dict)  # the values of `each` that this chart stands for


@dataclass(frozen=True, slots=True)
class Tabulation:
    """A table of the report: a function of exhibits.py makes its rows, or `cells` of an experiment fill them.

    Without code it has a row for each combination of the labels of `rows`, and a column for each of the `cells` or,
    where `columns` names a dimension, for each of its labels. A cell is a mean with its 95 % interval.
    """

    id: str
    title: str
    part: str
    function: str = ""
    experiment: str = ""
    rows: Sequence[str] = ()
    columns: str = ""
    cells: Sequence[Curve] = ()
    where: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    note: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture that a function of exhibits.py draws: of all data, or of one run where it has a `scenario`.

    The function gets the `Data`, or the `Result` of the run, and the values of `each`; it returns a figure of
    matplotlib. `settings` names a function of study.py that makes settings of these values.
    """

    id: str
    title: str
    part: str
    function: str
    scenario: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    settings: str = ""
    trace: Sequence[str] = ()
    note: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)  # the values of `each` that this drawing stands for


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value the study uses, with its source.

    Braces in `value` hold paths of a scenario, and are filled from the `experiment` at the level that is run.
    """

    name: str
    value: str
    source: str
    experiment: str = ""


@dataclass(frozen=True, slots=True)
class Covered:
    """A sentence, figure or table of the publication, and where the study shows it.

    Attributes:
        published: what it is, in a few words.
        place: where it stands in the publication.
        statements: the ids of the statements that judge it.
        exhibits: the ids of figures, tables, drawings and sequence charts that show it; `*` stands for any letters.
        left_out: what of it is left out, and why.
    """

    published: str
    place: str = ""
    statements: Sequence[str] = ()
    exhibits: Sequence[str] = ()
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something of the publication that is not reproduced yet, and why."""

    what: str
    waits_for: str


@dataclass(frozen=True)
class Study:
    """A whole study, read and checked."""

    name: str
    title: str
    published_as: str
    question: str
    answer: str
    seed: int
    folder: Path
    experiments: Sequence[Experiment]
    figures: Sequence[Figure]
    statements: Sequence[Statement]
    sequences: Sequence[Sequencechart]
    tables: Sequence[Tabulation]
    drawings: Sequence[Drawing]
    parameters: Sequence[Parameter]
    waiting: Sequence[Waiting]
    coverage: Sequence[Covered]
    parts: Mapping[str, str]
    checks: str
    describe_packet: str
    code: ModuleType | None
    measurements: ModuleType | None
    exhibits: ModuleType | None

    def experiment(self, id: str) -> Experiment:
        """The experiment of that name (a `KeyError` when there is none)."""
        return next(e for e in self.experiments if e.id == id)

    def function(self, name: str) -> Callable[..., Any]:
        """A function of study.py (an `AttributeError` when there is none)."""
        return getattr(self.code, name)  # type: ignore[no-any-return]

    def measurement(self, name: str) -> Callable[..., Any]:
        """A function of statements.py (an `AttributeError` when there is none)."""
        return getattr(self.measurements, name)  # type: ignore[no-any-return]

    def exhibit(self, name: str) -> Callable[..., Any]:
        """A function of exhibits.py (an `AttributeError` when there is none)."""
        return getattr(self.exhibits, name)  # type: ignore[no-any-return]

    @property
    def exhibit_ids(self) -> list[str]:
        """Of figures, tables, drawings and sequence charts."""
        ids = [figure.id for figure in self.figures] + [table.id for table in self.tables]
        return ids + [drawing.id for drawing in self.drawings] + [chart.id for chart in self.sequences]

    def covered_exhibits(self, entry: Covered) -> list[str]:
        """The ids of the exhibits that an entry of the coverage names."""
        ids = self.exhibit_ids
        return list(dict.fromkeys(name for pattern in entry.exhibits for name in fnmatch.filter(ids, pattern)))

    def not_covered(self) -> list[str]:
        """The ids of statements and exhibits that no entry of the coverage names."""
        named = {name for entry in self.coverage for name in (*entry.statements, *self.covered_exhibits(entry))}
        return [name for name in (*(s.id for s in self.statements), *self.exhibit_ids) if name not in named]

    def scenario_path(self, of: Experiment | Sequencechart | Drawing) -> Path:
        """The scenario file of an experiment, a sequence chart or a drawing."""
        return self.folder / of.scenario


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of an experiment's dimensions: labels for tables, settings for the scenario."""

    labels: Mapping[str, Label]
    settings: Mapping[str, Any]


def points(study: Study, experiment: Experiment, level: Level) -> Iterator[Point]:
    """Every point of an experiment, the last dimension changing fastest."""
    base = {**experiment.set, **_extent(experiment, level).set}
    return _points(study, experiment.dimensions, level, Point({}, base))


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


def _extent(experiment: Experiment, level: Level) -> Extent:
    return experiment.quick if level == "quick" else experiment.full


def replications(experiment: Experiment, level: Level) -> int:
    """How often each point is repeated."""
    return _extent(experiment, level).replications


# Finding and reading -----------------------------------------------------------------------------------------------


def places() -> list[Path]:
    """Folders that may hold studies: `studies` here or above, and that of the package."""
    here = Path.cwd()
    candidates = [folder / "studies" for folder in (here, *here.parents)]
    candidates.append(Path(__file__).parents[1] / "studies")
    # In a source tree `studies` is a link to the package's folder.
    return list(dict.fromkeys(folder.resolve() for folder in candidates if folder.is_dir()))


def available() -> dict[str, Path]:
    """The studies that can be run: name and folder; where two folders have one name, the nearest wins."""
    found: dict[str, Path] = {}
    for place in places():
        for file in sorted(place.glob("*/study.toml")):
            found.setdefault(file.parent.name, file.parent)
    return dict(sorted(found.items()))


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
            there = f"there are: {', '.join(known)}" if known else "no folder `studies` was found here or above"
            raise UsageError(f"there is no study {str(name)!r}; {there}")
        folder = known[str(name)]
    tree: dict[str, Any] = {}
    for file in (folder / name for name in (*FILES, *OPTIONAL_FILES)):
        if file.name in OPTIONAL_FILES and not file.is_file():
            continue
        try:
            tree |= tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"{file}: {error}") from None
    reader = _Reader(folder)
    head = tree.pop("study", {})
    dimensions = {
        key: reader.entry(Dimension, f"dimension {key}", {"name": key, **table})
        for key, table in tree.pop("dimension", {}).items()
    }
    code = read_code(folder.resolve())
    study = Study(
        name=folder.resolve().name,
        title=reader.text(head, "title"),
        published_as=reader.text(head, "published_as"),
        question=reader.text(head, "question"),
        answer=reader.text(head, "answer"),
        seed=int(head.get("seed", 1)),
        checks=str(head.get("checks", "")),
        describe_packet=str(head.get("describe_packet", "")),
        parts={str(k): str(v) for k, v in head.get("parts", {}).items()},
        folder=folder.resolve(),
        experiments=[_experiment(reader, entry, dimensions) for entry in tree.pop("experiment", [])],
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
        parameters=[reader.entry(Parameter, "parameter", entry) for entry in tree.pop("parameter", [])],
        waiting=[reader.entry(Waiting, "waiting", entry) for entry in tree.pop("waiting", [])],
        coverage=[reader.entry(Covered, "covered", entry) for entry in tree.pop("covered", [])],
        code=code.get("study"),
        measurements=code.get("statements"),
        exhibits=code.get("exhibits"),
    )
    if tree:
        raise UsageError(f"{folder}: unknown part {next(iter(tree))!r}")
    _check(study, folder)
    return study


def _each(entry: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The entries that one with `each` stands for, and the values that made them."""
    entry = dict(entry)
    each = entry.pop("each", {})
    for combination in product(*each.values()):
        values = dict(zip(each, combination, strict=True))
        yield (_filled(entry, values) if values else entry), values


def _filled(tree: Any, values: Mapping[str, Any]) -> Any:
    """A tree whose texts have their braces filled; a text of one pair of braces alone becomes the value itself."""
    if isinstance(tree, Mapping):
        return {key: _filled(entry, values) for key, entry in tree.items()}
    if isinstance(tree, list):
        return [_filled(entry, values) for entry in tree]
    if not isinstance(tree, str) or "{" not in tree:
        return tree
    if re.fullmatch(r"\{[^{}]*\}", tree):
        return Formatter().get_field(tree[1:-1], (), values)[0]
    return tree.format(**values)


def _experiment(reader: _Reader, entry: dict[str, Any], dimensions: Mapping[str, Dimension]) -> Experiment:
    entry = dict(entry)
    where = f"experiment {entry.get('id', '?')}"
    for name in entry.get("dimensions", []):
        if name not in dimensions:
            raise UsageError(f"{reader.folder}: {where}: there is no [dimension.{name}]")
    entry["dimensions"] = [dimensions[name] for name in entry.get("dimensions", [])]
    if "measure" in entry:
        entry.setdefault("table", entry["measure"])
    for level in LEVELS:
        entry[level] = reader.entry(Extent, f"{where}, {level}", entry.get(level, {}))
    return reader.entry(Experiment, where, entry)  # type: ignore[no-any-return]


def _figure(reader: _Reader, entry: dict[str, Any]) -> Figure:
    entry = dict(entry)
    where = f"figure {entry.get('id', '?')}"
    entry["y"] = _curves(reader, f"{where}, y", entry.get("y", []))
    return reader.entry(Figure, where, entry)  # type: ignore[no-any-return]


def _table(reader: _Reader, entry: dict[str, Any]) -> Tabulation:
    where = f"table {entry.get('id', '?')}"
    if bool(entry.get("function")) == bool(entry.get("cells")):
        raise UsageError(f"{reader.folder}: {where}: give a function, or an experiment with rows and cells")
    entry = {**entry, "cells": _curves(reader, f"{where}, cells", entry.get("cells", []))}
    return reader.entry(Tabulation, where, entry)  # type: ignore[no-any-return]


def _curves(reader: _Reader, where: str, curves: Any) -> list[Curve]:
    curves = curves if isinstance(curves, list) else [curves]
    return [reader.entry(Curve, where, c if isinstance(c, dict) else {"column": c}) for c in curves]


def _statement(reader: _Reader, entry: dict[str, Any]) -> Statement:
    entry = dict(entry)
    where = f"statement {entry.get('id', '?')}"
    parts = entry.get("measured", [])
    parts = parts if isinstance(parts, list) else [parts]
    entry["measured"] = [
        reader.entry(Measured, f"{where}, measured", part) for one in parts for part, _ in _each(one)
    ]
    rules = sum(bool(entry.get(rule)) for rule in ("within", "positive", "rises"))
    if bool(entry.get("function")) == bool(parts) or rules != bool(parts):
        raise UsageError(
            f"{reader.folder}: {where}: give a function, or what is measured and one of within, positive, rises"
        )
    if "within" in entry and len(entry["within"]) != 2:
        raise UsageError(f"{reader.folder}: {where}: within is a range, [least, most]")
    return reader.entry(Statement, where, entry)  # type: ignore[no-any-return]


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
                raise UsageError(f"{self.folder}: {what}: unknown key {key!r}; there are {', '.join(known)}")
        for name, one in known.items():
            if name not in table and one.default is MISSING and one.default_factory is MISSING:
                raise UsageError(f"{self.folder}: {what}: the key {name!r} is missing")
        return kind(**table)


def _check(study: Study, folder: Path) -> None:
    """Refuses a definition whose parts do not fit together."""

    def refuse(text: str) -> None:
        raise UsageError(f"{folder}: {text}")

    kinds = (
        [e.id for e in study.experiments],
        [f.id for f in study.figures],
        [s.id for s in study.statements],
        [s.id for s in study.sequences],
        [t.id for t in study.tables],
        [d.id for d in study.drawings],
    )
    for ids in kinds:
        for name in ids:
            if ids.count(name) > 1:
                refuse(f"the id {name!r} is there twice")
    called = [study.checks, study.describe_packet, *(f.closed_form for f in study.figures)]
    called += [s.function for s in study.sequences]
    called += [d.settings for d in study.drawings]
    called += [e.measure for e in study.experiments]
    called += [d.function for e in study.experiments for d in e.dimensions]
    measured = [s.function for s in study.statements]
    shown = [t.function for t in study.tables] + [d.function for d in study.drawings]
    for module, file, names in (
        (study.code, "study.py", called),
        (study.measurements, "statements.py", measured),
        (study.exhibits, "exhibits.py", shown),
    ):
        for name in filter(None, names):
            if not callable(getattr(module, name, None)):
                refuse(f"{file} has no function {name!r}")
    _check_declared(study, refuse)
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
                if name not in dimensions[experiment_id] and name != "experiment":
                    refuse(f"figure {figure.id}: experiment {experiment_id} has no dimension {name!r}")
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

    for statement in study.statements:
        for part in statement.measured:
            where = f"statement {statement.id}"
            known(where, part.experiment, [*part.where, *part.less, *part.over, *([part.x] if part.x else [])])
            if bool(part.x) != statement.rises:
                refuse(f"{where}: rises is about a curve over x, and the other rules are about a value")
            if part.less and part.over:
                refuse(f"{where}: give one of less and over")
    for table in study.tables:
        if table.cells:
            names = [*table.rows, *table.where, *([table.columns] if table.columns else [])]
            known(f"table {table.id}", table.experiment, names)
            if not table.rows:
                refuse(f"table {table.id}: the dimensions of its rows are missing")
