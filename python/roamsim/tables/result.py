"""Result tables of one or several runs as polars frames."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NoReturn

import polars

from roamsim import _roamsim, statistics
from roamsim._roamsim import Table
from roamsim.errors import UsageError, there_are
from roamsim.tables import lots
from roamsim.tables.metrics import table_keys, table_meanings, tables_of_events
from roamsim.tables.named import Named

if TYPE_CHECKING:
    import pandas

#: Columns that say which run a row comes from; they stand before the others.
RUN_COLUMNS = ("scenario", "point", "replication", "seed")

#: The columns that tell rows of a table apart within a replication. Of `handovers` they tell kinds of rows apart.
KEYS = table_keys()

#: Tables with a row an event: how many there are, and when, is up to the run. The sample of a run is their mean.
MEANS = tuple(tables_of_events())


def keys_within(table: str) -> tuple[str, ...]:
    """The columns that tell rows of a table apart within a replication."""
    return KEYS.get(table, ("name",))


class Tables(Named, lots.InLots):
    """Result tables by name, also as attributes: `result.flows` is `result.tables["flows"]`.

    A missing value is null. Every row carries `scenario` (its name), `point` (of a sweep, else 0), `replication` and
    `seed`. What each column means, with unit, formula and source, says `roamsim.explain("flows.goodput_bps")`.
    """

    def __init__(self, tables: Mapping[str, polars.DataFrame]) -> None:
        self.tables = tables if isinstance(tables, lots.InLots) else dict(tables)

    def __getitem__(self, name: str) -> polars.DataFrame:
        try:
            return self.tables[name]
        except KeyError:
            raise KeyError(f"no table {name!r}; {_of_trace(name) or there_are(name, self.tables)}") from None

    def __iter__(self) -> Any:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def schema(self, name: str) -> polars.Schema:
        """The columns of a table."""
        return lots.schema(self.tables, name)

    def height(self, name: str) -> int:
        """How many rows a table has."""
        return lots.height(self.tables, name)

    def lots(self, name: str, columns: Sequence[str] | None = None) -> Iterator[polars.DataFrame]:
        """The rows of a table in their order, some at a time; of all columns, or of some."""
        return lots.lots(self.tables, name, columns)

    def names(self, name: str) -> list[str]:
        """The names of a table's columns."""
        return lots.names(self.tables, name)

    def iter_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The rows of a table in their order, of some columns; a missing value is `None`."""
        return lots.iter_rows(self.tables, name, columns)

    def columns(self, name: str, chosen: Sequence[str]) -> polars.DataFrame:
        """Some columns of a table."""
        return lots.columns(self.tables, name, chosen)

    def _named(self, name: str) -> polars.DataFrame:
        if name not in self.tables:
            raise AttributeError(name)
        return self.tables[name]

    if not TYPE_CHECKING:  # a type checker knows the tables, and finds a misspelt one

        def __getattr__(self, name: str) -> NoReturn:
            there = self.__dict__.get("tables", {})
            said = f"there are {', '.join(there)}"
            if meaning := table_meanings().get(name):
                text = f"these results have no table {name!r} ({meaning[0].lower()}{meaning[1:].rstrip('.')}); {said}"
            else:
                near = difflib.get_close_matches(name, [*there, *super().__dir__()], n=1)
                hint = _of_trace(name) or (f"did you mean {near[0]}?" if near else said)
                text = f"no attribute or table {name!r}; {hint}"
            # With its name Python would add a guess of its own.
            raise AttributeError(text, name=None, obj=None)

    def __dir__(self) -> list[str]:
        missing = table_meanings().keys() - self.tables.keys()
        return [name for name in super().__dir__() if name not in missing]

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """One table as a pandas frame, handed over through Arrow.

        Raises:
            KeyError: there is no such table.
            UsageError: pandas or pyarrow is not installed.
        """
        frame = self[table]
        try:
            return frame.to_pandas()
        except ModuleNotFoundError as error:
            raise UsageError(f"{error.name} is not installed; pip install 'roamsim[pandas]' brings it") from None

    def estimate(self, table: str, column: str, by: Sequence[str] | None = None) -> polars.DataFrame:
        """Mean over replications with its 95 % interval (Student's t).

        Args:
            table: name of the table.
            column: a numeric column of it.
            by: what stays apart; the point, the varied values and `name` unless said otherwise.

        Returns:
            One row for each combination of `by`, in the order of the table: the columns of `by`, then `mean`, `low`,
            `high` (in the column's unit; null where one value leaves the interval open) and `samples`.

        Raises:
            KeyError: there is no such table.
            UsageError: there is no such column, or it is not numeric.
        """
        schema = self.schema(table)
        keys = list(by) if by is not None else [c for c in self.keys_of(table) if c in schema]
        for name in (column, *keys):
            if name not in schema:
                raise UsageError(f"{table} has no column {name!r}; {there_are(name, schema)}")
        if not schema[column].is_numeric():
            raise UsageError(f"{table}.{column} is text; a mean needs numbers")
        of_events = table in MEANS and "replication" not in keys
        samples: dict[tuple[Any, ...], list[polars.Series]] = {}
        for rows in self.lots(table, list(dict.fromkeys([*keys, column, *(["replication"] if of_events else [])]))):
            if of_events:
                of_runs = rows.group_by([*keys, "replication"], maintain_order=True)
                rows = of_runs.agg(polars.col(column).mean())
            groups = rows.group_by(keys, maintain_order=True).agg(polars.col(column).drop_nulls())
            for key, values in zip(groups.select(keys).iter_rows(), groups[column], strict=True):
                samples.setdefault(key, []).append(values)
        estimates = [statistics.mean(polars.concat(values).to_list()) for values in samples.values()]
        found = polars.DataFrame(list(samples), {key: schema[key] for key in keys}, orient="row")
        columns = [("mean", polars.Float64), ("low", polars.Float64), ("high", polars.Float64)]
        return found.with_columns(
            *(
                polars.Series(name, [getattr(e, name) for e in estimates], dtype).fill_nan(None)
                for name, dtype in columns
            ),
            polars.Series("samples", [e.samples for e in estimates], polars.Int64),
        )

    def keys_of(self, table: str) -> list[str]:
        """The columns that tell rows of a table apart within a replication."""
        return ["point", *keys_within(table)]


class Frames(lots.InLots):
    """Frames of a run by name, each made when it is first asked for: all together take as long as a short run."""

    def __init__(self, scenario: str, seed: int, tables: Mapping[str, Table | polars.DataFrame]) -> None:
        self._run = scenario, seed
        self._held = dict(tables)

    def __getitem__(self, name: str) -> polars.DataFrame:
        held = self._held[name]
        if isinstance(held, Table):
            held = self._held[name] = stacked([held], Table.of_runs(*self._run, [0]))
        return held

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes, which get frames."""
        return {"_run": self._run, "_held": dict(self)}

    def schema(self, name: str) -> polars.Schema:
        """As of `InLots`."""
        return self[name].schema

    def height(self, name: str) -> int:
        """As of `InLots`; no frame is made for that."""
        return self._held[name].height

    def lots(self, name: str, columns: Sequence[str] | None = None) -> Iterator[polars.DataFrame]:
        """As of `InLots`."""
        yield self[name] if columns is None else self[name].select(columns)

    def names(self, name: str) -> list[str]:
        """As of `InLots`; no frame is made for that."""
        held = self._held[name]
        return [*RUN_COLUMNS, *held.columns] if isinstance(held, Table) else held.columns

    def iter_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """As of `InLots`; no frame is made for that."""
        held = self._held[name]
        if not isinstance(held, Table):
            return held.select(columns).iter_rows()
        of_run = dict(zip(RUN_COLUMNS, (self._run[0], 0, 0, self._run[1]), strict=True))
        return zip(
            *(
                repeat(of_run[column], held.height) if column in of_run else _without_nan(held[column])
                for column in columns
            ),
            strict=True,
        )


def _without_nan(values: list[Any]) -> list[Any]:
    """Values of which a missing number is `None`."""
    return [None if value != value else value for value in values]


class Result(Tables):
    """What `run` returns: the tables, and how the run went.

    Attributes:
        scenario: name of the scenario.
        seed: seed of all its replications.
        replications: how many there are, numbered from 0.
        version: version of the simulator.
        events: events worked off, over all replications.
        wall_s: seconds that the runs took, added up; start-up and building of the network excluded.
    """

    def __init__(
        self,
        tables: Mapping[str, polars.DataFrame],
        *,
        scenario: str,
        seed: int,
        replications: int,
        events: int,
        wall_s: float,
    ) -> None:
        super().__init__(tables)
        self.scenario = scenario
        self.seed = seed
        self.replications = replications
        self.version = _roamsim.version()
        self.events = events
        self.wall_s = wall_s

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {self.height(name)}" for name in self.tables)
        return f"<Result of {self.scenario!r}, seed {self.seed}, {self.replications} replication(s); rows {rows}>"

    def to_dict(self) -> dict[str, Any]:
        """The object that `roamsim run --json` prints: a list of rows for each table, missing values `None`.

        Equal runs give equal objects, so `wall_s` is not in it.
        """
        return self._head() | {
            name: [_finite(row) for row in frame.to_dicts()] for name, frame in self.tables.items()
        }

    def to_json(self) -> str:
        """`to_dict` as JSON; NaN and infinity become null."""
        return "".join(self.json_pieces())

    def json_pieces(self, spooled: Callable[[str], Iterable[polars.DataFrame]] = lambda _: ()) -> Iterator[str]:
        """`to_json` piece by piece, with further rows that `spooled` gives of each table."""
        yield json.dumps(self._head(), ensure_ascii=False, allow_nan=False).removesuffix("}")
        for name in self.tables:
            yield f', "{name}": ['
            separator = ""
            columns = self.names(name)
            of_run = ([dict(zip(columns, row, strict=True)) for row in self.iter_rows(name, columns)],)
            for rows in chain(of_run, (frame.to_dicts() for frame in spooled(name))):
                if rows:
                    yield separator + _dicts_json(rows)[1:-1]
                    separator = ", "
            yield "]"
        yield "}"

    def _head(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "replications": self.replications,
            "version": self.version,
            "events": self.events,
        }


def _of_trace(name: str) -> str:
    """How a trace of this name is recorded; empty where there is none."""
    if name not in _roamsim.trace_kinds():
        return ""
    return f"trace={[name]!r} records it, in the table {name if name in table_meanings() else 'samples'}"


def stacked(tables: Sequence[Table], runs: Table) -> polars.DataFrame:
    """The tables of several runs below each other, with the columns of `runs`, which has a row for each of them."""
    return polars.DataFrame(Table.stack(tables, runs))


def column(name: str, chunks: Sequence[Iterable[Any]]) -> polars.Series:
    """A column of what was measured of several runs: lists or arrays, in which NaN is a missing number."""
    values = [value for chunk in chunks for value in (chunk.tolist() if hasattr(chunk, "tolist") else chunk)]
    series = polars.Series(name, values, strict=False)
    return series.fill_nan(None) if series.dtype.is_float() else series


def typed(frame: polars.DataFrame) -> polars.DataFrame:
    """A frame whose columns without any value are of text: nothing tells what they would have held."""
    return frame.with_columns(polars.col(polars.Null).cast(polars.String))


def rows_json(frame: polars.DataFrame) -> str:
    """A frame as a JSON list of rows; NaN and infinity become null, what JSON has no word for becomes text."""
    return _dicts_json(frame.to_dicts())


def _dicts_json(rows: Iterable[dict[str, Any]]) -> str:
    return json.dumps([_finite(row) for row in rows], ensure_ascii=False, allow_nan=False, default=str)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
