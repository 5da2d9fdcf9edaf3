"""The entries of a study's files: one class for each kind of table."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from roamsim.scenarios.vary import variation
from roamsim.study.metric import Metric, Share

Level = Literal["quick", "full"]
"""How much of a study is run: a short look, or the whole publication."""

LEVELS: tuple[Level, ...] = ("quick", "full")

#: The rules of statements without code.
RULES = ("within", "positive", "rises", "follows")

Comparison = Literal["less", "over", "gain_over"]
"""How a value is compared with another: their difference, their ratio, or the ratio less 1."""

COMPARISONS: tuple[Comparison, ...] = ("less", "over", "gain_over")

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

    def labels(self, level: Level) -> list[Label]:
        """The values that it takes at a level."""
        if self.choice:
            return list(self.choice)
        spec = self.values or (self.quick if level == "quick" else self.full)
        return [value.shown for value in variation(self.name, spec).values]


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
    over: Mapping[str, Any] = field(default_factory=dict)  # settings that stand over those of the dimensions
    over_by: str = ""  # of study.py: makes more of them of a point's labels
    alternative_of: str = ""  # the experiment that an alternative runs again


@dataclass(frozen=True, slots=True)
class Alternative:
    """What the publication leaves open or the study chooses, taken otherwise: experiments are run with it, too.

    Each statement about one of the experiments is judged with it. Where the verdict turns round, the statement rests
    on what is `instead_of` it; a statement that names it in `readings_by` may agree by it.

    Attributes:
        id: what statements call it.
        name: what a verdict's line calls it.
        instead_of: what the study has otherwise, in the words of a verdict's line.
        experiments: those that it is run for.
        set: settings that stand over those of the experiments.
        function: of study.py; makes such settings of a point's labels.
        scenario: a scenario in place of theirs.
        quick: replications at that level; those of the experiment unless given.
        full: the same of the full run.
        full_only: whether the quick look leaves it out; its page then names what the full run has found.
        coarse: whether the full run, too, takes the values that dimensions have in the quick look.
    """

    id: str
    name: str
    instead_of: str
    experiments: Sequence[str]
    set: Mapping[str, Any] = field(default_factory=dict)
    function: str = ""
    scenario: str = ""
    quick: int = 0
    full: int = 0
    full_only: bool = False
    coarse: bool = False


def of_alternative(experiment: str, alternative: str) -> str:
    """The id of an experiment that is run again with an alternative."""
    return f"{experiment}~{alternative}"


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
class Cell(Curve):
    """A metric of an experiment where labels are as in `where`, or beside that of another point, in pairs.

    Attributes:
        where: the labels of the point.
        less: labels that another point has instead, or its `experiment`: the difference to it.
        over: the same for the ratio to it.
        gain_over: the same for the ratio less 1.
    """

    where: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    less: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    over: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    gain_over: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)

    @property
    def beside(self) -> tuple[Comparison, Mapping[str, Label | Sequence[Label]]] | None:
        """How it is compared, and with which point; `None` where it stands alone."""
        return next(((how, labels) for how in COMPARISONS if (labels := getattr(self, how))), None)


@dataclass(frozen=True, slots=True)
class Measured(Cell):
    """What a statement measures without code, and its rule.

    Attributes:
        experiment: whose runs.
        x: a dimension: what is measured is a curve over it.
        between: where the curve is looked at, both ends left out.
        within: the range that the value lies in.
        positive: whether the value is above zero.
        rises: whether the curve rises.
        follows: a formula of `x` in SQL, and how far the curve may be from it.
        law: a function of study.py that gives the exact value of a column in place of a row's, as a `closed_form` of
            a figure does: the rule judges what it gives, and the runs stand beside it.
    """

    experiment: str = ""
    x: str = ""
    between: Sequence[float] = ()
    within: Sequence[float] = ()
    positive: bool = False
    rises: bool = False
    follows: Sequence[Any] = ()
    law: str = ""


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
    shows: str = ""  # the number or caption that the publication has for it; "ours" where it has none
    published_x: Sequence[float] = ()  # from where to where the publication shows it, in the unit of the axis
    full_only: bool = False  # not drawn at the quick level
    words: Mapping[str, str] = field(default_factory=dict)  # for labels of its series, before those of the study


@dataclass(frozen=True, slots=True)
class Statement:
    """One checkable clause of what the publication reports.

    What is measured, and by which rule it is judged, says a `function` of statements.py or, without code, what is
    `measured`: several parts are judged each, and the statement agrees when every one does; a rule that stands beside
    them is that of all. `readings` names what the publication leaves open and its values: the parts, whose braces
    they fill, are judged under each, and the statement agrees when they do under one, on which it then rests. A value
    may be a table, whose `name` is what it is called.
    """

    id: str
    published: str
    rule: str
    function: str = ""
    measured: Sequence[Measured] = ()
    readings: Mapping[str, Sequence[Label | Mapping[str, Any]]] = field(default_factory=dict)
    by_reading: Mapping[str, Sequence[Measured]] = field(default_factory=dict)  # what is measured under each of them
    source: str = ""
    if_differs: str = ""  # why the full run differs; its numbers are those of the full run
    rests_on: str = ""  # what the verdict takes beyond the publication: a parameter left open, a policy, a condition
    readings_by: Sequence[str] = ()  # alternatives by which the publication may be read
    conditions: str = ""  # of statements.py: names what other experiments show to turn the verdict round
    own: bool = False  # a statement of ours, of what the publication says nothing about; counted apart
    full_only: bool = False  # the quick look has no runs of it and leaves it open


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
    marks: str = ""  # of study.py: (node, seconds, words) of what happens without a packet, of values and packets
    values: Mapping[str, Any] = field(default_factory=dict)  # the values of `each` that this chart stands for
    shows: str = ""  # as of a figure
    full_only: bool = False  # as of a figure


@dataclass(frozen=True, slots=True)
class Tabulation:
    """A table of the report: a function of exhibits.py makes its rows, or `cells` of an experiment fill them.

    Without code it has a row for each combination of the labels of `rows`, and a column for each of the `cells` or,
    where `columns` names a dimension, for each of its labels. A cell is a mean with its 95 % interval; where
    `published` names a function of study.py, which gives the published value of a column at a point in the column's
    unit, or `None`, that stands behind it in brackets. `heads` are other words for the names of dimensions, with a
    unit in brackets.
    """

    id: str
    title: str
    part: str
    function: str = ""
    experiment: str = ""
    rows: Sequence[str] = ()
    columns: str = ""
    cells: Sequence[Cell] = ()
    where: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    published: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    folded: bool = False
    shows: str = ""  # as of a figure
    full_only: bool = False  # as of a figure


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture that a function of exhibits.py draws: of all data, or of one run where it has a `scenario`.

    The function gets the `Data`, or the `Result` of the run, and the values of `each`. What shows data is a Vega-Lite
    specification or a `pictures.timed.Figure`; what shows how something is built may be a figure of matplotlib.
    `settings` names a function of study.py that makes settings of these values.
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
    shows: str = ""  # as of a figure
    full_only: bool = False  # as of a figure


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


@dataclass(frozen=True)
class Study:
    """A whole study, read and checked."""

    name: str
    title: str
    published_as: str
    question: str
    answer: str
    headline: str  # the exhibit that shows the answer; empty where none does
    seed: int
    folder: Path
    experiments: Sequence[Experiment]
    figures: Sequence[Figure]
    statements: Sequence[Statement]
    sequences: Sequence[Sequencechart]
    tables: Sequence[Tabulation]
    drawings: Sequence[Drawing]
    parameters: Sequence[Parameter]
    alternatives: Sequence[Alternative]
    coverage: Sequence[Covered]
    parts: Mapping[str, str]
    words: Mapping[str, str]  # for labels, in legends and tables
    terms: Mapping[str, str]  # what words of the statements mean
    places: Mapping[str, str]  # how a value of a dimension is written, with {} in its place: "an RTT of {} s"
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
    def all_exhibits(self) -> list[Figure | Tabulation | Drawing | Sequencechart]:
        """Figures, tables, drawings and sequence charts, as they follow each other within a part."""
        return [*self.figures, *self.tables, *self.drawings, *self.sequences]

    def exhibit_of(self, id: str) -> Figure | Tabulation | Drawing | Sequencechart:
        """The exhibit of that id (a `StopIteration` when there is none)."""
        return next(one for one in self.all_exhibits if one.id == id)

    @property
    def exhibit_ids(self) -> list[str]:
        """Of figures, tables, drawings and sequence charts."""
        return [exhibit.id for exhibit in self.all_exhibits]

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
