"""Numbers of a metric with their unit, as a reader wants them: `1.23 Mb/s`, `40 ms`, `3 %`."""

from __future__ import annotations

from collections.abc import Callable

from roamsim.tables.metrics import Metric
from roamsim.tables.values import shown_value

#: How a number is shown.
Show = Callable[[float], str]


def in_unit(metric: Metric) -> Show:
    """How numbers of a metric are shown."""
    if metric.share:
        return _percent
    return {"bit/s": _rate, "B": _bytes, "s": time_in_words}.get(metric.unit or "", plain)


def plain(value: float) -> str:
    """A number without a unit."""
    return f"{value:.4g}" if not value.is_integer() else shown_value(int(value))


def scaled(value: float, unit: str) -> str:
    """A number with its unit and the prefix that makes it short."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def time_in_words(value: float) -> str:
    """A time in seconds, or in milliseconds below one."""
    return f"{1e3 * value:.3g} ms" if abs(value) < 1 else f"{value:.4g} s"


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _rate(value: float) -> str:
    return scaled(value, "b/s")


def _bytes(value: float) -> str:
    return scaled(value, "B")


def interval(low: float, high: float, metric: Metric) -> str:
    """The ends of an interval of a metric in words; one number where they read alike."""
    first, last = map(in_unit(metric), (low, high))
    return first if first == last else f"{first} to {last}"
