"""What several of this study's tables need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roamsim.study.data import Data, Metric
from roamsim.study.judging import with_interval

Rows = list[dict[str, Any]]


def shown(data: Data, experiment: str, metric: Metric, where: Mapping[str, Any]) -> str:
    """The mean of a metric over replications, with its 95 % interval."""
    return with_interval(data.estimate(experiment, metric, **where))


def once(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Rows that are alike in all but their `case` become one, which names all their cases."""
    cases: dict[tuple[Any, ...], list[str]] = {}
    found: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in rows:
        rest = tuple(value for name, value in row.items() if name != "case")
        cases.setdefault(rest, []).append(row["case"])
        found.setdefault(rest, row)
    return [{**row, "case": ", ".join(cases[rest])} for rest, row in found.items()]
