"""How each variant repairs the same losses in one window: K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe,
Reno, and SACK TCP" (1996).

The scenario is examples/fall-floyd.toml: a window of 15 segments, 15 to 29, sent in slow start (the paper counts from
0). What is retransmitted is compared in groups: a group is what is sent again within half a round trip, so the groups
stand for the round trips of the repair. A new variant is a row of REPAIRS for each pattern.
"""

from dataclasses import dataclass
from functools import cache

import fall_floyd
import polars as pl
import pytest
import roamsim
from fall_floyd import PATTERNS, SEGMENT_BYTES

# 2 * 100 ms; 1040 B at 8 Mb/s and 0.8 Mb/s, 40 B back: 200 + 1.04 + 10.4 + 0.4 + 0.04 ms.
ROUND_TRIP_S = 0.21188
MIN_RTO_S = 1.0


@dataclass(frozen=True)
class Repair:
    """What a variant does about one pattern of losses."""

    groups: list[list[int]]  # the segments sent again, in order, a list for each round trip
    fast_retransmits: int = 1
    timeouts: int = 0
    lost: list[int] | None = None  # where these are not the segments of the pattern


# Vegas' slow start doubles every other round trip, so that 16 to 29 are not one window, and what is repeated among them
# counts as a packet of the list: its losses are others. A duplicate, or an ACK after a repair, finds a segment that is
# older than the fine-grained timeout.
REPAIRS = {
    "one": {
        # All that arrived behind the hole is acknowledged at once when it is filled. CUBIC repairs as SACK does, here
        # and below; it sends more meanwhile, as it keeps 0.7 of the window instead of half.
        "tahoe": Repair([[15]]),
        "reno": Repair([[15]]),
        "newreno": Repair([[15]]),
        "sack": Repair([[15]]),
        "cubic": Repair([[15]]),
        "vegas": Repair([[15]]),
    },
    "two": {
        # The ACK of 28 lets slow start go on with 29, which is lost as well.
        "tahoe": Repair([[15], [29]]),
        # The ACK of 28 ends the recovery. The new segments that recovery sent, 30 to 34, bring duplicates for 29: a
        # second fast retransmit, and a window halved twice.
        "reno": Repair([[15], [29]], fast_retransmits=2),
        # The same ACK is a partial one: 29 goes at once, in the same recovery.
        "newreno": Repair([[15], [29]]),
        # Nothing above 29 has been told of until 30 to 32 are; then it counts as lost.
        "sack": Repair([[15], [29]]),
        "cubic": Repair([[15], [29]]),
        "vegas": Repair([[15], [28]], fast_retransmits=2, lost=[15, 28]),
    },
    "three": {
        # Slow start goes through 28, which had arrived.
        "tahoe": Repair([[15], [27, 28], [29]]),
        # The second recovery ends with the ACK of 28. Too few segments are then in flight for three duplicates.
        "reno": Repair([[15], [27], [29]], fast_retransmits=2, timeouts=1),
        # A hole a round trip.
        "newreno": Repair([[15], [27], [29]]),
        # Both holes in one round trip.
        "sack": Repair([[15], [27, 29]]),
        "cubic": Repair([[15], [27, 29]]),
        "vegas": Repair([[15], [26], [28]], fast_retransmits=3, lost=[15, 26, 28]),
    },
    "four": {
        "tahoe": Repair([[15], [25, 26], [27, 28, 29]]),
        # After the timeout slow start repeats 29 and 30; 30 was sent in the first recovery and had arrived.
        "reno": Repair([[15], [25], [27], [29, 30]], fast_retransmits=2, timeouts=1),
        "newreno": Repair([[15], [25], [27], [29]]),
        "sack": Repair([[15], [25, 27, 29]]),
        "cubic": Repair([[15], [25, 27, 29]]),
        "vegas": Repair([[15], [24], [26], [28]], fast_retransmits=4, lost=[15, 24, 26, 28]),
    },
    "six": {
        # Half of what is repeated had arrived.
        "tahoe": Repair([[15], [17, 18], [19, 20, 21], [22, 23, 24, 25, 26, 27], [28, 29]]),
        # Eight duplicates only inflate the window to 30: one new segment, one duplicate for 17, and the timer. Slow
        # start repeats what had arrived; that brings duplicates, and a fast retransmit of 31, which was not lost.
        "reno": Repair(
            [[15], [17], [19, 20], [21, 22, 23], [24, 25, 26, 27, 28, 29], [31]], fast_retransmits=2, timeouts=1
        ),
        # Six round trips are longer than the timer, which only the first partial ACK restarts ("Impatient", RFC 6582
        # section 4): it expires after the fifth hole, 60 ms before the ACK of the sixth, and goes back to 25.
        "newreno": Repair([[15], [17], [19], [21], [23], [25], [25, 45, 46, 47, 48, 49, 50]], timeouts=1),
        # Three duplicates that tell of 16, 18 and 20: 15 goes. As others follow, 17 to 25 go in the same round trip.
        "sack": Repair([[15, 17, 19, 21, 23, 25]]),
        "cubic": Repair([[15, 17, 19, 21, 23, 25]]),
        # The repair of 15 is lost as well, and repeated without a timeout.
        "vegas": Repair([[15], [15], [17], [19], [21], [24]], fast_retransmits=6, lost=[15, 17, 19, 21, 15, 24]),
    },
}

#: Those that meet the losses in one window of slow start.
SAME_WINDOW = ["tahoe", "reno", "newreno", "sack", "cubic"]

CASES = [(pattern, variant) for pattern, variants in REPAIRS.items() for variant in variants]


@cache
def run(pattern: str, variant: str) -> roamsim.Result:
    return fall_floyd.run(variant, PATTERNS[pattern])


def events(pattern: str, variant: str, event: str) -> list[tuple[float, int]]:
    """Time and number of the segments of an event; of an ACK, the last segment that it acknowledges."""
    rows = run(pattern, variant).segments.filter(pl.col("event") == event)
    return [(time_s, end // SEGMENT_BYTES) for time_s, end in rows.select("time_s", "end_bytes").iter_rows()]


def groups(pattern: str, variant: str) -> list[list[int]]:
    found: list[list[int]] = []
    start_s = float("-inf")
    for time_s, segment in events(pattern, variant, "retransmitted"):
        if time_s > start_s + ROUND_TRIP_S / 2:
            found.append([])
            start_s = time_s
        found[-1].append(segment)
    return found


def repaired_s(pattern: str, variant: str) -> float:
    """When the sender knows that the whole window of the losses has arrived."""
    return next(time_s for time_s, segment in events(pattern, variant, "acknowledged") if segment >= 29)


def test_the_scenario_is_the_one_described() -> None:
    """The pattern in the file is that of three drops, and before the losses nothing differs between variants."""
    result = roamsim.run(fall_floyd.SCENARIO, trace=["segments"])
    lost = result.segments.filter(pl.col("event") == "lost")["end_bytes"] // SEGMENT_BYTES
    assert lost.to_list() == PATTERNS["three"]
    for variant in SAME_WINDOW:
        first = events("one", variant, "sent")[:29]
        assert [segment for _, segment in first] == list(range(1, 30))
        # Slow start: 1, 2, 4, 8 segments a round trip, and the 14 that the ACKs of the seven before 15 let go.
        rounds = [int((time_s - first[0][0]) / ROUND_TRIP_S + 0.01) for time_s, _ in first]
        assert [rounds.count(number) for number in range(5)] == [1, 2, 4, 8, 14]


@pytest.mark.parametrize(("pattern", "variant"), CASES)
def test_the_named_segments_are_lost_and_no_others(pattern: str, variant: str) -> None:
    lost = [segment for _, segment in events(pattern, variant, "lost")]
    assert lost == (REPAIRS[pattern][variant].lost or PATTERNS[pattern])


@pytest.mark.parametrize(("pattern", "variant"), CASES)
def test_repair(pattern: str, variant: str) -> None:
    """Each variant sends again what REPAIRS says, in that order, with so many fast retransmits and timeouts."""
    repair = REPAIRS[pattern][variant]
    assert groups(pattern, variant) == repair.groups
    flow = run(pattern, variant).flows.row(0, named=True)
    assert (flow["fast_retransmits"], flow["timeouts"]) == (repair.fast_retransmits, repair.timeouts)
    assert flow["retransmissions"] == sum(len(group) for group in repair.groups)


@pytest.mark.parametrize("variant", SAME_WINDOW)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_time_of_a_repair(pattern: str, variant: str) -> None:
    """A round trip, or up to one and a half, for each group that fills a hole; with a timeout the minimum RTO at least.

    A group follows the one before it when its ACK is back, a round trip later; where duplicates must come first, those
    of new segments, sent within the half round trip before.
    """
    repair = REPAIRS[pattern][variant]
    filling = [group for group in repair.groups if set(group) & set(PATTERNS[pattern])]
    took_s = repaired_s(pattern, variant) - events(pattern, variant, "retransmitted")[0][0]
    if repair.timeouts == 0:
        rounds = took_s / ROUND_TRIP_S
        assert len(filling) - 0.01 <= rounds <= 1.5 * len(filling), rounds
    else:
        assert took_s > MIN_RTO_S


@pytest.mark.parametrize("pattern", ["three", "four", "six"])
def test_sack_repairs_first_and_reno_last(pattern: str) -> None:
    """Of the variants that answer three duplicates: SACK, NewReno, Reno."""
    sack, newreno, reno = (repaired_s(pattern, variant) for variant in ("sack", "newreno", "reno"))
    assert sack < newreno < reno


@pytest.mark.parametrize("variant", ["reno", "newreno", "sack"])
def test_fast_recovery_sends_new_segments_while_it_repairs(variant: str) -> None:
    """Tahoe waits for the repair; the others send new segments on the duplicates, and so keep their ACK clock."""
    end_s = repaired_s("one", variant)
    assert [s for t, s in events("one", variant, "sent") if t < end_s][29:] == [30, 31, 32, 33, 34, 35]
    assert [s for t, s in events("one", "tahoe", "sent") if t < repaired_s("one", "tahoe")][29:] == []


@pytest.mark.parametrize("variant", ["newreno", "sack"])
def test_what_arrived_is_not_sent_again_by_newreno_and_sack(variant: str) -> None:
    """Unless the timer expires: each hole is filled once, and nothing else is repeated."""
    for pattern in ("one", "two", "three", "four"):
        assert [s for group in groups(pattern, variant) for s in group] == PATTERNS[pattern]
