"""The rules of verdicts."""

import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from roamsim.statistics import Estimate, paired_ratio, share
from roamsim.study.checks import Check, failed, limit
from roamsim.study.judging import (
    Finding,
    either,
    every,
    follows,
    positive,
    rises,
    simultaneous,
    with_interval,
    within,
)


def loss(at: float) -> str:
    return f"a loss of {at:g}"


def estimate(mean: float, half: float) -> Estimate:
    return Estimate(mean, mean - half, mean + half, 10)


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        (1.05, 0.04, "agrees"),  # the interval 1.01..1.09 is inside of 0.9..1.1
        (1.05, 0.5, "not decidable"),  # the mean is inside, the interval 0.55..1.55 is not
        (1.3, 0.1, "differs"),  # the interval 1.2..1.4 is outside of 0.9..1.1
        (1.3, 0.3, "not decidable"),  # the interval 1.0..1.6 straddles the limit
    ],
)
def test_within(mean: float, half: float, verdict: str) -> None:
    finding = within(estimate(mean, half), 0.9, 1.1, "ratio")
    assert finding.verdict == verdict
    assert finding.interval == (pytest.approx(mean - half), pytest.approx(mean + half))


def test_a_finding_names_its_numbers_and_the_one_that_decided() -> None:
    finding = every([within(estimate(1.0, 0.1), 0.5, 1.5, "a"), within(estimate(3.0, 0.2), 0.5, 1.5, "b")])
    assert [(value.what, value.mean) for value in finding.values] == [("a", 1.0), ("b", 3.0)]
    assert finding.decided_by is not None
    assert finding.decided_by.what == "b"
    assert finding.interval == (pytest.approx(2.8), pytest.approx(3.2))
    named = either({"one": within(estimate(3.0, 0.2), 0.5, 1.5, "b"), "two": within(estimate(1.0, 0.1), 0, 2, "a")})
    assert [value.what for value in named.values] == ["one: b", "two: a"]
    assert named.decided_by is not None
    assert named.decided_by.what == "two: a"


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (566.7, 136.7, "570 ± 140"),
        (1234567.0, 1200.0, "1\u202f234\u202f600 ± 1200"),
        (0.0199987, 0.0000123, "0.019999 ± 0.000012"),
        (2.0, 0.0, "2 ± 0"),
        (-0.5, 0.021, "-0.500 ± 0.021"),
        (0.5, math.nan, "0.5"),
    ],
)
def test_numbers_are_written_without_exponents(mean: float, half: float, text: str) -> None:
    assert with_interval(estimate(mean, half)) == text


def test_one_sample_cannot_differ() -> None:
    assert within(Estimate(5.0, math.nan, math.nan, 1), 0.9, 1.1, "ratio").verdict == "not decidable"
    assert within(Estimate(math.nan, math.nan, math.nan, 0), 0.9, 1.1, "ratio").verdict == "not decidable"


def test_follows_names_the_worst_point() -> None:
    curve = {0.1: estimate(0.9, 0.01), 0.2: estimate(0.85, 0.01)}
    finding = follows(curve, lambda p: 1 - p, 0.01, "success", loss)
    assert finding.verdict == "differs"  # 0.8 is 0.04 below the interval 0.84..0.86
    assert "at a loss of 0.2" in finding.measured
    assert finding.values[0].what == "success, at a loss of 0.2"
    assert follows(curve, lambda p: 1 - p, 0.06, "success", loss).verdict == "agrees"  # 0.86 is 0.06 above 0.8


def test_follows_needs_narrow_intervals() -> None:
    # 0.9 ± 0.011 is not within 0.01 of 0.9, and 0.9 ± 0.009 is.
    assert follows({0.1: estimate(0.9, 0.011)}, lambda p: 1 - p, 0.01, "success", loss).verdict == "not decidable"
    assert follows({0.1: estimate(0.9, 0.009)}, lambda p: 1 - p, 0.01, "success", loss).verdict == "agrees"


def test_an_interval_that_is_not_symmetric_has_its_ends_written() -> None:
    assert with_interval(Estimate(1.0, 0.99962, 1.0, 10)) == "1.00000 (0.99962 … 1.00000)"


def test_readings_that_decide_are_named_where_others_say_otherwise() -> None:
    good, bad, open_ = Finding("agrees", "a"), Finding("differs", "b"), Finding("not decidable", "c")
    assert either({"open": good, "acked": bad, "strict": good}, "policy").rests_on == ("policy open or strict alone",)
    assert either({"open": good, "acked": good}, "policy").rests_on == ()
    assert every([good, either({"open": good, "acked": open_}, "policy")]).rests_on == ("policy open alone",)
    turned = replace(good, turned_by=("a default",))
    assert every([open_, turned, turned]).turned_by == ("a default",)


def test_ours_is_the_number_that_decided() -> None:
    assert within(estimate(1.0, 0.12), 0.5, 1.5, "delay (s)").ours == "delay (s): 1.00 ± 0.12"
    assert Finding("agrees", "in words").ours == "in words"
    assert Finding("agrees", "in words", brief="in short").ours == "in short"


def test_positive() -> None:
    assert positive(estimate(1.0, 0.5), "d").verdict == "agrees"
    assert positive(estimate(0.3, 0.5), "d").verdict == "not decidable"
    assert positive(estimate(-1.0, 0.5), "d").verdict == "differs"


def test_rises_allows_noise_but_no_fall() -> None:
    noisy = {0.0: estimate(1.0, 0.1), 0.1: estimate(0.95, 0.1), 0.2: estimate(2.0, 0.1)}
    assert rises(noisy, "delay", loss).verdict == "agrees"
    falling = noisy | {0.3: estimate(1.5, 0.1)}
    assert rises(falling, "delay", loss).verdict == "differs"
    flat = {0.0: estimate(1.0, 0.1), 0.1: estimate(1.05, 0.1)}
    assert rises(flat, "delay", loss).verdict == "not decidable"


def test_every_and_either() -> None:
    good, bad, open_ = Finding("agrees", "a"), Finding("differs", "b"), Finding("not decidable", "c")
    assert every([good, good]).verdict == "agrees"
    assert every([good, open_]).verdict == "not decidable"
    assert every([open_, bad]).verdict == "differs"
    assert every([]).verdict == "not decidable"
    assert either({"one": bad, "two": good}).verdict == "agrees"
    assert either({"one": bad, "two": open_}).verdict == "not decidable"
    assert "two: agrees" in either({"one": bad, "two": good}).measured


def test_checks_fail_beyond_chance_only() -> None:
    # With 50 checks and 1e-3 in all, each may have 2e-5, 1e-5 a side: 4.265 standard errors.
    checks = [Check(f"c{i}", 1.0 + 0.04 * (i % 3 - 1), 1.0, 0.01) for i in range(50)]
    assert limit(checks) == pytest.approx(4.265, abs=1e-3)
    assert failed(checks) == []
    wrong = Check("wrong", 1.05, 1.0, 0.01)
    assert failed([*checks, wrong]) == [wrong]


def test_checks_without_variance_must_be_equal() -> None:
    assert failed([Check("same", 2.0 + 1e-12, 2.0, 0.0)]) == []
    assert len(failed([Check("other", 2.001, 2.0, 0.0)])) == 1
    assert len(failed([Check("missing", math.nan, 2.0, 0.1)])) == 1


def test_what_is_rounded_to_zero_has_no_sign() -> None:
    assert with_interval(Estimate(-0.4, -18.4, 17.6, 5)) == "0 ± 18"
    assert with_interval(Estimate(-0.4, -1.0, 13.0, 5)) == "-0.4 (-1.0 … 13.0)"


def _drawn(draw: random.Random, depth: int) -> Callable[[random.Random], Finding]:
    """A random nested finding, and how its readings are put in another order."""
    if depth == 0:
        mean, half, samples = draw.uniform(-3, 1), draw.uniform(0.3, 1.5), draw.choice((3, 10))
        return lambda _: positive(Estimate(mean, mean - half, mean + half, samples), "difference")
    parts = [_drawn(draw, depth - 1) for _ in range(draw.randint(1, 4))]
    if draw.random() < 0.5:
        return lambda order: every([part(order) for part in parts])

    def of_readings(order: random.Random) -> Finding:
        readings = [(str(number), part(order)) for number, part in enumerate(parts)]
        order.shuffle(readings)
        return either(dict(readings))

    return of_readings


def test_the_order_of_readings_changes_no_verdict() -> None:
    draw = random.Random(1)
    found = set()
    for _ in range(150):
        finding = _drawn(draw, 3)
        verdicts = {finding(draw).verdict for _ in range(4)}
        assert len(verdicts) == 1
        found |= verdicts
    assert found == {"agrees", "differs", "not decidable"}


def test_readings_of_a_part_count_as_the_one_with_most_intervals() -> None:
    # Of 10 samples the interval for 2 together is 1.19 times as wide as that of one, that for 3 together 1.30 times.
    near, far = (positive(estimate(-margin, 1.0), "d") for margin in (1.25, 9.0))
    other = positive(estimate(2.0, 1.0), "d")
    both = either({"far": far, "near": near})
    several = either({"two": every([far, other]), "near": near})
    assert [every([one]).verdict for one in (both, several)] == ["differs"] * 2
    # The part and the other one are 2 intervals, or 3 where one of its readings has 2 itself.
    assert [every([one, other]).verdict for one in (both, several)] == ["differs", "not decidable"]


def test_a_share_near_its_end_is_judged_by_wilson_s_wider_interval() -> None:
    # None of 5 times 100: 0 to 0.0076. For 20 together it is 0 to 0.0180; 2.43 times the half-width, by Student's t of
    # 5 samples, would be 0.0186. Of 100 times 5, Student's t would be too narrow: 0.0120.
    other = within(estimate(5.0, 0.1), 0, 10, "other")
    for none in (share([0] * 5, [100] * 5), share([0] * 100, [5] * 100)):
        assert simultaneous(none, 20).high == pytest.approx(0.01795, abs=1e-5)
        assert every([within(none, 0.0182, 1, "share"), *[other] * 19]).verdict == "differs"
        assert every([within(none, 0.0175, 1, "share"), *[other] * 19]).verdict == "not decidable"


def test_a_ratio_is_judged_by_fieller_s_wider_interval() -> None:
    pairs = [1.0, 1.4, 0.6, 1.1, 0.9], [0.3, 0.1, 0.5, 0.2, 0.4]
    ratio = paired_ratio(*pairs)
    assert simultaneous(ratio.shifted(1).scaled(2), 4) == paired_ratio(*pairs, level=0.9875).shifted(1).scaled(2)
    assert simultaneous(ratio, 4).high - ratio.mean > 1.5 * (ratio.high - ratio.mean)


def test_a_curve_differs_where_any_of_its_points_lies_outside_by_the_wider_interval() -> None:
    # Student's t of 3 samples is 4.30, of 2 intervals together 6.21, of 12 together 15.4: 3.0 is 2.08 half-widths of
    # 1.44, and 0.84 of 3.59. Of 10 samples it is 2.26, 2.69 and 3.81: 1.9 is 1.60 half-widths of 1.19, and 1.13 of 1.68.
    few, many, other = Estimate(-3.0, -4.0, -2.0, 3), estimate(-1.9, 1.0), positive(estimate(2.0, 1.0), "d")
    finding = follows({0: few, 1: many}, lambda _: 0.0, 0.0, "delay", loss)
    assert "deviation -3 at a loss of 0" in finding.measured
    assert every([finding, *[other] * 10]).verdict == "differs"
    assert every([follows({0: few}, lambda _: 0.0, 0.0, "delay", loss), *[other] * 11]).verdict == "not decidable"
    # A fall from a certain 0 to the one or to the other is as far; of 3 points 3.0 is 1.69 half-widths, 1.9 is 1.46.
    finding = rises({0: Estimate(0.0, 0.0, 0.0, 10), 1: many, 2: few}, "delay", loss)
    assert "falls from 0 at a loss of 0 to -3 at a loss of 2" in finding.measured
    assert every([finding, *[other] * 9]).verdict == "differs"
    assert (
        every([rises({0: Estimate(0.0, 0.0, 0.0, 10), 2: few}, "d", loss), *[other] * 10]).verdict == "not decidable"
    )


def test_a_share_of_one_replication_is_judged_by_its_wider_interval_too() -> None:
    # None of 100: 0 to z^2 / (100 + z^2) = 0.037; of 20 together z is 3.02, and it is 0 to 0.084.
    none, other = share([0], [100]), within(estimate(5.0, 0.1), 0, 10, "other")
    assert within(none, 0.04, 1, "share").verdict == "differs"
    assert every([within(none, 0.09, 1, "share"), *[other] * 19]).verdict == "differs"
    among = every([within(none, 0.04, 1, "share"), *[other] * 19])
    # The half-width of 0.084 has to come down to 0.04: 1 (0.084 / 0.04)^2 = 4.4 replications.
    assert (among.verdict, among.needed) == ("not decidable", 5)
