"""Runs by an executor of `concurrent.futures`: the same results as by threads, and clear words where it fails."""

from __future__ import annotations

import multiprocessing
import os
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
    executor = Altered(lambda make, _build, runs, traces: make("0123456789abcdef", runs, traces))
    with pytest.raises(
        UsageError, match=r"the worker on \S+ has another build of Roamsim .*than this one \(0123456789ab"
    ):
        package.sweep(scenario, VARY, executor=executor)


def test_a_run_that_fails_is_named(scenario: Path) -> None:
    executor = Altered(lambda _make, _build, runs, _traces: ["packets were lost from the account"] * len(runs))
    words = r"link.path.delay=10ms, replication 0, seed 1: packets were lost from the account"
    with pytest.raises(RunFailed, match=words):
        package.sweep(scenario, VARY, executor=executor)


def test_what_is_no_executor_is_refused(scenario: Path) -> None:
    with pytest.raises(UsageError, match=r"is no executor of concurrent\.futures"):
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
