"""The study's tables and drawings.

Gains are ratios of means in pairs: in a replication all protocols meet the same walk and the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import polars
from roamsim import Result, statistics, timesequence
from roamsim.pictures import recorded, timed
from roamsim.pictures.charts import Look, curves
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.judging import with_interval

from . import statements as clauses
from . import study as definition
from .diagrams import formats, topology
from .levels import (
    RENO,
    SACK,
    SCTP,
    SCTP_2960,
    SEGMENT_BYTES,
    levels_by_cell,
    levels_by_radio,
    levels_by_wire,
    published,
    segments,
)
from .recovery import blocks, recovery_map

__all__ = ["blocks", "formats", "levels_by_cell", "levels_by_radio", "levels_by_wire", "recovery_map", "topology"]

#: The three orders: the protocol that is said to be behind, and the one ahead.
ORDERS = {"SACK over Reno": (RENO, SACK), "SCTP over Reno": (RENO, SCTP), "SCTP over SACK": (SACK, SCTP)}


def gain(data: Data, experiment: str, behind: str, ahead: str, **where: Any) -> Estimate:
    """How much more a protocol gets through than another, 0.05 for 5 %, with its interval (Fieller's, for pairs)."""
    return data.compared(experiment, "delivered_bytes", "gain_over", {"protocol": behind}, protocol=ahead, **where)


# Tables -----------------------------------------------------------------------------------------------------------


def left_to_gain(data: Data) -> list[dict[str, Any]]:
    """By how much the bound without loss lies above what Reno gets through."""
    rows = []
    for wire in data.labels("bandwidths", "wireline_kbps"):
        row: dict[str, Any] = {"wire (kb/s)": wire}
        for radio in data.labels("bandwidths", "radio_kbps"):
            where = {"protocol": RENO, "wireline_kbps": wire, "radio_kbps": radio}
            bound = definition.without_loss(where, "", data) / SEGMENT_BYTES
            row[f"radio {radio} kb/s"] = (
                f"{100 * (bound / data.estimate('bandwidths', segments, **where).mean - 1):.0f} %"
            )
        rows.append(row)
    return rows


#: The clauses about all pairs of bandwidths: their functions in statements.py, and what these measure and want.
CLAUSES = {
    "2a": ("sctp_over_sack", "cells with SCTP below SACK, of them with the whole interval: at most 3"),
    "2b": ("sack_over_reno", "cells with SACK below Reno, of them with the whole interval: at most 1"),
    "2c": ("largest_where_slow", "SCTP over Reno, slow radio less fast, points: above 0"),
    "2d": ("large_where_slow", "SCTP over Reno, slow radio, %: 54 to 90"),
    "2e": ("small_over_reno", "SCTP over Reno, fast radio, %: 6.7 to 11.2"),
    "2f": ("small_over_sack", "SCTP over SACK, fast radio, %: 1.8 to 3.0"),
    "2g": ("large_over_sack_where_slow", "SCTP over SACK, slow radio, %: 31 to 51"),
    "2h": ("sack_gains_more_where_slow", "SACK over Reno, slow radio less fast, points: above 0"),
    "2j": ("sctp_over_reno", "cells with SCTP below Reno, of them with the whole interval: none"),
    "2k": ("more_where_the_wire_is_slow", "SCTP over Reno, and over SACK, slow wires less fast, points: above 0"),
    "2l": ("sack_gains_more_with_slow_wire", "SACK over Reno, slow wires less fast, points: above 0"),
    "2m": ("sctp_over_sack_in_the_mean", "SCTP over SACK, all pairs, %: above 0"),
    "3a": ("considerable_with_fast_wire", "SCTP over Reno, fast wire, %: 37 to 62"),
    "3b": ("small_with_slow_wire", "SCTP over Reno, slow wire, fast radio, %: 8.0 to 13.3"),
    "3c": ("more_sensitive_to_radio", "over Reno, spread along radio less along wire, points: above 0"),
    "3d": ("considerable_over_sack", "SCTP over SACK, fast wire, %: 21 to 36"),
    "3e": ("small_over_sack_with_slow_wire", "SCTP over SACK, slow wire, fast radio, %: 3.3 to 5.5"),
    "3f": ("more_sensitive_over_sack", "over SACK, spread along radio less along wire, points: above 0"),
}


def clauses_by_condition(data: Data) -> list[dict[str, Any]]:
    """What the rules of clauses 2 and 3 say of the same table with a condition changed, and by the other RFC."""
    conditions = {
        **{name: (experiment, SCTP) for name, experiment in clauses.CONDITIONS_OF_WALK.items()},
        "RFC 2960": ("bandwidths", SCTP_2960),
        "RFC 2960, both": ("bandwidths-both", SCTP_2960),
    }
    rows = []
    for clause, (function, wanted) in CLAUSES.items():
        row: dict[str, Any] = {"clause": clause, "measured, and what it should be": wanted}
        for name, (experiment, sctp) in conditions.items():
            finding = getattr(clauses, function)(data, experiment, sctp)
            measured = ", ".join(
                f"{value.mean:g}"
                if math.isnan(value.low)
                else f"{value.mean:.1f} ({value.low:.1f} … {value.high:.1f})"
                for value in ([finding.decided_by] if finding.decided_by and clause != "2k" else finding.values)
            )
            row[name] = f"{measured}: {finding.verdict}"
        rows.append(row)
    return rows


def sensitivity_by_parameter(data: Data) -> list[dict[str, Any]]:
    """How far each order moves with each open parameter, and for how many of its values it holds."""
    rows = []
    for parameter, changed in definition.OPEN_PARAMETERS.items():
        names = ("as chosen", *changed)
        for bottleneck in data.labels("variations", "bottleneck"):
            row: dict[str, Any] = {"parameter": parameter, "values": len(names), "bottleneck": bottleneck}
            for order, (behind, ahead) in ORDERS.items():
                gains = [
                    gain(data, "variations", behind, ahead, variation=name, bottleneck=bottleneck) for name in names
                ]
                least, most = min(g.mean for g in gains), max(g.mean for g in gains)
                above, below = sum(g.low > 0 for g in gains), sum(g.high < 0 for g in gains)
                row[order] = f"{100 * least:+.1f} to {100 * most:+.1f} % ({above} above, {below} below)"
            rows.append(row)
    return rows


def recovery_times(data: Data) -> list[dict[str, Any]]:
    """How long each protocol takes over each pattern, what it sends again, and how often it waits for a timeout."""
    rows = []
    for pattern in data.labels("recovery", "pattern"):
        events = data.rows_of("recovery", "segments", protocol=RENO, pattern=pattern)
        lost = [round(event["start_bytes"] / SEGMENT_BYTES) + 1 for event in events if event["event"] == "lost"]
        rows.append({"lost": ", ".join(map(str, lost)), **_recoveries(data, "recovery", pattern=pattern)})
    return rows


def recovery_conditions(data: Data) -> list[dict[str, Any]]:
    """How long recovery takes with a condition changed, over all patterns."""
    return [
        {"condition": condition, **_over_patterns(data, str(condition))}
        for condition in data.labels("recovery-conditions", "condition")
    ]


def _over_patterns(data: Data, condition: str) -> dict[str, str]:
    times: dict[str, list[float]] = {}
    found = {}
    for protocol in map(str, data.labels("recovery-conditions", "protocol")):
        rows = data.rows("recovery-conditions", protocol=protocol, condition=condition)
        times[protocol] = taken = [row["repaired_s"] for row in rows]
        waited = sum(row["timeouts"] > 0 for row in rows)
        found[protocol] = f"{fmean(taken):.2f} ({min(taken):.2f} to {max(taken):.2f}), timeouts: {waited}"
    return {**found, "SACK less SCTP": with_interval(statistics.paired_difference(times[SCTP], times[SACK]))}


def recovery_outage(data: Data) -> list[dict[str, Any]]:
    """The same by the round trip and by how long the radio link fails."""
    return [
        {
            "round trip (s)": round_trip,
            "outage (s)": seconds,
            **_recoveries(data, "recovery-outage", outage_s=seconds, round_trip_s=round_trip),
        }
        for round_trip in data.labels("recovery-outage", "round_trip_s")
        for seconds in data.labels("recovery-outage", "outage_s")
    ]


def _recoveries(data: Data, experiment: str, **where: Any) -> dict[str, str]:
    found = {}
    for protocol in data.labels(experiment, "protocol"):
        events = data.rows_of(experiment, "segments", protocol=protocol, **where)
        (flow,) = data.rows(experiment, protocol=protocol, **where)
        waited = f", timeouts: {flow['timeouts']}" if flow["timeouts"] else ""
        seconds = timesequence.repaired_after_s(events)
        found[str(protocol)] = f"{seconds:.2f} s, {flow['retransmissions']} sent again{waited}"
    return found


def handovers(data: Data) -> list[dict[str, Any]]:
    """The handovers of one walk of each protocol, in their order."""
    ordered = sorted(data.rows_of("one-walk", "handovers"), key=lambda row: str(row["variation"]))
    return [
        {
            "walk": row["variation"],
            "protocol": row["protocol"],
            "to": row["to_cell"],
            "detected": _seconds(row["detected_s"]),
            "registered": _seconds(row["completed_s"]),
            "interruption": _seconds(row["interruption_s"]),
            "data lost": row["lost_data"],
            "acknowledgements lost": row["lost_acknowledgements"],
            "out of reach": row["lost_out_of_reach"],
            "radio errors": row["lost_radio_error"],
            "at an agent": row["lost_agent"],
        }
        for row in ordered
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def drops(data: Data) -> list[dict[str, Any]]:
    """Packets lost on one walk of each protocol, by place and reason."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    protocols = [str(label) for label in data.labels("one-walk", "protocol")]
    for row in data.rows_of("one-walk", "drops"):
        place = f"{row['name']} from {row['node']}" if row["name"] else f"node {row['node']}"
        at = (row["variation"], place, row["reason"])
        named = dict(zip(("walk", "place", "reason"), at, strict=True))
        # A cell has several directions from its agent: to all, and to each station.
        rows.setdefault(at, {**named, **dict.fromkeys(protocols, 0)})[row["protocol"]] += row["packets"]
    return [rows[at] for at in sorted(rows)]


# Drawings ---------------------------------------------------------------------------------------------------------


def gain_curves(data: Data, over: Mapping[str, str], against: str) -> dict[str, Any]:
    """SCTP's gain over a protocol against one bandwidth, a line for each of the other; measured and published."""
    along, lines = ("radio_kbps", "wireline_kbps") if against == "radio" else ("wireline_kbps", "radio_kbps")
    other = "wire" if against == "radio" else "radio"
    of_publication = published()
    rows: list[dict[str, Any]] = []
    for line in data.labels("bandwidths", lines):
        for x in data.labels("bandwidths", along):
            at = {"series": f"{other} {line} kb/s", "x": float(x)}
            found = gain(data, "bandwidths", over["name"], SCTP, **{lines: line, along: x})
            ends = {"mean": 100 * found.mean, "low": 100 * found.low, "high": 100 * found.high}
            rows.append({"panel": "measured, with 95 % intervals", **at, **ends})
            wire, radio = (float(line), int(x)) if against == "radio" else (float(x), int(line))
            there = 100 * (of_publication[SCTP, wire, radio] / of_publication[over["name"], wire, radio] - 1)
            rows.append({"panel": "published (another scale)", **at, "mean": there, "low": None, "high": None})
    places = sorted({row["x"] for row in rows})
    look = Look(
        f"bandwidth of the {against}, kb/s", f"gain of SCTP over {over['name']}, %", "", True, {"values": places}
    )
    return {**curves(rows, look), "resolve": {"scale": {"y": "independent"}}}


def recovery(result: Result, protocol: Mapping[str, str]) -> timed.Figure:
    """What one protocol does about the six losses."""
    events = result.tables["segments"].filter(polars.col("time_s").is_between(4.5, 14))
    marks = recorded.sequence(events, segment_bytes=SEGMENT_BYTES)
    return timed.Figure([_places(protocol["name"], marks)], whole_s=(4.5, 14.0))


def walk(result: Result, protocol: Mapping[str, str]) -> timed.Figure:
    """What one protocol does while the host is handed over for the first time, and the edge of the cell behind it."""
    first_s, last_s = 6.0, 22.0
    events = result.tables["segments"].filter(polars.col("time_s").is_between(first_s, last_s))
    marks = recorded.sequence(events, segment_bytes=SEGMENT_BYTES)
    (handover,) = result.tables["handovers"].head(1).iter_rows(named=True)
    low, high = min(events["start_bytes"]) / SEGMENT_BYTES, max(events["end_bytes"]) / SEGMENT_BYTES
    during = {"t": [handover["detected_s"]], "until": [handover["completed_s"]], "low": [low], "high": [high]}
    shade = timed.Marks("handover", "#7a7a7a55", "span", polars.DataFrame(during))
    return timed.Figure([_places(protocol["name"], [shade, *marks])], whole_s=(first_s, last_s))


def _places(name: str, marks: list[timed.Marks]) -> timed.Panel:
    return timed.Panel(f"{name}: segment", marks, 340, scale={"zero": False})
