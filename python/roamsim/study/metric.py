"""Metrics of rows of results: columns, expressions of columns, shares of counts, functions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars

from roamsim import statistics
from roamsim.errors import UsageError
from roamsim.statistics import Estimate
from roamsim.tables.metrics import metrics as all_metrics

Row = Mapping[str, Any]
"""One row of a result table together with the labels of its point."""


@dataclass(frozen=True)
class Share:
    """A share of counted trials, as a metric: two columns, or two expressions of columns.

    Its intervals are Wilson's (`statistics.share`).
    """

    of: str
    trials: str


Metric = str | Share | Callable[[Row], float | None]
"""A column of the result table, an expression of columns in SQL (`60 * timeouts / measured_s`), a share of counts, or
a function of a row."""


def estimate_of(rows: Sequence[Row], metric: Metric) -> Estimate:
    """What replications say of a metric: their mean; of a share of counted trials, the share of all of them."""
    share = metric if isinstance(metric, Share) else share_of(metric) if isinstance(metric, str) else None
    if share is None or not (
        isinstance(metric, Share) or all({share.of, share.trials} <= row.keys() for row in rows)
    ):
        return statistics.mean(values_of(rows, metric))
    counts = zip(values_of(rows, share.of), values_of(rows, share.trials), strict=True)
    known = [(int(of), int(trials)) for of, trials in counts if not (math.isnan(of) or math.isnan(trials))]
    return statistics.share([of for of, _ in known], [trials for _, trials in known])


@lru_cache
def share_of(column: str) -> Share | None:
    """The counts that a column of the result tables is the ratio of, where it is a share of such."""
    for metric in all_metrics():
        counts = re.fullmatch(r"(\w+) / (\w+)", metric.formula)
        if metric.column == column and metric.share and counts:
            return Share(counts[1], counts[2])
    return None


@lru_cache
def is_share(column: str) -> bool:
    """Whether a column is a share of a whole by its name: of the result tables, or behind what it is a share of."""
    shares = {metric.column for metric in all_metrics() if metric.share}
    return column in shares or any(column.endswith(f"_{name}") for name in shares)


def value_of(row: Row, metric: Metric) -> float:
    """A metric of a row; NaN where the run has no value."""
    return values_of([row], metric)[0]


def values_of(rows: Sequence[Row], metric: Metric) -> list[float]:
    """A metric of each row; NaN where the run has no value.

    Raises:
        UsageError: the metric is no column of the rows, and no expression of such.
    """
    found: Iterable[Any]
    if isinstance(metric, Share):
        parts = zip(values_of(rows, metric.of), values_of(rows, metric.trials), strict=True)
        found = [of / trials if trials else None for of, trials in parts]
    elif not isinstance(metric, str):
        found = [metric(row) for row in rows]
    elif not rows or metric in rows[0]:
        found = [row.get(metric) for row in rows]
    else:
        found = _computed(rows, metric)
    return [math.nan if value is None else float(value) for value in found]


def _computed(rows: Sequence[Row], expression: str) -> list[Any]:
    """An expression of columns, for each row."""
    used = [name for name in rows[0] if name in expression] or list(rows[0])
    frame = polars.DataFrame([[row.get(name) for row in rows] for name in used], schema=used, strict=False)
    try:
        # As a column more, so that an expression of no column has a value in each row, too.
        return frame.with_columns(polars.sql_expr(expression).alias("the value")).get_column("the value").to_list()
    except polars.exceptions.PolarsError as error:
        why = str(error).partition(";")[0].partition("\n")[0]
        raise UsageError(
            f"{expression!r} is neither a column nor an expression of columns: {why}; there are {', '.join(rows[0])}"
        ) from None
