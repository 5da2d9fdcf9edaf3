"""Rules that compare a measured value with a published one. A study picks one before any run.

- A value *agrees* with a published range when its whole 95 % interval lies inside; it *differs* when all of it lies
  outside; else the runs are too few, and it is *not decidable*.
- A curve *follows* a formula when at every point the 95 % interval lies within a tolerance of the formula. Curves
  have many points, and one in twenty of their 95 % intervals misses by chance; so it differs only when somewhere an
  interval lies outside that holds for all points together with 95 % (Bonferroni). (Agreement needs no such care: it
  takes every point, and any one of them that is not inside prevents it.)
- A share of counted trials has Wilson's interval, so that no failure in few trials is no certainty.
- A statement of several parts agrees when every part does. It differs when one part does. Of thirty parts one does so
  by chance in every second study, so the interval of that part has to lie outside when it is widened to hold for all
  intervals of the statement together with 95 % (Bonferroni): those of its parts, of their parts, and of all points of
  their curves. Else the statement is not decidable. A part that takes no interval (`yes`) differs as it stands. The
  wider interval is computed from the samples, as Wilson's or Fieller's where the narrow one is.
- A part with readings agrees when one of them does, and differs when all do. Each is judged by the wider interval, so
  their order does not matter. They count as the one of them with most intervals: if the part holds it does so under
  some reading, and only that reading's intervals can miss it.
- Where an exact law gives the value, the same rule judges the law, and the runs stand beside it (`law.by_law`).
- What is not decidable says how many replications would decide, if the means stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from roamsim.statistics import LEVEL, Estimate
from roamsim.tables.significant import grouped, significant

Verdict = Literal["agrees", "differs", "not decidable"]

Place = Callable[[float], str]
"""Writes a value along x: `an RTT of 0.46 s`."""

#: Of readings, one that agrees decides, then one that is open.
BEST_FIRST: tuple[Verdict, ...] = ("agrees", "not decidable", "differs")

Source = Literal["runs", "exact law", "runs and exact law"]
"""The source of a verdict."""

#: How far from the middle of its interval, in half-widths, a mean stands before its ends are written out (chosen: it
#: does not show in two digits).
ASYMMETRY = 0.05

#: Relative difference of two values of formulas that is none (chosen: some thousand roundings of a double).
ROUNDING = 1e-12

#: Replications beyond which a value lies at the limit of its rule for any run that can be made (chosen).
MOST_REPLICATIONS = 10_000


@dataclass(frozen=True)
class Value:
    """A measured number: what it is, and its 95 % interval; `low` and `high` are NaN where there is none."""

    what: str
    mean: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        return _with_ends(self.mean, self.low, self.high)


@dataclass(frozen=True)
class Finding:
    """What was measured for a statement, and the verdict of its rule.

    Attributes:
        verdict: what the rule says.
        measured: the measured values in words.
        values: the numbers of these words.
        decided_by: the one of them that decided, where it was one with an interval.
        rests_on: readings without which the verdict would be another.
        brief: the measured value for the verdict's line; that which decided, unless given.
        source: what the verdict comes from.
        replications: of the number that decided; 0 where no number with an interval did.
        needed: replications that would decide what is not decidable, if the means stay where they are; `None` where
            no number of runs would.
        turned_by: conditions that turn the verdict round, where the measurement itself has tried some.
        outside: where it differs, by how many half-widths the number that decided lies outside, if its interval holds
            for so many together; `None` where no interval decided.
        intervals: that the verdict takes together.
        parts: of a statement of several.
        readings: the names of its parts where one of them has to agree.
        of: what tells these readings apart.
        derived: what of `rests_on` follows from its parts.
        beside: the formula's value, or the exact law's, of the number that decided, in words.
    """

    verdict: Verdict
    measured: str
    values: tuple[Value, ...] = ()
    decided_by: Value | None = None
    rests_on: tuple[str, ...] = ()
    brief: str = ""
    source: Source = "runs"
    replications: int = 0
    needed: int | None = None
    turned_by: tuple[str, ...] = ()
    outside: Callable[[int], float] | None = field(default=None, compare=False, repr=False)
    intervals: int = 1
    parts: tuple[Finding, ...] = ()
    readings: tuple[str, ...] = ()
    of: str = ""
    derived: tuple[str, ...] = ()
    beside: str = ""

    @property
    def ours(self) -> str:
        """The measured value with its interval, as it stands beside the published one."""
        if self.brief:
            return self.brief
        if self.decided_by:
            return f"{self.decided_by.what}: {self.decided_by}" + (f" ({self.beside})" if self.beside else "")
        return "; ".join(f"{value.what}: {value}" for value in self.values[:2]) or self.measured

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the number that decided."""
        return (self.decided_by.low, self.decided_by.high) if self.decided_by else None


def _finding(
    verdict: Verdict,
    measured: str,
    deciding: Value,
    *others: Value,
    samples: int = 0,
    shrink: float = math.inf,
    outside: Callable[[int], float] | None = None,
    intervals: int = 1,
    beside: str = "",
) -> Finding:
    """A finding; `shrink` is the factor by which its intervals would have to shrink to decide."""
    decided_by = None if math.isnan(deciding.low) else deciding
    return Finding(
        verdict,
        measured,
        (*others, deciding),
        decided_by,
        replications=samples if decided_by else 0,
        needed=replications_needed(samples, shrink) if verdict == "not decidable" else None,
        outside=outside if verdict == "differs" and decided_by else None,
        intervals=intervals,
        beside=beside,
    )


def replications_needed(samples: int, shrink: float) -> int | None:
    """Replications at which an interval is narrower by a factor: as many times more as its square.

    `None` where there would have to be more than `MOST_REPLICATIONS`: the value lies at the limit of the rule.
    """
    if samples < 1 or not math.isfinite(shrink):
        return None
    needed = math.ceil(samples * max(1.0, shrink) ** 2 * (1 - 1e-12))
    return needed if needed <= MOST_REPLICATIONS else None


def _shrink(estimate: Estimate, *limits: float) -> float:
    """By which factor an interval has to shrink, so that it reaches none of the limits."""
    distance = min((abs(estimate.mean - limit) for limit in limits if math.isfinite(limit)), default=math.inf)
    return estimate.half_width / distance if distance else math.inf


def value_of(what: str, estimate: Estimate) -> Value:
    """A measured number of an estimate."""
    return Value(what, estimate.mean, estimate.low, estimate.high)


def within(estimate: Estimate, low: float, high: float, what: str) -> Finding:
    """Holds one estimate against a published range."""
    if estimate.samples == 0 or math.isnan(estimate.mean):
        return Finding("not decidable", f"{what}: no value")
    verdict = _beside(estimate.low, estimate.high, low, high)
    return _finding(
        verdict,
        f"{what}: {with_interval(estimate)}",
        value_of(what, estimate),
        samples=estimate.samples,
        shrink=_shrink(estimate, low, high),
        outside=lambda intervals: _margin(simultaneous(estimate, intervals), low, high),
    )


def _margin(estimate: Estimate, least: float, most: float) -> float:
    """By how many half-widths of its interval a mean lies outside of a range; 0 where it lies inside."""
    below = estimate.mean < least
    outside = least - estimate.mean if below else estimate.mean - most
    return _half_widths(outside, estimate.high - estimate.mean if below else estimate.mean - estimate.low)


def _half_widths(distance: float, half_width: float) -> float:
    """A distance in half-widths of an interval; 0 where there is none, or the interval is open."""
    if distance <= 0 or math.isnan(half_width):
        return 0.0
    return distance / half_width if half_width > 0 else math.inf


def _beside(low: float, high: float, least: float, most: float) -> Verdict:
    """What an interval says of a range; an open one (NaN) says nothing."""
    if least <= low and high <= most:
        return "agrees"
    return "differs" if high < least or low > most else "not decidable"


def follows(
    curve: Mapping[float, Estimate], formula: Callable[[float], float], tolerance: float, what: str, place: Place
) -> Finding:
    """Holds a curve against a formula at every point; `place` writes a value along x, as `Data.place` does."""
    if not curve or any(math.isnan(e.mean) or e.samples < 2 for e in curve.values()):
        return Finding("not decidable", f"{what}: values are missing")

    def excess(at: float) -> float:
        return max(formula(at) - curve[at].low, curve[at].high - formula(at))

    def margin(at: float, intervals: int) -> float:
        return _margin(simultaneous(curve[at], intervals), formula(at) - tolerance, formula(at) + tolerance)

    def widest(intervals: int) -> float:
        return max(margin(at, intervals) for at in curve)

    verdict: Verdict = "agrees" if all(excess(at) <= tolerance for at in curve) else "not decidable"
    at = max(curve, key=lambda x: (excess(x), abs(curve[x].mean - formula(x))))
    furthest = max(curve, key=lambda x: (margin(x, len(curve)), abs(curve[x].mean - formula(x))))
    if margin(furthest, len(curve)) > 1:
        verdict, at = "differs", furthest
    worst = curve[at]
    text = (
        f"{what}: largest deviation {number(difference(worst.mean, formula(at)))} at {place(at)} "
        f"({with_interval(worst)}, formula {number(formula(at))})"
    )
    shrink = max(_shrink(e, formula(x) - tolerance, formula(x) + tolerance) for x, e in curve.items())
    return _finding(
        verdict,
        text,
        value_of(f"{what}, at {place(at)}", worst),
        samples=worst.samples,
        shrink=shrink,
        outside=widest,
        intervals=len(curve),
        beside=f"formula {number(formula(at))}" if formula(at) else "",
    )


def positive(estimate: Estimate, what: str) -> Finding:
    """Agrees when a difference is above zero with its whole interval, differs when it is below with all of it."""
    if estimate.samples < 2 or math.isnan(estimate.mean):
        return Finding("not decidable", f"{what}: no value")
    text = f"{what}: {with_interval(estimate)}"
    verdict: Verdict = "agrees" if estimate.low > 0 else "differs" if estimate.high <= 0 else "not decidable"
    return _finding(
        verdict,
        text,
        value_of(what, estimate),
        samples=estimate.samples,
        shrink=_shrink(estimate, 0.0),
        # A difference of zero in all runs is not above zero, at any number of them.
        outside=(lambda intervals: _margin(simultaneous(estimate, intervals), 0.0, math.inf))
        if estimate.mean
        else None,
    )


def rises(curve: Mapping[float, Estimate], what: str, place: Place) -> Finding:
    """A curve rises when no point lies below an earlier one with its whole interval, and the last above the first.

    The intervals hold for all points of the curve together with 95 %. `place` writes a value along x.
    """
    points = list(curve.items())
    if len(points) < 2 or any(e.samples < 2 or math.isnan(e.mean) for _, e in points):
        return Finding("not decidable", f"{what}: values are missing")
    (start, first), (end, last) = points[0], points[-1]
    text = f"{what}: {with_interval(first)} at {place(start)}, {with_interval(last)} at {place(end)}"
    ends = value_of(f"{what}, at {place(start)}", first), value_of(f"{what}, at {place(end)}", last)
    pairs = list(combinations(curve, 2))

    def margin(pair: tuple[float, float], intervals: int) -> float:
        return fall(*(simultaneous(curve[x], intervals) for x in pair))

    def widest(intervals: int) -> float:
        return max(margin(pair, intervals) for pair in pairs)

    before, at = max(pairs, key=lambda pair: margin(pair, len(points)))
    samples = min(curve[before].samples, curve[at].samples)
    if margin((before, at), len(points)) > 1:
        earlier, later = (f"{number(curve[x].mean)} at {place(x)}" for x in (before, at))
        where = f"; falls from {earlier} to {later}"
        return _finding(
            "differs",
            text + where,
            value_of(f"{what}, at {place(at)}", curve[at]),
            *ends,
            samples=samples,
            outside=widest,
            intervals=len(points),
        )
    verdict: Verdict = "agrees" if last.low > first.high else "not decidable"
    return _finding(
        verdict,
        text,
        ends[1],
        ends[0],
        samples=last.samples,
        shrink=apart(first, last),
        intervals=len(points),
    )


def fall(earlier: Estimate, later: Estimate) -> float:
    """By how many half-widths of both intervals together one mean lies below another; 0 where it does not."""
    return _half_widths(earlier.mean - later.mean, earlier.mean - earlier.low + later.high - later.mean)


def apart(lower: Estimate, upper: Estimate) -> float:
    """By which factor two intervals have to shrink to lie apart, the upper one above."""
    distance = upper.mean - lower.mean
    return (lower.half_width + upper.half_width) / distance if distance > 0 else math.inf


def simultaneous(estimate: Estimate, intervals: int) -> Estimate:
    """The same with an interval that holds together with so many others, with 95 % for all (Bonferroni)."""
    return estimate if intervals == 1 else estimate.at(1 - (1 - LEVEL) / intervals)


def by_many(finding: Finding, intervals: int) -> Finding:
    """A finding among others: not decidable where it differs, but not with an interval that holds with all of theirs.

    Args:
        finding: one without parts.
        intervals: of all together, its own among them.
    """
    if finding.verdict != "differs" or finding.outside is None:
        return finding
    margin = finding.outside(intervals)
    if margin > 1:
        return finding
    needed = replications_needed(finding.replications, 1 / margin if margin else math.inf)
    return replace(finding, verdict="not decidable", outside=None, needed=needed)


def _among(finding: Finding, intervals: int) -> Finding:
    """A finding as it is when each of its intervals holds with so many."""
    if not finding.parts:
        return by_many(finding, intervals)
    parts = [_among(part, intervals) for part in finding.parts]
    return _of_readings(finding, parts) if finding.readings else _of_all(finding, parts)


def _of_all(finding: Finding, parts: Sequence[Finding]) -> Finding:
    """A finding whose parts all have to agree, with the verdicts of these."""
    verdict = _verdict(parts)
    first = next((f for f in parts if f.verdict == verdict and f.decided_by), None)
    open_ = [f for f in parts if f.verdict == "not decidable"]
    return replace(
        _resting(finding, dict.fromkeys(text for f in parts for text in f.rests_on)),
        verdict=verdict,
        decided_by=first.decided_by if first else None,
        beside=first.beside if first else "",
        source=_source(f.source for f in parts if verdict == "agrees" or f.verdict == verdict),
        replications=first.replications if first else 0,
        needed=_all_decided(open_) if verdict == "not decidable" else None,
    )


def _of_readings(finding: Finding, parts: Sequence[Finding]) -> Finding:
    """A finding of whose parts one has to agree, with the verdicts of these."""
    verdicts = {part.verdict for part in parts}
    best: Verdict = next(verdict for verdict in BEST_FIRST if verdict in verdicts)
    holding = [(name, f) for name, f in zip(finding.readings, parts, strict=True) if f.verdict == best]
    name, first = holding[0]
    alone = (f"{finding.of} {' or '.join(name for name, _ in holding)} alone",) if len(verdicts) > 1 else ()
    return replace(
        _resting(finding, (*alone, *first.rests_on)),
        verdict=best,
        decided_by=first.decided_by and replace(first.decided_by, what=f"{name}: {first.decided_by.what}"),
        beside=first.beside,
        source=first.source,
        replications=first.replications,
        needed=first.needed,
    )


def _resting(finding: Finding, derived: Iterable[str]) -> Finding:
    """A finding that rests on what its parts do, and on what was added to it."""
    now = tuple(derived)
    added = (text for text in finding.rests_on if text not in finding.derived)
    return replace(finding, rests_on=tuple(dict.fromkeys((*now, *added))), derived=now)


def _verdict(parts: Sequence[Finding]) -> Verdict:
    verdicts = {part.verdict for part in parts}
    if "differs" in verdicts:
        return "differs"
    return "not decidable" if "not decidable" in verdicts or not parts else "agrees"


def every(findings: Sequence[Finding]) -> Finding:
    """A statement of several parts; what decided is the first part that has the verdict of the whole."""
    intervals = sum(finding.intervals for finding in findings)
    whole = Finding(
        "not decidable",
        "; ".join(f.measured for f in findings),
        tuple(value for f in findings for value in f.values),
        turned_by=tuple(dict.fromkeys(text for f in findings for text in f.turned_by)),
        intervals=intervals,
        parts=tuple(findings),
    )
    return _among(whole, intervals)


def counted(findings: Sequence[Finding], what: str) -> Finding:
    """A statement of many parts, judged as `every`, and told by how many of them agree and differ.

    Args:
        findings: a part each, counted by the intervals that hold for all.
        what: they are, such as "orders".
    """
    whole = every(findings)
    verdicts = [_among(finding, whole.intervals).verdict for finding in findings]
    agree, differ, left = (verdicts.count(verdict) for verdict in ("agrees", "differs", "not decidable"))
    words = (
        f"{agree} of {len(findings)} {what} {'agrees' if agree == 1 else 'agree'}, "
        f"{differ} {'differs' if differ == 1 else 'differ'}, {left} {'is' if left == 1 else 'are'} not decidable"
    )
    values = Value(f"{what} that agree", agree), Value(f"{what} that differ", differ)
    return replace(whole, measured=words, values=values, brief=words, decided_by=None, replications=0)


def _source(sources: Iterable[Source]) -> Source:
    """What several findings come from."""
    found = set(sources)
    return found.pop() if len(found) == 1 else "runs and exact law" if found else "runs"


def _all_decided(findings: Sequence[Finding]) -> int | None:
    """The replications that decide all of several findings that are not decidable."""
    needed = [f.needed for f in findings]
    return None if None in needed else max((n for n in needed if n is not None), default=None)


def either(findings: Mapping[str, Finding], of: str = "reading") -> Finding:
    """Readings of a statement that leaves a choice open: agrees when one of them does.

    Where their verdicts are not the same, the finding rests on those that gave its own, and names them.

    Args:
        findings: one for each reading.
        of: what tells the readings apart, such as "policy".
    """
    measured = "; ".join(f"{name}: {f.verdict} ({f.measured})" for name, f in findings.items())
    if not findings:
        return Finding("not decidable", measured)
    parts = tuple(findings.values())
    whole = Finding(
        "not decidable",
        measured,
        tuple(replace(value, what=f"{name}: {value.what}") for name, f in findings.items() for value in f.values),
        intervals=max(part.intervals for part in parts),
        parts=parts,
        readings=tuple(findings),
        of=of,
    )
    chosen = _of_readings(whole, parts)
    first = next(f for f in parts if f.verdict == chosen.verdict)
    return replace(chosen, brief=first.brief, turned_by=first.turned_by)


def yes(condition: bool, measured: str, *values: Value) -> Finding:
    """A rule whose outcome needs no third answer; the first value with an interval decided."""
    deciding = [value for value in values if not math.isnan(value.low)]
    return Finding("agrees" if condition else "differs", measured, values, deciding[0] if deciding else None)


def with_interval(estimate: Estimate) -> str:
    """A mean with the half-width of its 95 % interval, that with two digits and the mean with as many decimals.

    Where the mean does not lie in the middle, as that of a share near its ends, the ends stand in brackets.
    """
    if estimate.samples < 2:
        return number(estimate.mean)
    return _with_ends(estimate.mean, estimate.low, estimate.high)


def _with_ends(mean: float, low: float, high: float) -> str:
    half = (high - low) / 2
    if not math.isfinite(half):
        return number(mean)
    if half <= 1e-9 * abs(mean) or half == 0:  # no more than the rounding of the mean
        return f"{number(mean)} ± 0"
    decimals = 1 - math.floor(math.log10(half))
    if abs((low + high) / 2 - mean) > ASYMMETRY * half:
        return f"{_fixed(mean, decimals)} ({_fixed(low, decimals)} … {_fixed(high, decimals)})"
    return f"{_fixed(mean, decimals)} ± {_fixed(half, decimals)}"


def difference(value: float, other: float) -> float:
    """What is left of a value without another one; 0 where that is no more than their rounding."""
    return 0.0 if math.isclose(value, other, rel_tol=ROUNDING, abs_tol=0.0) else value - other


def number(value: float) -> str:
    """A number with four significant digits."""
    return significant(value, 4)


def _fixed(value: float, decimals: int) -> str:
    # Adding 0.0 takes the sign off a zero.
    return grouped(f"{round(value, decimals) + 0.0:.{max(0, decimals)}f}")
