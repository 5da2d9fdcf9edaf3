"""The report of a run or a sweep: parameters, figures, tables, how to get it again."""

from __future__ import annotations

import html
import io
import json
import os
import shlex
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars

from roamsim import statistics
from roamsim.errors import UsageError
from roamsim.estimates.comparisons import Comparison, comparison
from roamsim.estimates.curves import Curves, curves, titled
from roamsim.pages.page import Report
from roamsim.pictures.paper import write_figure
from roamsim.pictures.timeseries import NOTES, POINTS, QUANTITIES, segments, time_series
from roamsim.reports.plot import save
from roamsim.storing.store import Results, open_results
from roamsim.tables import caveats, metrics
from roamsim.tables.metrics import Target
from roamsim.tables.result import RUN_COLUMNS
from roamsim.technologies.dect import channel_map, mac_states

#: Metrics that a report draws where the results have them.
DRAWN = (
    ("flows", ("goodput_bps", "loss_ratio", "mean_delay_s", "p95_delay_s", "completion_time_s", "retransmissions")),
    (
        "signalling",
        ("success_rate", "mean_delay_s", "p95_delay_s", "overhead", "tcp_segments_per_message", "load_bps"),
    ),
    ("links", ("utilisation", "mean_queue_packets")),
)

#: What a report tells of handovers where there are several runs: no points in time, which have no mean.
HANDOVERS = (
    "handover_s",
    "interruption_s",
    "requests",
    "lost_out_of_reach",
    "lost_radio_error",
    "lost_no_cell",
    "lost_queue",
    "lost_agent",
    "lost_tunnel",
    "lost_uplink",
    "lost_downlink",
    "lost_data",
    "lost_acknowledgements",
)

#: The same of Mobile IP's agents and nodes.
MOBILE_IP = (
    "advertisements",
    "unheard",
    "solicitations",
    "requests",
    "retransmissions",
    "accepted",
    "refused",
    "expired",
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
            "duration": manifest.canonical.get("scenario", {}).get("duration"),
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
    for note in (caveats.alike_in_words(results.tables), *caveats.failures(results.tables)):
        if note:
            page.text(html.escape(note))
    page.heading("Figures")
    page.text("Points are means over replications; bars are 95 % intervals (Student's t).")
    for table, columns in DRAWN:
        for column in columns:
            _metric(page, results, table, column)
    _time_series(page, results)
    _dect(page, results)
    _mobility(page, results)
    page.heading("Tables")
    for table, columns in DRAWN:
        summary = _summary(results, table, columns)
        if summary:
            page.table(summary, f"{table}: {_MEANS}")
    if "drops" in results and results["drops"].height:
        page.table(_drops(results), "drops: packets in all replications")
    return page.write(target, follow=out is not None)


def _unfinished(results: Results) -> dict[str, str]:
    """How much of a sweep that did not come to its end is there."""
    wanted = sum(point.replications for point in results.manifest.points)
    there = results["links"].select("point", "replication").n_unique() if "links" in results else 0
    return {"finished": f"{there} of {_count(wanted, 'run')}"} if there < wanted else {}


#: What the captions of summaries say.
_MEANS = "means over replications; ± is the half-width of the 95 % interval"


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

    for kind in (*QUANTITIES, "segments"):
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


def _dect(page: Report, results: Results) -> None:
    """The accesses of a run with DECT: channels, bearers, handovers and queues over time, and their tables."""
    if "dect" not in results or not results["dect"].height:
        return
    page.heading("DECT")
    try:
        for recording in channel_map.recordings(results):
            drawn = io.BytesIO()
            write_figure(partial(channel_map.draw, recording), drawn, ".svg")
            page.picture(
                f"occupancy-{recording.name}",
                drawn.getvalue().decode(),
                f"{recording.name}: channels in use, bearers, queues and handovers, first replication",
                channel_map.note(recording),
            )
    except UsageError as error:
        page.text(f"The map of channels over time is left out: {error}.")
    for name, kind, counts in mac_states.of_types(results):
        drawn = io.BytesIO()
        write_figure(partial(mac_states.draw, counts), drawn, ".svg")
        own = kind == "User"
        whose = "its terminal" if own else f"terminals of type {kind}"
        page.picture(
            f"states-{name}-{kind}",
            drawn.getvalue().decode(),
            f"{name}: MAC states and transitions of {whose}, {_which_runs(results)}",
            mac_states.note(counts),
            folded=not own,
        )
    for table in ("dect", "dect_states", "dect_transitions", "dect_procedures", "dect_terminals"):
        page.table(
            _means(results, table),
            f"{table}: means over replications",
            folded=table not in ("dect_procedures", "dect_terminals"),
        )


def _mobility(page: Report, results: Results) -> None:
    """Handovers, each of one run and means of several, and what the machines of Mobile IP counted."""
    handovers, counters = (table in results and results[table].height > 0 for table in ("handovers", "mobile_ip"))
    if not handovers and not counters:
        return
    page.heading("Handovers")
    if handovers:
        if sum(point.replications for point in results.manifest.points) == 1:
            frame = results["handovers"].drop(RUN_COLUMNS, strict=False)
            page.table(frame.rename(_titles("handovers", frame.columns)), "handovers: each of the run")
        else:
            page.table(_handovers(results), f"handovers: their number a run and the means of each run's; {_MEANS}")
    if counters:
        page.table(_summary(results, "mobile_ip", MOBILE_IP), f"mobile_ip: {_counted(results)}")


def _handovers(results: Results) -> list[dict[str, Any]]:
    """A row for each point, station and pair of cells; those of one run are one sample, as in `compare`."""
    keys = results.keys_of("handovers")
    of_runs = (
        results["handovers"]
        .group_by([*keys, "replication"], maintain_order=True)
        .agg(polars.len().alias("handovers"), polars.col(HANDOVERS).mean())
    )
    titles = _titles("handovers", HANDOVERS)
    hidden = {"point"} if len(results.manifest.points) == 1 else set()
    rows: list[dict[str, Any]] = []
    for names, kind in of_runs.group_by(keys, maintain_order=True):
        row = {key: name for key, name in zip(keys, names, strict=True) if key not in hidden}
        # A run without such a handover has none, but no time of it.
        runs = results["links"].filter(point=names[0])["replication"].n_unique()
        samples = {"handovers": [*kind["handovers"], *[0] * (runs - kind.height)]}
        samples |= {column: kind[column].drop_nulls().to_list() for column in HANDOVERS}
        for column, values in samples.items():
            estimate = statistics.mean(values)
            row[titles.get(column, column)] = estimate.mean
            row[f"± {column}"] = (estimate.high - estimate.low) / 2
        rows.append(row)
    # Columns without any value, such as intervals of single replications, only widen the table.
    empty = {column for column in rows[0] if all(row[column] is None or row[column] != row[column] for row in rows)}
    return [{key: value for key, value in row.items() if key not in empty} for row in rows]


def _titles(table: str, columns: Iterable[str]) -> dict[str, str]:
    """The headings of a table's columns: with their unit where they have one."""
    units = {metric.column: metric.unit for metric in metrics.metrics() if metric.table == table}
    return {column: f"{column} [{units[column]}]" for column in columns if units.get(column)}


def _counted(results: Results) -> str:
    return "counted in the run" if sum(point.replications for point in results.manifest.points) == 1 else _MEANS


def _which_runs(results: Results) -> str:
    runs = results.manifest.points[0].replications
    point = "" if len(results.manifest.points) == 1 else " of the first point"
    return f"the only run{point}" if runs == 1 else f"all {runs} runs{point}"


def _means(results: Results, table: str) -> polars.DataFrame:
    """The means of a table's numbers over replications."""
    keys = [key for key in results.keys_of(table) if key != "point" or len(results.manifest.points) > 1]
    numbers = polars.selectors.numeric().exclude(*RUN_COLUMNS, *keys)
    return results[table].group_by(keys, maintain_order=True).agg(numbers.mean())


def _summary(results: Results, table: str, columns: Iterable[str]) -> list[dict[str, Any]]:
    """A row for each point and name: means, with the half-width of the interval where there is one."""
    rows: list[dict[str, Any]] = []
    shares = _shares(results, table)
    for column in columns:
        if table not in results or column not in results[table].columns:
            continue
        estimates = results.estimate(table, column)
        if estimates["mean"].is_null().all():
            continue
        unit = metrics.numeric(table, column).unit
        title = f"{column} [{unit}]" if unit else column
        with_interval = estimates["low"].is_not_null().any()
        for number, row in enumerate(estimates.to_dicts()):
            if number == len(rows):
                hidden = {"mean", "low", "high", "samples"} | (
                    {"point"} if len(results.manifest.points) == 1 else set()
                )
                rows.append({key: value for key, value in row.items() if key not in hidden})
                rows[number] |= _ends(results, table, row)
            rows[number][title] = row["mean"]
            if unit == "s" and any(shares) and metrics.numeric(table, column).over:
                rows[number]["messages missing"] = caveats.percent(shares[number]) if shares[number] else ""
            if with_interval:
                rows[number][f"± {column}"] = None if row["low"] is None else (row["high"] - row["low"]) / 2
    return rows


def _shares(results: Results, table: str) -> list[float]:
    """For each point and row the share of messages that means over what arrived are without."""
    metric = next((metric for metric in metrics.metrics() if metric.table == table and metric.over), None)
    if metric is None or table not in results:
        return []
    groups = results[table].group_by(results.keys_of(table), maintain_order=True)
    return [caveats.missing(metric, rows) for _, rows in groups]


def _ends(results: Results, table: str, row: Mapping[str, Any]) -> dict[str, str]:
    """How the connections of a row ended, if it has any."""
    frame = results[table]
    if "connection" not in frame.columns or not (frame["connection"] != "").any():
        return {}
    keys = results.keys_of(table)
    mine = frame.filter(*(polars.col(key).eq_missing(row[key]) for key in keys))
    return {"connection": caveats.connections(mine["connection"].to_list())}


def _drops(results: Results) -> polars.DataFrame:
    keys = results.keys_of("drops")
    return results["drops"].group_by(keys, maintain_order=True).agg(polars.col("packets", "bytes").sum())


def _values(values: list[str]) -> str:
    return ", ".join(values) if len(values) <= 8 else f"{', '.join(values[:3])} … {values[-1]} ({len(values)} values)"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
