"""How a measured value is held against a published one. The rules stand here before any run; a study picks one.

- A value *agrees* with a published range when its estimate lies inside; it *differs* when its whole 95 % interval
  lies outside; else the runs are too few, and it is *not decidable*.
- A curve *follows* a formula when at every point the formula lies within an interval widened by a tolerance; it is
  not decidable when some 95 % interval is more than ten times as wide as the tolerance. Curves have many points, and
  one in twenty of their 95 % intervals misses by chance; so the intervals that decide hold for all points of a curve
  together with 95 % (Bonferroni).
- A statement of several parts agrees when every part does, differs when one part does, and is else not decidable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from roamsim.statistics import Estimate, student_t_quantile

Verdict = Literal["agrees", "differs", "not decidable"]


@dataclass(frozen=True)
class Value:
    """A measured number: what it is, and its 95 % interval; `low` and `high` are NaN where there is none."""

    what: str
    mean: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Finding:
    """What was measured for a statement, and the verdict of its rule.

    Attributes:
        verdict: what the rule says.
        measured: the measured values in words.
        values: the numbers of these words.
        decided_by: the one of them that decided, where it was one with an interval.
    """

    verdict: Verdict
    measured: str
    values: tuple[Value, ...] = ()
    decided_by: Value | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the number that decided."""
        return (self.decided_by.low, self.decided_by.high) if self.decided_by else None


def _finding(verdict: Verdict, measured: str, deciding: Value, *others: Value) -> Finding:
    return Finding(verdict, measured, (*others, deciding), None if math.isnan(deciding.low) else deciding)


def value_of(what: str, estimate: Estimate) -> Value:
    """A measured number of an estimate."""
    return Value(what, estimate.mean, estimate.low, estimate.high)


def within(estimate: Estimate, low: float, high: float, what: str) -> Finding:
    """Holds one estimate against a published range."""
    if estimate.samples == 0 or math.isnan(estimate.mean):
        return Finding("not decidable", f"{what}: no value")
    if low <= estimate.mean <= high:
        verdict: Verdict = "agrees"
    elif estimate.samples > 1 and (estimate.high < low or estimate.low > high):
        verdict = "differs"
    else:
        verdict = "not decidable"
    return _finding(verdict, f"{what}: {with_interval(estimate)}", value_of(what, estimate))


def follows(
    curve: Mapping[float, Estimate], formula: Callable[[float], float], tolerance: float, what: str
) -> Finding:
    """Holds a curve against a formula at every point."""
    if not curve or any(math.isnan(e.mean) or e.samples < 2 for e in curve.values()):
        return Finding("not decidable", f"{what}: values are missing")

    def excess(at: float) -> float:
        low, high = _simultaneous(curve[at], len(curve))
        return max(low - formula(at), formula(at) - high, 0.0)

    at = max(curve, key=lambda x: (excess(x), abs(curve[x].mean - formula(x))))
    worst = curve[at]
    text = (
        f"{what}: largest deviation {number(worst.mean - formula(at))} at {at:g} "
        f"({with_interval(worst)}, formula {number(formula(at))})"
    )
    value = value_of(f"{what}, at {at:g}", worst)
    if max(e.high - e.low for e in curve.values()) > 10 * tolerance:
        return _finding("not decidable", f"{text}; the intervals are too wide", value)
    return _finding("agrees" if excess(at) <= tolerance else "differs", text, value)


def positive(estimate: Estimate, what: str) -> Finding:
    """Agrees when a difference is above zero with its whole interval, differs when it is below with all of it."""
    if estimate.samples < 2 or math.isnan(estimate.mean):
        return Finding("not decidable", f"{what}: no value")
    text = f"{what}: {with_interval(estimate)}"
    verdict: Verdict = "agrees" if estimate.low > 0 else "differs" if estimate.high <= 0 else "not decidable"
    return _finding(verdict, text, value_of(what, estimate))


def rises(curve: Mapping[float, Estimate], what: str) -> Finding:
    """A curve rises when no point lies below an earlier one with its whole interval, and the last above the first.

    The intervals hold for all points of the curve together with 95 %.
    """
    points = list(curve.items())
    if len(points) < 2 or any(e.samples < 2 or math.isnan(e.mean) for _, e in points):
        return Finding("not decidable", f"{what}: values are missing")
    (start, first), (end, last) = points[0], points[-1]
    text = f"{what}: {with_interval(first)} at {start:g}, {with_interval(last)} at {end:g}"
    ends = value_of(f"{what}, at {start:g}", first), value_of(f"{what}, at {end:g}", last)
    for i, (at, later) in enumerate(points):
        highest = _simultaneous(later, len(points))[1]
        for before, earlier in points[:i]:
            if highest < _simultaneous(earlier, len(points))[0]:
                fall = f"; falls from {number(earlier.mean)} at {before:g} to {number(later.mean)} at {at:g}"
                return _finding("differs", text + fall, value_of(f"{what}, at {at:g}", later), *ends)
    return _finding("agrees" if last.low > first.high else "not decidable", text, ends[1], ends[0])


def _simultaneous(estimate: Estimate, points: int) -> tuple[float, float]:
    """Ends of an interval that holds together with those of the other points of a curve, with 95 % for all."""
    n = estimate.samples
    wider = student_t_quantile(1 - 0.025 / points, n - 1) / student_t_quantile(0.975, n - 1)
    return estimate.mean - wider * estimate.half_width, estimate.mean + wider * estimate.half_width


def every(findings: Sequence[Finding]) -> Finding:
    """A statement of several parts; what decided is the first part that has the verdict of the whole."""
    verdicts = {finding.verdict for finding in findings}
    verdict: Verdict = "agrees"
    if "differs" in verdicts:
        verdict = "differs"
    elif "not decidable" in verdicts or not findings:
        verdict = "not decidable"
    deciding = [f.decided_by for f in findings if f.verdict == verdict and f.decided_by]
    values = tuple(value for f in findings for value in f.values)
    return Finding(verdict, "; ".join(f.measured for f in findings), values, deciding[0] if deciding else None)


def either(findings: Mapping[str, Finding]) -> Finding:
    """Readings of a statement that leaves a choice open: agrees when one of them does, and names it."""
    measured = "; ".join(f"{name}: {f.verdict} ({f.measured})" for name, f in findings.items())
    findings = {name: _named(name, f) for name, f in findings.items()}
    values = tuple(value for f in findings.values() for value in f.values)
    for verdict in ("agrees", "not decidable", "differs"):
        for finding in findings.values():
            if finding.verdict == verdict:
                return Finding(finding.verdict, measured, values, finding.decided_by)
    return Finding("not decidable", measured)


def _named(name: str, finding: Finding) -> Finding:
    """A finding whose values say which reading they belong to."""
    values = tuple(replace(value, what=f"{name}: {value.what}") for value in finding.values)
    deciding = finding.decided_by and replace(finding.decided_by, what=f"{name}: {finding.decided_by.what}")
    return replace(finding, values=values, decided_by=deciding)


def yes(condition: bool, measured: str, *values: Value) -> Finding:
    """A rule whose outcome needs no third answer; the first value with an interval decided."""
    deciding = [value for value in values if not math.isnan(value.low)]
    return Finding("agrees" if condition else "differs", measured, values, deciding[0] if deciding else None)


def with_interval(estimate: Estimate) -> str:
    """A mean with the half-width of its 95 % interval, that with two digits and the mean with as many decimals."""
    half = estimate.half_width
    if estimate.samples < 2 or not math.isfinite(half):
        return number(estimate.mean)
    if half <= 1e-9 * abs(estimate.mean) or half == 0:  # no more than the rounding of the mean
        return f"{number(estimate.mean)} ± 0"
    decimals = 1 - math.floor(math.log10(half))
    return f"{_fixed(estimate.mean, decimals)} ± {_fixed(half, decimals)}"


def number(value: float) -> str:
    """Four significant digits, never with an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    text = _fixed(value, 3 - math.floor(math.log10(abs(value))))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals):.{max(0, decimals)}f}"
