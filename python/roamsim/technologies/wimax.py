"""802.16 cells: use of frames, requests and grants of stations and service flows, burst profiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars

from roamsim.estimates.summaries import means, of_runs, worded
from roamsim.pictures.bars import parts_of, specification
from roamsim.pictures.charts import COLOURS
from roamsim.pictures.timed import Figure, Marks, Panel
from roamsim.storing.store import Results
from roamsim.tables.values import percent
from roamsim.tables.words import count

if TYPE_CHECKING:
    from roamsim.pages.page import Report

__all__ = ["outcome", "report"]

#: The parts of a cell's time, their names and colours; they add up to its frames.
FRAME = {
    "preamble_s": ("preamble, header", "#9d755d"),
    "maps_s": ("maps", "#b279a2"),
    "downlink_data_s": ("downlink bursts", "#4c78a8"),
    "downlink_idle_s": ("downlink idle", "#d6d9dc"),
    "requests_s": ("requests", "#eeca3b"),
    "ranging_s": ("ranging", "#f58518"),
    "uplink_data_s": ("uplink bursts", "#54a24b"),
    "uplink_idle_s": ("uplink idle", "#e6e8ea"),
    "gaps_s": ("gaps", "#bab0ac"),
}

#: What the bursts of a station had room for.
BURSTS = {"used_bytes": ("used", "#54a24b"), "padding_bytes": ("padding", "#d6d9dc")}

#: How a station asked for bandwidth.
REQUESTS = {
    "heard_requests": ("in contention", "#4c78a8"),
    "collided_requests": ("collided", "#e45756"),
    "answered_polls": ("polled", "#72b7b2"),
    "piggybacked_requests": ("with data", "#9ecae9"),
}

#: Burst profiles, the most robust first.
PROFILES = ["BPSK 1/2", "QPSK 1/2", "QPSK 3/4", "16-QAM 1/2", "16-QAM 3/4", "64-QAM 2/3", "64-QAM 3/4"]

#: More stations than that are not told apart in a picture (chosen: they fill a page); the tables have all.
MAX_STATIONS = 40
#: More than that cannot be followed through a picture of profiles (chosen).
MAX_FOLLOWED = 8


def outcome(results: Results) -> list[str]:
    """The share of each cell's frames that carried data."""
    if "wimax" not in results or not results["wimax"].height:
        return []
    times = results["wimax"].group_by("name", maintain_order=True).agg(polars.col(FRAME).sum()).to_dicts()
    return [
        f"Airtime of {row['name']}: {percent(row['downlink_data_s'] / whole)} downlink bursts, "
        f"{percent(row['uplink_data_s'] / whole)} uplink bursts."
        for row in times
        if (whole := sum(row[column] for column in FRAME))
    ]


def report(page: Report, results: Results) -> None:
    """The time of each cell, the bursts and requests of its stations, and the profiles of the first run over time."""
    if not results.height("wimax"):
        return
    page.heading("802.16")
    cells, stations = means(results, "wimax"), means(results, "wimax_stations")
    flows = means(results, "wimax_flows")
    several = len(results.manifest.points) > 1
    for row in (cells.filter(point=0) if several else cells).to_dicts():
        own, classes = (table.filter(name=row["name"]) for table in (stations, flows))
        if several:
            own, classes = own.filter(point=0), classes.filter(point=0)
        note = _note(own)
        if has_classes(classes):
            own = by_flow(classes)
            note += _refused(first_run(results, "wimax_additions").filter(name=row["name"]))
        page.figure(
            f"frames-{row['name']}", draw(row, own), f"Frames of {row['name']}{of_runs(results, first=True)}", note
        )
    changes = first_run(results, "wimax_profiles")
    if changes.height:
        spec = profiles(changes, end_s(results)).specification()
        page.figure("wimax-profiles", spec, "Burst profiles over time, first run", _profile_note(changes))
    page.table(worded("wimax", cells), f"wimax{of_runs(results)}")
    page.table(worded("wimax_stations", stations), f"wimax_stations{of_runs(results)}")
    if has_classes(flows):
        page.table(worded("wimax_flows", flows), f"wimax_flows{of_runs(results)}")


def first_run(results: Results, table: str) -> polars.DataFrame:
    """The rows of a table, where results have it, of the first replication of the first point."""
    if not results.height(table):
        return polars.DataFrame()
    runs = results.columns(table, ["point", "replication"])
    first = (polars.col("point") == runs["point"].min()) & (polars.col("replication") == runs["replication"].min())
    return polars.concat(lot.filter(first) for lot in results.lots(table))


def has_classes(flows: polars.DataFrame) -> bool:
    """Whether any service flow is for classes of packets: otherwise they are the stations."""
    return bool((flows["dscp"] != "").any())


def by_flow(flows: polars.DataFrame) -> polars.DataFrame:
    """Service flows as rows of `draw`: each under its station, service and DSCPs, the stations in their order."""
    dscp = polars.when(polars.col("dscp") == "").then(polars.lit("")).otherwise(" DSCP " + polars.col("dscp"))
    named = polars.format("{}, {}{}", "node", "service", dscp)
    numbered = flows.with_row_index("place").with_columns(polars.col("place").min().over("node"))
    return numbered.sort("place", maintain_order=True).drop("place").with_columns(node=named)


def draw(cell: Mapping[str, Any], stations: polars.DataFrame) -> dict[str, Any]:
    """The shares of a cell's time above; below, of each station or service flow, the room of bursts, and requests."""
    shown = _busiest(stations).with_columns(
        used_bytes=polars.col("burst_bytes") - polars.col("padding_bytes"),
        heard_requests=polars.col("requests") - polars.col("collided_requests"),
    )
    names = shown["node"].to_list()
    percent = 100 / sum(cell[column] for column in FRAME)
    return specification(
        [
            parts_of("% of the frames' time", polars.DataFrame([cell]), ["frames"], FRAME, percent, 100.0),
            parts_of("octets of uplink bursts", shown, names, BURSTS),
            parts_of("bandwidth requests", shown, names, REQUESTS),
        ]
    )


def end_s(results: Results) -> float:
    """When the first run came to its end: its frames fill it."""
    frames = first_run(results, "wimax").select(polars.sum_horizontal(*FRAME).max())
    return float(frames.item())


def profiles(changes: polars.DataFrame, end_s: float) -> Figure:
    """The burst profiles of stations as steps over time, from and to them, until the run's end."""
    marks: list[Marks] = []
    for node in changes["node"].unique(maintain_order=True).to_list()[:MAX_FOLLOWED]:
        for direction, shift in (("downlink", 0.06), ("uplink", -0.06)):
            own = changes.filter(node=node, direction=direction).sort("time_s")
            levels = [PROFILES.index(profile) + shift for profile in own["profile"]]
            if not levels:
                continue
            steps = {"t": [*own["time_s"], end_s], "v": [*levels, levels[-1]]}
            colour = COLOURS[len(marks) % len(COLOURS)]
            marks.append(Marks(f"{node}, {direction}", colour, "step", polars.DataFrame(steps)))
    labels = {
        "values": list(range(len(PROFILES))),
        "labelExpr": f"{json.dumps(PROFILES)}[datum.value]",
    }
    return Figure([Panel("burst profile", marks, 200, labels, {"domain": [-0.5, len(PROFILES) - 0.5]})], left=76)


def _busiest(stations: polars.DataFrame) -> polars.DataFrame:
    """The stations with most PDUs, in their order."""
    pdus = polars.col("uplink_pdus") + polars.col("downlink_pdus")
    return stations.with_row_index("place").sort(pdus, descending=True).head(MAX_STATIONS).sort("place")


def _note(stations: polars.DataFrame) -> str:
    requests, collided = sum(stations["requests"].to_list()), sum(stations["collided_requests"].to_list())
    share = f"{percent(collided / requests)} of them collided" if collided else "no collision"
    told = f"{count(requests, 'bandwidth request', ',.0f')} in contention, {share}."
    left_out = stations.height - MAX_STATIONS
    return told + (f" In the table only: {count(left_out, 'station')} with fewer PDUs." if left_out > 0 else "")


def _refused(additions: polars.DataFrame) -> str:
    refused = additions.filter(outcome="refused")
    rows = [f"{row['service']} of {row['node']} at {row['time_s']:.2f} s" for row in refused.to_dicts()]
    return f" Refused, and served best effort: {', '.join(rows)} (first run)." if rows else ""


def _profile_note(changes: polars.DataFrame) -> str:
    nodes = changes["node"].n_unique()
    told = f"{count(changes.height, 'change')} of burst profile by {count(nodes, 'station')}, entries included."
    left_out = nodes - MAX_FOLLOWED
    return told + (f" In the table only: {count(left_out, 'more station')}." if left_out > 0 else "")
