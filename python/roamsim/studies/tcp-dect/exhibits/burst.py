"""A burst of ten times the BER: figure 6, right, and what waits in one run."""

from __future__ import annotations

from itertools import pairwise

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from roamsim import Result, statistics
from roamsim.pictures.timeseries import Part, cut
from roamsim.study.data import Data
from roamsim.technologies.dect import channel_map

from ..cases import BATCHES, BURST_S, POISSON, SENDERS, mean_between

#: Seconds over which delays are averaged: of batches, which are few, more of them.
PARTS_S = {POISSON: 0.5, BATCHES: 2.5}
#: What is drawn, in seconds: of all runs, and of one.
SHOWN_S, SHOWN_OF_ONE_S = 40.0, 25.0
BLUE = "#0072b2"


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


def burst_run(result: Result) -> Figure:
    """Delays, queues and windows of one run."""
    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    places = figure.subplots(4, 1, sharex=True)
    for way, colour in channel_map.DIRECTIONS.items():
        mine = result.messages.filter(polars.col("from") == SENDERS[way])
        places[0].plot(mine["generated_s"], mine["delay_s"], ".", markersize=3, color=colour, label=way)
        sampled = result.samples.filter(polars.col("from") == SENDERS[way])
        for axes, quantity in zip(places[1:], ("dlc_queue", "backlog", "cwnd"), strict=True):
            rows = cut(sampled.filter(polars.col("quantity") == quantity), Part(end_s=SHOWN_OF_ONE_S))
            axes.step(rows["time_s"], rows["value"], where="post", linewidth=0.8, color=colour, label=way)
    titles = ("delay of a\nsegment [s]", "DLC queue\n[fragments]", "TCP queue\n[B]", "cwnd [B]")
    for axes, title in zip(places, titles, strict=True):
        _shade(axes)
        axes.set_ylabel(title)
        axes.set_ylim(bottom=0)
    places[0].legend(frameon=False, loc="upper right", ncols=2, markerscale=3)
    places[-1].set_xlabel("time [s]")
    places[-1].set_xlim(0, SHOWN_OF_ONE_S)
    figure.align_ylabels(places)
    return figure


def _shade(axes: Axes) -> None:
    """Marks the burst."""
    axes.axvspan(*BURST_S, color="#f6e3e1", zorder=0)
    axes.grid(alpha=0.3)
