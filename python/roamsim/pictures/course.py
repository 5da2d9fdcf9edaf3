"""A run over time: rates, windows, queue delays and losses on one axis, from the table `series`.

The panels are views of one Vega-Lite specification, so that they zoom together, a legend switches lines in all that
have them, and a line under the pointer reads all values of an instant.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars

from roamsim.pictures.charts import COLOURS, whole_ticks
from roamsim.pictures.timed import LEFT
from roamsim.tables.labels import in_words
from roamsim.tables.significant import d3_format, rounded
from roamsim.tables.words import scale, titled

#: Flows, and links, that have a line of their own (chosen: more colours cannot be told apart).
FLOWS, LINKS = 10, 5

#: Parts of a run that are put together where single ones are too short: divisors of their number (200).
TOGETHER = (1, 2, 4, 5, 8, 10)

#: The share of parts at which a flow may begin or cease to deliver before parts are put together (chosen: a flow of
#: one message every second part would be a comb).
COMB = 0.2

#: Messages that a part has at least, where so many parts are put together (chosen: one more or less makes a third).
MESSAGES = 3

#: Queue delays of a link that never reach this are not drawn, in seconds (chosen: no transport notices them).
WAIT_S = 1e-4

#: Where nothing happens for this share of a run at its begin or its end, the figure opens on the rest (chosen).
QUIET = 0.25

#: What is shown after the last event, as a share of the time with events (chosen).
AFTER = 0.05

#: Colours of links, which are not those of the first flows.
LINK_COLOURS = tuple(COLOURS[place] for place in (7, 10, 9, 6, 8))


@dataclass(frozen=True)
class Panel:
    """One of the panels.

    Attributes:
        title: what it shows.
        unit: of the values; empty where they are counts.
        frame: columns `t` (where a part begins), `until`, `line`, `value`, which may be missing.
        lines: what the lines are called, in the order of their colours.
        colours: of these.
        bars: whether values are counts, drawn as bars on each other.
        stays: whether values stay as they are when nothing happens any more.
        height: in pixels.
    """

    title: str
    unit: str
    frame: polars.DataFrame
    lines: list[str]
    colours: tuple[str, ...]
    bars: bool = False
    height: int = 84
    stays: bool = False


def panels(series: polars.DataFrame, messages: Mapping[str, float], recorded: Collection[str] = ()) -> list[Panel]:
    """What the table `series` of one run has to show; panels in which nothing happens are left out.

    Args:
        series: the table.
        messages: of flows of messages, how many were delivered, by name.
        recorded: kinds of traces that the page draws sample by sample; they have no coarse panel here.
    """
    flows = _lines(series.filter(polars.col("kind") != "link"), "delivered_bytes", FLOWS)
    sparse = [count for name, count in messages.items() if count and name in flows["name"]]
    flows = _together(flows, _joined(flows, min(sparse, default=math.inf)))
    links = series.filter(kind="link")
    waiting = links.filter((polars.col("queue_delay_s").max() >= WAIT_S).over("name", "from", "to"))
    waits, drops = _lines(waiting, "queue_delay_s", LINKS), _lines(links, "lost_packets", LINKS)
    losses, colours = (flows, COLOURS) if flows["lost_packets"].sum() else (drops, LINK_COLOURS)
    rate = polars.col("delivered_bytes") * 8 / (polars.col("end_s") - polars.col("begin_s"))
    window = None
    if "cwnd" not in recorded:
        window = _panel("Congestion window", "B", flows.with_columns(value="cwnd_bytes"), COLOURS)
    found = [
        _panel("Rate", "bit/s", flows.with_columns(value=rate), COLOURS, height=140),
        window and replace(window, stays=True),
        _panel("Queue delay", "s", waits.with_columns(value="queue_delay_s"), LINK_COLOURS),
        _panel("Packets lost", "", losses.with_columns(value="lost_packets"), colours, bars=True, height=60),
    ]
    return [panel for panel in found if panel is not None]


def opening(found: list[Panel], events: Sequence[Mapping[str, Any]], end_s: float) -> tuple[float, float]:
    """The part of the run in which something happens: where a long quiet time at either end is left out."""
    active = [panel.frame.filter(polars.col("value") > 0) for panel in found]
    begins = [float(frame["t"].min()) for frame in active if frame.height]  # type: ignore[arg-type]
    ends = [
        float(frame["until"].max())  # type: ignore[arg-type]
        for panel, frame in zip(found, active, strict=True)
        if frame.height and not panel.stays
    ]
    at = [float(event["t"]) for event in events]
    begin_s, last_s = min([*begins, *at], default=0.0), max([*ends, *at], default=end_s)
    begin_s = begin_s if begin_s > QUIET * end_s else 0.0
    until_s = last_s + AFTER * (last_s - begin_s)
    return begin_s, until_s if end_s - until_s > QUIET * end_s else end_s


def left_out(series: polars.DataFrame) -> int:
    """How many flows have no line."""
    flows = series.filter(kind="flow").select("name", "from", "to").n_unique()
    others = series.filter(kind="flows")
    return max(0, flows - FLOWS) if not others.height else flows - FLOWS


def _lines(rows: polars.DataFrame, by: str, most: int) -> polars.DataFrame:
    """The rows of those that have most of something, with `line`, what each is called."""
    way = ["name", "from", "to"]
    sizes = rows.group_by(way, maintain_order=True).agg(polars.col(by).sum().alias("size"))
    largest = sizes.sort("size", descending=True, maintain_order=True).head(most).filter(polars.col("size") > 0)
    kept = rows.join(largest, on=way, how="semi", maintain_order="left")
    return kept.with_columns(_called(kept).alias("line"))


def _called(rows: polars.DataFrame) -> polars.Series:
    """What each is called: its name, and where names do not tell them apart who sends and who receives."""
    if rows["name"].n_unique() > 1 or rows.select("from", "to").n_unique() <= 1:
        return in_words(rows, ["name", "from", "to"])
    return rows.select(polars.concat_str(polars.col("from"), polars.lit(" → "), polars.col("to"))).to_series()


def _joined(flows: polars.DataFrame, messages: float) -> int:
    """How many parts are put together so that a flow of regular messages does not look like a comb.

    Args:
        flows: the rows of the flows.
        messages: those of the flow that delivered fewest, of those that deliver messages.
    """
    for count in TOGETHER:
        rows = _together(flows, count)
        delivers = (polars.col("delivered_bytes") > 0).cast(polars.Int8)
        changes = rows.group_by("line").agg((delivers.diff().abs().sum() / polars.len()).alias("changes"))
        parts = rows.group_by("line").len()["len"].max() or 1
        if (changes["changes"] <= COMB).all() and messages / parts >= MESSAGES:  # type: ignore[operator]
            return count
    return TOGETHER[-1]


def _together(rows: polars.DataFrame, count: int) -> polars.DataFrame:
    """So many parts after each other as one: counts added up, the last window."""
    if count == 1 or not rows.height:
        return rows
    part = (polars.int_range(polars.len()).over("line") // count).alias("part")
    return rows.group_by("line", "name", part, maintain_order=True).agg(
        polars.col("begin_s").first(),
        polars.col("end_s").last(),
        polars.col("delivered_bytes", "lost_packets").sum(),
        polars.col("cwnd_bytes").last(),
    )


def _panel(
    title: str, unit: str, rows: polars.DataFrame, colours: tuple[str, ...], *, bars: bool = False, height: int = 84
) -> Panel | None:
    values = polars.col("value").cast(polars.Float64)
    frame = rows.select(polars.col("begin_s").alias("t"), polars.col("end_s").alias("until"), "line", values)
    largest = frame["value"].max()
    if not largest:
        return None
    size = scale(unit, [float(largest)])  # type: ignore[arg-type]
    lines = frame["line"].unique(maintain_order=True).to_list()
    names = rows["name"].unique().to_list()
    title = f"{title} of {names[0]}" if len(names) == 1 else title
    return Panel(title, size.unit, frame.with_columns(values / size.size), lines, colours, bars, height)


def specification(
    found: list[Panel], span_s: tuple[float, float], end_s: float, events: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The Vega-Lite specification of panels under each other; the page gives them their width.

    Args:
        found: the panels, one at least.
        span_s: the part of the run that is shown at first.
        end_s: the end of the run.
        events: what happened once, `t` and `what`: a line through all panels.
    """
    # Panels of the same lines have one legend, in the first of them. A field of its own tells it from other legends.
    legends: dict[tuple[str, ...], str] = {}
    views, switches = [], []
    for number, panel in enumerate(found):
        names = tuple(panel.lines)
        first = len(names) > 1 and names not in legends
        if first:
            legends[names] = f"line{number}"
            switches.append(
                {
                    "name": f"alone_{legends[names]}",
                    "select": {"type": "point", "fields": [legends[names]], "toggle": "true"},
                    "bind": "legend",
                    "views": [f"lines{number}"],
                }
            )
        view = _view(panel, number, span_s, events, legend=first, field=legends.get(names))
        if number == len(found) - 1:
            view["layer"][0]["encoding"]["x"]["axis"] |= {"title": "time, s", "labels": True}
        views.append(view)
    zoom = {"name": "zoom", "select": {"type": "interval", "encodings": ["x"]}, "bind": "scales"}
    near = {"type": "point", "fields": ["t"], "nearest": True, "on": "pointermove", "clear": "pointerout"}
    return {
        "vconcat": views,
        "spacing": 6,
        "resolve": {"scale": {"color": "independent"}},
        "params": [
            {**zoom, "views": [f"lines{number}" for number in range(len(found))]},
            {"name": "here", "select": near, "views": [f"values{number}" for number in range(len(found))]},
            *switches,
        ],
        "usermeta": {"whole": [0.0, end_s]},
    }


def _view(
    panel: Panel,
    number: int,
    span_s: tuple[float, float],
    events: Sequence[Mapping[str, Any]],
    *,
    legend: bool,
    field: str | None,
) -> dict[str, Any]:
    """A panel: its lines or bars, what happened once, and a line under the pointer that reads all values."""
    keys = [f"v{place}" for place in range(len(panel.lines))]
    axis = {"title": None, "labels": False, "tickCount": 8}
    x = {"field": "t", "type": "quantitative", "axis": axis, "scale": {"domain": list(span_s), "nice": False}}
    y: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "axis": {"minExtent": LEFT, "maxExtent": LEFT, "tickCount": panel.height // 28, **whole_ticks(panel.bars)},
    }
    colour = {
        "field": field or "line",
        "type": "nominal",
        "scale": {
            "domain": panel.lines,
            "range": [panel.colours[at % len(panel.colours)] for at in range(len(keys))],
        },
        "legend": {"title": None} if legend else None,
    }
    mark: dict[str, Any] = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.4}
    encoding: dict[str, Any] = {"x": x, "y": y, "color": colour}
    if panel.bars:
        mark = {"type": "bar", "binSpacing": 0}
        encoding |= {"x": {**x, "bin": "binned"}, "x2": {"field": "until"}, "y": {**y, "stack": "zero"}}
    folded = [
        {"fold": keys, "as": ["key", "value"]},
        {"calculate": f"{json.dumps(panel.lines)}[toNumber(slice(datum.key, 1))]", "as": field or "line"},
        *([{"filter": {"param": f"alone_{field}"}}] if field else []),
    ]
    title = titled(panel.title, panel.unit)
    values = _wide(panel, keys, span_s[1])
    shown = [
        {"field": "t", "type": "quantitative", "title": "from, s", "format": ".5~g"},
        {"field": "until", "type": "quantitative", "title": "to, s", "format": ".5~g"},
        *(
            {
                "field": key,
                "type": "quantitative",
                "title": line,
                "format": d3_format([row.get(key) for row in values], 4),
            }
            for key, line in zip(keys, panel.lines, strict=True)
        ),
    ]
    seen = {"condition": {"param": "here", "empty": False, "value": 0.6}, "value": 0}
    what = [
        {"field": "what", "type": "nominal", "title": "event"},
        {"field": "t", "type": "quantitative", "title": "at, s", "format": ".6~g"},
    ]
    return {
        "title": {
            "text": title,
            "anchor": "start",
            "fontSize": 12,
            "fontWeight": 500,
            "offset": 4,
        },
        "height": panel.height,
        "data": {"values": values},
        "layer": [
            {
                "name": f"lines{number}",
                "transform": folded,
                "mark": {**mark, "tooltip": None},
                "encoding": encoding,
            },
            *(
                [
                    {
                        "data": {"values": [dict(event) for event in events]},
                        "mark": {"type": "rule", "strokeDash": [3, 3], "strokeWidth": 1.5},
                        "encoding": {"x": {"field": "t", "type": "quantitative"}, "tooltip": what},
                    }
                ]
                if events
                else []
            ),
            {
                "name": f"values{number}",
                "mark": {"type": "rule", "strokeWidth": 1},
                "encoding": {"x": {"field": "t", "type": "quantitative"}, "opacity": seen, "tooltip": shown},
            },
        ],
    }


def _wide(panel: Panel, keys: list[str], end_s: float) -> list[dict[str, Any]]:
    """A row a part with the values of all lines; of lines one more, at the end of the last part."""
    rows: dict[float, dict[str, Any]] = {}
    place = dict(zip(panel.lines, keys, strict=True))
    for begin, until, line, value in panel.frame.iter_rows():
        row = rows.setdefault(begin, {"t": round(begin, 9), "until": round(until, 9)})
        row[place[line]] = None if value is None else rounded(value, 5)
    told = list(rows.values())
    return told if panel.bars or not told else [*told, {**told[-1], "t": end_s, "until": end_s}]
