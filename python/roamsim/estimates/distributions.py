"""Distributions of delays and completion times: the share done within each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.estimates.curves import delays
from roamsim.storing.store import Results, point_label


@dataclass(frozen=True)
class Distribution:
    """Shares to draw as steps.

    Attributes:
        frame: columns `series`, `time_s` in ascending order within a series, and `share`.
        x_title: what the times are.
        y_title: what the shares are of.
    """

    frame: polars.DataFrame
    x_title: str
    y_title: str


def transactions(results: Results) -> Distribution:
    """Delays of MIH transactions: of all of them, so that a series ends at the share that succeeded."""
    frame = delays(results).rename({"name": "series", "delay_s": "time_s"})
    return Distribution(frame, "delay", "share of transactions done")


def messages(results: Results) -> Distribution:
    """Delays of the messages that each flow delivered, of all replications that were recorded.

    Raises:
        UsageError: no messages were recorded.
    """
    recorded = results.tables.get("messages")
    if recorded is None or not recorded.height:
        raise UsageError("no messages were recorded; run again with --trace messages --parquet DIR")
    series = [
        _series(results, name, point if recorded["point"].n_unique() > 1 else None)
        for name, point in recorded.select("name", "point").iter_rows()
    ]
    frame = (
        recorded.select(series=polars.Series(series), time_s="delay_s")
        .sort("series", "time_s", maintain_order=True)
        .with_columns(share=polars.int_range(1, polars.len() + 1).over("series") / polars.len().over("series"))
    )
    return Distribution(frame, "delay", "share of delivered messages")


def transfers(results: Results) -> Distribution:
    """Completion times of transfers, of all replications and sizes.

    Raises:
        UsageError: no transfer was completed.
    """
    table = results.tables.get("transfer_times")
    if table is None or not table.height:
        raise UsageError("the results have no transfers that were completed")
    several = table["name"].n_unique() > 1
    found = of_transfers(results)
    series = [f"{name}, {told}" if several else told for name, told in found.select("name", "series").iter_rows()]
    frame = found.select(series=polars.Series(series), time_s="completion_time_s", share="share")
    return Distribution(frame, "completion time", "share of completed transfers")


#: What `roamsim plot` draws as a distribution, by its table.
DISTRIBUTIONS = {"transactions": transactions, "messages": messages, "transfer_times": transfers}


def of_transfers(results: Results) -> polars.DataFrame:
    """The share of completed transfers within each time, of all replications, for each point and class of sizes."""
    points = len(results.manifest.points) > 1
    keys = results.keys_of("transfer_times")
    steps = (
        results.columns("transfer_times", [*keys, "replication", "completion_time_s", "completed"])
        .with_columns(
            (
                polars.col("completed") - polars.col("completed").shift(1, fill_value=0).over([*keys, "replication"])
            ).alias("new")
        )
        .group_by([*keys, "completion_time_s"], maintain_order=True)
        .agg(polars.col("new").sum())
        .sort([*keys, "completion_time_s"], maintain_order=True)
        .with_columns((polars.col("new").cum_sum().over(keys) / polars.col("new").sum().over(keys)).alias("share"))
    )

    def series(row: dict[str, Any]) -> str:
        return _series(results, row["sizes"], row["point"] if points else None)

    named = polars.struct("sizes", "point").map_elements(series, return_dtype=polars.String)
    return steps.with_columns(named.alias("series")).select("name", "series", "completion_time_s", "share")


def _series(results: Results, name: str, point: int | None) -> str:
    """What a series is of: a name, and of several points what tells its own from the others."""
    return name if point is None else ", ".join(filter(None, (name, point_label(results.manifest, point))))
