"""The runs of a study: planned from its definition, run side by side, kept as they finish.

A folder of results holds `runs/TABLE-NNNN.parquet`, each whole or absent: the rows of many runs, keyed by a hash of
scenario, version and seed (`key`) and by `replication`. What is there is not run again, whichever experiment or
level asked for it first; so a study that was killed goes on where it stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from roamsim import _roamsim
from roamsim._roamsim import RunFailed, Scenario, ScenarioError, version
from roamsim.errors import Interrupted
from roamsim.files import write_aside
from roamsim.scenarios import overrides, source
from roamsim.store import part_key
from roamsim.study.definition import Experiment, Level, Point, Study, points, replications
from roamsim.sweeps import Progress

#: Seconds between writes: what a kill costs at most (chosen).
WRITE_EVERY_S = 5.0


@dataclass(frozen=True)
class Planned:
    """One point of an experiment, ready to run."""

    experiment: Experiment
    point: Point
    scenario: Scenario
    key: str
    replications: int
    measure: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def rows_of(self, tables: Mapping[str, Any], table: str) -> Mapping[str, Any]:
        """The columns of one table of a finished run, or what the study measures of all its tables."""
        return self.measure(tables) if self.measure and table == self.experiment.table else tables[table]


def plan(study: Study, level: Level, seed: int) -> list[Planned]:
    """Every point of every experiment, its scenario validated.

    Raises:
        ScenarioError: a scenario of the study is not valid; the text says at which point.
    """
    planned = []
    for experiment in study.experiments:
        path = study.scenario_path(experiment)
        text, name, is_json = source(path)
        measure = study.function(experiment.measure) if experiment.measure else None
        for point in points(study, experiment, level):
            try:
                scenario = Scenario.parse(
                    text, name=name, format="json" if is_json else "toml", overrides=overrides(point.settings)
                )
            except ScenarioError as error:
                where = ", ".join(f"{name} = {label}" for name, label in point.labels.items())
                raise ScenarioError(f"experiment {experiment.id} at {where or 'its only point'}:\n{error}") from None
            kept = (*experiment.trace, *experiment.tables, *filter(None, [experiment.measure]))
            key = part_key(":".join([version(), scenario.canonical, *kept]), seed)
            planned.append(Planned(experiment, point, scenario, key, replications(experiment, level), measure))
    return planned


#: Traces and tables that are kept of a run.
Kept = tuple[tuple[str, ...], tuple[str, ...]]

#: Key, replication, and the columns of a run's table.
Finished = tuple[str, int, Mapping[str, Any]]


class Runs:
    """The finished runs of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "runs"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._parts: dict[str, list[polars.DataFrame]] = {}
        self._done: set[tuple[str, str, int]] = set()
        self._number = 0
        for file in sorted(self.folder.glob("[!.]*.parquet")):
            table, _, number = file.stem.rpartition("-")
            self._number = max(self._number, int(number) + 1)
            self._know(table, polars.read_parquet(file))

    def _know(self, table: str, frame: polars.DataFrame) -> None:
        self._parts.setdefault(table, []).append(frame)
        self._done.update((table, key, r) for key, r in frame.select("key", "replication").unique().iter_rows())

    def has(self, table: str, key: str, replication: int) -> bool:
        """Whether a run is there already."""
        return (table, key, replication) in self._done

    def add(self, table: str, finished: Sequence[Finished]) -> None:
        """Writes the rows of finished runs as one part; a kill may have left those of this table alone."""
        finished = [one for one in finished if not self.has(table, one[0], one[1])]
        if finished:
            frame = _frame(finished)
            write_aside(self.folder / f"{table}-{self._number:04}.parquet", frame.write_parquet)
            self._number += 1
            self._know(table, frame)

    def rows(self, table: str) -> polars.DataFrame:
        """Every row of a result table, with `key` and `replication`."""
        parts = self._parts.get(table, [])
        return polars.concat(parts, how="diagonal_relaxed", rechunk=True) if parts else polars.DataFrame()


def _frame(finished: Sequence[Finished]) -> polars.DataFrame:
    """The rows of many runs; missing values are null. (A frame for each run would cost more than the run itself.)"""
    columns: dict[str, list[Any]] = {"key": [], "replication": []}
    for key, replication, table in finished:
        rows = len(next(iter(table.values())))
        columns["key"] += [key] * rows
        columns["replication"] += [replication] * rows
        for name, values in table.items():
            columns.setdefault(name, []).extend(values if isinstance(values, list) else values.tolist())
    return polars.DataFrame(columns, infer_schema_length=None).with_columns(polars.selectors.float().fill_nan(None))


@dataclass(frozen=True)
class Effort:
    """What it took: runs that were there before, runs made now, their events and seconds of computing."""

    kept: int
    made: int
    events: int
    computing_s: float


def distinct(planned: Iterable[Planned]) -> dict[Kept, dict[tuple[str, int], Planned]]:
    """The runs of a plan by what is kept of them, each once: experiments that share a point share its runs."""
    groups: dict[Kept, dict[tuple[str, int], Planned]] = {}
    for one in planned:
        experiment = one.experiment
        # The table that tells whether a run is there is written last.
        group = groups.setdefault((tuple(experiment.trace), (*experiment.tables, experiment.table)), {})
        for replication in range(one.replications):
            group.setdefault((one.key, replication), one)
    return groups


def execute(planned: Iterable[Planned], runs: Runs, *, seed: int, jobs: int, progress: Progress) -> Effort:
    """Runs what is missing.

    Raises:
        RunFailed: a run broke one of the simulator's own rules.
        Interrupted: the user stopped it; what was finished is kept.
    """
    wanted = distinct(planned)
    missing = {
        group: {run: one for run, one in members.items() if not runs.has(group[1][-1], *run)}
        for group, members in wanted.items()
    }
    total = sum(map(len, wanted.values()))
    kept = total - sum(map(len, missing.values()))
    progress.plan(total, kept)
    events, computing_s = 0, 0.0
    for (trace, tables), members in missing.items():
        order = [(one, replication) for (_, replication), one in members.items()]
        if not order:
            continue
        batch = _roamsim.Batch(
            [(one.scenario, seed, r) for one, r in order], jobs=jobs, trace=list(trace), heard=progress.under_way
        )
        waiting: dict[str, list[Finished]] = {table: [] for table in tables}
        written = time.monotonic()
        try:
            for index, result in batch:
                one, replication = order[index]
                if isinstance(result, Exception):
                    labels = json.dumps(dict(one.point.labels))
                    where = f"experiment {one.experiment.id} at {labels}, replication {replication}, seed {seed}"
                    raise RunFailed(f"{where}: {result}") from result
                events += result.events
                computing_s += result.wall_s
                for table in tables:
                    waiting[table].append((one.key, replication, one.rows_of(result.tables, table)))
                progress.done(1)
                if time.monotonic() - written > WRITE_EVERY_S:
                    for table in tables:
                        runs.add(table, waiting[table])
                        waiting[table] = []
                    written = time.monotonic()
        except KeyboardInterrupt:
            raise Interrupted from None
        finally:
            batch.cancel()
            for table in tables:
                runs.add(table, waiting[table])
    return Effort(kept, sum(map(len, missing.values())), events, computing_s)
