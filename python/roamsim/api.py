"""What the package offers as functions: what the command line does, and what is asked of folders of results.

A folder is that of a run or a sweep, or that of a study; `query` and `report` take each.
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
from roamsim.running.work import Progress
from roamsim.scenarios.ranges import ranges, ranges_and_choices
from roamsim.scenarios.reading import ScenarioLike, in_words_of_python, overrides, source
from roamsim.scenarios.vary import variations
from roamsim.storing import store
from roamsim.storing.manifests import study_manifest

if TYPE_CHECKING:
    import polars


def open_results(path: str | os.PathLike[str]) -> Results:
    """Reads a folder that `roamsim run --parquet`, `roamsim sweep` or `roamsim.sweep` wrote.

    An unfinished sweep gives the rows that are there.

    Raises:
        UsageError: there is no such folder, or it holds no results.
        Damaged: it is not as Roamsim left it; the text says which file.
    """
    return Results.of(store.open_results(path))


def query(
    folder: str | os.PathLike[str], question: str, *, study: str | os.PathLike[str] | None = None
) -> polars.DataFrame:
    """Answers a question in SQL (DuckDB's) over the tables of a folder; paths as columns need double quotes.

        >>> query("results", 'select "link.path.loss.probability" as p, avg(goodput_bps) from flows group by p')

    Of a study, the tables hold its finished runs, with `experiment` and the dimensions as columns. The question reads
    these tables and nothing else: no file, no network.

    Args:
        folder: of a run, a sweep or a study.
        question: in SQL.
        study: the folder of the study's definition, where it is no study of the package.

    Raises:
        UsageError: there are no results, the text is no question, or it is not valid SQL; the text is DuckDB's.
    """
    with in_words_of_python():
        return ask(folder, question, study)


def ask(folder: str | os.PathLike[str], question: str, study: str | os.PathLike[str] | None) -> polars.DataFrame:
    """`query` in the words of the command line."""
    from roamsim.storing.queries import answer, answer_of

    held = study_manifest(folder)
    if held is None:
        return answer_of(store.open_results(folder), question)
    from roamsim.study.tables import tables

    return answer(tables(held, folder, study), question, recorded=False)


def report(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    study: str | os.PathLike[str] | None = None,
) -> Written:
    """Writes the report of a folder of results; of a study's folder, the study's own.

    Args:
        folder: what `roamsim run --parquet`, `roamsim sweep` or `roamsim study run` wrote.
        out: the HTML file; `FOLDER/report.html` unless given.
        study: the folder of the study's definition, where it is no study of the package.

    Raises:
        UsageError: there are no results.
    """
    with in_words_of_python():
        return Written.of(write_report(folder, out, study))


def write_report(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None, study: str | os.PathLike[str] | None
) -> Path:
    """`report` in the words of the command line."""
    held = study_manifest(folder)
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
    """Draws one figure of a folder of results, as `roamsim plot` does; arguments and errors as of `Result.plot`."""
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
    progress: Progress | None = None,
    shard: str | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Results:
    """Runs a scenario at every combination of varied values.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: for each dotted path a list of values, or a text of values and ranges: `{"link.path.delay":
            "10ms:100ms:10ms", "flow.ftp.transport.variant": ["reno", "newreno"]}`. A step falls on a
            range's end, which belongs to it; steps are exact decimals. Several paths make the product.
        set: values to replace at every point.
        allow_files_outside: whether the scenario may name files outside of its folder.
        replications: independent repetitions of each point; 1 unless a precision is asked for.
        precision: `TABLE.COLUMN=2%` or `TABLE.NAME.COLUMN=2%`: replications are added to a point until the
            half-width of the 95 % interval (Student's t) is that small beside the mean.
        max_replications: where `precision` stops at the latest.
        trace: what to record of the first replication of each point, as `run` does.
        jobs: threads; all processors unless said otherwise. Results do not depend on it.
        seed: selects the random streams; points meet the same streams, so that they can be compared in pairs.
        out: a folder that keeps the results, or a URL that fsspec understands. An interrupted sweep goes on where it
            was, and a wider one adds to it.
        progress: hears how many runs are done.
        shard: only one of several shares of the runs, as in `"3/16"`; `roamsim.merge` puts their folders together.
        executor: makes the runs in place of threads: any of `concurrent.futures`, such as a `ProcessPoolExecutor`,
            or what a cluster's client has for one. It needs Roamsim of the same build, and no shared disk. Four
            parcels of runs for each of `jobs` are with it at a time.
        time_limit_s: seconds after which a run is stopped; it is made once more, by another worker where the executor
            can choose, and has failed when that takes too long too.

    Returns:
        The tables, with a column for each varied path (and one more, named by its unit, for quantities).

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: runs broke a rule of the simulator, or took more time or memory than they may; all others were
            made, and are kept in `out`.
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
    progress: Progress | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Comparison:
    """Holds values against each other on the same losses: differences in pairs of replications, with intervals.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: as of `sweep`. The values of the first path are compared, at each combination of the others.
        set: values to replace at every point.
        allow_files_outside: whether the scenario may name files outside of its folder.
        metric: `TABLE.COLUMN`, `TABLE.NAME.COLUMN` or `TABLE.COLUMN:jain` (Jain's index over the rows of a run), or
            several of them, of the tables `flows`, `signalling`, `links` and `drops`; what the scenario is about
            unless given (`flows.goodput_bps` of bulk streams).
        baseline: the value that all others are compared with; the first unless given. Each value is also compared
            with the one before it.
        replications: independent repetitions of each value, two at least; 10 unless a precision is asked for.
        precision: such as `1%` or 0.01: replications are added until every 95 % interval of a relative difference (of
            shares, of the difference in percentage points) has a half-width this small.
        max_replications: where `precision` stops at the latest.
        trace: what to record of the first replication of each point, as `run` does.
        jobs: threads; all processors unless said otherwise. Results do not depend on it.
        seed: selects the random streams.
        out: a folder that keeps the results; the same as that of a sweep, and it goes on in the same way.
        progress: hears how many runs are done.
        executor: makes the runs in place of threads, as of `sweep`.
        time_limit_s: seconds after which a run is stopped, as of `sweep`.

    Returns:
        `sentences`, and as tables `means` and `differences`; `results` are those of the sweep.

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: runs broke a rule of the simulator, or took more time or memory than they may; all others were
            made, and are kept in `out`.
        UsageError: fewer than two values or replications, an unknown metric or baseline, or what `sweep` refuses.
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
    progress: Progress | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Sensitivity:
    """Tells which of several uncertain quantities moves a metric, and how much.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: for each dotted path its range: `{"link.path.delay": "10ms:50ms", "link.path.loss.probability": (0,
            0.1)}`; a third part is the step. Without one a range is cut as finely as the scenario takes it.
        set: values to replace at every point.
        allow_files_outside: whether the scenario may name files outside of its folder.
        metric: `TABLE.COLUMN` or `TABLE.NAME.COLUMN`, or several of them; what the scenario is about unless given. Of
            several rows of a run it is the mean, of counts of what was dropped or marked the sum.
        method: `sobol` for shares of the variance, `morris` for the size of effects, with fewer runs.
        samples: base samples of Sobol's method, a power of two, 128 unless given: with k quantities they make k + 2
            points each; or trajectories of Morris' method, 16 unless given, of k + 1 points each.
        replications: independent repetitions of each point, on the same random streams at all; 5 unless given.
        jobs: threads; all processors unless said otherwise. Results do not depend on it.
        seed: selects the random streams and the points.
        out: a folder that keeps the results, or a URL; an interrupted call goes on there, as that of `sweep` does,
            and one with more samples or replications adds to it.
        progress: hears how many runs are done.
        executor: makes the runs in place of threads, as of `sweep`.
        time_limit_s: seconds after which a run is stopped, as of `sweep`.

    Returns:
        `indices`, a table with 95 % intervals, which take in the choice of points and the chance of the replications;
        `sentences`, `notes`, and the `results` of all runs.

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: runs failed, as of `sweep`.
        UsageError: a malformed range, an unknown metric or method, or what `sweep` refuses.
        MissingExtra: `pip install 'roamsim[sensitivity]'` brings what is missing.
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
    progress: Progress | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Optimum:
    """Searches for the values of several quantities at which a metric is best, and confirms them by fresh runs.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`. It says a value of each varied path, which
            the winner is compared with.
        vary: for each dotted path its range, as of `sensitivity`, or the values to choose from: `"reno,sack"`, or a
            list of which not all are numbers.
        maximise: `TABLE.COLUMN` or `TABLE.NAME.COLUMN` that should be high. Of several rows of a run it is the mean,
            of counts of what was dropped or marked the sum.
        minimise: or one that should be low.
        set: values to replace, in the scenario as written too.
        allow_files_outside: whether the scenario may name files outside of its folder.
        trials: combinations of values that are tried; 50 unless given.
        replications: independent repetitions of each trial, on the same random streams at all; 5 unless given.
        fresh: further repetitions of the winner, the runner-up and the scenario as written, by which they are
            compared in pairs; 20 unless given.
        jobs: threads; all processors unless said otherwise. Results do not depend on it.
        seed: selects the random streams and the search.
        out: a folder that keeps the results, or a URL; an interrupted call goes on there and ends as if it had not
            been, and one with more trials adds to it.
        progress: hears how many runs are done.
        executor: makes the runs in place of threads, as of `sweep`.
        time_limit_s: seconds after which a run is stopped, as of `sweep`.

    Returns:
        `winner`, `confirmed`, `sentences` and `notes`; as tables `means`, `differences` and `trials`; and the
        `results` of all runs.

    Raises:
        ScenarioError: the scenario is not valid at one end of a range; nothing was run.
        RunFailed: runs failed, as of `sweep`.
        UsageError: not one of `maximise` and `minimise`, a malformed range, an unknown metric, or what `sweep`
            refuses.
        MissingExtra: `pip install 'roamsim[optimise]'` brings what is missing.
    """
    if (maximise is None) == (minimise is None):
        raise UsageError("say what is best: either maximise or minimise, a metric each")
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
    """Where a campaign keeps its results: the folder that is asked for, or a temporary one that goes with them."""

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
