"""What several files of this study need: names of cases, the limit, the burst, the air interface."""

from __future__ import annotations

from collections.abc import Iterable

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Row
from roamsim.study.judging import number
from roamsim.theory import dect

REFERENCE, ERRORS, HANDOVERS = "reference", "doubled BER", "doubled handover probability"
LOAD = "high background load"
POISSON, BATCHES = "Poisson arrivals", "batch arrivals"
#: Receive windows under which TCP's timeouts are counted; the first is the chosen one.
WINDOWS = ("16 KiB", "8 KiB", "4 KiB")
#: Arrivals in batches by their mean size, ascending; the publication gives none.
BATCH_SIZES = {50: BATCHES, 100: "batches of 100"}
#: Limit of TH beside TH_teo as published, from and to.
PUBLISHED_RATIO = {REFERENCE: (0.76, 0.80), ERRORS: (0.68, 0.68), HANDOVERS: (0.76, 0.80), LOAD: (0.83, 0.83)}
PUBLISHED_RATIO[BATCHES] = PUBLISHED_RATIO[REFERENCE]
#: Subfield error ratios as published, in either state, by multiple of the BER: value, half a digit of it.
PUBLISHED_SUBFIELD_ERRORS = {
    ("good", 1): (0.0135, 5e-5),
    ("bad", 1): (0.2137, 5e-5),
    ("good", 10): (0.127, 5e-4),
    ("bad", 10): (0.913, 5e-4),
}
#: The five cases of figure 5.
CASES = (REFERENCE, ERRORS, HANDOVERS, LOAD, BATCHES)
#: Situation of the sensitivity table below saturation.
BELOW = "20 segments/s"

#: Where the two directions of the connection, and of the access, come from.
SENDERS = {"up": "terminal", "down": "host"}
#: How much is "much higher" (5e; chosen).
MUCH = 2.0
#: The exponential's share beyond five means, e^-5.
HEAVY_TAIL = 0.00674
#: Offered load at which the limit is taken, in segments/s.
SATURATED = 50
#: Segments/s that a bearer can carry: one of its 100 slots a second for each of 20 fragments.
SEGMENTS_PER_BEARER_S = 5.0
#: The burst of figure 6, in seconds.
BURST_S = (5.0, 10.0)


def ip_channel(ber_factor: float) -> dect.IpChannel:
    """The Ip channel at a multiple of the BER."""
    return dect.ip_channel(ber_good=1.7e-4 * ber_factor, ber_bad=3e-3 * ber_factor)


def air_interface(ber_factor: float) -> float:
    """TH / (5 N) that the Ip channel and the ACKs leave, at a multiple of the BER."""
    return dect.saturated_ratio(ip_channel(ber_factor))


def air_interface_of(case: str) -> float:
    """The same in one of the five cases."""
    return air_interface(2.0 if case == ERRORS else 1.0)


def mean_between(rows: Iterable[Row], from_s: float, until_s: float) -> dict[int, float]:
    """Mean delay in each replication of the segments that were generated in a part of the run, in seconds."""
    sums: dict[int, list[float]] = {}
    for row in rows:
        if from_s <= row["from_s"] < until_s:
            of_run = sums.setdefault(row["replication"], [0.0, 0.0])
            of_run[0] += row["segments"] * row["mean_delay_s"]
            of_run[1] += row["segments"]
    return {replication: total / count for replication, (total, count) in sums.items()}


def over_before(rows: Iterable[Row], from_s: float, until_s: float) -> tuple[Estimate, str]:
    """Mean delay in a part of the run over that in the 2 s before the burst, and both in words.

    The interval is Fieller's for pairs of one run.
    """
    rows = list(rows)
    before = mean_between(rows, BURST_S[0] - 2, BURST_S[0])
    then = mean_between(rows, from_s, until_s)
    runs = sorted(before.keys() & then.keys())
    more = statistics.paired_ratio([before[run] for run in runs], [then[run] for run in runs])
    middle, at_that_time = (statistics.mean(list(means.values())).mean for means in (before, then))
    return more.shifted(1), f"{number(1000 * at_that_time)} ms beside {number(1000 * middle)} ms"
