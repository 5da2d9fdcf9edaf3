"""Commands that a server forks are what commands are: their streams, place, environment, and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import conftest
import pytest
import served
from conftest import Server, environment, run_command


@pytest.fixture(scope="module")
def server() -> Server:
    return Server()


def real(*arguments: str | Path, cwd: Path, stdin: str) -> tuple[int, str, str]:
    """The command in a process that starts for it."""
    done = subprocess.run(
        [sys.executable, "-m", "roamsim", *map(str, arguments)],
        cwd=cwd, input=stdin, env=conftest.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["run", "scenario.toml", "--csv"], 0),
        (["check", "-"], 3),
        (["check", "missing.toml"], 2),
        (["plot", ".", "--what", "cwnd"], 2),
        (["nonsense", "é"], 2),
    ],
)
def test_a_command_says_what_it_says_when_it_starts_by_itself(
    scenario: Path, tmp_path: Path, arguments: list[str], code: int
) -> None:
    done = run_command(*arguments, cwd=tmp_path, stdin="[scenario")
    assert (done.returncode, done.stdout, done.stderr) == real(*arguments, cwd=tmp_path, stdin="[scenario")
    assert done.returncode == code


def test_a_command_has_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run_command("run", "--help", cwd=tmp_path).stdout
    monkeypatch.setattr("conftest.environment", lambda: environment() | {"COLUMNS": "60"})
    done = run_command("run", "--help", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == real("run", "--help", cwd=tmp_path, stdin="")
    assert done.stdout != before


def test_no_file_grows_beyond_what_is_asked(scenario: Path, tmp_path: Path) -> None:
    for octets, code in ((100, 1), (10_000_000, 0)):
        done = run_command("run", scenario, "--pcap", "run.pcapng", cwd=tmp_path, largest_file_bytes=octets)
        assert done.returncode == code
        assert ("File too large" in done.stderr) is (code == 1)


def test_one_command_waits_for_no_other_and_its_end_by_a_signal_is_told(server: Server, scenario: Path) -> None:
    with tempfile.TemporaryFile() as stream:
        endless = ["run", str(scenario), "--set", "scenario.duration=100000000s"]
        asked = [
            served.ask(server.socket, words, str(scenario.parent), environment(), [stream.fileno()] * 3)
            for words in (endless, ["--version"])
        ]
        processes = [served.number(each) for each in asked]
        assert served.number(asked[1]) == 0
        os.kill(processes[0], signal.SIGKILL)
        assert served.number(asked[0]) == -signal.SIGKILL
        for each in asked:
            each.close()


def test_the_program_of_a_shell_is_the_command(server: Server, scenario: Path) -> None:
    line = "roamsim check - < scenario.toml && roamsim run scenario.toml --csv | wc -l; roamsim check x"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=scenario.parent,
        env=server.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.split()[-1] == "2"
    assert done.stderr.endswith(real("check", "x", cwd=scenario.parent, stdin="")[2])


def test_a_server_ends_with_who_began_it(tmp_path: Path) -> None:
    begun = subprocess.Popen([sys.executable, served.__file__, tmp_path / "socket"], stdin=-1, stdout=-1)
    assert begun.stdout
    assert begun.stdin
    assert begun.stdout.readline() == b"ready\n"
    begun.stdin.close()
    assert begun.wait(60) == 0
    begun.stdout.close()
