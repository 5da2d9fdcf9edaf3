"""Figures for paper: SVG, PDF or PNG, drawn by matplotlib without a display."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from roamsim.curves import NOTES, POINTS, Curves, curves, delays, time_series
from roamsim.errors import UsageError
from roamsim.files import write_aside
from roamsim.store import open_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Units that ticks carry with a prefix (kB, Mb/s), as the figures write them.
PREFIXED = {"bit/s": "b/s", "B": "B"}

ENDINGS = (".svg", ".pdf", ".png")


def plot(folder: str | os.PathLike[str], what: str, out: str | os.PathLike[str] | None = None) -> Path:
    """Draws one figure of a folder of results.

    Args:
        folder: what `roamsim run --parquet` or `roamsim sweep` wrote.
        what: a time series that was recorded (`cwnd`, `queue`, `throughput`, ...); `transactions`, whose delays
            are drawn as their distribution; or a metric `TABLE.COLUMN`, drawn over what was varied with its 95 %
            interval.
        out: the file; its ending (`.svg`, `.pdf`, `.png`) chooses the format. `FOLDER/WHAT.svg` unless given.

    Returns:
        The path of the figure.

    Raises:
        UsageError: there are no such results, no such metric, or another ending.
    """
    target = Path(out) if out is not None else Path(folder) / f"{what}.svg"
    if target.suffix not in ENDINGS:
        raise UsageError(f"{os.fspath(target)!r} ends in none of {', '.join(ENDINGS)}")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder of {os.fspath(target)!r} does not exist")
    results = open_results(folder)

    import matplotlib
    from matplotlib.figure import Figure

    # Equal results give equal files: no date, no random identifiers.
    style: Any = {"svg.hashsalt": "roamsim", "svg.fonttype": "none", "font.size": 9, "legend.fontsize": 8}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(6.0, 3.8), layout="constrained")
        axes = figure.add_subplot()
        table, dot, column = what.partition(".")
        if dot:
            draw_curves(axes, curves(results, table, column))
        elif what == "transactions":
            draw_delays(axes, delays(results))
        else:
            draw_time_series(axes, time_series(results, what), points=what in POINTS)
        if what in NOTES:
            figure.supxlabel(NOTES[what], fontsize=7)
        axes.set_title(results.manifest.scenario)
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
        return write_aside(target, lambda aside: figure.savefig(aside, dpi=200, metadata=metadata[target.suffix]))


def draw_curves(axes: Axes, drawn: Curves) -> None:
    """Draws means with intervals: lines over numbers, points over names."""
    for (series,), points in drawn.frame.group_by("series", maintain_order=True):
        x = points["x"].to_list()
        middle = points["mean"].to_list()
        # A mean of one sample has no interval.
        low = [m - v if v is not None else 0 for m, v in zip(middle, points["low"], strict=True)]
        high = [v - m if v is not None else 0 for m, v in zip(middle, points["high"], strict=True)]
        style = "o-" if drawn.over_numbers else "o"
        axes.errorbar(x, middle, yerr=[low, high], fmt=style, markersize=3, linewidth=1, capsize=2, label=str(series))
    axes.set_xlabel(drawn.x_title)
    axes.set_ylabel(drawn.y_title)
    prefixed = PREFIXED.get(drawn.metric.unit or "")
    if prefixed:
        from matplotlib.ticker import EngFormatter

        axes.yaxis.set_major_formatter(EngFormatter(prefixed))
        axes.set_ylabel(drawn.metric.column.removesuffix("_bps").removesuffix("_bytes").replace("_", " "))
    # From 0, so that heights can be compared.
    if (drawn.frame["mean"] >= 0).all():
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if drawn.frame["series"].n_unique() > 1:
        axes.legend(frameon=False)


def draw_delays(axes: Axes, distribution: polars.DataFrame) -> None:
    """Draws the share of transactions that were done after each delay."""
    from matplotlib.ticker import EngFormatter

    for (name,), mine in distribution.group_by("signalling", maintain_order=True):
        longest = mine["delay_s"].to_list()[-1]
        done = mine["share"].to_list()[-1]
        axes.step(
            [0, *mine["delay_s"], longest], [0, *mine["share"], done], where="post", linewidth=1, label=str(name)
        )
    axes.set_xlabel("delay")
    axes.set_ylabel("share of transactions done")
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def draw_time_series(axes: Axes, samples: polars.DataFrame, *, points: bool = False) -> None:
    """Draws samples over time, as points or as lines; on a line a value holds until the next one."""
    from matplotlib.ticker import EngFormatter

    for (series,), mine in samples.group_by("series", maintain_order=True):
        if points:
            axes.plot(mine["time_s"], mine["value"], ".", markersize=2, label=str(series))
        else:
            axes.step(mine["time_s"], mine["value"], where="post", linewidth=0.8, label=str(series))
    units = samples["unit"].drop_nulls().unique(maintain_order=True).to_list()
    axes.set_xlabel("time [s]")
    axes.set_ylabel(", ".join(units))
    if len(units) == 1 and units[0] in PREFIXED:
        axes.yaxis.set_major_formatter(EngFormatter(PREFIXED[units[0]]))
        axes.set_ylabel("")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
