"""Programs outside and simulated applications: HTTP over TCP, datagrams over UDP."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

import pytest
import roamsim
from conftest import run_command
from ipv4 import PHONE, SERVER, checksum, packet

needs_tun = pytest.mark.needs("tun")

#: This machine may be busy.
PATIENT = ("--max-lateness", "10s")

SCENARIO = """
[scenario]
name = "A program at the end"
duration = "20s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "phone"
external = true
[[link]]
name = "path"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "20ms"
[[flow]]
name = "f"
from = "{source}"
to = "{sink}"
port = 7
transport = {{ protocol = "{protocol}" }}
application = {application}
"""

#: The first flow's.
EPHEMERAL = 49152

UP, DOWN = ("phone", "server"), ("server", "phone")


def scenario(ends: tuple[str, str], protocol: str, application: str) -> str:
    """A flow between the program at the phone and the simulated server."""
    return SCENARIO.format(source=ends[0], sink=ends[1], protocol=protocol, application=application)


def datagram(source: int, destination: int, payload: bytes) -> bytes:
    """A datagram from the phone to the server."""
    header = struct.pack("!HHHH", source, destination, 8 + len(payload), 0)
    summed = checksum(PHONE + SERVER + struct.pack("!BBH", 0, 17, 8 + len(payload)) + header + payload)
    return packet(17, PHONE, SERVER, header[:6] + struct.pack("!H", summed) + payload)


def received(emitted: roamsim.world.Emitted) -> tuple[int, int, int, bytes]:
    """When a datagram has come to the phone, its ports, and its payload."""
    octets = emitted.octets
    assert octets[12:20] == SERVER + PHONE and checksum(octets[:20]) == 0
    assert checksum(octets[12:20] + struct.pack("!BBH", 0, 17, len(octets) - 20) + octets[20:]) == 0
    source, destination, length = struct.unpack("!HHH", octets[20:26])
    assert length == len(octets) - 20
    return emitted.time_ns, source, destination, octets[28:]


def test_datagrams_of_a_simulated_source_reach_a_program() -> None:
    application = '{ kind = "cbr", packet_size = "300B", interval = "1s", stop = "3s" }'
    world = roamsim.World(scenario(DOWN, "udp", application))
    world.step(3_000_000_000)
    # 328 octets at 10 Mb/s take 262.4 us.
    payload = bytes(at % 256 for at in range(300))
    assert [received(emitted) for emitted in world.emitted()] == [
        (at * 1_000_000_000 + 20_262_400, EPHEMERAL, 7, payload) for at in range(3)
    ]
    # An answer to it is of no use, and does no harm.
    world.inject("phone", datagram(7, EPHEMERAL, b"thanks"))
    world.step(4_000_000_000)
    flow = world.finish().flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"], flow["lost_packets"]) == (3, 3, 0)
    assert flow["mean_delay_s"] == pytest.approx(0.0202624)


def test_datagrams_of_a_program_are_counted_by_a_simulated_sink() -> None:
    text = scenario(UP, "udp", '{ kind = "bulk" }').replace(
        'rate = "10Mb/s"', 'rate = "10Mb/s"\nqueue = { packets = 1 }'
    )
    world = roamsim.World(text)
    for port in (5000, 5000, 5000, 5001):
        world.inject("phone", datagram(port, 7, bytes(72)))
        # Another port than the flow's; and a length that is wrong.
        world.inject("phone", datagram(port, 8, bytes(72)))
        world.step(world.now_ns + 1_000_000)
    broken = bytearray(datagram(5000, 7, bytes(72)))
    broken[24:26] = b"\xff\xff"
    world.inject("phone", bytes(broken))
    world.step(1_000_000_000)
    result = world.finish()
    flow = result.flows.row(0, named=True)
    # 100 octets at 10 Mb/s take 80 us, in front of which the other packet of the instant waits in no case.
    assert (flow["sent_packets"], flow["delivered_packets"], flow["delivered_bytes"]) == (4, 4, 288)
    assert flow["mean_delay_s"] == pytest.approx(0.02008)
    assert result.tables["drops"].select("node", "reason", "packets").rows() == [("server", "no socket", 5)]


def cut(whole: bytes, identification: int = 5, size: int = 1480) -> list[bytes]:
    """Fragments of a packet of IPv4 (RFC 791 section 3.2)."""
    parts = [whole[20:][at : at + size] for at in range(0, len(whole) - 20, size)]
    fragments = []
    for number, part in enumerate(parts):
        fields = (number < len(parts) - 1) << 13 | number * size // 8
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(part), identification, fields, 64, 17, 0) + PHONE + SERVER
        fragments.append(header[:10] + struct.pack("!H", checksum(header)) + header[12:] + part)
    return fragments


@pytest.mark.parametrize("way", ["in fragments, out of order", "whole, without DF"])
def test_a_datagram_above_the_path_mtu_reaches_a_simulated_socket(way: str) -> None:
    """5028 octets cross the path as 1500, 1500, 1500 and 588, in 4.0704 ms at 10 Mb/s."""
    world = roamsim.World(scenario(UP, "udp", '{ kind = "bulk" }'))
    whole = datagram(5000, 7, bytes(5000))
    fragments = cut(whole)
    sent = [fragments[at] for at in (2, 0, 3, 1)] if way.startswith("in") else cut(whole, size=6000)
    for octets in sent:
        world.inject("phone", octets)
    world.step(1_000_000_000)
    result = world.finish()
    flow = result.flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"], flow["delivered_bytes"]) == (1, 1, 5000)
    assert flow["mean_delay_s"] == pytest.approx(0.0240704)
    assert result.tables["external"]["fragmented_packets"].to_list() == [1]
    assert result.tables["drops"].is_empty()


def test_a_large_request_of_a_program_is_answered() -> None:
    world = roamsim.World(scenario(UP, "udp", '{ kind = "request_response", response_size = "4B" }'))
    for fragment in cut(datagram(5000, 7, bytes(5000))):
        world.inject("phone", fragment)
    world.step(1_000_000_000)
    [answer] = [received(emitted) for emitted in world.emitted()]
    assert answer == (44_096_000, 7, 5000, b"\x00\x01\x02\x03")


def test_a_fragment_without_the_others_goes_on_after_30_s() -> None:
    text = scenario(UP, "udp", '{ kind = "bulk" }').replace('duration = "20s"', 'duration = "100s"')
    world = roamsim.World(text)
    first, *_ = cut(datagram(5000, 7, bytes(5000)))
    other, *_ = cut(datagram(5000, 7, bytes(5000)), identification=6)
    for fragment, until_s in [(first, 30), (other, 90)]:
        world.inject("phone", fragment)
        world.step(until_s * 1_000_000_000)
    result = world.finish()
    assert result.flows["sent_packets"].to_list() == [0]
    assert result.tables["drops"].select("node", "reason", "packets").rows() == [("server", "no socket", 1)]


def test_a_program_asks_over_udp_and_gets_an_answer_at_the_port_it_asked_from() -> None:
    application = '{ kind = "request_response", response_size = "4B", processing_time = "100ms" }'
    world = roamsim.World(scenario(UP, "udp", application))
    for port in (5000, 5001):
        at = world.now_ns
        world.inject("phone", datagram(port, 7, bytes(72)))
        world.step(at + 1_000_000_000)
        # 20.08 ms there, 100 ms, and 32 octets in 25.6 us back.
        [answer] = [received(emitted) for emitted in world.emitted()]
        assert answer == (at + 140_105_600, 7, port, b"\x00\x01\x02\x03")
    flow = world.finish().flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"], flow["delivered_bytes"]) == (2, 2, 8)
    assert flow["mean_delay_s"] == pytest.approx(0.1401056)


def test_datagrams_that_overlap_are_measured_and_answered_at_their_ports() -> None:
    application = '{ kind = "request_response", response_size = "4B", processing_time = "100ms" }'
    loss = 'loss = { model = "list", from = "phone", segments = [2] }'
    world = roamsim.World(scenario(UP, "udp", application).replace('rate = "10Mb/s"', f'rate = "10Mb/s"\n{loss}'))
    for at_ms, port in [(0, 5000), (5, 5001), (10, 5002), (20, 5003)]:
        world.step(at_ms * 1_000_000)
        world.inject("phone", datagram(port, 7, bytes(72)))
    world.step(2_000_000_000)
    # 20.08 ms there, 100 ms, and 32 octets in 25.6 us back. The second is lost.
    assert [received(emitted)[:3] for emitted in world.emitted()] == [
        (at_ms * 1_000_000 + 140_105_600, 7, port) for at_ms, port in [(0, 5000), (10, 5002), (20, 5003)]
    ]
    flow = world.finish().flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"]) == (4, 3)
    assert flow["mean_delay_s"] == pytest.approx(0.1401056)


def test_packets_of_programs_are_lost_by_their_numbers() -> None:
    text = SCENARIO.partition("[[flow]]")[0]
    loss = 'loss = { model = "list", from = "phone", segments = [2, 4] }'
    world = roamsim.World(text.replace('rate = "10Mb/s"', f'rate = "10Mb/s"\n{loss}'), external=["server"])
    # An empty datagram, and a segment without data, do not count; ICMP does.
    bare = struct.pack("!HHIIBBHHH", 1, 2, 3, 4, 0x50, 16, 5, 0, 0)
    packets = [
        packet(17, PHONE, SERVER, struct.pack("!HHHH", 1, 2, 8, 0)),
        datagram(1, 2, b"1"),
        packet(6, PHONE, SERVER, bare),
        datagram(1, 2, b"2"),
        packet(1, PHONE, SERVER, b"\x08\0\0\0\0\0\0\0"),
        packet(6, PHONE, SERVER, bare + b"4"),
        packet(6, PHONE, SERVER, bare + b"5"),
    ]
    for octets in packets:
        world.inject("phone", octets)
    world.step(1_000_000_000)
    came = [emitted.octets for emitted in world.emitted()]
    assert came == [octets for number, octets in enumerate(packets) if number not in (3, 5)]


def test_a_program_answers_over_udp_or_the_client_gives_up() -> None:
    application = '{ kind = "request_response", request_size = "72B", think_time = "1s", timeout = "500ms" }'
    world = roamsim.World(scenario(DOWN, "udp", application))
    world.step(100_000_000)
    assert [received(emitted)[:3] for emitted in world.emitted()] == [(20_080_000, EPHEMERAL, 7)]
    world.inject("phone", datagram(7, EPHEMERAL, bytes(22)))
    # 50 octets take 40 us: at 120.04 ms, and again 1 s later. Nobody answers that.
    world.step(3_000_000_000)
    assert [received(emitted)[0] for emitted in world.emitted()] == [1_140_120_000, 2_640_120_000]
    flow = world.finish().flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"], flow["lost_packets"]) == (3, 1, 1)
    assert (flow["delivered_bytes"], flow["mean_delay_s"]) == (22, pytest.approx(0.12004))


@pytest.mark.parametrize(
    ("ends", "protocol", "application", "said"),
    [
        (UP, "tcp", '{ kind = "request_response", request_size = "1B", response_size = "1B" }', "the program that asks"),
        (DOWN, "udp", '{ kind = "request_response", request_size = "1B", response_size = "1B" }', "the program that answers"),
        (UP, "tcp", '{ kind = "request_response" }', "needs `response_size`"),
        (UP, "tcp", '{ kind = "request_response", response_size = "1B", think_time = "1s" }', "`think_time` has no effect"),
        (DOWN, "tcp", '{ kind = "request_response", request_size = "1B", processing_time = "1s" }', "`processing_time` has no"),
        (DOWN, "tcp", '{ kind = "request_response", request_size = "8001B" }', "a request of 8000 B at most"),
        (DOWN, "tcp", '{ kind = "request_response", request_size = "1B", path = "big" }', "a path begins with /"),
        (DOWN, "udp", '{ kind = "request_response", request_size = "1B", path = "/" }', "`path` is what a program"),
        (UP, "udp", '{ kind = "cbr", packet_size = "1B", interval = "1s" }', "the program decides what it sends"),
    ],
)  # fmt: skip
def test_what_a_program_decides_has_no_key(ends: tuple[str, str], protocol: str, application: str, said: str) -> None:
    with pytest.raises(roamsim.ScenarioError) as caught:
        roamsim.World(scenario(ends, protocol, application))
    # The message is broken into lines of the terminal's width.
    assert said in " ".join(str(caught.value).replace("│", "").split())


def test_sizes_are_needed_between_simulated_nodes() -> None:
    text = scenario(UP, "tcp", '{ kind = "request_response" }').replace("external = true\n", "")
    with pytest.raises(roamsim.ScenarioError, match=r"needs `request_size`(?s:.)*needs `response_size`"):
        roamsim.World(text)


@needs_tun
@pytest.mark.needs("curl")
def test_curl_gets_pages_from_a_simulated_server(tmp_path: Path) -> None:
    application = '{ kind = "request_response", response_size = "40kB", processing_time = "50ms" }'
    text = scenario(UP, "tcp", application).replace("port = 7", "port = 80")
    (tmp_path / "http.toml").write_text(
        text.replace('delay = "20ms"', 'delay = "20ms"\nloss = { model = "bernoulli", probability = 0.02 }')
    )
    get = "curl -s http://server/a http://server/b -o a -o b -w 'GOT %{http_code} %{time_total}\\n'"
    done = run_command(
        "live", "http.toml", *PATIENT, "--out", "kept", "--pcap", "all.pcapng", "--on", "phone", "--", "sh", "-c", get,
        cwd=tmp_path,
    )  # fmt: skip
    times_s = [float(time) for time in re.findall(r"GOT 200 ([\d.]+)", done.stdout)]
    # A round trip and the processing at least; the first one has a handshake before it.
    assert len(times_s) == 2 and times_s[0] > 0.13 and times_s[1] > 0.09, (done.stdout, done.stderr)
    for page in ("a", "b"):
        assert (tmp_path / page).read_bytes() == bytes(at % 256 for at in range(40_000))
    flow = roamsim.open_results(tmp_path / "kept")["flows"].row(0, named=True)
    # Each head has 17 + 40 + 23 + 2 octets.
    assert (flow["sent_packets"], flow["delivered_packets"], flow["delivered_bytes"]) == (2, 2, 80_164)
    assert 0.09 < flow["mean_delay_s"] < sum(times_s) / 2
    assert b"HTTP/1.1 200 OK\r\n" in (tmp_path / "all.pcapng").read_bytes()


@needs_tun
def test_a_simulated_client_gets_pages_from_a_server_of_python(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(bytes(range(250)) * 200)
    application = '{ kind = "request_response", request_size = "500B", path = "/big", start = "1500ms", stop = "2s" }'
    text = scenario(DOWN, "tcp", application).replace("port = 7", "port = 8000").replace('"20s"', '"3s"')
    (tmp_path / "http.toml").write_text(text)
    done = run_command(
        "live", "http.toml", *PATIENT, "--out", "kept", "--on", "phone", "--", sys.executable, "-m", "http.server",
        "8000", "--protocol", "HTTP/1.1", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    flow = roamsim.open_results(tmp_path / "kept")["flows"].row(0, named=True)
    responses = flow["delivered_packets"]
    assert responses >= 2 and done.stderr.count('"GET /big HTTP/1.1" 200') == flow["sent_packets"], done.stderr
    # 50,000 octets and a head of one to three hundred.
    assert 50_100 * responses < flow["delivered_bytes"] < 50_300 * responses
    assert flow["sent_bytes"] == 500 * flow["sent_packets"] and flow["mean_delay_s"] > 0.08


#: Asks three times at once, then writes what is no request, and tells how long each answer took.
PIPELINE = """
import socket, time
connection = socket.create_connection(("server", 80))
request = b"GET / HTTP/1.1\\r\\nHost: server\\r\\n\\r\\n"
begun = time.monotonic()
connection.sendall(3 * request)
got = b""
while got.count(b"200 OK") < 3 or not got.endswith(bytes(range(100))):
    got += connection.recv(65536)
print("PIPELINED", time.monotonic() - begun)
begun = time.monotonic()
connection.sendall(b"\\x16\\x03\\x01")
got = connection.recv(65536)
print("REFUSED", time.monotonic() - begun, got.split(b"\\r\\n")[0].decode())
print("CLOSED", connection.recv(65536))
"""


@needs_tun
def test_requests_overlap_and_what_is_none_is_refused_a_round_trip_later(tmp_path: Path) -> None:
    asking = '{ kind = "request_response", response_size = "100B", processing_time = "50ms" }'
    (tmp_path / "pages.toml").write_text(scenario(UP, "tcp", asking).replace("port = 7", "port = 80"))
    done = run_command(
        "live", "pages.toml", "--max-lateness", "10s", "--out", "kept", "--on", "phone", "--",
        sys.executable, "-c", PIPELINE, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(r"PIPELINED ([\d.]+)\nREFUSED ([\d.]+) (.*)\nCLOSED b''", done.stdout)
    assert found, done.stdout
    # Two ways of 20 ms, and 50 ms for the responses; on a busy machine more.
    assert 0.090 <= float(found[1]) < 1
    assert 0.040 <= float(found[2]) < 1 and found[3] == "HTTP/1.1 400 Bad Request"
    [flow] = roamsim.open_results(tmp_path / "kept")["flows"].rows(named=True)
    assert (flow["sent_packets"], flow["delivered_packets"]) == (3, 3)
    assert 0.090 <= flow["mean_delay_s"] < 1
