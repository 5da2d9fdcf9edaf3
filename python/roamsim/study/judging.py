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
from dataclasses import dataclass
from typing import Literal

from roamsim.statistics import Estimate, student_t_quantile

Verdict = Literal["agrees", "differs", "not decidable"]


@dataclass(frozen=True)
class Finding:
    """What was measured for a statement, and the verdict of its rule.

    Attributes:
        verdict: what the rule says.
        measured: the measured value in words.
        interval: the 95 % interval of the number that decided, where it is one number.
    """

    verdict: Verdict
    measured: str
    interval: tuple[float, float] | None = None


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
    return Finding(verdict, f"{what}: {with_interval(estimate)}", _interval(estimate))


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
    interval = _interval(worst)
    if max(e.high - e.low for e in curve.values()) > 10 * tolerance:
        return Finding("not decidable", f"{text}; the intervals are too wide", interval)
    return Finding("agrees" if excess(at) <= tolerance else "differs", text, interval)


def positive(estimate: Estimate, what: str) -> Finding:
    """Agrees when a difference is above zero with its whole interval, differs when it is below with all of it."""
    if estimate.samples < 2 or math.isnan(estimate.mean):
        return Finding("not decidable", f"{what}: no value")
    text = f"{what}: {with_interval(estimate)}"
    if estimate.low > 0:
        return Finding("agrees", text, _interval(estimate))
    return Finding("differs" if estimate.high <= 0 else "not decidable", text, _interval(estimate))


def rises(curve: Mapping[float, Estimate], what: str) -> Finding:
    """A curve rises when no point lies below an earlier one with its whole interval, and the last above the first.

    The intervals hold for all points of the curve together with 95 %.
    """
    points = list(curve.items())
    if len(points) < 2 or any(e.samples < 2 or math.isnan(e.mean) for _, e in points):
        return Finding("not decidable", f"{what}: values are missing")
    (start, first), (end, last) = points[0], points[-1]
    text = f"{what}: {with_interval(first)} at {start:g}, {with_interval(last)} at {end:g}"
    for i, (at, later) in enumerate(points):
        highest = _simultaneous(later, len(points))[1]
        for before, earlier in points[:i]:
            if highest < _simultaneous(earlier, len(points))[0]:
                fall = f"; falls from {number(earlier.mean)} at {before:g} to {number(later.mean)} at {at:g}"
                return Finding("differs", text + fall, (later.low, later.high))
    if last.low > first.high:
        return Finding("agrees", text, (last.low, last.high))
    return Finding("not decidable", text, (last.low, last.high))


def _simultaneous(estimate: Estimate, points: int) -> tuple[float, float]:
    """Ends of an interval that holds together with those of the other points of a curve, with 95 % for all."""
    n = estimate.samples
    wider = student_t_quantile(1 - 0.025 / points, n - 1) / student_t_quantile(0.975, n - 1)
    return estimate.mean - wider * estimate.half_width, estimate.mean + wider * estimate.half_width


def every(findings: Sequence[Finding]) -> Finding:
    """A statement of several parts; the interval is that of the first part that decided."""
    verdicts = {finding.verdict for finding in findings}
    verdict: Verdict = "agrees"
    if "differs" in verdicts:
        verdict = "differs"
    elif "not decidable" in verdicts or not findings:
        verdict = "not decidable"
    intervals = [f.interval for f in findings if f.verdict == verdict and f.interval]
    return Finding(verdict, "; ".join(f.measured for f in findings), intervals[0] if intervals else None)


def either(findings: Mapping[str, Finding]) -> Finding:
    """Readings of a statement that leaves a choice open: agrees when one of them does, and names it."""
    measured = "; ".join(f"{name}: {f.verdict} ({f.measured})" for name, f in findings.items())
    for verdict in ("agrees", "not decidable", "differs"):
        for finding in findings.values():
            if finding.verdict == verdict:
                return Finding(finding.verdict, measured, finding.interval)
    return Finding("not decidable", measured)


def yes(condition: bool, measured: str, interval: tuple[float, float] | None = None) -> Finding:
    """A rule whose outcome needs no third answer."""
    return Finding("agrees" if condition else "differs", measured, interval)


def with_interval(estimate: Estimate) -> str:
    """A mean with the half-width of its 95 % interval."""
    if estimate.samples < 2:
        return number(estimate.mean)
    return f"{number(estimate.mean)} ± {estimate.half_width:.2g}"


def _interval(estimate: Estimate) -> tuple[float, float] | None:
    return (estimate.low, estimate.high) if estimate.samples > 1 else None


def number(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}"
