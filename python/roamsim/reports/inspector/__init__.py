"""The time line of a run: radio, signalling and traffic on one axis.

It is in the report of any run in which a node moves, is handed over, or is told of its links. It shows what the
tables of the run hold, and works out nothing that was not simulated; what was not recorded, it names with the trace
that records it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars

from roamsim.pages.page import Report
from roamsim.pictures.timeseries import asked
from roamsim.reports.inspector import radio, traffic
from roamsim.reports.inspector.packets import DATA, packets
from roamsim.reports.inspector.point import scenario_of
from roamsim.reports.inspector.rows import BINS, chosen, columns, counts, encoded
from roamsim.reports.inspector.traffic import late_after_s
from roamsim.storing.manifests import duration_s
from roamsim.storing.store import Results, point_label
from roamsim.tables import heard, lots
from roamsim.tables.values import shown_value
from roamsim.tables.words import count

#: Said where the scenario of a point cannot be read again.
UNREAD = (
    "The scenario of this point cannot be read again with its varied values. The time line may end with the last "
    "record and lack levels, and messages count as late after"
)

#: Packets that a page holds one by one, with their way (chosen: some 200 octets each).
PACKETS = 6000


def report(page: Report, results: Results) -> None:
    """Adds the time line to a report, where there is anything to show on it."""
    number = first_point(results)
    canonical, whole = scenario_of(results.manifest, results.manifest.points[number])
    moving = any("motion" in node for node in canonical.get("node", []))
    told = any(results.height(table) for table in ("link_events", "handovers", "mih_handovers"))
    if not moving and not told:
        return
    page.heading("Time line")
    tables = first_run(results, number)
    model = time_line(tables, canonical)
    if missing := _missing(tables, asked(results)):
        page.text(missing)
    if not model["lanes"]:
        return
    several = len(results.manifest.points) > 1 or any(point.replications > 1 for point in results.manifest.points)
    which = f", first replication{_of_point(results, number)}" if several else ""
    unread = "" if whole else f"{UNREAD} {late_after_s({}):g} s."
    page.time_line("time-line", model, f"What happened when{which}", f"{_note(model)} {unread}".strip())


def first_point(results: Mapping[str, polars.DataFrame]) -> int:
    """The first point that anything was recorded of."""
    recorded = [table for table in (heard.TRACED, "packets", "samples", "links") if lots.height(results, table)]
    return next((int(lots.columns(results, table, ["point"])["point"].min()) for table in recorded), 0)  # type: ignore[arg-type]


def first_run(results: Mapping[str, polars.DataFrame], point: int) -> dict[str, polars.DataFrame]:
    """The rows of the first replication of a point."""
    mine = (polars.col("point") == point) & (polars.col("replication") == 0)
    return {name: polars.concat(lot.filter(mine) for lot in lots.lots(results, name)) for name in results}


def time_line(tables: Mapping[str, polars.DataFrame], canonical: Mapping[str, Any]) -> dict[str, Any]:
    """The lanes of one run as the page holds them.

    Args:
        tables: of one run.
        canonical: its scenario.
    """
    told = heard.table(tables)
    events = tables[told] if told else None
    sent = packets(tables["packets"]) if _rows(tables, "packets") is not None else None
    end_s = _end_s(tables, canonical)
    lanes = []
    if told and events is not None:
        lanes += radio.signals(events, canonical, told) + radio.links(events, end_s, told)
    lanes += radio.phases(tables, end_s) + radio.handovers(tables)
    if sent is not None:
        lanes += traffic.signalling(sent)
    lanes += traffic.windows(tables) + traffic.applications(tables, sent, canonical)
    instants = radio.instants(events, tables)
    model: dict[str, Any] = {"end": end_s, "lanes": [encoded(lane, end_s, instants) for lane in lanes]}
    if told and events is not None:
        model |= {
            "nodes_left_out": radio.left_out(events),
            "said_of_links": heard.said_of(told, events["node"].n_unique()),
        }
    if sent is not None:
        model |= _ways(tables["packets"], sent, instants, end_s)
    return model


def _ways(table: polars.DataFrame, sent: polars.DataFrame, instants: list[float], end_s: float) -> dict[str, Any]:
    """The packets that the page holds for the sequence chart, with each step of their ways."""
    kept, others = chosen(sent, PACKETS, instants)
    steps = table.join(kept.select("packet_id"), on="packet_id", how="semi").select(
        "packet_id",
        polars.col("time_s").alias("t"),
        "event",
        "node",
        polars.col("name").alias("link"),
        "to",
        "reason",
    )
    return {
        "packets": {
            "all": sent.height,
            "columns": columns(kept),
            **({"bins": counts(others.with_columns(kind=polars.lit(DATA)), end_s)} if others.height else {}),
        },
        "steps": columns(steps.sort("packet_id", maintain_order=True)),
    }


def _rows(tables: Mapping[str, polars.DataFrame], name: str) -> polars.DataFrame | None:
    """A table that has rows."""
    return tables[name] if name in tables and tables[name].height else None


def _end_s(tables: Mapping[str, polars.DataFrame], canonical: Mapping[str, Any]) -> float:
    """The end of the run; where its duration cannot be read, the last instant that its tables name."""
    if (told_s := duration_s(canonical)) is not None:
        return told_s
    times = (
        ("packets", "time_s"),
        ("samples", "time_s"),
        ("link_events", "time_s"),
        ("signals", "time_s"),
        ("flows", "stop_s"),
    )
    ends = [tables[name][column].max() for name, column in times if _rows(tables, name) is not None]
    return max((float(end) for end in ends if end), default=1.0)  # type: ignore[arg-type]


def _missing(tables: Mapping[str, polars.DataFrame], given: set[str]) -> str:
    """What the time line has no rows of, and what records it; or that it was asked for in vain."""
    wanted = [
        ("all link events" if heard.table(tables) else "signals and link events", heard.TRACED, heard.TRACED),
        ("signalling and losses", "packets", "packets"),
    ]
    flows = _rows(tables, "flows")
    if flows is not None:
        if flows["sent_packets"].null_count() < flows.height:
            wanted.append(("messages of applications", "messages", "messages"))
        if flows["protocol"].is_in(["tcp", "sctp"]).any():
            wanted += [("congestion windows", "cwnd", "samples"), ("segments", "segments", "segments")]
    absent = [(what, trace) for what, trace, table in wanted if _rows(tables, table) is None]
    again = [(what, trace) for what, trace in absent if trace not in given]
    in_vain = [what for what, trace in absent if trace in given]
    said = []
    if again:
        traces = ",".join(trace for _, trace in again)
        said.append(f"Not recorded: {', '.join(what for what, _ in again)}. Run again with `--trace {traces}`.")
    if in_vain:
        said.append(f"Asked for, but nothing in this scenario has: {', '.join(in_vain)}.")
    return " ".join(said)


def _of_point(results: Results, number: int) -> str:
    label = point_label(results.manifest, number) if len(results.manifest.points) > 1 else ""
    return f" of {label}" if label else ""


def _note(model: Mapping[str, Any]) -> str:
    """What the page does not hold one by one."""
    notes = []
    marks = [row for lane in model["lanes"] for row in lane["rows"] if "bins" in row]
    if marks:
        held = sum(len(row["columns"]["t"]) for row in marks)
        notes.append(
            f"Of {count(sum(row['all'] for row in marks), 'mark')} in {count(len(marks), 'row')} this page holds "
            f"{held}: what is rare, and what is nearest to a handover; the others are counted, in parts of "
            f"{shown_value(model['end'] / BINS)} s."
        )
    if "packets" in model and len(held_packets := model["packets"]["columns"]["t"]) < model["packets"]["all"]:
        notes.append(
            f"Of {count(model['packets']['all'], 'packet')} the sequence chart has {len(held_packets)}, chosen "
            "likewise."
        )
    if any(
        len(row["columns"]["t"]) < row["all"]
        for lane in model["lanes"]
        if lane["shape"] == "lines"
        for row in lane["rows"]
    ):
        notes.append(
            "Lines of many points have the first, the last, the smallest and the largest of each part of the run."
        )
    notes += [
        f"{lane['title']}: {count(lane['left_out'], 'more row')} left out, from the end of the tables."
        for lane in model["lanes"]
        if "left_out" in lane
    ]
    if model.get("nodes_left_out"):
        notes.append(
            f"Signals and link events of {count(model['nodes_left_out'], 'more node')} are left out: these "
            f"{radio.NODES} have the most links, and change them most."
        )
    if model.get("said_of_links"):
        notes.append(model["said_of_links"])
    return " ".join(notes)
