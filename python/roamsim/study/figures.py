"""Figures of a study: their rows from the runs, and an interactive chart of the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from roamsim import statistics
from roamsim.study.data import Data, Row, value_of
from roamsim.study.definition import Curve, Figure, Study

if TYPE_CHECKING:
    import altair

#: Colours of the lines, in their order: distinct for most readers, and on light and dark ground (chosen; the hues of
#: Okabe and Ito 2008, darkened or lightened where they would vanish on one of the grounds).
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8c6bb1",
    "#7a7a7a",
    "#b2182b",
    "#4d9221",
    "#a6761d",
    "#1b7fbd",
)


def figure_rows(study: Study, figure: Figure, data: Data) -> list[dict[str, Any]]:
    """The rows of a figure: `x`, `series`, `mean`, `low`, `high` (95 % interval), `samples`, and `closed_form`.

    Where two values of `series` differ only in the metric, the curve's label tells them apart. Missing values are
    None.
    """
    groups: dict[tuple[str, float], tuple[Row, Curve, list[float]]] = {}
    row: Row
    for experiment in figure.experiments:
        for row in data.rows(experiment, **figure.where):
            for curve in figure.y:
                names = [str(row[name]) for name in figure.series] + ([curve.label] if curve.label else [])
                at = (", ".join(names), float(row[figure.x]))
                value = value_of(row, curve.column) * curve.scale
                groups.setdefault(at, (row, curve, []))[2].append(value)
    formula = study.function(figure.closed_form) if figure.closed_form else None
    rows = []
    for (series, x), (row, curve, samples) in groups.items():
        estimate = statistics.mean(samples)
        exact = formula(row, curve.column, data) if formula else None
        rows.append(
            {
                "x": x * figure.x_scale,
                "series": series,
                "mean": _finite(estimate.mean),
                "low": _finite(estimate.low),
                "high": _finite(estimate.high),
                "samples": estimate.samples,
                "closed_form": None if exact is None else _finite(exact * curve.scale),
            }
        )
    order = {series: i for i, series in enumerate(dict.fromkeys(row["series"] for row in rows))}
    return sorted(rows, key=lambda row: (order[row["series"]], row["x"]))


def chart(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> altair.LayerChart | altair.FacetChart:
    """A chart of the rows with 95 % intervals as bands; points over lines of the closed form where there is one."""
    import altair as alt

    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(series))]
    legend = alt.Legend(orient="bottom", columns=2, labelLimit=360, titleOrient="left")
    colour = alt.Color(
        "series:N",
        title=figure.series_title or None,
        sort=series,
        scale=alt.Scale(domain=series, range=colours),
        legend=legend if len(series) > 1 else None,
    )
    x = alt.X("x:Q", title=figure.x_title, scale=alt.Scale(zero=False))
    # On a logarithmic axis there is no place for zero and less.
    shown = [row for row in rows if not figure.logarithmic or (row["mean"] or 0) > 0]
    scale = alt.Scale(type="log") if figure.logarithmic else alt.Scale(zero=True)
    tooltip = [
        alt.Tooltip("series:N", title=" "),
        alt.Tooltip("x:Q", title=figure.x_title, format=".4~g"),
        alt.Tooltip("mean:Q", title="mean", format=".4~g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("samples:Q", title="replications"),
    ]
    has_formula = any(row["closed_form"] is not None for row in rows)
    if has_formula:
        tooltip.append(alt.Tooltip("closed_form:Q", title=figure.closed_form_title, format=".4~g"))
    base = alt.Chart({"values": [dict(row) for row in shown]}).encode(x=x, color=colour)
    y = alt.Y("mean:Q", title=figure.y_title, scale=scale)
    if figure.logarithmic:
        # An interval that reaches zero has no lower end on this axis; it is drawn from the mean.
        base = base.transform_calculate(bottom="datum.low > 0 ? datum.low : datum.mean")
    low = "bottom:Q" if figure.logarithmic else "low:Q"
    layers: list[Any] = [
        base.mark_area(opacity=0.18).encode(y=alt.Y(low, title=figure.y_title, scale=scale), y2="high:Q")
    ]
    points = base.mark_point(filled=True, size=28, opacity=1).encode(y=y, tooltip=tooltip)
    if has_formula:
        layers.append(base.mark_line(strokeWidth=1.4).encode(y=alt.Y("closed_form:Q", scale=scale)))
        without = [name for name in series if all(r["closed_form"] is None for r in rows if r["series"] == name)]
        if without:
            some = base.transform_filter(alt.FieldOneOfPredicate(field="series", oneOf=without))
            layers.append(some.mark_line(strokeWidth=1.4, strokeDash=[5, 3]).encode(y=y))
    else:
        layers.append(base.mark_line(strokeWidth=1.8).encode(y=y))
    layers.append(points)
    return alt.layer(*layers)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
