"""The study's code: settings that are computed, closed forms of figures, checks, and the packets of the charts.

The published statements are measured in statements.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from roamsim.pictures.sequence import Packet
from roamsim.study import Check, Data
from roamsim.theory import enumeration, mih_tcp, mih_udp
from roamsim.theory.mih_udp import Timing

PROCESSING_S = 0.2  # first round
ROUND_TWO_TIMEOUT_S = 0.2
MIN_RTO_S = 0.2
MESSAGE_BYTES = 200 + 40 + 8  # with the headers of IPv6 and UDP
INTERVAL_S = 0.5

# Settings of dimensions and charts --------------------------------------------------------------------------------


def loss_of_percent(percent: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Loss given in percent, so that figures can name it so."""
    return {"link.core.loss.probability": percent / 100}


def delay_of_rtt(rtt_s: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Half of the round trip on the wire; access to the radio channel comes on top."""
    return {"link.core.delay": f"{round(rtt_s * 5e8)}ns"}


def message_size(size_bytes: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The size of every message."""
    return {"signalling.mih.message_size": f"{size_bytes}B"}


def interval_of_load(offered_kbps: float, labels: Mapping[str, Any]) -> dict[str, Any]:
    """The mean interval between messages that offers a load, counted in MIH messages without headers."""
    mean_s = 8 * labels["size_bytes"] / (offered_kbps * 1e3)
    return {"signalling.mih.interval.mean": f"{round(mean_s * 1e9)}ns"}


def interval_of_share(share: float, labels: Mapping[str, Any]) -> dict[str, Any]:
    """The mean interval between messages that come at a share of the token rate."""
    tokens_per_s = float(labels["limit"].split()[2])
    return {"signalling.mih.interval.mean": f"{round(1e9 / (share * tokens_per_s))}ns"}


#: MIH timeouts of 2 RTT, the end of the published range, by message size. The RTT is a request's delay without load.
TWO_RTT_MS = {100: 45, 500: 59}


def _in_congestion(transport: str, timeout_ms: int) -> dict[str, Any]:
    if transport == "TCP":
        tcp = {"protocol": "tcp", "mss": "1280B", "min_rto": "200ms", "max_rto": "1s"}
        return {"signalling.mih.transport": {**tcp, "nagle": False, "delayed_ack": False}}
    settings: dict[str, Any] = {
        "signalling.mih.acknowledgement": {"timeout": f"{timeout_ms}ms", "retransmissions": 2}
    }
    if "tokens" in transport:
        rate = transport.split()[1]
        settings["signalling.mih.rate_limit"] = {"bucket": 200, "rate": f"{rate}/s", "queue": 200}
    return settings


def transport_in_congestion(transport: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """A transport of the congestion runs; the MIH timeout is 2 RTT."""
    return _in_congestion(transport, TWO_RTT_MS[labels["size_bytes"]])


def slow_transport_in_congestion(transport: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The same with an MIH timeout beyond the published range."""
    return _in_congestion(transport, 200)


def transport_among_stations(transport: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """A transport of the second round, in a cell of background stations."""
    return {} if transport == "UDP" else _in_congestion(transport, 200)


def timeout_behind_limit(timeout: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """The MIH timeout of requests behind a token bucket, 2 RTT or 200 ms."""
    two_rtt_ms = TWO_RTT_MS[int(labels["limit"].split()[0])]
    timeout_ms = two_rtt_ms if timeout == "2 RTT" else 200
    return {"signalling.mih.acknowledgement": {"timeout": f"{timeout_ms}ms", "retransmissions": 2}}


def processing_time(processing_s: float, labels: Mapping[str, Any]) -> dict[str, Any]:
    """The responder's processing time; an indication has none."""
    if labels["kind"] == "indication":
        return {}
    return {"signalling.mih.processing_time": f"{round(processing_s * 1e3)}ms"}


def validity(policy: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """When a requester stops accepting; an indication has no response, so its runs serve all policies."""
    return {} if labels["kind"] == "indication" else {"signalling.mih.acknowledgement.validity": policy}


def delay_of_path(one_way_ms: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """One-way delay of the isolated transactions."""
    return {"link.path.delay": f"{one_way_ms}ms"}


def background_stations(count: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """So many background stations in the cell, each with its flow."""
    return {"node.background-{i}.count": count}


def flow_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """One of the eight message flows."""
    settings: dict[str, Any] = {}
    if values["kind"] == "request":
        settings |= {
            "signalling.mih.kind": "request",
            "signalling.mih.from": "pos",
            "signalling.mih.to": "mn",
            "signalling.mih.processing_time": "200ms",
        }
    over_tcp = values["transport"]["id"] == "tcp"
    if over_tcp:
        settings["signalling.mih.transport"] = {
            "protocol": "tcp",
            "mss": "1280B",
            "min_rto": "200ms",
            "max_rto": "200ms",
            "nagle": False,
            "delayed_ack": False,
        }
    if values["ack"]["id"]:
        settings["signalling.mih.acknowledgement"] = {
            "timeout": "600ms" if over_tcp else "100ms",
            "retransmissions": 2,
        }
    return settings


#: Timeout of the charts of late ACKs, and how many of it a transaction takes.
CHART_TIMEOUT_S = 0.2
CHART_TIMEOUTS = 3


def late_ack_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """A single request with MIH ACK at one of three round trip times, whose first copies are lost."""
    return {
        **delay_of_rtt(values["regime"]["rtt"], {}),
        "link.core.loss": [],
        "link.core.outages": [{"start": f"{at}s", "duration": "50ms"} for at in values["regime"]["losses"]],
        "signalling.mih.kind": "request",
        "signalling.mih.from": "pos",
        "signalling.mih.to": "mn",
        "signalling.mih.interval": "500ms",
        "signalling.mih.processing_time": "0s",
        "signalling.mih.acknowledgement": {"timeout": "200ms", "retransmissions": 2, "validity": "strict"},
        "signalling.mih.stop": "5100ms",
        "scenario.duration": "10s",
    }


def timeouts(_values: Mapping[str, Any], packets: Sequence[Packet]) -> list[tuple[str, float, str]]:
    """The sender's timeouts of a chart of a late ACK, and the end of a transaction that fails."""
    requests = [one for one in packets if one.source == "pos" and one.kind == "message"]
    start_s = min(one.sent_s for one in requests)
    answers = [one.received_s for one in packets if one.destination == "pos" and one.received_s is not None]
    first_s = min(answers, default=math.inf)
    marks = []
    for n in range(1, CHART_TIMEOUTS + 1):
        at_s = start_s + n * CHART_TIMEOUT_S
        if first_s < at_s:
            break
        marks.append(("pos", at_s, f"timeout {n}"))
    if len(marks) == CHART_TIMEOUTS:
        marks[-1] = ("pos", marks[-1][1], f"timeout {CHART_TIMEOUTS}: transaction fails")
    return marks


# Alternatives: settings by the labels of a point -------------------------------------------------------------------


def _over_tcp(labels: Mapping[str, Any], **settings: Any) -> dict[str, Any]:
    """Settings of TCP, for points over TCP; where transports are not varied all are."""
    if labels.get("transport", "TCP") != "TCP":
        return {}
    return {f"signalling.mih.transport.{key}": value for key, value in settings.items()}


def one_way(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP whose ACKs go alone, by a connection for each direction."""
    return _over_tcp(labels, one_way_connections=True)


def delayed_ack(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP that delays ACKs."""
    return _over_tcp(labels, delayed_ack=True)


def nagle(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP with Nagle's algorithm."""
    return _over_tcp(labels, nagle=True)


def nagle_and_delayed_ack(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP with both."""
    return _over_tcp(labels, nagle=True, delayed_ack=True)


def reno(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP Reno with an initial window of one segment, as ns-2's."""
    return _over_tcp(labels, variant="reno", initial_window=1)


def longer_max_rto(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP that doubles its timer further than the second round's 1 s."""
    return _over_tcp(labels, max_rto="3s")


def reno_nagle_and_delayed_ack(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP with the habits of ns-2's together, but for one-way agents."""
    return _over_tcp(labels, variant="reno", initial_window=1, nagle=True, delayed_ack=True)


def _with_mih_ack(labels: Mapping[str, Any], timeout_ms: int) -> dict[str, Any]:
    """Another MIH timeout, for points with MIH ACK."""
    acknowledged = labels["transport"] == "UDP with MIH ACK"
    return {"signalling.mih.acknowledgement.timeout": f"{timeout_ms}ms"} if acknowledged else {}


def shorter_timeout(labels: Mapping[str, Any]) -> dict[str, Any]:
    """An MIH timeout of 1.5 RTT among background stations."""
    return _with_mih_ack(labels, 150)


#: RTT of the far server, the longest published one.
FAR_RTT_S = 0.5


def far_server(labels: Mapping[str, Any]) -> dict[str, Any]:
    """A server at the longest published RTT; the MIH timeout stays 2 RTT."""
    return {**delay_of_rtt(FAR_RTT_S, labels), **_with_mih_ack(labels, round(2e3 * FAR_RTT_S))}


def category_of_video(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Priority by the access category of video: DSCP cs4, by RFC 8325."""
    return {"signalling.mih.dscp": "cs4"} if labels["priority"] == "voice" else {}


# Closed forms of figures ------------------------------------------------------------------------------------------


@cache
def _one_way_s(data: Data) -> float:
    """One way from MN to PoS, radio access included: what an indication took over UDP where nothing was lost."""
    return data.estimate("first-udp", "mean_delay_s", kind="indication", mih_ack="without MIH ACK", loss=0.0).mean


def _first_timing(row: Mapping[str, Any], data: Data) -> Timing | None:
    """The times of the first round over UDP; None without MIH ACK."""
    timeout_s = {"MIH ACK, 0.1 s": 0.1, "MIH ACK, 0.3 s": 0.3}.get(row["mih_ack"])
    return None if timeout_s is None else Timing(2 * _one_way_s(data), timeout_s, PROCESSING_S)


def _policy(row: Mapping[str, Any]) -> mih_udp.Validity:
    """The policy of a row's experiment; `acked` where it is not varied."""
    return row["validity"] if row["experiment"] != "first-udp" else "acked"


def udp_delay(row: Mapping[str, Any], _column: str, data: Data) -> float:
    """Mean delay over UDP in the first round, in seconds."""
    timing = _first_timing(row, data)
    if timing is None:
        return mih_udp.unacknowledged_delay_s(Timing(2 * _one_way_s(data), 1.0, PROCESSING_S), row["kind"])
    if row["kind"] == "indication":
        return mih_udp.indication_delay_s(row["loss"], timing)
    return mih_udp.request_delay_s(row["loss"], timing, _policy(row))


def udp_success(row: Mapping[str, Any], _column: str, data: Data) -> float:
    """Success rate over UDP in the first round."""
    timing = _first_timing(row, data)
    if timing is None:
        return mih_udp.unacknowledged_success(row["loss"], row["kind"])
    if row["kind"] == "indication":
        return mih_udp.indication_success(row["loss"])
    return mih_udp.request_success(row["loss"], timing, _policy(row))


def udp_overhead(row: Mapping[str, Any], _column: str, data: Data) -> float:
    """MIH overhead over UDP in the first round."""
    timing = _first_timing(row, data)
    if timing is None:
        return mih_udp.unacknowledged_overhead()
    if row["kind"] == "indication":
        return mih_udp.indication_overhead(row["loss"], timing)
    return mih_udp.request_overhead(row["loss"], timing, _policy(row))


def udp_load(row: Mapping[str, Any], column: str, data: Data) -> float | None:
    """Load and throughput over UDP without MIH ACK, in bit/s: each message is sent once, a response if asked for."""
    if _first_timing(row, data) is not None:
        return None
    one_bps = 8 * MESSAGE_BYTES / INTERVAL_S
    arrives = 1 - row["loss"]
    load_bps = one_bps * (1 + arrives if row["kind"] == "request" else 1)
    return load_bps if column == "load_bps" else load_bps * arrives


def tcp_delay_bound(row: Mapping[str, Any], _column: str, data: Data) -> float:
    """Lower bound of the mean delay over TCP, in seconds."""
    max_rto_s = float(row["max_rto"].split()[1])
    # A TCP header is 12 octets longer than a UDP header: 10 us on the way.
    one_way_s = _one_way_s(data)
    if row["kind"] == "indication":
        return mih_tcp.isolated_delay_s(row["loss"], one_way_s, MIN_RTO_S, max_rto_s)
    return mih_tcp.isolated_request_delay_s(row["loss"], 2 * one_way_s, PROCESSING_S, MIN_RTO_S, max_rto_s)


@cache
def _second_rtt_s(rtt_s: float, data: Data) -> float:
    """Round trip of the second round: the wire's, and twice the radio access that runs without loss show.

    Alternatives run fewer round trip times. The access is the same at each.
    """
    run = [float(label) for label in data.labels("rtt-plain", "rtt")]
    near_s = rtt_s if rtt_s in run else run[0]
    at: dict[str, Any] = {"kind": "indication", "transport": "UDP", "loss_percent": 0, "rtt": near_s}
    return rtt_s - near_s + 2 * data.estimate("rtt-plain", "mean_delay_s", **at).mean


def rtt_ack(row: Mapping[str, Any], column: str, data: Data) -> float:
    """Delay (s), success or overhead over UDP with MIH ACK at a round trip time."""
    loss = row["loss_percent"] / 100
    timing = Timing(_second_rtt_s(row["rtt"], data), ROUND_TWO_TIMEOUT_S)
    if row["kind"] == "indication":
        return {
            "mean_delay_s": mih_udp.indication_delay_s(loss, timing),
            "success_rate": mih_udp.indication_success(loss),
            "overhead": mih_udp.indication_overhead(loss, timing),
        }[column]
    return {
        "mean_delay_s": mih_udp.request_delay_s(loss, timing, row["validity"]),
        "success_rate": mih_udp.request_success(loss, timing, row["validity"]),
        "overhead": mih_udp.request_overhead(loss, timing, row["validity"]),
    }[column]


def rtt_plain(row: Mapping[str, Any], column: str, data: Data) -> float | None:
    """Delay (s), success or overhead over UDP without MIH ACK at a round trip time; none for TCP."""
    if row["transport"] != "UDP":
        return None
    if column == "overhead":
        return mih_udp.unacknowledged_overhead()
    if column == "success_rate":
        return mih_udp.unacknowledged_success(row["loss_percent"] / 100, row["kind"])
    return mih_udp.unacknowledged_delay_s(Timing(_second_rtt_s(row["rtt"], data), 1.0), row["kind"])


# Checks -----------------------------------------------------------------------------------------------------------


def isolated_checks(data: Data) -> list[Check]:
    """Success, delay and overhead of isolated transactions beside the exact values and their standard errors."""
    checks = []
    points: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in data.rows("isolated"):
        if row["kind"] == "indication" and row["processing_s"] > 0:
            continue  # the same runs again
        points.setdefault((row["kind"], row["processing_s"], row["one_way_ms"], row["loss"]), []).append(row)
    for (kind, processing_s, one_way_ms, loss), rows in points.items():
        what, _, policy = kind.partition(", ")
        timing = Timing(2e-3 * one_way_ms, 0.1, processing_s)
        exact = enumeration.exact(what, loss, timing, policy or "acked")
        messages = sum(row["messages"] for row in rows)
        successes = sum(row["successes"] for row in rows)
        errors = exact.standard_errors(messages)
        where = f"{kind}, P {processing_s:g} s, one way {one_way_ms} ms, p {loss:g}"
        checks.append(Check(f"success of {where}", successes / messages, exact.success, errors[0]))
        overhead = sum(row["mih_packets"] for row in rows) / sum(row["information_messages"] for row in rows)
        checks.append(Check(f"overhead of {where}", overhead, exact.overhead, errors[2]))
        if successes and not math.isnan(exact.delay_s):
            total_s = sum(row["mean_delay_s"] * row["successes"] for row in rows if row["successes"])
            checks.append(Check(f"delay (s) of {where}", total_s / successes, exact.delay_s, errors[1]))
    return checks


# Sequence charts --------------------------------------------------------------------------------------------------


MIH_MESSAGE = re.compile(r"(?P<part>part of )?(?P<ack>ACK of )?MIH_\w+\.(?P<opcode>\w+) tid (?P<tid>\d+)")


def describe_packet(description: str, number: Callable[[str], int]) -> tuple[str, str] | None:
    """A packet's label and kind in a chart, from the words of its trace.

    "MIH_Link_Going_Down.indication tid 7 ACK-Req" becomes "indication 1" where it is the first transaction of the
    chart: `number` counts them, since the registration before the chart has taken transaction identifiers. Over TCP
    the messages stand in brackets behind the segment, and a segment without any is the transport's own.
    """
    messages = list(MIH_MESSAGE.finditer(description))
    if not messages:
        return "TCP ACK", "transport"
    labels = [
        f"{m['part'] or ''}{'MIH ACK of ' if m['ack'] else ''}{m['opcode']} {number(m['tid'])}" for m in messages
    ]
    return " + ".join(labels), "acknowledgement" if all(m["ack"] for m in messages) else "message"
