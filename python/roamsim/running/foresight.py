"""Warnings before and during a run: values that are hardly meant, and estimates of time, memory and disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from warnings import warn

from roamsim._roamsim import RunFailed, Scenario, memory_bytes
from roamsim.errors import Notice

#: Events from which on a run is told to be long (chosen: some minutes), and events a second that turn them into time:
#: of the order of those in docs/performance.md.
LONG_EVENTS, EVENTS_PER_S = 1e9, 1e7

#: Octets of memory of a packet that is under way, and more where it is traced or captured; of a row of a trace that
#: is held in memory. Measured: a constant flow that fills its wire, and its trace `packets` in Python.
PACKET_BYTES, TRACED_BYTES, ROW_BYTES = 104, 300, 172

#: Links from which on the estimate itself is watched, for a thread costs as much as a short run; and how often it is
#: looked at, as runs are (chosen).
WATCHED_LINKS, LOOK_S = 500, 0.05

#: Octets on the disk of a row of a trace, while its table is put together of what was written during the run.
#: Measured: `packets`, `messages` and `queue` of a constant flow.
DISK_ROW_BYTES = 20


def foresee(
    runs: Iterable[tuple[Scenario, int]],
    traces: Sequence[str],
    *,
    at_once: int,
    held: int = 0,
    captured: bool = False,
    folder: Path | None = None,
) -> None:
    """Warns, by a `Notice`, of what is hardly meant, of runs that take long, or more memory or disk than there is.

    Args:
        runs: scenarios, and how often each is run.
        traces: what is recorded.
        at_once: how many runs go on at a time.
        held: of how many runs the rows of traces are held in memory.
        captured: whether packets are captured.
        folder: where rows of traces are written to, if they are.
    """
    events = written = most_packets = most_rows = 0.0
    names: dict[str, None] = {}
    hardly_meant: dict[str, str] = {}
    many = 0
    for scenario, count in runs:
        for told in (*scenario.warnings, *_without_programs(scenario)):
            # The same of several points, with other numbers, is told of the first.
            hardly_meant.setdefault("".join(letter for letter in told if not letter.isdigit()), told)
        names[scenario.name] = None
        many += count
        of_one, packets, rows = _estimate(scenario, traces)
        events += of_one * count
        written += rows * count
        most_packets, most_rows = max(most_packets, packets), max(most_rows, rows)
    for told in hardly_meant.values():
        warn(told.strip(), Notice, stacklevel=2)
    used, limit = memory_bytes()
    under_way = most_packets * min(at_once, many)
    in_memory = most_rows * min(held, many)
    packet_bytes = PACKET_BYTES + (TRACED_BYTES if captured or "packets" in traces else 0)
    needed = under_way * packet_bytes + in_memory * ROW_BYTES
    parts = []
    if events > LONG_EVENTS:
        parts.append(f"some {number(events)} events, {long(events / EVENTS_PER_S)} at 10 million a second")
    if limit and used + needed > limit:
        what = f"{number(under_way)} packets under way"
        if in_memory:
            what += f" and {number(in_memory)} rows of traces"
        parts.append(
            f"some {size(needed)} of memory ({what}) beside the {size(used)} in use, and is stopped above the "
            f"{size(limit)} of --max-memory"
        )
    if folder is not None and written * DISK_ROW_BYTES > (free := shutil.disk_usage(folder).free):
        parts.append(
            f"some {size(written * DISK_ROW_BYTES)} on the disk ({number(written)} rows of traces), where "
            f"{os.fspath(folder)!r} has {size(free)} left"
        )
    if parts:
        warn(
            f"{', '.join(names)}: by rates, sizes, delays and duration this takes {'; '.join(parts)}. To reduce it, "
            "shorten the run (scenario.duration), send less or larger packets, limit queues, or trace less",
            Notice,
            stacklevel=2,
        )


def _without_programs(scenario: Scenario) -> list[str]:
    """That nobody plays the part of its programs."""
    if not (nodes := scenario.external_nodes):
        return []
    flows = [flow for flow, *_ in scenario.program_flows]
    missing = f", so flow {_listed(flows)} has nobody at that end" if flows else ""
    return [f"no program runs at node {_listed(nodes)} in this run{missing}; `roamsim live` runs programs there"]


def _listed(names: Sequence[str]) -> str:
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"{names[0]!r}{more}"


def _estimate(scenario: Scenario, traces: Sequence[str]) -> tuple[float, float, float]:
    """Events, packets under way and rows of traces. It builds the routes of the network, so its memory is watched.

    Raises:
        RunFailed: it takes more memory than runs may.
    """
    if len(scenario.row_names["links"]) < WATCHED_LINKS or not memory_bytes()[1]:
        return scenario.estimate(list(traces))
    said: SimpleQueue[tuple[float, float, float] | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            said.put(scenario.estimate(list(traces)))
        except BaseException as error:
            said.put(error)

    # Nothing stops it, so nobody waits for it at the end of the process.
    Thread(target=work, daemon=True).start()
    while True:
        try:
            estimate = said.get(timeout=LOOK_S)
        except Empty:
            used, limit = memory_bytes()
            if used > limit:
                raise RunFailed(
                    f"{scenario.name}: it takes too much memory before it begins: the routes of its network take "
                    f"{size(used)}, and --max-memory allows {size(limit)}. Use fewer nodes and links, or raise the "
                    "limit"
                ) from None
            continue
        if isinstance(estimate, BaseException):
            raise estimate
        return estimate


def pace(share: float, elapsed_s: float, earlier: tuple[float, int]) -> list[str]:
    """What the rest of a single run will take, at its pace so far, where that is plainly much.

    Args:
        share: the part of it that is over.
        elapsed_s: the time that this took.
        earlier: the part that was over at an earlier look, and the octets of memory then. What a run takes once and
            for all, to begin with, is among these.
    """
    told = []
    left_s = elapsed_s / share * (1 - share)
    if left_s > LONG_EVENTS / EVENTS_PER_S:
        told.append(f"at this pace the run takes {long(left_s)} more; Ctrl-C ends it")
    used, limit = memory_bytes()
    share_before, bytes_before = earlier
    grown = used - bytes_before
    foreseen = used + grown / (share - share_before) * (1 - share) if share > share_before else used
    # Less is what buffers take, and what is allocated ahead.
    if limit and grown > limit / 50 and foreseen > limit:
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
    """A large number in words: "3.1 billion", "480,000"."""
    for length, name in ((1e12, "million million"), (1e9, "billion"), (1e6, "million")):
        if value >= length:
            return f"{value / length:.3g} {name}"
    return f"{value:,.0f}"


def size(octets: float) -> str:
    """Octets in words: "12.3 GB"."""
    for length, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if octets >= length:
            return f"{octets / length:.3g} {unit}"
    return f"{octets / 1e3:.3g} kB"
