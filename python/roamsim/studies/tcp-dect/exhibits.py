"""Tables and drawings of the study `tcp-dect`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from roamsim import dectmap, statistics
from roamsim.result import Result
from roamsim.study.data import Data, Metric, Row
from roamsim.study.judging import Verdict, number, positive, with_interval, within
from roamsim.theory import dect
from roamsim.timeseries import Part

#: Offered load at which the limit is taken, in segments/s.
SATURATED = 50
POISSON, BATCHES = "Poisson arrivals", "batch arrivals"
#: The burst, in seconds.
BURST_S = (5.0, 10.0)
#: The time line that is drawn, in seconds.
SHOWN_S = (600.0, 900.0)

Rows = list[dict[str, Any]]


# Throughput -------------------------------------------------------------------------------------------------------


def limits(data: Data) -> Rows:
    """TH, TH_teo and their ratio at the highest offered load, in each case."""
    rows = []
    for case in data.labels("throughput", "case"):
        at = {"case": case, "offered": SATURATED}
        form = dect.saturated_ratio(_channel(2.0 if case == "doubled BER" else 1.0))
        rows.append(
            {
                "case": case,
                "TH (segments/s)": _shown(data, "throughput", "throughput", at),
                "TH_teo (segments/s)": _shown(data, "throughput", "throughput_teo", at),
                "TH / TH_teo": _shown(data, "throughput", "ratio", at),
                "mean bearers": _shown(data, "throughput", "mean_bearers", at),
                "± (%)": 100 * data.estimate("throughput", "mean_bearers", **at).relative_half_width,
                "without any (%)": _shown(data, "throughput", lambda row: 100 * row["no_bearer_share"], at),
                "closed form": form,
                "TH over it": data.estimate("throughput", "ratio", **at).mean / form,
                "TCP timeouts": sum(row["timeouts"] for row in data.rows("throughput", **at)),
            }
        )
    return rows


def _channel(ber_factor: float) -> dect.IpChannel:
    return dect.ip_channel(ber_good=1.7e-4 * ber_factor, ber_bad=3e-3 * ber_factor)


def _shown(data: Data, experiment: str, metric: Metric, where: Mapping[str, Any]) -> str:
    return with_interval(data.estimate(experiment, metric, **where))


def user_plane(data: Data) -> Rows:
    """What MAC and DLC did at the highest offered load."""
    columns: dict[str, Callable[[Row], float]] = {
        "attempts a packet": lambda row: row["attempts"] / row["packets"],
        "packets discarded /s": lambda row: _per_s(row, "discarded"),
        "packets lost with their bearer /s": lambda row: _per_s(row, "lost_with_bearer"),
        "go-back-N requests /s": lambda row: _per_s(row, "retransmission_requests"),
        "fragments sent again /s": lambda row: _per_s(row, "fragments_repeated"),
        "fragments sent again (%)": lambda row: 100 * row["fragments_repeated"] / row["packets"],
        "DLC frames dropped of a million": lambda row: (
            1e6 * row["dlc_frames_dropped"] / (row["dlc_frames_dropped"] + row["dlc_frames_delivered"])
        ),
        "TCP fast retransmits /h": lambda row: 3600 * _per_s(row, "fast_retransmits"),
    }
    return [
        {
            "case": case,
            **{
                name: _shown(data, "throughput", metric, {"case": case, "offered": SATURATED})
                for name, metric in columns.items()
            },
        }
        for case in data.labels("throughput", "case")
    ]


def _per_s(row: Row, column: str) -> float:
    """Of both directions, a direction and second."""
    return float(row[column] / 2 / row["measured_s"])


# Delay ------------------------------------------------------------------------------------------------------------


def delay_statistics(data: Data) -> Rows:
    """Mean, median and tail of the delay, and of the exponential of the same mean."""
    rows: Rows = []
    for arrivals in data.labels("delays", "arrivals"):
        mean = data.estimate("delays", "mean_s", arrivals=arrivals)
        measured: dict[str, Any] = {"arrivals": arrivals, "mean (s)": with_interval(mean)}
        exponential: dict[str, Any] = {"arrivals": "exponential of this mean", "mean (s)": mean.mean}
        for name, column, share in (("median", "median_s", 0.5), ("95 %", "p95_s", 0.05), ("99 %", "p99_s", 0.01)):
            measured[f"{name} (s)"] = _shown(data, "delays", column, {"arrivals": arrivals})
            exponential[f"{name} (s)"] = -mean.mean * math.log(share)
        for at in (1, 10, 25):
            name = f"beyond {at} s (%)"
            measured[name] = _shown(data, "delays", _percent(f"beyond_{at}_s"), {"arrivals": arrivals})
            exponential[name] = 100 * math.exp(-at / mean.mean)
        measured["beyond 5 means (%)"] = _shown(data, "delays", _percent("beyond_5_means"), {"arrivals": arrivals})
        exponential["beyond 5 means (%)"] = 100 * math.exp(-5)
        measured["TCP timeouts"] = sum(row["timeouts"] for row in data.rows("delays", arrivals=arrivals))
        rows += [measured, exponential]
    return rows


def _percent(column: str) -> Callable[[Row], float]:
    return lambda row: 100 * row[column]


def delay_histogram(data: Data) -> Figure:
    """Shares of delays in each second, and the exponential of the same mean."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    axes: Axes
    for axes, arrivals in zip(figure.subplots(1, 2, sharey=True), (POISSON, BATCHES), strict=True):
        rows = data.rows("delays", arrivals=arrivals)
        edges = range(61)
        beyond = [1.0] + [float(np.mean([row[f"beyond_{at}_s"] for row in rows])) for at in edges[1:]]
        share = [100 * (before - after) for before, after in pairwise(beyond)]
        axes.stairs(share, edges, fill=True, color="#9ecae1", label="runs")
        mean_s = float(np.mean([row["mean_s"] for row in rows]))
        at = np.asarray(edges)
        form = 100 * (np.exp(-at[:-1] / mean_s) - np.exp(-at[1:] / mean_s))
        axes.step(at[:-1] + 0.5, form, where="mid", color="#d55e00", label=f"exponential, mean {mean_s:.2f} s")
        axes.set_yscale("log")
        axes.set_ylim(0.01, 100)
        axes.set_title(f"{arrivals}; {100 * beyond[-1]:.1f} % beyond 60 s")
        axes.set_xlabel("delay [s]")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.axes[0].set_ylabel("share of segments in a second of delay [%]")
    return figure


# The burst --------------------------------------------------------------------------------------------------------


def burst_delays(data: Data) -> Figure:
    """Mean delay by the time of generation, and the longest."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    for axes, arrivals in zip(figure.subplots(1, 2, sharey=True), (POISSON, BATCHES), strict=True):
        by_time: dict[float, list[Row]] = {}
        for row in data.rows("burst", arrivals=arrivals):
            by_time.setdefault(row["from_s"], []).append(row)
        times = sorted(by_time)
        means = [statistics.mean([row["mean_delay_s"] for row in by_time[at]]) for at in times]
        axes.axvspan(*BURST_S, color="#f2d7d5")
        low, high = [max(e.low, 1e-3) for e in means], [e.high for e in means]
        axes.fill_between(times, low, high, step="post", color="#0072b2", alpha=0.25, linewidth=0)
        axes.step(times, [e.mean for e in means], where="post", color="#0072b2", label="mean of the runs")
        longest = [max(row["longest_delay_s"] for row in by_time[at]) for at in times]
        axes.step(times, longest, where="post", color="#7a7a7a", linewidth=0.7, label="longest of any run")
        axes.set_yscale("log")
        axes.set_xlim(0, 40)
        axes.set_title(arrivals)
        axes.set_xlabel("generated at [s]")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.axes[0].set_ylabel("delay [s]")
    return figure


def burst_run(result: Result) -> Figure:
    """Delays, queues and windows of one run."""
    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    places = figure.subplots(4, 1, sharex=True)
    for axes in places:
        axes.axvspan(*BURST_S, color="#f2d7d5")
        axes.grid(alpha=0.3)
    for flow in ("up", "down"):
        mine = result.messages.filter(polars.col("flow") == flow)
        places[0].plot(mine["generated_s"], mine["delay_s"], ".", markersize=3, label=flow)
    places[0].set_ylabel("delay of a\nsegment [s]")
    places[0].legend(frameon=False, loc="upper right")
    for axes, kind, title in (
        (places[1], "dlc_queue", "DLC queue\n[fragments]"),
        (places[2], "backlog", "TCP queue\n[B]"),
        (places[3], "cwnd", "cwnd [B]"),
    ):
        named = result.samples.filter(polars.col("series").str.ends_with(f"/{kind}"))
        for (series,), rows in named.group_by("series", maintain_order=True):
            if kind != "cwnd" or "sink" not in str(series):
                label = str(series).removesuffix(f"/{kind}")
                axes.step(rows["time_s"], rows["value"], where="post", linewidth=0.8, label=label)
        axes.set_ylabel(title)
        axes.legend(frameon=False, loc="upper right")
    places[-1].set_xlabel("time [s]")
    places[-1].set_xlim(0, 25)
    return figure


# The MAC ----------------------------------------------------------------------------------------------------------

#: Places of the states in figure 4.
STATES = {
    "Idle_Locked": (0.0, 2.0),
    "Call_Setup": (2.6, 2.0),
    "Blocked": (2.6, 3.4),
    "Active_Locked": (5.2, 2.0),
    "Bearer_HO": (7.8, 3.2),
    "Connection_HO": (7.8, 0.8),
    "Connection_Mod": (5.2, 0.2),
    "Dropped": (5.2, 3.8),
}


def state_diagram(data: Data) -> Figure:
    """The states with their share of time, and the transitions an hour."""
    times: dict[str, float] = {}
    counts: dict[tuple[str, str], float] = {}
    where: dict[str, Any] = {"case": "reference", "offered": SATURATED}
    for row in data.rows_of("throughput", "dect_states", **where):
        times[row["state"]] = times.get(row["state"], 0.0) + row["time_s"]
    total_s = math.fsum(times.values())
    for row in data.rows_of("throughput", "dect_transitions", **where):
        step = (row["from"], row["to"])
        counts[step] = counts.get(step, 0.0) + row["count"]
    figure = Figure(figsize=(9.0, 5.4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(-1.1, 9.0)
    axes.set_ylim(-0.5, 4.5)
    axes.set_axis_off()
    boxes: dict[str, FancyBboxPatch] = {}
    for state, (x, y) in STATES.items():
        box = FancyBboxPatch((x - 0.85, y - 0.27), 1.7, 0.54, "round,pad=0.05", facecolor="#eef3f8", edgecolor="#335")
        axes.add_patch(box)
        boxes[state] = box
        share = 100 * times.get(state, 0.0) / total_s
        axes.text(x, y + 0.09, state, ha="center", va="center", weight="bold", fontsize=9)
        axes.text(x, y - 0.13, f"{number(share)} %", ha="center", va="center", fontsize=9)
    for (start, end), count in counts.items():
        _arrow(axes, start, end, boxes, 3600 * count / total_s)
    return figure


def _arrow(axes: Axes, start: str, end: str, boxes: Mapping[str, FancyBboxPatch], per_hour: float) -> None:
    (x0, y0), (x1, y1) = STATES[start], STATES[end]
    arrow = FancyArrowPatch(
        (x0, y0),
        (x1, y1),
        arrowstyle="-|>",
        connectionstyle="arc3,rad=0.16",
        patchA=boxes[start],
        patchB=boxes[end],
        shrinkA=1,
        shrinkB=1,
        mutation_scale=11,
        linewidth=0.9,
        color="#555",
    )
    axes.add_patch(arrow)
    # The middle of the arc lies beside that of the line, to the right of its way.
    dx, dy = x1 - x0, y1 - y0
    bend = 0.13
    axes.text(
        (x0 + x1) / 2 + bend * dy,
        (y0 + y1) / 2 - bend * dx,
        f"{per_hour:.3g}/h",
        fontsize=7.5,
        ha="center",
        va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
    )


def states(data: Data) -> Rows:
    """Share of time and entries an hour of each state, in each case."""
    rows = []
    for state in STATES:
        row: dict[str, Any] = {"state": state}
        for case in data.labels("throughput", "case"):
            where = {"case": case, "offered": SATURATED, "state": state}
            found = data.rows_of("throughput", "dect_states", **where)
            row[f"{case} (% of time)"] = with_interval(statistics.mean([100 * one["share"] for one in found]))
        found = data.rows_of("throughput", "dect_states", case="reference", offered=SATURATED)
        hours = math.fsum(one["time_s"] for one in found) / 3600
        row["reference (entries/h)"] = sum(one["entries"] for one in found if one["state"] == state) / hours
        rows.append(row)
    return rows


def terminals(data: Data) -> Rows:
    """Calls, bearers and handovers by type, in each case."""
    rows = []
    for case in data.labels("throughput", "case"):
        where = {"case": case, "offered": SATURATED}
        for kind in ("P08j", "P32", "P80", "Data", "User"):
            found = data.rows_of("throughput", "dect_terminals", type=kind, **where)
            measured_s = math.fsum(row["measured_s"] for row in data.rows_of("throughput", "dect", **where))

            def of(part: str, whole: str, found: Rows = found) -> float | None:
                total = sum(row[whole] for row in found)
                return 100 * sum(row[part] for row in found) / total if total else None

            rows.append(
                {
                    "case": case,
                    "type": kind if kind != "User" else "the terminal",
                    "mean bearers": with_interval(statistics.mean([row["mean_bearers"] for row in found])),
                    "calls /h": 3600 * sum(row["calls"] for row in found) / measured_s,
                    # The terminal's call begins anew each time, and ends in no other way.
                    "blocked (%)": of("blocked", "calls") if kind != "User" else None,
                    "dropped (%)": of("dropped", "calls") if kind != "User" else None,
                    "attempts that met a channel in use (%)": of("attempts_occupied", "attempts"),
                    "attempts that collided (%)": of("attempts_collided", "attempts"),
                    "bearer handovers failed (%)": of("bearer_handovers_failed", "bearer_handovers"),
                    "connection handovers with loss (%)": of(
                        "connection_handovers_with_loss", "connection_handovers"
                    ),
                }
            )
        occupied = data.estimate("throughput", "occupied_channels", **where)
        rows.append({"case": case, "type": "all, channels of 360", "mean bearers": with_interval(occupied)})
    return rows


def occupancy(result: Result) -> Figure:
    """Channels, bearers, queues and handovers of one run."""
    (recording,) = dectmap.recordings(result, Part(start_s=SHOWN_S[0], end_s=SHOWN_S[1]))
    return dectmap.draw(recording)


# Recovery by TCP alone --------------------------------------------------------------------------------------------


def recoveries(data: Data) -> Rows:
    """LU2 beside LU1 at the highest offered load."""
    rows = []
    for case in data.labels("recovery", "case"):
        for recovery in data.labels("recovery", "recovery"):
            at = {"case": case, "recovery": recovery, "offered": SATURATED}
            found = data.rows("recovery", **at)
            rows.append(
                {
                    "errors": case,
                    "recovery": recovery,
                    "TH (segments/s)": _shown(data, "recovery", "throughput", at),
                    "TH / TH_teo": _shown(data, "recovery", "ratio", at),
                    "packets lost (%)": _shown(data, "recovery", _lost, at),
                    "segments sent again (%)": _shown(
                        data, "recovery", lambda row: 100 * row["retransmissions"] / row["segments_sent"], at
                    ),
                    "TCP timeouts /min": _shown(
                        data, "recovery", lambda row: 60 * row["timeouts"] / 2 / row["measured_s"], at
                    ),
                    "runs": len(found),
                }
            )
    return rows


def _lost(row: Row) -> float:
    """Share of IP packets that the DLC dropped, in percent."""
    all_frames = row["dlc_frames_dropped"] + row["dlc_frames_delivered"]
    return 100.0 * row["dlc_frames_dropped"] / all_frames if all_frames else math.nan


# Sensitivity ------------------------------------------------------------------------------------------------------

SITUATIONS = {"reference": "reference", "doubled BER": "doubled BER", "high background load": "high load"}


def sensitivity(data: Data) -> Rows:
    """What comes out with each choice, one row a choice."""
    rows = []
    for choice in data.labels("sensitivity", "choice"):
        row: dict[str, Any] = {"choice": choice}
        for situation, name in SITUATIONS.items():
            at = {"choice": choice, "situation": situation}
            row[f"TH_teo, {name}"] = _shown(data, "sensitivity", "throughput_teo", at)
            row[f"TH, {name}"] = _shown(data, "sensitivity", "throughput", at)
            row[f"TH/TH_teo, {name}"] = _shown(data, "sensitivity", "ratio", at)
        below = {"choice": choice, "situation": "20 segments/s"}
        row["mean delay (s)"] = _shown(data, "sensitivity", "mean_delay_s", below)
        row["99 % delay over mean"] = _shown(data, "sensitivity", _tail, below)
        row["TCP timeouts"] = sum(one["timeouts"] for one in data.rows("sensitivity", choice=choice))
        rows.append(row)
    return rows


def _tail(row: Row) -> float:
    return float(row["p99_delay_s"] / row["mean_delay_s"])


Holds = Callable[[Data, Any], Verdict]


def _is(situation: str, metric: Metric, low: float, high: float) -> Holds:
    """Whether a metric lies in a range with a choice, in a situation."""

    def holds(data: Data, choice: Any) -> Verdict:
        return within(data.estimate("sensitivity", metric, choice=choice, situation=situation), low, high, "").verdict

    return holds


def _lower(metric: Metric, small: str, large: str) -> Holds:
    """Whether a metric is lower in one situation than in another with a choice, replication by replication."""

    def holds(data: Data, choice: Any) -> Verdict:
        situations = ({"choice": choice, "situation": situation} for situation in (small, large))
        return positive(data.difference("sensitivity", metric, *situations), "").verdict

    return holds


def _no_timeout(data: Data, choice: Any) -> Verdict:
    return "differs" if any(row["timeouts"] for row in data.rows("sensitivity", choice=choice)) else "agrees"


REFERENCE, ERRORS, LOAD, BELOW = "reference", "doubled BER", "high background load", "20 segments/s"

#: What may hold with a choice, by the rules of the statements.
FINDINGS: dict[str, Holds] = {
    "TH_teo is 30 to 33 segments/s in the reference case": _is(REFERENCE, "throughput_teo", 30, 33),
    "TH is 22.5 to 27.5 segments/s at the limit in the reference case": _is(REFERENCE, "throughput", 22.5, 27.5),
    "TH / TH_teo is 0.76 to 0.80 in the reference case": _is(REFERENCE, "ratio", 0.76, 0.80),
    "TH / TH_teo is 0.66 to 0.70 with doubled BER": _is(ERRORS, "ratio", 0.66, 0.70),
    "TH / TH_teo is 0.81 to 0.85 under high load": _is(LOAD, "ratio", 0.81, 0.85),
    "doubled BER lowers TH / TH_teo": _lower("ratio", ERRORS, REFERENCE),
    "high load raises TH / TH_teo": _lower("ratio", REFERENCE, LOAD),
    "high load lowers TH_teo": _lower("throughput_teo", LOAD, REFERENCE),
    "the DLC drops less than one frame in 10 000 with doubled BER": _is(ERRORS, _lost, 0, 0.01),
    "there is no TCP timeout": _no_timeout,
    "the mean delay at 20 segments/s is below 1 s": _is(BELOW, "mean_delay_s", 0, 1),
    "the 99 % delay is above 4.6 means, the exponential's": _is(BELOW, _tail, math.log(100), math.inf),
}


def robustness(data: Data) -> Rows:
    """Of each finding, with which choices it holds."""
    choices = data.labels("sensitivity", "choice")
    rows = []
    for finding, holds in FINDINGS.items():
        verdicts: dict[Verdict, list[str]] = {"agrees": [], "differs": [], "not decidable": []}
        for choice in choices:
            verdicts[holds(data, choice)].append(str(choice))
        yes, no = verdicts["agrees"], verdicts["differs"]
        open_ones = verdicts["not decidable"]
        # One choice in ten may be open (chosen): more, and nothing is said of all of them.
        if yes and no:
            kind = "depends on the choice"
        elif 10 * len(open_ones) > len(choices):
            kind = "not decidable"
        else:
            kind = "robust" if yes else "never"
        named = f"only with {', '.join(yes)}" if len(yes) < len(no) else f"not with {', '.join(no)}"
        rows.append(
            {
                "finding": finding,
                "": kind,
                "holds": len(yes),
                "does not": len(no),
                "not decidable": len(open_ones),
                "exceptions": named if yes and no else "",
            }
        )
    return rows


# Data units -------------------------------------------------------------------------------------------------------


def data_units(result: Result) -> Figure:
    """From the TCP segment to the slot, with the sizes of a run."""
    sent = result.packets.filter((polars.col("event") == "sent") & (polars.col("protocol") == "tcp"))
    # A datagram of the largest size is a full segment, one of the smallest a pure ACK.
    packet_bytes, ack_bytes = int(sent["size_bytes"].max()), int(sent["size_bytes"].min())  # type: ignore[arg-type]
    payload_bytes = packet_bytes - ack_bytes
    fragments = dect.fragments(packet_bytes)
    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(-1.6, 10.1)
    axes.set_ylim(-0.4, 6.2)
    axes.set_axis_off()
    grey, blue, sand, green = "#d9d9d9", "#9ecae1", "#fdd49e", "#c7e9c0"
    levels: list[tuple[str, list[tuple[str, float, str]]]] = [
        ("TCP", [("header 20", 1.3, grey), (f"payload {payload_bytes}", 7.4, blue)]),
        ("IP", [("header 20", 1.3, grey), (f"segment {payload_bytes + 20}", 8.0, blue)]),
        ("DLC frame", [(f"packet {packet_bytes}", 9.3, blue), ("FCS 2", 0.7, sand)]),
        (
            "LU2",
            [
                (f"29 | fragment 1 of {fragments}", 3.1, green),
                ("29 | 2", 1.6, green),
                ("...", 1.6, "white"),
                (f"29 | {fragments}", 1.6, green),
            ],
        ),
        ("MAC, Ip", [("header 3", 1.4, grey), ("fragment 29 = 4 x 8 - 3", 6.6, green)]),
        ("B field", [("64 + 16", 2.5, blue)] * 4),
        (
            "full slot",
            [("S 32 bit", 1.2, grey), ("A 64 bit", 1.9, sand), ("B 320 bit", 6.2, blue), ("X 4", 0.7, grey)],
        ),
    ]
    for place, (level, parts) in enumerate(levels):
        y = 5.6 - 0.85 * place
        x = 0.0
        axes.text(-0.15, y + 0.22, level, ha="right", va="center", weight="bold")
        for text, width, colour in parts:
            axes.add_patch(Rectangle((x, y), width, 0.45, facecolor=colour, edgecolor="black", linewidth=0.6))
            axes.text(x + width / 2, y + 0.22, text, ha="center", va="center", fontsize=8)
            x += width
    axes.text(
        0,
        -0.3,
        f"octets above, bits in the B field and the slot; a segment of {payload_bytes} octets takes {fragments} "
        f"fragments, a pure ACK of {ack_bytes} takes {dect.fragments(ack_bytes)}",
        fontsize=8,
    )
    return figure
