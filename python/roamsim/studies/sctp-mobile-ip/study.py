"""The study's code: settings that are computed, and the closed forms that the simulator is held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamsim.study import Check, Data

SEGMENT_BYTES = 1000
WINDOW_SEGMENTS = 20

#: Octets of a packet with a segment, and of an acknowledgement without SACK blocks: IPv4 20, TCP 20 (RFC 9293), or
#: SCTP's common header 12 and DATA or SACK chunk head 16 (RFC 9260 sections 3.1, 3.3.1, 3.3.4).
PACKET_BYTES = {"TCP Reno": (1040, 40), "TCP SACK": (1040, 40), "SCTP": (1048, 48)}

BACKHAUL_BPS = 500e3
WIRE_DELAYS_S = 0.2 + 0.2 + 1e-6  # of the wires, and of the radio link in scenarios/radio.toml

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

# Settings of dimensions -------------------------------------------------------------------------------------------


def wireline(kbps: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The wire between the correspondent node and the router."""
    return {"link.wireline.rate": f"{kbps}kb/s"}


def radio(kbps: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Both cells."""
    return {"cell.home.rate": f"{kbps}kb/s", "cell.foreign.rate": f"{kbps}kb/s"}


def radio_link(kbps: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The radio link of scenarios/radio.toml and scenarios/pattern.toml."""
    return {"link.radio.rate": f"{kbps}kb/s"}


def pattern(number: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """One of the loss patterns."""
    return {"link.radio.loss.segments": list(PATTERNS[number])}


def until(cycles: int, labels: Mapping[str, Any]) -> dict[str, Any]:
    """A run of 100 s, by when slow start is long over, and of so many cycles more (see `cycle_s`)."""
    end_s = 100 + cycles * cycle_s(labels["protocol"], labels["wireline_kbps"], labels["radio_kbps"])
    return {"scenario.duration": f"{round(end_s * 1e9)}ns"}


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


def checks(data: Data) -> list[Check]:
    """What steady senders without loss get through beside the closed form: exact, to the segment."""
    found = []
    for row in data.rows("lossless", cycles=100):
        where = {name: row[name] for name in ("protocol", "wireline_kbps", "radio_kbps")}
        (before,) = data.rows("lossless", cycles=0, **where)
        received = (row["delivered_bytes"] - before["delivered_bytes"]) / SEGMENT_BYTES
        what = "segments in 100 cycles without loss: {protocol}, wire {wireline_kbps} kb/s, radio {radio_kbps} kb/s"
        found.append(Check(what.format(**where), received, 100.0 * WINDOW_SEGMENTS, 0.0))
    return found
