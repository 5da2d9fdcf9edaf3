"""Tables of a report: means over replications, a row for each point and name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import polars

from roamsim.storing.store import Results
from roamsim.tables import caveats, metrics
from roamsim.tables.result import RUN_COLUMNS

#: What the captions of summaries say.
MEANS = "means over replications; ± is the half-width of the 95 % interval"


def titles(table: str, columns: Iterable[str]) -> dict[str, str]:
    """The headings of a table's columns: with their unit where they have one."""
    units = {metric.column: metric.unit for metric in metrics.metrics() if metric.table == table}
    return {column: f"{column} [{units[column]}]" for column in columns if units.get(column)}


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
    """A row for each point and name: means, with the half-width of the interval where there is one."""
    rows: list[dict[str, Any]] = []
    if table not in results:
        return rows
    shares, ends = _shares(results, table), _ends(results, table)
    for column in columns:
        if column not in results.schema(table):
            continue
        estimates = results.estimate(table, column)
        if estimates["mean"].is_null().all():
            continue
        unit = metrics.numeric(table, column).unit
        title = f"{column} [{unit}]" if unit else column
        with_interval = estimates["low"].is_not_null().any()
        for number, row in enumerate(estimates.to_dicts()):
            if number == len(rows):
                hidden = {"mean", "low", "high", "samples"} | (
                    {"point"} if len(results.manifest.points) == 1 else set()
                )
                rows.append({key: value for key, value in row.items() if key not in hidden})
                rows[number] |= {"connection": ends[number]} if ends else {}
            rows[number][title] = row["mean"]
            if unit == "s" and any(shares) and metrics.numeric(table, column).over:
                rows[number]["messages missing"] = caveats.percent(shares[number]) if shares[number] else ""
            if with_interval:
                rows[number][f"± {column}"] = None if row["low"] is None else (row["high"] - row["low"]) / 2
    return rows


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
