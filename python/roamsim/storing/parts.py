"""The finished runs of a folder, in parts: files that hold many runs each and are whole or set aside.

    DIR/parts/NNNNNN.zip    `runs.parquet`: key and replication of each run in it; `TABLE.parquet`: their rows

A part is a ZIP archive without compression (Parquet compresses), so that every octet of it is under a CRC-32. Parts
of fewer than a hundred runs are put together as they become many: a folder has at most one part a hundred runs, and a
few more while it is being written.

A run is kept under a key: a digest of its scenario, of the simulator's sources, of the seed, of what was recorded of
it, and, in studies, of the code that measured it. What computes figures and intervals from the rows is in no key, for
it works on them anew each time.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
import polars

from roamsim._roamsim import Scenario
from roamsim.errors import Notice
from roamsim.files import write_aside
from roamsim.storing.manifests import Damaged
from roamsim.tables.result import column

#: Seconds between writes: what a kill costs at most (chosen).
WRITE_EVERY_S = 2.0

#: Runs from which on a part is left as it is, and how many smaller ones there may be (chosen).
FULL, MOST_SMALL = 100, 8

#: Number of the layout of parts; what has another one is not found.
LAYOUT = 1

#: The table of a part that says which runs are in it.
RUNS = "runs"

_RUN_SCHEMA: dict[str, type[polars.DataType]] = {"key": polars.String, "replication": polars.Int64}

#: A key, a replication, and the columns of each table of that run.
Finished = tuple[str, int, Mapping[str, Mapping[str, Any]]]


def run_key(scenario: Scenario | str, seed: int, recorded: Sequence[str] = (), measured: str = "") -> str:
    """What the replications of a point are kept under.

    Args:
        scenario: or its fingerprint, which covers the scenario and the simulator's sources.
        seed: of the random streams.
        recorded: which traces and tables are kept, where that is a choice.
        measured: digest of the code that made the kept rows of the run's tables.
    """
    fingerprint = scenario if isinstance(scenario, str) else scenario.fingerprint
    what = "\0".join([str(LAYOUT), fingerprint, str(seed), ",".join(recorded), measured])
    return hashlib.sha256(what.encode()).hexdigest()[:24]


class Parts:
    """The parts of a folder.

    Args:
        folder: of the results.
        mend: sets damaged parts aside, and says so, so that their runs are made again; else they are an error.

    Raises:
        Damaged: a part is not whole, and nothing is to be mended.
    """

    def __init__(self, folder: Path, *, mend: bool = False) -> None:
        self.folder = folder / "parts"
        self._runs: dict[Path, polars.DataFrame] = {}
        self._done: set[tuple[str, int]] = set()
        #: Whether a part was set aside.
        self.mended = False
        for file in sorted(self.folder.glob("[!.]*.zip")):
            try:
                self._know(file, _checked(file))
            except Damaged as error:
                if not mend:
                    raise Damaged(f"{error}; the command that made the folder makes these runs again") from None
                aside = file.rename(file.with_suffix(".damaged"))
                self.mended = True
                warn(f"{error}: it is set aside as {aside.name}, and its runs are made again", Notice, stacklevel=2)
        numbers = [int(file.stem) for file in self._runs if file.stem.isdigit()]
        self._next = max(numbers, default=-1) + 1

    def _know(self, file: Path, runs: polars.DataFrame) -> None:
        # A kill may have left a part beside those that it was put together of.
        new = [run for run in runs.iter_rows() if run not in self._done]
        self._runs[file] = runs if len(new) == runs.height else _runs(new)
        self._done.update(new)

    def has(self, key: str, replication: int) -> bool:
        """Whether a run is there."""
        return (key, replication) in self._done

    def add(self, finished: Iterable[Finished]) -> None:
        """Writes runs as one part; those that are there already are left out."""
        new = [run for run in finished if not self.has(run[0], run[1])]
        if new:
            self._write(_runs([run[:2] for run in new]), _tables(new))
            if sum(self._small()) > MOST_SMALL:
                self.put_together()

    def take(self, other: Parts) -> int:
        """Copies the runs of other parts; those that are there already are left out. Returns how many were new.

        Raises:
            Damaged: a part of the others does not hold what it should.
        """
        taken = 0
        for file, runs in other._runs.items():
            new = _runs([run for run in runs.iter_rows() if run not in self._done])
            if not new.height:
                continue
            found = {name: other.rows(name, [file]) for name in _names(file)}
            on = ["key", "replication"]
            self._write(
                new, {name: rows.join(new, on=on, how="semi", maintain_order="left") for name, rows in found.items()}
            )
            taken += new.height
        if sum(self._small()) > MOST_SMALL:
            self.put_together()
        return taken

    def put_together(self) -> None:
        """Makes one part of all that hold fewer than a hundred runs."""
        small = [file for file, few in zip(self._runs, self._small(), strict=True) if few]
        if len(small) < 2:
            return
        names = {name for file in small for name in _names(file)}
        tables = {name: self.rows(name, small) for name in sorted(names)}
        runs = polars.concat([self._runs.pop(file) for file in small])
        self._done.difference_update(runs.iter_rows())
        self._write(runs, tables)
        for file in small:
            file.unlink(missing_ok=True)

    def rows(self, table: str, files: Iterable[Path] | None = None) -> polars.DataFrame:
        """Every row of a table, with `key` and `replication` before its own columns; empty where no run has it.

        Raises:
            Damaged: a part does not hold what it should.
        """
        found = []
        for file in self._runs if files is None else files:
            if table in _names(file):
                frame = _read(file, table)
                runs = self._runs[file]
                found.append(frame.join(runs, on=["key", "replication"], how="semi", maintain_order="left"))
        try:
            return polars.concat(found, how="diagonal_relaxed", rechunk=True) if found else polars.DataFrame()
        except polars.exceptions.PolarsError as error:
            raise Damaged(f"{self.folder} is damaged: its parts do not fit together: {error}") from None

    def names(self) -> list[str]:
        """The tables there are."""
        return sorted({name for file in self._runs for name in _names(file)})

    def _small(self) -> list[bool]:
        return [runs.height < FULL for runs in self._runs.values()]

    def _write(self, runs: polars.DataFrame, tables: Mapping[str, polars.DataFrame]) -> None:
        self.folder.mkdir(exist_ok=True)
        file = self.folder / f"{self._next:06}.zip"

        def write(aside: Path) -> None:
            with zipfile.ZipFile(aside, "w", zipfile.ZIP_STORED) as archive:
                for name, frame in {RUNS: runs, **tables}.items():
                    octets = io.BytesIO()
                    frame.write_parquet(octets)
                    # Without a time, so that equal runs give equal files.
                    archive.writestr(zipfile.ZipInfo(f"{name}.parquet"), octets.getbuffer())

        write_aside(file, write)
        self._next += 1
        self._know(file, runs)


def _runs(runs: Sequence[tuple[str, int]]) -> polars.DataFrame:
    return polars.DataFrame(runs, _RUN_SCHEMA, orient="row")


def _checked(file: Path) -> polars.DataFrame:
    """The runs of a part, every octet of which was read."""
    torn = _open(file, lambda archive: archive.testzip())
    if torn is not None:
        raise Damaged(f"{file} is damaged: {torn} is not whole")
    runs = _read(file, RUNS)
    if runs.width != 2:
        raise Damaged(f"{file} is damaged: its list of runs has other columns")
    return runs


def _names(file: Path) -> list[str]:
    members: list[str] = _open(file, lambda archive: archive.namelist())
    return [name.removesuffix(".parquet") for name in members if name != f"{RUNS}.parquet"]


def _read(file: Path, table: str) -> polars.DataFrame:
    frame = parquet(io.BytesIO(_open(file, lambda archive: archive.read(f"{table}.parquet"))), file)
    runs = frame[:, :2]
    if dict(runs.schema) != _RUN_SCHEMA or any(runs.null_count().row(0)):
        raise Damaged(f"{file} is damaged: {table} does not say which runs its rows are of")
    return frame


def _open(file: Path, use: Callable[[zipfile.ZipFile], Any]) -> Any:
    if not file.is_file():
        raise Damaged(f"{file} is damaged: it is no regular file")
    try:
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("it is compressed")
            return use(archive)
    except Exception as error:  # zipfile's own, struct's, and those of reading
        raise Damaged(f"{file} is damaged: {error}") from None


def parquet(octets: Path | io.BytesIO, file: Path) -> polars.DataFrame:
    """A frame from a file's octets; whatever its reader says of them is an error of that file.

    Raises:
        Damaged: they are no table.
    """
    try:
        return polars.read_parquet(octets)
    except (Exception, polars.exceptions.PanicException) as error:
        raise Damaged(f"{file} is damaged: {error}") from None


def _tables(finished: Sequence[Finished]) -> dict[str, polars.DataFrame]:
    """The rows of many runs, table by table. (A frame for each run would cost more than the run itself.)"""
    names = list(dict.fromkeys(name for _, _, tables in finished for name in tables))
    return {
        name: _frame([(key, number, tables[name]) for key, number, tables in finished if name in tables])
        for name in names
    }


def _frame(of_runs: Iterable[tuple[str, int, Mapping[str, Any]]]) -> polars.DataFrame:
    frames = []
    for columns, alike in groupby(of_runs, key=lambda run: tuple(run[2])):
        runs = list(alike)
        heights = [len(next(iter(table.values()), ())) for _, _, table in runs]
        key = polars.Series("key", [key for key, _, _ in runs], polars.String)
        number = polars.Series("replication", [number for _, number, _ in runs], polars.Int64)
        at = polars.Series(np.repeat(np.arange(len(runs)), heights))
        own = [column(name, [table[name] for _, _, table in runs]) for name in columns if name != "replication"]
        frames.append(polars.DataFrame([key.gather(at), number.gather(at), *own]))
    return polars.concat(frames, how="diagonal_relaxed", rechunk=True)
