"""Statements about TCP in the first round."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import correlation
from typing import Any

from roamsim.study.data import Data, Row, paired
from roamsim.study.definition import Label
from roamsim.study.judging import (
    Finding,
    Value,
    either,
    every,
    number,
    positive,
    rises,
    with_interval,
    within,
    yes,
)
from roamsim.study.law import by_law, exact
from roamsim.theory.mih_udp import Timing, request_overhead

from .vocabulary import KINDS, PUBLISHED_LOSS, peak


def tends_to_four_and_a_half(data: Data) -> Finding:
    """3e."""
    everything_late = Timing(rtt_s=4.0, timeout_s=1.0)  # beyond 3 timeouts
    law = within(exact(request_overhead(0.0, everything_late, "acked")), 4.4955, 4.5045, "everything late")
    parts = []
    for max_rto in data.labels("drained", "max_rto"):
        at: dict[str, Any] = {"kind": "request", "max_rto": max_rto}
        overhead = data.estimate("drained", "overhead", **at)
        success = data.estimate("drained", "success_rate", **at)
        what = f"{max_rto}, drained, {with_interval(success.scaled(100))} % succeed: overhead"
        parts.append(by_law(within(overhead, 4.4955, 4.5045, what), law))
    return every(parts)


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
        parts.append(rises(curve, f"{max_rto}, delay (s)", data.place("loss")))
    low, high = (
        data.by_replication("first-tcp", "mean_delay_s", kind="indication", max_rto="MaxRTO 1 s", loss=loss)
        for loss in (0.1, PUBLISHED_LOSS)
    )
    parts.append(within(paired(lambda a, b: b / a, low, high), 5, math.inf, "MaxRTO 1 s, 50 % over 10 % loss"))
    names = data.labels("first-tcp", "max_rto")
    steps = [float(str(name).split()[1]) for name in names]
    delays = [
        data.by_replication("first-tcp", "mean_delay_s", kind="indication", max_rto=name, loss=PUBLISHED_LOSS)
        for name in names
    ]

    def better(*delays_s: float) -> float:
        """R^2 of an exponential of MaxRTO less that of a power of it, both fitted to the logarithm of the delay."""
        logarithms = [math.log(delay_s) for delay_s in delays_s]
        return correlation(steps, logarithms) ** 2 - correlation([math.log(x) for x in steps], logarithms) ** 2

    what = "at 50 % loss over MaxRTO, R^2 of an exponential less that of a power"
    parts.append(positive(paired(better, *delays), what))
    return every(parts)


def tcp_requests_below(data: Data) -> Finding:
    """5c."""
    without = min(row["success_rate"] for row in data.rows("first-tcp", kind="request"))
    what = "least success of any run without MIH ACK"
    parts = [yes(without == 1.0, f"{what}: {number(without)}", Value(what, without))]
    for max_rto in data.labels("first-tcp-ack", "max_rto"):
        curve = data.curve("first-tcp-ack", "success_rate", "loss", kind="request", max_rto=max_rto)
        parts.append(
            within(curve[max(curve)], 0.0, 0.999, f"{max_rto} with MIH ACK at {data.place('loss')(max(curve))}")
        )
    return every(parts)


def duplicates_add_delay(data: Data) -> Finding:
    """5d."""
    parts = []
    for max_rto in data.labels("first-tcp", "max_rto"):
        timeout_s = 3 * float(str(max_rto).split()[1])
        at: dict[str, Any] = {"kind": "indication", "max_rto": max_rto}
        plain = data.curve("first-tcp", "mean_delay_s", "loss", **at)
        for loss in (loss for loss, delay in plain.items() if delay.mean > timeout_s):
            without, acked = (
                data.by_replication(name, "mean_delay_s", loss=loss, **at) for name in ("first-tcp", "first-tcp-ack")
            )
            more = paired(lambda a, b: b - a, without, acked)
            parts.append(positive(more, f"{max_rto}, {100 * loss:g} % loss: delay (s) with MIH ACK less without"))
    return every(parts) if parts else Finding("not decidable", "nowhere is TCP's delay above the MIH timeout")


def response_delay_falls_again(data: Data) -> Finding:
    """5e."""
    parts = []
    for max_rto in ("MaxRTO 0.75 s", "MaxRTO 1 s"):
        at: dict[str, Any] = {"kind": "request", "max_rto": max_rto}
        curve = data.curve("first-tcp-ack", "mean_delay_s", "loss", **at)
        parts.append(peak(curve, 0.40, 0.48, f"{max_rto}: delay (s)", data.place("loss")))
    return every(parts)


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


#: Behind which loss a curve has no room to fall within the published losses.
LAST_PEAK = PUBLISHED_LOSS - 0.05


def segments_rise_and_fall(data: Data) -> Finding:
    """6b."""
    readings = {}
    for name, experiment in (("without MIH ACK", "first-tcp"), ("with MIH ACK", "first-tcp-ack")):
        parts = []
        for max_rto in data.labels(experiment, "max_rto"):
            at: dict[str, Any] = {"kind": "indication", "max_rto": max_rto}
            curve = data.curve(experiment, "tcp_segments_per_message", "loss", **at)
            parts.append(peak(curve, 0.01, LAST_PEAK, f"{max_rto}: segments", data.place("loss")))
        readings[name] = every(parts)
    return either(readings, "the chart")


def segments_fall_sooner(data: Data) -> Finding:
    """6c."""
    readings = {}
    for max_rto in data.labels("first-tcp-ack", "max_rto"):
        requests, indications = (
            data.curve("first-tcp-ack", "tcp_segments_per_message", "loss", kind=kind, max_rto=max_rto)
            for kind in ("request", "indication")
        )
        readings[str(max_rto)] = every(
            [
                peak(requests, 0.05, 0.15, "requests: segments", data.place("loss")),
                peak(indications, 0.15, 0.25, "indications: segments", data.place("loss")),
            ]
        )
    return either(readings)


def requests_fall_before_indications(data: Data) -> Finding:
    """6e."""

    def turning(kind: str, experiment: str, max_rto: Label) -> dict[int, float]:
        """In each replication the loss at which the segments a message are most."""
        most: dict[int, tuple[float, float]] = {}
        for row in data.rows(experiment, kind=kind, max_rto=max_rto):
            found = (row["tcp_segments_per_message"], row["loss"])
            most[row["replication"]] = max(found, most.get(row["replication"], found))
        return {replication: loss for replication, (_, loss) in most.items()}

    readings = {}
    for name, experiment in (("without MIH ACK", "first-tcp"), ("with MIH ACK", "first-tcp-ack")):
        parts = []
        for max_rto in data.labels(experiment, "max_rto"):
            requests, indications = (turning(kind, experiment, max_rto) for kind in ("request", "indication"))
            sooner = paired(lambda a, b: 100 * (b - a), requests, indications)
            parts.append(positive(sooner, f"{max_rto}: turn of indications less that of requests (% of loss)"))
        readings[name] = every(parts)
    return either(readings, "the chart")


def _load(row: Row) -> float:
    """Of both ends, in kb/s."""
    return float(row["load_bps"]) / 1e3


def load_slows(data: Data) -> Finding:
    """7."""
    at: dict[str, Any] = {"kind": "indication", "max_rto": "MaxRTO 1 s"}
    begin, early, late, last = (
        data.by_replication("first-tcp-ack", _load, loss=loss, **at) for loss in (0.0, 0.2, 0.3, PUBLISHED_LOSS)
    )
    first, second = (paired(lambda a, b: b - a, *ends) for ends in ((begin, early), (late, last)))
    slowing = paired(lambda a, b, c, d: (b - a) - (d - c), begin, early, late, last)
    growth = (
        f"growth of the load (kb/s): {with_interval(first)} from 0 to 20 % loss, "
        f"{with_interval(second)} from 30 to 50 %"
    )
    whole = every(
        [
            positive(first, "growth of the load from 0 to 20 % loss (kb/s)"),
            positive(slowing, "this less the growth from 30 to 50 % (kb/s)"),
        ]
    )
    return replace(whole, brief=growth)


def request_load_falls(data: Data) -> Finding:
    """7b."""
    parts = []
    for max_rto in ("MaxRTO 0.75 s", "MaxRTO 1 s"):
        curve = data.curve("first-tcp-ack", _load, "loss", kind="request", max_rto=max_rto)
        parts.append(peak(curve, 0.05, LAST_PEAK, f"{max_rto}: load (kb/s)", data.place("loss")))
    return every(parts)


def request_load_rises_first(data: Data) -> Finding:
    """7c."""
    parts = []
    for max_rto in data.labels("first-tcp-ack", "max_rto"):
        at: dict[str, Any] = {"kind": "request", "max_rto": max_rto}
        none, low = (data.by_replication("first-tcp-ack", _load, loss=loss, **at) for loss in (0.0, 0.1))
        parts.append(
            positive(paired(lambda a, b: b - a, none, low), f"{max_rto}: load at 10 % loss less at 0 (kb/s)")
        )
    return every(parts)
