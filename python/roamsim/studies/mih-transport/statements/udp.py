"""Statements about UDP in the first round; the rule of each stands in statements.toml."""

from __future__ import annotations

from functools import partial

from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, either, every, follows, number, rises, within, yes

from .vocabulary import FAST, SLOW, UDP


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
