"""The topology, and the steps of successful handovers stacked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch
from roamsim import Result
from roamsim.pictures import bars
from roamsim.study.data import Data

from .study import RADIUS_M, SPEED_MPS, START_M, TCPS, UDP_TIMEOUTS_S

INK, GREY, BLUE, ORANGE = "#222222", "#808080", "#2b6ca3", "#b3541e"

#: Where the words of each mark stand beside it: how far to the right, how far below, aligned how.
MARKS = ((-0.1, 0.32, "right"), (-0.12, 0.12, "center"), (0.12, 0.12, "left"))

#: The steps in their order, with the publication's names, and colours.
STEPS = {
    "notice_s": ("notice to the PoS", "#8c6bb1"),
    "scan_s": ("scan", "#e69f00"),
    "availability_s": ("resource availability", "#0072b2"),
    "request_s": ("handover request", "#56b4e9"),
    "redirect_s": ("redirection", "#009e73"),
}


def topology(result: Result) -> Figure:
    """Who is connected to whom, and where the mobile node is when its link is going down, in one run."""
    (row,) = result.tables["mih_handovers"].iter_rows(named=True)
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    axes = figure.subplots()
    per_m = 2.0 / RADIUS_M
    ap = (2.4, 1.5)
    axes.add_patch(Circle(ap, 6.4, facecolor="#f6f2e9", edgecolor=GREY, linestyle="--", zorder=0))
    axes.add_patch(Circle(ap, RADIUS_M * per_m, facecolor="#e3edf6", edgecolor=BLUE, linestyle="--", zorder=0))
    axes.text(ap[0], 3.62, "802.11, 11 Mb/s\nr = 50 m", ha="center", fontsize=8, color=BLUE)
    axes.text(5.9, -0.75, "802.16, 64-QAM 3/4, r = 500 m (not to scale)", ha="center", fontsize=8, color=ORANGE)
    places = {
        "AP": ap,
        "BS": (ap[0], ap[1] + 0.62),
        "router": (7.4, 2.2),
        "PoS1": (9.2, 3.6),
        "PoS2": (9.2, 2.2),
        "CN": (9.2, 0.8),
    }
    for one, other in (("AP", "router"), ("BS", "router"), ("router", "PoS1"), ("router", "PoS2"), ("router", "CN")):
        (x0, y0), (x1, y1) = places[one], places[other]
        axes.plot([x0, x1], [y0, y1], color=INK, linewidth=1.2, zorder=1)
    axes.text(6.9, 1.35, "wires: 100 Mb/s,\n10 ms each", ha="center", fontsize=8)
    for name, (x, y) in places.items():
        box = FancyBboxPatch(
            (x - 0.36, y - 0.19), 0.72, 0.38, boxstyle="round,pad=0.05", facecolor="white", edgecolor=INK
        )
        axes.add_patch(box)
        axes.text(x, y, name, ha="center", va="center", fontsize=9)

    def at(time_s: float) -> float:
        return ap[0] + per_m * (START_M + SPEED_MPS * time_s)

    y = ap[1]
    axes.annotate("", (at(30), y), (at(0), y), arrowprops={"arrowstyle": "->", "color": ORANGE, "linewidth": 1.6})
    marks = {
        "MN, 1 m/s\n0 s": 0.0,
        f"{row['going_down_s']:.2f} s\ngoing\ndown": row["going_down_s"],
        "25 s\nedge": 25.0,
    }
    words: dict[str, Any] = {"color": ORANGE, "fontsize": 8, "va": "top"}
    for (text, time_s), (aside, below, align) in zip(marks.items(), MARKS, strict=True):
        axes.plot([at(time_s)], [y], "o", color=ORANGE, markersize=4)
        axes.text(at(time_s) + aside, y - below, text, ha=align, **words)
    axes.set_xlim(0, 9.9)
    axes.set_ylim(-1, 4.2)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def steps(data: Data, case: Mapping[str, str]) -> dict[str, Any]:
    """What each step takes against loss, bars for each transport; averages over successful handovers."""
    losses = [float(percent) for percent in data.labels("handovers", "loss")]
    shown = [step for step in STEPS if step != "notice_s" or case["start"] == "network, remote"]

    def mean(step: str, name: str, loss: float) -> float:
        found = data.estimate("handovers", step, start=case["start"], transport=name, loss=loss).mean
        return found if math.isfinite(found) else 0.0

    times = {
        name: {STEPS[step][0]: [mean(step, name, loss) for loss in losses] for step in shown}
        for name in (*UDP_TIMEOUTS_S, *TCPS)
    }
    longest = max(sum(each) for parts in times.values() for each in zip(*parts.values(), strict=True))
    colours = [STEPS[step][1] for step in shown]
    return bars.specification(
        [
            bars.Bars(
                f"{name}: mean time by loss, s", [f"{loss:g} %" for loss in losses], parts, colours, most=longest
            )
            for name, parts in times.items()
        ]
    )
