"""The station that walks from BS0 to BS1: what is measured, and the published findings about it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from statistics import fmean
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.judging import Finding, counted, every, positive, within
from roamsim.tables.words import count

from .conditions import of_walk
from .findings import NAMES, THREE, UNCHANGED, VARIANTS

SPEEDS_KMH = (2, 4, 10)
WALK_M = 20.0
#: The transfer begins, and n3 sets out, at these seconds of the run.
BEGINS_S, SETS_OUT_S = 35, 40
#: The queue and the retransmissions of table V.
FIFTY = 50
#: The publication's order of the variants while moving, the best first.
OVERALL = ("tahoe", "sack", "newreno", "vegas", "reno")


def by_second(tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """A row for each whole second of the run while the transfer lasts: what arrived in order within it, in bit/s."""
    flows, samples = tables["flows"], tables["samples"]
    ftp = list(flows["name"]).index("ftp")
    begin_s, end_s = int(flows["start_s"][ftp]), int(flows["stop_s"][ftp])
    arrived = [0.0] * (end_s - begin_s)
    before = 0.0
    for at_s, name, quantity, octets in zip(
        samples["time_s"], samples["name"], samples["quantity"], samples["value"], strict=True
    ):
        if name == "ftp" and quantity == "delivered":
            if at_s < end_s:
                arrived[int(at_s) - begin_s] += 8 * (octets - before)
            before = octets
    return {"second": list(range(begin_s, end_s)), "throughput_bps": arrived}


@dataclass(frozen=True)
class Walks:
    """The FTP flow while n3 walks, in the runs of an experiment, under one condition."""

    data: Data
    experiment: str = "moving"
    at: Mapping[str, Any] = field(default_factory=dict)

    def throughputs(self, speed_kmh: int, **where: Any) -> dict[int, float]:
        """The mean throughput of a point from setting out to arrival, in each replication (bit/s)."""
        until = SETS_OUT_S + int(WALK_M / (speed_kmh / 3.6))
        found: dict[int, list[float]] = {}
        for row in self.data.rows(self.experiment, speed_kmh=speed_kmh, **self.at, **where):
            if SETS_OUT_S <= row["second"] < until:
                found.setdefault(row["replication"], []).append(row["throughput_bps"])
        return {replication: fmean(seconds) for replication, seconds in found.items()}

    def throughput(self, speed_kmh: int, **where: Any) -> Estimate:
        """Its mean over replications in Mb/s."""
        return statistics.mean(list(self.throughputs(speed_kmh, **where).values())).scaled(1e-6)

    def gain(self, here: Mapping[str, Any], there: Mapping[str, Any]) -> Estimate:
        """By how many percent a point is ahead of another one, in pairs of replications."""
        ours, others = self.throughputs(**here), self.throughputs(**there)
        both = sorted(ours.keys() & others.keys())
        return statistics.paired_ratio([others[r] for r in both], [ours[r] for r in both]).scaled(100)

    def has(self, dimension: str, label: int) -> bool:
        """Whether there are runs of this value of a dimension."""
        return label in self.data.labels(self.experiment, dimension)


def _point(variant: str, speed_kmh: int, ifq: int = FIFTY, retransmissions: int = THREE) -> dict[str, Any]:
    return {"variant": variant, "speed_kmh": speed_kmh, "ifq": ifq, "retransmissions": retransmissions}


def _unchanged(data: Data, speeds: Sequence[int], base: int, others: Sequence[int]) -> Finding:
    runs = Walks(data, "moving-retransmissions")
    return every(
        [
            within(
                runs.gain(
                    _point(variant, speed, retransmissions=number), _point(variant, speed, retransmissions=base)
                ),
                -UNCHANGED,
                UNCHANGED,
                f"{NAMES[variant]}, {speed} km/h: {count(number, 'retransmission')} over {base} (%)",
            )
            for variant, speed, number in product(VARIANTS, speeds, others)
            if runs.has("retransmissions", number) and runs.has("speed_kmh", speed)
        ]
    )


def retransmissions_do_not_matter_when_slow(data: Data) -> Finding:
    """4a: at 2 km/h throughput with 1, 2 or 4 retransmissions is that with 3."""
    return _unchanged(data, (2,), THREE, (1, 2, 4))


def retransmissions_do_not_matter_above_two(data: Data) -> Finding:
    """4b: at 4 and 10 km/h throughput with 4 retransmissions is that with 3."""
    return _unchanged(data, (4, 10), THREE, (4,))


def queue_matters_when_moving(data: Data) -> Finding:
    """4c: each longer queue carries more, of each variant at each speed."""
    runs = Walks(data)
    points = list(product(VARIANTS, SPEEDS_KMH, pairwise(data.labels("moving", "ifq"))))
    return every(
        [
            positive(
                runs.gain(_point(variant, speed, ifq=int(more)), _point(variant, speed, ifq=int(less))),
                f"{NAMES[variant]}, {speed} km/h: IFQ {more} over {less} (%)",
            )
            for variant, speed, (less, more) in points
        ]
    )


def speed_lowers_throughput(data: Data) -> Finding:
    """4d: each variant carries less the faster n3 walks."""
    return of_walk(data, Walks, _less_when_faster)


def _less_when_faster(runs: Walks) -> Finding:
    points = list(product(VARIANTS, pairwise(SPEEDS_KMH)))
    return every(
        [
            positive(
                runs.gain(_point(variant, slower), _point(variant, faster)),
                f"{NAMES[variant]}: {slower} over {faster} km/h (%)",
            )
            for variant, (slower, faster) in points
        ]
    )


def _overall(runs: Walks, first: str, second: str) -> Finding:
    """Whether a variant is ahead of another in the mean of all queues and speeds."""

    def mean(variant: str) -> dict[int, float]:
        points = [
            runs.throughputs(**_point(variant, speed, ifq=int(ifq)))
            for speed, ifq in product(SPEEDS_KMH, runs.data.labels(runs.experiment, "ifq"))
        ]
        return {replication: fmean(point[replication] for point in points) for replication in points[0]}

    ours, others = mean(first), mean(second)
    lead = statistics.paired_ratio([others[r] for r in ours], [ours[r] for r in ours]).scaled(100)
    return positive(lead, f"{NAMES[first]} over {NAMES[second]} (%), over all queues and speeds")


def overall_order(data: Data) -> Finding:
    """4e: Tahoe, SACK, NewReno, Vegas, Reno, over all queues and speeds."""
    return of_walk(data, Walks, lambda runs: every([_overall(runs, *pair) for pair in pairwise(OVERALL)]))


def tahoe_best_moving(data: Data) -> Finding:
    """5b: Tahoe is ahead of each other variant, over all queues and speeds."""
    others = [other for other in VARIANTS if other != "tahoe"]
    return of_walk(data, Walks, lambda runs: every([_overall(runs, "tahoe", other) for other in others]))


@cache
def published_ranks() -> dict[tuple[str, int], int]:
    """Table V: the rank of each variant (1 is best) at each speed (km/h)."""
    with (Path(__file__).parent / "published-ranking.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {(row[f"v_{speed}kmh"], speed): int(row["rank"]) for row in rows for speed in SPEEDS_KMH}


def published_order(first: str, second: str, speed_kmh: int) -> tuple[str, str]:
    """Two variants as table V has them, the better one first."""
    ranks = published_ranks()
    return (first, second) if ranks[first, speed_kmh] < ranks[second, speed_kmh] else (second, first)


def order_at(runs: Walks, first: str, second: str, speed_kmh: int) -> tuple[Finding, Estimate]:
    """Whether two variants have the order of table V, and by how many percent its better one is ahead."""
    better, worse = published_order(first, second, speed_kmh)
    lead = runs.gain(_point(better, speed_kmh), _point(worse, speed_kmh))
    return positive(lead, f"{NAMES[better]} over {NAMES[worse]}, {speed_kmh} km/h (%)"), lead


def ranking(data: Data) -> Finding:
    """4f: the order of each two variants at each speed is that of table V."""
    pairs = list(product(combinations(VARIANTS, 2), SPEEDS_KMH))
    return of_walk(
        data, Walks, lambda runs: counted([order_at(runs, *pair, speed)[0] for pair, speed in pairs], "orders")
    )


def mac_matters_more_when_fast(data: Data) -> Finding:
    """6a: more retransmissions, and a longer queue, gain more at 10 than at 2 km/h, in the mean of the variants."""
    ifqs = [int(ifq) for ifq in data.labels("moving", "ifq")]
    return every(
        [
            _gains_more_when_fast(Walks(data, "moving-retransmissions"), "retransmissions", THREE, 1),
            _gains_more_when_fast(Walks(data), "ifq", max(ifqs), min(ifqs)),
        ]
    )


def _gains_more_when_fast(runs: Walks, dimension: str, more: int, fewer: int) -> Finding:
    def gains(speed: int) -> dict[int, float]:
        points = [
            [runs.throughputs(**{**_point(variant, speed), dimension: label}) for label in (more, fewer)]
            for variant in VARIANTS
        ]
        above, below = ({r: fmean(point[i][r] for point in points) for r in points[0][i]} for i in (0, 1))
        return {r: 100 * (above[r] / below[r] - 1) for r in above if below.get(r)}

    slow, fast = gains(2), gains(10)
    both = sorted(slow.keys() & fast.keys())
    what = {"retransmissions": f"{count(more, 'retransmission')} over {fewer}", "ifq": f"IFQ {more} over {fewer}"}[
        dimension
    ]
    return positive(
        statistics.mean([fast[r] - slow[r] for r in both]), f"gain of {what} at 10 km/h less that at 2 (points)"
    )


def moving_carries_less(data: Data) -> Finding:
    """5c: each variant carries less on its way, at each speed, than standing at 5 m."""
    runs = Walks(data)

    def standing(variant: str) -> dict[int, float]:
        at: dict[str, Any] = {"variant": variant, "ifq": FIFTY, "retransmissions": THREE, "distance_m": 5}
        return data.by_replication("standing", "goodput_bps", **at)

    def gain(variant: str, speed: int) -> Estimate:
        moving, still = runs.throughputs(**_point(variant, speed)), standing(variant)
        both = sorted(moving.keys() & still.keys())
        return statistics.paired_ratio([moving[r] for r in both], [still[r] for r in both]).scaled(100)

    points = list(product(VARIANTS, SPEEDS_KMH))
    return every(
        [
            positive(gain(variant, speed), f"{NAMES[variant]}: standing at 5 m over {speed} km/h (%)")
            for variant, speed in points
        ]
    )


#: The ways to choose a rate: the fixed ones first.
FIXED_RATES = ("24 Mb/s", "54 Mb/s")
ADAPTED_RATES = ("54 Mb/s, by signal", "54 Mb/s, ARF", "54 Mb/s, AARF")


def rate_gain(data: Data, here: str, there: str, speed_kmh: int) -> Estimate:
    """By how many percent one way to choose the rate is ahead of another, in the mean of the variants, in pairs."""

    def mean(rate: str) -> dict[int, float]:
        runs = Walks(data, "rates", {"rate": rate})
        points = [runs.throughputs(speed_kmh, variant=variant) for variant in data.labels("rates", "variant")]
        return {replication: fmean(point[replication] for point in points) for replication in points[0]}

    ours, others = mean(here), mean(there)
    return statistics.paired_ratio([others[r] for r in ours], [ours[r] for r in ours]).scaled(100)


def _gains(data: Data, pairs: Sequence[tuple[str, str]]) -> Finding:
    return every(
        [
            positive(rate_gain(data, here, there, int(speed)), f"{here} over {there}, {speed} km/h (%)")
            for (here, there), speed in product(pairs, data.labels("rates", "speed_kmh"))
        ]
    )


def fixed_rate_falls_short(data: Data) -> Finding:
    """7a: 24 Mb/s are ahead of 54 Mb/s without adaptation."""
    return _gains(data, [FIXED_RATES])


def adaptation_gains(data: Data) -> Finding:
    """7b: each way to adapt is ahead of each fixed rate."""
    return _gains(data, list(product(ADAPTED_RATES, FIXED_RATES)))
