"""What the statements share: the names of settings, and where a curve has its peak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from roamsim.statistics import Estimate
from roamsim.study.judging import (
    Finding,
    Place,
    apart,
    by_many,
    fall,
    replications_needed,
    simultaneous,
    value_of,
    with_interval,
    yes,
)

UDP = "without MIH ACK"
FAST, SLOW = "MIH ACK, 0.1 s", "MIH ACK, 0.3 s"
FREE, LIMIT_200, LIMIT_50 = "UDP with MIH ACK", "UDP, 200 tokens/s", "UDP, 50 tokens/s"
KINDS = ("indication", "request")
SIZES = (100, 500)


#: The policies by which a requester may accept.
POLICIES = ("acked", "strict", "open")


def peak(curve: Mapping[float, Estimate], low: float, high: float, what: str, place: Place) -> Finding:
    """Whether a curve has its peak between two places: it rises to it and falls behind it, the intervals apart.

    It differs where it is higher outside, or no lower at its ends, with intervals apart.
    """
    present = {at: e for at, e in curve.items() if e.samples > 1}
    inside = {at: e for at, e in present.items() if low <= at <= high}
    if len(present) < 3 or not inside:
        return Finding("not decidable", f"{what}: values are missing")
    at = max(inside, key=lambda x: inside[x].mean)
    top, samples = inside[at], inside[at].samples
    beyond = max((x for x in present if x not in inside), key=lambda x: present[x].mean)
    ends = present[min(present)], present[max(present)]
    highest = at if top.mean >= present[beyond].mean else beyond
    text = (
        f"{what} is highest at {place(highest)} ({with_interval(present[highest])}), "
        f"{with_interval(ends[1])} at {place(max(present))}"
    )
    deciding = value_of(f"{what}, highest at {place(highest)}", present[highest])
    values = deciding, value_of(f"{what}, at {place(max(present))}", ends[1])
    outside = [present[x] for x in present if x not in inside]

    def above(intervals: int) -> float:
        return max(fall(simultaneous(one, intervals), simultaneous(top, intervals)) for one in outside)

    if above(1) > 1:
        found = replace(yes(False, text, *values), replications=samples, outside=above, intervals=len(present))
        return by_many(found, len(present))
    if highest == at and all(end.high < top.low for end in ends):
        return replace(yes(True, text, *values), replications=samples)
    shrink = apart(top, present[beyond]) if highest == beyond else max(apart(end, top) for end in ends)
    needed = replications_needed(samples, shrink)
    return Finding("not decidable", text, values, deciding, replications=samples, needed=needed)


#: The losses that the publication shows; figures go further, for what turns beyond them.
PUBLISHED_LOSS = 0.5
