"""Functions of the package for campaigns and for folders of results, as on the command line.

`query` and `report` take folders of runs, sweeps and studies.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamsim.answers import Comparison, Optimum, Sensitivity
from roamsim.errors import UsageError
from roamsim.estimates.comparisons import compared_runs
from roamsim.estimates.optima import optimise as run_search
from roamsim.estimates.sensitivities import sensitivity as run_sensitivity
from roamsim.files import Written, goes_with
from roamsim.results import Results
from roamsim.running.run import traces
from roamsim.running.shards import ALL, Shard
from roamsim.running.sweeps import MAX_REPLICATIONS, Precision
from roamsim.running.sweeps import sweep as run_sweep
from roamsim.running.work import Listener
from roamsim.scenarios.ranges import ranges, ranges_and_choices
from roamsim.scenarios.reading import ScenarioLike, in_words_of_python, overrides, source
from roamsim.scenarios.vary import variations
from roamsim.storing import store
from roamsim.storing.manifests import StudyManifest, study_manifest

if TYPE_CHECKING:
    import polars


def open_results(path: str | os.PathLike[str]) -> Results:
    """Reads a folder that `roamsim run --parquet`, `roamsim sweep` or `roamsim.sweep` wrote.

    An unfinished sweep gives its finished rows.

    Raises:
        UsageError: the folder is missing or holds no results.
        Damaged: a file is not as Roamsim wrote it; the message names it.
    """
    return Results.of(store.open_results(path))


def query(
    folder: str | os.PathLike[str], question: str, *, study: str | os.PathLike[str] | None = None
) -> polars.DataFrame:
    """Answers a question in SQL (DuckDB's dialect) over the tables of a folder; quote paths with double quotes.

        >>> query("results", 'select "link.path.loss.probability" as p, avg(goodput_bps) from flows group by p')

    Tables of a study hold its finished runs, with `experiment` and the dimensions as columns. The question reads
    these tables only: no file, no network.

    Args:
        folder: a folder of a run, a sweep or a study.
        question: in SQL.
        study: the folder of the definition of a study of your own.

    Raises:
        UsageError: there are no results, or the question is not valid SQL; the message is DuckDB's.
    """
    with in_words_of_python():
        return ask(folder, question, study)


def ask(folder: str | os.PathLike[str], question: str, study: str | os.PathLike[str] | None) -> polars.DataFrame:
    """`query` in the words of the command line."""
    from roamsim.storing.queries import answer, answer_of

    held = _study_manifest(folder, study)
    if held is None:
        return answer_of(store.open_results(folder), question)
    from roamsim.study.tables import tables

    return answer(tables(held, folder, study), question, recorded=False)


def _study_manifest(folder: str | os.PathLike[str], study: str | os.PathLike[str] | None) -> StudyManifest | None:
    """The manifest of a study's folder; `None` for a run or a sweep, which have no definition."""
    held = study_manifest(folder)
    if held is None and study is not None:
        raise UsageError(f"{os.fspath(folder)!r} holds no results of a study; leave --study out")
    return held


def report(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    study: str | os.PathLike[str] | None = None,
) -> Written:
    """Writes the report of a folder of a run, a sweep or a study.

    Args:
        folder: a folder that `roamsim run --parquet`, `roamsim sweep` or `roamsim study run` wrote.
        out: the HTML file; `FOLDER/report.html` by default.
        study: the folder of the definition of a study of your own.

    Raises:
        UsageError: there are no results.
    """
    with in_words_of_python():
        return Written.of(write_report(folder, out, study))


def write_report(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None, study: str | os.PathLike[str] | None
) -> Path:
    """`report` in the words of the command line."""
    if out is not None:
        from roamsim.storing.outputs import check_page

        # Before a study's missing runs are made.
        check_page(Path(out))
    held = _study_manifest(folder, study)
    if held is None:
        from roamsim.reports import results

        return results.report(folder, out)
    from roamsim.study import publish_again

    return publish_again(held, folder, out, study)


def plot(
    folder: str | os.PathLike[str],
    what: str,
    out: str | os.PathLike[str] | None = None,
    *,
    flow: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
    against: str | None = None,
    where: Sequence[str] = (),
    log: str | None = None,
    title: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    size: tuple[float, float] | None = None,
) -> Written:
    """Draws one figure of a folder of results, as `Result.plot` does."""
    return open_results(folder).plot(
        what,
        out,
        flow=flow,
        start_s=start_s,
        end_s=end_s,
        against=against,
        where=where,
        log=log,
        title=title,
        x_label=x_label,
        y_label=y_label,
        size=size,
    )


def sweep(
    scenario: ScenarioLike,
    vary: Mapping[str, str | Sequence[Any]],
    *,
    set: Mapping[str, Any] | None = None,
    allow_files_outside: bool = False,
    replications: int | None = None,
    precision: str | None = None,
    max_replications: int = MAX_REPLICATIONS,
    trace: str | Sequence[str] = (),
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Listener | None = None,
    shard: str | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Results:
    """Runs a scenario at every combination of varied values.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: for each dotted path a list of values, or a text of values and ranges: `{"link.path.delay":
            "10ms:100ms:10ms", "flow.ftp.transport.variant": ["reno", "newreno"]}`. A range includes its end, and its
            steps are exact decimals. Several paths make the product.
        set: values to replace at every point.
        allow_files_outside: whether the scenario may name files outside its folder.
        replications: independent repetitions of each point; 1 without `precision`.
        precision: `TABLE.COLUMN=2%` or `TABLE.NAME.COLUMN=2%`. A point gets replications until the half-width of its
            95 % interval (Student's t) is this share of the mean.
        max_replications: the limit of `precision`.
        trace: records of the first replication of each point, as in `run`.
        jobs: threads; all processors by default. Results do not depend on it.
        seed: selects the random streams. All points use the same streams, so they can be compared in pairs.
        out: a folder that keeps the results, or a URL of fsspec. An interrupted sweep resumes there, and a wider one
            adds to it.
        progress: called with the numbers of finished and of all runs whenever one finishes.
        shard: one share of the runs, such as `"3/16"`; `roamsim.merge` merges their folders.
        executor: makes the runs instead of threads: any executor of `concurrent.futures`, such as a
            `ProcessPoolExecutor`, or that of a cluster's client. Its workers need the same build of Roamsim and no
            shared disk. It gets four parcels of runs for each of `jobs` at a time.
        time_limit_s: seconds after which a run is stopped. It gets one more try, by another worker if possible; then
            it has failed.

    Returns:
        The tables, with a column for each varied path, and one more, named by its unit, for quantities.

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: runs broke a rule of the simulator, or took too much time or memory. All others are made and kept
            in `out`.
        UsageError: a malformed range, an unknown metric, or a folder that holds something else.
    """
    with in_words_of_python(), _Place(out) as place:
        swept = run_sweep(
            source(scenario, allow_files_outside=allow_files_outside),
            variations(vary),
            settings=overrides(set),
            replications=replications,
            precision=Precision.parse(precision) if precision else None,
            max_replications=max_replications,
            jobs=jobs,
            seed=seed,
            out=place.path,
            traces=traces(trace),
            progress=progress,
            shard=Shard.parse(shard) if shard is not None else ALL,
            executor=executor,
            time_limit_s=time_limit_s,
        )
    return place.of(swept)


def compare(
    scenario: ScenarioLike,
    vary: Mapping[str, str | Sequence[Any]],
    *,
    set: Mapping[str, Any] | None = None,
    allow_files_outside: bool = False,
    metric: str | Sequence[str] = (),
    baseline: str | float | None = None,
    replications: int | None = None,
    precision: str | float | None = None,
    max_replications: int = MAX_REPLICATIONS,
    trace: str | Sequence[str] = (),
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Listener | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Comparison:
    """Compares values on the same losses: differences in pairs of replications, with intervals.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: as in `sweep`. Compares the values of the first path, at each combination of the others.
        set: values to replace at every point.
        allow_files_outside: whether the scenario may name files outside its folder.
        metric: one or several of `TABLE.COLUMN`, `TABLE.NAME.COLUMN` or `TABLE.COLUMN:jain` (Jain's index over the
            rows of a run). By default the scenario's main metric, such as `flows.goodput_bps` of bulk streams.
        baseline: the value with which all others are compared; the first by default. Each value is also compared with
            the value before it.
        replications: independent repetitions of each value, at least two; 10 without `precision`.
        precision: `1%` or 0.01: adds replications until every 95 % interval of a relative difference has this
            half-width. Shares differ in percentage points.
        max_replications: the limit of `precision`.
        trace: records of the first replication of each point, as in `run`.
        jobs: threads; all processors by default. Results do not depend on it.
        seed: selects the random streams.
        out: a folder that keeps the results, as in `sweep`.
        progress: called with the numbers of finished and of all runs whenever one finishes.
        executor: makes the runs instead of threads, as in `sweep`.
        time_limit_s: seconds after which a run is stopped, as in `sweep`.

    Returns:
        `sentences`, the tables `means` and `differences`, and the `results` of all runs.

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: runs failed, as in `sweep`.
        UsageError: fewer than two values or replications, an unknown metric or baseline, or an error of `sweep`.
    """
    with in_words_of_python(), _Place(out) as place:
        results, question = compared_runs(
            source(scenario, allow_files_outside=allow_files_outside),
            variations(vary),
            settings=overrides(set),
            metrics=[metric] if isinstance(metric, str) else metric,
            baseline=baseline,
            replications=replications,
            precision=precision,
            max_replications=max_replications,
            traces=traces(trace),
            jobs=jobs,
            seed=seed,
            out=place.path,
            progress=progress,
            executor=executor,
            time_limit_s=time_limit_s,
        )
    return Comparison(place.of(results), question)


def sensitivity(
    scenario: ScenarioLike,
    vary: Mapping[str, str | Sequence[Any]],
    *,
    set: Mapping[str, Any] | None = None,
    allow_files_outside: bool = False,
    metric: str | Sequence[str] = (),
    method: str = "sobol",
    samples: int | None = None,
    replications: int | None = None,
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Listener | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Sensitivity:
    """Ranks quantities by their effect on a metric.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: for each dotted path its range: `{"link.path.delay": "10ms:50ms", "link.path.loss.probability": (0,
            0.1)}`. A third part is the step; without it the range is as fine as the scenario allows.
        set: values to replace at every point.
        allow_files_outside: whether the scenario may name files outside its folder.
        metric: one or several of `TABLE.COLUMN` or `TABLE.NAME.COLUMN`; the scenario's main metric by default. A
            run's value is the mean over several rows, and the sum of counts of drops and marks.
        method: `sobol` for shares of the variance, `morris` for the size of effects, with fewer runs.
        samples: base samples of Sobol's method (a power of two, 128 by default): k + 2 points each for k quantities.
            Or trajectories of Morris' method (16 by default) of k + 1 points each.
        replications: independent repetitions of each point, on the same random streams at all points; 5 by default.
        jobs: threads; all processors by default. Results do not depend on it.
        seed: selects the random streams and the points.
        out: a folder that keeps the results, or a URL. An interrupted call resumes there; more samples or
            replications add to it.
        progress: called with the numbers of finished and of all runs whenever one finishes.
        executor: makes the runs instead of threads, as in `sweep`.
        time_limit_s: seconds after which a run is stopped, as in `sweep`.

    Returns:
        `indices` with 95 % intervals, which cover the choice of points and the replications; `sentences`, `notes`,
        and the `results` of all runs.

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: runs failed, as in `sweep`.
        UsageError: a malformed range, an unknown metric or method, or an error of `sweep`.
        MissingExtra: install `roamsim[sensitivity]`.
    """
    with in_words_of_python(), _Place(out) as place:
        results = run_sensitivity(
            source(scenario, allow_files_outside=allow_files_outside),
            ranges(vary),
            settings=overrides(set),
            metrics=[metric] if isinstance(metric, str) else metric,
            method=method,
            samples=samples,
            replications=replications,
            jobs=jobs,
            seed=seed,
            out=place.path,
            progress=progress,
            executor=executor,
            time_limit_s=time_limit_s,
        )
    return Sensitivity(place.of(results))


def optimise(
    scenario: ScenarioLike,
    vary: Mapping[str, str | Sequence[Any]],
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    set: Mapping[str, Any] | None = None,
    allow_files_outside: bool = False,
    trials: int | None = None,
    replications: int | None = None,
    fresh: int | None = None,
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Listener | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Optimum:
    """Searches for the best values of several quantities, and confirms them by fresh runs.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`. The winner is compared with its values of
            the varied paths.
        vary: for each dotted path its range, as in `sensitivity`, or the values to choose from: `"reno,sack"`, or a
            list that holds a text.
        maximise: the metric that should be high, `TABLE.COLUMN` or `TABLE.NAME.COLUMN`. A run's value is the mean
            over several rows, and the sum of counts of drops and marks.
        minimise: the metric that should be low, instead of `maximise`.
        set: values to replace, in the scenario as written too.
        allow_files_outside: whether the scenario may name files outside its folder.
        trials: combinations of values to try; 50 by default.
        replications: independent repetitions of each trial, on the same random streams at all trials; 5 by default.
        fresh: further repetitions in which the winner, the runner-up and the scenario as written are compared in
            pairs; 20 by default.
        jobs: threads; all processors by default. Results do not depend on it.
        seed: selects the random streams and the search.
        out: a folder that keeps the results, or a URL. An interrupted call resumes there with the same result; more
            trials add to it.
        progress: called with the numbers of finished and of all runs whenever one finishes.
        executor: makes the runs instead of threads, as in `sweep`.
        time_limit_s: seconds after which a run is stopped, as in `sweep`.

    Returns:
        `winner`, `confirmed`, `sentences` and `notes`; the tables `means`, `differences` and `trials`; and the
        `results` of all runs.

    Raises:
        ScenarioError: the scenario is not valid at one end of a range; nothing was run.
        RunFailed: runs failed, as in `sweep`.
        UsageError: both or none of `maximise` and `minimise`, a malformed range, an unknown metric, or an error of
            `sweep`.
        MissingExtra: install `roamsim[optimise]`.
    """
    if (maximise is None) == (minimise is None):
        raise UsageError("name a metric to optimise: either maximise or minimise, not both")
    with in_words_of_python(), _Place(out) as place:
        results = run_search(
            source(scenario, allow_files_outside=allow_files_outside),
            ranges_and_choices(vary),
            settings=overrides(set),
            metric=maximise or minimise or "",
            goal="maximise" if maximise is not None else "minimise",
            trials=trials,
            replications=replications,
            fresh=fresh,
            jobs=jobs,
            seed=seed,
            out=place.path,
            progress=progress,
            executor=executor,
            time_limit_s=time_limit_s,
        )
    return Optimum(place.of(results))


class _Place:
    """The folder of a campaign's results: the given one, or a temporary one that lives as long as they do."""

    def __init__(self, out: str | os.PathLike[str] | None) -> None:
        self.path = out if out is not None else Path(tempfile.mkdtemp(prefix="roamsim-"))
        self._temporary = out is None

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None and self._temporary:
            shutil.rmtree(self.path, ignore_errors=True)

    def of(self, made: store.Results) -> Results:
        """The results, with which a temporary folder goes."""
        if self._temporary:
            # Rows of large tables are read when they are asked for.
            goes_with(made.tables, made.path)
        return Results.of(made)
