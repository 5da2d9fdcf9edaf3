"""Wi-Fi cells: what their time was used for, and by whom, in a report."""

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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The parts of a cell's time, their names and colours; they add up to the run.
MEDIUM = {
    "data_s": ("data", "#4c78a8"),
    "control_s": ("ACK, RTS, CTS", "#72b7b2"),
    "collision_s": ("collisions", "#e45756"),
    "backoff_s": ("back-off and interframe spaces", "#eeca3b"),
    "idle_s": ("idle", "#d6d9dc"),
}

#: The parts of a radio's airtime.
RADIO = {
    "data_s": ("data", "#4c78a8"),
    "control_s": ("ACK, RTS, CTS", "#72b7b2"),
    "lost_s": ("not understood", "#e45756"),
}

#: More radios than that are not told apart in a picture (chosen: they fill a page); the table has all.
MAX_RADIOS = 40


def report(page: Report, results: Results) -> None:
    """The time of each cell and the airtime of its radios, with attempts and those that failed."""
    if "wifi" not in results or not results["wifi"].height:
        return
    page.heading("Wi-Fi")
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
    """The shares of a cell's time above, and those of each radio's airtime below."""
    from matplotlib.figure import Figure

    shown = _busiest(radios)
    total_s = sum(cell[column][0] for column in MEDIUM)
    height = 1.3 + 0.24 * shown.height + 0.9
    figure = Figure(figsize=(7.2, height), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=False, height_ratios=[1.1, 0.24 * shown.height + 0.6])
    _bars(above, cell, ["medium"], MEDIUM, total_s)
    _bars(below, shown, shown["node"].to_list(), RADIO, total_s)
    above.set_xlim(0, 100)
    below.set_xlabel("% of the run")
    above.legend(ncols=len(MEDIUM), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    below.legend(ncols=len(RADIO), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return figure


def _bars(
    axes: Axes, frame: polars.DataFrame, names: list[str], parts: dict[str, tuple[str, str]], total_s: float
) -> None:
    places = list(range(len(names)))
    left = [0.0] * len(names)
    for column, (label, colour) in parts.items():
        shares = [100 * value / total_s if total_s else 0.0 for value in frame[column]]
        axes.barh(places, shares, left=left, height=0.7, color=colour, label=label)
        left = [begin + share for begin, share in zip(left, shares, strict=True)]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)


def _busiest(radios: polars.DataFrame) -> polars.DataFrame:
    """The radios with most airtime, in their order."""
    airtime = polars.sum_horizontal(*RADIO)
    return radios.with_row_index("place").sort(airtime, descending=True).head(MAX_RADIOS).sort("place")


def _note(radios: polars.DataFrame) -> str:
    attempts, failed = sum(radios["attempts"].to_list()), sum(radios["failed_attempts"].to_list())
    share = f"{failed / attempts:.1%}" if attempts else "none"
    told = f"{attempts:,.0f} attempts, {share} of them without an answer."
    left_out = radios.height - MAX_RADIOS
    return told + (f" {left_out} radios with less airtime are in the table alone." if left_out > 0 else "")
