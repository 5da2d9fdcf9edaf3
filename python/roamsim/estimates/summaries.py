"""Tables of a report: means over replications, a row for each point and name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import polars

from roamsim.estimates.intervals import estimates
from roamsim.storing.store import Results
from roamsim.tables import caveats, metrics
from roamsim.tables.cells import estimated
from roamsim.tables.labels import in_words
from roamsim.tables.result import RUN_COLUMNS, keys_within
from roamsim.tables.words import VARIED_UNITS, brief_words, metric_words, titled, value_words

#: What the tables of sweeps tell where the results have it.
TABLES = (
    (
        "flows",
        (
            "goodput_bps",
            "loss_ratio",
            "mean_delay_s",
            "p95_delay_s",
            "jitter_s",
            "completion_time_s",
            "retransmissions",
        ),
    ),
    ("percentiles", ("delay_s",)),
    ("video", ("decodable_share", "mean_frame_delay_s")),
    (
        "signalling",
        ("success_rate", "mean_delay_s", "p95_delay_s", "overhead", "tcp_segments_per_message", "load_bps"),
    ),
    ("links", ("utilisation", "mean_queue_packets")),
    ("queues", ("mean_wait_s", "p99_wait_s")),
    ("ecn", ("marked_packets", "reductions")),
    ("external", ("offered_packets", "emitted_packets")),
)

#: What the captions of summaries say.
MEANS = "means over replications, with the 95 % interval"


def titles(table: str, columns: Iterable[str]) -> dict[str, str]:
    """The headings of a table's columns in words, numbers with their unit."""
    known = {metric.column: metric for metric in metrics.metrics() if metric.table == table}
    return {name: titled(metric_words(known[name]), known[name].unit or "") for name in columns if name in known}


def of_runs(results: Results, *, first: bool = False) -> str:
    """What is said behind the name of a table or figure of means; nothing of the only run.

    Args:
        results: of all runs.
        first: whether it is of the first point alone.
    """
    several = any(point.replications > 1 for point in results.manifest.points)
    said = ["means over replications"] if several else []
    said += ["first point"] if first and len(results.manifest.points) > 1 else []
    return f": {', '.join(said)}" if said else ""


def worded(table: str, frame: polars.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table for readers: headings in words, numbers in units that suit them, no column without anything."""
    known = {metric.column: metric for metric in metrics.metrics() if metric.table == table}
    columns: dict[str, Sequence[Any]] = {}
    for column in frame:
        metric = known.get(column.name)
        values = column.to_list()
        if all(value in (None, "") for value in values) or column.name in _numbers_of(frame.columns):
            continue
        if metric is None or metric.unit is None or not column.dtype.is_numeric():
            columns[metric_words(metric) if metric else _short(column.name)] = values
        else:
            heading, cells = estimated(metric, values, values, values)
            columns[heading] = cells
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _numbers_of(columns: Sequence[str]) -> set[str]:
    """The columns that hold as numbers what another one holds as it was given, such as `a.b_bytes` beside `a.b`."""
    return {f"{column}_{unit}" for column in columns if "." in column for unit in VARIED_UNITS}


def _short(column: str) -> str:
    """A heading for a column; of a varied path its last two steps."""
    return " ".join(column.split(".")[-2:]).replace("_", " ")


def means(results: Results, table: str) -> polars.DataFrame:
    """The means of a table's numbers over replications."""
    keys = [key for key in results.keys_of(table) if key != "point" or len(results.manifest.points) > 1]
    numbers = [name for name, dtype in results.schema(table).items() if dtype.is_numeric()]
    # One after the other: of a large table no more is read at a time.
    of_columns = [
        results.columns(table, [*keys, name]).group_by(keys, maintain_order=True).agg(polars.col(name).mean())
        for name in numbers
        if name not in (*RUN_COLUMNS, *keys)
    ]
    return polars.concat(
        [of_columns[0], *(found.select(found.columns[-1]) for found in of_columns[1:])], how="horizontal"
    )


def summary(results: Results, table: str, columns: Iterable[str]) -> list[dict[str, Any]]:
    """A row for each point and row of the table: what tells it from the others, then means with intervals."""
    if not results.height(table):
        return []
    rows: list[dict[str, Any]] = []
    shares, ends = _shares(results, table), _ends(results, table)
    for column in columns:
        if column not in results.schema(table):
            continue
        found = estimates(results, table, column)
        if found["mean"].is_null().all():
            continue
        metric = metrics.numeric(table, column)
        if not rows:
            rows = keys(results, table, found)
            for row, end in zip(rows, ends, strict=bool(ends)):
                row["connection"] = end
        heading, cells = estimated(metric, *(found[name].to_list() for name in ("mean", "low", "high")))
        censored = metric.over and any(shares)
        for row, cell, share in zip(rows, cells, shares or [0.0] * len(rows), strict=True):
            row[heading] = cell
            if censored:
                row["messages missing"] = caveats.percent(share) if share else ""
    return _without_repeats(rows)


def _without_repeats(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without the columns of text in which all say the same; the name stays where nothing else tells them."""
    if len(rows) < 2:
        return rows
    same = {
        key for key, value in rows[0].items() if isinstance(value, str) and all(row[key] == value for row in rows)
    }
    texts = [key for key, value in rows[0].items() if isinstance(value, str)]
    same -= {"name"} if same >= set(texts) else set()
    return [{key: value for key, value in row.items() if key not in same} for row in rows]


def dropped(results: Results) -> list[dict[str, Any]]:
    """What was dropped where and why, in all replications of each point."""
    by = results.keys_of("drops")
    packets = results.columns("drops", [*by, "packets", "bytes"])
    counts = packets.group_by(by, maintain_order=True).agg(polars.col("packets", "bytes").sum())
    # What was varied may be called packets, or bytes, as well.
    dropped = counts.select(polars.col("packets").alias("dropped, packets"), polars.col("bytes").alias("dropped, B"))
    return [key | row for key, row in zip(keys(results, "drops", counts), dropped.to_dicts(), strict=True)]


def keys(results: Results, table: str, found: polars.DataFrame) -> list[dict[str, Any]]:
    """What tells rows apart, in short: the values of what was varied, and what the row is of."""
    paths = [path for path in results.varied if path in found.columns and found[path].n_unique() > 1]
    told = [polars.Series(brief_words(path, paths), [value_words(value) for value in found[path]]) for path in paths]
    if "point" in found.columns and len(results.manifest.points) > 1 and not paths:
        told.append(found["point"])
    told.append(in_words(found, keys_within(table)).alias("name"))
    return [dict(row) for row in polars.DataFrame(told).iter_rows(named=True)]


def _shares(results: Results, table: str) -> list[float]:
    """For each point and row the share of messages that means over what arrived are without."""
    metric = next((metric for metric in metrics.metrics() if metric.table == table and metric.over), None)
    if metric is None or metric.over is None:
        return []
    return caveats.shares(results, table, metric, results.keys_of(table))


def _ends(results: Results, table: str) -> list[str]:
    """For each point and row how its connections ended, in words; empty where there are none."""
    if "connection" not in results.schema(table):
        return []
    keys = results.keys_of(table)
    ends: dict[tuple[Any, ...], Counter[str | None]] = {}
    for rows in results.lots(table, [*keys, "connection"]):
        for *key, end, count in rows.group_by([*keys, "connection"], maintain_order=True).len().iter_rows():
            ends.setdefault(tuple(key), Counter())[end] += count
    told = [caveats.connections(ended) for ended in ends.values()]
    return told if any(told) else []
