"""Statements about the round trip time, second round."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from roamsim import statistics
from roamsim.study.data import Data
from roamsim.study.judging import Finding, either, every, follows, number, positive


def _constant(value: float, _: float) -> float:
    return value


def _regime_success(data: Data, low_s: float, high_s: float, formula: Callable[[float], float]) -> Finding:
    readings = {}
    for policy in ("acked", "strict", "open"):
        parts = []
        for percent in (10, 20):
            curve = data.curve(
                "rtt-ack", "success_rate", "rtt", kind="request", validity=policy, loss_percent=percent
            )
            inside = {rtt: estimate for rtt, estimate in curve.items() if low_s < rtt < high_s}
            expected = formula(percent / 100)
            parts.append(follows(inside, partial(_constant, expected), 0.01, f"p = {percent} %"))
        readings[policy] = every(parts)
    return either(readings, "policy")


def ack_request_success_second(data: Data) -> Finding:
    """2c."""
    return _regime_success(data, 0.2, 0.395, lambda p: (1 - p**2) ** 2)


def ack_request_success_third(data: Data) -> Finding:
    """2d."""
    return _regime_success(data, 0.4, 0.6, lambda p: (1 - p) ** 2)


def delays_converge(data: Data) -> Finding:
    """2f."""

    def spread(low_s: float, high_s: float) -> dict[int, float]:
        """Delay at 20 % loss less that without loss, for each replication, averaged over the RTTs of a regime."""
        sums: dict[int, list[float]] = {}
        for row in data.rows("rtt-ack", kind="request", validity="acked", loss_percent=(0, 20)):
            if low_s < row["rtt"] < high_s:
                sign = 1 if row["loss_percent"] == 20 else -1
                sums.setdefault(row["replication"], []).append(sign * row["mean_delay_s"])
        return {replication: 2 * sum(values) / len(values) for replication, values in sums.items()}

    first, second = spread(0.0, 0.2), spread(0.2, 0.395)
    order = sorted(first.keys() & second.keys())
    difference = statistics.paired_difference([second[r] for r in order], [first[r] for r in order])
    of_first = sum(first.values()) / max(1, len(first))
    of_second = sum(second.values()) / max(1, len(second))
    return positive(
        difference,
        f"delay at 20 % loss less that at 0: {number(of_first)} s in the first regime, "
        f"{number(of_second)} s in the second; difference (s)",
    )
