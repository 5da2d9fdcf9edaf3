"""One number for each run: the metric of a sensitivity or a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars

from roamsim.errors import UsageError
from roamsim.tables.metrics import Target, tables_without_zeros
from roamsim.tables.result import KEYS, MEANS, keys_within

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Names that a note lists (chosen: a line).
MOST_NAMES = 5


def require_mean(target: Target) -> None:
    """Refuses a metric of which a run has many values that make no mean.

    Raises:
        UsageError: it is one.
    """
    if target.table not in KEYS:
        raise UsageError(f"{target.name} has many values a run; metrics are in the tables {', '.join(KEYS)}")


def several_rows(target: Target, table: polars.DataFrame) -> str:
    """What a metric without a name is the mean or the sum of, in words; empty where there is one name."""
    if target.row is not None or target.fairness or "name" not in table.columns:
        return ""
    names = table.filter(polars.col(target.column).is_not_null())["name"].unique(maintain_order=True).to_list()
    if len(names) < 2:
        return ""
    what = "sum" if target.table in tables_without_zeros() else "mean"
    told = ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} rows"
    one = f"{target.table}.{names[0]}.{target.column}"
    return f"{target.name} is the {what} over {told}; a single one is named as in {one}."


def values_of_runs(
    target: Target, table: polars.DataFrame, points: Sequence[int], replications: int
) -> npt.NDArray[np.float64]:
    """The metric's value of each run: a row for each point, a column for each replication, NaN where it has none.

    It is the mean over the rows of a run that it is about: a flow's directions, or all flows where none is named. A
    row that has a value in other runs and none in this one leaves the run without a value, or else a metric would be
    good where half of what it measures fails. Of tables with a row an event it is the mean over the events; of tables
    without zeros, such as `drops`, the sum.
    """
    import numpy as np

    column = target.column
    rows = target.rows(table).filter(
        polars.col("point").is_in(list(points)) & (polars.col("replication") < replications)
    )
    counts = target.table in tables_without_zeros()
    number = polars.col(column).cast(polars.Float64)
    if counts:
        value = number.sum()
    elif target.table in MEANS:
        value = number.mean()
    else:
        keys = list(keys_within(target.table))
        rows = rows.filter(number.is_not_null().any().over(keys))
        value = polars.when(number.null_count() == 0).then(number.mean())
    found = rows.group_by("point", "replication").agg(value.alias("value"))
    matrix = np.full((len(points), replications), 0.0 if counts else np.nan)
    places = {point: place for place, point in enumerate(points)}
    for point, replication, number_of_run in found.select("point", "replication", "value").iter_rows():
        matrix[places[point], replication] = np.nan if number_of_run is None else number_of_run
    return matrix
