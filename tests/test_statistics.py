"""Intervals against tabulated quantiles and hand-worked samples."""

from __future__ import annotations

import math
import random

import pytest
from roamsim import statistics
from roamsim.errors import UsageError


# Critical values of Student's t as printed in statistical tables (two-sided 95 %, then 99 %).
@pytest.mark.parametrize(
    ("degrees", "probability", "expected"),
    [
        (1, 0.975, 12.7062),
        (2, 0.975, 4.30265),
        (3, 0.975, 3.18245),
        (4, 0.975, 2.77645),
        (9, 0.975, 2.26216),
        (10, 0.975, 2.22814),
        (30, 0.975, 2.04227),
        (99, 0.975, 1.98422),
        (1, 0.995, 63.6567),
        (10, 0.995, 3.16927),
    ],
)
def test_student_t_quantiles_are_the_tabulated_ones(degrees: int, probability: float, expected: float) -> None:
    assert statistics.student_t_quantile(probability, degrees) == pytest.approx(expected, rel=2e-6)
    assert statistics.student_t_quantile(1 - probability, degrees) == pytest.approx(-expected, rel=2e-6)


def test_many_degrees_approach_the_normal_distribution() -> None:
    assert statistics.student_t_quantile(0.975, 100_000) == pytest.approx(1.959964, abs=3e-5)


def test_mean_interval_of_a_hand_worked_sample() -> None:
    # 1, 2, 3, 4, 5: mean 3, variance (4+1+0+1+4)/4 = 2.5, standard error sqrt(2.5/5) = 0.70711,
    # t(4, 0.975) = 2.77645: half-width 1.96324.
    estimate = statistics.mean([1, 2, 3, 4, 5])
    assert estimate.mean == 3
    assert estimate.half_width == pytest.approx(1.96324, rel=1e-5)
    assert estimate.relative_half_width == pytest.approx(0.654414, rel=1e-5)
    assert estimate.samples == 5


def test_missing_values_are_left_out() -> None:
    assert statistics.mean([1.0, None, math.nan, 3.0]).mean == 2
    assert statistics.mean([1.0, None, math.nan, 3.0]).samples == 2
    assert math.isnan(statistics.mean([None]).mean)


def test_one_value_leaves_the_interval_open() -> None:
    estimate = statistics.mean([7.0])
    assert estimate.mean == 7
    assert math.isnan(estimate.low)


def test_equal_values_have_an_interval_of_width_zero() -> None:
    estimate = statistics.mean([0.1] * 3)
    assert (estimate.low, estimate.mean, estimate.high) == (0.1, 0.1, 0.1)
    assert estimate.relative_half_width == 0


def test_wilson_interval_of_a_known_case() -> None:
    # 8 of 10 with z = 1.959964: z^2 = 3.841459; centre (0.8 + 3.841459/20) / 1.3841459 = 0.716740,
    # half-width 1.959964 * sqrt(0.8*0.2/10 + 3.841459/400) / 1.3841459 = 0.226578.
    estimate = statistics.proportion(8, 10)
    assert estimate.mean == 0.8
    assert estimate.low == pytest.approx(0.490162, abs=1e-5)
    assert estimate.high == pytest.approx(0.943318, abs=1e-5)


def test_wilson_interval_stays_within_zero_and_one() -> None:
    assert statistics.proportion(0, 20).low == 0
    assert statistics.proportion(20, 20).high == 1
    assert statistics.proportion(0, 20).high == pytest.approx(0.161125, abs=1e-5)


def test_impossible_proportions_are_refused() -> None:
    with pytest.raises(ValueError, match="5 successes in 3 trials"):
        statistics.proportion(5, 3)


def test_a_share_of_all_successes_is_no_certainty() -> None:
    # Four runs of 100 trials: 400 / (400 + 1.96^2) = 0.99049.
    found = statistics.share([100, 100, 100, 100], [100, 100, 100, 100])
    assert (found.mean, found.high, found.samples) == (1.0, 1.0, 4)
    assert found.low == pytest.approx(400 / (400 + 1.959964**2), abs=1e-6)


def test_a_share_of_trials_that_go_together_is_worth_fewer_trials() -> None:
    # Of 4 runs of 100 two succeed entirely and two not at all: p = 0.5, and the variance of the runs' mean is
    # 4/3 * 4 * 50^2 / 400^2 = 1/12, that of 400 independent trials 0.25 / 400; Student's t of 3 degrees is 3.18245.
    effect = (1 / 12) / (0.25 / 400) * (3.18245 / 1.959964) ** 2
    n, z = 400 / effect, 1.959964
    half = z * math.sqrt(0.25 / n + z * z / (4 * n * n)) / (1 + z * z / n)
    found = statistics.share([0, 100, 100, 0], [100, 100, 100, 100])
    assert (found.mean, found.high - 0.5, 0.5 - found.low) == (
        0.5,
        pytest.approx(half, abs=1e-5),
        pytest.approx(half, abs=1e-5),
    )
    # Runs that vary less than chance are worth no more than their trials.
    even = statistics.share([50, 50, 50, 50], [100, 100, 100, 100])
    whole = statistics.proportion(200, 400)
    assert (even.low, even.high) == (whole.low, whole.high)
    assert math.isnan(statistics.share([], []).mean)
    assert math.isnan(statistics.share([3], [10]).low)


def test_paired_difference_is_narrow_where_the_pairs_move_together() -> None:
    first, second = [10.0, 20.0, 30.0], [11.0, 21.5, 30.5]
    # Differences 1, 1.5, 0.5: mean 1, standard deviation 0.5, half-width 4.30265 * 0.5 / sqrt(3) = 1.24207.
    estimate = statistics.paired_difference(first, second)
    assert estimate.mean == 1
    assert estimate.half_width == pytest.approx(1.24207, rel=1e-5)
    with pytest.raises(ValueError, match="no pairs"):
        statistics.paired_difference([1.0], [1.0, 2.0])


def test_a_ratio_of_means_by_hand() -> None:
    # Two pairs: the second mean is 12, its variance ((1 + 1) / 1) / 2 = 1, t(1) = 12.706; the first is 10 exactly.
    estimate = statistics.paired_ratio([10, 10], [11, 13])
    assert (estimate.mean, estimate.samples) == (pytest.approx(0.2), 2)
    assert (estimate.low, estimate.high) == (
        pytest.approx(0.2 - 1.2706, abs=1e-4),
        pytest.approx(0.2 + 1.2706, abs=1e-4),
    )
    # First 3, 4, 5: t(2)^2 = 18.51, variance of the mean 1/3, together 6.17. 9.83 r^2 - 8 r + 1 = 0 has the roots
    # (4 -+ 2.484) / 9.83.
    estimate = statistics.paired_ratio([3, 4, 5], [1, 1, 1])
    assert estimate.mean == pytest.approx(-0.75)
    assert estimate.low == pytest.approx(-0.8458, abs=1e-4)
    assert estimate.high == pytest.approx(-0.3403, abs=1e-4)


def test_a_ratio_and_a_difference_never_contradict() -> None:
    draw = random.Random(3)
    told = 0
    for _ in range(500):
        n, effect, noise = draw.randint(2, 12), draw.uniform(-20, 20), draw.uniform(0.1, 30)
        first = [draw.gauss(60, 15) for _ in range(n)]
        second = [a + effect + draw.gauss(0, noise) for a in first]
        ratio, difference = statistics.paired_ratio(first, second), statistics.paired_difference(first, second)
        if math.isnan(ratio.low):
            continue
        told += 1
        assert (ratio.low > 0, ratio.high < 0) == (difference.low > 0, difference.high < 0)
        assert ratio.low <= ratio.mean <= ratio.high
        # Seen from the other side it is the reciprocal, and the unit does not matter.
        back = statistics.paired_ratio(second, first)
        if not math.isnan(back.low):
            assert 1 / (1 + back.high) - 1 == pytest.approx(ratio.low)
            assert 1 / (1 + back.low) - 1 == pytest.approx(ratio.high)
        scaled = statistics.paired_ratio([8 * a for a in first], [8 * b for b in second])
        assert scaled.high == pytest.approx(ratio.high)
    assert told > 400


def test_a_ratio_holds_the_truth_as_often_as_it_says() -> None:
    # Pairs with much in common, as replications on the same losses have; the true ratio of means is 1.05.
    draw = random.Random(7)
    held = 0
    for _ in range(2000):
        common = [draw.gauss(0, 15) for _ in range(10)]
        first = [100 + c + draw.gauss(0, 5) for c in common]
        second = [105 + c + draw.gauss(0, 5) for c in common]
        estimate = statistics.paired_ratio(first, second)
        held += estimate.low <= 0.05 <= estimate.high
    # Four standard deviations of a share of 0.95 in 2000.
    assert abs(held / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)


def test_a_ratio_that_cannot_be_told_is_open() -> None:
    assert math.isnan(statistics.paired_ratio([0, 0], [1, 2]).mean)
    near_zero = statistics.paired_ratio([-1, 1, 0.5], [1, 2, 3])
    assert (near_zero.mean > 0, math.isnan(near_zero.low), near_zero.samples) == (True, True, 3)
    assert math.isnan(statistics.paired_ratio([5], [6]).low)
    assert statistics.paired_ratio([5, None], [6, 7]).samples == 1
    assert statistics.paired_ratio([5, 5], [6, 6]) == statistics.Estimate(6 / 5 - 1, 6 / 5 - 1, 6 / 5 - 1, 2)
    with pytest.raises(ValueError, match="no pairs"):
        statistics.paired_ratio([1], [1, 2])


def test_a_sum_of_means_without_gaps_is_students_of_the_replications() -> None:
    # 1.5 and 2.5, 3.5 and 4.5, 7.5 and 8.5: 2, 4, 8 in the mean of each replication.
    halves = {0: [1.5, 2.5], 1: [3.5, 4.5], 2: [7.5, 8.5]}
    found, students = statistics.sum_of_means([(1.0, halves)]), statistics.mean([2, 4, 8])
    assert (found.mean, found.samples) == (pytest.approx(students.mean), 3)
    assert (found.low, found.high) == (pytest.approx(students.low), pytest.approx(students.high))
    # A row written ninety times in its replication is still one.
    again = statistics.sum_of_means([(1.0, {r: 90 * values for r, values in halves.items()})])
    assert again.half_width == pytest.approx(students.half_width)
    # What both have in common is not in their difference.
    later = {r: [value + 0.25 for value in values] for r, values in halves.items()}
    apart = statistics.sum_of_means([(1.0, later), (-1.0, halves)])
    assert (apart.low, apart.high) == (pytest.approx(0.25), pytest.approx(0.25))


def test_a_sum_of_means_with_gaps_by_hand() -> None:
    # 7 / 3; without the first replication 4, without the second 3 / 2: 2.75 +- 1.25, and sqrt(1 / 2 * 2 * 1.25^2) = 1.25.
    found = statistics.sum_of_means([(1.0, {0: [1, 2, math.nan], 1: [4]})])
    assert found.mean == pytest.approx(7 / 3)
    assert found.half_width == pytest.approx(12.7062 * 1.25, rel=1e-5)
    # The mean with the fewest replications decides on the degrees of freedom: 1 here, of three replications.
    both = statistics.sum_of_means([(1.0, {0: [1], 1: [2], 2: [3]}), (1.0, {0: [5], 1: [5], 2: [math.nan]})])
    assert (both.mean, both.samples) == (7, 2)
    assert both.half_width == pytest.approx(12.7062 / math.sqrt(3), rel=1e-5)
    assert math.isnan(statistics.sum_of_means([(1.0, {0: [1], 1: [math.nan]})]).low)
    assert math.isnan(statistics.sum_of_means([(1.0, {0: [1], 1: [2]}), (1.0, {0: [math.nan]})]).mean)
    assert math.isnan(statistics.sum_of_means([]).mean)


def test_a_sum_of_means_with_gaps_holds_the_truth_as_often_as_it_says() -> None:
    # Twenty replications, each with a draw of its own that stands in all of its values; a third of these is missing.
    draw = random.Random(3)
    held, tries = 0, 1000
    for _ in range(tries):
        terms = [(0.5, dict[int, list[float]]()), (0.5, dict[int, list[float]]())]
        for replication in range(20):
            common = draw.gauss(5, 1)
            for _, values in terms:
                values[replication] = [common + draw.gauss(0, 0.2) for _ in range(3) if draw.random() < 2 / 3]
        found = statistics.sum_of_means(terms)
        held += found.low <= 5 <= found.high
    # 950 +- 3 sqrt(1000 * 0.95 * 0.05) = 929 to 971; where gaps cost degrees of freedom a little more.
    assert 929 <= held <= 980


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe 1998, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
    ],
)
def test_a_difference_of_shares_is_newcombes(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found = statistics.difference(statistics.proportion(*first), statistics.proportion(*second))
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_difference_of_what_goes_together_is_narrower() -> None:
    one, other = statistics.Estimate(5, 2, 8, 9), statistics.Estimate(4, 0, 8, 9)
    # sqrt(9 - 2 rho 12 + 16): 5 of independent ones, 1 of those that go together, 7 of those that go against each other.
    for correlation, half in ((0.0, 5), (1.0, 1), (-1.0, 7)):
        found = statistics.difference(one, other, correlation)
        assert (found.low, found.high) == (pytest.approx(1 - half), pytest.approx(1 + half))


def test_correlations_by_hand() -> None:
    assert statistics.correlation([1, 2, 3], [2, 4, 6]) == 1
    # Less their means -1 0 1 and 0 1 -1: 0 + 0 - 1 = -1, beside 2 and 2.
    assert statistics.correlation([1, 2, 3], [2, 3, 1]) == pytest.approx(-0.5)
    assert statistics.correlation([1, 1], [1, 2]) == 0
    with pytest.raises(ValueError):
        statistics.correlation([1], [1, 2])


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([3, 3, 3], 1.0),
        ([1, 1, 0, 0], 0.5),  # two of four share: k/n
        ([1, 2, 3], 6**2 / (3 * (1 + 4 + 9))),
        ([5], 1.0),
        ([1e200, 1e200, None, math.nan], 1.0),
        ([1e-200, 0], 0.5),
    ],
)
def test_jains_index(values: list[float | None], index: float) -> None:
    assert statistics.jain_index(values) == pytest.approx(index, rel=1e-15)


def test_jains_index_of_nothing_and_of_less_than_nothing() -> None:
    assert math.isnan(statistics.jain_index([]))
    assert math.isnan(statistics.jain_index([0.0, 0.0]))
    with pytest.raises(UsageError, match="-1 is not"):
        statistics.jain_index([1, -1])
