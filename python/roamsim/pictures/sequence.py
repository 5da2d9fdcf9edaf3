"""Message-sequence charts, drawn as SVG from what a run recorded with `trace=["packets"]`.

One lifeline a node, time running down, one slanted arrow a packet from the instant its transport handed it to IP to
the instant it was delivered; a lost packet ends in a cross. Time is to scale except where the picture says otherwise:
spans in which nothing is on its way are cut (a zigzag on the lifelines, with what was cut), and packets that would
be drawn on top of each other are drawn a little apart (their time stamps say when they really were).
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, NamedTuple

from roamsim.errors import there_are

Kind = Literal["message", "acknowledgement", "transport"]
"""The content of a packet: an information message, an acknowledgement of it, or the transport's own business."""

_COLOURS: Mapping[Kind, str] = {"message": "#1f5fa8", "acknowledgement": "#1d7f4e", "transport": "#6f6f78"}
_KIND_NAMES: Mapping[Kind, str] = {
    "message": "MIH message",
    "acknowledgement": "MIH acknowledgement",
    "transport": "not MIH",
}
_LOSS = "#c4292e"

_LIFELINE_DISTANCE = 360.0  # narrow enough that a phone of 400 px shows the whole chart with legible text
_MARGIN = 56.0
_HEAD = 38.0  # boxes of the lifelines
_LABEL_SIZE = 13.0
_LABEL_RISE = 16.0  # height that a label takes above its arrow
_CHARACTER = 0.56  # mean width of a character in units of the font's size
_TRANSIT = 62.0  # height of a median transit: steep enough to see time pass, flat enough to read along
_CROSSING = 0.35  # so much more of it for each packet beyond two that are on their way at once
_SENDS_APART = 23.0  # one line of label
_MARK_HEIGHT = 26.0  # between a mark and what follows at its node
_LONGEST_IDLE = 70.0  # idle height from which time is cut
_CUT = 52.0  # height of a cut
_STAMPS_APART = 12.0
_FONT = "font-family='system-ui, sans-serif'"


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet's way: times in seconds; `received_s` is None for a lost one, `lost_s` for a delivered one."""

    source: str
    destination: str
    label: str
    kind: Kind
    sent_s: float
    received_s: float | None
    lost_s: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """What happens at a node without a packet, such as a timeout: its time in seconds, and its words."""

    node: str
    time_s: float
    text: str


@dataclass(slots=True)
class _Event:
    """The start or the end of an arrow, or a mark."""

    time_s: float
    packet: int
    node: str
    what: Literal["sent", "received", "lost", "mark"]
    y: float = 0.0


@dataclass(slots=True)
class _Layout:
    """Where everything is, in pixels."""

    events: list[_Event]
    cuts: list[tuple[float, float]] = field(default_factory=list)  # (y of the middle, seconds left out)
    height: float = 0.0


class _Place(NamedTuple):
    """Where the words of a mark stand: from `left` to `right` at the height `y`, in pixels."""

    left: float
    right: float
    y: float


def packets_of(
    table: Mapping[str, Any],
    *,
    since_s: float = 0.0,
    until_s: float = math.inf,
    describe: Callable[[str], tuple[str, Kind] | None] | None = None,
    order: Sequence[str] = (),
) -> list[Packet]:
    """The packets of a run's `packets` table that were sent in a span of time, in the order of sending.

    Args:
        table: the columns `packet_id`, `time_s`, `event`, `node`, `reason`, `description` of a run.
        since_s: start of the span, in seconds of simulated time.
        until_s: its end.
        describe: makes a label and a kind of the recorded description, or None to leave the packet out; without it
            the label is the description, and the kind is guessed from it.
        order: the nodes as they stand in the chart. A lost packet, whose destination the table does not have, went to
            the next of them.

    Raises:
        KeyError: the table lacks a column.
    """
    describe = describe or _guess
    sent: dict[Any, tuple[float, str, str]] = {}
    ended: dict[Any, tuple[float, str, str, str]] = {}
    columns = (table[name] for name in ("packet_id", "time_s", "event", "node", "reason", "description"))
    for packet_id, time_s, event, node, reason, description in zip(*columns, strict=True):
        if event == "sent":
            sent[packet_id] = (float(time_s), str(node), str(description))
        elif event in ("delivered", "dropped"):
            ended[packet_id] = (float(time_s), str(event), str(node), str(reason))

    chosen = {i: s for i, s in sent.items() if since_s <= s[0] < until_s and i in ended}
    nodes = list(order) or sorted(
        {node for _, node, _ in sent.values()} | {e[2] for e in ended.values() if e[1] == "delivered"}
    )
    packets = []
    seen: dict[tuple[str, str], int] = {}
    for packet_id, (sent_s, source, description) in sorted(chosen.items(), key=lambda item: (item[1][0], item[0])):
        named = describe(description)
        if named is None:
            continue
        label, kind = named
        if kind == "message":
            seen[source, label] = seen.get((source, label), 0) + 1
            if seen[source, label] > 1:
                label += f" (copy {seen[source, label]})"
        time_s, event, node, reason = ended[packet_id]
        lost = event == "dropped"
        destination = _next(nodes, source) if lost else node
        packets.append(
            Packet(
                source=source,
                destination=destination,
                label=label,
                kind=kind,
                sent_s=sent_s,
                received_s=None if lost else time_s,
                lost_s=time_s if lost else None,
                reason=reason if lost else "",
            )
        )
    return packets


def _next(nodes: Sequence[str], source: str) -> str:
    """The node beside a source: the next one, or the one before the last."""
    at = nodes.index(source) if source in nodes else -1
    beside = [*nodes[at + 1 : at + 2], *nodes[max(at - 1, 0) : max(at, 0)]]
    return beside[0] if beside else source


def _guess(description: str) -> tuple[str, Kind] | None:
    words = description.lower()
    if "mih" not in words:
        return description, "transport"
    return description, "acknowledgement" if "ack" in words else "message"


def draw(packets: Sequence[Packet], *, nodes: Mapping[str, str], title: str, marks: Sequence[Mark] = ()) -> str:
    """A message-sequence chart as a whole SVG document; it scales to the width it is given.

    Args:
        packets: what to draw, see `packets_of`.
        nodes: the lifelines from left to right, each node with what is written above its line.
        title: name of the picture, for those who do not see it; the caption stands around the picture.
        marks: what happens at nodes without a packet.

    Raises:
        ValueError: there is nothing to draw, or a packet runs between nodes that have no lifeline.
    """
    if not packets:
        raise ValueError("there are no packets to draw in this span of time")
    column = {node: _MARGIN + i * _LIFELINE_DISTANCE for i, node in enumerate(nodes)}
    for node in (node for p in packets for node in (p.source, p.destination)):
        if node not in column:
            raise ValueError(f"no lifeline for the node {node!r}; {there_are(node, nodes, quoted=True)}")
    layout = _lay_out(packets, marks)
    width = 2 * _MARGIN + (len(nodes) - 1) * _LIFELINE_DISTANCE
    bottom = layout.height + 18
    height = bottom + 46
    origin_s = min([*(packet.sent_s for packet in packets), *(mark.time_s for mark in marks)])

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' "
        f"width='{width:.0f}' height='{height:.0f}' style='max-width:100%;height:auto' role='img' {_FONT}>",
        f"<title>{html.escape(title)}</title>",
        "<rect width='100%' height='100%' fill='#ffffff'/>",
        *_lifelines(nodes, column, layout, bottom),
    ]
    ends: dict[int, list[_Event]] = {}
    for event in layout.events:
        if event.what != "mark":
            ends.setdefault(event.packet, []).append(event)
    arrows = [_arrow(packet, column, ends[i][0].y, ends[i][1].y, packets) for i, packet in enumerate(packets)]
    parts += [_line(arrow) for arrow in arrows]
    parts += _labels(arrows, _places_of_marks(layout, column, marks))  # above every line
    parts += _stamps(layout, column, origin_s, packets)
    parts += _marks(layout, column, marks)
    parts += _legend(packets, height - 12, origin_s)
    parts.append("</svg>\n")
    return "\n".join(part for part in parts if part)


def _lay_out(packets: Sequence[Packet], marks: Sequence[Mark]) -> _Layout:
    """Gives each start and end of an arrow, and each mark, its height, in the order of time."""
    events = [_Event(mark.time_s, i, mark.node, "mark") for i, mark in enumerate(marks)]
    for i, packet in enumerate(packets):
        events.append(_Event(packet.sent_s, i, packet.source, "sent"))
        if packet.received_s is not None:
            events.append(_Event(packet.received_s, i, packet.destination, "received"))
        else:  # where it would have arrived: the arrow keeps its slope, and its cross stands on it
            events.append(_Event(packet.sent_s + _transit_s(packet, packets), i, packet.destination, "lost"))
    # At one instant a packet arrives before the answer to it is sent.
    order = {"received": 0, "lost": 1, "mark": 2, "sent": 3}
    events.sort(key=lambda e: (e.time_s, order[e.what], e.packet))

    transits = [p.received_s - p.sent_s for p in packets if p.received_s is not None and p.received_s > p.sent_s]
    crowd = in_flight = 0
    change = {"sent": 1, "received": -1, "lost": -1, "mark": 0}
    for event in events:
        in_flight += change[event.what]
        crowd = max(crowd, in_flight)
    height = _TRANSIT * (1 + _CROSSING * max(0, crowd - 2))
    scale = height / median(transits) if transits else 1000.0
    layout = _Layout(events)
    y, previous_s, in_flight = _HEAD + 34, events[0].time_s, 0
    last: dict[tuple[str, str], float] = {}
    for event in events:
        step = (event.time_s - previous_s) * scale
        if in_flight == 0 and step > _LONGEST_IDLE:
            layout.cuts.append((y + _CUT / 2 + 4, event.time_s - previous_s))
            step = _CUT + 8
        y += step
        key = (event.node, event.what if event.what in ("sent", "mark") else "received")
        y = max(y, last.get(key, -math.inf) + _SENDS_APART, last.get((event.node, "mark"), -math.inf) + _MARK_HEIGHT)
        last[key] = y
        event.y = y
        previous_s = event.time_s
        in_flight += change[event.what]
    layout.height = y
    return layout


def _transit_s(packet: Packet, packets: Sequence[Packet]) -> float:
    """How long a lost packet would have been on its way: as others from the same node, or as any other."""
    same = [p.received_s - p.sent_s for p in packets if p.received_s is not None and p.source == packet.source]
    others = same or [p.received_s - p.sent_s for p in packets if p.received_s is not None]
    assert packet.lost_s is not None
    return max(packet.lost_s - packet.sent_s, median(others) if others else 0.0)


def _lifelines(nodes: Mapping[str, str], column: Mapping[str, float], layout: _Layout, bottom: float) -> list[str]:
    parts = []
    top = _HEAD
    for node, x in column.items():
        stretch, path = top, ""
        for middle, _ in layout.cuts:
            path += f"M{x:.1f} {stretch:.1f}V{middle - 8:.1f}"
            path += "l6 2.7 -12 5.3 12 5.3 -6 2.7"
            stretch = middle + 8
        path += f"M{x:.1f} {stretch:.1f}V{bottom:.1f}"
        parts.append(f"<path d='{path}' fill='none' stroke='#8a8a92' stroke-width='1.4'/>")
        parts.append(
            f"<rect x='{x - 46:.1f}' y='{top - 30:.1f}' width='92' height='28' rx='5' fill='#eef1f6' "
            "stroke='#8a8a92'/>"
        )
        parts.append(_text(x, top - 11, nodes[node], size=14, weight=600))
    xs = list(column.values())
    for middle, seconds in layout.cuts:
        parts.append(_text((xs[0] + xs[-1]) / 2, middle + 4, f"{_ms(seconds)} ms without a packet", 12, "#555555"))
    return parts


@dataclass(frozen=True, slots=True)
class _Arrow:
    """A packet's arrow, from `(x1, y1)` to `(x2, y2)`; that of a lost packet ends at its cross."""

    packet: Packet
    x1: float
    y1: float
    x2: float
    y2: float

    def y_at(self, x: float) -> float | None:
        """The height of the arrow at `x`, None beside it."""
        if not min(self.x1, self.x2) <= x <= max(self.x1, self.x2):
            return None
        return self.y1 + (self.y2 - self.y1) * (x - self.x1) / (self.x2 - self.x1)


def _arrow(
    packet: Packet, column: Mapping[str, float], start_y: float, end_y: float, packets: Sequence[Packet]
) -> _Arrow:
    x1, x2 = column[packet.source], column[packet.destination]
    if packet.received_s is None:
        # The cross stands where the packet was lost on its way, but clear of both lifelines.
        assert packet.lost_s is not None
        whole_s = _transit_s(packet, packets)
        share = min(0.8, max(0.62, (packet.lost_s - packet.sent_s) / whole_s if whole_s > 0 else 0.7))
        x2, end_y = x1 + (x2 - x1) * share, start_y + (end_y - start_y) * share
    return _Arrow(packet, x1, start_y, x2, end_y)


def _line(arrow: _Arrow) -> str:
    """The line with its head or cross."""
    x2, y2 = arrow.x2, arrow.y2
    colour = _COLOURS[arrow.packet.kind]
    angle = math.atan2(y2 - arrow.y1, x2 - arrow.x1)
    tip_x, tip_y = x2 - 2 * math.cos(angle), y2 - 2 * math.sin(angle)
    dashes = " stroke-dasharray='5 4'" if arrow.packet.kind == "transport" else ""
    line = (
        f"<line x1='{arrow.x1:.1f}' y1='{arrow.y1:.1f}' x2='{tip_x:.1f}' y2='{tip_y:.1f}' stroke='{colour}' "
        f"stroke-width='1.7'{dashes}/>"
    )
    if arrow.packet.received_s is None:
        return (
            f"{line}\n<path d='M{x2 - 6:.1f} {y2 - 6:.1f}l12 12m0 -12l-12 12' stroke='{_LOSS}' stroke-width='2.6'/>"
        )
    return f"{line}\n{_head(x2, y2, angle, colour)}"


def _labels(arrows: Sequence[_Arrow], marks: Sequence[_Place]) -> list[str]:
    """The labels, each on its arrow where the fewest lines, labels and marks cross it, and rather near the sender."""
    parts = []
    taken: list[tuple[_Arrow, float, float]] = []  # an arrow, and from where to where its label stands on it
    for arrow in arrows:
        half = _CHARACTER * _LABEL_SIZE * len(arrow.packet.label) / 2
        left, right = sorted((arrow.x1, arrow.x2))
        room = max(0.0, right - left - 2 * half - 20)
        spots = [left + 10 + half + room * step / 24 for step in range(25)]
        wanted = arrow.x1 + (arrow.x2 - arrow.x1) * 0.3

        def cost(x: float, arrow: _Arrow = arrow, half: float = half, wanted: float = wanted) -> tuple[int, float]:
            return _crossings(arrow, x - half, x + half, arrows, taken, marks), abs(x - wanted)

        x = min(spots, key=cost)
        taken.append((arrow, x - half, x + half))
        y = arrow.y_at(x)
        assert y is not None or room == 0
        tilt = math.degrees(math.atan((arrow.y2 - arrow.y1) / (arrow.x2 - arrow.x1)))
        label = _text(0, -4.5, arrow.packet.label, size=_LABEL_SIZE, fill=_COLOURS[arrow.packet.kind], halo=True)
        at = f"{x:.1f} {arrow.y1 if y is None else y:.1f}"
        parts.append(f"<g transform='translate({at}) rotate({tilt:.2f})'>{label}</g>")
    return parts


def _crossings(
    arrow: _Arrow,
    start: float,
    end: float,
    arrows: Sequence[_Arrow],
    taken: Sequence[tuple[_Arrow, float, float]],
    marks: Sequence[_Place],
) -> int:
    """At how many of some places along a label another arrow, label or mark lies in its way."""
    count = 0
    for step in range(13):
        x = start + (end - start) * step / 12
        own = arrow.y_at(x)
        if own is None:
            continue
        for other in arrows:
            y = other.y_at(x)
            if other is not arrow and y is not None and own - _LABEL_RISE < y < own:
                count += 1
        for other, from_x, to_x in taken:
            y = other.y_at(x)
            if y is not None and from_x <= x <= to_x and abs(y - own) < _LABEL_RISE:
                count += 2
        count += 2 * sum(m.left <= x <= m.right and m.y - 8 < own < m.y + 8 + _LABEL_RISE for m in marks)
    return count


def _head(x: float, y: float, angle: float, colour: str) -> str:
    corners = " ".join(
        f"{x + 10 * math.cos(angle + turn):.1f},{y + 10 * math.sin(angle + turn):.1f}"
        for turn in (math.radians(157), math.radians(-157))
    )
    return f"<polygon points='{x:.1f},{y:.1f} {corners}' fill='{colour}'/>"


def _stamps(layout: _Layout, column: Mapping[str, float], origin_s: float, packets: Sequence[Packet]) -> list[str]:
    """The time of each start and end beside its lifeline, where its arrow is not, if there is room."""
    parts = []
    last: dict[str, float] = {}
    for event in layout.events:
        if event.what == "lost" or event.y - last.get(event.node, -math.inf) < _STAMPS_APART:
            continue
        last[event.node] = event.y
        if event.what == "mark":
            outside = -1 if column[event.node] <= sum(column.values()) / len(column) else 1
        else:
            packet = packets[event.packet]
            other = packet.destination if event.what == "sent" else packet.source
            outside = -1 if column[other] > column[event.node] else 1
        x = column[event.node] + outside * 9
        anchor = "end" if outside < 0 else "start"
        parts.append(_text(x, event.y + 4, _ms(event.time_s - origin_s), size=12, fill="#444444", anchor=anchor))
    return parts


def _places_of_marks(layout: _Layout, column: Mapping[str, float], marks: Sequence[Mark]) -> list[_Place]:
    """Where the words of the marks stand."""
    middle = sum(column.values()) / len(column)
    places = []
    for event in layout.events:
        if event.what == "mark":
            x, width = column[event.node], 14 + _CHARACTER * 12 * len(marks[event.packet].text)
            left, right = (x, x + width) if x <= middle else (x - width, x)
            places.append(_Place(left, right, event.y))
    return places


def _marks(layout: _Layout, column: Mapping[str, float], marks: Sequence[Mark]) -> list[str]:
    """Marks as a bar across the lifeline, with their words beside it, towards the middle of the picture."""
    parts = []
    middle = sum(column.values()) / len(column)
    for event in layout.events:
        if event.what != "mark":
            continue
        x, y = column[event.node], event.y
        inside, anchor = (1, "start") if x <= middle else (-1, "end")
        parts.append(
            f"<line x1='{x - 9:.1f}' y1='{y:.1f}' x2='{x + 9:.1f}' y2='{y:.1f}' stroke='{_LOSS}' stroke-width='2.6'/>"
        )
        words = marks[event.packet].text
        parts.append(_text(x + 14 * inside, y + 4, words, size=12, fill=_LOSS, anchor=anchor, weight=600, halo=True))
    return parts


def _legend(packets: Sequence[Packet], y: float, origin_s: float) -> list[str]:
    parts = [_text(10, y - 17, f"times in ms from t = {origin_s:g} s", size=12, fill="#555555", anchor="start")]
    x = 10.0
    for kind, name in _KIND_NAMES.items():
        if any(p.kind == kind for p in packets):
            parts.append(_text(x, y, name, size=12, anchor="start", fill=_COLOURS[kind]))
            x += 7.2 * len(name) + 14
    if any(p.received_s is None for p in packets):
        parts.append(f"<path d='M{x:.1f} {y - 8:.1f}l8 8m0 -8l-8 8' stroke='{_LOSS}' stroke-width='2.2'/>")
        parts.append(_text(x + 13, y, "lost", size=12, anchor="start", fill=_LOSS))
    return parts


def _text(
    x: float,
    y: float,
    text: str,
    size: float = 12,
    fill: str = "#1c1c22",
    anchor: str = "middle",
    weight: int = 400,
    halo: bool = False,
) -> str:
    if not text:
        return ""
    ground = " stroke='#ffffff' stroke-width='5' paint-order='stroke' stroke-linejoin='round'" if halo else ""
    bold = f" font-weight='{weight}'" if weight != 400 else ""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size:g}' fill='{fill}' text-anchor='{anchor}'{bold}{ground}>"
        f"{html.escape(text)}</text>"
    )


def _ms(seconds: float) -> str:
    """Milliseconds with one decimal below 100 ms, as few digits as are right above."""
    milliseconds = seconds * 1e3
    return f"{milliseconds:.1f}" if milliseconds < 999.95 else f"{milliseconds:.0f}"
