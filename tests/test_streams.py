"""The command with streams that are closed, full, or of another encoding, and with Ctrl-C at any time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import SCENARIO, Command, begin, environment


def shell(line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    """A line of a shell in which `roamsim` is the command."""
    text = line.replace("roamsim", f"{sys.executable} -m roamsim")
    done = subprocess.run(
        ["bash", "-c", text], capture_output=True, cwd=folder, env=environment() | more, timeout=120, check=False
    )
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"Exception" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("roamsim run scenario.toml --csv > /dev/full", 1, "stdout: No space left on device"),
        ("roamsim run scenario.toml > /dev/full", 1, "No space left on device"),
        ("roamsim --version > /dev/full", 1, "No space left on device"),
        ("roamsim run scenario.toml --json >&-", 1, "stdout: Bad file descriptor"),
        ("roamsim run scenario.toml --parquet out --csv >&-", 1, "stdout"),
        ("roamsim run - <&-", 2, "cannot be read: Bad file descriptor"),
        ("roamsim run scenario.toml --csv 2>&- > out.csv && roamsim check missing.toml 2>&-", 2, ""),
        ("roamsim check missing.toml 2> /dev/full", 2, ""),
        ("roamsim run scenario.toml <&- >&- 2>&-", 1, ""),
        ("roamsim run scenario.toml --csv | true", 0, ""),
        ("{ roamsim check missing.toml; echo $? > code; } 2>&1 >&- | true; exit $(cat code)", 2, ""),
    ],
)
def test_streams_that_take_or_give_nothing(scenario: Path, line: str, code: int, said: str) -> None:
    done = shell(line, scenario.parent)
    assert done.returncode == code, done
    assert said in done.stderr.decode()


def test_what_a_closed_stream_would_have_taken_stands_in_no_file(scenario: Path) -> None:
    shell("roamsim run scenario.toml --parquet out >&- 2>&-", scenario.parent)
    for file in (scenario.parent / "out").iterdir():
        assert b"both kinds of traffic  10 s" not in file.read_bytes().lower()
    assert shell("roamsim query out 'select count(*) as n from flows' --csv", scenario.parent).stdout == b"n\n1\n"


def test_a_terminal_of_another_encoding(scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace("Both kinds of traffic", "Über ± 한"), encoding="utf-8")
    for encoding in ("ascii", "latin-1"):
        done = shell("roamsim run scenario.toml --replications 2", scenario.parent, PYTHONIOENCODING=encoding)
        assert done.returncode == 0
        assert "Über ± ?".encode(encoding, "replace") in done.stdout
        # What a program reads is UTF-8 everywhere.
        done = shell("roamsim run scenario.toml --json", scenario.parent, PYTHONIOENCODING=encoding)
        assert json.loads(done.stdout.decode())["scenario"] == "Über ± 한"


def test_names_that_are_no_text(scenario: Path) -> None:
    shell(r"cp scenario.toml $'\xff.toml'", scenario.parent)
    done = shell(r"roamsim run $'\xff.toml'", scenario.parent)
    assert (done.returncode, b"no text in UTF-8" in done.stderr) == (2, True)
    # What is written under such a name is told octet by octet as it was given.
    done = shell(r"roamsim run scenario.toml --parquet $'\xff'", scenario.parent)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, b"wrote \xff")
    done = shell(r"roamsim run scenario.toml --set $'scenario.name=\xff'", scenario.parent)
    assert (done.returncode, b"no text in UTF-8" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "module",
    ["roamsim.cli.streams", "typer", "roamsim.cli.app", "polars", "duckdb", "roamsim.storing.queries"],
)
def test_ctrl_c_while_modules_load(roamsim: Command, scenario: Path, module: str) -> None:
    roamsim("run", scenario, "--parquet", "out")
    code = (
        "import os, signal, sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from roamsim.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "query", "out", "select 1"],
        capture_output=True, cwd=scenario.parent, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, b"roamsim: interrupted\n")


def test_ctrl_c_in_a_question(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    endless = "select count(*) as n from range(100000000000) t(a), range(1000) s(b) where a * b % 7 = 3"
    process = begin(
        "query", "out", endless, cwd=scenario.parent, env=environment() | {"TMPDIR": str(scenario.parent)}
    )
    until_s = time.monotonic() + 60
    while not list(scenario.parent.glob("roamsim-*/links.parquet")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until_s, "the question was not begun"
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "roamsim: interrupted\n")
    assert not list(scenario.parent.glob("roamsim-*"))


def test_interrupted_results_leave_the_earlier_ones(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    before = {file.name: file.read_bytes() for file in (scenario.parent / "out").iterdir()}
    code = (
        "import os, signal\n"
        "from roamsim import cli\n"
        "from roamsim.storing import store\n"
        "plain = store.write_whole\n"
        "def stopped(path, data):\n"
        "    if 'links' in str(path): os.kill(os.getpid(), signal.SIGINT)\n"
        "    return plain(path, data)\n"
        "store.write_whole = stopped\n"
        "cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", str(scenario), "--seed", "2", "--parquet", "out"],
        capture_output=True, cwd=scenario.parent, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, b"roamsim: interrupted\n")
    assert {file.name: file.read_bytes() for file in (scenario.parent / "out").iterdir()} == before
