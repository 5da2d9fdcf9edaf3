"""Who makes runs: threads of this process, or any executor of `concurrent.futures`, of processes or of a cluster.

An engine gets runs and gives back what they left, in the order in which they finish; what becomes of it is not its
affair (`roamsim.running.work`). What a run leaves does not depend on who makes it.

An executor needs no shared disk: a scenario goes to it as its canonical text, and tables come back. Several runs go
in one parcel, so that short ones do not cost more to send than to make.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from roamsim import _roamsim
from roamsim._roamsim import RunFailed, Scenario
from roamsim.errors import UsageError

#: Scenario, seed and replication.
Run = tuple[Scenario, int, int]

#: Seconds that a parcel of runs should take (chosen: a hundred times what sending it takes), and how many it holds at
#: most (chosen, for what comes back is held in memory).
PARCEL_S, PARCEL_RUNS = 0.5, 500

#: Seconds after which one who waits for a parcel is told of again (chosen: as often as threads tell).
HEARD_EVERY_S = 0.1

#: Parcels that are under way at a time for each who makes runs (chosen: one is made, the others wait).
PARCELS_EACH = 4


class Outcome(Protocol):
    """What a run leaves."""

    @property
    def events(self) -> int:
        """Number of events that were worked off."""

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time."""

    @property
    def tables(self) -> Mapping[str, Mapping[str, Any]]:
        """Columns by table and name."""


#: Index of a run, and what it leaves or why it failed.
Outcomes = Generator[tuple[int, Outcome | Exception]]


class Engine(Protocol):
    """Makes runs."""

    @property
    def at_once(self) -> int:
        """How many runs are at work at a time on this machine."""

    def outcomes(self, runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]) -> Outcomes:
        """Makes runs, each recorded as told; closing the iterator ends those at work.

        Args:
            runs: what is made.
            traces: what is recorded of each.
            heard: as of `roamsim.running.work.Progress.under_way`.
        """


def engine(jobs: int | None, executor: Executor | None) -> Engine:
    """Threads, as many as asked for, or an executor.

    Raises:
        UsageError: it is no executor.
    """
    processors = os.cpu_count() or 1
    if executor is None:
        return Threads(jobs or processors)
    if not isinstance(executor, Executor):
        raise UsageError(f"executor: {executor!r} is no executor of concurrent.futures")
    # How many work for it, an executor need not say.
    return Parcels(executor, PARCELS_EACH * (jobs or getattr(executor, "workers", 0) or processors))


@dataclass(frozen=True)
class Threads:
    """Threads of this process.

    Attributes:
        at_once: how many.
    """

    at_once: int

    def outcomes(self, runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]) -> Outcomes:
        """As of `Engine`."""
        batch = _roamsim.Batch(list(runs), jobs=self.at_once, trace=list(traces), heard=heard)
        try:
            yield from batch
        finally:
            batch.cancel()


@dataclass(frozen=True)
class Parcels:
    """An executor, which makes parcels of runs.

    Attributes:
        executor: who makes them; it stays open.
        under_way: parcels that it has at a time.
    """

    executor: Executor
    under_way: int

    @property
    def at_once(self) -> int:
        """Where an executor works, and on how many at a time, it does not say."""
        return 1

    def outcomes(self, runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]) -> Outcomes:
        """As of `Engine`; runs at work cannot be stopped, but no further parcel is begun."""
        begun, per_parcel, spent_s, made = 0, 1, 0.0, 0
        futures: dict[Future[list[Made | str]], range] = {}
        try:
            while begun < len(runs) or futures:
                while begun < len(runs) and len(futures) < self.under_way:
                    # The last parcels are small, so that all end at about the same time.
                    count = max(1, min(per_parcel, (len(runs) - begun) // self.under_way))
                    indices = range(begun, begun + count)
                    futures[self._begin([runs[index] for index in indices], traces)] = indices
                    begun += count
                finished, _ = wait(futures, HEARD_EVERY_S, FIRST_COMPLETED)
                # How far those at work are, they do not say.
                heard(0.0)
                # In the order in which they were begun: of several that failed the first is told.
                for future in [one for one in futures if one in finished]:
                    indices = futures.pop(future)
                    for index, outcome in zip(indices, _left(future), strict=True):
                        if isinstance(outcome, Made):
                            spent_s, made = spent_s + outcome.wall_s, made + 1
                        yield index, outcome if isinstance(outcome, Made) else RunFailed(outcome)
                per_parcel = min(PARCEL_RUNS, max(1, int(PARCEL_S * made / spent_s))) if spent_s else PARCEL_RUNS
        finally:
            for future in futures:
                future.cancel()

    def _begin(self, runs: Sequence[Run], traces: Sequence[str]) -> Future[list[Made | str]]:
        texts = [(scenario.name, scenario.canonical, seed, replication) for scenario, seed, replication in runs]
        try:
            return self.executor.submit(make_parcel, _roamsim.build(), texts, list(traces))
        except Exception as error:
            raise _failed(error) from error


def _left(future: Future[list[Made | str]]) -> list[Made | str]:
    """What a parcel leaves."""
    try:
        return future.result()
    except UsageError:
        raise
    except Exception as error:
        raise _failed(error) from error


def _failed(error: Exception) -> RunFailed:
    why = " ".join(str(error).split())
    return RunFailed(
        f"the executor failed: {type(error).__name__}{f': {why}' if why else ''}; what was finished is kept, and the "
        "same call goes on from there with an executor that works"
    )


# What a worker does ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """What a run leaves, as it comes back from a worker."""

    events: int
    cpu_s: float
    wall_s: float
    tables: Mapping[str, Mapping[str, Any]]


def make_parcel(build: str, runs: Sequence[tuple[str, str, int, int]], traces: Sequence[str]) -> list[Made | str]:
    """Makes runs, in a worker; of those that failed, why.

    Args:
        build: of who asks; runs of two builds do not belong into one table.
        runs: name and canonical text of the scenario, seed, and replication.
        traces: what is recorded.

    Raises:
        UsageError: the worker has another build.
    """
    if _roamsim.build() != build:
        raise UsageError(
            f"the worker on {platform.node() or 'a machine without a name'} has another build of Roamsim "
            f"({_roamsim.version()}, sources {_roamsim.build()[:12]}) than this one ({build[:12]}); install the same"
        )
    return [_make(name, text, seed, replication, traces) for name, text, seed, replication in runs]


def _make(name: str, text: str, seed: int, replication: int, traces: Sequence[str]) -> Made | str:
    begun_s = time.monotonic()
    try:
        result = _roamsim.run(_scenario(name, text), seed=seed, replication=replication, trace=list(traces))
    except RunFailed as error:
        return str(error)
    return Made(result.events, result.cpu_s, time.monotonic() - begun_s, result.tables)


@lru_cache(maxsize=64)
def _scenario(name: str, text: str) -> Scenario:
    return Scenario.parse(text, name=name, format="json")
