"""Statements about UDP in the first round; the rule of each stands in statements.toml."""

from __future__ import annotations

from functools import partial
from typing import Any

from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, either, every, follows, number, rises, within, yes
from roamsim.study.law import by_law, exact, exact_curve
from roamsim.theory.mih_udp import Timing, expected_copies, indication_delay_s, indication_success

from ..study import ROUND_TWO_TIMEOUT_S, rtt_ack
from .vocabulary import FAST, PUBLISHED_LOSS, SLOW, UDP, peak


def delay_steps(data: Data) -> Finding:
    """2e."""
    parts = []
    for ack in (FAST, SLOW):
        curve = data.curve("first-udp", "mean_delay_s", "loss", kind="indication", mih_ack=ack)
        parts.append(rises(curve, f"delay (s) with timeout {ack.split()[-2]} s", data.place("loss")))
    at = [
        data.by_replication("first-udp", "mean_delay_s", kind="indication", mih_ack=ack, loss=loss)
        for ack in (FAST, SLOW)
        for loss in (0.0, 0.5)
    ]
    ratio = paired(lambda fast0, fast, slow0, slow: (slow - slow0) / (fast - fast0), *at)
    parts.append(within(ratio, 2.7, 3.3, "growth to 50 % loss, timeout 0.3 s over 0.1 s"))
    return every(parts)


def at_most_six(data: Data) -> Finding:
    """3d."""
    most = 0.0
    for experiment in ("first-udp", "first-tcp-ack", "rtt-ack"):
        for row in data.rows(experiment, kind="indication"):
            most = max(most, row["overhead"])
    what = "most packets per indication in any run"
    late = data.curve("rtt-ack", "overhead", "rtt", kind="indication", validity="acked", loss_percent=0)
    all_late = {rtt: estimate for rtt, estimate in late.items() if rtt > 0.4}
    parts = [within(estimate, 5.9999, 6.0001, f"every ACK late, RTT {rtt:g} s") for rtt, estimate in all_late.items()]
    return every([yes(most <= 6.0, f"{what}: {number(most)}", Value(what, most)), *parts])


def printed_delay_sum(data: Data) -> Finding:
    """2g."""
    one_way_s = data.estimate("first-udp", "mean_delay_s", kind="indication", mih_ack=UDP, loss=0.0).mean

    def printed(timeout_s: float, p: float) -> float:
        return float(sum((one_way_s + n * timeout_s) * p**n * (1 - p) for n in range(3)))

    def formula(timeout_s: float, divided: bool, p: float) -> float:
        return printed(timeout_s, p) / (1 - p**3 if divided else 1)

    def judged(ack: str, timeout_s: float, divided: bool) -> Finding:
        curve = data.curve("first-udp", "mean_delay_s", "loss", kind="indication", mih_ack=ack)
        law = {p: indication_delay_s(p, Timing(2 * one_way_s, timeout_s)) for p in curve}
        tolerance = 0.02 * (one_way_s + timeout_s)
        runs, exactly = (
            follows(
                one, partial(formula, timeout_s, divided), tolerance, f"timeout {timeout_s:g} s", data.place("loss")
            )
            for one in (curve, exact_curve(law))
        )
        return by_law(runs, exactly)

    def over_round_trips(percent: int, divided: bool) -> Finding:
        at: dict[str, Any] = {"kind": "indication", "validity": "acked"}
        none, lossy = (data.curve("rtt-ack", "mean_delay_s", "rtt", loss_percent=loss, **at) for loss in (0, percent))
        p = percent / 100

        def sum_at(rtt_s: float) -> float:
            half_s = none[rtt_s].mean
            printed_s = sum((half_s + n * ROUND_TWO_TIMEOUT_S) * p**n * (1 - p) for n in range(3))
            return float(printed_s / (1 - p**3 if divided else 1))

        law = {rtt: rtt_ack({"rtt": rtt, "loss_percent": percent, **at}, "mean_delay_s", data) for rtt in lossy}
        tolerance = 0.02 * (min(none.values(), key=lambda e: e.mean).mean + ROUND_TWO_TIMEOUT_S)
        what = f"over the RTT, p = {percent} %"
        return by_law(
            *(follows(one, sum_at, tolerance, what, data.place("rtt")) for one in (lossy, exact_curve(law)))
        )

    return either(
        {
            name: every(
                [
                    *(judged(ack, timeout_s, divided) for ack, timeout_s in ((FAST, 0.1), (SLOW, 0.3))),
                    *(over_round_trips(percent, divided) for percent in (10, 20)),
                ]
            )
            for name, divided in (("as printed", False), ("divided by 1 - p^3", True))
        },
        "the sum",
    )


def throughput_falls_from_its_peak(data: Data) -> Finding:
    """4b."""
    parts = []
    for ack, timeout_s in ((FAST, 0.1), (SLOW, 0.3)):
        at: dict[str, Any] = {"kind": "indication", "mih_ack": ack}
        curve = data.curve("first-udp", "throughput_bps", "loss", **at)
        what = f"timeout {timeout_s:g} s: throughput (kb/s)"
        law = exact_curve({p: _throughput_bps(data, p, timeout_s) for p in curve})
        runs, exactly = (
            peak({p: e.scaled(1e-3) for p, e in one.items()}, 0.01, PUBLISHED_LOSS - 0.05, what, data.place("loss"))
            for one in (curve, law)
        )
        parts.append(by_law(runs, exactly))
        success = data.estimate("first-udp", "success_rate", loss=PUBLISHED_LOSS, **at)
        # 1 - p^3 is 0.875.
        lost = within(success, 0, 0.98, f"timeout {timeout_s:g} s: success at 50 % loss")
        parts.append(by_law(lost, within(exact(indication_success(PUBLISHED_LOSS)), 0, 0.98, "success")))
    return every(parts)


def _throughput_bps(data: Data, loss: float, timeout_s: float) -> float:
    """Throughput of indications with MIH ACK: what arrives of the copies, and of the ACKs of those that arrive."""
    message_bytes = 200 + 8 + 40  # with the headers of UDP and IPv6
    interval_s = 0.5
    none = data.estimate("first-udp", "throughput_bps", kind="indication", mih_ack=FAST, loss=0.0).mean
    ack_bytes = none * interval_s / 8 - message_bytes  # without loss one message and one ACK an interval
    one_way_s = data.estimate("first-udp", "mean_delay_s", kind="indication", mih_ack=UDP, loss=0.0).mean
    copies = expected_copies(loss, Timing(2 * one_way_s, timeout_s))
    return 8 / interval_s * (1 - loss) * copies * (message_bytes + (1 - loss) * ack_bytes)
