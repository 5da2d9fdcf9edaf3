"""The report of a run or a sweep: what came out, figures, tables, how to get it again."""

from __future__ import annotations

import os
from pathlib import Path

from roamsim.errors import UsageError
from roamsim.estimates.curves import curves
from roamsim.estimates.findings import drawn_metrics
from roamsim.pages.page import Report
from roamsim.pictures.charts import Palette, chart
from roamsim.reports import comparisons, inspector, sections, sweeps, transfers
from roamsim.storing.store import Results, open_results
from roamsim.tables import caveats
from roamsim.tables.words import capital, count
from roamsim.technologies import technologies


def report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Writes the report of a folder of results.

    Args:
        folder: what `roamsim run --parquet`, `roamsim sweep` or `roamsim compare` wrote.
        out: the HTML file; `FOLDER/report.html` unless given.

    Raises:
        UsageError: there are no results.
    """
    results = open_results(folder)
    target = Path(out) if out is not None else Path(folder) / "report.html"
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist")
    if results.manifest.kind == "sweep":
        page = comparisons.page(results) or sweeps.page(results)
    else:
        page = _page_of_run(results)
    return page.write(target, follow=out is not None)


def _page_of_run(results: Results) -> Report:
    manifest = results.manifest
    runs = sum(point.replications for point in manifest.points)
    page = Report(manifest.scenario, f"{count(runs, 'run')} with seed {manifest.seed}, roamsim {manifest.version}")
    sections.told(page, (caveats.alike_in_words(results.tables), *caveats.failures(results.tables)))
    page.heading("Figures")
    page.text("Points are means over replications; lines through them are 95 % intervals.")
    palette = Palette()
    for wanted in drawn_metrics():
        try:
            drawn = curves(results, wanted)
        except UsageError:
            continue
        # Of one or two values the table says it better.
        if drawn.frame.height > 2 and (drawn.frame["mean"] != 0).any():
            page.figure(
                wanted.name.replace(".", "-"),
                chart(drawn, palette),
                f"{capital(drawn.title)}. {drawn.metric.meaning}",
                " ".join(drawn.notes) or None,
            )
    transfers.report(page, results)
    inspector.report(page, results)
    sections.time_series(page, results)
    for technology in technologies():
        technology.report(page, results)
    sections.tables(page, results)
    sections.what_was_run(page, results)
    return page
