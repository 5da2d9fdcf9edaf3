"""Conditions that select rows of results: `PATH=VALUE` of a varied path, or `COLUMN=VALUE` of a table."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from roamsim.errors import UsageError, there_are
from roamsim.storing.store import Results


def chosen(results: Results, conditions: Sequence[str]) -> Results:
    """The results with the rows alone that all conditions hold of.

    Tables without the column stay whole, and so do those with no such row: `from=router` may be about links, and
    flows come from elsewhere.

    Raises:
        UsageError: a condition is malformed, or no row is as it says.
    """
    if not conditions:
        return results
    tables = dict(results.tables)
    for condition in conditions:
        column, equals, value = condition.partition("=")
        column, value = column.strip(), value.strip()
        if not equals or not column or not value:
            raise UsageError(
                f"--where takes COLUMN=VALUE, as in name=download or link.path.delay=10ms; not {condition!r}"
            )
        having = {name: frame for name, frame in tables.items() if column in frame.columns}
        if not having:
            names = dict.fromkeys([*results.varied, *(name for frame in tables.values() for name in frame.columns)])
            raise UsageError(f"no table has a column {column!r}; {there_are(column, names)}")
        kept = {name: frame.filter(_is(frame[column], value)) for name, frame in having.items()}
        kept = {name: frame for name, frame in kept.items() if frame.height}
        if not kept:
            there = sorted(
                {str(one) for frame in having.values() for one in frame[column].unique() if one is not None}
            )
            raise UsageError(f"no row has {value!r} in {column}; {there_are(value, there)}")
        tables |= kept
    return Results(results.path, results.manifest, tables, results.made)


def _is(values: polars.Series, wanted: str) -> polars.Series:
    """Where values are what was asked for, numbers by their size."""
    if values.dtype.is_numeric():
        try:
            return values == float(wanted)
        except ValueError:
            return polars.Series([False] * len(values), dtype=polars.Boolean)
    if values.dtype == polars.Boolean:
        return values == (wanted.lower() == "true")
    return values.cast(polars.String) == wanted
