"""The study's tables and its drawing."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch
from roamsim.pictures.charts import Look, curves
from roamsim.study.data import Data
from roamsim.study.judging import with_interval
from roamsim.tables.words import count

from .findings import DISTANCES_M, FINDINGS, NAMES, THREE, VARIANTS, Runs
from .moving_exhibits import (
    by_retransmissions,
    by_speed,
    handovers,
    over_time,
    ranking,
    ranking_orders,
    rates,
    rates_over_time,
    walk_by_condition,
)
from .statements import IFQS, order_of_delays

__all__ = [
    "by_retransmissions",
    "by_speed",
    "handovers",
    "over_time",
    "ranking",
    "ranking_orders",
    "rates",
    "rates_over_time",
    "walk_by_condition",
]

INK, GREY = "#1f2937", "#9ca3af"


def pairs(data: Data) -> list[dict[str, Any]]:
    """For each two variants, how far the first is ahead at each queue and distance."""
    runs = Runs(data)
    rows = []
    for first, second in combinations(VARIANTS, 2):
        row: dict[str, Any] = {"pair": f"{NAMES[first]} over {NAMES[second]}"}
        for metres in DISTANCES_M:
            for ifq in IFQS:
                lead = runs.ahead(first, second, ifq=ifq, distance_m=metres, retransmissions=THREE)
                word = " ahead" if lead.low > 0 else " behind" if lead.high < 0 else ""
                row[f"{metres} m, IFQ {ifq}"] = with_interval(lead) + word
        rows.append(row)
    return rows


def delay_orders(data: Data) -> list[dict[str, Any]]:
    """For each queue and distance, how many of the ten published orders of delays ours has, and which it has not."""
    rows = []
    for metres in DISTANCES_M:
        for ifq in IFQS:
            found = {pair: order_of_delays(data, pair, ifq, metres).verdict for pair in combinations(VARIANTS, 2)}
            named = {
                verdict: [f"{NAMES[a]}-{NAMES[b]}" for (a, b), v in found.items() if v == verdict]
                for verdict in ("agrees", "differs", "not decidable")
            }
            rows.append(
                {
                    "distance (m)": metres,
                    "IFQ": ifq,
                    **{verdict: ", ".join(those) for verdict, those in named.items()},
                }
            )
    return rows


def by_queue_and_retransmissions(data: Data, distance: int) -> dict[str, Any]:
    """Throughput against the interface queue: a panel for each variant, a line for each number of retransmissions."""
    ifqs, counts = (data.labels("standing", name) for name in ("ifq", "retransmissions"))
    rows = []
    for variant, number, ifq in product(VARIANTS, counts, ifqs):
        at = {"variant": variant, "retransmissions": number, "ifq": ifq, "distance_m": distance}
        found = data.estimate("standing", "goodput_bps", **at).scaled(1e-6).within(0.0)
        ends = {"mean": found.mean, "low": found.low, "high": found.high}
        rows.append({"panel": NAMES[variant], "series": count(int(number), "retransmission"), "x": ifq, **ends})
    return curves(rows, Look("interface queue, packets", "throughput, Mb/s", x_axis={"values": ifqs}))


#: A verdict in a table of many.
SHORT = {"agrees": "yes", "differs": "no", "not decidable": "?"}


def verdicts_by_condition(data: Data) -> list[dict[str, Any]]:
    """Whether each finding appears under each condition."""
    rows = []
    for condition in data.labels("conditions", "condition"):
        runs = Runs(data, "conditions", {"condition": condition})
        found = {clause: SHORT[measure(runs).verdict] for clause, (_, measure) in FINDINGS.items()}
        rows.append({"condition": condition, **found})
    return rows


def findings_by_condition(data: Data) -> list[dict[str, Any]]:
    """The number that decided about each finding under each condition."""
    rows = []
    for clause, (words, measure) in FINDINGS.items():
        row: dict[str, Any] = {"clause": clause, "finding": words}
        for condition in data.labels("conditions", "condition"):
            finding = measure(Runs(data, "conditions", {"condition": condition}))
            row[str(condition)] = finding.ours if finding.decided_by else SHORT[finding.verdict]
        rows.append(row)
    return rows


def network(_data: Data) -> Figure:
    """The nodes, the wires with their delays, and the cells."""
    figure = Figure(figsize=(8.5, 4.4), layout="constrained")
    axes = figure.add_subplot()
    places = {
        "A1": (0.3, 3.4), "A2": (0.3, 2.0), "A3": (0.3, 0.6), "A0": (2.6, 2.0), "BS0": (5.0, 3.3), "BS1": (5.0, 0.7),
        "n0": (7.0, 3.3), "n1": (7.0, 1.0), "n2": (7.0, -0.2), "n3": (6.1, 2.0),
    }  # fmt: skip
    wires = [("A1", "A0", "10 ms"), ("A2", "A0", "20 ms"), ("A3", "A0", "30 ms"), ("A0", "BS0", "10 ms")]
    for first, second, delay in [*wires, ("A0", "BS1", "10 ms")]:
        (x0, y0), (x1, y1) = places[first], places[second]
        axes.plot([x0, x1], [y0, y1], color=INK, linewidth=1, zorder=1)
        plain = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
        axes.text((x0 + x1) / 2, (y0 + y1) / 2, delay, ha="center", va="center", fontsize=8, bbox=plain)
    for base, stations in (("BS0", ("n0",)), ("BS1", ("n1", "n2", "n3"))):
        axes.add_patch(Circle(places[base], 2.35, facecolor="#eef3f8", edgecolor=GREY, linestyle="--", zorder=0))
        for station in stations:
            (x0, y0), (x1, y1) = places[base], places[station]
            axes.plot([x0, x1], [y0, y1], color=GREY, linestyle=":", zorder=1)
    words = {"n0": "movie", "n1": "game, both ways", "n2": "video chat, both ways", "n3": "FTP, 5 or 10 m from BS1"}
    for name, (x, y) in places.items():
        box = FancyBboxPatch((x - 0.26, y - 0.15), 0.52, 0.3, boxstyle="round,pad=0.04", fc="white", ec=INK, zorder=2)
        axes.add_patch(box)
        axes.text(x, y, name, ha="center", va="center", fontsize=9, zorder=3)
        if name in words:
            # Behind the edge of the cells; a line leads there from n3.
            axes.plot([x, 7.3], [y, y], color=GREY, linewidth=0.6, zorder=1)
            axes.text(7.42, y, words[name], va="center", fontsize=8)
    axes.annotate("", (4.55, 0.95), (4.55, 3.05), arrowprops={"arrowstyle": "<->", "color": INK})
    axes.text(4.5, 2.0, "20 m", ha="right", va="center", fontsize=8)
    axes.set_xlim(-0.2, 9.2)
    axes.set_ylim(-1.8, 5.8)
    axes.text(1.2, -0.4, "wires of 100 Mb/s", ha="center", fontsize=8)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure
