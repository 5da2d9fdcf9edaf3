"""The study's code: settings that are computed, what is measured of a run, closed forms and checks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from roamsim import statistics
from roamsim.pictures.sequence import Packet
from roamsim.study import Check, Data
from roamsim.theory import mih_handover, mih_tcp
from roamsim.theory.mih_handover import Chain, Exchange
from roamsim.theory.mih_udp import Validity

#: MIH timeouts over UDP in seconds, and MaxRTO over TCP and SCTP, by transport.
UDP_TIMEOUTS_S = {"UDP 0.1 s": 0.1, "UDP 0.3 s": 0.3}
MAX_RTOS = {"0.2 s": "200ms", "0.5 s": "500ms", "1 s": "1s"}
TCPS = ("TCP 0.2 s", "TCP 0.5 s", "TCP 1 s")

#: Who starts, and how the PoS hears that the link is going down.
STARTS = {
    "mobile": ("mobile_node", "local"),
    "network, local": ("network", "local"),
    "network, remote": ("network", "remote"),
}

#: Messages that have to cross the Wi-Fi cell before the redirection, by who starts.
MESSAGES = {"mobile": 4, "network, local": 3, "network, remote": 4}
MIN_RTO_S = 0.2
#: Of packets, in the experiment `speeds`.
LOSS_OF_SPEEDS = 0.2

# The walk (scenarios/walk.toml).
RADIUS_M, START_M, SPEED_MPS, FACTOR = 50.0, 25.0, 1.0, 1.5
BEACONS_S, MISSED_BEACONS = 0.1, 3
INTERVAL_S = 0.5
PROCESSING_S, SCAN_S = 0.2, 0.6
#: When the mobile node is at the edge of the Wi-Fi cell.
EDGE_S = (RADIUS_M - START_M) / SPEED_MPS

# Times of packets: IPv6 40, UDP 8. A wire's 10 ms and 8 L / 100 Mb/s; 802.11b (clause 18): 192 us of preamble, the
# frame with
# 36 octets at 11 Mb/s, whole microseconds.
WIRE_S, WIRE_BPS = 0.01, 100e6
MESSAGE_BYTES = 200 + 48
#: An ACK: header 8, MIHF IDs of "mn" 5 and "pos-1" 8 octets, headers of IPv6 and UDP.
ACK_BYTES = 8 + 5 + 8 + 48


def wired_s(octets: int, hops: int) -> float:
    """A packet over so many wires."""
    return hops * (WIRE_S + 8 * octets / WIRE_BPS)


def radio_s(octets: int) -> float:
    """A packet over 802.11 at 11 Mb/s, from an idle medium."""
    return 192e-6 + math.ceil(8 * (octets + 36) / 11) * 1e-6


#: MN to PoS1 with a message and back with an ACK; PoS1 to PoS2 and back.
ROUND_TRIP_S = radio_s(MESSAGE_BYTES) + radio_s(ACK_BYTES) + wired_s(MESSAGE_BYTES, 2) + wired_s(ACK_BYTES, 2)
BETWEEN_S = 2 * wired_s(MESSAGE_BYTES, 2)

# Settings of dimensions -------------------------------------------------------------------------------------------


def _loss(of: str, probability: float) -> dict[str, Any]:
    loss = {"model": "bernoulli", "of": of, "during": "link_going_down", "probability": probability}
    return {"wifi.wifi.loss": [loss]}


def loss(percent: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """What the Wi-Fi cell loses of packets, either way, from Link_Going_Down on."""
    return _loss("packets", percent / 100)


def loss_of_attempts(percent: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The same of single attempts, of which a packet has seven."""
    return _loss("attempts", percent / 100)


def transport(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """What carries the messages: UDP with MIH ACK, TCP or SCTP without."""
    protocol, _, time = name.partition(" ")
    if protocol == "UDP":
        timeout = f"{round(1e3 * UDP_TIMEOUTS_S[name])}ms"
        return {"handover.walk.acknowledgement": {"timeout": timeout, "retransmissions": 2}}
    if protocol == "TCP":
        # Every message at once, and every ACK.
        rto = {"min_rto": "200ms", "max_rto": MAX_RTOS[time], "nagle": False, "delayed_ack": False}
        return {"handover.walk.transport": {"protocol": "tcp", "mss": "1280B", **rto}}
    # As TCP, without end of retransmission; heartbeats are left out, which TCP has none of.
    rto = {"rto_min": "200ms", "rto_max": MAX_RTOS[time], "rto_initial": "200ms", "sack_frequency": 1}
    lasting = {"association_max_retrans": 1000, "path_max_retrans": 1000, "heartbeats": False}
    return {"handover.walk.transport": {"protocol": "sctp", **rto, **lasting}}


def start(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Who starts, and by what."""
    initiated_by, notice = STARTS[name]
    return {"handover.walk.initiated_by": initiated_by, "handover.walk.notice": notice}


def validity(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Until when a response is accepted. A dimension behind that of the transport, over UDP."""
    return {"handover.walk.acknowledgement.validity": name}


def factor(value: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """At how many times the power of the edge the link is going down."""
    return {"node.mn.wifi.going_down_factor": value}


def processing(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Where requests take time."""
    return {"handover.walk.from.processing_time": "0s"} if name == "not at PoS1" else {}


def place(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Where the PoS are: behind the router, or at a wire of 1 us beside the AP and the BS."""
    if name != "beside AP and BS":
        return {}
    beside = {"pos-1-wire": "ap", "pos-2-wire": "bs"}
    ends = {f"link.{wire}.between": [at, wire.removesuffix("-wire")] for wire, at in beside.items()}
    return ends | {f"link.{wire}.delay": "1us" for wire in beside}


def entering(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """When the 802.16 network is entered."""
    return {"handover.walk.entry": "after_commitment"} if name == "after the commitment" else {}


# Alternatives: settings by the labels of a point.


def policy_strict(labels: Mapping[str, Any]) -> dict[str, Any]:
    """A requester that stops accepting when it gives up; over UDP, where there is MIH ACK."""
    return validity("strict", labels) if labels["transport"] in UDP_TIMEOUTS_S else {}


def policy_open(labels: Mapping[str, Any]) -> dict[str, Any]:
    """A requester that accepts whatever comes; over UDP, where there is MIH ACK."""
    return validity("open", labels) if labels["transport"] in UDP_TIMEOUTS_S else {}


def lost_attempts(labels: Mapping[str, Any]) -> dict[str, Any]:
    """The loss of a point as that of single attempts."""
    return loss_of_attempts(labels["loss"], labels)


def one_way(labels: Mapping[str, Any]) -> dict[str, Any]:
    """TCP whose ACKs go alone, by a connection for each direction; over TCP."""
    return {"handover.walk.transport.one_way_connections": True} if labels["transport"] in TCPS else {}


def one_way_packets(labels: Mapping[str, Any]) -> dict[str, Any]:
    """The same with a window that counts packets, each of one message, as ns-2's `Agent/TCP` has it; over TCP."""
    mss = {"handover.walk.transport.mss": "200B"} if labels["transport"] in TCPS else {}
    return one_way(labels) | mss


def places_beside(labels: Mapping[str, Any]) -> dict[str, Any]:
    """The PoS beside AP and BS."""
    return place("beside AP and BS", labels)


def speed(mps: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """Walks at other speeds, which begin 20 m and 5 s before the edge, or 30 m behind the AP.

    Before any factor matters.
    """
    start_m = round(max(-30.0, RADIUS_M - 20 - 5 * mps), 3)
    return {
        "node.mn.position.x": f"{start_m}m",
        "node.mn.motion.speed": f"{mps}m/s",
        "node.mn.motion.to.x": f"{round(RADIUS_M + 5 * mps, 3)}m",
        "scenario.duration": f"{round((RADIUS_M - start_m) / mps + 5, 3)}s",
    }


def wifi_stations(count: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """So many stations in the Wi-Fi cell, each of which sends 0.8 Mb/s."""
    return {"node.wifi-{i}.count": count}


def wimax_stations(count: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """So many stations in the 802.16 cell, each of which sends 0.8 Mb/s."""
    return {"node.wimax-{i}.count": count}


def phase(number: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """When the mobile node comes into reach of the 802.16 cell: 0.1 s later each, over an interval of descriptors."""
    return {"node.mn.position.x": f"{510 + 0.1 * number:g}m"}


def flow(values: Mapping[str, Any]) -> dict[str, Any]:
    """The start of a chart."""
    lost = loss(100, {}) if values["piece"].get("lost") else {}
    return start(values["piece"]["start"], {}) | transport("UDP 0.3 s", {}) | lost


# Measurements -----------------------------------------------------------------------------------------------------


def handover(tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """One row a run: what became of the handover, what its steps took where it succeeded, what the stream lost.

    The resources' availability is everything from the start up to the commitment but the scan; the handover request
    what follows up to the redirection.
    """
    rows = tables["mih_handovers"]
    flows = tables["flows"]
    stream = list(flows["name"]).index("stream")
    row = {name: values[-1] for name, values in rows.items()} if len(rows["outcome"]) else {}
    succeeded = row.get("outcome") == "committed"
    failed = row.get("outcome") == "link_down"
    nan = math.nan
    times = {name: value for name, value in row.items() if name.endswith("_s")}
    steps = dict.fromkeys(("notice_s", "scan_s", "availability_s", "request_s", "redirect_s"), nan)
    if succeeded:
        steps = {
            "notice_s": times["started_s"] - times["going_down_s"],
            "scan_s": times["scan_s"],
            "availability_s": times["commit_asked_s"] - times["started_s"] - times["scan_s"],
            "request_s": times["redirect_begun_s"] - times["commit_asked_s"],
            "redirect_s": times["redirect_s"],
        }
    handover_s = times.get("handover_s", nan)
    given_up = row.get("given_up_by") in ("message", "response", "notice")
    return {
        name: [value]
        for name, value in {
            "handovers": 1,
            "succeeded": int(succeeded),
            "failed": int(not succeeded),
            "given_up": int(given_up and not succeeded),
            "out_of_time": int(not given_up and not succeeded),
            "going_down_s": times.get("going_down_s", nan),
            "handover_s": handover_s,
            "success_s": handover_s if succeeded else nan,
            "failure_s": handover_s if failed else nan,
            **steps,
            "signalling_s": steps["notice_s"] + steps["availability_s"] + steps["request_s"],
            "redirected_s": times.get("redirected_s", nan),
            "late": sum(tables["mih_users"]["late"]),
            "lost_packets": int(flows["lost_packets"][stream]),
        }.items()
    }


def network_entry(tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """One row a run: how long network entry took from the first map that was heard to Link_Up."""
    events = tables["link_events"]
    at = {"link_detected": math.nan, "link_up": math.nan}
    for time_s, event, node in zip(events["time_s"], events["event"], events["node"], strict=True):
        if node == "mn" and event in at and math.isnan(at[event]):
            at[event] = time_s
    return {"entry_s": [at["link_up"] - at["link_detected"]]}


# Closed forms -----------------------------------------------------------------------------------------------------


@cache
def exchanges(start_name: str, transport_name: str) -> tuple[Exchange, ...]:
    """The steps over the Wi-Fi cell."""
    initiated_by, notice = STARTS[start_name]
    steps = mih_handover.exchanges(
        "mobile_node" if initiated_by == "mobile_node" else "network",
        "remote" if notice == "remote" else "local",
        timeout_s=UDP_TIMEOUTS_S[transport_name],
        round_trip_s=ROUND_TRIP_S,
        processing_s=(PROCESSING_S, PROCESSING_S, PROCESSING_S),
        between_s=BETWEEN_S,
        scan_s=SCAN_S,
    )
    return tuple(steps)


@cache
def law(start_name: str, transport_name: str, percent: float, policy: Validity = "acked") -> Chain:
    """The chain of exchanges over UDP."""
    return mih_handover.chain(percent / 100, exchanges(start_name, transport_name), policy)


def signalled_s(start_name: str, transport_name: str, data: Data) -> float:
    """What is needed of the Wi-Fi cell without loss: from Link_Going_Down up to the redirection."""
    where: dict[str, Any] = {"start": start_name, "transport": transport_name, "loss": 0}
    return data.estimate("handovers", "signalling_s + scan_s", **where).mean


def left_s(factor_of_power: float, mps: float) -> float:
    """From where the link is going down to the edge; power falls by the square of distance."""
    return RADIUS_M * (1 - 1 / math.sqrt(factor_of_power)) / mps


def _without_loss_s(start_name: str, transport_name: str, data: Data) -> float:
    where: dict[str, Any] = {"start": start_name, "transport": transport_name, "loss": 0}
    return data.estimate("handovers", "handover_s", **where).mean


def success_form(row: Mapping[str, Any], _column: str, _data: Data) -> float | None:
    """The success rate over UDP; none over TCP."""
    if row["transport"] not in UDP_TIMEOUTS_S:
        return None
    return law(row["start"], row["transport"], row["loss"], row.get("validity", "acked")).success


def success_delay_form(row: Mapping[str, Any], _column: str, data: Data) -> float | None:
    """The mean delay of successful handovers over UDP: that without loss, and what repetitions add."""
    if row["transport"] not in UDP_TIMEOUTS_S:
        return None
    at, without = (law(row["start"], row["transport"], percent).delay_s for percent in (row["loss"], 0))
    return _without_loss_s(row["start"], row["transport"], data) + at - without


def in_time_form(row: Mapping[str, Any], _column: str, data: Data) -> float | None:
    """The success rate over UDP of a walk that may be too fast, where the mobile node starts and 20 % are lost."""
    if row["transport"] not in UDP_TIMEOUTS_S:
        return None
    return mih_handover.in_time(
        LOSS_OF_SPEEDS,
        exchanges("mobile", row["transport"]),
        without_loss_s=signalled_s("mobile", row["transport"], data),
        left_s=left_s(float(row["factor"]), float(row["speed"])),
        beacons_s=BEACONS_S,
    )


def tcp_bound_s(row: Mapping[str, Any], data: Data) -> float:
    """The least mean delay of handovers over TCP: that without loss, and for each message what it waits by itself."""
    name = row["transport"]
    max_rto_s = float(name.split()[1])
    waits_s = mih_tcp.isolated_delay_s(row["loss"] / 100, 0.0, MIN_RTO_S, max_rto_s)
    return _without_loss_s(row["start"], name, data) + MESSAGES[row["start"]] * waits_s


def going_down_at_s() -> float:
    """When the mobile node is where its link is going down, before the next beacon tells it."""
    return (RADIUS_M / math.sqrt(FACTOR) - START_M) / SPEED_MPS


def failure_delay_form(row: Mapping[str, Any], _column: str, data: Data) -> float | None:
    """The mean delay of failed handovers: up to Link_Down, and the redirection."""
    left = (going_down_at_s(), EDGE_S)
    down_s = mih_handover.link_down_after_s(BEACONS_S, MISSED_BEACONS, left)
    redirect_s = data.estimate("handovers", "redirect_s", start=row["start"], loss=0).mean
    return down_s + redirect_s


def all_delay_form(row: Mapping[str, Any], column: str, data: Data) -> float | None:
    """The mean delay of all handovers over UDP."""
    if row["transport"] not in UDP_TIMEOUTS_S:
        return None
    success = law(row["start"], row["transport"], row["loss"]).success
    committed_s, failed_s = success_delay_form(row, column, data), failure_delay_form(row, column, data)
    assert committed_s is not None and failed_s is not None
    return success * committed_s + (1 - success) * failed_s


def lost_packets_form(row: Mapping[str, Any], column: str, data: Data) -> float | None:
    """The mean number of application packets lost over UDP.

    From the redirection's acknowledgement back: the last packet over the old network left CN when the redirect
    came, the way of the acknowledgement earlier, and took two wires to the AP. Up to the scheduling of 802.16 both
    ways take the same.
    """
    if row["transport"] not in UDP_TIMEOUTS_S:
        return None
    committed_s, failed_s = success_delay_form(row, column, data), failure_delay_form(row, column, data)
    assert committed_s is not None and failed_s is not None
    success = law(row["start"], row["transport"], row["loss"]).success
    # Beacons tell half a period late in the mean.
    edge_s = EDGE_S - going_down_at_s() - BEACONS_S / 2
    return mih_handover.lost_packets(row["loss"] / 100, INTERVAL_S, success, committed_s, failed_s, edge_s)


# Checks -----------------------------------------------------------------------------------------------------------


def checks(data: Data) -> list[Check]:
    """Handovers over UDP beside the law of their chain.

    How many succeed, how long those take; how long failed ones take; how many succeed under other policies and at
    other speeds. Over TCP none beats messages that are alone.
    """
    found = []
    for start_name in STARTS:
        for name in UDP_TIMEOUTS_S:
            base = data.estimate("handovers", "handover_s", start=start_name, transport=name, loss=0)
            for percent in data.labels("handovers", "loss"):
                if percent:
                    found += _of_point(data, start_name, name, float(percent), base.mean)
    found += [*_of_policies(data), *_of_speeds(data), *_of_tcp(data)]
    failed = data.together("handovers", "failure_s")
    if failed.samples > 1:
        exact = failure_delay_form({"start": "mobile"}, "", data)
        assert exact is not None
        error = failed.half_width / statistics.student_t_quantile(0.975, failed.samples - 1)
        found.append(Check("delay (s) of failed handovers", failed.mean, exact, error))
    return found


def _successes(where: str, rows: Sequence[Mapping[str, Any]], exact: float) -> Check:
    """The share of handovers that succeed, beside its probability."""
    error = math.sqrt(exact * (1 - exact) / len(rows))
    return Check(f"success of {where}", sum(row["succeeded"] for row in rows) / len(rows), exact, error)


def _of_policies(data: Data) -> list[Check]:
    """Successes by when a response is accepted."""
    found = []
    names = ("start", "transport", "validity", "loss")
    for start_name, name, policy, percent in product(*(data.labels("policies", one) for one in names)):
        where = {"start": start_name, "transport": name, "validity": policy, "loss": percent}
        rows = data.rows("policies", **where)
        exact = success_form(where, "", data)
        assert exact is not None
        found.append(_successes(f"{start_name}, {name}, {policy}, loss {percent} %", rows, exact))
    return found


def _of_speeds(data: Data) -> list[Check]:
    """Successes by speed and factor, beside the law of the chain and of the beacons' phase."""
    found = []
    for name, mps, of_edge in product(
        UDP_TIMEOUTS_S, data.labels("speeds", "speed"), data.labels("speeds", "factor")
    ):
        where = {"transport": name, "speed": mps, "factor": of_edge}
        rows = data.rows("speeds", **where)
        exact = in_time_form(where, "", data)
        assert exact is not None
        found.append(_successes(f"mobile, {name}, {mps} m/s, factor {of_edge}", rows, exact))
    return found


def _of_tcp(data: Data) -> list[Check]:
    """Delays over TCP, which are no shorter than the bound: beyond it there is no deviation.

    Where handovers run out of time those that would have taken longest are missing: only points at which all succeed.
    """
    found = []
    for start_name, name, percent in product(STARTS, TCPS, data.labels("handovers", "loss")):
        where = {"start": start_name, "transport": name, "loss": percent}
        rows = data.rows("handovers", **where)
        if not percent or not all(row["succeeded"] for row in rows):
            continue
        taken = data.estimate("handovers", "success_s", **where)
        error = taken.half_width / statistics.student_t_quantile(0.975, taken.samples - 1)
        least_s = max(taken.mean, tcp_bound_s(where, data))
        found.append(
            Check(f"delay (s) of {start_name}, {name}, loss {percent} %, or more", taken.mean, least_s, error)
        )
    return found


def _of_point(data: Data, start_name: str, name: str, percent: float, base_s: float) -> list[Check]:
    rows = data.rows("handovers", start=start_name, transport=name, loss=percent)
    exact, without = law(start_name, name, percent), law(start_name, name, 0)
    where = f"{start_name}, {name}, loss {percent:g} %"
    succeeded = sum(row["succeeded"] for row in rows)
    one = [_successes(where, rows, exact.success)]
    if succeeded:
        taken_s = math.fsum(row["success_s"] for row in rows if row["succeeded"]) / succeeded
        # 802.16's frames, up to one of 4 ms each way, come on top.
        error = math.sqrt((exact.variance_s2 + 2 * 0.004**2 / 12) / succeeded)
        one.append(Check(f"delay (s) of {where}", taken_s, base_s + exact.delay_s - without.delay_s, error))
    return one


# Sequence charts --------------------------------------------------------------------------------------------------


def flow_marks(values: Mapping[str, Any], packets: Sequence[Packet]) -> list[tuple[str, float, str]]:
    """What happens between the messages of a chart: the link's events, the scan, and the primitive that confirms."""

    def sent_s(label: str, source: str) -> list[float]:
        return [one.sent_s for one in packets if (one.label, one.source) == (label, source)]

    def received_s(label: str, destination: str) -> list[float]:
        found = [one.received_s for one in packets if (one.label, one.destination) == (label, destination)]
        return [time_s for time_s in found if time_s is not None]

    found: list[tuple[str, float, str]] = []
    queried = sent_s("MN_HO_Candidate_Query.request", "mn")
    if queried:
        # The MN scans from the event on, and asks when it has scanned.
        begun_s = queried[0] - SCAN_S
        found += [("mn", begun_s, "Link_Going_Down; scan begins"), ("mn", queried[0], "scan ends")]
    if STARTS[values["piece"]["start"]][1] == "remote":
        found += [("mn", at_s, "Link_Going_Down") for at_s in sent_s("Link_Going_Down.indication", "mn")[:1]]
    elif values["piece"]["start"] != "mobile":
        asked = sent_s("N2N_HO_Query_Resources.request", "pos-1")[:1]
        found += [("pos-1", at_s, "Link_Going_Down (local)") for at_s in asked]
    for at_s in received_s("Net_HO_Candidate_Query.request", "mn")[:1]:
        found += [("mn", at_s, "scan begins"), ("mn", at_s + SCAN_S, "scan ends")]
    found += [("mn", t, "MIH_MN_HO_Commit.confirm") for t in received_s("MN_HO_Commit.response", "mn")[:1]]
    if values["piece"].get("lost"):
        found += [("mn", one.sent_s, "Link_Down") for one in packets if one.label == "redirect"]
    return found


MIH_MESSAGE = re.compile(r"(?P<ack>ACK of )?MIH_(?P<name>\w+)\.(?P<opcode>\w+) tid (?P<tid>\d+)")


def describe_packet(description: str, **_number: Any) -> tuple[str, str] | None:
    """A packet's label and kind in a chart, from the words of its trace; the stream is left out."""
    message = MIH_MESSAGE.search(description)
    if message:
        label = f"{message['name']}.{message['opcode']}"
        return (f"ACK of {label}", "acknowledgement") if message["ack"] else (label, "message")
    return (description, "transport") if "redirect" in description.lower() else None
