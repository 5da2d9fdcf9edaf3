"""Programs outside and simulated associations of SCTP: usrsctp, a library, talks to ours."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
import roamsim
from ipv4 import PHONE, SERVER, packet
from outside import FIRST_PORT, FLOW, SCENARIO, are_well_formed, transfers
from test_live import crc32c

#: Associations as it is told of: reads messages whose octets it knows, and writes others.
PROGRAM = """
import ctypes, json, socket, struct, sys, threading, time

sctp = ctypes.CDLL("libusrsctp.so.2", use_errno=True)
pointer, size, number = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int
for name, result, arguments in [
    ("socket", pointer, [number] * 3 + [pointer] * 2 + [ctypes.c_uint32, pointer]),
    ("bind", number, [pointer, ctypes.c_char_p, ctypes.c_uint32]),
    ("connect", number, [pointer, ctypes.c_char_p, ctypes.c_uint32]),
    ("listen", number, [pointer, number]),
    ("accept", pointer, [pointer] * 3),
    ("sendv", size, [pointer, ctypes.c_char_p, ctypes.c_size_t, pointer, number, pointer, ctypes.c_uint32, number, number]),
    ("recvv", size, [pointer, pointer, ctypes.c_size_t] + [pointer] * 6),
    ("shutdown", number, [pointer, number]),
    ("close", None, [pointer]),
]:
    function = getattr(sctp, "usrsctp_" + name)
    function.restype, function.argtypes = result, arguments
    globals()["sctp_" + name] = function

def address(host, port):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(host))

def made():
    return sctp_socket(socket.AF_INET, socket.SOCK_STREAM, 132, None, None, 0, None)

def receive(association):
    octets = ctypes.create_string_buffer(65536)
    other = [ctypes.create_string_buffer(64) for _ in range(3)]
    lengths = [ctypes.c_uint32(64) for _ in range(2)]
    kind, flags = ctypes.c_uint(), ctypes.c_int()
    got = sctp_recvv(association, octets, 65536, other[0], ctypes.byref(lengths[0]), other[1],
                     ctypes.byref(lengths[1]), ctypes.byref(kind), ctypes.byref(flags))
    return octets.raw[:got] if got >= 0 else None

def read(port, size, told):
    association = sctp_accept(listening[port], None, None)
    got, is_right = 0, True
    while octets := receive(association):
        got += len(octets)
        # Each message goes on with the octets of the stream; messages may overtake each other.
        is_right = is_right and all((after - before) % 256 == 1 for before, after in zip(octets, octets[1:]))
    told[port] = got == size and is_right and octets is not None
    sctp_close(association)

def write(port, size, told):
    association = made()
    while sctp_connect(association, address("10.0.0.1", port), 16):
        time.sleep(0.5)
    for at in range(0, size, 4000):
        part = min(4000, size - at)
        assert sctp_sendv(association, bytes(part), part, None, 0, None, 0, 0, 0) == part
    sctp_shutdown(association, 1)
    told[port] = receive(association) == b""
    sctp_close(association)

sctp.usrsctp_init(0, None, None)
plan, told, threads, listening = json.loads(sys.argv[1]), {}, [], {}
for port, _, way in plan:
    if way == "down":
        listening[port] = made()
        assert sctp_bind(listening[port], address("0.0.0.0", port), 16) == 0
        assert sctp_listen(listening[port], 1) == 0
for port, size, way in plan:
    threads.append(threading.Thread(target=read if way == "down" else write, args=(port, size, told)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
time.sleep(2)
print("TOLD", sum(told.values()), len(told), sorted(port for port in told if not told[port]), flush=True)
"""


@pytest.mark.needs("tun", "libusrsctp.so.2", "tshark")
def test_two_hundred_transfers_between_a_library_and_ours(tmp_path: Path) -> None:
    draw = random.Random(3)

    def transport() -> dict[str, object]:
        return {
            "protocol": "sctp",
            "rules": draw.choice(["rfc2960", "rfc9260"]),
            "streams": draw.choice([1, 4]),
            "ordered": draw.random() < 0.7,
            "message_size": draw.choice(["700B", "4kB"]),
            "receive_window": draw.choice(["20kB", "1MB"]),
            "rto_min": "300ms",
            "rto_initial": "1s",
        }

    kept = transfers(tmp_path, PROGRAM, draw, transport)
    assert kept["retransmissions"].sum() > 20
    # ICMP errors quote parts of packets, from before the library is there.
    wrong = "(_ws.malformed || sctp.checksum.status == 0) && !icmp"
    are_well_formed(tmp_path, wrong, "sctp.checksum.status == 1", 3_000, "-o", "sctp.checksum:TRUE")


def between(ends: tuple[str, str], application: str) -> roamsim.World:
    """A world of one flow of SCTP, on whose path a packet takes 20 ms and a little."""
    flow = FLOW.format(
        name="flow", source=ends[0], sink=ends[1], transport='{ protocol = "sctp" }', application=application
    )
    return roamsim.World(SCENARIO.format(duration="100s") + flow)


DATA, INIT, INIT_ACK, SACK, HEARTBEAT, HEARTBEAT_ACK, COOKIE_ECHO, COOKIE_ACK = 0, 1, 2, 3, 4, 5, 10, 11
TAG, FIRST_TSN = 77, 1000


def parameter(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, 4 + len(value)) + value + bytes(-len(value) % 4)


#: Addresses that nobody has, and twenty that others might have.
TOLD = b"".join(
    parameter(5, bytes(address))
    for address in [(10, 200, 0, 5), (10, 255, 255, 255), (10, 0, 0, 0), *((10, 0, 0, 3 + at) for at in range(20))]
)


def chunk(kind: int, value: bytes = b"") -> bytes:
    return struct.pack("!BBH", kind, 0, 4 + len(value)) + value + bytes(-len(value) % 4)


def init(kind: int, told: bytes) -> bytes:
    return chunk(kind, struct.pack("!IIHHI", TAG, 100_000, 10, 10, FIRST_TSN) + told)


def send(world: roamsim.World, tag: int, chunks: bytes, port: int = 40000, to: int = FIRST_PORT) -> None:
    """A packet of the phone for the server."""
    head = struct.pack("!HHI", port, to, tag)
    summed = crc32c(head + bytes(4) + chunks)
    world.inject("phone", packet(132, PHONE, SERVER, head + summed + chunks))


def chunks_out(world: roamsim.World, until_ms: int) -> list[tuple[int, bytes]]:
    """The chunks that have come to the phone until then: kind and value. All packets are for its one address."""
    world.step(until_ms * 1_000_000)
    found = []
    for emitted in world.emitted():
        octets = emitted.octets
        assert octets[12:20] == SERVER + PHONE
        assert octets[28:32] == crc32c(octets[20:28] + bytes(4) + octets[32:])
        at = 32
        while at < len(octets):
            kind, _, size = struct.unpack("!BBH", octets[at : at + 4])
            found.append((kind, octets[at + 4 : at + size]))
            at += size + -size % 4
    return found


def cookie_of(init_ack: bytes) -> bytes:
    at = 16
    while at < len(init_ack):
        kind, size = struct.unpack("!HH", init_ack[at : at + 4])
        if kind == 7:
            return init_ack[at + 4 : at + size]
        at += size + -size % 4
    raise AssertionError("no cookie")


def test_addresses_that_a_program_tells_are_not_taken() -> None:
    world = between(("phone", "server"), '{ kind = "bulk" }')
    send(world, 0, init(INIT, TOLD))
    ((kind, value),) = chunks_out(world, 100)
    assert kind == INIT_ACK
    tag, cookie = struct.unpack("!I", value[:4])[0], cookie_of(value)
    # Cookies with an address that nobody has, in place of its own or beside it, and with none.
    assert cookie[27:] == struct.pack("!I", 1)
    for addresses in (struct.pack("!I", 0xFFFFFFFF), struct.pack("!II", 1, 5), struct.pack("!I", 0), b""):
        send(world, tag, chunk(COOKIE_ECHO, cookie[:27] + addresses))
    assert chunks_out(world, 200) == []
    send(world, tag, chunk(COOKIE_ECHO, cookie))
    assert chunks_out(world, 300) == [(COOKIE_ACK, b"")]
    # HEARTBEATs go to the address that it has.
    assert {kind for kind, _ in chunks_out(world, 99_000)} == {HEARTBEAT}
    world.finish()


def test_an_init_ack_of_a_program_tells_no_addresses_either() -> None:
    world = between(("server", "phone"), '{ kind = "transfer", start = "0s", size = "10B" }')
    ((kind, value),) = chunks_out(world, 100)
    assert kind == INIT
    tag = struct.unpack("!I", value[:4])[0]
    send(world, tag, init(INIT_ACK, parameter(7, b"cookie") + TOLD), FIRST_PORT, FIRST_PORT)
    assert chunks_out(world, 200) == [(COOKIE_ECHO, b"cookie")]
    send(world, tag, chunk(COOKIE_ACK), FIRST_PORT, FIRST_PORT)
    # It is never acknowledged.
    assert {kind for kind, _ in chunks_out(world, 99_000)} <= {DATA, HEARTBEAT}
    world.finish()


@pytest.mark.parametrize("is_right", [False, True])
def test_only_a_sack_of_the_association_counts_as_delivered(is_right: bool) -> None:
    world = between(("server", "phone"), '{ kind = "transfer", start = "0s", size = "3kB" }')
    ports = (FIRST_PORT, FIRST_PORT)
    tag = struct.unpack("!I", chunks_out(world, 100)[0][1][:4])[0]
    send(world, tag, init(INIT_ACK, parameter(7, b"cookie")), *ports)
    chunks_out(world, 200)
    send(world, tag, chunk(COOKIE_ACK), *ports)
    sent = [value for kind, value in chunks_out(world, 300) if kind == DATA]
    assert b"".join(value[12:] for value in sent) == bytes(number % 256 for number in range(3000))
    first, last = (struct.unpack("!I", sent[at][:4])[0] for at in (0, -1))

    def sack(tag: int, tsn: int) -> None:
        send(world, tag, chunk(SACK, struct.pack("!IIHH", tsn, 100_000, 0, 0)), *ports)

    for wrong in (0, tag ^ 1, TAG):
        sack(wrong, last)
    sack(tag, last + 1)
    if is_right:
        # What comes late, twice or for a chunk before counts once.
        for tsn in (first, last, first, last):
            sack(tag, tsn)
    chunks_out(world, 400)
    assert world.finish().flows["delivered_bytes"].to_list() == [3000 if is_right else 0]


def test_a_wrong_init_does_not_take_the_place_of_a_right_one() -> None:
    world = between(("phone", "server"), '{ kind = "bulk" }')
    send(world, 1, init(INIT, b""), port=40001)
    send(world, 0, init(INIT, b""), port=40000)
    ((kind, _),) = chunks_out(world, 100)
    assert kind == INIT_ACK
    result = world.finish()
    drops = result.tables["drops"]
    assert drops.select("node", "reason", "packets").rows() == [("server", "no socket", 1)]


@pytest.mark.parametrize("until_s", [59, 61])
def test_a_program_that_gives_up_leaves_its_place_when_its_cookie_expires(until_s: int) -> None:
    """60 s (RFC 9260 section 16). Until then the one flow is for the first program alone."""
    world = between(("phone", "server"), '{ kind = "bulk" }')
    send(world, 0, init(INIT, b""), port=40000)
    ((kind, _),) = chunks_out(world, 1000 * until_s)
    assert kind == INIT_ACK
    send(world, 0, init(INIT, b""), port=40001)
    answers = chunks_out(world, 1000 * until_s + 100)
    if until_s < 60:
        assert answers == []
        return
    ((kind, value),) = answers
    tag = struct.unpack("!I", value[:4])[0]
    send(world, tag, chunk(COOKIE_ECHO, cookie_of(value)), port=40001)
    assert chunks_out(world, 1000 * until_s + 200) == [(COOKIE_ACK, b"")]
    # An association that is there keeps its place.
    send(world, tag, chunk(DATA, struct.pack("!IHHI", FIRST_TSN, 0, 0, 0) + b"data"), port=40001)
    assert SACK in {kind for kind, _ in chunks_out(world, 1000 * until_s + 500)}
    world.finish()
