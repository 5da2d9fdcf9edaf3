"""The report of a campaign that answers a question: a sensitivity, a search, or both in one folder."""

from __future__ import annotations

import json
import shlex
from typing import Any

import polars

from roamsim.estimates.optima import Optimum
from roamsim.estimates.sensitivities import LEADING, MEANINGS, Sensitivity
from roamsim.pages.page import Report
from roamsim.pictures.charts import EDGES
from roamsim.scenarios.ranges import Choice, as_varied
from roamsim.scenarios.vary import parse_number
from roamsim.storing.manifests import Manifest
from roamsim.storing.store import Results
from roamsim.tables.significant import d3_format
from roamsim.tables.words import count, titled

#: Height of a bar, and of the axes beside the bars, in pixels (chosen).
BAR, AXES = 28, 30


def report(results: Results) -> Report:
    """The page of a campaign."""
    manifest = results.manifest
    what = [word for word, asked in (("Sensitivity", manifest.sampled), ("Search", manifest.searched)) if asked]
    runs = sum(point.replications for point in manifest.points)
    page = Report(
        manifest.scenario,
        f"{' and '.join(what)}, {count(len(manifest.points), 'point')}, {count(runs, 'run')}, "
        f"roamsim {manifest.version}",
    )
    if manifest.sampled:
        _sensitivity(page, Sensitivity(results))
    if manifest.searched:
        _search(page, Optimum(results))
    _what_was_run(page, manifest)
    return page


def _what_was_run(page: Report, manifest: Manifest) -> None:
    page.heading("What was run")
    page.parameters(
        {
            "scenario": manifest.scenario,
            "duration": manifest.canonical["scenario"].get("duration"),
            "seed": manifest.seed,
            "version": manifest.version,
            "command": shlex.join(manifest.command) or "Python",
        }
    )
    page.preformatted(manifest.text, "Scenario")
    page.preformatted(json.dumps(manifest.canonical, indent=2, ensure_ascii=False), "Scenario with replaced values")


def _sensitivity(page: Report, found: Sensitivity) -> None:
    sampled = found.sampled
    page.found([*found.sentences, *found.notes])
    page.heading("Sensitivity")
    page.parameters(
        {
            "method": {"sobol": "Sobol' indices", "morris": "Morris' elementary effects"}[sampled.method],
            "samples": sampled.samples,
            "points": len(set(sampled.rows)),
            "replications": sampled.replications,
            **sampled.ranges,
        },
        "Design",
    )
    shown = found.indices["index"].unique(maintain_order=True).to_list()
    page.text("\n".join(f"- `{index}`: {MEANINGS[index]}" for index in shown))
    for (metric,), rows in found.indices.drop_nulls("value").group_by("metric", maintain_order=True):
        page.figure(
            f"sensitivity-{metric}",
            chart(rows.drop("metric"), LEADING[sampled.method]),
            f"Sensitivity of {metric}",
            "Bars are estimates. Lines are 95 % intervals over the choice of points (bootstrap) and the replications "
            "(jackknife).",
        )
    page.table(found.indices, "Indices with their 95 % intervals")


def chart(rows: polars.DataFrame, leading: str) -> dict[str, Any]:
    """A Vega-Lite specification: a bar for each quantity and index, the most important quantity on top."""
    import altair

    order = rows.filter(index=leading).sort("value", descending=True, maintain_order=True)["path"].to_list()
    kinds = rows["index"].unique(maintain_order=True).to_list()
    base = altair.Chart(rows).encode(
        y=altair.Y("path", type="nominal", title=None, sort=order, axis=altair.Axis(labelLimit=300)),
        yOffset=altair.YOffset("index", type="nominal", sort=kinds),
        color=altair.Color("index", type="nominal", title=None, sort=kinds),
        tooltip=[
            altair.Tooltip("path", type="nominal"),
            altair.Tooltip("index", type="nominal"),
            *(
                altair.Tooltip(name, type="quantitative", format=d3_format(rows[name], 4))
                for name in ("value", "low", "high")
            ),
        ],
    )
    bars = base.mark_bar(opacity=0.7).encode(x=altair.X("value", type="quantitative", title=None))
    ends = {"x": altair.X("low", type="quantitative", title=None), "x2": "high", "color": altair.value("#888")}
    lines = base.transform_filter("datum.low !== null").mark_rule(strokeWidth=2).encode(**ends)
    height = AXES + BAR * len(order) * len(kinds)
    spec: dict[str, Any] = altair.layer(bars, lines).properties(height=height).to_dict()
    return spec


def _search(page: Report, found: Optimum) -> None:
    searched = found.searched
    page.found([*found.sentences, *found.notes])
    page.heading("Search")
    page.parameters(
        {
            searched.goal: searched.metric,
            "trials": len(searched.trials),
            "replications": searched.replications,
            "fresh replications": searched.fresh,
            **searched.ranges,
        },
        "Search",
    )
    page.table(found.means, "Means: in the search, and in fresh replications with 95 % intervals")
    page.table(found.differences, "Differences in pairs of fresh replications", folded=True)
    told = found.trials.drop_nulls("mean")
    title = titled(searched.metric, found.target.metric.unit or "")
    page.figure(
        "search-trials",
        trials_chart(told, "trial", "trial", title, with_best=True),
        f"{searched.metric} of each trial",
        "Points are means over replications. The line is the best mean so far.",
    )
    for path, text in searched.ranges.items():
        varied = as_varied(path, text)
        if isinstance(varied, Choice):
            over = told.with_columns(x=polars.col(path).cast(polars.String))
        else:
            numbers = [parse_number(str(value)) for value in told[path]]
            over = told.with_columns(
                polars.Series("x", [float(n[0]) if n else None for n in numbers], polars.Float64)
            )
        page.figure(
            f"search-{path}",
            trials_chart(over, "x", titled(path, varied.unit), title),
            f"{searched.metric} of each trial over {path}",
        )
    page.table(found.trials, "Trials", folded=True)


def trials_chart(
    trials: polars.DataFrame, x: str, x_title: str, y_title: str, *, with_best: bool = False
) -> dict[str, Any]:
    """A Vega-Lite specification: the value of each trial over a column, and the best one so far."""
    import altair

    scale = altair.Scale(zero=False, **EDGES)
    if trials.schema[x] == polars.String:
        place, shown = altair.X(x, type="nominal", title=x_title), altair.Tooltip(x)
    else:
        place, shown = (
            altair.X(x, type="quantitative", title=x_title, scale=scale),
            altair.Tooltip(x, format=d3_format(trials[x], 5)),
        )
    base = altair.Chart(trials.select(*dict.fromkeys(("trial", x)), "mean", "best")).encode(x=place)
    tooltip = [altair.Tooltip("trial"), shown, altair.Tooltip("mean", format=d3_format(trials["mean"], 5))]
    # A rate or a size of many digits is read more easily as 10M.
    axis = altair.Axis(format="~s")
    y = altair.Y("mean", type="quantitative", title=y_title, scale=scale, axis=axis)
    layers: list[Any] = [base.mark_circle(size=40).encode(y=y, tooltip=tooltip)]
    if with_best:
        best = altair.Y("best", type="quantitative", title=y_title, scale=scale, axis=axis)
        layers.insert(0, base.mark_line(interpolate="step-after", color="#888").encode(y=best))
    spec: dict[str, Any] = altair.layer(*layers).interactive().to_dict()
    return spec
