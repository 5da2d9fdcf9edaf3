"""Statements about UDP in the first round; the rule of each stands in statements.toml."""

from __future__ import annotations

import math
from functools import partial

from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, either, every, follows, number, positive, rises, within, yes

from .vocabulary import FAST, KINDS, SLOW, UDP


def _flat_delay(data: Data, kind: str, about_s: float) -> Finding:
    curve = data.curve("first-udp", "mean_delay_s", "loss", kind=kind, mih_ack=UDP)
    ends = (min(curve), max(curve))
    parts = [within(curve[at], 0.9 * about_s, 1.1 * about_s, f"delay (s) at {at:g} loss") for at in ends]
    low, high = (data.by_replication("first-udp", "mean_delay_s", kind=kind, mih_ack=UDP, loss=at) for at in ends)
    parts.append(within(paired(lambda a, b: b / a, low, high), 0.99, 1.01, "one over the other"))
    return every(parts)


def udp_indication_delay(data: Data) -> Finding:
    """1a."""
    return _flat_delay(data, "indication", 0.020)


def udp_request_delay(data: Data) -> Finding:
    """1b."""
    return _flat_delay(data, "request", 0.240)


def udp_success(data: Data) -> Finding:
    """1c."""
    indication = data.curve("first-udp", "success_rate", "loss", kind="indication", mih_ack=UDP)
    request = data.curve("first-udp", "success_rate", "loss", kind="request", mih_ack=UDP)
    return every(
        [
            follows(indication, lambda p: 1 - p, 0.01, "indications"),
            follows(request, lambda p: (1 - p) ** 2, 0.01, "requests"),
        ]
    )


def ack_indication_success(data: Data) -> Finding:
    """2a."""
    return every(
        [
            follows(
                data.curve("first-udp", "success_rate", "loss", kind="indication", mih_ack=ack),
                lambda p: 1 - p**3,
                0.01,
                f"timeout {ack.split()[-2]} s",
            )
            for ack in (FAST, SLOW)
        ]
    )


def ack_request_success_first(data: Data) -> Finding:
    """2b."""
    return either(
        {
            policy: every(
                [
                    follows(
                        data.curve("first-udp-policies", "success_rate", "loss", mih_ack=ack, validity=policy),
                        lambda p: (1 - p**3) ** 2,
                        0.02,
                        f"timeout {ack.split()[-2]} s",
                    )
                    for ack in (FAST, SLOW)
                ]
            )
            for policy in ("acked", "strict", "open")
        },
        "policy",
    )


def delay_steps(data: Data) -> Finding:
    """2e."""
    parts = []
    for ack in (FAST, SLOW):
        curve = data.curve("first-udp", "mean_delay_s", "loss", kind="indication", mih_ack=ack)
        parts.append(rises(curve, f"delay (s) with timeout {ack.split()[-2]} s"))
    at = [
        data.by_replication("first-udp", "mean_delay_s", kind="indication", mih_ack=ack, loss=loss)
        for ack in (FAST, SLOW)
        for loss in (0.0, 0.5)
    ]
    ratio = paired(lambda fast0, fast, slow0, slow: (slow - slow0) / (fast - fast0), *at)
    parts.append(within(ratio, 2.7, 3.3, "growth to 50 % loss, timeout 0.3 s over 0.1 s"))
    return every(parts)


def overhead_two(data: Data) -> Finding:
    """3a."""
    return every(
        [
            within(
                data.estimate("first-udp", "overhead", kind=kind, mih_ack=ack, loss=0.0),
                1.9999,
                2.0001,
                f"{kind}s, timeout {ack.split()[-2]} s",
            )
            for kind in KINDS
            for ack in (FAST, SLOW)
        ]
    )


def overhead_rises(data: Data) -> Finding:
    """3b."""
    return every(
        [
            rises(
                data.curve("first-udp", "overhead", "loss", kind=kind, mih_ack=ack), f"{kind}s, {ack.split()[-2]} s"
            )
            for kind in KINDS
            for ack in (FAST, SLOW)
        ]
    )


def overhead_less_for_requests(data: Data) -> Finding:
    """3c."""
    return every(
        [
            positive(
                data.difference(
                    "first-udp",
                    "overhead",
                    {"kind": "request", "mih_ack": ack, "loss": loss},
                    {"kind": "indication", "mih_ack": ack, "loss": loss},
                ),
                f"indications less requests at {loss:g}, timeout {ack.split()[-2]} s",
            )
            for ack in (FAST, SLOW)
            for loss in (0.3, 0.5)
        ]
    )


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


def throughput_kept_at_low_loss(data: Data) -> Finding:
    """4a."""
    return every(
        [
            part
            for kind in KINDS
            for part in (
                _ratio(
                    data,
                    "throughput_bps",
                    kind,
                    FAST,
                    0.1,
                    0.99,
                    math.inf,
                    "at 10 % loss over that at 0",
                ),
                _ratio(data, "success_rate", kind, FAST, 0.1, 0.99, 1.01, "at 10 % loss over that at 0"),
            )
        ]
    )


def throughput_lost_at_high_loss(data: Data) -> Finding:
    """4b."""
    return either(
        {
            f"{kind}s": every(
                [
                    part
                    for ack in (FAST, SLOW)
                    for part in (
                        _ratio(
                            data,
                            "throughput_bps",
                            kind,
                            ack,
                            0.5,
                            0.0,
                            0.98,
                            "at 50 % loss over that at 0",
                        ),
                        _ratio(data, "success_rate", kind, ack, 0.5, 0.0, 0.98, "at 50 % loss over that at 0"),
                    )
                ]
            )
            for kind in KINDS
        },
        "counted on",
    )


def _ratio(data: Data, metric: str, kind: str, ack: str, loss: float, low: float, high: float, what: str) -> Finding:
    """A metric with MIH ACK at a loss, beside its value without loss, replication by replication."""
    without, lossy = (data.by_replication("first-udp", metric, kind=kind, mih_ack=ack, loss=at) for at in (0.0, loss))
    name = {"throughput_bps": "IP throughput", "success_rate": "success"}[metric]
    label = f"{kind}s, timeout {ack.split()[-2]} s: {name} {what}"
    return within(paired(lambda a, b: b / a, without, lossy), low, high, label)


def requests_succeed_less(data: Data) -> Finding:
    """1d."""
    parts = []
    for ack in (UDP, FAST, SLOW):
        for loss in (0.2, 0.5):
            request, indication = (
                data.by_replication("first-udp", "success_rate", kind=kind, mih_ack=ack, loss=loss)
                for kind in ("request", "indication")
            )
            less = paired(lambda a, b: b - a, request, indication)
            parts.append(
                positive(less, f"{ack}, {100 * loss:g} % loss: success of indications less that of requests")
            )
    return every(parts)


def printed_delay_sum(data: Data) -> Finding:
    """2g."""
    one_way_s = data.estimate("first-udp", "mean_delay_s", kind="indication", mih_ack=UDP, loss=0.0).mean

    def printed(timeout_s: float, p: float) -> float:
        return float(sum((one_way_s + n * timeout_s) * p**n * (1 - p) for n in range(3)))

    def formula(timeout_s: float, divided: bool, p: float) -> float:
        return printed(timeout_s, p) / (1 - p**3 if divided else 1)

    return either(
        {
            name: every(
                [
                    follows(
                        data.curve("first-udp", "mean_delay_s", "loss", kind="indication", mih_ack=ack),
                        partial(formula, timeout_s, divided),
                        0.02 * (one_way_s + timeout_s),
                        f"timeout {timeout_s:g} s",
                    )
                    for ack, timeout_s in ((FAST, 0.1), (SLOW, 0.3))
                ]
            )
            for name, divided in (("as printed", False), ("divided by 1 - p^3", True))
        },
        "the sum",
    )
