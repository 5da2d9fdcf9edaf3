"""Figures for paper: SVG, PDF or PNG, drawn by matplotlib without a display."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

import polars

from roamsim.errors import Notice, UsageError
from roamsim.estimates.against import Against
from roamsim.estimates.curves import Curves
from roamsim.estimates.distributions import Distribution
from roamsim.pictures import fonts, timed
from roamsim.pictures.charts import COLOURS
from roamsim.pictures.timeseries import POINTS, Panel
from roamsim.tables.words import titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Characters without a font that a notice shows (chosen).
MOST_LETTERS = 8

#: Units that ticks carry with a prefix (kB, Mb/s), as the figures write them.
PREFIXED = {"bit/s": "b/s", "B": "B"}

#: Width and height of a figure in inches, and of each panel where there are several (chosen: a figure fits a column
#: of text, two panels a page).
FIGURE, PANEL = (6.0, 3.8), (3.4, 3.0)

#: Width in inches of panels over time, whose heights are their own; pixels of an inch (chosen; CSS's).
WIDE, DOTS = 9.0, 96

#: Inches of a side that can be asked for (chosen: below there is no room for labels; above, a PNG takes gigabytes).
SMALLEST, LARGEST = 1.0, 50.0

#: Inches of a row of a legend, of the mark before a name and of a letter of it, of a line of a note, of what stands
#: above a legend (measured, at the sizes of type of the style), and of its width that the usual figure has room for
#: (chosen).
LEGEND_ROW, LEGEND_MARK, LETTER, NOTE_LINE, ABOVE = 0.17, 0.5, 0.07, 0.13, 0.3
LEGEND_ROOM = 1.2

#: Inches that panels need at least beside their legend (chosen).
LEAST_WIDTH = 0.5

#: Panels that stand side by side; more begin a new row.
PANELS_A_ROW = 4


def style() -> AbstractContextManager[None]:
    """The house's style, for as long as a figure is drawn."""
    import matplotlib

    # No random identifiers.
    look: Any = {"svg.hashsalt": "roamsim", "svg.fonttype": "none", "font.size": 9, "legend.fontsize": 8}
    # Names of a scenario are no formulas.
    look["text.parse_math"] = False
    return matplotlib.rc_context(look)


def write_figure(draw: Callable[[], Figure], file: Any, ending: str) -> None:
    """Writes what `draw` makes, in the house's style and without a date.

    Where the usual font lacks characters, those of other fonts of this machine take their place; where none has them,
    a notice says so. An SVG has text, for which its reader has fonts.
    """
    import matplotlib

    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}

    def save() -> None:
        if hasattr(file, "truncate"):
            file.seek(0)
            file.truncate()
        draw().savefig(file, format=ending.removeprefix("."), dpi=200, metadata=metadata[ending])

    with style():
        missing = fonts.missing_glyphs(save)
        if missing:
            families = [*matplotlib.rcParams["font.family"], *fonts.fonts_with(missing)]
            with matplotlib.rc_context({"font.family": families}):
                missing = fonts.missing_glyphs(save)
    if missing and ending != ".svg":
        letters = "".join(map(chr, sorted(missing)[:MOST_LETTERS]))
        warn(
            f"no font of this machine has {letters!r}, which the figure shows as boxes. Install one, such as "
            "Noto Sans CJK, or write an .svg",
            Notice,
            stacklevel=2,
        )


def write_panels(figure: timed.Figure, file: Path, ending: str, dress: Dress, title: str) -> None:
    """Writes panels over time as pages have them, by the library of these; equal figures give equal files.

    Raises:
        UsageError: it is to be dressed as they cannot be.
    """
    import vl_convert

    if dress.logarithmic is not None or dress.x_label is not None or dress.y_label is not None:
        raise UsageError("this picture has its own axes; it takes only --title and --size")
    width, height = dress.size or (WIDE, None)
    spec = figure.printed(round(DOTS * width), None if height is None else round(DOTS * height))
    spec |= {"title": dress.title or title, "config": {"background": "white", "axis": {"grid": True}}}
    if ending == ".svg":
        file.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    elif ending == ".pdf":
        file.write_bytes(vl_convert.vegalite_to_pdf(spec))
    else:
        file.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))


def grid(title: str, panels: list[Panel], *, same_y: bool = True) -> tuple[Figure, list[Axes]]:
    """An empty figure with a place for each panel; all have the same time, so that they can be compared."""
    from matplotlib.figure import Figure

    count = len(panels)
    if count == 1:
        figure = Figure(figsize=FIGURE, layout="constrained")
        axes = [figure.add_subplot()]
        axes[0].set_title(title)
        return figure, axes
    # As even as it goes: six panels make two rows of three.
    rows = -(-count // PANELS_A_ROW)
    columns = -(-count // rows)
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows + 0.6), layout="constrained")
    places = figure.subplots(rows, columns, sharex=True, sharey=same_y, squeeze=False).flatten().tolist()
    for panel, place in zip(panels, places, strict=False):
        place.set_title(panel.title)
    for unused in places[count:]:
        unused.remove()
    # The panels above an empty place carry the time axis for themselves.
    for place in places[max(0, count - columns) : count]:
        place.xaxis.set_tick_params(labelbottom=True)
    figure.suptitle(title)
    return figure, places[:count]


def same_span(panels: list[Axes]) -> None:
    """Gives each panel its own lower end and all the same height: slopes are compared, not places."""
    ends = [axes.get_ylim() for axes in panels]
    span = max(high - low for low, high in ends)
    for axes, (low, _) in zip(panels, ends, strict=True):
        axes.set_ylim(low, low + span)


def _marked(number: int) -> tuple[str, str, str]:
    """Colour, shape of points and dashes of lines: ten colours, then these again with other shapes and dashes.

    The colours are those of pages. Ninety lines with points look different, thirty without points.
    """
    turn, colour = divmod(number, 10)
    return COLOURS[colour], "os^"[(turn + turn // 3 % 3) % 3], ("-", "--", ":")[turn % 3]


def alike(panels: Iterable[Axes]) -> str:
    """A note on names whose lines or points look like those of another name; empty where there are none."""
    named = names_of(panels)
    lines = [mark[0] if isinstance(mark, tuple) else mark for mark in named.values()]
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}
    if len(looks) == len(named):
        return ""
    return (
        f"{len(named) - len(looks)} of {len(named)} names look like another one: there are not more colours, marks "
        "and dashes. Choose some with --where."
    )


def _named(name: object) -> str:
    """A name as a legend has it: what begins with `_` has none in matplotlib's."""
    return f" {name}" if str(name).startswith("_") else str(name)


def draw_curves(axes: Axes, drawn: Curves, rows: Sequence[str] | None = None) -> None:
    """Draws means with intervals, of some rows of the table or all: lines over numbers, points over names."""
    frame = drawn.shown()
    marked = {name: _marked(number) for number, name in enumerate(frame["series"].unique(maintain_order=True))}
    if rows is not None:
        frame = frame.filter(polars.col("row").is_in(rows))
    for (series,), points in frame.group_by("series", maintain_order=True):
        x = points["x"].to_list()
        middle = points["mean"].to_list()
        # A mean of one sample has no interval.
        low = [m - v if v is not None else 0 for m, v in zip(middle, points["low"], strict=True)]
        high = [v - m if v is not None else 0 for m, v in zip(middle, points["high"], strict=True)]
        colour, shape, dash = marked[str(series)]
        axes.errorbar(
            x,
            middle,
            yerr=[low, high],
            fmt=shape + dash if drawn.over_numbers else shape,
            markersize=3,
            linewidth=1,
            capsize=2,
            color=colour,
            label=_named(series),
        )
        hollow = points.filter(polars.col("missing") > 0)
        axes.plot(hollow["x"], hollow["mean"], shape, markersize=3, color=colour, markerfacecolor="white", zorder=3)
    axes.set_xlabel(drawn.x_title)
    axes.set_ylabel(drawn.y_title)
    if drawn.logarithmic_x():
        _logarithmic(axes, "x")
    if drawn.logarithmic_y():
        _logarithmic(axes, "y")
    # From 0, so that heights can be compared; as high in all panels, which share the axis.
    elif (drawn.frame["mean"] >= 0).all():
        shown = drawn.shown()
        highest = max(polars.concat([shown["mean"], shown["high"].drop_nulls()]).to_list())
        axes.set_ylim(0, 1.05 * highest or 1.0)
    axes.grid(alpha=0.3)


def draw_distribution(axes: Axes, distribution: Distribution) -> None:
    """Draws the share that was done after each time."""
    from matplotlib.ticker import EngFormatter

    for number, ((name,), mine) in enumerate(distribution.frame.group_by("series", maintain_order=True)):
        color, _, dash = _marked(number)
        x, y = mine["time_s"].to_list(), mine["share"].to_list()
        look: Any = {"color": color, "linestyle": dash, "linewidth": 1, "label": _named(name)}
        axes.step([0, *x, x[-1]], [0, *y, y[-1]], where="post", **look)
    axes.set_xlabel(distribution.x_title)
    axes.set_ylabel(distribution.y_title)
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)


def draw_against(axes: Axes, drawn: Against) -> None:
    """Draws means of two metrics against each other, joined in the order of what was varied."""
    for number, ((series,), points) in enumerate(drawn.frame.group_by("series", maintain_order=True)):
        colour, shape, dash = _marked(number)
        axes.errorbar(
            points["x"].to_list(),
            points["y"].to_list(),
            xerr=_bars(points, "x"),
            yerr=_bars(points, "y"),
            fmt=shape + dash,
            color=colour,
            markersize=3,
            linewidth=1,
            capsize=2,
            label=_named(series),
        )
    axes.set_xlabel(titled(drawn.x.title, drawn.x.y_scale.unit))
    axes.set_ylabel(titled(drawn.y.title, drawn.y.y_scale.unit))
    axes.grid(alpha=0.3)


def _bars(points: polars.DataFrame, middle: str) -> list[list[float]]:
    """How far intervals reach below and above; a mean of one sample has none."""
    below, above = (
        (points[middle] - points[f"{middle}_low"]).fill_null(0.0),
        (points[f"{middle}_high"] - points[middle]).fill_null(0.0),
    )
    return [below.to_list(), above.to_list()]


@dataclass(frozen=True)
class Dress:
    """How a figure looks beside what it draws.

    Attributes:
        logarithmic: the axes that are, of `x` and `y`; `None` leaves that to the values.
        title: above the figure; `None` for the scenario's name.
        x_label: below the axes; `None` for what they show.
        y_label: beside them.
        size: width and height in inches; `None` for the usual one.
    """

    logarithmic: str | None = None
    title: str | None = None
    x_label: str | None = None
    y_label: str | None = None
    size: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.logarithmic is not None and not set(self.logarithmic) <= {"x", "y"}:
            raise UsageError(f"logarithmic axes are x, y, xy or none; not {self.logarithmic!r}")
        if self.size is not None and not all(SMALLEST <= side <= LARGEST for side in self.size):
            sides = " x ".join(f"{side:g}" for side in self.size)
            raise UsageError(f"the sides of a figure are {SMALLEST:g} to {LARGEST:g} inches long; not {sides}")

    def on(self, figure: Figure) -> None:
        """Puts it on a figure.

        Raises:
            UsageError: a logarithmic axis is asked for where values are 0 or below.
        """
        if self.size:
            figure.set_size_inches(self.size)
        if self.title is not None:
            if len(figure.axes) == 1:
                figure.axes[0].set_title(self.title)
            else:
                figure.suptitle(self.title)
        for axes in figure.axes:
            for name, label in (("x", self.x_label), ("y", self.y_label)):
                if label is not None and axes.xaxis.label.get_text() + axes.yaxis.label.get_text():
                    getattr(axes, f"set_{name}label")(label)
            if self.logarithmic is not None:
                _scale(axes, self.logarithmic)


def inches(text: str | None) -> tuple[float, float] | None:
    """Width and height of `--size 6x4`.

    Raises:
        UsageError: it is no size.
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*[x×]\s*(\d+\.?\d*)\s*", text)
    if found is None:
        raise UsageError(f"--size takes WIDTHxHEIGHT in inches, as in 6x4; not {text!r}")
    return float(found[1]), float(found[2])


def _logarithmic(axes: Axes, name: str) -> None:
    """Makes an axis logarithmic, with numbers as people write them at 1, 2, 5, 10, ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{name}scale")("log")
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend_beside(figure: Figure, panels: Sequence[Axes], title: str, note_lines: int, *, may_widen: bool) -> None:
    """One legend at the right of all panels, never on them: each name that any of them has, once.

    What is too much for the height of the figure, less a note of so many lines below, makes further columns. For
    these and for long names the figure becomes wider, if it may.

    Raises:
        UsageError: there is no room for so many or so long names.
    """
    named = names_of(panels)
    if not named:
        return
    room = figure.get_figheight() - ABOVE - NOTE_LINE * note_lines - (LEGEND_ROW if title else 0)
    columns = -(-len(named) // max(1, int(room / LEGEND_ROW)))
    wide = columns * (LEGEND_MARK + LETTER * max(map(len, named)))
    if may_widen:
        figure.set_figwidth(figure.get_figwidth() + max(0.0, wide - LEGEND_ROOM))
    if figure.get_figwidth() > LARGEST or wide > figure.get_figwidth() - LEAST_WIDTH:
        raise UsageError(
            f"{len(named)} names have no room beside a figure of {figure.get_figwidth():.3g}x"
            f"{figure.get_figheight():.3g} inches; ask for another --size, choose some by --where, or one by --flow"
        )
    figure.legend(
        handles=list(named.values()),
        labels=list(named),
        title=title or None,
        loc="outside right upper",
        ncols=columns,
        frameon=False,
    )


def names_of(panels: Iterable[Axes]) -> dict[str, Any]:
    """What is named in panels, in the order of its first time, and a mark of it."""
    named: dict[str, Any] = {}
    for axes in panels:
        for mark, name in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(name, mark)
    return named


def _scale(axes: Axes, logarithmic: str) -> None:
    for name in "xy":
        if name not in logarithmic:
            getattr(axes, f"set_{name}scale")("linear")
            continue
        values = [value for line in axes.lines for value in getattr(line, f"get_{name}data")()]
        there = [float(value) for value in values if isinstance(value, int | float) or hasattr(value, "dtype")]
        positive = [value for value in there if value > 0]
        if not positive or len(there) < len(values):
            raise UsageError(f"the {name} axis cannot be logarithmic: it has no numbers above 0")
        _logarithmic(axes, name)
        # What is 0 has no place on it.
        getattr(axes, f"set_{name}lim")(min(positive) / 1.2, max(positive) * 1.2)


def draw_time_series(panels: list[Axes], samples: list[polars.DataFrame], title: str) -> None:
    """Draws samples over time, as points or as lines; on a line a value holds until the next one.

    A series has one colour in all panels. The legend is left to the caller.
    """
    from matplotlib.ticker import EngFormatter

    together = polars.concat(samples)
    names = together["series"].unique(maintain_order=True).to_list()
    marked = {name: _marked(number) for number, name in enumerate(names)}
    points = set(together.filter(polars.col("quantity").is_in(POINTS))["series"])
    for axes, mine in zip(panels, samples, strict=True):
        # Points below, so that lines stay to be seen.
        for series in sorted(mine["series"].unique(maintain_order=True), key=lambda name: name not in points):
            rows = mine.filter(polars.col("series") == series)
            color, shape, dash = marked[series]
            look: Any = {"color": color, "label": _named(series)}
            if series in points:
                shape = "." if shape == "o" else shape
                axes.plot(rows["time_s"], rows["value"], shape, markersize=2, **look)
            else:
                axes.step(rows["time_s"], rows["value"], where="post", linewidth=0.8, linestyle=dash, **look)
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
    units = together["unit"].drop_nulls().unique(maintain_order=True).to_list()
    prefixed = PREFIXED | {"s": "s"}
    values = together["value"].to_list()
    # A round trip of milliseconds beside a timeout of a second: both are to be read.
    logarithmic = units == ["s"] and 0 < 10 * min(values) < max(values)
    for axes in panels:
        if logarithmic:
            axes.set_yscale("log")
        if len(units) == 1 and units[0] in prefixed:
            axes.yaxis.set_major_formatter(EngFormatter(prefixed[units[0]]))
            axes.set_ylabel(title)
        else:
            axes.set_ylabel(f"{title} [{', '.join(units)}]")
