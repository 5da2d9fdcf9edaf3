"""Statements about congestion, second round."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Metric, Row, paired
from roamsim.study.judging import Finding, either, every, positive, within
from roamsim.study.law import by_law, exact

from ..study import TWO_RTT_MS
from .vocabulary import FREE, KINDS, LIMIT_50, LIMIT_200, SIZES, peak

#: The end of experiments whose MIH timeout is 200 ms; that of the others is 2 RTT, the end of the published range.
SLOW = "-slow"


def beside_slow(data: Data, measure: Callable[[str], Finding]) -> Finding:
    """A statement about UDP with MIH ACK, judged for an MIH timeout of 2 RTT; names it where 200 ms turns it round.

    Args:
        data: with 200 ms in the full run alone.
        measure: judges the experiments of an ending.
    """
    finding = measure("")
    return _beside(finding, measure(SLOW)) if data.rows(f"congestion{SLOW}") else finding


def _beside(finding: Finding, slow: Finding) -> Finding:
    turned: tuple[str, ...] = ()
    if {finding.verdict, slow.verdict} == {"agrees", "differs"}:
        turned = (f"an MIH timeout of 2 RTT (with 200 ms it {slow.verdict})",)
    return replace(
        finding,
        measured=f"{finding.measured}; with 200 ms it {slow.verdict}: {slow.measured}",
        values=(*finding.values, *(replace(one, what=f"200 ms: {one.what}") for one in slow.values)),
        turned_by=(*finding.turned_by, *turned),
    )


def _experiment(transport: str, suffix: str) -> str:
    return "congestion" if transport == "TCP" else f"congestion{suffix}"


def _congested(
    data: Data, metric: Metric, kind: str, size: int, transport: str, suffix: str = ""
) -> dict[float, Estimate]:
    where: dict[str, Any] = {"kind": kind, "size_bytes": size, "transport": transport}
    return data.curve(_experiment(transport, suffix), metric, "offered_kbps", **where)


def _lifetime_s(size: int, suffix: str) -> float:
    """Three MIH timeouts: when a sender gives a transaction up."""
    return 3e-3 * (200 if suffix else TWO_RTT_MS[size])


def _onset(data: Data, kind: str, size: int, transport: str, suffix: str) -> dict[int, float]:
    """In each replication the lowest load (kb/s) at which the delay is twice that of 50 kb/s, or success below 99 %.

    Where that happens at no load, twice the highest load stands for it.
    """
    return _onset_of(data.rows(_experiment(transport, suffix), kind=kind, size_bytes=size, transport=transport))


def _onset_of(rows: Sequence[Row]) -> dict[int, float]:
    onset: dict[int, float] = {}
    start_s: dict[int, float] = {}
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
                    paired(float, _onset(data, "indication", size, FREE, suffix)), 500, 700, f"{size} B, onset (kb/s)"
                )
                for size in SIZES
            ]
        )

    return beside_slow(data, measure)


def requests_turn_no_later(data: Data) -> Finding:
    """8m."""

    def measure(suffix: str) -> Finding:
        parts = []
        for size in SIZES:
            requests, indications = (_onset(data, kind, size, FREE, suffix) for kind in ("request", "indication"))
            what = f"{size} B, onset of indications less that of requests (kb/s)"
            parts.append(within(paired(lambda a, b: b - a, requests, indications), 0, math.inf, what))
            lost = _congested(data, "success_rate", "request", size, FREE, suffix)[1500.0]
            parts.append(within(lost, 0.0, 0.99, f"{size} B, success of requests at 1500 kb/s"))
        return every(parts)

    return beside_slow(data, measure)


def dropped_at_the_backbone(data: Data) -> Finding:
    """8n."""
    parts = []
    for size in SIZES:
        at: dict[str, Any] = {"kind": "indication", "size_bytes": size, "transport": FREE, "offered_kbps": 1000}
        lost: dict[int, dict[str, int]] = {}
        for row in data.rows_of("congestion", "drops", **at):
            where = lost.setdefault(row["replication"], {})
            where[row["name"]] = where.get(row["name"], 0) + row["packets"]
        share = {replication: where.get("backbone", 0) / sum(where.values()) for replication, where in lost.items()}
        what = f"{size} B at 1000 kb/s: share of all drops that are on the backbone"
        parts.append(within(paired(float, share), 0.95, 1.0, what))
    return every(parts)


#: How far the limiter's load may be from TCP's: 200 packets of 548 B are 877 kb/s, 12.3 % below a full link, and the
#: publication calls that almost identical.
ALMOST_IDENTICAL = 0.15


def limiter_like_tcp(data: Data) -> Finding:
    """8c."""

    def measure(suffix: str) -> Finding:
        ratios = {}
        for load in data.labels("congestion", "offered_kbps"):
            at: dict[str, Any] = {"kind": "indication", "size_bytes": 500, "offered_kbps": load}
            tcp, limited = (
                data.by_replication(_experiment(one, suffix), "origin_load_bps", transport=one, **at)
                for one in ("TCP", LIMIT_200)
            )
            ratios[load] = paired(lambda a, b: b / a, tcp, limited)
        furthest = max(ratios, key=lambda load: abs(ratios[load].mean - 1))
        what = f"load over that of TCP, furthest from 1 at {furthest:g} kb/s"
        return within(ratios[furthest], 1 - ALMOST_IDENTICAL, 1 + ALMOST_IDENTICAL, what)

    return beside_slow(data, measure)


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

    return beside_slow(data, measure)


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
            free = {size: _onset(data, kind, size, FREE, suffix) for size in SIZES}
            for limit in (LIMIT_50, LIMIT_200):
                limited = {size: _onset(data, kind, size, limit, suffix) for size in SIZES}
                where = f"{kind}s, {limit.split(', ')[1]}"
                for size in SIZES:
                    sooner = paired(lambda a, b: b - a, limited[size], free[size])
                    what = f"{where}, {size} B: onset without limiter less that with it (kb/s)"
                    parts.append(within(sooner, 0, math.inf, what))
                parts.append(
                    positive(
                        paired(lambda a, b: b - a, limited[100], free[100]), f"{where}, 100 B: the same, above zero"
                    )
                )
                later = paired(lambda a, b: b - a, limited[100], limited[500])
                parts.append(positive(later, f"{where}: onset for 500 B less that for 100 B (kb/s)"))
        return every(parts)

    return beside_slow(data, measure)


def only_first_requests(data: Data) -> Finding:
    """8f."""

    def measure(suffix: str) -> Finding:
        parts = []
        lifetime_s = _lifetime_s(500, suffix)
        for transport in (LIMIT_200, LIMIT_50):
            early: dict[int, list[bool]] = {}
            delays_s: dict[int, list[float]] = {}
            for row in data.rows(f"congestion-transactions{suffix}", transport=transport):
                if row["completed_s"] is not None:
                    early.setdefault(row["replication"], []).append(row["generated_s"] < 5.0 + 10.0)
                    delays_s.setdefault(row["replication"], []).append(row["delay_s"])
            share = statistics.mean([sum(values) / len(values) for values in early.values()])
            what = f"{transport}: share of the successes among the first third of the traffic"
            parts.append(within(share, 0.9, 1.0, what))
            delay = statistics.mean([sum(values) / len(values) for values in delays_s.values()])
            parts.append(within(delay, 0.0, lifetime_s, f"{transport}: mean delay of the successes (s)"))
        return every(parts)

    return beside_slow(data, measure)


def request_overhead_peaks_near_token_rate(data: Data) -> Finding:
    """8g."""

    def measure(timeout: str) -> Finding:
        parts = []
        for limit in data.labels("congestion-near-rate", "limit"):
            at: dict[str, Any] = {"limit": limit, "timeout": timeout}
            curve = data.curve("congestion-near-rate", "overhead", "share_of_tokens", **at)
            parts.append(peak(curve, 0.375, 0.75, f"{limit}: overhead", data.place("share_of_tokens")))
        return every(parts)

    chosen, *beyond = data.labels("congestion-near-rate", "timeout")
    return _beside(measure(str(chosen)), measure(str(beyond[0]))) if beyond else measure(str(chosen))


def late_indications_count(data: Data) -> Finding:
    """8p."""

    def measure(suffix: str) -> Finding:
        parts = []
        for size in SIZES:
            lifetime_s = _lifetime_s(size, suffix)
            where = f"{size} B, 200 tokens/s at 1500 kb/s"
            late = _congested(data, "mean_delay_s", "indication", size, LIMIT_200, suffix)[1500.0]
            parts.append(within(late, lifetime_s, math.inf, f"{where}: mean delay of what counts (s)"))
            failed = _congested(
                data, "(given_up + successes) * 1.0 / messages", "indication", size, LIMIT_200, suffix
            )[1500.0]
            parts.append(within(failed, 1.0, math.inf, f"{where}: given up or delivered, over messages"))
        return every(parts)

    return beside_slow(data, measure)


def requests_succeed_less(data: Data) -> Finding:
    """8o."""

    def measure(suffix: str) -> Finding:
        parts = []
        for size in SIZES:
            for load in (800, 1000, 1500):
                indications, requests = (
                    data.by_replication(
                        _experiment(FREE, suffix), "success_rate", kind=kind, size_bytes=size, transport=FREE,
                        offered_kbps=load,
                    )
                    for kind in ("indication", "request")
                )  # fmt: skip
                less = paired(lambda a, b: a - b, indications, requests)
                parts.append(positive(less, f"{size} B at {load} kb/s: success of indications less that of requests"))
        return every(parts)

    return beside_slow(data, measure)


def overhead_at_low_load(data: Data) -> Finding:
    """8q."""

    def measure(suffix: str) -> Finding:
        parts = []
        for size in SIZES:
            for transport, packets in (("TCP", 1.0), (FREE, 2.0)):
                value = _congested(data, "overhead", "indication", size, transport, suffix)[50.0]
                parts.append(
                    within(value, packets - 0.01, packets + 0.01, f"{transport}, {size} B at 50 kb/s: overhead")
                )
        return every(parts)

    return beside_slow(data, measure)


#: TCP, with Nagle's algorithm off and on, by the experiment that has it.
NAGLE = {"Nagle off": "congestion", "Nagle on": "congestion-nagle"}


def tcp_queues_beyond_the_link(data: Data) -> Finding:
    """8t."""

    def measure(experiment: str) -> Finding:
        parts = []
        for size in SIZES:
            onset = _onset_of(data.rows(experiment, kind="indication", size_bytes=size, transport="TCP"))
            parts.append(within(paired(float, onset), 900, 1100, f"{size} B, onset over TCP (kb/s)"))
        return every(parts)

    return either({name: measure(experiment) for name, experiment in NAGLE.items()}, "TCP with")


def tcp_load_saturates(data: Data) -> Finding:
    """8u."""

    def measure(experiment: str) -> Finding:
        parts = []
        for size in SIZES:
            at: dict[str, Any] = {"kind": "indication", "size_bytes": size, "transport": "TCP", "offered_kbps": 1500}
            load = data.estimate(experiment, "origin_load_bps", **at).scaled(1e-3)
            parts.append(within(load, 900, 1100, f"{size} B at 1500 kb/s, load of the MN (kb/s)"))
        return every(parts)

    return either({name: measure(experiment) for name, experiment in NAGLE.items()}, "TCP with")


def tcp_has_less_overhead(data: Data) -> Finding:
    """8v."""

    def measure(suffix: str) -> Finding:
        return either({name: less(suffix, experiment) for name, experiment in NAGLE.items()}, "TCP with")

    def less(suffix: str, experiment: str) -> Finding:
        parts = []
        for size in SIZES:
            at: dict[str, Any] = {"kind": "indication", "size_bytes": size, "offered_kbps": 500}
            for column, what, scale in (
                ("overhead", "MIH packets a message", 1.0),
                ("load_bps", "load of both ends (kb/s)", 1e-3),
            ):
                udp = data.by_replication(_experiment(FREE, suffix), column, transport=FREE, **at)
                tcp = data.by_replication(experiment, column, transport="TCP", **at)
                more = paired(lambda a, b: b - a, tcp, udp).scaled(scale)
                parts.append(positive(more, f"{size} B at 500 kb/s: {what} over UDP less over TCP"))
        return every(parts)

    return beside_slow(data, measure)


def limiter_needs_tuning(data: Data) -> Finding:
    """8r."""

    def measure(suffix: str) -> Finding:
        parts = []
        header_bytes = 48  # UDP and IPv6
        for tokens, limit in ((200, LIMIT_200), (50, LIMIT_50)):
            small, large = (
                data.by_replication(
                    _experiment(limit, suffix), "origin_load_bps", kind="indication", size_bytes=size,
                    transport=limit, offered_kbps=1500,
                )
                for size in SIZES
            )  # fmt: skip
            what = f"{tokens} tokens/s at 1500 kb/s: load with 500 B over that with 100 B"
            law = exact((500 + header_bytes) / (100 + header_bytes))
            ratio = paired(lambda a, b: b / a, small, large)
            parts.append(by_law(within(ratio, 2, math.inf, what), within(law, 2, math.inf, what)))
        return every(parts)

    return beside_slow(data, measure)


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
    limited = [beside_slow(data, partial(_worst_limited, worst, limit)) for limit in (LIMIT_200, LIMIT_50)]
    return every([either(tcp, "Nagle"), *limited])


def _worst_limited(worst: Callable[[str, str], Finding], limit: str, suffix: str) -> Finding:
    return worst(f"congestion{suffix}", limit)
