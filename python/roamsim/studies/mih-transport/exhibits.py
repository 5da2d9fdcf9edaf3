"""The study's drawings, and its tables of other tables than the signalling."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from roamsim.study.data import Data
from roamsim.study.judging import with_interval
from roamsim.study.metric import estimate_of

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


#: What a cell's time was used for, by the columns of the table `wifi`.
AIRTIME = {
    "data_s": "data (%)",
    "control_s": "ACK (%)",
    "collision_s": "collisions (%)",
    "backoff_s": "back-off (%)",
    "idle_s": "idle (%)",
}


def cell_of_background(data: Data) -> list[dict[str, Any]]:
    """By direction and number of stations: what the cell's time was used for, and how many attempts failed."""
    rows = []
    for background in data.labels("background", "background"):
        for stations in data.labels("background", "stations"):
            at: dict[str, Any] = {
                "kind": "indication",
                "transport": "UDP",
                "loss": 0.0,
                "background": background,
                "stations": stations,
            }
            cells = data.rows_of("background", "wifi", **at)
            radios = data.rows_of("background", "wifi_stations", **at)
            total = " + ".join(AIRTIME)
            attempts, failed = (sum(row[column] for row in radios) for column in ("attempts", "failed_attempts"))
            row: dict[str, Any] = {"background": background, "stations": stations}
            row |= {
                name: with_interval(estimate_of(cells, f"100 * {part} / ({total})")) for part, name in AIRTIME.items()
            }
            rows.append({**row, "failed attempts (%)": f"{100 * failed / attempts:.1f}"})
    return rows
