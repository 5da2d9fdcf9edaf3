"""Why results differ from a peer's by more than 10 %: mechanisms, seen in traces of both on the same losses."""

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
        letter="b",
        peers=("ns-3",),
        parts=("goodput", "six losses"),
        variants=("newreno",),
        quantities=("goodput, Mb/s", "timeouts"),
        cases=(),
        because="""**Without SACK, ns-3's NewReno sends segments again that were not lost.** After a timeout it goes
back and repeats segments that have arrived; the receiver answers with duplicate ACKs for the
octet `m_recover`, and at that octet ns-3 lets a new recovery begin, where RFC 6582 3.2 step 1
asks for more than `recover` to be acknowledged. In it every ACK is taken as partial and repeats
one more segment that has arrived, whose duplicate is counted as a segment that left the network
and lets a new one go. It feeds itself: six losses at W = 24 led to 1180 retransmissions and 5
timeouts in 60 s. Without loss the overshoot of slow start sets it off; over losses the inflated
window may carry more than the law allows. With SACK, ns-3 does not do it.""",
    ),
    Explanation(
        letter="c",
        peers=("ns-3",),
        parts=("six losses",),
        variants=("newreno", "sack"),
        quantities=("timeouts", "recovery, s"),
        cases=("newreno", "16", "24", "32", "48", "64"),
        because="""**ns-3's timer runs on** from the last ACK before the loss when a repair begins (as Roamsim's did,
see above): RTO less a round trip later it expires, though the repair is under way. SACK then
repeats segments that have arrived, and the six losses are repaired in the same time. NewReno is
quicker by it: going back in slow start takes fewer round trips than one hole a round trip.""",
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
]
