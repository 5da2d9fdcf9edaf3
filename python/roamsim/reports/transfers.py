"""Transfers that arrive: completion times by size, as a table and as a distribution."""

from __future__ import annotations

from typing import Any

import polars

from roamsim.estimates.summaries import MEANS, summary
from roamsim.pages.page import Report
from roamsim.storing.store import Results

#: What the table tells of each class of sizes.
COLUMNS = (
    "begun",
    "completed",
    "failed",
    "refused",
    "mean_completion_time_s",
    "median_completion_time_s",
    "p95_completion_time_s",
    "p99_completion_time_s",
    "longest_completion_time_s",
)


def report(page: Report, results: Results) -> None:
    """A table of completion times by size, and their distribution for each flow."""
    if not results.height("transfers"):
        return
    page.heading("Transfers")
    page.table(summary(results, "transfers", COLUMNS), f"transfers: completion times by size; {MEANS}")
    if not results.height("transfer_times"):
        return
    drawn = distribution(results)
    for (name,), flow in drawn.group_by(["name"], maintain_order=True):
        page.figure(
            f"transfer-times-{name}",
            _chart(flow.drop("name")),
            f"Completion times of {name}: share of completed transfers that took this long or shorter",
            "Of all replications together; a step of the line is 1.6 % of the time wide at most.",
        )


def distribution(results: Results) -> polars.DataFrame:
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
    varied = [key for key in keys if key not in ("point", "name", "sizes")]
    return steps.with_columns(
        polars.struct("sizes", *(["point", *varied] if points else []))
        .map_elements(lambda row: _series(row, varied if points else []), return_dtype=polars.String)
        .alias("series")
    ).select("name", "series", "completion_time_s", "share")


def _series(row: dict[str, Any], varied: list[str]) -> str:
    return ", ".join([row["sizes"], *(f"{key} = {row[key]}" for key in varied)])


def _chart(frame: polars.DataFrame) -> dict[str, Any]:
    import altair

    chart = (
        altair.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=altair.X(
                "completion_time_s", type="quantitative", title="completion time [s]", scale=altair.Scale(type="log")
            ),
            y=altair.Y("share", type="quantitative", title="share of transfers", scale=altair.Scale(domain=[0, 1])),
            color=altair.Color("series", type="nominal", title="size", sort=None),
        )
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec
