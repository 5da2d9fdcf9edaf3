"""A DECT access over time: channels in use, bearers, handovers and queues on one axis.

The map has a row for each slot pair of each carrier of a radio fixed part, the colour of a bar is the type of the
terminal that holds the channel, and the bearers of the access' own terminal stand out. Handovers are read from its
channels: in the frame in which one is set up another is released, at the same radio fixed part or at a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars

from roamsim.errors import UsageError, there_are
from roamsim.pictures.timed import Figure, Kind, Marks, Panel
from roamsim.pictures.timeseries import ALL, SUBJECT, Part, cut
from roamsim.tables.labels import in_words

#: The type of the access' own terminal.
USER = "User"

#: Types of terminal with their colours: the background pale, the terminal dark on it (chosen).
COLOURS = {"P08j": "#7fb8da", "P32": "#c8cbd0", "P80": "#e6c229", "Data": "#8cc084", USER: "#d7191c"}

#: Directions with their colours, none of them a type's (chosen).
DIRECTIONS = {"up": "#8c6bb1", "down": "#e66101"}

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

#: Types of terminal in words.
TYPES = {USER: "the terminal", "Data": "data terminals", "P32": "telephones (P32)"}

#: Kinds of events of the terminal's bearers with their marks and colours (chosen).
MARKS: Mapping[str, tuple[Kind, str]] = {
    "bearer handover": ("tick", "#0072b2"),
    "connection handover": ("triangle", "#009e73"),
    "bearer set up": ("plus", "#4d9221"),
    "bearer released": ("cross", "#7a7a7a"),
}


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
    if part.flow is not None:
        names = occupancy["name"].unique(maintain_order=True)
        if part.flow not in names:
            raise UsageError(f"there is no DECT access {part.flow!r}; {there_are(part.flow, names, quoted=True)}")
        occupancy = occupancy.filter(name=part.flow)
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
    """Draws the recording of the only access, or of the one that is chosen, as `roamsim plot --what occupancy` does.

    Raises:
        UsageError: nothing was recorded of it, or there are several accesses and none is chosen.
    """
    return draw(only(recordings(tables, part)))


def only(found: list[Recording]) -> Recording:
    """The recording of the only access.

    Raises:
        UsageError: there are several.
    """
    if len(found) > 1:
        names = ", ".join(recording.name for recording in found)
        raise UsageError(f"a figure shows one DECT access, and these results have {names}; choose one with --flow")
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
    """A map for each radio fixed part, then what was recorded over time below each other."""
    panels = [_map(recording, number) for number in sorted(recording.occupancy["radio_fixed_part"].unique())]
    panels.append(_bearers(recording))
    for title, drawn in _lines(recording):
        colours = dict(DIRECTIONS)
        others = iter(FLOWS)
        lines = []
        for label, way, rows in drawn:
            # The first from the terminal and the first to it, as in the panel of the DLC.
            colour = colours.pop(way, None) or next(others, FLOWS[-1])
            lines.append(Marks(label, colour, "step", rows.select(t="time_s", v="value")))
        panels.append(Panel(title, lines, 90))
    return Figure(panels, whole_s=(recording.start_s, recording.end_s))


def note(recording: Recording) -> str:
    """What a reader of the picture has to know."""
    last_s = float(recording.occupancy["until_s"].max() or 0.0)  # type: ignore[arg-type]
    part = f"From {recording.start_s:g} to {recording.end_s:g} s of {last_s:g} s"
    more = "" if recording.end_s >= last_s else "; `roamsim plot --what occupancy` with --from and --to draws others"
    return (
        f"{part}{more}. A row is a slot pair, {SLOT_PAIRS} are a carrier. In the frame of a handover one "
        "channel of the terminal is released and another set up."
    )


def _map(recording: Recording, radio_fixed_part: int) -> Panel:
    """The channels of one radio fixed part."""
    mine = recording.shown.filter(polars.col("radio_fixed_part") == radio_fixed_part).sort("from_s")
    low = polars.col("carrier") * SLOT_PAIRS + polars.col("slot_pair") + polars.col("half") / 2
    spans = mine.select("type", t="from_s", until="until_s", low=low, high=low + polars.col("slots"))
    marks = [
        Marks(TYPES.get(kind, kind), colour, "span", rows.drop("type"))
        for kind, colour in COLOURS.items()
        if (rows := spans.filter(type=kind)).height
    ]
    carriers = int(recording.occupancy["carrier"].max() or 0) + 1  # type: ignore[arg-type]
    # A line between carriers; the first row of each has its number.
    axis = {
        "values": [SLOT_PAIRS * carrier for carrier in range(carriers)],
        "labelExpr": f"datum.value / {SLOT_PAIRS}",
        "labelBaseline": "bottom",
        "labelOverlap": False,
    }
    place = f"'carrier ' + floor(datum.low / {SLOT_PAIRS}) + ', slot pair ' + floor(datum.low % {SLOT_PAIRS})"
    title = f"RFP {radio_fixed_part}: channels in use, by carrier and slot pair"
    return Panel(title, marks, 20 * carriers, axis, {"domain": [0, carriers * SLOT_PAIRS], "nice": False}, place)


def _bearers(recording: Recording) -> Panel:
    """The number of the terminal's bearers and what happened to them."""
    times, counts = _count(recording.occupancy)
    marks = [Marks("bearers", COLOURS[USER], "step", polars.DataFrame({"t": times, "v": counts}))]
    most = max(counts, default=1)
    events = handovers(recording.occupancy)
    for place, (event, (kind, colour)) in enumerate(MARKS.items()):
        at = events.filter(event=event).select(t="time_s", v=polars.lit(most + 1.0 + place * max(1.0, most / 6)))
        if at.height:
            marks.append(Marks(event, colour, kind, at))
    axis = {"values": list(range(0, most + 1, 2 if most > 4 else 1))}
    top = most + 1.0 + len(MARKS) * max(1.0, most / 6)
    return Panel("bearers of the terminal; above, what happened to them", marks, 130, axis, {"domain": [0, top]})


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
    for quantity, title in (("dlc_queue", "DLC queue, fragments"), ("backlog", "TCP queue, B")):
        found = samples.filter(mine, quantity=quantity)
        columns = ["way"] if quantity == "dlc_queue" and recording.terminal else ["name", "kind", "from", "to"]
        found = found.with_columns(in_words(found, columns).alias("label"))
        drawn = [
            (str(label), str(of), cut(rows, Part(start_s=recording.start_s, end_s=recording.end_s)))
            for (label, of), rows in found.group_by("label", "way", maintain_order=True)
        ]
        if drawn:
            yield title, drawn
