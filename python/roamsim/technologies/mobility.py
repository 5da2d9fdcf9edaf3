"""The report section of cells and Mobile IP: handovers, and counts of agents and mobile nodes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars

from roamsim import statistics
from roamsim.estimates import summaries
from roamsim.estimates.summaries import MEANS, summary, titles, worded
from roamsim.storing.store import Results
from roamsim.tables.cells import estimated, instants
from roamsim.tables.metrics import Metric, numeric
from roamsim.tables.result import RUN_COLUMNS

if TYPE_CHECKING:
    from roamsim.pages.page import Report

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

#: The same of what they cost each flow.
OF_FLOWS = ("lost_data", "lost_acknowledgements", "late_messages")

#: How many there were, which is no column of the table.
COUNT = Metric("handovers", "handovers", "", "Handovers of a run.", "", "")

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
    handovers, of_flows, counters = (
        results.height(table) > 0 for table in ("handovers", "handover_flows", "mobile_ip")
    )
    if not (handovers or of_flows or counters):
        return
    page.heading("Handovers")
    alone = sum(point.replications for point in results.manifest.points) == 1
    if handovers:
        if alone:
            page.table(_each(results["handovers"].drop(RUN_COLUMNS, strict=False)), "handovers: one row each")
        else:
            page.table(_handovers(results), f"handovers: count and means of each run; {MEANS}")
    # Those by MIH users that changed no cell are in here alone.
    if of_flows:
        page.table(
            summary(results, "handover_flows", OF_FLOWS),
            f"handover_flows: losses of each flow; {'means over handovers of the same kind' if alone else MEANS}",
        )
    if counters:
        counted = "counts of the run" if alone else MEANS
        page.table(summary(results, "mobile_ip", MOBILE_IP), f"mobile_ip: {counted}")


def _each(frame: polars.DataFrame) -> list[dict[str, Any]]:
    """A row for each handover: how long it took and what was lost, then its instants, which tell its steps apart."""
    heads = titles("handovers", frame.columns)
    of_time = [name for name in heads if name.endswith("_s") and name not in HANDOVERS]
    told = zip(*instants([frame[name].to_list() for name in of_time]), strict=True)
    rows = worded("handovers", frame.drop(of_time))
    return [
        row | {heads[name]: cell for name, cell in zip(of_time, cells, strict=True)}
        for row, cells in zip(rows, told, strict=True)
    ]


def _handovers(results: Results) -> list[dict[str, Any]]:
    """A row for each point, station and pair of cells; those of one run are one sample, as in `compare`."""
    keys = results.keys_of("handovers")
    of_runs = (
        results["handovers"]
        .group_by([*keys, "replication"], maintain_order=True)
        .agg(polars.len().alias("handovers"), polars.col(HANDOVERS).mean())
    )
    kinds = of_runs.group_by(keys, maintain_order=True).agg("handovers", *HANDOVERS)
    rows = summaries.keys(results, "handovers", kinds)
    for column in ("handovers", *HANDOVERS):
        samples = [values.drop_nulls().to_list() for values in kinds[column]]
        if column == "handovers":
            # A run without such a handover has none, but no time of it.
            links = results.columns("links", ["point", "replication"]).unique()
            runs = [links.filter(point=point).height for point in kinds["point"]]
            samples = [[*own, *[0] * (count - len(own))] for own, count in zip(samples, runs, strict=True)]
        estimates = [statistics.mean(values) for values in samples]
        if not any(estimate.samples for estimate in estimates):
            continue
        metric = COUNT if column == "handovers" else numeric("handovers", column)
        ends = [[_known(getattr(estimate, end)) for estimate in estimates] for end in ("mean", "low", "high")]
        heading, cells = estimated(metric, *ends)
        for row, cell in zip(rows, cells, strict=True):
            row[heading] = cell
    return rows


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
