"""Nodes that select one of their interfaces: times on each, octets, cost, and every switch of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

from roamsim.estimates.summaries import MEANS, summary, worded
from roamsim.storing.store import Results
from roamsim.tables.result import RUN_COLUMNS
from roamsim.tables.values import percent, plain
from roamsim.tables.words import listed

if TYPE_CHECKING:
    from roamsim.pages.page import Report

__all__ = ["outcome", "report"]

#: Nodes that the first screen names (chosen: a line each).
MOST_NODES = 3

#: What a report says of nodes, of their interfaces, and of their radios.
NODES = ("switches", "ping_pongs", "without_s", "cost")
ENERGY = ("up_j", "selected_j", "traffic_j", "energy_j")
INTERFACES = ("selections", "selected_s", "up_s", "sent_bytes", "received_bytes", "cost")


def outcome(results: Results) -> list[str]:
    """Switches of the first nodes and of flows with policies, and shares of time on each interface."""
    if "selection" not in results:
        return []
    said = []
    means = polars.col("switches", "ping_pongs", "without_s").mean()
    nodes = results["selection"].group_by("name", "node", maintain_order=True).agg(means)
    selected = polars.col("selected_s").mean()
    interfaces = results["interfaces"].group_by("name", "link", maintain_order=True).agg(selected)
    for row in nodes.head(MOST_NODES).to_dicts():
        times = interfaces.filter(polars.col("name") == row["name"])
        whole = times["selected_s"].sum() + row["without_s"]
        shares = [
            f"on {one['link']} for {percent(one['selected_s'] / whole)}"
            for one in times.sort("selected_s", descending=True).to_dicts()
            if one["selected_s"] and whole
        ]
        who = row["node"] if times.height else f"Flow {row['name']} of {row['node']}"
        back = f", {plain(row['ping_pongs'])} of them ping-pong" if row["ping_pongs"] else ""
        switches = f"{plain(row['switches'])} time{'' if row['switches'] == 1 else 's'}"
        stays = f" It was {listed(shares)} of the time." if shares else ""
        said.append(f"{who} switched its interface {switches}{back}.{stays}")
    return said


def report(page: Report, results: Results) -> None:
    """What nodes and interfaces counted; of one run, each switch."""
    if not results.height("selection"):
        return
    page.heading("Selection of interfaces")
    alone = sum(point.replications for point in results.manifest.points) == 1
    counted = "counts of the run" if alone else MEANS
    page.table(summary(results, "selection", NODES), f"selection: {counted}")
    page.table(summary(results, "interfaces", INTERFACES), f"interfaces: {counted}")
    if results.height("energy"):
        page.table(summary(results, "energy", ENERGY), f"energy: {counted}")
    if alone and results.height("switches"):
        switches = results["switches"].drop(RUN_COLUMNS, strict=False)
        page.table(worded("switches", switches), "switches: one row each")
