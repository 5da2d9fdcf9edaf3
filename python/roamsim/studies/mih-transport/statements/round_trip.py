"""Statements about the round trip time, second round."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, difference, either, every, follows, number, positive, within, yes
from roamsim.study.law import by_law, exact, exact_curve
from roamsim.theory.mih_udp import Timing, Validity, request_success, unacknowledged_success

from ..study import rtt_ack, rtt_plain
from .vocabulary import KINDS, POLICIES


def _constant(value: float, _: float) -> float:
    return value


def delays_converge(data: Data) -> Finding:
    """2f."""
    return either({policy: _converges(data, policy) for policy in POLICIES}, "policy")


def _converges(data: Data, policy: str) -> Finding:
    def spread(low_s: float, high_s: float) -> dict[int, float]:
        """Delay at 20 % loss less that without loss, for each replication, averaged over the RTTs of a regime."""
        sums: dict[int, list[float]] = {}
        for row in data.rows("rtt-ack", kind="request", validity=policy, loss_percent=(0, 20)):
            if low_s < row["rtt"] < high_s:
                sign = 1 if row["loss_percent"] == 20 else -1
                sums.setdefault(row["replication"], []).append(sign * row["mean_delay_s"])
        return {replication: 2 * sum(values) / len(values) for replication, values in sums.items()}

    first, second = spread(0.0, 0.2), spread(0.2, 0.395)
    order = sorted(first.keys() & second.keys())
    difference = statistics.paired_difference([second[r] for r in order], [first[r] for r in order])
    of_first = sum(first.values()) / max(1, len(first))
    of_second = sum(second.values()) / max(1, len(second))
    finding = positive(difference, "growth of the delay to 20 % loss, in the first regime less in the second (s)")
    both = f"{number(of_first)} s in the first, {number(of_second)} s in the second"
    return replace(finding, measured=f"{finding.measured}; {both}")


#: Where each regime of the round trip lies, in seconds on the wire; access to the radio channel comes on top.
FIRST, SECOND, THIRD = (0.0, 0.195), (0.2, 0.395), (0.4, 0.6)


def _law(data: Data, column: str, rtts_s: Iterable[float], **where: Any) -> dict[float, Estimate]:
    """The exact values with MIH ACK at some round trip times."""
    return exact_curve({rtt: rtt_ack({"rtt": rtt, **where}, column, data) for rtt in rtts_s})


def _inside(curve: Mapping[float, Estimate], regime: tuple[float, float]) -> dict[float, Estimate]:
    return {rtt: estimate for rtt, estimate in curve.items() if regime[0] < rtt < regime[1]}


def printed_overheads(data: Data) -> Finding:
    """3f."""
    forms: dict[str, tuple[tuple[float, float], Callable[[float], float]]] = {
        "first": (FIRST, lambda p: sum(p**n * (2 - p) ** (n + 1) for n in range(3))),
        "second": (SECOND, lambda p: 2 * (2 - p) + p * (2 - p) ** 2),
        "third": (THIRD, lambda p: 3 * (2 - p)),
    }
    parts = []
    for name, (regime, form) in forms.items():
        for percent in (0, 10, 20):
            curve = data.curve(
                "rtt-ack", "overhead", "rtt", kind="indication", validity="acked", loss_percent=percent
            )
            rule = partial(
                follows, formula=partial(_constant, form(percent / 100)), tolerance=0.02,
                what=f"{name} regime, p = {percent} %", place=data.place("rtt"),
            )  # fmt: skip
            at: dict[str, Any] = {"kind": "indication", "validity": "acked", "loss_percent": percent}
            inside = _inside(curve, regime)
            parts.append(by_law(rule(inside), rule(_law(data, "overhead", inside, **at))))
    return every(parts)


def unacknowledged_over_round_trip(data: Data) -> Finding:
    """2i."""
    parts = []
    for percent in (0, 10, 20):
        arrives = 1 - percent / 100
        shares: tuple[tuple[Literal["indication", "request"], float, float], ...] = (
            ("indication", arrives, 0.5),
            ("request", arrives**2, 1.0),
        )
        for kind, share, trips in shares:
            at: dict[str, Any] = {"kind": kind, "transport": "UDP", "loss_percent": percent}
            success = data.curve("rtt-plain", "success_rate", "rtt", **at)
            delay = data.curve("rtt-plain", "mean_delay_s", "rtt", **at)
            what, place = f"{kind}s, p = {percent} %: success", data.place("rtt")
            law = exact_curve(dict.fromkeys(success, unacknowledged_success(percent / 100, kind)))
            parts.append(
                by_law(*(follows(one, partial(_constant, share), 0.01, what, place) for one in (success, law)))
            )
            what = f"{kind}s, p = {percent} %: delay (s)"
            parts.append(follows(delay, partial(_times, trips), 0.005, what, place))
    return every(parts)


def _times(factor: float, value: float) -> float:
    return factor * value


def _of_regime(
    data: Data, experiment: str, metric: str, regime: tuple[float, float], **where: Any
) -> dict[int, float]:
    """A metric of each replication, averaged over the round trips of a regime."""
    found: dict[int, list[float]] = {}
    for row in data.rows(experiment, **where):
        if regime[0] < row["rtt"] < regime[1] and row[metric] is not None:
            found.setdefault(row["replication"], []).append(row[metric])
    return {replication: sum(values) / len(values) for replication, values in found.items()}


def acknowledgement_costs_no_delay_without_loss(data: Data) -> Finding:
    """2l."""
    parts = []
    for regime in (FIRST, SECOND, THIRD):
        at: dict[str, Any] = {"kind": "indication", "loss_percent": 0}
        plain = _of_regime(data, "rtt-plain", "mean_delay_s", regime, transport="UDP", **at)
        acked = _of_regime(data, "rtt-ack", "mean_delay_s", regime, validity="acked", **at)
        what = f"RTT from {regime[0]:g} s: delay with MIH ACK over that without"
        parts.append(within(paired(lambda a, b: b / a, plain, acked), 0.999, 1.001, what))
    return every(parts)


def request_delay_rises_in_first_regime(data: Data) -> Finding:
    """2m."""
    readings = {}
    for policy in POLICIES:
        delays = [
            _of_regime(data, "rtt-ack", "mean_delay_s", FIRST, kind="request", validity=policy, loss_percent=percent)
            for percent in (0, 10, 20)
        ]
        readings[policy] = every(
            [
                positive(paired(lambda a, b: b - a, less, more), f"delay (s) at {percent} % loss less that before")
                for percent, less, more in zip((10, 20), delays, delays[1:], strict=False)
            ]
        )
    return either(readings, "policy")


def as_with_one_retransmission(data: Data) -> Finding:
    """2n."""
    readings = {}
    for policy in POLICIES:
        parts = []
        for percent in (10, 20):
            at: dict[str, Any] = {"kind": "request", "validity": policy, "loss_percent": percent}
            two = _of_regime(data, "rtt-ack", "success_rate", SECOND, **at)
            one = _of_regime(data, "rtt-once", "success_rate", FIRST, **at)
            what = f"p = {percent} %, success in the second regime less that with one retransmission in the first"
            law = _law(data, "success_rate", (0.3,), **at)[0.3].mean
            once = request_success(percent / 100, Timing(0.1, 0.2, retransmissions=1), cast(Validity, policy))
            runs = within(paired(lambda a, b: b - a, one, two), -0.01, 0.01, what)
            parts.append(by_law(runs, within(exact(difference(law, once)), -0.01, 0.01, what)))
        readings[policy] = every(parts)
    return either(readings, "policy")


def losses_that_fail_a_transaction(data: Data) -> Finding:
    """2o."""
    forms: dict[str, tuple[tuple[float, float], Callable[[float], float]]] = {
        "second": (SECOND, lambda p: (1 - p) ** 2 * (1 + 2 * p)),
        "third": (THIRD, lambda p: (1 - p) ** 2),
    }
    readings = {}
    for policy in POLICIES:
        parts = []
        for name, (regime, form) in forms.items():
            for percent in (10, 20):
                at: dict[str, Any] = {"kind": "request", "validity": policy, "loss_percent": percent}
                curve = _inside(data.curve("rtt-ack", "success_rate", "rtt", **at), regime)
                rule = partial(
                    follows, formula=partial(_constant, form(percent / 100)), tolerance=0.01,
                    what=f"{name} regime, p = {percent} %", place=data.place("rtt"),
                )  # fmt: skip
                parts.append(by_law(rule(curve), rule(_law(data, "success_rate", curve, **at))))
        readings[policy] = every(parts)
    return either(readings, "policy")


def place_of_the_server_matters(data: Data) -> Finding:
    """2q."""
    readings = {}
    for policy in POLICIES:
        parts = []
        for percent in (10, 20):
            at: dict[str, Any] = {"kind": "request", "validity": policy, "loss_percent": percent}
            near, far = (_of_regime(data, "rtt-ack", "success_rate", regime, **at) for regime in (FIRST, THIRD))
            what = f"p = {percent} %, success in the first regime less that in the third"
            law = _law(data, "success_rate", (0.1, 0.5), **at)
            gained = positive(paired(lambda a, b: b - a, far, near), what)
            parts.append(by_law(gained, positive(exact(difference(law[0.1].mean, law[0.5].mean)), what)))
        readings[policy] = every(parts)
    return either(readings, "policy")


def request_overhead_like_that_of_indications(data: Data) -> Finding:
    """3h."""
    readings = {}
    for policy in POLICIES:
        parts = []
        for name, regime, at_s in (("first", FIRST, 0.1), ("second", SECOND, 0.3), ("third", THIRD, 0.5)):
            found = {}
            for kind in KINDS:
                at: dict[str, Any] = {"kind": kind, "validity": policy}
                none, lossy = (
                    _of_regime(data, "rtt-ack", "overhead", regime, loss_percent=percent, **at) for percent in (0, 20)
                )
                law = [_law(data, "overhead", (at_s,), loss_percent=percent, **at)[at_s].mean for percent in (0, 20)]
                found[kind] = paired(lambda a, b: b - a, none, lossy), exact(difference(law[1], law[0]))
            sign = 1 if found["indication"][1].mean > 0 else -1
            what = f"{name} regime, change of the overhead of requests to 20 % loss, towards that of indications"
            runs, exactly = (positive(_signed(one, sign), what) for one in found["request"])
            parts.append(by_law(runs, exactly))
        readings[policy] = every(parts)
    return either(readings, "policy")


def _signed(estimate: Estimate, sign: int) -> Estimate:
    return estimate if sign > 0 else Estimate(-estimate.mean, -estimate.high, -estimate.low, estimate.samples)


def flat_in_third_regime(data: Data) -> Finding:
    """2j."""
    readings = {}
    for policy in POLICIES:
        without, lossy = (
            _of_regime(data, "rtt-ack", "mean_delay_s", THIRD, kind="request", validity=policy, loss_percent=percent)
            for percent in (0, 20)
        )
        ratio = paired(lambda a, b: b / a, without, lossy)
        readings[policy] = within(ratio, 0.99, 1.01, "delay at 20 % loss over that without")
    return either(readings, "policy")


def acknowledgement_gains_nothing_when_late(data: Data) -> Finding:
    """2k."""
    readings = {}
    for policy in POLICIES:
        parts = []
        for percent in (10, 20):
            at: dict[str, Any] = {"kind": "request", "loss_percent": percent}
            with_ack = _of_regime(data, "rtt-ack", "success_rate", THIRD, validity=policy, **at)
            without = _of_regime(data, "rtt-plain", "success_rate", THIRD, transport="UDP", **at)
            gained = paired(lambda a, b: b - a, without, with_ack)
            what = f"p = {percent} %, success with MIH ACK less that without"
            law = _law(data, "success_rate", (0.5,), validity=policy, **at)[0.5].mean
            law = difference(law, unacknowledged_success(percent / 100, "request"))
            parts.append(by_law(within(gained, -0.01, 0.01, what), within(exact(law), -0.01, 0.01, what)))
            acked_s = _of_regime(data, "rtt-ack", "mean_delay_s", THIRD, validity=policy, **at)
            plain_s = _of_regime(data, "rtt-plain", "mean_delay_s", THIRD, transport="UDP", **at)
            longer = paired(lambda a, b: b / a, plain_s, acked_s)
            what = f"p = {percent} %, delay with MIH ACK over that without"
            law = _law(data, "mean_delay_s", (0.5,), validity=policy, **at)[0.5].mean
            law /= rtt_plain({"rtt": 0.5, "transport": "UDP", **at}, "mean_delay_s", data) or math.nan
            parts.append(by_law(within(longer, 0.99, 1.01, what), within(exact(law), 0.99, 1.01, what)))
        readings[policy] = every(parts)
    return either(readings, "policy")


def tcp_delivers_at_any_round_trip(data: Data) -> Finding:
    """5f."""
    least = min(row["success_rate"] for row in data.rows("rtt-plain", transport="TCP"))
    what = "least success of any run over TCP"
    return yes(least == 1.0, f"{what}: {number(least)}", Value(what, least))


def back_off_delays(data: Data) -> Finding:
    """5g."""
    parts = []
    for percent in (10, 20):
        for kind in KINDS:
            at: dict[str, Any] = {"kind": kind, "loss_percent": percent}
            tcp, udp = (
                _of_regime(data, "rtt-plain", "mean_delay_s", (0.0, 0.6), transport=one, **at)
                for one in ("TCP", "UDP")
            )
            more = paired(lambda a, b: b - a, udp, tcp)
            parts.append(positive(more, f"{kind}s, p = {percent} %: delay (s) over TCP less that over UDP"))
    return every(parts)
