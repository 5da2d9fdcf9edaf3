"""Programs outside and simulated connections of TCP: the kernel's TCP talks to ours."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
import roamsim
from ipv4 import PHONE, SERVER, checksum, packet
from outside import FIRST_PORT, FLOW, SCENARIO, are_well_formed, transfers

needs_tun = pytest.mark.needs("tun")

UP = SCENARIO.format(duration="20s") + FLOW.format(
    name="up",
    source="phone",
    sink="server",
    transport='{ protocol = "tcp", variant = "sack" }',
    application='{ kind = "bulk" }',
)

FIN, SYN, RST, ACK = 1, 2, 4, 16


def segment(
    seq: int,
    ack: int,
    flags: int,
    payload: bytes = b"",
    options: bytes = b"",
    port: int = 40000,
    to: int = FIRST_PORT,
) -> bytes:
    """A segment from a port of the phone to the server, in IPv4."""
    words = 5 + len(options) // 4
    header = struct.pack("!HHIIBBHHH", port, to, seq, ack, words << 4, flags, 65535, 0, 0)
    whole = header + options + payload
    summed = checksum(PHONE + SERVER + struct.pack("!BBH", 0, 6, len(whole)) + whole)
    return packet(6, PHONE, SERVER, whole[:16] + struct.pack("!H", summed) + whole[18:])


def answer(world: roamsim.World) -> tuple[int, int, int, int, int]:
    """The last packet that has left: when, to which port, sequence and acknowledgement number, flags."""
    emitted = world.emitted()[-1]
    octets = emitted.octets
    assert octets[12:20] == SERVER + PHONE and checksum(octets[:20]) == 0
    assert checksum(octets[12:20] + struct.pack("!BBH", 0, 6, len(octets) - 20) + octets[20:]) == 0
    _, port, seq, ack, _, flags = struct.unpack("!HHIIBB", octets[20:34])
    return emitted.time_ns, port, seq, ack, flags


def test_a_handshake_by_hand() -> None:
    world = roamsim.World(UP)
    mss = struct.pack("!BBH", 2, 4, 1000)
    world.inject("phone", segment(7, 0, SYN, options=mss))
    world.step(1_000_000_000)
    # 44 octets at 10 Mb/s take 35.2 us, each way.
    time_ns, port, seq, ack, flags = answer(world)
    assert (time_ns, port, ack, flags) == (40_070_400, 40000, 8, SYN | ACK)
    # A segment of another connection, one with a wrong checksum, and one in order.
    wrong = bytearray(segment(8, seq + 1, ACK, b"abc"))
    wrong[-1] ^= 1
    for octets in (segment(8, seq + 1, ACK, b"abc", port=40001), bytes(wrong), segment(8, seq + 1, ACK, b"abc")):
        world.inject("phone", octets)
    world.inject("phone", segment(11, seq + 1, FIN | ACK))
    world.step(2_000_000_000)
    assert answer(world)[1:] == (40000, seq + 1, 12, FIN | ACK)
    world.inject("phone", segment(12, seq + 2, ACK))
    world.step(3_000_000_000)
    assert world.emitted() == []
    result = world.finish()
    assert result.flows["delivered_bytes"].to_list() == [3]
    drops = result.tables["drops"]
    assert drops.select("node", "reason", "packets").rows() == [("server", "no socket", 2)]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ({"transport": '{ protocol = "sctp" }', "application": '{ kind = "request_response" }'}, "over SCTP a program"),
        ({"transport": '{ protocol = "quic" }', "application": '{ kind = "bulk" }'}, "is one of TCP, SCTP or UDP"),
        ({"application": '{ kind = "cbr", packet_size = "100B", interval = "20ms" }'}, "a program gets a stream"),
        ({"application": '{ kind = "bulk" }\nreader = { read_rate = "1Mb/s" }'}, "`reader` has no effect"),
        ({"application": '{ kind = "bulk" }\nbidirectional = true'}, "goes one way"),
        ({"source": "phone", "sink": "server", "application": '{ kind = "transfer", size = "1kB" }'},
         "the program decides what it sends"),
        ({"source": "phone", "sink": "server", "application": '{ kind = "bulk", start = "5s" }'},
         "the program decides when it sends"),
    ],
)  # fmt: skip
def test_a_flow_with_a_program_is_a_stream_of_tcp(flow: dict[str, str], said: str) -> None:
    whole = {"name": "f", "source": "server", "sink": "phone", "transport": '{ protocol = "tcp" }'} | flow
    with pytest.raises(roamsim.ScenarioError) as caught:
        roamsim.World(SCENARIO.format(duration="1s") + FLOW.format(**whole))
    # The message is broken into lines of the terminal's width.
    assert said in " ".join(str(caught.value).replace("│", "").split())
    both = {"name": "f", "source": "server", "sink": "phone", "transport": '{ protocol = "tcp" }'}
    with pytest.raises(roamsim.ScenarioError, match="programs run at both"):
        text = SCENARIO.format(duration="1s") + FLOW.format(**both, application='{ kind = "bulk" }')
        roamsim.World(text, external=["server"])


def test_flows_at_one_port_go_to_the_programs_that_connect_one_by_one() -> None:
    flow = UP.partition("[[flow]]")[2] + "port = 80\n"
    world = roamsim.World(UP + "port = 80\n[[flow]]" + flow.replace('"up"', '"second"'))
    for port in (40000, 40001, 40002):
        world.inject("phone", segment(7, 0, SYN, port=port, to=80))
    world.step(100_000_000)
    # The ports that are answered: there are two flows.
    assert [struct.unpack("!HH", emitted.octets[20:24]) for emitted in world.emitted()] == [(80, 40000), (80, 40001)]
    with pytest.raises(roamsim.ScenarioError, match="port"):
        roamsim.World(UP + "port = 0\n")


def test_what_is_no_request_is_refused_when_it_has_come_and_the_connection_ends() -> None:
    asking = '{ kind = "request_response", response_size = "1kB" }'
    world = roamsim.World(UP.replace('{ kind = "bulk" }', asking))
    world.inject("phone", segment(7, 0, SYN))
    world.step(100_000_000)
    seq = answer(world)[2]
    world.inject("phone", segment(8, seq + 1, ACK, b"\x16\x03\x01 a handshake of TLS"))
    world.step(200_000_000)
    emitted = world.emitted()
    refusal = [each.octets for each in emitted]
    assert b"".join(octets[40:] for octets in refusal).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert refusal[-1][33] & FIN
    # 61 octets at 10 Mb/s take 48.8 us there, and nothing comes back before 20 ms more.
    assert emitted[0].time_ns > 140_048_800
    world.inject("phone", segment(29, seq + 1 + len(refusal[0]) - 39, FIN | ACK))
    world.step(300_000_000)
    # It was no request, and got no response.
    flow = world.finish().flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"], flow["delivered_bytes"]) == (0, 0, 0)


def test_a_refusal_waits_for_the_responses_before_it() -> None:
    asking = '{ kind = "request_response", response_size = "10B", processing_time = "50ms" }'
    world = roamsim.World(UP.replace('{ kind = "bulk" }', asking))
    world.inject("phone", segment(7, 0, SYN, options=struct.pack("!BBH", 2, 4, 1460)))
    world.step(100_000_000)
    seq = answer(world)[2]
    world.inject("phone", segment(8, seq + 1, ACK, b"GET / HTTP/1.1\r\n\r\nnothing\r\nGET / HTTP/1.1\r\n\r\n"))
    world.step(400_000_000)
    written = b"".join(emitted.octets[40:] for emitted in world.emitted())
    assert [written.count(word) for word in (b"200 OK", b"400 Bad")] == [1, 1]
    assert 0 < written.index(bytes(range(10))) < written.index(b"HTTP/1.1 400")


def test_requests_that_overlap_are_measured_one_by_one() -> None:
    asking = '{ kind = "request_response", response_size = "10B", processing_time = "50ms" }'
    # Nagle's algorithm would hold the third response back.
    world = roamsim.World(UP.replace('{ kind = "bulk" }', asking).replace('"sack" }', '"sack", nagle = false }'))
    world.inject("phone", segment(7, 0, SYN, options=struct.pack("!BBH", 2, 4, 1460)))
    world.step(100_000_000)
    first = answer(world)[2] + 1
    request = b"GET / HTTP/1.1\r\n\r\n"
    # Two in one segment, and another 10 ms later.
    world.inject("phone", segment(8, first, ACK, 2 * request))
    world.step(110_000_000)
    world.inject("phone", segment(44, first, ACK, request))
    acknowledged = first
    while world.now_ns < 400_000_000:
        world.step(world.now_ns + 1_000_000)
        for emitted in world.emitted():
            size = len(emitted.octets) - 40
            acknowledged += size
            if size:
                world.inject("phone", segment(62, acknowledged, ACK))
    flow = world.finish().flows.row(0, named=True)
    assert (flow["sent_packets"], flow["delivered_packets"], flow["lost_packets"]) == (3, 3, 0)
    # 20 ms there, 50 ms, 20 ms back, and less than 1 ms each for octets, and for who looks once in 1 ms.
    assert 0.090 < flow["mean_delay_s"] <= flow["p99_delay_s"] < 0.092


def test_a_response_has_a_head_before_its_octets() -> None:
    asking = '{ kind = "request_response", response_size = "1kB" }'
    # A response of 1000 octets with a head, to a request whose octets come out of order.
    world = roamsim.World(UP.replace('{ kind = "bulk" }', asking))
    world.inject("phone", segment(7, 0, SYN, options=struct.pack("!BBH", 2, 4, 1460)))
    world.step(100_000_000)
    seq = answer(world)[2]
    world.inject("phone", segment(12, seq + 1, ACK, b"/ HTTP/1.1\r\n\r\n"))
    world.step(200_000_000)
    assert all(len(emitted.octets) == 40 for emitted in world.emitted())
    world.inject("phone", segment(8, seq + 1, ACK, b"GET "))
    world.step(300_000_000)
    response = b"".join(emitted.octets[40:] for emitted in world.emitted())
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000\r\n\r\n"
    assert response == head + bytes(at % 256 for at in range(1000))


def test_an_attempt_that_is_reset_leaves_the_port_to_the_next() -> None:
    world = roamsim.World(UP)
    world.inject("phone", segment(7, 0, SYN))
    world.step(100_000_000)
    world.emitted()
    world.inject("phone", segment(8, 0, RST))
    world.inject("phone", segment(50, 0, SYN, port=40001))
    world.step(200_000_000)
    assert answer(world)[1:4:2] == (40001, 51)


@pytest.mark.parametrize("waits", [False, True])
def test_a_connection_that_is_reset_leaves_its_port_to_nobody(waits: bool) -> None:
    flow = UP.partition("[[flow]]")[2] + "port = 80\n"
    world = roamsim.World(UP + "port = 80\n[[flow]]" + flow.replace('"up"', '"second"'))
    world.inject("phone", segment(7, 0, SYN, to=80))
    world.step(100_000_000)
    seq = answer(world)[2]
    world.inject("phone", segment(8, seq + 1, ACK, to=80))
    if waits:
        world.step(200_000_000)
    world.inject("phone", segment(8, seq + 1, RST | ACK, to=80))
    world.step(300_000_000)
    world.emitted()
    world.inject("phone", segment(50, 0, SYN, port=40001, to=80))
    world.step(400_000_000)
    # The second flow takes it; the first one's socket would refuse.
    _, port, _, ack, flags = answer(world)
    assert (port, ack, flags) == (40001, 51, SYN | ACK)


def test_a_stray_syn_does_not_disturb_requests() -> None:
    asking = '{ kind = "request_response", response_size = "1kB" }'
    world = roamsim.World(UP.replace('{ kind = "bulk" }', asking))
    world.inject("phone", segment(7, 0, SYN, options=struct.pack("!BBH", 2, 4, 1460)))
    world.step(100_000_000)
    seq = answer(world)[2]
    world.inject("phone", segment(8, seq + 1, ACK))
    world.step(200_000_000)
    world.inject("phone", segment(9000, 0, SYN))
    world.inject("phone", segment(8, seq + 1, ACK, b"GET / HTTP/1.1\r\n\r\n"))
    world.step(300_000_000)
    assert b"HTTP/1.1 200 OK" in b"".join(emitted.octets[40:] for emitted in world.emitted())


def test_nothing_that_a_program_sends_stops_the_run() -> None:
    draw = random.Random(1)
    for _ in range(30):
        world = roamsim.World(UP)
        world.inject("phone", segment(7, 0, SYN))
        world.step(100_000_000)
        seq, now = answer(world)[2], 100_000_000
        world.inject("phone", segment(8, seq + 1, ACK))
        for _ in range(100):
            near = [0, 7, 8, 9, 8 + 1460, 8 + 65535, 2**31, 2**32 - 1]
            ours = [0, seq, (seq + 1) % 2**32, (seq + 2) % 2**32, (seq + 2**31) % 2**32]
            options = draw.choice(
                [b"", draw.randbytes(4), b"\x01\x01\x05\x0a" + draw.randbytes(8), draw.randbytes(40)]
            )
            payload = draw.randbytes(draw.choice([0, 0, 1, 100, 1400]))
            # Few resets, so that most worlds keep their connection for a while.
            flags = draw.choice([ACK, ACK, ACK | 8, ACK | FIN, draw.randrange(256) & ~RST, RST])
            world.inject("phone", segment(draw.choice(near), draw.choice(ours), flags, payload, options))
            now += draw.choice([0, 1_000_000, 300_000_000])
            world.step(now)
            world.emitted()
        world.finish()


#: Serves as many connections as it is told of: reads streams whose octets it knows, and writes others.
PROGRAM = """
import json, socket, sys, threading, time

def read(port, size, told):
    connection, _ = listening[port].accept()
    got = bytearray()
    while octets := connection.recv(65536):
        got += octets
    told[port] = len(got) == size and got == bytes(range(256)) * (size // 256) + bytes(range(size % 256))
    connection.close()

def write(port, size, told):
    connection = socket.create_connection(("server", port))
    connection.sendall(bytes(size))
    connection.shutdown(socket.SHUT_WR)
    told[port] = connection.recv(1) == b""
    connection.close()

plan, told, threads = json.loads(sys.argv[1]), {}, []
# Before all else: flows begin when they do.
listening = {port: socket.create_server(("", port)) for port, _, way in plan if way == "down"}
for port, size, way in plan:
    threads.append(threading.Thread(target=read if way == "down" else write, args=(port, size, told)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
time.sleep(2)
print("TOLD", sum(told.values()), len(told), sorted(port for port in told if not told[port]), flush=True)
"""


@needs_tun
@pytest.mark.needs("tshark")
def test_two_hundred_transfers_between_the_kernel_and_ours(tmp_path: Path) -> None:
    draw = random.Random(2)

    def transport() -> dict[str, object]:
        keys: dict[str, object] = {
            "protocol": "tcp",
            "variant": draw.choice(["tahoe", "reno", "newreno", "sack", "vegas", "cubic"]),
            "timestamps": draw.random() < 0.5,
            "window_scaling": draw.random() < 0.5,
            "ecn": draw.random() < 0.5,
            "nagle": draw.random() < 0.5,
            "delayed_ack": draw.random() < 0.5,
            "mss": draw.choice(["536B", "1000B", "1440B"]),
            "receive_window": draw.choice(["8kB", "64kB"]),
            "min_rto": "200ms",
        }
        if keys["window_scaling"]:
            keys["receive_window"] = draw.choice(["8kB", "1MB"])
        if keys["variant"] in ("sack", "cubic"):
            keys |= {"rack": draw.random() < 0.5, "pacing": draw.random() < 0.5}
        return keys

    kept = transfers(tmp_path, PROGRAM, draw, transport, 'queue = { discipline = "codel", ecn = true }')
    assert kept["retransmissions"].sum() > 50
    wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0"
    are_well_formed(tmp_path, wrong, "tcp.checksum.status == 1", 10_000)
