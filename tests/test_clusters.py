"""Campaigns on clusters of Dask, with real processes that are killed: what comes out is what threads make."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import distributed
import psutil
import pytest
import roamsim as package
from conftest import ROOT, SCENARIO, Command, begin
from distributed.security import Security
from roamsim.errors import UsageError
from roamsim.running import clusters
from roamsim.running.engines import Choosing, WorkerLost

DELAYS = "link.path.delay=10ms:40ms:10ms"
#: Runs long enough that killing falls among them: some four seconds of processor time in all.
REPLICATIONS = 50
SETTINGS = {"scenario.duration": "3600s"}


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


def changed(folder: Path) -> float:
    """When something was last written there."""
    return folder.stat().st_mtime if folder.exists() else 0.0


def working(driver: int) -> list[psutil.Process]:
    """The worker processes of a driver."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(driver).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(child.cmdline()):
                    found.append(child)
    return found


def test_workers_may_be_killed_again_and_again(scenario: Path, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    driver = begin(*sweep(scenario, out, "--on", "dask", "--jobs", "2"), cwd=tmp_path)
    killed, parts = 0, 0.0
    until = time.monotonic() + 300
    while driver.poll() is None:
        assert time.monotonic() < until, f"the sweep waits, after {killed} workers were killed"
        time.sleep(0.2)
        # Each death is one of somebody who works: where processes begin slowly, none would ever come to it.
        written = changed(out / "parts")
        workers = working(driver.pid)
        if killed < 6 and written > parts and workers:
            workers[killed % len(workers)].kill()
            killed, parts = killed + 1, written
    _, told = driver.communicate(timeout=120)
    assert driver.returncode == 0, told
    assert killed
    assert octets(out) == undisturbed
    # Each run was made once, and none of the restarts is told of.
    assert told.splitlines() == [f"4 points, {4 * REPLICATIONS} runs; next: roamsim report {out}"]


def test_a_driver_that_is_killed_goes_on_in_its_folder(
    scenario: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    driver = begin(*sweep(scenario, out, "--on", "dask", "--jobs", "2"), cwd=tmp_path)
    wait_for("a part", lambda: any((out / "parts").glob("[!.]*.zip")) or driver.poll() is not None)
    children = psutil.Process(driver.pid).children(recursive=True)
    driver.kill()
    driver.wait()
    # Its workers end without it.
    _, left = psutil.wait_procs(children, timeout=60)
    assert not left
    again = by_threads(scenario, out)
    assert 0 < again.made < 4 * REPLICATIONS
    assert octets(out) == undisturbed


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
    wait_for("a part", lambda: any((out / "parts").glob("[!.]*.zip")) or driver.poll() is not None)
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
    with clusters.cluster("tcp://127.0.0.1:9") as executor:
        assert executor is not None
        with pytest.raises(UsageError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
            executor.submit(len, ())


def test_no_scheduler_of_the_documentation_listens_everywhere() -> None:
    page = (ROOT / "docs/how-to/many-machines.md").read_text()
    schedulers = re.findall(r"dask,? scheduler\b.*", page)
    assert len(schedulers) == 2
    for line in schedulers:
        assert "--host" in line
        assert "0.0.0.0" not in line


def test_certificates_that_are_missing_are_told() -> None:
    import dask

    at = "tls://127.0.0.1:9"
    with clusters.cluster(at) as executor, pytest.raises(UsageError, match=r"wants a certificate.*tls\.ca-file"):
        assert executor is not None
        executor.submit(len, ())
    named = {"distributed.comm.tls.ca-file": "/nowhere.pem", "distributed.comm.tls.client.cert": "/nowhere.pem"}
    with (
        dask.config.set(named),
        clusters.cluster(at) as executor,
        pytest.raises(UsageError, match=r"certificates in Dask's configuration cannot be read: .*No such file"),
    ):
        assert executor is not None
        executor.submit(len, ())


def test_nobody_is_asked_before_there_is_something_to_make(scenario: Path, tmp_path: Path, roamsim: Command) -> None:
    nobody = ("--on", "tcp://127.0.0.1:9")
    many = ("--vary", "link.path.delay=10ms,20ms", "--out", tmp_path / "out")
    refused = roamsim(
        "sweep", scenario, "--vary", "link.path.delay=10ms,2", "--out", tmp_path / "out", *nobody, code=3
    )
    assert "scheduler" not in refused.stderr
    refused = roamsim("compare", scenario, "--vary", "link.path.delay=10ms", *nobody, code=2)
    assert "a comparison needs two or more" in refused.stderr
    refused = roamsim("study", "run", "nothing", *nobody, code=2)
    assert "scheduler" not in refused.stderr
    # What is finished needs nobody either.
    roamsim("sweep", scenario, *many)
    assert "2 of them were there already" in roamsim("sweep", scenario, *many, *nobody).stderr


def listening(process: psutil.Process) -> list[tuple[str, int]]:
    """The addresses and ports at which a process and its children take connections by TCP."""
    family = [process, *process.children(recursive=True)]
    return [
        (end.laddr.ip, end.laddr.port)
        for member in family
        for end in member.net_connections("inet")
        if end.status == psutil.CONN_LISTEN
    ]


def taken_in(port: int, context: ssl.SSLContext | None) -> bool:
    """Whether somebody at a port says something to who has no certificate, beyond that it wants one."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        try:
            with contextlib.ExitStack() as open_things:
                wrapped = plain if context is None else open_things.enter_context(context.wrap_socket(plain))
                wrapped.sendall(b"GET / HTTP/1.0\r\n\r\n")
                told = wrapped.recv(100)
        except OSError:
            return False
        # To what is no TLS, an alert of TLS is the answer: content type 21.
        return bool(told) and told[0] != 21


def test_a_cluster_of_this_machine_obeys_its_caller_alone() -> None:
    before = set(listening(psutil.Process()))
    with clusters.cluster("dask", 2) as executor:
        assert isinstance(executor, clusters._OnDask)
        assert executor.submit(len, "abc").result(60) == 3
        there = set(listening(psutil.Process())) - before
        # A scheduler, two workers, and who watches over each: nothing for browsers.
        assert len(there) == 5
        assert {address for address, _ in there} == {"127.0.0.1"}
        assert 8787 not in {port for _, port in there}
        anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
        for _, port in there:
            assert not taken_in(port, None)
            assert not taken_in(port, anyone)
        at = executor.client.scheduler.address
        assert at.startswith("tls://127.0.0.1:")
        others = [(at.replace("tls:", "tcp:"), None), (at, Security()), (at, Security.temporary())]
        for address, security in others:
            with pytest.raises((OSError, ValueError, TypeError)), ExitStack() as open_things:
                open_things.enter_context(distributed.Client(address, security=security, timeout="2s"))
        assert executor.submit(len, "abcd").result(60) == 4
    assert set(listening(psutil.Process())) <= before


def test_what_failed_on_one_worker_goes_to_another() -> None:
    with clusters.cluster("dask", 2) as executor:
        assert isinstance(executor, Choosing)
        first = executor.submit(os.getpid)
        one = first.result(60)
        others = {executor.elsewhere(first).submit(os.getpid).result(60) for _ in range(3)}
    assert len(others) == 1
    assert one not in others


def test_a_task_that_takes_its_workers_with_it_is_given_back_and_the_cluster_goes_on() -> None:
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), clusters.cluster("dask", 1) as executor:
        assert executor is not None
        with pytest.raises(WorkerLost):
            executor.submit(os._exit, 1).result(60)
        assert executor.submit(len, "abc").result(60) == 3


def test_a_worker_that_is_lost_for_good_is_begun_anew() -> None:
    import dask

    settings = {"distributed.deploy.lost-worker-timeout": "1s", "distributed.scheduler.allowed-failures": 99}
    with dask.config.set(settings), clusters.cluster("dask", 1) as executor:
        assert executor is not None
        executor.submit(len, "ab").result(60)
        # Killed as often as it begins, for longer than the cluster waits for it.
        until = time.monotonic() + 5
        while time.monotonic() < until:
            for worker in working(os.getpid()):
                with contextlib.suppress(psutil.NoSuchProcess):
                    worker.kill()
            time.sleep(0.1)
        assert executor.submit(len, "abc").result(45) == 3


def test_runs_that_hang_are_stopped_by_their_worker(scenario: Path, tmp_path: Path, roamsim: Command) -> None:
    many = ("--vary", "scenario.duration=10s,100000000s", "--replications", "3", "--out")
    whole = roamsim("sweep", scenario, "--vary", "scenario.duration=10s", "--replications", "3", "--out", "whole")
    assert whole.returncode == 0
    told = roamsim("sweep", scenario, *many, "out", "--time-limit", "500ms", "--on", "dask", "--jobs", "2", code=1)
    assert "3 of 6 runs failed; what is finished is kept" in told.stderr
    for replication in range(3):
        place = f"scenario.duration=100000000s, replication {replication}, seed 1: it was stopped at the time limit"
        assert told.stderr.count(place) == 1
    found, wanted = (package.open_results(tmp_path / name).flows for name in ("out", "whole"))
    assert found.drop("point").equals(wanted.drop("point"))


@pytest.mark.parametrize("missing", ["distributed", "cryptography"])
def test_without_dask_the_line_that_installs_it_is_told(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=r"pip install 'roamsim\[dask\]'"), clusters.cluster("dask"):
        pass
