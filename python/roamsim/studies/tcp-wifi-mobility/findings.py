"""What is measured of throughput: gains in pairs of replications, and the published findings.

A finding is a function of `Runs`, so that it can be asked of the experiment that decides and of each condition alike.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Share
from roamsim.study.judging import Finding, either, every, positive, within
from roamsim.tables.words import count

VARIANTS = ("tahoe", "reno", "newreno", "sack", "vegas")
NAMES: dict[str, str] = tomllib.loads((Path(__file__).parent / "study.toml").read_text(encoding="utf-8"))["study"][
    "words"
]
DISTANCES_M = (5, 10)
THREE = 3

#: Percent up to which two throughputs are the same for "does not change" (1a) and for "overlap", "equal" (2h, 2j).
UNCHANGED, EQUAL = 5.0, 3.0
#: Percent of attempts of which "few" fail (1f).
FEW_FAIL = 1.0
#: Percent up to which one is "slightly" ahead (2d), and "just above" (2f).
SLIGHTLY, JUST_ABOVE = 10.0, 5.0


@dataclass(frozen=True)
class Runs:
    """The FTP flow in the runs of an experiment, under one condition."""

    data: Data
    experiment: str = "standing"
    at: Mapping[str, Any] = field(default_factory=dict)

    def share(self, of: str, trials: str, **where: Any) -> Estimate:
        """What counted trials have of something, over replications and all points that are chosen."""
        return statistics.share(*self.data.counts(self.experiment, Share(of, trials), **self.at, **where))

    def labels(self, dimension: str) -> Sequence[Any]:
        """The values that a dimension takes."""
        return self.data.labels(self.experiment, dimension)

    def gain(self, other: Mapping[str, Any], **where: Any) -> Estimate:
        """By how many percent a point is ahead of another one, in pairs of replications."""
        point = {**self.at, **where}
        return self.data.compared(self.experiment, "goodput_bps", "gain_over", other, **point).scaled(100)

    def ahead(self, first: str, second: str, **where: Any) -> Estimate:
        """By how many percent one variant is ahead of another."""
        return self.gain({"variant": second}, variant=first, **where)

    def throughputs(self, **where: Any) -> dict[int, float]:
        """The throughput of a point in each replication."""
        return self.data.by_replication(self.experiment, "goodput_bps", **self.at, **where)


def _where(**labels: Any) -> str:
    words = {"ifq": "IFQ {}", "distance_m": "{} m"}
    return ", ".join(
        count(value, "retransmission")
        if name == "retransmissions"
        else NAMES.get(value, words.get(name, "{}").format(value))
        for name, value in labels.items()
    )


def _is_ahead(runs: Runs, pairs: Iterable[tuple[str, str]], ifqs: Sequence[int], distances: Sequence[int]) -> Finding:
    """Whether the first of each pair is ahead, at each of the points that there are."""
    points = product(pairs, (ifq for ifq in ifqs if ifq in runs.labels("ifq")), distances)
    return every(
        [
            positive(
                runs.ahead(first, second, ifq=ifq, distance_m=metres, retransmissions=THREE),
                f"{NAMES[first]} over {NAMES[second]} (%), {_where(ifq=ifq, distance_m=metres)}",
            )
            for (first, second), ifq, metres in points
        ]
    )


def _is_between(
    runs: Runs, pairs: Iterable[tuple[str, str]], ifqs: Sequence[int], metres: int, least: float, most: float
) -> Finding:
    """Whether the lead of the first of each pair lies between two percentages."""
    points = product(pairs, (ifq for ifq in ifqs if ifq in runs.labels("ifq")))
    return every(
        [
            within(
                runs.ahead(first, second, ifq=ifq, distance_m=metres, retransmissions=THREE),
                least,
                most,
                f"{NAMES[first]} over {NAMES[second]} (%), {_where(ifq=ifq, distance_m=metres)}",
            )
            for (first, second), ifq in points
        ]
    )


def _is_little_ahead(runs: Runs, pair: tuple[str, str], ifqs: Sequence[int], metres: int, most: float) -> Finding:
    """Whether the first of a pair is ahead, by no more than so many percent."""
    return every([_is_ahead(runs, [pair], ifqs, (metres,)), _is_between(runs, [pair], ifqs, metres, -most, most)])


# 1. Retransmissions, queue, distance


def _retransmissions_do_not_matter(runs: Runs, metres: int) -> Finding:
    """Whether throughput with 1, 2 or 4 retransmissions is that with 3, of each variant and queue."""
    others = [number for number in runs.labels("retransmissions") if number != THREE]
    return every(
        [
            within(
                runs.gain(
                    {"retransmissions": THREE}, variant=variant, ifq=ifq, distance_m=metres, retransmissions=number
                ),
                -UNCHANGED,
                UNCHANGED,
                f"{_where(variant=variant, ifq=ifq, distance_m=metres, retransmissions=number)}, over 3 (%)",
            )
            for variant, ifq, number in product(VARIANTS, runs.labels("ifq"), others)
        ]
    )


def retransmissions_do_not_matter_near(runs: Runs) -> Finding:
    """1a: at 5 m."""
    return _retransmissions_do_not_matter(runs, 5)


def retransmissions_do_not_matter_far(runs: Runs) -> Finding:
    """1e: at 10 m."""
    return _retransmissions_do_not_matter(runs, 10)


def no_need_of_retransmissions(runs: Runs) -> Finding:
    """1f: few attempts fail, with 3 retransmissions, at each distance."""
    findings = []
    for metres in DISTANCES_M:
        at = {"distance_m": metres, "retransmissions": THREE}
        share = runs.share("failed_attempts", "attempts", **at).scaled(100)
        findings.append(within(share, 0, FEW_FAIL, f"attempts of BS1 that fail (%), {metres} m"))
    return every(findings)


def neither_matters(runs: Runs) -> Finding:
    """1g: throughput with each queue is that with 50 packets, and with each retransmissions that with 3."""
    queues = [
        within(
            runs.gain({"ifq": 50}, variant=variant, ifq=ifq, distance_m=metres, retransmissions=THREE),
            -UNCHANGED,
            UNCHANGED,
            f"{_where(variant=variant, ifq=ifq, distance_m=metres)}, over IFQ 50 (%)",
        )
        for variant, ifq, metres in product(VARIANTS, runs.labels("ifq"), DISTANCES_M)
        if ifq != 50 and 50 in runs.labels("ifq")
    ]
    return every([*queues, *(_retransmissions_do_not_matter(runs, metres) for metres in DISTANCES_M)])


def longer_queue_is_better(runs: Runs) -> Finding:
    """1b: each longer queue carries more, of each variant at each distance."""
    ifqs = runs.labels("ifq")
    steps = zip(ifqs[1:], ifqs, strict=False)
    return every(
        [
            positive(
                runs.gain({"ifq": less}, variant=variant, ifq=more, distance_m=metres, retransmissions=THREE),
                f"{_where(variant=variant, distance_m=metres)}: IFQ {more} over {less} (%)",
            )
            for variant, metres, (more, less) in product(VARIANTS, DISTANCES_M, list(steps))
        ]
    )


def queue_matters_most_when_near(runs: Runs) -> Finding:
    """1c: what 100 packets gain over 25, in the mean of the variants, is more at 5 m than at 10 m."""
    gains = {metres: [_gain_of_queue(runs, variant, metres) for variant in VARIANTS] for metres in DISTANCES_M}
    replications = sorted(gains[5][0])
    differences = [fmean(near[r] for near in gains[5]) - fmean(far[r] for far in gains[10]) for r in replications]
    return positive(statistics.mean(differences), "gain of IFQ 100 over 25 at 5 m less that at 10 m (points)")


def _gain_of_queue(runs: Runs, variant: str, metres: int) -> dict[int, float]:
    at = {"variant": variant, "distance_m": metres, "retransmissions": THREE}
    more, less = runs.throughputs(ifq=100, **at), runs.throughputs(ifq=25, **at)
    return {replication: 100 * (more[replication] / less[replication] - 1) for replication in more}


def falls_with_distance(runs: Runs) -> Finding:
    """1d: more at 5 m than at 10 m, of each variant and queue."""
    return every(
        [
            positive(
                runs.gain({"distance_m": 10}, variant=variant, ifq=ifq, distance_m=5, retransmissions=THREE),
                f"{_where(variant=variant, ifq=ifq)}: 5 m over 10 m (%)",
            )
            for variant, ifq in product(VARIANTS, runs.labels("ifq"))
        ]
    )


# 2. Orders of the variants


def _against(first: str) -> list[tuple[str, str]]:
    return [(first, other) for other in VARIANTS if other != first]


def sack_best_near(runs: Runs) -> Finding:
    """2a: SACK ahead of every other at 5 m."""
    return _is_ahead(runs, _against("sack"), (25, 50, 100), (5,))


def _at_either_distance(measure: Callable[[int], Finding]) -> Finding:
    """A finding whose distance the publication does not say."""
    return either({f"at {metres} m": measure(metres) for metres in DISTANCES_M}, "distance")


def tahoe_nearly_worst(runs: Runs) -> Finding:
    """2b: at IFQ 25 all but Reno, last elsewhere, are ahead of Tahoe."""
    pairs = [(other, "tahoe") for other in VARIANTS if other not in ("tahoe", "reno")]
    return _at_either_distance(lambda metres: _is_ahead(runs, pairs, (25,), (metres,)))


def tahoe_passes_sack(runs: Runs) -> Finding:
    """2c: Tahoe ahead of SACK at IFQ 100."""
    return _at_either_distance(lambda metres: _is_ahead(runs, [("tahoe", "sack")], (100,), (metres,)))


def newreno_slightly_better(runs: Runs) -> Finding:
    """2d: NewReno a little ahead of Reno at 5 m, below IFQ 100."""
    return _is_little_ahead(runs, ("newreno", "reno"), (25, 50), 5, SLIGHTLY)


def reno_passes_newreno(runs: Runs) -> Finding:
    """2e: Reno ahead of NewReno at 5 m and IFQ 100."""
    return _is_ahead(runs, [("reno", "newreno")], (100,), (5,))


def tahoe_best_far(runs: Runs) -> Finding:
    """2f: at 10 m with long queues Tahoe is just above SACK, and ahead of the others."""
    others = [(first, second) for first, second in _against("tahoe") if second != "sack"]
    return every(
        [
            _is_little_ahead(runs, ("tahoe", "sack"), (50, 100), 10, JUST_ABOVE),
            _is_ahead(runs, others, (50, 100), (10,)),
        ]
    )


def vegas_fourth_reno_last(runs: Runs) -> Finding:
    """2g: at 10 m with long queues Vegas is behind NewReno and ahead of Reno."""
    return _is_ahead(runs, [("newreno", "vegas"), ("vegas", "reno")], (50, 100), (10,))


def sack_and_newreno_overlap(runs: Runs) -> Finding:
    """2h: at 10 m with long queues SACK and NewReno carry the same."""
    return _is_between(runs, [("sack", "newreno")], (50, 100), 10, -EQUAL, EQUAL)


def sack_over_newreno_with_short_queue(runs: Runs) -> Finding:
    """2i: at 10 m with IFQ 25 SACK is ahead of NewReno."""
    return _is_ahead(runs, [("sack", "newreno")], (25,), (10,))


def three_are_equal(runs: Runs) -> Finding:
    """2j: at 10 m with IFQ 25 Vegas, NewReno and Reno carry the same."""
    pairs = [("vegas", "newreno"), ("newreno", "reno"), ("vegas", "reno")]
    return _is_between(runs, pairs, (25,), 10, -EQUAL, EQUAL)


def sack_best_standing(runs: Runs) -> Finding:
    """5a: over all queues, retransmissions and distances SACK carries more than each other variant."""

    def overall(variant: str) -> dict[int, float]:
        points = [
            runs.throughputs(variant=variant, ifq=ifq, distance_m=metres, retransmissions=number)
            for ifq, metres, number in product(runs.labels("ifq"), DISTANCES_M, runs.labels("retransmissions"))
        ]
        return {replication: fmean(point[replication] for point in points) for replication in points[0]}

    mean = {variant: overall(variant) for variant in VARIANTS}
    replications = sorted(mean["sack"])
    findings = []
    for _, other in _against("sack"):
        ratios = [100 * (mean["sack"][r] / mean[other][r] - 1) for r in replications]
        findings.append(positive(statistics.mean(ratios), f"SACK over {NAMES[other]} (%), over all points"))
    return every(findings)


#: The findings by the ids of their statements, and what each says in a few words.
FINDINGS: Mapping[str, tuple[str, Callable[[Runs], Finding]]] = {
    "1a": ("retransmissions do not matter at 5 m", retransmissions_do_not_matter_near),
    "1b": ("a longer queue carries more", longer_queue_is_better),
    "1c": ("the queue matters most at 5 m", queue_matters_most_when_near),
    "1d": ("throughput falls with distance", falls_with_distance),
    "1e": ("retransmissions do not matter at 10 m", retransmissions_do_not_matter_far),
    "1f": ("the MAC has no need of retransmissions", no_need_of_retransmissions),
    "1g": ("neither queue nor retransmissions matter", neither_matters),
    "2a": ("SACK best at 5 m", sack_best_near),
    "2b": ("Tahoe nearly worst at IFQ 25", tahoe_nearly_worst),
    "2c": ("Tahoe passes SACK at IFQ 100", tahoe_passes_sack),
    "2d": ("NewReno slightly over Reno at 5 m", newreno_slightly_better),
    "2e": ("Reno passes NewReno at IFQ 100, 5 m", reno_passes_newreno),
    "2f": ("Tahoe best at 10 m, long queues", tahoe_best_far),
    "2g": ("Vegas fourth, Reno last at 10 m, long queues", vegas_fourth_reno_last),
    "2h": ("SACK and NewReno overlap at 10 m, long queues", sack_and_newreno_overlap),
    "2i": ("SACK over NewReno at 10 m, IFQ 25", sack_over_newreno_with_short_queue),
    "2j": ("Vegas, NewReno, Reno equal at 10 m, IFQ 25", three_are_equal),
    "5a": ("SACK best standing", sack_best_standing),
}
