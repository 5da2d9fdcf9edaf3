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
        because="""**Octets or ACKs counted.** With an ACK for every second segment, Roamsim's window grows as
without: it counts the octets acknowledged, as RFC 5681 3.1 recommends. ns-2 and ns-3 grow by
SMSS²/cwnd an ACK (its equation 3), so half as fast. By the square-root law that is worth a factor
of 1.41 where only losses limit the window, less where the line does. From every segment to every
second ns-2's NewReno falls to 0.66 at p = 0.01, Roamsim's to 0.90.""",
    ),
    Explanation(
        letter="j",
        peers=("ns-3",),
        parts=("goodput",),
        variants=("vegas",),
        quantities=(),
        cases=("every second",),
        because="""**ns-3's Vegas takes the wait for the second segment for a queue.** It measures from the first of
the segments that an ACK covers, against a base from the SYN, which is shorter by the time a full segment
takes; and Diff is rounded up. Without loss its window stays at 23 segments with every second segment
acknowledged, at 52 with every one; the path holds 49. Where a round trip has no more than two
measurements it grows by SMSS²/cwnd an ACK, as NewReno (three lists, p = 0.1: 1095 of 1171 steps).""",
    ),
    Explanation(
        letter="b",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("newreno", "vegas"),
        quantities=("goodput, Mb/s", "timeouts"),
        cases=(),
        because="""**Without SACK, ns-3's NewReno sends segments again that were not lost.** After a timeout it goes
back and repeats segments that have arrived; the receiver answers with duplicate ACKs for the
octet `m_recover`, and at that octet ns-3 lets a new recovery begin, where RFC 6582 3.2 step 1
asks for more than `recover` to be acknowledged. In it every ACK is taken as partial and repeats
one more segment that has arrived, whose duplicate is counted as a segment that left the network
and lets a new one go. It feeds itself: six losses at W = 24 led to 1180 retransmissions and 5
timeouts in 60 s. Without loss the overshoot of slow start sets it off; over losses the inflated
window may carry more than the law allows. With SACK, ns-3 does not do it. Its Vegas has the same
recovery: six losses at W = 24 led to 517 retransmissions in 30 s, of segments already sent once a
round trip before; at p = 0.005 it retransmits 2800 to 5500 segments in 30 s where some 100 are lost.""",
    ),
    Explanation(
        letter="c",
        peers=("ns-3",),
        parts=("six losses",),
        variants=("newreno", "sack", "vegas"),
        quantities=("timeouts", "recovery, s"),
        cases=("newreno", "vegas", "16", "24", "32", "48", "64"),
        because="""**ns-3's timer runs on** from the last ACK before the loss when a repair begins (as Roamsim's did,
see above): RTO less a round trip later it expires, though the repair is under way. SACK then
repeats segments that have arrived, and the six losses are repaired in the same time. NewReno and Vegas
are quicker by it: going back in slow start takes fewer round trips than one hole a round trip.""",
    ),
    Explanation(
        letter="d",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("sack",),
        quantities=(),
        cases=("12", "0.005", "0.01", "0.03", "0.1"),
        because="""**ns-3 halves what is left in the pipe.** Its FlightSize leaves out what SACK blocks have told of
and the segment taken as lost; RFC 6675 5 (4.2) halves all that is outstanding. With 14 segments
outstanding beside the two of limited transmit it sets the window to 6, Roamsim to 7: a segment
less at each halving, and of six losses at W = 12 one less repeated in the first round trip, which
costs one more in five of the six patterns. The timer that runs on (c) comes on top, and at small
windows the growth of f.""",
    ),
    Explanation(
        letter="e",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("sack",),
        quantities=("recovery, s",),
        cases=("12", "32"),
        because="""**ns-2's pipe counts lost segments.** Its Sack1 takes one segment off the pipe for each ACK (two
for a partial one), and none for a segment lost; RFC 6675 takes off what IsLost. With six of 14
lost, Roamsim repeats three to five segments in the first round trip and ns-2 one; at W = 32 ns-2
is one segment short where the drops come late in the window.""",
    ),
    Explanation(
        letter="f",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("tahoe", "sack"),
        quantities=(),
        cases=("0.1",),
        because="""**Growth of small windows.** Roamsim adds SMSS when a window's octets have been acknowledged: a
window of 2 is 3 after two ACKs. SMSS²/cwnd an ACK, in ns-2 and ns-3, makes it 2.5, then 2.9, and
more than 3 with the third. At p = 0.1 windows are 2 to 4 segments, and an ACK later is mostly a
round trip later. An experiment: with equation 3 put into Roamsim and the same losses (three
lists, p = 0.1, 30 s), Tahoe sends what ns-2 sends for 490, 1120 and 710 packets in a row, and
delivers 1336, 1281 and 1001 kB against 1333, 1281 and 999. For SACK ns-2's pipe (e) comes on top.""",
    ),
    Explanation(
        letter="g",
        peers=("ns-2",),
        parts=("goodput",),
        variants=("vegas", "cubic"),
        quantities=(),
        cases=("every second",),
        because="""**ACKs counted, as in a.** ns-2's Vegas adds 1/cwnd an ACK in a round trip that grows, and CUBIC's
W_est counts ACKs; Roamsim's Vegas adds a segment a round trip (Brakmo and Peterson), its W_est counts
octets (RFC 9438 4.3). After one loss on 100 Mb/s, from the first to the fourth second: with every
segment acknowledged Vegas grows by 75 segments in both; with every second one by 75 and by 37 (ns-2).
CUBIC by 73 and 26 with every segment (W_est adds a segment a round trip once it has come to the window
before the loss, RFC 9438 4.3; ns-2's CUBIC of 2007 never more than 0.35), by 73 and 11 with every
second. At p = 0.1, h comes on top for Vegas.""",
    ),
    Explanation(
        letter="h",
        peers=("ns-2",),
        parts=("goodput", "wide"),
        variants=("vegas",),
        quantities=(),
        cases=("0.1", "0.05"),
        because="""**ns-2's Vegas waits for the timer where Roamsim's repairs.** It has no limited transmit, and its
fine-grained timer measures from the first sending of a segment that lay at the receiver until a hole
below it was filled (Roamsim measures nothing where an ACK covers a repeated segment, Karn): 680 of
6076 measurements are above 60 ms where the path has 41, and the timeout that follows is above 71 ms
half of the time, 109 ms a quarter of it. So the first duplicate does not repair, and windows of 2 to
4 segments make no three. Of its 173 timeouts over eight lists (p = 0.1, 30 s), 103 come with one or two
duplicates, 44 because a repeat was lost as well, 23 in a chain of holes (i). On the same losses
Roamsim has 88, and 119 without limited transmit.""",
    ),
    Explanation(
        letter="i",
        peers=("ns-2",),
        parts=("six losses",),
        variants=("vegas",),
        quantities=("recovery, s", "timeouts"),
        cases=(),
        because="""**How long Vegas watches.** After a retransmission the first and the second new ACK are looked at.
In ns-2 only one for duplicates starts the watch, so it repairs three holes and leaves the others to the
timer: at W = 12, 16, 24, 32 and 64 the first, second and third loss are repeated a round trip apart,
the fourth four seconds later. Roamsim takes each retransmission as one, as the papers word it, and
repairs all six, one a round trip, without a timeout.""",
    ),
    Explanation(
        letter="k",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("recovery, s",),
        cases=(),
        because="""**CUBIC before its first loss** follows the cubic from K = 0 in Roamsim (RFC 9438 4.10), with W_est
a segment a round trip. ns-2 and ns-3 count ACKs: a segment for 25 to 50, and for 20 at most. So the
six losses meet other windows than W: at W = 16 Roamsim has 27 in flight and ns-2 18, at W = 48
Roamsim 49, the others 52. The smaller window has a repair less in the first round trip, and waits one more
for it. ns-2 also sends at every second ACK from the first on, where RFC 6675 waits until the pipe is below
cwnd, and reduces to 0.8 (Linux 2.6.22), not 0.7. ns-3's timer (c) repeats what is under way.""",
    ),
    Explanation(
        letter="l",
        peers=("ns-2", "ns-3"),
        parts=("six losses",),
        variants=("cubic",),
        quantities=("timeouts",),
        cases=(),
        because="""**CUBIC's timeouts are later ones**, of the queue that overflows now and then in 100 s.
Roamsim's hit a repeat that is under way, not lost (W = 16, 32 and 64: all nine): even round trips had
left RTTVAR near zero, and the RTO is 1.23 to 1.28 s where a repeat behind a full queue takes 1.29 s;
RFC 6298 asks for no more. ns-2's Linux agent lets RTTVAR fall more slowly. In ns-3 the timer that runs on
(c) expires in each repair. How often the queue overflows depends on the growth of k.""",
    ),
    Explanation(
        letter="m",
        peers=("ns-2",),
        parts=("sctp six losses",),
        variants=("sctp",),
        quantities=("recovery, s",),
        cases=(),
        because="""**RFC 4960's step 3 or RFC 9260's.** In fast recovery ns-2 sends a packet of what a SACK finds lost
at once, whatever cwnd is (RFC 4960 7.2.4). RFC 9260 does so "if not in Fast Recovery": what is found lost within it
waits for cwnd, which has just been halved. With `fast_retransmit_in_recovery` (sctp-each) the same packets are sent
again after the same SACKs, and what differs is which of the six leave in one burst.""",
    ),
    Explanation(
        letter="n",
        peers=("ns-3",),
        parts=("wimax",),
        variants=("down",),
        quantities=("delay, ms",),
        cases=("10",),
        because="""**What ns-3 sends before the data.** Its broadcast burst goes in BPSK 1/2, 12 octets a
symbol, before any burst with data: DL-MAP of 20 octets; UL-MAP of 31 with one station, and 9 more for each
further one, since each has an allocation whether it sends or not; DCD of 59 and UCD of 50, each by chance in 40
% of all frames (over 1978 frames 39.6 and 41.6 %), where Roamsim sends them at their interval. So data begin
0.27 ms after the frame's begin with one station, 0.28 with two, 0.35 with five and 0.45 with ten; in Roamsim
after 0.22 ms with one. And ns-3's frame lasts 10.111 ms, not 10: 178 symbols each way, and the gaps; so
datagrams wait 0.056 ms more for it to begin.""",
    ),
    Explanation(
        letter="o",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=("red",),
        because="""**RED's mean or its queue.** ns-3's RED, as ns-2's, drops nobody while no more than one
packet waits, and then counts anew; in figure 2 of Floyd and Jacobson the mean alone decides. It takes 500
packets to follow, so that behind a halving it is still above min_th when the queue is empty: Roamsim drops
again, and the window is halved twice, to 9 to 11 segments, in 40 % of the cycles of one SACK flow, in ns-3 once
in 20 s. An experiment: with that condition in Roamsim's RED, goodput is 1.015 and 1.010 times ns-3's (one and
five SACK flows); with ns-3's FlightSize (p) as well 1.012 and 1.001, waits 1.06 and 1.04, drops 1.04 and 1.06
times. For CUBIC, with the growth of q: goodput 1.002 and 0.998, 95 % of waits 1.02 and 1.04 times.""",
    ),
    Explanation(
        letter="r",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=("drops",),
        cases=("codel",),
        because="""**CoDel's square root.** ns-3, as Linux, takes one step of Newton's method towards
1/sqrt(count) a drop, which begins at 1 and makes 0.5 of the second, not 0.707: it comes 50 ms behind the first,
before an answer to that has come through, in Roamsim (RFC 8289 section 5.3) 70.7 ms. Of 60 s under one CUBIC
flow ns-3 drops 76 to 81 packets after the sixth, where Roamsim drops 72. An experiment: with that step in
Roamsim's CoDel it drops 1.04 times what ns-3 does.""",
    ),
    Explanation(
        letter="q",
        peers=("ns-3",),
        parts=("queues",),
        variants=("cubic",),
        quantities=(),
        cases=("codel", "pie", "fq_codel"),
        because="""**CUBIC's growth beyond the window of the last loss.** W_est adds 9/17 of a segment a round
trip, and from the window before the last reduction on a whole one (RFC 9438 4.3); in ns-3 it stays at 9/17. So
Roamsim's window climbs on at nearly twice the pace, and the queue is longer when it is told. An experiment:
with 9/17 throughout in Roamsim, PIE's 95 % of waits are 1.00 and 1.02 times ns-3's (one and five flows), and
CoDel's 0.99 and 0.98.""",
    ),
    Explanation(
        letter="p",
        peers=("ns-3",),
        parts=("queues",),
        variants=("sack", "cubic"),
        quantities=(),
        cases=(),
        because="""**ns-3's window behind a loss** is the smaller one. Its FlightSize leaves out what SACK has
told of (d): one SACK flow under CoDel goes from 30.7 segments to 14, not 15, so that 16.7 round trips pass to
its next loss, not 15, a ninth more. With that FlightSize in Roamsim five SACK flows have 1.03 (CoDel), 1.10
(PIE) and 1.05 (FQ-CoDel) times ns-3's drops, not 1.25 to 1.16, FQ-CoDel's 95 % of waits are 0.98 times ns-3's,
not 0.79, and CoDel's mean waits 1.07 times; 1.06 with ns-3's square root as well, which as Linux's takes one
step of Newton's method a drop, and so waits for the second 50 ms and not 70.7. Of the growth of small windows
(f) no experiment was made here. Under drop-tail ns-3's timer runs on (c) and expires in most repairs: from 117
segments SACK goes to 28, in Roamsim to 59, and CUBIC to 58, in Roamsim to 82; the queue is emptied further, and
is shorter on the mean.""",
    ),
]


def explanation(part: str, variant: str, labels: tuple[str, ...], quantity: str, peer: str) -> Explanation | None:
    """Why the two differ there, if that is known."""
    return next((e for e in EXPLANATIONS if e.fits(part, variant, labels, quantity, peer)), None)


def listed(letters: Collection[str]) -> str:
    """The explanations of these letters, a line each, in their order here."""
    return "\n".join(f"- {e.letter}: {' '.join(e.because.split())}" for e in EXPLANATIONS if e.letter in letters)
