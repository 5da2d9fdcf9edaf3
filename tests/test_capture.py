"""Captures: what tshark makes of them."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import roamsim
from conftest import ROOT

pytestmark = pytest.mark.needs("tshark")

CHECKSUMS = (
    *("-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"),
    *("-o", "sctp.checksum:crc-32c"),
)


def tshark(capture: Path, *arguments: str) -> str:
    """What tshark prints of a capture, checksums verified."""
    command = ["tshark", "-r", str(capture), *CHECKSUMS, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def capture(tmp_path: Path, scenario: Path | str, **settings: Any) -> Path:
    """A capture of 20 s of a scenario."""
    file = tmp_path / "run.pcapng"
    roamsim.run(scenario, set={"scenario.duration": "20s", **settings}, pcap=file)
    return file


@pytest.mark.parametrize("ip", ["ipv6", "ipv4"])
@pytest.mark.parametrize(
    "example", ["wifi-signalling.toml", "one-tcp-flow.toml", "mih-indications.toml", "voice-over-bursty-loss.toml"]
)
def test_nothing_is_malformed_and_every_checksum_is_right(tmp_path: Path, example: str, ip: str) -> None:
    settings: dict[str, Any] = {"scenario.ip": ip}
    if example in ("mih-indications.toml", "one-tcp-flow.toml"):
        settings["scenario.duration"] = "20s"
    if example == "mih-indications.toml":
        settings["signalling.indications.stop"] = "20s"
    if example == "one-tcp-flow.toml":
        settings["link.pipe.outages"] = []
    file = capture(tmp_path, ROOT / "examples" / example, **settings)
    wrong = "_ws.malformed || tcp.checksum.status == 0 || udp.checksum.status == 0 || ip.checksum.status == 0"
    assert tshark(file, "-Y", wrong) == ""
    assert len(tshark(file, "-Y", "tcp || udp").splitlines()) > 50


def test_mih_messages_are_dissected_with_their_fields(tmp_path: Path) -> None:
    settings = {"signalling.indications.stop": "20s"}
    file = capture(tmp_path, ROOT / "examples" / "mih-indications.toml", **settings)
    fields = ("mih.service_id", "mih.opcode", "mih.action_id", "mih.acq_req", "mih.acq_resp", "udp.length")
    shown = tshark(file, "-Y", "mih", "-T", "fields", *(word for field in fields for word in ("-e", field)))
    rows = Counter(tuple(line.split("\t")) for line in shown.splitlines())
    number = Counter({tuple(int(field, 0) for field in row): count for row, count in rows.items()})
    # MIH_Link_Going_Down.indication is 0x2c06: service 2, opcode 3, action 6. 200 B and 8 of UDP. 30 are sent, each
    # captured where it is sent and most also where it is received; their ACKs are 8 B and two names: 27 B in all.
    assert 60 <= number[2, 3, 6, 1, 0, 208] <= 2 * 90
    assert 30 <= number[2, 3, 6, 0, 1, 27] <= 2 * 90


@pytest.mark.parametrize(
    ("ip", "fragment"), [("ipv4", "ip.flags.mf == 1 || ip.frag_offset > 0"), ("ipv6", "ipv6.fraghdr")]
)
def test_fragments_are_put_together_again(tmp_path: Path, ip: str, fragment: str) -> None:
    """RFC 791 section 3.2, RFC 8200 section 4.5: a message of 5000 B takes four packets."""
    settings: dict[str, Any] = {"scenario.ip": ip, "signalling.indications.message_size": "5000B"}
    settings |= {"signalling.indications.stop": "20s", "link.path.loss.probability": 0.0}
    file = capture(tmp_path, ROOT / "examples" / "mih-indications.toml", **settings)
    whole = tshark(file, "-Y", "udp.length == 5008 && udp.checksum.status == 1").splitlines()
    assert len(whole) > 30
    assert len(tshark(file, "-Y", fragment).splitlines()) == 4 * len(whole)
    assert tshark(file, "-Y", "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0") == ""


def test_link_events_are_dissected_as_indications_of_links_in_their_cells(tmp_path: Path) -> None:
    file = capture(tmp_path, ROOT / "examples" / "link-events.toml", **{"scenario.duration": "60s"})
    assert tshark(file, "-Y", "_ws.malformed || _ws.expert.severity == error || udp.checksum.status == 0") == ""
    fields = ("mih.action_id", "mih.mac_addr", "mih.time_interval", "mih.link_gdn_reason", "mih.link_dn_reason")
    which = "mih.service_id == 2 && mih.opcode == 3 && mih.acq_resp == 0 && udp.dstport == 4551"
    shown = tshark(file, "-Y", which, "-T", "fields", *(word for field in fields for word in ("-e", field)))
    rows = {tuple(line.split("\t")) for line in shown.splitlines()}
    told = {
        (int(action, 0), time and int(time, 0), why_going and int(why_going), why and int(why))
        for action, _, time, why_going, why in rows
    }
    # MIH_Link_Going_Down 3 s ahead, as a parameter degrades (1); MIH_Link_Down without broadcast (3); MIH_Link_Up.
    assert told == {(6, 3000, 1, ""), (3, "", "", 3), (2, "", "", "")}
    # Down is of the first link, and up of the second.
    links = {int(row[0], 0): row[1] for row in rows}
    assert links[6] == links[3] != links[2]


def test_a_drop_is_commented_where_and_why(tmp_path: Path) -> None:
    file = capture(tmp_path, ROOT / "examples" / "one-tcp-flow.toml", **{"link.pipe.outages": []})
    text = tshark(file, "-Y", "frame.comment", "-T", "fields", "-e", "frame.interface_name", "-e", "frame.comment")
    losses = [line for line in text.splitlines() if line.endswith(": loss")]
    assert losses
    assert all(line.startswith("server:pipe\tdropped on pipe (server to phone) at ") for line in losses)


def test_time_stamps_are_nanoseconds_and_interfaces_are_named(tmp_path: Path) -> None:
    file = capture(tmp_path, ROOT / "examples" / "wifi-signalling.toml")
    times = tshark(file, "-T", "fields", "-e", "frame.time_epoch").split()
    assert [float(time) for time in times] == sorted(float(time) for time in times)
    assert any(not time.endswith("000") for time in times)
    names = set(tshark(file, "-T", "fields", "-e", "frame.interface_name").split())
    assert len(names) >= 4, names


@pytest.mark.parametrize(("timestamps", "most_blocks"), [(False, 4), (True, 3)])
def test_sack_blocks_are_dissected(tmp_path: Path, timestamps: bool, most_blocks: int) -> None:
    """RFC 2018: permitted on both SYNs, then up to four blocks, three beside timestamps, each of them in order."""
    settings: dict[str, Any] = {
        "link.pipe.outages": [],
        "link.pipe.loss.probability": 0.05,
        "flow.ftp.transport.variant": "sack",
        "flow.ftp.transport.timestamps": timestamps,
    }
    file = capture(tmp_path, ROOT / "examples" / "one-tcp-flow.toml", **settings)
    assert tshark(file, "-Y", "_ws.malformed || tcp.checksum.status == 0") == ""
    assert len(tshark(file, "-Y", "tcp.flags.syn == 1 && tcp.options.sack_perm").splitlines()) >= 4
    fields = ("-e", "tcp.options.sack_le", "-e", "tcp.options.sack_re", "-e", "tcp.ack")
    rows = tshark(file, "-Y", "tcp.options.sack_le", "-T", "fields", *fields).splitlines()
    counts = set()
    for row in rows:
        left, right, ack = ([int(number) for number in field.split(",")] for field in row.split("\t"))
        counts.add(len(left))
        # A duplicate (RFC 2883) may lie below the acknowledgement; all others lie above it.
        assert all(a < b for a, b in zip(left, right, strict=True))
        assert all(a > ack[0] for a in left[1:])
    assert counts == set(range(1, most_blocks + 1))


def test_data_both_ways_is_one_conversation_of_which_each_direction_acknowledges_the_other(tmp_path: Path) -> None:
    settings = {"link.pipe.loss.probability": 0, "flow.chat.transport.delayed_ack_count": 1000}
    everything = capture(tmp_path, ROOT / "examples" / "both-ways.toml", **settings)
    file = tmp_path / "alice.pcapng"
    tshark(everything, "-Y", 'frame.interface_name == "alice:pipe"', "-w", str(file))
    found = "tcp.analysis." + " || tcp.analysis.".join(
        (
            "retransmission",
            "duplicate_ack",
            "out_of_order",
            "lost_segment",
            "ack_lost_segment",
            "spurious_retransmission",
        )
    )
    assert tshark(file, "-Y", found) == ""
    fields = ("ip.src", "tcp.stream", "tcp.seq", "tcp.len", "tcp.ack")
    shown = tshark(file, "-T", "fields", *(word for field in fields for word in ("-e", field))).splitlines()
    rows = [(row[0], *map(int, row[1:])) for row in (line.split("\t") for line in shown[2:])]
    assert {row[1] for row in rows} == {0}
    alice, bob = dict.fromkeys(row[0] for row in rows)
    sent = {alice: 1, bob: 1}
    data, newer = Counter[str](), Counter[str]()
    told = {alice: 1, bob: 1}
    for source, _, sequence, length, acknowledged in rows:
        other = bob if source == alice else alice
        # Seen at alice: bob's data has arrived, and alice's may be under way.
        assert acknowledged <= sent[other]
        if length:
            data[source] += 1
            newer[source] += acknowledged > told[source]
        told[source] = max(told[source], acknowledged)
        sent[source] = max(sent[source], sequence + length)
    # 20 messages a second for 19 s each way; most data tells of some that has arrived since the last.
    assert all(count > 300 for count in data.values())
    assert all(newer[source] > data[source] / 2 for source in data)
    # What no data carried within 200 ms: with a message each 50 ms in the mean, exp(-4) = 2 %.
    assert sum(not row[3] for row in rows) < 0.05 * len(rows)


def chunks(file: Path) -> Counter[int]:
    """How often each type of SCTP chunk was captured."""
    shown = tshark(file, "-Y", "sctp", "-T", "fields", "-e", "sctp.chunk_type")
    return Counter(int(number) for line in shown.splitlines() for number in line.split(","))


@pytest.mark.parametrize("ip", ["ipv6", "ipv4"])
def test_sctp_is_dissected_from_handshake_to_shutdown(tmp_path: Path, ip: str) -> None:
    settings: dict[str, Any] = {
        "scenario.ip": ip,
        "link.pipe.loss.probability": 0.05,
        "flow.bulk.application": {"kind": "transfer", "size": "1MB"},
        "flow.records.application.packet_size": "2000B",
    }
    file = capture(tmp_path, ROOT / "examples" / "sctp-streams.toml", **settings)
    assert tshark(file, "-Y", "_ws.malformed || _ws.expert.severity == error || sctp.checksum.status == 0") == ""
    packets = len(tshark(file, "-Y", "sctp").splitlines())
    assert packets > 1000
    assert len(tshark(file, "-Y", "sctp.checksum.status == 1").splitlines()) == packets
    # RFC 9260 3.2: DATA, INIT, INIT ACK, SACK, SHUTDOWN, SHUTDOWN ACK, COOKIE ECHO, COOKIE ACK, SHUTDOWN COMPLETE.
    assert set(chunks(file)) >= {0, 1, 2, 3, 7, 8, 10, 11, 14}
    # Records of 2000 B are cut in two: a first and a last piece with one stream sequence number.
    fields = ("-e", "sctp.data_ssn", "-e", "sctp.data_b_bit", "-e", "sctp.data_e_bit")
    shown = tshark(file, "-Y", "sctp.srcport == 49152 && sctp.data_tsn", "-T", "fields", *fields)
    pieces: dict[str, set[tuple[str, str]]] = {}
    for line in shown.splitlines():
        for number, first, last in zip(*(field.split(",") for field in line.split("\t")), strict=True):
            pieces.setdefault(number, set()).add((first, last))
    assert len(pieces) > 500
    assert sum(len(found) == 2 for found in pieces.values()) > 0.95 * len(pieces)
    assert all(first != last for found in pieces.values() for first, last in found)


def test_gap_blocks_are_dissected(tmp_path: Path) -> None:
    """RFC 9260 3.3.4: blocks count from the cumulative TSN, do not touch it, each other, or come in another order."""
    settings = {"link.pipe.loss.probability": 0.1}
    file = capture(tmp_path, ROOT / "examples" / "sctp-streams.toml", **settings)
    fields = ("-e", "sctp.sack_gap_block_start", "-e", "sctp.sack_gap_block_end")
    rows = tshark(file, "-Y", "sctp.sack_gap_block_start", "-T", "fields", *fields).splitlines()
    most = 0
    for row in rows:
        first, last = ([int(number) for number in field.split(",")] for field in row.split("\t"))
        most = max(most, len(first))
        ends = [0, *last]
        assert all(begin > end + 1 for begin, end in zip(first, ends, strict=False))
        assert all(begin <= end for begin, end in zip(first, last, strict=True))
    assert most >= 3


@pytest.mark.parametrize(("ip", "kind"), [("ipv4", "5"), ("ipv6", "6")])
def test_changes_of_addresses_are_dissected(tmp_path: Path, ip: str, kind: str) -> None:
    file = capture(
        tmp_path, ROOT / "examples" / "mobile-sctp.toml", **{"scenario.duration": "60s", "scenario.ip": ip}
    )
    assert tshark(file, "-Y", "_ws.malformed || _ws.expert.severity == error || sctp.checksum.status == 0") == ""
    # RFC 5061 4.1.1, 4.1.2: ASCONF is 0xC1, ASCONF ACK 0x80; 4.2: add 0xC001, delete 0xC002, set primary 0xC004.
    fields = ("-e", "sctp.parameter_type", "-e", "sctp.asconf_seq_nr_number", "-e", "frame.interface_name")
    rows = tshark(file, "-Y", "sctp.chunk_type == 0xc1", "-T", "fields", *fields).splitlines()
    # Each is captured at every interface that it passes, and repeated with its number if it is lost.
    told = {}
    for row in rows:
        parameters, serial, interface = row.split("\t")
        if interface.startswith("terminal:"):
            told[int(serial, 0)] = [int(parameter, 0) for parameter in parameters.split(",")]
    # The address by which the association is found, then a change and the address within.
    add, primary, delete = ([int(kind), change, int(kind)] for change in (0xC001, 0xC004, 0xC002))
    assert list(told.values())[:3] == [add, primary, delete]
    assert list(told) == list(range(min(told), min(told) + len(told)))
    answers = tshark(file, "-Y", "sctp.chunk_type == 0x80", "-T", "fields", "-e", "sctp.asconf_ack_seq_nr_number")
    assert {int(serial, 0) for serial in answers.split()} == set(told)


def test_mobile_ip_is_dissected_with_its_extensions_and_its_tunnels(tmp_path: Path) -> None:
    settings = {"scenario.duration": "60s", "mobile_ip.walk.reverse_tunnel": True}
    file = capture(tmp_path, ROOT / "examples" / "mobile-ip.toml", **settings)
    wrong = (
        "_ws.malformed || tcp.checksum.status == 0 || udp.checksum.status == 0 || ip.checksum.status == 0 "
        "|| icmp.checksum.status == 0"
    )
    assert tshark(file, "-Y", wrong) == ""

    def rows(which: str, *fields: str) -> set[tuple[str, ...]]:
        """The different combinations of fields of the packets that a filter lets pass."""
        wanted = (word for field in fields for word in ("-e", field))
        shown = tshark(file, "-Y", which, "-T", "fields", *wanted)
        return {tuple(line.split("\t")) for line in shown.splitlines()}

    flags = ("icmp.mip.h", "icmp.mip.f", "icmp.mip.rt", "icmp.mip.coa", "icmp.mip.prefixlength", "icmp.mip.life")
    # The home agent has no care-of address.
    assert rows("icmp.type == 9", "ip.ttl", *flags) == {
        ("1", "1", "0", "1", "", "32", "1800"),
        ("1", "0", "1", "1", "10.0.0.10", "32", "1800"),
    }
    fields = (
        "udp.port",
        "mip.t",
        "mip.life",
        "mip.homeaddr",
        "mip.haaddr",
        "mip.coa",
        "mip.ext.type",
        "mip.auth.spi",
    )
    away = ("434,434", "1", "60", "10.0.0.9", "10.0.0.7", "10.0.0.10", "32", "0x00000100")
    home = ("434,434", "0", "0", "10.0.0.9", "10.0.0.7", "10.0.0.9", "32", "0x00000100")
    assert rows("mip.type == 1", *fields) == {away, home}
    assert {row[0] for row in rows("mip.type == 3", "mip.code")} == {"0"}
    # Data through the reverse tunnel, acknowledgements through the other: 20 B more outside.
    ends = rows("ip.proto == 4 && tcp.len > 0", "ip.src", "ip.dst")
    assert ends == {("10.0.0.10,10.0.0.9", "10.0.0.7,10.0.0.1")}
    lengths = rows("ip.proto == 4", "ip.len", "ip.proto")
    assert {int(inner) + 20 for outer, inner in (row[0].split(",") for row in lengths)} == {
        int(row[0].split(",")[0]) for row in lengths
    }
    assert ("10.0.0.7,10.0.0.1", "10.0.0.10,10.0.0.9") in rows("ip.proto == 4 && tcp.len == 0", "ip.src", "ip.dst")


def marks(tmp_path: Path, example: str, *fields: str, **settings: Any) -> Counter[tuple[str, ...]]:
    """How many packets of a capture of an example have which values of some fields."""
    file = capture(tmp_path, ROOT / "examples" / example, **settings)
    shown = tshark(file, "-T", "fields", *(word for field in fields for word in ("-e", field)))
    return Counter(tuple(line.split("\t")) for line in shown.splitlines())


@pytest.mark.parametrize(("ip", "field"), [("ipv6", "ipv6.tclass"), ("ipv4", "ip.dsfield")])
def test_packets_carry_the_class_of_their_flow_in_both_directions(tmp_path: Path, ip: str, field: str) -> None:
    settings = {"scenario.ip": ip, "flow.ftp.dscp": "af41", "link.pipe.outages": []}
    found = marks(tmp_path, "one-tcp-flow.toml", f"{field}.dscp", f"{field}.ecn", "tcp.len", **settings)
    # AF41 is 100010 (RFC 2597 section 6); of data and of pure ACKs alike, and nothing says ECN.
    assert {(dscp, ecn) for dscp, ecn, _ in found} == {("34", "0")}
    assert {length for _, _, length in found} == {"0", "1000"}
    found = marks(tmp_path, "one-tcp-flow.toml", f"{field}.dscp", f"{field}.ecn", **{**settings, "flow.ftp.dscp": 0})
    assert set(found) == {("0", "0")}


def test_signalling_has_a_class_too(tmp_path: Path) -> None:
    settings = {"signalling.indications.stop": "20s", "signalling.indications.dscp": "cs6"}
    assert set(marks(tmp_path, "mih-indications.toml", "ipv6.tclass.dscp", **settings)) == {("48",)}


def test_a_tunnel_shows_the_class_of_what_is_inside(tmp_path: Path) -> None:
    settings = {"flow.upload.dscp": "ef", "scenario.duration": "120s"}
    found = marks(tmp_path, "mobile-ip.toml", "ip.dsfield.dscp", "ip.proto", **settings)
    # Protocol 4 is IP in IP (RFC 2003), 6 TCP, 17 the registrations, 1 the advertisements, which are best effort.
    assert {dscp for dscp, protocols in found if protocols == "4,6"} == {"46,46"}
    assert {dscp for dscp, protocols in found if protocols == "6"} == {"46"}
    assert {dscp for dscp, protocols in found if protocols in ("17", "1")} == {"0"}


def frames(tmp_path: Path, example: str, which: str, **settings: Any) -> Path:
    """A capture of the 802.11 frames of an example."""
    file = tmp_path / f"{which}.pcapng"
    roamsim.run(ROOT / "examples" / example, set=settings, pcap=file, pcap_frames=which)
    return file


def rows(file: Path, *fields: str, which: str = "wlan") -> list[tuple[str, ...]]:
    """Fields of frames, FCS verified."""
    shown = tshark(file, "-Y", which, "-T", "fields", *(word for field in fields for word in ("-e", field)))
    return [tuple(line.split("\t")) for line in shown.splitlines()]


FCS = ("-o", "wlan.check_checksum:TRUE")


@pytest.mark.parametrize("ip", ["ipv6", "ipv4"])
@pytest.mark.parametrize("standard", ["802.11b", "802.11g"])
def test_frames_of_a_cell_are_read_as_802_11(tmp_path: Path, standard: str, ip: str) -> None:
    settings = {
        "scenario.ip": ip,
        "scenario.duration": "1500ms",
        "wifi.air.rts_threshold": "500B",
        "wifi.air.standard": standard,
    }
    file = frames(tmp_path, "wifi-contention.toml", "all", **settings)
    wrong = "_ws.malformed || wlan.fcs.status == 0 || tcp.checksum.status == 0 || ip.checksum.status == 0 || !wlan"
    assert tshark(file, *FCS, "-Y", wrong) == ""
    kinds = Counter(row[0] for row in rows(file, "wlan.fc.type_subtype"))
    # RTS, CTS, data, ACK; after each CTS data, after some of which an ACK is missing.
    assert set(kinds) == {"0x001b", "0x001c", "0x0020", "0x001d"}
    assert kinds["0x001b"] > kinds["0x001c"] > 100
    assert kinds["0x0020"] > kinds["0x001d"] > 100
    # Beside the packet 8 octets of LLC and SNAP, 24 of the MAC, and 4 of FCS; ipv6.plen leaves IP's own 40 out.
    length = "ip.len" if ip == "ipv4" else "ipv6.plen"
    data = rows(file, "frame.len", "radiotap.length", length, which="wlan.fc.type_subtype == 0x20")
    beside = 36 if ip == "ipv4" else 76
    assert {int(whole) - int(radiotap) - int(packet) for whole, radiotap, packet in data} == {beside}
    rate = {"802.11b": "2", "802.11g": "24"}[standard]
    assert {row[0] for row in rows(file, "radiotap.datarate", which="wlan.fc.type_subtype == 0x1b")} == {rate}
    reserved = set(rows(file, "wlan.duration", which="wlan.fc.type_subtype == 0x1d"))
    assert reserved == {("0",)}
    # A CTS reserves less than its RTS: itself, of 192 + 56 us or 26 + 8, and the SIFS before it.
    rts = {int(row[0]) for row in rows(file, "wlan.duration", which="wlan.fc.type_subtype == 0x1b")}
    cts = {int(row[0]) for row in rows(file, "wlan.duration", which="wlan.fc.type_subtype == 0x1c")}
    assert {value - {"802.11b": 258, "802.11g": 44}[standard] for value in rts} >= cts


def test_a_repetition_has_the_retry_bit_and_the_number_of_the_first(tmp_path: Path) -> None:
    file = frames(tmp_path, "wifi-contention.toml", "all", **{"scenario.duration": "1500ms"})
    data = rows(file, "wlan.ta", "wlan.seq", "wlan.fc.retry", which="wlan.fc.type_subtype == 0x20")
    last: dict[str, int] = {}
    repeated = 0
    for sender, number, retry in data:
        if retry in ("1", "True"):
            assert int(number) == last[sender]
            repeated += 1
        else:
            assert int(number) == (last.get(sender, 0) + 1) % 4096
        last[sender] = int(number)
    assert 20 < repeated < len(data) / 2


@pytest.mark.parametrize(("standard", "rate"), [("802.11b", "11Mb/s"), ("802.11g", "24Mb/s")])
def test_management_frames_are_read_with_their_elements(tmp_path: Path, standard: str, rate: str) -> None:
    cells = {
        f"wifi.{cell}.{key}": value
        for cell in ("west cell", "east cell")
        for key, value in (("standard", standard), ("rate", rate))
    }
    # Little data, since the walk takes its time.
    file = frames(tmp_path, "wifi-roaming.toml", "all", **cells, **{"flow.download.application.start": "59s"})
    assert tshark(file, *FCS, "-Y", "_ws.malformed || wlan.fcs.status == 0 || !wlan") == ""
    shown = rows(file, "wlan.fc.type_subtype", "frame.len", "radiotap.length", which="wlan.fc.type == 0")
    lengths = {(int(kind, 0), int(whole) - int(radiotap)) for kind, whole, radiotap in shown}
    # Association request and response, reassociation, probe request and response, beacon, authentication: docs/models/wifi.md.
    assert (
        lengths
        == {
            "802.11b": {(0, 48), (1, 40), (2, 54), (3, 40), (4, 44), (5, 59), (8, 65), (11, 34)},
            "802.11g": {(0, 58), (1, 50), (2, 64), (3, 50), (4, 54), (5, 72), (8, 78), (11, 34)},
        }[standard]
    )
    beacons = rows(
        file, "wlan.ssid", "wlan.ds.current_channel", "radiotap.channel.freq", which="wlan.fc.type_subtype == 8"
    )
    # One network, of whose name 8 octets are told by its access points, and asked for by its stations.
    network = b"west cel".hex()
    assert set(beacons) == {(network, "1", "2412"), (network, "6", "2437")}
    asked = rows(file, "wlan.fc.type_subtype", "wlan.ssid", which="wlan.fc.type_subtype in {0, 2, 4, 5}")
    assert {(int(kind, 0), name) for kind, name in asked} == {(kind, network) for kind in (0, 2, 4, 5)}
    assert {row[0] for row in rows(file, "wlan.fixed.beacon", which="wlan.fc.type_subtype == 8")} == {"100"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # Short slots and preambles, as a cell without stations of 802.11b has them; long slots.
        ({}, ("True", "True", "False", "False", "False")),
        ({"slot_time": "long"}, ("False", "True", "False", "False", "False")),
        # With protection stations of 802.11b are there; its frames have the long preamble, or the short one.
        ({"slot_time": "long", "protection.mechanism": "cts_to_self"}, ("False", "False", "True", "True", "True")),
        # Protection brings long slots, which those stations know alone.
        (
            {"protection.mechanism": "rts_cts", "protection.preamble": "short"},
            ("False", "True", "True", "True", "False"),
        ),
    ],
)
def test_beacons_tell_of_slots_preambles_and_protection(
    tmp_path: Path, settings: dict[str, str], expected: tuple[str, ...]
) -> None:
    common = {"standard": "802.11g", "rate": "24Mb/s", **settings}
    cells = {f"wifi.{cell}.{key}": value for cell in ("west cell", "east cell") for key, value in common.items()}
    file = frames(tmp_path, "wifi-roaming.toml", "all", **cells, **{"scenario.duration": "2s"})
    fields = (
        "wlan.fixed.capabilities.short_slot_time",
        "wlan.fixed.capabilities.short_preamble",
        "wlan.erp_info.erp_present",
        "wlan.erp_info.use_protection",
        "wlan.erp_info.barker_preamble_mode",
    )
    shown = rows(file, *fields, which="wlan.fc.type_subtype == 8")
    as_bool = {"1": "True", "0": "False"}
    assert {tuple(as_bool.get(value, value) for value in row) for row in shown} == {expected}


def test_a_node_captures_what_its_radio_hears(tmp_path: Path) -> None:
    everything = frames(tmp_path, "wifi-roaming.toml", "all", **{"scenario.duration": "8s"})
    walker = frames(tmp_path, "wifi-roaming.toml", "walker", **{"scenario.duration": "8s"})
    assert tshark(walker, *FCS, "-Y", "_ws.malformed || !wlan") == ""
    heard = rows(walker, "radiotap.dbm_antsignal", "frame.packet_flags_direction", "radiotap.flags.badfcs")
    assert 0 < len(heard) < len(tshark(everything, "-Y", "wlan").splitlines())
    for signal, direction, broken in heard:
        # Its own frames have no signal; others are understood from the power on that arrives at 45 m.
        own = int(direction, 0) == 2
        assert own == (signal == "")
        assert own or broken in ("1", "True") or -90 < int(signal) < -20
    directions = Counter(int(direction, 0) for _, direction, _ in heard)
    assert min(directions[1], directions[2]) > 1000


def test_a_capture_of_frames_that_would_be_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(roamsim.RunFailed, match="the scenario has no radio whose frames can be captured"):
        frames(tmp_path, "one-tcp-flow.toml", "all")
    with pytest.raises(roamsim.RunFailed, match='"server" has no radio whose frames can be captured'):
        frames(tmp_path, "wifi-roaming.toml", "server")
    with pytest.raises(roamsim.UsageError, match="there is no node 'severs'; did you mean 'server'"):
        frames(tmp_path, "wifi-roaming.toml", "severs")
    with pytest.raises(roamsim.UsageError, match="there is no node 'nobody'; there are "):
        frames(tmp_path, "wifi-roaming.toml", "nobody")
    with pytest.raises(roamsim.UsageError, match="pcap_frames needs a capture; add pcap FILE"):
        roamsim.run(ROOT / "examples" / "wifi-roaming.toml", pcap_frames="all")


@pytest.mark.parametrize(("ip", "field"), [("ipv6", "ipv6.tclass.ecn"), ("ipv4", "ip.dsfield.ecn")])
def test_what_says_that_it_is_congested_stands_in_the_packets(tmp_path: Path, ip: str, field: str) -> None:
    """RFC 3168: ECT(0) on data, CE behind the queue that marked it, ECE of the receiver, CWR of the sender."""
    example = "queue-management.toml"
    flags = ("tcp.flags.syn", "tcp.flags.ack", "tcp.flags.ece", "tcp.flags.cwr")
    found = marks(tmp_path, example, field, *flags, "tcp.len", **{"scenario.ip": ip})
    tables = roamsim.run(ROOT / "examples" / example, set={"scenario.duration": "20s", "scenario.ip": ip}).tables
    marked, reductions = (tables["ecn"][name][0] for name in ("marked_packets", "reductions"))
    segments = Counter[tuple[str, ...]]()
    for (ecn, *said, length), count in found.items():
        if length:  # of TCP
            segments[ecn, "".join(said), "data" if int(length) else ""] += count
    # Each packet passes four interfaces; a mark is made behind the third. The SYN says ECE and CWR, its answer ECE.
    assert segments["0", "1011", ""] == segments["0", "1110", ""] == 4
    assert segments["3", "0100", "data"] + segments["3", "0101", "data"] == marked > 10
    assert segments["2", "0101", "data"] + segments["3", "0101", "data"] == 4 * reductions > 40
    assert segments["0", "0110", ""] > 4 * reductions
    # Nothing else is sent: no ACK is marked, and no repetition (section 6.1.5) was needed.
    kinds = {kind for kind in segments if segments[kind]}
    assert {(ecn, kind) for ecn, _, kind in kinds} == {("0", ""), ("2", "data"), ("3", "data")}


def test_one_end_sees_no_copies_where_every_interface_has_one_a_hop(tmp_path: Path) -> None:
    example = ROOT / "examples" / "mobile-ip.toml"
    file = tmp_path / "run.pcapng"
    result = roamsim.run(example, pcap=file, pcap_at="terminal", trace="segments")
    # What is flagged of the data has been sent again, and of the acknowledgements has acknowledged nothing new.
    repeated = "(tcp.analysis.retransmission || tcp.analysis.out_of_order) && tcp.len > 0"
    assert len(tshark(file, "-Y", repeated).splitlines()) == result.flows["retransmissions"].sum()
    heard = result.segments.filter(event="acknowledged")
    again = heard.filter(heard["start_bytes"] == heard["end_bytes"]).height
    assert len(tshark(file, "-Y", "tcp.analysis.duplicate_ack").splitlines()) <= again
    owners = {name.split(":")[0] for name in interfaces(file)}
    assert owners == {"terminal"}


def test_several_ends_are_captured_together_and_what_is_no_node_is_refused(tmp_path: Path) -> None:
    example = ROOT / "examples" / "mih-indications.toml"
    nodes = [node["name"] for node in json.loads(roamsim.load(example).canonical)["node"]][:2]
    file = capture_at(tmp_path, example, nodes)
    assert {name.split(":")[0] for name in interfaces(file)} == set(nodes)
    with pytest.raises(roamsim.UsageError, match="there is no node 'nobody'"):
        capture_at(tmp_path, example, ["nobody"])
    with pytest.raises(roamsim.UsageError, match="pcap_at needs a capture; add pcap FILE"):
        roamsim.run(example, pcap_at=nodes)
    with pytest.raises(roamsim.UsageError, match="choose one"):
        roamsim.run(example, pcap=file, pcap_at=nodes, pcap_frames="all")


def interfaces(file: Path) -> set[str]:
    """The interfaces of which a capture has packets."""
    return set(tshark(file, "-T", "fields", "-e", "frame.interface_name").splitlines())


def capture_at(tmp_path: Path, scenario: Path, nodes: list[str]) -> Path:
    """A capture of 20 s at some nodes."""
    file = tmp_path / "ends.pcapng"
    settings = {"scenario.duration": "20s", "signalling.indications.stop": "20s"}
    roamsim.run(scenario, set=settings, pcap=file, pcap_at=nodes)
    return file


def test_a_forward_tsn_is_dissected_with_its_streams(tmp_path: Path) -> None:
    scenario = """
        [scenario]
        name = "given up"
        duration = "6s"
        [[node]]
        name = "a"
        [[node]]
        name = "b"
        [[link]]
        name = "path"
        between = ["a", "b"]
        rate = "1Mb/s"
        delay = "50ms"
        outages = [{ start = "1.5s", duration = "1s" }]
        [[flow]]
        name = "f"
        from = "a"
        to = "b"
        transport = { protocol = "sctp", max_lifetime = "500ms" }
        application = { kind = "cbr", packet_size = "1000B", interval = "2s" }
    """
    file = capture(tmp_path, scenario, **{"scenario.duration": "6s"})
    assert tshark(file, "-Y", "_ws.malformed || sctp.checksum.status == 0") == ""
    # Both ends offer it, by its parameter and in the list of extensions.
    assert len(tshark(file, "-Y", "sctp.parameter_type == 0xc000").splitlines()) >= 2
    # The second message, stream 0 and number 1, was lost; T3-rtx expires after its lifetime.
    fields = ("sctp.forward_tsn_tsn", "sctp.forward_tsn_sid", "sctp.forward_tsn_ssn")
    named = [word for field in fields for word in ("-e", field)]
    rows = tshark(file, "-Y", "sctp.chunk_type == 192", "-T", "fields", *named).splitlines()
    told = {tuple(int(field, 0) for field in row.split("\t")[1:]) for row in rows}
    assert told == {(0, 1)}


def test_fast_open_is_dissected(tmp_path: Path) -> None:
    """A request, its answer, and a SYN with cookie and data, all of which the server acknowledges."""
    text = """
        [scenario]
        name = "fast-open"
        duration = "5s"
        [[node]]
        name = "a"
        [[node]]
        name = "b"
        [[link]]
        name = "line"
        between = ["a", "b"]
        rate = "8Mb/s"
        delay = "10ms"
        [[flow]]
        name = "f"
        from = "a"
        to = "b"
        transport = { protocol = "tcp", fast_open = true }
        application = { kind = "transfers", content = "0 500\\n1 500" }
    """
    file = capture(tmp_path, text, **{"scenario.duration": "5s"})
    fields = ("tcp.flags.ack", "tcp.len", "tcp.ack", "tcp.options.tfo.request", "tcp.options.tfo.cookie")
    which = ("-Y", "tcp.flags.syn == 1", "-T", "fields")
    shown = tshark(file, *which, *(word for field in fields for word in ("-e", field)))
    rows = [line.split("\t") for line in dict.fromkeys(shown.splitlines())]
    (request, answer, opening, opened) = rows
    cookie = answer[4]
    assert len(cookie.replace(":", "")) == 16
    assert request[1] == "0" and request[3] and not request[4]
    assert (answer[1:3], opening[1], opening[4]) == (["0", "1"], "500", cookie)
    # SYN and 500 octets.
    assert (opened[2], opened[4]) == ("501", "")
    assert tshark(file, "-Y", "_ws.malformed || _ws.expert.severity == error || tcp.checksum.status == 0") == ""


def test_the_user_timeout_option_is_dissected(tmp_path: Path) -> None:
    """The end that opens advertises 600 s on its SYN, and the other end takes that over."""
    transport = {"protocol": "tcp", "user_timeout": "120s", "advertised_user_timeout": "600s"}
    settings: dict[str, Any] = {"flow.ftp.transport": transport, "link.pipe.outages": []}
    file = capture(tmp_path, ROOT / "examples" / "one-tcp-flow.toml", **settings)
    fields = ("tcp.flags.syn", "tcp.options.user_to_granularity", "tcp.options.user_to_val")
    shown = tshark(file, "-Y", "tcp.options.user_to", "-T", "fields", *(w for field in fields for w in ("-e", field)))
    rows = [line.split("\t") for line in shown.splitlines()]
    assert {row[2] for row in rows} == {"600"}
    assert len({row[0] for row in rows}) == 2
    assert tshark(file, "-Y", "_ws.malformed || tcp.checksum.status == 0") == ""
