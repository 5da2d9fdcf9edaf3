"""What `roamsim plot` draws: one figure of a folder of results, for paper."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from roamsim.errors import UsageError
from roamsim.estimates.curves import curves, delays
from roamsim.files import write_aside
from roamsim.pictures import timesequence
from roamsim.pictures.paper import draw_curves, draw_delays, draw_time_series, grid, same_span, write_figure
from roamsim.pictures.timeseries import ALL, NOTES, TITLES, Panel, Part, segments, time_series
from roamsim.storing.store import Results, open_results
from roamsim.tables.metrics import Target
from roamsim.technologies import pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".pdf", ".png")


def plot(
    folder: str | os.PathLike[str], what: str, out: str | os.PathLike[str] | None = None, part: Part = ALL
) -> Path:
    """Draws one figure of a folder of results.

    Args:
        folder: what `roamsim run --parquet`, `roamsim sweep` or `roamsim compare` wrote.
        what: a trace that was recorded (`cwnd`, `rtt`, ..., `segments`), of which every point of a sweep makes a
            panel; `transactions`, whose delays are drawn as
            their distribution; a picture of a technology's own, as `occupancy`, the channels of a DECT access; or a
            metric `TABLE.COLUMN` or `TABLE.NAME.COLUMN`, as `compare` takes it, drawn over what was varied with its
            95 % interval.
        out: the file; its ending (`.svg`, `.pdf`, `.png`) chooses the format. `FOLDER/WHAT.svg` unless given.
        part: of a trace, the flow and the time that are drawn.

    Returns:
        The path of the figure.

    Raises:
        UsageError: there are no such results, no such metric, or another ending.
    """
    target = Path(out) if out is not None else Path(folder) / f"{what}.svg"
    if target.suffix not in ENDINGS:
        raise UsageError(f"{os.fspath(target)!r} ends in none of {', '.join(ENDINGS)}")
    results = open_results(folder)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist")
    if part != ALL and ("." in what or what == "transactions"):
        raise UsageError(f"a flow and a time are chosen of what was recorded over time; {what} is none of that")
    return write_aside(target, lambda aside: save(results, what, aside, target.suffix, part), follow=out is not None)


def save(results: Results, what: str, file: Any, ending: str, part: Part = ALL) -> None:
    """Draws a figure into a file, in the format of an ending; equal results give equal files."""
    write_figure(lambda: _figure(results, what, part), file, ending)


def _figure(results: Results, what: str, part: Part) -> Figure:
    notes: tuple[str, ...] = ()
    own = pictures()
    if what in own:
        return own[what](results, part)
    if what == "segments":
        panels = segments(results, part)
        figure, axes = grid(results.manifest.scenario, panels, same_y=False)
        for panel, place in zip(panels, axes, strict=True):
            timesequence.draw(place, panel.frame)
        same_span(axes)
        timesequence.legend(figure, axes)
    elif "." in what or what == "transactions":
        figure, axes = grid(results.manifest.scenario, [Panel("", polars.DataFrame())])
        if "." in what:
            drawn = curves(results, Target.parse(what))
            draw_curves(axes[0], drawn)
            notes = drawn.notes
        else:
            draw_delays(axes[0], delays(results))
    else:
        panels = time_series(results, what, part)
        figure, axes = grid(results.manifest.scenario, panels)
        draw_time_series(axes, [panel.frame for panel in panels], TITLES.get(what, what))
        if len(panels) > 1:
            timesequence.legend(figure, axes)
    # Axes are named where they have ticks: at the left, and where no panel stands below.
    columns = axes[0].get_gridspec().ncols  # type: ignore[union-attr]
    for number, place in enumerate(axes):
        if number % columns:
            place.set_ylabel("")
        if number < len(axes) - columns:
            place.set_xlabel("")
    if what in NOTES:
        notes = (NOTES[what],)
    if notes:
        figure.supxlabel("\n".join(line for note in notes for line in textwrap.wrap(note, 110)), fontsize=7)
    return figure
