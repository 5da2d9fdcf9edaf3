"""The study's tables and drawings."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from roamsim.study.data import Data, Metric
from roamsim.study.judging import with_interval

#: The experiments of the second round's table of variables: what each varies.
VARIABLES = {
    "vary-size": "message size",
    "vary-interval": "mean interval between messages",
    "vary-processing": "processing time of a request",
    "vary-timeout": "MIH timeout, RTT 0.1 s",
    "vary-bucket": "limiter's bucket",
    "vary-rate": "limiter's rate",
    "vary-queue": "limiter's queue",
}

#: What the tables show of each point.
METRICS: dict[str, tuple[Metric, float]] = {
    "success (%)": ("success_rate", 100),
    "mean delay (ms)": ("mean_delay_s", 1000),
    "MIH overhead": ("overhead", 1),
}

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


def variables(data: Data) -> list[dict[str, Any]]:
    """A row for each value of each variable, kind and transport."""
    return [
        {"variable": what, "value": value, **row}
        for experiment, what in VARIABLES.items()
        for value in data.labels(experiment, "value")
        for row in _points(data, experiment, value=value)
    ]


def placements(data: Data) -> list[dict[str, Any]]:
    """A row for each place of the mobility server, kind and transport."""
    return [
        {"place": place, **row}
        for place in data.labels("placements", "placement")
        for row in _points(data, "placements", placement=place)
    ]


def _points(data: Data, experiment: str, **where: Any) -> list[dict[str, Any]]:
    """Success, delay and overhead by kind and transport, with their 95 % intervals."""
    rows = []
    for kind in data.labels(experiment, "kind"):
        for transport in data.labels(experiment, "transport"):
            at = {**where, "kind": kind, "transport": transport}
            shown = {
                name: with_interval(data.estimate(experiment, metric, **at).scaled(scale))
                for name, (metric, scale) in METRICS.items()
            }
            rows.append({"kind": kind, "transport": transport, **shown})
    return rows


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
