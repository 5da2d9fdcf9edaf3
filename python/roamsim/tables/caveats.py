"""What a reader of means has to know: messages that never came, connections that failed, replications that are alike.

A mean delay is over what arrived: the delays of what was lost, given up or still waits at the end, often the worst of
all, are missing in it. So every such mean carries the share that is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import polars

from roamsim.tables.metrics import Metric, traced_tables

#: Ends of a connection that failed. The others are completed, stopped and still open.
FAILED = ("timed out", "reset", "refused", "never established")

#: A smaller share without any loss is what is on its way when the run ends (chosen).
UNDER_WAY = 0.01


def missing(metric: Metric, rows: polars.DataFrame) -> float:
    """The share of messages, or transactions, that a mean over these rows is without; 0 where it is without none."""
    if metric.over is None:
        return 0.0
    arrived, sent, lost = (_sum(rows, column) for column in metric.over)
    share = 1 - arrived / sent if sent else 0.0
    return share if lost > 0 or share >= UNDER_WAY else 0.0


def _sum(rows: polars.DataFrame, column: str) -> float:
    return float(rows[column].sum() or 0) if column in rows.columns else 0.0


def percent(share: float) -> str:
    """A share in words, never rounded to nothing or to all of it."""
    for digits in (2, 3, 4, 6, 9):
        shown = float(f"{100 * share:.{digits}g}")
        if 0 < shown < 100:
            return f"{shown:g} %"
    return f"{100 * share:g} %"


def connections(ended: Sequence[str | None]) -> str:
    """How connections ended, in words, with their numbers where they did not all end alike."""
    counts = Counter(end for end in ended if end)
    if len(counts) <= 1:
        return "".join(counts)
    return ", ".join(f"{count} {end}" for end, count in counts.items())


def failed(ended: Sequence[str | None]) -> str:
    """The connections among these that failed, in words; empty where none did."""
    bad = [end for end in ended if end in FAILED]
    there = sum(1 for end in ended if end)
    return f"{len(bad)} of {there} ({connections(bad)})" if bad else ""


def failures(tables: Mapping[str, polars.DataFrame]) -> list[str]:
    """A sentence for each table with connections that failed."""
    found = []
    for table in ("flows", "signalling"):
        frame = tables.get(table)
        if frame is None or "connection" not in frame.columns:
            continue
        told = []
        for (name,), rows in frame.group_by("name", maintain_order=True):
            bad = failed(rows["connection"].to_list())
            told += [f"{name} {bad}"] if bad else []
        if told:
            found.append(f"Connections that failed: {', '.join(told)}. What they carried is in the means of {table}.")
    return found


def alike(tables: Mapping[str, polars.DataFrame]) -> set[int]:
    """The points that have several replications, all of which gave the same in every table."""
    if "links" not in tables or "point" not in tables["links"].columns:
        return set()
    runs = tables["links"].group_by("point").agg(polars.col("replication").n_unique().alias("runs"))
    found = set(runs.filter(polars.col("runs") > 1)["point"])
    for name, frame in tables.items():
        # What was recorded is of some replications only.
        if name in (*traced_tables(), "series") or not frame.height or not found:
            continue
        counts = frame.group_by(polars.all().exclude("replication")).len().join(runs, on="point")
        found -= set(counts.filter(polars.col("len") % polars.col("runs") != 0)["point"])
    return found


def alike_in_words(tables: Mapping[str, polars.DataFrame]) -> str:
    """What is to be said of replications that are alike; empty where there are none."""
    found = alike(tables)
    if not found:
        return ""
    points = tables["links"]["point"].n_unique()
    where = "All" if len(found) == points else f"At {len(found)} of {points} points all"
    return f"{where} replications are identical: nothing random happens. One says as much; intervals mean nothing."
