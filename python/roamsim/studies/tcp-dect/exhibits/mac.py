"""The MAC: figure 4, states, channels and terminals."""

from __future__ import annotations

import math
from typing import Any

from roamsim import Result, statistics
from roamsim.pictures.timed import Figure
from roamsim.pictures.timeseries import Part
from roamsim.study.data import Data
from roamsim.study.judging import with_interval
from roamsim.technologies.dect import channel_map, mac_states

from ..cases import REFERENCE, SATURATED
from .cells import Rows, once

#: The time line that is drawn, in seconds.
SHOWN_S = (600.0, 900.0)
#: The types of the other terminals.
OTHERS = ("P08j", "P32", "P80", "Data")
#: The terminal whose TCP is studied, and what it is called.
USER = "User"
NAMES = {USER: "the terminal"}


def state_diagram(data: Data) -> dict[str, Any]:
    """The terminal's states with their share of time, and its transitions, over all replications."""
    return mac_states.draw(_counts(data, REFERENCE, USER))


def _counts(data: Data, case: str, kind: str) -> mac_states.Counts:
    where: dict[str, Any] = {"case": case, "offered": SATURATED, "type": kind}
    tables = ("dect_states", "dect_transitions")
    return mac_states.added_up(*(data.rows_of("throughput", table, **where) for table in tables))


def states(data: Data) -> Rows:
    """Share of time in each state, of the terminal in each case and of the other types in the reference case."""
    rows = []
    for case, kind in _terminals(data):
        row: dict[str, Any] = {"case": case, "type": NAMES.get(kind, kind)}
        for state in mac_states.PLACES:
            where: dict[str, Any] = {"case": case, "offered": SATURATED, "type": kind, "state": state}
            found = data.rows_of("throughput", "dect_states", **where)
            # Of the others, of whom many are in a call at once, the share of all their time.
            row[f"{state} (%)"] = (
                with_interval(statistics.mean([100 * one["share"] for one in found]))
                if kind == USER
                else 100 * _counts(data, case, kind).share(state)
            )
        rows.append(row)
    return once(rows)


def _terminals(data: Data) -> list[tuple[str, str]]:
    """Cases and types that are shown: the terminal in each case, the others in the reference case."""
    return [
        *((str(case), USER) for case in data.labels("throughput", "case")),
        *((REFERENCE, kind) for kind in OTHERS),
    ]


def transitions(data: Data) -> Rows:
    """How often each arrow of the diagram was taken in an hour, by a terminal of each type, in the reference case."""
    counts = {kind: _counts(data, REFERENCE, kind) for kind in (*OTHERS, USER)}
    hours = counts[USER].hours
    return [
        {
            "from": start,
            "to": end,
            **{f"{NAMES.get(kind, kind)} /h": of.transitions[start, end] / hours for kind, of in counts.items()},
        }
        for start, end in counts[USER].transitions
    ]


def terminals(data: Data) -> Rows:
    """Calls, bearers and handovers by type, in each case."""
    rows = []
    for case in data.labels("throughput", "case"):
        where = {"case": case, "offered": SATURATED}
        for kind in (*OTHERS, USER):
            found = data.rows_of("throughput", "dect_terminals", type=kind, **where)
            measured_s = math.fsum(row["measured_s"] for row in data.rows_of("throughput", "dect", **where))

            def of(part: str, whole: str, found: Rows = found) -> float | None:
                total = sum(row[whole] for row in found)
                return 100 * sum(row[part] for row in found) / total if total else None

            rows.append(
                {
                    "case": case,
                    "type": NAMES.get(kind, kind),
                    "mean bearers": with_interval(statistics.mean([row["mean_bearers"] for row in found])),
                    "calls /h": 3600 * sum(row["calls"] for row in found) / measured_s,
                    # The terminal's call begins anew each time, and ends in no other way.
                    "blocked (%)": of("blocked", "calls") if kind != USER else None,
                    "dropped (%)": of("dropped", "calls") if kind != USER else None,
                    "attempts that met a channel in use (%)": of("attempts_occupied", "attempts"),
                    "attempts that collided (%)": of("attempts_collided", "attempts"),
                    "bearer handovers failed (%)": of("bearer_handovers_failed", "bearer_handovers"),
                    "connection handovers with loss (%)": of(
                        "connection_handovers_with_loss", "connection_handovers"
                    ),
                }
            )
        occupied = data.estimate("throughput", "occupied_channels", **where)
        rows.append({"case": case, "type": "all, channels of 360", "mean bearers": with_interval(occupied)})
    return once(rows)


def procedures(data: Data) -> Rows:
    """Attempts for a bearer in each procedure: of the terminal in each case, of the others in the reference case."""
    rows: Rows = []
    for case, kind in _terminals(data):
        by_procedure: dict[str, Rows] = {}
        for row in data.rows_of("throughput", "dect_procedures", case=case, offered=SATURATED, type=kind):
            by_procedure.setdefault(row["procedure"], []).append(row)
        for procedure, found in by_procedure.items():
            tried = sum(row["bearers_tried"] for row in found)
            if not tried:
                continue
            again = statistics.share(
                [row["bearers_tried_again"] for row in found], [row["bearers_tried"] for row in found]
            )
            rows.append(
                {
                    "case": case,
                    "type": NAMES.get(kind, kind),
                    "procedure": procedure,
                    "bearers tried": tried,
                    "more than one attempt (%)": with_interval(again.scaled(100)),
                    "attempts a bearer": sum(row["attempts"] for row in found) / tried,
                    "obtained (%)": 100 * sum(row["bearers_obtained"] for row in found) / tried,
                    "lost": sum(row["bearers_lost"] for row in found),
                }
            )
    return once(rows)


def occupancy(result: Result) -> Figure:
    """Channels, bearers, queues and handovers of one run."""
    (recording,) = channel_map.recordings(result, Part(start_s=SHOWN_S[0], end_s=SHOWN_S[1]))
    return channel_map.draw(recording)
