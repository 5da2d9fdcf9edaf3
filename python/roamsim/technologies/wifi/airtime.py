"""Airtime of Wi-Fi cells by use and by station."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars

from roamsim.estimates.summaries import means, of_runs, worded
from roamsim.pictures.bars import parts_of, specification
from roamsim.storing.store import Results
from roamsim.tables.values import plain
from roamsim.tables.words import count

if TYPE_CHECKING:
    from roamsim.pages.page import Report

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
        caption = f"Airtime of {row['name']}{of_runs(results, first=True)}"
        page.figure(f"airtime-{row['name']}", draw(row, own), caption, _note(own))
    page.table(worded("wifi", cells), f"wifi{of_runs(results)}")
    page.table(worded("wifi_stations", radios), f"wifi_stations{of_runs(results)}")


def draw(cell: Mapping[str, Any], radios: polars.DataFrame) -> dict[str, Any]:
    """The shares of a cell's time above; below, for each radio, its airtime, its contention and its attempts."""
    shown = _busiest(radios)
    names = shown["node"].to_list()
    percent = 100 / sum(cell[column] for column in MEDIUM)
    counts = shown.with_columns(answered_attempts=polars.col("attempts") - polars.col("failed_attempts"))
    return specification(
        [
            parts_of(
                "time of the medium, % of the run", polars.DataFrame([cell]), ["medium"], MEDIUM, percent, 100.0
            ),
            parts_of("airtime, % of the run", shown, names, RADIO, percent),
            parts_of("contending, % of the run", shown, names, CONTENTION, percent, 100.0),
            parts_of("attempts", counts, names, ATTEMPTS),
        ]
    )


def _busiest(radios: polars.DataFrame) -> polars.DataFrame:
    """The radios with most airtime, in their order."""
    airtime = polars.sum_horizontal(*RADIO)
    return radios.with_row_index("place").sort(airtime, descending=True).head(MAX_RADIOS).sort("place")


def _note(radios: polars.DataFrame) -> str:
    attempts, failed = sum(radios["attempts"].to_list()), sum(radios["failed_attempts"].to_list())
    share = f", {100 * failed / attempts:.1f} % of them unanswered" if attempts else ""
    told = f"{plain(attempts)} {'attempt' if attempts == 1 else 'attempts'}{share}."
    left_out = radios.height - MAX_RADIOS
    return told + (f" In the table only: {count(left_out, 'radio')} with less airtime." if left_out > 0 else "")
