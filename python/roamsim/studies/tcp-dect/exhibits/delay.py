"""Delay of a segment at 20 segments/s: figure 6, left, and the numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from roamsim.study.data import Data, Row
from roamsim.study.judging import with_interval

from ..cases import BATCHES, POISSON
from .cells import Rows, shown


def delay_statistics(data: Data) -> Rows:
    """Mean, median and tail of the delay, and of the exponential of the same mean."""
    rows: Rows = []
    for arrivals in data.labels("delays", "arrivals"):
        mean = data.estimate("delays", "mean_s", arrivals=arrivals)
        measured: dict[str, Any] = {"arrivals": arrivals, "mean (s)": with_interval(mean)}
        exponential: dict[str, Any] = {"arrivals": "exponential of this mean", "mean (s)": mean.mean}
        for name, column, share in (("median", "median_s", 0.5), ("95 %", "p95_s", 0.05), ("99 %", "p99_s", 0.01)):
            measured[f"{name} (s)"] = shown(data, "delays", column, {"arrivals": arrivals})
            exponential[f"{name} (s)"] = -mean.mean * math.log(share)
        for at in (1, 10, 25):
            name = f"beyond {at} s (%)"
            measured[name] = shown(data, "delays", _percent(f"beyond_{at}_s"), {"arrivals": arrivals})
            exponential[name] = 100 * math.exp(-at / mean.mean)
        measured["beyond 5 means (%)"] = shown(data, "delays", _percent("beyond_5_means"), {"arrivals": arrivals})
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
        form = -100 * np.diff(np.exp(-np.asarray(edges) / mean_s))
        axes.stairs(
            form, edges, baseline=None, color="#d55e00", linewidth=1.4, label=f"exponential, mean {mean_s:.2f} s"
        )
        axes.set_yscale("log")
        axes.set_ylim(0.01, 100)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_title(f"{arrivals}; {100 * beyond[-1]:.1f} % beyond 60 s")
        axes.set_xlabel("delay [s]")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.axes[0].set_ylabel("share of segments in a second of delay [%]")
    return figure
