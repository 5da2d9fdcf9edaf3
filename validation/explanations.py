"""Why results differ from a peer's by more than they may: mechanisms, seen in traces of both on the same load."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """A mechanism and the results that it moves. An empty tuple: all of them."""

    letter: str
    peers: tuple[str, ...]
    parts: tuple[str, ...]
    variants: tuple[str, ...]
    quantities: tuple[str, ...]
    cases: tuple[str, ...]  # one of the labels of the case
    because: str

    def fits(self, part: str, variant: str, labels: tuple[str, ...], quantity: str, peer: str) -> bool:
        """Whether it explains this result."""
        return (
            peer in self.peers
            and part in self.parts
            and variant in self.variants
            and (not self.quantities or quantity in self.quantities)
            and (not self.cases or bool(set(self.cases) & set(labels)))
        )


#: The first that fits is taken.
EXPLANATIONS: list[Explanation] = [
    Explanation(
        letter="a",
        peers=("ns-2", "ns-3"),
        parts=("goodput",),
        variants=("tahoe", "reno", "newreno", "sack"),
        quantities=(),
        cases=("every second",),
        because="""**The peers count ACKs, Roamsim counts octets** (RFC 5681 3.1). With an ACK for
every second segment the peers' window grows half as fast (SMSS²/cwnd per ACK, equation 3). By the
square-root law goodput then differs by a factor of up to 1.41.""",
    ),
    Explanation(
        letter="j",
        peers=("ns-3",),
        parts=("goodput",),
        variants=("vegas",),
        quantities=(),
        cases=("every second",),
        because="""**ns-3's Vegas takes the delay of ACKs for a queue.** It measures from the first
segment that an ACK covers. Its base round trip is that of the shorter SYN, and it rounds Diff up.
Without loss its window stays at 23 segments on a path of 49.""",
    ),
    Explanation(
        letter="b",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("newreno", "vegas"),
        quantities=("goodput, Mb/s", "timeouts"),
        cases=(),
        because="""**Without SACK, ns-3 retransmits segments that have arrived.** After a timeout
their duplicate ACKs start another recovery, contrary to RFC 6582 3.2 step 1: at W = 24, 1180
retransmissions and 5 timeouts in 60 s. Without loss the overshoot of slow start does the same.
ns-3's Vegas does so too.""",
    ),
    Explanation(
        letter="c",
        peers=("ns-3",),
        parts=("six losses",),
        variants=("newreno", "sack", "vegas"),
        quantities=("timeouts", "recovery, s"),
        cases=("newreno", "vegas", "16", "24", "32", "48", "64"),
        because="""**ns-3 does not restart its timer when a recovery begins.** It expires during the
recovery, after the RTO less a round trip. SACK then repeats segments that have arrived, and takes
as long as here. NewReno and Vegas become faster: slow start needs fewer round trips than one for
each hole.""",
    ),
    Explanation(
        letter="d",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("sack",),
        quantities=(),
        cases=("12", "0.005", "0.01", "0.03", "0.1"),
        because="""**ns-3 halves only a part of the flight.** Its FlightSize leaves out sacked and
lost segments; RFC 6675 5 (4.2) halves all outstanding data. Of 14 segments ns-3 keeps 6, Roamsim 7.
At W = 12 ns-3 needs one more round trip in five of six patterns. The timer (c) and small windows
(f) add to this.""",
    ),
    Explanation(
        letter="e",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("sack",),
        quantities=("recovery, s",),
        cases=("12", "32"),
        because="""**ns-2's pipe counts lost segments**, which RFC 6675 subtracts (IsLost). With six
of 14 segments lost, Roamsim retransmits three to five in the first round trip, ns-2 one.""",
    ),
    Explanation(
        letter="f",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("tahoe", "sack"),
        quantities=(),
        cases=("0.1",),
        because="""**Small windows grow faster in Roamsim.** A window of 2 becomes 3 after two ACKs,
in ns-2 after three (SMSS²/cwnd per ACK). At p = 0.1 windows have 2 to 4 segments. With equation 3
and the same losses, Roamsim's Tahoe is within 0.3 % of ns-2's. For SACK the pipe (e) adds to this.""",
    ),
    Explanation(
        letter="g",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("vegas", "cubic"),
        quantities=(),
        cases=("every second",),
        because="""**ns-2's Vegas and CUBIC count ACKs** (as in a). Roamsim's Vegas adds a segment
per round trip (Brakmo and Peterson), and its W_est counts octets (RFC 9438 4.3). In three seconds
after a loss on 100 Mb/s, Vegas gains 75 segments (ns-2: 37) and CUBIC 73 (ns-2: 11). At p = 0.1, h
adds to this.""",
    ),
    Explanation(
        letter="h",
        peers=("ns-2",),
        parts=("goodput", "wide"),
        variants=("vegas",),
        quantities=(),
        cases=("0.1", "0.05"),
        because="""**ns-2's Vegas waits for the timer.** Without limited transmit, windows of 2 to 4
segments cause fewer than three duplicate ACKs. Its fine-grained timeout is long, because it
measures segments that waited behind a hole; Roamsim leaves out ACKs of retransmissions (Karn). On
the same losses ns-2 has 173 timeouts, Roamsim 88, and 119 without limited transmit.""",
    ),
    Explanation(
        letter="i",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("vegas",),
        quantities=("recovery, s", "timeouts"),
        cases=(),
        because="""**ns-2's Vegas repairs only three holes without the timer.** By the papers, the
first two new ACKs after a retransmission check for further losses. Roamsim checks after every
retransmission, ns-2 only after one by duplicate ACKs.""",
    ),
    Explanation(
        letter="k",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("recovery, s",),
        cases=(),
        because="""**CUBIC grows differently before its first loss.** Roamsim follows the cubic from
K = 0 (RFC 9438 4.10); the peers count ACKs. So the losses meet different windows: at W = 16, 27
segments in Roamsim and 18 in ns-2. ns-2 also reduces to 0.8 (Linux 2.6.22), and ns-3's timer (c)
repeats segments in flight.""",
    ),
    Explanation(
        letter="l",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("timeouts",),
        cases=(),
        because="""**CUBIC's timeouts come later, when the queue overflows.** A retransmission
behind Roamsim's full queue takes 1.29 s. Round trips hardly vary before it, so the RTO is 1.23 to
1.28 s (RFC 6298). In ns-2's Linux agent RTTVAR falls more slowly. In ns-3 the timer (c) expires in
each recovery.""",
    ),
    Explanation(
        letter="m",
        peers=("ns-2",),
        parts=("sctp six losses",),
        variants=("sctp",),
        quantities=("recovery, s",),
        cases=(),
        because="""**ns-2 follows RFC 4960, Roamsim RFC 9260.** In fast recovery, RFC 4960 (7.2.4,
step 3) sends a packet for every SACK that reports losses, whatever cwnd is. RFC 9260 waits until
the halved cwnd allows it. With `fast_retransmit_in_recovery` (sctp-each) Roamsim retransmits the
packets of ns-2, after the same SACKs.""",
    ),
    Explanation(
        letter="n",
        peers=("ns-3",),
        parts=("wimax",),
        variants=("down",),
        quantities=("delay, ms",),
        cases=("10",),
        because="""**ns-3 sends more before the data.** Its broadcasts go first, in BPSK 1/2, and
DCD and UCD are each in 40 % of the frames. So data begins 0.27 ms (one station) to 0.45 ms (ten)
after the frame's begin. In Roamsim it begins after 0.22 ms with one station. ns-3's frame also
lasts 10.111 ms, which adds 0.056 ms.""",
    ),
    Explanation(
        letter="o",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=("red",),
        because="""**RED in ns-3 spares a queue of at most one packet**, as in ns-2. By figure 2 of
Floyd and Jacobson only the slow mean decides, so Roamsim may halve a window twice: in 40 % of the
cycles of one SACK flow. With ns-3's condition and FlightSize (p) in Roamsim, one and five SACK
flows have ratios of 1.012 and 1.001 (goodput), 1.06 and 1.04 (waits), 1.04 and 1.06 (drops).""",
    ),
    Explanation(
        letter="r",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=("drops",),
        cases=("codel",),
        because="""**CoDel in ns-3 approximates the square root** by one Newton step per drop, as
Linux does. Its second drop comes after 50 ms, Roamsim's after 70.7 ms (RFC 8289 5.3). With that
step Roamsim drops 1.04 times as many packets as ns-3.""",
    ),
    Explanation(
        letter="q",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=(),
        cases=("codel", "pie", "fq_codel"),
        because="""**CUBIC grows faster in Roamsim beyond the window of the last loss**: W_est adds
a segment per round trip (RFC 9438 4.3), in ns-3 9/17. So the queue is longer at the next drop. With
9/17 in Roamsim, the 95th percentile of waits is 1.00 and 1.02 times ns-3's under PIE (one and five
flows), 0.99 and 0.98 times under CoDel.""",
    ),
    Explanation(
        letter="p",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=(),
        because="""**ns-3's window after a loss is smaller**, because its FlightSize leaves out
sacked segments (d). With that FlightSize in Roamsim, five SACK flows have 1.03 (CoDel), 1.10 (PIE)
and 1.05 (FQ-CoDel) times ns-3's drops. CoDel's mean waits stay 1.07 times ns-3's. Under drop-tail
ns-3's timer (c) also expires in most recoveries: SACK falls from 117 segments to 28 (Roamsim: 59),
CUBIC to 58 (Roamsim: 82).""",
    ),
]


def explanation(part: str, variant: str, labels: tuple[str, ...], quantity: str, peer: str) -> Explanation | None:
    """Why the two differ there, if that is known."""
    return next((e for e in EXPLANATIONS if e.fits(part, variant, labels, quantity, peer)), None)


def listed(letters: Collection[str]) -> str:
    """The explanations of these letters, a line each, in their order here."""
    return "\n".join(f"- {e.letter}: {' '.join(e.because.split())}" for e in EXPLANATIONS if e.letter in letters)
