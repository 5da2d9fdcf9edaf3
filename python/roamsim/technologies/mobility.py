"""Cells and Mobile IP: what a report says of handovers, and of what agents and mobile nodes counted."""

from __future__ import annotations

from typing import Any

import polars

from roamsim import statistics
from roamsim.estimates.summaries import MEANS, summary, titles
from roamsim.pages.page import Report
from roamsim.storing.store import Results
from roamsim.tables.result import RUN_COLUMNS

#: What a report tells of handovers where there are several runs: no points in time, which have no mean.
HANDOVERS = (
    "handover_s",
    "interruption_s",
    "requests",
    "lost_out_of_reach",
    "lost_radio_error",
    "lost_no_cell",
    "lost_queue",
    "lost_agent",
    "lost_tunnel",
    "lost_uplink",
    "lost_downlink",
    "lost_data",
    "lost_acknowledgements",
)

#: The same of Mobile IP's agents and nodes.
MOBILE_IP = (
    "advertisements",
    "unheard",
    "solicitations",
    "requests",
    "retransmissions",
    "accepted",
    "refused",
    "expired",
)


def report(page: Report, results: Results) -> None:
    """Handovers, each of one run and means of several, and what the machines of Mobile IP counted."""
    handovers, counters = (results.height(table) > 0 for table in ("handovers", "mobile_ip"))
    if not handovers and not counters:
        return
    page.heading("Handovers")
    if handovers:
        if sum(point.replications for point in results.manifest.points) == 1:
            frame = results["handovers"].drop(RUN_COLUMNS, strict=False)
            page.table(frame.rename(titles("handovers", frame.columns)), "handovers: each of the run")
        else:
            page.table(_handovers(results), f"handovers: their number a run and the means of each run's; {MEANS}")
    if counters:
        page.table(summary(results, "mobile_ip", MOBILE_IP), f"mobile_ip: {_counted(results)}")


def _handovers(results: Results) -> list[dict[str, Any]]:
    """A row for each point, station and pair of cells; those of one run are one sample, as in `compare`."""
    keys = results.keys_of("handovers")
    of_runs = (
        results["handovers"]
        .group_by([*keys, "replication"], maintain_order=True)
        .agg(polars.len().alias("handovers"), polars.col(HANDOVERS).mean())
    )
    headings = titles("handovers", HANDOVERS)
    hidden = {"point"} if len(results.manifest.points) == 1 else set()
    rows: list[dict[str, Any]] = []
    links = results.columns("links", ["point", "replication"]).unique()
    for names, kind in of_runs.group_by(keys, maintain_order=True):
        row = {key: name for key, name in zip(keys, names, strict=True) if key not in hidden}
        # A run without such a handover has none, but no time of it.
        runs = len(links.filter(point=names[0]))
        samples = {"handovers": [*kind["handovers"], *[0] * (runs - kind.height)]}
        samples |= {column: kind[column].drop_nulls().to_list() for column in HANDOVERS}
        for column, values in samples.items():
            estimate = statistics.mean(values)
            row[headings.get(column, column)] = estimate.mean
            row[f"± {column}"] = (estimate.high - estimate.low) / 2
        rows.append(row)
    # Columns without any value, such as intervals of single replications, only widen the table.
    empty = {column for column in rows[0] if all(row[column] is None or row[column] != row[column] for row in rows)}
    return [{key: value for key, value in row.items() if key not in empty} for row in rows]


def _counted(results: Results) -> str:
    return "counted in the run" if sum(point.replications for point in results.manifest.points) == 1 else MEANS
