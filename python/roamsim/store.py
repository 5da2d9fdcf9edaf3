"""Folders of results: a manifest, finished parts, and the tables merged from them.

    DIR/manifest.json           scenario, version, seed, command, points and what was varied
    DIR/parts/KEY-FIRST-LAST/   the tables of some replications of one point, or what was traced of its first one;
                                complete or absent
    DIR/flows.parquet ...       all rows, in the order of points and replications

A part's key is a hash of the point's canonical scenario, the version, the seed and what was traced, so that a part
can be used again by any sweep that needs the same runs. A folder that `run --parquet` wrote has no parts.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.files import write_aside, write_whole
from roamsim.result import RUN_COLUMNS, Tables, concatenate
from roamsim.vary import quantity

MANIFEST = "manifest.json"

#: Tables that are there only when they are asked for, and what asks for them.
TRACED = {
    "transactions": "transactions",
    "packets": "packets",
    "samples": "cwnd, rtt, queue, throughput, backlog, bearers or dlc_queue",
    "segments": "segments",
    "messages": "messages",
    "dect_occupancy": "occupancy",
}


@dataclass
class PointEntry:
    """One point of a sweep, as its manifest keeps it.

    Attributes:
        values: for each varied path its value in TOML's notation.
        shown: the same as tables show it.
        fingerprint: of the point's scenario and the version.
        replications: how many belong to the result.
    """

    values: dict[str, str]
    shown: dict[str, int | float | bool | str]
    fingerprint: str
    replications: int


@dataclass(frozen=True)
class PointRows:
    """A point of a sweep with one of its tables: the rows of its first `count` replications."""

    entry: PointEntry
    count: int
    table: polars.DataFrame


@dataclass
class Manifest:
    """What a folder of results holds and how it came about.

    Attributes:
        kind: `run`, `sweep`, or `study`; `roamsim compare` writes a sweep.
        scenario: name of the scenario.
        text: its text, as given.
        canonical: its tree after `--set`, before anything was varied.
        version: of the simulator.
        seed: of every run.
        command: how to get these results again.
        vary: values of each varied path, in TOML's notation.
        precision: what was asked for, such as `flows.goodput_bps to 0.02`.
        unmet: the points, by their values, that are not that precise after the most replications.
        traces: what was recorded of the first replication of each point of a sweep.
        compared: of `roamsim compare`: `over` (the path), `values`, `baseline`, `metrics`.
        points: in the order of the `point` column.
    """

    kind: str
    scenario: str
    text: str
    canonical: Any
    version: str
    seed: int
    command: list[str]
    vary: dict[str, list[str]] = field(default_factory=dict)
    precision: str | None = None
    unmet: list[dict[str, str]] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    compared: dict[str, Any] | None = None
    points: list[PointEntry] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Writes the manifest, whole or not at all."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        write_whole(folder / MANIFEST, text.encode())

    @staticmethod
    def read(folder: Path) -> Manifest | None:
        """The manifest of a folder; `None` where there is none.

        Raises:
            UsageError: it cannot be read.
        """
        path = folder / MANIFEST
        if study_manifest(folder):
            raise UsageError(
                f"{os.fspath(folder)!r} holds a study; `roamsim report` shows its figures, `roamsim query` its runs"
            )
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
            points = [PointEntry(**point) for point in entries.pop("points", [])]
            return Manifest(**entries, points=points)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, TypeError, AttributeError):
            raise UsageError(
                f"{path} is no manifest of this version: make the results again, in a new folder"
            ) from None


def study_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest of a study's folder; empty for other folders."""
    try:
        entries = json.loads((Path(folder) / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) and entries.get("kind") == "study" else {}


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

    def query(self, question: str) -> polars.DataFrame:
        """Answers a question in SQL over the tables of the folder, for instance `select * from flows`.

        Raises:
            UsageError: it is not valid SQL, or the folder was there only during the sweep.
        """
        from roamsim.queries import query

        return query(self.path, question)

    def plot(
        self,
        what: str,
        out: str | os.PathLike[str] | None = None,
        *,
        flow: str | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
    ) -> Path:
        """Draws one figure, as `roamsim plot` does: `cwnd`, `segments`, `flows.goodput_bps`, ...

        Args:
            what: what is drawn.
            out: the file; `WHAT.svg` in the folder unless given.
            flow: of a trace, the only flow that is drawn.
            start_s: of a trace, where the time axis begins.
            end_s: of a trace, where it ends.

        Raises:
            UsageError: there are no such results, or another ending than .svg, .png and .pdf.
        """
        from roamsim.plot import plot
        from roamsim.timeseries import Part

        return plot(self.path, what, out, Part(flow, start_s, end_s))

    def report(self, out: str | os.PathLike[str] | None = None) -> Path:
        """Writes the report, as `roamsim report` does: one HTML file, `report.html` in the folder unless given.

        Raises:
            UsageError: the folder was there only during the sweep, or the file's folder does not exist.
        """
        from roamsim.results_report import report

        return report(self.path, out)

    def keys_of(self, table: str) -> list[str]:
        """The columns that tell rows of a table apart within a replication."""
        point, *own = super().keys_of(table)
        return [point, *varied_columns(self.manifest), *own]

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {frame.height}" for name, frame in self.tables.items())
        points = len(self.manifest.points)
        return f"<Results of {self.manifest.scenario!r} in {self.path}, {points} point(s); rows {rows}>"


def open_results(path: str | os.PathLike[str]) -> Results:
    """Reads a folder that `roamsim run --parquet`, `roamsim sweep` or `roamsim.sweep` wrote.

    An unfinished sweep gives the rows that are there.

    Raises:
        UsageError: there is no such folder, or it holds no results.
    """
    folder = Path(path)
    if not folder.is_dir():
        named = os.fspath(path)
        if folder.suffix in (".toml", ".json") and folder.is_file():
            raise UsageError(
                f"{named!r} is a file, perhaps a scenario, and no folder of results; "
                f"`roamsim run {shlex.quote(named)} --parquet DIR` makes one"
            )
        if folder.exists():
            raise UsageError(f"{named!r} is a file, not a folder of results")
        raise UsageError(f"there is no folder {named!r}")
    manifest = Manifest.read(folder)
    if manifest is None:
        raise UsageError(f"{os.fspath(path)!r} holds no results: it has no {MANIFEST}")
    if manifest.kind == "sweep":
        return Results(folder, manifest, merged(folder, manifest))
    tables = {file.stem: _read(file) for file in sorted(folder.glob("*.parquet")) if file.name[0] != "."}
    return Results(folder, manifest, tables)


def write_tables(folder: Path, tables: Mapping[str, polars.DataFrame]) -> None:
    """Writes each table as `TABLE.parquet`, whole or not at all."""
    for name, frame in tables.items():
        write_aside(folder / f"{name}.parquet", frame.write_parquet)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Makes a folder and keeps other processes from writing to it meanwhile.

    Raises:
        UsageError: another process writes to it, or it cannot be made.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            f"another process is writing to {os.fspath(folder)!r}; wait for it, or choose another folder"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot write to {os.fspath(folder)!r}: {error.strerror or error}") from None
    try:
        # What a killed process left half-written.
        for left in (*folder.glob(".tmp-*"), *folder.glob("parts/.tmp-*")):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def part_key(fingerprint: str, seed: int, traces: Sequence[str] = ()) -> str:
    """Key of the parts of one point, or of what was traced of it; the fingerprint covers scenario and version."""
    traced = f":{','.join(traces)}" if traces else ""
    return hashlib.sha256(f"{fingerprint}:{seed}{traced}".encode()).hexdigest()[:24]


class Parts:
    """The finished parts of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "parts"
        self._ranges: dict[str, list[tuple[int, int]]] = {}
        for part in sorted(self.folder.glob("*-*-*")):
            key, first, last = part.name.split("-", 2)
            if first.isdigit() and last.isdigit():
                self._ranges.setdefault(key, []).append((int(first), int(last)))

    def missing(self, key: str, replications: int) -> list[range]:
        """The replications below a number that no part holds, as ranges."""
        gaps, at = [], 0
        for first, last in sorted(self._ranges.get(key, [])):
            if first >= replications:
                break
            if first > at:
                gaps.append(range(at, first))
            at = max(at, last + 1)
        if at < replications:
            gaps.append(range(at, replications))
        return gaps

    def write(self, key: str, first: int, runs: list[dict[str, polars.DataFrame]]) -> None:
        """Adds a part that holds consecutive replications, the first of which is `first`."""
        last = first + len(runs) - 1
        self.folder.mkdir(exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=self.folder, prefix=".tmp-"))
        try:
            for name, frame in concatenate(runs).items():
                frame.write_parquet(aside / f"{name}.parquet")
            aside.chmod(0o755)
            aside.rename(self.folder / f"{key}-{first:06}-{last:06}")
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        self._ranges.setdefault(key, []).append((first, last))

    def read(self, key: str, replications: int, table: str | None = None) -> Iterator[dict[str, polars.DataFrame]]:
        """The tables (or one of them) of the replications below a number, part after part."""
        at = 0
        for first, last in sorted(self._ranges.get(key, [])):
            if at >= replications or last < at:
                continue
            folder = self.folder / f"{key}-{first:06}-{last:06}"
            files = [folder / f"{table}.parquet"] if table else sorted(folder.glob("*.parquet"))
            wanted = polars.col("replication").is_between(at, replications - 1)
            yield {file.stem: _read(file).filter(wanted) for file in files if file.exists()}
            at = last + 1


def merged(folder: Path, manifest: Manifest) -> dict[str, polars.DataFrame]:
    """All rows of a sweep in the order of points and replications, with what was varied as columns."""
    parts = Parts(folder)
    dtypes, units = _dtypes(manifest), _units(manifest)
    rows = []
    for number, point in enumerate(manifest.points):
        values = [polars.lit(value, dtypes[name]).alias(name) for name, value in _columns(units, point)]
        found = [*parts.read(part_key(point.fingerprint, manifest.seed), point.replications)]
        if manifest.traces:
            found += parts.read(part_key(point.fingerprint, manifest.seed, manifest.traces), 1)
        rows += [{name: _placed(frame, number, values) for name, frame in tables.items()} for tables in found]
    return concatenate(rows)


def short(path: str, paths: list[str]) -> str:
    """The last word of a path, or all of it where another path ends in the same word."""
    last = path.rsplit(".", 1)[-1]
    return last if sum(other.rsplit(".", 1)[-1] == last for other in paths) == 1 else path


def value_label(path: str, value: Any, paths: list[str]) -> str:
    """A value of a varied path in words: names and tables as they are, others with what they are a value of."""
    if isinstance(value, str) and value.split(" ", 1)[0].isidentifier():
        return value
    shown = str(value).lower() if isinstance(value, bool) else value
    return f"{short(path, paths)}={shown}"


def point_label(manifest: Manifest, point: int) -> str:
    """What tells a point from the others: the values of the paths that have several."""
    paths = [path for path, values in manifest.vary.items() if len(values) > 1]
    shown = manifest.points[point].shown
    return ", ".join(value_label(path, shown[path], paths) for path in paths)


def varied_columns(manifest: Manifest) -> list[str]:
    """Names of the columns that say what was varied."""
    return list(_dtypes(manifest))


def _placed(frame: polars.DataFrame, point: int, values: list[polars.Expr]) -> polars.DataFrame:
    names = [value.meta.output_name() for value in values]
    others = [column for column in frame.columns if column not in RUN_COLUMNS]
    scenario, at, *rest = RUN_COLUMNS
    return frame.with_columns(polars.lit(point, polars.Int64).alias(at), *values).select(
        scenario, at, *names, *rest, *others
    )


def _columns(units: Mapping[str, str | None], point: PointEntry) -> Iterator[tuple[str, Any]]:
    """What was varied at a point: each path as the scenario writes it, and quantities also as numbers."""
    for path, unit in units.items():
        yield path, point.shown[path]
        if unit:
            number, _ = quantity(str(point.shown[path])) or (None, unit)
            yield f"{path}_{unit}", number


def _units(manifest: Manifest) -> dict[str, str | None]:
    """For each varied path the unit that all its values share, if they are quantities."""
    units = {}
    for path in manifest.vary:
        shown = [point.shown[path] for point in manifest.points]
        found = {(quantity(value) or (None, None))[1] if isinstance(value, str) else None for value in shown}
        units[path] = found.pop() if len(found) == 1 else None
    return units


def _dtypes(manifest: Manifest) -> dict[str, type[polars.DataType]]:
    dtypes: dict[str, type[polars.DataType]] = {}
    for path, unit in _units(manifest).items():
        kinds = {type(point.shown[path]) for point in manifest.points}
        if kinds == {bool}:
            dtypes[path] = polars.Boolean
        elif kinds == {int}:
            dtypes[path] = polars.Int64
        elif kinds <= {int, float}:
            dtypes[path] = polars.Float64
        else:
            dtypes[path] = polars.String
        if unit:
            dtypes[f"{path}_{unit}"] = polars.Float64
    return dtypes


def _read(file: Path) -> polars.DataFrame:
    try:
        return polars.read_parquet(file)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
