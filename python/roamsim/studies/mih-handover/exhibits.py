"""The study's tables: transports pair by pair, and what verdicts rest on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import Any

from roamsim.statistics import Estimate
from roamsim.study.data import Data, Share
from roamsim.study.judging import with_interval

from . import statements
from .diagrams import steps, topology
from .statements import PAIRS, TRANSPORTS
from .study import STARTS, in_time_form, law

__all__ = ["steps", "topology"]


def pairs(data: Data) -> list[dict[str, Any]]:
    """Statements 3a and 3b for each pair of transports: difference, interval and verdict, by who starts."""
    rows = []
    for udp, tcp in PAIRS:
        for words, rule in (
            ("3a: TCP less UDP, successful (s)", statements.pair_of_successes),
            ("3b: UDP less TCP, all (s)", statements.pair_of_all),
        ):
            row: dict[str, Any] = {"UDP": udp, "TCP": tcp, "compared": words}
            for start in STARTS:
                finding = rule(data, udp, tcp, start)
                value = finding.decided_by
                row[start] = f"{value if value else '-'}: {finding.verdict}"
            rows.append(row)
    return rows


def success_beside_law(data: Data) -> list[dict[str, Any]]:
    """The success rate over UDP and TCP in runs, and over UDP by the law of the chain (in brackets)."""
    rows = []
    for start in STARTS:
        for name in TRANSPORTS:
            row: dict[str, Any] = {"start": start, "transport": name}
            for percent in data.labels("handovers", "loss"):
                where = {"start": start, "transport": name, "loss": percent}
                found = data.estimate("handovers", Share("succeeded", "handovers"), **where).scaled(100)
                exact = f" [{100 * law(start, name, float(percent)).success:.1f}]" if name.startswith("UDP") else ""
                row[f"{percent} %"] = f"{found.mean:.1f} ({found.low:.0f} … {found.high:.0f}){exact}"
            rows.append(row)
    return rows


#: Experiments with one choice changed: the dimension, the label as chosen.
CHOICES: Mapping[str, tuple[str, str | float]] = {
    "policies": ("validity", "acked"),
    "factors": ("factor", 1.5),
    "processing": ("processing", "0.2 s at every node"),
    "places": ("place", "behind the router"),
    "entering": ("entering", "before"),
}


def choices(data: Data) -> list[dict[str, Any]]:
    """Success and delay with one choice changed, at some losses."""
    rows = []
    for experiment, (dimension, chosen) in CHOICES.items():
        for label in data.labels(experiment, dimension):
            for start in data.labels(experiment, "start"):
                for name in data.labels(experiment, "transport"):
                    row: dict[str, Any] = {
                        "choice": dimension,
                        "value": f"{label}{' (chosen)' if label == chosen else ''}",
                        "start": start,
                        "transport": name,
                    }
                    for percent in data.labels(experiment, "loss"):
                        where = {dimension: label, "start": start, "transport": name, "loss": percent}
                        row[f"{percent} %: success (%)"] = _percent(
                            data.estimate(experiment, Share("succeeded", "handovers"), **where)
                        )
                        row[f"{percent} %: delay (s)"] = _shown(data.estimate(experiment, "success_s", **where))
                    rows.append(row)
    return rows


def entry(data: Data) -> list[dict[str, Any]]:
    """What network entry takes from the first map on, which would be added if it came after the commitment."""
    rows = []
    for label in data.labels("entry", "descriptors"):
        samples = sorted(one for one in data.samples("entry", "entry_s", descriptors=label) if not math.isnan(one))
        rows.append(
            {
                "DCD and UCD": label,
                "entries": len(samples),
                "mean (s)": f"{statistics.fmean(samples):.3f}",
                "shortest (s)": f"{samples[0]:.3f}",
                "longest (s)": f"{samples[-1]:.3f}",
            }
        )
    return rows


def first_of_short_times(data: Data) -> list[dict[str, Any]]:
    """At each speed, the transports whose success rate is the highest, or not told from it, each with its own.

    Over UDP the law stands behind the runs, in brackets: few runs may all succeed where the law says nine in ten.
    """
    rows = []
    for speed in data.labels("speeds", "speed"):
        row: dict[str, Any] = {"speed (m/s)": speed}
        for factor in data.labels("speeds", "factor"):
            found = {
                name: data.estimate(
                    "speeds", Share("succeeded", "handovers"), speed=speed, factor=factor, transport=name
                )
                for name in TRANSPORTS
            }
            best = max(found.values(), key=lambda one: one.mean)
            if best.mean == 0:
                row[f"factor {factor}"] = "none succeeds"
                continue
            near = sorted((name for name, one in found.items() if one.high >= best.low), key=lambda n: -found[n].mean)
            cells = []
            for name in near:
                exact = in_time_form({"transport": name, "speed": speed, "factor": factor}, "", data)
                of_law = "" if exact is None else f" [{100 * exact:.0f}]"
                one = found[name].scaled(100)
                cells.append(f"{name}: {one.mean:.0f} ({one.low:.0f} … {one.high:.0f}){of_law} %")
            row[f"factor {factor}"] = "; ".join(cells)
        rows.append(row)
    return rows


def busy(data: Data) -> list[dict[str, Any]]:
    """Handovers that the mobile node starts between busy cells."""
    rows = []
    for experiment, cell in (("busy-wifi", "wifi"), ("busy-wimax", "wimax")):
        for count in data.labels(experiment, f"{cell}_stations"):
            for percent in data.labels(experiment, "loss"):
                row: dict[str, Any] = {
                    "cell": {"wifi": "802.11", "wimax": "802.16"}[cell],
                    "stations": count,
                    "loss (%)": percent,
                }
                for name in TRANSPORTS:
                    where = {f"{cell}_stations": count, "loss": percent, "transport": name}
                    success = data.estimate(experiment, Share("succeeded", "handovers"), **where)
                    delay = data.estimate(experiment, "success_s", **where)
                    after = "" if math.isnan(delay.mean) else f", {with_interval(delay)} s"
                    row[name] = f"{_percent(success)} %{after}"
                rows.append(row)
    return rows


def _percent(share: Estimate) -> str:
    return f"{100 * share.mean:.0f} ({100 * share.low:.0f} … {100 * share.high:.0f})"


def _shown(estimate: Estimate) -> str:
    return "-" if math.isnan(estimate.mean) else with_interval(estimate)
