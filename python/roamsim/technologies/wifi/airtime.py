"""What the time of Wi-Fi cells was used for, and by whom."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

import polars

from roamsim.estimates.summaries import means, titles
from roamsim.pages.page import Report
from roamsim.pictures.bars import stacked_bars
from roamsim.pictures.paper import write_figure
from roamsim.storing.store import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The parts of a cell's time, their names and colours; they add up to the run.
MEDIUM = {
    "data_s": ("data", "#4c78a8"),
    "control_s": ("ACK, RTS, CTS", "#72b7b2"),
    "management_s": ("management", "#b279a2"),
    "collision_s": ("collisions", "#e45756"),
    "backoff_s": ("back-off and interframe spaces", "#eeca3b"),
    "idle_s": ("idle", "#d6d9dc"),
}

#: The parts of a radio's airtime.
RADIO = {
    "data_s": ("data", "#4c78a8"),
    "control_s": ("ACK, RTS, CTS", "#72b7b2"),
    "management_s": ("management", "#b279a2"),
    "lost_s": ("not understood", "#e45756"),
}

#: How long packets at the head of a radio's queue waited for the medium. These times of several radios overlap.
CONTENTION = {"contention_s": ("contending", "#eeca3b")}

#: What became of a radio's attempts.
ATTEMPTS = {
    "answered_attempts": ("answered", "#4c78a8"),
    "failed_attempts": ("without answer", "#e45756"),
}

#: More radios than that are not told apart in a picture (chosen: they fill a page); the table has all.
MAX_RADIOS = 40


def report(page: Report, results: Results) -> None:
    """The time of each cell, and of its radios airtime, contention, and attempts with those that failed."""
    cells, radios = means(results, "wifi"), means(results, "wifi_stations")
    several = len(results.manifest.points) > 1
    shown = cells.filter(point=0) if several else cells
    for row in shown.to_dicts():
        own = radios.filter(name=row["name"])
        own = own.filter(point=0) if several else own
        drawn = io.BytesIO()
        write_figure(partial(draw, polars.DataFrame([row]), own), drawn, ".svg")
        which = "means over the runs" + (" of the first point" if several else "")
        page.picture(
            f"airtime-{row['name']}", drawn.getvalue().decode(), f"{row['name']}: airtime, {which}", _note(own)
        )
    page.table(cells.rename(titles("wifi", cells.columns)), "wifi: means over replications")
    page.table(radios.rename(titles("wifi_stations", radios.columns)), "wifi_stations: means over replications")


def draw(cell: polars.DataFrame, radios: polars.DataFrame) -> Figure:
    """The shares of a cell's time above; below, for each radio, its airtime, its contention and its attempts."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    shown = _busiest(radios)
    names = shown["node"].to_list()
    total_s = sum(cell[column][0] for column in MEDIUM)
    radios_height = 0.24 * shown.height + 0.6
    figure = Figure(figsize=(9.0, 1.9 + radios_height), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.0, radios_height + 0.7])
    above, below = parts
    medium = above.subplots()
    stacked_bars(medium, cell, ["medium"], MEDIUM, 100 / total_s)
    medium.set_xlim(0, 100)
    medium.set_xlabel("% of the run")
    airtime, contention, attempts = below.subplots(1, 3, sharey=True, width_ratios=[3, 2, 2])
    stacked_bars(airtime, shown, names, RADIO, 100 / total_s)
    airtime.set_xlabel("airtime, % of the run")
    stacked_bars(contention, shown, names, CONTENTION, 100 / total_s)
    contention.set_xlabel("contending, % of the run")
    contention.set_xlim(0, 100)
    counts = shown.with_columns(answered_attempts=polars.col("attempts") - polars.col("failed_attempts"))
    stacked_bars(attempts, counts, names, ATTEMPTS, 1.0)
    attempts.set_xlabel("attempts")
    attempts.xaxis.set_major_locator(MaxNLocator(4))
    for axes in (medium, airtime, attempts):
        axes.legend(ncols=len(MEDIUM), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8)
    airtime.invert_yaxis()  # of all three, which share it
    return figure


def _busiest(radios: polars.DataFrame) -> polars.DataFrame:
    """The radios with most airtime, in their order."""
    airtime = polars.sum_horizontal(*RADIO)
    return radios.with_row_index("place").sort(airtime, descending=True).head(MAX_RADIOS).sort("place")


def _note(radios: polars.DataFrame) -> str:
    attempts, failed = sum(radios["attempts"].to_list()), sum(radios["failed_attempts"].to_list())
    share = f"{100 * failed / attempts:.1f} %" if attempts else "none"
    told = f"{attempts:,.0f} attempts, {share} of them without an answer."
    left_out = radios.height - MAX_RADIOS
    return told + (f" {left_out} radios with less airtime are in the table alone." if left_out > 0 else "")
