"""Sections that reports of runs and of sweeps have in common."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable

from roamsim.errors import UsageError
from roamsim.estimates.summaries import MEANS, TABLES, dropped, summary
from roamsim.pages.page import Report
from roamsim.pictures import recorded as recordings
from roamsim.pictures.timed import HELD
from roamsim.pictures.timeseries import NOTES, TITLES, segments
from roamsim.pictures.timeseries import time_series as recorded
from roamsim.storing.manifests import Manifest
from roamsim.storing.store import Results
from roamsim.tables.metrics import quantities
from roamsim.tables.words import count


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
            **({"finished": told} if (told := results.finished_in_words) else {}),
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


def recorded_kinds(results: Results) -> list[str]:
    """The kinds of traces that `time_series` draws."""
    if not results.height("samples"):
        return []
    held = set(results.columns("samples", ["quantity"])["quantity"].unique())
    return [kind for kind, names in quantities().items() if held & set(names)]


def time_series(page: Report, results: Results) -> None:
    """What was recorded over time, with a panel for each of several points."""
    found = {}
    for kind in (*quantities(), "segments"):
        try:
            found[kind] = segments(results) if kind == "segments" else recorded(results, kind)
        except UsageError:
            continue
    for kind, panels in found.items():
        most = HELD // len(found)
        figure, notes = (
            recordings.segments(panels, most) if kind == "segments" else recordings.samples(panels, kind, most)
        )
        if not figure.colours:
            # Events or quantities of other names than any that a run records.
            continue
        notes += [NOTES[kind]] if kind in NOTES else []
        words = TITLES.get(kind, kind.replace("_", " "))
        which = ", first replication" if any(point.replications > 1 for point in results.manifest.points) else ""
        page.figure(f"samples-{kind}", figure.specification(), f"Over time: {words}{which}", " ".join(notes) or None)


def tables(page: Report, results: Results) -> None:
    """Means of what the runs counted, and what was dropped."""
    several = any(point.replications > 1 for point in results.manifest.points)
    for table, columns in TABLES:
        rows = summary(results, table, columns)
        if rows:
            page.table(rows, f"{table}: {MEANS}" if several else table)
    if results.height("drops"):
        page.table(dropped(results), f"drops{': in all replications' if several else ''}")


def told(page: Report, notes: Iterable[str]) -> None:
    """What a reader has to know of the means, each in a paragraph."""
    for note in notes:
        if note:
            page.plain(note)


def _duration(manifest: Manifest) -> dict[str, str]:
    """How long every run was, where all were as long; else what was varied says it."""
    varied = not manifest.vary.keys().isdisjoint(("scenario", "scenario.duration"))
    return {} if varied else {"duration": manifest.canonical["scenario"].get("duration")}


def _values(values: list[str]) -> str:
    return ", ".join(values) if len(values) <= 8 else f"{', '.join(values[:3])} … {values[-1]} ({len(values)} values)"
