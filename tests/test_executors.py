"""Runs by an executor of `concurrent.futures`: the same results as by threads, and clear words where it fails."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import roamsim as package
from conftest import ROOT
from roamsim import study
from roamsim._roamsim import RunFailed
from roamsim.errors import UsageError
from roamsim.running.engines import LOST_WORKERS, Failed, Made, WorkerLost

VARY = {"link.path.delay": "10ms:40ms:10ms"}


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that share nothing with this one."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


def octets(folder: Path) -> dict[str, bytes]:
    """The tables of a folder."""
    return {table.name: table.read_bytes() for table in folder.glob("*.parquet")}


def test_processes_make_what_threads_make(scenario: Path, tmp_path: Path, processes: Executor) -> None:
    for out, executor in (("threads", None), ("processes", processes)):
        package.sweep(scenario, VARY, replications=20, trace="queue", out=tmp_path / out, executor=executor)
    assert octets(tmp_path / "processes") == octets(tmp_path / "threads")
    assert "samples.parquet" in octets(tmp_path / "threads")


def test_a_comparison_and_a_precision_are_the_same(scenario: Path, processes: Executor) -> None:
    words, replications = [], []
    for executor in (None, processes):
        compared = package.compare(
            scenario, {"link.path.delay": "10ms,20ms"}, precision="2%", max_replications=12, executor=executor
        )
        words.append(compared.to_json())
        replications.append([point.replications for point in compared.results.manifest.points])
    assert words[0] == words[1]
    assert replications[0] == replications[1]


def test_a_worker_needs_no_file_that_a_scenario_names(tmp_path: Path, processes: Executor) -> None:
    file = ROOT / "examples" / "cellular-trace.toml"
    settings = {"scenario.duration": "3s"}
    found = [
        package.sweep(file, {"scenario.ip": ["ipv4"]}, set=settings, out=tmp_path / out, executor=executor)
        for out, executor in (("threads", None), ("processes", processes))
    ]
    assert found[0].flows.equals(found[1].flows)
    assert octets(tmp_path / "processes") == octets(tmp_path / "threads")


def test_a_study_is_the_same(small: Path, tmp_path: Path, processes: Executor) -> None:
    outcomes = [
        study.run(small, level="quick", out=tmp_path / out, executor=executor)
        for out, executor in (("threads", None), ("processes", processes))
    ]
    assert outcomes[0].statements == outcomes[1].statements
    assert outcomes[0].effort.made == outcomes[1].effort.made
    assert outcomes[0].effort.events == outcomes[1].effort.events


class Altered(Executor):
    """Makes parcels here and now, after something has been done to what it was given."""

    def __init__(self, alter: Callable[..., list[Any]]) -> None:
        self.alter = alter

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(self.alter(fn, *arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_worker_of_another_build_is_refused_by_name(scenario: Path) -> None:
    executor = Altered(lambda make, _build, *rest: make("0123456789abcdef", *rest))
    with pytest.raises(
        UsageError, match=r"the worker on \S+ has another build of Roamsim .*than this one \(0123456789ab"
    ):
        package.sweep(scenario, VARY, executor=executor)


def test_a_run_that_fails_is_named(scenario: Path) -> None:
    executor = Altered(lambda _make, _build, runs, *_: [Failed("packets were lost from the account")] * len(runs))
    words = r"link.path.delay=10ms, replication 0, seed 1: packets were lost from the account"
    with pytest.raises(RunFailed, match=words):
        package.sweep(scenario, VARY, executor=executor)


class Altering(Executor):
    """Makes parcels here and now, and alters what one replication leaves."""

    def __init__(self, replication: int, alter: Callable[[Made], Made | Failed]) -> None:
        self.replication, self.alter = replication, alter
        #: The sizes of the parcels in which it met that replication.
        self.met = list[int]()

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        _, runs, *_ = arguments
        try:
            made = fn(*arguments)
            for index, (_, _, _, replication) in enumerate(runs):
                if replication == self.replication:
                    self.met.append(len(runs))
                    made[index] = self.alter(made[index])
            future.set_result(made)
        except Exception as error:
            future.set_exception(error)
        return future


def lost(_: Made) -> Made:
    raise WorkerLost("its worker died")


@pytest.mark.parametrize(
    ("alter", "words", "times"),
    [
        (lambda _: Failed("packets were lost from the account"), "packets were lost from the account", 2),
        (lost, f"the workers that made it died, {LOST_WORKERS + 1} times", LOST_WORKERS + 1),
    ],
)
def test_a_run_that_fails_everywhere_is_told_once_and_the_rest_is_made(
    scenario: Path, tmp_path: Path, alter: Callable[[Made], Made | Failed], words: str, times: int
) -> None:
    executor = Altering(17, alter)
    with pytest.raises(RunFailed) as told:
        package.sweep(scenario, {}, replications=20, jobs=1, out=tmp_path / "out", executor=executor)
    # In a parcel with others it is only suspected.
    assert len([size for size in executor.met if size == 1 or times == 2]) == times
    assert str(told.value).splitlines() == [
        "1 of 20 runs failed; what is finished is kept, and the same call makes only the failed ones again:",
        f'  "Both kinds of traffic", replication 17, seed 1: {words}',
    ]
    again = package.sweep(scenario, {}, replications=20, out=tmp_path / "out")
    package.sweep(scenario, {}, replications=20, out=tmp_path / "whole")
    assert again.made == 1
    assert octets(tmp_path / "out") == octets(tmp_path / "whole")


@pytest.mark.parametrize("fault", [lambda _: Failed("there was not enough memory"), lost])
def test_what_succeeds_the_second_time_has_not_failed(
    scenario: Path, tmp_path: Path, fault: Callable[[Made], Made | Failed]
) -> None:
    faults = iter([fault])
    executor = Altering(17, lambda made: next(faults, lambda made: made)(made))
    made = package.sweep(scenario, {}, replications=20, out=tmp_path / "out", executor=executor)
    package.sweep(scenario, {}, replications=20, out=tmp_path / "whole")
    assert (made.made, len(executor.met)) == (20, 2)
    assert octets(tmp_path / "out") == octets(tmp_path / "whole")


HANGING = {"scenario.duration": "10s,100000000s"}


@pytest.mark.parametrize("by", ["threads", "processes"])
def test_a_run_that_hangs_is_stopped_at_its_time_limit(
    scenario: Path, tmp_path: Path, processes: Executor, by: str
) -> None:
    executor = processes if by == "processes" else None
    begun_s = time.monotonic()
    with pytest.raises(RunFailed) as told:
        package.sweep(
            scenario, HANGING, replications=2, out=tmp_path / by, executor=executor, time_limit_s=0.5, jobs=2
        )
    first, *failures = str(told.value).splitlines()
    assert first.startswith("2 of 4 runs failed")
    for replication, line in enumerate(failures):
        place = f'"Both kinds of traffic", scenario.duration=100000000s, replication {replication}, seed 1: '
        assert line.strip().startswith(f"{place}it was stopped at the time limit of 0.5 s, after ")
    assert len(failures) == 2
    # Each was made twice.
    assert time.monotonic() - begun_s > 2 * 0.5
    found = package.open_results(tmp_path / by).flows.drop("point")
    assert found.equals(package.sweep(scenario, {"scenario.duration": "10s"}, replications=2).flows.drop("point"))


def test_a_time_limit_that_is_not_reached_changes_nothing(scenario: Path, tmp_path: Path) -> None:
    for out, limit_s in (("without", None), ("within", 60)):
        package.sweep(scenario, VARY, replications=5, trace="queue", out=tmp_path / out, time_limit_s=limit_s)
    assert octets(tmp_path / "within") == octets(tmp_path / "without")


@pytest.mark.parametrize("limit_s", [0, -1, float("inf"), float("nan")])
def test_what_is_no_time_limit_is_refused(scenario: Path, limit_s: float) -> None:
    with pytest.raises(UsageError, match="the time limit of a run is a number of seconds above 0"):
        package.sweep(scenario, VARY, time_limit_s=limit_s)


def test_a_precision_is_judged_at_the_points_that_have_no_failure(scenario: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r"5 of \d+ runs failed"):
        package.sweep(
            scenario,
            HANGING,
            precision="flows.goodput_bps=0.1%",
            max_replications=7,
            out=tmp_path / "out",
            time_limit_s=0.2,
        )
    assert [point.replications for point in package.open_results(tmp_path / "out").manifest.points] == [7, 5]


def test_a_study_goes_on_after_a_failure(small: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r"4 of 8 runs failed.*\n  \".*\", experiment \w+ at .*replication 1, seed"):
        study.run(small, level="quick", out=tmp_path / "out", executor=Altering(1, lambda _: Failed("no reason")))


def test_what_is_no_executor_is_refused(scenario: Path) -> None:
    with pytest.raises(UsageError, match=r"is not an executor of concurrent\.futures"):
        package.sweep(scenario, VARY, executor="dask")  # type: ignore[arg-type]


class Dying(ProcessPoolExecutor):
    """Its worker dies with the third parcel."""

    parcels = 0

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.parcels += 1
        return super().submit(os._exit, 1) if self.parcels == 3 else super().submit(fn, *arguments, **named)


def test_a_worker_that_dies_costs_no_finished_run(scenario: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with Dying(1, context) as executor, pytest.raises(RunFailed, match="the executor failed: BrokenProcessPool"):
        package.sweep(scenario, VARY, replications=5, out=tmp_path / "out", executor=executor)
    kept = package.open_results(tmp_path / "out").flows["replication"].len()
    again = package.sweep(scenario, VARY, replications=5, out=tmp_path / "out")
    package.sweep(scenario, VARY, replications=5, out=tmp_path / "whole")
    assert 0 < again.made < 20
    assert kept == (20 - again.made) * again.flows.height // 20
    assert octets(tmp_path / "out") == octets(tmp_path / "whole")
