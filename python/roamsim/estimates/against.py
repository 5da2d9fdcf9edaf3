"""One metric against another: the means of both at each point, with intervals both ways."""

from __future__ import annotations

from dataclasses import dataclass

import polars

from roamsim.errors import UsageError
from roamsim.estimates.curves import Curves, curves
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target


@dataclass(frozen=True)
class Against:
    """Points to draw.

    Attributes:
        x: the metric along x.
        y: the metric along y.
        frame: columns `series`, `at` (the value of what was varied), and of both in the units of their titles `x`,
            `x_low`, `x_high`, `y`, `y_low`, `y_high`.
    """

    x: Curves
    y: Curves
    frame: polars.DataFrame


def against(results: Results, what: Target, other: Target) -> Against:
    """A metric along y against another along x.

    Raises:
        UsageError: the results lack one of them, or rows of one do not belong to rows of the other.
    """
    y, x = curves(results, what), curves(results, other)
    keys = ["x", "row", "group"]
    if len(x.rows) == 1 or len(y.rows) == 1:
        keys = ["x", "group"] if x.x_words or y.x_words else []
    elif set(x.rows) != set(y.rows):
        raise UsageError(
            f"the rows of {what.table} are not those of {other.table}; choose one, as in TABLE.NAME.COLUMN "
            f"({', '.join(map(repr, y.rows))}; {', '.join(map(repr, x.rows))})"
        )
    sides = [
        one.shown().select(*keys, "series", *(polars.col(end).alias(f"{name}{ending}") for end, ending in ENDS))
        for name, one in (("a", y), ("b", x))
    ]
    joined = (
        sides[0].join(sides[1], on=keys, how="inner", maintain_order="left", suffix="_other")
        if keys
        else sides[0].join(sides[1], how="cross", suffix="_other")
    )
    if not joined.height:
        raise UsageError(f"no point of the results has both {what.name} and {other.name}")
    # What tells rows apart is in the series of the one that has several.
    series = "series_other" if len(x.rows) > len(y.rows) else "series"
    return Against(
        x,
        y,
        joined.select(
            series=polars.col(series),
            at=polars.col("x") if "x" in keys else polars.lit(""),
            **{f"y{ending}": polars.col(f"a{ending}") for _, ending in ENDS},
            **{f"x{ending}": polars.col(f"b{ending}") for _, ending in ENDS},
        ),
    )


#: The columns of curves, and what they end in here.
ENDS = (("mean", ""), ("low", "_low"), ("high", "_high"))
