"""The report of a run or a sweep: answer, figures, tables, and how to repeat it."""

from __future__ import annotations

import os
from pathlib import Path

from roamsim.pages.page import Report
from roamsim.reports import answers, comparisons, run, sweeps
from roamsim.storing.outputs import check_page
from roamsim.storing.store import Results, open_results


def page(results: Results) -> Report:
    """The report of results, as a page."""
    if results.manifest.kind == "run":
        return run.report(results)
    if results.manifest.sampled or results.manifest.searched:
        return answers.report(results)
    return comparisons.page(results) or sweeps.page(results)


def write(results: Results, out: Path, *, follow: bool) -> Path:
    """Writes the report of results as one HTML file; `follow` as in `files.write_aside`.

    Raises:
        UsageError: the file's folder does not exist, or it is a folder.
    """
    check_page(out)
    return page(results).write(out, follow=follow)


def report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Writes the report of a folder of results.

    Args:
        folder: what `roamsim run --parquet`, `roamsim sweep` or `roamsim compare` wrote.
        out: the HTML file; `FOLDER/report.html` unless given.

    Raises:
        UsageError: there are no results.
    """
    target = Path(out) if out is not None else Path(folder) / "report.html"
    return write(open_results(folder), target, follow=out is not None)
