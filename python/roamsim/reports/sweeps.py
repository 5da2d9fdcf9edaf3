"""The report of a sweep: the varied values, the answer in a sentence and a figure, and everything else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from roamsim.estimates.curves import Curves
from roamsim.estimates.findings import all_curves, answer, asked_for, ordered, variation
from roamsim.pages.page import Report
from roamsim.pictures.charts import NAMED, Palette, chart
from roamsim.reports import inspector, sections, transfers
from roamsim.storing.manifests import Manifest
from roamsim.storing.store import Results
from roamsim.tables.words import capital, count, key_unit, listed, metric_words, path_words, value_words
from roamsim.technologies import technologies


def page(results: Results) -> Report:
    """The page of a sweep."""
    manifest = results.manifest
    found = ordered(all_curves(results), asked_for(results))
    made = Report(title(manifest, [found[0].title] if found else []), subtitle(manifest))
    palette = Palette()
    if found:
        first = found[0]
        made.found([answer(first)])
        figure(made, results, first, palette, lead=True)
    sections.told(made, (results.alike_in_words, *results.failures.values()))
    figures(made, results, found[1:], palette)
    everything_else(made, results)
    return made


def everything_else(made: Report, results: Results) -> None:
    """What reports of sweeps and of comparisons have behind their figures."""
    transfers.report(made, results)
    inspector.report(made, results)
    sections.time_series(made, results)
    for technology in technologies():
        technology.report(made, results)
    made.heading("Tables")
    sections.tables(made, results)
    sections.what_was_run(made, results)


def figures(made: Report, results: Results, found: list[Curves], palette: Palette) -> None:
    """A figure of each metric that changes; those that do not are named."""
    changing = [drawn for drawn in found if variation(drawn) > 0 or (drawn.frame.height > 1 and not drawn.x_words)]
    if changing:
        made.heading("What else changes")
        made.text("Points are means over replications. Bands and lines around them are 95 % intervals.")
    for drawn in changing:
        figure(made, results, drawn, palette)
    still = [f"{metric_words(drawn.metric)} ({drawn.target.name})" for drawn in found if drawn not in changing]
    if still:
        made.text(f"The intervals show no change of {', '.join(still)}.")


def figure(made: Report, results: Results, drawn: Curves, palette: Palette, *, lead: bool = False) -> None:
    """A figure of a metric."""
    alike = results.alike_in_words
    # What is true of the whole page stands there once.
    notes = [drawn.metric.meaning, *(note for note in drawn.notes if note != alike)]
    series = max(len(drawn.groups), 1 if drawn.in_panels else len(drawn.rows))
    if series > NAMED:
        notes.append(f"{series} lines have no legend: point at one to read which it is.")
    spec = chart(drawn, palette)
    made.figure(drawn.target.name.replace(".", "-"), spec, caption(drawn), " ".join(notes), lead=lead)


def caption(drawn: Curves) -> str:
    """What a figure shows: `Mean delay of call by RTS threshold of air`."""
    by = " and ".join(filter(None, (drawn.x_words, drawn.group_words.partition(", ")[0])))
    return capital(f"{drawn.title} by {_once(by, drawn.title)}" if by else drawn.title)


def title(manifest: Manifest, shown: Sequence[str]) -> str:
    """What the page shows, by what was varied: `Mean delay of call by RTS threshold and shadowing deviation`."""
    by = listed([path_words(path, manifest.canonical, brief=True) for path in manifest.vary])
    return capital(" by ".join(filter(None, (listed(shown), _once(by, *shown))))) or manifest.scenario


def _once(by: str, *shown: str) -> str:
    """What was varied, without the name of what the figure is about: it stands there already."""
    owners = {owner for _, of, owner in (text.rpartition(" of ") for text in shown) if of}
    return re.sub(rf" of {re.escape(owners.pop())}(?=,| and |$)", "", by) if len(owners) == 1 else by


def subtitle(manifest: Manifest) -> str:
    """Over what it was varied, and how many runs that took."""
    spans = [f"{path_words(path, manifest.canonical)} {_span(manifest, path)}" for path in manifest.vary]
    counts = sorted({point.replications for point in manifest.points})
    each = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    runs = sum(point.replications for point in manifest.points)
    many = f"{each} replication{'s' if counts[-1] != 1 else ''} of each, {count(runs, 'run')}"
    return " · ".join([manifest.scenario, *spans, many, f"roamsim {manifest.version}"])


def _span(manifest: Manifest, path: str) -> str:
    shown = list(dict.fromkeys(value_words(point.shown[path]) for point in manifest.points))
    unit = f" {key_unit(path)}" if key_unit(path) else ""
    if len(shown) <= 6:
        return f"{', '.join(shown)}{unit}"
    return f"{shown[0]} … {shown[-1]}{unit} ({len(shown)} values)"
