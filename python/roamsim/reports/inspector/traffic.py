"""Lanes of traffic: signalling by sender, congestion windows, application packets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import polars

from roamsim.pictures.timeseries import SUBJECT, UNSET
from roamsim.reports.inspector.packets import DATA
from roamsim.reports.inspector.rows import Lane, Row
from roamsim.scenarios.defaults import default_at
from roamsim.scenarios.vary import quantity
from roamsim.tables.labels import in_words
from roamsim.tables.result import RUN_COLUMNS

#: Rows of one lane (chosen: more fill several screens).
ROWS = 12

Tables = Mapping[str, polars.DataFrame]


def signalling(packets: polars.DataFrame) -> list[Lane]:
    """Signalling of each kind, a row for each node that sends any."""
    lanes = []
    for (about,), mine in packets.filter(polars.col("about") != DATA).group_by("about", maintain_order=True):
        rows = [
            Row(f"from {node}", "packets", sent.drop("about", "carries", "repeated"))
            for (node,), sent in mine.group_by("from", maintain_order=True)
        ]
        title = {"MIH": "MIH messages", "Mobile IP": "Mobile IP messages", "redirection": "Redirection"}
        lanes.append(_lane(title.get(str(about), f"Changes of {about}"), rows))
    return lanes


def windows(tables: Tables) -> list[Lane]:
    """Congestion windows and thresholds of those who send; and bearers of a DECT access."""
    samples = tables.get("samples")
    if samples is None:
        return []
    lanes = []
    for title, quantities in (
        ("Congestion window and threshold [B]", ("cwnd", "ssthresh")),
        ("Bearers", ("bearers",)),
    ):
        found = samples.filter(polars.col("quantity").is_in(quantities) & (polars.col("value") < UNSET))
        # The end of a connection that sends no data has a window too; it never moves.
        moves = polars.col("value").n_unique().over(*SUBJECT, "quantity") > 2
        found = found.filter(moves.any().over(SUBJECT))
        if not found.height:
            continue
        found = found.with_columns(in_words(found, ["name", "quantity", "kind", "from", "to"]).alias("series"))
        rows = [
            Row(
                str(series),
                "samples",
                mine.select(polars.col("time_s").alias("t"), "value", "name", "from", "to", "quantity", "unit"),
            )
            for (series,), mine in found.group_by("series", maintain_order=True)
        ]
        lanes.append(_lane(title, rows, "lines"))
    return lanes


def _lane(title: str, rows: list[Row], shape: Literal["lines", "marks"] = "marks") -> Lane:
    """The first rows, and how many are left out."""
    return Lane(title, rows[:ROWS], shape, left_out=max(0, len(rows) - ROWS))


@cache
def usual_playout_delay() -> str:
    """That of an application that says nothing of it, or has none of its own: what the schema leaves it at."""
    tree = {"flow": [{"name": "any", "application": {"kind": "video"}}]}
    return str(default_at(tree, "flow.any.application.playout_delay"))


def late_after_s(flow: Mapping[str, Any]) -> float:
    """From which delay on a message of a flow is late."""
    told = flow.get("application", {}).get("playout_delay", usual_playout_delay())
    read = quantity(told) if isinstance(told, str) else None
    return read[0] if read else math.inf


def applications(tables: Tables, packets: polars.DataFrame | None, canonical: Mapping[str, Any]) -> list[Lane]:
    """Of each flow, what was delivered, late and lost: messages, or of a stream of bytes its segments.

    Messages that arrived are rows of `messages`; those that were lost are packets of UDP that carried one and were
    dropped. A stream of bytes has no messages: it has its segments, and else its packets.
    """
    flows = tables.get("flows")
    if flows is None:
        return []
    limits = {flow["name"]: late_after_s(flow) for flow in canonical.get("flow", [])}
    rows = []
    for name, source, sink, protocol in flows.select("name", "from", "to", "protocol").iter_rows():
        limit_s = limits.get(name, late_after_s({}))
        row = _recorded(tables, name, source, limit_s)
        way = (polars.col("flow") == name) & (polars.col("from") == source) & (polars.col("to") == sink)
        sent = packets.filter(way & (polars.col("about") == DATA)) if packets is not None else polars.DataFrame()
        if row is not None and protocol == "udp" and sent.height:
            row = replace(row, frame=_together([row.frame, _lost(sent)]))
        elif row is None and sent.height:
            row = Row(name, "packets", _whole(sent, limit_s if protocol == "udp" else None))
        if row is not None:
            rows.append(replace(row, name=f"{name} to {sink}"))
    return [_lane("Application packets", rows)] if rows else []


def _recorded(tables: Tables, name: str, source: str, limit_s: float) -> Row | None:
    """What was recorded of a flow by itself."""
    for table, found in (
        ("messages", _messages(tables, name, source, limit_s)),
        ("segments", _segments(tables, name, source)),
    ):
        if found is not None:
            return Row(name, table, found)
    return None


def _together(frames: list[polars.DataFrame]) -> polars.DataFrame:
    return polars.concat(frames, how="diagonal").sort("t", maintain_order=True)


def _messages(tables: Tables, name: str, source: str, limit_s: float) -> polars.DataFrame | None:
    """Messages of a flow that arrived, in time or late."""
    frame = tables.get("messages")
    found = None if frame is None else frame.filter((polars.col("name") == name) & (polars.col("from") == source))
    if found is None or not found.height:
        return None
    late = polars.when(polars.col("delay_s") > limit_s).then(polars.lit("late")).otherwise(polars.lit("delivered"))
    return found.select(
        polars.col("generated_s").alias("t"),
        polars.col("delivered_s").alias("until"),
        late.alias("kind"),
        polars.exclude("generated_s", "delivered_s", *RUN_COLUMNS),
    ).sort("t", maintain_order=True)


def _lost(sent: polars.DataFrame) -> polars.DataFrame:
    """Packets with a message that were dropped."""
    lost = (polars.col("outcome") == "dropped") & polars.col("description").str.starts_with("message ")
    return sent.filter(lost).drop("about", "carries", "repeated")


def _whole(sent: polars.DataFrame, limit_s: float | None) -> polars.DataFrame:
    """Packets by what became of them; late ones where they have a limit."""
    late = polars.lit(value=False) if limit_s is None else polars.col("until") - polars.col("t") > limit_s
    kind = (
        polars.when(polars.col("outcome") == "dropped")
        .then(polars.lit("lost"))
        .when((polars.col("outcome") == "delivered") & late)
        .then(polars.lit("late"))
        .otherwise(polars.col("outcome"))
    )
    return sent.with_columns(kind.alias("kind")).drop("about", "carries", "repeated")


def _segments(tables: Tables, name: str, source: str) -> polars.DataFrame | None:
    """Segments of a stream that were sent, sent again and lost, and what of it was delivered."""
    mine = (polars.col("name") == name) & (polars.col("from") == source)
    words = {"sent": "sent", "retransmitted": "sent again", "window_probe": "window probe", "lost": "lost"}
    parts = []
    frame = tables.get("segments")
    if frame is not None:
        found = frame.filter(mine & polars.col("event").is_in(list(words)))
        kind = polars.col("event").replace_strict(words, return_dtype=polars.String).alias("kind")
        parts.append(
            found.select(
                polars.col("time_s").alias("t"), kind, polars.exclude("time_s", "kind", "event", *RUN_COLUMNS)
            )
        )
    samples = tables.get("samples")
    if samples is not None:
        found = samples.filter(mine & (polars.col("quantity") == "delivered"))
        parts.append(
            found.select(
                polars.col("time_s").alias("t"), polars.lit("delivered").alias("kind"), "from", "to",
                polars.col("value").alias("delivered_bytes"),
            )
        )  # fmt: skip
    parts = [part for part in parts if part.height]
    return _together(parts) if parts else None
