"""Delay of a segment at 20 segments/s: figure 6, left, and the numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from roamsim.pictures.charts import EDGES, Look, curves
from roamsim.study.data import Data, Row
from roamsim.study.judging import with_interval

from ..cases import BATCHES, POISSON
from .cells import Rows, shown

#: The longest delay drawn, in seconds, and the least share of a second (chosen: a thousandth of the largest ones).
LONGEST_S, LEAST_PERCENT = 60, 0.01


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


def delay_histogram(data: Data) -> dict[str, Any]:
    """Shares of delays in each second, and the exponential of the same mean."""
    shown: Rows = []
    for arrivals in (POISSON, BATCHES):
        rows = data.rows("delays", arrivals=arrivals)
        beyond = [1.0] + [float(np.mean([row[f"beyond_{at}_s"] for row in rows])) for at in range(1, LONGEST_S + 1)]
        mean_s = float(np.mean([row["mean_s"] for row in rows]))
        form = [math.exp(-at / mean_s) for at in range(LONGEST_S + 1)]
        panel = {"panel": f"{arrivals}; mean {mean_s:.2f} s, {100 * beyond[-1]:.1f} % beyond {LONGEST_S} s"}
        for name, shares in (("runs", beyond), ("exponential of the same mean", form)):
            for second, (before, after) in enumerate(pairwise(shares)):
                # A second in which nothing arrived has no place on a logarithmic axis.
                if 100 * (before - after) >= LEAST_PERCENT:
                    ends = {"mean": 100 * (before - after), "low": None, "high": None}
                    shown.append({**panel, "series": name, "x": second + 0.5, **ends})
    look = Look("delay, s", "segments per second of delay, %", y_scale={"type": "log", **EDGES})
    return curves(shown, look)
