"""What the statements share: the names of settings, and where a curve has its peak."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from roamsim.statistics import Estimate
from roamsim.study.data import Data, Metric, Selection
from roamsim.study.judging import Finding, either, value_of, with_interval, yes

UDP = "without MIH ACK"
FAST, SLOW = "MIH ACK, 0.1 s", "MIH ACK, 0.3 s"
FREE, LIMIT_200, LIMIT_50 = "UDP with MIH ACK", "UDP, 200 tokens/s", "UDP, 50 tokens/s"
KINDS = ("indication", "request")
SIZES = (100, 500)


def peak(curve: Mapping[float, Estimate], low: float, high: float, what: str) -> Finding:
    """Where a curve has its peak; it must fall behind it, both intervals apart."""
    present = {at: e for at, e in curve.items() if e.samples > 1}
    if len(present) < 3:
        return Finding("not decidable", f"{what}: values are missing")
    at = max(present, key=lambda x: present[x].mean)
    last = present[max(present)]
    text = f"{what} is highest at {at:g} ({with_interval(present[at])}), {with_interval(last)} at {max(present):g}"
    peak = value_of(f"{what}, highest at {at:g}", present[at])
    end = value_of(f"{what}, at {max(present):g}", last)
    if last.high < present[at].low:
        return yes(low <= at <= high, text, peak, end)
    # It does not fall by more than chance; where the peak is the last point, it does not fall at all.
    return Finding("differs" if at == max(present) else "not decidable", text, (peak, end), peak)


#: The losses that the publication shows, and how far the study goes where a statement turns beyond them.
PUBLISHED_LOSS, MOST_LOSS = 0.5, 0.7


def tcp_curve(data: Data, metric: Metric, most: float, *, ack: bool, **where: Selection) -> dict[float, Estimate]:
    """A curve over loss of the first round over TCP, up to a loss."""
    name = "tcp-ack" if ack else "tcp"
    curves = [data.curve(f"{part}-{name}", metric, "loss", **where) for part in ("first", "beyond")]
    return {at: estimate for curve in curves for at, estimate in curve.items() if at <= most + 1e-9}


def by_range(measure: Callable[[float], Finding]) -> Finding:
    """A statement measured over the published losses, and beyond."""
    return either({f"up to {100 * most:g} %": measure(most) for most in (PUBLISHED_LOSS, MOST_LOSS)}, "loss")
