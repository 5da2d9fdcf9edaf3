"""Throughput of an endless TCP transfer: the square-root law and the model of Padhye, Firoiu, Towsley and Kurose.

Sources: M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm"
(1997); J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Throughput: A Simple Model and its Empirical
Validation" (1998), the full model with timeouts and a largest window, and "Modeling TCP Reno Performance" (2000),
section V, for what arrives.

The model counts in rounds: a window is sent, a round trip later its ACKs are back. A packet is lost with probability
`loss` if the packet before it in its round was not; behind a lost packet the rest of the round is lost. Fast
retransmit then follows if three duplicates come back, and a timeout otherwise. It does NOT have slow start, the time
that the repair of several losses takes, losses that are independent within a round, or ACKs that are lost; a round
trip is constant. How far that carries is measured in docs/models/tcp.md.

Names: `rtt_s` is the round trip; `timeout_s` the first retransmission timeout T0, which doubles up to 64 T0;
`acked_per_ack` is b: the window grows by a segment in b round trips. A sender that adds 1/cwnd for each ACK has b = 2
with delayed ACKs; one that counts octets (RFC 3465, and the TCP of this simulator) has 1 in any case. `max_window` is
the largest window in segments, W_max. All rates are in segments a second.
"""

import math
from collections.abc import Sequence


def square_root_law(loss: float, rtt_s: float, acked_per_ack: int = 1) -> float:
    """Mathis et al. (1997): sqrt(3 / (2 b p)) segments a round trip; for few losses, and no timeouts."""
    _check(loss, rtt_s, 1.0, acked_per_ack)
    return math.sqrt(3.0 / (2.0 * acked_per_ack * loss)) / rtt_s


def pftk_window(loss: float, acked_per_ack: int = 1) -> float:
    """The mean window in segments at the end of a period without timeout, E[W] (Padhye et al., 1998)."""
    _check(loss, 1.0, 1.0, acked_per_ack)
    middle = (2.0 + acked_per_ack) / (3.0 * acked_per_ack)
    return middle + math.sqrt(8.0 * (1.0 - loss) / (3.0 * acked_per_ack * loss) + middle**2)


def pftk_timeout_share(loss: float, window: float) -> float:
    """The share of loss indications at a window that end in a timeout, Q(w) (Padhye et al., 1998).

    One for windows up to three segments, which give too few duplicates.
    """
    _check(loss, 1.0, 1.0, 1)
    if window <= 3.0:
        return 1.0
    kept = 1.0 - loss
    share: float = (1.0 - kept**3) * (1.0 + kept**3 * (1.0 - kept ** (window - 3.0))) / (1.0 - kept**window)
    return min(1.0, share)


def pftk_send_rate(
    loss: float, rtt_s: float, timeout_s: float, acked_per_ack: int = 1, max_window: float = math.inf
) -> float:
    """Segments sent a second, retransmissions included, B(p) (Padhye et al., 1998, the full model)."""
    _check(loss, rtt_s, timeout_s, acked_per_ack)
    window = min(pftk_window(loss, acked_per_ack), max_window)
    timeouts = pftk_timeout_share(loss, window)
    sent = (1.0 - loss) / loss + window + timeouts / (1.0 - loss)
    return sent / _period_s(loss, rtt_s, timeout_s, acked_per_ack, max_window)


def pftk_throughput(
    loss: float, rtt_s: float, timeout_s: float, acked_per_ack: int = 1, max_window: float = math.inf
) -> float:
    """Segments that arrive a second, T(p) (Padhye et al., 2000, section V).

    Of the window that meets a loss half arrives in the mean, and of a sequence of timeouts the last transmission.
    """
    _check(loss, rtt_s, timeout_s, acked_per_ack)
    window = min(pftk_window(loss, acked_per_ack), max_window)
    arrived = (1.0 - loss) / loss + window / 2.0 + pftk_timeout_share(loss, window)
    return arrived / _period_s(loss, rtt_s, timeout_s, acked_per_ack, max_window)


def jain_index(shares: Sequence[float]) -> float:
    """How evenly something is shared: (sum x)^2 / (n sum x^2), from 1/n to 1 (Jain, Chiu, Hawe, 1984).

    Raises:
        ValueError: there is nothing to share.
    """
    squares = sum(share * share for share in shares)
    if squares == 0.0:
        raise ValueError("the index of no shares, or of shares that are all zero, is not defined")
    return sum(shares) ** 2 / (len(shares) * squares)


def _period_s(loss: float, rtt_s: float, timeout_s: float, acked_per_ack: int, max_window: float) -> float:
    """The mean time from one loss indication to the next, with the timeouts that follow it."""
    window = pftk_window(loss, acked_per_ack)
    if window < max_window:
        rounds = acked_per_ack / 2.0 * window + 1.0
    else:
        window = max_window
        rounds = acked_per_ack / 8.0 * window + (1.0 - loss) / (loss * window) + 2.0
    # The timeouts of a sequence last 1, 2, 4, ... up to 64 T0: in the mean f(p) / (1 - p) of T0.
    f = 1.0 + sum(2.0 ** (i - 1) * loss**i for i in range(1, 7))
    return rtt_s * rounds + pftk_timeout_share(loss, window) * timeout_s * f / (1.0 - loss)


def _check(loss: float, rtt_s: float, timeout_s: float, acked_per_ack: int) -> None:
    if not 0.0 < loss < 1.0:
        raise ValueError(f"loss must be above 0 and below 1, got {loss}")
    if not (rtt_s > 0.0 and timeout_s > 0.0 and acked_per_ack >= 1):
        raise ValueError(
            f"round trip and timeout must be above 0 and an ACK acknowledge a segment or more, got {rtt_s}, "
            f"{timeout_s} and {acked_per_ack}"
        )
