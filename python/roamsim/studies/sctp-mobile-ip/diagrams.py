"""The topology and the two formats of selective acknowledgements, drawn."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from roamsim.study.data import Data

INK, GREY, BLUE = "#222222", "#808080", "#2b6ca3"


def topology(_data: Data) -> Figure:
    """Who is connected to whom, and which way data and acknowledgements take."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots()
    places = {"CN": (0.4, 2.0), "router": (2.6, 2.0), "HA": (5.0, 3.1), "FA": (5.0, 0.9)}
    wires = {
        ("CN", "router"): "28.8 to 1500 kb/s, 200 ms",
        ("router", "HA"): "500 kb/s, 200 ms",
        ("router", "FA"): "500 kb/s, 200 ms",
    }
    for (one, other), text in wires.items():
        (x0, y0), (x1, y1) = places[one], places[other]
        axes.plot([x0, x1], [y0, y1], color=INK, linewidth=1.4, zorder=1)
        # Below a wire that falls runs the arrow of the data.
        right, above = (0, 0.32) if y1 >= y0 else (-0.5, -0.45)
        axes.text((x0 + x1) / 2 + right, (y0 + y1) / 2 + above, text, ha="center", fontsize=8)
    for agent, y in (("HA", 3.1), ("FA", 0.9)):
        axes.add_patch(
            Circle((6.6, y), 1.25, fill=True, facecolor="#eef3f8", edgecolor=GREY, linestyle="--", zorder=0)
        )
        axes.plot([5.0, 7.4], [y, 2.0], color=GREY, linestyle=":", zorder=1)
        words = "150 to 2000 kb/s,\nr = 250 m"
        axes.text(6.6, y + (0.6 if agent == "HA" else -0.6), words, ha="center", va="center", fontsize=8)
    for name, (x, y) in {**places, "MH": (7.4, 2.0)}.items():
        box = FancyBboxPatch(
            (x - 0.38, y - 0.2), 0.76, 0.4, boxstyle="round,pad=0.05", facecolor="white", edgecolor=INK
        )
        axes.add_patch(box)
        axes.text(x, y, name, ha="center", va="center", fontsize=10)
    data_way = {"arrowstyle": "->", "color": BLUE, "linewidth": 1.6}
    axes.annotate("", (2.95, 1.72), (4.6, 0.98), arrowprops=data_way)
    axes.annotate("", (0.85, 1.85), (2.15, 1.85), arrowprops=data_way)
    axes.text(3.2, 0.75, "data, by the agent that the MH is with", color=BLUE, fontsize=8, ha="center")
    tunnel = {"arrowstyle": "->", "color": "#b3541e", "linewidth": 1.6, "connectionstyle": "arc3,rad=0.25"}
    axes.annotate("", (4.85, 1.2), (4.85, 2.85), arrowprops=tunnel)
    axes.text(3.7, 2.0, "tunnel:\nacknowledgements", color="#b3541e", fontsize=8, ha="center", va="center")
    axes.annotate("", (8.6, 0.9), (8.6, 3.1), arrowprops={"arrowstyle": "<->", "color": INK})
    axes.text(8.7, 2.0, "20 m/s, 400 m,\nthere and back", fontsize=8, va="center")
    axes.set_xlim(-0.2, 10.2)
    axes.set_ylim(-0.6, 4.6)
    axes.set_axis_off()
    return figure


def formats(_data: Data) -> Figure:
    """TCP's SACK option and SCTP's SACK chunk, in words of 32 bits."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _words(
        left,
        "TCP: the SACK option (RFC 2018), 8 n + 2 octets of 40",
        [
            [("", 16), ("kind 5", 8), ("length", 8)],
            [("left edge of block 1", 32)],
            [("right edge of block 1", 32)],
            [("...", 32)],
            [("right edge of block n", 32)],
        ],
        "n at most 4; with timestamps (12 octets) 3",
    )
    _words(
        right,
        "SCTP: the SACK chunk (RFC 9260 3.3.4), 16 + 4 n octets",
        [
            [("type 3", 8), ("flags", 8), ("chunk length", 16)],
            [("cumulative TSN ack", 32)],
            [("advertised receiver window", 32)],
            [("gap ack blocks n", 16), ("duplicate TSNs", 16)],
            [("block 1: start", 16), ("block 1: end", 16)],
            [("...", 32)],
            [("block n: start", 16), ("block n: end", 16)],
        ],
        "n at most (65,535 - 16) / 4 = 16,379; in a packet of 1048 B 250",
    )
    return figure


def _words(axes: Axes, title: str, words: list[list[tuple[str, int]]], note: str) -> None:
    for line, fields in enumerate(words):
        at = 0
        for text, bits in fields:
            face = "#f3f3f3" if not text else "white"
            axes.add_patch(Rectangle((at, -line - 1), bits, 1, facecolor=face, edgecolor=INK, linewidth=1))
            axes.text(at + bits / 2, -line - 0.5, text, ha="center", va="center", fontsize=8)
            at += bits
    axes.text(16, -7.6, note, ha="center", fontsize=9)
    axes.set_title(title, fontsize=10)
    axes.set_xlim(-0.5, 32.5)
    axes.set_ylim(-8, 0.2)
    axes.set_axis_off()
