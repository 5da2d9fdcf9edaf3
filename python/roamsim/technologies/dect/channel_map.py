"""What happened on a DECT access: channels in use over time, and bearers, handovers and queues on one time line.

The map has a row for each slot pair of each carrier of a radio fixed part, the colour of a bar is the type of the
terminal that holds the channel, and the bearers of the access' own terminal stand out. Handovers are read from its
channels: in the frame in which one is set up another is released, at the same radio fixed part or at a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars

from roamsim.errors import UsageError
from roamsim.pictures.timeseries import ALL, SUBJECT, Part, cut
from roamsim.tables.labels import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The type of the access' own terminal.
USER = "User"

#: Types of terminal with their colours: the background pale, the terminal dark on it (chosen).
COLOURS = {"P08j": "#7fb8da", "P32": "#c8cbd0", "P80": "#e6c229", "Data": "#8cc084", USER: "#d7191c"}

#: Directions with their colours, none of them a type's (chosen).
DIRECTIONS = {"up": "#5e3c99", "down": "#e66101"}

#: Colours of flows with other names (chosen, as the directions').
FLOWS = ("#35978f", "#8c510a", "#4d4d4d", "#c51b7d")

#: Slot pairs of a carrier (ETS 300 175-2 clause 4.2).
SLOT_PAIRS = 12

#: Seconds that are shown unless others are asked for (chosen: in more, calls are too short to be seen).
SHOWN_S = 600.0

#: What `--trace` has to record for every part of the picture.
TRACES = "occupancy,bearers,dlc_queue,backlog"

#: Columns of `samples` where no time series were recorded.
NO_SAMPLES = {
    "time_s": polars.Float64,
    **dict.fromkeys((*SUBJECT, "quantity"), polars.String),
    "value": polars.Float64,
    "unit": polars.String,
}

#: Kinds of events of the terminal's bearers with their marks.
MARKS = {"bearer handover": "|", "connection handover": "^", "bearer set up": "+", "bearer released": "x"}


@dataclass(frozen=True)
class Recording:
    """What one run recorded of one access.

    Attributes:
        name: of the access.
        terminal: its terminal's node; empty where that is not known.
        occupancy: rows of `dect_occupancy`.
        samples: rows of `samples`, none where no time series were recorded.
        start_s: where the time axis begins.
        end_s: where it ends.
    """

    name: str
    terminal: str
    occupancy: polars.DataFrame
    samples: polars.DataFrame
    start_s: float
    end_s: float

    @property
    def shown(self) -> polars.DataFrame:
        """The channels in use at any time shown."""
        within = (polars.col("from_s") < self.end_s) & (polars.col("until_s") > self.start_s)
        return self.occupancy.filter(within)


def recordings(tables: Mapping[str, polars.DataFrame], part: Part = ALL) -> list[Recording]:
    """What the first run of the tables recorded, an entry for each access.

    Without a part they begin where the access begins to count, after its warm-up.

    Raises:
        UsageError: no channels were recorded, or nothing between these times.
    """
    occupancy = tables.get("dect_occupancy")
    if occupancy is None:
        raise UsageError(f"no channels of a [[dect]] were recorded; run again with --trace {TRACES}")
    if not occupancy.height:
        raise UsageError("no channel was in use in the whole run")
    first = (polars.col("replication") == 0) & (polars.col("point") == occupancy["point"].min())
    occupancy = occupancy.filter(first)
    samples = tables["samples"].filter(first) if "samples" in tables else polars.DataFrame(schema=NO_SAMPLES)
    found = []
    for (name,), mine in occupancy.group_by("name", maintain_order=True):
        last_s = float(mine["until_s"].max() or 0.0)  # type: ignore[arg-type]
        terminal, warm_up_s = _access(tables, str(name), last_s)
        start_s = part.start_s if part.start_s is not None else warm_up_s
        end_s = min(part.end_s, last_s) if part.end_s is not None else min(last_s, start_s + SHOWN_S)
        if start_s >= end_s:
            raise UsageError(f"no channel was in use after {start_s:g} s; the run ended at {last_s:g} s")
        found.append(Recording(str(name), terminal, mine, samples, start_s, end_s))
    return found


def _access(tables: Mapping[str, polars.DataFrame], name: str, end_s: float) -> tuple[str, float]:
    """The node of an access' terminal, and when it began to count; empty and 0 where that is not known."""
    if "dect" not in tables:
        return "", 0.0
    for row in tables["dect"].filter(polars.col("name") == name).iter_rows(named=True):
        return row["terminal"], max(0.0, end_s - row["measured_s"])
    return "", 0.0


def picture(tables: Mapping[str, polars.DataFrame], part: Part = ALL) -> Figure:
    """Draws the recording of the only access, as `roamsim plot --what occupancy` does.

    Raises:
        UsageError: nothing was recorded, or there are several accesses.
    """
    return draw(only(recordings(tables, part)))


def only(found: list[Recording]) -> Recording:
    """The recording of the only access.

    Raises:
        UsageError: there are several.
    """
    if len(found) > 1:
        names = ", ".join(recording.name for recording in found)
        raise UsageError(f"a figure shows one DECT access, and these results have {names}; the report shows each")
    return found[0]


def handovers(occupancy: polars.DataFrame) -> polars.DataFrame:
    """Events of the terminal's bearers: `time_s` and `event`, one of `MARKS`, in order of time.

    Args:
        occupancy: rows of `dect_occupancy` of one access and run.
    """
    mine = occupancy.filter(polars.col("type") == USER)
    end_s = occupancy["until_s"].max()
    released: dict[float, list[int]] = {}
    for row in mine.filter(polars.col("until_s") < end_s).iter_rows(named=True):
        released.setdefault(row["until_s"], []).append(row["radio_fixed_part"])
    events = []
    for row in mine.sort("from_s").iter_rows(named=True):
        gone = released.get(row["from_s"], [])
        if not gone:
            events.append((row["from_s"], "bearer set up"))
        elif row["radio_fixed_part"] in gone:
            gone.remove(row["radio_fixed_part"])
            events.append((row["from_s"], "bearer handover"))
        else:
            gone.pop()
            events.append((row["from_s"], "connection handover"))
    events += [(at, "bearer released") for at, gone in released.items() for _ in gone]
    return polars.DataFrame(
        sorted(events, key=lambda event: event[0]),
        schema={"time_s": polars.Float64, "event": polars.String},
        orient="row",
    )


def draw(recording: Recording) -> Figure:
    """Draws a recording: a map for each radio fixed part, then what was recorded over time below each other."""
    from matplotlib.figure import Figure

    parts = sorted(recording.occupancy["radio_fixed_part"].unique())
    lines = list(_lines(recording))
    heights = [2.6] * len(parts) + [1.5] + [1.2] * len(lines)
    figure = Figure(figsize=(9.0, sum(heights) + 0.9), layout="constrained")
    places = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights).flatten().tolist()
    for number, axes in zip(parts, places, strict=False):
        _map(axes, recording, number)
    _bearers(places[len(parts)], recording)
    for (title, drawn), axes in zip(lines, places[len(parts) + 1 :], strict=True):
        colours = dict(DIRECTIONS)
        others = iter(FLOWS)
        for label, way, rows in drawn:
            # The first from the terminal and the first to it, as in the panel of the DLC.
            colour = colours.pop(way, None) or next(others, None)
            axes.step(rows["time_s"], rows["value"], where="post", linewidth=0.8, color=colour, label=label)
        axes.set_ylabel(title)
        # Room for the legend above what was recorded.
        axes.set_ylim(0, 1.35 * max(float(rows["value"].max() or 1) for *_, rows in drawn))  # type: ignore[arg-type]
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, loc="upper left", ncols=2)
    places[-1].set_xlim(recording.start_s, recording.end_s)
    places[-1].set_xlabel("time [s]")
    figure.align_ylabels(places)
    _legend(figure, recording)
    return figure


def note(recording: Recording) -> str:
    """What a reader of the picture has to know."""
    last_s = float(recording.occupancy["until_s"].max() or 0.0)  # type: ignore[arg-type]
    part = f"From {recording.start_s:g} to {recording.end_s:g} s of {last_s:g} s"
    more = "" if recording.end_s >= last_s else "; `roamsim plot --what occupancy` with --from and --to draws others"
    return (
        f"{part}{more}. A row is a slot pair, groups of {SLOT_PAIRS} are carriers. In the frame of a handover one "
        "channel of the terminal is released and another set up."
    )


def _map(axes: Axes, recording: Recording, radio_fixed_part: int) -> None:
    """Draws the channels of one radio fixed part; as pixels, for there may be many."""
    from matplotlib.collections import PolyCollection

    mine = recording.shown.filter(polars.col("radio_fixed_part") == radio_fixed_part)
    for kind, colour in COLOURS.items():
        bars = []
        for row in mine.filter(polars.col("type") == kind).iter_rows(named=True):
            low = row["carrier"] * SLOT_PAIRS + row["slot_pair"] + row["half"] / 2
            high = low + row["slots"]
            left, right = row["from_s"], row["until_s"]
            bars.append([(left, low), (left, high), (right, high), (right, low)])
        # The terminal's over the bounds of carriers.
        over = 3 if kind == USER else 1
        drawn = PolyCollection(bars, facecolors=colour, linewidths=0, rasterized=True, zorder=over)
        axes.add_collection(drawn, autolim=False)
    carriers = int(recording.occupancy["carrier"].max() or 0) + 1  # type: ignore[arg-type]
    axes.set_ylim(0, carriers * SLOT_PAIRS)
    axes.set_yticks([SLOT_PAIRS * (carrier + 0.5) for carrier in range(carriers)], [str(c) for c in range(carriers)])
    axes.tick_params(axis="y", length=0)
    for carrier in range(1, carriers):
        axes.axhline(SLOT_PAIRS * carrier, color="black", linewidth=0.3)
    axes.set_ylabel(f"RFP {radio_fixed_part}\ncarrier x slot pair")


def _bearers(axes: Axes, recording: Recording) -> None:
    """Draws the number of the terminal's bearers and what happened to them."""
    times, counts = _count(recording.occupancy)
    axes.step(times, counts, where="post", color=COLOURS[USER], linewidth=1)
    axes.set_ylabel("bearers")
    most = max(counts, default=1)
    events = handovers(recording.occupancy)
    for place, (event, mark) in enumerate(MARKS.items()):
        at = events.filter(polars.col("event") == event)["time_s"]
        height = most + 1.5 + place * 1.2
        axes.plot(at, [height] * len(at), mark, color="black", markersize=4, linestyle="none", label=event)
    axes.set_ylim(0, most + 2.5 + 1.2 * len(MARKS))
    axes.set_yticks(range(0, most + 1, 2 if most > 4 else 1))
    axes.grid(alpha=0.3)


def _count(occupancy: polars.DataFrame) -> tuple[list[float], list[int]]:
    """The number of the terminal's bearers from each instant on."""
    mine = occupancy.filter(polars.col("type") == USER)
    steps: dict[float, int] = {0.0: 0}
    for row in mine.iter_rows(named=True):
        steps[row["from_s"]] = steps.get(row["from_s"], 0) + 1
        steps[row["until_s"]] = steps.get(row["until_s"], 0) - 1
    end_s = occupancy["until_s"].max()
    times: list[float] = []
    counts: list[int] = []
    now = 0
    for at in sorted(steps):
        now += steps[at]
        times.append(at)
        counts.append(now if at != end_s else counts[-1] if counts else 0)
    return times, counts


def _lines(recording: Recording) -> Iterator[tuple[str, list[tuple[str, str, polars.DataFrame]]]]:
    """The time series below the map: title, and of each line its label, its direction and its samples.

    A value holds until the next.
    """
    terminal = polars.lit(recording.terminal)
    upward = polars.when(polars.col("from") == terminal).then(polars.lit("up"))
    way = upward.when(polars.col("to") == terminal).then(polars.lit("down")).otherwise(polars.lit(""))
    samples = recording.samples.filter(polars.col("time_s") <= recording.end_s).with_columns(way.alias("way"))
    mine = (polars.col("kind") != "dect") | (polars.col("name") == recording.name)
    for quantity, title in (("dlc_queue", "DLC queue\n[fragments]"), ("backlog", "TCP queue\n[B]")):
        found = samples.filter(mine, quantity=quantity)
        columns = ["way"] if quantity == "dlc_queue" and recording.terminal else ["name", "kind", "from", "to"]
        found = found.with_columns(in_words(found, columns).alias("label"))
        drawn = [
            (str(label), str(of), cut(rows, Part(start_s=recording.start_s, end_s=recording.end_s)))
            for (label, of), rows in found.group_by("label", "way", maintain_order=True)
        ]
        if drawn:
            yield title, drawn


def _legend(figure: Figure, recording: Recording) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    there = set(recording.shown["type"])
    names = {USER: "the terminal", "Data": "data terminals", "P32": "telephones (P32)"}
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, label=names.get(kind, kind)) for kind, colour in COLOURS.items() if kind in there
    ]
    handles += [
        Line2D([], [], marker=mark, color="black", linestyle="none", markersize=5, label=event)
        for event, mark in MARKS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False)
