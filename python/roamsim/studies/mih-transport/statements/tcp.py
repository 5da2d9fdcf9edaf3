"""Statements about TCP in the first round."""

from __future__ import annotations

import math
from typing import Any

from roamsim.study.data import Data, Row, paired
from roamsim.study.judging import Finding, Value, either, every, number, positive, rises, within, yes

from .vocabulary import KINDS, PUBLISHED_LOSS, by_range, peak, tcp_curve


def tends_to_four_and_a_half(data: Data) -> Finding:
    """3e."""

    def measure(most: float) -> Finding:
        parts = []
        for max_rto in data.labels("first-tcp-ack", "max_rto"):
            at: dict[str, Any] = {"ack": True, "kind": "request", "max_rto": max_rto}
            success = tcp_curve(data, "success_rate", most, **at)
            late = [loss for loss, estimate in success.items() if estimate.mean < 0.05]
            overhead = tcp_curve(data, "overhead", most, **at)
            parts += [within(overhead[loss], 4.275, 4.725, f"{max_rto}, overhead at {loss:g} loss") for loss in late]
        return every(parts) if parts else Finding("not decidable", "nowhere does less than 5 % succeed")

    return by_range(measure)


def tcp_indications_always(data: Data) -> Finding:
    """5a."""
    least = {
        f"least success rate of any run {name}": min(
            row["success_rate"] for row in data.rows(experiment, kind="indication")
        )
        for name, experiment in (("without MIH ACK", "first-tcp"), ("with MIH ACK", "first-tcp-ack"))
    }
    return yes(
        min(least.values()) == 1.0,
        "; ".join(f"{what}: {number(value)}" for what, value in least.items()),
        *(Value(what, value) for what, value in least.items()),
    )


def tcp_delay_steep(data: Data) -> Finding:
    """5b."""
    parts = []
    for max_rto in data.labels("first-tcp", "max_rto"):
        curve = data.curve("first-tcp", "mean_delay_s", "loss", kind="indication", max_rto=max_rto)
        parts.append(rises(curve, f"{max_rto}, delay (s)"))
    low, high = (
        data.by_replication("first-tcp", "mean_delay_s", kind="indication", max_rto="MaxRTO 1 s", loss=loss)
        for loss in (0.1, 0.5)
    )
    parts.append(within(paired(lambda a, b: b / a, low, high), 5, math.inf, "MaxRTO 1 s, 50 % over 10 % loss"))
    # At equal steps an exponential grows by the same factor; a straight line through 0 by 0.89 of the factor before.
    steps = [
        data.by_replication("first-tcp", "mean_delay_s", kind="indication", max_rto=f"MaxRTO {seconds} s", loss=0.5)
        for seconds in ("0.5", "0.75", "1")
    ]
    growth = paired(lambda a, b, c: (c / b) / (b / a), *steps)
    parts.append(
        within(growth, 0.95, math.inf, "at 50 % loss, growth from MaxRTO 0.75 to 1 s over that from 0.5 to 0.75 s")
    )
    return every(parts)


def tcp_requests_below(data: Data) -> Finding:
    """5c."""
    without = min(row["success_rate"] for row in data.rows("first-tcp", kind="request"))
    what = "least success of any run without MIH ACK"
    parts = [yes(without == 1.0, f"{what}: {number(without)}", Value(what, without))]
    for max_rto in data.labels("first-tcp-ack", "max_rto"):
        curve = data.curve("first-tcp-ack", "success_rate", "loss", kind="request", max_rto=max_rto)
        parts.append(within(curve[max(curve)], 0.0, 0.999, f"{max_rto} with MIH ACK at {max(curve):g} loss"))
    return every(parts)


def response_delay_falls_again(data: Data) -> Finding:
    """5e."""

    def measure(most: float) -> Finding:
        parts = []
        for max_rto in ("MaxRTO 0.75 s", "MaxRTO 1 s"):
            curve = tcp_curve(data, "mean_delay_s", most, ack=True, kind="request", max_rto=max_rto)
            parts.append(peak(curve, 0.40, 0.48, f"{max_rto}: delay"))
        return every(parts)

    return by_range(measure)


def two_segments(data: Data) -> Finding:
    """6a."""
    segments = "tcp_segments_per_message"
    readings = {
        str(one): every(
            [
                within(data.estimate("tcp-timing", segments, kind=kind, timing=one, loss=0.0), 1.98, 2.02, f"{kind}s")
                for kind in KINDS
            ]
        )
        for one in data.labels("tcp-timing", "timing")
    }
    acked = [
        within(
            data.estimate("first-tcp-ack", segments, kind=kind, max_rto="MaxRTO 1 s", loss=0.0),
            1.98,
            2.02,
            f"{kind}s with MIH ACK",
        )
        for kind in KINDS
    ]
    return every([either(readings, "Nagle and delayed ACK"), *acked])


def segments_rise_and_fall(data: Data) -> Finding:
    """6b."""

    def measure(most: float) -> Finding:
        parts = []
        for max_rto in data.labels("first-tcp", "max_rto"):
            at: dict[str, Any] = {"ack": False, "kind": "indication", "max_rto": max_rto}
            curve = tcp_curve(data, "tcp_segments_per_message", most, **at)
            parts.append(peak(curve, 0.01, round(most - 0.05, 9), f"{max_rto}: segments"))
        return every(parts)

    return by_range(measure)


def segments_fall_sooner(data: Data) -> Finding:
    """6c."""
    readings = {}
    for max_rto in data.labels("first-tcp", "max_rto"):
        plain = data.curve("first-tcp", "tcp_segments_per_message", "loss", kind="request", max_rto=max_rto)
        acked = data.curve("first-tcp-ack", "tcp_segments_per_message", "loss", kind="request", max_rto=max_rto)
        readings[str(max_rto)] = every(
            [peak(plain, 0.15, 0.25, "without MIH ACK"), peak(acked, 0.05, 0.15, "with MIH ACK")]
        )
    return either(readings)


def _load(row: Row) -> float:
    """Of both ends, in kb/s."""
    return float(row["load_bps"]) / 1e3


def load_slows(data: Data) -> Finding:
    """7."""
    at: dict[str, Any] = {"kind": "indication", "max_rto": "MaxRTO 1 s"}
    begin, early = (data.by_replication("first-tcp-ack", _load, loss=loss, **at) for loss in (0.0, 0.2))

    def measure(most: float) -> Finding:
        late, last = (
            data.by_replication(
                "first-tcp-ack" if loss <= PUBLISHED_LOSS else "beyond-tcp-ack", _load, loss=loss, **at
            )
            for loss in (round(most - 0.2, 2), most)
        )
        slowing = paired(lambda a, b, c, d: (b - a) - (d - c), begin, early, late, last)
        where = f"from {100 * (most - 0.2):g} to {100 * most:g} %"
        return every(
            [
                positive(paired(lambda a, b: b - a, begin, early), "growth of the load from 0 to 20 % loss (kb/s)"),
                positive(slowing, f"this less the growth {where} (kb/s)"),
            ]
        )

    return by_range(measure)


def request_load_falls(data: Data) -> Finding:
    """7b."""

    def measure(most: float) -> Finding:
        parts = []
        for max_rto in ("MaxRTO 0.75 s", "MaxRTO 1 s"):
            curve = tcp_curve(data, _load, most, ack=True, kind="request", max_rto=max_rto)
            parts.append(peak(curve, 0.05, round(most - 0.05, 9), f"{max_rto}: load (kb/s)"))
        return every(parts)

    return by_range(measure)
