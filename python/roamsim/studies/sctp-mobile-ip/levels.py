"""The 90 published levels: segments received in 200 s, ours held against each."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data, Row
from roamsim.study.definition import Label
from roamsim.study.judging import Finding, by_many, counted, either, number, value_of, with_interval, within

from .gains import average, gains, over_replications

RENO, SACK, SCTP, SCTP_2960 = "TCP Reno", "TCP SACK", "SCTP", "SCTP (RFC 2960)"
PROTOCOLS = (RENO, SACK, SCTP, SCTP_2960)
SEGMENT_BYTES = 1000

#: A level agrees when the whole interval of ours lies within this share of it.
TOLERANCE = 0.10

#: The names of the protocols in published.csv.
PUBLISHED_NAMES = {"tcp-reno": RENO, "tcp-sack": SACK, "sctp": SCTP}

#: The experiments that have the whole table, by what is different in them.
CONDITIONS = {
    "as chosen": "bandwidths",
    "errors by time on the air": "bandwidths-air-time",
    "three times these up to 384 kb/s": "bandwidths-air-time-threefold",
}


@cache
def published() -> dict[tuple[str, float, int], int]:
    """The published segments received in 200 s, by protocol, wire and radio bandwidth (kb/s)."""
    with (Path(__file__).parent / "published.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {
        (PUBLISHED_NAMES[row["protocol"]], float(row["wireline_kbps"]), int(column.removeprefix("wireless_"))): int(
            row[column]
        )
        for row in rows
        for column in row
        if column.startswith("wireless_")
    }


def published_level(protocol: str, wire: Label, radio: Label) -> int:
    """The published segments of a protocol; those of SCTP stand beside both RFCs."""
    of = SCTP if protocol == SCTP_2960 else protocol
    return published()[of, float(wire), int(radio)]


def segments(row: Row) -> float:
    """Segments received by the correspondent node."""
    return float(row["delivered_bytes"]) / SEGMENT_BYTES


def over_published(data: Data, experiment: str, protocol: str, wire: Label, radio: Label) -> Estimate:
    """Ours over the published level, with its interval."""
    here = data.estimate(experiment, segments, protocol=protocol, wireline_kbps=wire, radio_kbps=radio)
    there = published_level(protocol, wire, radio)
    return here.scaled(1 / there)


def _cells(data: Data, sctp: str) -> dict[tuple[str, float, int], Estimate]:
    return {
        (protocol, float(wire), int(radio)): over_published(data, "bandwidths", protocol, wire, radio)
        for protocol in (RENO, SACK, sctp)
        for wire in data.labels("bandwidths", "wireline_kbps")
        for radio in data.labels("bandwidths", "radio_kbps")
    }


def _beside_published(ratio: Estimate) -> Finding:
    return within(ratio, 1 - TOLERANCE, 1 + TOLERANCE, "")


def levels(data: Data) -> Finding:
    """2i: every level, with SCTP by either RFC."""
    readings = {"RFC 9260": _levels(data, SCTP), "RFC 2960": _levels(data, SCTP_2960)}
    brief = "; ".join(f"{name}: {finding.brief}" for name, finding in readings.items())
    return replace(either(readings, "SCTP by"), brief=brief)


def _levels(data: Data, sctp: str) -> Finding:
    cells = _cells(data, sctp)
    found = counted([_beside_published(ratio) for ratio in cells.values()], "levels")
    far = sum(not 0.5 <= ratio.mean <= 1.5 for ratio in cells.values())
    (protocol, wire, radio), most = max(cells.items(), key=lambda one: one[1].mean)
    words = (
        f"{found.measured}; {far} {'is' if far == 1 else 'are'} off by more than 50 %; the most is "
        f"{with_interval(most)} times the published, "
        f"{protocol} at {wire:g} and {radio} kb/s"
    )
    agree, differ = found.values
    values = agree, differ, value_of("largest ratio", most)
    return replace(found, measured=words, values=values, brief=found.brief.partition(",")[0])


def levels_by_cell(data: Data) -> list[dict[str, Any]]:
    """Ours over the published level and the verdict, cell by cell, by intervals that hold for all levels together."""
    rows = []
    levels = len(_cells(data, SCTP))
    for protocol in PROTOCOLS:
        for wire in data.labels("bandwidths", "wireline_kbps"):
            row: dict[str, Any] = {"protocol": protocol, "wire (kb/s)": wire}
            for radio in data.labels("bandwidths", "radio_kbps"):
                ratio = over_published(data, "bandwidths", protocol, wire, radio)
                found = by_many(_beside_published(ratio), levels)
                row[f"radio {radio} kb/s"] = f"{with_interval(ratio)} {found.verdict}"
            rows.append(row)
    return rows


def levels_by_radio(data: Data) -> list[dict[str, Any]]:
    """Geometric means of ours over the published levels, by the radio link's bandwidth over all wires."""
    return _levels_by(data, "radio_kbps", "radio")


def levels_by_wire(data: Data) -> list[dict[str, Any]]:
    """The same by the wire's bandwidth over all radio links."""
    return _levels_by(data, "wireline_kbps", "wire")


def _levels_by(data: Data, name: str, short: str) -> list[dict[str, Any]]:
    return [
        {"errors": condition, "protocol": protocol}
        | {
            f"{short} {at} kb/s": with_interval(_geometric(data, experiment, protocol, **{name: at}))
            for at in data.labels(experiment, name)
        }
        for condition, experiment in CONDITIONS.items()
        for protocol in PROTOCOLS
    ]


def _geometric(data: Data, experiment: str, protocol: str, **at: Any) -> Estimate:
    """The geometric mean over cells in each replication, and over replications its mean with an interval."""
    logarithms: dict[int, list[float]] = {}
    for row in data.rows(experiment, protocol=protocol, **at):
        level = published_level(protocol, row["wireline_kbps"], row["radio_kbps"])
        logarithms.setdefault(row["replication"], []).append(math.log(segments(row) / level))
    of_logarithm = statistics.mean([fmean(logarithms[r]) for r in sorted(logarithms)])
    low, mean, high = (math.exp(x) for x in (of_logarithm.low, of_logarithm.mean, of_logarithm.high))
    return replace(of_logarithm, mean=mean, low=low, high=high)


def mean_of_published(behind: str, ahead: str, wires: Sequence[float] | None, radios: Sequence[int] | None) -> float:
    """The published gain in percent, averaged over pairs of bandwidths (all: `None`)."""
    there = published()
    return fmean(
        100 * (there[ahead, wire, radio] / there[behind, wire, radio] - 1)
        for protocol, wire, radio in there
        if protocol == ahead and (wires is None or wire in wires) and (radios is None or radio in radios)
    )


def beside_mean(
    data: Data, experiment: str, behind: str, ahead: str, wires: Sequence[float] | None, radios: Sequence[int]
) -> Finding:
    """A mean gain in percent against the published mean over the same pairs, within a quarter of it."""
    there = mean_of_published(behind, SCTP if ahead == SCTP_2960 else ahead, wires, radios)
    gain = over_replications(gains(data, experiment, behind, ahead), average(wires, radios))
    what = f"gain of {ahead} over {behind} (%), published mean {number(round(there, 1))}"
    return within(gain, 0.75 * there, 1.25 * there, what)
