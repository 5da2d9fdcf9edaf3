"""Campaigns on clusters of Dask, with real processes that are killed: what comes out is what threads make."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import roamsim as package
from conftest import SCENARIO, begin
from roamsim.errors import UsageError
from roamsim.running import clusters

DELAYS = "link.path.delay=10ms:40ms:10ms"
#: Runs long enough that killing falls among them: some ten seconds of processor time in all.
REPLICATIONS = 50
SETTINGS = {"scenario.duration": "900s"}


def octets(folder: Path) -> dict[str, bytes]:
    """The tables of a folder."""
    return {table.name: table.read_bytes() for table in folder.glob("*.parquet")}


def sweep(scenario: Path, out: Path, *more: str) -> list[str]:
    settings = [word for path, value in SETTINGS.items() for word in ("--set", f"{path}={value}")]
    many = ["--vary", DELAYS, "--replications", f"{REPLICATIONS}"]
    return ["sweep", str(scenario), *many, *settings, "--out", str(out), *more]


def by_threads(scenario: Path, out: Path) -> package.SweepResult:
    vary = {"link.path.delay": "10ms:40ms:10ms"}
    return package.sweep(scenario, vary, set=SETTINGS, replications=REPLICATIONS, out=out)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the tables should be."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "scenario.toml").write_text(SCENARIO)
    by_threads(folder / "scenario.toml", folder / "out")
    return octets(folder / "out")


def wait_for(what: str, there: object) -> None:
    """Waits until a function says so."""
    assert callable(there)
    until = time.monotonic() + 60
    while not there():
        assert time.monotonic() < until, f"{what} did not come within a minute"
        time.sleep(0.05)


def test_workers_may_be_killed_again_and_again(scenario: Path, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    driver = begin(*sweep(scenario, out, "--on", "dask", "--jobs", "2"), cwd=tmp_path)
    killed = 0
    while driver.poll() is None:
        time.sleep(1.0)
        try:
            children = psutil.Process(driver.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            break
        workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
        if workers and (out / "parts").exists():
            workers[killed % len(workers)].kill()
            killed += 1
    _, told = driver.communicate(timeout=120)
    assert driver.returncode == 0, told
    assert killed
    assert octets(out) == undisturbed
    # Each run was made once, and none of the restarts is told of.
    assert told.splitlines() == [f"4 points, {4 * REPLICATIONS} runs; next: roamsim report {out}"]


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler with one worker, as processes of their own, and its address."""
    file = tmp_path / "scheduler.json"
    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    dask = [sys.executable, "-m", "dask"]
    at = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    first = subprocess.Popen([*dask, "scheduler", *at], **common)  # type: ignore[call-overload]
    wait_for("the scheduler", lambda: file.exists() and file.read_text().rstrip().endswith("}"))
    address = json.loads(file.read_text())["address"]
    own = ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
    worker = subprocess.Popen([*dask, "worker", address, *own], **common)  # type: ignore[call-overload]
    yield first, address
    for process in (worker, first):
        process.kill()
        process.wait()


def test_a_scheduler_that_is_killed_costs_no_finished_run(
    scenario: Path,
    tmp_path: Path,
    scheduler: tuple[subprocess.Popen[bytes], str],
    undisturbed: dict[str, bytes],
) -> None:
    process, address = scheduler
    out = tmp_path / "out"
    driver = begin(*sweep(scenario, out, "--on", address), cwd=tmp_path)
    wait_for("a part", lambda: any((out / "parts").glob("*.zip")) or driver.poll() is not None)
    process.send_signal(signal.SIGKILL)
    begun = time.monotonic()
    _, told = driver.communicate(timeout=60)
    assert time.monotonic() - begun < 60
    assert driver.returncode == 1, told
    assert "the executor failed" in told
    assert "what was finished is kept" in told
    assert "Traceback" not in told
    again = by_threads(scenario, out)
    assert 0 < again.made < 4 * REPLICATIONS
    assert octets(out) == undisturbed


@pytest.mark.parametrize(
    "where", ["spark", "tcp://", "tcp://host", "http://host:80", "tcp://host:port", "tcp://host:99999", "tcp://[::1"]
)
def test_what_is_no_cluster_is_refused(where: str) -> None:
    with (
        pytest.raises(UsageError, match=r"--on takes `dask`.*or the address of a scheduler"),
        clusters.cluster(where),
    ):
        pass


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "ANSWER_S", 1)
    with (
        pytest.raises(UsageError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
        clusters.cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_without_dask_the_line_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'roamsim\[dask\]'"), clusters.cluster("dask"):
        pass
