"""Statements about TCP in the first round."""

from __future__ import annotations

import math

from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, either, every, number, positive, rises, within, yes

from .vocabulary import KINDS, peak


def tends_to_four_and_a_half(data: Data) -> Finding:
    """3e."""
    ends = {}
    for max_rto in data.labels("first-tcp-ack", "max_rto"):
        curve = data.curve("first-tcp-ack", "overhead", "loss", kind="request", max_rto=max_rto)
        ends[str(max_rto)] = within(curve[max(curve)], 4.05, 4.95, f"overhead at {max(curve):g} loss")
    return either(ends)


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
    parts.append(
        positive(
            data.difference(
                "first-tcp",
                "mean_delay_s",
                {"kind": "indication", "max_rto": "MaxRTO 0.2 s", "loss": 0.5},
                {"kind": "indication", "max_rto": "MaxRTO 1 s", "loss": 0.5},
            ),
            "at 50 % loss, MaxRTO 1 s less 0.2 s, delay (s)",
        )
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


def duplicates_add_delay(data: Data) -> Finding:
    """5d."""
    parts = []
    for max_rto in data.labels("first-tcp", "max_rto"):
        plain, acked = (
            data.by_replication(experiment, "mean_delay_s", kind="indication", max_rto=max_rto, loss=0.5)
            for experiment in ("first-tcp", "first-tcp-ack")
        )
        added = paired(lambda a, b: b - a, plain, acked)
        parts.append(positive(added, f"{max_rto}, delay (s) with less without MIH ACK at 50 % loss"))
    return every(parts)


def response_delay_falls_again(data: Data) -> Finding:
    """5e."""
    parts = []
    for max_rto in ("MaxRTO 0.75 s", "MaxRTO 1 s"):
        curve = data.curve("first-tcp-ack", "mean_delay_s", "loss", kind="request", max_rto=max_rto)
        parts.append(peak(curve, 0.40, 0.48, f"{max_rto}: delay"))
    return every(parts)


def two_segments(data: Data) -> Finding:
    """6a."""
    return every(
        [
            within(
                data.estimate(experiment, "tcp_segments_per_message", kind=kind, max_rto="MaxRTO 1 s", loss=0.0),
                1.98,
                2.02,
                f"{kind}s{' with MIH ACK' if experiment.endswith('ack') else ''}",
            )
            for experiment in ("first-tcp", "first-tcp-ack")
            for kind in KINDS
        ]
    )


def segments_rise_and_fall(data: Data) -> Finding:
    """6b."""
    readings = {}
    for max_rto in data.labels("first-tcp", "max_rto"):
        curve = data.curve("first-tcp", "tcp_segments_per_message", "loss", kind="indication", max_rto=max_rto)
        readings[str(max_rto)] = peak(curve, 0.01, 0.45, "segments")
    return either(readings)


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


def load_slows(data: Data) -> Finding:
    """7."""
    at = {
        loss: data.by_replication(
            "first-tcp", lambda row: row["load_bps"] / 1e3, kind="indication", max_rto="MaxRTO 1 s", loss=loss
        )
        for loss in (0.0, 0.2, 0.3, 0.5)
    }
    early = paired(lambda a, b: b - a, at[0.0], at[0.2])
    slowing = paired(lambda a, b, c, d: (b - a) - (d - c), at[0.0], at[0.2], at[0.3], at[0.5])
    return every(
        [
            positive(early, "growth of the load from 0 to 20 % loss (kb/s)"),
            positive(slowing, "this less the growth from 30 to 50 % (kb/s)"),
        ]
    )
