"""Transfers that arrive: completion times by size, as a table and as a distribution."""

from __future__ import annotations

from typing import Any

import polars

from roamsim.estimates.distributions import of_transfers
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
    drawn = of_transfers(results)
    for (name,), flow in drawn.group_by(["name"], maintain_order=True):
        page.figure(
            f"transfer-times-{name}",
            _chart(flow.drop("name")),
            f"Completion times of {name}: share of completed transfers that took this long or shorter",
            "Of all replications together; each step of the line is at most 1.6 % of the time wide.",
        )


def _chart(frame: polars.DataFrame) -> dict[str, Any]:
    import altair

    chart = (
        altair.Chart(frame)
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=altair.X(
                "completion_time_s", type="quantitative", title="completion time, s", scale=altair.Scale(type="log")
            ),
            y=altair.Y("share", type="quantitative", title="share of transfers", scale=altair.Scale(domain=[0, 1])),
            color=altair.Color("series", type="nominal", title="size", sort=None),
        )
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec
