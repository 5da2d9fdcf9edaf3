"""Wi-Fi cells: airtime by use and by station, categories, rates, signals and associations over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

from roamsim.storing.store import Results
from roamsim.tables.values import percent
from roamsim.tables.words import listed
from roamsim.technologies.wifi import airtime, categories, rates, signals
from roamsim.technologies.wifi.signals import picture

if TYPE_CHECKING:
    from roamsim.pages.page import Report

__all__ = ["PICTURES", "outcome", "report"]

PICTURES = {"link_events": picture}


#: Uses of a cell's medium, in the order of the sentence.
USES = {"data_s": "data", "backoff_s": "back-off and waiting", "collision_s": "collisions", "idle_s": "idle"}


def outcome(results: Results) -> list[str]:
    """The airtime of each cell, by use; cells that are one medium have one sentence."""
    if "wifi" not in results or not results["wifi"].height:
        return []
    times = results["wifi"].group_by("name", maintain_order=True).agg(polars.selectors.ends_with("_s").sum())
    cells: dict[str, list[str]] = {}
    for row in times.to_dicts():
        whole = sum(value for column, value in row.items() if column != "name")
        shares = ", ".join(f"{percent(row[column] / whole)} {use}" for column, use in USES.items() if whole)
        cells.setdefault(shares, []).append(row["name"])
    return [f"Airtime of {listed(names)}: {shares}." for shares, names in cells.items()]


def report(page: Report, results: Results) -> None:
    """The time of each cell and of its radios; signals and associations of stations that move."""
    if not results.height("wifi"):
        return
    page.heading("Wi-Fi")
    airtime.report(page, results)
    categories.report(page, results)
    rates.report(page, results)
    events = signals.recorded(results)
    if events is not None:
        page.figure(
            "wifi-signals",
            signals.draw(events).specification(),
            "Signals of access points and associations over time, first run",
            signals.note(events),
        )
