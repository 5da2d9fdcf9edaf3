"""The network (figure 1), the protocols of its nodes (figure 2), and a frame with the bearers of a connection."""

from __future__ import annotations

from typing import Any

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from roamsim import Result
from roamsim.study.data import Data

NODE, AIR = "#eef3f8", "#c7e9c0"
#: Of bearers: seen on light and dark ground.
OWN, ELSE = "#0072b2", "#8c8c8c"
#: Nodes from left to right: name, where its stack begins, protocols from the top, each as wide as its links.
STACKS = (
    (
        "mobile terminal",
        0.0,
        (("user of TCP",), ("TCP",), ("IP",), ("DLC: LU2",), ("MAC: Ip channel",), ("DECT physical",)),
    ),
    ("radio fixed part", 3.0, ((), (), (), (), ("MAC: Ip channel",), ("DECT physical",))),
    ("CCFP, interworking unit", 6.0, ((), (), ("IP (router)",), ("DLC: LU2", "link"), ("", ""), ("", ""))),
    ("fixed host", 9.0, (("user of TCP",), ("TCP",), ("IP",), ("link",), ("",), ("",))),
)
WIDTH, HEIGHT, STACK_TOP = 2.4, 0.42, 3.0
CARRIERS, SLOT_PAIRS = 10, 12


def network(_data: Data) -> Figure:
    """Who stands where, and the layers of each."""
    figure = Figure(figsize=(9.0, 5.2), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(-0.2, 11.6)
    axes.set_ylim(0.0, 6.6)
    axes.set_axis_off()
    for place in range(3):
        y = 6.0 - 0.75 * place
        _box(axes, 3.0, y - 0.22, WIDTH, 0.45, f"radio fixed part {place}", NODE)
        style = "-" if place == 1 else ":"
        axes.plot([1.2 + WIDTH / 2, 3.0], [5.25, y], color="#2a7", linestyle=style, linewidth=1.2, zorder=0)
        axes.plot([3.0 + WIDTH, 6.0], [y, 5.25], color="#555", linewidth=1.0, zorder=0)
    _box(axes, 0.0, 5.0, WIDTH, 0.5, "mobile terminal\n(TCP user)", NODE)
    _box(axes, 6.0, 5.0, WIDTH, 0.5, "CCFP and\ninterworking unit", NODE)
    _box(axes, 9.0, 5.0, WIDTH, 0.5, "fixed host\n(TCP user)", NODE)
    axes.plot([6.0 + WIDTH, 9.0], [5.25, 5.25], color="#555", linewidth=1.0, linestyle="--", zorder=0)
    axes.text(8.7, 5.6, "fixed network:\nno loss, constant delay", fontsize=7.5, ha="center")
    axes.text(2.7, 6.35, "up to 10 bearers to one of them", fontsize=7.5, ha="center", color="#2a7")
    axes.text(5.7, 6.35, "one cluster", fontsize=7.5, ha="center")
    for name, x, layers in STACKS:
        axes.text(x + WIDTH / 2, STACK_TOP + HEIGHT + 0.12, name, ha="center", weight="bold", fontsize=8.5)
        for level, names in enumerate(layers):
            for number, text in enumerate(names):
                if text:
                    part = WIDTH / len(names)
                    colour = AIR if text.startswith(("DLC", "MAC", "DECT")) else NODE
                    _box(axes, x + number * part, STACK_TOP - level * HEIGHT, part, HEIGHT, text, colour)
    axes.text(-0.15, 6.35, "figure 1", fontsize=8, style="italic")
    axes.text(-0.15, STACK_TOP + HEIGHT + 0.45, "figure 2: protocol architecture", fontsize=8, style="italic")
    lowest = STACK_TOP - 5 * HEIGHT
    axes.plot([WIDTH, 3.0], [lowest + HEIGHT / 2] * 2, color="#2a7", linewidth=1.2)
    # The DLC ends at the fixed part's centre, behind whichever radio fixed part.
    axes.plot(
        [3.0 + WIDTH, 6.0 + WIDTH / 4, 6.0 + WIDTH / 4],
        [lowest + 1.5 * HEIGHT] * 2 + [STACK_TOP - 3 * HEIGHT],
        color="#555",
        linewidth=1.0,
    )
    axes.plot(
        [6.0 + 0.75 * WIDTH] * 2 + [9.0 + WIDTH / 2] * 2,
        [STACK_TOP - 3 * HEIGHT, lowest + HEIGHT / 2, lowest + HEIGHT / 2, STACK_TOP - 3 * HEIGHT],
        color="#555",
        linewidth=1.0,
        linestyle="--",
    )
    axes.text(
        0.0,
        0.2,
        "green: DECT; the radio fixed parts of a cluster share one DLC, so that a connection handover keeps it",
        fontsize=8,
    )
    return figure


def _box(axes: Axes, x: float, y: float, width: float, height: float, text: str, colour: str) -> None:
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="#22303c", linewidth=0.7))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=7.5)


def bearers(result: Result) -> dict[str, Any]:
    """Carriers and slots of one radio fixed part at a moment with all ten bearers of the terminal."""
    used = result.dect_occupancy
    own = used.filter(polars.col("type") == "User")
    moment_s, rfp = _moment(own)
    there = used.filter(
        (polars.col("from_s") <= moment_s)
        & (polars.col("until_s") > moment_s)
        & (polars.col("radio_fixed_part") == rfp)
    )
    rows, number = [], 0
    for row in there.sort("carrier", "slot_pair", "half").iter_rows(named=True):
        mine = row["type"] == "User"
        number += mine
        for direction in range(2):
            begin = row["slot_pair"] + row["half"] / 2 + direction * SLOT_PAIRS
            rows.append(
                {
                    "bearer": "of the terminal" if mine else "of others",
                    "number": str(number) if mine else "",
                    "carrier": row["carrier"],
                    "slot": begin,
                    "until": begin + row["slots"],
                    "middle": begin + row["slots"] / 2,
                }
            )
    slots = 2 * SLOT_PAIRS
    x = {"type": "quantitative", "scale": {"domain": [0, slots], "nice": False}}
    labels = {"values": [slot + 0.5 for slot in range(slots)], "labelExpr": "floor(datum.value)", "grid": False}
    words = "slot: 0 to 11 to the terminal, 12 to 23 from it"
    carriers = {"scale": {"domain": list(range(CARRIERS)), "paddingInner": 0.06}, "axis": {"grid": False}}
    y = {"field": "carrier", "type": "ordinal", "title": "carrier", **carriers}
    whose = {"domain": ["of the terminal", "of others"], "range": [OWN, ELSE]}
    told = [{"field": name, "title": title} for name, title in (("carrier", None), ("slot", None), ("bearer", None))]
    edges = [{"slot": slot, "middle": slot == SLOT_PAIRS} for slot in range(slots + 1)]
    width = {"condition": {"test": "datum.middle", "value": 2}, "value": 0.4}
    return {
        "title": {"text": f"Radio fixed part {rfp}, {moment_s:g} s", "anchor": "start", "fontSize": 12},
        "width": "container",
        "height": 24 * CARRIERS,
        "layer": [
            {
                "data": {"values": edges},
                "mark": {"type": "rule", "tooltip": None},
                "encoding": {"x": {"field": "slot", **x}, "strokeWidth": width},
            },
            {
                "data": {"values": rows},
                "mark": "rect",
                "encoding": {
                    "x": {"field": "slot", **x, "title": words, "axis": labels},
                    "x2": {"field": "until"},
                    "y": y,
                    "color": {"field": "bearer", "type": "nominal", "title": "bearer", "scale": whose},
                    "tooltip": told,
                },
            },
            {
                "data": {"values": rows},
                "mark": {"type": "text", "color": "white", "fontSize": 11, "tooltip": None},
                "encoding": {"x": {"field": "middle", **x}, "y": y, "text": {"field": "number"}},
            },
        ],
        "usermeta": {"legend": whose["domain"]},
    }


def _moment(own: polars.DataFrame) -> tuple[float, int]:
    """The first moment from the end of the warm-up on with the most bearers at one radio fixed part, and that one."""
    best = (0, 0.0, 0)
    for row in own.sort("from_s").iter_rows(named=True):
        at, rfp = max(row["from_s"], 600.0), row["radio_fixed_part"]
        held = own.filter(
            (polars.col("from_s") <= at) & (polars.col("until_s") > at) & (polars.col("radio_fixed_part") == rfp)
        )
        if held.height > best[0]:
            best = (held.height, at, rfp)
    return best[1], best[2]
