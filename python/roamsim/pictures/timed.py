"""Panels over one axis of time with any number of samples; the page draws as many as its width can show.

Values that hold until the next one, marks of single instants, and spans. A figure holds all of them; the page
(`pages/thinned.js`) draws of the part that is shown what a pixel can tell apart, and more as a reader zooms in. The
panels zoom together, one legend switches series in all of them, and the pointer reads values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars

from roamsim.pictures.charts import NAMED, whole_ticks
from roamsim.tables.significant import d3_format

#: How marks look. `step`: a value holds until the next; `span`: from an instant to another; `rule`: over values.
Kind = Literal["step", "span", "rule", "dot", "ring", "cross", "tick", "plus", "triangle"]

#: Outlines of marks for which Vega has no name.
SHAPES = {
    "ring": "circle",
    "cross": "M-1,-1L1,1M-1,1L1,-1",
    "tick": "M0,-1L0,1",
    "plus": "M-1,0L1,0M0,-1L0,1",
    "triangle": "triangle-up",
}

#: Areas of marks, in square pixels (chosen).
SIZES = {"dot": 14, "ring": 40, "cross": 34, "tick": 34, "plus": 44, "triangle": 34}

#: Which marks lie on which, the lowest first.
ORDER: Sequence[Kind] = ("span", "rule", "step", "dot", "ring", "tick", "plus", "triangle", "cross")

#: Samples that a figure holds (chosen: a page of 13 MB, which opens within two seconds).
HELD = 1_000_000

#: Significant digits of values that are no whole numbers (chosen: of a million segments each has a place of its own).
DIGITS = 7

#: Room on paper that panels need for their titles, and for numbers and legend beside them, in pixels (chosen).
BETWEEN, BESIDE = 34, 200

#: Height of a line of a legend in pixels, and names beside each other in one below the panels (chosen).
LEGEND_LINE, LEGEND_COLUMNS = 14, 5

#: Room for the numbers of vertical axes, so that the panels stand under each other, in pixels.
LEFT = 44


@dataclass(frozen=True)
class Marks:
    """The marks of one kind that a series has in a panel.

    Attributes:
        series: what the legend calls them.
        colour: theirs, the same for all of a series.
        kind: how they look.
        frame: in order of time: `t`, and `v`; of rules `low` and `high`; of spans `until`, `low` and `high`.
    """

    series: str
    colour: str
    kind: Kind
    frame: polars.DataFrame


@dataclass(frozen=True)
class Panel:
    """One of the panels.

    Attributes:
        title: what it shows, with its unit.
        marks: what is in it.
        height: in pixels.
        axis: properties of its vertical axis, as Vega-Lite has them.
        scale: of its vertical scale; from zero on unless it says otherwise.
        place: Vega's expression for where a span or a rule of `datum` is, in words; its values are told without one.
    """

    title: str
    marks: Sequence[Marks]
    height: int = 140
    axis: Mapping[str, Any] = field(default_factory=dict)
    scale: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""


def span_of(panels: Iterable[Panel]) -> tuple[float, float]:
    """When the first mark is, and when the last one ends."""
    ends = [
        mark.frame[column]
        for panel in panels
        for mark in panel.marks
        for column in ("t", "until")
        if column in mark.frame.columns and mark.frame.height
    ]
    low = min((float(values.min()) for values in ends), default=0.0)  # type: ignore[arg-type]
    high = max((float(values.max()) for values in ends), default=1.0)  # type: ignore[arg-type]
    return (low, high) if high > low else (low - 0.5, low + 0.5)


@dataclass(frozen=True)
class Figure:
    """Panels under each other.

    Attributes:
        panels: one at least.
        first_s: the part of the time that is shown at first; all of it unless given.
        whole_s: the time that there is; that of the marks unless given.
        same_y: whether the panels have one vertical scale, to be compared.
        left: room for what stands at vertical axes, so that the panels stand under each other, in pixels.
    """

    panels: Sequence[Panel]
    first_s: tuple[float, float] | None = None
    whole_s: tuple[float, float] | None = None
    same_y: bool = False
    left: int = LEFT

    @property
    def colours(self) -> dict[str, str]:
        """The colours of the series."""
        return {mark.series: mark.colour for panel in self.panels for mark in panel.marks}

    @property
    def legend_at(self) -> int:
        """The panel that has the legend: the first, or if the legend is longer than that panel, the last."""
        is_long = LEGEND_LINE * len(self.colours) > self.panels[0].height + BETWEEN
        return len(self.panels) - 1 if is_long else 0

    def specification(self) -> dict[str, Any]:
        """The Vega-Lite specification, with the marks that the page draws of beside it."""
        whole_s = self.whole_s or span_of(self.panels)
        views = self._views(self.first_s or whole_s)
        lowest = [f"marks{number}" for number in range(len(views))]
        params: list[dict[str, Any]] = [
            {"name": "here", "value": None},
            {"name": "zoom", "select": {"type": "interval", "encodings": ["x"]}, "bind": "scales", "views": lowest},
        ]
        # A switch needs the legend: of a single series there is none.
        if 1 < len(self.colours) <= NAMED:
            switch = {"type": "point", "fields": ["s"], "toggle": "true"}
            params.append({"name": "alone", "select": switch, "bind": "legend", "views": [lowest[self.legend_at]]})
            for layer in (layer for view in views for layer in view["layer"]):
                layer["transform"] = [{"filter": {"param": "alone"}}, *layer.get("transform", [])]
        for view in views:
            view["layer"][0]["name"] = lowest[views.index(view)]
            view["layer"].append(_under_the_pointer())
        held = [
            {"data": _data(number, mark.kind), "panel": number, "kind": mark.kind, "s": mark.series}
            | _columns(mark.frame)
            for number, panel in enumerate(self.panels)
            for mark in panel.marks
        ]
        return {
            **self._together(views),
            "params": params,
            "usermeta": {"held": held, "whole": list(whole_s), "left": self.left},
        }

    def printed(self, width: int, height: int | None = None) -> dict[str, Any]:
        """The Vega-Lite specification for paper, of a size in pixels: all marks in it, nothing that moves."""
        views = self._views(self.first_s or self.whole_s or span_of(self.panels))
        beside = BESIDE
        if self.legend_at:
            for layer in views[-1]["layer"]:
                layer["encoding"]["color"]["legend"] |= {"orient": "bottom", "columns": LEGEND_COLUMNS}
            beside = LEFT
        if height is not None:
            room = max(20 * len(views), height - BETWEEN * (len(views) + 1))
            whole = sum(view["height"] for view in views)
            views = [{**view, "height": room * view["height"] / whole} for view in views]
        data: dict[str, list[dict[str, Any]]] = {}
        for number, panel in enumerate(self.panels):
            for mark in panel.marks:
                rows = mark.frame.with_columns(s=polars.lit(mark.series)).to_dicts()
                data.setdefault(_data(number, mark.kind), []).extend(rows)
        return {**self._together([{**view, "width": max(60, width - beside)} for view in views]), "datasets": data}

    def _together(self, views: list[dict[str, Any]]) -> dict[str, Any]:
        scales = {"color": "independent", **({"y": "shared"} if self.same_y else {})}
        return {"vconcat": views, "spacing": 8, "resolve": {"scale": scales}}

    def _views(self, shown_s: tuple[float, float]) -> list[dict[str, Any]]:
        colours = self.colours
        legend = {"title": None, "symbolLimit": 0} if 1 < len(colours) <= NAMED else None
        views = [
            _view(panel, number, shown_s, colours, legend if number == self.legend_at else None, self.left)
            for number, panel in enumerate(self.panels)
        ]
        views[-1]["layer"][0]["encoding"]["x"]["axis"] |= {"title": "time, s", "labels": True}
        return views


def _data(panel: int, kind: Kind) -> str:
    return f"held-{panel}-{kind}"


def _view(
    panel: Panel,
    number: int,
    shown_s: tuple[float, float],
    colours: Mapping[str, str],
    legend: dict[str, Any] | None,
    left: int,
) -> dict[str, Any]:
    x = {
        "field": "t",
        "type": "quantitative",
        "axis": {"title": None, "labels": False, "tickCount": 8},
        "scale": {"domain": list(shown_s), "nice": False},
    }
    y = {
        "type": "quantitative",
        "title": None,
        "axis": {
            "minExtent": left,
            "maxExtent": left,
            "tickCount": max(2, panel.height // 28),
            **({"format": "~s"} if _long(panel) else {}),
            **whole_ticks(_whole(panel)),
            **panel.axis,
        },
        "scale": panel.scale if panel.scale.get("type") == "log" else {"zero": True, **panel.scale},
    }
    colour = {
        "field": "s",
        "type": "nominal",
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": legend,
    }
    there = {mark.kind for mark in panel.marks}
    layers = []
    for kind in (kind for kind in ORDER if kind in there):
        encoding = {"x": x, "color": colour, **_vertical(kind, y)}
        if kind != "step":
            encoding["tooltip"] = _read(kind, panel)
        place = {"transform": [{"calculate": panel.place, "as": "place"}]} if panel.place else {}
        layers.append({"data": {"name": _data(number, kind)}, **place, "mark": _mark(kind), "encoding": encoding})
    title = {"text": panel.title, "anchor": "start", "fontSize": 12, "fontWeight": 500, "offset": 4}
    return {"title": title, "height": panel.height, "layer": layers}


def _long(panel: Panel) -> bool:
    """Whether values are long numbers, which a prefix shortens."""
    return max(_largest(panel), default=0.0) >= 10_000


def _largest(panel: Panel) -> list[float]:
    """The largest value of each line."""
    values = [mark.frame[column] for mark in panel.marks for column in ("v", "high") if column in mark.frame.columns]
    return [float(one.max() or 0.0) for one in values if one.len()]  # type: ignore[arg-type]


def _whole(panel: Panel) -> bool:
    """Whether all values are whole numbers."""
    values = [mark.frame["v"].drop_nulls() for mark in panel.marks if "v" in mark.frame.columns]
    return bool(values) and all((one == one.round()).all() if one.dtype.is_float() else True for one in values)


def _under_the_pointer() -> dict[str, Any]:
    """The line at the instant whose values are read."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "clip": True, "tooltip": None},
        "encoding": {
            "x": {"datum": {"expr": "here"}, "type": "quantitative"},
            "opacity": {"value": {"expr": "here === null ? 0 : 0.6"}},
        },
    }


def _vertical(kind: Kind, y: dict[str, Any]) -> dict[str, Any]:
    if kind in ("span", "rule"):
        ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
        return ends | ({"x2": {"field": "until"}} if kind == "span" else {})
    return {"y": {**y, "field": "v"}}


def _mark(kind: Kind) -> dict[str, Any]:
    if kind == "step":
        return {"type": "line", "interpolate": "step-after", "strokeWidth": 1.3, "clip": True, "tooltip": None}
    if kind == "span":
        return {"type": "rect", "clip": True}
    if kind == "rule":
        return {"type": "rule", "clip": True, "strokeWidth": 1.5, "opacity": 0.7}
    if kind == "dot":
        return {"type": "point", "filled": True, "clip": True, "size": SIZES[kind], "opacity": 1}
    looks = {"shape": SHAPES[kind], "size": SIZES[kind], "opacity": 1, "strokeWidth": 1.4}
    return {"type": "point", "filled": False, "clip": True, **looks}


def _read(kind: Kind, panel: Panel) -> list[dict[str, Any]]:
    """What the pointer says of a mark."""
    own = d3_format(_largest(panel), DIGITS)

    def of(name: str, title: str, format: str = own) -> dict[str, Any]:
        return {"field": name, "type": "quantitative", "title": title, "format": format}

    times = (
        [of("t", "from, s", ".7~g"), of("until", "to, s", ".7~g")] if kind == "span" else [of("t", "at, s", ".9~g")]
    )
    where = [{"field": "place", "type": "nominal", "title": "at"}] if panel.place else []
    values = [of("low", "from"), of("high", "to")] if kind == "rule" else [of("v", "value")] if kind != "span" else []
    return [{"field": "s", "type": "nominal", "title": "what"}, *times, *(where or values)]


def _columns(frame: polars.DataFrame) -> dict[str, str]:
    """Columns as texts of numbers: times as nanoseconds since the one before."""
    found: dict[str, str] = {}
    for column in ("t", "until", "v", "low", "high"):
        if column not in frame.columns:
            continue
        values = frame[column]
        if column in ("t", "until"):
            ns = (values * 1e9).round().cast(polars.Int64)
            values = ns.diff().fill_null(ns[0]) if column == "t" and ns.len() else ns
        elif values.dtype.is_float():
            values = polars.select(
                polars.when(values.abs() < 10**DIGITS).then(values.round_sig_figs(DIGITS)).otherwise(values.round())
            ).to_series()
            whole = (values == values.round()).all() and values.abs().max() is not None
            values = values.cast(polars.Int64) if whole and float(values.abs().max()) < 1e15 else values  # type: ignore[arg-type]
        found[column] = values.cast(polars.String).fill_null("null").str.join(",").item()
    return found


def kept(frame: polars.DataFrame, most: int) -> polars.DataFrame:
    """The samples `t`, `v` of a line, so many of them at most.

    Of equal parts of the time they are the first, the last, the lowest and the highest.
    """
    if frame.height <= most:
        return frame
    first, last = float(frame["t"].min()), float(frame["t"].max())  # type: ignore[arg-type]
    parts = max(1, most // 4)
    part = ((polars.col("t") - first) / (last - first or 1.0) * parts).floor().alias("part")
    places = (
        frame.with_row_index("place")
        .group_by(part)
        .agg(
            polars.col("place").first().alias("first"),
            polars.col("place").last().alias("last"),
            polars.col("place").get(polars.col("v").arg_min()).alias("low"),
            polars.col("place").get(polars.col("v").arg_max()).alias("high"),
        )
    )
    chosen = polars.concat([places[name] for name in ("first", "last", "low", "high")]).unique().sort()
    return frame[chosen]
