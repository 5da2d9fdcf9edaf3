"""Summaries of campaigns in a terminal: means, differences, and the answer in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars
from rich.table import Table
from rich.text import Text

from roamsim.cli.console import on_stdout
from roamsim.cli.summary import print_table
from roamsim.estimates import findings
from roamsim.estimates.comparisons import MEANS, Comparison
from roamsim.estimates.summaries import TABLES, summary
from roamsim.storing.store import Results
from roamsim.tables.overview import MOST_ROWS
from roamsim.tables.values import shown_value
from roamsim.tables.words import count


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
        print_table(console, table)
    for sentence in (*compared.sentences, *compared.notes):
        console.print(Text(sentence), soft_wrap=True)
    console.print(
        "Intervals are 95 % confidence intervals. Differences are means over pairs of replications.",
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
    print_table(console, shown)
    for sentence in told:
        console.print(Text(sentence), soft_wrap=True)
    console.print("Intervals are 95 % confidence intervals.", style="dim", soft_wrap=True)


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
        rows = summary(results, name, columns)
        if rows:
            print_table(console, _of_rows(name, rows))
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
            f"{count(len(rows) - MOST_ROWS, 'more row', ',')}; `--out DIR` keeps all", style="table.caption"
        )
        table.caption_justify = "left"
    return table
