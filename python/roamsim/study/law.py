"""Rules that judge by an exact law; runs are compared with it.

A law is a closed form of what is measured. It has no interval, so the rule that judges the runs decides at once. The
verdict is the law's where the runs agree with it or are too few to decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from roamsim.statistics import Estimate
from roamsim.study.judging import Finding, Value, number

#: An exact value counts as an estimate of as few samples as have an interval.
SAMPLES = 2


def exact(value: float) -> Estimate:
    """A value of a law as the rules of `judging` take it: an interval without width."""
    return Estimate(value, value, value, SAMPLES)


def exact_curve(values: Mapping[float, float]) -> dict[float, Estimate]:
    """The same of a curve."""
    return {at: exact(value) for at, value in values.items()}


def by_law(runs: Finding, law: Finding) -> Finding:
    """The verdict of a law, with the runs beside it.

    Where the runs decide otherwise, the law does not hold here or the simulator does not keep it: that is not
    decidable, and says so.

    Args:
        runs: what the rule says of the runs.
        law: what the same rule says of the law's values (`exact`).
    """
    if law.verdict == "not decidable":
        return runs
    values = tuple(Value(f"exact law, {value.what}", value.mean) for value in law.values)
    found = replace(
        runs,
        verdict=law.verdict,
        measured=f"{runs.measured}; exact law: {_plain(law)}",
        values=(*runs.values, *values),
        needed=None,
        outside=None,
        parts=(),
        beside=runs.beside or _of_the_law(runs, law),
    )
    if runs.verdict == law.verdict:
        return replace(found, source="runs and exact law")
    if runs.verdict == "not decidable":
        return replace(found, source="exact law")
    return replace(
        found, verdict="not decidable", measured=f"{found.measured}; the runs contradict the law", source="runs"
    )


def _of_the_law(runs: Finding, law: Finding) -> str:
    """The law's value of the number that decided, in words."""
    one = next((value for value in law.values if runs.decided_by and value.what == runs.decided_by.what), None)
    return f"exact law {number(one.mean)}" if one else ""


def _plain(law: Finding) -> str:
    """What a law says, without intervals."""
    return law.measured.replace(" ± 0", "")
