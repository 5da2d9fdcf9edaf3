"""The command with streams that are closed, full, or of another encoding, and with Ctrl-C at any time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import fuzz_results
import pytest
from conftest import SCENARIO, Command, begin, environment
from roamsim.cli import streams
from roamsim.cli.app import app


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
    assert (done.returncode, b"not text in UTF-8" in done.stderr) == (2, True)
    # What is written under such a name is told octet by octet as it was given.
    done = shell(r"roamsim run scenario.toml --parquet $'\xff'", scenario.parent)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, b"wrote \xff")
    done = shell(r"roamsim run scenario.toml --set $'scenario.name=\xff'", scenario.parent)
    assert (done.returncode, b"not text in UTF-8" in done.stderr) == (2, True)


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


#: What moves a cursor, retitles, is a C1 control, reverses text, isolates it, or cannot be seen.
HOSTILE = "a\x1b[2J\x1b]0;t\x07\x9b31m\u202eb\u2066c\u200fd\ufeffe\r"
SHOWN = "a\\u001b[2J\\u001b]0;t\\u0007\\u009b31m\\u202eb\\u2066c\\u200fd\\ufeffe\\u000d"


def in_a_terminal(*arguments: str | Path, cwd: Path) -> str:
    """All that a command writes where stdout and stderr are a terminal. It runs in this process, which is quick."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
    pieces: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # what Linux says of a terminal whose other end is closed
            while more := os.read(here, 1 << 16):
                pieces.append(more)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with pytest.MonkeyPatch.context() as patch, fuzz_results.redirected(there):
            patch.chdir(cwd)
            patch.setenv("TERM", "xterm-256color")
            patch.delenv("NO_COLOR", raising=False)
            patch.delenv("COLUMNS", raising=False)
            streams.put_in_order()
            with contextlib.suppress(SystemExit):
                app([str(word) for word in arguments], prog_name="roamsim")
    finally:
        os.close(there)
        reader.join(60)
        os.close(here)
    return b"".join(pieces).decode(errors="surrogateescape")


def harmless(written: str) -> bool:
    """Whether nothing but line ends, tabs, and colours and cursors of our own is in what was written."""
    own = re.sub(r"\x1b\[(?:[0-9;]*m|\?25[hl]|[0-9]*[AK])", "", written).replace("\r\n", "\n")
    return not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]", own)


def hostile_text() -> str:
    """The text in SQL's notation, which no argument can hold as it is."""
    return " || ".join(f"chr({ord(character)})" for character in HOSTILE)


def test_what_a_stranger_wrote_does_not_move_a_terminal(scenario: Path) -> None:
    folder = scenario.parent
    made = begin("run", scenario, "--parquet", "out", cwd=folder)
    made.communicate(timeout=120)
    asked = f'select {hostile_text()} as x, 1 as "{HOSTILE.replace(chr(0), "")}"'
    for way in ("", "--vertical", "--csv", "--json"):
        shown = in_a_terminal("query", "out", asked, *filter(None, [way]), cwd=folder)
        assert SHOWN in shown.replace("e\\r", "e\\u000d"), way
        assert harmless(shown), repr(shown)
    # In a table a line feed would begin a row of its own.
    assert "a\\nb" in in_a_terminal("query", "out", "select 'a' || chr(10) || 'b' as x", cwd=folder)
    # Errors quote questions, paths, arguments and scenarios.
    for words in (
        ["query", "out", f'select * from "{HOSTILE}"'],
        ["query", HOSTILE, "select 1"],
        ["report", "out", "--out", f"nowhere/{HOSTILE}.html"],
        ["run", HOSTILE],
        ["run", scenario, f"--{HOSTILE}"],
        [HOSTILE],
        ["explain", HOSTILE],
        ["run", scenario, "--set", f"link.{HOSTILE}=1"],
        ["init", HOSTILE],
        ["check", HOSTILE],
        ["study", "show", HOSTILE],
    ):
        shown = in_a_terminal(*words, cwd=folder)
        assert "u202e" in shown or "???" in shown, shown
        assert harmless(shown), repr(shown)


def test_a_scenario_that_came_from_a_stranger_does_not_move_a_terminal(scenario: Path) -> None:
    scenario.write_text(SCENARIO + f"\n# {HOSTILE}\n[[link]]\n\u202ename = 1 # {HOSTILE}\n", encoding="utf-8")
    for command in ("check", "run"):
        shown = in_a_terminal(command, scenario, cwd=scenario.parent)
        assert "\x1b[31m" in shown  # the colour of our own crosses
        assert harmless(shown), repr(shown)


def test_what_a_program_reads_stays_as_it_is(scenario: Path) -> None:
    folder = scenario.parent
    begin("run", scenario, "--parquet", "out", cwd=folder).communicate(timeout=120)
    done = begin("query", "out", f"select {hostile_text()} as x", "--json", cwd=folder, stdout=-1)
    assert json.loads(done.communicate(timeout=120)[0]) == [{"x": HOSTILE}]


def test_a_manifest_of_a_stranger_does_not_move_a_terminal(scenario: Path) -> None:
    folder = scenario.parent
    begin("sweep", scenario, "--vary", "link.path.delay=10ms,20ms", "--out", "out", cwd=folder).communicate(
        timeout=120
    )
    file = folder / "out" / "manifest.json"
    tree = json.loads(file.read_text())
    study = {
        "kind": "study", "study": HOSTILE, "own": False, "level": "quick", "seed": 1, "version": "0.1.0", "build": "0",
        "command": "", "made_with": {}, "layout": tree["layout"],
    }  # fmt: skip
    # Errors quote a key that there is not, and a study that there is not.
    for hostile in (tree | {HOSTILE: 1}, study):
        file.write_text(json.dumps(hostile))
        for words in (["report", "out"], ["query", "out", "select count(*) from flows"]):
            shown = in_a_terminal(*words, cwd=folder)
            assert "u202e" in shown, shown
            assert harmless(shown), repr(shown)
