"""The summary of a run: some columns of its tables, with units, as means over replications.

`[summaries]` of metrics.toml says which. A terminal and a notebook show the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.tables import caveats, lots
from roamsim.tables.metrics import Summary, metrics, summaries, tables_of_events, tables_without_zeros
from roamsim.tables.units import Show, in_unit
from roamsim.tables.values import duration, percent, plain, shown_value

if TYPE_CHECKING:
    import polars

#: What is said under a table with means over what arrived only.
CENSORED = "[missing]: share of messages without a delay, because they had not arrived at the end."

#: Rows that are shown of a table; more are counted (chosen: two screens).
MOST_ROWS = 60

#: Title, name, and how its numbers are shown.
Column = tuple[str, str, Show]

#: Values by column: frames take longer to load than a short run takes.
_Values = dict[str, list[Any]]


@dataclass(frozen=True)
class Overview:
    """What is shown of a table.

    Attributes:
        table: its name.
        heading: what stands above it.
        heads: of the columns.
        words: how many of the columns, the first ones, are of text.
        rows: the cells.
        notes: what is said under it.
        more: rows that are not shown.
    """

    table: str
    heading: str
    heads: list[str]
    words: int
    rows: list[list[str]]
    notes: list[str]
    more: int


def overviews(tables: Mapping[str, polars.DataFrame], replications: int) -> Iterator[Overview]:
    """What is shown of a run's tables, of those that have rows."""
    for shown in summaries():
        if lots.height(tables, shown.table):
            frame = _taken(tables, shown)
            rows, columns = shown.rows, [(title, metric.column, in_unit(metric)) for title, metric in shown.columns]
            if shown.table in tables_of_events():
                frame, rows, columns = _events(frame, shown, columns, replications)
            left_out = ""
            if shown.parts:
                frame, columns = _shares(frame, columns)
            if shown.most is not None:
                frame, left_out = _largest(frame, shown, shown.most)
            filled = replications if shown.table in tables_without_zeros() else 0
            yield _overview(shown, frame, rows, columns, filled, left_out)


def remarks(tables: Mapping[str, polars.DataFrame]) -> list[str]:
    """What a reader has to know of all of them."""
    told = [*caveats.failures(tables).values(), caveats.alike_in_words(tables)]
    return [note for note in told if note]


def _taken(tables: Mapping[str, polars.DataFrame], shown: Summary) -> _Values:
    """The columns of a table that its overview needs, of those that are there."""
    there = lots.names(tables, shown.table)
    counts = [column for _, metric in shown.columns for column in metric.over or ()]
    instants = [column for table, column in tables_of_events().items() if table == shown.table]
    wanted = [*shown.rows, *(metric.column for _, metric in shown.columns), *counts, *instants]
    chosen = [column for column in dict.fromkeys([*wanted, "connection", "replication"]) if column in there]
    found: _Values = {column: [] for column in chosen}
    for row in lots.iter_rows(tables, shown.table, chosen):
        for values, value in zip(found.values(), row, strict=True):
            values.append(value)
    return found


def _groups(frame: _Values, keys: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """The places of rows with equal keys, in the order of their first."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(zip(*(frame[column] for column in keys), strict=True)):
        groups.setdefault(key, []).append(place)
    return groups


def _at(frame: _Values, places: Sequence[int]) -> _Values:
    return {column: [values[place] for place in places] for column, values in frame.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return math.fsum(there) / len(there) if there else None


def _events(
    frame: _Values, shown: Summary, columns: list[Column], replications: int
) -> tuple[_Values, tuple[str, ...], list[Column]]:
    """Of one run each event, with its time; of several a row a run and kind, with their number and means."""
    if replications == 1:
        instants = frame[tables_of_events()[shown.table]]
        begun = ["" if instant is None else duration(instant) for instant in instants]
        return frame | {"begun at": begun}, (*shown.rows, "begun at"), columns
    keys = (*shown.rows, "replication")
    kinds = _groups(frame, keys)
    counted: _Values = {column: [kind[number] for kind in kinds] for number, column in enumerate(keys)}
    for column in frame.keys() - {*keys, "connection"}:
        counted[column] = [_mean([frame[column][place] for place in places]) for places in kinds.values()]
    counted[shown.table] = [float(len(places)) for places in kinds.values()]
    return counted, shown.rows, [(shown.table, shown.table, plain), *columns]


def _shares(frame: _Values, columns: list[Column]) -> tuple[_Values, list[Column]]:
    """The columns as shares of their sum."""
    parts = [frame[column] for _, column, _ in columns]
    wholes = [math.fsum(value for value in row if value is not None) for row in zip(*parts, strict=True)]
    shares = {
        column: [
            None if value is None else value / whole if whole else math.nan
            for value, whole in zip(frame[column], wholes, strict=True)
        ]
        for _, column, _ in columns
    }
    return frame | shares, [(title, column, percent) for title, column, _ in columns]


def _largest(frame: _Values, shown: Summary, most: int) -> tuple[_Values, str]:
    """The rows with the largest values of the first column, in their order, and what is said of the others."""
    title, metric = shown.columns[0]
    groups = _groups(frame, shown.rows)
    sizes = {key: _mean([frame[metric.column][place] for place in places]) or 0.0 for key, places in groups.items()}
    used = sorted((key for key, size in sizes.items() if size > 0), key=lambda key: -sizes[key])
    kept = {place for key in used[:most] for place in groups[key]}
    others = len(used) - most
    note = f"{others:,} more {shown.table}, with less {title}" if others > 0 else ""
    return _at(frame, sorted(kept)), note


def _overview(
    shown: Summary,
    frame: _Values,
    identity: Sequence[str],
    columns: Sequence[Column],
    filled: int,
    left_out: str,
) -> Overview:
    """Means over replications; a group with fewer than so many rows is filled up with zeros. Rows may be left out."""
    keys = [name for name in identity if name in frame]
    # A column without any value (timeouts of UDP) would only widen the table.
    present = [c for c in columns if any(value is not None for value in frame.get(c[1], ()))]
    ended = any(frame.get("connection", ()))
    heads = [*keys, *(["connection"] if ended else [])]
    censored = False
    rows = []
    groups = list(_groups(frame, keys).items())
    for names, places in groups[:MOST_ROWS]:
        mine = _at(frame, places)
        cells = [shown_value(key) if key else "" for key in names]
        if ended:
            cells.append(caveats.connections(mine["connection"]))
        for _, column, show in present:
            values = mine[column]
            cell = _estimate(statistics.mean(values + [0] * (filled - len(values))), show)
            found = [metric for metric in metrics() if (metric.table, metric.column) == (shown.table, column)]
            share = max((caveats.missing(metric, mine) for metric in found), default=0.0)
            if share and cell != "–":
                cell += f" [{caveats.percent(share)} missing]"
                censored = True
            cells.append(cell)
        rows.append(cells)
    notes = [note for note in (CENSORED if censored else "", left_out) if note]
    titles = [*heads, *(title for title, _, _ in present)]
    return Overview(shown.table, shown.heading, titles, len(heads), rows, notes, max(len(groups) - MOST_ROWS, 0))


def _estimate(value: Estimate, show: Show) -> str:
    if value.samples == 0:
        return "–"
    if math.isnan(value.half_width) or value.half_width == 0:
        return show(value.mean)
    return f"{show(value.mean)} ±{show(value.half_width)}"
