"""Measurements of the published statements, one function a clause; the rule of each stands in statements.toml."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Row
from roamsim.study.judging import Finding, Value, every, number, positive, value_of, with_interval, within, yes

from .cases import (
    BATCH_SIZES,
    BATCHES,
    BURST_S,
    CASES,
    ERRORS,
    HANDOVERS,
    LOAD,
    POISSON,
    REFERENCE,
    SATURATED,
    WINDOWS,
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
            within(rate.scaled(8 * 512 / 1000), 0.99 * 204.8, 1.01 * 204.8, "user data (kbit/s)"),
        ]
    )


def shortest_transfer(data: Data) -> Finding:
    """1b."""
    shortest_ms = data.estimate("nominal", "shortest_delay_s").scaled(1000)
    return within(shortest_ms, 19.9, 20.1, "shortest delay (ms)")


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
    found = {WINDOWS[0]: data.rows("throughput")}
    found |= {window: data.rows("windows", window=window) for window in WINDOWS[1:]}
    counted = {window: {case: _timeouts(rows, case) for case in CASES} for window, rows in found.items()}
    text = "; ".join(
        f"receive window of {window}, {number(_hours(found[window]))} hours: "
        + ", ".join(f"{case} {count}" for case, count in of_cases.items())
        for window, of_cases in counted.items()
    )
    chosen, smallest = counted[WINDOWS[0]], counted[WINDOWS[-1]]
    total = sum(chosen.values())
    finding = yes(total == 0, f"timeouts of both senders, {text}", Value("TCP timeouts in all runs", total))
    # Without high background load the verdict is that of the window.
    other = [case for case in CASES if case != LOAD]
    rests = any(chosen[case] for case in other) and not any(smallest[case] for case in other)
    return replace(
        finding,
        brief=f"{total} in {number(_hours(found[WINDOWS[0]]))} hours; with {WINDOWS[-1]} {sum(smallest.values())} in "
        f"{number(_hours(found[WINDOWS[-1]]))} hours, {smallest[LOAD]} of them under {LOAD}",
        rests_on=(f"a receive window of {WINDOWS[0]} in all cases but {LOAD}",) if rests else (),
    )


def _timeouts(rows: Iterable[Row], case: str) -> int:
    return sum(row["timeouts"] for row in rows if row["case"] == case)


def _hours(rows: Iterable[Row]) -> float:
    return math.fsum(row["measured_s"] for row in rows) / 3600


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
        ratio = _at_limit(data, "ratio", case).scaled(1 / form)
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
    findings = {
        size: within(
            data.estimate("delays", "beyond_25_s", arrivals=arrivals),
            0.17,
            0.23,
            f"share beyond 25 s, batches of {size}",
        )
        for size, arrivals in BATCH_SIZES.items()
    }
    shares = {
        size: data.estimate("delays", "beyond_25_s", arrivals=of).scaled(100) for size, of in BATCH_SIZES.items()
    }
    brief = ", ".join(f"{with_interval(share)} % with batches of {size}" for size, share in shares.items())
    ends = list(shares.values())
    # The share grows with the size: sizes on both sides of the published share, or one at it, leave it to the size.
    one_side = ends[-1].high < 17 or ends[0].low > 23
    whole = every(list(findings.values()))
    if whole.verdict == "agrees" or one_side:
        return replace(whole, brief=brief)
    return Finding(
        "not decidable",
        whole.measured,
        tuple(value_of(f"share beyond 25 s (%), batches of {size}", share) for size, share in shares.items()),
        rests_on=("the size of batches, which is not published",),
        brief=brief,
    )


# 6. A burst of bit errors


def _over_before(data: Data, from_s: float, until_s: float) -> tuple[Estimate, str]:
    """The ratio of two mean delays, with Fieller's interval for pairs of one run."""
    before = mean_between(data, POISSON, BURST_S[0] - 2, BURST_S[0])
    then = mean_between(data, POISSON, from_s, until_s)
    runs = sorted(before.keys() & then.keys())
    more = statistics.paired_ratio([before[run] for run in runs], [then[run] for run in runs])
    ratio = Estimate(1 + more.mean, 1 + more.low, 1 + more.high, more.samples)
    middle, at_that_time = (statistics.mean(list(means.values())).mean for means in (before, then))
    return ratio, f"{number(1000 * at_that_time)} ms beside {number(1000 * middle)} ms"


def burst_raises(data: Data) -> Finding:
    """6a."""
    ratio, text = _over_before(data, *BURST_S)
    return within(ratio, 1, math.inf, f"mean delay in the burst over that before it ({text})")


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
