"""Recovery as a map over wire, round trip and window, and SCTP with fewer gap ack blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from roamsim import statistics
from roamsim.study.data import Data
from roamsim.study.definition import Label
from roamsim.study.judging import Finding, Value, Verdict, either, positive, with_interval, yes

from .levels import RENO, SACK, SCTP, SCTP_2960

PUBLISHED_S = {RENO: 18.0, SACK: 6.5}
TOLERANCE = 0.25
#: What "time to recover" may mean, by the column of `repair` that it is.
READINGS = {"from the first loss": "repaired_s", "from the first retransmission": "resent_s"}
ALL_BLOCKS = "as many as fit"


class Place(NamedTuple):
    """A place of the map."""

    wire_kbps: float
    round_trip_s: float
    window: int


def _map(data: Data, protocol: str, column: str) -> dict[Place, float]:
    rows = data.rows("recovery-map", protocol=protocol)
    return {
        Place(float(row["wireline_kbps"]), float(row["round_trip_s"]), int(row["window_segments"])): row[column]
        for row in rows
    }


def _near(protocol: str, seconds: float) -> bool:
    return abs(seconds - PUBLISHED_S[protocol]) <= TOLERANCE * PUBLISHED_S[protocol]


def places_of_both(data: Data, column: str) -> list[Place]:
    """Where both published times come out within a quarter."""
    reno, sack = _map(data, RENO, column), _map(data, SACK, column)
    return [place for place in reno if _near(RENO, reno[place]) and _near(SACK, sack[place])]


def where(place: Place) -> str:
    """A place in words."""
    return (
        f"a wire of {place.wire_kbps:g} kb/s, a round trip of {place.round_trip_s:g} s and a window of "
        f"{place.window} segments"
    )


def _distance(place: Place, data: Data, column: str) -> float:
    """How far both times at a place are from the published ones, the worse of the two relative differences."""
    return max(abs(_map(data, protocol, column)[place] / PUBLISHED_S[protocol] - 1) for protocol in PUBLISHED_S)


def nearest_place(data: Data, column: str) -> Place:
    """The place of the map that is nearest to both published times at once."""
    return min(_map(data, RENO, column), key=lambda place: _distance(place, data, column))


def recovery_time_s(data: Data, protocol: str) -> float:
    """Seconds from the first loss at the place that is nearest to both published times."""
    return _map(data, protocol, "repaired_s")[nearest_place(data, "repaired_s")]


def _recovery(data: Data, protocol: str) -> Finding:
    readings = {name: _by_reading(data, protocol, column) for name, column in READINGS.items()}
    brief = "; ".join(f"{finding.brief} {name}" for name, finding in readings.items())
    found = either(readings, "time counted")
    return Finding(found.verdict, found.measured, found.values, None, found.rests_on, brief)


def _by_reading(data: Data, protocol: str, column: str) -> Finding:
    times = _map(data, protocol, column)
    both = places_of_both(data, column)
    alone = [place for place in times if _near(protocol, times[place])]
    low, high = min(times.values()), max(times.values())
    place = nearest_place(data, column)
    words = (
        f"{protocol}: {low:.1f} to {high:.1f} s over {len(times)} places of the map, within a quarter of "
        f"{PUBLISHED_S[protocol]:g} s at {len(alone)}, at {len(both)} of which both published times come out; "
        f"nearest to both {times[place]:.1f} s, with {where(place)}"
    )
    values = (
        Value("places with this time", len(alone)),
        Value("places with both times", len(both)),
        Value("at the place nearest to both (s)", times[place]),
    )
    rests = (f"a place of the map, nearest {where(place)}",) if both else ()
    return Finding("agrees" if both else "differs", words, values, None, rests, f"{times[place]:.1f} s")


def reno_recovery(data: Data) -> Finding:
    """1a."""
    return _recovery(data, RENO)


def sack_recovery(data: Data) -> Finding:
    """1b."""
    return _recovery(data, SACK)


def stalls(data: Data, condition: str = "as chosen") -> Finding:
    """1h: in how many patterns a lost segment has to wait for a new acknowledgement before it is sent again."""

    def judged(sctp: str) -> Finding:
        rows = {p: data.rows("recovery-conditions", protocol=p, condition=condition) for p in (SACK, sctp)}
        stalled = {protocol: sum(row["stalled"] for row in of) for protocol, of in rows.items()}
        words = " and ".join(f"{protocol} in {stalled[protocol]} of {len(of)}" for protocol, of in rows.items())
        brief = f"patterns with a wait: {words.replace(' and ', ', ')}"
        values = (Value(f"patterns in which {protocol} waits", count) for protocol, count in stalled.items())
        agrees = stalled[SACK] == len(rows[SACK]) and not stalled[sctp]
        text = f"waits for a new acknowledgement before all six are sent again: {words}"
        return replace(yes(agrees, text, *values), brief=brief)

    return either({"RFC 9260": judged(SCTP), "RFC 2960": judged(SCTP_2960)}, "SCTP by")


def recovery_map(data: Data, counted: Mapping[str, str]) -> dict[str, Any]:
    """Seconds by wire and round trip, a panel for each protocol and window; boxed: both published times."""
    column = READINGS[counted["name"]]
    protocols = [str(label) for label in data.labels("recovery-map", "protocol")]
    windows, wires, trips = (
        [f"{float(label):g}" for label in data.labels("recovery-map", name)]
        for name in ("window_segments", "wireline_kbps", "round_trip_s")
    )
    boxed = set(places_of_both(data, column))
    rows = [
        {
            "panel": f"{protocol}, window of {place.window}",
            "wire": f"{place.wire_kbps:g}",
            "trip": f"{place.round_trip_s:g}",
            "seconds": seconds,
            "both": place in boxed,
        }
        for protocol in protocols
        for place, seconds in _map(data, protocol, column).items()
    ]
    panels = [f"{protocol}, window of {window}" for protocol in protocols for window in windows]
    told = {"wire": "wire, kb/s", "trip": "round trip, s", "seconds": "repaired after, s"}
    words = f"{counted['name']}, s"
    shade = {
        "field": "seconds",
        "type": "quantitative",
        "title": words,
        "legend": {"gradientLength": 260, "titleLimit": 400},
    }
    # On these colours dark text is read up to here, light or dark as the page may be.
    text = {"condition": {"test": "datum.seconds > 14", "value": "white"}, "value": "#1c2128"}
    layers: list[dict[str, Any]] = [
        {
            "mark": "rect",
            "encoding": {"color": {**shade, "scale": {"scheme": "yelloworangebrown", "domain": [0, 24]}}},
        },
        {
            "transform": [{"filter": "datum.both"}],
            "mark": {"type": "rect", "filled": False, "stroke": "#0072b2", "strokeWidth": 3},
        },
        {
            "mark": {"type": "text", "fontSize": 11},
            "encoding": {"text": {"field": "seconds", "format": ".1f"}, "color": text},
        },
    ]
    axis = {"labelAngle": 0, "grid": False}
    return {
        "data": {"values": rows},
        "facet": {"field": "panel", "type": "nominal", "title": None, "sort": panels},
        "columns": len(windows),
        # On a phone the panels stand below each other.
        "resolve": {"axis": {"x": "independent"}},
        "spec": {
            "height": 26 * len(trips),
            "encoding": {
                "x": {"field": "wire", "type": "ordinal", "title": told["wire"], "sort": wires, "axis": axis},
                "y": {"field": "trip", "type": "ordinal", "title": told["trip"], "sort": trips[::-1]},
                "tooltip": [{"field": name, "title": title} for name, title in told.items()],
            },
            "layer": layers,
        },
        "usermeta": {"panels": len(panels)},
    }


# SCTP with fewer gap ack blocks -----------------------------------------------------------------------------------


def blocks_matter(data: Data) -> Finding:
    """1g: as many blocks as fit against TCP's three, in pairs over walks and bottlenecks."""

    def judged(sctp: str) -> Finding:
        few, many = (
            [row["delivered_bytes"] / 1000 for row in data.rows("blocks", protocol=sctp, blocks=blocks)]
            for blocks in (3, ALL_BLOCKS)
        )
        finding = positive(
            statistics.paired_difference(few, many), "segments in 200 s with as many blocks as fit less with three"
        )
        same = sum(a == b for a, b in zip(few, many, strict=True))
        return replace(finding, measured=f"{finding.measured}; the same in {same} of {len(few)} walks")

    return either({"RFC 9260": judged(SCTP), "RFC 2960": judged(SCTP_2960)}, "SCTP by")


def blocks(data: Data) -> list[dict[str, Any]]:
    """What fewer gap ack blocks in a SACK cost SCTP, on the walk and in the ten patterns."""
    return [
        _blocks(data, str(protocol), most)
        for protocol in data.labels("blocks", "protocol")
        for most in data.labels("blocks", "blocks")
    ]


def _blocks(data: Data, protocol: str, most: Label) -> dict[str, Any]:
    patterns = data.labels("blocks-patterns", "pattern")
    whole, taken = (
        {p: data.rows("blocks-patterns", protocol=protocol, blocks=b, pattern=p)[0]["repaired_s"] for p in patterns}
        for b in (ALL_BLOCKS, most)
    )
    row: dict[str, Any] = {"protocol": protocol, "blocks": most}
    for bottleneck in data.labels("blocks", "bottleneck"):
        less, every = (
            data.by_replication(
                "blocks", "delivered_bytes / 1000", protocol=protocol, blocks=b, bottleneck=bottleneck
            )
            for b in (most, ALL_BLOCKS)
        )
        order = sorted(less)
        difference = statistics.paired_difference([every[r] for r in order], [less[r] for r in order])
        same = sum(less[r] == every[r] for r in order)
        text = f"{with_interval(difference)}, the same in {same} of {len(order)}"
        row[f"segments more than all, bottleneck {bottleneck}"] = "" if most == ALL_BLOCKS else text
    later = Counter(round(taken[p] - whole[p], 2) for p in patterns)
    told = ", ".join(f"{s:g}" if n == 1 else f"{s:g} ({n} patterns)" for s, n in sorted(later.items()))
    row["recovery of the ten patterns later by (s)"] = told
    return row


def block_limits(_data: Data) -> Finding:
    """4a: what the lengths of the two formats allow."""
    # 40 octets of options less timestamps (RFC 7323: 10, padded to 12), kind and length 2, 8 a block (RFC 2018).
    of_tcp = (40 - 12 - 2) // 8
    # A chunk's length has 16 bits, its head 16 octets, a block 4 (RFC 9260 sections 3.2, 3.3.4).
    of_sctp = (65_535 - 16) // 4
    words = f"TCP with timestamps: {of_tcp} blocks; SCTP: {of_sctp:,} blocks, (65,535 - 16) / 4"
    values = (Value("TCP's blocks", of_tcp), Value("SCTP's blocks", of_sctp))
    brief = f"TCP's blocks: {of_tcp}; SCTP's blocks: {of_sctp:,}"
    verdict: Verdict = "agrees" if (of_tcp, of_sctp) == (3, 16_380) else "differs"
    return Finding(verdict, words, values, source="exact law", brief=brief)
