"""Figures of a study: their rows from the runs, and an interactive chart of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from roamsim.pictures.charts import BANDS, BESIDE, COLOURS, NAMED
from roamsim.study.data import Data, Row
from roamsim.study.definition import Curve, Figure, Study
from roamsim.study.metric import estimate_of, is_share, values_of
from roamsim.study.shown import beyond
from roamsim.tables.significant import d3_format

if TYPE_CHECKING:
    import altair

#: Values of an axis that each have a mark on it, where there are no more (chosen: more lie on each other).
MARKED = 12

#: How far apart these are, of what a value has (chosen).
APART = 0.5

#: How grey that is which lies beyond the published range (chosen: it shows on both grounds and covers nothing).
BEYOND_OPACITY = 0.14

#: Pixels beyond the ends of an axis, so that points at the ends are drawn whole.
EDGE = 4


def figure_rows(study: Study, figure: Figure, data: Data) -> list[dict[str, Any]]:
    """The rows of a figure: `x`, `series`, `curve`, `mean`, `low`, `high` (95 % interval), `samples`, `closed_form`.

    `curve` tells metrics apart where a figure has several, and is empty otherwise. Missing values are None.
    """
    groups: dict[tuple[str, str, float], tuple[Curve, list[Row]]] = {}
    words = {**study.words, **figure.words}
    row: Row
    for experiment in figure.experiments:
        for row in data.rows(experiment, **figure.where):
            series = ", ".join(words.get(str(row[name]), str(row[name])) for name in figure.series)
            for curve in figure.y:
                at = (series, curve.label, float(row[figure.x]))
                groups.setdefault(at, (curve, []))[1].append(row)
    formula = study.function(figure.closed_form) if figure.closed_form else None
    ends = {curve.label: _ends(curve, groups.values()) for curve in figure.y}
    rows = []
    for (series, label, x), (curve, found) in groups.items():
        estimate = estimate_of(found, curve.metric).within(*ends[label]).scaled(curve.scale)
        exact = formula(found[0], curve.column, data) if formula else None
        rows.append(
            {
                "x": x * figure.x_scale,
                "series": series,
                "curve": label,
                "mean": _finite(estimate.mean),
                "low": _finite(estimate.low),
                "high": _finite(estimate.high),
                "samples": estimate.samples,
                "closed_form": None if exact is None else _finite(exact * curve.scale),
            }
        )
    order = {series: i for i, series in enumerate(dict.fromkeys(row["series"] for row in rows))}
    labels = [curve.label for curve in figure.y]
    return sorted(rows, key=lambda row: (order[row["series"]], labels.index(row["curve"]), row["x"]))


def _ends(curve: Curve, groups: Iterable[tuple[Curve, list[Row]]]) -> tuple[float, float]:
    """Where values of a curve can be: not below zero unless one is or it is a difference, of shares not above one."""
    values = [value for own, rows in groups if own is curve for value in values_of(rows, curve.metric)]
    if "-" in curve.column or any(value < 0 for value in values):
        return -math.inf, math.inf
    return 0.0, 1.0 if is_share(curve.column) else math.inf


def chart(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> altair.LayerChart | altair.FacetChart:
    """A chart of the rows with 95 % intervals; points over lines of the closed form where there is one.

    Intervals are bands, and of many series lines at the points.

    Where there are no more than two values, intervals are lines, a closed form is a dash, and nothing is joined.
    """
    import altair as alt

    # On a logarithmic axis there is no place for zero and less.
    shown = [dict(row) for row in rows if not figure.logarithmic or (row["mean"] or 0) > 0]
    scale = _y_scale(figure, shown)
    y_title = figure.y_title
    places = sorted({row["x"] for row in shown})
    axis = alt.Axis(labelFlush=EDGE + 1)
    if len(places) <= MARKED:
        axis = alt.Axis(labelFlush=EDGE + 1, values=places, format=d3_format(places, 6), labelOverlap="greedy")
    beside = _beside(figure, rows)
    base = alt.Chart().encode(
        x=alt.X(
            "x:O",
            title=figure.x_title,
            axis=alt.Axis(format=d3_format(places, 6), labelAngle=0),
            scale=alt.Scale(padding=APART),
        )
        if beside
        else alt.X(
            "x:Q",
            title=figure.x_title,
            scale=alt.Scale(zero=False, nice=False, padding=EDGE),
            axis=axis,
        ),
        color=_colour(figure, rows),
    )
    if beside:
        # Whatever has points of its own has a place of its own.
        own = list(dict.fromkeys(f"{row['series']} {row['curve']}" for row in rows))
        base = base.transform_calculate(own="datum.series + ' ' + datum.curve").encode(
            xOffset=alt.XOffset("own:N", sort=own)
        )
    dashed: Any = alt.Undefined
    if len(figure.y) > 1:
        labels = [curve.label for curve in figure.y]
        dashes = [[1, 0], [5, 4], [2, 2]][: len(labels)]
        dash = alt.StrokeDash("curve:N", title=None, sort=labels, scale=alt.Scale(domain=labels, range=dashes))
        dashed = dash.legend(_dash_legend(grey=not _colours_metrics(figure, rows)))
    if figure.logarithmic:
        # An interval that reaches zero has no lower end on this axis; it is drawn from the mean.
        base = base.transform_calculate(bottom="datum.low > 0 ? datum.low : datum.mean")
    low = "bottom:Q" if figure.logarithmic else "low:Q"
    mean = alt.Y("mean:Q", title=y_title, scale=scale)
    layers: list[Any] = []
    # A layer without data would leave the axes without an extent.
    if any(row["low"] is not None for row in shown):
        valid = base.transform_filter("isValid(datum.low)")
        # Bands of many lines lie on each other: their intervals are lines at the points.
        many = len({(row["series"], row["curve"]) for row in shown}) > BANDS
        band = (
            valid.mark_rule(strokeWidth=2 if beside else 1, clip=True)
            if beside or many
            else valid.mark_area(opacity=0.18, strokeWidth=0, clip=True)
        )
        layers.append(
            band.encode(y=alt.Y(low, title=y_title, scale=scale), y2=alt.Y2("high:Q"), detail=alt.Detail("curve:N"))
        )
    with_form = [row for row in shown if row["closed_form"] is not None]
    lines = base if beside else base.encode(strokeDash=dashed)
    if with_form:
        valid = lines.transform_filter("isValid(datum.closed_form)")
        exact = valid.mark_tick(thickness=2, size=16) if beside else valid.mark_line(strokeWidth=1.6)
        layers.append(exact.encode(y=alt.Y("closed_form:Q", title=y_title, scale=scale)))
    if not beside and len(with_form) < len(shown):
        joined = lines.transform_filter("!isValid(datum.closed_form)")
        joined = joined.mark_line(strokeWidth=1.2, opacity=0.55) if with_form else joined.mark_line(strokeWidth=1.8)
        layers.append(joined.encode(y=mean))
    points = base.mark_point(filled=True, size=26, opacity=1).encode(y=mean, tooltip=_tooltip(figure, rows))
    layers.append(points.encode(detail=alt.Detail("curve:N")))
    # Every step above copies its chart whole: the data come last.
    return alt.layer(*layers, data={"values": shown})


def _y_scale(figure: Figure, shown: Sequence[Mapping[str, Any]]) -> altair.Scale:
    """The vertical scale, with room beyond its ends: the page clips what is drawn, and points would lose a half."""
    import altair as alt

    if figure.logarithmic:
        return alt.Scale(type="log", nice=False, padding=EDGE)
    whole = max(curve.scale for curve in figure.y)
    if all(is_share(curve.column) for curve in figure.y) and any(
        (row["high"] or row["mean"] or 0) > whole / 2 for row in shown
    ):
        # Shares of more than half: the axis ends where the whole does.
        return alt.Scale(domain=[0, whole], padding=EDGE)
    return alt.Scale(zero=True, nice=False, padding=EDGE)


def specification(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The chart as a Vega-Lite specification whose legend switches series, beside the data where there is room."""
    # Held against the schema of Vega-Lite by the tests: that takes three times as long as the rest.
    spec: dict[str, Any] = chart(figure, rows).to_dict(validate=False)
    metrics = _colours_metrics(figure, rows)
    names = (
        [curve.label for curve in figure.y] if metrics else list(dict.fromkeys(str(row["series"]) for row in rows))
    )
    switched = 1 < len(names) <= NAMED
    field = "curve" if metrics else "series"
    for layer in spec["layer"]:
        layer.pop("name", None)
        for channel in ("color", "strokeDash"):
            for of_place in ("orient", "columns", "labelLimit", "titleOrient"):
                (layer["encoding"].get(channel, {}).get("legend") or {}).pop(of_place, None)
        if switched:
            layer["transform"] = [*layer.get("transform", []), {"filter": {"param": "alone"}}]
    zoomed = ["y"] if _beside(figure, rows) else ["x", "y"]
    zoom = {"name": "zoom", "select": {"type": "interval", "encodings": zoomed}, "bind": "scales"}
    switch = {"type": "point", "fields": [field], "toggle": "true"}
    alone = [{"name": "alone", "select": switch, "bind": "legend"}] if switched else []
    spec["layer"][-1]["params"] = [zoom, *alone]
    grey = [] if _beside(figure, rows) else beyond(figure, rows)
    if grey:
        spec["layer"].insert(0, _grey(grey, spec["layer"][-1]["encoding"]["x"]))
    # Curves that dashes tell apart have names in the legend too.
    dashes = [curve.label for curve in figure.y] if len(figure.y) > 1 and not metrics else []
    meta = {"legend": [*names, *dashes], "dashes": len(dashes)} if switched or len(figure.y) > 1 else {"legend": []}
    return {**spec, "usermeta": meta}


def _grey(parts: Sequence[tuple[float, float]], x: Mapping[str, Any]) -> dict[str, Any]:
    """A layer that greys parts of the axis, behind all others."""
    return {
        "data": {"values": [{"start": start, "end": end} for start, end in parts]},
        "mark": {"type": "rect", "color": "#808080", "opacity": BEYOND_OPACITY, "clip": True},
        "encoding": {"x": {**x, "field": "start"}, "x2": {"field": "end"}},
    }


def _beside(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether values are so few that they stand beside each other; metrics that dashes tell apart need lines."""
    told = len(figure.y) == 1 or _colours_metrics(figure, rows)
    return told and len({row["x"] for row in rows}) <= BESIDE


def _colours_metrics(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether colours tell metrics apart; where there are several series they tell these."""
    return len(figure.y) > 1 and len({row["series"] for row in rows}) == 1


def _dash_legend(*, grey: bool) -> altair.Legend:
    import altair as alt

    return alt.Legend(
        orient="bottom",
        symbolType="stroke",
        symbolSize=300,
        symbolStrokeWidth=2,
        symbolStrokeColor="#808080" if grey else alt.Undefined,
        symbolFillColor="transparent",
        symbolOpacity=1,
    )


def _colour(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> altair.Color:
    import altair as alt

    if _colours_metrics(figure, rows):
        labels = [curve.label for curve in figure.y]
        scale = alt.Scale(domain=labels, range=list(COLOURS[: len(labels)]))
        # The same legend as that of the dashes: one is drawn for both.
        legend = alt.Undefined if _beside(figure, rows) else _dash_legend(grey=False)
        return alt.Color("curve:N", title=None, sort=labels, scale=scale, legend=legend)
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(series))]
    legend = alt.Legend(
        orient="bottom", columns=2, labelLimit=360, titleOrient="left", symbolOpacity=1, symbolType="circle"
    )
    return alt.Color(
        "series:N",
        title=figure.series_title or None,
        sort=series,
        scale=alt.Scale(domain=series, range=colours),
        legend=legend if len(series) > 1 else None,
    )


def _tooltip(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> list[altair.Tooltip]:
    import altair as alt

    tooltip = [alt.Tooltip("series:N", title=figure.series_title or "line")] if figure.series else []
    if len(figure.y) > 1:
        tooltip.append(alt.Tooltip("curve:N", title="metric"))
    told = {"x": figure.x_title, "mean": "mean", "low": "95 % from", "high": "to"}
    if any(row["closed_form"] is not None for row in rows):
        told["closed_form"] = figure.closed_form_title
    tooltip += [
        alt.Tooltip(f"{name}:Q", title=title, format=d3_format([row[name] for row in rows], 4))
        for name, title in told.items()
    ]
    tooltip.append(alt.Tooltip("samples:Q", title="replications"))
    return tooltip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
