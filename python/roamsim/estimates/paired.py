"""Differences between values of a varied path, replication by replication, and their sentences.

Random streams are keyed by seed, replication and purpose, not by what is varied: in replication k, every value meets
the same draws, and the k-th difference is free of what they have in common.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from roamsim import statistics
from roamsim.errors import UsageError
from roamsim.estimates import survivors
from roamsim.statistics import Estimate
from roamsim.storing.store import PointRows
from roamsim.tables import caveats
from roamsim.tables.metrics import Target
from roamsim.tables.result import KEYS, MEANS
from roamsim.tables.significant import significant
from roamsim.tables.words import metric_words, value_label


@dataclass(frozen=True)
class Question:
    """What is compared.

    Attributes:
        over: the varied path.
        values: its values that are compared, in TOML's notation, in order.
        baseline: the one that the others are compared with.
        targets: the metrics.
    """

    over: str
    values: tuple[str, ...]
    baseline: str
    targets: tuple[Target, ...]

    def __post_init__(self) -> None:
        for target in self.targets:
            if target.table not in KEYS:
                raise UsageError(
                    f"{target.name} has many values a run; what can be compared is in the tables {', '.join(KEYS)}"
                )

    def pairs(self) -> list[tuple[str, str]]:
        """Value and what it is compared with: each with the baseline, then each with the one before it."""
        pairs = [(value, self.baseline) for value in self.values if value != self.baseline]
        neighbours = [(b, a) for a, b in zip(self.values, self.values[1:], strict=False)]
        return pairs + [pair for pair in neighbours if self.baseline not in pair]

    def to_dict(self) -> dict[str, Any]:
        """For manifests and JSON."""
        return {
            "over": self.over,
            "values": list(self.values),
            "baseline": self.baseline,
            "metrics": [target.name for target in self.targets],
        }

    @staticmethod
    def from_dict(entries: Mapping[str, Any]) -> Question:
        """What `to_dict` gave."""
        targets = tuple(Target.parse(name) for name in entries["metrics"])
        return Question(entries["over"], tuple(entries["values"]), entries["baseline"], targets)


@dataclass(frozen=True)
class Sample:
    """What one point holds of a metric in one row of a table.

    Attributes:
        where: what stays the same when the compared value changes: the other varied values, and the row's keys.
        value: the compared value, in TOML's notation.
        label: the same in words.
        fingerprint: of the point.
        values: one a replication; `None` where it has none.
        missing: the share of messages that a mean over what arrived is without.
        failed: the connections that failed, in words; empty where none did.
        missing_of_runs: the same share of each replication that has a row; empty where the metric is no such mean.
    """

    where: Mapping[str, Any]
    value: str
    label: str
    fingerprint: str
    values: Sequence[float | None]
    missing: float = 0.0
    failed: str = ""
    missing_of_runs: Sequence[float] = ()


def samples(question: Question, target: Target, points: Sequence[PointRows]) -> list[Sample]:
    """A sample for each point and row of the table; rows that have no value at any point are left out.

    Of the tables in `MEANS`, the rows of a run that have the same keys are one: their mean, of those with a value.
    """
    # A scheme may be what is varied.
    keys = [key for key in KEYS[target.table] if key != "scheme"]
    # Where nothing was dropped in a replication there is no row.
    absent = 0.0 if target.table == "drops" else None
    frames = [target.rows(point.table) for point in points]
    if target.table in MEANS:
        by = [*keys, "replication"]
        frames = [frame.group_by(by, maintain_order=True).agg(polars.col(target.column).mean()) for frame in frames]
    rows = polars.concat([frame.select(keys) for frame in frames]).unique(maintain_order=True).rows()
    found: list[Sample] = []
    for point, frame in zip(points, frames, strict=True):
        shown = point.entry.shown
        others = {path: value for path, value in shown.items() if path != question.over}
        label = value_label(question.over, shown[question.over], [question.over, *others])
        groups = frame.group_by(keys, maintain_order=True).agg("replication", target.column)
        known = {row[:-2]: dict(zip(row[-2], row[-1], strict=True)) for row in groups.rows()}
        for row in rows:
            values = [known.get(row, {}).get(replication, absent) for replication in range(point.count)]
            where = others | dict(zip(keys, row, strict=True))
            mine = frame.filter(*(polars.col(key).eq_missing(value) for key, value in zip(keys, row, strict=True)))
            share = caveats.missing(target.metric, mine)
            failed = caveats.failed(mine["connection"].to_list()) if "connection" in mine.columns else ""
            value, fingerprint = point.entry.values[question.over], point.entry.fingerprint
            of_runs = [share for one in survivors.of_runs(target.metric, mine, []) for share in one]
            found.append(Sample(where, value, label, fingerprint, values, share, failed, of_runs))
    with_value = {repr(sample.where) for sample in found if any(value is not None for value in sample.values)}
    return [sample for sample in found if repr(sample.where) in with_value]


@dataclass(frozen=True)
class Difference:
    """One value against another, in one metric of one row of a table, at fixed other values.

    Attributes:
        target: the metric.
        value: what is compared.
        against: what it is compared with.
        absolute: `value` less `against`, in the metric's unit.
        relative: the same beside the mean of `against`; open where that may be 0.
    """

    target: Target
    value: Sample
    against: Sample
    absolute: Estimate
    relative: Estimate

    @property
    def where(self) -> Mapping[str, Any]:
        """What the two have in common."""
        return self.value.where

    @property
    def replications(self) -> int:
        """Pairs that there could be; `absolute.samples` have both values."""
        return min(len(self.value.values), len(self.against.values))

    @property
    def sign(self) -> int:
        """1 where the interval lies above 0, -1 where it lies below, 0 where it holds 0 or is open."""
        return int(self.absolute.low > 0) - int(self.absolute.high < 0)

    @property
    def equal(self) -> bool:
        """Whether there are two pairs or more, and none of them differs."""
        return self.absolute.low == self.absolute.high == 0

    @property
    def constant(self) -> bool:
        """Whether all pairs differ by the same though their values vary, as counts may: they bound nothing."""
        there = {value for value in self.value.values if value is not None}
        return self.absolute.low == self.absolute.high != 0 and len(there) > 1

    @property
    def uneven(self) -> bool:
        """Whether the two are means over different shares of the messages, beyond chance."""
        return survivors.uneven([self.value.missing_of_runs, self.against.missing_of_runs]) is not None

    @property
    def verdict(self) -> str:
        """`better`, `worse`, `no difference shown`, `equal`, `open`; `higher`, `lower` where neither is better.

        Means over different shares of the messages have the verdict `none`.
        """
        if self.uneven:
            return "none"
        if math.isnan(self.absolute.low) or self.constant:
            return "open"
        if self.equal:
            return "equal"
        if self.sign == 0:
            return "no difference shown"
        better = self.target.metric.better
        if better:
            return "better" if (self.sign > 0) == (better == "larger") else "worse"
        return "higher" if self.sign > 0 else "lower"

    def told(self) -> tuple[float, float, str]:
        """The interval as sentences tell it, and its unit: per cent of `against`, of shares percentage points."""
        metric = self.target.metric
        if metric.share:
            return 100 * self.absolute.low, 100 * self.absolute.high, " percentage points"
        # Beside a mean that may be 0, or is small beside its spread, a difference has no size but its own.
        if not self.relative.low >= -1:
            return self.absolute.low, self.absolute.high, f" {metric.unit}" if metric.unit else ""
        return 100 * self.relative.low, 100 * self.relative.high, " %"

    def sentence(self, where: str = "", *, name_metric: bool = False) -> str:
        """The difference in words.

        Args:
            where: stands in front, to tell it from other differences.
            name_metric: whether the metric is named even where its words tell it.
        """
        a, b, metric = self.value.label, self.against.label, self.target.metric
        paired, few = self.absolute.samples, self._few
        if self.uneven:
            shares = (f"{caveats.percent(end.missing)} with {end.label}" for end in (self.value, self.against))
            front = "".join(f"{part}: " for part in (where, metric_words(metric) if name_metric else "") if part)
            return (
                f"{front}no verdict on {a} and {b}: {metric_words(metric)} counts only messages that arrived; "
                f"{' but '.join(shares)} did not"
            )
        own_words = self.own_words
        named = metric_words(metric) if name_metric or not own_words else ""
        front = "".join(f"{part}: " for part in (where, named) if part)
        if math.isnan(self.absolute.low):
            number = "one replication" if paired else "no replication"
            return f"{front}{a} and {b} cannot be compared: {number} has a value of both"
        if self.equal:
            return f"{front}{a} and {b} are equal in every replication{few}"
        if self.constant:
            word = metric.words[0] if self.sign > 0 else metric.words[1]
            size = significant(abs(self.absolute.mean), 6) + (f" {metric.unit}" if metric.unit else "")
            with_against = f"{a} is {size} {word} than {b}" if own_words else f"{size} {word} with {a} than with {b}"
            return f"{front}{with_against} in each of {paired} replications, too few to tell an interval{few}"
        low, high, unit = self.told()
        if self.sign == 0:
            first, last = rounded(low, high)
            return f"{front}no difference shown between {a} and {b}: {_interval(first, last, unit)}{few}"
        if own_words:
            return f"{front}{a} is {self._size()} than {b}{few}"
        return f"{front}{self._size()} with {a} than with {b}{few}"

    @property
    def own_words(self) -> bool:
        """Whether the metric has words of its own for more and less of it, as `faster`."""
        return self.target.metric.words != ("higher", "lower")

    def by(self) -> str:
        """How far one is from the other, of a difference that is shown: `2 % to 7 % faster than reno`."""
        return f"{self._size()} than {'' if self.own_words else 'with '}{self.against.label}{self._few}"

    def _size(self) -> str:
        low, high, unit = self.told()
        if self.sign < 0:
            low, high = -high, -low
        first, last = rounded(low, high)
        size = f"{first}{unit}" if first == last else _interval(first, last, unit)
        return f"{size} {self.target.metric.words[0 if self.sign > 0 else 1]}"

    @property
    def _few(self) -> str:
        """What is missing of the pairs, in brackets."""
        paired, possible = self.absolute.samples, self.replications
        few = f" (in {paired} of {possible} replications; the others lack a value)" if paired < possible else ""
        if self.value.missing or self.against.missing:
            shares = (f"{caveats.percent(end.missing)} with {end.label}" for end in (self.value, self.against))
            few += f" (of the messages that arrived; {' and '.join(shares)} did not)"
        return few


def differences(question: Question, target: Target, found: Sequence[Sample]) -> Iterator[Difference]:
    """Every pair of values that the question asks for, at each combination of what stays the same."""
    groups: dict[str, dict[str, Sample]] = {}
    for sample in found:
        groups.setdefault(repr(sample.where), {})[sample.value] = sample
    for group in groups.values():
        for value, against in question.pairs():
            if value not in group or against not in group:
                continue
            yield difference(target, group[value], group[against])


def difference(target: Target, value: Sample, against: Sample) -> Difference:
    """One value against another, in the pairs that there are."""
    pairs = min(len(value.values), len(against.values))
    first, second = against.values[:pairs], value.values[:pairs]
    absolute = statistics.paired_difference(first, second)
    return Difference(target, value, against, absolute, statistics.paired_ratio(first, second))


def _interval(first: str, last: str, unit: str) -> str:
    """An interval in words: the sign for per cent stands at both ends, a unit at the second."""
    return f"{first}{unit if unit == ' %' else ''} to {last}{unit}"


def rounded(low: float, high: float) -> tuple[str, str]:
    """The ends of an interval with two digits of its width, and so many that no end but 0 reads as 0."""
    size = high - low or abs(low) / 10 or 1.0
    digits = min(9, max(0, 1 - math.floor(math.log10(size))))
    while digits < 9 and any(end != 0 and float(f"{end:.{digits}f}") == 0 for end in (low, high)):
        digits += 1
    return f"{low:.{digits}f}", f"{high:.{digits}f}"
