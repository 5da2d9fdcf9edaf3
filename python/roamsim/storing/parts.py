"""The finished runs of a folder, in parts: each file holds many runs, and is whole or set aside.

    DIR/parts/NNNNNN.zip    `runs.parquet`: key and replication of each run in it; `TABLE.parquet`: their rows

A part is a ZIP archive without compression (Parquet compresses), so that every octet of it is under a CRC-32. It is
written aside and renamed, and nothing of it changes afterwards. What is finished is a part within some seconds,
however few runs that are; ten parts of about the same size are put together to a larger one, until they are full. So
a run is written four times at most, and a folder has one part a thousand runs, and some twenty more while it is being
written. What a larger part was put together of goes when that is in its place: a kill between the two leaves runs
twice, which count once.

A run is kept under a key: a digest of its scenario, of the simulator's sources, of the seed, of what was recorded of
it, and, in studies, of the code that measured it. What computes figures and intervals from the rows is in no key, for
it works on them anew each time.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar
from warnings import warn

import polars

from roamsim._roamsim import Scenario, Table
from roamsim.errors import Notice
from roamsim.files import write_aside
from roamsim.storing.manifests import Damaged
from roamsim.storing.room import require_room
from roamsim.storing.schema import lacks, require_columns, require_sound
from roamsim.tables.result import column, stacked, typed

#: Seconds between writes: what a kill costs at most (chosen).
WRITE_EVERY_S = 2.0

#: Runs, or octets, from which on a part is full: it is left as it is (chosen: a million runs make a thousand files,
#: and what is read of a folder at a time fits into memory).
FULL, FULL_BYTES = 1000, 1 << 26

#: How many parts that hold equally many digits of runs are put together to one (chosen: the next digit).
TOGETHER = 10

#: Number of the layout of parts; what has another one is not found.
LAYOUT = 1

#: The table of a part that says which runs are in it.
RUNS = "runs"

#: The columns that say which run a row is of.
RUN_OF = ("key", "replication")

#: Tables, and the first column that each lacks, as those of another build do.
_Lacking = tuple[tuple[str, str], ...]

_Source = TypeVar("_Source", Path, io.BytesIO)
_Found = TypeVar("_Found")

#: A key, a replication, and the tables of that run, or the columns of those that were measured.
Finished = tuple[str, int, Mapping[str, Table | Mapping[str, Any]]]


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
        self._parts: dict[Path, _Part] = {}
        self._done: set[tuple[str, int]] = set()
        self._shapes: dict[tuple[Path, str], tuple[polars.Schema, int]] = {}
        #: Whether a part was set aside.
        self.mended = False
        for file in sorted(self.folder.glob("[!.]*.zip")):
            try:
                self._know(file, *_checked(file))
            except Damaged as error:
                if not mend:
                    raise Damaged(f"{error}; the command that made the folder makes these runs again") from None
                aside = file.rename(file.with_suffix(".damaged"))
                self.mended = True
                warn(f"{error}: it is set aside as {aside.name}, and its runs are made again", Notice, stacklevel=2)
        numbers = [int(file.stem) for file in self._parts if file.stem.isdigit()]
        self._next = max(numbers, default=-1) + 1

    def _know(self, file: Path, runs: polars.DataFrame, names: Sequence[str]) -> None:
        # A key stands for many replications, and is one text for all of them.
        all_of_them = [(sys.intern(key), replication) for key, replication in runs.iter_rows()]
        # A kill may have left a part beside those that it was put together of.
        new = [run for run in all_of_them if run not in self._done]
        own = runs if len(new) == runs.height else _runs(new)
        self._parts[file] = _Part(own, tuple(names), file.stat().st_size)
        self._done.update(new)

    def has(self, key: str, replication: int) -> bool:
        """Whether a run is there."""
        return (key, replication) in self._done

    def add(self, finished: Iterable[Finished]) -> None:
        """Writes runs as one part; those that are there already are left out."""
        new = [run for run in finished if not self.has(run[0], run[1])]
        if new:
            self._write(_runs([run[:2] for run in new]), _tables(new))
            self._tidy()

    def take(self, other: Parts) -> int:
        """Copies the runs of other parts; those that are there already are left out. Returns how many were new.

        Raises:
            Damaged: a part of the others does not hold what it should.
        """
        taken = 0
        for file, part in other._parts.items():
            new = _runs([run for run in part.runs.iter_rows() if run not in self._done])
            if not new.height:
                continue
            found = {name: other.rows(name, [file]) for name in part.names}
            self._write(
                new,
                {name: rows.join(new, on=RUN_OF, how="semi", maintain_order="left") for name, rows in found.items()},
            )
            taken += new.height
            self._tidy()
        return taken

    def put_together(self) -> None:
        """Makes full parts of all that are not."""
        alike: dict[_Lacking, list[Path]] = {}
        for file, part in self._parts.items():
            if not part.full:
                alike.setdefault(self._lacking(file), []).append(file)
        for files in alike.values():
            self._join(files)

    def _tidy(self) -> None:
        """Puts parts of about the same size together where they are many."""
        while True:
            alike: dict[tuple[int, _Lacking], list[Path]] = {}
            for file, part in self._parts.items():
                if not part.full:
                    alike.setdefault((part.digits, self._lacking(file)), []).append(file)
            many = next((files for files in alike.values() if len(files) >= TOGETHER), None)
            if many is None:
                return
            self._join(many)

    def _lacking(self, file: Path) -> _Lacking:
        """The columns that tables of a part lack: only parts that lack the same are put together."""
        found = ((name, lacks(self._scanned(file, name)[0], name)) for name in sorted(self._parts[file].names))
        return tuple((name, column) for name, column in found if column is not None)

    def _join(self, files: Sequence[Path]) -> None:
        """Puts parts together, in their order, to full ones and a last one that may not be full."""
        group: list[Path] = []
        for file in files:
            group.append(file)
            if _Part.is_full(
                sum(self._parts[one].runs.height for one in group), sum(self._parts[one].octets for one in group)
            ):
                self._join_all(group)
                group = []
        self._join_all(group)

    def _join_all(self, files: Sequence[Path]) -> None:
        if len(files) < 2:
            return
        names = {name for file in files for name in self._parts[file].names}
        tables = {name: self.rows(name, files) for name in sorted(names)}
        runs = polars.concat([self._parts.pop(file).runs for file in files])
        self._done.difference_update(runs.iter_rows())
        self._write(runs, tables)
        for file in files:
            file.unlink(missing_ok=True)

    def rows(
        self, table: str, files: Iterable[Path] | None = None, keys: Collection[str] | None = None
    ) -> polars.DataFrame:
        """The rows of a table, with `key` and `replication` before its own columns; empty where no run has it.

        Args:
            table: its name.
            files: the parts that are read; all unless given.
            keys: of the runs that count, whose table has each of its columns; all runs unless given, of other
                builds as well.

        Raises:
            Damaged: a part does not hold what it should.
        """
        found = []
        for file in self._parts if files is None else files:
            runs = self._parts[file].of(keys)
            if runs.height and table in self._parts[file].names:
                frame = _read(file, table)
                if keys is not None:
                    require_columns(frame.schema, table, file)
                found.append(frame.join(runs, on=RUN_OF, how="semi", maintain_order="left"))
        try:
            return polars.concat(found, how="diagonal_relaxed", rechunk=True) if found else polars.DataFrame()
        except polars.exceptions.PolarsError as error:
            raise Damaged(f"{self.folder} is damaged: its parts do not fit together: {error}") from None

    def rows_of_each(self, table: str, keys: Collection[str]) -> polars.DataFrame:
        """The same where each run has the table, as those of a study have.

        Raises:
            Damaged: a part has no such table, or does not hold what it should.
        """
        for file, part in self._parts.items():
            if table not in part.names and part.of(keys).height:
                raise Damaged(f"{file} is damaged: it has no table {table!r}")
        return self.rows(table, keys=keys)

    def schema(self, table: str) -> polars.Schema:
        """The columns of `rows`; those without any value are of text."""
        found = [self._scanned(file, table)[0] for file, part in self._parts.items() if table in part.names]
        try:
            return typed(polars.concat([schema.to_frame() for schema in found], how="diagonal_relaxed")).schema
        except polars.exceptions.PolarsError as error:
            raise Damaged(f"{self.folder} is damaged: its parts do not fit together: {error}") from None

    def runs_of(self, table: str) -> polars.DataFrame:
        """The runs that have a table: `key`, `replication`, the number of the part, and of about how many `rows`."""
        found = [_runs([]).with_columns(part=polars.lit(0, polars.UInt32), rows=polars.lit(0.0))]
        for number, (file, part) in enumerate(self._parts.items()):
            if table in part.names and part.runs.height:
                each = self._scanned(file, table)[1] / part.runs.height
                at = polars.lit(number, polars.UInt32)
                found.append(part.runs.with_columns(part=at, rows=polars.lit(each)))
        return polars.concat(found)

    def read(self, number: int, table: str, columns: Sequence[str]) -> polars.DataFrame:
        """Some columns of a table of a part, of those that it has; `key` and `replication` are among them.

        Raises:
            Damaged: the part does not hold what it should, or not every column that a table of its name has.
        """
        file = list(self._parts)[number]
        require_columns(self._scanned(file, table)[0], table, file)
        return _read(file, table, columns)

    def _scanned(self, file: Path, table: str) -> tuple[polars.Schema, int]:
        """The columns of a table of a part, and how many rows it has."""
        if (file, table) not in self._shapes:
            self._shapes[file, table] = _shape(file, table)
        return self._shapes[file, table]

    def names(self) -> list[str]:
        """The tables there are."""
        return sorted({name for part in self._parts.values() for name in part.names})

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
        self._know(file, runs, list(tables))


@dataclass(frozen=True)
class _Part:
    """What is known of a part.

    Attributes:
        runs: those that count of it.
        names: its tables.
        octets: its size.
    """

    runs: polars.DataFrame
    names: tuple[str, ...]
    octets: int

    def of(self, keys: Collection[str] | None) -> polars.DataFrame:
        """Its runs under some keys; all of them unless given."""
        return self.runs if keys is None else self.runs.filter(polars.col("key").is_in(list(keys)))

    @staticmethod
    def is_full(runs: int, octets: int) -> bool:
        """Whether that much makes a part full."""
        return runs >= FULL or octets >= FULL_BYTES

    @property
    def full(self) -> bool:
        """Whether it is left as it is."""
        return self.is_full(self.runs.height, self.octets)

    @property
    def digits(self) -> int:
        """How many digits the number of its runs has."""
        return len(str(self.runs.height))


def _runs(runs: Sequence[tuple[str, int]]) -> polars.DataFrame:
    return polars.DataFrame(runs, _run_schema(), orient="row")


def _run_schema() -> polars.Schema:
    return polars.Schema(dict(zip(RUN_OF, (polars.String, polars.Int64), strict=True)))


def _checked(file: Path) -> tuple[polars.DataFrame, list[str]]:
    """The runs of a part, every octet of which was read, and its tables."""
    torn = _open(file, lambda archive: archive.testzip())
    if torn is not None:
        raise Damaged(f"{file} is damaged: {torn} is not whole")
    runs = _read(file, RUNS)
    if runs.width != 2:
        raise Damaged(f"{file} is damaged: its list of runs has other columns")
    return runs, _names(file)


def _names(file: Path) -> list[str]:
    members: list[str] = _open(file, lambda archive: archive.namelist())
    return [name.removesuffix(".parquet") for name in members if name != f"{RUNS}.parquet"]


def _read(file: Path, table: str, columns: Sequence[str] | None = None) -> polars.DataFrame:
    octets = _octets(file, table)
    _parquet(lambda octets: require_room(octets, file, table), octets, file)
    there = None if columns is None else set(_parquet(polars.read_parquet_schema, octets, file))
    chosen = None if there is None or columns is None else [column for column in columns if column in there]
    frame = _parquet(lambda octets: polars.read_parquet(octets, columns=chosen), octets, file)
    _require_runs(frame.schema, file, table)
    if any(frame.select(RUN_OF).null_count().row(0)):
        raise _no_runs(file, table)
    return require_sound(frame, table, file)


def _shape(file: Path, table: str) -> tuple[polars.Schema, int]:
    """Columns and number of rows of a table of a part."""
    scanned = polars.scan_parquet(_octets(file, table))
    schema = _parquet(lambda _: scanned.collect_schema(), io.BytesIO(), file)
    _require_runs(schema, file, table)
    count: int = _parquet(lambda _: scanned.select(polars.len()).collect().item(), io.BytesIO(), file)
    return schema, count


def _octets(file: Path, table: str) -> io.BytesIO:
    return io.BytesIO(_open(file, lambda archive: archive.read(f"{table}.parquet")))


def _require_runs(schema: polars.Schema, file: Path, table: str) -> None:
    if list(schema.items())[:2] != list(_run_schema().items()):
        raise _no_runs(file, table)


def _no_runs(file: Path, table: str) -> Damaged:
    return Damaged(f"{file} is damaged: {table} does not say which runs its rows are of")


def _open(file: Path, use: Callable[[zipfile.ZipFile], Any]) -> Any:
    if not file.is_file():
        raise Damaged(f"{file} is damaged: it is not a regular file")
    try:
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("it is compressed")
            return use(archive)
    except Exception as error:  # zipfile's own, struct's, and those of reading
        raise Damaged(f"{file} is damaged: {error}") from None


def parquet(path: Path) -> polars.DataFrame:
    """A frame from a file.

    Raises:
        Damaged: it is no table.
        NotEnoughMemory: it would not fit into memory.
    """
    _parquet(lambda path: require_room(path, path.parent, path.stem), path, path)
    return _parquet(polars.read_parquet, path, path)


def _parquet(read: Callable[[_Source], _Found], source: _Source, file: Path) -> _Found:
    """What is read of a table; whatever its reader says of it is an error of that file."""
    try:
        return read(source)
    except MemoryError:
        raise
    except (Exception, polars.exceptions.PanicException) as error:
        raise Damaged(f"{file} is damaged: {error}") from None


def _tables(finished: Sequence[Finished]) -> dict[str, polars.DataFrame]:
    """The rows of many runs, table by table. (A frame for each run would cost more than the run itself.)"""
    names = list(dict.fromkeys(name for _, _, tables in finished for name in tables))
    return {
        name: _frame([(key, number, tables[name]) for key, number, tables in finished if name in tables])
        for name in names
    }


def _columns(table: Table | Mapping[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Whether a table was measured, and the names of its columns."""
    return (False, tuple(table.columns)) if isinstance(table, Table) else (True, tuple(table))


def _frame(of_runs: Iterable[tuple[str, int, Table | Mapping[str, Any]]]) -> polars.DataFrame:
    frames = []
    for (measured, columns), alike in groupby(of_runs, key=lambda run: _columns(run[2])):
        keys, numbers, tables = zip(*alike, strict=True)
        runs = Table({"key": list(keys), "replication": array("q", numbers)})
        if not measured:
            frames.append(stacked(tables, runs))
            continue
        heights = [len(next(iter(table.values()), ())) for table in tables]
        at = polars.Series(
            [number for number, height in enumerate(heights) for _ in range(height)], dtype=polars.UInt32
        )
        own = [column(name, [table[name] for table in tables]) for name in columns if name != "replication"]
        frames.append(polars.DataFrame([*(one.gather(at) for one in polars.DataFrame(runs)), *own]))
    return polars.concat(frames, how="diagonal_relaxed", rechunk=True)
