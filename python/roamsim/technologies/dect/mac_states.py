"""The state diagram of the DECT MAC: the share of time in each state, and how often each arrow was taken.

States and arrows are those of docs/models/dect-mac.md; an arrow that was never taken is drawn pale. What is drawn are
the rows of the tables `dect_states` and `dect_transitions` of one type of terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars

from roamsim.pictures.charts import COLOURS
from roamsim.tables.significant import significant
from roamsim.tables.values import shown_value

#: Places of the states, in the middle of their boxes, and half the size of a box.
PLACES = {
    "Idle_Locked": (0.0, 1.6),
    "Call_Setup": (3.0, 1.6),
    "Blocked": (2.4, 3.2),
    "Active_Locked": (6.8, 1.6),
    "Bearer_HO": (5.6, 3.3),
    "Connection_HO": (8.4, 3.3),
    "Connection_Mod": (10.2, 1.6),
    "Dropped": (7.0, 4.9),
}
HALF_WIDTH, HALF_HEIGHT = 0.85, 0.29

#: What is seen of the plane of these places: its ends across and upward.
ACROSS, UPWARD = (-1.0, 11.2), (0.3, 5.3)

#: Half the size of a box where there is no room across and the diagram is turned by a right angle.
TURNED_HALF_WIDTH, TURNED_HALF_HEIGHT = 0.78, 0.36

#: How far each arrow bends to the right of its way, as a share of its length; those not named are straight.
BENDS = {
    ("Call_Setup", "Blocked"): 0.25,
    ("Blocked", "Call_Setup"): 0.25,
    ("Blocked", "Idle_Locked"): 0.12,
    ("Active_Locked", "Idle_Locked"): -0.3,
    ("Active_Locked", "Bearer_HO"): 0.3,
    ("Bearer_HO", "Active_Locked"): 0.3,
    ("Active_Locked", "Connection_HO"): 0.3,
    ("Connection_HO", "Active_Locked"): 0.3,
    ("Active_Locked", "Connection_Mod"): 0.16,
    ("Connection_Mod", "Active_Locked"): 0.16,
    ("Dropped", "Call_Setup"): 0.38,
    ("Dropped", "Idle_Locked"): 0.42,
}

#: Pixels of a unit upward, in either form (chosen: two lines of text fit a box).
UNIT, TURNED_UNIT = 68, 54

#: Points that an arc is drawn of, and how far its count stands beside it, in units (chosen).
POINTS, BESIDE = 32, 0.17

#: An arrow's head that points upward.
HEAD = "M0,0L-0.6,1.4L0.6,1.4Z"

#: Colours of arrows that were taken and of those that never were, and how faint these are.
TAKEN, NEVER, PALE = COLOURS[0], COLOURS[7], 0.5

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Counts:
    """What the terminals of one type did, over all runs that were added up.

    Attributes:
        hours: time in all states together.
        time_s: seconds in each state; NaN where they are not counted.
        transitions: how often each arrow was taken.
    """

    hours: float
    time_s: Mapping[str, float]
    transitions: Mapping[tuple[str, str], int]

    def share(self, state: str) -> float:
        """The share of the time that was spent in a state."""
        return self.time_s[state] / (3600 * self.hours) if self.hours else math.nan

    def entries(self, state: str) -> int:
        """How often a state was entered."""
        return sum(count for (_, to), count in self.transitions.items() if to == state)


def added_up(states: Iterable[Row], transitions: Iterable[Row]) -> Counts:
    """The counts of one type of terminal: rows of both tables, of as many runs as there are."""
    time_s: dict[str, float] = {}
    for row in states:
        spent_s = math.nan if row["time_s"] is None else row["time_s"]
        time_s[row["state"]] = time_s.get(row["state"], 0.0) + spent_s
    counts: dict[tuple[str, str], int] = {}
    for row in transitions:
        arrow = (row["from"], row["to"])
        counts[arrow] = counts.get(arrow, 0) + row["count"]
    return Counts(math.fsum(s for s in time_s.values() if not math.isnan(s)) / 3600, time_s, counts)


def of_types(tables: Mapping[str, polars.DataFrame]) -> Iterator[tuple[str, str, Counts]]:
    """Access, type and counts of the first point's runs, for each type that had a call; the access' own first."""
    states, transitions = tables["dect_states"], tables["dect_transitions"]
    first = polars.col("point") == states["point"].min()
    found = [
        (str(name), str(kind), added_up(mine.iter_rows(named=True), theirs.iter_rows(named=True)))
        for (name, kind), mine in states.filter(first).group_by("name", "type", maintain_order=True)
        for theirs in [transitions.filter(first, polars.col("name") == name, polars.col("type") == kind)]
    ]
    names = list(dict.fromkeys(name for name, *_ in found))
    for name, kind, counts in sorted(found, key=lambda one: (names.index(one[0]), one[1] != "User")):
        if counts.hours:
            yield name, kind, counts


def draw(counts: Counts) -> dict[str, Any]:
    """The diagram as a Vega-Lite specification; turned where there is no room across."""
    wide = _diagram(counts, PLACES, (HALF_WIDTH, HALF_HEIGHT), (ACROSS, UPWARD), UNIT, 11.5)
    turned = {state: (y, -x) for state, (x, y) in PLACES.items()}
    ends = ((UPWARD[0] + 0.4, UPWARD[1] + 0.4), (-ACROSS[1], -ACROSS[0]))
    narrow = _diagram(counts, turned, (TURNED_HALF_WIDTH, TURNED_HALF_HEIGHT), ends, TURNED_UNIT, 9.5)
    return {**wide, "usermeta": {"narrow": narrow}}


def _diagram(
    counts: Counts,
    places: Mapping[str, tuple[float, float]],
    half: tuple[float, float],
    ends: tuple[tuple[float, float], tuple[float, float]],
    unit: int,
    font: float,
) -> dict[str, Any]:
    """The diagram with its states at these places."""
    boxes, arcs, heads, labels = [], [], [], []
    for state, (x, y) in places.items():
        there = counts.entries(state) > 0 or counts.time_s[state] > 0
        share = counts.share(state)
        text = "any number" if math.isnan(share) else f"{significant(100 * share, 3)} %"
        corners = {"x": x - half[0], "x2": x + half[0], "y": y - half[1], "y2": y + half[1]}
        middles = {"middle": x, "name_y": y + 0.38 * half[1], "share_y": y - 0.42 * half[1]}
        boxes.append({"state": state, "share": text, **_looks(there), **corners, **middles})
    for (start, end), count in counts.transitions.items():
        about = {"arrow": f"{start} to {end}", "taken": shown_value(count), **_looks(count > 0)}
        bend = BENDS.get((start, end), 0.0)
        points = _arc(places[start], places[end], bend, half)
        arcs += [{**about, "x": x, "y": y, "place": place} for place, (x, y) in enumerate(points)]
        (x0, y0), (x1, y1) = points[-3], points[-1]
        heads.append({**about, "x": x1, "y": y1, "dx": x1 - x0, "dy": y1 - y0})
        labels.append({**about, **_beside(points, places[start], places[end], bend)})
    across, upward = (high - low for low, high in ends)
    # The sides of the figure are known where it is drawn.
    angle = f"atan2(datum.dx * width / {across}, datum.dy * height / {upward}) * 180 / PI"
    axes = {
        name: {
            "type": "quantitative",
            "axis": None,
            "scale": {"domain": list(ends[place]), "nice": False, "zero": False},
        }
        for place, name in enumerate("xy")
    }
    look = {
        "color": {"field": "colour", "type": "nominal", "scale": None, "legend": None},
        "opacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
    }

    def at(x: str = "x", y: str = "y") -> dict[str, Any]:
        return {"x": {**axes["x"], "field": x}, "y": {**axes["y"], "field": y}, "opacity": look["opacity"]}

    def layer(
        rows: list[dict[str, Any]], mark: dict[str, Any], encoding: dict[str, Any], told: str
    ) -> dict[str, Any]:
        tooltip = [{"field": field, "type": "nominal"} for field in told.split()]
        return {"data": {"values": rows}, "mark": mark, "encoding": {**encoding, "tooltip": tooltip}}

    def words(
        rows: list[dict[str, Any]], field: str, middle: dict[str, Any], told: str, **look: Any
    ) -> dict[str, Any]:
        return layer(rows, {"type": "text", "fontSize": font, **look}, {**middle, "text": {"field": field}}, told)

    box = {"type": "rect", "filled": False, "cornerRadius": 4, "strokeWidth": 1.3}
    line = {"detail": {"field": "arrow"}, "order": {"field": "place", "type": "quantitative"}}
    turned_head = {"angle": {"field": "angle", "type": "quantitative", "scale": None}}
    head = {"type": "point", "shape": HEAD, "filled": True, "size": 90}
    return {
        "height": round(unit * upward),
        "view": {"stroke": None},
        "layer": [
            layer(arcs, {"type": "line", "strokeWidth": 1.4}, {**at(), **look, **line}, "arrow taken"),
            layer(heads, head, {**at(), **look, **turned_head}, "arrow taken")
            | {"transform": [{"calculate": angle, "as": "angle"}]},
            layer(boxes, box, {**at(), **look, "x2": {"field": "x2"}, "y2": {"field": "y2"}}, "state share"),
            words(boxes, "state", at("middle", "name_y"), "state share", fontWeight=600),
            words(boxes, "share", at("middle", "share_y"), "state share"),
            words(labels, "taken", at(), "arrow taken"),
        ],
    }


def _looks(there: bool) -> dict[str, Any]:
    return {"colour": TAKEN if there else NEVER, "opacity": 1.0 if there else PALE}


def _arc(
    start: tuple[float, float], end: tuple[float, float], bend: float, half: tuple[float, float]
) -> list[tuple[float, float]]:
    """The points of a parabola from a box to another, without those in the boxes."""
    (x0, y0), (x1, y1) = start, end
    over = (x0 + x1) / 2 + bend * (y1 - y0), (y0 + y1) / 2 - bend * (x1 - x0)
    points = []
    for place in range(4 * POINTS + 1):
        t = place / (4 * POINTS)
        point = tuple(
            (1 - t) ** 2 * a + 2 * t * (1 - t) * c + t**2 * b for a, c, b in zip(start, over, end, strict=True)
        )
        inside = any(abs(point[0] - x) < half[0] and abs(point[1] - y) < half[1] for x, y in (start, end))
        if not inside:
            points.append((point[0], point[1]))
    return points[:: max(1, len(points) // POINTS)][:-1] + points[-1:]


def _beside(
    points: list[tuple[float, float]], start: tuple[float, float], end: tuple[float, float], bend: float
) -> dict[str, float]:
    """Where the count of an arrow stands: beside its middle, on the side to which it bends, or above it."""
    x, y = points[len(points) // 2]
    across, upward = end[1] - start[1], start[0] - end[0]
    length = math.hypot(across, upward)
    side = math.copysign(1.0, bend) if bend else math.copysign(1.0, upward or across)
    return {"x": x + side * BESIDE * across / length, "y": y + side * BESIDE * upward / length}


def note(counts: Counts, *, own: bool) -> str:
    """What a reader of the picture has to know.

    Args:
        counts: what it shows.
        own: whether it is of the terminal of the access itself, whose picture comes first.
    """
    time = f"{counts.hours:.3g} h" if counts.hours >= 1 else f"{60 * counts.hours:.3g} min"
    states = f"Boxes: share of {time} in each state."
    if not own:
        return f"{states} Any number of these terminals may be without a call."
    return (
        f"{states} Arrows: number of transitions; pale ones never happened. Only this terminal has an endless call: "
        "it alone enters Connection_Mod, and goes from Blocked and Dropped to Call_Setup."
    )
