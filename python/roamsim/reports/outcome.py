"""The first lines of a run's report: what ran, and the results in sentences.

With several replications, numbers are means over them. Names are not escaped; a page escapes each sentence.
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

#: Up to so many flows or entries get a sentence each (chosen: nobody reads a longer list).
EACH = 3

#: Sections that make up the network, with their names for one and for several.
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
    "poisson": "Poisson messages",
    "on_off": "an on-off source",
    "transfer": "a transfer",
    "request_response": "requests and responses",
    "transfers": "short transfers",
}

#: Columns that count the losses of a handover.
LOST = ("lost_uplink", "lost_downlink")

#: The same of one of its flows.
LOST_OF_FLOW = polars.col("lost_data") + polars.col("lost_acknowledgements")

#: Rows of a link that went down without a change of cell.
STAYED = polars.col("to_cell").eq("") | polars.col("to_cell").eq(polars.col("from_cell"))

#: Fewer queued packets on average count as none (chosen).
NONE = 0.01

#: Below this utilisation of the busiest link, links count as idle (chosen).
IDLE = 0.01

#: Reasons of drops, as words behind a count of packets; others read well as they are.
DROPPED = {
    "loss": "lost on a link",
    "queue full": "at a full queue",
    "queue management": "by queue management",
    "outage": "in an outage",
    "retry limit": "at the retry limit",
    "no route": "without a route",
    "no socket": "without a socket",
}

#: Columns of packets from outside that did not enter the network.
REFUSED = (
    "malformed_packets",
    "other_version_packets",
    "foreign_source_packets",
    "unknown_destination_packets",
    "too_large_packets",
)

#: What a byte stream sends, by its protocol.
SEGMENTS = {"quic": "packets", "sctp": "chunks"}

#: Reasons of retransmissions, as words behind their count.
REASONS = {
    "rack": "by RACK",
    "duplicate_ack": "by duplicate ACKs",
    "loss_probe": "by loss probes",
    "timeout": "after timeouts",
    "path_removed": "as their path was removed",
}

Row = Mapping[str, Any]


def asked(results: Results) -> str:
    """What ran: flows and signalling, the network, the duration."""
    canonical = results.manifest.canonical
    flows, signalling = _of(results, "flows"), _of(results, "signalling")
    each = len(flows) <= EACH
    what = _ways(flows) if each else _kinds(flows)
    what += [
        f"{row['name']}: MIH {row['kind'].replace('_', ' ')} over {row['transport'].upper()}"
        for row in signalling[:EACH]
    ]
    if len(signalling) > EACH:
        what.append(f"{_some(len(signalling) - EACH, 'more source', 'more sources')} of MIH signalling")
    what += [f"{entry.get('name')}: a handover by MIH users" for entry in _entries(canonical, "handover")[:EACH]]
    outside = [str(row["node"]) for row in _outside(results)]
    if outside:
        what.append(f"{'programs' if what else 'Programs'} at {_and(outside)}")
    network = [
        f"{len(entries)} {words[1]}" if len(entries) > 1 else f"one {words[0]}"
        for key, words in NETWORKS.items()
        if (entries := _entries(canonical, key))
    ]
    # A value and its unit, as 300s, read more easily apart.
    length = re.sub(r"(?<=\d)(?=[a-zµ])", "\u00a0", str(canonical.get("scenario", {}).get("duration", "")))
    # A live run ends with its programs.
    length = f"at most {length}" if outside and length else length
    over = _capital(", ".join(part for part in (_and(network), length) if part))
    return f"{'. '.join(part for part in ('; '.join(what) or 'No traffic', over) if part)}."


def came_out(results: Results) -> list[str]:
    """Results of flows, signalling, handovers, technologies and links, a sentence or two each."""
    said = [
        *_streams(results),
        *_transfers(results),
        *_messages(results),
        *_video(results),
        *_signalling(results),
        *_programs(results),
        *_handovers(results),
        *(sentence for one in technologies() for sentence in getattr(one, "outcome", _nothing)(results)),
        *_links(results),
        *_marks(results),
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


def _ways(flows: list[dict[str, Any]]) -> list[str]:
    """Each flow with its ends; both directions of one together."""
    ends: dict[tuple[str, str], list[Row]] = {}
    for row in flows:
        ends.setdefault((row["name"], _kind(row)), []).append(row)
    return [
        f"{name}: {kind}, {_way(rows[0])}{' and back' if len(rows) > 1 else ''}"
        for (name, kind), rows in ends.items()
    ]


def _and(parts: list[str]) -> str:
    *first, last = parts or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _told_apart(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows; both directions of a flow have theirs behind their name."""
    counts = Counter(row["name"] for row in rows)
    return [row | {"name": f"{row['name']} ({_way(row)})"} if counts[row["name"]] > 1 else row for row in rows]


def _streams(results: Results) -> Iterator[str]:
    """Byte streams: octets, rate, retransmissions, timeouts."""
    streams = _told_apart([row for row in _of(results, "flows") if row["sent_packets"] is None])
    if len(streams) > EACH:
        rates = sorted(streams, key=lambda row: row["goodput_bps"] or 0.0)
        slow, fast, total = rates[0], rates[-1], sum(row["delivered_bytes"] for row in streams)
        yield (
            f"{len(streams)} streams moved {octets(total)} together. The fastest, {fast['name']}, got {_rate(fast)}; "
            f"the slowest, {slow['name']}, {_rate(slow)}."
        )
        return
    for row in streams:
        done = row["completion_time_s"]
        within = "" if done is None else f" in {duration(done)}"
        again = ""
        if row["retransmissions"]:
            sent = f"{plain(row['retransmissions'])} of {plain(row['segments_sent'])}"
            share = percent(row["retransmissions"] / row["segments_sent"])
            out = f"timed out {_times(row['timeouts'])}" if row["timeouts"] else "never timed out"
            what = f"{sent} {SEGMENTS.get(row['protocol'], 'segments')} ({share})"
            why = reasons(row)
            told = f"{', ' if why.startswith('all ') else ': '}{why}. It" if why else " and"
            again = f" It retransmitted {what}{told} {out}."
        yield f"{row['name']} moved {octets(row['delivered_bytes'])}{within} at {_rate(row)}.{again}"


def reasons(row: Row) -> str:
    """Why a stream retransmitted, the most frequent reason first; empty where that is not known."""
    counts = [(row.get(f"{reason}_retransmissions"), words) for reason, words in REASONS.items()]
    there = sorted(((count, words) for count, words in counts if count), key=lambda one: -one[0])
    if len(there) == 1:
        return f"all {there[0][1]}"
    return _and([f"{plain(count)} {words}" for count, words in there])


def _rate(row: Row) -> str:
    return bit_rate(row["goodput_bps"] or 0.0)


def _times(count: float) -> str:
    return {1.0: "once", 2.0: "twice"}.get(float(count), f"{plain(count)} times")


def _transfers(results: Results) -> Iterator[str]:
    for row in _of(results, "transfers"):
        if row["sizes"] == "all":
            done = f"{plain(row['completed'])} of {_some(row['begun'], 'transfer', 'transfers')}"
            yield f"{row['name']} completed {done}.{_took(row, 'completion_time_s')}"


def _took(row: Row, column: str) -> str:
    """The mean and the 95th percentile of a time, if anything came to its end."""
    mean, most = row[f"mean_{column}"], row[f"p95_{column}"]
    return "" if mean is None else f" They took {duration(mean)} on average; 95 % took at most {duration(most)}."


def _messages(results: Results) -> Iterator[str]:
    """Messages: the share delivered, and the delay."""
    short = {row["name"] for row in _of(results, "transfers")}
    sending = [row for row in _of(results, "flows") if row["sent_packets"] is not None]
    flows = _told_apart([row for row in sending if row["name"] not in short])
    if len(flows) > EACH:
        sent, there = (sum(row[column] for row in flows) for column in ("sent_packets", "delivered_packets"))
        worst = min(flows, key=_arrived)
        late = max(flows, key=lambda row: row["p95_delay_s"] or 0.0)
        least = "" if there == sent else f" The worst was {worst['name']}, with {percent(_arrived(worst))}."
        slowest = ""
        if late["p95_delay_s"] is not None:
            which = "It was also the slowest" if least and late is worst else f"The slowest was {late['name']}"
            slowest = f" {which}: {_within(late)}."
        yield f"{len(flows)} flows delivered {_share(there, sent)}.{least}{slowest}"
        return
    for row in flows:
        mean = row["mean_delay_s"]
        delay = "" if mean is None else f" The mean delay was {duration(mean)}; {_within(row)}."
        yield (
            f"{row['name']} delivered {_share(row['delivered_packets'], row['sent_packets'])}.{delay}"
            if row["sent_packets"]
            else f"{row['name']} sent no message."
        )


def _within(row: Row) -> str:
    """The 95th percentile of the delay, which is one of the messages that arrived."""
    of = "" if row["delivered_packets"] == row["sent_packets"] else " of those delivered"
    return f"95 %{of} arrived within {duration(row['p95_delay_s'])}"


def _arrived(row: Row) -> float:
    return row["delivered_packets"] / row["sent_packets"] if row["sent_packets"] else 1.0


def _share(there: float, sent: float) -> str:
    if there == sent == 1:
        return "its only message"
    share = f"{caveats.percent(there / sent)} of" if sent else "none of"
    return f"{'all' if there == sent > 0 else share} {_some(sent, 'message', 'messages')}"


def _outside(results: Results) -> list[dict[str, Any]]:
    """The rows of nodes whose programs had any packet."""
    return [row for row in _of(results, "external") if row["offered_packets"] or row["emitted_packets"]]


def _programs(results: Results) -> Iterator[str]:
    """Packets of programs outside, and those that the network refused."""
    for row in _outside(results)[:EACH]:
        refused = sum(row[column] for column in REFUSED)
        also = f"; {_some(refused, 'packet was', 'packets were')} refused" if refused else ""
        sent = _some(row["offered_packets"], "packet", "packets")
        yield f"Programs at {row['node']} sent {sent} and received {plain(row['emitted_packets'])}{also}."


def _video(results: Results) -> Iterator[str]:
    films = [row for row in _of(results, "video")[:EACH] if row["decodable_share"] is not None]
    for row in _told_apart(films):
        share = f"{percent(row['decodable_share'])} of {_some(row['frames'], 'frame', 'frames')}"
        yield f"{row['name']}: {share} could be decoded in time."


def _signalling(results: Results) -> Iterator[str]:
    rows = _of(results, "signalling")
    for row in rows[:EACH]:
        rate = row["success_rate"]
        if rate is None:
            yield f"{row['name']} sent no message."
        else:
            share = "all" if rate == 1 else f"{percent(rate)} of"
            sent = _some(row["messages"], "message", "messages")
            yield f"{row['name']}: {share} {sent} succeeded.{_took(row, 'delay_s')}"
    if len(rows) > EACH:
        yield f"The tables have {_some(len(rows) - EACH, 'more source', 'more sources')} of signalling."


def _handovers(results: Results) -> Iterator[str]:
    """Handovers: number, interruption, losses; outcomes of those by MIH users."""
    handovers = results["handovers"] if "handovers" in results else polars.DataFrame()
    if handovers.height:
        runs = _runs(results)
        nodes = handovers["node"].unique(maintain_order=True).to_list()
        of = f" of {_and(nodes)}" if len(nodes) <= EACH else ""
        lost = sum(float(handovers[column].sum()) for column in LOST) / runs
        gone = _some(lost, "packet", "packets") if lost else "no packet"
        whose = came = ""
        # A folder of before that table has none.
        if "handover_flows" in results:
            flows = results["handover_flows"].filter(~STAYED)
            whose = _by_flow(flows, LOST_OF_FLOW, runs)
            late = float(flows["late_messages"].sum()) / runs
            whose_late = _by_flow(flows, polars.col("late_messages"), runs)
            came = f" {_some(late, 'message', 'messages')} came late{whose_late}." if late else ""
        many = _some(handovers.height / runs, "handover", "handovers")
        yield f"{many}{of}{_interrupted(handovers)} lost {gone}{whose}.{came}"
    if "mih_handovers" in results:
        for (outcome,), mine in results["mih_handovers"].group_by(["outcome"], maintain_order=True):
            names = _and(mine["name"].unique(maintain_order=True).to_list()[:EACH])
            took = mine["handover_s"].drop_nulls()
            after = f" {duration(_number(took.mean()))} after Link_Going_Down" if took.len() else ""
            yield f"{names}: {str(outcome).replace('_', ' ')}{after}."
    if "handover_flows" in results:
        stayed = results["handover_flows"].filter(STAYED)
        lost = float(stayed.select(LOST_OF_FLOW.sum()).item()) / _runs(results)
        if lost:
            gone, whose = _some(lost, "packet was", "packets were"), _by_flow(stayed, LOST_OF_FLOW, _runs(results))
            yield f"{gone} lost while a link was down and no handover followed{whose}."


def _interrupted(handovers: polars.DataFrame) -> str:
    """The shortest and the longest interruption of each direction. A negative one counts as none."""
    parts = []
    for (way,), mine in handovers.drop_nulls("interruption_s").group_by("interrupted", maintain_order=True):
        breaks = mine["interruption_s"]
        low, high = (duration(max(0.0, _number(end))) for end in (breaks.min(), breaks.max()))
        parts.append(f"the {way} for {_between(low, high)}")
    return f" interrupted {_and(parts)} and" if parts else ""


def _between(low: str, high: str) -> str:
    if low == high:
        return low
    return f"up to {high}" if low == duration(0.0) else f"{low} to {high}"


def _some(count: float, one: str, several: str) -> str:
    return f"{plain(count)} {one if count == 1 else several}"


def _by_flow(flows: polars.DataFrame, counted: polars.Expr, runs: int) -> str:
    """The count of each flow, if there are several flows and few of them have any."""
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
    return f"{row['from']} to {row['to']}"


def _links(results: Results) -> Iterator[str]:
    """The busiest link, the longest queue, and drops by reason."""
    rows = [row for row in _of(results, "links") if row["sent_packets"] and row["utilisation"] is not None]
    if rows:
        busy, full = (
            max(rows, key=lambda row: row[column] or 0.0) for column in ("utilisation", "mean_queue_packets")
        )
        waiting = full["mean_queue_packets"] or 0.0
        told = f"Busiest link: {busy['name']}, {_way(busy)}, with {percent(busy['utilisation'])} utilisation"
        if busy["utilisation"] < IDLE:
            told = (
                f"Links were nearly idle: the busiest, {busy['name']}, had {percent(busy['utilisation'])} utilisation"
            )
        if waiting < NONE:
            yield f"{told} and no queue."
        elif full is busy:
            yield f"{told} and {waiting:.3g} packets queued on average."
        else:
            yield f"{told}. Longest queue: {full['name']}, {_way(full)}, with {waiting:.3g} packets on average."
    if "drops" in results and results["drops"].height:
        reasons = results["drops"].group_by("reason", maintain_order=True).agg(polars.col("packets").sum())
        counts = [(reason, packets / _runs(results)) for reason, packets in reasons.iter_rows()]
        counts = [(DROPPED.get(reason, reason), count) for reason, count in sorted(counts, key=lambda one: -one[1])]
        total = sum(count for _, count in counts)
        if len(counts) == 1:
            told = f"{',' if total == 1 else ', all'} {counts[0][0]}"
        else:
            told = f": {', '.join(f'{plain(count)} {reason}' for reason, count in counts)}"
        yield f"The network dropped {_some(total, 'packet', 'packets')}{told}."


def _marks(results: Results) -> Iterator[str]:
    """Marked packets (ECN), and how often their senders slowed down."""
    flows = _told_apart([row for row in _of(results, "ecn") if row["marked_packets"]])
    if len(flows) > EACH:
        marked, reductions = (sum(row[column] for row in flows) for column in ("marked_packets", "reductions"))
        fell = f"their windows were reduced {_reduced(reductions)}"
        yield f"{plain(marked)} packets of {len(flows)} flows arrived marked; {fell}."
        return
    for row in flows:
        marked = _some(row["marked_packets"], "packet", "packets")
        yield f"{marked} of {row['name']} arrived marked; it reduced its window {_reduced(row['reductions'])}."


def _reduced(count: float) -> str:
    return _times(count) if count else "0 times"
