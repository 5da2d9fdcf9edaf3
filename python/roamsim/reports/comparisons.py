"""The report of a comparison: the best value, a ranking, every pair once, and the sections of a sweep."""

from __future__ import annotations

from roamsim.errors import UsageError
from roamsim.estimates.comparisons import Comparison, comparison
from roamsim.estimates.curves import curves
from roamsim.estimates.findings import all_curves
from roamsim.estimates.ranking import Ranking, answer, rankings, rows
from roamsim.pages.page import Report
from roamsim.pictures import charts
from roamsim.reports import sections, sweeps
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target
from roamsim.tables.words import capital, metric_words


def page(results: Results) -> Report | None:
    """The page of a comparison; `None` where the results hold none, or no run of it is finished yet."""
    try:
        compared = comparison(results)
    except UsageError:
        return None
    if compared is None:
        return None
    manifest, palette = results.manifest, charts.Palette()
    asked = [f"{metric_words(one.metric)}{f' of {one.row}' if one.row else ''}" for one in compared.question.targets]
    made = Report(sweeps.title(manifest, asked), sweeps.subtitle(manifest))
    found = rankings(compared)
    made.found(answer(found) or compared.sentences)
    for target in compared.targets:
        _ranked(made, results, target, [ranking for ranking in found if ranking.target == target], palette)
    for note in compared.notes:
        made.plain(note)
    _in_words(made, compared)
    sections.told(made, results.failures.values())
    shown = {target.name for target in compared.targets}
    sweeps.figures(made, results, [drawn for drawn in all_curves(results) if drawn.target.name not in shown], palette)
    sweeps.everything_else(made, results)
    return made


def _ranked(made: Report, results: Results, target: Target, found: list[Ranking], palette: charts.Palette) -> None:
    """The means of a metric, the best first, and the differences of its pairs."""
    try:
        drawn = curves(results, target)
    except UsageError:
        return
    anchor = target.name.replace(".", "-")
    order = [sample.label for sample in found[0].samples] if len(found) == 1 else []
    spec = charts.chart(drawn, palette, order)
    made.figure(anchor, spec, f"{sweeps.caption(drawn)}, 95 % intervals", " ".join(drawn.notes) or None, lead=True)
    if found:
        pairs, title = rows(found)
    if found and pairs:
        made.figure(
            f"{anchor}-pairs",
            charts.differences(pairs, title),
            f"{capital(drawn.title)}: differences in pairs, better against worse",
            "All values of a replication met the same losses. These are 95 % intervals: Student's t for differences "
            "in pairs of replications, Fieller's for differences relative to the baseline's mean. If an interval "
            "contains 0, no difference is shown.",
            lead=True,
        )


def _in_words(made: Report, compared: Comparison) -> None:
    made.heading("Differences")
    made.table([{"difference": sentence} for sentence in compared.sentences], "In words", folded=True)
    made.table(compared.differences, "In numbers", folded=True)
