"""Which layer moves a download: the table and the picture of docs/layers.md.

    python docs/figures/layers.py

Every walk runs under each pair of a transport and a scheme of its selection, with equal random draws.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path

import polars
import roamsim
from figure_style import DOCS, drawn, write_block
from roamsim.statistics import Estimate, mean

PAGE = DOCS / "layers.md"
REPLICATIONS = 5
PHONE, TWO_LINKS = DOCS.parent / "examples" / "phone.toml", Path(__file__).parent / "layers-two-links.toml"
#: Of both links at once, after 20 s.
LIFT = [{"start": "20s", "duration": "8s"}]
#: The cells overlap, and LTE is not used.
WI_FI_ALONE: dict[str, object] = {
    "selection.phone.prefer": ["wifi"],
    "selection.phone.prices": [],
    "wifi.*.radio.radius": "60m",
}
#: A walk: its scenario, its settings, and the link that is paid for.
WALKS: dict[str, tuple[Path, dict[str, object], str]] = {
    "Wi-Fi, LTE, Wi-Fi": (PHONE, {}, "lte"),
    "Wi-Fi to Wi-Fi": (PHONE, WI_FI_ALONE, "lte"),
    "Train": (TWO_LINKS, {}, "second"),
    "Lift": (TWO_LINKS, {"link.first.outages": LIFT, "link.second.outages": LIFT}, "second"),
}
TCP = {"protocol": "tcp", "variant": "cubic"}
SCTP = {"protocol": "sctp"}
QUIC = {"protocol": "quic", "congestion_control": "cubic", "client": "to"}
#: What moves the download, its transport, and the scheme.
MOVERS: dict[str, tuple[dict[str, str], str]] = {
    "TCP, nothing": (TCP, "none"),
    "TCP, redirection": (TCP, "redirect"),
    "SCTP, its own failover": (SCTP, "none"),
    "SCTP, mobile SCTP": (SCTP, "mobile_sctp"),
    "QUIC, nothing": (QUIC, "none"),
    "QUIC, migration": (QUIC, "migration"),
}
#: The download begins after one second; its first two are its start.
FROM_S = 3.0


def interruption(samples: polars.DataFrame, end_s: float) -> float:
    """The longest time without a delivery, in seconds."""
    times = samples.filter((polars.col("quantity") == "delivered") & (polars.col("name") == "download"))["time_s"]
    instants: list[float] = [FROM_S, *times.filter(times > FROM_S), end_s]
    return max(after - before for before, after in pairwise(instants))


def measured(walk: str, mover: str) -> dict[str, list[float]]:
    """What each replication of a walk measured."""
    scenario, settings, paid = WALKS[walk]
    transport, scheme = MOVERS[mover]
    changes = {**settings, "flow.download.transport": transport, "selection.phone.scheme": scheme}
    found: dict[str, list[float]] = {"interruption": [], "goodput": [], "timeouts": [], "repeated": [], "paid": []}
    for seed in range(1, REPLICATIONS + 1):
        with warnings.catch_warnings():
            # That a scheme does not move the call, and that LTE is never selected, is meant.
            warnings.simplefilter("ignore")
            run = roamsim.run(scenario, set=changes, seed=seed, trace="throughput")
        flow = run.flows.row(by_predicate=polars.col("name") == "download", named=True)
        link = run.interfaces.filter(polars.col("link") == paid)
        found["interruption"].append(interruption(run.samples, 60.0))
        found["goodput"].append(flow["goodput_bps"] / 1e6)
        found["timeouts"].append(flow["timeouts"])
        found["repeated"].append(flow["retransmissions"])
        found["paid"].append(sum((link["sent_bytes"] + link["received_bytes"]).to_list()) / 1e6)
    return found


def shown(estimate: Estimate, digits: int) -> str:
    """A mean with half of its interval's width."""
    text = f"{estimate.mean:.{digits}f}"
    half = f"{estimate.half_width:.{digits}f}"
    return text if float(half) == 0.0 else f"{text} ± {half}"


def main() -> None:
    """Runs everything, writes the table into the page and draws the picture."""
    lines = [
        "| walk | moved by | interruption, s | goodput, Mb/s | timeouts | retransmissions | paid, MB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    points: dict[str, list[dict[str, Estimate]]] = {}
    for walk in WALKS:
        points[walk] = []
        for mover in MOVERS:
            found = {name: mean(values) for name, values in measured(walk, mover).items()}
            points[walk].append(found)
            cells = [
                walk if mover == next(iter(MOVERS)) else "",
                mover,
                shown(found["interruption"], 2),
                shown(found["goodput"], 2),
                shown(found["timeouts"], 1),
                shown(found["repeated"], 0),
                shown(found["paid"], 1),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    write_block(PAGE, "layers", lines)
    draw(points)


def draw(points: dict[str, list[dict[str, Estimate]]]) -> None:
    """Interruption and goodput with their intervals, a column for each walk."""
    with drawn("layers", 9.6, 4.4) as figure:
        grid = figure.subplots(2, len(points), sharey=True)
        for column, (walk, rows) in enumerate(points.items()):
            for row, (name, colour) in enumerate((("interruption", "#d55e00"), ("goodput", "#0072b2"))):
                axes = grid[row][column]
                for place, found in enumerate(rows):
                    estimate = found[name]
                    axes.errorbar(
                        estimate.mean, -place, xerr=estimate.half_width, fmt="o", markersize=3.5, capsize=2.5,
                        color=colour,
                    )  # fmt: skip
                axes.set_yticks([-place for place in range(len(MOVERS))], labels=list(MOVERS))
                axes.set_xlim(left=0)
                axes.grid(axis="x", alpha=0.25)
                axes.spines[["top", "right"]].set_visible(False)
                if row == 0:
                    axes.set_title(walk)
                axes.set_xlabel(("longest interruption, s", "goodput, Mb/s")[row])


if __name__ == "__main__":
    main()
