"""The last rows of the terminal while `roamsim live` runs: rates, queues, signals, associations and handovers.

Programs print above it. Without a terminal, or beside a shell, nothing is drawn.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from threading import Event, Thread
from typing import NamedTuple

from roamsim.cli import streams
from roamsim.tables.words import scale
from roamsim.world import World

#: How often it is drawn (as often as the world is looked at), and how many looks a chart shows (chosen).
EVERY_S, LOOKS = 0.5, 24

#: Rows that programs keep at least, and columns that a line needs (chosen).
_LEAST_ROWS, _LEAST_COLUMNS = 8, 40

#: Columns of a link's line beside its two charts, for name, rate, queue and drops; the least of a chart (chosen).
_BESIDE_CHARTS, _LEAST_CHART = 63, 6

_BLOCKS, _ASCII = "▁▂▃▄▅▆▇█", "_.-:=+*#"


class Link(NamedTuple):
    """A direction of a link; octets and drops since the beginning."""

    name: str
    source: str
    sink: str
    sent_bytes: int
    dropped: int
    waiting: int


class Station(NamedTuple):
    """A station that moves, and the cell that it hears best."""

    name: str
    cell: str
    associated: bool
    quality: float | None
    unit: str


class Change(NamedTuple):
    """A link of a station that came up or went down."""

    at_ns: int
    station: str
    cell: str
    is_up: bool


class Look(NamedTuple):
    """What the world does at an instant. Flows have a name, and octets delivered since the beginning."""

    now_ns: int
    links: Sequence[Link]
    flows: Sequence[tuple[str, int]]
    stations: Sequence[Station]
    changes: Sequence[Change]


def look(world: World) -> Look:
    """What the world did when it was looked at last."""
    now_ns, links, flows, stations, changes = world.snapshot
    return Look(
        now_ns,
        [Link(*link) for link in links],
        flows,
        [Station(*station) for station in stations],
        [Change(*change) for change in changes],
    )


def lines(looks: Sequence[Look], width: int, blocks: str = _BLOCKS) -> list[str]:
    """What is drawn after these looks, the last one now."""
    last = looks[-1]
    shown = max(_LEAST_CHART, min(LOOKS, (width - _BESIDE_CHARTS) // 2))
    rows = [f"{last.now_ns / 1e9:.1f} s  "]
    # Rows come with the first broadcast of a cell: earlier looks lack them.
    links = [{each[:3]: each for each in one.links} for one in looks]
    flows = [dict(one.flows) for one in looks]
    for link in last.links:
        course = [one.get(link[:3]) for one in links]
        rates = _rates(looks, [None if each is None else each.sent_bytes for each in course])
        queue = [None if each is None else float(each.waiting) for each in course]
        told = f"  {_chart(queue, blocks, shown)} queue {link.waiting}"
        drops = f", {link.dropped} dropped" if link.dropped else ""
        ends = f"{link.name}  {link.source} > {link.sink}"
        rows.append(f"{ends:<26} {_chart(rates, blocks, shown)} {_rate(rates):>10}{told}{drops}")
    for name, _ in last.flows:
        rates = _rates(looks, [one.get(name) for one in flows])
        rows.append(f"{'flow ' + name:<26} {_chart(rates, blocks, shown)} {_rate(rates):>10}")
    for station in last.stations:
        heard = [
            next((s.quality for s in each.stations if (s.name, s.cell) == (station.name, station.cell)), None)
            for each in looks
        ]
        quality = "" if station.quality is None else f" {station.quality:.0f} {station.unit}"
        where = f"{station.name} {'at' if station.associated else 'hears'} {station.cell}"
        rows.append(f"{where:<26} {_chart(heard, blocks, shown, from_zero=False)}{quality:>11}")
    rows += [
        f"{at_ns / 1e9:.1f} s: {station} {'joined' if is_up else 'left'} {cell}"
        for at_ns, station, cell, is_up in last.changes
    ]
    return [row[:width] for row in rows]


def _rates(looks: Sequence[Look], octets: Sequence[int | None]) -> list[float | None]:
    """Bits a second between each two looks that both have octets."""
    spans_s = [max(later.now_ns - before.now_ns, 1) / 1e9 for before, later in pairwise(looks)]
    grown = [None if before is None or later is None else later - before for before, later in pairwise(octets)]
    return [None if more is None else 8 * more / span_s for more, span_s in zip(grown, spans_s, strict=True)]


def _rate(rates: Sequence[float | None]) -> str:
    now = rates[-1] if rates else None
    return scale("bit/s", [now]).words(now) if now else "0 b/s"


def _chart(values: Sequence[float | None], blocks: str, shown: int, *, from_zero: bool = True) -> str:
    """A column for each of the last values; a space where there is none."""
    values = values[-shown:]
    there = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (0.0 if from_zero else min(there, default=0.0)), max(there, default=0.0)
    steps = len(blocks) - 1

    def column(value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return " "
        return blocks[round(steps * (value - low) / (high - low)) if high > low else 0]

    return "".join(column(value) for value in values).rjust(shown)


def is_drawn() -> bool:
    """Whether there is a terminal to draw on."""
    return streams.is_watched() and os.environ.get("TERM", "dumb") != "dumb"


@contextmanager
def drawn(world: World) -> Iterator[None]:
    """Draws at the foot of the terminal for as long as it lasts."""
    ended = Event()
    drawing = Thread(target=_draw, args=(lambda: look(world), ended), daemon=True)
    drawing.start()
    try:
        yield
    finally:
        ended.set()
        # A terminal that does not read holds it; then nobody waits for it.
        drawing.join(1)


def _draw(looked: Callable[[], Look], ended: Event) -> None:
    looks: deque[Look] = deque(maxlen=LOOKS + 1)
    blocks = _BLOCKS if streams.shows("▁") else _ASCII
    with contextlib.suppress(OSError):
        foot = streams.Foot()
        while not ended.wait(EVERY_S):
            now = looked()
            if not (now.links or now.flows or now.stations):
                # Nobody has looked at the world yet.
                continue
            if not looks or now.now_ns > looks[-1].now_ns:
                looks.append(now)
            foot.draw(lines(looks, foot.columns - 1, blocks) if foot.columns >= _LEAST_COLUMNS else [], _LEAST_ROWS)
        foot.clear()
