"""Link events at each node: all of them if traced, else those that every run keeps."""

from __future__ import annotations

from collections.abc import Mapping

import polars

#: The tables, the fuller one first.
TRACED, KEPT = "link_events", "signals"

#: Nodes that the other one has, the first that move (`Series::MOST` of the engine).
MOST_KEPT = 100


def table(tables: Mapping[str, polars.DataFrame]) -> str | None:
    """The name of the table that says most; `None` where no link told anything."""
    return next((name for name in (TRACED, KEPT) if name in tables and tables[name].height), None)


def said_of(name: str, nodes: int) -> str:
    """What a reader has to know of rows of `signals`, of so many nodes; of `link_events`, nothing."""
    if name == TRACED:
        return ""
    first = f", for the first {MOST_KEPT} moving nodes only" if nodes >= MOST_KEPT else ""
    return f"Signals: the last report of each 200th of the run{first}. `--trace {TRACED}` records all."
