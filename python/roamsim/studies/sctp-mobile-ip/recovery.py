"""Recovery as a map over wire, round trip and window, and SCTP with fewer gap ack blocks."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
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


def recovery_map(data: Data) -> Figure:
    """Seconds by wire and round trip, a panel for each protocol and window; boxed: both published times."""
    protocols = [str(label) for label in data.labels("recovery-map", "protocol")]
    windows = [int(label) for label in data.labels("recovery-map", "window_segments")]
    wires = [float(label) for label in data.labels("recovery-map", "wireline_kbps")]
    trips = [float(label) for label in data.labels("recovery-map", "round_trip_s")]
    boxed = set(places_of_both(data))
    figure = Figure(figsize=(10, 7), layout="constrained")
    grid = figure.subplots(len(protocols), len(windows), sharex=True, sharey=True, squeeze=False)
    shade = None
    for axes_of_protocol, protocol in zip(grid, protocols, strict=True):
        times = _map(data, protocol)
        for axes, window in zip(axes_of_protocol, windows, strict=True):
            seconds = [[times[Place(wire, trip, window)] for wire in wires] for trip in trips]
            shade = axes.imshow(seconds, cmap="YlOrBr", vmin=0, vmax=24, aspect="auto", origin="lower")
            for y, trip in enumerate(trips):
                for x, wire in enumerate(wires):
                    dark = seconds[y][x] > 14
                    colour = "white" if dark else "black"
                    axes.text(x, y, f"{seconds[y][x]:.1f}", ha="center", va="center", fontsize=8, color=colour)
                    if Place(wire, trip, window) in boxed:
                        frame = Rectangle(
                            (x - 0.47, y - 0.46), 0.94, 0.92, fill=False, edgecolor="#1f4e9c", linewidth=2.2
                        )
                        axes.add_patch(frame)
            axes.set_title(f"{protocol}, window of {window}", fontsize=9)
            axes.set_xticks(range(len(wires)), [f"{wire:g}" for wire in wires])
            axes.set_yticks(range(len(trips)), [f"{trip:g}" for trip in trips])
    for axes in grid[-1]:
        axes.set_xlabel("wire [kb/s]")
    for axes_of_protocol in grid:
        axes_of_protocol[0].set_ylabel("round trip [s]")
    if shade is not None:
        figure.colorbar(shade, ax=grid, label="from the first loss until all six had arrived [s]", shrink=0.8)
    return figure


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
