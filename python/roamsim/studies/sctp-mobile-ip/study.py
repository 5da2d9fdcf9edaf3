"""The study's code: settings that are computed, and the closed forms that the simulator is held against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from roamsim import timesequence
from roamsim.study import Check, Data
from roamsim.study.judging import with_interval

from .gains import FAST, SLOW, average, gains, over_replications
from .levels import SEGMENT_BYTES, published_level
from .recovery import nearest_place, recovery_time_s, where

WINDOW_SEGMENTS = 20

#: Octets of a packet with a segment, and of an acknowledgement without SACK blocks: IPv4 20, TCP 20 (RFC 9293), or
#: SCTP's common header 12 and DATA or SACK chunk head 16 (RFC 9260 sections 3.1, 3.3.1, 3.3.4).
PACKET_BYTES = {"TCP Reno": (1040, 40), "TCP SACK": (1040, 40), "SCTP": (1048, 48), "SCTP (RFC 2960)": (1048, 48)}

RADIO_KBPS = (150, 200, 384, 1000, 2000)
BACKHAUL_BPS = 500e3
WIRE_DELAYS_S = 0.2 + 0.2 + 1e-6  # of the wires, and of the radio link in scenarios/radio.toml

RADIUS_M = 250
#: Of a bit at the edge of a cell: 8 % of packets of 1024 octets, 1 - (1 - EDGE)^8192.
EDGE = 1.018e-5
WALK_S = 20.0  # from one end of the walk to the other
IDLE_RADIO_BPS = 384e3
#: IPv4 20, RFC 1256 with an address 16, RFC 5944 section 2.1.1 8 (a care-of address 4), 2.1.2 with a prefix 3.
ADVERTISEMENT_BYTES = {"home": 47, "foreign": 51}
REQUEST_BYTES = 20 + 8 + 24 + 22  # IPv4, UDP, RFC 5944 sections 3.3 and 3.5.1
REPLY_BYTES = 20 + 8 + 20 + 22

#: The segments that are lost of a window that holds 51 to 70: six, none next to another, 51 always. The first pattern
#: is every other segment; nine more were drawn once at random.
PATTERNS = (
    (51, 53, 55, 57, 59, 61),
    (51, 54, 59, 61, 65, 67),
    (51, 55, 59, 61, 64, 67),
    (51, 54, 62, 64, 66, 69),
    (51, 56, 62, 66, 68, 70),
    (51, 53, 55, 60, 67, 70),
    (51, 53, 64, 66, 68, 70),
    (51, 53, 56, 58, 66, 69),
    (51, 54, 58, 61, 65, 70),
    (51, 53, 57, 63, 66, 69),
)

# Transports -------------------------------------------------------------------------------------------------------

#: One choice of segment size, window, timers and acknowledgement for all protocols (reasons: [[parameter]] in
#: study.toml). SCTP's packets are as long as those of a segment, so that its window counts the same units as TCP's.
_TCP = {
    "protocol": "tcp",
    "mss": f"{SEGMENT_BYTES}B",
    "initial_window": 2,
    "receive_window": f"{WINDOW_SEGMENTS * SEGMENT_BYTES}B",
    "window_scaling": False,
    "limited_transmit": False,
    "delayed_ack": False,
    "clock_granularity": "100ms",
    "initial_rto": "3s",
    "min_rto": "1s",
    "max_rto": "60s",
}
_SCTP = {
    "protocol": "sctp",
    "message_size": f"{SEGMENT_BYTES}B",
    "mtu": f"{SEGMENT_BYTES + 48}B",
    "receive_window": f"{WINDOW_SEGMENTS * SEGMENT_BYTES}B",
    "sack_frequency": 1,
    "clock_granularity": "100ms",
    "rto_initial": "3s",
    "rto_min": "1s",
    "rto_max": "60s",
}
TRANSPORTS = {
    "TCP Reno": {**_TCP, "variant": "reno"},
    "TCP SACK": {**_TCP, "variant": "sack", "max_sack_blocks": 3},
    "SCTP": {**_SCTP, "rules": "rfc9260"},
    "SCTP (RFC 2960)": {**_SCTP, "rules": "rfc2960"},
}


def protocol(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """One of the transports."""
    return {"flow.ftp.transport": TRANSPORTS[name]}


def transport(values: Mapping[str, Any]) -> dict[str, Any]:
    """The transport of a drawing."""
    return protocol(values["protocol"]["name"], {})


def protocol_with_ns2_windows(name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """One of the transports with ns-2's default window: 20 segments for TCP, 65,536 octets for SCTP."""
    settings = protocol(name, labels)["flow.ftp.transport"]
    window = {"receive_window": "65000B"} if name.startswith("SCTP") else {}
    return {"flow.ftp.transport": {**settings, **window}}


# Settings of dimensions -------------------------------------------------------------------------------------------


def wireline(kbps: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The wire between the correspondent node and the router."""
    return {"link.wireline.rate": f"{kbps}kb/s"}


def radio(kbps: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Both cells."""
    return {"cell.home.rate": f"{kbps}kb/s", "cell.foreign.rate": f"{kbps}kb/s"}


def radio_by_air_time(kbps: int, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Both cells, with errors by the time that a bit is on the air: at 2000 kb/s as chosen, at 200 tenfold."""
    errors = _errors(EDGE * max(RADIO_KBPS) / kbps).network
    return {**radio(kbps, labels), **errors}


def radio_by_air_time_threefold(kbps: int, labels: Mapping[str, Any]) -> dict[str, Any]:
    """The same with three times as many errors up to 384 kb/s, to come near the published slow levels."""
    more = 3 if kbps <= 384 else 1
    return {**radio(kbps, labels), **_errors(more * EDGE * max(RADIO_KBPS) / kbps).network}


def radio_link(kbps: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The radio link of scenarios/radio.toml and scenarios/pattern.toml."""
    return {"link.radio.rate": f"{kbps}kb/s"}


def pattern(number: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """One of the loss patterns."""
    return {"link.radio.loss.segments": list(PATTERNS[number])}


def round_trip(seconds: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The propagation delay there and back: 0.8 s at home; 1.2 s abroad, where acknowledgements take the tunnel."""
    return {"link.backhaul.delay": f"{round(500 * seconds) - 200}ms"}


def window(count: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The receive window in segments."""
    return {"flow.ftp.transport.receive_window": f"{count * SEGMENT_BYTES}B"}


def gap_ack_blocks(most: int | str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """SCTP whose SACKs hold no more than so many gap ack blocks; with words in place of a number all that fit."""
    return {"flow.ftp.transport.max_gap_ack_blocks": most} if isinstance(most, int) else {}


def outage(seconds: float, labels: Mapping[str, Any]) -> dict[str, Any]:
    """The radio link fails just before the first lost segment would be sent again."""
    start = {0.8: "6.2s", 1.2: "9.1s"}[labels["round_trip_s"]]
    return {"link.radio.outages": [{"start": start, "duration": f"{seconds}s"}]} if seconds else {}


def condition(name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """One condition of the recovery changed."""
    change = CONDITIONS[name]
    return {**change.network, **_of_transport(change, labels)}


def until(cycles: int, labels: Mapping[str, Any]) -> dict[str, Any]:
    """A run of 100 s, by when slow start is long over, and of so many cycles more (see `cycle_s`).

    Without SCTP's heartbeats: the receiver's path is idle, and answers to it take their time on the slowest link.
    """
    end_s = 100 + cycles * cycle_s(labels["protocol"], labels["wireline_kbps"], labels["radio_kbps"])
    quiet = {"flow.ftp.transport.heartbeats": False} if labels["protocol"].startswith("SCTP") else {}
    return {"scenario.duration": f"{round(end_s * 1e9)}ns", **quiet}


@dataclass(frozen=True)
class Change:
    """What is set differently: for every protocol, where the radio is the bottleneck, for TCP, or for SCTP."""

    network: Mapping[str, Any] = field(default_factory=dict)
    slow_radio: Mapping[str, Any] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    sctp: Mapping[str, Any] = field(default_factory=dict)


def _coverage(**settings: Any) -> Change:
    return Change({"cell.home.coverage": settings, "cell.foreign.coverage": settings})


def _errors(at_edge: float, exponent: float = 4.0, per: str = "bit", radius_m: int = RADIUS_M) -> Change:
    radius = f"{radius_m}m"
    return _coverage(model="distance_power", radius=radius, error_at_edge=at_edge, exponent=exponent, per=per)


def _places(apart_m: int, radius_m: int = RADIUS_M, at_edge: float = EDGE) -> Change:
    """The agents' distance, which is the length of the walk, and the radius of the cells."""
    walk = {"node.fa.position.x": f"{apart_m}m", "node.mh.motion.to.x": f"{apart_m}m"}
    return Change({**walk, **_errors(at_edge, radius_m=radius_m).network})


def _errors_by_metres(radius_m: int) -> float:
    """What errors have to be at the edge of a cell of another radius for those at every place to stay as chosen."""
    return EDGE * (radius_m / RADIUS_M) ** 4


def _window(size: str) -> Change:
    return Change(tcp={"receive_window": size}, sctp={"receive_window": size})


#: The choices that are changed one at a time, by the names in study.toml.
VARIATIONS = {
    "as chosen": Change(),
    "speed 5 m/s": Change({"node.mh.motion.speed": "5m/s"}),
    "speed 10 m/s": Change({"node.mh.motion.speed": "10m/s"}),
    "speed 40 m/s": Change({"node.mh.motion.speed": "40m/s"}),
    "cells of 125 m, all lengths halved": _places(200, 125),
    "cells of 500 m, all lengths doubled": _places(800, 500),
    "cells of 125 m, overlap 100 m": _places(150, 125),
    "cells of 500 m, overlap 100 m": _places(900, 500),
    "cells of 220 m, agents 400 m apart": _places(400, 220),
    "cells of 300 m, agents 400 m apart": _places(400, 300),
    "cells of 220 m, errors by metres": _places(400, 220, _errors_by_metres(220)),
    "cells of 300 m, errors by metres": _places(400, 300, _errors_by_metres(300)),
    "overlap 20 m": _places(480),
    "overlap 200 m": _places(300),
    "no errors inside a cell": _coverage(model="disc", radius="250m"),
    "1 % at the edge": _errors(1.227e-6),
    "30 % at the edge": _errors(4.354e-5),
    "errors by the square of distance": _errors(EDGE, exponent=2.0),
    "errors by the 8th power of distance": _errors(EDGE, exponent=8.0),
    "acknowledgements lost as easily as data": _errors(0.08, per="packet"),
    # A bit takes ten times as long at 200 kb/s as at 2000 kb/s.
    "errors by time on the air": Change(slow_radio=_errors(10 * EDGE).network),
    "move detection by lifetime": Change({"mobile_ip.mobility.move_detection": "lifetime"}),
    "advertisements every 0.2 s": Change(
        {"mobile_ip.mobility.advertisement.period": "200ms", "mobile_ip.mobility.advertisement.lifetime": "1s"}
    ),
    "advertisements every 3 s": Change(
        {"mobile_ip.mobility.advertisement.period": "3s", "mobile_ip.mobility.advertisement.lifetime": "9s"}
    ),
    "registrations for 2 s": Change({"mobile_ip.mobility.registration.lifetime": "2s"}),
    "reverse tunnel": Change({"mobile_ip.mobility.reverse_tunnel": True}),
    "segments of 500 B": Change(
        tcp={"mss": "500B", "receive_window": "10000B"},
        sctp={"message_size": "500B", "mtu": "548B", "receive_window": "10000B"},
    ),
    "segments of 1400 B": Change(
        tcp={"mss": "1400B", "receive_window": "28000B"},
        sctp={"message_size": "1400B", "mtu": "1448B", "receive_window": "28000B"},
    ),
    "window of 10 segments": _window("10000B"),
    "window of 40 segments": _window("40000B"),
    "window of 65 segments": _window("65000B"),
    "window of 65 segments for SCTP alone": Change(sctp={"receive_window": "65000B"}),
    "SCTP's window counted in packets of 1480 B": Change(sctp={"mtu": "1480B"}),
    "every second segment acknowledged": Change(
        tcp={"delayed_ack": True, "delayed_ack_timeout": "200ms"}, sctp={"sack_frequency": 2, "sack_delay": "200ms"}
    ),
    "limited transmit for TCP": Change(tcp={"limited_transmit": True}),
    "no heartbeats of SCTP": Change(sctp={"heartbeats": False}),
    "packets of 1052 B for TCP (timestamps), no heartbeats of SCTP": Change(
        tcp={"timestamps": True, "mss": "1012B"}, sctp={"heartbeats": False}
    ),
    "clock of 500 ms": Change(tcp={"clock_granularity": "500ms"}, sctp={"clock_granularity": "500ms"}),
    "least RTO 0.2 s": Change(tcp={"min_rto": "200ms"}, sctp={"rto_min": "200ms"}),
    "radio queue of 5 packets": Change({f"cell.{cell}.queue.packets": 5 for cell in ("home", "foreign")}),
}


#: What the publication leaves open, and the variations that change it.
OPEN_PARAMETERS = {
    "speed": ("speed 5 m/s", "speed 10 m/s", "speed 40 m/s"),
    "radius: same speed and overlap": ("cells of 125 m, overlap 100 m", "cells of 500 m, overlap 100 m"),
    "radius: same speed and agents": ("cells of 220 m, agents 400 m apart", "cells of 300 m, agents 400 m apart"),
    "radius: same speed, agents and errors at each place": (
        "cells of 220 m, errors by metres",
        "cells of 300 m, errors by metres",
    ),
    "overlap": ("overlap 20 m", "overlap 200 m"),
    "advertisement period": ("advertisements every 0.2 s", "advertisements every 3 s"),
    "error function": (
        "no errors inside a cell",
        "1 % at the edge",
        "30 % at the edge",
        "errors by the square of distance",
        "errors by the 8th power of distance",
        "acknowledgements lost as easily as data",
        "errors by time on the air",
    ),
    "segment size": ("segments of 500 B", "segments of 1400 B"),
    "window": ("window of 10 segments", "window of 40 segments", "window of 65 segments"),
}

#: The conditions of the recovery that are changed one at a time.
CONDITIONS = {
    "as chosen": Change(),
    "round trip of 1.2 s, as through the tunnel": Change({"link.backhaul.delay": "400ms"}),
    "radio link of 384 kb/s": Change({"link.radio.rate": "384kb/s"}),
    "clock of 500 ms": Change(tcp={"clock_granularity": "500ms"}, sctp={"clock_granularity": "500ms"}),
    "least RTO 3 s": Change(tcp={"min_rto": "3s"}, sctp={"rto_min": "3s"}),
    "one missing report suffices for SCTP": Change(sctp={"missing_reports": 1}),
}


def variation(name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """One choice changed."""
    change = VARIATIONS[name]
    of_radio = change.slow_radio if labels.get("bottleneck") == "radio" else {}
    return {**change.network, **of_radio, **_of_transport(change, labels)}


def _of_transport(change: Change, labels: Mapping[str, Any]) -> dict[str, Any]:
    settings = change.tcp if labels["protocol"].startswith("TCP") else change.sctp
    return {f"flow.ftp.transport.{key}": value for key, value in settings.items()}


# Alternatives: settings by the labels of a point.


def errors_by_air_time(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Radio errors by the time that a bit is on the air."""
    return variation("errors by time on the air", labels)


def errors_of_30_percent(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Radio errors that take 30 % of packets at the edge of a cell."""
    return variation("30 % at the edge", labels)


# Measurements -----------------------------------------------------------------------------------------------------


def repair(tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """What the repair of a run's losses took: one row.

    `repaired_s`: from the first loss until the sender heard that all had arrived; `resent_s`: the same from the first
    retransmission. `window_s`: from the first loss until a whole window of new segments has left after the first
    retransmission. `stalled`: 1 when a lost segment is sent again for the first time only after a new cumulative
    acknowledgement (the first of the losses is never). `timeouts`: of the sender.
    """
    events = tables["segments"]
    columns = ("event", "time_s", "start_bytes", "end_bytes")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*(events[name] for name in columns), strict=True)]
    lost_s = min(row["time_s"] for row in rows if row["event"] == "lost")
    again = [row for row in rows if row["event"] == "retransmitted"]
    first_s = again[0]["time_s"]
    repaired_s = timesequence.repaired_after_s(rows)
    heard_s = min(
        row["time_s"]
        for row in rows
        if row["event"] == "acknowledged" and row["time_s"] > first_s and row["end_bytes"] > row["start_bytes"]
    )
    holes = {row["start_bytes"] for row in rows if row["event"] == "lost" and row["time_s"] < first_s}
    sent_again_s = {row["start_bytes"]: row["time_s"] for row in reversed(again) if row["start_bytes"] in holes}
    # A retransmission may merge or split what was lost; the study's segments are all of one size.
    stalled = any(sent_again_s.get(hole, math.inf) >= heard_s for hole in holes)
    new_s = [row["time_s"] for row in rows if row["event"] == "sent" and row["time_s"] >= first_s]
    window_s = new_s[WINDOW_SEGMENTS - 1] - lost_s if len(new_s) >= WINDOW_SEGMENTS else math.nan
    return {
        "repaired_s": [repaired_s],
        "resent_s": [lost_s + repaired_s - first_s],
        "window_s": [window_s],
        "stalled": [int(stalled)],
        "timeouts": [int(tables["flows"]["timeouts"][0])],
    }


# Words of the answer ----------------------------------------------------------------------------------------------


def recovered(protocol: str, data: Data) -> str:
    """Seconds to recover at the place of the map that is nearest to both published times."""
    return f"{recovery_time_s(data, protocol):.1f}"


def recovered_where(data: Data) -> str:
    """That place."""
    return where(nearest_place(data, "repaired_s"))


def gain_of(behind: str, ahead: str, radio: str, data: Data) -> str:
    """The gain in percent over all wires, averaged over the slow, the fast or all radio links."""
    radios = {"slow": SLOW, "fast": FAST, "all": None}[radio]
    return with_interval(over_replications(gains(data, "bandwidths", behind, ahead), average(None, radios)))


# Closed forms -----------------------------------------------------------------------------------------------------


def cycle_s(protocol: str, wireline_kbps: float, radio_kbps: float) -> float:
    """Seconds in which a sender with a full window and no loss gets one window of segments through.

    The window of W segments goes around once in a round trip when the path is idle in between; otherwise the
    slowest link sends W packets in the cycle, one after the other.
    """
    data_bytes, ack_bytes = PACKET_BYTES[protocol]
    rates_bps = (1e3 * radio_kbps, BACKHAUL_BPS, 1e3 * wireline_kbps)
    round_trip_s = 2 * WIRE_DELAYS_S + sum(8 * (data_bytes + ack_bytes) / rate for rate in rates_bps)
    return max(round_trip_s, WINDOW_SEGMENTS * 8 * data_bytes / min(rates_bps))


def without_loss(row: Mapping[str, Any], _column: str, _data: Data) -> float:
    """Octets that a window without loss gets through in 200 s: more is impossible."""
    return 200 / cycle_s(row["protocol"], row["wireline_kbps"], row["radio_kbps"]) * WINDOW_SEGMENTS * SEGMENT_BYTES


def published_bytes(at: Mapping[str, Any], _column: str) -> float | None:
    """Octets received as published; what was published of SCTP stands beside both RFCs."""
    return SEGMENT_BYTES * published_level(str(at["protocol"]), at["wireline_kbps"], at["radio_kbps"])


def checks(data: Data) -> list[Check]:
    """What can be known exactly: senders without loss, and the times of handovers."""
    return [*_steady_senders(data), *_handovers(data)]


def _steady_senders(data: Data) -> list[Check]:
    """What steady senders without loss get through: exact, to the segment."""
    found = []
    for row in data.rows("lossless", cycles=100):
        at = {name: row[name] for name in ("protocol", "wireline_kbps", "radio_kbps")}
        (before,) = data.rows("lossless", cycles=0, **at)
        received = (row["delivered_bytes"] - before["delivered_bytes"]) / SEGMENT_BYTES
        what = "segments in 100 cycles without loss: {protocol}, wire {wireline_kbps} kb/s, radio {radio_kbps} kb/s"
        found.append(Check(what.format(**at), received, 100.0 * WINDOW_SEGMENTS, 0.0))
    return found


def _handovers(data: Data) -> list[Check]:
    """Detection and registration on the walk without traffic and radio errors.

    Detection: the first advertisement in the new cell. Intervals between advertisements are uniform on 0.75 to 1 s,
    so the time to the next is E(X^2) / 2 E(X) in the mean, and E(X^3) / 3 E(X) is its second moment.
    Registration: request and reply over every link on the way, queues empty; at home the radio link alone. The
    median, because now and then a reply waits for an advertisement on the air.
    """
    low_s, high_s = 0.75, 1.0
    moments = [(high_s ** (k + 1) - low_s ** (k + 1)) / ((k + 1) * (high_s - low_s)) for k in (1, 2, 3)]
    mean_s, second = moments[1] / (2 * moments[0]), moments[2] / (3 * moments[0])
    delays: list[float] = []
    late: dict[str, list[float]] = {"home": [], "foreign": []}
    for row in data.rows_of("idle-walk", "handovers"):
        cell, abroad = row["to_cell"], row["to_cell"] == "foreign"
        # The host is in reach of the new agent 7.5 s after it has left an end: 150 m from there.
        entered_s = WALK_S * (row["detected_s"] // WALK_S) + 7.5
        on_air_s = 8 * ADVERTISEMENT_BYTES[cell] / IDLE_RADIO_BPS + _air_s(row["detected_s"], abroad)
        delays.append(row["detected_s"] - on_air_s - entered_s)
        in_air_s = _air_s(row["begun_s"], abroad) + _air_s(row["completed_s"], abroad)
        late[cell].append(row["completed_s"] - row["begun_s"] - in_air_s - _registration_s(abroad))
    error = math.sqrt((second - mean_s**2) / len(delays))
    found = [Check("from entering a cell to detection (s), mean", sum(delays) / len(delays), mean_s, error)]
    for cell, excess in late.items():
        exact_s = _registration_s(cell == "foreign")
        found.append(Check(f"registration (s), {cell} cell, median", exact_s + median(excess), exact_s, 0.0))
    return found


def _registration_s(abroad: bool) -> float:
    """Request and reply over every link, without propagation through the air."""
    sizes = (REQUEST_BYTES, REPLY_BYTES)
    over_radio_s = sum(8 * size / IDLE_RADIO_BPS for size in sizes)
    return over_radio_s + (sum(2 * (8 * size / BACKHAUL_BPS + 0.2) for size in sizes) if abroad else 0.0)


def _air_s(time_s: float, abroad: bool) -> float:
    """Propagation between the host and an agent at a time of the walk."""
    along, place = divmod(time_s, WALK_S)
    from_home_m = 20 * (place if along % 2 == 0 else WALK_S - place)
    return (400 - from_home_m if abroad else from_home_m) / 299_792_458
