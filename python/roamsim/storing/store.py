"""Folders of results: a manifest, finished runs in parts, and the tables of all of them.

    DIR/manifest.json       scenario, build, seed, command, points and what was varied
    DIR/parts/NNNNNN.zip    of a sweep: the tables of many runs each (`roamsim.storing.parts`)
    DIR/flows.parquet ...   all rows, in the order of points and replications

A sweep's tables stand beside its parts for other programs; Roamsim itself reads the parts. A run has no parts: its
manifest holds the digest of each table. The results of a run are replaced at once: written aside, which counts as
soon as it is called `.new`, and then moved into place; a reader looks into `.new` first.
"""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from warnings import warn

import polars

from roamsim._roamsim import trace_kinds
from roamsim.errors import Notice, UsageError, there_are
from roamsim.files import check_folder, is_wrong_path, open_file, write_aside, write_whole
from roamsim.storing.manifests import MANIFEST, Damaged, Manifest, PointEntry, results_manifest
from roamsim.storing.parts import Parts, parquet
from roamsim.storing.rows import SweepTables, checked, table_names, varied_columns
from roamsim.storing.spool import Spool, spooling
from roamsim.tables import caveats, metrics
from roamsim.tables.lots import HELD_ROWS, height, lots
from roamsim.tables.result import Tables
from roamsim.tables.words import count, value_label

#: Where new results of a run wait for their place.
NEW = ".new"


@dataclass(frozen=True)
class PointRows:
    """A point of a sweep with one of its tables: the rows of its first `count` replications."""

    entry: PointEntry
    count: int
    table: polars.DataFrame


class Results(Tables):
    """Tables of a folder, with what was varied as columns after `point`.

    Attributes:
        path: the folder.
        manifest: how the results came about.
        made: of a sweep, the runs that this call made; the others were there already.
    """

    def __init__(self, path: Path, manifest: Manifest, tables: Mapping[str, polars.DataFrame], made: int = 0) -> None:
        super().__init__(tables)
        self.path = path
        self.manifest = manifest
        self.made = made

    @property
    def varied(self) -> list[str]:
        """Paths that were varied, in their order."""
        return list(self.manifest.vary)

    @cached_property
    def alike_in_words(self) -> str:
        """As of `roamsim.tables.caveats`."""
        return caveats.alike_in_words(self)

    @cached_property
    def failures(self) -> dict[str, str]:
        """As of `roamsim.tables.caveats`."""
        return caveats.failures(self)

    @cached_property
    def finished_in_words(self) -> str:
        """How many runs of a sweep that was stopped, has failures or is a share are there; empty where all are."""
        wanted = sum(point.replications for point in self.manifest.points)
        # Every run has links, even one in which nothing happened.
        there = self.columns("links", ["point", "replication"]).n_unique() if "links" in self else 0
        return f"{there} of {count(wanted, 'run')}" if there < wanted else ""

    def tell_unfinished(self) -> None:
        """Tells who reads a part of a sweep that it is one."""
        # How many runs a search will have nobody knows before its end.
        is_search = not all(self.manifest.vary.values())
        if self.finished_in_words and not is_search:
            warn(f"{self.finished_in_words} are there, and no others", Notice, stacklevel=2)

    def keys_of(self, table: str) -> list[str]:
        """The columns that tell rows of a table apart within a replication."""
        point, *own = super().keys_of(table)
        return [point, *varied_columns(self.manifest), *own]

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {self.height(name)}" for name in self.tables)
        points = len(self.manifest.points)
        return f"<Results of {self.manifest.scenario!r} in {self.path}, {points} point(s); rows {rows}>"


def open_results(path: str | os.PathLike[str]) -> Results:
    """Reads a folder that `roamsim run --parquet`, `roamsim sweep` or `roamsim.sweep` wrote.

    An unfinished sweep gives the rows that are there.

    Raises:
        UsageError: there is no such folder, or it holds no results.
        Damaged: it is not as Roamsim left it; the text says which file.
    """
    folder = Path(path)
    if not folder.is_dir():
        named = os.fspath(path)
        if folder.suffix in (".toml", ".json") and folder.is_file():
            raise UsageError(
                f"{named!r} is a file, perhaps a scenario, not a folder of results; "
                f"`roamsim run {shlex.quote(named)} --parquet DIR` makes one"
            )
        if folder.exists():
            raise UsageError(f"{named!r} is a file, not a folder of results")
        raise UsageError(f"there is no folder {named!r}")
    manifest = results_manifest(_place(folder, MANIFEST).parent)
    if manifest is None:
        raise UsageError(
            f"{os.fspath(path)!r} holds no results: it has no {MANIFEST}; "
            "`run` with --parquet, and `sweep` and `compare` with --out, write a folder of results"
        )
    if manifest.kind == "sweep":
        return Results(folder, manifest, SweepTables(folder, manifest, Parts(folder)))
    return Results(folder, manifest, {name: _table(folder, manifest, name) for name in manifest.tables})


def write_tables(folder: Path, tables: Mapping[str, polars.DataFrame], spool: Spool | None = None) -> None:
    """Writes each table as `TABLE.parquet`, whole or not at all; of those that a spool has rows of, the spool's rows.

    Raises:
        OSError: one cannot be written.
    """
    for name in tables:
        file = folder / f"{name}.parquet"
        if spool is not None and spool.write(name, file):
            continue
        if height(tables, name) > HELD_ROWS:
            _write_in_lots(file, lots(tables, name))
            continue
        # Polars itself says of a full disk that the table is out of specification.
        octets = io.BytesIO()
        tables[name].write_parquet(octets)
        write_whole(file, octets.getbuffer())


def _write_in_lots(file: Path, rows: Iterator[polars.DataFrame]) -> None:
    """Writes a table that is too large to be held: the file hangs on its rows, not on how many come at a time."""
    with spooling(file.parent) as spool:
        for number, lot in enumerate(rows):
            spool.add(file.stem, number, lot)
        write_aside(file, lambda aside: spool.write(file.stem, aside))


def replace_results(
    folder: Path, manifest: Manifest, tables: Mapping[str, polars.DataFrame], spool: Spool | None = None
) -> None:
    """Puts the results of a run in place of those that a folder holds: all of them, or none. Within `writing`.

    Raises:
        OSError: they cannot be written; what was there is still there.
    """
    aside = Path(tempfile.mkdtemp(dir=folder, prefix=".tmp-"))
    try:
        write_tables(aside, tables, spool)
        digests = {name: _digest(aside / f"{name}.parquet") for name in tables}
        replace(manifest, tables=digests).write(aside)
        aside.rename(folder / NEW)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        if isinstance(error, OSError):
            error.filename = os.fspath(folder)
        raise
    _settle(folder)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Makes a folder and keeps other processes from writing to it meanwhile.

    Raises:
        UsageError: another process writes to it, or its path is wrong.
        OSError: it cannot be made or written to.
    """
    from filelock import FileLock, Timeout

    parts = folder / "parts"
    if parts.is_symlink():
        # What is damaged there is renamed, and what is left over is removed: elsewhere that is not ours to do.
        raise UsageError(f"{os.fspath(parts)!r} is a link; parts of results lie in their own folder only")
    if folder.is_file():
        raise UsageError(f"{os.fspath(folder)!r} is a file; results go to a folder")
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            f"another process is writing to {os.fspath(folder)!r}; wait for it, or choose another folder"
        ) from None
    except OSError as error:
        if is_wrong_path(error):
            raise UsageError(f"cannot write to {os.fspath(folder)!r}: {error.strerror or error}") from None
        error.filename = os.fspath(folder)
        raise
    try:
        # What a killed process left half-written, or whole and not yet in its place; in other folders it is not ours.
        if any((folder / name).is_file() for name in (MANIFEST, f"{NEW}/{MANIFEST}")):
            for left in (*folder.glob(".tmp-*"), *parts.glob(".tmp-*")):
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
        _settle(folder)
        yield
    finally:
        lock.release()


def refuse_other_files(folder: Path) -> None:
    """Refuses a folder without results in which something lies: nobody knows whose it is, so it stays as it is.

    Raises:
        UsageError: there are other files.
    """
    if any(not entry.name.startswith(".") for entry in folder.iterdir()):
        raise UsageError(f"{os.fspath(folder)!r} holds other files; choose a new or empty folder")


def no_table(asked: str, there: Iterable[str], *, recorded: bool = True) -> UsageError:
    """What is said of a table that a folder, or a result, does not have.

    Args:
        asked: the table.
        there: those that there are.
        recorded: whether the user says what is recorded, as for runs and sweeps.
    """
    if recorded and (kinds := metrics.traced_tables().get(asked)):
        *others, last = kinds
        words = f"{', '.join(others)} or {last}" if others else last
        return UsageError(f"nothing was recorded for the table {asked!r}; add --trace {words}")
    return UsageError(f"there is no table {asked!r}; {there_are(asked, there)}")


def forget_drawn(folder: Path) -> None:
    """Removes the report and the figures that were drawn of earlier results, where they have their usual names."""
    quantities = {quantity for recorded in metrics.quantities().values() for quantity in recorded}
    things = {*trace_kinds(), *quantities, *(m.name for m in metrics.metrics())}
    things |= {f"{thing}-jain" for thing in things}
    drawn = [folder / "report.html", *(folder / f"{thing}.svg" for thing in sorted(things))]
    gone = [file for file in drawn if file.is_file()]
    for file in gone:
        file.unlink(missing_ok=True)
    if gone:
        names = ", ".join(file.name for file in gone)
        warn(f"{os.fspath(folder)}: removed {names}, made of the earlier results", Notice, stacklevel=2)


def _settle(folder: Path) -> None:
    """Moves new results of a run into place, and removes what the earlier ones leave."""
    new = folder / NEW
    if new.is_symlink() or not new.is_dir():
        return
    # Readers find a table in either place until the manifest, the last to go, is in its own.
    for name in (*(f"{table}.parquet" for table in sorted(table_names())), MANIFEST):
        if (new / name).is_file():
            (new / name).replace(folder / name)
    manifest = results_manifest(folder)
    for table in table_names():
        if manifest is not None and table not in manifest.tables:
            (folder / f"{table}.parquet").unlink(missing_ok=True)
    forget_drawn(folder)
    shutil.rmtree(new)


def _place(folder: Path, name: str) -> Path:
    """Where a file of a folder is: in `.new` while its results are being moved into place."""
    new = folder / NEW
    moving = not new.is_symlink() and (new / MANIFEST).is_file() and (new / name).is_file()
    return new / name if moving else folder / name


def _table(folder: Path, manifest: Manifest, name: str) -> polars.DataFrame:
    path = _place(folder, f"{name}.parquet")
    if name not in table_names():
        raise Damaged(f"{folder / MANIFEST} is damaged: there is no table {name!r}")
    try:
        whole = _digest(path) == manifest.tables[name]
    except (OSError, UsageError) as error:
        raise Damaged(f"{path} is damaged: {getattr(error, 'strerror', None) or error}") from None
    if not whole:
        raise Damaged(f"{path} is damaged: it is not the table that the run wrote; run it again")
    return checked(parquet(path), name, manifest, path)


def _digest(file: Path) -> str:
    with open_file(file) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def point_label(manifest: Manifest, point: int) -> str:
    """What tells a point from the others: the values of the paths that have several."""
    paths = [path for path, values in manifest.vary.items() if len(values) > 1]
    shown = manifest.points[point].shown
    return ", ".join(value_label(path, shown[path], paths) for path in paths)
