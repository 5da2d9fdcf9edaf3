"""Runs one scenario: replications side by side, or one with a capture."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

import polars

from roamsim import _roamsim
from roamsim._roamsim import RunFailed, Scenario, Table
from roamsim.errors import Notice, UsageError, there_are
from roamsim.files import check_ending, check_file, check_folder, write_aside
from roamsim.running.engines import Engine, Outcome, Outcomes, Rows, Run, Threads
from roamsim.running.foresight import foresee
from roamsim.running.numbers import check_given, check_number, check_seed
from roamsim.running.work import Listener, Progress, each, heard
from roamsim.tables.metrics import recorded_as, traced_tables
from roamsim.tables.result import Frames, Result, stacked

if TYPE_CHECKING:
    from roamsim.storing.spool import Spool

#: Names of nodes that an error lists.
MOST_NAMES = 12


def run_loaded(
    scenario: Scenario,
    *,
    seed: int,
    replications: int,
    trace: str | Iterable[str] = (),
    pcap: str | os.PathLike[str] | None = None,
    pcap_at: str | Iterable[str] = (),
    pcap_frames: str | None = None,
    qlog: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | Listener | None = None,
    spool: Spool | None = None,
) -> Result:
    """`roamsim.run` of a scenario that was loaded. A spool takes the rows of traces, whose tables are empty then."""
    check_number("replications", replications, 1)
    check_given("jobs", jobs, 1)
    check_seed(seed)
    kinds = traces(trace)
    ends = [pcap_at] if isinstance(pcap_at, str) else list(pcap_at)
    for option, given in (("--pcap-at", bool(ends)), ("--pcap-frames", pcap_frames is not None)):
        if given and pcap is None:
            raise UsageError(f"{option} needs a capture; add --pcap FILE")
    if ends and pcap_frames is not None:
        raise UsageError("--pcap-at captures IP packets and --pcap-frames the frames of Wi-Fi; choose one")
    for node in ends:
        _check_node(scenario, "--pcap-at takes a node", node)
    if pcap_frames not in (None, "all"):
        _check_node(scenario, "--pcap-frames takes `all` or a node", str(pcap_frames))
    if pcap is not None and replications > 1:
        raise UsageError("a capture shows one run; ask for one replication")
    if pcap is not None:
        check_capture(pcap)
    if qlog is not None and replications > 1:
        raise UsageError("qlog files show one run; ask for one replication")
    if qlog is not None:
        folder = Path(qlog).absolute()
        if not folder.parent.is_dir():
            raise UsageError(f"the folder of {os.fspath(qlog)!r} does not exist")
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{os.fspath(qlog)!r} is a file; --qlog takes a folder")
        check_folder(qlog)
        folder.mkdir(exist_ok=True)

    # How many processors there are takes long to ask, beside a short run.
    jobs = jobs or (replications > 1 and os.cpu_count()) or 1
    foresee(
        [(scenario, replications)],
        kinds,
        at_once=jobs,
        held=replications if spool is None else 0,
        captured=pcap is not None,
        folder=spool.folder if spool else None,
    )
    held: defaultdict[str, list[tuple[int, polars.DataFrame]]] = defaultdict(list)
    seen: set[str] = set()

    def take(replication: int, table: str, recorded: Table) -> None:
        rows = stacked([recorded], Table.of_runs(scenario.name, seed, [replication]))
        if rows.height:
            seen.update(rows["quantity"].unique() if table == "samples" else [table])
        if spool is None:
            held[table].append((replication, rows))
        else:
            spool.add(table, replication, rows)

    rows = take if kinds else None
    engine: Engine = Threads(jobs, once=True, rows=rows, series=True)
    if pcap is not None or qlog is not None:
        file = None if pcap is None else Path(pcap)
        engine = _Capturing(file, ends, pcap_frames, None if qlog is None else os.fspath(qlog), rows)
    hears = heard(progress)
    hears.plan(replications, 0)
    tasks = [(scenario, seed, replication) for replication in range(replications)]
    runs: dict[int, Outcome] = {}
    with closing(each(tasks, kinds, engine, hears)) as outcomes:
        for replication, result in outcomes:
            if isinstance(result, Exception):
                raise RunFailed(f"replication {replication}, seed {seed}: {result}") from result
            runs[replication] = result
    ordered = sorted(runs.items())
    recorded = {
        # Not copied into one piece, which would take the memory twice.
        table: polars.concat([rows for _, rows in sorted(parts, key=lambda part: part[0])], how="vertical_relaxed")
        for table, parts in held.items()
    }
    of_runs = [result.tables for _, result in ordered]
    # Of several runs frames take less memory than the tables do.
    tables = of_runs[0] if replications == 1 else _below_each_other(scenario.name, seed, of_runs)
    frames = Frames(scenario.name, seed, {**tables, **recorded})
    seen.update(table for table in traced_tables() if table != "samples" and table in tables and frames[table].height)
    silent = [kind for kind in kinds if not seen.intersection(recorded_as(kind))]
    if silent:
        # The scenario has none of it, or it did not happen.
        warn(f"--trace {','.join(silent)} recorded nothing in this run", Notice, stacklevel=2)
    return Result(
        frames,
        scenario=scenario.name,
        seed=seed,
        replications=replications,
        events=sum(result.events for _, result in ordered),
        wall_s=sum(result.wall_s for _, result in ordered),
    )


def check_capture(pcap: str | os.PathLike[str]) -> None:
    """Refuses a file that a capture cannot be written to, before anything is run.

    Raises:
        UsageError: as `check_file`; or its ending names another format.
    """
    check_file(pcap)
    # Readers that know only the older format of .pcap do not read pcapng.
    check_ending(pcap, "a capture is pcapng", ".pcapng")


def _check_node(scenario: Scenario, takes: str, name: str) -> None:
    """Refuses what is no node of the scenario."""
    names = [node["name"] for node in json.loads(scenario.canonical)["node"]]
    if name not in names:
        raise UsageError(f"{takes}, and there is no node {name!r}; {there_are(name, names, quoted=True)}")


def _below_each_other(scenario: str, seed: int, runs: Sequence[Mapping[str, Table]]) -> dict[str, polars.DataFrame]:
    """The tables of all replications, each as one."""
    tables = {}
    for name in dict.fromkeys(name for of_run in runs for name in of_run):
        there = [replication for replication, of_run in enumerate(runs) if name in of_run]
        own = [runs[replication][name] for replication in there]
        tables[name] = stacked(own, Table.of_runs(scenario, seed, there))
    return tables


@dataclass(frozen=True)
class _Capturing:
    """Makes one run, with a capture, or with qlog files, or both."""

    pcap: Path | None
    at: Sequence[str]
    frames: str | None
    qlog: str | None
    rows: Rows | None

    @property
    def at_once(self) -> int:
        """One."""
        return 1

    def outcomes(self, runs: Sequence[Run], traces: Sequence[str], heard: Callable[[float], None]) -> Outcomes:
        """As of `Engine`."""
        [(scenario, seed, _)] = runs

        def run(aside: str | None) -> _roamsim.Result:
            return _roamsim.run(
                scenario,
                seed=seed,
                trace=list(traces),
                pcap=aside,
                pcap_at=self.at,
                pcap_frames=self.frames,
                qlog=self.qlog,
                heard=heard,
                rows=self.rows,
                series=True,
            )

        yield 0, run(None) if self.pcap is None else _captured(self.pcap, run)


def _captured(pcap: Path, run: Callable[[str], _roamsim.Result]) -> _roamsim.Result:
    """A run with its capture, which takes its place when the run is over: until then, what was there stays."""
    made: list[_roamsim.Result] = []
    try:
        write_aside(pcap, lambda aside: made.append(run(os.fspath(aside))), follow=True)
    except OSError as error:
        if error.filename != os.fspath(pcap):
            raise
        raise OSError(
            error.errno, f"the capture cannot be written: {error.strerror or error}", os.fspath(pcap)
        ) from None
    return made[0]


def traces(asked: str | Iterable[str]) -> list[str]:
    """Kinds of traces, each once; one text may name several, separated by commas.

    Raises:
        UsageError: there is no such trace.
    """
    texts = list(asked) if isinstance(asked, Iterable) and not isinstance(asked, str) else [asked]
    if not texts:
        return []
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"trace: {asked!r} is not a list of names, such as ['cwnd', 'rtt']")
    kinds = list(dict.fromkeys(kind.strip() for text in texts for kind in text.split(",") if kind.strip()))
    known = _roamsim.trace_kinds()
    if not kinds:
        raise UsageError(f"trace: nothing is named; there are {', '.join(known)}")
    for kind in kinds:
        if kind not in known:
            raise UsageError(f"there is no trace {kind!r}; {there_are(kind, known)}")
    return kinds
