"""The best value of a comparison: values in order of their means, and the differences of all pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from roamsim import statistics
from roamsim.estimates.comparisons import Comparison
from roamsim.estimates.paired import Difference, Sample, difference
from roamsim.statistics import Estimate
from roamsim.tables.metrics import Target
from roamsim.tables.words import capital, in_words, listed, metric_words, scale, titled

#: Values of which every pair is shown (chosen: their 36 pairs fill a screen); of more, each with the best and the
#: next one.
ALL_PAIRS = 9

#: Places that an answer names one by one (chosen).
NAMED = 4


@dataclass(frozen=True)
class Ranking:
    """The values of a comparison in one metric of one row of a table, at fixed other values.

    Attributes:
        target: the metric.
        where: what tells it from the other rankings, in words; empty where there is one.
        samples: of each value, two or more, the best mean first, or the largest where neither is better.
    """

    target: Target
    where: str
    samples: Sequence[Sample]

    @cached_property
    def pairs(self) -> list[Difference]:
        """Every pair once, the better value held against the other; of many values, fewer of them."""
        pairs = list(itertools.combinations(self.samples, 2))
        if len(self.samples) > ALL_PAIRS:
            best, order = self.samples[0], list(self.samples)
            pairs = [(a, b) for a, b in pairs if a is best or order.index(b) == order.index(a) + 1]
        return [difference(self.target, a, b) for a, b in pairs]

    def told(self) -> str:
        """Who is best, and by how much."""
        against = {pair.against.value: pair for pair in self.pairs if pair.value is self.samples[0]}
        second, last = against[self.samples[1].value], against[self.samples[-1].value]
        best = self.samples[0].label
        if uneven := [pair for pair in against.values() if pair.uneven]:
            return max(uneven, key=lambda pair: abs(pair.value.missing - pair.against.missing)).sentence()
        if len(self.pairs) == 1 and not _shown(second):
            return second.sentence()
        if all(not _shown(pair) for pair in self.pairs):
            return f"no two values differ beyond their intervals. For the two best, {second.sentence()}"
        mean = in_words(statistics.mean(self.samples[0].values).mean, self.target.metric)
        it_is = "It is" if second.own_words else "That is"
        like = [pair.against.label for pair in against.values() if not _shown(pair)]
        if like:
            told = f"{best} has the {self._extent} mean, {mean}, but no difference from {listed(like, 'or')} is shown"
            beaten = [pair for pair in against.values() if _shown(pair)]
            if not beaten:
                return told
            ends = beaten if len(beaten) == 1 else [beaten[0], beaten[-1]]
            return f"{told}. {it_is} {', and '.join(pair.by() for pair in ends)}"
        named = (
            f"{best} is {'best' if self.target.metric.better else self._extent} with {mean}. {it_is} {second.by()}"
        )
        return f"{named}, and {last.by()}" if last is not second else named

    @property
    def best(self) -> str | None:
        """The value that is better than each other one; `None` where none is."""
        mine = [pair for pair in self.pairs if pair.value is self.samples[0]]
        return self.samples[0].label if mine and all(map(_shown, mine)) else None

    @property
    def _extent(self) -> str:
        return "lowest" if self.target.metric.better == "smaller" else "highest"


def rankings(compared: Comparison) -> list[Ranking]:
    """A ranking for each metric, row of its table and combination of the other varied values."""
    groups: dict[tuple[Target, str], list[Sample]] = {}
    for target, sample in compared.samples:
        groups.setdefault((target, repr(sample.where)), []).append(sample)
    found = []
    for (target, _), mine in groups.items():
        means = {id(sample): statistics.mean(sample.values).mean for sample in mine}
        there = [sample for sample in mine if not math.isnan(means[id(sample)])]
        if len(there) > 1:
            there.sort(key=lambda sample: means[id(sample)], reverse=target.metric.better != "smaller")
            found.append(Ranking(target, compared.label(target, there[0].where), there))
    return found


def answer(found: Sequence[Ranking]) -> list[str]:
    """Who is best, a sentence for each metric, or for each place that a metric has where they are few."""
    sentences = []
    for target in dict.fromkeys(ranking.target for ranking in found):
        mine = [ranking for ranking in found if ranking.target == target]
        words = capital(metric_words(target.metric))
        if len(mine) <= NAMED:
            told = (f"{words}{f' ({one.where})' if one.where else ''}: {one.told()}." for one in mine)
            sentences += list(told)
            continue
        wins: dict[str, int] = {}
        for ranking in mine:
            if ranking.best is not None:
                wins[ranking.best] = wins.get(ranking.best, 0) + 1
        parts = [f"{name} is best in {number} of {len(mine)}" for name, number in wins.items()]
        open_ = len(mine) - sum(wins.values())
        lossy = sum(any(pair.uneven for pair in ranking.pairs) for ranking in mine)
        if lossy:
            parts.append(f"{lossy} have no verdict, because the shares of missing messages differ")
            open_ = sum(ranking.best is None and not any(pair.uneven for pair in ranking.pairs) for ranking in mine)
        parts += [f"none is shown to be best in {open_}"] if open_ else []
        sentences.append(f"{words}: {'; '.join(parts)}.")
    return sentences


def rows(found: Sequence[Ranking]) -> tuple[list[dict[str, Any]], str]:
    """The pairs of rankings of one metric as a figure draws them, and the title of its axis.

    Pairs without a verdict are left out. Differences are beside the mean of what is worse, in per cent, where each
    has an interval; of shares in percentage points; else in the metric's unit.
    """
    metric = found[0].target.metric
    pairs = [(ranking, pair) for ranking in found for pair in ranking.pairs if not pair.uneven]
    if metric.share:
        size, title = 0.01, "difference, percentage points"
    elif all(pair.relative.low >= -1 for _, pair in pairs):
        size, title = 0.01, "difference, %"
    else:
        suited = scale(metric.unit, [pair.absolute.mean for _, pair in pairs])
        size, title = suited.size, titled(f"difference of {metric_words(metric)}", suited.unit)
    relative = not metric.share and title == "difference, %"
    drawn = []
    for ranking, pair in pairs:
        of: Estimate = pair.relative if relative else pair.absolute
        ends: Mapping[str, float | None] = {
            name: None if math.isnan(value) or (pair.constant and name != "mean") else value / size
            for name, value in (("mean", of.mean), ("low", of.low), ("high", of.high))
        }
        shown = "difference shown" if _shown(pair) else "no difference shown"
        names = f"{pair.value.label} against {pair.against.label}"
        drawn.append({"pair": names, "panel": ranking.where, **ends, "shown": shown, "sentence": pair.sentence()})
    return drawn, title


def _shown(pair: Difference) -> bool:
    return pair.verdict in ("better", "worse", "higher", "lower")
