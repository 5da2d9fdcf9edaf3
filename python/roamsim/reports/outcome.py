"""What a run was asked and what came out of it, in sentences: the first lines of its report.

Of several replications numbers are means over them. A name stands as it is; whoever writes the sentences into a page
escapes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars

from roamsim.storing.store import Results
from roamsim.tables import caveats
from roamsim.tables.result import RUN_COLUMNS
from roamsim.tables.values import bit_rate, duration, octets, percent, plain
from roamsim.technologies import technologies

#: Flows and entries that are told one by one (chosen: more are a list that nobody reads).
EACH = 3

#: Places of what flows go over, with what they are called: one, several.
NETWORKS = {
    "link": ("link", "links"),
    "cell": ("cell", "cells"),
    "wifi": ("Wi-Fi cell", "Wi-Fi cells"),
    "wimax": ("802.16 cell", "802.16 cells"),
    "dect": ("DECT access", "DECT accesses"),
}

#: Applications in words.
APPLICATIONS = {
    "bulk": "bulk data",
    "cbr": "messages at a constant rate",
    "poisson": "messages at random",
    "on_off": "an on-off source",
    "transfer": "a transfer",
    "request_response": "requests and responses",
    "transfers": "transfers that arrive",
}

#: What losses of a handover are counted in.
LOST = ("lost_uplink", "lost_downlink")

#: The same of one of its flows.
LOST_OF_FLOW = polars.col("lost_data") + polars.col("lost_acknowledgements")

#: Handovers by MIH users that changed no cell, among those that cost flows something.
STAYED = polars.col("to_cell").eq("") | polars.col("to_cell").eq(polars.col("from_cell"))

#: Waiting packets on average that are as good as none (chosen).
NONE = 0.01

Row = Mapping[str, Any]


def asked(results: Results) -> str:
    """What was run: for how long, with which flows and signalling, over what."""
    canonical = results.manifest.canonical
    flows, signalling = _of(results, "flows"), _of(results, "signalling")
    run = [f"{_kind(row)} ({row['from']} to {row['to']})" for row in flows] if len(flows) <= EACH else _kinds(flows)
    names = [f"{row['name']}: " for row in flows] if len(flows) <= EACH else [""] * len(run)
    what = [name + text for name, text in zip(names, run, strict=True)]
    what += [f"{row['name']}: MIH {row['kind']} over {row['transport'].upper()}" for row in signalling[:EACH]]
    if len(signalling) > EACH:
        what.append(f"{len(signalling) - EACH} more sources of MIH signalling")
    what += [f"a handover by MIH users, {entry.get('name')}" for entry in _entries(canonical, "handover")[:EACH]]
    over = [
        f"{len(entries)} {words[len(entries) > 1]}"
        for key, words in NETWORKS.items()
        if (entries := _entries(canonical, key))
    ]
    length = canonical.get("scenario", {}).get("duration", "")
    told = f"{'; '.join(what) or 'No traffic'}, over {_and(over) or 'nothing'}"
    # A value and its unit, as 300s, read more easily apart.
    spaced = re.sub(r"(?<=\d)(?=[a-zµ])", "\u00a0", str(length))
    return f"{told}, for {spaced}." if length else f"{told}."


def came_out(results: Results) -> list[str]:
    """What ended how: flows, signalling, handovers, what technologies have of their own, losses."""
    said = [
        *_streams(results),
        *_transfers(results),
        *_messages(results),
        *_video(results),
        *_signalling(results),
        *_handovers(results),
        *(sentence for one in technologies() for sentence in getattr(one, "outcome", _nothing)(results)),
        *_links(results),
        *(note for note in (*results.failures.values(), results.alike_in_words) if note),
    ]
    runs = _runs(results)
    return [*said, f"Numbers are means over {runs} replications."] if runs > 1 else said


def _nothing(_: Results) -> list[str]:
    return []


def _of(results: Results, table: str) -> list[dict[str, Any]]:
    """The rows of a table, with means over replications; none where there is no such table."""
    if table not in results or not results[table].height:
        return []
    frame = results[table]
    keys = [key for key in results.keys_of(table) if key in frame.columns]
    words = [
        name for name, dtype in frame.schema.items() if dtype == polars.String and name not in (*keys, "scenario")
    ]
    numbers = polars.selectors.numeric().exclude(*RUN_COLUMNS, *keys)
    return frame.group_by(keys, maintain_order=True).agg(polars.col(words).first(), numbers.mean()).to_dicts()


def _entries(canonical: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = canonical.get(key, [])
    return [entry for entry in (found if isinstance(found, list) else [found]) if isinstance(entry, Mapping)]


def _kind(row: Row) -> str:
    """What a flow is: `bulk over TCP newreno`."""
    over = f"{row['protocol'].upper()} {row['variant']}".strip()
    return f"{APPLICATIONS.get(row['application'], row['application'].replace('_', ' '))} over {over}"


def _kinds(flows: list[dict[str, Any]]) -> list[str]:
    counts = Counter(_kind(row) for row in flows)
    return [f"{count} flow{'s' if count > 1 else ''} of {kind}" for kind, count in counts.items()]


def _and(parts: list[str]) -> str:
    *first, last = parts or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _streams(results: Results) -> Iterator[str]:
    """Streams of octets: what they delivered at which rate, and how their connections ended."""
    streams = [row for row in _of(results, "flows") if row["sent_packets"] is None]
    if len(streams) > EACH:
        rates = sorted(streams, key=lambda row: row["goodput_bps"] or 0.0)
        low, high = rates[0], rates[-1]
        total = sum(row["delivered_bytes"] for row in streams)
        ends = caveats.connections(
            results["flows"].filter(polars.col("sent_packets").is_null())["connection"].to_list()
        )
        yield (
            f"{len(streams)} streams delivered {octets(total)} together, at {_rate(low)} ({low['name']}) to "
            f"{_rate(high)} ({high['name']}) each; their connections: {ends}."
        )
        return
    for row in streams:
        done = row["completion_time_s"]
        how = (
            f"was completed after {duration(done)}"
            if done is not None
            else f"delivered {octets(row['delivered_bytes'])}"
        )
        again = f", with {plain(row['retransmissions'])} retransmissions and {plain(row['timeouts'])} timeouts"
        end = f"; its connection is {row['connection']}" if done is None and row["connection"] else ""
        yield f"{row['name']} {how}, at {_rate(row)}{again if row['retransmissions'] else ''}{end}."


def _rate(row: Row) -> str:
    return bit_rate(row["goodput_bps"] or 0.0)


def _transfers(results: Results) -> Iterator[str]:
    for row in _of(results, "transfers"):
        if row["sizes"] == "all":
            done = f"{plain(row['completed'])} of {plain(row['begun'])} transfers were completed"
            yield f"{row['name']}: {done}{_late(row, 'completion_time_s')}."


def _late(row: Row, column: str) -> str:
    """How long something took, where it ever came to its end: the mean, and what 95 % of them did not exceed."""
    mean, most = row[f"mean_{column}"], row[f"p95_{column}"]
    return "" if mean is None else f", after {duration(mean)} on average (95 % within {duration(most)})"


def _messages(results: Results) -> Iterator[str]:
    """Messages: how many arrived, and how late."""
    arriving = {row["name"] for row in _of(results, "transfers")}
    flows = [row for row in _of(results, "flows") if row["sent_packets"] is not None and row["name"] not in arriving]
    if len(flows) > EACH:
        sent, there = (sum(row[column] for row in flows) for column in ("sent_packets", "delivered_packets"))
        worst = min(flows, key=_arrived)
        late = max(flows, key=lambda row: row["p95_delay_s"] or 0.0)
        yield (
            f"{len(flows)} flows of messages: {_share(there, sent)} arrived, of {worst['name']} the fewest "
            f"({percent(_arrived(worst))}), of {late['name']} the latest (95 % within {_within(late)})."
        )
        return
    for row in flows:
        there = _share(row["delivered_packets"], row["sent_packets"])
        yield f"{row['name']}: {there} arrived{_late(row, 'delay_s')}."


def _arrived(row: Row) -> float:
    return row["delivered_packets"] / row["sent_packets"] if row["sent_packets"] else 1.0


def _within(row: Row) -> str:
    return "–" if row["p95_delay_s"] is None else duration(row["p95_delay_s"])


def _share(there: float, sent: float) -> str:
    if not sent:
        return "none was sent; none"
    share = f"{caveats.percent(there / sent)} of {plain(sent)}"
    return f"{f'all {plain(sent)}' if there == sent else share} messages"


def _video(results: Results) -> Iterator[str]:
    for row in _of(results, "video")[:EACH]:
        if row["decodable_share"] is not None:
            share = f"{percent(row['decodable_share'])} of {plain(row['frames'])} frames"
            yield f"{row['name']}: {share} could be decoded in time."


def _signalling(results: Results) -> Iterator[str]:
    rows = _of(results, "signalling")
    for row in rows[:EACH]:
        rate = row["success_rate"]
        told = "none" if rate is None else f"{percent(rate)} of {plain(row['messages'])} messages"
        yield f"{row['name']}: {told} succeeded{_late(row, 'delay_s')}."
    if len(rows) > EACH:
        yield f"{len(rows) - EACH} more sources of signalling are in the tables."


def _handovers(results: Results) -> Iterator[str]:
    """Handovers: how many, how long they interrupted, what they lost; and what became of those by MIH users."""
    handovers = results["handovers"] if "handovers" in results else polars.DataFrame()
    if handovers.height:
        runs = _runs(results)
        count = handovers.height / runs
        nodes = handovers["node"].unique(maintain_order=True).to_list()
        many, them = ("handover", "it") if count == 1 else ("handovers", "them")
        of = f" of {_and(nodes)}" if len(nodes) <= EACH else ""
        lost = sum(float(handovers[column].sum()) for column in LOST) / runs
        gone = _some(lost, "packet was", "packets were") if lost else "nothing was"
        whose = came = ""
        # A folder of before that table has none.
        if "handover_flows" in results:
            flows = results["handover_flows"].filter(~STAYED)
            whose = _by_flow(flows, LOST_OF_FLOW, runs)
            late = float(flows["late_messages"].sum()) / runs
            whose_late = _by_flow(flows, polars.col("late_messages"), runs)
            came = f", {_some(late, 'message', 'messages')} came late{whose_late}" if late else ""
        yield f"{plain(count)} {many}{of}{_interrupted(handovers)}; {gone} lost in {them}{whose}{came}."
    if "mih_handovers" in results:
        for (outcome,), mine in results["mih_handovers"].group_by(["outcome"], maintain_order=True):
            names = _and(mine["name"].unique(maintain_order=True).to_list()[:EACH])
            took = mine["handover_s"].drop_nulls()
            after = (
                f", {duration(_number(took.mean()))} after the link said that it is going down" if took.len() else ""
            )
            yield f"{names}: {str(outcome).replace('_', ' ')}{after}."
    if "handover_flows" in results:
        stayed = results["handover_flows"].filter(STAYED)
        lost = float(stayed.select(LOST_OF_FLOW.sum()).item()) / _runs(results)
        if lost:
            gone, whose = _some(lost, "packet was", "packets were"), _by_flow(stayed, LOST_OF_FLOW, _runs(results))
            yield f"{gone} lost while a link was down and no other followed{whose}."


def _interrupted(handovers: polars.DataFrame) -> str:
    """The shortest and the longest interruption of each direction; one that is below zero is none."""
    parts = []
    for (way,), mine in handovers.drop_nulls("interruption_s").group_by("interrupted", maintain_order=True):
        breaks = mine["interruption_s"]
        low, high = (duration(max(0.0, _number(end))) for end in (breaks.min(), breaks.max()))
        parts.append(f"{low if low == high else f'{low} to {high}'} {way}")
    return f", interrupted for {_and(parts)}" if parts else ""


def _some(count: float, one: str, several: str) -> str:
    return f"{plain(count)} {one if count == 1 else several}"


def _by_flow(flows: polars.DataFrame, counted: polars.Expr, runs: int) -> str:
    """How much of it each flow had, where there are several and few that had any."""
    counts = flows.group_by("flow", maintain_order=True).agg(counted.sum().alias("count"))
    some = counts.filter(polars.col("count") > 0)
    if counts.height < 2 or not 0 < some.height <= EACH:
        return ""
    return f" ({', '.join(f'{flow} {plain(count / runs)}' for flow, count in some.iter_rows())})"


def _number(value: Any) -> float:
    return float(value)


def _runs(results: Results) -> int:
    return sum(point.replications for point in results.manifest.points)


def _way(row: Row) -> str:
    return f"{row['name']} from {row['from']} to {row['to']}"


def _links(results: Results) -> Iterator[str]:
    """The busiest link, the one with the longest queue, and what was dropped for which reason."""
    rows = [row for row in _of(results, "links") if row["sent_packets"] and row["utilisation"] is not None]
    if rows:
        busy, full = (
            max(rows, key=lambda row: row[column] or 0.0) for column in ("utilisation", "mean_queue_packets")
        )
        waiting = full["mean_queue_packets"] or 0.0
        queued = f"{waiting:.3g} packets waiting on average"
        told = f"Busiest was {_way(busy)}: in use for {percent(busy['utilisation'])} of the time"
        if waiting < NONE:
            yield f"{told}, with no queue."
        elif full is busy:
            yield f"{told}, {queued}."
        else:
            yield f"{told}. The longest queue was on {_way(full)}: {queued}."
    if "drops" in results and results["drops"].height:
        reasons = results["drops"].group_by("reason", maintain_order=True).agg(polars.col("packets").sum())
        counts = reasons.sort("packets", descending=True).iter_rows()
        told = ", ".join(f"{plain(count / _runs(results))} {reason}" for reason, count in counts)
        yield f"Dropped packets: {told}."
