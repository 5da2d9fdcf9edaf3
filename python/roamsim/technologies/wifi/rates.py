"""Rates of data frames in cells with rate adaptation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars

from roamsim.estimates.summaries import means, of_runs, worded
from roamsim.pictures.bars import Bars, specification
from roamsim.storing.store import Results
from roamsim.tables.words import count

if TYPE_CHECKING:
    from roamsim.pages.page import Report

#: More pairs of transmitter and receiver than that are not drawn (chosen: they fill a page); the table has all.
MAX_PAIRS = 40


def report(page: Report, results: Results) -> None:
    """The shares of rates in the attempts of each transmitter to each receiver; the first point of a sweep."""
    if not results.height("wifi_rates"):
        return
    rates = means(results, "wifi_rates")
    several = len(results.manifest.points) > 1
    shown = rates.filter(point=0) if several else rates
    for (name,), own in shown.group_by("name", maintain_order=True):
        if not own["attempts"].sum():
            continue
        caption = f"Attempts of {name} by rate{of_runs(results, first=True)}"
        page.figure(f"rates-{name}", draw(own), caption, _note(own))
    page.table(worded("wifi_rates", rates), f"wifi_rates{of_runs(results)}")


def _pairs(rates: polars.DataFrame) -> polars.DataFrame:
    """Transmitters and receivers between which anything was sent: attempts, failed ones, and the mean rate."""
    mean = (polars.col("rate_bps") * polars.col("attempts")).sum() / polars.col("attempts").sum()
    pairs = rates.group_by("from", "to", maintain_order=True).agg(
        polars.col("attempts").sum(), polars.col("failed_attempts").sum(), mean.alias("mean_bps")
    )
    return pairs.filter(polars.col("attempts") > 0)


def draw(rates: polars.DataFrame) -> dict[str, Any]:
    """For each transmitter and receiver a bar, by rates; of each rate in pale what was not answered."""
    pairs = _pairs(rates).head(MAX_PAIRS)
    answered: dict[str, list[float]] = {}
    failed: dict[str, list[float]] = {}
    for rate_bps in sorted(set(rates["rate_bps"].to_list())):
        of_rate = pairs.select("from", "to", total="attempts").join(
            rates.filter(polars.col("rate_bps") == rate_bps), on=["from", "to"], how="left", maintain_order="left"
        )
        share = 100 / polars.col("total")
        counted = of_rate.with_columns(polars.col("attempts", "failed_attempts").fill_null(0))
        part = f"{rate_bps / 1e6:g} Mb/s"
        answered[part] = (
            counted.select(share * (polars.col("attempts") - polars.col("failed_attempts"))).to_series().to_list()
        )
        failed[part] = counted.select(share * polars.col("failed_attempts")).to_series().to_list()
    names = [f"{row['from']} to {row['to']}" for row in pairs.to_dicts()]
    title = "attempts, %; pale: unanswered"
    return specification([Bars(title, names, answered, pale=failed, pale_words="unanswered", most=100.0)])


def _note(rates: polars.DataFrame) -> str:
    pairs = _pairs(rates)
    told = [
        f"{row['from']} to {row['to']}: {count(row['attempts'], 'attempt', ',.0f')}, "
        f"{row['mean_bps'] / 1e6:.1f} Mb/s in the mean"
        for row in pairs.head(4).to_dicts()
    ]
    left_out = pairs.height - MAX_PAIRS
    more = [f"{count(left_out, 'more pair')} in the table alone"] if left_out > 0 else []
    return "; ".join(told + more) + "."
