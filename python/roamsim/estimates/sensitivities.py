"""`sensitivity`: which of several uncertain quantities moves a metric, by Sobol's indices or Morris' effects.

First-order and total-order indices: Saltelli, Annoni, Azzini, Campolongo, Ratto and Tarantola 2010, Computer Physics
Communications 181, 259-270. Elementary effects: Morris 1991, Technometrics 33, 161-174, and Campolongo, Cariboni and
Saltelli 2007, Environmental Modelling & Software 22, 1509-1518. SALib makes the designs and the estimates.

Every point meets the same random streams, so that what replications have in common is no effect of what is varied. An
interval takes in both that the points are a sample (SALib's bootstrap over the design) and that the replications are
(jackknife over replications, Tukey 1958): the squares of the two half-widths are added.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars

from roamsim.errors import UsageError, there_are
from roamsim.estimates import survivors
from roamsim.estimates.comparisons import METRICS, default_target
from roamsim.estimates.paired import rounded
from roamsim.estimates.rows import MOST_NAMES, require_mean, several_rows, values_of_runs
from roamsim.running.numbers import check_number, check_seed
from roamsim.running.shards import ALL, Shard
from roamsim.running.sweeps import campaign
from roamsim.running.work import Listener, Progress
from roamsim.scenarios.ranges import Range, as_range, stepped_ranges
from roamsim.scenarios.reading import Overrides, ScenarioLike, parse_source, source
from roamsim.statistics import student_t_quantile
from roamsim.storing.manifests import Sampled
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target
from roamsim.tables.units import in_unit, interval
from roamsim.tables.words import count

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

METHODS = ("sobol", "morris")

#: Base samples of Sobol's method and trajectories of Morris' unless given (chosen: intervals of some 0.2 around the
#: indices of three quantities; screening needs 10 to 50 trajectories, Campolongo and others 2007).
SAMPLES = {"sobol": 128, "morris": 16}

#: Replications of each point unless given (chosen: Student's t over five is 2.8).
REPLICATIONS = 5

#: Samples below which it is said that they are few (chosen: a bootstrap of fewer hardly varies).
FEW = 10

#: Points of a design at most (chosen: their values stand in the manifest).
MOST_POINTS = 100_000

#: Levels of Morris' design (Campolongo and others 2007), and bootstrap resamples of a design (chosen: the half-width
#: of an interval is then known to some 3 %).
LEVELS, RESAMPLES = 4, 500

#: Fewest steps of a range at which Morris' levels fall where they should within a tenth.
FEW_STEPS = 15

#: What the index that orders the quantities is called, for each method.
LEADING = {"sobol": "total", "morris": "mu_star"}

#: What each index says.
MEANINGS = {
    "first": "share of the variance that the quantity explains alone",
    "total": "share of the variance with its interactions: what would be left if all others were fixed",
    "mu_star": "mean size of its elementary effects: the change of the metric over the whole range",
    "mu": "the same with its sign; equal to mu_star in size if all effects have one sign",
    "sigma": "standard deviation of its elementary effects: 0 if it acts linearly and without interactions",
}


class Sensitivity:
    """What `sensitivity` returns.

    Attributes:
        sampled: what was asked for.
        indices: one row a metric, quantity and index: `metric`, `path`, `index`, `value`, `low`, `high` (the 95 %
            interval), and its two parts, half-widths `of_points` and `of_replications`. Indices are `first` and
            `total` of Sobol's method, `mu_star`, `mu` and `sigma` of Morris'. Null where nothing tells.
        sentences: the same in words, the most important quantity first.
        notes: what a reader has to know of them.
        results: the tables of all runs.
    """

    def __init__(self, results: Results) -> None:
        sampled = results.manifest.sampled
        if sampled is None:
            raise UsageError(f"{os.fspath(results.path)!r} holds no sensitivity")
        # Every run has links, even one in which nothing happened.
        runs = results.tables.get(
            "links", polars.DataFrame(schema={"point": polars.Int64, "replication": polars.Int64})
        )
        counted = polars.col("point").is_in(sampled.rows) & (polars.col("replication") < sampled.replications)
        there = runs.filter(counted).select("point", "replication").n_unique()
        if there < len(set(sampled.rows)) * sampled.replications:
            raise UsageError("the sensitivity is not finished; give its command again to resume it")
        self.results = results
        self.sampled = sampled
        self.notes: list[str] = []
        self.sentences: list[str] = []
        rows: list[dict[str, Any]] = []
        for name in sampled.metrics:
            of_metric = self._of_metric(Target.parse(name))
            rows += of_metric
            self.sentences += self._no_verdict(Target.parse(name)) or _sentences(
                Target.parse(name), of_metric, LEADING[sampled.method]
            )
        few = [one for one in self.ranges if sampled.method == "morris" and one.steps < FEW_STEPS]
        for one in few:
            self.notes.append(
                f"{one.path} has only {one.steps + 1} values, too few for Morris' levels: its effects may be off by "
                f"{100 * 1.5 / one.steps:.0f} %."
            )
        if sampled.samples < FEW:
            self.notes.append(
                f"Only {count(sampled.samples, 'sample')}: the intervals are unreliable. Take {FEW} or more."
            )
        if sampled.replications == 1:
            self.notes.append("One replication a point: the intervals leave out chance within the runs.")
        kinds = {"metric": polars.String, "path": polars.String, "index": polars.String}
        numbers = dict.fromkeys(("value", "low", "high", "of_points", "of_replications"), polars.Float64)
        self.indices = polars.DataFrame(rows, schema={**kinds, **numbers})

    def _no_verdict(self, target: Target) -> list[str]:
        """Why nothing is said of a delay, where the shares of missing messages differ; empty where they do not."""
        ends = survivors.of_points(self.results, target, sorted(set(self.sampled.rows)), self.results.varied)
        if ends is None:
            return []
        why = (
            f"No verdict on {target.name}: it counts only messages that arrived, and the share of the others differs "
            f"between points: {survivors.between(ends)}."
        )
        return [why, *filter(None, [survivors.advice(self.results, target)])]

    @property
    def ranges(self) -> list[Range]:
        """What was varied."""
        return [as_range(path, text) for path, text in self.sampled.ranges.items()]

    def values(self, target: Target) -> Numbers:
        """The metric of each row of the design and replication; replications that lack any are left out.

        Raises:
            UsageError: none is left.
        """
        import numpy as np

        points = sorted(set(self.sampled.rows))
        table = self.results.tables.get(target.table, polars.DataFrame())
        if not table.height:
            raise UsageError(f"{target.table} has no rows in any run of this scenario; choose another metric")
        found = values_of_runs(target, table, points, self.sampled.replications)
        self.notes += filter(None, [several_rows(target, table)])
        whole = ~np.isnan(found).any(axis=0)
        if not whole.any():
            first = points[int(np.argmax(np.isnan(found).any(axis=1)))]
            where = ", ".join(f"{path}={value}" for path, value in self.results.manifest.points[first].values.items())
            raise UsageError(
                f"{target.name} has no value at some points, for example at {where}; choose another metric, or "
                "narrower ranges"
            )
        if not whole.all():
            self.notes.append(
                f"Left out: {np.count_nonzero(~whole)} of {count(whole.size, 'replication')}, because {target.name} "
                "has no value at a point."
            )
        places = np.searchsorted(points, self.sampled.rows)
        chosen: Numbers = found[places][:, whole]
        return chosen

    def _points(self) -> Numbers:
        """The rows of the design, each quantity as its place between the ends of its range."""
        import numpy as np

        entries = self.results.manifest.points
        return np.array(
            [[one.share(entries[row].values[one.path]) for one in self.ranges] for row in self.sampled.rows]
        )

    def _of_metric(self, target: Target) -> list[dict[str, Any]]:
        values = self.values(target)
        paths = list(self.sampled.ranges)
        means = values.mean(axis=1)
        if means.max() == means.min():
            self.notes.append(f"{target.name} is the same at every point: none of the quantities moves it.")
            return [_row(target, path, index) for path in paths for index in _names(self.sampled.method)]
        rows = [
            _row(target, paths[of.quantity], of.name, of)
            for of in indices(self.sampled.method, self._points(), values)
        ]
        if any(row["low"] is None for row in rows if row["index"] == LEADING[self.sampled.method]):
            self.notes.append(
                f"Too few samples: {target.name} has the same value at most of them, so it has no indices."
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """The object that `roamsim sensitivity --json` prints; missing values are `None`."""
        manifest, sampled = self.results.manifest, self.sampled
        return {
            "scenario": manifest.scenario,
            "seed": manifest.seed,
            "version": manifest.version,
            "method": sampled.method,
            "samples": sampled.samples,
            "replications": sampled.replications,
            "points": len(set(sampled.rows)),
            "vary": sampled.ranges,
            "sentences": self.sentences,
            "notes": self.notes,
            "indices": self.indices.to_dicts(),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.notes])

    def __repr__(self) -> str:
        return f"<Sensitivity of {', '.join(self.sampled.metrics)} to {', '.join(self.sampled.ranges)}>"


def _problem(quantities: int) -> dict[str, Any]:
    """SALib's description of the unit cube."""
    names = [str(number) for number in range(quantities)]
    return {"num_vars": quantities, "names": names, "bounds": [[0.0, 1.0]] * quantities}


def design(method: str, quantities: int, samples: int, seed: int) -> Numbers:
    """The points of a method in the unit cube, a row each: SALib's."""
    import numpy as np
    from SALib.sample import morris, sobol

    points: Numbers
    generator = np.random.default_rng(seed)
    if method == "sobol":
        points = sobol.sample(_problem(quantities), samples, calc_second_order=False, seed=generator)
    else:
        points = morris.sample(_problem(quantities), samples, num_levels=LEVELS, seed=generator)
    return points


def estimates(
    method: str, points: Numbers, outcome: Numbers, resamples: int = RESAMPLES
) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """Indices of each quantity, and half-widths of their 95 % intervals over the design; NaN where nothing tells.

    Args:
        method: that the points are of.
        points: of the design, in its order; of Sobol's method the order alone counts.
        outcome: the value at each.
        resamples: of the bootstrap.
    """
    import numpy as np
    from SALib.analyze import morris, sobol

    count = points.shape[1]
    problem = _problem(count)
    if method == "sobol" and np.ptp(outcome.reshape(-1, count + 2)[:, [0, -1]]) == 0:
        # Of each base sample the first and the last point give the variance: where there is none, SALib says 0.
        nothing = dict.fromkeys(("first", "total"), np.full(count, np.nan))
        return nothing, nothing
    # Of the bootstrap only; SALib takes 0 for none.
    seed = 1
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if method == "sobol":
            found = sobol.analyze(problem, outcome, calc_second_order=False, num_resamples=resamples, seed=seed)
            return {"first": found["S1"], "total": found["ST"]}, {
                "first": found["S1_conf"],
                "total": found["ST_conf"],
            }
        found = morris.analyze(problem, points, outcome, num_resamples=resamples, num_levels=LEVELS, seed=seed)
        named = {name: np.asarray(found[name]) for name in ("mu_star", "mu", "sigma")}
        return named, {"mu_star": np.asarray(found["mu_star_conf"])}


@dataclass(frozen=True)
class Index:
    """One index of one quantity.

    Attributes:
        quantity: its number.
        name: of the index.
        value: the estimate.
        of_points: half-width of its 95 % interval over the choice of points; `None` where SALib has none.
        of_replications: the same over the replications; `None` of one replication.
    """

    quantity: int
    name: str
    value: float
    of_points: float | None
    of_replications: float | None

    @property
    def half_width(self) -> float | None:
        """Of the interval over both."""
        return None if self.of_points is None else math.hypot(self.of_points, self.of_replications or 0.0)


def indices(method: str, points: Numbers, values: Numbers) -> list[Index]:
    """The indices of each quantity, one after the other.

    Args:
        method: that the points are of.
        points: of the design, in its order.
        values: at each, a column a replication.
    """
    import numpy as np

    count = values.shape[1]
    found, of_points = estimates(method, points, values.mean(axis=1))
    # Of these the bootstrap is of no use, and SALib makes no fewer resamples.
    without = [
        estimates(method, points, np.delete(values, r, axis=1).mean(axis=1), 2)[0]
        for r in range(count if count > 1 else 0)
    ]
    return [
        Index(
            quantity,
            name,
            float(found[name][quantity]),
            float(of_points[name][quantity]) if name in of_points else None,
            _jackknife([one[name][quantity] for one in without]) if count > 1 else None,
        )
        for quantity in range(points.shape[1])
        for name in _names(method)
    ]


def default_targets(scenario: Mapping[str, Any]) -> tuple[Target, ...]:
    """What a scenario is about, of each flow or signalling source by itself: a mean over different ones says nothing.

    Raises:
        UsageError: it has nothing to measure, or so many flows that the user has to choose.
    """
    whole = default_target(scenario)
    if whole.table == "signalling":
        sources = mine = scenario["signalling"]
    else:
        kind = next(kind for kind, metric in METRICS.items() if metric == whole.name and _has(scenario, kind))
        sources = scenario["flow"]
        mine = [flow for flow in sources if flow["application"]["kind"] == kind]
    if len(sources) == 1 or (len(mine) > MOST_NAMES and len(mine) == len(sources)):
        return (whole,)
    names = [source["name"] for source in mine]
    if len(mine) > MOST_NAMES:
        raise UsageError(
            f"{whole.name} would be a mean over flows of several kinds; name one, as in "
            f"--metric {whole.table}.{names[0]}.{whole.column}"
        )
    return tuple(Target(whole.table, name, whole.column) for name in names)


def _has(scenario: Mapping[str, Any], kind: str) -> bool:
    return any(flow["application"]["kind"] == kind for flow in scenario["flow"])


def sensitivity(
    scenario: ScenarioLike,
    varied: Sequence[Range],
    *,
    settings: Overrides,
    metrics: Sequence[str] = (),
    method: str = "sobol",
    samples: int | None = None,
    replications: int | None = None,
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    command: list[str] | None = None,
    progress: Progress | Listener | None = None,
    color: bool = False,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
    shard: Shard = ALL,
) -> Results:
    """The runs of a sensitivity, or a share of them; `roamsim.sensitivity` says what the arguments mean."""
    # What is not installed is said before anything is run.
    import SALib.analyze

    del SALib
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}; {there_are(method, METHODS)}")
    samples = SAMPLES[method] if samples is None else samples
    replications = REPLICATIONS if replications is None else replications
    check_seed(seed)
    check_number("samples", samples, 2)
    check_number("replications", replications, 1)
    if method == "sobol" and samples & (samples - 1):
        lower = 1 << (samples.bit_length() - 1)
        raise UsageError(
            f"samples: {samples} is not a power of two, which Sobol's method needs; ask for {lower} or {2 * lower}"
        )
    read = source(scenario)
    base = parse_source(read, settings, color=color)
    targets = tuple(dict.fromkeys(map(Target.parse, metrics))) or default_targets(json.loads(base.canonical))
    for target in targets:
        target.check(base)
        require_mean(target)
    chosen = stepped_ranges(varied, read, settings, color=color)
    rows = samples * (len(chosen) + (2 if method == "sobol" else 1))
    if rows > MOST_POINTS:
        raise UsageError(
            f"samples: {samples}, for each quantity of {len(chosen)}, make {rows} points, more than {MOST_POINTS}"
        )
    points = [
        {one.path: one.at(_number(one, float(share), method)) for one, share in zip(chosen, row, strict=True)}
        for row in design(method, len(chosen), samples, seed)
    ]
    with campaign(
        read,
        [one.path for one in chosen],
        settings=settings,
        first=points,
        jobs=jobs,
        seed=seed,
        out=out,
        command=command,
        progress=progress,
        color=color,
        executor=executor,
        time_limit_s=time_limit_s,
        shard=shard,
    ) as runs:
        numbers = runs.first
        runs.manifest.sampled = Sampled(
            method,
            [target.name for target in targets],
            {one.path: one.text() for one in chosen},
            samples,
            replications,
            numbers,
        )
        runs.make(numbers, replications)
        return runs.results()


def _number(of: Range, share: float, method: str) -> int:
    """The step of a range that a place between 0 and 1 falls on.

    Of Sobol's design every value is as likely as any other; Morris' levels are 0, 1/3, 2/3 and 1 of the range.
    """
    return min(int(share * (of.steps + 1)), of.steps) if method == "sobol" else round(share * of.steps)


def _names(method: str) -> tuple[str, ...]:
    return ("first", "total") if method == "sobol" else ("mu_star", "mu", "sigma")


def _row(target: Target, path: str, name: str, found: Index | None = None) -> dict[str, Any]:
    """A row of the table; without numbers where nothing tells."""
    head = {"metric": target.name, "path": path, "index": name}
    if found is None:
        return {**head, **dict.fromkeys(("value", "low", "high", "of_points", "of_replications"))}
    half = found.half_width
    ends = (None, None) if half is None else (found.value - half, found.value + half)
    numbers = {
        "value": found.value,
        "low": ends[0],
        "high": ends[1],
        "of_points": found.of_points,
        "of_replications": found.of_replications,
    }
    return head | {name: n if n is not None and math.isfinite(n) else None for name, n in numbers.items()}


def _jackknife(without: Sequence[float]) -> float:
    """Half-width of the 95 % interval of what was worked out without each replication in turn (Student's t)."""
    count = len(without)
    centre = math.fsum(without) / count
    error = math.sqrt((count - 1) / count * math.fsum((one - centre) ** 2 for one in without))
    return student_t_quantile(0.975, count - 1) * error


def _sentences(target: Target, rows: Sequence[dict[str, Any]], leading: str) -> list[str]:
    """What the leading index says of each quantity, the most important one first."""
    of_paths = [row for row in rows if row["index"] == leading and row["low"] is not None]
    of_paths.sort(key=lambda row: -row["value"])
    told = []
    for row in of_paths:
        others = {r["index"]: r["value"] or 0.0 for r in rows if r["path"] == row["path"]}
        if leading == "total":
            low, high = rounded(*(min(100.0, 100 * row[end]) for end in ("low", "high")))
            size = f"{low} % to {high} %" if low != high else f"{low} %"
            if float(low) <= 0:
                size = f"at most {high} %"
            told.append(
                f"{row['path']} explains {size} of the variance of {target.name}, interactions included. "
                f"Alone it explains about {max(0.0, 100 * others['first']):.0f} %."
            )
        else:
            size = interval(row["low"], row["high"], target.metric)
            if row["low"] < 0:
                size = f"at most {in_unit(target.metric)(row['high'])}"
            one_way = math.isclose(abs(others["mu"]), row["value"], rel_tol=1e-9)
            verb = ("raises" if others["mu"] > 0 else "lowers") if one_way else "changes"
            told.append(f"Over its range {row['path']} {verb} {target.name} by {size} on average.")
    return told
