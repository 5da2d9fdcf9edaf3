"""Engines that execute runs: threads of this process, or any executor of `concurrent.futures`.

An engine gets runs and gives back what they left, in the order in which they finish; what becomes of it is not its
affair (`roamsim.running.work`). What a run leaves does not depend on who makes it.

An executor needs no shared disk: a scenario goes to it as its canonical text, and tables come back. Several runs go
in one parcel, so that short ones do not cost more to send than to make.

A run that fails keeps no other from being made. Where that may help it is made once more, when all others have been
begun, and told of when it has failed again. An executor makes each of them again, by another worker where it can
choose; threads those that took longer than their time limit, and, one at a time, those that were stopped for memory.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, Protocol, runtime_checkable

from roamsim import _roamsim
from roamsim._roamsim import RunFailed, Scenario, Table
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

#: How often a run may lose its worker when it is alone with it, before it counts as failed (chosen: one whose workers
#: die that often, and nobody else's, is at fault itself).
LOST_WORKERS = 10


class TimeLimitReached(RunFailed):
    """A run took longer than its time limit, and was stopped."""


class WorkerLost(RuntimeError):
    """The worker that had a parcel died; the executor itself goes on."""


class Outcome(Protocol):
    """What a run leaves."""

    @property
    def events(self) -> int:
        """Number of events that were worked off."""

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time."""

    @property
    def wall_s(self) -> float:
        """Seconds that it took."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """Its tables by name."""


#: Takes rows of a run, by its index, of a table by its name.
Rows = Callable[[int, str, Table], None]

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


@runtime_checkable
class Choosing(Protocol):
    """An executor that can choose who makes something."""

    def elsewhere(self, future: Future[Any]) -> Executor:
        """Itself without the worker that made what a future holds, while there are others."""


def engine(jobs: int | None, executor: Executor | None, time_limit_s: float | None = None) -> Engine:
    """Threads, as many as asked for, or an executor.

    Args:
        jobs: how many runs go on at a time; as many as there are processors unless given.
        executor: who makes them, in place of threads.
        time_limit_s: seconds after which a run is stopped.

    Raises:
        UsageError: it is no executor, or no time.
    """
    if time_limit_s is not None and not 0 < time_limit_s < float("inf"):
        raise UsageError(f"the time limit of a run is a number of seconds above 0, not {time_limit_s!r}")
    if executor is None:
        return Threads(jobs or os.cpu_count() or 1, time_limit_s)
    if not isinstance(executor, Executor):
        raise UsageError(f"executor: {executor!r} is not an executor of concurrent.futures")
    return Parcels(executor, jobs, time_limit_s)


# Threads --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threads:
    """Threads of this process.

    Attributes:
        at_once: how many.
        time_limit_s: seconds after which a run is stopped.
        once: whether nothing is made again.
        rows: takes the rows of traces as they come, with the index of their run and the name of their table; they are
            not in what the run leaves then. With it nothing is made again, and there is no time limit.
        series: whether runs keep coarse series of their flows and links.
    """

    at_once: int
    time_limit_s: float | None = None
    once: bool = False
    rows: Rows | None = None
    series: bool = False

    def outcomes(self, runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]) -> Outcomes:
        """As of `Engine`."""
        if self.once or self.rows:
            yield from self._made(range(len(runs)), runs, traces, heard)
            return
        late: list[int] = []
        large: list[int] = []
        for index, outcome in self._made(range(len(runs)), runs, traces, heard):
            if isinstance(outcome, TimeLimitReached):
                late.append(index)
            elif _took_too_much_memory(outcome) and not _was_not_begun(outcome):
                large.append(index)
            else:
                yield index, outcome
        yield from self._made(late, runs, traces, heard)
        for index in large:
            yield from self._made([index], runs, traces, heard)

    def _made(
        self, which: Sequence[int], runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]
    ) -> Outcomes:
        if self.time_limit_s is None:
            return self._by_batch(which, runs, traces, heard)
        return self._within_limit(self.time_limit_s, which, runs, traces, heard)

    def _by_batch(
        self, which: Sequence[int], runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]
    ) -> Outcomes:
        while which:
            not_begun: dict[int, Exception] = {}
            finished = 0
            batch = _roamsim.Batch(
                [runs[index] for index in which],
                jobs=self.at_once,
                trace=list(traces),
                heard=heard,
                rows=self._rows(which),
                series=self.series,
            )
            try:
                for place, outcome in batch:
                    if isinstance(outcome, RunFailed) and _was_not_begun(outcome):
                        not_begun[which[place]] = outcome
                    else:
                        finished += not isinstance(outcome, Exception)
                        yield which[place], outcome
            finally:
                batch.cancel()
            # The memory of those that were stopped is free when their batch is gone.
            del batch
            if not finished:
                yield from not_begun.items()
                return
            which = list(not_begun)

    def _rows(self, which: Sequence[int]) -> Rows | None:
        taker = self.rows
        return None if taker is None else lambda place, table, rows: taker(which[place], table, rows)

    def _within_limit(
        self,
        limit_s: float,
        which: Sequence[int],
        runs: Sequence[Run],
        traces: Sequence[str],
        heard: Callable[[float], None],
    ) -> Outcomes:
        left = deque(which)
        said: SimpleQueue[tuple[int, Outcome | Exception]] = SimpleQueue()
        shares: dict[int, float] = {}
        closed = Event()

        def work() -> None:
            while not closed.is_set():
                try:
                    index = left.popleft()
                except IndexError:
                    return

                def look(share: float, index: int = index) -> None:
                    shares[index] = share
                    if closed.is_set():
                        raise RunFailed("it was stopped")

                try:
                    outcome: Outcome | Exception = _run(*runs[index], traces, limit_s, look)
                except Exception as error:
                    outcome = error
                shares.pop(index, None)
                said.put((index, outcome))

        many = min(self.at_once, len(which), MOST_THREADS)
        with ThreadPoolExecutor(many or 1) as threads:
            try:
                for _ in range(many):
                    threads.submit(work)
                for _ in which:
                    while True:
                        try:
                            one = said.get(timeout=HEARD_EVERY_S)
                            break
                        except Empty:
                            heard(sum(list(shares.values())))
                    yield one
            finally:
                closed.set()


#: What no number of threads exceeds, as in the compiled part (chosen: more than processors of one machine).
MOST_THREADS = 256


# The compiled part tells these by its words alone.
def _took_too_much_memory(outcome: object) -> bool:
    return isinstance(outcome, RunFailed) and "too much memory" in str(outcome)


def _was_not_begun(outcome: object) -> bool:
    return isinstance(outcome, RunFailed) and str(outcome).startswith("it was not begun")


def _run(
    scenario: Scenario,
    seed: int,
    replication: int,
    traces: Sequence[str],
    limit_s: float | None,
    heard: Callable[[float], None] | None = None,
) -> _roamsim.Result:
    """One run, which is looked at every 50 ms, and stopped at its time limit.

    Raises:
        TimeLimitReached: it took longer.
        RunFailed: it failed.
    """
    begun_s = time.monotonic()

    def look(share: float) -> None:
        if heard is not None:
            heard(share)
        if limit_s is not None and time.monotonic() - begun_s > limit_s:
            raise TimeLimitReached(
                f"it was stopped at the time limit of {limit_s:g} s, after {share * scenario.duration_s:.6g} of its "
                f"{scenario.duration_s:g} s of simulated time"
            )

    return _roamsim.run(scenario, seed=seed, replication=replication, trace=list(traces), heard=look)


# An executor ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parcels:
    """An executor, which makes parcels of runs.

    Attributes:
        executor: who makes them; it stays open.
        jobs: how many work for it; what it says itself, as an attribute `workers`, or as many as this machine has
            processors, unless given.
        time_limit_s: seconds after which a worker stops a run.
    """

    executor: Executor
    jobs: int | None = None
    time_limit_s: float | None = None

    @property
    def at_once(self) -> int:
        """Where an executor works, and on how many at a time, it does not say."""
        return 1

    @property
    def under_way(self) -> int:
        """Parcels that the executor has at a time."""
        return PARCELS_EACH * (self.jobs or getattr(self.executor, "workers", 0) or os.cpu_count() or 1)

    def outcomes(self, runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]) -> Outcomes:
        """As of `Engine`; runs at work cannot be stopped, but no further parcel is begun."""
        begun, per_parcel, spent_s, made = 0, 1, 0.0, 0
        futures: dict[Future[list[Made | Failed]], range] = {}
        # Runs that are made alone, and by whom: those that failed once, and those whose worker was lost.
        again: deque[tuple[int, Executor]] = deque()
        failed: set[int] = set()
        lost: Counter[int] = Counter()
        try:
            while begun < len(runs) or again or futures:
                under_way = self.under_way
                while (begun < len(runs) or again) and len(futures) < under_way:
                    executor, indices = self.executor, range(0)
                    if begun < len(runs):
                        # The last parcels are small, so that all end at about the same time.
                        count = max(1, min(per_parcel, (len(runs) - begun) // under_way))
                        indices = range(begun, begun + count)
                        begun += count
                    else:
                        index, executor = again.popleft()
                        indices = range(index, index + 1)
                    futures[self._begin(executor, [runs[index] for index in indices], traces)] = indices
                finished, _ = wait(futures, HEARD_EVERY_S, FIRST_COMPLETED)
                # How far those at work are, they do not say.
                heard(0.0)
                # In the order in which they were begun: of several that failed the first is told.
                for future in [one for one in futures if one in finished]:
                    indices = futures.pop(future)
                    left = _left(future)
                    if left is None:
                        # Which run of a parcel takes its workers with it shows when each is alone.
                        lost.update(indices if len(indices) == 1 else ())
                        for index in indices:
                            if lost[index] > LOST_WORKERS:
                                yield index, RunFailed(f"the workers that made it died, {lost[index]} times")
                            else:
                                again.append((index, self.executor))
                        continue
                    for index, outcome in zip(indices, left, strict=True):
                        if isinstance(outcome, Made):
                            spent_s, made = spent_s + outcome.wall_s, made + 1
                            yield index, outcome
                        elif index in failed:
                            yield index, RunFailed(outcome.why)
                        else:
                            failed.add(index)
                            choosing = self.executor if isinstance(self.executor, Choosing) else None
                            again.append((index, choosing.elsewhere(future) if choosing else self.executor))
                per_parcel = min(PARCEL_RUNS, max(1, int(PARCEL_S * made / spent_s))) if spent_s else PARCEL_RUNS
        finally:
            for future in futures:
                future.cancel()

    def _begin(self, executor: Executor, runs: Sequence[Run], traces: Sequence[str]) -> Future[list[Made | Failed]]:
        texts = [(scenario.name, scenario.canonical, seed, replication) for scenario, seed, replication in runs]
        try:
            return executor.submit(make_parcel, _roamsim.build(), texts, list(traces), self.time_limit_s)
        except UsageError:
            raise
        except Exception as error:
            raise _executor_failed(error) from error


def _left(future: Future[list[Made | Failed]]) -> list[Made | Failed] | None:
    """What a parcel leaves; nothing where its worker died."""
    try:
        return future.result()
    except WorkerLost:
        return None
    except UsageError:
        raise
    except Exception as error:
        raise _executor_failed(error) from error


def _executor_failed(error: Exception) -> RunFailed:
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
    tables: Mapping[str, Table]


@dataclass(frozen=True)
class Failed:
    """Why a run failed, as it comes back from a worker."""

    why: str


def make_parcel(
    build: str, runs: Sequence[tuple[str, str, int, int]], traces: Sequence[str], time_limit_s: float | None
) -> list[Made | Failed]:
    """Makes runs, in a worker; of those that failed, why.

    Args:
        build: of who asks; runs of two builds do not belong into one table.
        runs: name and canonical text of the scenario, seed, and replication.
        traces: what is recorded.
        time_limit_s: seconds after which a run is stopped.

    Raises:
        UsageError: the worker has another build.
    """
    if _roamsim.build() != build:
        import platform

        raise UsageError(
            f"the worker on {platform.node() or 'a machine without a name'} has another build of Roamsim "
            f"({_roamsim.version()}, sources {_roamsim.build()[:12]}) than this one ({build[:12]}); install the same"
        )
    return [
        _make(_scenario(name, text), seed, replication, traces, time_limit_s)
        for name, text, seed, replication in runs
    ]


def _make(
    scenario: Scenario, seed: int, replication: int, traces: Sequence[str], time_limit_s: float | None
) -> Made | Failed:
    begun_s = time.monotonic()
    try:
        result = _run(scenario, seed, replication, traces, time_limit_s)
    except RunFailed as error:
        return Failed(str(error))
    return Made(result.events, result.cpu_s, time.monotonic() - begun_s, result.tables)


@lru_cache(maxsize=64)
def _scenario(name: str, text: str) -> Scenario:
    return Scenario.parse(text, name=name, format="json")
