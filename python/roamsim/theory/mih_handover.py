"""Handovers by MIH users over UDP: the probability of a commitment, and its mean time.

A handover's signalling is a chain of exchanges over the network that the mobile node leaves, one behind the other.
Each packet there is lost with probability p, independently, either way; elsewhere nothing is lost. An exchange is a
request and its response, or a message that need only arrive. Over UDP with MIH acknowledgements each is the isolated
transaction of `mih_udp`, whose patterns of losses `enumeration` sums: so a chain succeeds with the product of their
probabilities, and what it takes is the sum of what they take.

`chain` does not model time that runs out: a chain that is not given up has finished at the latest after 2 N T for
each request and N T for each message more than without losses, which has to be before the edge of the network.
`in_time` does, for a walk out of a cell whose beacons tell that the link is going down. Neither models queues, and
what `mih_udp` leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from roamsim.theory import enumeration
from roamsim.theory.mih_udp import Timing, Validity


@dataclass(frozen=True, slots=True)
class Exchange:
    """One step of the chain over the lossy network.

    `kind` is "request" where the response is waited for, "indication" where the message need only arrive.
    """

    kind: Literal["indication", "request"]
    timing: Timing


@dataclass(frozen=True, slots=True)
class Chain:
    """What a chain of exchanges comes to.

    Attributes:
        success: probability that none is given up.
        delay_s: mean time of all exchanges, given that; NaN where it cannot be.
        variance_s2: variance of that time.
    """

    success: float
    delay_s: float
    variance_s2: float


def chain(loss: float, exchanges: Sequence[Exchange], validity: Validity = "acked") -> Chain:
    """The law of a chain at a loss probability; `validity` says until when responses are accepted."""
    exact = [enumeration.exact(one.kind, loss, one.timing, validity) for one in exchanges]
    return Chain(
        math.prod(one.success for one in exact),
        math.fsum(one.delay_s for one in exact),
        math.fsum(one.delay_variance_s2 for one in exact),
    )


def in_time(
    loss: float,
    exchanges: Sequence[Exchange],
    validity: Validity = "acked",
    *,
    without_loss_s: float,
    left_s: float,
    beacons_s: float,
) -> float:
    """Probability that a chain is not given up and has ended before the mobile node leaves, over the beacons' phase.

    The mobile node walks from where its link is going down to the edge in `left_s`; the first beacon there tells it,
    up to one period `beacons_s` later. Nothing comes through behind the edge. The chain has what remains, and takes
    `without_loss_s` (all that it waits for, processing and scan as well), and longer by what its repetitions take:
    P = sum over their sums r of p(r) min(1, max(0, (left - without - r) / period)). Without loss r is 0.
    """
    longer = {0.0: 1.0}
    for one in exchanges:
        taken = enumeration.delays(one.kind, loss, one.timing, validity)
        least_s = one.timing.rtt_s + one.timing.processing_s if one.kind == "request" else one.timing.rtt_s / 2
        grown: dict[float, float] = {}
        for before_s, before in longer.items():
            for delay_s, probability in taken.items():
                sum_s = round(before_s + delay_s - least_s, 6)
                grown[sum_s] = grown.get(sum_s, 0.0) + before * probability
        longer = grown
    in_time = math.fsum(
        probability * min(1.0, max(0.0, (left_s - without_loss_s - more_s) / beacons_s))
        for more_s, probability in longer.items()
    )
    # The probabilities of all sums are 1 but for their rounding.
    return min(1.0, in_time)


def exchanges(
    initiated_by: Literal["mobile_node", "network"],
    notice: Literal["local", "remote"],
    *,
    timeout_s: float,
    round_trip_s: float,
    processing_s: Sequence[float],
    between_s: float,
    scan_s: float,
    retransmissions: int = 2,
) -> list[Exchange]:
    """The chain of a handover's procedure (docs/models/mih-handover.md).

    Args:
        initiated_by: by the mobile node: two requests, each answered when the candidate's PoS has answered. By the
            network: a request to scan, and a message that redirects.
        notice: how the network hears of the link: a remote one is a message more.
        timeout_s: MIH retransmission timeout.
        round_trip_s: between mobile node and PoS, without processing.
        processing_s: of a request at the mobile node, at its PoS, and at the candidate's.
        between_s: round trip between the two PoS.
        scan_s: of the scan.
        retransmissions: the most of a message.
    """

    def timing(processing: float) -> Timing:
        return Timing(round_trip_s, timeout_s, processing, retransmissions)

    at_mobile_node, at_serving, at_candidate = processing_s
    if initiated_by == "mobile_node":
        return [Exchange("request", timing(at_serving + between_s + at_candidate))] * 2
    told = [Exchange("indication", timing(0.0))] if notice == "remote" else []
    return [*told, Exchange("request", timing(at_mobile_node + scan_s)), Exchange("indication", timing(0.0))]


def link_down_after_s(beacons_s: float, missed: int, left: tuple[float, float]) -> float:
    """Mean time from Link_Going_Down to Link_Down of a walk, over the phase of the beacons.

    Beacons come every `beacons_s`. The first one at or behind `left[0]` (s) tells that the link is going down, the
    last one before `left[1]` is the last that is heard, and the link is down `missed` and a half periods after that.
    """
    heard = (left[1] - left[0]) / beacons_s
    # n = floor(heard) beacons lie in between, or one more with the probability of the rest.
    return beacons_s * (heard - 1 + missed + 0.5)


def lost_packets(
    loss: float, interval_s: float, success: float, committed_s: float, link_down_s: float, edge_s: float
) -> float:
    """Mean packets lost of a stream with one each `interval_s`, at a random phase, from Link_Going_Down on.

    Args:
        loss: of a packet of the stream over the old network, up to its edge.
        interval_s: of the stream.
        success: probability that the handover is committed.
        committed_s: mean time from Link_Going_Down to the last packet over the old network, when it is.
        link_down_s: the same when it is not; what comes from the edge on is lost.
        edge_s: mean time from Link_Going_Down to the edge.
    """
    if_committed = loss * committed_s if success else 0.0
    return (success * if_committed + (1 - success) * (loss * edge_s + link_down_s - edge_s)) / interval_s
