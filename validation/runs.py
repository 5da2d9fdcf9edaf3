"""One run, as every simulator here understands it: a bulk flow over one link, and what is told of it.

TCP segments have 1000 bytes of data and 40 of headers, SCTP packets one chunk of 1000 and 48 of headers. Both
directions have the same rate, delay and queue; losses hit the direction of the data, an outage both.
"""

from dataclasses import dataclass, fields

MSS_BYTES = 1000
HEADER_BYTES = 40  # IPv4 and TCP without options
SCTP_HEADER_BYTES = 48  # IPv4, the common header, and that of a DATA chunk


@dataclass(frozen=True)
class Run:
    """The settings of a run; a peer program gets them as words KEY=VALUE."""

    variant: str
    ack_every: int = 1  # 1: every segment is acknowledged; 2: every second, or after 100 ms
    rate_bps: int = 10_000_000
    delay_s: float = 0.02
    queue_packets: int = 100  # that wait, beside the one in service
    ssthresh: int = 0  # the threshold at the start, in segments; 0: arbitrarily high
    min_rto_s: float = 0.2
    loss: float = 0.0
    outage_s: float = 0.0
    outage_for_s: float = 0.0
    drop: tuple[int, ...] = ()  # segments with data that are lost, by their number on the link, from 1
    duration_s: float = 100.0
    seed: int = 1
    after_s: float = -1.0  # tell the first delivery in order at or after this; below 0: do not
    mark_bytes: int = -1  # tell when so much has been delivered in order; below 0: do not

    def words(self) -> list[str]:
        """The command line of a peer program."""
        return [f"{field.name}={_word(getattr(self, field.name))}" for field in fields(self)]


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True)
class Outcome:
    """What a run tells. A time that was not asked for, or did not come, is negative."""

    delivered_bytes: int
    timeouts: int
    retransmissions: int
    first_after_s: float
    marked_s: float
