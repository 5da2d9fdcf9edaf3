"""What a person reads in a terminal: the summary of a run, a table, a progress bar."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import polars
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from roamsim import _roamsim
from roamsim._roamsim import Scenario
from roamsim.cli.console import WIDTH, on_stderr, on_stdout
from roamsim.cli.streams import safe_line
from roamsim.estimates import findings
from roamsim.estimates import summaries as summaries_of_means
from roamsim.estimates.comparisons import MEANS, Comparison
from roamsim.estimates.summaries import TABLES
from roamsim.running import foresight
from roamsim.running.work import Progress
from roamsim.storing.store import Results
from roamsim.tables.overview import MOST_ROWS, Overview, overviews, remarks
from roamsim.tables.result import Result
from roamsim.tables.values import duration, exact_value, shown_value
from roamsim.tables.words import count, scale

if TYPE_CHECKING:
    from rich.console import Console  # noqa: TID251


def summary(result: Result, scenario: Scenario) -> None:
    """Prints flows, signalling, drops and speed of a run on stdout."""
    console = on_stdout()
    seeds = f"seed {result.seed}" + (f", {result.replications} replications" if result.replications > 1 else "")
    title = Text(result.scenario, style="bold")
    console.print(title.append(f"  {scenario.duration_s:g} s, {seeds}", style="not bold dim"))
    for shown in overviews(result.tables, result.replications):
        _print(console, _table(shown))
    for note in remarks(result.tables):
        console.print(Text(note), soft_wrap=True)
    pace = result.events / result.wall_s if result.wall_s > 0 else None
    speed = f", {scale('events/s', [pace]).words(pace)}" if pace is not None else ""
    for sentence in (*_in_step(result, scenario), *_idle(scenario)):
        console.print(Text(sentence), soft_wrap=True)
    console.print(f"{shown_value(result.events)} events in {duration(result.wall_s)}{speed}", style="dim")
    if result.replications > 1:
        console.print("± is the half-width of the 95 % interval over replications (Student's t).", style="dim")


def comparison_summary(compared: Comparison) -> None:
    """Prints means, differences from the baseline, and the differences in words, on stdout."""
    console = on_stdout()
    manifest, question = compared.results.manifest, compared.question
    counts = sorted({point.replications for point in manifest.points})
    replications = "–".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    title = Text(manifest.scenario, style="bold")
    runs = f"seed {manifest.seed}, {replications} replications"
    console.print(title.append(f"  {question.over} on the same losses, {runs}", style="not bold dim"))
    for target in compared.targets:
        table = Table(
            title=Text(target.name, style="bold"), title_justify="left", box=None, header_style="dim", pad_edge=False
        )
        words, rows = compared.shown_means(target)
        for head in words:
            table.add_column(Text(head))
        for head in MEANS:
            table.add_column(head, justify="right", no_wrap=True)
        for cells in rows:
            table.add_row(*map(Text, cells))
        _print(console, table)
    for sentence in (*compared.sentences, *compared.notes):
        console.print(Text(sentence), soft_wrap=True)
    console.print(
        "Intervals hold the true value with 95 %, each by itself; differences are of pairs of replications.",
        style="dim",
        soft_wrap=True,
    )


def answer_summary(
    results: Results, table: polars.DataFrame, told: Sequence[str], show: Callable[[dict[str, Any], str], str | None]
) -> None:
    """Prints what a sensitivity or a search found, on stdout: a table, and the same in words.

    Args:
        results: of all runs.
        table: what was found.
        told: the words.
        show: a value of a row and column, where it is not to be told as a plain number.
    """
    console = on_stdout()
    manifest = results.manifest
    title = Text(manifest.scenario, style="bold")
    console.print(title.append(f"  {', '.join(manifest.vary)}; seed {manifest.seed}", style="not bold dim"))
    shown = Table(box=None, header_style="dim", pad_edge=False)
    for name, dtype in table.schema.items():
        shown.add_column(Text(name), justify="right" if dtype.is_numeric() else "left", no_wrap=True)
    for row in table.to_dicts():
        cells = ["–" if row[name] is None else show(row, name) or shown_value(row[name]) for name in row]
        shown.add_row(*map(Text, cells))
    _print(console, shown)
    for sentence in told:
        console.print(Text(sentence), soft_wrap=True)
    console.print("Intervals hold the true value with 95 %, each by itself.", style="dim", soft_wrap=True)


def sweep_summary(results: Results) -> None:
    """Prints what a sweep found in a sentence, and its means with intervals, a row for each point, on stdout."""
    console = on_stdout()
    manifest = results.manifest
    runs = sum(point.replications for point in manifest.points)
    title = Text(manifest.scenario, style="bold")
    counts = f"{count(len(manifest.points), 'point')}, {count(runs, 'run')}, seed {manifest.seed}"
    console.print(title.append(f"  {counts}", style="not bold dim"))
    for sentence in findings.answered(results):
        console.print(Text(sentence), soft_wrap=True)
    for name, columns in TABLES:
        rows = summaries_of_means.summary(results, name, columns)
        if rows:
            _print(console, _of_rows(name, rows))
    if any(point.replications > 1 for point in manifest.points):
        console.print("Means over replications, with their 95 % intervals.", style="dim")


def _of_rows(heading: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        title=Text(heading), title_justify="left", title_style="bold", box=None, header_style="dim", pad_edge=False
    )
    for key, value in rows[0].items():
        table.add_column(Text(key), justify="left" if isinstance(value, str) else "right", no_wrap=True)
    for row in rows[:MOST_ROWS]:
        table.add_row(*(Text(shown_value(value)) for value in row.values()))
    if len(rows) > MOST_ROWS:
        table.caption = Text(
            f"{len(rows) - MOST_ROWS:,} more rows; `--out DIR` keeps them all", style="table.caption"
        )
        table.caption_justify = "left"
    return table


def print_frame(frame: polars.DataFrame, *, vertical: bool = False) -> None:
    """Prints all rows of a frame on stdout; as lists if asked to, or where a terminal is too narrow."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, dtype in frame.schema.items():
        table.add_column(Text(safe_line(name)), justify="right" if dtype.is_numeric() else "left", overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(Text(safe_line(exact_value(value))) for value in row))
    _print(on_stdout(), table, vertical=vertical)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A bar on stderr with rate and time left, once it takes a while; nothing where stderr is no terminal."""
    console = on_stderr()
    bar = RichProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        _Rate(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    shown = _Bar(bar if console.is_terminal else None, what)
    try:
        yield shown
    finally:
        shown.stop()


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "", style="progress.data.speed")


class _Bar:
    #: Before this time there is nothing to wait for (chosen).
    DELAY_S = 0.5
    #: At these times a single run is looked at, and by the second one its pace tells what it will take (chosen).
    LOOK_S, FORESEE_S = 1.0, 2.0

    def __init__(self, bar: RichProgress | None, what: str) -> None:
        self._bar = bar
        self._what = what
        self._task = bar.add_task(what, total=None) if bar else None
        self._done = self._kept = self._failed = 0
        self._begun = time.monotonic()
        self._started = False
        self._total = 0
        self._foreseen = False
        self._earlier: tuple[float, int] | None = None

    def plan(self, runs: int, kept: int) -> None:
        self._done, self._kept, self._total = kept, kept, runs
        self._show(0.0, total=runs, description=self._description())

    def failed(self, runs: int) -> None:
        self._failed += runs
        self._done += runs
        self._show(0.0, description=self._description())

    def done(self, runs: int) -> None:
        self._done += runs
        self._show(0.0)

    def under_way(self, runs: float) -> None:
        self._show(runs)
        elapsed_s = time.monotonic() - self._begun
        if self._total != 1 or runs <= 0 or self._foreseen:
            return
        if self._earlier is None:
            if elapsed_s > self.LOOK_S:
                self._earlier = (runs, _roamsim.memory_bytes()[0])
        elif elapsed_s > self.FORESEE_S:
            self._foreseen = True
            # In words too, for those who see no bar.
            said = self._bar.console if self._bar else on_stderr()
            for sentence in foresight.pace(runs, elapsed_s, self._earlier):
                said.print(f"roamsim: {sentence}", soft_wrap=True, highlight=False)

    def _description(self) -> str:
        counts = ((self._kept, "kept"), (self._failed, "failed"))
        notes = ", ".join(f"{count} {what}" for count, what in counts if count)
        return f"{self._what} ({notes})" if notes else self._what

    def _show(self, under_way: float, **changes: Any) -> None:
        if self._bar is None or self._task is None:
            return
        self._bar.update(self._task, completed=self._done + under_way, **changes)
        if not self._started and time.monotonic() - self._begun > self.DELAY_S:
            self._started = True
            self._bar.start()

    def stop(self) -> None:
        if self._bar is not None and self._started:
            self._bar.stop()


def _in_step(result: Result, scenario: Scenario) -> list[str]:
    """A sentence where flows in step met a queue that overflowed: who loses there is a matter of phase."""
    drops = result.tables["drops"]
    full = set(drops.filter(polars.col("reason") == "queue full").select("name", "node").iter_rows())
    met = [(link, node, flows) for link, node, flows in scenario.meetings_in_step if (link, node) in full]
    if not met:
        return []
    queues = ", ".join(f"{link} at {node} ({len(flows)} flows)" for link, node, flows in met[:3])
    more = f" and {len(met) - 3} more" if len(met) > 3 else ""
    return [
        f"Phase effects: flows meet at the drop-tail queue of {queues}{more} and nothing on their way is random: "
        "the phases of their packets decide who loses. Before you compare them, give the sources a "
        "packet_processing_time, as docs/models/links.md says."
    ]


def _idle(scenario: Scenario) -> list[str]:
    """A sentence for each setting that is accepted, because sweeps vary it beside another, and has no effect here."""
    signalling = json.loads(scenario.canonical).get("signalling", [])
    return [
        f'{source["name"]}: acknowledgement.validity = "{validity}" has no effect: '
        "it says when a response is taken, and an indication has none."
        for source in (signalling if isinstance(signalling, list) else [signalling])
        if source["kind"] in ("indication", "link_events")
        and (validity := source.get("acknowledgement", {}).get("validity", "acked")) != "acked"
    ]


def _table(shown: Overview) -> Table:
    table = Table(
        title=shown.heading, title_justify="left", title_style="bold", box=None, header_style="dim", pad_edge=False
    )
    for number, head in enumerate(shown.heads):
        if number < shown.words:
            table.add_column(head)
        else:
            table.add_column(head, justify="right", no_wrap=True)
    for cells in shown.rows:
        table.add_row(*map(Text, cells))
    notes = [*shown.notes]
    if shown.more:
        notes.append(f"{shown.more:,} more rows; `--parquet DIR` keeps them all")
    if notes:
        # As text: rich would take the word in brackets for one of its styles.
        table.caption = Text("\n".join(notes), style="table.caption")
        table.caption_justify = "left"
    return table


def _print(console: Console, table: Table, *, vertical: bool = False) -> None:
    """Prints a table, each of its rows on one line; as lists where a terminal is too narrow, or if asked to."""
    needed = console.measure(table, options=console.options.update(width=1_000_000)).maximum
    if vertical or (console.is_terminal and needed > console.width):
        _print_lists(console, table)
        return
    if not console.is_terminal:
        # A file has no edge.
        console.width = max(WIDTH, needed)
    console.print(table)


def _print_lists(console: Console, table: Table) -> None:
    """Prints the rows of a table one below the other, a line for each column that has something to say."""
    heads = [str(column.header) for column in table.columns]
    width = max(map(len, heads), default=0)
    if table.title:
        console.print(Text(str(table.title), style="bold"))
    cells = [list(column.cells) for column in table.columns]
    for number in range(table.row_count):
        console.print(Text(f"row {number + 1}", style="dim"))
        for head, column in zip(heads, cells, strict=True):
            shown = str(column[number])
            if shown:
                console.print(Text(f"  {head:{width}}  {shown}"), soft_wrap=True)
    if table.caption:
        console.print(Text(str(table.caption), style="dim"), soft_wrap=True)
