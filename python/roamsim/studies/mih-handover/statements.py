"""Measurements of the published statements, one function a clause; the rule of each stands in statements.toml.

Case 1 is started by the mobile node, case 2 by the network, whose PoS sees the link itself (local) or is told of it
(remote).

Replications are the samples: in one of them all losses, transports and starts meet the same beacons, so that their
rows are no samples of their own, and what is compared is compared within it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Share
from roamsim.study.judging import Finding, Value, either, every, follows, positive, rises, value_of, within, yes

from .study import EDGE_S, INTERVAL_S, SCAN_S, STARTS, TCPS, UDP_TIMEOUTS_S

UDPS = tuple(UDP_TIMEOUTS_S)
TRANSPORTS = (*UDPS, *TCPS)
PAIRS = tuple(product(UDPS, TCPS))
MOBILE = "mobile"
BY_NETWORK = tuple(name for name in STARTS if name != MOBILE)
#: Of the stream in the experiment `edge`.
PACKETS_S = 0.01
#: How far from its value without loss a step may be that loss does not touch: a frame of 802.16.
FRAME_S = 0.004


def losses(data: Data, least: float = 1) -> list[float]:
    """The losses from so many percent on."""
    return [float(percent) for percent in data.labels("handovers", "loss") if float(percent) >= least]


def terms(
    data: Data, metric: str, weight: float = 1, least: float = 1, **where: Any
) -> list[tuple[float, dict[int, list[float]]]]:
    """The mean of a metric at each loss; in their sum each counts alike, however many handovers succeed there."""
    at = losses(data, least)
    return [(weight / len(at), data.clusters("handovers", metric, **where, loss=percent)) for percent in at]


def longer(data: Data, metric: str, one: Mapping[str, Any], other: Mapping[str, Any], least: float = 1) -> Estimate:
    """A metric averaged over the losses, less the same elsewhere.

    Both meet the same draws in a replication; a handover that succeeds here may fail there.
    """
    return statistics.sum_of_means([*terms(data, metric, 1, least, **one), *terms(data, metric, -1, least, **other)])


def more(data: Data, column: str, one: Mapping[str, Any], other: Mapping[str, Any], times: float = 1) -> Estimate:
    """The share of handovers that a column counts, less so many times the same elsewhere, by replication."""
    shares, each = [], []
    for where in (one, other):
        of, trials = data.counts("handovers", Share(column, "handovers"), **where)
        shares.append(statistics.share(of, trials))
        each.append([count / of_all for count, of_all in zip(of, trials, strict=True)])
    return statistics.difference(shares[0], shares[1].scaled(times), statistics.correlation(*each))


# 1. How much time there is


def time_left(data: Data) -> Finding:
    """From Link_Going_Down to the edge."""
    left = data.together("handovers", f"{EDGE_S} - going_down_s")
    return within(left, 8.5, 9.5, "seconds from Link_Going_Down to the edge")


def failed_delay(data: Data) -> Finding:
    """Failed handovers of all transports and cases."""
    return within(data.together("handovers", "failure_s"), 9.45, 9.55, "delay of failed handovers (s)")


# 2. Why handovers fail


def given_up_over_udp(data: Data, start: str = MOBILE) -> Finding:
    """Over UDP a message is given up, and more often with the shorter timeout."""
    where: dict[str, Any] = {"start": start, "transport": list(UDPS), "loss": losses(data)}
    share = data.together("handovers", Share("given_up", "failed"), **where)
    short, long = ({**where, "transport": name} for name in UDPS)
    return every(
        [
            within(share, 0.95, 1, "share of failures over UDP in which a message was given up"),
            positive(more(data, "failed", short, long), "share that fails, timeout 0.1 s less 0.3 s"),
        ]
    )


def out_of_time_over_tcp(data: Data, start: str = MOBILE) -> Finding:
    """Over TCP nothing is given up, and more handovers run out of time than over UDP."""
    where: dict[str, Any] = {"start": start, "loss": losses(data)}
    tcp, udp = ({**where, "transport": list(of)} for of in (TCPS, UDPS))
    given_up = data.together("handovers", Share("given_up", "handovers"), **tcp)
    return every(
        [
            within(given_up, 0, 0.01, "share of handovers over TCP that give a message up"),
            positive(more(data, "out_of_time", tcp, udp), "share that runs out of time, TCP less UDP"),
        ]
    )


def more_fail_over_udp(data: Data, start: str = MOBILE) -> Finding:
    """The share that fails over UDP beside twice that over TCP."""
    where: dict[str, Any] = {"start": start, "loss": losses(data)}
    over = {"UDP": {**where, "transport": list(UDPS)}, "TCP": {**where, "transport": list(TCPS)}}
    finding = positive(
        more(data, "failed", over["UDP"], over["TCP"], 2), "share that fails over UDP, less twice that over TCP"
    )
    shares = tuple(
        value_of(f"share that fails over {name}", data.together("handovers", Share("failed", "handovers"), **of))
        for name, of in over.items()
    )
    text = f"{finding.measured}; {'; '.join(f'{one.what}: {one}' for one in shares)}"
    return Finding(finding.verdict, text, (*shares, *finding.values), finding.decided_by)


def late_invalidated(data: Data, start: str = MOBILE) -> Finding:
    """ACKs and responses that come for what was given up, with the shorter timeout less with the longer."""
    short, long = UDPS
    by = longer(data, "late", {"start": start, "transport": short}, {"start": start, "transport": long})
    finding = positive(by, "ACKs and responses ignored as late a handover, timeout 0.1 s less 0.3 s")
    each = {name: statistics.sum_of_means(terms(data, "late", start=start, transport=name)) for name in (short, long)}
    values = tuple(value_of(f"late a handover, {name}", estimate) for name, estimate in each.items())
    words = "; ".join(f"{value.what}: {value}" for value in values)
    return replace(finding, measured=f"{finding.measured}; {words}", values=(*values, *finding.values))


# 3. How long they take


def pair_of_successes(data: Data, udp: str, tcp: str, start: str = MOBILE) -> Finding:
    """Successful handovers over TCP less those over UDP."""
    by = longer(data, "success_s", {"start": start, "transport": tcp}, {"start": start, "transport": udp})
    return positive(by, f"{tcp} less {udp} (s), successful")


def pair_of_all(data: Data, udp: str, tcp: str, start: str = MOBILE) -> Finding:
    """All handovers over UDP less those over TCP."""
    by = longer(data, "handover_s", {"start": start, "transport": udp}, {"start": start, "transport": tcp})
    return positive(by, f"{udp} less {tcp} (s), all")


def successes_longer_over_tcp(data: Data, start: str = MOBILE) -> Finding:
    """Each pair of transports by itself; the statement agrees when all do."""
    return _of_pairs([pair_of_successes(data, *pair, start) for pair in PAIRS])


def all_longer_over_udp(data: Data, start: str = MOBILE) -> Finding:
    """Each pair of transports by itself; the statement agrees when all do."""
    return _of_pairs([pair_of_all(data, *pair, start) for pair in PAIRS])


def _of_pairs(findings: Sequence[Finding]) -> Finding:
    whole = every(findings)
    agree = sum(one.verdict == "agrees" for one in findings)
    differ = sum(one.verdict == "differs" for one in findings)
    deciding = f"; {whole.decided_by.what}: {whole.decided_by}" if whole.decided_by else ""
    brief = f"of {len(findings)} pairs {agree} agree, {differ} differ{deciding}"
    return replace(whole, brief=brief)


# 4. What the steps take


def scan_stays(data: Data, start: str = MOBILE) -> Finding:
    """The scan of each successful handover."""
    samples = [one for one in data.samples("handovers", "scan_s", start=start) if not math.isnan(one)]
    if not samples:
        return Finding("not decidable", "no handover succeeded")
    furthest = max(samples, key=lambda one: abs(one - SCAN_S))
    value = Value("scan that is furthest from 0.6 s", furthest)
    return yes(abs(furthest - SCAN_S) < 1e-9, f"{value.what}: {value}", value)


def redirection_stays(data: Data, start: str = MOBILE) -> Finding:
    """The redirection at each loss less that without."""
    found = []
    for name in TRANSPORTS:
        without, *curve = (
            data.clusters("handovers", "redirect_s", start=start, transport=name, loss=percent)
            for percent in (0, *losses(data))
        )
        more_by = {
            at: statistics.sum_of_means([(1, values), (-1, without)])
            for at, values in zip(losses(data), curve, strict=True)
        }
        what = f"redirection less that without loss (s), {name}"
        found.append(follows(more_by, lambda _at: 0.0, FRAME_S, what, data.place("loss")))
    return every(found)


def signalling_grows(data: Data, start: str = MOBILE) -> Finding:
    """What is neither scan nor redirection, over loss."""
    curves = {
        name: data.curve("handovers", "signalling_s", "loss", start=start, transport=name) for name in TRANSPORTS
    }
    return every([rises(curve, f"signalling (s), {name}", data.place("loss")) for name, curve in curves.items()])


def request_longer_than_check(data: Data, start: str = MOBILE) -> Finding:
    """The handover request less the resource availability, in each successful handover over TCP."""
    return every(
        [
            positive(
                statistics.sum_of_means(terms(data, "request_s - availability_s", start=start, transport=name)),
                f"handover request less resource availability (s), {name}",
            )
            for name in TCPS
        ]
    )


# 5. Case 2

#: The clauses whose trends case 2 shows too.
TRENDS: dict[str, Callable[[Data, str], Finding]] = {
    "2a": given_up_over_udp,
    "2b": out_of_time_over_tcp,
    "2c": more_fail_over_udp,
    "2d": late_invalidated,
    "3a": successes_longer_over_tcp,
    "3b": all_longer_over_udp,
    "4a": scan_stays,
    "4b": redirection_stays,
    "4c": signalling_grows,
}


def same_trends(data: Data) -> Finding:
    """The verdict of each clause in case 2, local and remote, beside that in case 1."""
    parts = []
    undecided: list[Finding] = []
    for clause, rule in TRENDS.items():
        first = rule(data, MOBILE)
        for name in BY_NETWORK:
            second = rule(data, name)
            chosen, verdict = first.verdict, second.verdict
            undecided += [found for found in (first, second) if found.verdict == "not decidable"]
            # Two of which neither is decided may be the same or not.
            open_ = "not decidable" in (chosen, verdict)
            same = "not decidable" if open_ else "agrees" if verdict == chosen else "differs"
            parts.append((clause, name, chosen, verdict, same))
    others = [
        f"{c} {name}: {verdict}, case 1: {chosen}" for c, name, chosen, verdict, same in parts if same != "agrees"
    ]
    equal = sum(same == "agrees" for *_, same in parts)
    verdicts = [same for *_, same in parts]
    whole = "differs" if "differs" in verdicts else "not decidable" if "not decidable" in verdicts else "agrees"
    text = f"{equal} of {len(parts)} verdicts as in case 1" + (f"; {'; '.join(others)}" if others else "")
    needed = [found.needed for found in undecided]
    return Finding(
        whole,  # type: ignore[arg-type]
        text,
        (Value("verdicts as in case 1", equal),),
        brief=f"{equal} of {len(parts)} verdicts as in case 1",
        replications=max((found.replications for found in undecided), default=0),
        needed=None if None in needed or whole != "not decidable" else max((n for n in needed if n), default=None),
    )


def case_2_shorter(data: Data) -> Finding:
    """Successful handovers of case 1 less those of case 2, by transport, under either notice of the link."""

    def under(name: str) -> Finding:
        return every(
            [
                positive(
                    longer(
                        data,
                        "success_s",
                        {"start": MOBILE, "transport": transport},
                        {"start": name, "transport": transport},
                        least=0,
                    ),
                    f"case 1 less case 2 (s), {transport}",
                )
                for transport in TRANSPORTS
            ]
        )

    return either({name: under(name) for name in BY_NETWORK}, "a start by the")


# 6. What the application loses


def application_loses(data: Data) -> Finding:
    """Packets of the stream that are lost, over loss."""
    found = []
    for start, name in product(STARTS, TRANSPORTS):
        curve = data.curve("handovers", "lost_packets", "loss", start=start, transport=name)
        without = data.estimate("handovers", "lost_packets", start=start, transport=name, loss=0)
        found += [
            within(without, 0, 0, f"lost without frame loss, {start}, {name}"),
            rises(curve, f"lost, {start}, {name}", data.place("loss")),
        ]
    return every(found)


def lost_as_the_frame_loss_says(data: Data) -> Finding:
    """Packets of the stream that successful handovers lose, over the loss's share of those sent in their time."""
    lost: dict[int, float] = {}
    expected: dict[int, float] = {}
    for row in data.rows("handovers", loss=losses(data)):
        if row["succeeded"]:
            replication, sent = row["replication"], row["success_s"] / INTERVAL_S
            lost[replication] = lost.get(replication, 0.0) + row["lost_packets"]
            expected[replication] = expected.get(replication, 0.0) + float(row["loss"]) / 100 * sent
    more = statistics.paired_ratio([expected[one] for one in lost], list(lost.values()))
    ratio = more.shifted(1)
    return within(ratio, 0.9, 1.1, "lost over the frame loss's share of what is sent in the handover's time")


def all_lost_behind_the_edge(data: Data) -> Finding:
    """How long the stream was lost, beside the time from the edge to the end of the redirection."""

    def judged(experiment: str, interval_s: float, what: str) -> Finding:
        def share(row: Mapping[str, Any]) -> float | None:
            return interval_s * row["lost_packets"] / (row["redirected_s"] - EDGE_S) if row["failed"] else None

        what = f"time of lost packets over time from the edge to the redirection's end, {what}"
        return within(data.together(experiment, share), 0.95, 1.05, what)

    return every(
        [
            judged("edge", PACKETS_S, "too late, a packet each 10 ms"),
            judged("edge-published", INTERVAL_S, "factor 1.5, a packet each 0.5 s"),
        ]
    )
