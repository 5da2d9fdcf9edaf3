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
        because="""**ns-2 and ns-3 count ACKs, Roamsim counts octets.** Roamsim's window grows as
fast with every second segment acknowledged as with every one (RFC 5681 3.1). The peers add
SMSS²/cwnd for each ACK (its equation 3), which is half as fast. By the square-root law that is a
factor of up to 1.41.""",
    ),
    Explanation(
        letter="j",
        peers=("ns-3",),
        parts=("goodput",),
        variants=("vegas",),
        quantities=(),
        cases=("every second",),
        because="""**ns-3's Vegas mistakes the delayed ACK for a queue.** It measures from the
first segment that an ACK covers, so the wait for the second one counts. Its base round trip comes
from the SYN, which is shorter than a full segment, and it rounds Diff up. Without loss its window
stays at 23 segments, where the path holds 49.""",
    ),
    Explanation(
        letter="b",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("newreno", "vegas"),
        quantities=("goodput, Mb/s", "timeouts"),
        cases=(),
        because="""**Without SACK, ns-3 retransmits segments that were not lost.** After a timeout
it repeats segments that have arrived. Their duplicate ACKs start a new recovery, although RFC 6582
3.2 step 1 requires an ACK beyond `recover`. That recovery repeats more arrived segments: six losses
at W = 24 led to 1180 retransmissions and 5 timeouts in 60 s. The overshoot of slow start triggers
it even without loss. ns-3's Vegas has the same recovery.""",
    ),
    Explanation(
        letter="c",
        peers=("ns-3",),
        parts=("six losses",),
        variants=("newreno", "sack", "vegas"),
        quantities=("timeouts", "recovery, s"),
        cases=("newreno", "vegas", "16", "24", "32", "48", "64"),
        because="""**ns-3 does not restart its timer when a repair begins.** The timer expires
after the RTO less a round trip, during the repair. SACK then repeats arrived segments and needs the
same time for the six losses. NewReno and Vegas are faster, because slow start takes fewer round
trips than a repair of one hole a round trip.""",
    ),
    Explanation(
        letter="d",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("sack",),
        quantities=(),
        cases=("12", "0.005", "0.01", "0.03", "0.1"),
        because="""**ns-3 halves only the rest of the pipe.** Its FlightSize leaves out sacked
segments and the segment taken as lost. RFC 6675 5 (4.2) halves everything outstanding. With 14
segments outstanding ns-3 sets the window to 6 and Roamsim to 7. At W = 12 ns-3 needs one more round
trip in five of the six patterns. The timer (c) and, at small windows, the growth (f) add to this.""",
    ),
    Explanation(
        letter="e",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("sack",),
        quantities=("recovery, s",),
        cases=("12", "32"),
        because="""**ns-2's pipe counts lost segments.** RFC 6675 takes them off (IsLost). With six
of 14 lost, Roamsim repeats three to five segments in the first round trip and ns-2 one.""",
    ),
    Explanation(
        letter="f",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("tahoe", "sack"),
        quantities=(),
        cases=("0.1",),
        because="""**Small windows grow faster in Roamsim.** It adds SMSS when a window's octets
are acknowledged: a window of 2 is 3 after two ACKs. The peers add SMSS²/cwnd for each ACK and need
three. At p = 0.1 windows are 2 to 4 segments. With equation 3 in Roamsim and the same losses, Tahoe
delivers what ns-2's delivers, within 0.3 %. For SACK ns-2's pipe (e) adds to this.""",
    ),
    Explanation(
        letter="g",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("vegas", "cubic"),
        quantities=(),
        cases=("every second",),
        because="""**ns-2's Vegas and CUBIC count ACKs, as in a.** Roamsim's Vegas adds a segment a
round trip (Brakmo and Peterson), and its W_est counts octets (RFC 9438 4.3). Acknowledging every
second segment, Vegas gains 75 segments in three seconds after a loss on 100 Mb/s, and 37 in ns-2.
CUBIC gains 73, and 11 in ns-2. At p = 0.1, h adds to this for Vegas.""",
    ),
    Explanation(
        letter="h",
        peers=("ns-2",),
        parts=("goodput", "wide"),
        variants=("vegas",),
        quantities=(),
        cases=("0.1", "0.05"),
        because="""**ns-2's Vegas waits for the timer where Roamsim's repairs.** It has no limited
transmit. Its fine-grained timer also measures segments that waited at the receiver until a hole
below them was filled; Roamsim measures nothing if an ACK covers a retransmission (Karn). So the
first duplicate ACK starts no repair, and windows of 2 to 4 segments give no three duplicates. On
the same losses ns-2 has 173 timeouts, Roamsim 88, and 119 without limited transmit.""",
    ),
    Explanation(
        letter="i",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("vegas",),
        quantities=("recovery, s", "timeouts"),
        cases=(),
        because="""**ns-2's Vegas repairs only three holes without the timer.** After a
retransmission Vegas checks the first and second new ACK for further losses. In ns-2 only a
retransmission after duplicate ACKs starts this check, so the fourth loss waits for the timer. In
Roamsim each retransmission starts it, as the papers word it.""",
    ),
    Explanation(
        letter="k",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("recovery, s",),
        cases=(),
        because="""**CUBIC grows differently before its first loss.** Roamsim follows the cubic
from K = 0 (RFC 9438 4.10); ns-2 and ns-3 count ACKs. So the six losses meet other windows than W:
at W = 16 Roamsim has 27 segments in flight and ns-2 18. A smaller window repairs less in the first
round trip. ns-2 also reduces to 0.8 (Linux 2.6.22), not 0.7. ns-3's timer (c) repeats segments
under way.""",
    ),
    Explanation(
        letter="l",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("timeouts",),
        cases=(),
        because="""**CUBIC's timeouts come later, when the queue overflows.** In Roamsim a
retransmission behind a full queue takes 1.29 s. Even round trips leave RTTVAR near zero, so the RTO
is 1.23 to 1.28 s, and RFC 6298 asks for no more. ns-2's Linux agent lets RTTVAR fall more slowly.
In ns-3 the timer (c) expires in each repair.""",
    ),
    Explanation(
        letter="m",
        peers=("ns-2",),
        parts=("sctp six losses",),
        variants=("sctp",),
        quantities=("recovery, s",),
        cases=(),
        because="""**ns-2 follows step 3 of RFC 4960, Roamsim that of RFC 9260.** In fast recovery
ns-2 sends a packet at once for every SACK that finds losses, whatever cwnd is (RFC 4960 7.2.4). RFC
9260 does so only outside of fast recovery, so later losses wait for the halved cwnd. With
`fast_retransmit_in_recovery` (sctp-each) Roamsim retransmits the same packets after the same SACKs.""",
    ),
    Explanation(
        letter="n",
        peers=("ns-3",),
        parts=("wimax",),
        variants=("down",),
        quantities=("delay, ms",),
        cases=("10",),
        because="""**ns-3 sends more before the data.** Its broadcast burst goes first, in BPSK
1/2. The UL-MAP takes 9 octets for each further station. DCD and UCD are each in 40 % of all frames,
not at their interval. So ns-3's data begin 0.27 ms after the start of the frame with one station
and 0.45 ms with ten; Roamsim's begin at 0.22 ms with one. ns-3's frame also lasts 10.111 ms, not
10, which adds 0.056 ms.""",
    ),
    Explanation(
        letter="o",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=("red",),
        because="""**RED in ns-3 looks at the queue, not only at its mean.** Like ns-2's, it drops
nothing while at most one packet waits. In figure 2 of Floyd and Jacobson the mean alone decides.
The mean follows the queue slowly, so Roamsim may drop again after a halving and halve the window
twice: in 40 % of the cycles of one SACK flow. With ns-3's condition and FlightSize (p) in Roamsim,
goodput is 1.012 and 1.001 times ns-3's (one and five SACK flows), waits 1.06 and 1.04, drops 1.04
and 1.06 times.""",
    ),
    Explanation(
        letter="r",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=("drops",),
        cases=("codel",),
        because="""**CoDel in ns-3 approximates its square root**, as in Linux, by one step of
Newton's method for each drop. So its second drop comes 50 ms after the first, in Roamsim (RFC 8289
section 5.3) 70.7 ms. With ns-3's step Roamsim's CoDel drops 1.04 times as many packets as ns-3's.""",
    ),
    Explanation(
        letter="q",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=(),
        cases=("codel", "pie", "fq_codel"),
        because="""**CUBIC in Roamsim grows faster beyond the window of the last loss.** There
W_est adds a whole segment a round trip (RFC 9438 4.3). In ns-3 it stays at 9/17. So the queue is
longer at Roamsim's next drop. With 9/17 throughout in Roamsim, PIE's 95 % of waits are 1.00 and
1.02 times ns-3's (one and five flows), and CoDel's 0.99 and 0.98.""",
    ),
    Explanation(
        letter="p",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=(),
        because="""**ns-3's window after a loss is smaller**, because its FlightSize leaves out
sacked segments (d). With that FlightSize in Roamsim five SACK flows have 1.03 (CoDel), 1.10 (PIE)
and 1.05 (FQ-CoDel) times ns-3's drops. CoDel's mean waits stay 1.07 times ns-3's. Under drop-tail
ns-3's timer (c) also expires in most repairs: SACK goes from 117 segments to 28, in Roamsim to 59;
CUBIC goes to 58, in Roamsim to 82. So ns-3's queue is shorter on average.""",
    ),
]


def explanation(part: str, variant: str, labels: tuple[str, ...], quantity: str, peer: str) -> Explanation | None:
    """Why the two differ there, if that is known."""
    return next((e for e in EXPLANATIONS if e.fits(part, variant, labels, quantity, peer)), None)


def listed(letters: Collection[str]) -> str:
    """The explanations of these letters, a line each, in their order here."""
    return "\n".join(f"- {e.letter}: {' '.join(e.because.split())}" for e in EXPLANATIONS if e.letter in letters)
