"""Bars of parts, one behind the other: an interactive figure of them, each with a legend that switches its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars

from roamsim.pictures.charts import whole_ticks
from roamsim.tables.significant import d3_format

#: Height of a bar with the space to the next one, in pixels (chosen: a line of small print).
ROW = 18


@dataclass(frozen=True)
class Bars:
    """Bars over one axis.

    Attributes:
        title: what the axis shows, with its unit.
        names: what the bars are of.
        parts: of each part in its order, as the legend calls it, the values of all bars.
        colours: of the parts, in their order; those of an order from dark to bright where it is empty.
        pale: what of each part is drawn pale behind it, by part.
        pale_words: what that is.
        most: where the axis ends, where that is known.
    """

    title: str
    names: Sequence[str]
    parts: Mapping[str, Sequence[float]]
    colours: Sequence[str] = ()
    pale: Mapping[str, Sequence[float]] = field(default_factory=dict)
    pale_words: str = ""
    most: float | None = None


def parts_of(
    title: str,
    frame: polars.DataFrame,
    names: Sequence[str],
    parts: Mapping[str, tuple[str, str]],
    scale: float = 1.0,
    most: float | None = None,
) -> Bars:
    """The bars of a table: of each column its part and colour; values times `scale`."""
    values = {label: [scale * (value or 0.0) for value in frame[column]] for column, (label, _) in parts.items()}
    return Bars(title, names, values, [colour for _, colour in parts.values()], most=most)


def specification(figures: Sequence[Bars]) -> dict[str, Any]:
    """The Vega-Lite specification of several, one under the other; the page gives bars and names their widths."""
    views = [_view(bars, number) for number, bars in enumerate(figures)]
    resolve = {"scale": {"color": "independent", "x": "independent", "y": "independent"}}
    return {"concat": views, "columns": 1, "spacing": 14, "resolve": resolve}


def _view(bars: Bars, number: int) -> dict[str, Any]:
    names = list(bars.parts)
    rows = []
    for place, (part, values) in enumerate(bars.parts.items()):
        for name, value in zip(bars.names, values, strict=True):
            rows.append({"name": name, "part": part, "value": value, "place": 2 * place, "opacity": 1.0})
        for name, value in zip(bars.names, bars.pale.get(part, ()), strict=False):
            rows.append({"name": name, "part": part, "value": value, "place": 2 * place + 1, "opacity": 0.35})
    colours = {"range": list(bars.colours)} if bars.colours else {"scheme": "viridis"}
    legend = {"title": None, "orient": "top", "symbolType": "square", "symbolLimit": 0} if len(names) > 1 else None
    scale: dict[str, Any] = {"domain": [0, bars.most]} if bars.most else {"zero": True}
    tooltip = [
        {"field": "name", "type": "nominal", "title": "of"},
        {"field": "part", "type": "nominal", "title": "part"},
        {
            "field": "value",
            "type": "quantitative",
            "title": bars.title,
            "format": d3_format([row["value"] for row in rows], 4),
        },
        *([{"field": "how", "type": "nominal", "title": "how"}] if bars.pale else []),
    ]
    how = {"calculate": f"datum.opacity < 1 ? '{bars.pale_words}' : 'answered'", "as": "how"}
    switch = {"type": "point", "fields": ["part"], "toggle": "true"}
    alone = {"name": f"alone{number}", "select": switch, "bind": "legend"}
    zoom = {"name": f"zoom{number}", "select": {"type": "interval", "encodings": ["x"]}, "bind": "scales"}
    return {
        "title": {
            "text": bars.title,
            "anchor": "start",
            "frame": "group",
            "fontSize": 12,
            "fontWeight": 500,
            "offset": 4,
        },
        "data": {"values": rows},
        "height": {"step": ROW},
        "transform": [
            *([how] if bars.pale else []),
            *([{"filter": {"param": f"alone{number}"}}] if legend else []),
        ],
        "params": [zoom, *([alone] if legend else [])],
        "mark": {"type": "bar", "height": {"band": 0.75}, "clip": True},
        "encoding": {
            "y": {
                "field": "name",
                "type": "nominal",
                "sort": None,
                "title": None,
                "scale": {"domain": list(dict.fromkeys(bars.names))},
                "axis": {"ticks": False, "domain": False, "labelOverlap": False},
            },
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": None,
                "stack": "zero",
                "scale": scale,
                "axis": {"tickCount": 5, **whole_ticks(_whole(bars)), **({"format": "~s"} if _large(bars) else {})},
            },
            "order": {"field": "place", "type": "quantitative"},
            "opacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
            "color": {
                "field": "part",
                "type": "nominal" if bars.colours else "ordinal",
                "sort": names,
                "scale": {"domain": names, **colours},
                "legend": legend,
            },
            "tooltip": tooltip,
        },
    }


def _whole(bars: Bars) -> bool:
    """Whether all values are whole numbers."""
    return all(float(value).is_integer() for values in bars.parts.values() for value in values)


def _large(bars: Bars) -> bool:
    """Whether values are long numbers, which a prefix shortens."""
    return max((value for values in bars.parts.values() for value in values), default=0.0) >= 10_000
