"""Means of a column over replications with intervals that stay where the column's values can be."""

from __future__ import annotations

import polars

from roamsim import statistics
from roamsim.storing.store import Results
from roamsim.tables.metrics import numeric


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
        of, trials = metric.counts
        keys = [key for key in results.keys_of(table) if key in there]
        frame = results.columns(table, [*keys, of, trials])
        groups = frame.drop_nulls([of, trials]).group_by(keys, maintain_order=True).agg(of, trials)
        pairs = zip(groups[of], groups[trials], strict=True)
        shares = [statistics.share(_whole(one), _whole(all_of_them)) for one, all_of_them in pairs]
        ends = polars.DataFrame(
            {name: [getattr(one, name) for one in shares] for name in ("mean", "low", "high", "samples")},
            schema={"mean": polars.Float64, "low": polars.Float64, "high": polars.Float64, "samples": polars.Int64},
        ).with_columns(polars.col("mean", "low", "high").fill_nan(None))
        found = found.select(keys).join(
            groups.select(keys).hstack(ends), on=keys, how="left", maintain_order="left", nulls_equal=True
        )
        # A replication without a trial has no share; a point of such has none either.
        return found.with_columns(polars.col("samples").fill_null(0))
    bounded, values = found, results.columns(table, [column])[column]
    if not (values < 0).any():
        bounded = bounded.with_columns(polars.col("low").clip(lower_bound=0.0))
        if metric.share and not (values > 1).any():
            bounded = bounded.with_columns(polars.col("high").clip(upper_bound=1.0))
    return bounded


def _whole(counts: polars.Series) -> list[int]:
    return [int(count) for count in counts]
