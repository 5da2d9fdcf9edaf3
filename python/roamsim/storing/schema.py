"""Checks of result tables. A folder may come from a stranger, and its digests only show that it is complete.

Everything that is read from a folder, of a run, a sweep, a shard or a study, passes here once. Nothing behind it has
to expect other columns, types or values. What a column is called, whether it is a number, and whether it is a share,
stands in `tables/metrics.toml`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
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

#: Longer times no run has: an instant is a number of nanoseconds of 64 bits, which frames hold with a sign.
MOST_S = 2**63 / 1e9

#: Numbers that are never missing in what happens over time: when it happened, and what was sampled then.
ALWAYS_THERE = ("time_s", "begin_s", "end_s", "value")

#: Tables of the same kind that are there without being asked for.
OVER_TIME = ("series", "signals")

#: Units of what may be less than nothing: differences of times, levels, places, and what has no unit.
SIGNED = ("s", "dBm", "m", "")

#: What columns are made of. Studies also measure whether something is so.
_NUMBERS = ("Float64", "Int64", "UInt64")
_MEASURED = ("String", "Null", "Boolean", *_NUMBERS)

#: Columns that say which run a row is of, and their types.
RUN_TYPES = dict(zip(RUN_COLUMNS, ("String", "Int64", "Int64", "UInt64"), strict=True))


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
    over_time = name in OVER_TIME or name in metrics.traced_tables()
    tests = []
    for column, dtype in frame.schema.items():
        metric = known.get(column)
        if not _is_of(dtype, metric, empty=not frame.height):
            raise Damaged(f"{place} is damaged: {name} has no column {column!r} of its type")
        tests += [test.all().alias(column) for test in [_sound(column, dtype, metric, over_time)] if test is not None]
    for column, holds in frame.select(tests).row(0, named=True).items() if tests and frame.height else ():
        if not holds:
            raise Damaged(f"{place} is damaged: {name}.{column} has a value that it cannot have")
    for metric in known.values():
        counts = metric.counts
        if counts and set(counts) <= frame.schema.keys() and not _within(frame, *counts):
            raise Damaged(f"{place} is damaged: {name}.{counts[0]} is larger than {counts[1]}")
    return frame


def _sound(column: str, dtype: polars.DataType, metric: metrics.Metric | None, over_time: bool) -> polars.Expr | None:
    """Whether each value of a column is one that it may have; `None` where any may be."""
    values = polars.col(column)
    if metric is None:
        return values.is_finite() & (values.abs() <= MOST) if dtype == polars.Float64 else None
    if metric.unit is None:
        return values.is_not_null()
    sound = values <= (MOST_S if metric.unit == "s" else MOST)
    instant = over_time and column in ALWAYS_THERE
    if metric.unit not in SIGNED or (instant and metric.unit == "s"):
        sound &= values >= 0
    if dtype != polars.Float64:
        # A missing number is a float; counts are always there.
        return sound & values.is_not_null()
    sound &= values.is_finite() & (values >= (-MOST_S if metric.unit == "s" else -MOST))
    if metric.share:
        sound &= values.is_between(-ROUNDING, 1 + ROUNDING)
    return sound & values.is_not_null() if instant else sound


def _within(frame: polars.DataFrame, part: str, whole: str) -> bool:
    """Whether no row counts more in a part than in the whole."""
    return bool(frame.select((polars.col(part) <= polars.col(whole)).all()).item())


def lacks(columns: Container[str], name: str) -> str | None:
    """The first column of a table of that name that is not among these; `None` where all are there."""
    return next((column for column in (_columns(name) if name != "run" else ()) if column not in columns), None)


def require_columns(columns: Container[str], name: str, place: Path, also: Iterable[str] = ()) -> None:
    """Refuses a table that lacks one of the columns of its name, or one of those that it must have as well.

    Raises:
        Damaged: it does.
    """
    missing = next((column for column in also if column not in columns), None) or lacks(columns, name)
    if missing is not None:
        raise Damaged(f"{place} is damaged: {name} has no column {missing!r} of its type")


@lru_cache
def _columns(name: str) -> dict[str, metrics.Metric]:
    """The columns of a table, but for those that say which run a row is of."""
    return {metric.column: metric for metric in metrics.metrics() if metric.table == name}


def _is_of(dtype: polars.DataType, metric: metrics.Metric | None, *, empty: bool) -> bool:
    # Of a column without any value studies do not know the type.
    if metric is None or empty:
        return str(dtype) in _MEASURED
    return dtype == polars.String if metric.unit is None else str(dtype) in _NUMBERS
