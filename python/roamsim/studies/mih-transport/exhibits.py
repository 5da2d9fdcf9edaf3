"""The study's drawings, and its tables of other tables than the signalling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from roamsim.study.data import Data
from roamsim.study.judging import with_interval
from roamsim.study.metric import estimate_of


@dataclass(frozen=True)
class Sketch:
    """Boxes at places, lines between them, and words at places; a dashed line is a radio hop or a service."""

    boxes: Mapping[str, tuple[float, float]]
    lines: Sequence[tuple[str, str, str, bool]]  # from, to, words in the middle, whether dashed
    words: Sequence[tuple[float, float, str]] = ()
    size: tuple[float, float] = (7.5, 1.6)


#: The networks of both rounds, and the concepts of the slides.
SKETCHES = {
    "first": Sketch(
        {"MN": (0, 0), "AP": (1, 0), "router": (2, 0), "PoS": (3, 0)},
        (
            ("MN", "AP", "802.11b, 11 Mb/s\ncell of 50 m", True),
            ("AP", "router", "100 Mb/s\n10 ms", False),
            ("router", "PoS", "100 Mb/s, 10 ms\nloss p each way", False),
        ),
    ),
    "second": Sketch(
        {
            "MN": (0, 0),
            "AP\n(co-located PoS)": (1.3, 0),
            "PoS\n(not co-located)": (3, 0),
            "CN": (3, -1),
            "0 to 10\nbackground nodes": (0, -1),
        },
        (
            ("MN", "AP\n(co-located PoS)", "MIH messages\n11 Mb/s", True),
            ("AP\n(co-located PoS)", "PoS\n(not co-located)", "variable delay,\nloss and bandwidth", False),
            ("AP\n(co-located PoS)", "CN", "", False),
            ("0 to 10\nbackground nodes", "AP\n(co-located PoS)", "", True),
        ),
        ((2.15, -0.95, "500 B every 5 ms to the CN"),),
        (7.5, 2.6),
    ),
    "net-sap": Sketch(
        {
            "MIH user ": (0, 2), "MIHF ": (0, 1), "UDP or TCP ": (0, 0),
            "MIH user": (3, 2), "MIHF": (3, 1), "UDP or TCP": (3, 0),
        },
        (
            ("MIH user ", "MIHF ", "", False), ("MIH user", "MIHF", "", False),
            ("MIHF ", "UDP or TCP ", "", False), ("MIHF", "UDP or TCP", "", False),
            ("MIHF ", "MIHF", "MIH messages and MIH ACKs", True),
            ("UDP or TCP ", "UDP or TCP", "packets, TCP's ACKs", False),
        ),
        (
            (0.0, 0.5, "MIH_NET_SAP:\nMIH_TP_Data.request, .confirm"),
            (3.0, 0.5, "MIH_NET_SAP:\nMIH_TP_Data.indication"),
        ),
        (7.5, 3.2),
    ),
    "scenarios": Sketch(
        {"S1: home": (0, 0), "S2: visited": (1, 0), "S3: roaming": (2, 0), "S4: third party": (3, 0)},
        (),
        (
            (0, 0.55, "MN, server and services\nin the home network"),
            (1, 0.55, "MN in the visited network,\nserver too"),
            (2, 0.55, "MN in the visited network,\nservices from home"),
            (3, 0.55, "server of a third party,\nMN anywhere"),
            (1.5, -0.5, "Between them the study varies only the round trip from MN to server"),
        ),
        (7.5, 1.8),
    ),
}  # fmt: skip


def network(_data: Data, **values: Any) -> Figure:
    """The network of a round."""
    return _sketched(SKETCHES[values["round"]["id"]])


def concept(_data: Data, **values: Any) -> Figure:
    """What a concept slide shows."""
    return _sketched(SKETCHES[values["concept"]["id"]])


def _sketched(sketch: Sketch) -> Figure:
    figure = Figure(figsize=sketch.size, layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    across, up = zip(*sketch.boxes.values(), strict=True)
    axes.set_xlim(min(across) - 0.55, max(across) + 0.55)
    axes.set_ylim(min(up) - 0.6, max(up) + 0.9)
    for start, end, words, dashed in sketch.lines:
        (x1, y1), (x2, y2) = sketch.boxes[start], sketch.boxes[end]
        axes.plot([x1, x2], [y1, y2], "--" if dashed else "-", color="0.4", zorder=1)
        axes.text((x1 + x2) / 2, (y1 + y2) / 2 + 0.14, words, ha="center", va="bottom", fontsize=8)
    for name, (x, y) in sketch.boxes.items():
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": "0.3"}
        axes.text(x, y, name.strip(), ha="center", va="center", bbox=box, zorder=2)
    for x, y, words in sketch.words:
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        axes.text(x, y, words, ha="center", va="center", fontsize=8, bbox=ground, zorder=3)
    return figure


def acknowledgement(_data: Data) -> list[dict[str, Any]]:
    """The two ways of acknowledging, and the clauses of this study that measure them."""
    return [
        {
            "acknowledged by": "the transport",
            "for it": "the MIHF needs no timer for indications and ACKs",
            "against it": "the MIHF does not hear of losses; TCP's timers are long; a request still needs a timer",
            "measured in": "5a to 5i",
        },
        {
            "acknowledged by": "the MIH protocol",
            "for it": "the MIHF knows what became of each message, and decides what to do",
            "against it": "more packets, and timers of its own",
            "measured in": "2a to 3f",
        },
    ]


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
