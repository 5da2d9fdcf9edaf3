"""Data units from the TCP segment to the slot: figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from roamsim import Result
from roamsim.theory import dect

FRAGMENT_BYTES, CHECKSUM_BYTES = 29, 2
HEADER, PAYLOAD, CHECK, FRAGMENT = "#d9d9d9", "#9ecae1", "#fdd49e", "#c7e9c0"
#: Height of a row, and from one to the next.
BAR, ROW = 0.45, 0.95


@dataclass(frozen=True)
class Level:
    """A row: what it is called, its parts (text, width, colour), and how it carries the row above.

    Attributes:
        of: the part of the row above that is carried; all of it where this is `None`.
        into: the part that carries it; all of them where this is `None`.
    """

    name: str
    parts: Sequence[tuple[str, float, str]]
    of: int | None = None
    into: int | None = None

    def span(self, part: int | None) -> tuple[float, float]:
        """Where a part, or the whole row, begins and ends."""
        widths = [width for _, width, _ in self.parts]
        return (0.0, sum(widths)) if part is None else (sum(widths[:part]), sum(widths[: part + 1]))


def data_units(result: Result) -> Figure:
    """From the TCP segment to the slot, with the sizes of a run."""
    sent = result.packets.filter((polars.col("event") == "sent") & (polars.col("protocol") == "tcp"))
    # A datagram of the largest size is a full segment, one of the smallest a pure ACK.
    packet_bytes, ack_bytes = int(sent["size_bytes"].max()), int(sent["size_bytes"].min())  # type: ignore[arg-type]
    payload_bytes = packet_bytes - ack_bytes
    fragments = dect.fragments(packet_bytes)
    last_bytes = packet_bytes + CHECKSUM_BYTES - (fragments - 1) * FRAGMENT_BYTES
    levels = [
        Level("TCP segment", [("header 20", 1.3, HEADER), (f"payload {payload_bytes}", 6.7, PAYLOAD)]),
        Level("IP packet", [("header 20", 1.3, HEADER), (f"segment {payload_bytes + 20}", 8.0, PAYLOAD)], into=1),
        Level("DLC frame", [(f"packet {packet_bytes}", 9.3, PAYLOAD), ("FCS 2", 0.7, CHECK)], into=0),
        Level(
            "LU2 fragments",
            [
                ("1: 29", 2.6, FRAGMENT),
                ("2: 29", 2.6, FRAGMENT),
                ("...", 2.2, "white"),
                (f"{fragments}: {last_bytes} of 29", 2.6, FRAGMENT),
            ],
        ),
        Level("Ip packet", [("header 3", 1.4, HEADER), ("fragment 29", 6.6, FRAGMENT)], of=0, into=1),
        Level("B field", [("8 + 2", 2.0, PAYLOAD)] * 4),
        Level(
            "full slot",
            [("S 32 bit", 1.2, HEADER), ("A 64 bit", 1.9, CHECK), ("B 320 bit", 6.2, PAYLOAD), ("X 4", 0.7, HEADER)],
            into=2,
        ),
    ]
    figure = Figure(figsize=(9.0, 5.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(-1.6, 10.1)
    axes.set_ylim(-0.75, ROW * (len(levels) - 1) + BAR + 0.05)
    axes.set_axis_off()
    for place, level in enumerate(levels):
        y = ROW * (len(levels) - 1 - place)
        _row(axes, level, y)
        if place:
            _carried(axes, levels[place - 1].span(level.of), y + ROW, level.span(level.into), y + BAR)
    axes.text(
        0,
        -0.5,
        f"octets, where nothing else is said; a segment of {payload_bytes} octets takes {fragments} fragments, "
        f"a pure ACK of {ack_bytes} takes {dect.fragments(ack_bytes)}",
        fontsize=8,
    )
    return figure


def _row(axes: Axes, level: Level, y: float) -> None:
    axes.text(-0.15, y + BAR / 2, level.name, ha="right", va="center", weight="bold", fontsize=8.5)
    for number, (text, width, colour) in enumerate(level.parts):
        x, _ = level.span(number)
        axes.add_patch(Rectangle((x, y), width, BAR, facecolor=colour, edgecolor="black", linewidth=0.6))
        axes.text(x + width / 2, y + BAR / 2, text, ha="center", va="center", fontsize=8)


def _carried(axes: Axes, above: tuple[float, float], y_above: float, below: tuple[float, float], y: float) -> None:
    """Leads the ends of what is carried to those of what carries it."""
    for start, end in zip(above, below, strict=True):
        axes.plot([start, end], [y_above, y], color="#777", linewidth=0.6, linestyle=(0, (4, 3)), zorder=0)
