"""Sections that reports of runs and of sweeps have in common."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterable

import polars

from roamsim.errors import UsageError
from roamsim.estimates.summaries import MEANS, TABLES, dropped, summary
from roamsim.pages.page import Report
from roamsim.pictures.timeseries import NOTES, POINTS, segments
from roamsim.pictures.timeseries import time_series as recorded
from roamsim.reports.plot import save
from roamsim.storing.manifests import Manifest
from roamsim.storing.store import Results
from roamsim.tables.metrics import quantities
from roamsim.tables.words import count, titled

#: Vega's expression for samples that are points.
_POINTS = " || ".join(f"datum.quantity == '{quantity}'" for quantity in POINTS)

#: Samples of one series that a figure holds (chosen: more make the page slow, and no screen shows them).
SAMPLES = 3000


def what_was_run(page: Report, results: Results) -> None:
    """Parameters, the command, and the scenario as it was given and as it was run."""
    manifest = results.manifest
    replications = sorted({point.replications for point in manifest.points})
    page.heading("What was run")
    page.parameters(
        {
            "scenario": manifest.scenario,
            **_duration(manifest),
            "seed": manifest.seed,
            **_unfinished(results),
            "replications": replications if len(replications) > 1 else replications[0],
            "version": manifest.version,
            "command": shlex.join(manifest.command) or f"{manifest.kind} of the Python package roamsim",
            **({"precision": manifest.precision} if manifest.precision else {}),
            **({"not that precise": count(len(manifest.unmet), "point")} if manifest.unmet else {}),
            **{path: _values(values) for path, values in manifest.vary.items()},
        },
        "Parameters",
    )
    page.preformatted(manifest.text, "Scenario")
    page.preformatted(json.dumps(manifest.canonical, indent=2, ensure_ascii=False), "Scenario with replaced values")


def time_series(page: Report, results: Results) -> None:
    """What was recorded over time; of several points, which stand side by side, as a picture."""
    import altair

    for kind in (*quantities(), "segments"):
        try:
            panels = segments(results) if kind == "segments" else recorded(results, kind)
        except UsageError:
            continue
        if kind == "segments" or len(panels) > 1:
            drawn = io.BytesIO()
            save(results, kind, drawn, ".svg")
            page.picture(f"samples-{kind}", drawn.getvalue().decode(), f"{kind} over time, first replication")
            continue
        found = panels[0].frame
        thinned = found.filter(
            polars.int_range(polars.len()).over("series") % (polars.len().over("series") // SAMPLES + 1) == 0
        )
        unit = ", ".join(found["unit"].drop_nulls().unique(maintain_order=True))
        axis = altair.Axis(format="~s") if unit in ("bit/s", "B") else altair.Axis()
        base = altair.Chart(thinned).encode(
            x=altair.X("time_s", type="quantitative", title="time, s"),
            y=altair.Y("value", type="quantitative", title=titled(kind, unit), axis=axis),
            color=altair.Color("series", type="nominal", title=None, sort=None),
        )
        layers = [base.transform_filter(f"!({_POINTS})").mark_line(interpolate="step-after", strokeWidth=1)]
        if kind in POINTS:
            layers.insert(0, base.transform_filter(_POINTS).mark_circle(size=6))
        chart = altair.layer(*layers) if len(layers) > 1 else layers[0]
        left_out = found.height - thinned.height
        notes = [f"{thinned.height} of {found.height} samples are drawn, evenly chosen."] if left_out else []
        notes += [NOTES[kind]] if kind in NOTES else []
        page.figure(f"samples-{kind}", chart, f"{kind} over time, first replication", " ".join(notes) or None)


def tables(page: Report, results: Results) -> None:
    """Means of what the runs counted, and what was dropped."""
    several = any(point.replications > 1 for point in results.manifest.points)
    for table, columns in TABLES:
        rows = summary(results, table, columns)
        if rows:
            page.table(rows, f"{table}: {MEANS}" if several else table)
    if results.height("drops"):
        page.table(dropped(results), f"drops: packets{' in all replications' if several else ''}")


def told(page: Report, notes: Iterable[str]) -> None:
    """What a reader has to know of the means, each in a paragraph."""
    for note in notes:
        if note:
            page.plain(note)


def _duration(manifest: Manifest) -> dict[str, str]:
    """How long every run was, where all were as long; else what was varied says it."""
    varied = not manifest.vary.keys().isdisjoint(("scenario", "scenario.duration"))
    return {} if varied else {"duration": manifest.canonical["scenario"].get("duration")}


def _unfinished(results: Results) -> dict[str, str]:
    """How much of a sweep that did not come to its end is there."""
    wanted = sum(point.replications for point in results.manifest.points)
    there = results.columns("links", ["point", "replication"]).n_unique() if "links" in results else 0
    return {"finished": f"{there} of {count(wanted, 'run')}"} if there < wanted else {}


def _values(values: list[str]) -> str:
    return ", ".join(values) if len(values) <= 8 else f"{', '.join(values[:3])} … {values[-1]} ({len(values)} values)"
