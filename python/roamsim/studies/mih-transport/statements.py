"""Measurements of the published statements, one function a clause; the rule of each stands in statements.toml."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Metric, Row, paired
from roamsim.study.judging import (
    Finding,
    Value,
    either,
    every,
    follows,
    number,
    positive,
    rises,
    value_of,
    with_interval,
    within,
    yes,
)

UDP = "without MIH ACK"
FAST, SLOW = "MIH ACK, 0.1 s", "MIH ACK, 0.3 s"
FREE, LIMIT_200, LIMIT_50 = "UDP with MIH ACK", "UDP, 200 tokens/s", "UDP, 50 tokens/s"
KINDS = ("indication", "request")
SIZES = (100, 500)


# 1. UDP without MIH ACK


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


# 2. UDP with MIH ACK


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


# 3. Overhead


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
    return yes(most <= 6.0, f"{what}: {number(most)}", Value(what, most))


def tends_to_four_and_a_half(data: Data) -> Finding:
    """3e."""
    ends = {}
    for max_rto in data.labels("first-tcp-ack", "max_rto"):
        curve = data.curve("first-tcp-ack", "overhead", "loss", kind="request", max_rto=max_rto)
        ends[str(max_rto)] = within(curve[max(curve)], 4.05, 4.95, f"overhead at {max(curve):g} loss")
    return either(ends)


# 4. Throughput of UDP with MIH ACK


def throughput_kept_at_low_loss(data: Data) -> Finding:
    """4a."""
    return every(
        [
            _ratio(data, "throughput_bps", 0.1, 0.99, 10.0, "IP throughput at 10 % loss over that at 0"),
            _ratio(data, "success_rate", 0.1, 0.99, 1.01, "messages delivered at 10 % loss over those at 0"),
        ]
    )


def throughput_lost_at_high_loss(data: Data) -> Finding:
    """4b."""
    return every(
        [
            _ratio(data, "throughput_bps", 0.5, 0.0, 0.98, "IP throughput at 50 % loss over that at 0"),
            _ratio(data, "success_rate", 0.5, 0.0, 0.98, "messages delivered at 50 % loss over those at 0"),
        ]
    )


def _ratio(data: Data, metric: str, loss: float, low: float, high: float, what: str) -> Finding:
    """A metric of indications with MIH ACK at a loss, beside its value without loss, replication by replication."""
    without, lossy = (
        data.by_replication("first-udp", metric, kind="indication", mih_ack=FAST, loss=at) for at in (0.0, loss)
    )
    return within(paired(lambda a, b: b / a, without, lossy), low, high, what)


# 5. TCP


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
        parts.append(_peak(curve, 0.40, 0.48, f"{max_rto}: delay"))
    return every(parts)


def _peak(curve: Mapping[float, Estimate], low: float, high: float, what: str) -> Finding:
    """Where a curve has its peak; it must fall behind it, both intervals apart."""
    present = {at: e for at, e in curve.items() if e.samples > 1}
    if len(present) < 3:
        return Finding("not decidable", f"{what}: values are missing")
    at = max(present, key=lambda x: present[x].mean)
    last = present[max(present)]
    text = f"{what} is highest at {at:g} ({with_interval(present[at])}), {with_interval(last)} at {max(present):g}"
    peak = value_of(f"{what}, highest at {at:g}", present[at])
    end = value_of(f"{what}, at {max(present):g}", last)
    if last.high < present[at].low:
        return yes(low <= at <= high, text, peak, end)
    # It does not fall by more than chance; where the peak is the last point, it does not fall at all.
    return Finding("differs" if at == max(present) else "not decidable", text, (peak, end), peak)


# 6. TCP segments per MIH message


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
        readings[str(max_rto)] = _peak(curve, 0.01, 0.45, "segments")
    return either(readings)


def segments_fall_sooner(data: Data) -> Finding:
    """6c."""
    readings = {}
    for max_rto in data.labels("first-tcp", "max_rto"):
        plain = data.curve("first-tcp", "tcp_segments_per_message", "loss", kind="request", max_rto=max_rto)
        acked = data.curve("first-tcp-ack", "tcp_segments_per_message", "loss", kind="request", max_rto=max_rto)
        readings[str(max_rto)] = every(
            [_peak(plain, 0.15, 0.25, "without MIH ACK"), _peak(acked, 0.05, 0.15, "with MIH ACK")]
        )
    return either(readings)


# 7. TCP load


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


# 8. Congestion


def _congested(data: Data, metric: Metric, kind: str, size: int, transport: str) -> dict[float, Estimate]:
    return data.curve("congestion", metric, "offered_kbps", kind=kind, size_bytes=size, transport=transport)


def _onset(data: Data, kind: str, size: int, transport: str) -> dict[int, float]:
    """In each replication the lowest load (kb/s) at which the delay is twice that of 50 kb/s, or success below 99 %.

    Where that happens at no load, twice the highest load stands for it.
    """
    onset: dict[int, float] = {}
    start_s: dict[int, float] = {}
    rows = data.rows("congestion", kind=kind, size_bytes=size, transport=transport)
    for row in sorted(rows, key=lambda row: row["offered_kbps"]):
        first_s = start_s.setdefault(row["replication"], row["mean_delay_s"])
        if row["mean_delay_s"] > 2 * first_s or row["success_rate"] < 0.99:
            onset.setdefault(row["replication"], row["offered_kbps"])
    most = 2 * max(row["offered_kbps"] for row in rows)
    return {replication: onset.get(replication, most) for replication in start_s}


def onset_without_limiter(data: Data) -> Finding:
    """8a."""
    return every(
        [
            within(paired(float, _onset(data, kind, size, FREE)), 500, 700, f"{kind}s of {size} B, onset (kb/s)")
            for kind in KINDS
            for size in SIZES
        ]
    )


def tcp_saturates(data: Data) -> Finding:
    """8b."""
    parts = []
    for kind in KINDS:
        for size in SIZES:
            at: dict[str, Any] = {"kind": kind, "size_bytes": size, "transport": "TCP", "offered_kbps": 1500}
            peak = data.estimate("congestion", lambda row: row["peer_throughput_bps"] / 1e3, **at)
            parts.append(within(peak, 900, 1000, f"{kind}s of {size} B: throughput (kb/s)"))
            parts.append(within(data.estimate("congestion", "success_rate", **at), 0.9995, 1.0, "success"))
            parts.append(within(data.estimate("congestion", "mean_delay_s", **at), 1.0, math.inf, "delay (s)"))
    return every(parts)


def limiter_like_tcp(data: Data) -> Finding:
    """8c."""
    parts = []
    for kind in KINDS:
        ratios = {}
        for load in data.labels("congestion", "offered_kbps"):
            at: dict[str, Any] = {"kind": kind, "size_bytes": 500, "offered_kbps": load}
            tcp, limited = (
                data.by_replication("congestion", "peer_throughput_bps", transport=transport, **at)
                for transport in ("TCP", LIMIT_200)
            )
            ratios[load] = paired(lambda a, b: b / a, tcp, limited)
        least = min(ratios, key=lambda load: ratios[load].mean)
        what = f"{kind}s of 500 B, least throughput over that of TCP, at {least:g} kb/s"
        parts.append(within(ratios[least], 0.8, math.inf, what))
    return every(parts)


def most_dropped_at_mihf(data: Data) -> Finding:
    """8d."""

    def share(row: Mapping[str, Any]) -> float:
        return float(row["rate_limited"] / (row["rate_limited"] + row["mih_packets"]))

    return every(
        [
            within(
                _congested(data, share, kind, size, LIMIT_50)[1500.0],
                0.5,
                1.0,
                f"{kind}s of {size} B at 1500 kb/s, share of MIH packets dropped at the MIHFs",
            )
            for kind in KINDS
            for size in SIZES
        ]
    )


def limiter_adds_delay_early(data: Data) -> Finding:
    """8e."""
    parts = []
    for kind in KINDS:
        limited = {size: _onset(data, kind, size, LIMIT_50) for size in SIZES}
        for size in SIZES:
            sooner = paired(lambda a, b: b - a, limited[size], _onset(data, kind, size, FREE))
            parts.append(positive(sooner, f"{kind}s of {size} B, onset without limiter less that with it (kb/s)"))
        later = paired(lambda a, b: b - a, limited[100], limited[500])
        parts.append(positive(later, f"{kind}s, onset for 500 less that for 100 B (kb/s)"))
    return every(parts)


def only_first_requests(data: Data) -> Finding:
    """8f."""
    parts = []
    for transport in (LIMIT_200, LIMIT_50):
        shares: dict[int, list[bool]] = {}
        successes: dict[int, int] = {}
        for row in data.rows("congestion-transactions", transport=transport):
            done = row["completed_s"] is not None
            successes[row["replication"]] = successes.get(row["replication"], 0) + done
            if done:
                shares.setdefault(row["replication"], []).append(row["generated_s"] < 5.0 + 10.0)
        early = statistics.mean([sum(values) / len(values) for values in shares.values()])
        parts.append(
            within(early, 0.9, 1.0, f"{transport}: share of the successes among the first third of the traffic")
        )
    return every(parts)


def overhead_peaks_near_token_rate(data: Data) -> Finding:
    """8g."""
    parts = []
    for transport, tokens, size in ((LIMIT_200, 200, 100), (LIMIT_200, 200, 500), (LIMIT_50, 50, 500)):
        token_kbps = tokens * size * 8 / 1e3
        for kind in KINDS:
            curve = _congested(data, "overhead", kind, size, transport)
            parts.append(
                _peak(
                    curve,
                    0.5 * token_kbps,
                    2 * token_kbps,
                    f"{kind}s of {size} B, {tokens}/s = {token_kbps:g} kb/s: overhead",
                )
            )
    return every(parts)


def _load_over_throughput(row: Row) -> float:
    return float(row["origin_load_bps"] / row["peer_throughput_bps"])


def load_equals_throughput(data: Data) -> Finding:
    """8h."""
    parts = []
    for transport in ("TCP", LIMIT_200, LIMIT_50):
        ratios = {
            f"{kind}s of {size} B at {load:g} kb/s": estimate
            for kind in KINDS
            for size in SIZES
            for load, estimate in _congested(data, _load_over_throughput, kind, size, transport).items()
        }
        worst = max(ratios, key=lambda where: abs(ratios[where].mean - 1))
        parts.append(within(ratios[worst], 0.95, 1.05, f"{transport}: load over throughput at worst ({worst})"))
    return every(parts)


def unlimited_load_grows(data: Data) -> Finding:
    """8i."""
    return every(
        [
            within(
                _congested(data, _load_over_throughput, kind, size, FREE)[1500.0],
                1.3,
                math.inf,
                f"{kind}s of {size} B at 1500 kb/s, load over throughput",
            )
            for kind in KINDS
            for size in SIZES
        ]
    )
