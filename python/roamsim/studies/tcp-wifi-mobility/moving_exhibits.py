"""Tables and drawings of the walk."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean
from typing import Any

import polars
from roamsim import statistics
from roamsim.pictures import timed
from roamsim.pictures.charts import COLOURS, Look, curves
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.judging import with_interval

from .findings import NAMES, THREE, VARIANTS
from .walk import (
    ADAPTED_RATES,
    BEGINS_S,
    FIFTY,
    FIXED_RATES,
    SETS_OUT_S,
    SPEEDS_KMH,
    WALK_M,
    Walks,
    order_at,
    published_order,
    published_ranks,
    rate_gain,
)

OF = {"retransmissions": THREE, "ifq": FIFTY}
#: By then n3, which may hear BS1 first, has found its own base station.
ARRIVED_S = 10.0


def over_time(data: Data, **values: Any) -> timed.Figure:
    """The throughput of each variant, second by second, in the mean of the replications."""
    speed = values["speed"]
    lines = [(NAMES[variant], {"variant": variant, **OF}) for variant in VARIANTS]
    return _over_time(data, "moving", speed, lines)


def rates_over_time(data: Data) -> timed.Figure:
    """The same of SACK by the way to choose the rate, at 4 km/h."""
    lines = [(rate, {"variant": "sack", "rate": rate}) for rate in (*FIXED_RATES, *ADAPTED_RATES)]
    return _over_time(data, "rates", 4, lines)


def _over_time(data: Data, experiment: str, speed: int, lines: list[tuple[str, dict[str, Any]]]) -> timed.Figure:
    marks, top = [], 0.0
    for (name, at), colour in zip(lines, COLOURS, strict=False):
        seconds: dict[int, list[float]] = {}
        for row in data.rows(experiment, speed_kmh=speed, **at):
            seconds.setdefault(row["second"] - BEGINS_S, []).append(row["throughput_bps"] / 1e6)
        means = [fmean(one) for one in seconds.values()]
        top = max(top, *means)
        frame = polars.DataFrame({"t": [float(second) for second in seconds], "v": means})
        marks.append(timed.Marks(name, colour, "step", frame.sort("t")))
    out_s = SETS_OUT_S - BEGINS_S
    walked = {"t": [out_s], "until": [out_s + WALK_M / (speed / 3.6)], "low": [0.0], "high": [top]}
    walk = timed.Marks("on its way", "#7a7a7a2e", "span", polars.DataFrame(walked))
    # The time since the transfer began.
    whole = timed.span_of([timed.Panel("", marks)])
    return timed.Figure([timed.Panel("throughput, Mb/s", [walk, *marks], 260)], whole_s=whole)


def by_speed(data: Data) -> dict[str, Any]:
    """The mean throughput of each variant against the interface queue, a picture for each speed."""
    ifqs = data.labels("moving", "ifq")
    return _by_speed(Walks(data), "interface queue, packets", [("ifq", ifq, {"ifq": ifq}) for ifq in ifqs])


def by_retransmissions(data: Data) -> dict[str, Any]:
    """The same against retransmissions."""
    counts = data.labels("moving-retransmissions", "retransmissions")
    at = [("retransmissions", count, {"retransmissions": count}) for count in counts]
    return _by_speed(Walks(data, "moving-retransmissions"), "MAC retransmissions", at)


def _by_speed(runs: Walks, title: str, points: list[tuple[str, Any, dict[str, Any]]]) -> dict[str, Any]:
    rows = []
    for speed in (speed for speed in SPEEDS_KMH if runs.has("speed_kmh", speed)):
        for variant in VARIANTS:
            for _, x, at in points:
                found = runs.throughput(speed, variant=variant, **{**OF, **at}).within(0.0)
                ends = {"mean": found.mean, "low": found.low, "high": found.high}
                rows.append({"panel": f"{speed} km/h", "series": NAMES[variant], "x": x, **ends})
    return curves(rows, Look(title, "throughput, Mb/s", x_axis={"values": sorted({x for _, x, _ in points})}))


def ranking(data: Data) -> list[dict[str, Any]]:
    """The variants at each speed, the best first, with the published rank."""
    runs = Walks(data)
    rows: list[dict[str, Any]] = [{"rank": rank} for rank in range(1, len(VARIANTS) + 1)]
    for speed in SPEEDS_KMH:
        for row, (variant, found) in zip(rows, _sorted(runs, speed), strict=True):
            row[f"{speed} km/h"] = f"{NAMES[variant]} {with_interval(found)} [{published_ranks()[variant, speed]}]"
    return rows


def _sorted(runs: Walks, speed: int) -> list[tuple[str, Estimate]]:
    found = [(variant, runs.throughput(speed, variant=variant, **OF)) for variant in VARIANTS]
    return sorted(found, key=lambda one: -one[1].mean)


def ranking_orders(data: Data) -> list[dict[str, Any]]:
    """Each two variants at each speed: by how much the one with the better published rank is ahead."""
    rows = []
    for first, second in combinations(VARIANTS, 2):
        row: dict[str, Any] = {"pair": f"{NAMES[first]}, {NAMES[second]}"}
        for speed in SPEEDS_KMH:
            order, lead = order_at(Walks(data), first, second, speed)
            better, _ = published_order(first, second, speed)
            row[f"{speed} km/h"] = f"{NAMES[better]} {with_interval(lead)}: {order.verdict}"
        rows.append(row)
    return rows


def handovers(data: Data) -> list[dict[str, Any]]:
    """What the handovers took, by speed, over all variants."""
    rows = []
    for speed in SPEEDS_KMH:
        found = [
            row for row in data.rows_of("moving", "handovers", speed_kmh=speed, **OF) if row["begun_s"] > ARRIVED_S
        ]
        runs = len({(row["variant"], row["replication"]) for row in data.rows("moving", speed_kmh=speed, **OF)})
        rows.append(
            {
                "speed (km/h)": speed,
                "handovers a run": f"{len(found) / runs:.2f}",
                "detected to completed (s)": with_interval(statistics.mean([row["handover_s"] for row in found])),
                "interruption (s)": with_interval(statistics.mean([row["interruption_s"] for row in found])),
            }
        )
    return rows


def walk_by_condition(data: Data) -> list[dict[str, Any]]:
    """The variants at each speed, the best first, and how many orders of table V hold, by condition."""
    rows = []
    for condition in data.labels("moving-conditions", "condition"):
        runs = Walks(data, "moving-conditions", {"condition": condition})
        for speed in SPEEDS_KMH:
            verdicts = [order_at(runs, *pair, speed)[0].verdict for pair in combinations(VARIANTS, 2)]
            counts = [str(verdicts.count(v)) for v in ("agrees", "differs", "not decidable")]
            shown = ", ".join(f"{NAMES[variant]} {with_interval(found)}" for variant, found in _sorted(runs, speed))
            orders = {"orders: agree / differ / open": " / ".join(counts)}
            rows.append({"condition": condition, "km/h": speed, "best first": shown, **orders})
    return rows


def rates(data: Data) -> list[dict[str, Any]]:
    """By speed and the way to choose the rate: each variant's throughput, the gain over 24 Mb/s, interruptions."""
    rows = []
    for speed in data.labels("rates", "speed_kmh"):
        for rate in (*FIXED_RATES, *ADAPTED_RATES):
            runs = Walks(data, "rates", {"rate": rate})
            row: dict[str, Any] = {"km/h": speed, "rate": rate}
            for variant in data.labels("rates", "variant"):
                row[NAMES[str(variant)]] = with_interval(runs.throughput(int(speed), variant=variant))
            gain = rate_gain(data, rate, FIXED_RATES[0], int(speed)) if rate != FIXED_RATES[0] else None
            row["gain (%)"] = with_interval(gain) if gain else ""
            found = data.rows_of("rates", "handovers", speed_kmh=speed, rate=rate)
            way_s = [row["interruption_s"] for row in found if row["begun_s"] > ARRIVED_S and row["interruption_s"]]
            row["interruption (s)"] = with_interval(statistics.mean(way_s)) if way_s else ""
            rows.append(row)
    return rows
