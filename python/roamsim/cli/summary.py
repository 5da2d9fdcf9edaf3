"""Text for a terminal: the summary of a run, a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from roamsim._roamsim import Scenario
from roamsim.cli.console import WIDTH, on_stdout
from roamsim.cli.streams import safe_line
from roamsim.tables.overview import Overview, overviews, remarks
from roamsim.tables.result import Result
from roamsim.tables.values import duration, exact_value, shown_value
from roamsim.tables.words import count, scale

if TYPE_CHECKING:
    import polars
    from rich.console import Console  # noqa: TID251

#: In front of a line, and between two columns, where rows stand side by side.
INDENT = GAP = "  "


def summary(result: Result, scenario: Scenario) -> None:
    """Prints flows, signalling, drops and speed of a run on stdout."""
    console = on_stdout()
    seeds = f"seed {result.seed}" + (f", {result.replications} replications" if result.replications > 1 else "")
    title = Text(result.scenario, style="bold")
    console.print(title.append(f"  {scenario.duration_s:g} s, {seeds}", style="not bold dim"))
    for shown in overviews(result.tables, result.replications):
        print_table(console, _table(shown))
    for note in remarks(result.tables):
        console.print(Text(note), soft_wrap=True)
    pace = result.events / result.wall_s if result.wall_s > 0 else None
    speed = f", {scale('events/s', [pace]).words(pace)}" if pace is not None else ""
    for sentence in (*_in_step(result, scenario), *_idle(scenario)):
        console.print(Text(sentence), soft_wrap=True)
    console.print(Text(f"{shown_value(result.events)} events in {duration(result.wall_s)}{speed}", style="dim"))
    if result.replications > 1:
        console.print(Text("± is the half-width of the 95 % interval over replications (Student's t).", style="dim"))


def print_frame(frame: polars.DataFrame, *, vertical: bool = False) -> None:
    """Prints all rows of a frame on stdout; as lists if asked to, as columns where a terminal is too narrow."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, dtype in frame.schema.items():
        table.add_column(Text(safe_line(name)), justify="right" if dtype.is_numeric() else "left", overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(Text(safe_line(exact_value(value))) for value in row))
    print_table(on_stdout(), table, vertical=vertical)


def _in_step(result: Result, scenario: Scenario) -> list[str]:
    """A sentence where flows in step met a queue that overflowed: who loses there is a matter of phase."""
    drops = result.iter_rows("drops", ["name", "node", "reason"])
    full = {(name, node) for name, node, reason in drops if reason == "queue full"}
    met = [(link, node, flows) for link, node, flows in scenario.meetings_in_step if (link, node) in full]
    if not met:
        return []
    queues = ", ".join(f"{link} at {node} ({count(len(flows), 'flow')})" for link, node, flows in met[:3])
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
        notes.append(f"{count(shown.more, 'more row', ',')}; `--parquet DIR` keeps all")
    if notes:
        # As text: rich would take the word in brackets for one of its styles.
        table.caption = Text("\n".join(notes), style="table.caption")
        table.caption_justify = "left"
    return table


def print_table(console: Console, table: Table, *, vertical: bool = False) -> None:
    """Prints a table, each row on one line; as a column where a terminal is too narrow; as a list if asked to."""
    needed = console.measure(table, options=console.options.update(width=1_000_000)).maximum
    if vertical or (console.is_terminal and needed > console.width):
        _print_upright(console, table, lists=vertical)
        return
    if not console.is_terminal:
        # A file has no edge.
        console.width = max(WIDTH, needed)
    console.print(table)


def _print_upright(console: Console, table: Table, *, lists: bool) -> None:
    """Prints the rows of a table side by side, a line for each head that has something to say."""
    heads = [str(column.header) for column in table.columns]
    rows = [[str(cell) for cell in row] for row in zip(*(column.cells for column in table.columns), strict=True)]
    first = max(map(cell_len, heads), default=0)
    room = console.width - first - len(INDENT)
    widths = [len(GAP) + max(map(cell_len, row), default=0) for row in rows]
    if table.title:
        console.print(Text(str(table.title), style="bold"))
    if lists or max(widths, default=0) > room:
        for number, row in enumerate(rows):
            console.print(Text(f"row {number + 1}", style="dim"))
            _print_side_by_side(console, heads, first, [row], [0])
    else:
        begin = 0
        while begin < len(rows):
            end, used = begin, 0
            while end < len(rows) and used + widths[end] <= room:
                used += widths[end]
                end += 1
            if begin:
                console.print()
            _print_side_by_side(console, heads, first, rows[begin:end], widths[begin:end])
            begin = end
    if table.caption:
        console.print(Text(str(table.caption), style="dim"), soft_wrap=True)


def _print_side_by_side(
    console: Console, heads: list[str], first: int, rows: list[list[str]], widths: list[int]
) -> None:
    """Prints rows as columns of these widths."""
    for number, head in enumerate(heads):
        cells = [row[number] for row in rows]
        if any(cells):
            line = Text(INDENT).append(set_cell_size(head, first), style="dim")
            for cell, width in zip(cells, widths, strict=True):
                line.append(GAP + cell + " " * (width - len(GAP) - cell_len(cell)))
            line.rstrip()
            console.print(line, soft_wrap=True)
