"""Measurements of the published statements, whose rules stand in statements.toml; of throughput by findings.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations, product

from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.entries import Label
from roamsim.study.judging import Finding, Value, counted, every, positive, simultaneous, within

from .conditions import with_conditions
from .disciplines import others_do_not_wait, transfer_loses_nothing
from .findings import DISTANCES_M, FINDINGS, NAMES, THREE, VARIANTS, Runs
from .study import published_delays_ms
from .walk import (
    FIFTY,
    SPEEDS_KMH,
    Walks,
    adaptation_gains,
    fixed_rate_falls_short,
    mac_matters_more_when_fast,
    moving_carries_less,
    overall_order,
    queue_matters_when_moving,
    ranking,
    retransmissions_do_not_matter_above_two,
    retransmissions_do_not_matter_when_slow,
    speed_lowers_throughput,
    tahoe_best_moving,
)

__all__ = [
    "adaptation_gains",
    "fixed_rate_falls_short",
    "mac_matters_more_when_fast",
    "moving_carries_less",
    "others_do_not_wait",
    "overall_order",
    "queue_matters_when_moving",
    "ranking",
    "retransmissions_do_not_matter_above_two",
    "retransmissions_do_not_matter_when_slow",
    "speed_lowers_throughput",
    "tahoe_best_moving",
    "transfer_loses_nothing",
]

IFQS = (25, 50, 100)
#: Percent within which a published level agrees.
TOLERANCE = 10.0


def _of(clause: str, data: Data) -> Finding:
    """A finding of the experiment that decides, and the conditions that turn it round."""
    measure = FINDINGS[clause][1]
    return with_conditions(
        measure(Runs(data)),
        data,
        "conditions",
        lambda condition: measure(Runs(data, "conditions", {"condition": condition})),
    )


def retransmissions_do_not_matter_near(data: Data) -> Finding:
    """1a."""
    return _of("1a", data)


def retransmissions_do_not_matter_far(data: Data) -> Finding:
    """1e."""
    return _of("1e", data)


def no_need_of_retransmissions(data: Data) -> Finding:
    """1f."""
    return _of("1f", data)


def neither_matters(data: Data) -> Finding:
    """1g."""
    return _of("1g", data)


def queue_is_the_product(_data: Data) -> Finding:
    """1h: the longest round trip times 20 Mb/s, in packets of 552 octets, is one of the queues of table III."""
    # From A3 over A0 to the base station and back: 2 (30 + 10) ms; 20 Mb/s of it are 200,000 octets.
    packets = 2 * (30 + 10) * 20_000 / 8 / 552
    words = f"80 ms times 20 Mb/s: {packets:.0f} packets; table III has 25, 50 and 100"
    return Finding("differs", words, (Value("packets", packets),), source="exact law", brief=words)


def longer_queue_is_better(data: Data) -> Finding:
    """1b."""
    return _of("1b", data)


def queue_matters_most_when_near(data: Data) -> Finding:
    """1c."""
    return _of("1c", data)


def falls_with_distance(data: Data) -> Finding:
    """1d."""
    return _of("1d", data)


def sack_best_near(data: Data) -> Finding:
    """2a."""
    return _of("2a", data)


def tahoe_nearly_worst(data: Data) -> Finding:
    """2b."""
    return _of("2b", data)


def tahoe_passes_sack(data: Data) -> Finding:
    """2c."""
    return _of("2c", data)


def newreno_slightly_better(data: Data) -> Finding:
    """2d."""
    return _of("2d", data)


def reno_passes_newreno(data: Data) -> Finding:
    """2e."""
    return _of("2e", data)


def tahoe_best_far(data: Data) -> Finding:
    """2f."""
    return _of("2f", data)


def vegas_fourth_reno_last(data: Data) -> Finding:
    """2g."""
    return _of("2g", data)


def sack_and_newreno_overlap(data: Data) -> Finding:
    """2h."""
    return _of("2h", data)


def sack_over_newreno_with_short_queue(data: Data) -> Finding:
    """2i."""
    return _of("2i", data)


def three_are_equal(data: Data) -> Finding:
    """2j."""
    return _of("2j", data)


def sack_best_standing(data: Data) -> Finding:
    """5a."""
    return _of("5a", data)


def version_and_queue_matter(data: Data) -> Finding:
    """5d: at each place the clearest lead of a variant, and of a queue, with intervals that hold for all pairs."""
    still, walks = Runs(data), Walks(data)
    pairs = list(combinations(VARIANTS, 2))

    def standing(variant: str, ifq: int, metres: int) -> dict[str, Label]:
        return {"variant": variant, "ifq": ifq, "distance_m": metres, "retransmissions": THREE}

    def moving(variant: str, ifq: int, speed: int) -> dict[str, Label]:
        return {"variant": variant, "ifq": ifq, "speed_kmh": speed, "retransmissions": THREE}

    def lead(where: Callable[..., dict[str, Label]], gain: Callable[..., Estimate], at: int, what: str) -> Finding:
        by_variant = {
            f"{NAMES[one]} over {NAMES[other]}": gain(where(one, FIFTY, at), where(other, FIFTY, at))
            for one, other in pairs
        }
        queues = [int(ifq) for ifq in data.labels("standing" if where is standing else "moving", "ifq")]
        by_queue = {
            f"{NAMES[variant]}, IFQ {more} over {less}": gain(where(variant, more, at), where(variant, less, at))
            for variant in VARIANTS
            for less, more in combinations(queues, 2)
        }
        return every([_clearest(leads, what) for leads in (by_variant, by_queue)])

    found = every(
        [
            *(
                lead(standing, lambda here, there: still.gain(there, **here), metres, f"{metres} m")
                for metres in DISTANCES_M
            ),
            *(lead(moving, walks.gain, speed, f"{speed} km/h") for speed in SPEEDS_KMH),
        ]
    )
    return replace(found, brief=found.ours.replace(", either way", ", without its sign"))


def _clearest(leads: Mapping[str, Estimate], where: str) -> Finding:
    """The lead that lies furthest from zero, by its interval that holds for all of them; either may be ahead."""
    joint = {what: simultaneous(lead, len(leads)) for what, lead in leads.items()}
    clear = {what: abs(lead.mean) / lead.half_width if lead.half_width > 0 else 0.0 for what, lead in joint.items()}
    what = max(clear, key=lambda one: clear[one])
    lead = joint[what]
    ahead = lead if lead.mean > 0 else Estimate(-lead.mean, -lead.high, -lead.low, lead.samples)
    return positive(ahead, f"{where}: {what} (%), either way")


# 3. Delay of the FTP flow


def delays_in_range(data: Data) -> Finding:
    """3a: every mean delay lies in the published range."""

    def measure(experiment: str, at: Mapping[str, Label]) -> Finding:
        return every(
            [
                within(_delay_ms(data, experiment, *point, at), 45, 67, _point_words(*point))
                for point in product(VARIANTS, _queues(data, experiment), DISTANCES_M)
            ]
        )

    return _of_delays(data, measure)


def _of_delays(data: Data, measure: Callable[[str, Mapping[str, Label]], Finding]) -> Finding:
    """A finding of delays, and the conditions that turn it round."""
    return with_conditions(
        measure("standing", {}), data, "conditions", lambda condition: measure("conditions", {"condition": condition})
    )


def _queues(data: Data, experiment: str) -> list[int]:
    """The published queues that an experiment has."""
    return [ifq for ifq in IFQS if ifq in data.labels(experiment, "ifq")]


def _delay_ms(data: Data, experiment: str, variant: str, ifq: int, metres: int, at: Mapping[str, Label]) -> Estimate:
    """The mean packet delay in milliseconds, with 3 retransmissions."""
    where: dict[str, Label] = {"variant": variant, "ifq": ifq, "distance_m": metres, "retransmissions": THREE, **at}
    return data.estimate(experiment, "packet_delay_s", **where).scaled(1000)


def _point_words(variant: str, ifq: int, metres: int) -> str:
    return f"{NAMES[variant]}, IFQ {ifq}, {metres} m (ms)"


def vegas_keeps_its_delay(data: Data) -> Finding:
    """3b: Vegas' delay with 100 packets is that with 25."""

    def measure(experiment: str, condition: Mapping[str, Label]) -> Finding:
        findings = []
        for metres in DISTANCES_M:
            at: dict[str, Label] = {"variant": "vegas", "ifq": 100, "distance_m": metres, "retransmissions": THREE}
            at |= condition
            change = data.compared(experiment, "packet_delay_s", "gain_over", {"ifq": 25}, **at).scaled(100)
            findings.append(within(change, -5, 5, f"Vegas' delay with IFQ 100 over that with 25 (%), {metres} m"))
        return every(findings)

    return _of_delays(data, measure)


def order_of_delays(
    data: Data,
    pair: tuple[str, str],
    ifq: int,
    metres: int,
    experiment: str = "standing",
    condition: Mapping[str, Label] | None = None,
) -> Finding:
    """Whether two variants have the published order of their delays, by the paired difference."""
    there = published_delays_ms()
    longer, shorter = sorted(pair, key=lambda variant: -there[variant, metres, ifq])
    at: dict[str, Label] = {
        "variant": longer,
        "ifq": ifq,
        "distance_m": metres,
        "retransmissions": THREE,
        **(condition or {}),
    }
    more = data.compared(experiment, "packet_delay_s", "less", {"variant": shorter}, **at).scaled(1000)
    return positive(more, f"{NAMES[longer]} over {NAMES[shorter]}, IFQ {ifq}, {metres} m (ms)")


def delay_orders(data: Data) -> Finding:
    """3c: the order of each two variants at each queue and distance is the published one."""

    def measure(experiment: str, condition: Mapping[str, Label]) -> Finding:
        points = product(combinations(VARIANTS, 2), _queues(data, experiment), DISTANCES_M)
        return counted(
            [order_of_delays(data, pair, ifq, metres, experiment, condition) for pair, ifq, metres in points],
            "orders",
        )

    return _of_delays(data, measure)


def delay_levels(data: Data) -> Finding:
    """3d: each mean delay is the published one."""

    def measure(experiment: str, condition: Mapping[str, Label]) -> Finding:
        findings = []
        for variant, ifq, metres in product(VARIANTS, _queues(data, experiment), DISTANCES_M):
            there = published_delays_ms()[variant, metres, ifq]
            ours = _delay_ms(data, experiment, variant, ifq, metres, condition)
            least, most = ((1 + side * TOLERANCE / 100) * there for side in (-1, 1))
            findings.append(within(ours, least, most, _point_words(variant, ifq, metres)))
        return counted(findings, "levels")

    return _of_delays(data, measure)
