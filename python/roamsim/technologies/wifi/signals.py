"""The signal of each access point at a station over time, and which one it was associated with.

Both are read from link events, which Wi-Fi cells with beacons tell: Link_Detected and Link_Parameters_Report have the
power of a beacon, Link_Up and Link_Down the association.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars

from roamsim.errors import UsageError
from roamsim.pictures.timeseries import ALL, Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of access points, in the order of their names (chosen: told apart by who sees few colours, too).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

#: More stations than that are not drawn (chosen: they fill a page).
MAX_STATIONS = 8


def recorded(tables: Mapping[str, polars.DataFrame]) -> polars.DataFrame | None:
    """The link events of Wi-Fi stations in the first run; `None` where none were recorded."""
    events = tables.get("link_events")
    if events is None or "signal_dbm" not in events.columns or not events.height:
        return None
    events = events.filter((polars.col("point") == events["point"].min()) & (polars.col("replication") == 0))
    by_radio = events.filter(polars.col("signal_dbm").is_not_null())["link"].unique()
    found = events.filter(polars.col("link").is_in(by_radio.to_list()))
    return found if found.height else None


def stations(events: polars.DataFrame) -> list[str]:
    """Those whose signals change most, in their order: who walks comes before who stands."""
    spread = polars.col("signal_dbm").max() - polars.col("signal_dbm").min()
    several = polars.col("link").n_unique()
    ranked = events.group_by("node", maintain_order=True).agg(several.alias("cells"), spread.alias("spread_db"))
    chosen = (
        ranked.sort("cells", "spread_db", descending=True, maintain_order=True).head(MAX_STATIONS)["node"].to_list()
    )
    return [node for node in ranked["node"] if node in chosen]


def note(events: polars.DataFrame) -> str:
    """What the picture leaves out."""
    left_out = events["node"].n_unique() - MAX_STATIONS
    heard = "Each point is the mean of the signal with a beacon or an answer to a probe."
    return heard + (f" {left_out} stations whose signals change less are left out." if left_out > 0 else "")


def picture(tables: Mapping[str, polars.DataFrame], part: Part = ALL) -> Figure:
    """Draws the signals of a run, as `roamsim plot --what link_events` does.

    Raises:
        UsageError: no signals were recorded, or nothing between these times.
    """
    events = recorded(tables)
    if events is None:
        raise UsageError(
            "no signals of a [[wifi]] with beacons were recorded; run such a scenario with --trace link_events"
        )
    if part.flow is not None:
        raise UsageError("link events are of links and not of a flow; choose a time alone")
    return draw(events, part)


def associations(events: polars.DataFrame, node: str, end_s: float) -> list[tuple[str, float, float]]:
    """The access of each association of a station, with its begin and its end."""
    since: dict[str, float] = {}
    found = []
    mine = events.filter((polars.col("node") == node) & polars.col("event").is_in(["link_up", "link_down"]))
    for row in mine.iter_rows(named=True):
        if row["event"] == "link_up":
            since[row["link"]] = row["time_s"]
        elif row["link"] in since:
            found.append((row["link"], since.pop(row["link"]), row["time_s"]))
    return found + [(link, begin_s, end_s) for link, begin_s in since.items()]


def draw(events: polars.DataFrame, part: Part = ALL) -> Figure:
    """A panel for each station: the power of each access point's beacons, and below it a bar for each association."""
    from matplotlib.figure import Figure

    nodes = stations(events)
    links = sorted(events["link"].unique().to_list())
    colours = {link: COLOURS[i % len(COLOURS)] for i, link in enumerate(links)}
    last_s = float(events["time_s"].max() or 0.0)  # type: ignore[arg-type]
    start_s = part.start_s or 0.0
    end_s = last_s if part.end_s is None else min(part.end_s, last_s)
    if start_s >= end_s:
        raise UsageError(f"no signal was recorded after {start_s:g} s; the last one came at {last_s:g} s")
    figure = Figure(figsize=(9.0, 0.6 + 1.9 * len(nodes)), layout="constrained")
    places = figure.subplots(2 * len(nodes), 1, sharex=True, squeeze=False, height_ratios=[1.6, 0.3] * len(nodes))
    for node, above, below in zip(nodes, places[::2, 0], places[1::2, 0], strict=True):
        _signals(above, events.filter(polars.col("node") == node), colours)
        above.set_title(node, loc="left", fontsize=9)
        for link, begin_s, until_s in associations(events, node, last_s):
            below.barh(0, until_s - begin_s, left=begin_s, height=1.0, color=colours[link])
        below.set_yticks([0], ["associated"])
        for axes in (above, below):
            axes.spines[["top", "right"]].set_visible(False)
    places[-1, 0].set_xlim(start_s, end_s)
    places[-1, 0].set_xlabel("time (s)")
    handles = {link: places[0, 0].plot([], [], "o", color=colour)[0] for link, colour in colours.items()}
    figure.legend(handles.values(), handles.keys(), ncols=6, loc="outside upper center", frameon=False, fontsize=8)
    return figure


def _signals(axes: Axes, mine: polars.DataFrame, colours: Mapping[str, str]) -> None:
    for (link,), heard in mine.filter(polars.col("signal_dbm").is_not_null()).group_by("link", maintain_order=True):
        axes.plot(heard["time_s"], heard["signal_dbm"], ".", markersize=3, color=colours[str(link)])
    axes.set_ylabel("dBm")
