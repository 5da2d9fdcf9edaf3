"""`compare`: a sweep over values of a path on the same losses, and the statistics of its pairs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars

from roamsim import statistics
from roamsim.errors import UsageError
from roamsim.estimates import survivors
from roamsim.estimates.paired import Difference, Question, Sample, differences, samples
from roamsim.running.numbers import check_number
from roamsim.running.shards import ALL, Shard
from roamsim.running.sweeps import MAX_REPLICATIONS, read_share
from roamsim.running.sweeps import sweep as run_sweep
from roamsim.running.work import Listener, Progress
from roamsim.scenarios.reading import Overrides, ScenarioLike, parse_source, source
from roamsim.scenarios.vary import Variation
from roamsim.storing.manifests import Compared
from roamsim.storing.store import PointRows, Results
from roamsim.tables import caveats
from roamsim.tables.metrics import Target
from roamsim.tables.result import KEYS
from roamsim.tables.units import in_unit
from roamsim.tables.words import brief_words, count, value_label

#: Replications of each value where neither a number nor a precision is asked for (chosen: Student's t is then 2.26,
#: not far above the 1.96 of very many).
REPLICATIONS = 10

#: With fewer pairs a comparison says that they are few (chosen: with four, Student's t is 3.2).
FEW = 5

#: What is compared unless a metric is asked for: the first whose kind of application is in the scenario. A stream is
#: judged by its rate, a transfer by its end, messages by their delay.
METRICS = {
    "bulk": "flows.goodput_bps",
    "transfer": "flows.completion_time_s",
    "request_response": "flows.mean_delay_s",
    "cbr": "flows.mean_delay_s",
    "poisson": "flows.mean_delay_s",
    "on_off": "flows.mean_delay_s",
    "video": "video.decodable_share",
}


#: Numbers of a table of means.
MEANS = ("mean", "from", "to", "replications")


class Comparison:
    """What `compare` returns.

    Attributes:
        question: what is compared.
        means: one row a metric, row of its table, combination of the other varied values, and value: `metric`, the
            others, `value`, `mean`, `low`, `high`, `samples`; the interval is the 95 % one of Student's t. `missing`
            is the share of messages that a mean over what arrived is without.
        differences: one row a pair of values: `metric`, the others, `value`, `against`, `pairs`; `difference`,
            `difference_low` and `difference_high` in the metric's unit; `relative`, `relative_low` and
            `relative_high` beside the mean of `against` (0.05 is 5 % more), null where that may be 0; `verdict`
            (`better`, `worse`, `higher`, `lower`, `no difference shown`, `equal`, `open`; `none` where means are over
            different shares of the messages).
        targets: the metrics of the question, and those that take the place of delays without a verdict.
        sentences: the differences in words.
        notes: what a reader has to know of them.
        samples: the values that the means are of, each with its metric.
        results: the tables of the sweep.
    """

    def __init__(self, results: Results, question: Question) -> None:
        self.question = question
        self.results = results
        points = [
            (number, entry)
            for number, entry in enumerate(results.manifest.points)
            if entry.values[question.over] in question.values
        ]
        order = question.values.index
        points.sort(key=lambda point: order(point[1].values[question.over]))
        self.samples: list[tuple[Target, Sample]] = []
        self._differences: list[Difference] = []
        self.targets = list(question.targets)
        # The list grows while it is read.
        for target in self.targets:
            if not results.height(target.table):
                raise UsageError(f"{target.table} has no rows in any run of this scenario; choose another metric")
            over = target.metric.over or ()
            chosen = {"point", "replication", "name", target.column, "connection", *KEYS[target.table], *over}
            there = results.schema(target.table)
            table = results.columns(target.table, [column for column in there if column in chosen])
            finished = _finished(results)
            found = samples(
                question,
                target,
                [PointRows(entry, finished[number], table.filter(point=number)) for number, entry in points],
            )
            if not found:
                raise UsageError(f"{target.name} has no value in any run of this scenario; choose another metric")
            # The values of one row of the table stand together.
            rows = list(dict.fromkeys(repr(sample.where) for sample in found))
            found.sort(key=lambda sample: rows.index(repr(sample.where)))
            self.samples += [(target, sample) for sample in found]
            mine = list(differences(question, target, found))
            self._differences += mine
            other = survivors.instead(results, target) if any(one.uneven for one in mine) else None
            if other is not None and other not in self.targets:
                self.targets.append(other)
        self.means = polars.DataFrame([self._mean(*pair) for pair in self.samples], infer_schema_length=None)
        self.differences = polars.DataFrame(
            [self._difference(difference) for difference in self._differences], infer_schema_length=None
        )
        several = len(self.targets) > 1
        self.sentences = [
            difference.sentence(self.label(difference.target, difference.where), name_metric=several)
            for difference in self._differences
        ]
        self.notes = self._notes()

    def label(self, target: Target, where: Mapping[str, Any]) -> str:
        """What tells a difference or a mean from those of other rows and other varied values, in words."""
        paths = list(self.results.varied)
        told = []
        for key, value in where.items():
            if len({sample.where[key] for measured, sample in self.samples if measured == target}) > 1:
                # The ends of a link stand beside its name.
                own = f"{key} {value}" if key in ("from", "to") else str(value)
                told.append(value_label(key, value, paths) if key in paths else own)
        return ", ".join(told)

    def shown_means(self, target: Target) -> tuple[list[str], list[list[str]]]:
        """The means of a metric as a reader wants them: what tells rows apart is called, and the cells of the rows.

        The cells are the words that tell a row from others, and those of `MEANS`.
        """
        show = in_unit(target.metric)
        mine = [sample for measured, sample in self.samples if measured == target]
        where = [self.label(target, sample.where) for sample in mine]
        over = brief_words(self.question.over, self.results.varied)
        words = [*(["at"] if any(where) else []), over]
        rows = []
        for sample, at in zip(mine, where, strict=True):
            mean = statistics.mean(sample.values)
            cells = ["–" if math.isnan(value) else show(value) for value in (mean.mean, mean.low, mean.high)]
            if sample.missing:
                cells[0] += f" [{caveats.percent(sample.missing)} missing]"
            value = sample.label.removeprefix(f"{over} ")
            rows.append([*([at] if any(where) else []), value, *cells, str(mean.samples)])
        return words, rows

    @staticmethod
    def _mean(target: Target, sample: Sample) -> dict[str, Any]:
        estimate = statistics.mean(sample.values)
        ends = {name: _number(getattr(estimate, name)) for name in ("mean", "low", "high")}
        head = {"metric": target.name, **sample.where, "value": sample.label}
        return {**head, **ends, "samples": estimate.samples, "missing": sample.missing}

    @staticmethod
    def _difference(found: Difference) -> dict[str, Any]:
        # Pairs that all differ by the same have a mean and no interval.
        absolute, relative = found.absolute, found.relative
        if found.constant:
            absolute = replace(absolute, low=math.nan, high=math.nan)
            relative = replace(relative, low=math.nan, high=math.nan)
        return {
            "metric": found.target.name,
            **found.where,
            "value": found.value.label,
            "against": found.against.label,
            "pairs": found.absolute.samples,
            "difference": _number(found.absolute.mean),
            "difference_low": _number(absolute.low),
            "difference_high": _number(absolute.high),
            "relative": _number(found.relative.mean),
            "relative_low": _number(relative.low),
            "relative_high": _number(relative.high),
            "verdict": found.verdict,
        }

    def _notes(self) -> list[str]:
        unfinished = self._unfinished()
        alike = self.results.alike_in_words
        said = self._notes_on_intervals() if not alike.startswith("All") else []
        return [
            note for note in (unfinished, alike, *self._notes_on_losses(), *self._notes_on_failures(), *said) if note
        ]

    def _notes_on_losses(self) -> list[str]:
        """What to ask for in place of delays without a verdict, where the runs do not tell it."""
        without = dict.fromkeys(one.target for one in self._differences if one.uneven)
        return [
            survivors.advice(self.results, target)
            for target in without
            if survivors.instead(self.results, target) is None
        ]

    def _notes_on_failures(self) -> list[str]:
        told = {
            ", ".join(filter(None, (self.label(target, sample.where), sample.label))) + f" {sample.failed}"
            for target, sample in self.samples
            if sample.failed
        }
        return [f"Connections that failed: {', '.join(sorted(told))}. The means include their data."] if told else []

    def _unfinished(self) -> str | None:
        entries = self.results.manifest.points
        wanted = sum(entry.replications for entry in entries)
        there = sum(_finished(self.results))
        if there >= wanted:
            return None
        return f"{there} of {wanted} runs are finished; the command that began the comparison goes on from there."

    def _notes_on_intervals(self) -> list[str]:
        values = [{value for value in sample.values if value is not None} for _, sample in self.samples]
        fewest = min((difference.absolute.samples for difference in self._differences), default=0)
        if all(len(found) <= 1 for found in values):
            return ["Every replication gave the same: nothing that is random changes these values."]
        if fewest < FEW:
            return [
                f"Only {fewest} pairs of replications: intervals are wide, and assume that differences are normally "
                "distributed. Run more replications."
            ]
        return []

    def wide(self, precision: str | float) -> list[str]:
        """The pairs, in words, whose differences are not that precise."""
        goal = _precision(self.question, precision)
        return [
            ", ".join(
                filter(
                    None, (self.label(found.target, found.where), f"{found.value.label} and {found.against.label}")
                )
            )
            for found in self._differences
            if not goal.reached(found)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object that `roamsim compare --json` prints; missing values are `None`."""
        manifest = self.results.manifest
        head = {"scenario": manifest.scenario, "seed": manifest.seed, "version": manifest.version}
        words = {"sentences": self.sentences, "notes": self.notes}
        frames = {"means": self.means.to_dicts(), "differences": self.differences.to_dicts()}
        return head | self.question.to_dict() | words | frames

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.notes])

    def __repr__(self) -> str:
        values = ", ".join(self.question.values)
        return f"<Comparison of {self.question.over} = {values}; {count(self.differences.height, 'difference')}>"


@dataclass(frozen=True)
class PairedPrecision:
    """What `--precision 2%` of a comparison asks for: differences whose 95 % intervals are that narrow.

    Attributes:
        question: what is compared.
        half_width: of each interval of a relative difference, or of the difference of shares.
    """

    question: Question
    half_width: float

    @property
    def targets(self) -> Sequence[Target]:
        """The metrics that are compared."""
        return self.question.targets

    def describe(self) -> str:
        """For the manifest."""
        return f"differences to {self.half_width:g}"

    def undecided(self, tables: Mapping[str, Sequence[PointRows]]) -> set[str]:
        """The points of the pairs that are not precise enough; a pair stays together until it is."""
        points: set[str] = set()
        for target in self.targets:
            found = samples(self.question, target, tables[target.table])
            for difference in differences(self.question, target, found):
                if not self.reached(difference):
                    points |= {difference.value.fingerprint, difference.against.fingerprint}
        return points

    def reached(self, difference: Difference) -> bool:
        """Whether a difference is precise enough."""
        told = difference.absolute if difference.target.metric.share else difference.relative
        return difference.equal or (told.half_width <= self.half_width and not difference.constant)


def compared_runs(
    scenario: ScenarioLike,
    variations: list[Variation],
    *,
    settings: Overrides,
    metrics: Sequence[str] = (),
    baseline: str | float | None = None,
    replications: int | None = None,
    precision: str | float | None = None,
    max_replications: int = MAX_REPLICATIONS,
    traces: Sequence[str] = (),
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    command: list[str] | None = None,
    progress: Progress | Listener | None = None,
    color: bool = False,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
    shard: Shard = ALL,
) -> tuple[Results, Question]:
    """The runs that compare the values of the first variation; `roamsim.compare` says what the arguments mean."""
    if not variations:
        raise UsageError("there is nothing to compare; vary a path over two values or more")
    first = variations[0]
    if len(first.values) < 2:
        raise UsageError(
            f"{first.path} has one value only, {first.values[0].shown}; a comparison needs two or more, as in a,b,c"
        )
    # Below 2, the reason says more than a bound.
    check_number("replications", REPLICATIONS if replications is None else max(replications, 2), 2)
    if replications is not None and replications < 2:
        raise UsageError(f"an interval needs 2 or more replications; the default is {REPLICATIONS}")
    read = source(scenario)
    base = parse_source(read, settings, color=color)
    targets = tuple(dict.fromkeys(map(Target.parse, metrics))) or (default_target(json.loads(base.canonical)),)
    for target in targets:
        target.check(base)
    values = tuple(value.toml for value in first.values)
    question = Question(first.path, values, _baseline(first, baseline), targets)
    results = run_sweep(
        read,
        variations,
        settings=settings,
        replications=replications or (REPLICATIONS if precision is None else None),
        precision=_precision(question, precision) if precision is not None else None,
        max_replications=max_replications,
        traces=traces,
        compared=Compared(**question.to_dict()),
        jobs=jobs,
        seed=seed,
        out=out,
        command=command,
        progress=progress,
        color=color,
        executor=executor,
        time_limit_s=time_limit_s,
        shard=shard,
    )
    return results, question


def comparison(results: Results) -> Comparison | None:
    """The comparison that a folder of results holds; `None` where `compare` did not write it."""
    compared = results.manifest.compared
    return Comparison(results, Question.from_dict(asdict(compared))) if compared else None


def default_target(scenario: Mapping[str, Any]) -> Target:
    """What a scenario is about: the rate of its streams, else the end of its transfers, else the delay of messages.

    Raises:
        UsageError: it has neither flows nor signalling.
    """
    kinds = {flow["application"]["kind"] for flow in scenario.get("flow", [])}
    for kind, metric in METRICS.items():
        if kind in kinds:
            return Target.parse(metric)
    if scenario.get("signalling"):
        return Target.parse("signalling.mean_delay_s")
    raise UsageError("the scenario has neither flows nor signalling that could be compared")


def _finished(results: Results) -> list[int]:
    """How many replications of each point are there, from the first on; of an interrupted sweep not all it has."""
    # Every run has links, even one in which nothing happened.
    runs = results.columns("links", ["point", "replication"]).unique()
    there = {point: set(of["replication"]) for (point,), of in runs.group_by("point")}
    return [
        next(count for count in range(len(mine) + 1) if count not in mine)
        for mine in (there.get(point, set()) for point in range(len(results.manifest.points)))
    ]


def _baseline(variation: Variation, asked: str | float | None) -> str:
    if asked is None:
        return variation.values[0].toml
    for value in variation.values:
        if asked in (value.toml, value.shown, str(value.shown)):
            return value.toml
    there = ", ".join(str(value.shown) for value in variation.values)
    raise UsageError(f"the baseline {asked!r} is not among the values of {variation.path}: {there}")


def _precision(question: Question, asked: str | float) -> PairedPrecision:
    half_width = read_share(str(asked))
    if half_width is None:
        raise UsageError(f"the precision of a comparison is a share, as in 1% or 0.01; this is {asked!r}")
    return PairedPrecision(question, half_width)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
