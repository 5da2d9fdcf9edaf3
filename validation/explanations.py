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
        because="""**ns-2 and ns-3 count ACKs, Roamsim counts octets.** If the receiver acknowledges
every second segment, Roamsim's window grows as fast as with every one (RFC 5681 3.1). The peers add
SMSS²/cwnd for each ACK (its equation 3), so they grow half as fast. By the square-root law this is
a factor of 1.41 if only losses limit the window, and less if the line does. From every segment to
every second, NewReno at p = 0.01 falls to 0.66 in ns-2 and to 0.90 in Roamsim.""",
    ),
    Explanation(
        letter="j",
        peers=("ns-3",),
        parts=("goodput",),
        variants=("vegas",),
        quantities=(),
        cases=("every second",),
        because="""**ns-3's Vegas mistakes the delayed ACK for a queue.** It measures from the first
segment that an ACK covers, so the wait for the second one counts. Its base round trip comes from
the SYN, which is shorter by the time of a full segment, and it rounds Diff up. Without loss its
window stays at 23 segments with every second segment acknowledged, and at 52 with every one. The
path holds 49. In a round trip of at most two measurements it grows by SMSS²/cwnd for each ACK, as
NewReno does (three lists, p = 0.1: 1095 of 1171 steps).""",
    ),
    Explanation(
        letter="b",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("newreno", "vegas"),
        quantities=("goodput, Mb/s", "timeouts"),
        cases=(),
        because="""**Without SACK, ns-3's NewReno retransmits segments that were not lost.** After a
timeout it goes back and repeats segments that have arrived. The receiver answers with duplicate
ACKs for the octet `m_recover`. ns-3 then begins a new recovery, although RFC 6582 3.2 step 1
requires an ACK beyond `recover`. It takes every ACK as partial and repeats another arrived segment,
whose duplicate ACK releases a new one. This feeds itself: six losses at W = 24 led to 1180
retransmissions and 5 timeouts in 60 s. Without loss the overshoot of slow start triggers it. With
losses the inflated window may carry more than the square-root law allows. With SACK it does not
happen. ns-3's Vegas has the same recovery: six losses at W = 24 led to 517 retransmissions in 30 s.
At p = 0.005 it retransmits 2800 to 5500 segments in 30 s, although only about 100 are lost.""",
    ),
    Explanation(
        letter="c",
        peers=("ns-3",),
        parts=("six losses",),
        variants=("newreno", "sack", "vegas"),
        quantities=("timeouts", "recovery, s"),
        cases=("newreno", "vegas", "16", "24", "32", "48", "64"),
        because="""**ns-3 does not restart its timer when a repair begins.** The timer runs on from
the last ACK before the loss. It expires after the RTO less a round trip, during the repair. SACK
then repeats arrived segments and needs the same time for the six losses. NewReno and Vegas are
faster, because slow start takes fewer round trips than a repair of one hole a round trip.""",
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
segments outstanding, besides the two of limited transmit, ns-3 sets the window to 6 and Roamsim to
7. Each halving costs a segment. Of six losses at W = 12 ns-3 repeats one less in the first round
trip, and needs one more round trip in five of the six patterns. The timer (c) and, at small
windows, the growth (f) add to this.""",
    ),
    Explanation(
        letter="e",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("sack",),
        quantities=("recovery, s",),
        cases=("12", "32"),
        because="""**ns-2's pipe counts lost segments.** Its Sack1 takes one segment off the pipe for each
ACK (two for a partial one), and none for a lost segment. RFC 6675 takes lost ones off (IsLost).
With six of 14 lost, Roamsim repeats three to five segments in the first round trip and ns-2 one. At
W = 32 ns-2 is one segment short if the drops come late in the window.""",
    ),
    Explanation(
        letter="f",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("tahoe", "sack"),
        quantities=(),
        cases=("0.1",),
        because="""**Small windows grow faster in Roamsim.** It adds SMSS when a window's octets are
acknowledged: a window of 2 is 3 after two ACKs. ns-2 and ns-3 add SMSS²/cwnd for each ACK: 2
becomes 2.5, then 2.9, and passes 3 with the third ACK. At p = 0.1 windows are 2 to 4 segments, and
an ACK later is mostly a round trip later. With equation 3 in Roamsim and the same losses (three
lists, p = 0.1, 30 s), Tahoe sends what ns-2 sends for 490, 1120 and 710 packets in a row. It
delivers 1336, 1281 and 1001 kB, and ns-2 delivers 1333, 1281 and 999. For SACK ns-2's pipe (e) adds
to this.""",
    ),
    Explanation(
        letter="g",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("vegas", "cubic"),
        quantities=(),
        cases=("every second",),
        because="""**ns-2's Vegas and CUBIC count ACKs, as in a.** Vegas adds 1/cwnd for each ACK of
a round trip that grows, and CUBIC's W_est counts ACKs. Roamsim's Vegas adds a segment a round trip
(Brakmo and Peterson), and its W_est counts octets (RFC 9438 4.3). One loss on 100 Mb/s shows it, by
the growth from the first to the fourth second after it. With every segment acknowledged, Vegas
gains 75 segments in both. With every second one it gains 75 in Roamsim and 37 in ns-2. CUBIC gains
73 in Roamsim either way, and 26 and 11 in ns-2. Roamsim's W_est adds a segment a round trip above
the window before the loss; ns-2's CUBIC of 2007 never adds more than 0.35. At p = 0.1, h adds to
this for Vegas.""",
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
below them was filled; Roamsim measures nothing if an ACK covers a retransmission (Karn). So 680 of
6076 measurements are above 60 ms, although the path takes 41. The timeout is above 71 ms half of
the time, and above 109 ms a quarter of it. Therefore the first duplicate ACK starts no repair, and
windows of 2 to 4 segments give no three duplicates. Of its 173 timeouts over eight lists (p = 0.1,
30 s), 103 come with one or two duplicates, 44 after a lost retransmission, 23 in a chain of holes
(i). On the same losses Roamsim has 88, and 119 without limited transmit.""",
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
retransmission after duplicate ACKs starts this check. At W = 12, 16, 24, 32 and 64 it repeats the
first three losses a round trip apart, and the fourth four seconds later. In Roamsim each
retransmission starts the check, as the papers word it. It repairs all six, one a round trip,
without a timeout.""",
    ),
    Explanation(
        letter="k",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("recovery, s",),
        cases=(),
        because="""**CUBIC grows differently before its first loss.** Roamsim follows the cubic from
K = 0 (RFC 9438 4.10), with W_est a segment a round trip. ns-2 and ns-3 count ACKs: a segment for 25
to 50, and for 20 at most. So the six losses meet other windows than W: at W = 16 Roamsim has 27
segments in flight and ns-2 18, at W = 48 Roamsim 49 and the others 52. The smaller window makes a
repair less in the first round trip and waits one more for it. ns-2 also sends at every second ACK
from the first on, where RFC 6675 waits until the pipe is below cwnd. It reduces to 0.8 (Linux
2.6.22), not 0.7. ns-3's timer (c) repeats segments under way.""",
    ),
    Explanation(
        letter="l",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("timeouts",),
        cases=(),
        because="""**CUBIC's timeouts come later, when the queue overflows**, now and then in 100 s.
In Roamsim the timer expires while a retransmission is under way (W = 16, 32 and 64: all nine). Even
round trips leave RTTVAR near zero, so the RTO is 1.23 to 1.28 s. A retransmission behind a full
queue takes 1.29 s. RFC 6298 asks for no more. ns-2's Linux agent lets RTTVAR fall more slowly. In
ns-3 the timer (c) expires in each repair. How often the queue overflows depends on the growth of k.""",
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
9260 does so only outside of fast recovery, so later losses wait for cwnd, which was just halved.
With `fast_retransmit_in_recovery` (sctp-each) Roamsim retransmits the same packets after the same
SACKs. Only the burst in which each of the six leaves differs.""",
    ),
    Explanation(
        letter="n",
        peers=("ns-3",),
        parts=("wimax",),
        variants=("down",),
        quantities=("delay, ms",),
        cases=("10",),
        because="""**ns-3 sends more before the data.** Its broadcast burst goes first, in BPSK 1/2
with 12 octets a symbol. It has a DL-MAP of 20 octets; a UL-MAP of 31 with one station and 9 more
for each further one; DCD of 59 and UCD of 50, each by chance in 40 % of all frames (over 1978
frames 39.6 and 41.6 %). Roamsim sends DCD and UCD at their interval. So ns-3's data begin 0.27 ms
after the frame with one station, 0.28 with two, 0.35 with five and 0.45 with ten; Roamsim's begin
0.22 ms after it with one. ns-3's frame also lasts 10.111 ms, not 10: 178 symbols each way, and the
gaps. So datagrams wait 0.056 ms more for it.""",
    ),
    Explanation(
        letter="o",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=("red",),
        because="""**RED in ns-3 looks at the queue, not only at its mean.** Like ns-2's, it drops
nothing while at most one packet waits, and then restarts its count. In figure 2 of Floyd and
Jacobson the mean alone decides. The mean takes 500 packets to follow, so after a halving it is
still above min_th when the queue is empty. Roamsim then drops again and halves the window twice, to
9 to 11 segments, in 40 % of the cycles of one SACK flow; ns-3 does so once in 20 s. With ns-3's
condition in Roamsim's RED, goodput is 1.015 and 1.010 times ns-3's (one and five SACK flows). With
ns-3's FlightSize (p) as well it is 1.012 and 1.001, waits 1.06 and 1.04, drops 1.04 and 1.06 times.
For CUBIC with the growth of q: goodput 1.002 and 0.998, 95 % of waits 1.02 and 1.04 times.""",
    ),
    Explanation(
        letter="r",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=("drops",),
        cases=("codel",),
        because="""**CoDel in ns-3 approximates its square root**, as in Linux, by one step of
Newton's method towards 1/sqrt(count) for each drop. It begins at 1 and gives 0.5 for the second
drop, not 0.707. So the second drop comes 50 ms after the first, before the sender can react. In
Roamsim (RFC 8289 section 5.3) it comes after 70.7 ms. In 60 s of one CUBIC flow, after the sixth
second, ns-3 drops 76 to 81 packets and Roamsim 72. With ns-3's step Roamsim's CoDel drops 1.04
times as many packets as ns-3's.""",
    ),
    Explanation(
        letter="q",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=(),
        cases=("codel", "pie", "fq_codel"),
        because="""**CUBIC in Roamsim grows faster beyond the window of the last loss.** W_est adds
9/17 of a segment a round trip, and a whole one above the window before the last reduction (RFC 9438
4.3). In ns-3 it stays at 9/17. So Roamsim's window climbs nearly twice as fast, and the queue is
longer at the next drop. With 9/17 throughout in Roamsim, PIE's 95 % of waits are 1.00 and 1.02
times ns-3's (one and five flows), and CoDel's 0.99 and 0.98.""",
    ),
    Explanation(
        letter="p",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=(),
        because="""**ns-3's window after a loss is smaller**, because its FlightSize leaves out
sacked segments (d). One SACK flow under CoDel goes from 30.7 segments to 14, not 15, so 16.7 round
trips pass to its next loss, not 15. With that FlightSize in Roamsim five SACK flows have 1.03
(CoDel), 1.10 (PIE) and 1.05 (FQ-CoDel) times ns-3's drops, not 1.25 to 1.16. FQ-CoDel's 95 % of
waits are 0.98 times ns-3's, not 0.79. CoDel's mean waits are 1.07 times ns-3's, and 1.06 with
ns-3's square root (r) as well. The growth of small windows (f) was not varied here. Under drop-tail
ns-3's timer (c) expires in most repairs. SACK then goes from 117 segments to 28, in Roamsim to 59;
CUBIC goes to 58, in Roamsim to 82. In ns-3 the queue empties further and is shorter on average.""",
    ),
]


def explanation(part: str, variant: str, labels: tuple[str, ...], quantity: str, peer: str) -> Explanation | None:
    """Why the two differ there, if that is known."""
    return next((e for e in EXPLANATIONS if e.fits(part, variant, labels, quantity, peer)), None)


def listed(letters: Collection[str]) -> str:
    """The explanations of these letters, a line each, in their order here."""
    return "\n".join(f"- {e.letter}: {' '.join(e.because.split())}" for e in EXPLANATIONS if e.letter in letters)
