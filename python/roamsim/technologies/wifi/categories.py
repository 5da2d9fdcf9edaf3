"""EDCA access categories: attempts, internal collisions, and time in contention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars

from roamsim.estimates.summaries import means, of_runs, worded
from roamsim.pictures.bars import parts_of, specification
from roamsim.storing.store import Results
from roamsim.technologies.wifi.airtime import ATTEMPTS

if TYPE_CHECKING:
    from roamsim.pages.page import Report

#: More categories of nodes than that are not drawn (chosen: they fill a page); the table has all.
MAX_BARS = 40

#: How often another category of the node went first; how long a frame contended before an attempt, in the mean.
COLLISIONS = {"internal_collisions": ("internal collisions", "#b279a2")}
DELAY = {"contention_ms": ("contending", "#eeca3b")}


def report(page: Report, results: Results) -> None:
    """The categories of each cell's nodes; the first point of a sweep."""
    if not results.height("wifi_categories"):
        return
    categories = means(results, "wifi_categories")
    several = len(results.manifest.points) > 1
    shown = categories.filter(point=0) if several else categories
    for (name,), own in shown.group_by("name", maintain_order=True):
        used = own.filter(polars.col("attempts") > 0)
        if not used.height:
            continue
        caption = f"Access categories of {name}{of_runs(results, first=True)}"
        page.figure(f"categories-{name}", draw(used), caption, _note(used))
    page.table(worded("wifi_categories", categories), f"wifi_categories{of_runs(results)}")


def draw(categories: polars.DataFrame) -> dict[str, Any]:
    """For each node and category that sent: attempts, internal collisions, and how long its frames contended."""
    shown = _busiest(categories).with_columns(
        answered_attempts=polars.col("attempts") - polars.col("failed_attempts"),
        contention_ms=1e3 * polars.col("contention_s") / polars.col("attempts"),
    )
    names = [f"{row['node']}, {row['category']}" for row in shown.to_dicts()]
    collided = (
        [parts_of("internal collisions", shown, names, COLLISIONS)] if shown["internal_collisions"].sum() else []
    )
    return specification(
        [
            parts_of("attempts", shown, names, ATTEMPTS),
            *collided,
            parts_of("contending, ms an attempt", shown, names, DELAY),
        ]
    )


def _busiest(categories: polars.DataFrame) -> polars.DataFrame:
    """Those with most attempts, in their order."""
    return categories.with_row_index("place").sort("attempts", descending=True).head(MAX_BARS).sort("place")


def _note(categories: polars.DataFrame) -> str:
    """Of each category, over all nodes, how long frames contended; and what the picture leaves out."""
    attempts, contention_s = polars.col("attempts").sum(), polars.col("contention_s").sum()
    by_category = categories.group_by("category", maintain_order=True).agg(mean_ms=1e3 * contention_s / attempts)
    told = [f"{row['category']} {row['mean_ms']:.2f} ms" for row in by_category.sort("category").to_dicts()]
    left_out = categories.height - MAX_BARS
    more = f" {left_out} with fewer attempts are in the table alone." if left_out > 0 else ""
    return f"Before an attempt frames contended in the mean: {', '.join(told)}.{more}"
