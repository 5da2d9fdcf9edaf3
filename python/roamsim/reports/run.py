"""The report of a run: question and answer, its course over time, results, and how to repeat it."""

from __future__ import annotations

from typing import Any

import polars

from roamsim.pages.page import Report
from roamsim.pictures import course
from roamsim.reports import inspector, outcome, sections, transfers
from roamsim.reports.sections import recorded_kinds
from roamsim.storing.store import Results
from roamsim.tables.values import duration
from roamsim.tables.words import count
from roamsim.technologies import technologies

#: Events that are lines through the picture of a run's course (chosen: more hide it).
EVENTS = 30


#: What a reader of rates and windows has to know.
IN_ORDER = (
    "Bytes count once they are in order, so a repaired loss delivers many at once. Windows are values at the end of "
    "each part of the run."
)


def report(results: Results) -> Report:
    """The page of one scenario's run, in one or several replications."""
    manifest = results.manifest
    runs = sum(point.replications for point in manifest.points)
    seeds = f"seed {manifest.seed}" + (f", {runs} replications" if runs > 1 else "")
    page = Report(manifest.scenario, f"A run with {seeds}; roamsim {manifest.version}")
    page.outcome(outcome.asked(results), outcome.came_out(results))
    drawn = course_of(results)
    if drawn is not None:
        specification, note = drawn
        page.figure("course", specification, "The run over time", note, lead=True)
    page.heading("Results")
    sections.tables(page, results)
    transfers.report(page, results)
    inspector.report(page, results)
    sections.time_series(page, results)
    for technology in technologies():
        technology.report(page, results)
    sections.what_was_run(page, results)
    return page


def course_of(results: Results) -> tuple[dict[str, Any], str | None] | None:
    """The figure of a run over time, as a specification and the note below it; `None` if nothing happened."""
    if "series" not in results or not results["series"].height:
        return None
    series = results["series"]
    found = course.panels(series, _messages(results), recorded_kinds(results))
    if not found:
        return None
    runs = sum(point.replications for point in results.manifest.points)
    events = _events(results)
    end_s = float(series["end_s"].max())  # type: ignore[arg-type]
    begin_s, until_s = course.opening(found, events, end_s)
    left_out = course.left_out(series)
    notes = [
        *(["Of the first replication."] if runs > 1 else []),
        *([f"Without a line: {count(left_out, 'more flow')}, those that delivered least."] if left_out else []),
        *([f"Nothing happens before {duration(begin_s)}."] if begin_s else []),
        *(
            [f"Nothing happens after {_last(until_s, begin_s)}; the button Whole shows the run."]
            if until_s < end_s
            else []
        ),
        *(["Dashed lines are handovers."] if events else []),
        *([IN_ORDER] if any(panel.title.startswith("Congestion window") for panel in found) else []),
    ]
    return course.specification(found, (begin_s, until_s), end_s, events), " ".join(notes) or None


def _last(until_s: float, begin_s: float) -> str:
    """The last instant at which something happens, of a figure that ends a little later."""
    return duration((until_s + course.AFTER * begin_s) / (1 + course.AFTER))


def _messages(results: Results) -> dict[str, float]:
    """How many messages flows delivered in the first replication; a stream has none."""
    if "flows" not in results:
        return {}
    rows = results["flows"].filter(polars.col("replication") == 0).drop_nulls("delivered_packets")
    return dict(rows.select("name", "delivered_packets").iter_rows())


def _events(results: Results) -> list[dict[str, Any]]:
    """Handovers of the first replication, when they were begun."""
    if "handovers" not in results:
        return []
    rows = results["handovers"].filter(polars.col("replication") == 0).head(EVENTS)
    return [
        {"t": row["begun_s"], "what": f"{row['node']}: {row['from_cell']} to {row['to_cell']}"}
        for row in rows.to_dicts()
        if row["begun_s"] is not None
    ]
