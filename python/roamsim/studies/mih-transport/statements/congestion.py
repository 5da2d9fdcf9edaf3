"""Statements about congestion, second round."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Metric, Row, paired
from roamsim.study.judging import Finding, either, every, positive, within

from .vocabulary import FREE, KINDS, LIMIT_50, LIMIT_200, SIZES, peak

#: The MIH timeout of UDP in the congestion runs, and the experiments that have it. TCP has none.
TIMEOUTS = {"50 ms, 2 RTT": "", "200 ms, beyond 2 RTT": "-slow"}


def by_timeout(measure: Callable[[str], Finding]) -> Finding:
    """A statement about UDP with MIH ACK, for each MIH timeout."""
    return either({name: measure(suffix) for name, suffix in TIMEOUTS.items()}, "MIH timeout")


def _experiment(transport: str, suffix: str) -> str:
    return "congestion" if transport == "TCP" else f"congestion{suffix}"


def _congested(
    data: Data, metric: Metric, kind: str, size: int, transport: str, suffix: str = ""
) -> dict[float, Estimate]:
    where: dict[str, Any] = {"kind": kind, "size_bytes": size, "transport": transport}
    return data.curve(_experiment(transport, suffix), metric, "offered_kbps", **where)


def _onset(data: Data, kind: str, size: int, transport: str, suffix: str) -> dict[int, float]:
    """In each replication the lowest load (kb/s) at which the delay is twice that of 50 kb/s, or success below 99 %.

    Where that happens at no load, twice the highest load stands for it.
    """
    onset: dict[int, float] = {}
    start_s: dict[int, float] = {}
    rows = data.rows(_experiment(transport, suffix), kind=kind, size_bytes=size, transport=transport)
    for row in sorted(rows, key=lambda row: row["offered_kbps"]):
        delay_s = math.inf if row["mean_delay_s"] is None else row["mean_delay_s"]
        first_s = start_s.setdefault(row["replication"], delay_s)
        if delay_s > 2 * first_s or row["success_rate"] < 0.99:
            onset.setdefault(row["replication"], row["offered_kbps"])
    most = 2 * max(row["offered_kbps"] for row in rows)
    return {replication: onset.get(replication, most) for replication in start_s}


def onset_without_limiter(data: Data) -> Finding:
    """8a."""

    def measure(suffix: str) -> Finding:
        return every(
            [
                within(
                    paired(float, _onset(data, kind, size, FREE, suffix)),
                    500,
                    700,
                    f"{kind}s of {size} B, onset (kb/s)",
                )
                for kind in KINDS
                for size in SIZES
            ]
        )

    return by_timeout(measure)


def limiter_like_tcp(data: Data) -> Finding:
    """8c."""

    def measure(suffix: str) -> Finding:
        parts = []
        for kind in KINDS:
            ratios = {}
            for load in data.labels("congestion", "offered_kbps"):
                at: dict[str, Any] = {"kind": kind, "size_bytes": 500, "offered_kbps": load}
                tcp, limited = (
                    data.by_replication(_experiment(one, suffix), "peer_throughput_bps", transport=one, **at)
                    for one in ("TCP", LIMIT_200)
                )
                ratios[load] = paired(lambda a, b: b / a, tcp, limited)
            furthest = max(ratios, key=lambda load: abs(ratios[load].mean - 1))
            what = f"{kind}s of 500 B, throughput over that of TCP, furthest from 1 at {furthest:g} kb/s"
            parts.append(within(ratios[furthest], 0.95, 1.05, what))
        return every(parts)

    return by_timeout(measure)


def most_dropped_at_mihf(data: Data) -> Finding:
    """8d."""

    def share(row: Mapping[str, Any]) -> float:
        return float(row["rate_limited"] / (row["rate_limited"] + row["mih_packets"]))

    def measure(suffix: str) -> Finding:
        parts = []
        for kind in KINDS:
            for size in SIZES:
                where = f"{kind}s of {size} B at 1500 kb/s"
                dropped = _congested(data, share, kind, size, LIMIT_50, suffix)[1500.0]
                parts.append(within(dropped, 0.5, 1.0, f"{where}, share of MIH packets dropped at the MIHFs"))
                fewer, more = (_mean_success(data, kind, size, limit, suffix) for limit in (LIMIT_50, LIMIT_200))
                less = paired(lambda a, b: b - a, fewer, more)
                what = f"{kind}s of {size} B, mean success with 200 tokens/s less that with 50"
                parts.append(positive(less, what))
        return every(parts)

    return by_timeout(measure)


def _mean_success(data: Data, kind: str, size: int, transport: str, suffix: str) -> dict[int, float]:
    """The success of each replication, averaged over the offered loads."""
    found: dict[int, list[float]] = {}
    for row in data.rows(_experiment(transport, suffix), kind=kind, size_bytes=size, transport=transport):
        found.setdefault(row["replication"], []).append(row["success_rate"])
    return {replication: sum(values) / len(values) for replication, values in found.items()}


def limiter_adds_delay_early(data: Data) -> Finding:
    """8e."""

    def measure(suffix: str) -> Finding:
        parts = []
        for kind in KINDS:
            limited = {size: _onset(data, kind, size, LIMIT_50, suffix) for size in SIZES}
            for size in SIZES:
                sooner = paired(lambda a, b: b - a, limited[size], _onset(data, kind, size, FREE, suffix))
                parts.append(positive(sooner, f"{kind}s of {size} B, onset without limiter less that with it (kb/s)"))
            later = paired(lambda a, b: b - a, limited[100], limited[500])
            parts.append(positive(later, f"{kind}s, onset for 500 less that for 100 B (kb/s)"))
        return every(parts)

    return by_timeout(measure)


def only_first_requests(data: Data) -> Finding:
    """8f."""

    def measure(suffix: str) -> Finding:
        parts = []
        for transport in (LIMIT_200, LIMIT_50):
            shares: dict[int, list[bool]] = {}
            for row in data.rows(f"congestion-transactions{suffix}", transport=transport):
                if row["completed_s"] is not None:
                    shares.setdefault(row["replication"], []).append(row["generated_s"] < 5.0 + 10.0)
            early = statistics.mean([sum(values) / len(values) for values in shares.values()])
            what = f"{transport}: share of the successes among the first third of the traffic"
            parts.append(within(early, 0.9, 1.0, what))
        return every(parts)

    return by_timeout(measure)


#: Token rates and sizes whose token rate, in kb/s of messages, lies inside the offered loads.
LIMITED = ((LIMIT_200, 200, 100), (LIMIT_200, 200, 500), (LIMIT_50, 50, 500))


def request_overhead_peaks_near_token_rate(data: Data) -> Finding:
    """8g."""

    def measure(suffix: str) -> Finding:
        parts = []
        for transport, tokens, size in LIMITED:
            token_kbps = tokens * size * 8 / 1e3
            curve = _congested(data, "overhead", "request", size, transport, suffix)
            what = f"{size} B, {tokens}/s = {token_kbps:g} kb/s: overhead"
            parts.append(peak(curve, 0.5 * token_kbps, 2 * token_kbps, what))
        return every(parts)

    return by_timeout(measure)


def _load_over_throughput(row: Row) -> float:
    return float(row["origin_load_bps"] / row["peer_throughput_bps"])


def load_equals_throughput(data: Data) -> Finding:
    """8h."""

    def worst(experiment: str, transport: str) -> Finding:
        ratios = {
            f"{size} B at {load:g} kb/s": estimate
            for size in SIZES
            for load, estimate in data.curve(
                experiment,
                _load_over_throughput,
                "offered_kbps",
                kind="indication",
                size_bytes=size,
                transport=transport,
            ).items()
        }
        where = max(ratios, key=lambda at: abs(ratios[at].mean - 1))
        return within(ratios[where], 0.95, 1.05, f"{transport}: load over throughput at worst ({where})")

    tcp = {"off": worst("congestion", "TCP"), "on": worst("congestion-nagle", "TCP")}
    limited = [by_timeout(partial(_worst_limited, worst, limit)) for limit in (LIMIT_200, LIMIT_50)]
    return every([either(tcp, "Nagle"), *limited])


def _worst_limited(worst: Callable[[str, str], Finding], limit: str, suffix: str) -> Finding:
    return worst(f"congestion{suffix}", limit)
