"""Fixtures of the end-to-end tests, and the rule for tests that need another program.

A test marked `@pytest.mark.needs("tshark")` is left out where the program is missing, and the end of the run says so
loudly. With ROAMSIM_REQUIRE_TOOLS=1, as in continuous integration, any test that is left out fails.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import polars
import pytest
import served
import small_study
from roamsim._roamsim import Table

ROOT = Path(__file__).parent.parent

# Bulk TCP over a lossy path and acknowledged indications; small, so that a run takes milliseconds.
SCENARIO = """
[scenario]
name = "Both kinds of traffic"
duration = "10s"

[[node]]
name = "server"
[[node]]
name = "phone"

[[link]]
name = "path"
between = ["server", "phone"]
rate = "2Mb/s"
delay = "20ms"
queue = { packets = 20 }
loss = { model = "bernoulli", probability = 0.02 }

[[flow]]
name = "download"
from = "server"
to = "phone"
transport = { protocol = "tcp", variant = "newreno", mss = "1000B" }
application = { kind = "bulk", start = "0s" }

[[signalling]]
name = "indications"
kind = "indication"
from = "phone"
to = "server"
transport = { protocol = "udp" }
message_size = "200B"
interval = "500ms"
acknowledgement = { timeout = "300ms", retransmissions = 2, mode = "separate", validity = "acked" }
start = "1s"
stop = "8s"
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def environment() -> dict[str, str]:
    """The environment of a command: this Python's programs first, no colours, a fixed width.

    Compiled modules are kept, whatever is usual on the machine: hundreds of commands would compile the package anew.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return usual | {"PATH": path, "NO_COLOR": "1", "COLUMNS": "120", "TERM": "dumb"}


class Server:
    """A server of commands (`served.py`), begun when it is first needed; it ends with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> str:
        """The path of its socket."""
        if self._process is None or self._process.poll() is not None:
            # Not in a test's folder: a socket's path has room for some hundred characters.
            self._folder = tempfile.TemporaryDirectory(prefix="roamsim-")
            command = [sys.executable, served.__file__, f"{self._folder.name}/socket"]
            self._process = subprocess.Popen(command, stdin=-1, stdout=-1, env=environment())
            assert self._process.stdout
            assert self._process.stdout.readline() == b"ready\n"
        return f"{self._folder.name}/socket"

    def environment(self) -> dict[str, str]:
        """That of a command, in which the program `roamsim` has the server fork the command."""
        ask = shlex.join([sys.executable, "-IS", served.__file__, self.socket, "--"])
        program = Path(self._folder.name) / "programs" / "roamsim"
        if not program.exists():
            program.parent.mkdir()
            program.write_text(f'#!/bin/sh\nexec {ask} "$@"\n')
            program.chmod(0o755)
        usual = environment()
        return usual | {"PATH": f"{program.parent}{os.pathsep}{usual['PATH']}"}


# Two in turn, so that sets and dictionaries of words that a test's second command makes are in another order.
SERVERS = itertools.cycle((Server(), Server()))


def module_of(file: Path) -> ModuleType:
    """A program that belongs to no package, as a module."""
    spec = importlib.util.spec_from_file_location(f"program_{file.stem}", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def read_whole(end: int) -> str:
    """What comes out of a pipe."""
    with open(end, encoding="utf-8") as pipe:
        return pipe.read()


def run_command(
    *arguments: str | Path, cwd: Path, stdin: str = "", largest_file_bytes: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder, in a process of its own that a server has forked.

    Args:
        arguments: what follows `roamsim`.
        cwd: the folder.
        stdin: what it reads; nothing else.
        largest_file_bytes: as on a full disk, writing fails where a file would grow beyond it.
    """
    words = list(map(str, arguments))
    (out, out_end), (errors, errors_end) = os.pipe(), os.pipe()
    with tempfile.TemporaryFile() as given, ThreadPoolExecutor(2) as readers:
        told = [readers.submit(read_whole, end) for end in (out, errors)]
        process = None
        try:
            given.write(stdin.encode())
            given.seek(0)
            streams = [given.fileno(), out_end, errors_end]
            try:
                asked = served.ask(next(SERVERS).socket, words, str(cwd), environment(), streams, largest_file_bytes)
            finally:
                # Who reads them hears of their end when the command, which has them too, has ended.
                os.close(out_end)
                os.close(errors_end)
            with asked:
                asked.settimeout(120)
                process = served.number(asked)
                code = served.number(asked)
        except BaseException:
            if process is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(words, code, *(each.result() for each in told))


_begun: list[subprocess.Popen[str]] = []


def begin(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Starts the command with a pipe for stderr and goes on; when the test is over, it is killed if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "roamsim", *map(str, arguments)],
        **{"env": environment(), "stderr": subprocess.PIPE, "text": True} | options,
    )
    _begun.append(process)
    return process


def simulated(frame: polars.DataFrame) -> Table:
    """A table as the simulator gives it."""
    kinds = {polars.UInt64: "Q", polars.Int64: "q", polars.Float64: "d"}
    return Table(
        {
            column.name: column.to_list()
            if column.dtype == polars.String
            else array(
                kinds[type(column.dtype)], column.fill_null(float("nan")) if column.dtype.is_float() else column
            )
            for column in frame
        }
    )


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Kills what `begin` started, however the test ended."""
    yield
    for process in _begun:
        process.kill()
        process.wait()
    _begun.clear()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a study of a few short runs."""
    folder = tmp_path / "studies" / "small"
    folder.mkdir(parents=True)
    for name, text in small_study.FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario file in a folder of its own."""
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture
def roamsim(tmp_path: Path) -> Command:
    """Runs the command in the test's folder; the exit code must be as expected, and no traceback may appear."""

    def run(*arguments: str | Path, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        done = run_command(*arguments, cwd=tmp_path, stdin=stdin)
        assert "Traceback" not in done.stderr, done.stderr
        assert "panicked" not in done.stderr, done.stderr
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "needs(program): the test is left out where the program or library is not installed"
    )


#: Modules that take longest. They go first: at the end a worker would be left with one, and the others with nothing.
LONGEST = {
    "test_documentation.py", "test_fuzz_results.py", "test_large.py", "test_mih_transport.py", "test_notebook.py",
    "test_sctp_mobile_ip.py",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if program == "tun" and (lacking := lacks_tun()):
                pytest.skip(f"this machine lets nobody make TUN devices in namespaces: {lacking}")
            is_there = has_library if program.startswith("lib") else shutil.which
            if program != "tun" and not is_there(program):
                pytest.skip(f"{program} is not installed")


@functools.cache
def has_library(name: str) -> bool:
    """Whether a shared library can be loaded."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


@functools.cache
def lacks_tun() -> str:
    """Why `roamsim live` cannot work here; empty where it can."""
    from roamsim.live.namespaces import Namespaces, NoNamespaces, Program

    try:
        Namespaces([Program("a", "a", ["true"], ["10.0.0.1"], 1500)], "", is_v4=True).close()
    except NoNamespaces as error:
        return str(error)
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("ROAMSIM_REQUIRE_TOOLS") == "1":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was left out, which ROAMSIM_REQUIRE_TOOLS=1 forbids: {reason}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = terminalreporter.stats.get("skipped", [])
    if left_out:
        terminalreporter.write_sep("!", f"{len(left_out)} TESTS WERE LEFT OUT", red=True, bold=True)
        for report in left_out:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            terminalreporter.write_line(f"{report.nodeid}: {reason}", red=True)
        terminalreporter.write_line("Install what is missing to run them; ROAMSIM_REQUIRE_TOOLS=1 makes it an error.")
