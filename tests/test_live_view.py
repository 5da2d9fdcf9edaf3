"""A world by the clock as its terminal shows it, and at other speeds."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from threading import Event

import pytest
import roamsim
from conftest import ROOT, Command, begin, environment, run_command
from roamsim.cli import view
from roamsim.cli.view import Change, Link, Look, Station, lines

from validation.lateness import lateness

needs_tun = pytest.mark.needs("tun")

PATIENT = ("--max-lateness", "10s")


def test_what_is_drawn_of_some_looks() -> None:
    def look(at: int, sent: int, waiting: int, signal: float) -> Look:
        link = Link("path", "a", "b", sent, 3 * (at == 2), waiting)
        return Look(at * 500_000_000, [link], [("f", 0)], [Station("w", "cell", True, signal, "dBm")], changes)

    changes = [Change(420_000_000, "w", "other", False), Change(530_000_000, "w", "cell", True)]
    looks = [look(0, 0, 0, -50), look(1, 62_500, 7, -60), look(2, 93_750, 14, -70)]
    # 62,500 octets in half a second are 1 Mb/s; then it is half of that. The queue grows from none to 14.
    assert [line.split() for line in lines(looks, 200)] == [
        ["1.0", "s"],
        ["path", "a", ">", "b", "█▅", "500", "kb/s", "▁▅█", "queue", "14,", "3", "dropped"],
        ["flow", "f", "▁▁", "0", "b/s"],
        ["w", "at", "cell", "█▅▁", "-70", "dBm"],
        ["0.4", "s:", "w", "left", "other"],
        ["0.5", "s:", "w", "joined", "cell"],
    ]
    # A row that comes later, before one that was there: it has no rate yet.
    more = looks[2]._replace(links=[Link("path", "a", "all", 9, 0, 1), *looks[2].links], flows=[("e", 1), ("f", 0)])
    told = [line.split() for line in lines([*looks[:2], more], 200)]
    assert told[1] == ["path", "a", ">", "all", "0", "b/s", "█", "queue", "1"]
    assert told[2][4:8] == ["█▅", "500", "kb/s", "▁▅█"]
    assert [row[2:] for row in told[3:5]] == [["0", "b/s"], ["▁▁", "0", "b/s"]]
    assert lines(looks, 10)[1] == "path  a > "
    # In 80 columns the charts are short, and the queue is still there.
    many = [look(at, 62_500 * at, 7, -50) for at in range(30)]
    [_, link, *_] = lines(many, 79)
    assert link.split()[4] == 8 * "█" and link.endswith(" queue 7")
    assert lines(looks[:1], 200, "_#")[1].split() == ["path", "a", ">", "b", "0", "b/s", "_", "queue", "0"]


def test_a_look_before_the_first_one_is_skipped_and_a_terminal_may_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise OSError

    class Foot:
        columns = 80

        def draw(self, shown: list[str], _: int) -> None:
            drawn.append(len(shown))
            ended.set()

        def clear(self) -> None:
            pass

    drawn: list[int] = []
    ended = Event()
    looks = iter([Look(0, [], [], [], []), Look(1, [Link("path", "a", "b", 0, 0, 0)], [], [], [])])
    monkeypatch.setattr(view, "EVERY_S", 0.001)
    monkeypatch.setattr(view.streams, "Foot", Foot)
    view._draw(lambda: next(looks), ended)
    assert drawn == [2]
    monkeypatch.setattr(view.streams, "Foot", gone)
    view._draw(lambda: next(looks), Event())


def test_a_terminal_shows_the_walk_and_gets_its_rows_back() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 40, 120, 0, 0))
    process = begin(
        "live", ROOT / "examples/wifi-roaming.toml", "--speed", "12", "--set", "scenario.duration=36s", stdin=theirs,
        stdout=subprocess.DEVNULL, stderr=theirs,
        env=environment() | {"TERM": "xterm", "LC_ALL": "C.UTF-8"}, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = bytearray()
    while True:
        try:
            if not (octets := os.read(ours, 65536)):
                break
        except OSError:
            break
        shown += octets
    assert process.wait(60) == 0, shown
    text = shown.decode()
    # Cells come before wires.
    assert re.search(r"west cell +west > walker +[▁-█]{1,24} .* [kM]b/s +[▁-█]+ queue \d+, \d+ dropped", text), text[
        -3000:
    ]
    assert "core" not in text
    assert "flow download" in text and re.search(r"walker at (west|east) cell +[▁-█ ]+ -\d\d dBm", text)
    # The walk from one cell to the other.
    changes = r"([\d.]+) s: walker joined west cell.*([\d.]+) s: walker left west cell.*joined east cell"
    assert re.search(changes, text, re.DOTALL), text[-3000:]
    # Thirteen rows of forty are kept at last: the time, six directions of links, two flows, a station, three changes.
    assert "\x1b[1;27r" in text and text.index("\x1b[r") < text.index("the scenario ended after 36.000 s")


SHORT = """
scenario = { name = "x", duration = "100ms" }
node = [{ name = "a" }, { name = "b" }]
link = [{ name = "wire", between = ["a", "b"], rate = "8Mb/s", delay = "10ms" }]
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "20ms" }
"""


def test_a_scenario_goes_slowly_and_quietly_without_a_terminal(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    begun = time.monotonic()
    done = roamsim("live", tmp_path / "short.toml", "--speed", "0.1")
    assert time.monotonic() - begun >= 1
    assert "\x1b" not in done.stderr and "the scenario ended after 0.100 s" in done.stderr
    # What the programs of validation read of it.
    assert lateness(done.stderr).packets == 0


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf"])
def test_what_is_no_speed_is_refused(roamsim: Command, speed: str) -> None:
    assert (
        "is not a number above zero"
        in roamsim("live", ROOT / "examples/one-tcp-flow.toml", "--speed", speed, code=2).stderr
    )


def test_programs_go_at_the_speed_of_the_clock(roamsim: Command) -> None:
    done = roamsim("live", "--link", "1Mb/s", "--speed", "0.1", "--", "true", code=2)
    assert "does not work with external nodes such as 'server'" in done.stderr


#: Asks a server by datagrams, and reads a stream whose octets it knows, for five seconds.
WALK = """
import select, socket, threading, time
listening = socket.create_server(("", 49152), family=socket.AF_INET6)
got = {"octets": 0, "right": True}
def read():
    connection, _ = listening.accept()
    while octets := connection.recv(65536):
        first = got["octets"] % 256
        whole = bytes(range(256)) * (len(octets) // 256 + 2)
        got["right"] = got["right"] and octets == whole[first:first + len(octets)]
        got["octets"] += len(octets)
threading.Thread(target=read, daemon=True).start()
port = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
begun = time.monotonic()
while (after := time.monotonic() - begun) < 7:
    port.sendto(b"%f" % after, ("server", 7))
    if select.select([port], [], [], 0.1)[0]:
        print("PONG", float(port.recv(100)), flush=True)
print("GOT", got["octets"], got["right"], flush=True)
"""

ECHO = """
import socket
port = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
port.bind(("", 7))
while True:
    port.sendto(*port.recvfrom(100))
"""


@needs_tun
def test_programs_stay_connected_over_a_handover_by_ipv6(tmp_path: Path) -> None:
    python = sys.executable
    text = (ROOT / "examples/cell-walk.toml").read_text(encoding="utf-8")
    # At 160 m the other cell is nearer by more than the hysteresis.
    text = text.replace('{ x = "50m", y', '{ x = "100m", y').replace('"10m/s"', '"20m/s"')
    (tmp_path / "walk.toml").write_text(
        text.replace('from = "server"', 'from = "router"').replace('"bulk"', '"bulk", start = "1800ms"')
    )
    done = run_command(
        "live", "walk.toml", *PATIENT, "--set", "scenario.duration=20s", "--out", "kept", "--trace", "link_events",
        "--on", "server", "--", python, "-c", ECHO, "--on", "walker", "--", python, "-c", WALK, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    times_s = [float(found) for found in re.findall(r"PONG ([\d.]+)", done.stdout)]
    octets = int(re.findall(r"GOT (\d+) True", done.stdout)[0])
    kept = roamsim.open_results(tmp_path / "kept")
    [handover_s] = kept["link_events"].filter(event="link_up", node="walker")["time_s"].to_list()[1:]
    assert 3 < handover_s < 4.7
    # A segment that is lost once more waits for a timeout of up to 2 s.
    assert times_s[-1] > 6 and len(times_s) > 10
    assert octets > 100_000 and kept["flows"]["delivered_bytes"].item() >= octets
