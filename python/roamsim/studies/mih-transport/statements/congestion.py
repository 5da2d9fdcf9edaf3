"""Statements about congestion, second round."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Metric, Row, paired
from roamsim.study.judging import Finding, every, positive, within

from .vocabulary import FREE, KINDS, LIMIT_50, LIMIT_200, SIZES, peak


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
                peak(
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
