"""Real programs over a simulated network, and worlds that are driven by hand."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import time
from pathlib import Path

import pytest
import roamsim
from conftest import Command, begin, environment, run_command
from ipv4 import PHONE, SERVER, checksum, packet
from roamsim._roamsim import World as CompiledWorld
from roamsim.cli.live import programs
from roamsim.errors import UsageError
from roamsim.live.namespaces import Lost, _lost
from roamsim.live.run import host_name
from roamsim.live.wire import wire as path_in_words

needs_tun = pytest.mark.needs("tun")

#: 10 Mb/s and 20 ms each way.
WIRE = """
[scenario]
name = "One wire"
duration = "20s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "path"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "20ms"
"""

#: This machine may be busy: what the tests ask for is order, not punctuality.
PATIENT = ("--max-lateness", "10s")


def echo(kind: int, source: bytes, destination: bytes, size: int = 1250) -> bytes:
    """An ICMP echo request (8) or reply (0) in an IPv4 packet of so many octets."""
    message = struct.pack("!BBHHH", kind, 0, 0, 7, 1) + bytes(size - 28)
    message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
    return packet(1, source, destination, message)


def test_an_echo_made_by_hand_arrives_after_delay_and_serialisation() -> None:
    world = roamsim.World(WIRE, external=["server", "phone"])
    assert (world.now_ns, world.end_ns, world.addresses("phone")) == (0, 20_000_000_000, (["10.0.0.2"], 1500))
    world.step(1_000_000)
    request = echo(8, SERVER, PHONE)
    world.inject("server", request)
    # 1250 octets at 10 Mb/s take 1 ms.
    assert world.next_deadline_ns == 22_000_000
    world.step(21_999_999)
    assert world.emitted() == []
    world.step(22_000_000)
    assert world.emitted() == [("phone", 22_000_000, request)]
    reply = echo(0, PHONE, SERVER)
    world.inject("phone", reply)
    world.step(1_000_000_000)
    assert world.emitted() == [("server", 43_000_000, reply)]
    result = world.finish()
    rows = result.tables["external"].select("node", "offered_packets", "emitted_packets").rows()
    assert rows == [("server", 1, 1), ("phone", 1, 1)]
    assert result.links["sent_packets"].to_list() == [1, 1]
    with pytest.raises(roamsim.RunFailed, match="has finished"):
        world.step(0)


def test_what_is_no_packet_is_refused_and_counted() -> None:
    world = roamsim.World(WIRE, external=["server", "phone"])
    whole = echo(8, SERVER, PHONE)
    for octets in [b"", b"\x45", whole[:100], bytes([0x65]) + whole[1:], echo(8, PHONE, SERVER)]:
        world.inject("server", octets)
    # Larger than the MTU, and not to be cut: the error comes at once, from the other end of the wire.
    world.inject("server", echo(8, SERVER, PHONE, 1502))
    [error] = world.emitted()
    assert (error.node, error.time_ns, error.octets[12:16], error.octets[20:22]) == ("server", 0, PHONE, b"\x03\x04")
    with pytest.raises(ValueError, match='there is no node "nobody"'):
        world.inject("nobody", whole)
    row = world.finish().tables["external"].row(0, named=True)
    assert {name: row[name] for name in row if name.endswith("_packets") and row[name]} == {
        "offered_packets": 6,
        "malformed_packets": 3,
        "other_version_packets": 1,
        "foreign_source_packets": 1,
        "too_large_packets": 1,
    }


def test_a_capture_holds_octets_as_they_were(tmp_path: Path) -> None:
    capture = tmp_path / "all.pcapng"
    world = roamsim.World(WIRE, external=["server", "phone"], pcap=capture, trace="packets")
    request = echo(8, SERVER, PHONE)
    world.inject("server", request)
    world.step(1_000_000_000)
    packets = world.finish().packets
    # At the interface of the server, and at that of the phone.
    assert capture.read_bytes().count(request) == 2
    assert packets["event"].to_list() == ["sent", "transmitted", "delivered"]
    assert set(packets["protocol"]) == {"icmp"}


def test_a_world_without_anything_to_do_is_refused() -> None:
    assert roamsim.World(WIRE + TRANSFER).next_deadline_ns == 0
    with pytest.raises(roamsim.ScenarioError, match="nothing happens here"):
        roamsim.World(WIRE)


def test_a_run_without_its_programs_says_so(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "wire.toml").write_text(WIRE.replace('name = "phone"', 'name = "phone"\nexternal = true') + TRANSFER)
    done = roamsim("run", tmp_path / "wire.toml")
    [told] = [line for line in done.stderr.splitlines() if line]
    assert told == (
        "roamsim: no program runs at node 'phone' in this run, so flow 'download' has nobody at that end; "
        "`roamsim live` runs programs there"
    )


#: A flow to the program at the phone.
TRANSFER = """
[[flow]]
name = "download"
from = "server"
to = "phone"
transport = { protocol = "tcp" }
application = { kind = "transfer", size = "1kB" }
port = 8080
"""


@needs_tun
def test_a_flow_to_a_port_where_nobody_listens_is_told(tmp_path: Path) -> None:
    (tmp_path / "wire.toml").write_text(WIRE + TRANSFER)
    done = run_command("live", "wire.toml", *PATIENT, "--on", "phone", "--", "sleep", "0.3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "flow download: phone has to listen at TCP port 8080, for server\n" in done.stderr
    assert (
        "flow download was refused: no program at phone listened at TCP port 8080 when server connected; start one that "
        "does, or leave the flow out by --without-flows\n"
    ) in done.stderr


def test_commands_stand_behind_their_nodes() -> None:
    words = ["python3", "-m", "http.server", "--on", "phone", "--", "curl", "--on", "x"]
    assert programs(["server"], words) == {"server": words[:3], "phone": ["curl", "--on", "x"]}
    assert programs([], ["curl", "x"], without_on="client") == {"client": ["curl", "x"]}
    assert programs([], [], shell="phone") == {}
    for on, given, said in [
        (["a"], [], "--on a has no command"),
        (["a", "b"], ["x"], "each --on NODE has its command"),
        (["a"], ["x", "--on", "a", "--", "y"], "a has two commands"),
    ]:
        with pytest.raises(UsageError, match=said):
            programs(on, given)
    with pytest.raises(UsageError, match="a has two commands"):
        programs(["a"], ["x"], shell="a")


def test_names_of_nodes_become_host_names() -> None:
    assert [host_name(name) for name in ("phone", "base station", "a_b.c")] == ["phone", "base-station", "a-b.c"]


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    """The scenario, in a file."""
    path = tmp_path / "wire.toml"
    path.write_text(WIRE)
    return path


#: Answers datagrams.
ECHO = """
import socket
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("", 7))
while True:
    data, sender = port.recvfrom(2000)
    port.sendto(data, sender)
"""

#: Tells the times of twenty round trips, in milliseconds.
ASK = """
import socket, sys, time
time.sleep(0.5)
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.settimeout(5)
for _ in range(20):
    begun = time.perf_counter()
    port.sendto(b"x" * 22, ("server", 7))
    port.recv(100)
    print(f"RTT {1000 * (time.perf_counter() - begun):.3f}", flush=True)
"""


@needs_tun
def test_a_round_trip_takes_what_the_wire_takes(wire: Path, tmp_path: Path) -> None:
    python = sys.executable
    done = run_command(
        "live", wire, *PATIENT, "--pcap", "all.pcapng", "--out", "results", "--on", "server", "--", python, "-c", ECHO,
        "--on", "phone", "--", python, "-c", ASK, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"at phone ended after \d+\.\d{3} s: exit code 0", done.stderr), done.stderr
    times = sorted(float(found) for found in re.findall(r"RTT ([\d.]+)", done.stdout))
    # 50 octets of IPv4 take 40 us each way.
    assert len(times) == 20 and times[0] >= 40.08, times
    # The best of twenty is punctual even on a busy machine.
    assert times[0] < 43, times
    assert (tmp_path / "all.pcapng").stat().st_size > 1000
    kept = roamsim.open_results(tmp_path / "results")
    assert kept["external"]["emitted_packets"].min() >= 20


@needs_tun
def test_namespaces_have_nothing_else(wire: Path, tmp_path: Path) -> None:
    look = textwrap.dedent("""
        import socket, os
        print("DEVICES", sorted(name for _, name in socket.if_nameindex()))
        print("NAMES", socket.gethostbyname("server"), socket.gethostbyname("phone"))
        try:
            socket.create_connection(("192.0.2.1", 80), timeout=0.5)
        except OSError as error:
            print("OUT", type(error).__name__)
    """)
    hosts = Path("/etc/hosts").read_text()
    done = run_command("live", wire, *PATIENT, "--on", "phone", "--", sys.executable, "-c", look, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "DEVICES ['lo', 'sim0']\nNAMES 10.0.0.1 10.0.0.2\nOUT TimeoutError" in done.stdout, done.stdout
    assert Path("/etc/hosts").read_text() == hosts


@needs_tun
@pytest.mark.parametrize(("command", "code"), [(["sh", "-c", "exit 9"], 9), (["nothing-of-this-name"], 127)])
def test_the_code_of_the_program_is_that_of_the_command(
    wire: Path, tmp_path: Path, command: list[str], code: int
) -> None:
    done = run_command("live", wire, *PATIENT, "--on", "phone", "--", *command, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert f"exit code {code}" in done.stderr


@needs_tun
def test_packets_that_are_late_are_told_first(wire: Path, tmp_path: Path) -> None:
    python = sys.executable
    done = run_command(
        "live", wire, "--max-lateness", "1ns", "--on", "server", "--", python, "-c", ECHO,
        "--on", "phone", "--", python, "-c", ASK, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 124, done.stderr
    assert done.stderr.startswith("roamsim: packets were late: the 99.9th percentile is "), done.stderr


def test_drops_outside_of_the_simulation_are_read_in_the_counters_of_a_namespace() -> None:
    dev = "Inter-| Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  sim0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
    snmp = "Ip: Forwarding\nIp: 1\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 1 2 3 4 5\n"
    assert _lost("a", dev, snmp, "Udp6InDatagrams 3\nUdp6RcvbufErrors \t 6\n") == Lost("a", 12, 11)
    assert _lost("a", "", "", "") == Lost("a", 0, 0)


#: Sends more datagrams than a socket keeps that nobody reads.
FLOOD = """
import socket, time
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
time.sleep(1)
for _ in range(1000):
    port.sendto(bytes(1400), ("server", 7))
    time.sleep(0.0005)
time.sleep(0.5)
"""

UNREAD = """
import socket, time
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("", 7))
time.sleep(100)
"""


@needs_tun
def test_datagrams_that_a_program_does_not_read_are_told(tmp_path: Path) -> None:
    python = sys.executable
    done = run_command(
        "live", "--link", "100Mb/s,5ms", *PATIENT, "--on", "server", "--", python, "-c", UNREAD,
        "--on", "client", "--", python, "-c", FLOOD, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = re.search(r"server: full sockets of its programs dropped (\d+) datagrams\n", done.stderr)
    # The kernel's default holds some hundred.
    assert told and 500 < int(told[1]) < 1000, done.stderr
    assert "full device" not in done.stderr
    assert re.search(r"; \d+\.\d\d s of processor time\n", done.stderr)


@needs_tun
def test_the_end_of_the_scenario_ends_programs_and_their_children(wire: Path, tmp_path: Path) -> None:
    # A child in a session of its own, which would go on.
    forked = f"setsid sh -c 'echo $$ > {tmp_path}/ready; exec sleep 4321.{os.getpid()}' & wait"
    done = run_command(
        "live",
        wire,
        *PATIENT,
        "--set",
        "scenario.duration=2s",
        "--on",
        "phone",
        "--",
        "sh",
        "-c",
        forked,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "the scenario ended after 2.000 s" in done.stderr
    assert (tmp_path / "ready").exists()
    assert not processes(f"4321.{os.getpid()}")


@needs_tun
@pytest.mark.needs("unshare")
@pytest.mark.parametrize(
    ("options", "lacks", "said"),
    [
        ("-r", "echo 0 > /proc/sys/user/max_user_namespaces", "needs user namespaces, and this system refuses them"),
        ("-rm", "mount -t tmpfs none /dev/net", "needs TUN devices, and /dev/net/tun cannot be opened"),
    ],
)
def test_a_system_that_lacks_something_is_told_in_one_sentence(options: str, lacks: str, said: str) -> None:
    live = f"{lacks} && exec {sys.executable} -m roamsim live --link 10Mb/s,20ms -- true"
    done = subprocess.run(
        ["unshare", options, "sh", "-c", live], env=environment(), capture_output=True, text=True, check=False
    )
    [told] = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (125, "")
    assert said in told


def test_the_option_that_would_lead_out_is_not_there(roamsim: Command) -> None:
    done = roamsim("live", "--link", "10Mb/s,20ms", "--internet", "--", "true", code=2)
    assert "No such option" in done.stderr
    assert "--internet" in done.stderr


#: Flows of all transports that a program may have, at ports of their own.
HOSTED = "".join(
    f"""
[[flow]]
name = "{protocol}{port}"
from = "{source}"
to = "{sink}"
transport = {{ protocol = "{protocol}" }}
application = {application}
port = {port}
"""
    for protocol, source, sink, application, port in [
        ("tcp", "phone", "server", '{ kind = "bulk" }', 80),
        ("tcp", "phone", "server", '{ kind = "request_response", response_size = "9B" }', 81),
        ("tcp", "server", "phone", '{ kind = "bulk" }', 82),
        ("sctp", "phone", "server", '{ kind = "bulk" }', 83),
        ("sctp", "server", "phone", '{ kind = "bulk" }', 84),
        ("udp", "phone", "server", '{ kind = "request_response", response_size = "9B" }', 85),
        ("udp", "server", "phone", '{ kind = "cbr", packet_size = "99B", interval = "50ms" }', 86),
    ]
)


def hostile(draw: random.Random) -> bytes:
    """A packet of the phone, as a program would not write it: of any length up to 64 kB, cut off, or with a word changed."""
    protocol = draw.choice([1, 6, 6, 17, 17, 132, 132, draw.randrange(256)])
    size = draw.choice([0, 1, 7, 8, 12, 20, 40, 1400, draw.randrange(65_515)])
    ports = struct.pack(
        "!HH", draw.choice([40_000, 82, 84, 86, 49_154]), draw.choice([80, 81, 83, 85, 49_154, 49_156])
    )
    body = bytearray((ports + draw.randbytes(size))[:size])
    if protocol == 132 and size >= 12:
        # Chunks whose lengths do not fit; the checksum does.
        body[8:12] = crc32c(bytes(body[:8]) + bytes(4) + bytes(body[12:]))
    elif protocol == 6 and size >= 20:
        body[12:14] = bytes([draw.choice([0x50, 0x60, 0xF0, draw.randrange(256)]), draw.randrange(64)])
        body[16:18] = bytes(2)
        summed = checksum(PHONE + SERVER + struct.pack("!BBH", 0, 6, size) + bytes(body))
        body[16:18] = struct.pack("!H", summed)
    whole = bytearray(packet(protocol, PHONE, SERVER, bytes(body)))
    match draw.randrange(4):
        case 0:
            del whole[draw.randrange(len(whole)) :]
        case 1:
            at = draw.randrange(20)
            whole[at] ^= 1 << draw.randrange(8)
        case 2:
            # A fragment, with a checksum that is right.
            whole[6:8] = struct.pack("!H", draw.choice([0x2000, 0x2001, 0x00B9, 0x1FFF]))
            whole[10:12] = bytes(2)
            whole[10:12] = struct.pack("!H", checksum(bytes(whole[:20])))
        case _:
            pass
    return bytes(whole)


def _remainder(octet: int) -> int:
    for _ in range(8):
        octet = octet >> 1 ^ 0x82F63B78 * (octet & 1)
    return octet


CRC32C = [_remainder(octet) for octet in range(256)]


def crc32c(octets: bytes) -> bytes:
    """The checksum of SCTP (RFC 9260 appendix A), as it stands in a packet."""
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = crc >> 8 ^ CRC32C[crc & 0xFF ^ octet]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def test_nothing_at_the_edge_stops_a_world() -> None:
    assert crc32c(b"123456789") == struct.pack("<I", 0xE3069283)
    draw = random.Random(4)
    for _ in range(10):
        world = roamsim.World(WIRE + HOSTED, external=["phone"])
        offered = 0
        for _ in range(300):
            world.inject("phone", hostile(draw))
            offered += 1
            world.step(world.now_ns + draw.choice([0, 100_000, 30_000_000]))
            world.emitted()
        row = world.finish().tables["external"].row(0, named=True)
        assert (row["node"], row["offered_packets"]) == ("phone", offered)
        assert row["malformed_packets"] > 20


def processes(word: str) -> list[str]:
    """The processes that sleep so long."""
    listed = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.split()[:2] == ["sleep", word]:
            listed.append(line)
    return listed


@needs_tun
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_the_command_is_stopped(wire: Path, how: signal.Signals) -> None:
    word = f"8765.{os.getpid()}{int(how)}"
    process = begin("live", wire, *PATIENT, "--on", "phone", "--", "sleep", word, stdout=subprocess.DEVNULL)
    wait_for(lambda: processes(word))
    [namespace] = [namespaces()[process] for process in namespaces() if asleep(process, word)]
    assert namespace != Path("/proc/self/ns/net").readlink()
    process.send_signal(how)
    code = process.wait(30)
    assert code == (0 if how == signal.SIGINT else -signal.SIGKILL)
    wait_for(lambda: not processes(word))
    # With its last process a namespace is gone, and its device.
    wait_for(lambda: namespace not in namespaces().values())


def namespaces() -> dict[Path, Path]:
    """The network namespaces of all processes."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found[process] = (process / "ns/net").readlink()
    return found


def asleep(process: Path, word: str) -> bool:
    """Whether a process sleeps so long."""
    with contextlib.suppress(OSError):
        return (process / "cmdline").read_bytes().split(b"\0")[:2] == [b"sleep", word.encode()]
    return False


def wait_for(what: object) -> None:
    """Waits until a function says yes, for half a minute."""
    assert callable(what)
    for _ in range(300):
        if what():
            return
        time.sleep(0.1)
    raise AssertionError("it does not happen")


@needs_tun
@pytest.mark.needs("curl")
def test_a_download_has_the_rate_of_the_wire_less_headers(wire: Path, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(bytes(5_000_000))
    get = "curl -s --retry 30 --retry-connrefused --retry-delay 1 -o /dev/null -w 'SPEED %{speed_download}\\n' http://server:8000/big"
    done = run_command(
        "live", wire, *PATIENT, "--on", "server", "--", sys.executable, "-m", "http.server", "8000",
        "--on", "phone", "--", "sh", "-c", get, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    speed = re.search(r"SPEED (\d+)", done.stdout)
    assert speed, done.stdout
    # 1448 of 1500 octets are data, and slow start takes some round trips of 5 s.
    most = 10e6 / 8 * 1448 / 1500
    assert 0.85 * most < float(speed[1]) <= 1.001 * most


@needs_tun
def test_a_shell_has_a_terminal_with_jobs_of_its_own(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 33, 123, 0, 0))
    before = termios.tcgetattr(theirs)
    process = begin(
        "live", "--link", "10Mb/s,20ms", *PATIENT, "--shell", "client", stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment() | {"SHELL": "/bin/bash", "HISTFILE": str(tmp_path / "history")}, start_new_session=True,
    )  # fmt: skip
    shown = b""

    def type_and_wait(line: bytes, answer: bytes) -> None:
        nonlocal shown
        os.write(ours, line)
        until = time.monotonic() + 120
        while not re.search(answer, shown):
            assert select.select([ours], [], [], max(0, until - time.monotonic()))[0], shown
            shown += os.read(ours, 4096)

    type_and_wait(b"hostname; stty size\n", rb"client\r\n33 123\r\n")
    # A command is interrupted, not the run; jobs are there.
    # What says that it has begun is what the interrupt ends: the shell itself would go on with the next command.
    type_and_wait(b"bash -c \"echo be''gun; exec sleep 1000\"\n", rb"begun\r\n")
    type_and_wait(b"\x03", rb"\^C")
    type_and_wait(b"sleep 1000 & echo sta''rted\n", rb"started\r\n")
    type_and_wait(b"jobs\n", rb"Running +sleep 1000")
    type_and_wait(b"exit 5\n", rb"at client ended after")
    assert b"no job control" not in shown
    assert process.wait(30) == 5
    # Whoever started it finds the terminal as it was.
    assert termios.tcgetattr(theirs) == before


@needs_tun
def test_a_run_ends_though_a_program_does_not_read_its_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = begin(
        "live", "--link", "10Mb/s,20ms", *PATIENT, "--set", "scenario.duration=4s", "--shell", "client", stdin=theirs,
        stdout=theirs, stderr=theirs, env=environment() | {"SHELL": "/bin/bash", "HISTFILE": str(tmp_path / "history")},
        start_new_session=True,
    )  # fmt: skip
    os.set_blocking(ours, False)
    left, typed, shown = [b"stty -icanon; echo be''gun; sleep 1000\n"], b"x\n" * 100_000, b""
    until = time.monotonic() + 60
    while process.poll() is None:
        assert time.monotonic() < until, shown[-1000:]
        if select.select([ours], [], [], 0.1)[0]:
            shown = (shown + os.read(ours, 4096))[-10_000:]
        if re.search(rb"[$#] $", shown) and left:
            os.write(ours, left.pop())
        elif b"begun\r\n" in shown:
            with contextlib.suppress(BlockingIOError):
                typed = typed[os.write(ours, typed) :]
    assert not left
    assert termios.tcgetattr(theirs) == before


@needs_tun
def test_a_shell_whose_terminal_nobody_reads_ends_with_the_run(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    word = f"7654.{os.getpid()}"
    process = begin(
        "live", "--link", "10Mb/s,20ms", *PATIENT, "--set", "scenario.duration=3s", "--shell", "client", stdin=theirs,
        stdout=theirs, stderr=subprocess.DEVNULL, env=environment() | {"SHELL": "/bin/bash", "HISTFILE": str(tmp_path / "history")},
        start_new_session=True,
    )  # fmt: skip
    os.write(ours, f"sleep {word} & yes\n".encode())
    wait_for(lambda: processes(word))
    # The shell has filled our terminal, and its end does not wait for anybody to read there.
    wait_for(lambda: not processes(word))
    shown = b""
    while process.poll() is None:
        if select.select([ours], [], [], 0.1)[0]:
            shown += os.read(ours, 65536)
    assert shown.count(b"y\r\n") > 1000 and process.returncode == 0


@needs_tun
def test_a_shell_without_a_terminal_reads_commands(tmp_path: Path) -> None:
    done = run_command(
        "live", "--link", "10Mb/s,20ms", *PATIENT, "--shell", "server", cwd=tmp_path, stdin="hostname\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("server\n")


#: Tells the time of one echo request to `server`, in milliseconds.
PING = """
import socket, struct, time
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
port.settimeout(5)
begun = time.perf_counter()
port.sendto(struct.pack("!BBHHH", 8, 0, 0, 0, 1) + bytes(1214), ("server", 0))
port.recv(2000)
print(f"RTT {1000 * (time.perf_counter() - begun):.3f}", flush=True)
"""


@needs_tun
def test_a_path_needs_no_file_and_its_other_end_no_program(tmp_path: Path) -> None:
    # An opportunity every ms; up 1250 octets take 1 ms.
    (tmp_path / "down.trace").write_text("1\n")
    done = run_command(
        "live", "--link", "down=down.trace,up=10Mb/s,50ms,queue=64kB", *PATIENT, "--out", "kept",
        "--", sys.executable, "-c", PING, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    time_ms = float(re.findall(r"RTT ([\d.]+)", done.stdout)[0])
    assert 101 <= time_ms < 140
    assert roamsim.open_results(tmp_path / "kept")["links"]["sent_packets"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("10Mb/s", {"rate": [("server", "10Mb/s"), ("client", "10Mb/s")], "delay": "0s"}),
        ("down=8Mb/s, up=500 kb/s, 5ms", {"rate": [("server", "8Mb/s"), ("client", "500 kb/s")], "delay": "5ms"}),
        ("1Gb/s,loss=2.5%", {"loss": {"model": "bernoulli", "probability": 0.025}}),
        ("1Gb/s,loss=0.1", {"loss": {"model": "bernoulli", "probability": 0.1}}),
        ("1Gb/s,queue=30", {"queue": {"packets": 30}}),
        ("1Gb/s,queue=30kB", {"queue": {"bytes": "30kB"}}),
        ("1Gb/s,queue=fq_codel", {"queue": {"discipline": "fq_codel"}}),
    ],
)
def test_a_path_in_words(words: str, link: dict[str, object]) -> None:
    [found] = json.loads(path_in_words(words).text)["link"]
    found["rate"] = [(rate["from"], rate["constant"]) for rate in found["rate"]]
    assert found | link == found
    roamsim.load(path_in_words(words).text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("20ms", r"needs a rate \(down and up\)"),
        ("down=1Mb/s", r"needs a rate \(up\)"),
        ("fast", "'fast' is not a rate, a delay or the file"),
        ("1Mb/s,jitter=3ms", "knows no 'jitter'.*--set link.path.KEY"),
        ("1Mb/s,loss=few", "not a share of packets"),
        ("1Mb/s,loss=nan", "loss=nan is not a share of packets"),
        ("1Mb/s,loss=101%", "loss=101% is not a share of packets"),
        ("1Mb/s,20ms,30ms", "has delay twice"),
        ("1Mb/s,queue=3,20ms,queue=4", "has queue twice"),
        ("1Mb/s,down=2Mb/s", "a rate for both directions and one for a single one"),
        ("10Mb/s,20", "'20' is not a rate, a delay or the file"),
        ("10mbit", "'10mbit' is not a rate, a delay or the file"),
        ("", "'' is not a rate"),
    ],
)
def test_what_describes_no_path_is_refused(words: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        path_in_words(words)


def test_a_path_without_a_command_says_how_one_is_written(roamsim: Command) -> None:
    done = roamsim("live", "--link", "10Mb/s", code=2)
    assert "roamsim live --link RATE,DELAY,... -- COMMAND, or --shell client" in done.stderr


def test_a_program_at_a_node_that_the_scenario_lacks_is_refused(roamsim: Command) -> None:
    done = roamsim("live", "-", "--on", "tablet", "--", "true", code=2, stdin=WIRE)
    assert "there is no node 'tablet' to run a program on; there are " in done.stderr


def test_the_compiled_world_says_what_is_no_node() -> None:
    world = CompiledWorld(roamsim.load(WIRE, set={"node.phone.external": True}))
    with pytest.raises(ValueError, match="there is no node"):
        world.addresses("nobody")
