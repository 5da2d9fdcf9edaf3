"""Warnings about means: messages that never arrived, connections that failed, replications that are equal.

A mean delay is over what arrived: the delays of what was lost, given up or still waits at the end, often the worst of
all, are missing in it. So every such mean carries the share that is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import polars

from roamsim.tables.lots import HELD_ROWS, columns, height, iter_rows, lots, names, schema
from roamsim.tables.metrics import Metric, traced_tables
from roamsim.tables.words import listed

#: Ends of a connection that failed. The others are completed, stopped and still open.
FAILED = ("timed out", "user timeout", "keep-alive unanswered", "reset", "refused", "never established")

#: A smaller share without any loss is what is on its way when the run ends (chosen).
UNDER_WAY = 0.01


def missing(metric: Metric, rows: polars.DataFrame | Mapping[str, Iterable[float | None]]) -> float:
    """The share of messages, or transactions, that a mean over these rows is without; 0 where it is without none.

    Rows are a frame, or values by column.
    """
    if metric.over is None:
        return 0.0
    arrived, sent, lost = (_sum(rows, column) for column in metric.over)
    share = 1 - arrived / sent if sent else 0.0
    return share if lost > 0 or share >= UNDER_WAY else 0.0


def shares(
    tables: Mapping[str, polars.DataFrame], table: str, metric: Metric, keys: Sequence[str], named: str | None = None
) -> list[float]:
    """What `missing` says of each group of rows with equal keys, in their order; of those of one name, or of all."""
    there = schema(tables, table)
    counts = [column for column in metric.over or () if column in there]
    found = []
    for rows in lots(tables, table, list(dict.fromkeys([*keys, *(["name"] if named is not None else []), *counts]))):
        mine = rows if named is None else rows.filter(name=named)
        found.append(mine if height(tables, table) <= HELD_ROWS else _summed(mine, keys, counts))
    return [missing(metric, rows) for _, rows in polars.concat(found).group_by(keys, maintain_order=True)]


def _summed(rows: polars.DataFrame, keys: Sequence[str], counts: Sequence[str]) -> polars.DataFrame:
    return rows.group_by(keys, maintain_order=True).agg(polars.col(count).sum() for count in counts)


def _sum(rows: polars.DataFrame | Mapping[str, Iterable[float | None]], column: str) -> float:
    if isinstance(rows, Mapping):
        return float(sum(value for value in rows.get(column, ()) if value is not None))
    return float(rows[column].sum() or 0) if column in rows.columns else 0.0


def percent(share: float) -> str:
    """A share in words, never rounded to nothing or to all of it."""
    for digits in (2, 3, 4, 6, 9):
        shown = float(f"{100 * share:.{digits}g}")
        if 0 < shown < 100:
            return f"{shown:g} %"
    return f"{100 * share:g} %"


def connections(ended: Iterable[str | None] | Mapping[str | None, int]) -> str:
    """How connections ended, each or counted, in words, with their numbers where they did not all end alike."""
    counts = {end: count for end, count in Counter(ended).items() if end}
    if len(counts) <= 1:
        return "".join(counts)
    return ", ".join(f"{count} {end}" for end, count in counts.items())


def failed(ended: Iterable[str | None] | Mapping[str | None, int]) -> str:
    """The connections among these, each or counted, that failed, in words; empty where none did."""
    counts = Counter(ended)
    bad = {end: count for end, count in counts.items() if end in FAILED}
    there = sum(count for end, count in counts.items() if end)
    return f"{sum(bad.values())} of {there} ({connections(bad)})" if bad else ""


def failures(tables: Mapping[str, polars.DataFrame]) -> dict[str, str]:
    """A sentence for each table: connections that failed, handovers that never began, nodes that never registered."""
    found = _never_began(tables) | _never_changed(tables) | _never_registered(tables)
    for table in ("flows", "signalling"):
        if table not in tables or "connection" not in names(tables, table):
            continue
        ends: dict[str, Counter[str | None]] = {}
        for name, end in iter_rows(tables, table, ["name", "connection"]):
            ends.setdefault(name, Counter())[end] += 1
        told = [f"{name} {bad}" for name, ended in ends.items() if (bad := failed(ended))]
        if told:
            found[table] = f"Connections that failed: {', '.join(told)}. The means of {table} include their data."
    return found


def _never_began(tables: Mapping[str, polars.DataFrame]) -> dict[str, str]:
    """A sentence on the entries of `[[handover]]` of which a run has no handover."""
    if "mih_users" not in tables:
        return {}
    run = [column for column in ("point", "replication") if column in names(tables, "mih_users")]
    entries = dict.fromkeys(iter_rows(tables, "mih_users", ["name", *run]))
    began = set(iter_rows(tables, "mih_handovers", ["name", *run])) if "mih_handovers" in tables else set()
    idle = [entry[0] for entry in entries if entry not in began]
    if not idle:
        return {}
    users, names_of_idle = iter_rows(tables, "mih_users", ["name", "node", "role"]), set(idle)
    nodes = dict.fromkeys(node for name, node, role in users if name in names_of_idle and role == "mobile node")
    cells = _cells_heard(tables)
    why = [f"{node} {_heard(cells[node])}" for node in nodes if node in cells]
    reason = f" ({'; '.join(why)})" if why else ""
    told = _in_runs(idle, Counter(entry[0] for entry in entries))
    return {
        "mih_handovers": f"Handovers that never began: {told}. No link event that begins one came to its station"
        f"{reason}; record link_events to see those that did."
    }


def _never_changed(tables: Mapping[str, polars.DataFrame]) -> dict[str, str]:
    """A sentence on moving stations that heard several cells, and never changed from one to another."""
    cells = {node: heard for node, heard in _cells_heard(tables).items() if len(heard) > 1}
    if not cells:
        return {}
    # Of the nodes of `mih_users`, `mih_handovers` tells; of those of `selection`, `switches` does.
    changed = {
        node
        for table in ("handovers", "mih_users", "selection")
        if table in tables
        for (node,) in iter_rows(tables, table, ["node"])
    }
    told = [f"{node} ({_heard(heard)})" for node, heard in cells.items() if node not in changed]
    return {"handovers": f"Stations without a handover: {'; '.join(told)}."} if told else {}


def _cells_heard(tables: Mapping[str, polars.DataFrame]) -> dict[str, dict[str, bool]]:
    """Of each station that moves, the cells that it heard, and whether it was ever out of reach of each."""
    if "signals" not in tables or not height(tables, "signals"):
        return {}
    found: dict[str, dict[str, bool]] = {}
    for node, link, event in iter_rows(tables, "signals", ["node", "link", "event"]):
        cells = found.setdefault(node, {})
        cells[link] = cells.get(link, False) or event in ("link_down", "link_lost")
    return found


def _heard(cells: Mapping[str, bool]) -> str:
    """What a station heard, in words: `heard a alone`, `stayed in reach of a and b`, `heard a and b`."""
    if len(cells) == 1:
        return f"heard {next(iter(cells))} alone"
    return f"{'heard' if any(cells.values()) else 'stayed in reach of'} {listed(cells)}"


def _never_registered(tables: Mapping[str, polars.DataFrame]) -> dict[str, str]:
    """A sentence on mobile nodes that no agent has registered."""
    if "mobile_ip" not in tables:
        return {}
    counts = ["advertisements", "requests", "refused", "accepted"]
    wanted: Counter[str] = Counter()
    idle: dict[str, list[str]] = {}
    for node, role, heard, requests, refused, accepted in iter_rows(tables, "mobile_ip", ["node", "role", *counts]):
        if role != "mobile node":
            continue
        wanted[node] += 1
        if accepted:
            continue
        if not heard:
            why = "it heard no agent"
        elif not requests:
            why = "it never heard a foreign agent that it should register with"
        else:
            why = "every reply was a refusal" if refused else "no reply came"
        idle.setdefault(why, []).append(node)
    told = [f"{_in_runs(nodes, wanted)} ({why})" for why, nodes in idle.items()]
    return {"mobile_ip": f"Mobile nodes that never registered: {', '.join(told)}."} if told else {}


def _in_runs(names: Sequence[str], wanted: Mapping[str, int]) -> str:
    """The names, each once, with the number of runs where it is not all of them."""
    found = Counter(names)
    return ", ".join(
        name if count == wanted[name] else f"{name} in {count} of {wanted[name]} runs"
        for name, count in found.items()
    )


def alike(tables: Mapping[str, polars.DataFrame]) -> set[int]:
    """The points that have several replications, all of which gave the same in every table."""
    if "links" not in tables or "point" not in names(tables, "links"):
        return set()
    of_points: dict[int, set[int]] = {}
    for point, replication in iter_rows(tables, "links", ["point", "replication"]):
        of_points.setdefault(point, set()).add(replication)
    found = {point for point, there in of_points.items() if len(there) > 1}
    if not found:
        return set()
    runs = polars.DataFrame(
        {"point": list(of_points), "runs": list(map(len, of_points.values()))},
        {"point": polars.Int64, "runs": polars.UInt32},
    )
    for name in tables:
        # What was recorded is of some replications only.
        if name in (*traced_tables(), "series", "signals") or not height(tables, name) or not found:
            continue
        if height(tables, name) > HELD_ROWS:
            found &= _equal(tables, name, runs)
            continue
        counts = tables[name].group_by(polars.all().exclude("replication")).len().join(runs, on="point")
        found -= set(counts.filter(polars.col("len") % polars.col("runs") != 0)["point"])
    return found


def _equal(tables: Mapping[str, polars.DataFrame], name: str, runs: polars.DataFrame) -> set[int]:
    """The points whose runs gave the same in a large table, of which each run stands as a digest of its rows."""
    of_runs = [
        lot.select("point", "replication", digest=lot.drop("replication").hash_rows())
        .group_by("point", "replication")
        .agg(polars.col("digest").sum(), polars.len().alias("rows"))
        for lot in lots(tables, name)
    ]
    digests = polars.concat(of_runs).group_by("point")
    found = digests.agg(polars.struct("digest", "rows").n_unique().alias("kinds"), polars.len().alias("there"))
    # A point of which no run has a row of this table is not in it.
    found = runs.join(found, on="point", how="left")
    same = (polars.col("kinds") == 1) & (polars.col("there") == polars.col("runs"))
    return set(found.filter(same | polars.col("kinds").is_null())["point"])


def alike_in_words(tables: Mapping[str, polars.DataFrame]) -> str:
    """What is to be said of replications that are alike; empty where there are none."""
    found = alike(tables)
    if not found:
        return ""
    points = columns(tables, "links", ["point"])["point"].n_unique()
    where = "All" if len(found) == points else f"At {len(found)} of {points} points all"
    return f"{where} replications are identical: nothing random happens. One is enough; intervals mean nothing."
