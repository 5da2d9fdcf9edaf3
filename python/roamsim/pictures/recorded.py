"""Traces of a run as interactive panels: samples of a kind, and time-sequence charts.

What the marks of a time-sequence chart mean stands in `timesequence.py`, which draws the same for paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars

from roamsim.pictures import timed
from roamsim.pictures.charts import COLOURS
from roamsim.pictures.timeseries import POINTS, TITLES, Panel
from roamsim.tables.values import duration
from roamsim.tables.words import Scale, scale, titled

#: What becomes of segments: their words, colours and marks.
SENT = ("sent", COLOURS[7], "dot")
AGAIN = ("sent again", COLOURS[0], "ring")
#: The same for each reason of a retransmission.
AGAIN_FOR = {
    "duplicate_acks": ("sent again: duplicate ACKs", COLOURS[0], "ring"),
    "rack": ("sent again: RACK", COLOURS[6], "ring"),
    "loss_probe": ("sent again: loss probe", COLOURS[10], "ring"),
    "timeout": ("sent again: timeout", COLOURS[8], "ring"),
    "path_removed": ("sent again: path removed", COLOURS[4], "ring"),
}
PROBE = ("window probe", COLOURS[5], "plus")
LOST = ("lost", COLOURS[1], "cross")
ACKNOWLEDGED = ("acknowledged", COLOURS[2], "step")
DUPLICATE = ("duplicate ACK", COLOURS[11], "tick")
SACKED = ("SACK block", COLOURS[3], "rule")

#: Marks of a time-sequence chart that are all shown at first, and of a longer one (chosen: more lie on each other).
READABLE = 400

#: How many times as many are shown at first for the repetition of what was lost (chosen).
MOST_AT_FIRST = 4

#: The share of the marks at first that are before what is interesting (chosen).
BEFORE = 0.2


def samples(panels: Sequence[Panel], what: str, most: int) -> tuple[timed.Figure, list[str]]:
    """A figure of samples of a kind, and what its reader has to know.

    Args:
        panels: what `timeseries.time_series` found.
        what: the kind.
        most: samples that it may hold.
    """
    together = polars.concat([panel.frame for panel in panels])
    names = together["series"].unique(maintain_order=True).to_list()
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    units = together["unit"].drop_nulls().unique(maintain_order=True).to_list()
    values = together["value"].drop_nulls()
    low, high = float(values.min() or 0.0), float(values.max() or 0.0)  # type: ignore[arg-type]
    size = scale(units[0], (low, high)) if len(units) == 1 else Scale(", ".join(units))
    # A round trip of milliseconds beside a timeout of a second: both are to be read.
    logarithmic = units == ["s"] and 0 < 10 * low < high
    title = titled(TITLES.get(what, what.replace("_", " ")), size.unit)
    each = max(4, most // max(1, sum(panel.frame["series"].n_unique() for panel in panels)))
    drawn, held = [], 0
    for panel in panels:
        marks = []
        for (name, points), mine in _lines(panel.frame).group_by("series", "points", maintain_order=True):
            frame = timed.kept(mine.select(t="time_s", v=polars.col("value") / size.size), each)
            held += frame.height
            marks.append(timed.Marks(str(name), colours[str(name)], "dot" if points else "step", frame))
        axis = {"format": ".6~g"} if logarithmic else {}
        of_log = {"type": "log"} if logarithmic else {}
        shown = title if not panel.title else f"{panel.title}: {title}"
        drawn.append(timed.Panel(shown, marks, 200 if len(panels) == 1 else 120, axis, of_log))
    left_out = together.height - held
    notes = [
        f"{held} of {together.height} samples are held: of each part of the time the first, last, lowest and highest."
    ]
    return timed.Figure(drawn, same_y=len(panels) > 1), notes if left_out else []


def _lines(frame: polars.DataFrame) -> polars.DataFrame:
    return frame.with_columns(points=polars.col("quantity").is_in(POINTS))


def segments(panels: Sequence[Panel], most: int) -> tuple[timed.Figure, list[str]]:
    """A time-sequence chart of each panel, and what its reader has to know.

    Args:
        panels: what `timeseries.segments` found.
        most: marks that it may hold; the later ones of a longer recording are left out.
    """
    each = max(1, most // len(panels))
    drawn = [
        timed.Panel(
            f"{panel.title}{': ' if panel.title else ''}place in the stream, B",
            sequence(panel.frame.head(each)),
            260 if len(panels) == 1 else 180,
            {"format": "~s"},
            {"zero": False},
        )
        for panel in panels
    ]
    left_out = sum(max(0, panel.frame.height - each) for panel in panels)
    notes = [f"{left_out} later marks are left out."] if left_out else []
    whole = timed.span_of(drawn)
    first = opening([panel.frame.head(each) for panel in panels], whole)
    if first:
        notes.append(f"It opens on {duration(first[0])} to {duration(first[1])}; Whole shows all.")
    return timed.Figure(drawn, first_s=first or whole, whole_s=whole), notes


def opening(senders: Sequence[polars.DataFrame], whole: tuple[float, float]) -> tuple[float, float] | None:
    """The part of time-sequence charts that is shown at first: the shortest of senders'; `None`: nearly all of it."""
    first = min(map(interesting, senders), key=lambda span: span[1] - span[0])
    return first if first[1] - first[0] < 0.9 * (whole[1] - whole[0]) else None


def sequence(events: polars.DataFrame, *, segment_bytes: int | None = None) -> list[timed.Marks]:
    """The marks of a time-sequence chart.

    Args:
        events: rows of the table `segments` of one sender in one run.
        segment_bytes: size of a segment: values then count segments, the first being 1, so that the mark of the n-th
            is at n. Without it, they are octets.
    """
    low, high = polars.col("start_bytes"), polars.col("end_bytes")
    middle = (polars.col("low") + polars.col("high")) // 2
    if segment_bytes is not None:
        low, high = low / segment_bytes + 0.5, high / segment_bytes + 0.5
        middle = (polars.col("low") + polars.col("high")) / 2
    if "reason" not in events.columns:
        events = events.with_columns(reason=polars.lit(""))
    rows = events.sort("time_s", maintain_order=True).select("event", "reason", t="time_s", low=low, high=high)
    acknowledged, again = rows.filter(event="acknowledged"), rows.filter(event="retransmitted")
    found = {
        # An ACK that was overtaken takes nothing back.
        ACKNOWLEDGED: acknowledged.select("t", v=polars.col("high").cum_max()),
        DUPLICATE: acknowledged.filter(polars.col("low") == polars.col("high")).select("t", v="high"),
        SACKED: rows.filter(event="sacked").drop("event", "reason"),
        SENT: rows.filter(event="sent").select("t", v=middle),
        **{mark: again.filter(reason=reason).select("t", v=middle) for reason, mark in AGAIN_FOR.items()},
        AGAIN: again.filter(~polars.col("reason").is_in(list(AGAIN_FOR))).select("t", v=middle),
        PROBE: rows.filter(event="window_probe").select("t", v=middle),
        LOST: rows.filter(event="lost").select("t", v=middle),
    }
    return [timed.Marks(*what, frame) for what, frame in found.items() if frame.height]  # type: ignore[arg-type]


def interesting(events: polars.DataFrame) -> tuple[float, float]:
    """The part of a time-sequence chart to begin with: all of a short one, else around the first loss."""
    times = events["time_s"].sort()
    if times.len() <= READABLE:
        return float(times[0]), float(times[-1])
    lost, again = (events.filter(event=event)["time_s"].min() for event in ("lost", "retransmitted"))
    repaired = again if lost is None else lost
    place = 0 if repaired is None else int(times.search_sorted(float(repaired)) - BEFORE * READABLE)  # type: ignore[arg-type]
    # With its repetition, where that is not far.
    shown = READABLE
    if again is not None:
        until = int(times.search_sorted(float(again)) + BEFORE * READABLE)  # type: ignore[arg-type]
        shown = min(max(READABLE, until - place), MOST_AT_FIRST * READABLE, times.len())
    place = min(max(0, place), times.len() - shown)
    return float(times[place]), float(times[place + shown - 1])
