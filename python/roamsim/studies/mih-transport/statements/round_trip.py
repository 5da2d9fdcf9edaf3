"""Statements about the round trip time, second round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, either, every, follows, number, positive, within, yes


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

POLICIES = ("acked", "strict", "open")


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
            exact = partial(_constant, form(percent / 100))
            parts.append(follows(_inside(curve, regime), exact, 0.02, f"{name} regime, p = {percent} %"))
    return every(parts)


def unacknowledged_over_round_trip(data: Data) -> Finding:
    """2i."""
    parts = []
    for percent in (0, 10, 20):
        arrives = 1 - percent / 100
        for kind, share, trips in (("indication", arrives, 0.5), ("request", arrives**2, 1.0)):
            at: dict[str, Any] = {"kind": kind, "transport": "UDP", "loss_percent": percent}
            success = data.curve("rtt-plain", "success_rate", "rtt", **at)
            delay = data.curve("rtt-plain", "mean_delay_s", "rtt", **at)
            parts.append(follows(success, partial(_constant, share), 0.01, f"{kind}s, p = {percent} %: success"))
            parts.append(follows(delay, partial(_times, trips), 0.005, f"{kind}s, p = {percent} %: delay (s)"))
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
            parts.append(within(gained, -0.01, 0.01, f"p = {percent} %, success with MIH ACK less that without"))
        readings[policy] = every(parts)
    return either(readings, "policy")


def tcp_delivers_at_any_round_trip(data: Data) -> Finding:
    """5f."""
    least = min(row["success_rate"] for row in data.rows("rtt-plain", transport="TCP"))
    what = "least success of any run over TCP"
    return yes(least == 1.0, f"{what}: {number(least)}", Value(what, least))
