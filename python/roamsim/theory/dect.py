"""Closed forms of the DECT user plane: subfields, packets of the Ip channel, fragments, the window of LU2.

They are derived in docs/models/dect.md, and the simulator is held to them in its tests. Bits fail independently with
the bit error ratio of their bearer's state; the state moves once a frame between good and bad.
"""

import math
from dataclasses import dataclass

SUBFIELDS = 4
SUBFIELD_BITS = 80
A_FIELD_BITS = 64
B_FIELD_BITS = 320
FRAMES_PER_S = 100.0

Pair = tuple[float, float]
Matrix = tuple[Pair, Pair]


def failure(ber: float, bits: int) -> float:
    """The probability that at least one of `bits` fails: 1 - (1 - BER)^bits. Of 80: the subfield error ratio."""
    if not 0.0 <= ber <= 1.0:
        raise ValueError(f"a bit error ratio is from 0 to 1, not {ber}")
    return 1.0 if ber == 1.0 else -math.expm1(bits * math.log1p(-ber))


def fragments(packet_bytes: int, fragment_bytes: int = 29, checksum_bytes: int = 2) -> int:
    """Fragments of an IP packet: ceil((L + 2) / 29); over LU1 the fragment has 40 octets."""
    return -(-(packet_bytes + checksum_bytes) // fragment_bytes)


@dataclass(frozen=True)
class IpChannel:
    """What a bearer that always has a packet to send achieves in one direction."""

    mean_attempts: float
    """Frames that a packet takes, discarded ones among them."""
    discarded: float
    """Share of packets discarded after the last attempt."""

    @property
    def packets_per_frame(self) -> float:
        """Packets received, a bearer and frame."""
        return (1.0 - self.discarded) / self.mean_attempts


def ip_channel(
    ber_good: float = 1.7e-4,
    ber_bad: float = 3e-3,
    good_to_bad: float = 0.02,
    bad_to_good: float = 0.2,
    max_attempts: int = 10,
) -> IpChannel:
    """A saturated Ip channel over the two-state chain, in the steady state.

    The probability that a packet is incomplete after k attempts follows from the product of the subfield error
    ratios on the way: E[1 - (1 - s_1 ... s_k)^4], a sum of four products of 2 x 2 matrices. A packet begins in the
    state to which the chain has moved after the last attempt of the one before; the distribution of that state is
    the fixed point.
    """
    if max_attempts < 1:
        raise ValueError("at least one attempt is needed")
    ratios = (failure(ber_good, SUBFIELD_BITS), failure(ber_bad, SUBFIELD_BITS))
    chain: Matrix = ((1.0 - good_to_bad, good_to_bad), (bad_to_good, 1.0 - bad_to_good))
    identity: Matrix = ((1.0, 0.0), (0.0, 1.0))
    incomplete: list[Matrix] = [identity]
    powers = [_diagonal((ratios[0] ** j, ratios[1] ** j)) for j in range(1, SUBFIELDS + 1)]
    products = list(powers)
    for attempt in range(1, max_attempts + 1):
        if attempt > 1:
            products = [
                _times(_times(product, chain), power) for product, power in zip(products, powers, strict=True)
            ]
        total: Matrix = ((0.0, 0.0), (0.0, 0.0))
        for j, product in enumerate(products, start=1):
            total = _plus(total, product, -math.comb(SUBFIELDS, j) * (-1.0) ** j)
        incomplete.append(total)
    # The state of the last attempt: complete then, or used up.
    last: Matrix = ((0.0, 0.0), (0.0, 0.0))
    for attempt in range(1, max_attempts + 1):
        reached = identity if attempt == 1 else _times(incomplete[attempt - 1], chain)
        last = _plus(last, reached, 1.0)
        if attempt < max_attempts:
            last = _plus(last, incomplete[attempt], -1.0)
    turn = _times(last, chain)
    # Stationary distribution of a chain of two states.
    leaves_good, leaves_bad = turn[0][1], turn[1][0]
    moves = leaves_good + leaves_bad
    first: Pair = (leaves_bad / moves, leaves_good / moves) if moves > 0.0 else (1.0, 0.0)
    after = [first[0] * sum(matrix[0]) + first[1] * sum(matrix[1]) for matrix in incomplete]
    return IpChannel(mean_attempts=math.fsum(after[:-1]), discarded=after[-1])


def saturated_ratio(channel: IpChannel, data_fragments: int = 20, ack_fragments: int = 2) -> float:
    """TH / (5 N) with both directions saturated and an acknowledgement for each segment, nothing sent twice.

    Each direction carries its segments and the acknowledgements of the other's.
    """
    return channel.packets_per_frame * FRAMES_PER_S / (data_fragments + ack_fragments) / 5.0


def window_limit(
    bearers: int, loop_frames: int, window_fragments: int = 63, retransmission_timer_frames: int = 10
) -> float:
    """Fragments a frame over an error-free channel: min(N, W / d), d the frames from sending to knowing.

    Of a sender that always has fragments, a receiver that acknowledges fragments, and a loop in which T1 takes
    nothing for a loss: of d frames the sender is silent for d - ceil(W / N), which must be fewer than T1.

    Raises:
        ValueError: the silence is T1 or longer, so that fragments are requested that are under way, or a number is
            below 1.
    """
    if min(bearers, loop_frames, window_fragments, retransmission_timer_frames) < 1:
        raise ValueError("bearers, loop, window and T1 are numbers of 1 or more")
    silent_frames = loop_frames - -(-window_fragments // bearers)
    if silent_frames >= retransmission_timer_frames:
        raise ValueError(
            f"in a loop of {loop_frames} frames the sender is silent for {silent_frames}, in which T1 of "
            f"{retransmission_timer_frames} frames expires: the closed form ends at a loop of "
            f"{loop_frames - silent_frames + retransmission_timer_frames - 1} frames"
        )
    return min(float(bearers), window_fragments / loop_frames)


def _diagonal(values: Pair) -> Matrix:
    return ((values[0], 0.0), (0.0, values[1]))


def _times(a: Matrix, b: Matrix) -> Matrix:
    def entry(row: int, column: int) -> float:
        return a[row][0] * b[0][column] + a[row][1] * b[1][column]

    return ((entry(0, 0), entry(0, 1)), (entry(1, 0), entry(1, 1)))


def _plus(a: Matrix, b: Matrix, factor: float) -> Matrix:
    def entry(row: int, column: int) -> float:
        return a[row][column] + factor * b[row][column]

    return ((entry(0, 0), entry(0, 1)), (entry(1, 0), entry(1, 1)))
