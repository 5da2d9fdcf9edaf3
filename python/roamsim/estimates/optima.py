"""`optimise`: the values of several quantities at which a metric is best, confirmed by runs of their own.

Optuna searches, by the tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kégl 2011, Advances in Neural
Information Processing Systems 24). Every trial meets the same random streams, and its value is the mean over its
replications. The best of many noisy means is better than it will be again, for it was chosen for its noise too: so
the winner, the second best and the scenario as written run over fresh replications, and their differences are told in
pairs of these.

The search keeps nothing on disk but its runs: begun again it asks for the same trials, whose runs are there. Several
trials are asked for at a time, so that many processors have work, and always so many, so that their number changes
nothing.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import polars

from roamsim import statistics
from roamsim._roamsim import ScenarioError
from roamsim.errors import UsageError
from roamsim.estimates import survivors
from roamsim.estimates.paired import Difference, Sample
from roamsim.estimates.rows import require_mean, several_rows, values_of_runs
from roamsim.running.numbers import check_number, check_seed
from roamsim.running.sweeps import Campaign, campaign
from roamsim.running.work import Listener, Progress, heard
from roamsim.scenarios.defaults import default_at
from roamsim.scenarios.ranges import Choice, Range, stepped_ranges, written_value
from roamsim.scenarios.reading import Overrides, ScenarioLike, parse_source, source
from roamsim.scenarios.vary import Point, value_of
from roamsim.statistics import Estimate
from roamsim.storing.manifests import Searched
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target
from roamsim.tables.units import interval
from roamsim.tables.words import capital, count

GOALS = ("maximise", "minimise")

#: Trials, replications of each, and fresh replications of the winner, unless given (chosen: ten trials are random;
#: with twenty pairs Student's t is 2.1).
TRIALS, REPLICATIONS, FRESH = 50, 5, 20

#: Trials that are asked for at a time (chosen: with five replications they keep forty processors busy).
AT_ONCE = 8

#: What the three points that are confirmed are called.
WINNER, RUNNER_UP, AS_WRITTEN = "the winner", "the runner-up", "the scenario as written"


class Optimum:
    """What `optimise` returns.

    Attributes:
        searched: what was asked for.
        winner: for each path the value that was best in the search, as a scenario writes it.
        confirmed: whether the fresh replications show that the winner is better than the scenario as written.
        means: the winner, the scenario as written and the runner-up, with their values: `search_mean` of the search,
            for which they were chosen, and `mean`, `low`, `high` (95 %, Student's t) of `samples` fresh replications.
        differences: in pairs of fresh replications, the winner against the others: `value`, `against`, `pairs`,
            `difference` with `difference_low` and `difference_high`, the same as `relative`, and `verdict`.
        trials: one row a trial: its number, its point, the varied values, `mean` (null where the scenario was not
            valid, or a run had no value), and `best` up to it.
        sentences: what was found, in words.
        notes: what a reader has to know of it.
        results: the tables of all runs.
    """

    def __init__(self, results: Results) -> None:
        searched = results.manifest.searched
        if searched is None:
            raise UsageError(f"{os.fspath(results.path)!r} holds no search")
        if searched.winner is None:
            raise UsageError("the search is not finished; give its command again to resume it")
        self.results = results
        self.searched = searched
        self.target = Target.parse(searched.metric)
        points = results.manifest.points
        self.winner = dict(points[searched.winner].values)
        table = results.tables.get(self.target.table, polars.DataFrame())
        if not table.height:
            raise UsageError(f"{self.target.table} has no rows in any run of this scenario")
        tried = sorted({number for number in searched.trials if number is not None})
        means = dict(zip(tried, trial_means(self.target, table, tried, searched.replications), strict=True))
        self.trials = self._trials(means)
        labels = {WINNER: searched.winner, AS_WRITTEN: searched.as_written, RUNNER_UP: searched.runner_up}
        chosen = {label: number for label, number in labels.items() if number is not None}
        fresh = self._fresh(table, list(dict.fromkeys(chosen.values())))
        samples = {
            label: Sample(
                {},
                label,
                label,
                points[number].fingerprint,
                fresh[number],
                missing_of_runs=self._missing(table, number),
            )
            for label, number in chosen.items()
        }
        self.means = polars.DataFrame(
            [
                {
                    "what": label,
                    **points[number].shown,
                    "search_mean": _number(means.get(number, math.nan)),
                    **_ends(statistics.mean(fresh[number])),
                }
                for label, number in chosen.items()
            ],
            infer_schema_length=None,
        )
        self._differences = {
            label: Difference(
                self.target,
                samples[WINNER],
                sample,
                statistics.paired_difference(sample.values, samples[WINNER].values),
                statistics.paired_ratio(sample.values, samples[WINNER].values),
            )
            for label, sample in samples.items()
            if sample.fingerprint != samples[WINNER].fingerprint
        }
        self.differences = polars.DataFrame(
            [_difference(found) for found in self._differences.values()], infer_schema_length=None
        )
        # The confirmed points have more replications.
        self._uneven = survivors.of_points(results, self.target, tried, results.varied) or survivors.of_points(
            results, self.target, list(chosen.values()), results.varied
        )
        self.confirmed = AS_WRITTEN in self._differences and self._better(AS_WRITTEN) > 0 and not self._uneven
        self.sentences = self._sentences(statistics.mean(fresh[searched.winner]))
        self.notes = [*filter(None, [several_rows(self.target, table)]), *self._notes(means)]

    def _fresh(self, table: polars.DataFrame, points: Sequence[int]) -> dict[int, list[float | None]]:
        """The values of the fresh replications of points."""
        searched = self.searched
        last = searched.replications + searched.fresh
        found = values_of_runs(self.target, table, points, last)[:, searched.replications :]
        return {n: [_number(value) for value in row] for n, row in zip(points, found.tolist(), strict=True)}

    def _missing(self, table: polars.DataFrame, point: int) -> list[float]:
        """The share of messages that each fresh replication of a point is without."""
        rows = self.target.rows(table.filter(polars.col("replication") >= self.searched.replications, point=point))
        return [share for one in survivors.of_runs(self.target.metric, rows, []) for share in one]

    def _trials(self, means: dict[int, float]) -> polars.DataFrame:
        best = max if self.searched.goal == "maximise" else min
        rows: list[dict[str, Any]] = []
        so_far = math.nan
        for trial, number in enumerate(self.searched.trials):
            mean = math.nan if number is None else means[number]
            so_far = best((value for value in (so_far, mean) if not math.isnan(value)), default=math.nan)
            shown = (
                dict.fromkeys(self.searched.ranges) if number is None else self.results.manifest.points[number].shown
            )
            rows.append({"trial": trial, "point": number, **shown, "mean": _number(mean), "best": _number(so_far)})
        return polars.DataFrame(rows, infer_schema_length=None)

    def _better(self, against: str) -> int:
        """1 where fresh replications show the winner better, -1 where worse, 0 where they show nothing."""
        found = self._differences[against]
        if found.constant:
            return 0
        return found.sign if self.searched.goal == "maximise" else -found.sign

    def _sentences(self, fresh: Estimate) -> list[str]:
        extent = "highest" if self.searched.goal == "maximise" else "lowest"
        where = ", ".join(f"{path} = {value}" for path, value in self.winner.items())
        told = [f"The winner, with the {extent} {self.searched.metric}: {where}."]
        if self._uneven:
            why = (
                f"No verdict on {self.searched.metric}: it counts only messages that arrived, and the share of the "
                f"others differs between trials: {survivors.between(self._uneven)}."
            )
            return [why, *filter(None, [survivors.advice(self.results, self.target)])]
        if fresh.samples > 1:
            told.append(
                f"Its mean over {fresh.samples} fresh replications: "
                f"{interval(fresh.low, fresh.high, self.target.metric)}."
            )
        if AS_WRITTEN not in self._differences:
            return [*told, "The winner is the scenario as written."]
        told.append(
            f"{'Confirmed' if self.confirmed else 'Not confirmed'}: {self._differences[AS_WRITTEN].sentence()}."
        )
        if RUNNER_UP in self._differences:
            told.append(f"{capital(self._differences[RUNNER_UP].sentence())}.")
        return told

    def _notes(self, means: dict[int, float]) -> list[str]:
        trials = len(self.searched.trials)
        invalid = sum(number is None for number in self.searched.trials)
        empty = sum(number is not None and math.isnan(means[number]) for number in self.searched.trials)
        told = []
        if invalid:
            told.append(f"Not valid as scenarios, and counted as bad: {invalid} of {count(trials, 'trial')}.")
        if empty:
            told.append(
                f"Without {self.searched.metric} in some replication, and counted as bad: "
                f"{empty} of {count(trials, 'trial')}."
            )
        if self._uneven:
            return told
        told += [
            f"In the fresh replications {label} is better than the winner: use {label}."
            for label in self._differences
            if self._better(label) < 0
        ]
        written = self._differences.get(AS_WRITTEN)
        if written is not None and not written.equal and not self._better(AS_WRITTEN):
            told.append("More fresh replications may show a difference.")
        return told

    def to_dict(self) -> dict[str, Any]:
        """The object that `roamsim optimise --json` prints; missing values are `None`."""
        manifest, searched = self.results.manifest, self.searched
        return {
            "scenario": manifest.scenario,
            "seed": manifest.seed,
            "version": manifest.version,
            "metric": searched.metric,
            "goal": searched.goal,
            "vary": searched.ranges,
            "winner": self.winner,
            "confirmed": self.confirmed,
            "sentences": self.sentences,
            "notes": self.notes,
            "means": self.means.to_dicts(),
            "differences": self.differences.to_dicts(),
            "trials": self.trials.to_dicts(),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.notes])

    def __repr__(self) -> str:
        values = ", ".join(f"{path}={value}" for path, value in self.winner.items())
        return f"<Optimum of {self.searched.metric} at {values}>"


def optimise(
    scenario: ScenarioLike,
    varied: Sequence[Range | Choice],
    *,
    settings: Overrides,
    metric: str,
    goal: str,
    trials: int | None = None,
    replications: int | None = None,
    fresh: int | None = None,
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    command: list[str] | None = None,
    progress: Progress | Listener | None = None,
    color: bool = False,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Results:
    """The runs of a search; `roamsim.optimise` says what the arguments mean."""
    # What is not installed is said before anything is run.
    import optuna

    del optuna
    trials = TRIALS if trials is None else trials
    replications = REPLICATIONS if replications is None else replications
    fresh = FRESH if fresh is None else fresh
    check_seed(seed)
    check_number("trials", trials, 1)
    check_number("replications", replications, 1)
    check_number("fresh replications", fresh, 2)
    read = source(scenario)
    base = parse_source(read, settings, color=color)
    target = Target.parse(metric)
    target.check(base)
    require_mean(target)
    chosen = stepped_ranges(varied, read, settings, color=color)
    as_written = _as_written(json.loads(base.written), chosen)
    search = _Search(target, goal, chosen, seed)
    with campaign(
        read,
        [one.path for one in chosen],
        settings=settings,
        first=[as_written],
        jobs=jobs,
        seed=seed,
        out=out,
        command=command,
        progress=_Whole(heard(progress), trials * replications + 3 * fresh),
        color=color,
        executor=executor,
        time_limit_s=time_limit_s,
    ) as runs:
        (written,) = runs.first
        searched = Searched(
            target.name, goal, {one.path: one.text() for one in chosen}, replications, fresh, [], written
        )
        runs.manifest.searched = searched
        while len(searched.trials) < trials:
            searched.trials += search.further(runs, min(AT_ONCE, trials - len(searched.trials)), replications)
        searched.winner, searched.runner_up = search.best(runs)
        three = {searched.winner, written, *([] if searched.runner_up is None else [searched.runner_up])}
        runs.make(sorted(three), replications + fresh)
        return runs.results()


class _Search:
    """Optuna's study: what it asks for, and what became of that."""

    def __init__(self, target: Target, goal: str, chosen: Sequence[Range | Choice], seed: int) -> None:
        import numpy as np
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._target = target
        self._goal = goal
        self._ranges = chosen
        self._failed = optuna.trial.TrialState.FAIL
        self._steps: dict[str, optuna.distributions.BaseDistribution] = {
            one.path: optuna.distributions.CategoricalDistribution(range(one.steps + 1))
            if isinstance(one, Choice)
            else optuna.distributions.IntDistribution(0, one.steps)
            for one in chosen
        }
        own_seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
        with warnings.catch_warnings():
            # Of its arguments that may change in later versions.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            # Trials under way count as bad, so that those of one time are not all at one place.
            sampler = optuna.samplers.TPESampler(seed=own_seed, constant_liar=True)
        self._study = optuna.create_study(direction="maximize" if goal == "maximise" else "minimize", sampler=sampler)
        self._numbers: list[int] = []

    def further(self, runs: Campaign, count: int, replications: int) -> list[int | None]:
        """Makes so many further trials; the numbers of their points, `None` where the scenario is not valid."""
        asked = [self._study.ask(dict(self._steps)) for _ in range(count)]
        numbers: list[int | None] = []
        for trial in asked:
            try:
                numbers += runs.add([{one.path: one.at(trial.params[one.path]) for one in self._ranges}])
            except ScenarioError:
                numbers.append(None)
        self._numbers = list(dict.fromkeys([*self._numbers, *(number for number in numbers if number is not None)]))
        self._replications = replications
        runs.make(self._numbers, replications)
        means = self._means(runs)
        for trial, number in zip(asked, numbers, strict=True):
            mean = math.nan if number is None else means[number]
            if math.isnan(mean):
                self._study.tell(trial, state=self._failed)
            else:
                self._study.tell(trial, mean)
        return numbers

    def best(self, runs: Campaign) -> tuple[int, int | None]:
        """The best point and the second best.

        Raises:
            UsageError: no point has a value.
        """
        means = {number: mean for number, mean in self._means(runs).items() if not math.isnan(mean)}
        if not means:
            raise UsageError(
                f"no trial has a value of {self._target.name} in each of its replications; choose another metric or "
                "other ranges"
            )
        sign = -1 if self._goal == "maximise" else 1
        # Of equal ones the earlier trial.
        first, *others = sorted(means, key=lambda number: sign * means[number])
        return first, others[0] if others else None

    def _means(self, runs: Campaign) -> dict[int, float]:
        if not self._numbers:
            return {}
        table = runs.rows(self._target.table, self._numbers, self._replications)
        means = trial_means(self._target, table, self._numbers, self._replications)
        return dict(zip(self._numbers, means, strict=True))


class _Whole:
    """Progress of all runs of a search, of which the loop knows those of the trials that were asked for."""

    def __init__(self, heard: Progress, runs: int) -> None:
        self._heard = heard
        self._runs = runs
        self.done, self.failed, self.under_way = heard.done, heard.failed, heard.under_way

    def plan(self, runs: int, kept: int) -> None:
        """As of `Progress`."""
        self._heard.plan(max(runs, self._runs), kept)


def trial_means(target: Target, table: polars.DataFrame, points: Sequence[int], replications: int) -> list[float]:
    """The metric's mean at each point over the first replications; NaN where one of them has no value."""
    means: list[float] = values_of_runs(target, table, points, replications).mean(axis=1).tolist()
    return means


def _as_written(tree: dict[str, Any], chosen: Sequence[Range | Choice]) -> Point:
    """The point of the scenario as it was given, with the defaults of what it does not say.

    Raises:
        UsageError: it leaves a path to what hangs on others.
    """
    point = {}
    for one in chosen:
        value = written_value(tree, one.path)
        if value is None and (usual := default_at(tree, one.path)) is not None:
            value = value_of(one.path, usual)
        if value is None:
            raise UsageError(
                f"{one.path} has no value in the scenario and no default, and the search compares its winner with "
                f"the scenario as written; add --set {one.path}=VALUE"
            )
        among = one.values if isinstance(one, Choice) else ()
        # As the choice writes it, so that a value stands in the tables under one name.
        point[one.path] = next((choice for choice in among if str(choice.shown) == str(value.shown)), value)
    return point


def _ends(estimate: Estimate) -> dict[str, float | int | None]:
    ends: dict[str, float | int | None] = {n: _number(getattr(estimate, n)) for n in ("mean", "low", "high")}
    return {**ends, "samples": estimate.samples}


def _difference(found: Difference) -> dict[str, Any]:
    numbers: dict[str, float | None] = {}
    for name, estimate in (("difference", found.absolute), ("relative", found.relative)):
        ends = (math.nan, math.nan) if found.constant else (estimate.low, estimate.high)
        numbers |= {name: _number(estimate.mean)}
        numbers |= {f"{name}_low": _number(ends[0]), f"{name}_high": _number(ends[1])}
    head = {"value": found.value.label, "against": found.against.label, "pairs": found.absolute.samples}
    return {**head, **numbers, "verdict": found.verdict}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
