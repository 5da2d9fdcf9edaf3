"""What a reader wants to see of a run first: some columns of its tables, in words and units, means over replications.

`[summaries]` of metrics.toml says which. A terminal and a notebook show the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.tables import caveats
from roamsim.tables.metrics import Summary, metrics, summaries, tables_of_events, tables_without_zeros
from roamsim.tables.units import Show, in_unit
from roamsim.tables.values import duration, percent, plain, shown_value

#: What is said under a table with means over what arrived only.
CENSORED = "[missing]: share of messages that had not arrived at the end, and whose delay is in no mean."

#: Rows that are shown of a table; more are counted (chosen: two screens).
MOST_ROWS = 60

#: Title, name, and how its numbers are shown.
Column = tuple[str, str, Show]


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
        frame = tables.get(shown.table)
        if frame is not None and frame.height:
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


def _events(
    frame: polars.DataFrame, shown: Summary, columns: list[Column], replications: int
) -> tuple[polars.DataFrame, tuple[str, ...], list[Column]]:
    """Of one run each event, with its time; of several a row a run and kind, with their number and means."""
    if replications == 1:
        at = polars.col(tables_of_events()[shown.table]).map_elements(duration, return_dtype=polars.String)
        return frame.with_columns(at.alias("begun at")), (*shown.rows, "begun at"), columns
    means = polars.selectors.numeric().exclude("replication", "point", "seed").mean()
    kinds = frame.group_by([*shown.rows, "replication"], maintain_order=True)
    counted = kinds.agg(means, polars.len().cast(polars.Float64).alias(shown.table))
    return counted, shown.rows, [(shown.table, shown.table, plain), *columns]


def _shares(frame: polars.DataFrame, columns: list[Column]) -> tuple[polars.DataFrame, list[Column]]:
    """The columns as shares of their sum."""
    names = [column for _, column, _ in columns]
    whole = polars.sum_horizontal(names)
    return frame.with_columns(polars.col(names) / whole), [(title, column, percent) for title, column, _ in columns]


def _largest(frame: polars.DataFrame, shown: Summary, most: int) -> tuple[polars.DataFrame, str]:
    """The rows with the largest values of the first column, in their order, and what is said of the others."""
    title, metric = shown.columns[0]
    rows = list(shown.rows)
    sizes = frame.group_by(rows, maintain_order=True).agg(polars.col(metric.column).mean().alias("size"))
    used = sizes.filter(polars.col("size") > 0)
    kept = used.sort("size", descending=True, maintain_order=True).head(most)
    others = used.height - kept.height
    note = f"{others:,} more {shown.table}, of less {title}" if others else ""
    return frame.join(kept, on=rows, how="semi", maintain_order="left"), note


def _overview(
    shown: Summary,
    frame: polars.DataFrame,
    identity: Sequence[str],
    columns: Sequence[Column],
    filled: int,
    left_out: str,
) -> Overview:
    """Means over replications; a group with fewer than so many rows is filled up with zeros. Rows may be left out."""
    keys = [name for name in identity if name in frame.columns]
    # A column without any value (timeouts of UDP) would only widen the table.
    present = [c for c in columns if c[1] in frame.columns and frame[c[1]].null_count() < frame.height]
    ended = "connection" in frame.columns and bool((frame["connection"] != "").any())
    heads = [*keys, *(["connection"] if ended else [])]
    censored = False
    rows = []
    groups = list(frame.group_by(keys, maintain_order=True))
    for names, mine in groups[:MOST_ROWS]:
        cells = [shown_value(key) if key else "" for key in names]
        if ended:
            cells.append(caveats.connections(mine["connection"].to_list()))
        for _, column, show in present:
            values = mine[column].to_list()
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
