"""Numbers of a metric with their unit, as a reader wants them: `1.23 Mb/s`, `40 ms`, `3 %`."""

from __future__ import annotations

from collections.abc import Callable

from roamsim.tables.metrics import Metric
from roamsim.tables.values import bit_rate, duration, octets, percent, plain

#: How a number is shown.
Show = Callable[[float], str]


def in_unit(metric: Metric) -> Show:
    """How numbers of a metric are shown."""
    if metric.share:
        return percent
    return {"bit/s": bit_rate, "B": octets, "s": duration}.get(metric.unit or "", plain)


def interval(low: float, high: float, metric: Metric) -> str:
    """The ends of an interval of a metric in words; one number where they read alike."""
    first, last = map(in_unit(metric), (low, high))
    return first if first == last else f"{first} to {last}"
