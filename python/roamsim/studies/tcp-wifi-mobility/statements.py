"""Measurements of the published statements, whose rules stand in statements.toml; of throughput by findings.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.entries import Label
from roamsim.study.judging import Finding, Value, counted, every, positive, within

from .disciplines import others_do_not_wait, transfer_loses_nothing
from .findings import DISTANCES_M, FINDINGS, NAMES, THREE, VARIANTS, Runs
from .study import published_delays_ms
from .walk import (
    adaptation_gains,
    fixed_rate_falls_short,
    mac_matters_more_when_fast,
    moving_carries_less,
    overall_order,
    queue_matters_when_moving,
    ranking,
    retransmissions_do_not_matter_above_two,
    retransmissions_do_not_matter_when_slow,
    speed_lowers_throughput,
    tahoe_best_moving,
)

__all__ = [
    "adaptation_gains",
    "fixed_rate_falls_short",
    "mac_matters_more_when_fast",
    "moving_carries_less",
    "others_do_not_wait",
    "overall_order",
    "queue_matters_when_moving",
    "ranking",
    "retransmissions_do_not_matter_above_two",
    "retransmissions_do_not_matter_when_slow",
    "speed_lowers_throughput",
    "tahoe_best_moving",
    "transfer_loses_nothing",
]

IFQS = (25, 50, 100)
#: Percent within which a published level agrees.
TOLERANCE = 10.0


def _of(clause: str, data: Data) -> Finding:
    """A finding of the experiment that decides, and the conditions that turn it round."""
    measure = FINDINGS[clause][1]
    return _with_conditions(
        measure(Runs(data)), data, lambda condition: measure(Runs(data, "conditions", {"condition": condition}))
    )


def _with_conditions(finding: Finding, data: Data, measure: Callable[[Label], Finding]) -> Finding:
    """A finding, and the conditions that turn it round."""
    chosen, *others = data.labels("conditions", "condition")
    # With fewer queues and replications a clause may agree more easily: what it says there as chosen counts, too.
    base = measure(chosen).verdict
    turned = []
    for condition in others:
        verdict = measure(condition).verdict
        if {verdict, finding.verdict} == {"agrees", "differs"} and verdict != base:
            turned.append(f"the chosen settings (with {condition} it {verdict})")
    return replace(finding, turned_by=tuple(turned))


def retransmissions_do_not_matter_near(data: Data) -> Finding:
    """1a."""
    return _of("1a", data)


def retransmissions_do_not_matter_far(data: Data) -> Finding:
    """1e."""
    return _of("1e", data)


def no_need_of_retransmissions(data: Data) -> Finding:
    """1f."""
    return _of("1f", data)


def neither_matters(data: Data) -> Finding:
    """1g."""
    return _of("1g", data)


def queue_is_the_product(_data: Data) -> Finding:
    """1h: the longest round trip times 20 Mb/s, in packets of 552 octets, is one of the queues of table III."""
    # From A3 over A0 to the base station and back: 2 (30 + 10) ms; 20 Mb/s of it are 200,000 octets.
    packets = 2 * (30 + 10) * 20_000 / 8 / 552
    words = f"80 ms times 20 Mb/s: {packets:.0f} packets; table III has 25, 50 and 100"
    return Finding("differs", words, (Value("packets", packets),), source="exact law", brief=words)


def longer_queue_is_better(data: Data) -> Finding:
    """1b."""
    return _of("1b", data)


def queue_matters_most_when_near(data: Data) -> Finding:
    """1c."""
    return _of("1c", data)


def falls_with_distance(data: Data) -> Finding:
    """1d."""
    return _of("1d", data)


def sack_best_near(data: Data) -> Finding:
    """2a."""
    return _of("2a", data)


def tahoe_nearly_worst(data: Data) -> Finding:
    """2b."""
    return _of("2b", data)


def tahoe_passes_sack(data: Data) -> Finding:
    """2c."""
    return _of("2c", data)


def newreno_slightly_better(data: Data) -> Finding:
    """2d."""
    return _of("2d", data)


def reno_passes_newreno(data: Data) -> Finding:
    """2e."""
    return _of("2e", data)


def tahoe_best_far(data: Data) -> Finding:
    """2f."""
    return _of("2f", data)


def vegas_fourth_reno_last(data: Data) -> Finding:
    """2g."""
    return _of("2g", data)


def sack_and_newreno_overlap(data: Data) -> Finding:
    """2h."""
    return _of("2h", data)


def sack_over_newreno_with_short_queue(data: Data) -> Finding:
    """2i."""
    return _of("2i", data)


def three_are_equal(data: Data) -> Finding:
    """2j."""
    return _of("2j", data)


def sack_best_standing(data: Data) -> Finding:
    """5a."""
    return _of("5a", data)


# 3. Delay of the FTP flow


def delay(data: Data, variant: str, ifq: int, metres: int) -> Estimate:
    """The mean packet delay in milliseconds, with 3 retransmissions."""
    at: dict[str, Label] = {"variant": variant, "ifq": ifq, "distance_m": metres, "retransmissions": THREE}
    return data.estimate("standing", "packet_delay_s", **at).scaled(1000)


def delays_in_range(data: Data) -> Finding:
    """3a: every mean delay lies in the published range."""

    def measure(experiment: str, **at: Label) -> Finding:
        parts = []
        for variant, ifq, metres in product(VARIANTS, data.labels(experiment, "ifq"), DISTANCES_M):
            where = {"variant": variant, "ifq": ifq, "distance_m": metres, "retransmissions": THREE, **at}
            mean = data.estimate(experiment, "packet_delay_s", **where).scaled(1000)
            parts.append(within(mean, 45, 67, f"{NAMES[variant]}, IFQ {ifq}, {metres} m (ms)"))
        return every(parts)

    return _with_conditions(measure("standing"), data, lambda condition: measure("conditions", condition=condition))


def vegas_keeps_its_delay(data: Data) -> Finding:
    """3b: Vegas' delay with 100 packets is that with 25."""
    findings = []
    for metres in DISTANCES_M:
        at: dict[str, Label] = {"variant": "vegas", "ifq": 100, "distance_m": metres, "retransmissions": THREE}
        change = data.compared("standing", "packet_delay_s", "gain_over", {"ifq": 25}, **at).scaled(100)
        findings.append(within(change, -5, 5, f"Vegas' delay with IFQ 100 over that with 25 (%), {metres} m"))
    return every(findings)


def order_of_delays(data: Data, first: str, second: str, ifq: int, metres: int) -> Finding:
    """Whether two variants have the published order of their delays, by the paired difference."""
    there = published_delays_ms()
    longer, shorter = sorted((first, second), key=lambda variant: -there[variant, metres, ifq])
    at: dict[str, Label] = {"variant": longer, "ifq": ifq, "distance_m": metres, "retransmissions": THREE}
    more = data.compared("standing", "packet_delay_s", "less", {"variant": shorter}, **at).scaled(1000)
    return positive(more, f"{NAMES[longer]} over {NAMES[shorter]}, IFQ {ifq}, {metres} m (ms)")


def delay_orders(data: Data) -> Finding:
    """3c: the order of each two variants at each queue and distance is the published one."""
    points = product(combinations(VARIANTS, 2), IFQS, DISTANCES_M)
    return counted([order_of_delays(data, *pair, ifq, metres) for pair, ifq, metres in points], "orders")


def delay_levels(data: Data) -> Finding:
    """3d: each mean delay is the published one."""
    findings = []
    for variant, ifq, metres in product(VARIANTS, IFQS, DISTANCES_M):
        there = published_delays_ms()[variant, metres, ifq]
        ours = delay(data, variant, ifq, metres)
        what = f"{NAMES[variant]}, IFQ {ifq}, {metres} m (ms)"
        findings.append(within(ours, (1 - TOLERANCE / 100) * there, (1 + TOLERANCE / 100) * there, what))
    return counted(findings, "levels")
