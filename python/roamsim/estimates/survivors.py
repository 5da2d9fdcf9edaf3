"""Delays count only messages that arrived. If the shares of missing messages differ, delays cannot be compared.

The slowest messages are often those that are lost, so losing more makes a mean delay smaller. Such delays get no
verdict. Metrics that count what is lost take their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars

from roamsim import statistics
from roamsim.tables import caveats, lots
from roamsim.tables.metrics import Metric, Target, metrics
from roamsim.tables.result import keys_within

#: Shares that differ by less count as equal (chosen: one message in a thousand).
LEAST_APART = 0.001

#: Of each table, the metrics that count what is lost, by table and column.
INSTEAD = {
    "flows": [("flows", "in_time_share")],
    "signalling": [("signalling", "success_rate")],
    "percentiles": [("flows", "in_time_share"), ("signalling", "success_rate")],
    "video": [("video", "decodable_share")],
}

#: The share of each replication, for each thing that is compared.
Shares = Sequence[Sequence[float]]


def uneven(shares: Shares) -> tuple[float, float] | None:
    """The smallest and the largest mean share, where these two differ beyond chance.

    Replications meet the same losses, so they are blocks of a randomised block design. Of two values the test is
    Student's for pairs at 95 %; of more, each of their pairs could have been chosen (Bonferroni). One replication
    alone shows no chance: its shares count as they are.
    """
    there = [mine for mine in shares if mine]
    if len(there) < 2:
        return None
    count = min(map(len, there))
    rows = [mine[:count] for mine in there]
    means = [_mean(row) for row in rows]
    apart = max(means) - min(means)
    if apart < LEAST_APART:
        return None
    if count > 1:
        blocks = [_mean(block) for block in zip(*rows, strict=True)]
        residuals = (
            value - mean - block + _mean(means)
            for row, mean in zip(rows, means, strict=True)
            for value, block in zip(row, blocks, strict=True)
        )
        degrees = (len(rows) - 1) * (count - 1)
        spread = math.sqrt(2 / count * sum(residual**2 for residual in residuals) / degrees)
        pairs = len(rows) * (len(rows) - 1) / 2
        if apart <= statistics.student_t_quantile(1 - (1 - statistics.LEVEL) / pairs / 2, degrees) * spread:
            return None
    return min(means), max(means)


def of_runs(metric: Metric, rows: polars.DataFrame, runs: Sequence[str]) -> list[list[float]]:
    """The missing shares of replications, a list for each combination of the columns `runs`, in their order."""
    if metric.over is None:
        return []
    keys = [*runs, "replication"]
    found: dict[tuple[object, ...], list[float]] = {}
    for key, mine in rows.group_by(keys, maintain_order=True):
        found.setdefault(key[:-1], []).append(caveats.missing(metric, mine))
    return list(found.values())


def of_points(
    tables: Mapping[str, polars.DataFrame],
    target: Target,
    points: Sequence[int] | None = None,
    varied: Sequence[str] = (),
) -> tuple[float, float] | None:
    """The smallest and the largest share that a metric misses at points, where they differ beyond chance.

    Args:
        tables: the results.
        target: the metric; where it names no row, the row whose shares lie furthest apart counts.
        points: those that are compared; all unless given.
        varied: columns of what was varied, which tell no rows apart.
    """
    there = lots.schema(tables, target.table)
    if target.metric.over is None or "point" not in there:
        return None
    within = [key for key in keys_within(target.table) if key in there and key not in varied]
    chosen = [name for name in ("name", *target.metric.over) if name in there]
    rows = target.rows(lots.columns(tables, target.table, ["point", "replication", *within, *chosen]))
    rows = rows if points is None else rows.filter(polars.col("point").is_in(list(points)))
    found = [
        uneven(of_runs(target.metric, mine, ["point"])) for _, mine in rows.group_by(within, maintain_order=True)
    ]
    return max(filter(None, found), key=lambda ends: ends[1] - ends[0], default=None)


def instead(tables: Mapping[str, polars.DataFrame], target: Target) -> Target | None:
    """The metric that takes the place of a delay; `None` where the results have no value of it."""
    there = {(metric.table, metric.column) for metric in metrics()}
    for table, column in INSTEAD.get(target.table, ()):
        if (table, column) not in there or table not in tables or column not in lots.schema(tables, table):
            continue
        other = Target(table, target.row, column)
        rows = other.rows(lots.columns(tables, table, [column, *(["name"] if target.row is not None else [])]))
        if rows[column].is_not_null().any():
            return other
    return None


def advice(tables: Mapping[str, polars.DataFrame], target: Target) -> str:
    """What to ask for in place of a delay; empty where nothing is known."""
    other = instead(tables, target)
    if other is not None:
        return f"Use {other.name} instead: it counts lost messages."
    if target.table not in ("flows", "percentiles"):
        return ""
    name = ".".join(filter(None, ("flows", target.row, "in_time_share")))
    return f'Set deadline = "100ms" in the application and use {name} instead: it counts lost messages as late.'


def between(ends: tuple[float, float]) -> str:
    """Two shares in words: `0.7 % to 8.4 %`."""
    return " to ".join(map(caveats.percent, ends))


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares)
