"""`run`, `sweep`, `compare`, `check` and `schema`: what the command line does, as functions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from roamsim import _roamsim
from roamsim._roamsim import RunFailed, Scenario
from roamsim.errors import UsageError
from roamsim.estimates.comparisons import Comparison
from roamsim.estimates.comparisons import compare as run_compare
from roamsim.files import write_aside
from roamsim.running.sweeps import MAX_REPLICATIONS, Precision, Progress, SweepResult, check_number, check_seed
from roamsim.running.sweeps import sweep as run_sweep
from roamsim.scenarios.reading import Overrides, ScenarioLike, in_words_of_python, load, overrides, parse
from roamsim.scenarios.vary import variations
from roamsim.tables.result import Result, concatenate, frames


def run(
    scenario: ScenarioLike,
    *,
    seed: int = 1,
    replications: int = 1,
    set: Mapping[str, Any] | None = None,
    trace: str | Sequence[str] = (),
    pcap: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        seed: selects the random streams, 0 to 2^64 - 1; the same seed gives the same tables on any machine.
        replications: independent repetitions.
        set: values to replace, by dotted path, as in `{"link.path.delay": "50ms"}`.
        trace: what to record beside the usual tables: `cwnd`, `rtt`, `queue`, `throughput`, `backlog`, `bearers`,
            `dlc_queue` (table `samples`), `occupancy` (table `dect_occupancy`), `segments`, `messages`, `packets`,
            `transactions` (a table of the same name each).
        pcap: where to write a pcapng capture; for one replication.
        jobs: threads over which replications are spread; all processors unless said otherwise. Results do not
            depend on it.
        progress: hears how many replications are done.

    Returns:
        The tables, one polars frame each; rows are in the order of replications.

    Raises:
        ScenarioError: the scenario is not valid.
        RunFailed: a run broke a rule of the simulator, such as the conservation of packets.
        UsageError: a file that does not exist, an unknown trace, or an argument out of its range.
    """
    return run_loaded(
        load(scenario, set=set),
        seed=seed,
        replications=replications,
        trace=trace,
        pcap=pcap,
        jobs=jobs,
        progress=progress,
    )


def run_loaded(
    scenario: Scenario,
    *,
    seed: int,
    replications: int,
    trace: str | Iterable[str] = (),
    pcap: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """`run` for a scenario that was loaded before."""
    check_number("replications", replications, 1)
    check_number("jobs", jobs or 1, 1)
    check_seed(seed)
    kinds = traces(trace)
    if pcap is not None and replications > 1:
        raise UsageError("a capture shows one run; ask for one replication")
    if pcap is not None and not Path(pcap).absolute().parent.is_dir():
        raise UsageError(f"the folder of {os.fspath(pcap)!r} does not exist")
    if pcap is not None and Path(pcap).is_dir():
        raise UsageError(f"{os.fspath(pcap)!r} is a folder; a capture is one file")

    runs: dict[int, _roamsim.Result] = {}
    heard = progress.under_way if progress else None
    if progress:
        progress.plan(replications, 0)
    if pcap is not None:
        runs[0] = _captured(scenario, seed, kinds, Path(pcap), heard)
    else:
        tasks = [(scenario, seed, replication) for replication in range(replications)]
        batch = _roamsim.Batch(tasks, jobs=jobs or os.cpu_count() or 1, trace=kinds, heard=heard)
        try:
            for replication, result in batch:
                if isinstance(result, Exception):
                    raise RunFailed(f"replication {replication}, seed {seed}: {result}") from result
                runs[replication] = result
                if progress:
                    progress.done(1)
        finally:
            batch.cancel()
    ordered = sorted(runs.items())
    tables = concatenate(
        frames(result, scenario=scenario.name, replication=replication, seed=seed) for replication, result in ordered
    )
    return Result(
        tables,
        scenario=scenario.name,
        seed=seed,
        replications=replications,
        events=sum(result.events for _, result in ordered),
        wall_s=sum(result.wall_s for _, result in ordered),
    )


def _captured(
    scenario: Scenario, seed: int, kinds: list[str], pcap: Path, heard: Callable[[float], None] | None
) -> _roamsim.Result:
    """A run with its capture, which takes its place when the run is over: until then, what was there stays."""
    made: list[_roamsim.Result] = []

    def capture(aside: Path) -> None:
        made.append(_roamsim.run(scenario, seed=seed, trace=kinds, pcap=os.fspath(aside), heard=heard))

    try:
        write_aside(pcap, capture, follow=True)
    except OSError as error:
        raise OSError(
            error.errno, f"the capture cannot be written: {error.strerror or error}", os.fspath(pcap)
        ) from None
    return made[0]


def traces(asked: str | Iterable[str]) -> list[str]:
    """Kinds of traces, each once; one text may name several, separated by commas.

    Raises:
        UsageError: there is no such trace.
    """
    texts = [asked] if isinstance(asked, str) else list(asked)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"trace: {asked!r} is no list of names, as in ['cwnd', 'rtt']")
    kinds = list(dict.fromkeys(kind.strip() for text in texts for kind in text.split(",") if kind.strip()))
    known = _roamsim.trace_kinds()
    if texts and not kinds:
        raise UsageError(f"trace: nothing is named; there are {', '.join(known)}")
    for kind in kinds:
        if kind not in known:
            raise UsageError(f"there is no trace {kind!r}; there are {', '.join(known)}")
    return kinds


def sweep(
    scenario: ScenarioLike,
    vary: Mapping[str, str | Sequence[Any]],
    *,
    set: Mapping[str, Any] | None = None,
    replications: int | None = None,
    precision: str | None = None,
    max_replications: int = MAX_REPLICATIONS,
    trace: str | Sequence[str] = (),
    jobs: int | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Runs a scenario at every combination of varied values.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: for each dotted path a list of values, or a text of values and ranges: `{"link.path.delay":
            "10ms:100ms:10ms", "flow.ftp.transport.variant": ["reno", "newreno"]}`. A step falls on a
            range's end, which belongs to it; steps are exact decimals. Several paths make the product.
        set: values to replace at every point.
        replications: independent repetitions of each point; 1 unless a precision is asked for.
        precision: `TABLE.COLUMN=2%` or `TABLE.NAME.COLUMN=2%`: replications are added to a point until the
            half-width of the 95 % interval (Student's t) is that small beside the mean.
        max_replications: where `precision` stops at the latest.
        trace: what to record of the first replication of each point, as `run` does; needs `out`.
        jobs: threads; all processors unless said otherwise. Results do not depend on it.
        seed: selects the random streams; points meet the same streams, so that they can be compared in pairs.
        out: a folder that keeps the results. An interrupted sweep goes on where it was, and a wider one adds to it.
        progress: hears how many runs are done.

    Returns:
        The tables, with a column for each varied path (and one more, named by its unit, for quantities).

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: a run broke a rule of the simulator; what was finished is kept in `out`.
        UsageError: a malformed range, an unknown metric, or a folder that holds something else.
    """
    with in_words_of_python():
        return run_sweep(
            scenario,
            variations(vary),
            settings=overrides(set),
            replications=replications,
            precision=Precision.parse(precision) if precision else None,
            max_replications=max_replications,
            jobs=jobs,
            seed=seed,
            out=out,
            traces=traces(trace),
            progress=progress,
        )


def compare(
    scenario: ScenarioLike,
    vary: Mapping[str, str | Sequence[Any]],
    *,
    set: Mapping[str, Any] | None = None,
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
) -> Comparison:
    """Holds values against each other on the same losses: differences in pairs of replications, with intervals.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        vary: as of `sweep`. The values of the first path are compared, at each combination of the others.
        set: values to replace at every point.
        metric: `TABLE.COLUMN` or `TABLE.NAME.COLUMN`, or several of them, of the tables `flows`, `signalling`,
            `links` and `drops`; what the scenario is about unless given (`flows.goodput_bps` of bulk streams).
        baseline: the value that all others are compared with; the first unless given. Each value is also compared
            with the one before it.
        replications: independent repetitions of each value, two at least; 10 unless a precision is asked for.
        precision: such as `1%` or 0.01: replications are added until every 95 % interval of a relative difference (of
            shares, of the difference in percentage points) has a half-width this small.
        max_replications: where `precision` stops at the latest.
        trace: what to record of the first replication of each point, as `run` does; needs `out`.
        jobs: threads; all processors unless said otherwise. Results do not depend on it.
        seed: selects the random streams.
        out: a folder that keeps the results; the same as that of a sweep, and it goes on in the same way.
        progress: hears how many runs are done.

    Returns:
        `sentences`, and as tables `means` and `differences`; `results` are those of the sweep.

    Raises:
        ScenarioError: the scenario is not valid at one of the points; nothing was run.
        RunFailed: a run broke a rule of the simulator; what was finished is kept in `out`.
        UsageError: fewer than two values or replications, an unknown metric or baseline, or what `sweep` refuses.
    """
    with in_words_of_python():
        return run_compare(
            scenario,
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
            out=out,
            progress=progress,
        )


def check(scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None) -> str:
    """Validates a scenario without running it, and says what it holds.

    Raises:
        ScenarioError: it is not valid.
        UsageError: there is no such file.
    """
    return contents(load(scenario, set=set))


def check_text(scenario: ScenarioLike, settings: Overrides, *, color: bool) -> str:
    """`check` with overrides that are already text."""
    return contents(parse(scenario, settings, color=color))


def contents(scenario: Scenario) -> str:
    """One line: the name, the duration, and how many of what."""
    tree = json.loads(scenario.canonical)
    counts = []
    for key, entries in tree.items():
        if isinstance(entries, list) and entries:
            plural = "" if len(entries) == 1 or key in ("wifi", "signalling") else "s"
            counts.append(f"{len(entries)} {key}{plural}")
    return f"{scenario.name}: {scenario.duration_s:g} s, {', '.join(counts)}"


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario, with every default and its source."""
    tree: dict[str, Any] = json.loads(_roamsim.schema())
    return tree
