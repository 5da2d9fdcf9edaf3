"""Intervals against tabulated quantiles and hand-worked samples."""

from __future__ import annotations

import math

import pytest
from roamsim import statistics


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


def test_paired_difference_is_narrow_where_the_pairs_move_together() -> None:
    first, second = [10.0, 20.0, 30.0], [11.0, 21.5, 30.5]
    # Differences 1, 1.5, 0.5: mean 1, standard deviation 0.5, half-width 4.30265 * 0.5 / sqrt(3) = 1.24207.
    estimate = statistics.paired_difference(first, second)
    assert estimate.mean == 1
    assert estimate.half_width == pytest.approx(1.24207, rel=1e-5)
    with pytest.raises(ValueError, match="no pairs"):
        statistics.paired_difference([1.0], [1.0, 2.0])
