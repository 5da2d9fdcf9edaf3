"""Traces over time, ready to be drawn: a panel for the first replication of each point of a sweep."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import polars

from roamsim.errors import UsageError, there_are
from roamsim.storing.store import Results, point_label
from roamsim.tables.labels import in_words
from roamsim.tables.metrics import metrics, quantities, traces

#: Traces that are read as tables.
TABLES = ("packets",)

#: What the vertical axis of a kind shows; of single quantities their own name.
TITLES = {
    "cwnd": "congestion window, threshold",
    "rtt": "round-trip time, timeout",
    "in_flight": "in flight",
    "pacing": "pacing rate, delivery rate",
    "queue": "waiting",
    "throughput": "goodput",
    "backlog": "written and not acknowledged",
    "dlc_queue": "waiting in the DLC",
    "rates": "rate of data frames",
}

#: Quantities whose samples are points, with nothing in between that a line could mean.
POINTS = ("rtt",)

#: What a reader of a figure of a kind has to know.
NOTES = {
    "throughput": "Bytes count once they are in order, so a repaired loss may exceed the link's rate.",
    "rates": "Attempts at a higher rate, and look-around frames of Minstrel, use another rate for a few frames.",
}

#: The columns that say what a row is about.
SUBJECT = ("kind", "name", "from", "to")

#: Values from here on stand for "not set".
UNSET = 2.0**63

#: Panels that one figure holds (chosen: more are too small to read).
MOST_PANELS = 12


@dataclass(frozen=True)
class Part:
    """Which part of what was recorded is drawn.

    Attributes:
        flow: name of a flow, a link or a signalling source; `None` for all of them.
        start_s: where the time axis begins; `None` for the first thing recorded.
        end_s: where it ends; `None` for the last.
    """

    flow: str | None = None
    start_s: float | None = None
    end_s: float | None = None

    def __post_init__(self) -> None:
        if (self.start_s or 0) < 0:
            raise UsageError(f"a figure cannot begin at {self.start_s:g} s: time begins at 0")
        if self.start_s is not None and self.end_s is not None and self.start_s >= self.end_s:
            raise UsageError(f"a figure from {self.start_s:g} s to {self.end_s:g} s has no width")

    def of(self, recorded: polars.DataFrame) -> polars.DataFrame:
        """The rows of one replication that belong to the flow, at either end, and do not lie behind the end.

        Args:
            recorded: a table with `time_s`, `kind`, `name`, `point` and `replication`.
        """
        found = recorded.filter(polars.col("replication") == 0)
        if self.flow is not None:
            named = polars.col("name") == self.flow
            if not found.select(named.any()).item():
                there = found["name"].unique(maintain_order=True).to_list()
                raise UsageError(f"nothing was recorded of {self.flow!r}; {there_are(self.flow, there, quoted=True)}")
            found = found.filter(named)
        return found if self.end_s is None else found.filter(polars.col("time_s") <= self.end_s)

    def within(self, found: polars.DataFrame) -> polars.DataFrame:
        """The rows that do not lie before the start.

        Raises:
            UsageError: there are none.
        """
        shown = found if self.start_s is None else found.filter(polars.col("time_s") >= self.start_s)
        if not shown.height:
            raise UsageError("nothing was recorded between these times; choose others")
        return shown


ALL = Part()


@dataclass(frozen=True)
class Panel:
    """What one panel of a figure shows.

    Attributes:
        title: what tells it from the others; empty where it is the only one.
        frame: of samples `time_s`, `series` (what tells lines apart, in words), `quantity`, `value`, `unit`; of
            segments the rows of the table.
    """

    title: str
    frame: polars.DataFrame


def time_series(results: Results, what: str, part: Part = ALL) -> list[Panel]:
    """Samples of one kind.

    Args:
        results: of a run or a sweep with `--trace`.
        what: a kind of trace that has quantities (`cwnd`, `rtt`, ...), or one of these (`srtt`, `rto`, ...).
        part: which part of them.

    Raises:
        UsageError: nothing of the kind was recorded.
    """
    trace = next((trace for trace, recorded in quantities().items() if what in (trace, *recorded)), None)
    if trace is None:
        _refuse(results, what)
    samples = results.tables.get("samples")
    if samples is None or not samples.height:
        raise UsageError(f"no time series were recorded; {_again(results, trace)}")
    found = samples.filter(polars.col("quantity").is_in(quantities().get(what, (what,))))
    if not found.height:
        there = ", ".join(sorted(samples["quantity"].unique()))
        raise UsageError(f"nothing of {what!r} was recorded, the samples are of {there}; {_again(results, trace)}")
    # A threshold that was never set is recorded as the largest number there is.
    found = found.filter(polars.col("value") < UNSET)
    if not found.height:
        raise UsageError(f"nothing of {what!r} can be drawn: it was never set")
    # The end of a connection that sends no data has a window too; it never moves and would only add lines.
    still = polars.col("value").n_unique().over("point", "replication", *SUBJECT, "quantity") <= 2
    idle = still.all().over(SUBJECT)
    if not found.select(idle.all()).item():
        found = found.filter(~idle)
    last_s = samples["time_s"].max() if part.end_s is None else part.end_s
    part = Part(part.flow, part.start_s, last_s)  # type: ignore[arg-type]
    found = part.of(found)
    found = found.with_columns(in_words(found, ["name", "quantity", "kind", "from", "to"]).alias("series"))
    panels = []
    for title, mine in _by_point(results, found):
        drawn = mine.select("time_s", "series", "quantity", "value", "unit")
        panels.append(Panel(title, _rates(drawn, part) if what == "throughput" else cut(drawn, part)))
    return _few(panels, several=False)


def segments(results: Results, part: Part = ALL) -> list[Panel]:
    """What became of the segments of each TCP and SCTP sender: a panel for each point and sender.

    Raises:
        UsageError: nothing was recorded.
    """
    recorded = results.tables.get("segments")
    if recorded is None or not recorded.height:
        raise UsageError(f"no segments were recorded; {_again(results, 'segments')}")
    found = part.within(part.of(recorded))
    found = found.with_columns(in_words(found, ["name", "kind", "from", "to"]).alias("sender"))
    several = found["sender"].n_unique() > 1
    panels = []
    for title, mine in _by_point(results, found):
        for (sender,), rows in mine.group_by("sender", maintain_order=True):
            panels.append(Panel(", ".join(filter(None, (title, str(sender) if several else ""))), rows))
    return _few(panels, several=several)


def _refuse(results: Results, what: str) -> NoReturn:
    """Says what stands in the place of a time series that there is not."""
    if what in TABLES:
        folder = shlex.quote(os.fspath(results.path))
        ask = f"roamsim query {folder} 'select * from {what}'"
        there = results.tables.get(what)
        how = ask if there is not None and there.height else f"{_again(results, what)}, then {ask}"
        raise UsageError(f"{what} are a table, not a figure; ask it: {how}")
    # A column without a unit is text, of which nothing is drawn.
    numbers = [metric for metric in metrics() if metric.unit is not None]
    near = difflib.get_close_matches(what, [*quantities(), *(m.column for m in numbers)], n=1, cutoff=0.6)
    column = next((m.name for m in numbers if near == [m.column]), None)
    begun = f"did you mean {column or near[0]}? There" if near else "there"
    drawn = ", ".join(trace.column for trace in traces() if trace.column not in TABLES)
    raise UsageError(
        f"nothing is recorded over time under the name {what!r}; {begun} are {drawn}, and metrics such as "
        "flows.goodput_bps (`roamsim explain` lists them)"
    )


def asked(results: Results) -> set[str]:
    """The traces that what wrote a folder was asked for, and other words of its command."""
    given = {name for word in results.manifest.command for name in word.removeprefix("--trace=").split(",")}
    return given | set(results.manifest.traces)


def _again(results: Results, what: str) -> str:
    """How to record what is missing, in the words of what wrote the folder; or that it was asked for in vain."""
    if what in asked(results):
        return f"--trace {what} was given, and recorded nothing"
    return f"run again with --trace {what}" + (" --parquet DIR" if results.manifest.kind == "run" else "")


def _by_point(results: Results, found: polars.DataFrame) -> Iterator[tuple[str, polars.DataFrame]]:
    several = found["point"].n_unique() > 1
    for (point,), mine in found.group_by("point", maintain_order=True):
        yield point_label(results.manifest, int(str(point))) if several else "", mine


def _few(panels: list[Panel], *, several: bool) -> list[Panel]:
    """The panels, when they are not too many; `several` senders could be told apart."""
    if len(panels) > MOST_PANELS:
        raise UsageError(
            f"a figure of {len(panels)} panels has more than the {MOST_PANELS} that can be read; "
            + ("choose a flow with --flow NAME, or vary fewer values" if several else "vary fewer values")
        )
    return panels


def cut(found: polars.DataFrame, part: Part) -> polars.DataFrame:
    """The samples from the start to the end; a line also has the values that hold at these times.

    Args:
        found: columns `time_s`, `quantity`, `value`, `unit`; the others tell lines apart.
        part: the start and the end.

    Raises:
        UsageError: there are none.
    """
    if part.end_s is not None:
        found = found.filter(polars.col("time_s") <= part.end_s)
    early = polars.col("time_s") < (part.start_s or 0.0)
    lines = found.filter(~polars.col("quantity").is_in(POINTS))

    def last_at(rows: polars.DataFrame, time_s: float) -> polars.DataFrame:
        last = rows.group_by(_line(found), maintain_order=True).last()
        return last.with_columns(polars.lit(time_s).alias("time_s")).select(found.columns)

    begin = [] if part.start_s is None else [last_at(lines.filter(early), part.start_s)]
    end = [] if part.end_s is None else [last_at(lines, part.end_s)]
    return part.within(polars.concat([*begin, found.filter(~early), *end]))


def _line(found: polars.DataFrame) -> list[str]:
    """The columns that tell lines apart."""
    return [column for column in found.columns if column not in ("time_s", "value", "unit")]


def _rates(delivered: polars.DataFrame, part: Part) -> polars.DataFrame:
    """Bytes delivered so far as bit/s, over a hundred equal parts of the time."""
    start = part.start_s or 0.0
    end = part.end_s if part.end_s is not None else delivered["time_s"].max() or 0.0
    width = (end - start) / 100  # type: ignore[operator]
    if width <= 0:
        width = 1.0
    # What was delivered before the start is not counted; what is delivered at time 0 is.
    slot = ((polars.col("time_s") - start) / width).ceil().clip(lower_bound=0 if start else 1)
    line = _line(delivered)
    ends = delivered.group_by(*line, slot.alias("slot"), maintain_order=True).agg(polars.col("value").last())
    slots = polars.DataFrame({"slot": [float(n) for n in range(101)]})
    grid = ends.select(line).unique(maintain_order=True).join(slots, how="cross")
    filled = grid.join(ends, on=[*line, "slot"], how="left", maintain_order="left").with_columns(
        polars.col("value").forward_fill().fill_null(0.0).over(line)
    )
    return filled.select(
        (start + (polars.col("slot") - 1) * width).alias("time_s"),  # a value holds from here to the next
        *line,
        (8 * polars.col("value").diff().over(line) / width).alias("value"),
        polars.lit("bit/s").alias("unit"),
    ).filter(polars.col("value").is_not_null())
