"""The meaning of result columns, from `metrics.toml`."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from roamsim.errors import UsageError, there_are
from roamsim.statistics import jain_index

if TYPE_CHECKING:
    import polars

    from roamsim._roamsim import Scenario


#: How alike names are of which one may be meant (chosen: `nonsense` is not `confidence`, at 0.56).
NEAR = 0.7

#: What stands behind a metric whose index of fairness over the rows of a run is asked for.
JAIN = ":jain"


@dataclass(frozen=True)
class Metric:
    """One column of a result table.

    Attributes:
        table: the table's name; `run` for the columns that all tables share, `trace` for what `--trace` records.
        column: the column's name.
        unit: its unit, empty for numbers of dimension one; `None` for text.
        meaning: what it counts or measures.
        formula: how it follows from other columns; empty where it is counted directly.
        source: where the definition comes from; empty where it is the project's own.
        better: which of two values is better, `larger` or `smaller`; empty where that cannot be said.
        share: whether it is a share of a whole, so that differences are percentage points.
        words: what something with a larger value is called, and with a smaller (`faster`, `slower`).
        over: of a mean over what arrived, the columns that count what arrived, what was sent, and what was lost or
            given up; `None` for others.
        index_of: of Jain's index, what it is the index of; `None` for others.
    """

    table: str
    column: str
    unit: str | None
    meaning: str
    formula: str
    source: str
    better: str = ""
    share: bool = False
    words: tuple[str, str] = ("higher", "lower")
    over: tuple[str, str, str] | None = None
    index_of: Metric | None = None

    @property
    def name(self) -> str:
        """`TABLE.COLUMN`, as everywhere on the command line."""
        return f"{self.table}.{self.column}{JAIN if self.index_of else ''}"

    @property
    def counts(self) -> tuple[str, str] | None:
        """Of a share of counted trials, the columns that count what succeeded and what was tried."""
        found = re.fullmatch(r"(\w+) / (\w+)", self.formula)
        return (found[1], found[2]) if self.share and found else None

    def __str__(self) -> str:
        lines = [f"{self.name}{f' [{self.unit}]' if self.unit else ''}", f"  {self.meaning}"]
        if self.better:
            lines.append(f"  Better: {self.better}")
        if self.formula:
            lines.append(f"  Formula: {self.formula}")
        if self.over:
            arrived, sent, _ = self.over
            lines.append(f"  Over: what arrived, {arrived} of {sent}; the others have no delay that could be counted")
        if self.source:
            lines.append(f"  Source: {self.source}")
        return "\n".join(lines)


@lru_cache
def metrics() -> tuple[Metric, ...]:
    """Every column of every table, in the tables' order."""
    tables = _file()
    return tuple(
        Metric(
            table,
            column,
            about.get("unit"),
            about["meaning"],
            about.get("formula", ""),
            about.get("source", ""),
            about.get("better", ""),
            about.get("share", False),
            tuple(about.get("words", ("higher", "lower"))),
            tuple(about["over"]) if "over" in about else None,
        )
        for table in tables["tables"]
        for column, about in tables[table].items()
    )


@lru_cache
def traces() -> tuple[Metric, ...]:
    """What `run --trace` records, one entry a kind."""
    return tuple(
        Metric("trace", kind, about.get("unit"), about["meaning"], "", about.get("source", ""))
        for kind, about in _file()["traces"].items()
    )


@lru_cache
def quantities() -> dict[str, tuple[str, ...]]:
    """The quantities that each kind of trace records in the table `samples`, where it records any."""
    return {kind: tuple(about["quantities"]) for kind, about in _file()["traces"].items() if "quantities" in about}


def recorded_as(kind: str) -> tuple[str, ...]:
    """Where rows of a kind of trace are: in `samples` as one of these quantities, or in the table of this name."""
    about = _file()["traces"][kind]
    return tuple(about["quantities"]) if "quantities" in about else (about.get("table", kind),)


@lru_cache
def traced_tables() -> dict[str, tuple[str, ...]]:
    """The tables that are there only when they are asked for, and the kinds of traces that ask for each."""
    kinds: dict[str, tuple[str, ...]] = {}
    for kind, about in _file()["traces"].items():
        table = "samples" if "quantities" in about else about.get("table", kind)
        kinds[table] = (*kinds.get(table, ()), kind)
    return kinds


@lru_cache
def table_meanings() -> dict[str, str]:
    """What a row of each table is."""
    return {table: about["meaning"] for table, about in _file()["tables"].items()}


@lru_cache
def table_keys() -> dict[str, tuple[str, ...]]:
    """The columns that tell rows of a table apart within a replication; of `handovers`, kinds of rows."""
    return {table: tuple(about["keys"]) for table, about in _file()["tables"].items() if "keys" in about}


@lru_cache
def tables_of_events() -> dict[str, str]:
    """Tables with a row an event, and the column that says when. How many there are is up to the run: its sample is
    their mean.
    """
    return {table: about["at"] for table, about in _file()["tables"].items() if "at" in about}


@lru_cache
def tables_without_zeros() -> tuple[str, ...]:
    """Tables of counts in which what did not happen in a replication has no row."""
    return tuple(table for table, about in _file()["tables"].items() if about.get("zeros"))


@dataclass(frozen=True)
class Summary:
    """What the summary of a run shows of a table.

    Attributes:
        table: the table's name.
        heading: what stands above it.
        rows: the columns that tell rows apart there.
        columns: its numbers, each with what it is called there.
        most: so many rows alone, those with the largest values of the first column; `None` for all.
        parts: whether the columns add up to a whole, and are shown as shares of it.
    """

    table: str
    heading: str
    rows: tuple[str, ...]
    columns: tuple[tuple[str, Metric], ...]
    most: int | None = None
    parts: bool = False


@lru_cache
def summaries() -> tuple[Summary, ...]:
    """What the summary of a run shows, in its order."""
    return tuple(
        Summary(
            table,
            about["heading"],
            tuple(about["rows"]),
            tuple((title, numeric(table, column)) for column, title in about["columns"].items()),
            about.get("most"),
            about.get("parts", False),
        )
        for table, about in _file()["summaries"].items()
    )


def explain(name: str) -> list[Metric]:
    """What a name stands for: `TABLE.COLUMN`, a table, a column of any table, a trace or a quantity of one.

    Raises:
        UsageError: there is none; the nearest names are in the text.
    """
    wanted = name.strip()
    found = [m for m in metrics() if wanted in (m.name, m.table, m.column)]
    found += [
        t
        for t in traces()
        if wanted in (t.name, t.table, t.column, *_file()["traces"][t.column].get("quantities", ()))
    ]
    if not found:
        table, _, column = wanted.partition(".")
        found = [m for m in metrics() if m.table == "run" and table in table_meanings() and m.column == column]
        if not found and column and table in table_meanings():
            there = [m.column for m in metrics() if m.table == table]
            raise UsageError(f"{table} has no column {column!r}; it has {', '.join(there)}")
    if not found:
        raise UsageError(f"the results have no column or table {name!r}{did_you_mean(wanted, _names())}")
    return found


def numeric(table: str, column: str) -> Metric:
    """A column that can be averaged or drawn.

    Raises:
        UsageError: there is no such table or column, or it is text.
    """
    found = next((m for m in metrics() if (m.table, m.column) == (table, column)), None)
    if found is None or table == "run":
        near = did_you_mean(f"{table}.{column}", [m.name for m in metrics() if m.unit is not None])
        raise UsageError(f"there is no metric '{table}.{column}'{near}")
    if found.unit is None:
        raise UsageError(f"{found.name} is not a number")
    return found


@dataclass(frozen=True)
class Target:
    """A metric of all rows of a result table, or of one; or its index of fairness over all rows of a run.

    Attributes:
        table: the result table.
        row: value of the table's `name` column; `None` for every row.
        column: a numeric column of it.
        fairness: whether Jain's index over the rows of each run is asked for.
    """

    table: str
    row: str | None
    column: str
    fairness: bool = False

    @staticmethod
    def parse(text: str) -> Target:
        """Reads `TABLE.COLUMN`, `TABLE.NAME.COLUMN` or `TABLE.COLUMN:jain`.

        Raises:
            UsageError: it is none of them.
        """
        metric = text.strip().removesuffix(JAIN)
        fairness = metric != text.strip()
        table, _, rest = metric.partition(".")
        row, _, column = rest.rpartition(".")
        if not (table and column):
            raise UsageError(
                "a metric is TABLE.COLUMN or TABLE.NAME.COLUMN, as in flows.goodput_bps or "
                f"signalling.indications.mean_delay_s, or TABLE.COLUMN:jain; this is {text!r}"
                + did_you_mean(metric, [m.name for m in metrics() if m.unit is not None])
            )
        if fairness and row:
            raise UsageError(f"Jain's index covers all rows of a run, as in {table}.{column}{JAIN}; this is {text!r}")
        if fairness and (table in {*tables_of_events(), *tables_without_zeros()} or "name" not in _keys(table)):
            raise UsageError(
                f"Jain's index is of rows that have names and are in every run; those of {table} are not"
            )
        return Target(table, row or None, column, fairness)

    @property
    def name(self) -> str:
        """As `parse` reads it."""
        return ".".join(filter(None, (self.table, self.row, self.column))) + (JAIN if self.fairness else "")

    @property
    def metric(self) -> Metric:
        """What the column means, or the index."""
        found = numeric(self.table, self.column)
        if not self.fairness:
            return found
        meaning = f"Jain's index of {found.column} over the rows of {found.table}: 1 where all have the same."
        source = "Jain, Chiu and Hawe, DEC-TR-301, 1984"
        formula = "(sum x)^2 / (n sum x^2)"
        return Metric(
            self.table,
            self.column,
            "",
            meaning,
            formula,
            source,
            "larger",
            words=("fairer", "less fair"),
            index_of=found,
        )

    def check(self, scenario: Scenario) -> None:
        """Refuses a metric or a row that the scenario's results will not have.

        Raises:
            UsageError: there is no such metric, or no such flow, link or signalling source.
        """
        numeric(self.table, self.column)
        if self.row is None:
            return
        keys = _keys(self.table)
        if "name" not in keys:
            raise UsageError(f"rows of {self.table} have no name; {', '.join(keys)} tell them apart")
        # Tables of other kinds are about accesses, as `links` is.
        named = scenario.row_names
        names = named.get(self.table, named["links"])
        if self.table == "percentiles":
            names = [*named["flows"], *named["signalling"]]
        if self.row not in names:
            raise UsageError(f"{self.table} has no row {self.row!r}; {there_are(self.row, names, quoted=True)}")

    def rows(self, frame: polars.DataFrame) -> polars.DataFrame:
        """The rows of the table that it is about; of an index of fairness one row a run, in place of all others."""
        if self.fairness:
            return self._index(frame)
        return frame if self.row is None else frame.filter(name=self.row)

    def _index(self, frame: polars.DataFrame) -> polars.DataFrame:
        import polars

        own = {metric.column for metric in metrics() if metric.table == self.table}
        of_runs = frame.group_by([name for name in frame.columns if name not in own], maintain_order=True)
        values = of_runs.agg(polars.col(self.column))
        index = [jain_index(of_run) for of_run in values[self.column]]
        keys = {key: polars.lit(ALL_ROWS if key == "name" else "") for key in _keys(self.table)}
        return values.with_columns(polars.Series(self.column, index, polars.Float64).fill_nan(None), **keys)


#: The name of the row that stands for all rows of a run.
ALL_ROWS = "all rows"


def _keys(table: str) -> tuple[str, ...]:
    """The columns that tell rows of a table apart within a replication."""
    return table_keys().get(table, ("name",))


def did_you_mean(wanted: str, names: list[str]) -> str:
    """The end of an error: the nearest of the names that there are."""
    parts = [name for name in names if len(wanted) > 2 and wanted.lower() in name]
    close = [*sorted(parts, key=len), *difflib.get_close_matches(wanted, names, n=9, cutoff=NEAR)]
    close = list(dict.fromkeys(close))
    # `flows.goodput_bps` beside `goodput_bps` says nothing new.
    near = [name for name in close if not any(name.endswith(f".{other}") for other in close)][:3]
    return f"; did you mean {' or '.join(near)}?" if near else "; `roamsim explain` lists all of them"


def _names() -> list[str]:
    return list(
        dict.fromkeys(name for m in metrics() for name in (m.name, m.column, m.table))
        | dict.fromkeys(t.column for t in traces())
    )


@lru_cache
def _file() -> dict[str, Any]:
    # Generated from metrics.toml, which takes forty times as long to read.
    tables: dict[str, Any] = json.loads(
        resources.files("roamsim.tables").joinpath("metrics.json").read_text(encoding="utf-8")
    )
    return tables
