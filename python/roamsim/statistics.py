"""Means, proportions and differences with confidence intervals.

The intervals treat replications as independent samples. Student's t is computed here, since the only library that
has it would be larger than the rest of the package together; its quantiles are exact to 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

from roamsim.errors import UsageError

#: Level of every interval unless another is asked for.
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval, both in the unit of the samples.

    Attributes:
        mean: the estimate.
        low: lower end of the interval; NaN where one sample leaves it open.
        high: upper end.
        samples: how many values went into it.
        again: computes it at another level; Student's interval needs none.
    """

    mean: float
    low: float
    high: float
    samples: int
    again: Callable[[float], Estimate] | None = field(default=None, compare=False, repr=False)

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit; `factor` is above zero."""
        return self._changed(lambda value: value * factor)

    def shifted(self, by: float) -> Estimate:
        """The same with a constant added."""
        return self._changed(lambda value: value + by)

    def within(self, least: float, most: float = math.inf) -> Estimate:
        """The same with an interval that ends where no value can be beyond: it covers the true mean as often."""
        return Estimate(
            self.mean, max(self.low, least), min(self.high, most), self.samples,
            lambda level: self.at(level).within(least, most),
        )  # fmt: skip

    def at(self, level: float) -> Estimate:
        """The same with an interval of another level: computed from the samples, or Student's scaled."""
        if self.again:
            return self.again(level)
        if self.samples < 2:
            return self
        half, new = (student_t_quantile((1 + of) / 2, self.samples - 1) for of in (LEVEL, level))
        wider, middle = new / half, self.mean
        return Estimate(
            middle, middle - wider * (middle - self.low), middle + wider * (self.high - middle), self.samples
        )

    def _changed(self, change: Callable[[float], float]) -> Estimate:
        """The same of values that a rising function changes."""
        again = self.again
        return Estimate(
            change(self.mean), change(self.low), change(self.high), self.samples,
            (lambda level: again(level)._changed(change)) if again else None,
        )  # fmt: skip

    @property
    def relative_half_width(self) -> float:
        """Half-width beside the mean's magnitude; 0 where all samples are equal, infinite around a mean of 0."""
        if self.half_width == 0:
            return 0.0
        return self.half_width / abs(self.mean) if self.mean else math.inf


def mean(values: Sequence[float | None], level: float = LEVEL) -> Estimate:
    """Mean with Student's t interval; missing values (`None`, NaN) are left out.

    Args:
        values: one number a replication.
        level: probability that the interval covers the true mean.

    Returns:
        The estimate; all NaN when there is no value, an open interval when there is one.
    """
    present = [float(v) for v in values if v is not None and not math.isnan(v)]
    n = len(present)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    centre = math.fsum(present) / n
    if n == 1:
        return Estimate(centre, math.nan, math.nan, 1)
    if min(present) == max(present):
        return Estimate(present[0], present[0], present[0], n)
    deviation = math.sqrt(math.fsum((v - centre) ** 2 for v in present) / (n - 1))
    half = student_t_quantile((1 + level) / 2, n - 1) * deviation / math.sqrt(n)
    return Estimate(centre, centre - half, centre + half, n)


def jain_index(values: Iterable[float | None]) -> float:
    """Jain's index of fairness, (sum x)^2 / (n sum x^2): 1 where all have the same, k/n where k of n share alike.

    R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource allocation in
    shared computer systems", DEC-TR-301, 1984.

    Args:
        values: what each has, 0 or more, in any unit; those that are missing (`None`, NaN) are left out.

    Returns:
        The index, from 1/n to 1; NaN where nobody has anything.

    Raises:
        UsageError: a value is negative.
    """
    there = [float(value) for value in values if value is not None and not math.isnan(value)]
    if any(value < 0 for value in there):
        raise UsageError(f"Jain's index is of values that are 0 or more; {min(there):g} is not")
    # The largest as unit: squares neither overflow nor vanish.
    largest = max(there, default=0.0)
    if not largest:
        return math.nan
    shares = [value / largest for value in there]
    return math.fsum(shares) ** 2 / (len(shares) * math.fsum(share * share for share in shares))


def sum_of_means(terms: Sequence[tuple[float, Mapping[int, Sequence[float]]]], level: float = LEVEL) -> Estimate:
    """Weighted sum of means whose values belong to the same replications, which alone are independent.

    Values of one replication may depend on each other in any way, within a mean and between means, and a replication
    may lack some or all of them. The variance is that of the sum without each replication in turn (jackknife, Tukey
    1958). With equally many values in each replication it equals Student's, to the last digit.

    Args:
        terms: of each mean its weight, and its values by replication; NaN is left out. A difference has weights 1
            and -1.
        level: probability that the interval covers the true sum.

    Returns:
        The estimate. `samples` counts the replications with a value, of the mean that has the fewest. Student's t has
        one degree of freedom less (chosen: Welch's formula would give as many or more). All is NaN if a mean has no
        value. The interval is open if a mean has values of one replication only.
    """
    present = [
        (weight, {r: [v for v in of if not math.isnan(v)] for r, of in values.items()}) for weight, values in terms
    ]
    fewest = min((sum(map(bool, values.values())) for _, values in present), default=0)
    if fewest == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    own = [(weight, {r: (math.fsum(of), len(of)) for r, of in values.items()}) for weight, values in present]
    whole = [(math.fsum(s for s, _ in of.values()), sum(n for _, n in of.values())) for _, of in own]

    def without(replication: int | None) -> float:
        parts = []
        for (weight, values), (total, count) in zip(own, whole, strict=True):
            left_out, fewer = values.get(replication, (0.0, 0)) if replication is not None else (0.0, 0)
            parts.append(weight * (total - left_out) / (count - fewer))
        return math.fsum(parts)

    found = without(None)
    if fewest == 1:
        return Estimate(found, math.nan, math.nan, 1)
    each = [without(replication) for replication in sorted(set().union(*(values for _, values in own)))]
    k, centre = len(each), math.fsum(each) / len(each)
    error = math.sqrt((k - 1) / k * math.fsum((one - centre) ** 2 for one in each))
    half = student_t_quantile((1 + level) / 2, fewest - 1) * error
    return Estimate(found, found - half, found + half, fewest)


def proportion(successes: int, trials: int, level: float = LEVEL) -> Estimate:
    """Share of successes with Wilson's score interval (Wilson 1927), which holds near 0 and 1 too.

    Raises:
        ValueError: more successes than trials, or a negative number of either.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    mean = successes / trials
    low, high = _wilson(mean, trials, NormalDist().inv_cdf((1 + level) / 2))
    return Estimate(mean, low, high, trials, lambda other: proportion(successes, trials, other))


def share(successes: Sequence[int], trials: Sequence[int], level: float = LEVEL) -> Estimate:
    """Share of successes over replications, with Wilson's interval for as many trials as they are worth.

    Trials of one run may depend on each other, so they count as fewer independent ones, never as more (Korn and
    Graubard 1998). Their number shrinks by Kish's design effect: the variance of the replications' shares over that
    of independent trials. Student's t accounts for few replications. If all or none succeed, the trials count in
    full.

    Args:
        successes: of each replication.
        trials: of each replication.
        level: probability that the interval covers the true share.

    Returns:
        The estimate; `samples` counts replications with a trial. Its interval lies within 0 and 1, and is no point
        even where all trials succeed.

    Raises:
        ValueError: the two have different lengths, or more successes than trials.
    """
    pairs = [(s, n) for s, n in zip(successes, trials, strict=True) if n]
    k, total = len(pairs), sum(n for _, n in pairs)
    whole = proportion(sum(s for s, _ in pairs), total, level)

    def again(other: float) -> Estimate:
        return share(successes, trials, other)

    if k == 0 or whole.mean in (0.0, 1.0):
        return Estimate(whole.mean, whole.low, whole.high, k, again)
    if k == 1:
        return Estimate(whole.mean, math.nan, math.nan, 1)
    p = whole.mean
    between = k / (k - 1) * math.fsum((s - p * n) ** 2 for s, n in pairs) / total**2
    z = NormalDist().inv_cdf((1 + level) / 2)
    effect = between / (p * (1 - p) / total) * (student_t_quantile((1 + level) / 2, k - 1) / z) ** 2
    low, high = _wilson(p, total / max(1.0, effect), z)
    return Estimate(p, low, high, k, again)


def difference(one: Estimate, other: Estimate, correlation: float = 0.0) -> Estimate:
    """One less the other of their intervals, whatever the shape of these (Zou and Donner 2008).

    Of shares in Wilson's intervals it is Newcombe's (1998), so that two shares of none differ by 0, but not for
    certain.

    Args:
        one: the estimate.
        other: the estimate to subtract.
        correlation: between the two, as of shares that meet the same draws (`correlation`).
    """

    def apart(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a * a - 2 * correlation * a * b + b * b))

    found = one.mean - other.mean
    low = found - apart(one.mean - one.low, other.high - other.mean)
    high = found + apart(one.high - one.mean, other.mean - other.low)

    def again(level: float) -> Estimate:
        return difference(one.at(level), other.at(level), correlation)

    return Estimate(found, low, high, min(one.samples, other.samples), again)


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Pearson's coefficient of pairs; 0 where either does not vary, and nothing tells.

    Raises:
        ValueError: the two have different lengths.
    """
    pairs = list(zip(first, second, strict=True))
    if len(pairs) < 2 or min(first) == max(first) or min(second) == max(second):
        return 0.0
    x, y = (math.fsum(values) / len(pairs) for values in (first, second))
    xx, yy = math.fsum((a - x) ** 2 for a in first), math.fsum((b - y) ** 2 for b in second)
    return max(-1.0, min(1.0, math.fsum((a - x) * (b - y) for a, b in pairs) / math.sqrt(xx * yy)))


def _wilson(share: float, trials: float, z: float) -> tuple[float, float]:
    """Ends of the score interval."""
    denominator = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / denominator
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / denominator
    # The score interval ends exactly at 0 and 1 there; rounding must not move it.
    return 0.0 if share == 0 else centre - half, 1.0 if share == 1 else centre + half


def paired_difference(
    first: Sequence[float | None], second: Sequence[float | None], level: float = LEVEL
) -> Estimate:
    """Mean of second - first, replication by replication.

    Two variants of a scenario meet the same losses in the same replication, so the interval of their difference is
    narrower than the two intervals suggest. A pair with a missing value is left out.

    Raises:
        ValueError: the two have different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values make no pairs")
    return mean([None if a is None or b is None else b - a for a, b in zip(first, second, strict=True)], level)


def paired_ratio(first: Sequence[float | None], second: Sequence[float | None], level: float = LEVEL) -> Estimate:
    """Mean of `second` beside the mean of `first`, less 1, with Fieller's interval for pairs (Fieller 1954).

    The interval holds every ratio r for which the t interval of second - r first holds 0. So it holds 0 exactly when
    that of `paired_difference` does, it takes the uncertainty of both means into account, and values of 0 do no
    harm. A pair with a missing value is left out.

    Returns:
        The estimate, 0.05 for a mean that is 5 % larger. Its interval is open (NaN) for one pair, and where `first`
        is not clearly different from 0: then no ratio can be excluded. All NaN where the mean of `first` is 0.

    Raises:
        ValueError: the two have different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values make no pairs")
    pairs = [
        (float(a), float(b))
        for a, b in zip(first, second, strict=True)
        if a is not None and b is not None and not math.isnan(a) and not math.isnan(b)
    ]
    n = len(pairs)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    x, y = (math.fsum(values) / n for values in zip(*pairs, strict=True))
    if x == 0:
        return Estimate(math.nan, math.nan, math.nan, n)
    change = y / x - 1

    def again(other: float) -> Estimate:
        return paired_ratio(first, second, other)

    if n == 1:
        return Estimate(change, math.nan, math.nan, 1)
    if min(pairs) == max(pairs):
        return Estimate(change, change, change, n)
    # Variances and covariance of the means, times the square of t.
    t = student_t_quantile((1 + level) / 2, n - 1)
    scale = t * t / (n * (n - 1))
    xx = scale * math.fsum((a - x) ** 2 for a, _ in pairs)
    yy = scale * math.fsum((b - y) ** 2 for _, b in pairs)
    xy = scale * math.fsum((a - x) * (b - y) for a, b in pairs)
    # (y - r x)^2 = yy - 2 r xy + r^2 xx, as a r^2 - 2 b r + c = 0.
    a, b, c = x * x - xx, x * y - xy, y * y - yy
    if a <= 0:
        return Estimate(change, math.nan, math.nan, n, again)
    root = math.sqrt(max(0.0, b * b - a * c))
    return Estimate(change, (b - root) / a - 1, (b + root) / a - 1, n, again)


@lru_cache(maxsize=1024)
def student_t_quantile(probability: float, degrees: int) -> float:
    """The t below which lies `probability`, for a whole number of degrees of freedom, by bisection.

    Raises:
        ValueError: a probability outside of (0, 1), or no degree of freedom.
    """
    if not 0 < probability < 1 or degrees < 1:
        raise ValueError(f"no quantile for probability {probability} and {degrees} degrees of freedom")
    if probability < 0.5:
        return -student_t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while _student_t_cdf(high, degrees) < probability:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _student_t_cdf(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def _student_t_cdf(t: float, degrees: int) -> float:
    """Student's distribution at t >= 0: the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    theta = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(theta), math.cos(theta)
    if degrees % 2:
        term, total = cosine, 0.0
        for k in range(1, (degrees - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k) / (2 * k + 1)
        inside = 2 / math.pi * (theta + sine * total)
    else:
        term, total = 1.0, 0.0
        for k in range(1, degrees // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k - 1) / (2 * k)
        inside = sine * total
    return (1 + inside) / 2
