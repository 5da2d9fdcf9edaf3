"""Recovery as a map over wire, round trip and window, and SCTP with fewer gap ack blocks."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from roamsim import statistics
from roamsim.study.data import Data
from roamsim.study.judging import Finding, Value, positive, with_interval

RENO, SACK, SCTP = "TCP Reno", "TCP SACK", "SCTP"
PUBLISHED_S = {RENO: 18.0, SACK: 6.5}
TOLERANCE = 0.25
ALL_BLOCKS = "as many as fit"


class Place(NamedTuple):
    """A place of the map."""

    wire_kbps: float
    round_trip_s: float
    window: int


def _map(data: Data, protocol: str) -> dict[Place, float]:
    rows = data.rows("recovery-map", protocol=protocol)
    return {
        Place(float(row["wireline_kbps"]), float(row["round_trip_s"]), int(row["window_segments"])): row["repaired_s"]
        for row in rows
    }


def _near(protocol: str, seconds: float) -> bool:
    return abs(seconds - PUBLISHED_S[protocol]) <= TOLERANCE * PUBLISHED_S[protocol]


def places_of_both(data: Data) -> list[Place]:
    """Where both published times come out within a quarter."""
    reno, sack = _map(data, RENO), _map(data, SACK)
    return [place for place in reno if _near(RENO, reno[place]) and _near(SACK, sack[place])]


def _where(places: list[Place]) -> str:
    wires = "/".join(f"{wire:g}" for wire in sorted({place.wire_kbps for place in places}))
    trips = "/".join(f"{trip:g}" for trip in sorted({place.round_trip_s for place in places}))
    windows = "/".join(str(window) for window in sorted({place.window for place in places}))
    return f"a wire of {wires} kb/s, a round trip of {trips} s and a window of {windows} segments"


def _recovery(data: Data, protocol: str) -> Finding:
    times = _map(data, protocol)
    both = places_of_both(data)
    alone = [place for place in times if _near(protocol, times[place])]
    low, high = min(times.values()), max(times.values())
    words = (
        f"{protocol}: {low:.1f} to {high:.1f} s over {len(times)} places of the map, within a quarter of "
        f"{PUBLISHED_S[protocol]:g} s at {len(alone)}, at {len(both)} of which both published times come out"
    )
    values = (Value("places with this time", len(alone)), Value("places with both times", len(both)))
    if not both:
        return Finding("differs", words, values, brief=f"{low:.1f} to {high:.1f} s over the map, nowhere both")
    nearest = min(both, key=lambda place: abs(times[place] - PUBLISHED_S[protocol]))
    words += f"; nearest {times[nearest]:.1f} s, with {_where([nearest])}"
    return Finding("agrees", words, values, None, (f"{_where(both)}, alone",), f"{times[nearest]:.1f} s")


def reno_recovery(data: Data) -> Finding:
    """1a."""
    return _recovery(data, RENO)


def sack_recovery(data: Data) -> Finding:
    """1b."""
    return _recovery(data, SACK)


def recovery_map(data: Data) -> dict[str, Any]:
    """Seconds by wire and round trip, a panel for each protocol and window; boxed: both published times."""
    protocols = [str(label) for label in data.labels("recovery-map", "protocol")]
    windows, wires, trips = (
        [f"{float(label):g}" for label in data.labels("recovery-map", name)]
        for name in ("window_segments", "wireline_kbps", "round_trip_s")
    )
    boxed = set(places_of_both(data))
    rows = [
        {
            "panel": f"{protocol}, window of {place.window}",
            "wire": f"{place.wire_kbps:g}",
            "trip": f"{place.round_trip_s:g}",
            "seconds": seconds,
            "both": place in boxed,
        }
        for protocol in protocols
        for place, seconds in _map(data, protocol).items()
    ]
    panels = [f"{protocol}, window of {window}" for protocol in protocols for window in windows]
    told = {"wire": "wire, kb/s", "trip": "round trip, s", "seconds": "repaired after, s"}
    words = "from the first loss until all six had arrived, s"
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
    few, many = (
        [row["delivered_bytes"] / 1000 for row in data.rows("blocks", blocks=blocks)] for blocks in (3, ALL_BLOCKS)
    )
    finding = positive(
        statistics.paired_difference(few, many), "segments in 200 s with as many blocks as fit less with three"
    )
    same = sum(a == b for a, b in zip(few, many, strict=True))
    words = f"{finding.measured}; the same in {same} of {len(few)} walks"
    return Finding(finding.verdict, words, finding.values, finding.decided_by)


def blocks(data: Data) -> list[dict[str, Any]]:
    """What fewer gap ack blocks in a SACK cost SCTP, on the walk and in the ten patterns."""
    rows = []
    patterns = data.labels("blocks-patterns", "pattern")
    whole = {p: data.rows("blocks-patterns", blocks=ALL_BLOCKS, pattern=p)[0]["repaired_s"] for p in patterns}
    for most in data.labels("blocks", "blocks"):
        row: dict[str, Any] = {"blocks": most}
        for bottleneck in data.labels("blocks", "bottleneck"):
            less, every = (
                data.by_replication("blocks", lambda r: r["delivered_bytes"] / 1000, blocks=b, bottleneck=bottleneck)
                for b in (most, ALL_BLOCKS)
            )
            order = sorted(less)
            difference = statistics.paired_difference([every[r] for r in order], [less[r] for r in order])
            same = sum(less[r] == every[r] for r in order)
            text = f"{with_interval(difference)}, the same in {same} of {len(order)}"
            row[f"segments more than all, bottleneck {bottleneck}"] = "" if most == ALL_BLOCKS else text
        taken = {p: data.rows("blocks-patterns", blocks=most, pattern=p)[0]["repaired_s"] for p in patterns}
        later = Counter(round(taken[p] - whole[p], 2) for p in patterns)
        row["repair of the ten patterns, s later"] = ", ".join(f"{s:g} in {n}" for s, n in sorted(later.items()))
        rows.append(row)
    return rows


def block_limits(_data: Data) -> Finding:
    """4a: what the lengths of the two formats allow."""
    # 40 octets of options less timestamps (RFC 7323: 10, padded to 12), kind and length 2, 8 a block (RFC 2018).
    of_tcp = (40 - 12 - 2) // 8
    # A chunk's length has 16 bits, its head 16 octets, a block 4 (RFC 9260 sections 3.2, 3.3.4).
    of_sctp = (65_535 - 16) // 4
    words = f"TCP with timestamps: {of_tcp} blocks; SCTP: {of_sctp:,} blocks, (65,535 - 16) / 4"
    values = (Value("TCP's blocks", of_tcp), Value("SCTP's blocks", of_sctp))
    return Finding("agrees" if (of_tcp, of_sctp) == (3, 16_380) else "differs", words, values)
