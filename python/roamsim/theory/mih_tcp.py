"""MIH messages over TCP: a lower bound for the mean delay of isolated messages.

Assumes one segment a message, nothing else in flight, a retransmission timer that starts at its minimum for every
message, and a round trip below that minimum. A lost acknowledgement then delays nothing. Real connections wait
longer: messages queue behind a lost one (head of line blocking), and Karn's rule (RFC 6298 sections 3 and 5) keeps
the timer backed off until a segment is acknowledged that was sent once. Where messages meet often and the timer has
no room to back off they can be a little faster: a lost message shares the retransmission of the one before it.
Derivation: docs/models/mih-exact.md.
"""


def isolated_delay_s(loss: float, one_way_s: float, min_rto_s: float, max_rto_s: float) -> float:
    """Lower bound for the mean one-way delay in seconds of an MIH message over TCP, 0 <= loss < 1.

    one_way + sum over i of p^(i+1) min(minRTO 2^i, maxRTO): the i-th retransmission is needed with probability
    p^(i+1), and waits for the timer after i doublings. The tail behind the first capped term is a geometric series.
    """
    if not 0.0 <= loss < 1.0:
        raise ValueError(f"loss must be at least 0 and below 1, got {loss}")
    if not 0.0 < min_rto_s <= max_rto_s:
        raise ValueError(f"need 0 < min_rto_s <= max_rto_s, got {min_rto_s} and {max_rto_s}")
    delay_s = one_way_s
    i = 0
    while min_rto_s * 2.0**i < max_rto_s:
        delay_s += loss ** (i + 1) * min_rto_s * 2.0**i
        i += 1
    return delay_s + max_rto_s * loss ** (i + 1) / (1.0 - loss)


def isolated_request_delay_s(
    loss: float, rtt_s: float, processing_s: float, min_rto_s: float, max_rto_s: float
) -> float:
    """Lower bound for the mean delay in seconds of a request and its response over TCP: two one-way trips and P."""
    return processing_s + 2.0 * isolated_delay_s(loss, rtt_s / 2.0, min_rto_s, max_rto_s)
