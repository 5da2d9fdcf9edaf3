"""The DECT section of a report: accesses over time, the states of their MAC, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

from roamsim.errors import UsageError
from roamsim.estimates.summaries import means, of_runs, worded
from roamsim.storing.store import Results
from roamsim.tables.values import percent, plain
from roamsim.technologies.dect import channel_map, mac_states

if TYPE_CHECKING:
    from roamsim.pages.page import Report


def outcome(results: Results) -> list[str]:
    """The terminal's bearers, and the calls of competing terminals."""
    if "dect" not in results or not results["dect"].height:
        return []
    said = []
    for row in results["dect"].group_by("name", maintain_order=True).agg(polars.selectors.float().mean()).to_dicts():
        calls = results["dect_terminals"].filter(name=row["name"])
        begun, blocked, dropped = (float(calls[column].sum()) for column in ("calls", "blocked", "dropped"))
        none = row["no_bearer_share"]
        bearers = (
            f"{row['mean_bearers']:.3g} bearers on average{f', none for {percent(none)} of the time' if none else ''}"
        )
        others = (
            f" Of {plain(begun)} competing calls {percent(blocked / begun)} were blocked and "
            f"{percent(dropped / begun)} dropped."
            if begun
            else ""
        )
        said.append(f"{row['name']} had {bearers}.{others}")
    return said


def report(page: Report, results: Results) -> None:
    """The accesses of a run with DECT: channels, bearers, handovers and queues over time, and their tables."""
    if not results.height("dect"):
        return
    page.heading("DECT")
    try:
        for recording in channel_map.recordings(results):
            page.figure(
                f"occupancy-{recording.name}",
                channel_map.draw(recording).specification(),
                f"{recording.name}: channels in use, bearers, queues and handovers, first replication",
                channel_map.note(recording),
            )
    except UsageError as error:
        recorded = "dect_occupancy" in results
        page.text(
            f"No map of channels over time: {error}."
            if recorded
            else f"Not recorded: channels over time. Run again with --trace {channel_map.TRACES}."
        )
    for name, kind, counts in mac_states.of_types(results):
        own = kind == "User"
        whose = "its terminal" if own else f"terminals of type {kind}"
        page.figure(
            f"states-{name}-{kind}",
            mac_states.draw(counts),
            f"{name}: MAC states and transitions of {whose}, {_which_runs(results)}",
            mac_states.note(counts, own=own),
            folded=not own,
        )
    for table in ("dect", "dect_states", "dect_transitions", "dect_procedures", "dect_terminals"):
        page.table(
            worded(table, means(results, table)),
            f"{table}{of_runs(results)}",
            folded=table not in ("dect_procedures", "dect_terminals"),
        )


def _which_runs(results: Results) -> str:
    runs = results.manifest.points[0].replications
    point = "" if len(results.manifest.points) == 1 else " of the first point"
    return f"the only run{point}" if runs == 1 else f"all {runs} runs{point}"
