"""Means over replications, with intervals that stay within the range of possible values."""

from __future__ import annotations

from typing import Any

import polars

from roamsim import statistics
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target, numeric


def estimates(results: Results, table: str, column: str) -> polars.DataFrame:
    """As `results.estimate`, but for intervals that reach where no value can be.

    Of a share of counted trials the interval is Wilson's (`statistics.share`), and its mean that of all trials. Of
    others it is Student's, which ends at 0 where no value is below, and at 1 of a share: what is beyond is
    impossible, so the interval covers the true mean as often without it.
    """
    metric = numeric(table, column)
    there = results.schema(table)
    found = results.estimate(table, column)
    if metric.counts and set(metric.counts) <= set(there):
        keys = [key for key in results.keys_of(table) if key in there]
        ends = _shares(results, table, keys, metric.counts)
        found = found.select(keys).join(ends, on=keys, how="left", maintain_order="left", nulls_equal=True)
        # A replication without a trial has no share; a point of such has none either.
        return found.with_columns(polars.col("samples").fill_null(0))
    least, most = _ends(results, table, column)
    if least >= 0:
        found = found.with_columns(polars.col("low").clip(lower_bound=0.0))
        if metric.share and most <= 1:
            found = found.with_columns(polars.col("high").clip(upper_bound=1.0))
    return found


def estimates_of(results: Results, target: Target) -> polars.DataFrame:
    """As `estimates`, of the rows that a metric is about; of an index of fairness, which no mean of rows gives."""
    if not target.fairness:
        return target.rows(estimates(results, target.table, target.column))
    of_runs = Results(results.path, results.manifest, {target.table: target.rows(results[target.table])})
    return estimates(of_runs, target.table, target.column).with_columns(polars.col("high").clip(upper_bound=1.0))


def _shares(results: Results, table: str, keys: list[str], counts: tuple[str, str]) -> polars.DataFrame:
    """For each combination of keys the share of counted trials, with its interval."""
    of, trials = counts
    samples: dict[tuple[Any, ...], list[polars.DataFrame]] = {}
    for rows in results.lots(table, [*keys, *counts]):
        for key, group in rows.drop_nulls(counts).group_by(keys, maintain_order=True):
            samples.setdefault(key, []).append(group.select(counts))
    shares = [
        statistics.share([int(count) for count in rows[of]], [int(count) for count in rows[trials]])
        for rows in map(polars.concat, samples.values())
    ]
    schema = {"mean": polars.Float64, "low": polars.Float64, "high": polars.Float64, "samples": polars.Int64}
    ends = polars.DataFrame({name: [getattr(share, name) for share in shares] for name in schema}, schema=schema)
    names = polars.DataFrame(list(samples), {key: results.schema(table)[key] for key in keys}, orient="row")
    return names.hstack(ends).with_columns(polars.col("mean", "low", "high").fill_nan(None))


def _ends(results: Results, table: str, column: str) -> tuple[float, float]:
    """The least and the largest value of a column."""
    of_lots = [(lot[column].min(), lot[column].max()) for lot in results.lots(table, [column])]
    least = [float(low) for low, _ in of_lots if isinstance(low, int | float)]
    most = [float(high) for _, high in of_lots if isinstance(high, int | float)]
    return min(least, default=0.0), max(most, default=0.0)
