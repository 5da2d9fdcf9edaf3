"""Measurements of those published statements that need code; the others, and all rules, stand in statements.toml."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from roamsim import statistics
from roamsim.study.data import Data, Row
from roamsim.study.judging import Finding, Value, every, number, positive, value_of, with_interval, within, yes
from roamsim.study.law import exact

from .cases import (
    BATCH_SIZES,
    BURST_S,
    CASES,
    LOAD,
    MUCH,
    POISSON,
    SATURATED,
    WINDOWS,
    air_interface_of,
    over_before,
)
from .choices import turned_by_choices as turned_by_choices
from .words import ber_words

#: What the first rule of 6a asked for (chosen).
FIRST_RULE = 3.0

# 1. Arithmetic

#: Octets of a segment, those of the heads above the MAC, and those that a MAC packet carries.
SEGMENT, HEADS, PACKET = 512, 42, 29
#: The BER of the two states as the text has them, and the ratios of subfields in error by state and factor.
PRINTED_BER = {"good": 3e-3, "bad": 1.7e-4}
SUBFIELD_BITS = 80
PUBLISHED_RATIOS = {("good", 1): 0.0135, ("bad", 1): 0.2137, ("good", 10): 0.127, ("bad", 10): 0.913}


def packets_of_a_segment(_data: Data) -> Finding:
    """1c."""
    packets = math.ceil((SEGMENT + HEADS) / PACKET)
    words = f"({SEGMENT} + {HEADS}) / {PACKET} = {(SEGMENT + HEADS) / PACKET:.1f}: {packets} packets"
    return _exact(within(exact(packets), 20, 20, "MAC packets of a segment"), words)


def subfields_in_error(_data: Data) -> Finding:
    """1d: each published ratio within half of its last digit."""
    parts, words = [], []
    for (state, factor), published in PUBLISHED_RATIOS.items():
        ratio = 1 - (1 - factor * PRINTED_BER[state]) ** SUBFIELD_BITS
        half_digit = 0.5 * 10 ** -len(str(published).split(".")[1])
        what = f"{state} state, {ber_words(factor)}"
        parts.append(within(exact(ratio), published - half_digit, published + half_digit, what))
        words.append(f"{what}: {ratio:.4f}, published {published}")
    return _exact(every(parts), "; ".join(words))


def static_overhead(_data: Data) -> Finding:
    """1e."""
    share = 1 - 204.8 / 320
    return _exact(within(exact(share), 0.30, 1 / 3, "share of the gross rate"), f"1 - 204.8 / 320 = {share:.2f}")


def _exact(finding: Finding, words: str) -> Finding:
    """A finding by arithmetic alone."""
    return replace(finding, source="exact law", measured=words, brief=words, decided_by=None, replications=0)


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
        brief=f"{total} timeouts in {number(_hours(found[WINDOWS[0]]))} hours with a receive window of "
        f"{WINDOWS[0]}; with {WINDOWS[-1]} {sum(smallest.values())} in "
        f"{number(_hours(found[WINDOWS[-1]]))} hours, {smallest[LOAD]} of them under {LOAD}",
        rests_on=(f"a receive window of {WINDOWS[0]} in all cases but {LOAD}",) if rests else (),
    )


def _timeouts(rows: Iterable[Row], case: str) -> int:
    return sum(row["timeouts"] for row in rows if row["case"] == case)


def _hours(rows: Iterable[Row]) -> float:
    return math.fsum(row["measured_s"] for row in rows) / 3600


def air_interface_limits(data: Data) -> Finding:
    """4c."""
    parts = []
    for case in CASES:
        form = air_interface_of(case)
        ratio = data.estimate("throughput", "ratio", case=case, offered=SATURATED).scaled(1 / form)
        parts.append(within(ratio, 0.95, math.inf, f"TH over {number(form)} TH_teo, {case}"))
    return every(parts)


def rto_adapts(data: Data) -> Finding:
    """4d."""
    adapting, held = (data.rows("rto", retransmission_timer=timer) for timer in ("adapting", "held at 2 s"))
    fewer = statistics.paired_difference([row["timeouts"] for row in adapting], [row["timeouts"] for row in held])
    counts = [sum(row["timeouts"] for row in rows) for rows in (adapting, held)]
    finding = positive(fewer, "timeouts of a run with an RTO held at 2 s less those with one that adapts")
    words = f"{finding.measured}; in {number(_hours(adapting))} hours each {counts[0]} adapting, {counts[1]} held"
    return replace(finding, measured=words)


# 5. Delay at 20 segments/s


def batches_delay(data: Data) -> Finding:
    """5e."""
    findings = []
    for size, arrivals in BATCH_SIZES.items():
        ratio = data.compared("delays", "mean_s", "over", {"arrivals": POISSON}, arrivals=arrivals)
        findings.append(within(ratio, MUCH, math.inf, f"mean delay with batches of {size} over that with Poisson"))
    return every(findings)


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


def burst_raises(data: Data) -> Finding:
    """6a: by the rule, and what the first rule, which asked for a factor of three, says."""
    ratio, text = over_before(data.rows("burst", arrivals=POISSON), *BURST_S)
    finding = within(ratio, 1, math.inf, "mean delay in the burst over that before it")
    first = within(ratio, FIRST_RULE, math.inf, "").verdict
    words = f"{finding.measured} ({text}); by the first rule, {FIRST_RULE:g} times at least, it is: {first}"
    brief = f"{finding.ours}; by the first rule ({FIRST_RULE:g} times): {first}"
    return replace(finding, measured=words, brief=brief)


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
    ratio, text = over_before(data.rows("burst", arrivals=POISSON), BURST_S[1] + 10, BURST_S[1] + 30)
    finding = within(ratio, 0.9, 1.1, "mean delay 10 to 30 s after the burst over that before it")
    return replace(finding, measured=f"{finding.measured} ({text})")
