"""`roamsim plot`: one figure of a folder of results, for a paper."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars

from roamsim.errors import UsageError, there_are
from roamsim.estimates.against import against
from roamsim.estimates.curves import Curves, curves
from roamsim.estimates.distributions import DISTRIBUTIONS
from roamsim.files import check_file, write_aside
from roamsim.pictures import timesequence
from roamsim.pictures.paper import (
    Dress,
    alike,
    draw_against,
    draw_curves,
    draw_distribution,
    draw_time_series,
    grid,
    legend_beside,
    names_of,
    same_span,
    write_figure,
    write_panels,
)
from roamsim.pictures.recorded import opening
from roamsim.pictures.timeseries import ALL, MOST_PANELS, NOTES, TABLES, TITLES, Panel, Part, segments, time_series
from roamsim.pictures.timeseries import asked as traces_asked
from roamsim.storing.chosen import chosen
from roamsim.storing.store import Results, open_results
from roamsim.tables.metrics import Target, traces
from roamsim.tables.values import duration
from roamsim.technologies import pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".pdf", ".png")

#: The panel of a figure that has no others.
_ONLY = Panel("", polars.DataFrame())


@dataclass(frozen=True)
class Figured:
    """What is drawn of the results, and how.

    Attributes:
        part: of a trace, the flow and the time.
        against: of a metric, the one along x.
        where: conditions on rows, `COLUMN=VALUE` each.
        dress: axes, title, labels and size.
    """

    part: Part = ALL
    against: str | None = None
    where: Sequence[str] = ()
    dress: Dress = field(default_factory=Dress)


def plot(
    folder: str | os.PathLike[str],
    what: str,
    out: str | os.PathLike[str] | None = None,
    asked: Figured | None = None,
) -> Path:
    """Draws one figure of a folder of results.

    Args:
        folder: what `roamsim run --parquet`, `roamsim sweep` or `roamsim compare` wrote.
        what: a trace that was recorded (`cwnd`, `rtt`, ..., `segments`), of which every point of a sweep makes a
            panel; `transactions`, `messages` or `transfer_times`, whose delays and completion times are drawn as
            their distribution; a picture of a technology's own, as `occupancy`, the channels of a DECT access; or a
            metric `TABLE.COLUMN` or `TABLE.NAME.COLUMN`, as `compare` takes it, drawn over what was varied with its
            95 % interval, or against another metric.
        out: the file; its ending (`.svg`, `.pdf`, `.png`) chooses the format. `FOLDER/WHAT.svg` unless given.
        asked: which part, against what, and how it looks.

    Returns:
        The path of the figure.

    Raises:
        UsageError: there are no such results, no such metric, or another ending.
    """
    target = Path(out) if out is not None else Path(folder) / usual_name(what)
    _require_ending(target)
    return write(open_results(folder), what, target, asked, follow=out is not None)


def choices(folder: str | os.PathLike[str]) -> str:
    """What `--what` may name of a folder: the traces that were recorded, and metrics."""
    results = open_results(folder)
    recorded = traces_asked(results)
    drawn = [trace.column for trace in traces() if trace.column in recorded and trace.column not in TABLES]
    nothing = "no trace that is drawn was recorded here (--trace records one)"
    there = f"the traces here are {', '.join(drawn)}" if drawn else nothing
    metric = "signalling.mean_delay_s" if "flows" not in results else "flows.goodput_bps"
    return f"{there}; a metric is drawn too, such as {metric} (`roamsim explain` lists them)"


def usual_name(what: str) -> str:
    """The file of a figure that is not named otherwise; not every system takes a colon in a name."""
    return f"{what.replace(':', '-')}.svg"


def write(results: Results, what: str, target: Path, asked: Figured | None = None, *, follow: bool) -> Path:
    """Draws one figure of results into a file, as `plot` does; `follow` as in `files.write_aside`."""
    _require_ending(target)
    asked = asked or Figured()
    results.tell_unfinished()
    results = chosen(results, asked.where)
    if "." in what or what in DISTRIBUTIONS:
        if asked.part.flow is not None:
            results = _of_flow(results, what.partition(".")[0], asked.part.flow)
        if (asked.part.start_s, asked.part.end_s) != (None, None):
            raise UsageError(
                f"{what} is not drawn over time, so --from and --to do not apply; draw a trace, such as cwnd"
            )
    ends_s = [results.manifest.duration_s(point) or math.inf for point in range(len(results.manifest.points))]
    if (asked.part.start_s or 0.0) >= max(ends_s):
        begin, end = duration(asked.part.start_s or 0.0), duration(max(ends_s))
        raise UsageError(f"a figure from {begin} on shows nothing: the run ends at {end}")
    check_file(target)
    if asked.against is not None and "." not in what:
        raise UsageError(f"one metric is drawn against another, as in --what flows.goodput_bps; {what} is none")
    return write_aside(target, lambda aside: save(results, what, aside, target.suffix.lower(), asked), follow=follow)


def _of_flow(results: Results, table: str, flow: str) -> Results:
    """The results with the rows of one flow in a table that is drawn."""
    if table not in results:
        return results
    if "name" not in results.schema(table):
        raise UsageError(f"rows of {table} have no names, so --flow cannot choose one")
    mine = results[table].filter(name=flow)
    if not mine.height:
        there = results[table]["name"].unique(maintain_order=True).to_list()
        raise UsageError(f"{table} has no row of {flow!r}; {there_are(flow, there, quoted=True)}")
    return Results(results.path, results.manifest, {**results.tables, table: mine}, results.made)


def _require_ending(target: Path) -> None:
    if target.suffix.lower() not in ENDINGS:
        raise UsageError(f"{os.fspath(target)!r} ends in none of {', '.join(ENDINGS)}")


def save(results: Results, what: str, file: Path, ending: str, asked: Figured | None = None) -> None:
    """Draws a figure into a file, in the format of an ending; equal results give equal files."""
    asked = asked or Figured()

    own = pictures()
    if what in own:
        write_panels(own[what](results, asked.part), file, ending, asked.dress, results.manifest.scenario)
        return

    write_figure(lambda: _figure(results, what, asked), file, ending)


def _at_first(panels: list[Panel], part: Part) -> tuple[list[Panel], tuple[str, ...]]:
    """Time-sequence charts of which no part was chosen: of long ones that which a page opens on, and its note."""
    whole = (0.0, max(float(panel.frame["time_s"].max()) for panel in panels))  # type: ignore[arg-type]
    first = opening([panel.frame for panel in panels], whole)
    if part.start_s is not None or part.end_s is not None or first is None:
        return panels, ()
    shown = [replace(panel, frame=panel.frame.filter(polars.col("time_s").is_between(*first))) for panel in panels]
    if not all(panel.frame.height for panel in shown):
        return panels, ()
    begin, end, last = (duration(time_s) for time_s in (*first, whole[1]))
    return shown, (f"From {begin} to {end} of {last}, where no time is chosen.",)


def _legend_title(drawn: Curves, axes: list[Axes]) -> str | None:
    """What else was varied, above the names of a legend; `None` where one name needs no legend."""
    return drawn.group_words if len(names_of(axes)) > 1 else None


def _figure(results: Results, what: str, asked: Figured) -> Figure:
    notes: tuple[str, ...] = ()
    # Above the names of a legend beside the panels, if there is one.
    beside: str | None = None
    part = asked.part
    if what == "segments":
        panels, notes = _at_first(segments(results, part), part)
        figure, axes = grid(results.manifest.scenario, panels, same_y=False)
        for panel, place in zip(panels, axes, strict=True):
            timesequence.draw(place, panel.frame)
        same_span(axes)
        timesequence.legend(figure, axes)
    elif asked.against is not None:
        figure, axes = grid(results.manifest.scenario, [_ONLY])
        of_both = against(results, Target.parse(what), Target.parse(asked.against))
        draw_against(axes[0], of_both)
        beside = _legend_title(of_both.y, axes)
    elif "." in what:
        drawn = curves(results, Target.parse(what))
        if drawn.in_panels and len(drawn.rows) > MOST_PANELS:
            raise UsageError(
                f"a figure of {len(drawn.rows)} panels has more than the {MOST_PANELS} that can be read; choose a "
                "row, as in TABLE.NAME.COLUMN, or some with --where"
            )
        panels = [Panel(row, polars.DataFrame()) for row in drawn.rows] if drawn.in_panels else [_ONLY]
        figure, axes = grid(results.manifest.scenario, panels)
        for panel, place in zip(panels, axes, strict=True):
            draw_curves(place, drawn, [panel.title] if drawn.in_panels else None)
        beside = _legend_title(drawn, axes)
        notes = drawn.notes
    elif what in DISTRIBUTIONS:
        figure, axes = grid(results.manifest.scenario, [_ONLY])
        draw_distribution(axes[0], DISTRIBUTIONS[what](results))
        beside = ""
    else:
        panels = time_series(results, what, part)
        figure, axes = grid(results.manifest.scenario, panels)
        draw_time_series(axes, [panel.frame for panel in panels], TITLES.get(what, what))
        beside = ""
    # Axes are named where they have ticks: at the left, and where no panel stands below.
    columns = axes[0].get_gridspec().ncols  # type: ignore[union-attr]
    for number, place in enumerate(axes):
        if number % columns:
            place.set_ylabel("")
        if number < len(axes) - columns:
            place.set_xlabel("")
    if what in NOTES:
        notes = (NOTES[what],)
    if beside is not None and (told_alike := alike(axes)):
        notes = (*notes, told_alike)
    asked.dress.on(figure)
    lines = [line for note in notes for line in textwrap.wrap(note, 110)]
    if beside is not None:
        legend_beside(figure, axes, beside, len(lines), may_widen=asked.dress.size is None)
    if lines:
        told = "\n".join(lines)
        # A legend below the panels has the note within it: beside it one would lie on the other.
        if figure.legends and beside is None:
            from matplotlib.font_manager import FontProperties

            figure.legends[0].set_title(told, prop=FontProperties(size=7))
        else:
            figure.supxlabel(told, fontsize=7)
    return figure
