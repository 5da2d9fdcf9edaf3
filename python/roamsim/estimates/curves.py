"""A metric of a folder of results as curves: over what was varied, one for each series, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import polars

from roamsim.errors import UsageError
from roamsim.storing.store import Results, point_label, short
from roamsim.tables import caveats
from roamsim.tables.labels import in_words
from roamsim.tables.metrics import Metric, Target
from roamsim.tables.result import KEYS, keys_within


@dataclass(frozen=True)
class Curves:
    """Points to draw.

    Attributes:
        metric: what is drawn.
        frame: columns `x`, `series`, `mean`, `low`, `high`, `samples`, `missing` (the share of messages that a mean
            over what arrived is without); `x` is a number, or text where what was
            varied is no quantity, and the name of the row where nothing was varied.
        x_title: title of the axis.
        over_numbers: whether `x` is a number.
        notes: what a reader has to know of the means.
    """

    metric: Metric
    frame: polars.DataFrame
    x_title: str
    over_numbers: bool
    notes: tuple[str, ...] = ()

    @property
    def y_title(self) -> str:
        """Title of the axis: what is drawn, and its unit."""
        return titled(self.metric.column, self.metric.unit or "")


def curves(results: Results, target: Target) -> Curves:
    """Means over replications with 95 % intervals, ready to be drawn.

    The first varied path that is a number is the x axis; further varied paths and the row's name make the series.

    Args:
        results: of a run, a sweep or a comparison.
        target: the metric, of every row of its table or of the one with a name.

    Raises:
        UsageError: there is no such metric, or the results have no value of it.
    """
    table, column, metric = target.table, target.column, target.metric
    if table not in KEYS:
        raise UsageError(
            f"{metric.name} has many values a run, which make no mean; what can be drawn is in the tables "
            f"{', '.join(KEYS)}; what a trace recorded is drawn by its name, as in --what cwnd"
        )
    if table not in results or column not in results.schema(table):
        raise UsageError(f"the results have no {metric.name}")
    if target.row is not None and "name" not in results.schema(table):
        raise UsageError(f"the rows of {table} have no names; give {metric.name}")
    estimates = target.rows(results.estimate(table, column))
    if not estimates.height:
        names = ", ".join(map(repr, results.columns(table, ["name"])["name"].unique(maintain_order=True)))
        raise UsageError(f"{table} has no row {target.row!r}; there are {names}")
    shares = [0.0] * estimates.height
    if metric.over:
        keys = [key for key in results.keys_of(table) if key in results.schema(table)]
        shares = caveats.shares(results, table, metric, keys, target.row)
    estimates = estimates.with_columns(polars.Series("missing", shares, polars.Float64))
    estimates = estimates.filter(polars.col("mean").is_not_null())
    if not estimates.height:
        raise UsageError(f"the results have no value of {metric.name}")
    varied = [path for path in results.varied if estimates[path].n_unique() > 1]
    estimates = estimates.with_columns(in_words(estimates, keys_within(table)).alias("row"))
    identity = polars.col("row")
    chosen = _axis(estimates, varied)
    if chosen is None:
        frame = estimates.with_columns(x=identity, series=polars.lit(metric.column))
        return Curves(metric, _columns(frame), table, False, _notes(results, table, estimates))
    path, axis = chosen
    labels = [
        polars.concat_str(polars.lit(f"{short(other, varied)}="), polars.col(other).cast(polars.String))
        for other in varied
        if other != path
    ]
    several = estimates.select(identity.n_unique()).item() > 1
    parts = ([identity] if several or not labels else []) + labels
    frame = estimates.with_columns(x=polars.col(axis), series=polars.concat_str(parts, separator=", "))
    over_numbers = frame.schema["x"].is_numeric()
    if over_numbers:
        frame = frame.sort("x", maintain_order=True)
    return Curves(metric, _columns(frame), axis, over_numbers, _notes(results, table, estimates))


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


def titled(name: str, unit: str) -> str:
    """Title of an axis: what is drawn, and its unit unless the name says it."""
    return f"{name} [{unit}]" if unit and unit != name else name


def _axis(estimates: polars.DataFrame, varied: list[str]) -> tuple[str, str] | None:
    """The path that makes the x axis, and the column that holds it as a number if there is one."""
    for path in varied:
        columns = [c for c in estimates.columns if c == path or c in (f"{path}_s", f"{path}_bps", f"{path}_bytes")]
        for column in columns:
            if estimates.schema[column].is_numeric():
                return path, column
    return (varied[0], varied[0]) if varied else None


def _columns(frame: polars.DataFrame) -> polars.DataFrame:
    return frame.select("x", "series", "mean", "low", "high", "samples", "missing")


def _notes(results: Results, table: str, estimates: polars.DataFrame) -> tuple[str, ...]:
    censored = estimates.filter(polars.col("missing") > 0)["missing"].to_list()
    notes = [results.alike_in_words]
    if censored:
        low, high = (caveats.percent(end) for end in (min(censored), max(censored)))
        share = low if low == high else f"{low} to {high}"
        notes.append(f"Hollow points: means of the messages that arrived; {share} of them did not.")
    notes.append(results.failures.get(table, ""))
    return tuple(filter(None, notes))
