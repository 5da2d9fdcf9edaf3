"""The tables of a sweep, assembled from its parts in the order of points and replications.

A table of up to a million rows is held. A larger one is read anew whenever it is asked for, some rows or some columns
at a time: which part holds which run is known, so that the rows of runs that follow each other, a lot, are read from
the few parts that they mostly lie in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars

from roamsim.scenarios.vary import quantity
from roamsim.storing.manifests import Damaged, Manifest, PointEntry
from roamsim.storing.parts import RUN_OF, Parts, run_key
from roamsim.storing.schema import RUN_TYPES, require_columns, require_sound
from roamsim.tables import metrics
from roamsim.tables.lots import HELD_ROWS, InLots
from roamsim.tables.result import RUN_COLUMNS

#: Rows of a lot (chosen: some ten MB of memory).
LOT_ROWS = 1 << 17


class SweepTables(InLots):
    """The tables of a sweep.

    Args:
        folder: of the sweep.
        manifest: of that folder.
        parts: of that folder; those that hold a table which is not held are read later.

    Raises:
        Damaged: the parts do not hold what they should.
    """

    def __init__(self, folder: Path, manifest: Manifest, parts: Parts) -> None:
        self._folder, self._manifest, self._parts = folder / "parts", manifest, parts
        self._places = [_places(manifest, ())]
        if manifest.traces:
            self._places.append(_places(manifest, manifest.traces))
        self._held: dict[str, polars.DataFrame] = {}
        self._large: dict[str, tuple[polars.Schema, int]] = {}
        for name in parts.names():
            if name not in table_names():
                raise Damaged(f"{self._folder} is damaged: there is no table {name!r}")
            about = sum(int(runs["rows"].sum()) for runs in self._order(name))
            if about <= HELD_ROWS:
                self._held[name] = polars.concat(self._lots(name, None), rechunk=True)
            else:
                schema = next(iter(self._lots(name, None, most=1))).schema
                self._large[name] = schema, about

    def __getitem__(self, name: str) -> polars.DataFrame:
        return self._held[name] if name in self._held else polars.concat(self.lots(name))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._held, *self._large}))

    def __len__(self) -> int:
        return len(self._held) + len(self._large)

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and other processes: all frames, because a temporary folder goes with the original."""
        return dict, ({name: self[name] for name in self},)

    def schema(self, name: str) -> polars.Schema:
        """As of `InLots`."""
        return self._held[name].schema if name in self._held else self._large[name][0]

    def height(self, name: str) -> int:
        """As of `InLots`; of a table that is not held it may be off by those of runs that do not count."""
        return self._held[name].height if name in self._held else self._large[name][1]

    def lots(self, name: str, columns: Sequence[str] | None = None) -> Iterator[polars.DataFrame]:
        """As of `InLots`."""
        if name in self._held:
            yield self._held[name] if columns is None else self._held[name].select(columns)
        elif name in self._large:
            yield from self._lots(name, columns)
        else:
            raise KeyError(name)

    def _order(self, name: str) -> list[polars.DataFrame]:
        """Runs that have a table, in their order, with the part that holds each, its point, and its rows."""
        runs = self._parts.runs_of(name)
        return [
            runs.join(place.select("key", "point", "runs"), on="key", how="inner")
            .filter(polars.col("replication") < polars.col("runs"))
            .sort("point", "replication")
            for place in self._places
        ]

    def _lots(self, name: str, columns: Sequence[str] | None, most: int | None = None) -> Iterator[polars.DataFrame]:
        schema = self._parts.schema(name)
        try:
            for place, order in zip(self._places, self._order(name), strict=True):
                number = (order["rows"].cum_sum() / LOT_ROWS).cast(polars.Int64)
                lots = order.with_columns(lot=number).partition_by("lot", maintain_order=True)
                for runs in lots[:most] or [order]:
                    rows = self._lot(name, runs, place, schema, columns)
                    yield checked(rows, name, self._manifest, self._folder, columns)
        except polars.exceptions.PolarsError as error:
            raise Damaged(f"{self._folder} is damaged: {name}: {error}") from None

    def _lot(
        self,
        name: str,
        runs: polars.DataFrame,
        place: polars.DataFrame,
        schema: polars.Schema,
        columns: Sequence[str] | None,
    ) -> polars.DataFrame:
        """The rows of some runs in their order; of all columns, or of some."""
        varied = place.columns[2:-1]
        own = [column for column in schema if column not in (*RUN_COLUMNS, "key", *varied)]
        scenario, point, *rest = RUN_COLUMNS
        wanted = [scenario, point, *varied, *rest, *own] if columns is None else list(columns)
        stored = [column for column in schema if column in RUN_OF or column in wanted]
        stored = [column for column in stored if column not in (point, *varied)]
        found = [polars.DataFrame(schema={column: schema[column] for column in stored} | {point: polars.Int64})]
        for (part,), mine in runs.group_by("part", maintain_order=True):
            rows = self._parts.read(part, name, stored)
            found.append(rows.join(mine.select(*RUN_OF, point), on=RUN_OF, how="inner", maintain_order="left"))
        frame = polars.concat(found, how="diagonal_relaxed", rechunk=True)
        frame = frame.sort(point, "replication", maintain_order=True)
        if any(column in wanted for column in varied):
            frame = frame.join(place.select(point, *varied), on=point, how="left", maintain_order="left")
        return frame.select(wanted)


def table_names() -> set[str]:
    """The tables that a run may have."""
    return {*metrics.table_meanings(), *metrics.traced_tables()} - {"run"}


def checked(
    frame: polars.DataFrame, name: str, manifest: Manifest, place: Path, chosen: Sequence[str] | None = None
) -> polars.DataFrame:
    """A table, when it has the columns that every table of its name has, and rows of the manifest's points.

    Args:
        frame: the table.
        name: of the table.
        manifest: of its folder.
        place: where it lies.
        chosen: the columns that were read; all of them unless given.

    Raises:
        Damaged: it has not.
    """
    if chosen is None:
        require_columns(frame.schema, name, place, RUN_COLUMNS)
    for column, dtype in RUN_TYPES.items():
        if column in frame.schema and (str(frame.schema[column]) != dtype or frame[column].has_nulls()):
            raise Damaged(f"{place} is damaged: {name} has no column {column!r} of its type")
    require_sound(frame, name, place)
    most = len(manifest.points)
    point = polars.col("point")
    if frame.height and "point" in frame.schema and not frame.select(point.is_between(0, most - 1).all()).item():
        raise Damaged(f"{place} is damaged: {name} has rows of points that there are not")
    return frame


def _places(manifest: Manifest, recorded: Sequence[str]) -> polars.DataFrame:
    """A row for each point: the key of its runs, its number, what was varied, and how many runs belong to it."""
    points = manifest.points
    columns = [
        polars.Series("key", [run_key(point.fingerprint, manifest.seed, recorded) for point in points]),
        polars.Series("point", range(len(points)), polars.Int64),
    ]
    dtypes, units = _dtypes(manifest), _units(manifest)
    of_points = [dict(_columns(units, point)) for point in points]
    columns += [
        polars.Series(name, [values[name] for values in of_points], dtype, strict=False)
        for name, dtype in dtypes.items()
    ]
    counts = [1 if recorded else point.replications for point in points]
    return polars.DataFrame([*columns, polars.Series("runs", counts, polars.Int64)])


def varied_columns(manifest: Manifest) -> list[str]:
    """Names of the columns that say what was varied."""
    return list(_dtypes(manifest))


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
