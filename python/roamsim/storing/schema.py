"""What tables of results may hold: a folder may come from a stranger, and its digests say only that it is whole.

Everything that is read from a folder, of a run, a sweep, a shard or a study, passes here once. Nothing behind it has
to expect other columns, types or values. What a column is called, whether it is a number, and whether it is a share,
stands in `tables/metrics.toml`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars

from roamsim.storing.manifests import Damaged
from roamsim.tables import metrics
from roamsim.tables.result import RUN_COLUMNS

#: Larger numbers no simulator counts or measures (chosen: beyond 64 bits, and sums, squares and axes stay finite).
MOST = 1e24

#: What rounding may take a share beyond its bounds (chosen).
ROUNDING = 1e-6

#: Numbers that are never missing in what traces record: when something happened, and what was sampled then.
ALWAYS_THERE = ("time_s", "value")

#: What columns are made of.
_NUMBERS = (polars.Float64, polars.Int64, polars.UInt64, polars.Boolean)

#: Columns that say which run a row is of.
RUN_TYPES = dict(zip(RUN_COLUMNS, (polars.String, polars.Int64, polars.Int64, polars.UInt64), strict=True))


def require_sound(frame: polars.DataFrame, name: str, place: Path) -> polars.DataFrame:
    """A frame, when each of its columns has a type and values that a table of its name may have.

    Columns that no table has, as studies measure them and sweeps vary them, are texts or finite numbers.

    Args:
        frame: the table, or some of its columns.
        name: of the table.
        place: the file or folder that it was read from.

    Raises:
        Damaged: a column has another type, or a value out of its range; the text names it.
    """
    known = _columns(name)
    tests = []
    for column, dtype in frame.schema.items():
        metric = known.get(column)
        if not _is_of(dtype, metric, empty=not frame.height):
            raise Damaged(f"{place} is damaged: {name} has no column {column!r} of its type")
        values = polars.col(column)
        if dtype == polars.Float64:
            sound = values.is_finite() & (values.abs() <= MOST)
            if metric is not None and metric.share:
                sound &= values.is_between(-ROUNDING, 1 + ROUNDING)
            if metric is not None and column in ALWAYS_THERE and name in metrics.traced_tables():
                sound &= values.is_not_null()
            tests.append(sound.all().alias(column))
        elif metric is not None:
            # A missing number is a float; texts and counts are always there.
            tests.append(values.is_not_null().all().alias(column))
    for column, holds in frame.select(tests).row(0, named=True).items() if tests and frame.height else ():
        if not holds:
            raise Damaged(f"{place} is damaged: {name}.{column} has a value that it cannot have")
    return frame


def require_columns(frame: polars.DataFrame, name: str, place: Path) -> None:
    """Refuses a table that lacks one of the columns of its name.

    Raises:
        Damaged: it does.
    """
    for column in (*RUN_COLUMNS, *(_columns(name) if name != "run" else ())):
        if column not in frame.schema:
            raise Damaged(f"{place} is damaged: {name} has no column {column!r} of its type")


@lru_cache
def _columns(name: str) -> dict[str, metrics.Metric]:
    """The columns of a table, but for those that say which run a row is of."""
    return {metric.column: metric for metric in metrics.metrics() if metric.table == name}


def _is_of(dtype: polars.DataType, metric: metrics.Metric | None, *, empty: bool) -> bool:
    # Of a column without any value studies do not know the type.
    if metric is None or empty:
        return dtype in (polars.String, polars.Null, *_NUMBERS)
    return dtype == polars.String if metric.unit is None else dtype in _NUMBERS
