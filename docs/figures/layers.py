"""Which layer moves a download: the table and the picture of docs/layers.md.

    python docs/figures/layers.py [WALK]...

With walks, their rows alone go to the terminal. `calls` are the rows of the call.

Every walk runs under each pair of a transport and a scheme of its selection, with equal random draws.
"""

from __future__ import annotations

import math
import sys
import warnings
from bisect import bisect
from itertools import pairwise
from pathlib import Path

import polars
import roamsim
from figure_style import DOCS, drawn, write_block
from roamsim.statistics import Estimate, mean

PAGE = DOCS / "layers.md"
REPLICATIONS = 5
PHONE, TWO_LINKS = DOCS.parent / "examples" / "phone.toml", Path(__file__).parent / "layers-two-links.toml"
WIMAX, STADIUM = (Path(__file__).parent / f"layers-{name}.toml" for name in ("wimax", "stadium"))
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
    "802.16": (WIMAX, {}, "large"),
    "Stadium": (STADIUM, {}, "lte"),
}
TCP: dict[str, object] = {"protocol": "tcp", "variant": "cubic"}
SCTP: dict[str, object] = {"protocol": "sctp"}
#: RFC 7829: one timeout makes a path potentially failed.
POTENTIALLY_FAILED: dict[str, object] = {**SCTP, "potentially_failed_max_retrans": 0}
QUIC: dict[str, object] = {"protocol": "quic", "congestion_control": "cubic", "client": "to"}
#: As "TCP, 802.21 commands", but the policy leaves a link that is going down.
ANNOUNCED = "TCP, 802.21, announced"
#: What moves the download, its transport, and the scheme.
MOVERS: dict[str, tuple[dict[str, object], str]] = {
    "TCP, nothing": (TCP, "none"),
    "TCP, redirection": (TCP, "redirect"),
    "TCP, Mobile IPv4": (TCP, "mobile_ip"),
    "TCP, 802.21 commands": (TCP, "mih"),
    ANNOUNCED: (TCP, "mih"),
    "SCTP, its own failover": (SCTP, "none"),
    "SCTP, potentially failed": (POTENTIALLY_FAILED, "none"),
    "SCTP, mobile SCTP": (SCTP, "mobile_sctp"),
    "QUIC, nothing": (QUIC, "none"),
    "QUIC, migration": (QUIC, "migration"),
}
#: What carries the call: its transport, and the scheme.
CALLS: dict[str, tuple[dict[str, object], str]] = {
    "UDP, redirection": ({"protocol": "udp"}, "redirect"),
    "SCTP, mobile SCTP": (SCTP, "mobile_sctp"),
    "SCTP, given up after 100 ms": ({**SCTP, "max_lifetime": "100ms"}, "mobile_sctp"),
    "SCTP, one retransmission": ({**SCTP, "max_retransmissions": 1}, "mobile_sctp"),
}
FQ_CODEL: dict[str, object] = {f"{link}.queue.discipline": "fq_codel" for link in ("link.lte", "wifi.*")}
#: 60 s of 172 octets each 20 ms.
WRITTEN_BYTES = 3000 * 172
#: The download begins after one second; its first two are its start.
FROM_S, END_S = 3.0, 60.0


#: Full rate is this share of the mean rate from 5 s to 10 s behind the interruption, over one second. Chosen: a rate
#: varies by some percent from second to second.
FULL = 0.9


def interruption(times: list[float], until_s: float = END_S) -> tuple[float, float]:
    """The longest time without a delivery, and its end, in seconds."""
    instants = [FROM_S, *(time for time in times if time > FROM_S), until_s]
    return max((after - before, after) for before, after in pairwise(instants))


def to_full_rate(times: list[float], octets: list[float], end_s: float, until_s: float = END_S) -> float:
    """From the end of an interruption to the first second at full rate; NaN if less than 10 s follow.

    What was received behind a gap is delivered at its end, and does not count.
    """

    def delivered(until_s: float) -> float:
        place = bisect(times, until_s)
        return octets[place - 1] if place else 0.0

    if end_s + 10 > until_s:
        return math.nan
    full = FULL * (delivered(end_s + 10) - delivered(end_s + 5)) / 5
    starts = (tenth / 10 for tenth in range(91))
    return next(start for start in starts if delivered(end_s + start + 1) - delivered(end_s + start) >= full)


def measured(walk: str, mover: str) -> dict[str, list[float]]:
    """What each replication of a walk measured."""
    scenario, settings, paid = WALKS[walk]
    transport, scheme = MOVERS[mover]
    changes = {**settings, "flow.download.transport": transport, "selection.phone.scheme": scheme}
    if mover == ANNOUNCED:
        changes["selection.phone.leave_when_going_down"] = True
    if scheme == "mobile_ip":
        changes["scenario.ip"] = "ipv4"
    found: dict[str, list[float]] = {
        name: [] for name in ("interruption", "back", "goodput", "timeouts", "repeated", "paid")
    }
    for seed in range(1, REPLICATIONS + 1):
        with warnings.catch_warnings():
            # That a scheme does not move the call, and that LTE is never selected, is meant.
            warnings.simplefilter("ignore")
            run = roamsim.run(scenario, set=changes, seed=seed, trace="throughput")
        flow = run.flows.row(by_predicate=polars.col("name") == "download", named=True)
        of_download = (polars.col("quantity") == "delivered") & (polars.col("name") == "download")
        samples = run.samples.filter(of_download)
        times = samples["time_s"].to_list()
        longest, end_s = interruption(times)
        found["interruption"].append(longest)
        found["back"].append(to_full_rate(times, samples["value"].to_list(), end_s))
        found["goodput"].append(flow["goodput_bps"] / 1e6)
        found["timeouts"].append(flow["timeouts"])
        found["repeated"].append(flow["retransmissions"])
        link = run.interfaces.filter(polars.col("link") == paid)
        found["paid"].append(sum((link["sent_bytes"] + link["received_bytes"]).to_list()) / 1e6)
    return found


def movers_of(walk: str) -> list[str]:
    """What may move the download: wires announce nothing."""
    return [mover for mover in MOVERS if mover != ANNOUNCED or WALKS[walk][0] != TWO_LINKS]


def calls() -> list[str]:
    """The table of the call on the first walk, under the queue that keeps it below 100 ms."""
    lines = [
        "| call | in time, % | delivered, % | 99th percentile of the delay, s |",
        "| --- | --- | --- | --- |",
    ]
    for name, (transport, scheme) in CALLS.items():
        # The scheme moves the download too.
        download = TCP if scheme == "redirect" else SCTP
        changes = {"flow.call.transport": transport, "flow.download.transport": download, **FQ_CODEL}
        found: tuple[list[float], ...] = ([], [], [])
        for seed in range(1, REPLICATIONS + 1):
            run = roamsim.run(PHONE, set=changes | {"selection.phone.scheme": scheme}, seed=seed)
            flow = run.flows.row(by_predicate=polars.col("name") == "call", named=True)
            found[0].append(100 * flow["in_time_share"])
            found[1].append(100 * flow["delivered_bytes"] / WRITTEN_BYTES)
            found[2].append(flow["p99_delay_s"])
        cells = [name, *(shown(estimated(values), digits) for values, digits in zip(found, (1, 1, 2), strict=True))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def estimated(values: list[float]) -> Estimate | None:
    """A mean, if each replication has a value."""
    return mean(values) if values and not any(math.isnan(value) for value in values) else None


def shown(estimate: Estimate | None, digits: int) -> str:
    """A mean with half of its interval's width."""
    if estimate is None:
        return "-"
    text = f"{estimate.mean:.{digits}f}"
    half = f"{estimate.half_width:.{digits}f}"
    return text if float(half) == 0.0 else f"{text} ± {half}"


def rows_of(walk: str) -> tuple[list[str], list[tuple[str, Estimate, Estimate]]]:
    """The rows of a walk, and what its picture shows: mover, interruption, goodput."""
    lines, points = [], []
    for place, mover in enumerate(movers_of(walk)):
        found = {name: estimated(values) for name, values in measured(walk, mover).items()}
        digits = {"interruption": 2, "back": 1, "goodput": 2, "timeouts": 1, "repeated": 0, "paid": 1}
        cells = [walk if place == 0 else "", mover, *(shown(found[name], many) for name, many in digits.items())]
        lines.append(f"| {' | '.join(cells)} |")
        if (longest := found["interruption"]) and (goodput := found["goodput"]):
            points.append((mover, longest, goodput))
    return lines, points


def main(walks: list[str]) -> None:
    """Runs everything, writes the table into the page and draws the picture."""
    if walks == ["calls"]:
        sys.stdout.write("\n".join(calls()) + "\n")
        return
    lines = [
        "| walk | moved by | interruption, s | full rate, s | goodput, Mb/s | timeouts | repeated | paid, MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    points: dict[str, list[tuple[str, Estimate, Estimate]]] = {}
    for walk in walks or WALKS:
        rows, points[walk] = rows_of(walk)
        lines += rows
    if walks:
        sys.stdout.write("\n".join(lines) + "\n")
        return
    write_block(PAGE, "layers", lines)
    write_block(PAGE, "calls", calls())
    draw(points)


def draw(points: dict[str, list[tuple[str, Estimate, Estimate]]]) -> None:
    """Interruption and goodput with their intervals, a column for each walk."""
    names = list(MOVERS)
    with drawn("layers", 12.4, 5.2) as figure:
        grid = figure.subplots(2, len(points), sharey=True)
        for column, (walk, rows) in enumerate(points.items()):
            for row, (label, colour) in enumerate(
                (("longest interruption, s", "#d55e00"), ("goodput, Mb/s", "#0072b2"))
            ):
                axes = grid[row][column]
                for mover, *estimates in rows:
                    estimate = estimates[row]
                    axes.errorbar(
                        estimate.mean, -names.index(mover), xerr=estimate.half_width, fmt="o", markersize=3.5,
                        capsize=2.5, color=colour,
                    )  # fmt: skip
                axes.set_yticks([-place for place in range(len(names))], labels=names)
                axes.set_xlim(left=0)
                axes.grid(axis="x", alpha=0.25)
                axes.spines[["top", "right"]].set_visible(False)
                if row == 0:
                    axes.set_title(walk)
                axes.set_xlabel(label)


if __name__ == "__main__":
    main(sys.argv[1:])
