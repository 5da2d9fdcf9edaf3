"""MIH transactions over UDP, with and without MIH acknowledgement: exact success, delay and overhead.

Models one *isolated* transaction of IEEE 802.21 (2008, clause 8.2.3) with acknowledgements in packets of their own
("separate" mode): the packets of different transactions do not meet. Every packet is lost with probability p,
independently, in either direction. Source, derivation and notation: docs/models/mih-exact.md.

Does NOT model queueing, jitter of the round trip, piggybacked acknowledgements, a finite transaction lifetime, or a
round trip that is an exact multiple of the timeout (an acknowledgement and a timer would meet at one instant).

Names: `loss` is p; `rtt_s` the round trip R without processing; `timeout_s` the retransmission timeout T;
`processing_s` the responder's processing time P; `retransmissions` the most times a message is sent again, N.
"""

import math
from dataclasses import dataclass
from typing import Literal

Validity = Literal["open", "acked", "strict"]
"""When a requester stops accepting a response; see `request_success`."""

VALIDITIES: tuple[Validity, ...] = ("open", "acked", "strict")


@dataclass(frozen=True, slots=True)
class Timing:
    """The times that decide a transaction, all in seconds, and the number of retransmissions."""

    rtt_s: float
    timeout_s: float
    processing_s: float = 0.0
    retransmissions: int = 2

    def __post_init__(self) -> None:
        if not (self.rtt_s >= 0 and self.timeout_s > 0 and self.processing_s >= 0 and self.retransmissions >= 0):
            raise ValueError(f"times must not be negative and the timeout must be positive: {self}")

    @property
    def in_flight(self) -> int:
        """How many further copies are sent before the ACK of a copy can come back: r = floor(R/T).

        r = 0 is the publication's first regime (RTT < T), 1 the second, 2 the third.
        """
        return math.floor(self.rtt_s / self.timeout_s)

    @property
    def last_useful_copy(self) -> int:
        """The last copy whose ACK can come before the transaction is given up at (N+1)T, M; negative: none."""
        return self.retransmissions - self.in_flight

    @property
    def last_useful_sum(self) -> int:
        """J: a response is back before (N+1)T, if request copy n and response copy k have n + k <= J."""
        return self.retransmissions - math.floor((self.rtt_s + self.processing_s) / self.timeout_s)


def round_trip_failure(loss: float) -> float:
    """Probability that a packet or the answer to it is lost: f = p(2-p)."""
    return loss * (2.0 - loss)


def expected_copies(loss: float, timing: Timing) -> float:
    """Mean number of times that a message is sent when every copy that arrives is acknowledged.

    Copy n goes out unless one of the ACKs of copies 0..n-1-r has come: sum over n of f^max(0, n-r).
    """
    f = round_trip_failure(loss)
    return sum(f ** max(0, n - timing.in_flight) for n in range(timing.retransmissions + 1))


# Without MIH acknowledgement ------------------------------------------------------------------------------------


def unacknowledged_success(loss: float, kind: Literal["indication", "request"]) -> float:
    """Transaction success without MIH ACK: 1-p for an indication, (1-p)^2 for a request."""
    return 1.0 - loss if kind == "indication" else (1.0 - loss) ** 2


def unacknowledged_delay_s(timing: Timing, kind: Literal["indication", "request"]) -> float:
    """Transaction delay in seconds without MIH ACK: R/2 for an indication, R + P for a request, whatever the loss."""
    return timing.rtt_s / 2 if kind == "indication" else timing.rtt_s + timing.processing_s


def unacknowledged_overhead() -> float:
    """MIH overhead without MIH ACK: each message is sent once, so 1."""
    return 1.0


# Indication with MIH acknowledgement -----------------------------------------------------------------------------


def indication_success(loss: float, retransmissions: int = 2) -> float:
    """Probability that an acknowledged indication is delivered: 1 - p^(N+1), at any round trip.

    A copy is withheld only after an ACK, that is, after the indication was delivered.
    """
    return 1.0 - loss ** (retransmissions + 1)


def indication_confirmed(loss: float, timing: Timing) -> float:
    """Probability that the *sender* has an ACK before it gives up: 1 - f^(M+1), or 0 when no ACK can be in time."""
    return 1.0 - round_trip_failure(loss) ** max(0, timing.last_useful_copy + 1)


def _mean_first_arrival(loss: float, retransmissions: int) -> float:
    """Mean index of the first copy to arrive, given that one does."""
    copies = range(retransmissions + 1)
    return sum(n * loss**n for n in copies) / sum(loss**n for n in copies)


def indication_delay_s(loss: float, timing: Timing) -> float:
    """Mean delay in seconds of an acknowledged indication, given that it is delivered.

    R/2 + T sum(n p^n) / sum(p^n); with two retransmissions R/2 + T (p + 2p^2)/(1 + p + p^2).
    """
    return timing.rtt_s / 2 + timing.timeout_s * _mean_first_arrival(loss, timing.retransmissions)


def indication_delay_as_published_s(loss: float, timing: Timing) -> float:
    """The publication's form of the indication's delay in seconds: sum of p^n (1-p) (R/2 + nT), not normalised.

    It is the exact delay times the probability of success: 12.5 % too low at p = 0.5.
    """
    return indication_delay_s(loss, timing) * indication_success(loss, timing.retransmissions)


def indication_overhead(loss: float, timing: Timing) -> float:
    """MIH packets per indication with MIH ACK: (2-p) times the mean number of copies."""
    return (2.0 - loss) * expected_copies(loss, timing)


# Request and response with MIH acknowledgement -------------------------------------------------------------------


def _acceptance(loss: float, timing: Timing, validity: Validity, n: int) -> float:
    """Probability that a response is accepted however late, given that request copy n is the first to arrive."""
    if validity == "open":
        return 1.0
    if validity == "strict" or n > timing.last_useful_copy:
        return 0.0
    return 1.0 - loss * round_trip_failure(loss) ** (timing.last_useful_copy - n)


def _weights(loss: float, timing: Timing, validity: Validity) -> list[tuple[int, float]]:
    """(n + k, probability) for each first request copy n and first response copy k that make a success."""
    copies = range(timing.retransmissions + 1)
    return [
        (
            n + k,
            loss ** (n + k)
            * (1.0 - loss) ** 2
            * (1.0 if n + k <= timing.last_useful_sum else _acceptance(loss, timing, validity, n)),
        )
        for n in copies
        for k in copies
    ]


def request_success(loss: float, timing: Timing, validity: Validity) -> float:
    """Probability that a valid response is received for an acknowledged request.

    `validity` says until when a response is accepted: "open" always; "strict" until (N+1)T after the request was
    first sent; "acked" until then, and without limit when an ACK of the request came before then.
    """
    return sum(weight for _, weight in _weights(loss, timing, validity))


def request_delay_s(loss: float, timing: Timing, validity: Validity) -> float:
    """Mean delay in seconds from the request to the first delivery of the valid response, over the successes.

    R + P + T E[n + k | success]; NaN when no transaction can succeed.
    """
    weights = _weights(loss, timing, validity)
    success = sum(weight for _, weight in weights)
    if success == 0.0:
        return math.nan
    mean_steps = sum(steps * weight for steps, weight in weights) / success
    return timing.rtt_s + timing.processing_s + timing.timeout_s * mean_steps


def response_packets(loss: float, timing: Timing, acceptable: int) -> float:
    """Mean number of packets of a response phase (copies and ACKs) when only the first K copies can be accepted.

    Copies from K on are acknowledged only if one of the first K arrived: the transaction is given up otherwise.
    K = `acceptable`, 0 to N+1. At K = N+1 this is the indication's (2-p) E[copies].
    """
    f = round_trip_failure(loss)
    never = loss**acceptable  # none of the acceptable copies arrived
    packets = 0.0
    for k in range(timing.retransmissions + 1):
        q = max(0, k - timing.in_flight)  # copy k is sent unless an ACK of copies 0..q-1 came
        some_arrived = f**q - never if q <= acceptable else (f**acceptable - never) * f ** (q - acceptable)
        packets += some_arrived + never  # the copy
        packets += (1.0 - loss) * (f**q if k < acceptable else some_arrived)  # its ACK
    return packets


def request_packets(loss: float, timing: Timing, validity: Validity) -> float:
    """Mean number of MIH packets of a transaction: both ends, retransmissions and ACKs included."""
    copies = timing.retransmissions + 1
    packets = (2.0 - loss) * expected_copies(loss, timing)
    for n in range(copies):
        acceptable = min(copies, max(0, timing.last_useful_sum - n + 1))
        late_too = _acceptance(loss, timing, validity, n)
        packets += (
            loss**n
            * (1.0 - loss)
            * (
                late_too * response_packets(loss, timing, copies)
                + (1.0 - late_too) * response_packets(loss, timing, acceptable)
            )
        )
    return packets


def request_overhead(loss: float, timing: Timing, validity: Validity) -> float:
    """MIH packets per message that carries information, of an acknowledged request.

    The request counts once, and the response once when the responder generated it: 2 - p^(N+1) messages.
    """
    return request_packets(loss, timing, validity) / (2.0 - loss ** (timing.retransmissions + 1))
