"""The runs of a study: planned from its definition, run side by side, kept as they finish.

A folder of results holds them in parts (`roamsim.storing.parts`), under keys of what they depend on: scenario, build,
seed, what is kept of a run, and the code that measures it. What is there is not run again, whichever experiment or
level asked for it first; so a study that was killed goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roamsim._roamsim import Scenario, ScenarioError, Table
from roamsim.errors import Interrupted
from roamsim.running.engines import Engine
from roamsim.running.shards import ALL, Shard
from roamsim.running.work import Case, Made, Progress, RunTables, make
from roamsim.scenarios.reading import parse_source, replacements, source
from roamsim.storing.parts import Parts, run_key
from roamsim.study.code import code_digest
from roamsim.study.definition import Experiment, Level, Point, Study, points, replications


@dataclass(frozen=True)
class Planned:
    """One point of an experiment, ready to run."""

    experiment: Experiment
    point: Point
    scenario: Scenario
    key: str
    replications: int
    measure: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def rows_of(self, tables: Mapping[str, Table], table: str) -> Table | Mapping[str, Any]:
        """One table of a finished run, or the columns that the study measures of all its tables."""
        if self.measure and table == self.experiment.table:
            return self.measure({name: Columns(one) for name, one in tables.items()})
        return tables[table]


class Columns(Mapping[str, list[Any]]):
    """The columns of a table as lists, each made when it is first asked for. A missing number is NaN."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lists: dict[str, list[Any]] = {}

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._lists:
            self._lists[name] = self._table[name]
        return self._lists[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.columns)

    def __len__(self) -> int:
        return len(self._table.columns)


def plan(study: Study, level: Level, seed: int) -> list[Planned]:
    """Every point of every experiment, its scenario validated.

    Raises:
        ScenarioError: a scenario of the study is not valid; the text says at which point.
    """
    planned = []
    for experiment in study.experiments:
        if not replications(experiment, level):
            continue
        path = study.scenario_path(experiment)
        # A study's own code runs anyway: its scenarios may name any file.
        read = source(path, allow_files_outside=True)
        measure = study.function(experiment.measure) if experiment.measure else None
        measured = code_digest(measure) if measure else ""
        kept = (*experiment.trace, "", *experiment.tables, experiment.table)
        for point in points(study, experiment, level):
            try:
                scenario = parse_source(read, replacements(point.settings))
            except ScenarioError as error:
                where = ", ".join(f"{name} = {label}" for name, label in point.labels.items())
                raise ScenarioError(f"experiment {experiment.id} at {where or 'its only point'}:\n{error}") from None
            key = run_key(scenario, seed, kept, measured)
            planned.append(Planned(experiment, point, scenario, key, replications(experiment, level), measure))
    return planned


#: Traces and tables that are kept of a run.
Kept = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Effort:
    """What it took: runs that were there before, runs made now, their events and seconds of processor time."""

    kept: int
    made: int
    events: int
    processor_s: float


def distinct(planned: Iterable[Planned]) -> dict[Kept, dict[tuple[str, int], Planned]]:
    """The runs of a plan by what is kept of them, each once: experiments that share a point share its runs."""
    groups: dict[Kept, dict[tuple[str, int], Planned]] = {}
    for one in planned:
        experiment = one.experiment
        group = groups.setdefault((tuple(experiment.trace), (*experiment.tables, experiment.table)), {})
        for replication in range(one.replications):
            group.setdefault((one.key, replication), one)
    return groups


def execute(
    planned: Iterable[Planned], runs: Parts, *, seed: int, engine: Engine, progress: Progress, shard: Shard = ALL
) -> Effort:
    """Runs what is missing of a plan, or of a shard of it.

    Raises:
        RunFailed: runs failed; all others were made, and are kept.
        Interrupted: the user stopped it; what was finished is kept.
    """
    wanted = {
        group: {run: one for run, one in members.items() if shard.holds(*run)}
        for group, members in distinct(planned).items()
    }
    missing = {
        group: {run: one for run, one in members.items() if not runs.has(*run)} for group, members in wanted.items()
    }
    total = sum(map(len, wanted.values()))
    kept = total - sum(map(len, missing.values()))
    progress.plan(total, kept)
    made = Made()
    try:
        for (trace, tables), members in missing.items():
            cases = {one.key: _case(one, tables) for one in members.values()}
            these = [(cases[key], replication) for key, replication in members]
            made += make(these, runs, seed=seed, traces=trace, engine=engine, progress=progress)
    except KeyboardInterrupt:
        raise Interrupted from None
    runs.put_together()
    made.require_all()
    return Effort(kept, made.runs, made.events, made.processor_s)


def _case(one: Planned, tables: Iterable[str]) -> Case:
    def kept(found: Mapping[str, Table]) -> RunTables:
        return {table: one.rows_of(found, table) for table in tables}

    where = f"experiment {one.experiment.id} at {json.dumps(dict(one.point.labels))}"
    return Case(one.key, one.scenario, kept, where)
