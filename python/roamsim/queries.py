"""Questions in SQL over a folder of results."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import polars

from roamsim.errors import UsageError
from roamsim.store import open_results, write_tables


def query(folder: str | os.PathLike[str], question: str) -> polars.DataFrame:
    """Answers a question in SQL (DuckDB's) over the tables of a folder; paths as columns need double quotes.

        >>> query("results", 'select "link.path.loss.probability" as p, avg(goodput_bps) from flows group by p')

    Raises:
        UsageError: there are no results, or the question is not valid SQL; the text is DuckDB's.
    """
    import duckdb

    results = open_results(folder)
    # DuckDB reads the rows from files: it would need pyarrow to read them from memory, and those of a folder may be
    # older than its parts.
    with tempfile.TemporaryDirectory(prefix="roamsim-") as aside, duckdb.connect() as connection:
        write_tables(Path(aside), results.tables)
        for name in results.tables:
            path = _quoted(str(Path(aside) / f"{name}.parquet"))
            connection.execute(f'create view "{name}" as select * from read_parquet({path})')
        try:
            answer = connection.execute(question)
            columns = [entry[0] for entry in answer.description or []]
            rows = answer.fetchall()
        except duckdb.Error as error:
            raise UsageError(f"the question cannot be answered: {error}") from None
    return polars.DataFrame(rows, schema=_distinct(columns), orient="row", infer_schema_length=None)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _distinct(names: list[str]) -> list[str]:
    """Column names as a frame needs them: no two alike."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    counts: dict[str, int] = {}
    distinct = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name}_{counts[name]}")
    return distinct
