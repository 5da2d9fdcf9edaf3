"""Measurements of the published statements, one function a clause; the rule of each stands in statements.toml."""

from __future__ import annotations

import math

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, paired
from roamsim.study.judging import Finding, Value, every, number, positive, within, yes

from .cases import (
    BATCHES,
    BURST_S,
    CASES,
    ERRORS,
    HANDOVERS,
    LOAD,
    POISSON,
    REFERENCE,
    SATURATED,
    air_interface,
    dropped_share,
    mean_between,
)


def _at_limit(data: Data, metric: str, case: str) -> Estimate:
    return data.estimate("throughput", metric, case=case, offered=SATURATED)


# 1. Nominal values


def nominal_maximum(data: Data) -> Finding:
    """1a."""
    rate = data.estimate("nominal", "segments_per_s")
    return every(
        [
            within(rate, 49.5, 50.5, "segments/s"),
            within(_scaled(rate, 8 * 512 / 1000), 0.99 * 204.8, 1.01 * 204.8, "user data (kbit/s)"),
        ]
    )


def shortest_transfer(data: Data) -> Finding:
    """1b."""
    shortest_ms = _scaled(data.estimate("nominal", "shortest_delay_s"), 1000)
    return within(shortest_ms, 19.9, 20.1, "shortest delay (ms)")


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(estimate.mean * factor, estimate.low * factor, estimate.high * factor, estimate.samples)


# 2. The reference case


def teo_of_reference(data: Data) -> Finding:
    """2a."""
    return within(_at_limit(data, "throughput_teo", REFERENCE), 30, 33, "TH_teo (segments/s)")


def limit_of_reference(data: Data) -> Finding:
    """2b."""
    return within(_at_limit(data, "throughput", REFERENCE), 22.5, 27.5, "TH at 50 offered (segments/s)")


# 3. The limit beside what the bearers allow


def _ratio(data: Data, case: str, low: float, high: float) -> Finding:
    return within(_at_limit(data, "ratio", case), low, high, f"TH / TH_teo, {case}")


def ratio_of_reference(data: Data) -> Finding:
    """3a."""
    return _ratio(data, REFERENCE, 0.76, 0.80)


def ratio_with_handovers(data: Data) -> Finding:
    """3b."""
    return _ratio(data, HANDOVERS, 0.76, 0.80)


def ratio_with_batches(data: Data) -> Finding:
    """3c."""
    return _ratio(data, BATCHES, 0.76, 0.80)


def ratio_with_errors(data: Data) -> Finding:
    """3d."""
    return _ratio(data, ERRORS, 0.66, 0.70)


def ratio_under_load(data: Data) -> Finding:
    """3e."""
    return _ratio(data, LOAD, 0.81, 0.85)


def teo_lowest_under_load(data: Data) -> Finding:
    """3f."""
    return every([_less(data, "throughput_teo", LOAD, case) for case in CASES if case != LOAD])


def order_of_ratios(data: Data) -> Finding:
    """3g."""
    return every([_less(data, "ratio", ERRORS, REFERENCE), _less(data, "ratio", REFERENCE, LOAD)])


def _less(data: Data, metric: str, small: str, large: str) -> Finding:
    difference = data.difference(
        "throughput", metric, {"case": small, "offered": SATURATED}, {"case": large, "offered": SATURATED}
    )
    name = {"throughput_teo": "TH_teo", "ratio": "TH / TH_teo"}[metric]
    return positive(difference, f"{name}, {large} less {small}")


# 4. Recovery


def no_timeout(data: Data) -> Finding:
    """4a."""
    rows = data.rows("throughput")
    timeouts = {case: sum(row["timeouts"] for row in rows if row["case"] == case) for case in CASES}
    hours = sum(row["measured_s"] for row in rows) / 3600
    total = sum(timeouts.values())
    text = "; ".join(f"{case}: {count}" for case, count in timeouts.items())
    return yes(
        total == 0,
        f"timeouts of both senders in {number(hours)} hours of {len(rows)} runs: {text}",
        Value("TCP timeouts in all runs", total),
    )


def recovery_succeeds(data: Data) -> Finding:
    """4b."""
    return every(
        [
            within(
                data.estimate("throughput", dropped_share, case=case, offered=SATURATED),
                0,
                1e-4,
                f"share of DLC frames dropped, {case}",
            )
            for case in CASES
        ]
    )


def air_interface_limits(data: Data) -> Finding:
    """4c."""
    parts = []
    for case, factor in ((REFERENCE, 1.0), (ERRORS, 2.0)):
        form = air_interface(factor)
        ratio = _scaled(_at_limit(data, "ratio", case), 1 / form)
        parts.append(within(ratio, 0.95, math.inf, f"TH over {number(form)} TH_teo, {case}"))
    return every(parts)


# 5. Delay at 20 segments/s


def mean_delay(data: Data) -> Finding:
    """5a."""
    return within(data.estimate("delays", "mean_s", arrivals=POISSON), 0, 1, "mean delay (s)")


def tail_of_delay(data: Data) -> Finding:
    """5b."""
    return within(data.estimate("delays", "beyond_10_s", arrivals=POISSON), 0.10, 0.14, "share beyond 10 s")


def heavy_tail(data: Data) -> Finding:
    """5c."""
    share = data.estimate("delays", "beyond_5_means", arrivals=POISSON)
    return within(share, math.exp(-5), 1, "share beyond 5 times the run's mean")


def tail_with_batches(data: Data) -> Finding:
    """5d."""
    return within(data.estimate("delays", "beyond_25_s", arrivals=BATCHES), 0.17, 0.23, "share beyond 25 s")


# 6. A burst of bit errors


def _over_before(data: Data, from_s: float, until_s: float) -> tuple[Estimate, str]:
    """The ratio of two means over replications; few segments of one run make a poor divisor."""
    before = mean_between(data, POISSON, BURST_S[0] - 2, BURST_S[0])
    then = mean_between(data, POISSON, from_s, until_s)
    middle = statistics.mean(list(before.values()))
    ratio = paired(lambda a: a / middle.mean, then)
    at_that_time = statistics.mean(list(then.values()))
    return ratio, f"{number(1000 * at_that_time.mean)} ms beside {number(1000 * middle.mean)} ms"


def burst_raises(data: Data) -> Finding:
    """6a."""
    ratio, text = _over_before(data, *BURST_S)
    return within(ratio, 3, math.inf, f"mean delay in the burst over that before it ({text})")


def burst_without_timeout(data: Data) -> Finding:
    """6b."""
    runs = {(row["arrivals"], row["replication"]): row["timeouts"] for row in data.rows("burst")}
    total = sum(runs.values())
    with_any = sum(count > 0 for count in runs.values())
    return yes(
        total == 0,
        f"timeouts of both senders in {len(runs)} runs: {total}, in {with_any} runs",
        Value("TCP timeouts in all runs", total),
    )


def burst_recovers(data: Data) -> Finding:
    """6c."""
    ratio, text = _over_before(data, BURST_S[1] + 10, BURST_S[1] + 30)
    return within(ratio, 0.9, 1.1, f"mean delay 10 to 30 s after the burst over that before it ({text})")
