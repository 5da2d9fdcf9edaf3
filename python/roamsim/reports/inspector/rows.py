"""Rows of a time line: their marks over time, and the limit of marks on a page.

A page cannot hold a million packets, and no screen shows them. Of a row with more marks than `MARKS` it holds those
that matter most, and the number of the others in each of `BINS` equal parts of the run; of a line with more points
than `POINTS`, the first, the last, the smallest and the largest of each part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars

#: Marks of one row that a page holds one by one (chosen: some 200 kB a row, and more than a screen has columns).
MARKS = 4000

#: Parts of the run in which marks are counted, where not all are held (chosen: a screen has half as many columns).
BINS = 2000

#: Points of a line that a page holds (chosen, as `MARKS`).
POINTS = 4000

#: What there is much of, and what is not missed when it is only counted.
COMMON = ("delivered", "sent", "agent advertisement", "unheard", "data")


@dataclass(frozen=True)
class Row:
    """A row of a lane.

    Attributes:
        name: what the row is about.
        table: the result table that its marks are rows of.
        frame: `t` (s), in order; `until` (s) where what is marked lasts; `kind`, in words, or of a line `value`; all
            other columns are what a click on a mark shows, under the names that they have in the table.
        gap_s: of a line, after how long without a point it ends; `None` where a value holds until the next.
    """

    name: str
    table: str
    frame: polars.DataFrame
    gap_s: float | None = None


@dataclass(frozen=True)
class Lane:
    """Rows of one subject under one title.

    Attributes:
        title: the subject.
        rows: its rows; lines are drawn over each other, on one scale.
        shape: lines of values, or marks.
        levels: values of lines that decide something, with their names.
        left_out: how many more rows there are.
    """

    title: str
    rows: Sequence[Row]
    shape: Literal["lines", "marks"] = "marks"
    levels: Sequence[tuple[str, float]] = field(default=())
    left_out: int = 0


def encoded(lane: Lane, end_s: float, instants: Sequence[float]) -> dict[str, Any]:
    """A lane as the page holds it.

    Args:
        lane: the lane.
        end_s: where the time line ends.
        instants: times near which marks matter more, in order.
    """
    rows = []
    for row in lane.rows:
        if lane.shape == "lines":
            held, bins = thinned(row.frame, POINTS), None
        else:
            held, others = chosen(row.frame, MARKS, instants)
            bins = counts(others, end_s) if others.height else None
        rows.append(
            {
                "name": row.name,
                "table": row.table,
                "all": row.frame.height,
                "columns": columns(held),
                **({"bins": bins} if bins else {}),
                **({"gap": row.gap_s} if row.gap_s else {}),
            }
        )
    left_out = {"left_out": lane.left_out} if lane.left_out else {}
    return {"title": lane.title, "shape": lane.shape, "levels": list(lane.levels), "rows": rows, **left_out}


def columns(frame: polars.DataFrame) -> dict[str, Any]:
    """Columns of a frame: numbers as they are, texts as `words` and the place of each in them; no empty ones."""
    found: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if column.null_count() == column.len() and name not in ("t", "kind", "value"):
            continue
        if column.dtype == polars.String:
            words = column.drop_nulls().unique(maintain_order=True).to_list()
            if words == [""]:
                continue
            places = {word: place for place, word in enumerate(words)}
            found[name] = {"words": words, "at": [None if text is None else places[text] for text in column]}
        elif column.dtype.is_float():
            found[name] = column.round(9).to_list()  # the engine's clock has nanoseconds
        else:
            found[name] = column.to_list()
    return found


def chosen(
    frame: polars.DataFrame, most: int, instants: Sequence[float]
) -> tuple[polars.DataFrame, polars.DataFrame]:
    """At most so many marks, what is rare first, then what is nearest to an instant; and the others."""
    ranked = frame.select(
        polars.col("kind").is_in(COMMON).alias("common"),
        polars.Series("far_s", distance(frame["t"].to_numpy(), instants)),
        polars.int_range(frame.height).alias("place"),
    )
    places = ranked.sort("common", "far_s", "place")["place"]
    return frame[places.head(most).sort()], frame[places.tail(max(0, frame.height - most)).sort()]


def distance(times: np.ndarray[Any, Any], instants: Iterable[float]) -> np.ndarray[Any, Any]:
    """How far each time is from the nearest of some instants; from 0 where there are none."""
    places = np.unique(np.fromiter(instants, dtype=float))
    if not places.size:
        return times
    after = np.searchsorted(places, times).clip(1, places.size) if places.size > 1 else np.ones(times.size, int)
    before = np.abs(times - places[after - 1])
    found: np.ndarray[Any, Any] = np.minimum(before, np.abs(times - places[np.minimum(after, places.size - 1)]))
    return found


def counts(frame: polars.DataFrame, end_s: float) -> dict[str, list[int]]:
    """How many marks of each kind begin in each of `BINS` equal parts of the run."""
    found = {}
    for (kind,), mine in frame.group_by("kind", maintain_order=True):
        number, _ = np.histogram(mine["t"].to_numpy(), bins=BINS, range=(0.0, end_s))
        found[str(kind)] = number.tolist()
    return found


def thinned(frame: polars.DataFrame, most: int) -> polars.DataFrame:
    """At most so many points of a line that look like all of them: of equal parts, the ends and the extremes."""
    if frame.height <= most:
        return frame
    first, last = frame["t"][0], frame["t"][-1]
    parts = most // 4
    part = ((polars.col("t") - first) / ((last - first) or 1.0) * parts).floor().clip(0, parts - 1)
    ends = (
        frame.with_row_index("place")
        .group_by(part.alias("part"))
        .agg(
            first=polars.col("place").first(),
            last=polars.col("place").last(),
            low=polars.col("place").get(polars.col("value").arg_min()),
            high=polars.col("place").get(polars.col("value").arg_max()),
        )
    )
    places = polars.concat([ends[name] for name in ("first", "last", "low", "high")]).unique().sort()
    return frame[places]
