"""Labels that tell rows of a table apart, with as few columns as possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars

#: Columns that say little by their value alone, and the word before it.
WORDS = {"from": "from", "to": "to", "node": "at", "from_cell": "from", "to_cell": "to", "percent": "percentile"}


def telling(rows: polars.DataFrame, columns: Iterable[str]) -> list[str]:
    """The first of the columns, and of the others those that tell rows apart that look alike by the ones before."""
    chosen: list[str] = []
    groups = 0
    for column in columns:
        now = rows.select(*chosen, column).n_unique()
        if not chosen or now > groups:
            chosen.append(column)
            groups = now
    return chosen


def in_words(rows: polars.DataFrame, columns: Sequence[str]) -> polars.Series:
    """A label for each row, of the columns that tell its rows apart."""
    chosen = telling(rows, columns) if rows.height else list(columns[:1])
    parts = [
        polars.concat_str(polars.lit(f"{WORDS[column]} " if column in WORDS else ""), polars.col(column))
        for column in chosen
    ]
    # A row that is about no entry of the scenario, such as what a node drops, has no name.
    named = polars.concat_list(parts).list.eval(polars.element().filter(polars.element() != "")).list.join(" ")
    return rows.select(named.alias("label")).to_series()
