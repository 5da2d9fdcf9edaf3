"""Tables of a report: means over replications, a row for each point and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    numbers = polars.selectors.numeric().exclude(*RUN_COLUMNS, *keys)
    return results[table].group_by(keys, maintain_order=True).agg(numbers.mean())


def summary(results: Results, table: str, columns: Iterable[str]) -> list[dict[str, Any]]:
    """A row for each point and name: means, with the half-width of the interval where there is one."""
    rows: list[dict[str, Any]] = []
    shares = _shares(results, table)
    for column in columns:
        if table not in results or column not in results[table].columns:
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
                rows[number] |= _ends(results, table, row)
            rows[number][title] = row["mean"]
            if unit == "s" and any(shares) and metrics.numeric(table, column).over:
                rows[number]["messages missing"] = caveats.percent(shares[number]) if shares[number] else ""
            if with_interval:
                rows[number][f"± {column}"] = None if row["low"] is None else (row["high"] - row["low"]) / 2
    return rows


def _shares(results: Results, table: str) -> list[float]:
    """For each point and row the share of messages that means over what arrived are without."""
    metric = next((metric for metric in metrics.metrics() if metric.table == table and metric.over), None)
    if metric is None or table not in results:
        return []
    groups = results[table].group_by(results.keys_of(table), maintain_order=True)
    return [caveats.missing(metric, rows) for _, rows in groups]


def _ends(results: Results, table: str, row: Mapping[str, Any]) -> dict[str, str]:
    """How the connections of a row ended, if it has any."""
    frame = results[table]
    if "connection" not in frame.columns or not (frame["connection"] != "").any():
        return {}
    keys = results.keys_of(table)
    mine = frame.filter(*(polars.col(key).eq_missing(row[key]) for key in keys))
    return {"connection": caveats.connections(mine["connection"].to_list())}
