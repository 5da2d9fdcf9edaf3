"""The report of a run or a sweep: what came out, figures, tables, how to get it again."""

from __future__ import annotations

import os
from pathlib import Path

from roamsim.errors import UsageError
from roamsim.reports import answers, comparisons, run, sweeps
from roamsim.storing.store import open_results


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
    if results.manifest.kind == "run":
        page = run.report(results)
    elif results.manifest.sampled or results.manifest.searched:
        page = answers.report(results)
    else:
        page = comparisons.page(results) or sweeps.page(results)
    return page.write(target, follow=out is not None)
