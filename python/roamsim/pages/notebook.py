"""Results in a notebook: pieces of HTML in the notebook's own style, which need no further package."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars

from roamsim.tables import lots
from roamsim.tables.overview import Overview
from roamsim.tables.words import count

#: Rows of a table that are shown (chosen: a page of more is slow, and no reader goes on).
MOST_ROWS = 60


def title(name: str, about: str) -> str:
    """What the results are of."""
    return f"<p><b>{html.escape(name)}</b> {html.escape(about)}</p>"


def sentences(told: Iterable[str]) -> str:
    """A paragraph each."""
    return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in told)


def table(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """A table whose first columns, so many, are of words, and the others of numbers."""
    sides = ["left" if number < words else "right" for number in range(len(heads))]
    head = _row("th", heads, sides)
    body = "".join(_row("td", cells, sides) for cells in rows[:MOST_ROWS])
    more = f"<p>{count(len(rows) - MOST_ROWS, 'more row', ',')}</p>" if len(rows) > MOST_ROWS else ""
    return f"<h4>{html.escape(heading)}</h4><table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def of_rows(heading: str, rows: Sequence[Mapping[str, object]]) -> str:
    """A table of mappings with equal keys, of which texts stand first."""
    words = sum(isinstance(value, str) for value in rows[0].values())
    return table(heading, list(rows[0]), [[str(value) for value in row.values()] for row in rows], words)


def overview(shown: Overview) -> str:
    """What a reader wants to see first of a table."""
    more = [count(shown.more, "more row", ",")] if shown.more else []
    notes = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in (*shown.notes, *more))
    return table(shown.heading, shown.heads, shown.rows, shown.words) + notes


def folded(summary: str, body: str) -> str:
    """What comes out when a reader asks for it."""
    return f"<details><summary>{html.escape(summary)}</summary>{body}</details>"


def frames(tables: Mapping[str, polars.DataFrame]) -> str:
    """All tables that have rows, with all their columns, folded."""
    return folded("All tables and columns", "".join(_frames(tables)))


def _frames(tables: Mapping[str, polars.DataFrame]) -> Iterator[str]:
    for name in tables:
        rows = lots.height(tables, name)
        if rows:
            columns = len(lots.schema(tables, name))
            # A larger one would be read for the ten rows that are shown.
            body = tables[name]._repr_html_() if rows <= lots.HELD_ROWS else "<p>too large to be shown</p>"
            yield folded(f"{name}: {count(rows, 'row', ',')}, {count(columns, 'column')}", body)


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    shown = (
        f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"
