"""Wi-Fi cells: what their time was used for, and by whom; categories; rates; signals and associations over time."""

from __future__ import annotations

import io
from functools import partial

from roamsim.pages.page import Report
from roamsim.pictures.paper import write_figure
from roamsim.storing.store import Results
from roamsim.technologies.wifi import airtime, categories, rates, signals
from roamsim.technologies.wifi.signals import picture

__all__ = ["PICTURES", "report"]

PICTURES = {"link_events": picture}


def report(page: Report, results: Results) -> None:
    """The time of each cell and of its radios; where link events were recorded, signals and associations."""
    if not results.height("wifi"):
        return
    page.heading("Wi-Fi")
    airtime.report(page, results)
    categories.report(page, results)
    rates.report(page, results)
    events = signals.recorded(results)
    if events is not None:
        drawn = io.BytesIO()
        write_figure(partial(signals.draw, events), drawn, ".svg")
        page.picture(
            "wifi-signals",
            drawn.getvalue().decode(),
            "Signals of access points and associations over time, first run",
            signals.note(events),
        )
