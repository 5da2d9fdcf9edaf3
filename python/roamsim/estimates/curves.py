"""Curves of a metric over the varied values, one for each series, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import polars

from roamsim.errors import UsageError, there_are
from roamsim.estimates import survivors
from roamsim.estimates.intervals import estimates_of
from roamsim.storing.store import Results, point_label
from roamsim.tables import caveats
from roamsim.tables.labels import in_words
from roamsim.tables.metrics import Metric, Target
from roamsim.tables.result import KEYS, keys_within
from roamsim.tables.words import (
    VARIED_UNITS,
    Scale,
    brief_words,
    key_unit,
    metric_words,
    path_words,
    scale,
    titled,
    value_words,
    varied_unit,
)


@dataclass(frozen=True)
class Curves:
    """Points to draw.

    Attributes:
        target: what is drawn.
        frame: columns `x`, `row`, `group`, `mean`, `low`, `high`, `samples`, `missing` (the share of messages that a
            mean over what arrived is without), all in the units of the tables. `x` is a number, or text where what
            was varied is no quantity, and the name of the row where nothing was varied; `row` is what of the table a
            point is of, in words; `group` is what else was varied, empty where nothing was.
        x_words: what was varied along x, in words; empty where x is the row.
        x_unit: its unit.
        over_numbers: whether `x` is a number.
        group_words: what else was varied, in words.
        notes: what a reader has to know of the means.
        uneven: the smallest and the largest share of messages that means are without, if they differ beyond chance.
    """

    target: Target
    frame: polars.DataFrame
    x_words: str
    x_unit: str
    over_numbers: bool
    group_words: str = ""
    notes: tuple[str, ...] = ()
    uneven: tuple[float, float] | None = None

    @property
    def metric(self) -> Metric:
        """What the column means."""
        return self.target.metric

    @cached_property
    def rows(self) -> list[str]:
        """The rows of the table, in words."""
        return self.frame["row"].unique(maintain_order=True).to_list()

    @cached_property
    def groups(self) -> list[str]:
        """The combinations of what else was varied, in words."""
        return self.frame["group"].unique(maintain_order=True).to_list()

    @property
    def in_panels(self) -> bool:
        """Whether a row has a panel of its own, since lines are told apart by what else was varied."""
        return len(self.rows) > 1 and len(self.groups) > 1

    @property
    def title(self) -> str:
        """What is drawn: `goodput of download`, or the metric alone where several rows are."""
        of = f" of {self.rows[0]}" if len(self.rows) == 1 and self.rows[0] else ""
        return f"{metric_words(self.metric)}{of}"

    @property
    def counts(self) -> bool:
        """Whether the values are counts, and large enough that an axis needs no parts of one."""
        unit, column = self.metric.unit, self.metric.column
        mean = column.startswith(("mean_", "median_")) or self.metric.index_of is not None or self.metric.share
        whole = unit not in NO_COUNTS and not mean and not self.metric.formula
        return whole and float(self.frame["mean"].max()) >= WHOLE  # type: ignore[arg-type]

    @cached_property
    def y_scale(self) -> Scale:
        """The unit that suits the means."""
        return scale(self.metric.unit, self.frame["mean"], share=self.metric.share)

    @cached_property
    def x_scale(self) -> Scale:
        """The unit that suits what was varied."""
        return scale(self.x_unit, self.frame["x"]) if self.over_numbers else Scale("")

    @property
    def y_title(self) -> str:
        """Title of the axis: what is drawn, and its unit."""
        return titled(metric_words(self.metric), self.y_scale.unit)

    @property
    def x_title(self) -> str:
        """Title of the axis: what was varied, and its unit."""
        return titled(self.x_words, self.x_scale.unit)

    def shown(self) -> polars.DataFrame:
        """The frame in the units of the titles, with `series` (what a colour stands for) and `panel`."""
        series = "group" if len(self.groups) > 1 else "row"
        return self.frame.with_columns(
            polars.col("mean", "low", "high") / self.y_scale.size,
            *([polars.col("x") / self.x_scale.size] if self.over_numbers else []),
            series=polars.col(series),
            panel=polars.col("row") if self.in_panels else polars.lit(""),
        )

    def logarithmic_x(self) -> bool:
        """Whether x asks for a logarithmic axis: positive, over a decade, and further apart the larger it is."""
        return self.over_numbers and _spread(self.frame["x"].unique().sort().to_list())

    def logarithmic_y(self) -> bool:
        """Whether the means ask for a logarithmic axis, which has a place for each of them and its interval."""
        if self.metric.share and self.frame["mean"].max() > 0.5:  # type: ignore[operator]
            return False
        ends = polars.concat([self.frame["mean"], self.frame["low"].drop_nulls()])
        lowest, highest = float(ends.min()), float(self.frame["mean"].max())  # type: ignore[arg-type]
        return lowest > 0 and highest >= ORDERS * float(self.frame["mean"].min())  # type: ignore[arg-type]


#: Units of what is measured, not counted.
NO_COUNTS = (None, "s", "B", "bit/s", "m", "dBm")

#: Largest mean of counts from which on ticks stand at whole numbers (chosen: below, an axis would have one tick).
WHOLE = 2.0

#: Largest beside smallest mean from which on an axis is logarithmic (chosen: on a linear one the small ones would be
#: in the lowest fiftieth).
ORDERS = 50


def _spread(values: list[float]) -> bool:
    if len(values) < 3 or values[0] <= 0 or values[-1] < 10 * values[0]:
        return False
    steps = [after - before for before, after in pairwise(values)]
    return steps[-1] > 2 * steps[0]


def curves(results: Results, target: Target) -> Curves:
    """Means over replications with 95 % intervals, ready to be drawn.

    The varied path that is a number and has the most values is the x axis, the first one of several; further varied
    paths are groups.

    Args:
        results: of a run, a sweep or a comparison.
        target: the metric, of every row of its table or of the one with a name.

    Raises:
        UsageError: there is no such metric, or the results have no value of it.
    """
    table, column, metric = target.table, target.column, target.metric
    if table not in KEYS:
        raise UsageError(
            f"{metric.name} has many values a run and no mean. Draw a column of {', '.join(KEYS)}, or a trace by its "
            "name, as in --what cwnd"
        )
    if table not in results or column not in results.schema(table):
        raise UsageError(f"the results have no {metric.name}")
    if target.row is not None and "name" not in results.schema(table):
        raise UsageError(f"the rows of {table} have no names; give {metric.name}")
    found = estimates_of(results, target)
    if not found.height and target.row is not None:
        names = results.columns(table, ["name"])["name"].unique(maintain_order=True).to_list()
        raise UsageError(f"{table} has no row {target.row!r}; {there_are(target.row, names, quoted=True)}")
    shares = [0.0] * found.height
    if metric.over:
        keys = [key for key in results.keys_of(table) if key in results.schema(table)]
        shares = caveats.shares(results, table, metric, keys, target.row)
    found = found.with_columns(polars.Series("missing", shares, polars.Float64))
    found = found.filter(polars.col("mean").is_not_null())
    if not found.height:
        raise UsageError(f"the results have no value of {metric.name}")
    varied = [path for path in results.varied if found[path].n_unique() > 1]
    # A scheme or an end may be what is varied; then it is told already.
    found = found.with_columns(in_words(found, keys_within(table)).alias("row"))
    notes = _notes(results, table, found)
    chosen = _axis(found, varied)
    if chosen is None:
        frame = found.with_columns(x=polars.col("row"), group=polars.lit(""))
        return Curves(target, _columns(frame), "", "", False, notes=notes)
    path, axis = chosen
    others = [other for other in varied if other != path]
    frame = found.with_columns(
        x=polars.col(axis) if found.schema[axis].is_numeric() else _words(found[axis]),
        group=_group(found, others, varied),
    )
    over_numbers = frame.schema["x"].is_numeric()
    if over_numbers:
        frame = frame.sort("x", maintain_order=True)
    scenario = results.manifest.canonical
    return Curves(
        target,
        _columns(frame),
        path_words(path, scenario),
        varied_unit(path, axis),
        over_numbers,
        " and ".join(titled(path_words(other, scenario), key_unit(other)) for other in others),
        notes,
        survivors.of_points(results, target, varied=results.varied),
    )


def _group(found: polars.DataFrame, others: list[str], varied: list[str]) -> polars.Series:
    """What else was varied at each row: values, and where several paths were, with what tells them apart."""
    columns = [
        _words(found[path])
        if len(others) == 1 or not found.schema[path].is_numeric()
        else (f"{brief_words(path, varied)} " + _words(found[path]))
        for path in others
    ]
    if not columns:
        return polars.Series("group", [""] * found.height, polars.String)
    return polars.DataFrame(columns).select(polars.concat_str(polars.all(), separator=", ")).to_series()


def _words(values: polars.Series) -> polars.Series:
    return polars.Series(values.name, [value_words(value) for value in values], polars.String)


def delays(results: Results) -> polars.DataFrame:
    """How transaction delays are distributed: `name`, `delay_s` in ascending order, and `share`.

    The share is of all transactions, in all replications: it ends at the share that succeeded. Of a sweep,
    `name` also names the point.

    Raises:
        UsageError: no transactions were recorded, or none succeeded.
    """
    recorded = results.tables.get("transactions")
    if recorded is None or not recorded.height:
        raise UsageError("no transactions were recorded; run again with --trace transactions --parquet DIR")
    if recorded["point"].n_unique() > 1:
        labels = {point: point_label(results.manifest, point) for point in recorded["point"].unique()}
        named = polars.col("point").replace_strict(labels, return_dtype=polars.String)
        recorded = recorded.with_columns(name=polars.concat_str("name", named, separator=", "))
    found = (
        recorded.with_columns(polars.len().over("name").alias("all"))
        .filter(polars.col("delay_s").is_not_null())
        .sort("delay_s", maintain_order=True)
        .with_columns((polars.int_range(1, polars.len() + 1).over("name") / polars.col("all")).alias("share"))
    )
    if not found.height:
        raise UsageError("no transaction succeeded; there is no delay to draw")
    return found.select("name", "delay_s", "share")


def _axis(found: polars.DataFrame, varied: list[str]) -> tuple[str, str] | None:
    """The path that makes the x axis, and the column that holds it as a number if there is one."""
    numbers = [
        (path, column)
        for path in varied
        for column in found.columns
        if (column == path or column in (f"{path}_{unit}" for unit in VARIED_UNITS))
        and found.schema[column].is_numeric()
    ]
    if numbers:
        return max(numbers, key=lambda chosen: found[chosen[1]].n_unique())
    return (varied[0], varied[0]) if varied else None


def _columns(frame: polars.DataFrame) -> polars.DataFrame:
    return frame.select("x", "row", "group", "mean", "low", "high", "samples", "missing")


def _notes(results: Results, table: str, found: polars.DataFrame) -> tuple[str, ...]:
    censored = found.filter(polars.col("missing") > 0)["missing"].to_list()
    notes = [results.alike_in_words]
    if censored:
        low, high = (caveats.percent(end) for end in (min(censored), max(censored)))
        share = low if low == high else f"{low} to {high}"
        notes.append(f"Hollow points: means of the messages that arrived; {share} of them did not.")
    notes.append(results.failures.get(table, ""))
    return tuple(filter(None, notes))
