"""At which rates data frames were sent, where rates adapt."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

import polars

from roamsim.estimates.summaries import means, titles
from roamsim.pages.page import Report
from roamsim.pictures.paper import write_figure
from roamsim.storing.store import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        drawn = io.BytesIO()
        write_figure(partial(draw, own), drawn, ".svg")
        which = "means over the runs" + (" of the first point" if several else "")
        page.picture(f"rates-{name}", drawn.getvalue().decode(), f"{name}: attempts by rate, {which}", _note(own))
    page.table(rates.rename(titles("wifi_rates", rates.columns)), "wifi_rates: means over replications")


def _pairs(rates: polars.DataFrame) -> polars.DataFrame:
    """Transmitters and receivers between which anything was sent: attempts, failed ones, and the mean rate."""
    mean = (polars.col("rate_bps") * polars.col("attempts")).sum() / polars.col("attempts").sum()
    pairs = rates.group_by("from", "to", maintain_order=True).agg(
        polars.col("attempts").sum(), polars.col("failed_attempts").sum(), mean.alias("mean_bps")
    )
    return pairs.filter(polars.col("attempts") > 0)


def draw(rates: polars.DataFrame) -> Figure:
    """For each transmitter and receiver a bar, by rates; of each rate in pale what was not answered."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    pairs = _pairs(rates).head(MAX_PAIRS)
    steps = sorted(set(rates["rate_bps"].to_list()))
    figure = Figure(figsize=(9.0, 0.28 * pairs.height + 1.2), layout="constrained")
    axes = figure.subplots()
    colours = colormaps["viridis"]
    places = list(range(pairs.height))
    left = [0.0] * pairs.height
    for number, rate_bps in enumerate(steps):
        of_rate = pairs.select("from", "to").join(
            rates.filter(polars.col("rate_bps") == rate_bps), on=["from", "to"], how="left", maintain_order="left"
        )
        colour = colours(0.05 + 0.9 * number / max(1, len(steps) - 1))
        for column, alpha in (("answered", 1.0), ("failed_attempts", 0.35)):
            counted = of_rate.with_columns(answered=polars.col("attempts") - polars.col("failed_attempts"))
            widths = [
                100 * value / total
                for value, total in zip(counted[column].fill_null(0), pairs["attempts"], strict=True)
            ]
            label = f"{rate_bps / 1e6:g} Mb/s" if column == "answered" else None
            axes.barh(places, widths, left=left, height=0.7, color=colour, alpha=alpha, label=label)
            left = [begin + width for begin, width in zip(left, widths, strict=True)]
    axes.set_yticks(places, [f"{row['from']} to {row['to']}" for row in pairs.to_dicts()])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the attempts; pale: without an answer")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=len(steps), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8)
    return figure


def _note(rates: polars.DataFrame) -> str:
    pairs = _pairs(rates)
    told = [
        f"{row['from']} to {row['to']}: {row['attempts']:,.0f} attempts, {row['mean_bps'] / 1e6:.1f} Mb/s in the mean"
        for row in pairs.head(4).to_dicts()
    ]
    left_out = pairs.height - MAX_PAIRS
    more = [f"{left_out} pairs are in the table alone"] if left_out > 0 else []
    return "; ".join(told + more) + "."
