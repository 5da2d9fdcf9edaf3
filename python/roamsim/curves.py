"""A metric of a folder of results as curves: over what was varied, one for each series, with intervals."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

import polars

from roamsim.errors import UsageError
from roamsim.metrics import Metric, numeric
from roamsim.store import Results

#: The series that a kind of trace records.
SERIES = {
    "cwnd": ("cwnd", "ssthresh"),
    "rtt": ("srtt", "rto"),
    "queue": ("queue",),
    "throughput": ("delivered",),
    "segments": ("sent", "acknowledged", "retransmitted"),
}

#: Kinds whose samples are points, with nothing in between that a line could mean.
POINTS = ("segments",)

#: What a reader of a figure of a kind has to know.
NOTES = {
    "throughput": "Bytes count when they are in order: a repaired loss delivers many at once, above the link's rate."
}

#: Values from here on stand for "not set".
UNSET = 2.0**63


@dataclass(frozen=True)
class Curves:
    """Points to draw.

    Attributes:
        metric: what is drawn.
        frame: columns `x`, `series`, `mean`, `low`, `high`, `samples`; `x` is a number, or text where what was
            varied is no quantity, and the name of the row where nothing was varied.
        x_title: title of the axis.
        over_numbers: whether `x` is a number.
    """

    metric: Metric
    frame: polars.DataFrame
    x_title: str
    over_numbers: bool

    @property
    def y_title(self) -> str:
        """Title of the axis: what is drawn, and its unit."""
        return titled(self.metric.column, self.metric.unit or "")


def curves(results: Results, table: str, column: str) -> Curves:
    """Means over replications with 95 % intervals, ready to be drawn.

    The first varied path that is a number is the x axis; further varied paths and the row's name make the series.

    Raises:
        UsageError: there is no such metric, or the results have no value of it.
    """
    metric = numeric(table, column)
    if table not in results or column not in results[table].columns:
        raise UsageError(f"the results have no {metric.name}")
    estimates = results.estimate(table, column).filter(polars.col("mean").is_not_null())
    if not estimates.height:
        raise UsageError(f"the results have no value of {metric.name}")
    varied = [path for path in results.varied if estimates[path].n_unique() > 1]
    own = [c for c in results.keys_of(table) if c in ("name", "from", "to", "place", "reason")]
    identity = polars.concat_str(own, separator=" ") if own else polars.lit(table)
    chosen = _axis(estimates, varied)
    if chosen is None:
        frame = estimates.with_columns(x=identity, series=polars.lit(metric.column))
        return Curves(metric, _columns(frame), table, False)
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
    return Curves(metric, _columns(frame), axis, over_numbers)


def time_series(results: Results, what: str) -> polars.DataFrame:
    """Samples of one kind, of the first replication of the first point: `time_s`, `series`, `value`, `unit`.

    Args:
        results: of a run with `--trace`.
        what: a kind of trace (`cwnd`, `rtt`, `queue`, `throughput`, `segments`), or of series (`srtt`, `rto`, ...).

    Raises:
        UsageError: nothing of the kind was recorded.
    """
    if what == "packets":
        raise UsageError(
            f"packets are a table, not a figure; ask it: roamsim query {shlex.quote(os.fspath(results.path))} "
            "'select * from packets'"
        )
    samples = results.tables.get("samples")
    if samples is None or not samples.height:
        raise UsageError(f"no time series were recorded; run again with --trace {what} --parquet DIR")
    kind = polars.col("series").str.split("/").list.last()
    found = samples.filter(
        kind.is_in(SERIES.get(what, (what,))) & (polars.col("replication") == 0) & (polars.col("point") == 0)
    )
    if not found.height:
        there = sorted(samples.select(kind.unique())["series"])
        raise UsageError(f"nothing called {what!r} was recorded; the samples are of {', '.join(there)}")
    # A threshold that was never set is recorded as the largest number there is.
    found = found.filter(polars.col("value") < UNSET).select("time_s", "series", "value", "unit")
    # The end of a connection that sends no data has a window too; it never moves and would only add lines.
    moving = polars.col("value").n_unique().over("series") > 2
    if found.select(moving.any()).item():
        found = found.filter(moving)
    return _rates(found) if what == "throughput" else found


def _rates(delivered: polars.DataFrame) -> polars.DataFrame:
    """Bytes delivered so far as bit/s, over a hundred equal parts of the time."""
    width = (delivered["time_s"].max() or 0.0) / 100 or 1.0  # type: ignore[operator]
    slot = (polars.col("time_s") / width).ceil().clip(lower_bound=1)
    ends = delivered.group_by("series", slot.alias("slot"), maintain_order=True).agg(polars.col("value").last())
    slots = polars.DataFrame({"slot": [float(n) for n in range(101)]})
    grid = ends.select(polars.col("series").unique(maintain_order=True)).join(slots, how="cross")
    filled = grid.join(ends, on=["series", "slot"], how="left", maintain_order="left").with_columns(
        polars.col("value").forward_fill().fill_null(0.0).over("series")
    )
    return filled.select(
        ((polars.col("slot") - 1) * width).alias("time_s"),  # a value holds from here to the next
        "series",
        (8 * polars.col("value").diff().over("series") / width).alias("value"),
        polars.lit("bit/s").alias("unit"),
    ).filter(polars.col("value").is_not_null())


def delays(results: Results) -> polars.DataFrame:
    """How transaction delays are distributed: `signalling`, `delay_s` in ascending order, and `share`.

    The share is of all transactions, in all replications: it ends at the share that succeeded.

    Raises:
        UsageError: no transactions were recorded, or none succeeded.
    """
    recorded = results.tables.get("transactions")
    if recorded is None or not recorded.height:
        raise UsageError("no transactions were recorded; run again with --trace transactions --parquet DIR")
    found = (
        recorded.with_columns(polars.len().over("signalling").alias("all"))
        .filter(polars.col("delay_s").is_not_null())
        .sort("delay_s", maintain_order=True)
        .with_columns((polars.int_range(1, polars.len() + 1).over("signalling") / polars.col("all")).alias("share"))
    )
    if not found.height:
        raise UsageError("no transaction succeeded; there is no delay to draw")
    return found.select("signalling", "delay_s", "share")


def titled(name: str, unit: str) -> str:
    """Title of an axis: what is drawn, and its unit unless the name says it."""
    return f"{name} [{unit}]" if unit and unit != name else name


def short(path: str, paths: list[str]) -> str:
    """The last word of a path, or all of it where another path ends in the same word."""
    last = path.rsplit(".", 1)[-1]
    return last if sum(other.rsplit(".", 1)[-1] == last for other in paths) == 1 else path


def _axis(estimates: polars.DataFrame, varied: list[str]) -> tuple[str, str] | None:
    """The path that makes the x axis, and the column that holds it as a number if there is one."""
    for path in varied:
        columns = [c for c in estimates.columns if c == path or c in (f"{path}_s", f"{path}_bps", f"{path}_bytes")]
        for column in columns:
            if estimates.schema[column].is_numeric():
                return path, column
    return (varied[0], varied[0]) if varied else None


def _columns(frame: polars.DataFrame) -> polars.DataFrame:
    return frame.select("x", "series", "mean", "low", "high", "samples")
