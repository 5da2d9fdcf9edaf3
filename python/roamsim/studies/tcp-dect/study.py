"""What the study `tcp-dect` computes: settings of points, measurements of finished runs, closed forms and checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from roamsim import statistics
from roamsim.statistics import Estimate, student_t_quantile
from roamsim.study import Check, Data
from roamsim.study.data import Row
from roamsim.theory import dect, dect_mac

from .cases import PUBLISHED_SUBFIELD_ERRORS, SEGMENTS_PER_BEARER_S, air_interface, ip_channel
from .words import ber_words, frames_words

SEGMENT_BITS = 8 * 512
#: Delays at which the share of segments that wait longer is kept.
DELAYS_S = (0.05, 0.1, 0.2, 0.5, *range(1, 121))
#: Width of the parts in which delays over time are averaged.
PART_S = 0.5

Columns = Mapping[str, Any]
Tables = Mapping[str, Columns]


# Settings ---------------------------------------------------------------------------------------------------------


def offered_rate(segments_per_s: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Segments generated at each end."""
    interval = f"{round(1e9 / segments_per_s)}ns"
    return {"flow.data.application.mean_interval": interval}


def telephones(offered_erlang: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Telephones alone."""
    return {"dect.air.terminals": [{"type": "p32", "offered_erlang": offered_erlang}]}


#: The least RTO of the choices that change it; the chosen one is 2 s.
LEAST_RTO = {"minimum RTO 1 s": "1s", "minimum RTO 0.2 s": "200ms"}


def held_timer(timer: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP's RTO as it adapts, or held at the least value that it has with an open choice."""
    if timer == "adapting":
        return {}
    least = LEAST_RTO.get(labels["choice"], "2s")
    return {"flow.data.transport.max_rto": least, "flow.data.transport.initial_rto": least}


# Measurements of a run --------------------------------------------------------------------------------------------


def transfer(tables: Tables) -> dict[str, list[Any]]:
    """Throughput of a run beside what its bearers allow: one row.

    `throughput` (TH) is the mean of both directions, `throughput_teo` 5 for each bearer, `throughput_ideal` (TH_id)
    the smaller of this and what was offered, all in segments/s; delays are means over the directions.
    """
    flows, access = tables["flows"], tables["dect"]
    throughput = float(np.mean(flows["goodput_bps"])) / SEGMENT_BITS
    seconds = np.asarray(flows["stop_s"]) - np.asarray(flows["start_s"])
    offered = float(np.mean(np.asarray(flows["sent_packets"]) / seconds))
    bearers = float(access["mean_bearers"][0])
    teo = SEGMENTS_PER_BEARER_S * bearers
    both = {
        name: int(access[f"{name}_up"][0]) + int(access[f"{name}_down"][0])
        for name in (
            "packets",
            "attempts",
            "discarded",
            "lost_with_bearer",
            "fragments_repeated",
            "retransmission_requests",
            "dlc_frames_delivered",
            "dlc_frames_dropped",
        )
    }
    row = {
        "throughput": throughput,
        "throughput_teo": teo,
        "throughput_ideal": min(offered, teo),
        "offered_measured": offered,
        "ratio": throughput / teo if teo > 0 else math.nan,
        "mean_bearers": bearers,
        "no_bearer_share": float(access["no_bearer_share"][0]),
        "occupied_channels": float(access["occupied_channels"][0]),
        "timeouts": int(np.sum(flows["timeouts"])),
        "fast_retransmits": int(np.sum(flows["fast_retransmits"])),
        "retransmissions": int(np.sum(flows["retransmissions"])),
        "segments_sent": int(np.sum(flows["segments_sent"])),
        "mean_delay_s": float(np.mean(flows["mean_delay_s"])),
        "p95_delay_s": float(np.mean(flows["p95_delay_s"])),
        "p99_delay_s": float(np.mean(flows["p99_delay_s"])),
        "measured_s": float(access["measured_s"][0]),
        **both,
    }
    return {name: [value] for name, value in row.items()}


def delays(tables: Tables) -> dict[str, list[Any]]:
    """Delays of all segments of a run, of both directions: one row, with the share beyond each of `DELAYS_S`."""
    delay_s = np.asarray(tables["messages"]["delay_s"])
    row: dict[str, Any] = {
        "segments": len(delay_s),
        "mean_s": float(np.mean(delay_s)),
        "median_s": float(np.median(delay_s)),
        "p95_s": float(np.quantile(delay_s, 0.95)),
        "p99_s": float(np.quantile(delay_s, 0.99)),
        "longest_s": float(np.max(delay_s)),
        "beyond_5_means": float(np.mean(delay_s > 5 * np.mean(delay_s))),
        "timeouts": int(np.sum(tables["flows"]["timeouts"])),
        "mean_bearers": float(tables["dect"]["mean_bearers"][0]),
    }
    row |= {f"beyond_{at:g}_s": float(np.mean(delay_s > at)) for at in DELAYS_S}
    return {name: [value] for name, value in row.items()}


def delays_over_time(tables: Tables) -> dict[str, list[Any]]:
    """Delays by the time at which segments were generated: one row each half second."""
    messages = tables["messages"]
    part = (np.asarray(messages["generated_s"]) / PART_S).astype(int)
    delay_s = np.asarray(messages["delay_s"])
    parts = np.unique(part)
    timeouts = int(np.sum(tables["flows"]["timeouts"]))
    return {
        "from_s": [float(p * PART_S) for p in parts],
        "segments": [int(np.sum(part == p)) for p in parts],
        "mean_delay_s": [float(np.mean(delay_s[part == p])) for p in parts],
        "longest_delay_s": [float(np.max(delay_s[part == p])) for p in parts],
        "timeouts": [timeouts] * len(parts),
    }


def first_and_last(tables: Tables) -> dict[str, list[Any]]:
    """How fast datagrams of a segment's size follow each other through the DLC, and the least time of one."""
    messages = tables["messages"]
    delivered_s = np.asarray(messages["delivered_s"])
    return {
        "segments_per_s": [(len(delivered_s) - 1) / float(delivered_s[-1] - delivered_s[0])],
        "shortest_delay_s": [float(np.min(messages["delay_s"]))],
    }


# Closed forms -----------------------------------------------------------------------------------------------------


def closed_forms(data: Data) -> list[Check]:
    """What must agree exactly, whatever the open choices are (docs/models/dect.md)."""
    checks = []
    for factor in map(float, data.labels("ip-channel", "ber_factor")):
        form = ip_channel(factor)
        where = f"at {ber_words(factor)}"
        for what, column, exact in (
            ("packets a bearer and frame", "received_per_bearer_frame_up", form.packets_per_frame),
            ("attempts a packet", lambda row: row["attempts_up"] / row["packets_up"], form.mean_attempts),
            ("packets discarded", lambda row: row["discarded_up"] / row["packets_up"], form.discarded),
        ):
            checks.append(_check(f"{what} {where}", data.estimate("ip-channel", column, ber_factor=factor), exact))
    for (state, ber_factor), (published, half_digit) in PUBLISHED_SUBFIELD_ERRORS.items():
        ratio = data.estimate("subfields", subfield_error_ratio, state=state, ber_factor=ber_factor)
        where = f"in the {state} state at {ber_words(ber_factor)}"
        # Half of half a digit as the standard error of what is printed.
        checks.append(_check(f"subfield error ratio {where}", ratio, published, half_digit / 2))
    for row in data.rows("window"):
        # The first window finds an empty loop, and the measurement ends within one.
        seconds = row["measured_s"]
        exact = dect.window_limit(10, int(row["ack_delay"]))
        where = f"with acknowledgements after {frames_words(row['ack_delay'])}"
        checks.append(
            Check(f"fragments a frame {where}", row["fragments_up"] / (100 * seconds), exact, 63 / (100 * seconds))
        )
    for factor in map(float, data.labels("saturated", "ber_factor")):
        what = f"TH / (5 N) of 5 bearers at {ber_words(factor)}"
        estimate = data.estimate("saturated", _saturated, ber_factor=factor)
        # At the ends of the measurement up to a window of 32 segments has been delivered without its ACKs, or its
        # ACKs without it: a quarter of it is taken as the standard error, of four DLC frames for each segment.
        frames = data.estimate("saturated", "dlc_frames_delivered", ber_factor=factor).mean
        checks.append(_check(what, estimate, air_interface(factor), estimate.mean * 4 * 8 / frames))
    for threshold in data.labels("lost-bearers", "threshold"):
        estimate = data.estimate("lost-bearers", "mean_bearers", threshold=threshold)
        exact = dect_mac.mean_bearers(10, int(threshold))
        checks.append(_check(f"mean bearers, restored below {threshold}", estimate, exact))
    for erlang in map(float, data.labels("telephones", "erlang")):
        estimate = statistics.mean(data.samples("telephones", "blocked_share", type="P32", erlang=erlang))
        checks.append(_check(f"calls lost at {erlang:g} E", estimate, dect_mac.erlang_b(11, erlang)))
    return checks


def _check(what: str, estimate: Estimate, exact: float, granularity: float = 0.0) -> Check:
    """An estimate over replications beside a closed form; no more exact than `granularity`, in the same unit."""
    quantile = student_t_quantile(0.975, estimate.samples - 1)
    return Check(what, estimate.mean, exact, max(estimate.half_width / quantile, granularity))


def _saturated(row: Row) -> float:
    """TH / (5 N) of what the DLC delivered: each segment comes with an ACK, and there are two directions.

    N counts the frames in which a bearer has something to send: a direction runs dry now and then, when all segments
    of its window stand behind those of the other one.
    """
    busy_s = row["attempts"] / 2 / 100
    return float(row["dlc_frames_delivered"] / 4 / (SEGMENTS_PER_BEARER_S * busy_s))


def subfield_error_ratio(row: Row) -> float:
    """The ratio with which packets of four subfields need as many attempts as they did, ten at most, in one state."""
    attempts = (row["attempts_up"] + row["attempts_down"]) / (row["packets_up"] + row["packets_down"])
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        mean = math.fsum(1 - (1 - middle**k) ** dect.SUBFIELDS for k in range(10))
        low, high = (middle, high) if mean < attempts else (low, middle)
    return (low + high) / 2
