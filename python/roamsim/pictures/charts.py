"""The grammar of interactive figures: Vega-Lite specifications of curves, dots and differences, and their colours.

Every figure of a page goes through here: values under the pointer, zoom, a legend whose names switch series, axes in
words and units. The page gives a figure its width, and puts its legend beside the data or below
(`pages/report.html`); `usermeta` tells it what it has to know for that.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars

from roamsim.estimates.curves import Curves
from roamsim.tables.significant import d3_format, significant

#: Colours of series, in their order: distinct for most readers, and with a contrast of 3 or more to the light and the
#: dark ground (chosen; the hues of Okabe and Ito 2008, darkened or lightened for that).
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#ac9050",
    "#4094fc",
    "#8c6bb1",
    "#7a7a7a",
    "#c63054",
    "#4d9221",
    "#a6761d",
    "#c217a8",
)

#: Shapes of points and dashes of lines, in their order: series of more than there are colours have the next ones.
SHAPES = ("circle", "square", "triangle-up")
DASHES = ((1, 0), (6, 3), (2, 2))

#: Values of an axis up to which nothing is joined: a line from one to another would show a course that nobody has
#: measured (chosen).
BESIDE = 2

#: Pixels from one to the next of the points at one of so few values (chosen).
BESIDE_PIXELS = 7

#: Series whose intervals are bands (chosen: more lie on each other), and values along x from which on (chosen:
#: of fewer a band would be mostly between them). Others have lines at their points, and those that have no name in a
#: legend are read under the pointer.
BANDS, BAND_VALUES = 6, 4

#: Series that a legend names (chosen: more fill a page, and no reader tells their colours apart).
NAMED = 24

#: Letters of a line of a legend's title (chosen: the page gives a legend beside its figure 240 pixels).
TITLE_LETTERS = 34

#: Panels of a figure (chosen: two rows of six on a wide screen).
PANELS = 12

#: Rows of dots in a figure (chosen: a page on a screen).
DOTS = 60

#: Whether a difference is shown, and the colour of either.
SHOWN = {"difference shown": COLOURS[0], "no difference shown": COLOURS[7]}

#: Panels in a row.
COLUMNS = 2

#: Of a scale of values: pixels beyond its ends. The page clips what is drawn, and points there would lose a half.
EDGES: Mapping[str, Any] = {"nice": False, "padding": 5}

#: Height of a figure with axes for numbers, of a panel, and of a line of dots, in pixels (chosen).
HEIGHT, PANEL_HEIGHT, DOT_HEIGHT = 320, 190, 26


@dataclass(frozen=True)
class Marked:
    """What a series is known by: the colour of its line and points, the dashes of the one, the shape of others."""

    colour: str
    shape: str = SHAPES[0]
    dash: Sequence[int] = DASHES[0]


class Palette:
    """What a series is known by: the same in every figure of a page. It repeats from the 37th series on."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def of(self, names: Iterable[str]) -> list[Marked]:
        """What these series are known by; those that are new take the next ones."""
        return [self._at(self._places.setdefault(name, len(self._places))) for name in names]

    @staticmethod
    def _at(place: int) -> Marked:
        turn, colour = divmod(place, len(COLOURS))
        return Marked(COLOURS[colour], SHAPES[turn % len(SHAPES)], DASHES[turn % len(DASHES)])


def whole_ticks(counts: bool) -> dict[str, Any]:
    """Properties of an axis: counts have ticks at whole numbers only."""
    return {"tickMinStep": 1} if counts else {}


def chart(drawn: Curves, palette: Palette | None = None, order: Sequence[str] = ()) -> dict[str, Any]:
    """A figure of curves: lines with intervals where numbers were varied, dots with intervals elsewhere.

    Where both rows of the table and further varied values are to be told apart, a row has a panel.

    Args:
        drawn: the curves.
        palette: the colours of the page.
        order: of dots, the names in the order in which they are to stand.
    """
    frame = drawn.shown()
    lines = drawn.over_numbers and frame["x"].n_unique() > 1
    series = frame["series"].unique(maintain_order=True).to_list()
    marked = (palette or Palette()).of(series)
    return _lines(drawn, frame, series, marked) if lines else _dots(drawn, frame, series, marked, order)


def _lines(drawn: Curves, frame: polars.DataFrame, series: list[str], marked: list[Marked]) -> dict[str, Any]:
    values = frame["x"].unique().sort().to_list()
    axis: dict[str, Any] = {"format": d3_format(values, 6)} if max(map(abs, values)) < 1e6 else {}
    if len(values) <= 12:
        axis |= {"values": values, "labelOverlap": "greedy"}
    look = Look(
        drawn.x_title,
        drawn.y_title,
        drawn.group_words,
        drawn.logarithmic_x(),
        axis,
        _y_scale(drawn, frame),
        whole_ticks(drawn.counts),
    )
    return _curves(frame.with_columns(level=False), look, series, marked, _tooltip(drawn, frame, "quantitative"))


@dataclass(frozen=True)
class Look:
    """What the axes of curves are called, and how they are.

    Attributes:
        x_title: what was varied, with its unit.
        y_title: what was measured, with its unit.
        words: what series are told apart by; empty where their names say it.
        logarithmic_x: whether the axis of what was varied is.
        x_axis: properties of it, as Vega-Lite has them.
        y_scale: of the vertical scale.
        y_axis: properties of the vertical axis.
    """

    x_title: str
    y_title: str
    words: str = ""
    logarithmic_x: bool = False
    x_axis: Mapping[str, Any] = field(default_factory=dict)
    y_scale: Mapping[str, Any] = field(default_factory=lambda: {"zero": True, **EDGES})
    y_axis: Mapping[str, Any] = field(default_factory=dict)


def curves(
    rows: Sequence[Mapping[str, Any]],
    look: Look,
    colours: Mapping[str, str] | None = None,
    levels: Collection[str] = (),
) -> dict[str, Any]:
    """A figure of curves that are given point by point.

    Where there are no more than two values along x, intervals are lines, and nothing is joined.

    Args:
        rows: `panel`, `series`, `x`, `mean`, `low` and `high`; without ends where there is no interval. Series and
            panels stand in the order of the rows.
        look: of its axes.
        colours: of the series, where they have their own.
        levels: series that are known between their ends, not measured at points: lines without them.
    """
    frame = polars.DataFrame(list(rows), infer_schema_length=None).with_columns(
        polars.col("x", "mean", "low", "high").cast(polars.Float64),
        samples=polars.lit(None),
        missing=polars.lit(0.0),
        level=polars.col("series").is_in(list(levels)),
    )
    series = frame["series"].unique(maintain_order=True).to_list()
    own = [Marked(colours[name]) for name in series] if colours else Palette().of(series)
    told = [("series", "nominal", look.words or "of"), ("x", "quantitative", look.x_title)]
    told += [("mean", "quantitative", look.y_title)]
    if frame["low"].is_not_null().any():
        told += [("low", "quantitative", "95 % from"), ("high", "quantitative", "to")]
    tooltip = [
        {"field": name, "type": kind, "title": title}
        | ({"format": d3_format(frame[name], 4)} if kind == "quantitative" else {})
        for name, kind, title in told
    ]
    return _curves(frame, look, series, own, tooltip)


def _curves(
    frame: polars.DataFrame, look: Look, series: list[str], marked: list[Marked], tooltip: list[dict[str, Any]]
) -> dict[str, Any]:
    measured = frame.filter(~polars.col("level"))
    few = measured["x"].n_unique() <= BESIDE
    edge = 8 + few * BESIDE_PIXELS * measured["series"].n_unique() / 2
    x = {
        "field": "x",
        "type": "quantitative",
        "title": look.x_title,
        "axis": dict(look.x_axis),
        "scale": {"nice": False, "padding": edge, **({"type": "log"} if look.logarithmic_x else {"zero": False})},
    }
    y: dict[str, Any] = {"field": "mean", "type": "quantitative", "title": look.y_title}
    y |= {"scale": dict(look.y_scale), "axis": dict(look.y_axis)}
    colour, dashes, shapes = _apart(series, marked, look.words)
    encoded = {"x": x, "color": colour}
    joined = frame.filter("level") if few else frame
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers: list[dict[str, Any]] = []
    if joined["low"].is_not_null().any() and len(series) <= NAMED:
        bands = len(series) <= BANDS and measured["x"].n_unique() >= BAND_VALUES
        levels = measured.height < frame.height
        if bands or levels:
            band = {"type": "area", "opacity": 0.16, "strokeWidth": 0, "tooltip": None}
            test = "" if bands else " && datum.level"
            layers.append(_layer(band, {**encoded, **ends}, f"datum.low !== null{test}"))
        if not bands and not few:
            rule = {"type": "rule", "opacity": 0.7, "tooltip": None}
            test = " && !datum.level" if levels else ""
            layers.append(_layer(rule, {**encoded, **ends}, f"datum.low !== null{test}"))
    if joined.height:
        line = {"type": "line", "strokeWidth": 1.8, "tooltip": None}
        layers.append(_layer(line, {**encoded, **dashes, "y": y}, "datum.level" if few else None))
    told = {**encoded, **shapes, "y": y, "tooltip": tooltip}
    if few:
        layers += _beside(measured, told, {**encoded, **ends})
    else:
        layers += [
            _of(layer, "!datum.level") if measured.height < frame.height else layer
            for layer in _points(measured, told)
        ]
    return _figure(frame, layers, series, HEIGHT)


def _beside(measured: polars.DataFrame, told: dict[str, Any], ends: dict[str, Any]) -> list[dict[str, Any]]:
    """Points with their intervals, those of a value along x beside each other in the order of their series."""
    own = measured["series"].unique(maintain_order=True).to_list()
    layers = []
    for place, name in enumerate(own):
        frame = measured.filter(polars.col("series") == name)
        rule = _layer({"type": "rule", "strokeWidth": 2, "tooltip": None}, ends, "datum.low !== null")
        for layer in (*([rule] if frame["low"].is_not_null().any() else []), *_points(frame, told)):
            layer["mark"] |= {"xOffset": BESIDE_PIXELS * (place - (len(own) - 1) / 2)}
            layers.append(_of(layer, f"datum.series === {json.dumps(name)}"))
    return layers


def _of(layer: dict[str, Any], test: str) -> dict[str, Any]:
    return {**layer, "transform": [*layer.get("transform", []), {"filter": test}]}


def _dots(
    drawn: Curves, frame: polars.DataFrame, series: list[str], marked: list[Marked], order: Sequence[str]
) -> dict[str, Any]:
    """A line of dots for each value of what was varied, and on it a dot with its interval for each series."""
    frame = frame.with_columns(
        x=polars.Series([significant(x, 6) for x in frame["x"]], dtype=polars.String)
        if drawn.over_numbers
        else polars.col("x")
    )
    names = frame["x"].unique(maintain_order=True).to_list()
    if set(order) == set(names):
        names = list(order)
    if len(names) > DOTS:
        names = names[:DOTS]
        frame = frame.filter(polars.col("x").is_in(names))
    several = len(series) > 1 and series != names
    y: dict[str, Any] = {
        "field": "x",
        "type": "nominal",
        "title": None,
        "sort": names,
        "axis": {"labelLimit": 220, "grid": True, "ticks": False, "domain": False, "labelOverlap": False},
        "scale": {"type": "band", "paddingInner": 0.15, "paddingOuter": 0.1},
    }
    x = {
        "field": "mean",
        "type": "quantitative",
        "title": drawn.y_title,
        "scale": _y_scale(drawn, frame),
        "axis": {"labelFlush": True, **whole_ticks(drawn.counts)},
    }
    colour, _, shapes = _apart(series, marked, drawn.group_words)
    encoded: dict[str, Any] = {"y": y, "color": colour if several else {"value": marked[0].colour}}
    if several:
        encoded["yOffset"] = {"field": "series", "type": "nominal", "sort": series, "scale": {"paddingOuter": 0.3}}
    layers: list[dict[str, Any]] = []
    if frame["low"].is_not_null().any():
        ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
        layers.append(
            _layer({"type": "rule", "strokeWidth": 2, "tooltip": None}, {**encoded, **ends}, "datum.low !== null")
        )
    layers += _points(
        frame, {**encoded, **(shapes if several else {}), "x": x, "tooltip": _tooltip(drawn, frame, "nominal")}
    )
    each = DOT_HEIGHT if not several else max(DOT_HEIGHT, 12 * len(series) + 6)
    spec = _figure(frame, layers, series if several else series[:1], each * len(names))
    spec["usermeta"]["dots"] = True
    return spec


def differences(rows: Sequence[Mapping[str, Any]], title: str) -> dict[str, Any]:
    """A figure of differences in pairs: a line each, its interval beside the line at 0.

    Args:
        rows: `panel` (where), `pair` (what is held against what), `mean`, `low`, `high`, `shown` (one of `SHOWN`) and
            `sentence`; without ends where the interval is open.
        title: of the axis.
    """
    panels = list(dict.fromkeys(row["panel"] for row in rows))[:PANELS]
    rows = [row for row in rows if row["panel"] in panels]
    # Pairs in the order of their panel; the same pair may stand elsewhere in another.
    names = list(dict.fromkeys(row["pair"] for row in rows))
    y = {
        "field": "pair",
        "type": "nominal",
        "title": None,
        "sort": names,
        "axis": {"labelLimit": 260, "grid": True, "ticks": False, "domain": False, "labelOverlap": False},
        "scale": {"type": "band"},
    }
    x: dict[str, Any] = {"field": "mean", "type": "quantitative", "title": title, "scale": EDGES}
    x |= {"axis": {"labelFlush": True}}
    domain = [shown for shown in SHOWN if any(row["shown"] == shown for row in rows)]
    colour = {
        "field": "shown",
        "type": "nominal",
        "scale": {"domain": domain, "range": [SHOWN[shown] for shown in domain]},
        "legend": {"title": None} if len(domain) > 1 else None,
    }
    tooltip = [{"field": "sentence", "type": "nominal", "title": "difference"}]
    encoded = {"y": y, "color": colour}
    layers = [
        {"mark": {"type": "rule", "strokeDash": [4, 3], "tooltip": None}, "encoding": {"x": {"datum": 0}}},
        _layer(
            {"type": "rule", "strokeWidth": 2.5},
            {**encoded, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "tooltip": tooltip},
            "datum.low !== null",
        ),
        {
            **_layer(
                {"type": "point", "filled": True, "size": 60, "opacity": 1}, {**encoded, "x": x, "tooltip": tooltip}
            ),
            "params": [_zoom(["x"])],
        },
    ]
    data = {"values": [dict(row) for row in rows]}
    meta: dict[str, Any] = {"legend": domain if len(domain) > 1 else [], "dots": True}
    if len(panels) == 1:
        return {"data": data, "layer": layers, "height": DOT_HEIGHT * len(names), "usermeta": meta}
    return {
        "data": data,
        "facet": {"field": "panel", "type": "nominal", "title": None, "sort": panels, "header": {"labelLimit": 260}},
        "columns": COLUMNS,
        "spec": {"layer": layers, "width": 300, "height": {"step": DOT_HEIGHT}},
        "resolve": {"scale": {"y": "independent"}, **_axes_of(panels)},
        "usermeta": {**meta, "panels": len(panels)},
    }


def _figure(frame: polars.DataFrame, layers: list[dict[str, Any]], series: list[str], height: int) -> dict[str, Any]:
    """The layers over their data, in panels where the rows of a table have their own."""
    switched = 1 < len(series) <= NAMED
    if switched:
        layers[-1]["params"] = [
            _zoom(["x", "y"] if height == HEIGHT else ["x"]),
            {
                "name": "alone",
                "select": {"type": "point", "fields": ["series"], "toggle": "true"},
                "bind": "legend",
            },
        ]
        for layer in layers:
            layer["transform"] = [*layer.get("transform", []), {"filter": {"param": "alone"}}]
    else:
        layers[-1]["params"] = [_zoom(["x", "y"] if height == HEIGHT else ["x"])]
    panels = frame["panel"].unique(maintain_order=True).to_list()[:PANELS]
    if len(panels) > 1:
        frame = frame.filter(polars.col("panel").is_in(panels))
    columns = ["x", "series", "mean", "low", "high", "samples", "missing", *(["panel"] if len(panels) > 1 else [])]
    columns += ["level"] if "level" in frame.columns and frame["level"].any() else []
    data = {"values": frame.select(columns).to_dicts()}
    meta: dict[str, Any] = {"legend": series if switched else []}
    if len(panels) == 1:
        return {"data": data, "layer": layers, "height": height, "usermeta": meta}
    return {
        "data": data,
        "facet": {"field": "panel", "type": "nominal", "title": None, "sort": panels, "header": {"labelLimit": 260}},
        "columns": COLUMNS,
        "spec": {"layer": layers, "width": 300, "height": PANEL_HEIGHT if height == HEIGHT else height},
        "resolve": _axes_of(panels),
        "usermeta": {**meta, "panels": len(panels)},
    }


def _axes_of(panels: Sequence[str]) -> dict[str, Any]:
    """Each panel has its own axis where the last row is not full: a common one would stand below no panel."""
    return {"axis": {"x": "independent"}} if len(panels) % COLUMNS else {}


def _layer(mark: dict[str, Any], encoding: dict[str, Any], test: str | None = None) -> dict[str, Any]:
    layer: dict[str, Any] = {"mark": mark, "encoding": encoding}
    if test:
        layer["transform"] = [{"filter": test}]
    return layer


def _points(frame: polars.DataFrame, encoding: dict[str, Any]) -> list[dict[str, Any]]:
    """Points, hollow where messages are missing in their mean; a wide ring that cannot be seen takes the pointer."""
    layers = []
    if (frame["missing"] > 0).any():
        hollow = {"type": "point", "filled": False, "size": 36, "opacity": 1, "tooltip": None}
        layers.append(_layer(hollow, encoding, "datum.missing > 0"))
    if (frame["missing"] == 0).any():
        filled = {"type": "point", "filled": True, "size": 36, "opacity": 1, "tooltip": None}
        layers.append(_layer(filled, encoding, "datum.missing === 0"))
    layers.append(_layer({"type": "point", "filled": True, "size": 350, "opacity": 0}, encoding))
    for layer in layers[:-1]:
        layer["encoding"] = {key: value for key, value in encoding.items() if key != "tooltip"}
    return layers


def _y_scale(drawn: Curves, frame: polars.DataFrame) -> dict[str, Any]:
    """From 0 where that leaves the values room; shares end where the whole does if they come near."""
    if drawn.logarithmic_y():
        return {"type": "log", **EDGES}
    ends = polars.concat([frame["mean"], frame["low"], frame["high"]]).drop_nulls().to_list()
    low, high = min(ends), max(ends)
    if drawn.metric.share and high > 50:
        return {"domain": [0 if low < 50 else low, 100], **EDGES}
    return {"zero": low < 0.6 * high, **EDGES}


def _apart(
    series: list[str], marked: list[Marked], title: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What tells series apart: colours, and of those beyond them dashes and shapes, too. One legend for all."""
    lines = textwrap.wrap(title, TITLE_LETTERS)
    titled = lines if len(lines) > 1 else title or None
    legend = {"title": titled, "titleLimit": 300} if 1 < len(series) <= NAMED else None
    dashes, shapes = {}, {}
    if any(one != Marked(one.colour) for one in marked):
        # A dashed outline would eat into the shapes.
        legend = legend and {**legend, "symbolStrokeWidth": 0}
        dashes = {"strokeDash": {**_by_series(series, [list(one.dash) for one in marked]), "legend": None}}
        shapes = {"shape": {**_by_series(series, [one.shape for one in marked]), "legend": legend}}
    return {**_by_series(series, [one.colour for one in marked]), "legend": legend}, dashes, shapes


def _by_series(series: list[str], looks: list[Any]) -> dict[str, Any]:
    return {"field": "series", "type": "nominal", "scale": {"domain": series, "range": looks}, "sort": series}


def _zoom(channels: list[str]) -> dict[str, Any]:
    return {"name": "zoom", "select": {"type": "interval", "encodings": channels}, "bind": "scales"}


def _tooltip(drawn: Curves, frame: polars.DataFrame, kind: str) -> list[dict[str, Any]]:
    """What the pointer reads."""
    tooltip: list[dict[str, Any]] = []
    if drawn.in_panels:
        tooltip.append({"field": "panel", "type": "nominal", "title": "of"})
    if len(drawn.groups) > 1 or (len(drawn.rows) > 1 and drawn.x_words):
        tooltip.append({"field": "series", "type": "nominal", "title": drawn.group_words or "of"})
    shown = {"format": d3_format(frame["x"], 4)} if kind == "quantitative" else {}
    tooltip.append({"field": "x", "type": kind, "title": drawn.x_title or "of", **shown})
    unit = f", {drawn.y_scale.unit}" if drawn.y_scale.unit else ""
    for name, title in (("mean", f"mean{unit}"), ("low", "95 % from"), ("high", "to")):
        tooltip.append({"field": name, "type": "quantitative", "title": title, "format": d3_format(frame[name], 4)})
    tooltip.append({"field": "samples", "type": "quantitative", "title": "replications"})
    if (drawn.frame["missing"] > 0).any():
        tooltip.append({"field": "missing", "type": "quantitative", "title": "messages missing", "format": ".2%"})
    return tooltip
