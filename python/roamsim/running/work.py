"""Makes runs side by side, and keeps them as they finish: what runs, sweeps, comparisons and studies have in common.

A run is named by its key (`roamsim.storing.parts`) and replication. What is finished is written every few seconds, so
that a kill costs no more than these; the order in which runs finish changes nothing. A run that fails keeps no other
from being made: what failed is told when all the rest is finished.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from roamsim._roamsim import RunFailed, Scenario, Table
from roamsim.errors import UsageError
from roamsim.running.engines import Engine, Outcomes, Run
from roamsim.running.foresight import foresee
from roamsim.tables.words import count

if TYPE_CHECKING:
    from roamsim.storing.parts import Finished, Parts

#: What is kept of a run: its tables, or columns that were measured of it.
RunTables = Mapping[str, Table | Mapping[str, Any]]


@runtime_checkable
class Progress(Protocol):
    """Hears how many runs get on."""

    def plan(self, runs: int, kept: int) -> None:
        """So many runs are wanted as far as is known; so many of them were there already."""

    def done(self, runs: int) -> None:
        """So many more runs are finished."""

    def failed(self, runs: int) -> None:
        """So many more runs have failed, for good."""

    def under_way(self, runs: float) -> None:
        """Those at work make so many runs by now, each counted by the share of its simulated time that is over."""


class Silent:
    """Progress that nobody hears."""

    def plan(self, runs: int, kept: int) -> None:
        """Nothing."""

    def done(self, runs: int) -> None:
        """Nothing."""

    def failed(self, runs: int) -> None:
        """Nothing."""

    def under_way(self, runs: float) -> None:
        """Nothing."""


#: Told how many runs are finished, failed ones among them, and how many are wanted as far as is known.
Listener = Callable[[int, int], object]


class _Counted(Silent):
    """Progress that a function is told of."""

    def __init__(self, told: Listener) -> None:
        self._told = told
        self._finished = self._wanted = 0

    def plan(self, runs: int, kept: int) -> None:
        self._finished, self._wanted = kept, runs

    def done(self, runs: int) -> None:
        self._finished += runs
        self._told(self._finished, self._wanted)

    def failed(self, runs: int) -> None:
        self.done(runs)


def heard(progress: Progress | Listener | None) -> Progress:
    """What hears how runs get on.

    Raises:
        UsageError: it is neither a function nor `Progress`.
    """
    if progress is None:
        return Silent()
    if isinstance(progress, Progress):
        return progress
    if not callable(progress):
        raise UsageError(f"progress: {progress!r} is not a function of the numbers of finished and of all runs")
    return _Counted(progress)


@dataclass(frozen=True)
class Case:
    """What replications are made of.

    Attributes:
        key: what they are kept under.
        scenario: what is run.
        kept: what is kept of a run's tables.
        where: where it stands among the others, for an error.
    """

    key: str
    scenario: Scenario
    kept: Callable[[Mapping[str, Table]], RunTables]
    where: str


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why."""

    case: Case
    replication: int
    seed: int
    why: str

    def __str__(self) -> str:
        name = json.dumps(self.case.scenario.name, ensure_ascii=False)
        places = [name, *([self.case.where] if self.case.where else [])]
        return f"{', '.join(places)}, replication {self.replication}, seed {self.seed}: {self.why}"


#: How many failures are told one by one (chosen: a screen's half; more of them are seldom of different kinds).
MOST_TOLD = 10


@dataclass(frozen=True)
class Made:
    """What runs took: how many, their events, and seconds of processor time; and those that failed."""

    runs: int = 0
    events: int = 0
    processor_s: float = 0.0
    failures: tuple[Failure, ...] = ()

    def __add__(self, other: Made) -> Made:
        return Made(
            self.runs + other.runs,
            self.events + other.events,
            self.processor_s + other.processor_s,
            self.failures + other.failures,
        )

    def require_all(self, *, kept: bool = True) -> None:
        """Tells of the runs that failed.

        Raises:
            RunFailed: there are any.
        """
        failed = len(self.failures)
        if not failed:
            return
        told = [f"  {failure}" for failure in self.failures[:MOST_TOLD]]
        if failed > MOST_TOLD:
            told.append(f"  and {failed - MOST_TOLD} more")
        after = (
            "what is finished is kept, and the same call makes only the failed ones again"
            if kept
            else "a folder (--out) keeps the others"
        )
        raise RunFailed(f"{failed} of {count(self.runs + failed, 'run')} failed; {after}:\n" + "\n".join(told))


def each(runs: Sequence[Run], traces: Sequence[str], engine: Engine, progress: Progress) -> Outcomes:
    """Makes runs, and gives what each leaves, or why it failed, in the order in which they finish.

    Closing the iterator ends those at work.
    """
    outcomes = engine.outcomes(runs, traces, progress.under_way)
    try:
        for index, outcome in outcomes:
            # Whoever keeps it has it before anybody is told, who may interrupt.
            yield index, outcome
            if isinstance(outcome, Exception):
                progress.failed(1)
            else:
                progress.done(1)
    finally:
        outcomes.close()


def make(
    runs: Sequence[tuple[Case, int]],
    parts: Parts,
    *,
    seed: int,
    traces: Sequence[str],
    engine: Engine,
    progress: Progress,
) -> Made:
    """Makes runs, each a case and its replication, and adds those that do not fail to the parts of a folder.

    Raises:
        RunFailed: the engine itself failed; what was finished is kept.
    """
    from roamsim.storing.parts import FULL, WRITE_EVERY_S

    if not runs:
        return Made()
    scenarios = {case.key: case.scenario for case, _ in runs}
    counts = Counter(case.key for case, _ in runs)
    many = [(scenarios[key], count) for key, count in counts.items()]
    foresee(many, traces, at_once=engine.at_once, held=engine.at_once)
    wanted = [(case.scenario, seed, replication) for case, replication in runs]
    waiting: list[Finished] = []
    failures: dict[int, Failure] = {}
    made, written = Made(), time.monotonic()
    outcomes = each(wanted, traces, engine, progress)
    try:
        for index, result in outcomes:
            case, replication = runs[index]
            if isinstance(result, Exception):
                failures[index] = Failure(case, replication, seed, str(result))
                continue
            waiting.append((case.key, replication, case.kept(result.tables)))
            made += Made(1, result.events, result.cpu_s)
            if len(waiting) >= FULL or time.monotonic() - written > WRITE_EVERY_S:
                parts.add(waiting)
                waiting, written = [], time.monotonic()
    finally:
        outcomes.close()
        parts.add(waiting)
    # In the order of what was asked for, whichever failed first.
    return made + Made(failures=tuple(failure for _, failure in sorted(failures.items())))
