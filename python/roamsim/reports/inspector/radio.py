"""Lanes of the radio: signals, link events, handovers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars

from roamsim.reports.inspector.rows import Lane, Row
from roamsim.scenarios.vary import quantity
from roamsim.tables import heard
from roamsim.tables.result import RUN_COLUMNS

#: Nodes whose links are shown (chosen: more fill several screens).
NODES = 4

#: Intervals without a report after which the line of a signal ends (chosen: single lost beacons leave no hole).
MISSED = 5

#: Steps of a handover by MIH: what each is called, and the columns of its begin and its end.
STEPS = (
    ("scanning", "scan_begun_s", "scan_done_s"),
    ("asking for resources", "resources_asked_s", "resources_known_s"),
    ("commitment", "commit_asked_s", "committed_s"),
    ("redirection", "redirect_begun_s", "redirected_s"),
)

#: Spans of a handover of any scheme.
SPANS = (
    ("no packet", "last_packet_old_s", "first_packet_new_s"),
    ("detected to completed", "detected_s", "completed_s"),
)

#: What is measured of a link, by column of `link_events`: its name, the unit that is shown, and its own in these.
MEASURED = (
    ("signal_dbm", "Signal", "dBm", 1),
    ("distance_m", "Distance to base stations", "m", 1),
    ("packet_error_rate", "Packet errors", "%", 100),
)

Tables = Mapping[str, polars.DataFrame]


def nodes(events: polars.DataFrame) -> list[str]:
    """Nodes of link events: who changes its links more comes first."""
    changes = polars.col("event").is_in(["link_up", "link_down"]).sum()
    ranked = events.group_by("node", maintain_order=True).agg(changes.alias("changes"), polars.col("link").n_unique())
    return ranked.sort("link", "changes", descending=True, maintain_order=True)["node"].to_list()


def left_out(events: polars.DataFrame) -> int:
    """How many nodes have links that are not shown."""
    return max(0, events["node"].n_unique() - NODES)


def signals(events: polars.DataFrame, canonical: Mapping[str, Any], table: str = heard.TRACED) -> list[Lane]:
    """For each node what was measured of its links, a line each; nothing of a node for which it never changes."""
    lanes = []
    for node in nodes(events)[:NODES]:
        for column, title, unit, scale in MEASURED:
            if column not in events.columns:
                continue
            mine = events.filter((polars.col("node") == node) & polars.col(column).is_not_null())
            if mine.group_by("link").agg(polars.col(column).n_unique() > 1)[column].any():
                found = mine.select(
                    polars.col("time_s").alias("t"), (scale * polars.col(column)).alias("value"), "node", "link"
                )
                rows = [
                    Row(str(link), table, reports, _gap_s(reports))
                    for (link,), reports in found.group_by("link", maintain_order=True)
                ]
                levels = _levels(column, node, [row.name for row in rows], canonical)
                lanes.append(Lane(f"{title} at {node} [{unit}]", rows, "lines", levels))
    return lanes


def _gap_s(reports: polars.DataFrame) -> float | None:
    """Beacons come regularly: after several that were missed nothing is known of the signal."""
    usual = reports["t"].diff().median()
    return MISSED * float(usual) if usual else None  # type: ignore[arg-type]


def _levels(column: str, node: str, links: list[str], canonical: Mapping[str, Any]) -> list[tuple[str, float]]:
    """What the scenario says: where a cell ends, when a station gives its access point up, thresholds of errors."""
    if column == "packet_error_rate":
        thresholds = [
            threshold
            for one in canonical.get("signalling", [])
            for threshold in (one.get("thresholds", []) if one["from"] == node else [])
        ]
        percents = {one.get("packet_error_percent") for one in thresholds if one["link"] in links}
        return [("threshold", float(percent)) for percent in sorted(percents - {None})]
    if column == "distance_m":
        said = [
            (f"edge of {cell['name']}", cell.get("coverage", {}).get("radius"), "m")
            for cell in canonical.get("cell", [])
            if cell["name"] in links
        ]
    else:
        said = [
            ("given up below", one.get("wifi", {}).get("signal_threshold"), "dbm")
            for one in canonical.get("node", [])
            if one["name"] == node
        ]
    read = [(name, quantity(text) if isinstance(text, str) else None, unit) for name, text, unit in said]
    found = [(name, value[0]) for name, value, unit in read if value and value[1] == unit]
    # Cells that are alike have one edge.
    values = {value for _, value in found}
    return found if len(values) == len(found) else [("edge of the cells", value) for value in sorted(values)]


def links(events: polars.DataFrame, end_s: float, table: str = heard.TRACED) -> list[Lane]:
    """For each node, what each link told it; a bar while it was up, a pale one while it was heard and not yet up."""
    lanes = []
    for node in nodes(events)[:NODES]:
        mine = events.filter(polars.col("node") == node)
        rows = [
            Row(str(link), table, _told(told, end_s)) for (link,), told in mine.group_by("link", maintain_order=True)
        ]
        # Of a link that tells its errors there may be nothing else.
        if rows := [row for row in rows if row.frame.height]:
            lanes.append(Lane(f"Link events at {node}", rows))
    return lanes


def _told(told: polars.DataFrame, end_s: float) -> polars.DataFrame:
    """Link events of one link at one node as marks, and the times in which it was up as spans."""
    marks = told.filter(polars.col("event") != "link_parameters_report").drop(RUN_COLUMNS, strict=False)
    marks = marks.select(polars.col("time_s").alias("t"), polars.col("event").alias("kind"), polars.exclude("time_s"))
    spans = []
    for kind, begin, ends in (("heard", "link_detected", ["link_up", "link_lost"]), ("up", "link_up", ["link_down"])):
        turns = told.filter(polars.col("event").is_in([begin, *ends]))
        spans.append(
            turns.select(
                polars.col("time_s").alias("t"),
                polars.col("time_s").shift(-1).fill_null(end_s).alias("until"),
                polars.lit(kind).alias("kind"),
                "link",
                "node",
            ).filter(turns["event"] == begin)
        )
    return polars.concat([*spans, marks], how="diagonal").sort("t", maintain_order=True)


def phases(tables: Tables, end_s: float) -> list[Lane]:
    """For each node, what its radio did on its way into each network: a row a network, one for all of them."""
    frame = tables.get("radio_phases")
    if frame is None or not frame.height:
        return []
    found = frame.drop(RUN_COLUMNS, strict=False).select(
        polars.col("begin_s").alias("t"),
        polars.col("end_s").fill_nan(None).fill_null(end_s).alias("until"),
        polars.col("phase").alias("kind"),
        "node",
        "link",
    )
    lanes = []
    for (node,), mine in list(found.group_by("node", maintain_order=True))[:NODES]:
        rows = [
            Row(str(link) or "all cells", "radio_phases", of_link.sort("t", maintain_order=True))
            for (link,), of_link in mine.group_by("link", maintain_order=True)
        ]
        lanes.append(Lane(f"Radio phases at {node}", rows))
    return lanes


def handovers(tables: Tables) -> list[Lane]:
    """Each handover: its steps by MIH, from finding out to completing it, and the time without a packet."""
    rows = []
    nodes = {node for table in ("mih_handovers", "handovers") if table in tables for node in tables[table]["node"]}
    for table, what, spans in (
        ("mih_handovers", "steps by MIH", STEPS),
        ("handovers", "handover", SPANS[1:]),
        ("handovers", "interruption", SPANS[:1]),
    ):
        frame = tables.get(table)
        if frame is None or not frame.height:
            continue
        about = frame.drop(RUN_COLUMNS, strict=False)
        for (node,), mine in about.group_by("node", maintain_order=True):
            found = _spans(mine, spans)
            if found.height:
                rows.append(Row(what if len(nodes) == 1 else f"{node}: {what}", table, found))
    of = f" of {next(iter(nodes))}" if len(nodes) == 1 else ""
    return [Lane(f"Handovers{of}", rows)] if rows else []


def _spans(mine: polars.DataFrame, spans: Sequence[tuple[str, str, str]]) -> polars.DataFrame:
    """Spans of handovers, each with the row that it is of; and where one was given up, a mark."""
    instants = [*spans, *([("given up", "given_up_s", "")] if "given_up_s" in mine.columns else [])]
    found = polars.concat(
        mine.select(
            polars.col(begin).alias("t"),
            (polars.col(end) if end else polars.lit(None, polars.Float64)).alias("until"),
            polars.lit(kind).alias("kind"),
            "*",
        )
        for kind, begin, end in instants
    )
    # A step that was not begun is none, nor is an interruption while both paths brought packets. One that did not end
    # has no length.
    began = polars.col("t").is_not_null() & (polars.col("until") >= polars.col("t")).fill_null(value=True)
    return found.filter(began).sort("t", maintain_order=True)


def instants(events: polars.DataFrame | None, tables: Tables) -> list[float]:
    """When something was decided: near these times marks are kept."""
    found: list[float] = []
    if events is not None:
        told = events.filter(polars.col("event").is_in(["link_up", "link_down", "link_going_down"]))
        found += told.filter(polars.col("node").is_in(nodes(events)[:NODES]))["time_s"].to_list()
    for table in ("handovers", "mih_handovers"):
        frame = tables.get(table)
        if frame is not None:
            for column in frame.columns:
                if column in {name for _, *ends in (*STEPS, *SPANS) for name in ends}:
                    found += frame[column].drop_nulls().to_list()
    return sorted(found)
