"""The report of a run or a sweep: parameters, figures, tables, how to get it again."""

from __future__ import annotations

import html
import io
import json
import os
import shlex
from pathlib import Path
from typing import Any, Literal

import polars

from roamsim.errors import UsageError
from roamsim.estimates.comparisons import Comparison, comparison
from roamsim.estimates.curves import Curves, curves, titled
from roamsim.estimates.summaries import MEANS, summary
from roamsim.pages.page import Report
from roamsim.pictures.timeseries import NOTES, POINTS, segments, time_series
from roamsim.reports import inspector, transfers
from roamsim.reports.plot import save
from roamsim.storing.manifests import Manifest
from roamsim.storing.store import Results, open_results
from roamsim.tables.metrics import Target, quantities
from roamsim.technologies import technologies

#: Metrics that a report draws where the results have them.
DRAWN = (
    (
        "flows",
        (
            "goodput_bps",
            "loss_ratio",
            "mean_delay_s",
            "p95_delay_s",
            "jitter_s",
            "completion_time_s",
            "retransmissions",
        ),
    ),
    ("video", ("decodable_share", "mean_frame_delay_s")),
    (
        "signalling",
        ("success_rate", "mean_delay_s", "p95_delay_s", "overhead", "tcp_segments_per_message", "load_bps"),
    ),
    ("links", ("utilisation", "mean_queue_packets")),
)

#: Vega's expression for samples that are points.
_POINTS = " || ".join(f"datum.quantity == '{quantity}'" for quantity in POINTS)

#: Samples of one series that a figure holds (chosen: more make the page slow, and no screen shows them).
SAMPLES = 3000


def report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Writes the report of a folder of results.

    Args:
        folder: what `roamsim run --parquet` or `roamsim sweep` wrote.
        out: the HTML file; `FOLDER/report.html` unless given.

    Raises:
        UsageError: there are no results.
    """
    results = open_results(folder)
    target = Path(out) if out is not None else Path(folder) / "report.html"
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist")
    manifest = results.manifest
    replications = sorted({point.replications for point in manifest.points})
    page = Report(
        manifest.scenario,
        f"{manifest.kind.capitalize()} of {_count(len(manifest.points), 'point')}, "
        f"{_count(sum(point.replications for point in manifest.points), 'run')}, roamsim {manifest.version}",
    )
    page.heading("What was run")
    page.parameters(
        {
            "scenario": manifest.scenario,
            **_duration(manifest),
            "seed": manifest.seed,
            **_unfinished(results),
            "replications": replications if len(replications) > 1 else replications[0],
            "version": manifest.version,
            "command": shlex.join(manifest.command) or "roamsim.sweep (Python)",
            **({"precision": manifest.precision} if manifest.precision else {}),
            **({"not that precise": _count(len(manifest.unmet), "point")} if manifest.unmet else {}),
            **{path: _values(values) for path, values in manifest.vary.items()},
        },
        "Parameters",
    )
    page.preformatted(manifest.text, "Scenario")
    page.preformatted(json.dumps(manifest.canonical, indent=2, ensure_ascii=False), "Scenario with replaced values")
    compared = _comparison(results)
    if compared:
        page.heading("Differences")
        page.text(
            "In a replication all values met the same losses. Intervals are 95 % ones: of differences in pairs of "
            "replications (Student's t), and of these beside the mean of what is compared with (Fieller)."
        )
        for note in compared.notes:
            page.text(note)
        page.table([{"difference": sentence} for sentence in compared.sentences], "Differences in words")
        page.table(compared.differences, "Differences in numbers", folded=True)
    for note in (results.alike_in_words, *results.failures.values()):
        if note:
            page.text(html.escape(note))
    page.heading("Figures")
    page.text("Points are means over replications; bars are 95 % intervals (Student's t).")
    for table, columns in DRAWN:
        for column in columns:
            _metric(page, results, table, column)
    transfers.report(page, results)
    inspector.report(page, results)
    _time_series(page, results)
    for technology in technologies():
        technology.report(page, results)
    page.heading("Tables")
    for table, columns in DRAWN:
        rows = summary(results, table, columns)
        if rows:
            page.table(rows, f"{table}: {MEANS}")
    if results.height("drops"):
        page.table(_drops(results), "drops: packets in all replications")
    return page.write(target, follow=out is not None)


def _duration(manifest: Manifest) -> dict[str, str]:
    """How long every run was, where all were as long; else what was varied says it."""
    varied = not manifest.vary.keys().isdisjoint(("scenario", "scenario.duration"))
    return {} if varied else {"duration": manifest.canonical["scenario"].get("duration")}


def _unfinished(results: Results) -> dict[str, str]:
    """How much of a sweep that did not come to its end is there."""
    wanted = sum(point.replications for point in results.manifest.points)
    there = results.columns("links", ["point", "replication"]).n_unique() if "links" in results else 0
    return {"finished": f"{there} of {_count(wanted, 'run')}"} if there < wanted else {}


def _comparison(results: Results) -> Comparison | None:
    """What was compared; nothing where the metric has no value, or no run is finished yet."""
    try:
        return comparison(results)
    except UsageError:
        return None


def _metric(page: Report, results: Results, table: str, column: str) -> None:
    try:
        drawn = curves(results, Target(table, None, column))
    except UsageError:
        return
    compared = results.manifest.compared.metrics if results.manifest.compared else ()
    if drawn.frame.height <= 2 and f"{table}.{column}" not in compared:  # the table says it better
        return
    if column not in ("goodput_bps", "success_rate") and (drawn.frame["mean"] == 0).all():
        return
    page.figure(
        f"{table}-{column}", chart(drawn), f"{table}.{column}: {drawn.metric.meaning}", " ".join(drawn.notes) or None
    )


def chart(drawn: Curves) -> dict[str, Any]:
    """A Vega-Lite specification: means with intervals, a line for each series where x is a number."""
    import altair

    kind: Literal["quantitative", "nominal"] = "quantitative" if drawn.over_numbers else "nominal"
    base = altair.Chart(drawn.frame).encode(
        x=altair.X("x", type=kind, title=drawn.x_title, sort=None, axis=altair.Axis(labelAngle=0)),
        color=altair.Color("series", type="nominal", title=None, sort=None),
    )
    tooltip = [
        altair.Tooltip("series", type="nominal"),
        altair.Tooltip("x", type=kind, title=drawn.x_title),
        *(altair.Tooltip(name, type="quantitative", format=".5g") for name in ("mean", "low", "high")),
        altair.Tooltip("samples", type="quantitative", title="replications"),
        altair.Tooltip("missing", type="quantitative", title="messages missing", format=".2%"),
    ]
    # A rate or a size of many digits is read more easily as 10M.
    axis = altair.Axis(format="~s") if drawn.metric.unit in ("bit/s", "B") else altair.Axis()
    y = altair.Y("mean", type="quantitative", title=drawn.y_title, axis=axis)
    layers: list[Any] = []
    if drawn.frame["low"].is_not_null().any():
        ends = {"y": altair.Y("low", type="quantitative", title=drawn.y_title, axis=axis), "y2": "high"}
        layers.append(base.transform_filter("datum.low !== null").mark_rule().encode(**ends))
    if drawn.over_numbers:
        layers.append(base.mark_line(strokeWidth=1.5).encode(y=y))
    point = base.mark_point(filled=True, size=40, opacity=1).encode(y=y, tooltip=tooltip)
    layers.append(point.transform_filter("datum.missing === 0"))
    if (drawn.frame["missing"] > 0).any():
        hollow = base.mark_point(filled=False, size=40, opacity=1).encode(y=y, tooltip=tooltip)
        layers.append(hollow.transform_filter("datum.missing > 0"))
    if drawn.frame["series"].n_unique() == 1:
        layers = [layer.encode(color=altair.value("#2f6fb7")) for layer in layers]
    spec: dict[str, Any] = altair.layer(*layers).interactive(bind_x=drawn.over_numbers).to_dict()
    return spec


def _time_series(page: Report, results: Results) -> None:
    """What was recorded over time; of several points, which stand side by side, as a picture."""
    import altair

    for kind in (*quantities(), "segments"):
        try:
            panels = segments(results) if kind == "segments" else time_series(results, kind)
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
            x=altair.X("time_s", type="quantitative", title="time [s]"),
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


def _drops(results: Results) -> polars.DataFrame:
    keys = results.keys_of("drops")
    rows = results.columns("drops", [*keys, "packets", "bytes"])
    return rows.group_by(keys, maintain_order=True).agg(polars.col("packets", "bytes").sum())


def _values(values: list[str]) -> str:
    return ", ".join(values) if len(values) <= 8 else f"{', '.join(values[:3])} … {values[-1]} ({len(values)} values)"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
