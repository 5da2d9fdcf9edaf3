"""A burst of ten times the BER: figure 6, right, and what waits in one run."""

from __future__ import annotations

from itertools import pairwise

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from roamsim import Result, statistics
from roamsim.pictures import timed
from roamsim.pictures.timeseries import Part, cut
from roamsim.study.data import Data
from roamsim.technologies.dect import channel_map

from ..cases import BATCHES, BURST_S, POISSON, SENDERS, mean_between

#: Seconds over which delays are averaged: of batches, which are few, more of them.
PARTS_S = {POISSON: 0.5, BATCHES: 2.5}
#: What is drawn, in seconds: of all runs, and of one.
SHOWN_S, SHOWN_OF_ONE_S = 40.0, 25.0
BLUE = "#0072b2"
#: Of the burst: seen on light and dark ground, under the lines.
SHADE = "#d55e0033"


def burst_delays(data: Data) -> Figure:
    """Mean delay by the time of generation, and the longest."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    for axes, (arrivals, width_s) in zip(figure.subplots(1, 2), PARTS_S.items(), strict=True):
        edges = [part * width_s for part in range(round(SHOWN_S / width_s) + 1)]
        means, longest = [], []
        for begin, end in pairwise(edges):
            means.append(statistics.mean(list(mean_between(data, arrivals, begin, end).values())))
            rows = [row for row in data.rows("burst", arrivals=arrivals) if begin <= row["from_s"] < end]
            longest.append(max(row["longest_delay_s"] for row in rows))
        _shade(axes)
        low, high = [e.low for e in means], [e.high for e in means]
        axes.stairs(high, edges, baseline=low, fill=True, color=BLUE, alpha=0.3)
        axes.stairs(
            [e.mean for e in means], edges, baseline=None, color=BLUE, linewidth=1.4, label="mean of the runs"
        )
        axes.stairs(longest, edges, baseline=None, color="#7a7a7a", linewidth=0.8, label="longest of any run")
        axes.set_xlim(0, SHOWN_S)
        axes.set_ylim(0, 1.3 * max(longest))
        axes.set_title(f"{arrivals}, parts of {width_s:g} s")
        axes.set_xlabel("generated at [s]")
        axes.legend(frameon=False, loc="upper right")
    figure.axes[0].set_ylabel("delay [s]")
    return figure


def burst_run(result: Result) -> timed.Figure:
    """Delays, queues and windows of one run."""
    titles = {
        "delay of a segment, s": "delay_s",
        "DLC queue, fragments": "dlc_queue",
        "TCP queue, B": "backlog",
        "cwnd, B": "cwnd",
    }
    panels = []
    for title, quantity in titles.items():
        marks: list[timed.Marks] = []
        for way, colour in channel_map.DIRECTIONS.items():
            if quantity == "delay_s":
                rows = result.messages.filter(polars.col("from") == SENDERS[way]).sort("generated_s")
                marks.append(timed.Marks(way, colour, "dot", rows.select(t="generated_s", v=quantity)))
            else:
                rows = result.samples.filter(polars.col("from") == SENDERS[way], polars.col("quantity") == quantity)
                found = cut(rows, Part(end_s=SHOWN_OF_ONE_S)).select(t="time_s", v="value")
                marks.append(timed.Marks(way, colour, "step", found))
        top = max(float(one.frame["v"].max() or 1.0) for one in marks)  # type: ignore[arg-type]
        begin_s, end_s = BURST_S
        burst = polars.DataFrame({"t": [begin_s], "until": [end_s], "low": [0.0], "high": [top]})
        panels.append(timed.Panel(title, [timed.Marks("the burst", SHADE, "span", burst), *marks], 110))
    return timed.Figure(panels, whole_s=(0.0, SHOWN_OF_ONE_S))


def _shade(axes: Axes) -> None:
    """Marks the burst."""
    axes.axvspan(*BURST_S, color="#f6e3e1", zorder=0)
    axes.grid(alpha=0.3)
