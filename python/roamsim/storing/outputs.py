"""Files that `roamsim run` writes beside its summary: a folder of Parquet tables, one table as CSV."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars

from roamsim._roamsim import Scenario, build
from roamsim.errors import UsageError
from roamsim.files import check_ending, check_file
from roamsim.storing.manifests import Manifest, PointEntry, results_manifest
from roamsim.storing.spool import Spool
from roamsim.storing.store import Results, no_table, refuse_other_files, replace_results, writing
from roamsim.tables.result import Result


@contextmanager
def prepared(folder: Path) -> Iterator[None]:
    """Makes the folder before anything is run, and keeps others from writing to it until its results are there.

    Raises:
        UsageError: it cannot be made or written to, or holds results of something else than a run.
    """
    with writing(folder):
        known = results_manifest(folder)
        if known is not None and known.kind != "run":
            raise UsageError(f"{os.fspath(folder)!r} holds results of a {known.kind}; choose another folder")
        if known is None:
            refuse_other_files(folder)
        yield


def check_page(file: Path) -> None:
    """Refuses a file that a report cannot be written to, before anything is run.

    Raises:
        UsageError: as `check_file`; or its ending names another format.
    """
    check_file(file)
    check_ending(file, "a report is HTML", ".html", ".htm")


def write_parquet(
    folder: Path, scenario: Scenario, result: Result, spool: Spool | None, text: str, command: list[str]
) -> None:
    """Writes every table as Parquet, and a manifest; results of an earlier run are replaced, all at once."""
    replace_results(folder, _manifest(scenario, result, text, command), result.tables, spool)


def in_memory(
    scenario: Scenario,
    result: Result,
    spool: Spool | None,
    text: str,
    command: list[str],
    traces: Sequence[str] = (),
) -> Results:
    """The same results without a folder, with all rows; `traces` that no command tells are told."""
    tables = {
        name: polars.concat(spool.frames(name)) if spool is not None and spool.has(name) else frame
        for name, frame in result.tables.items()
    }
    return Results(Path(), replace(_manifest(scenario, result, text, command), traces=list(traces)), tables)


def _manifest(scenario: Scenario, result: Result, text: str, command: list[str]) -> Manifest:
    return Manifest(
        kind="run",
        scenario=scenario.name,
        text=text,
        canonical=json.loads(scenario.canonical),
        version=result.version,
        build=build(),
        seed=result.seed,
        command=command,
        points=[PointEntry({}, {}, scenario.fingerprint, result.replications)],
    )


def csv_table(result: Result, asked: str | None) -> tuple[str, list[str]]:
    """The table that `--csv` prints, and the names of the others.

    Raises:
        UsageError: there is no such table.
    """
    names = list(result.tables)
    if asked is not None and asked not in names:
        raise no_table(asked, names)
    usual = [name for name in ("flows", "signalling") if name in names and result[name].height]
    chosen = asked or (usual or names)[0]
    return chosen, [name for name in names if name != chosen]


def put_csv(result: Result, name: str, spool: Spool | None, put: Callable[[str], None]) -> None:
    """Writes a table as CSV; the rows that a spool has, some at a time."""
    for number, rows in enumerate(_rows(result, spool)(name)):
        put(csv_text(rows, heading=number == 0))


def put_json(result: Result, spool: Spool | None, put: Callable[[str], None]) -> None:
    """Writes a result as JSON; the rows that a spool has, some at a time."""
    for piece in result.json_pieces(lambda name: spool.frames(name) if spool is not None else ()):
        put(piece)


def _rows(result: Result, spool: Spool | None) -> Callable[[str], Iterable[polars.DataFrame]]:
    return lambda name: spool.frames(name) if spool is not None and spool.has(name) else [result[name]]


def csv_text(frame: polars.DataFrame, *, heading: bool = True) -> str:
    """A frame as CSV; lists and structures, which CSV has no notation for, as JSON."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(
        polars.Series(name, [None if v is None else json.dumps(v, default=str) for v in frame[name].to_list()])
        for name in nested
    ).write_csv(include_header=heading)
