"""The signal of each access point at a station over time, and which one it was associated with.

Both are read from link events, which Wi-Fi cells with beacons tell: Link_Detected and Link_Parameters_Report have the
power of a beacon, Link_Up and Link_Down the association. Of stations that move each run keeps a part of them, in the
table `signals`; with `--trace link_events` all are there.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars

from roamsim.errors import UsageError
from roamsim.pictures.charts import COLOURS
from roamsim.pictures.timed import Figure, Marks, Panel
from roamsim.pictures.timeseries import ALL, Part
from roamsim.tables import heard

#: More stations than that are not drawn (chosen: they fill a page).
MAX_STATIONS = 8


def recorded(tables: Mapping[str, polars.DataFrame]) -> polars.DataFrame | None:
    """The link events of Wi-Fi stations in the first run, or of those that move what each run keeps; or `None`."""
    told = heard.table(tables)
    if told is None or "signal_dbm" not in tables[told].columns:
        return None
    events = tables[told]
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
    """What is drawn, and what is left out."""
    there = events["node"].n_unique()
    said = [
        "Each point is the mean of the signal with a beacon or an answer to a probe.",
        heard.said_of(heard.TRACED if "reason" in events.columns else heard.KEPT, there),
    ]
    if there > MAX_STATIONS:
        said.append(
            f"{MAX_STATIONS} of {there} stations are drawn: those that heard most access points and whose signals "
            "change most."
        )
    return " ".join(filter(None, said))


def picture(tables: Mapping[str, polars.DataFrame], part: Part = ALL) -> Figure:
    """Draws the signals of a run, as `roamsim plot --what link_events` does.

    Raises:
        UsageError: no signals were recorded, or nothing between these times.
    """
    events = recorded(tables)
    if events is None:
        raise UsageError(
            "no signals of a [[wifi]] with beacons were recorded; run such a scenario, where nobody moves with "
            "--trace link_events"
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
    """Of each station a panel with the power of beacons by access point, and below it a bar for each association."""
    links = sorted(events["link"].unique().to_list())
    colours = {link: COLOURS[i % len(COLOURS)] for i, link in enumerate(links)}
    last_s = float(events["time_s"].max() or 0.0)  # type: ignore[arg-type]
    start_s = part.start_s or 0.0
    end_s = last_s if part.end_s is None else min(part.end_s, last_s)
    if start_s >= end_s:
        raise UsageError(f"no signal was recorded after {start_s:g} s; the last one came at {last_s:g} s")
    panels = []
    for node in stations(events):
        mine = events.filter(polars.col("node") == node, polars.col("signal_dbm").is_not_null())
        powers = [
            Marks(str(link), colours[str(link)], "dot", rows.select(t="time_s", v="signal_dbm"))
            for (link,), rows in mine.group_by("link", maintain_order=True)
        ]
        panels.append(Panel(f"{node}: signal, dBm", powers, 110, scale={"zero": False}))
        held = associations(events, node, last_s)
        bars = [
            Marks(
                link,
                colours[link],
                "span",
                polars.DataFrame(
                    [(begin_s, until_s, 0.0, 1.0) for of, begin_s, until_s in held if of == link],
                    schema=["t", "until", "low", "high"],
                    orient="row",
                ),
            )
            for link in dict.fromkeys(link for link, *_ in held)
        ]
        if bars:
            panels.append(Panel(f"{node}: associated", bars, 16, {"labels": False, "ticks": False, "grid": False}))
    return Figure(panels, whole_s=(start_s, end_s))
