"""What a run will plainly take, told before it begins and again by its pace."""

from __future__ import annotations

from collections.abc import Sequence
from warnings import warn

from roamsim._roamsim import Scenario, memory_bytes
from roamsim.errors import Notice

#: Events from which on a run is told to be long (chosen: some minutes), and events a second that turn them into time:
#: of the order of those in docs/performance.md.
LONG_EVENTS, EVENTS_PER_S = 1e9, 1e7

#: Octets of memory of a packet that is under way, and more where it is traced or captured; of a row of a trace that
#: is held in memory. Measured: a constant flow that fills its wire, and its trace `packets` in Python.
PACKET_BYTES, TRACED_BYTES, ROW_BYTES = 104, 300, 172


def foresee(
    scenario: Scenario, traces: Sequence[str], runs: int, *, at_once: int, captured: bool, held: bool
) -> None:
    """Warns, by a `Notice`, of runs that will plainly take long or more memory than they may.

    Args:
        scenario: what is run.
        traces: what is recorded.
        runs: how many there are.
        at_once: how many of them at a time.
        captured: whether packets are captured.
        held: whether rows of traces are held in memory.
    """
    events, packets, rows = scenario.estimate(list(traces))
    used, limit = memory_bytes()
    packet_bytes = PACKET_BYTES + (TRACED_BYTES if captured or "packets" in traces else 0)
    needed = packets * packet_bytes * min(at_once, runs) + (rows * ROW_BYTES * runs if held else 0)
    parts = []
    if events * runs > LONG_EVENTS:
        parts.append(
            f"some {number(events * runs)} events, {long(events * runs / EVENTS_PER_S)} at 10 million a second"
        )
        if rows > LONG_EVENTS and not held:
            parts.append(f"{number(rows * runs)} rows of traces on disk")
    if limit and used + needed > limit:
        what = f"{number(packets)} packets under way" + (
            f" and {number(rows * runs)} rows of traces" if held and rows else ""
        )
        parts.append(f"some {size(needed)} of memory ({what}), where --max-memory allows {size(limit)} and stops it")
    if parts:
        warn(
            f"{scenario.name}: by its rates, sizes, delays and duration this takes {'; '.join(parts)}. To take less, "
            "shorten it (scenario.duration), send less or in larger packets, bound queues, or trace less",
            Notice,
            stacklevel=2,
        )


def pace(share: float, elapsed_s: float, bytes_before: int) -> list[str]:
    """What the rest of a single run will take, at the pace of the share that is over, where that is plainly much."""
    told = []
    left_s = elapsed_s / share * (1 - share)
    if left_s > LONG_EVENTS / EVENTS_PER_S:
        told.append(f"at this pace the run takes {long(left_s)} more; Ctrl-C ends it")
    used, limit = memory_bytes()
    foreseen = bytes_before + (used - bytes_before) / share
    # What a run takes once and for all, to begin with, is less.
    if limit and used - bytes_before > limit / 20 and foreseen > limit:
        told.append(
            f"at this pace it takes {size(foreseen)} of memory, and is stopped at {size(limit)} (--max-memory)"
        )
    return told


def long(seconds: float) -> str:
    """A long time in words: "12 min", "3.5 h", "12 days"."""
    for unit, length in (("years", 365.25 * 86400), ("days", 86400.0), ("h", 3600.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.2g} {unit}" if seconds < 100 * length else f"{seconds / length:.0f} {unit}"
    return f"{seconds / 60:.0f} min"


def number(value: float) -> str:
    """A large number in words: "3.1 billion"."""
    for length, name in ((1e12, "million million"), (1e9, "billion"), (1e6, "million")):
        if value >= length:
            return f"{value / length:.3g} {name}"
    return f"{value:.3g}"


def size(octets: float) -> str:
    """Octets in words: "12.3 GB"."""
    for length, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if octets >= length:
            return f"{octets / length:.3g} {unit}"
    return f"{octets / 1e3:.3g} kB"
