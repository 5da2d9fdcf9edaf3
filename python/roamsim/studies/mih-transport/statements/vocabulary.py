"""What the statements share: the names of settings, and where a curve has its peak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from roamsim.statistics import Estimate
from roamsim.study.judging import Finding, apart, replications_needed, value_of, with_interval, yes

UDP = "without MIH ACK"
FAST, SLOW = "MIH ACK, 0.1 s", "MIH ACK, 0.3 s"
FREE, LIMIT_200, LIMIT_50 = "UDP with MIH ACK", "UDP, 200 tokens/s", "UDP, 50 tokens/s"
KINDS = ("indication", "request")
SIZES = (100, 500)


#: The policies by which a requester may accept.
POLICIES = ("acked", "strict", "open")


def peak(curve: Mapping[float, Estimate], low: float, high: float, what: str) -> Finding:
    """Where a curve has its peak; it must rise to it and fall behind it, the intervals apart.

    A curve that is highest at its end does not fall.
    """
    present = {at: e for at, e in curve.items() if e.samples > 1}
    if len(present) < 3:
        return Finding("not decidable", f"{what}: values are missing")
    at = max(present, key=lambda x: present[x].mean)
    first, last = present[min(present)], present[max(present)]
    text = f"{what} is highest at {at:g} ({with_interval(present[at])}), {with_interval(last)} at {max(present):g}"
    top, end = value_of(f"{what}, highest at {at:g}", present[at]), value_of(f"{what}, at {max(present):g}", last)
    if at == max(present):
        return Finding("differs", text, (top, end), top, replications=present[at].samples)
    if last.high < present[at].low and (first.high < present[at].low or not low <= at <= high):
        return replace(yes(low <= at <= high, text, top, end), replications=present[at].samples)
    needed = replications_needed(present[at].samples, max(apart(last, present[at]), apart(first, present[at])))
    return Finding("not decidable", text, (top, end), top, replications=present[at].samples, needed=needed)


#: The losses that the publication shows; figures go further, for what turns beyond them.
PUBLISHED_LOSS = 0.5
