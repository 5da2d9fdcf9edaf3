"""Isolated MIH transactions summed over every pattern of lost packets.

Where `mih_udp` multiplies probabilities, this module plays the transaction: for each of the patterns "which copies
of the request, of its ACKs, of the response and of its ACKs are lost" it follows the timers step by step and notes
what happens. A pattern with l lost packets of m has probability p^l (1-p)^(m-l), so the sums over patterns with the
same l are integers, and the moments are exact polynomials in p. The two modules share no formula: tests hold them to
each other. The second moments give the standard error that a run of n transactions should show.

Same model, same limits and same names as `mih_udp`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from roamsim.theory.mih_udp import Timing, Validity


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one transaction did under one pattern of losses."""

    success: bool
    delay_s: float  # 0 without success
    packets: int  # MIH packets, both ends
    messages: int  # messages that carry information


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact means of an isolated transaction, and the standard errors of their estimates from n transactions."""

    success: float
    delay_s: float  # over successes; NaN when there are none
    overhead: float
    success_variance: float
    delay_variance_s2: float
    overhead_variance: float  # of packets - overhead x messages, over the squared mean number of messages

    def standard_errors(self, transactions: int) -> tuple[float, float, float]:
        """Standard errors of success rate, mean delay (s) and overhead estimated from n isolated transactions."""
        successes = transactions * self.success
        return (
            math.sqrt(self.success_variance / transactions),
            math.sqrt(self.delay_variance_s2 / successes) if successes > 0 else math.nan,
            math.sqrt(self.overhead_variance / transactions),
        )


def _send(start_s: float, timing: Timing, acks: dict[int, float]) -> tuple[list[int], float]:
    """Copies that go out from `start_s` on, when the ACK of copy n (if sent) comes at `acks[n]`; and the first ACK.

    An ACK that comes after the message was given up does not count.
    """
    sent: list[int] = []
    acknowledged_s = math.inf
    for n in range(timing.retransmissions + 1):
        if acknowledged_s < start_s + n * timing.timeout_s:
            break
        sent.append(n)
        acknowledged_s = min(acknowledged_s, acks.get(n, math.inf))
    if acknowledged_s >= start_s + (timing.retransmissions + 1) * timing.timeout_s:
        acknowledged_s = math.inf
    return sent, acknowledged_s


def _indication(lost: tuple[bool, ...], timing: Timing) -> Outcome:
    copies = timing.retransmissions + 1
    message_lost, ack_lost = lost[:copies], lost[copies:]
    arrives_s = {n: n * timing.timeout_s + timing.rtt_s / 2 for n in range(copies) if not message_lost[n]}
    sent, _ = _send(0.0, timing, {n: at + timing.rtt_s / 2 for n, at in arrives_s.items() if not ack_lost[n]})
    arrived = [n for n in sent if n in arrives_s]
    return Outcome(
        success=bool(arrived),
        delay_s=arrives_s[arrived[0]] if arrived else 0.0,
        packets=len(sent) + len(arrived),
        messages=1,
    )


def _request(lost: tuple[bool, ...], timing: Timing, validity: Validity) -> Outcome:
    copies = timing.retransmissions + 1
    request_lost, ack_lost, response_lost, response_ack_lost = (lost[i * copies : (i + 1) * copies] for i in range(4))
    half_s = timing.rtt_s / 2
    deadline_s = copies * timing.timeout_s

    at_responder_s = {n: n * timing.timeout_s + half_s for n in range(copies) if not request_lost[n]}
    acks = {n: at + half_s for n, at in at_responder_s.items() if not ack_lost[n]}
    requests, acknowledged_s = _send(0.0, timing, acks)
    arrived = [n for n in requests if n in at_responder_s]
    packets = len(requests) + len(arrived)
    if not arrived:
        return Outcome(success=False, delay_s=0.0, packets=packets, messages=1)

    limit_s = math.inf if validity == "open" or (validity == "acked" and acknowledged_s < math.inf) else deadline_s
    response_s = at_responder_s[arrived[0]] + timing.processing_s
    accepted_s = math.inf
    acks = {}
    acknowledging: set[int] = set()
    for k in range(copies):
        at_s = response_s + k * timing.timeout_s + half_s
        if response_lost[k]:
            continue
        if at_s < limit_s or accepted_s < math.inf:  # once accepted, later copies are duplicates: acknowledged again
            accepted_s = min(accepted_s, at_s)
            acknowledging.add(k)
            if not response_ack_lost[k]:
                acks[k] = at_s + half_s
    responses, _ = _send(response_s, timing, acks)
    packets += len(responses) + sum(k in acknowledging for k in responses)
    success = accepted_s < math.inf
    return Outcome(success=success, delay_s=accepted_s if success else 0.0, packets=packets, messages=2)


def _outcomes(kind: str, timing: Timing, validity: Validity) -> Iterator[tuple[int, Outcome]]:
    """(number of lost packets, outcome) of every pattern."""
    copies = timing.retransmissions + 1
    kinds_of_packet = 2 if kind == "indication" else 4
    for lost in product((False, True), repeat=kinds_of_packet * copies):
        yield sum(lost), _indication(lost, timing) if kind == "indication" else _request(lost, timing, validity)


@lru_cache(maxsize=256)
def _sums(kind: str, timing: Timing, validity: Validity) -> tuple[tuple[float, ...], ...]:
    """For each number of lost packets: sums over its patterns of the products that the moments need."""
    copies = timing.retransmissions + 1
    patterns = (2 if kind == "indication" else 4) * copies
    sums = [[0.0] * 8 for _ in range(patterns + 1)]
    for lost, outcome in _outcomes(kind, timing, validity):
        x, y, d, s = outcome.packets, outcome.messages, outcome.delay_s, float(outcome.success)
        for i, value in enumerate((s, d, d * d, x, y, x * x, x * y, y * y)):
            sums[lost][i] += value
    return tuple(tuple(row) for row in sums)


def exact(kind: str, loss: float, timing: Timing, validity: Validity = "acked") -> Exact:
    """Exact means and variances of an isolated, acknowledged transaction; `kind` is "indication" or "request"."""
    if kind not in ("indication", "request"):
        raise ValueError(f"kind must be 'indication' or 'request', got {kind!r}")
    sums = _sums(kind, timing, validity)
    m = len(sums) - 1
    weights = [loss**lost * (1.0 - loss) ** (m - lost) for lost in range(m + 1)]
    s, d, dd, x, y, xx, xy, yy = (
        math.fsum(w * row[i] for w, row in zip(weights, sums, strict=True)) for i in range(8)
    )
    overhead = x / y
    return Exact(
        success=s,
        delay_s=d / s if s > 0 else math.nan,
        overhead=overhead,
        success_variance=max(0.0, s * (1.0 - s)),
        delay_variance_s2=max(0.0, dd / s - (d / s) ** 2) if s > 0 else math.nan,
        overhead_variance=max(0.0, xx - 2 * overhead * xy + overhead * overhead * yy) / (y * y),
    )


@lru_cache(maxsize=256)
def _counts(kind: str, timing: Timing, validity: Validity) -> tuple[tuple[float, dict[int, int]], ...]:
    """For each delay of a success: the number of patterns by how many packets they lose."""
    counts: dict[float, dict[int, int]] = {}
    for lost, outcome in _outcomes(kind, timing, validity):
        if outcome.success:
            of_delay = counts.setdefault(round(outcome.delay_s, 9), {})
            of_delay[lost] = of_delay.get(lost, 0) + 1
    return tuple(sorted(counts.items()))


def delays(kind: str, loss: float, timing: Timing, validity: Validity = "acked") -> dict[float, float]:
    """The probability that an isolated transaction succeeds, by the delay (s, to the nanosecond) that it has then."""
    packets = (2 if kind == "indication" else 4) * (timing.retransmissions + 1)
    return {
        delay_s: math.fsum(n * loss**lost * (1.0 - loss) ** (packets - lost) for lost, n in patterns.items())
        for delay_s, patterns in _counts(kind, timing, validity)
    }
