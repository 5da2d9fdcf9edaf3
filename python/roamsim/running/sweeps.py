"""Many runs of a scenario: points, replications, precision; resumable, and the same with any number of jobs."""

from __future__ import annotations

import json
import os
import re
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from warnings import warn

import polars

from roamsim import _roamsim, statistics
from roamsim._roamsim import Scenario, ScenarioError, Table
from roamsim.errors import Interrupted, Notice, UsageError
from roamsim.running.engines import Engine, engine
from roamsim.running.numbers import check_given, check_number, check_seed
from roamsim.running.shards import ALL, Shard
from roamsim.running.work import Case, Listener, Made, Progress, RunTables, heard, make
from roamsim.scenarios.reading import Overrides, ScenarioLike, Source, of_vary, parse_source, source
from roamsim.scenarios.vary import Point, Variation, alike, product, tell_set_in_vain
from roamsim.storing.manifests import Compared, Manifest, PointEntry, results_manifest
from roamsim.storing.parts import Parts, run_key
from roamsim.storing.remote import is_url, mirrored
from roamsim.storing.rows import SweepTables
from roamsim.storing.store import (
    PointRows,
    Results,
    forget_drawn,
    refuse_other_files,
    write_tables,
    writing,
)
from roamsim.tables.metrics import Target, traced_tables
from roamsim.tables.result import keys_within, typed

#: Replications of each point where neither a number nor a precision is asked for.
REPLICATIONS = 1

#: Points above which it is said that they are checked first (chosen: it takes some ten seconds).
MANY = 20_000

#: Replications after which a precision is judged for the first time (chosen, because with fewer the interval says
#: little), and the most that are run for it unless told otherwise (chosen).
FIRST_BATCH, MAX_REPLICATIONS = 5, 100


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
        metric, _, share = text.partition("=") if isinstance(text, str) else ("", "", "")
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
    compared: Compared | None = None,
    command: list[str] | None = None,
    progress: Progress | Listener | None = None,
    color: bool = False,
    shard: Shard = ALL,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Results:
    """Runs every point of a product of variations; `roamsim.sweep` says what the arguments mean."""
    if replications is not None and precision is not None:
        raise UsageError("give a number of replications or a precision, not both (the most is max_replications)")
    check_given("replications", replications, 1)
    check_number("the maximum of replications", max_replications, 2 if precision else 1)
    check_given("jobs", jobs, 1)
    check_seed(seed)
    makers = engine(jobs, executor, time_limit_s)
    if shard != ALL and precision is not None:
        raise UsageError(
            "a precision is judged over all replications, and a shard has only some. Give shards a number of "
            "replications, merge them, and ask for the precision with the merged folder as --out"
        )
    read = scenario if isinstance(scenario, Source) else source(scenario)
    base = parse_source(read, settings, color=color)
    for target in precision.targets if precision else ():
        target.check(base)
    vary = {v.path: [value.toml for value in v.values] for v in variations}
    manifest = replace(
        _manifest(read, base, seed, command, vary),
        precision=precision.describe() if precision else None,
        traces=sorted(traces),
        compared=compared,
    )
    tell_set_in_vain(settings, vary)
    scenarios = {}
    for point, valid in _entries(read, settings, product(variations), color=color):
        manifest.points.append(point)
        scenarios[point.fingerprint] = valid

    with _folder(out) as folder, writing(folder):
        _go_on(folder, manifest)
        run = _Sweep(folder, manifest, scenarios, makers, heard(progress), shard, stays=out is not None)
        with _keeping(run, read, settings):
            if precision is None:
                run.until(dict.fromkeys(scenarios, replications or REPLICATIONS))
            else:
                run.until_precise(precision, max_replications)
            run.trace()
        tables: Mapping[str, polars.DataFrame] = run.keep()
        run.made.require_all(kept=run.stays)
        if out is None or is_url(out):
            # The folder is about to go.
            tables = dict(tables)
        return Results(folder, manifest, tables, run.made.runs)


class _Sweep:
    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        scenarios: dict[str, Scenario],
        engine: Engine,
        progress: Progress,
        shard: Shard,
        *,
        stays: bool,
    ) -> None:
        self.folder = folder
        #: Whether the user has named the folder; else it goes with the call.
        self.stays = stays
        self.manifest = manifest
        self.scenarios = scenarios
        self.known = dict(scenarios)
        self.engine = engine
        self.progress = progress
        self.shard = shard
        self.made = Made()
        self.parts = Parts(folder, mend=True)
        self.labels = {point.fingerprint: _label(point) for point in manifest.points}

    def add(self, point: PointEntry, scenario: Scenario) -> None:
        """Makes a further point known."""
        self.scenarios[point.fingerprint] = self.known[point.fingerprint] = scenario
        self.labels[point.fingerprint] = _label(point)

    def until(self, wanted: dict[str, int]) -> None:
        """Runs what is missing of so many replications of each point, named by its fingerprint."""
        for point in self.manifest.points:
            point.replications = max(point.replications, wanted.get(point.fingerprint, 0))
        self.manifest.write(self.folder)
        self.made += self._work(self._own(wanted))

    def again(self, others: dict[str, Scenario]) -> None:
        """Makes the runs of points that this call does not ask for, and that a damaged part took with it."""
        self.known |= others
        counts = {point.fingerprint: point.replications for point in self.manifest.points}
        self.made += self._work(self._own({fingerprint: counts[fingerprint] for fingerprint in others}))

    def trace(self) -> None:
        """Runs the first replication of each point again, with what is to be traced, and keeps only that."""
        traces = self.manifest.traces
        if not traces:
            return
        failed = {failure.case.scenario.fingerprint for failure in self.made.failures if not failure.replication}
        wanted = dict.fromkeys((fingerprint for fingerprint in self.scenarios if fingerprint not in failed), 1)
        made = self._work(self._own(wanted, traces), traces)
        # What is run a second time for its trace is one run to the user.
        self.made += Made(failures=made.failures)

    def _own(self, wanted: Mapping[str, int], traces: Sequence[str] = ()) -> list[tuple[Case, int]]:
        """The runs of this shard among so many replications of points."""
        return [
            (case, replication)
            for fingerprint, count in wanted.items()
            for case in [self._case(fingerprint, traces)]
            for replication in range(count)
            if self.shard.holds(case.key, replication)
        ]

    def _work(self, own: list[tuple[Case, int]], traces: Sequence[str] = ()) -> Made:
        """Makes those that are missing."""
        # What has failed once in this call is not begun a third time by it.
        failed = {(failure.case.key, failure.replication) for failure in self.made.failures}
        missing = [
            (case, replication)
            for case, replication in own
            if not self.parts.has(case.key, replication) and (case.key, replication) not in failed
        ]
        self.progress.plan(len(own), len(own) - len(missing))
        if not missing:
            return Made()
        forget_drawn(self.folder)
        seed = self.manifest.seed
        return make(missing, self.parts, seed=seed, traces=traces, engine=self.engine, progress=self.progress)

    def _case(self, fingerprint: str, traces: Sequence[str]) -> Case:
        scenario, seed = self.known[fingerprint], self.manifest.seed
        own = Table({"scenario": [scenario.name], "seed": array("Q", [seed])})

        def kept(tables: Mapping[str, Table]) -> RunTables:
            return {
                name: Table.stack([table], own)
                for name, table in tables.items()
                if (name in traced_tables()) == bool(traces)
            }

        return Case(run_key(fingerprint, seed, traces), scenario, kept, self.labels[fingerprint])

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
            # Of a point with a run that failed nothing is judged; the call ends with an error anyway.
            undecided -= {failure.case.scenario.fingerprint for failure in self.made.failures}
            if not undecided:
                break
            points = [point for point in self.manifest.points if point.fingerprint in undecided]
            tables = {target.table: self.rows(target.table, points, count) for target in goal.targets}
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

    def rows(self, table: str, points: Sequence[PointEntry], count: int) -> list[PointRows]:
        """The rows of the first replications of points, in order."""
        keys = [run_key(point.fingerprint, self.manifest.seed) for point in points]
        found = self.parts.rows(table, keys=keys)
        if table not in self.parts.names():
            raise UsageError(f"there is no result table {table!r}")
        found = typed(found.filter(polars.col("replication") < count).sort("replication", maintain_order=True))
        of_keys = found.partition_by("key", as_dict=True, include_key=False)
        return [
            PointRows(point, count, of_keys.get((key,), found.clear()))
            for point, key in zip(points, keys, strict=True)
        ]

    def keep(self) -> SweepTables:
        """Writes manifest and tables of everything that is finished."""
        self.parts.put_together()
        self.manifest.write(self.folder)
        tables = SweepTables(self.folder, self.manifest, self.parts)
        write_tables(self.folder, tables)
        return tables


class Campaign:
    """Points of a scenario in one folder that are told as they come, and their runs; `campaign` begins one.

    Attributes:
        first: numbers of the points that were known from the beginning.
    """

    def __init__(
        self,
        run: _Sweep,
        read: Source,
        settings: Overrides,
        color: bool,
        first: Sequence[tuple[PointEntry, Scenario]],
    ) -> None:
        self._run = run
        self._read = read
        self._settings = settings
        self._color = color
        self._numbers = _Numbers(run.folder, run.manifest.points)
        self.first = self._take(first)

    @property
    def manifest(self) -> Manifest:
        """Of the folder."""
        return self._run.manifest

    @property
    def made(self) -> int:
        """Runs that were made, and not there before."""
        return self._run.made.runs

    def add(self, points: Sequence[Point]) -> list[int]:
        """The numbers of points, those that are there already among them.

        Raises:
            ScenarioError: the scenario is not valid at one of them; none was added.
        """
        return self._take(_entries(self._read, self._settings, points, color=self._color))

    def _take(self, entries: Sequence[tuple[PointEntry, Scenario]]) -> list[int]:
        numbers = []
        for entry, scenario in entries:
            number = self._numbers.of(entry)
            if number is None:
                number = self._numbers.add(entry)
                self.manifest.points.append(entry)
            self._run.add(entry, scenario)
            numbers.append(number)
        for path, values in self.manifest.vary.items():
            added = (entry.values[path] for entry, _ in entries)
            self.manifest.vary[path] = list(dict.fromkeys([*values, *added]))
        return numbers

    def make(self, points: Iterable[int], replications: int) -> None:
        """Makes what is missing of the first replications of points.

        Raises:
            RunFailed: there are runs that failed; all others were made.
        """
        self._run.until({self.manifest.points[number].fingerprint: replications for number in points})
        self._run.made.require_all(kept=self._run.stays)

    def rows(self, table: str, points: Sequence[int], replications: int) -> polars.DataFrame:
        """The rows of a table of the first replications of points, whose numbers stand in the column `point`.

        Raises:
            UsageError: the runs have no such table.
        """
        entries = [self.manifest.points[number] for number in points]
        found = self._run.rows(table, entries, replications)
        return polars.concat(
            [of.table.with_columns(point=polars.lit(n, polars.Int64)) for n, of in zip(points, found, strict=True)]
        )

    def results(self) -> Results:
        """Tables of everything that is finished, written to the folder."""
        return Results(self._run.folder, self.manifest, self._run.keep(), self.made)


@contextmanager
def campaign(
    read: Source,
    paths: Sequence[str],
    *,
    settings: Overrides,
    first: Sequence[Point],
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    command: list[str] | None = None,
    progress: Progress | Listener | None = None,
    color: bool = False,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
    shard: Shard = ALL,
) -> Iterator[Campaign]:
    """A campaign over `paths`, which goes on in the folder of an earlier one, with the arguments of a sweep.

    The points in `first` are known from the beginning, and are checked before the folder is made.

    Raises:
        ScenarioError: the scenario is not valid at one of the first points.
        UsageError: the folder holds something else.
    """
    check_given("jobs", jobs, 1)
    check_seed(seed)
    makers = engine(jobs, executor, time_limit_s)
    base = parse_source(read, settings, color=color)
    entries = _entries(read, settings, first, color=color)
    manifest = _manifest(read, base, seed, command, {path: [] for path in paths})
    with _folder(out) as folder, writing(folder):
        _go_on(folder, manifest)
        run = _Sweep(folder, manifest, {}, makers, heard(progress), shard, stays=out is not None)
        with _keeping(run, read, settings):
            yield Campaign(run, read, settings, color, entries)


def _go_on(folder: Path, manifest: Manifest) -> None:
    """Takes into a manifest what a folder of the same sweep holds.

    Raises:
        UsageError: the folder holds something else.
    """
    known = results_manifest(folder)
    if known is not None:
        _merge(folder, known, manifest)
    else:
        refuse_other_files(folder)


@contextmanager
def _keeping(run: _Sweep, read: Source, settings: Overrides) -> Iterator[None]:
    """Makes runs again that a damaged part took with it; what was made is kept when a sweep is stopped or fails."""
    if not run.stays:
        yield
        return
    try:
        if run.parts.mended:
            lost = [point for point in run.manifest.points if point.fingerprint not in run.scenarios]
            run.again({p.fingerprint: parse_source(read, [*settings, *p.values.items()]) for p in lost})
        yield
    except KeyboardInterrupt:
        run.keep()
        raise Interrupted from None
    except Exception:
        run.keep()
        raise


def _manifest(
    read: Source, base: Scenario, seed: int, command: list[str] | None, vary: dict[str, list[str]]
) -> Manifest:
    """The manifest of a sweep, without points yet."""
    return Manifest(
        kind="sweep",
        scenario=base.name,
        text=read.text,
        canonical=json.loads(base.canonical),
        version=_roamsim.version(),
        build=_roamsim.build(),
        seed=seed,
        command=command or [],
        vary=vary,
    )


def _entries(
    read: Source, settings: Overrides, points: Sequence[Point], *, color: bool
) -> list[tuple[PointEntry, Scenario]]:
    """Points as manifests keep them, with no replications yet, and their scenarios.

    Raises:
        ScenarioError: the scenario is not valid at one of them.
    """
    if len(points) > MANY:
        warn(
            f"all {len(points):,} points are checked before the first run, which takes a while", Notice, stacklevel=2
        )
    entries = []
    for values in points:
        changed = [(path, value.toml) for path, value in values.items()]
        try:
            valid = parse_source(read, settings + changed, color=color)
        except ScenarioError as error:
            where = ", ".join(f"{path}={value}" for path, value in changed)
            raise ScenarioError(f"at {where}:\n{of_vary(error)}{_whole_table(changed)}") from None
        shown = {path: value.shown for path, value in values.items()}
        entries.append((PointEntry(dict(changed), shown, valid.fingerprint, 0), valid))
    return entries


def _label(point: PointEntry) -> str:
    """A point in words."""
    return ", ".join(f"{path}={value}" for path, value in point.values.items())


def _identity(values: Mapping[str, str]) -> frozenset[tuple[str, object]]:
    """What tells a point from others."""
    return frozenset((path, alike(value)) for path, value in values.items())


def _once(points: Sequence[PointEntry]) -> list[PointEntry]:
    """The points of a folder without those that it has twice, each with the most replications of its double."""
    found: dict[object, PointEntry] = {}
    for point in points:
        first = found.setdefault((point.fingerprint, _identity(point.values)), point)
        first.replications = max(first.replications, point.replications)
    return list(found.values())


def _shown(point: PointEntry) -> frozenset[tuple[str, object]]:
    """A point as tables show it."""
    return frozenset((path, (type(value), value)) for path, value in point.shown.items())


class _Numbers:
    """The numbers of the points of a folder, each of which is there once."""

    def __init__(self, folder: Path, points: Iterable[PointEntry]) -> None:
        self._folder = folder
        self._of: dict[object, list[tuple[PointEntry, int]]] = {}
        for number, point in enumerate(points):
            self._of.setdefault(_identity(point.values), []).append((point, number))
        self._shown = {_shown(point): point for point in points}
        self._next = sum(map(len, self._of.values()))

    def add(self, point: PointEntry) -> int:
        """The number of a further point."""
        self._of[_identity(point.values)] = [(point, self._next)]
        self._next += 1
        return self._next - 1

    def of(self, point: PointEntry) -> int | None:
        """The number that a point has; `None` where it is not there.

        Raises:
            UsageError: its values are there for another scenario: written in another way, or with another file.
        """
        alike = self._of.get(_identity(point.values), [])
        namesake = self._shown.get(_shown(point)) if not alike else None
        if namesake is not None:
            alike = [(namesake, 0)]
        for known, number in alike:
            if known.fingerprint == point.fingerprint:
                return number
        if not alike:
            return None
        known, _ = alike[0]
        where = ", ".join(f"{path}={shown}" for path, shown in known.shown.items())
        there = f"{os.fspath(self._folder)!r} holds the point {where}"
        for path, value in point.values.items():
            if known.values[path] != value and known is not namesake:
                raise UsageError(f"{there}; write {path}={known.values[path]} as there, not {value}")
        raise UsageError(f"{there}, and a file that it names has changed since; choose another folder")


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
    if known.build != new.build:
        # Results of two builds do not belong into one table; the old parts stay, unused.
        warn(
            f"{os.fspath(folder)}: another build of Roamsim made these results; they are made again",
            Notice,
            stacklevel=2,
        )
        return
    if not known.sampled and not known.searched:  # which number their points
        known.points = _once(known.points)
    numbers = _Numbers(folder, known.points)
    asked = [(point, numbers.of(point)) for point in new.points]
    traces = sorted({*known.traces, *new.traces})
    if known.traces not in ([], traces) and len({number for _, number in asked} - {None}) < len(known.points):
        raise refuse(f"also other points, traced by {', '.join(known.traces)} alone")
    new.traces = traces
    new.compared = new.compared or known.compared
    new.sampled = new.sampled or known.sampled
    new.searched = new.searched or known.searched
    new.points = [*known.points, *(point for point, number in asked if number is None)]
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
    if out is not None and is_url(out):
        with mirrored(os.fspath(out)) as folder:
            yield folder
        return
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="roamsim-") as temporary:
        yield Path(temporary)
