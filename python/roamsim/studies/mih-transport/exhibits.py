"""The study's drawings."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from roamsim.study.data import Data

#: The nodes of both networks and what lies between them.
NETWORKS = {
    "first": (
        ("MN", "AP", "router", "PoS"),
        ("802.11b, 11 Mb/s\ncell of 50 m", "100 Mb/s\n10 ms", "100 Mb/s, 10 ms\nloss p each way"),
    ),
    "second": (
        ("MN", "AP", "PoS"),
        (
            "802.11b, 11 Mb/s",
            "round trips: 100 Mb/s, 50 to 250 ms, loss 0 to 20 %\ncongestion: 1 Mb/s, 10 ms, no loss but in queues",
        ),
    ),
}


def network(_data: Data, **values: Any) -> Figure:
    """The nodes of a round in a row, and what lies between them."""
    nodes, links = NETWORKS[values["round"]["id"]]
    figure = Figure(figsize=(7.5, 1.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(-0.5, len(nodes) - 0.5)
    axes.set_ylim(-0.6, 0.9)
    for at, words in enumerate(links):
        dashed = "--" if at == 0 else "-"
        axes.plot([at, at + 1], [0, 0], dashed, color="0.4", zorder=1)
        axes.text(at + 0.5, 0.18, words, ha="center", va="bottom", fontsize=8)
    for at, name in enumerate(nodes):
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": "0.3"}
        axes.text(at, 0, name, ha="center", va="center", bbox=box, zorder=2)
    return figure
