"""Many runs of a scenario: points, replications, precision; resumable, and the same with any number of jobs."""

from __future__ import annotations

import json
import operator
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars

from roamsim import _roamsim, statistics
from roamsim._roamsim import RunFailed, Scenario, ScenarioError
from roamsim.errors import Interrupted, UsageError
from roamsim.metrics import Target
from roamsim.result import frames, keys_within
from roamsim.scenarios import Overrides, ScenarioLike, Source, parse_source, source
from roamsim.store import (
    TRACED,
    Manifest,
    Parts,
    PointEntry,
    PointRows,
    Results,
    merged,
    part_key,
    write_tables,
    writing,
)
from roamsim.vary import Variation, product

#: Replications of each point where neither a number nor a precision is asked for.
REPLICATIONS = 1

#: Replications after which a precision is judged for the first time (chosen, because with fewer the interval says
#: little), and the most that are run for it unless told otherwise (chosen).
FIRST_BATCH, MAX_REPLICATIONS = 5, 100

#: What no number of replications or threads exceeds (chosen, because a folder of results holds a row for each run).
MOST = 1_000_000

#: Seconds of simulation that a part collects before it is written: what a kill costs at most, for each point.
PART_S = 2.0

SweepResult = Results


class Progress(Protocol):
    """Hears how a sweep gets on."""

    def plan(self, runs: int, kept: int) -> None:
        """So many runs belong to the sweep as far as is known; so many of them were there already."""

    def done(self, runs: int) -> None:
        """So many more runs are finished."""

    def under_way(self, runs: float) -> None:
        """Those at work make so many runs by now, each counted by the share of its simulated time that is over."""


class _Silent:
    def plan(self, runs: int, kept: int) -> None: ...

    def done(self, runs: int) -> None: ...

    def under_way(self, runs: float) -> None: ...


class Goal(Protocol):
    """What replications are added for."""

    @property
    def targets(self) -> Sequence[Target]:
        """The metrics that decide."""

    def describe(self) -> str:
        """For the manifest."""

    def undecided(self, tables: Mapping[str, Sequence[PointRows]]) -> set[str]:
        """Fingerprints of the points that need more replications.

        Args:
            tables: for each table of the targets, its rows at each point that needed more up to now; all these points
                have equally many replications.
        """


def read_share(text: str) -> float | None:
    """`2%` or `0.02` as a number above 0; `None` for other texts."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    return share or None


@dataclass(frozen=True)
class Precision:
    """What `--precision METRIC=2%` asks for: each point by itself.

    Attributes:
        target: the metric; without a row of its own every row has to be that precise.
        relative: half-width of the 95 % interval beside the mean.
    """

    target: Target
    relative: float

    @staticmethod
    def parse(text: str) -> Precision:
        """Reads `TABLE.COLUMN=2%` or `TABLE.NAME.COLUMN=0.02`.

        Raises:
            UsageError: it is neither.
        """
        metric, _, share = text.partition("=")
        relative = read_share(share)
        if relative is None or "." not in metric:
            raise UsageError(
                "--precision takes METRIC=SHARE, as in flows.goodput_bps=2% or "
                f"signalling.indications.mean_delay_s=1%; this is {text!r}"
            )
        return Precision(Target.parse(metric), relative)

    @property
    def targets(self) -> Sequence[Target]:
        """The only metric."""
        return (self.target,)

    def describe(self) -> str:
        """For the manifest."""
        return f"{self.target.name} to {self.relative:g}"

    def undecided(self, tables: Mapping[str, Sequence[PointRows]]) -> set[str]:
        """The points that are not precise enough."""
        return {point.entry.fingerprint for point in tables[self.target.table] if not self.reached(point.table)}

    def reached(self, frame: polars.DataFrame) -> bool:
        """Whether the replications in a table are enough; a table without rows never is."""
        frame, column = self.target.rows(frame), self.target.column
        samples = frame.group_by(keys_within(self.target.table), maintain_order=True).agg(column)[column].to_list()
        return bool(samples) and all(
            (estimate := statistics.mean(values)).samples > 1 and estimate.relative_half_width <= self.relative
            for values in samples
        )


@dataclass
class _Chunk:
    """Consecutive replications of one point that are to be run."""

    key: str
    scenario: Scenario
    label: str
    replications: range
    waiting: dict[int, tuple[float, dict[str, polars.DataFrame]]] = field(default_factory=dict)
    next: int = 0

    def __post_init__(self) -> None:
        self.next = self.replications.start

    def add(self, replication: int, wall_s: float, tables: dict[str, polars.DataFrame], parts: Parts) -> None:
        self.waiting[replication] = (wall_s, tables)
        ready = list(self.ready())
        if ready and (ready[-1] == self.replications[-1] or sum(self.waiting[r][0] for r in ready) > PART_S):
            self.write(parts)

    def ready(self) -> Iterator[int]:
        at = self.next
        while at in self.waiting:
            yield at
            at += 1

    def write(self, parts: Parts) -> None:
        ready = list(self.ready())
        if ready:
            parts.write(self.key, ready[0], [self.waiting.pop(r)[1] for r in ready])
            self.next = ready[-1] + 1


def sweep(
    scenario: ScenarioLike | Source,
    variations: list[Variation],
    *,
    settings: Overrides,
    replications: int | None = None,
    precision: Goal | None = None,
    max_replications: int = MAX_REPLICATIONS,
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    traces: Sequence[str] = (),
    compared: dict[str, Any] | None = None,
    command: list[str] | None = None,
    progress: Progress | None = None,
    color: bool = False,
) -> SweepResult:
    """Runs every point of a product of variations; `roamsim.sweep` says what the arguments mean."""
    if replications is not None and precision is not None:
        raise UsageError("give a number of replications or a precision, not both (the most is max_replications)")
    check_number("replications", replications or 1, 1)
    check_number("the maximum of replications", max_replications, 2 if precision else 1)
    check_number("jobs", jobs or 1, 1)
    check_seed(seed)
    if traces and out is None:
        raise UsageError("what is traced of a sweep needs a folder that keeps it; give one")
    read = scenario if isinstance(scenario, Source) else source(scenario)
    base = parse_source(read, settings, color=color)
    for target in precision.targets if precision else ():
        target.check(json.loads(base.canonical))
    manifest = Manifest(
        kind="sweep",
        scenario=base.name,
        text=read.text,
        canonical=json.loads(base.canonical),
        version=_roamsim.version(),
        seed=seed,
        command=command or [],
        vary={v.path: [value.toml for value in v.values] for v in variations},
        precision=precision.describe() if precision else None,
        traces=sorted(traces),
        compared=compared,
    )
    scenarios = {}
    for values in product(variations):
        changed = [(path, value.toml) for path, value in values.items()]
        try:
            valid = parse_source(read, settings + changed, color=color)
        except ScenarioError as error:
            where = ", ".join(f"{path}={value}" for path, value in changed)
            raise ScenarioError(f"at {where}:\n{error}{_whole_table(changed)}") from None
        shown = {path: value.shown for path, value in values.items()}
        point = PointEntry(dict(changed), shown, valid.fingerprint, 0)
        manifest.points.append(point)
        scenarios[point.fingerprint] = valid

    with _folder(out) as folder, writing(folder):
        known = Manifest.read(folder)
        if known is not None:
            _merge(folder, known, manifest)
        elif any(not entry.name.startswith(".") for entry in folder.iterdir()):
            raise UsageError(f"{os.fspath(folder)!r} holds other files; choose a new or empty folder")
        run = _Sweep(folder, manifest, scenarios, jobs or os.cpu_count() or 1, progress or _Silent())
        try:
            if precision is None:
                run.until(dict.fromkeys(scenarios, replications or REPLICATIONS))
            else:
                run.until_precise(precision, max_replications)
            run.trace()
        except KeyboardInterrupt:
            run.keep()
            raise Interrupted from None
        except Exception:
            run.keep()
            raise
        tables = run.keep()
        return Results(folder, manifest, tables, run.made)


class _Sweep:
    def __init__(
        self, folder: Path, manifest: Manifest, scenarios: dict[str, Scenario], jobs: int, progress: Progress
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.scenarios = scenarios
        self.jobs = jobs
        self.progress = progress
        self.made = 0
        self.parts = Parts(folder)
        self.labels = {
            point.fingerprint: ", ".join(f"{path}={value}" for path, value in point.values.items())
            for point in manifest.points
        }

    def until(self, wanted: dict[str, int]) -> None:
        """Runs what is missing of so many replications of each point, named by its fingerprint."""
        for point in self.manifest.points:
            point.replications = max(point.replications, wanted.get(point.fingerprint, 0))
        self.manifest.write(self.folder)
        chunks = [
            _Chunk(key, self.scenarios[fingerprint], self.labels[fingerprint], gap)
            for fingerprint, count in wanted.items()
            for key in [part_key(fingerprint, self.manifest.seed)]
            for gap in self.parts.missing(key, count)
        ]
        runs = [(chunk, replication) for chunk in chunks for replication in chunk.replications]
        total = sum(wanted.values())
        self.progress.plan(total, total - len(runs))
        self._work(chunks, runs)

    def trace(self) -> None:
        """Runs the first replication of each point again, with what is to be traced, and keeps only that."""
        traces = self.manifest.traces
        if not traces:
            return
        chunks = [
            _Chunk(key, scenario, self.labels[fingerprint], range(1))
            for fingerprint, scenario in self.scenarios.items()
            for key in [part_key(fingerprint, self.manifest.seed, traces)]
            if self.parts.missing(key, 1)
        ]
        self.progress.plan(len(self.scenarios), len(self.scenarios) - len(chunks))
        self._work(chunks, [(chunk, 0) for chunk in chunks], traces)

    def _work(self, chunks: list[_Chunk], runs: list[tuple[_Chunk, int]], traces: Sequence[str] = ()) -> None:
        if not runs:
            return
        seed = self.manifest.seed
        batch = _roamsim.Batch(
            [(chunk.scenario, seed, r) for chunk, r in runs],
            jobs=self.jobs,
            trace=list(traces),
            heard=self.progress.under_way,
        )
        try:
            for index, result in batch:
                chunk, replication = runs[index]
                if isinstance(result, Exception):
                    where = f"{chunk.label}, " if chunk.label else ""
                    raise RunFailed(f"{where}replication {replication}, seed {seed}: {result}") from result
                tables = frames(result, scenario=chunk.scenario.name, replication=replication, seed=seed)
                if traces:
                    tables = {name: table for name, table in tables.items() if name in TRACED}
                else:
                    self.made += 1
                chunk.add(replication, result.wall_s, tables, self.parts)
                self.progress.done(1)
        finally:
            batch.cancel()
            for chunk in chunks:
                chunk.write(self.parts)

    def until_precise(self, goal: Goal, most: int) -> None:
        """Adds replications to each point until the goal is reached.

        It is judged after 5, 7, 10, 15, ... replications, always over the first ones, so that neither the number of
        jobs nor what the folder held before changes where it stops.
        """
        count = min(FIRST_BATCH, most)
        counts = dict.fromkeys(self.scenarios, count)
        undecided = set(counts)
        unmet: set[str] = set()
        while undecided:
            self.until(counts)
            points = [point for point in self.manifest.points if point.fingerprint in undecided]
            tables = {
                target.table: [PointRows(point, count, self._table(target.table, point, count)) for point in points]
                for target in goal.targets
            }
            if undecided == set(counts):
                for target in goal.targets:
                    found = [target.rows(p.table)[target.column].drop_nulls() for p in tables[target.table]]
                    if not any(map(len, found)):
                        raise UsageError(
                            f"{target.name} has no value in any run of this scenario, so no precision can be "
                            "reached; choose another metric"
                        )
            undecided &= goal.undecided(tables)
            if count >= most:
                unmet = undecided
                break
            count = min(most, count + count // 2)
            counts |= dict.fromkeys(sorted(undecided), count)
        self.manifest.unmet = [point.values for point in self.manifest.points if point.fingerprint in unmet]

    def _table(self, name: str, point: PointEntry, count: int) -> polars.DataFrame:
        found = self.parts.read(part_key(point.fingerprint, self.manifest.seed), count, name)
        tables = [part[name] for part in found if name in part]
        if not tables:
            raise UsageError(f"there is no result table {name!r}")
        return polars.concat(tables, how="diagonal_relaxed")

    def keep(self) -> dict[str, polars.DataFrame]:
        """Writes manifest and tables of everything that is finished."""
        self.manifest.write(self.folder)
        tables = merged(self.folder, self.manifest)
        write_tables(self.folder, tables)
        return tables


def check_number(what: str, value: int, least: int) -> None:
    """Refuses a number below or above what makes sense, and what is no whole number."""
    _check_whole(what, value)
    if value < least:
        raise UsageError(f"{what}: {value} is less than {least}")
    if value > MOST:
        raise UsageError(f"{what}: {value} is more than {MOST}")


def check_seed(seed: int) -> None:
    """Refuses a seed that does not fit into 64 bits."""
    _check_whole("seed", seed)
    if not 0 <= seed < 2**64:
        raise UsageError(f"the seed {seed} is not between 0 and 2^64 - 1")


def _check_whole(what: str, value: object) -> None:
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"{what}: {value!r} is no whole number") from None


def _merge(folder: Path, known: Manifest, new: Manifest) -> None:
    """Puts the points of a folder before new ones, so that a point keeps its number; traces are added."""

    def refuse(what: str) -> UsageError:
        return UsageError(f"{os.fspath(folder)!r} holds {what}; choose another folder")

    if known.kind != "sweep":
        raise refuse(f"results of a {known.kind}, not of a sweep")
    if list(known.vary) != list(new.vary):
        raise refuse(
            f"a sweep over {', '.join(known.vary) or 'nothing'}, not over {', '.join(new.vary) or 'nothing'}"
        )
    if known.canonical != new.canonical:
        raise refuse("a sweep of another scenario or other settings")
    if known.seed != new.seed:
        raise refuse(f"a sweep with seed {known.seed}, not {new.seed}")
    if known.version != new.version:
        # Results of two versions do not belong into one table; the old parts stay, unused.
        return
    fresh = {json.dumps(point.values): point for point in new.points}
    for point in known.points:
        fresh.pop(json.dumps(point.values), None)
    traces = sorted({*known.traces, *new.traces})
    asked = {json.dumps(point.values) for point in new.points}
    if known.traces not in ([], traces) and any(json.dumps(point.values) not in asked for point in known.points):
        raise refuse(f"also other points, traced by {', '.join(known.traces)} alone")
    new.traces = traces
    new.compared = new.compared or known.compared
    new.points = [*known.points, *fresh.values()]
    for path, values in new.vary.items():
        new.vary[path] = list(dict.fromkeys([*known.vary[path], *values]))


def _whole_table(changed: Sequence[tuple[str, str]]) -> str:
    """What helps where a table keeps the settings of another protocol than the one that a point gives it."""
    for path, _ in changed:
        table, _, key = path.rpartition(".")
        if key == "protocol":
            values = '{ protocol = "tcp" },{ protocol = "sctp" }'
            return f"\nTo give each protocol its own settings, vary the table as a whole: --vary '{table}={values}'"
    return ""


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="roamsim-") as temporary:
        yield Path(temporary)
