"""The state diagram of the DECT MAC: the share of time in each state, and how often each arrow was taken.

States and arrows are those of docs/models/dect-mac.md; an arrow that was never taken is drawn pale. What is drawn are
the rows of the tables `dect_states` and `dect_transitions` of one type of terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars

from roamsim.tables.values import shown_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

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

TAKEN, NEVER = "#22303c", "#929ca6"

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


def draw(counts: Counts) -> Figure:
    """Draws the diagram."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(-1.0, 11.2)
    axes.set_ylim(0.25, 5.3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    boxes: dict[str, FancyBboxPatch] = {}
    for state, (x, y) in PLACES.items():
        there = counts.entries(state) > 0 or counts.time_s[state] > 0
        boxes[state] = FancyBboxPatch(
            (x - HALF_WIDTH, y - HALF_HEIGHT),
            2 * HALF_WIDTH,
            2 * HALF_HEIGHT,
            "round,pad=0.03",
            facecolor="#eef3f8" if there else "white",
            edgecolor=TAKEN if there else NEVER,
        )
        axes.add_patch(boxes[state])
        colour = "black" if there else NEVER
        axes.text(x, y + 0.12, state, ha="center", va="center", weight="bold", fontsize=8.5, color=colour)
        share = counts.share(state)
        text = "any number" if math.isnan(share) else f"{100 * share:.3g} %"
        axes.text(x, y - 0.13, text, ha="center", va="center", fontsize=8.5, color=colour)
    for (start, end), count in counts.transitions.items():
        _arrow(axes, start, end, boxes, count)
    return figure


def note(counts: Counts) -> str:
    """What a reader of the picture has to know."""
    time = f"{counts.hours:.3g} h" if counts.hours >= 1 else f"{60 * counts.hours:.3g} min"
    return (
        f"In the boxes shares of {time}, at the arrows how often each was taken; pale ones never were. "
        "Only the access' own terminal modifies its connection (Connection_Mod), and only it goes from Blocked and "
        "Dropped to Call_Setup: its call has no end. Of the others any number is at rest."
    )


def _arrow(axes: Axes, start: str, end: str, boxes: Mapping[str, FancyBboxPatch], count: int) -> None:
    from matplotlib.patches import FancyArrowPatch

    (x0, y0), (x1, y1) = PLACES[start], PLACES[end]
    bend = BENDS.get((start, end), 0.0)
    colour = TAKEN if count else NEVER
    arrow = FancyArrowPatch(
        (x0, y0),
        (x1, y1),
        arrowstyle="-|>",
        connectionstyle=f"arc3,rad={bend}",
        patchA=boxes[start],
        patchB=boxes[end],
        shrinkA=1,
        shrinkB=1,
        mutation_scale=10,
        linewidth=0.9,
        color=colour,
        zorder=2 if count else 1.5,
    )
    axes.add_patch(arrow)
    # The middle of the arc, a parabola, lies half of its bend beside that of the line.
    axes.text(
        (x0 + x1) / 2 + bend / 2 * (y1 - y0),
        (y0 + y1) / 2 - bend / 2 * (x1 - x0),
        shown_value(count),
        fontsize=8,
        ha="center",
        va="center",
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        zorder=3,
    )
