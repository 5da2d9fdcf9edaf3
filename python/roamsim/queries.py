"""Questions in SQL over a folder of results."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.store import open_results, study_manifest, write_tables

#: Statements that only read; PIVOT is one of several parts.
READING = ("SELECT", "MULTI")

#: DuckDB's types that a frame has no column for; they become text.
_TEXT_ONLY = re.compile(r"INTERVAL|BLOB|BIT\b|BITSTRING|UNION|VARIANT|BIGNUM|GEOMETRY|WITH TIME ZONE\[|^TIME WITH")


def query(folder: str | os.PathLike[str], question: str) -> polars.DataFrame:
    """Answers a question in SQL (DuckDB's) over the tables of a folder; paths as columns need double quotes.

        >>> query("results", 'select "link.path.loss.probability" as p, avg(goodput_bps) from flows group by p')

    Of a study, the tables hold its finished runs, with `experiment` and the dimensions as columns.

    Raises:
        UsageError: there are no results, the text is no question, or it is not valid SQL; the text is DuckDB's.
    """
    import duckdb

    tables = _tables(folder)
    # DuckDB reads the rows from files: it would need pyarrow to read them from memory, and those of a folder may be
    # older than its parts.
    with tempfile.TemporaryDirectory(prefix="roamsim-") as aside, duckdb.connect() as connection:
        write_tables(Path(aside), tables)
        for name in tables:
            path = _quoted(str(Path(aside) / f"{name}.parquet"))
            connection.execute(f'create view "{name}" as select * from read_parquet({path})')
        try:
            statements = connection.extract_statements(question)
            if not statements:
                raise UsageError("the question is empty; ask one, such as: select * from flows")
            if len(statements) > 1:
                raise UsageError(f"these are {len(statements)} questions; ask one at a time")
            if statements[0].type.name not in READING:
                raise UsageError("a question can only read: begin with select, with, from, describe or summarize")
            return _frame(connection.sql(question), Path(aside) / ".answer.parquet")
        except duckdb.Error as error:
            raise UsageError(f"the question cannot be answered: {error}") from None


def _tables(folder: str | os.PathLike[str]) -> Mapping[str, polars.DataFrame]:
    if study_manifest(folder):
        from roamsim.study.tables import tables

        return tables(folder)
    return open_results(folder).tables


def _frame(answer: Any, aside: Path) -> polars.DataFrame:
    """What DuckDB answered, with names made distinct; handed over as a file, for it loads pyarrow for more."""
    types = [str(dtype) for dtype in answer.types]
    names = _distinct(answer.columns)
    chosen = []
    for number, (name, dtype) in enumerate(zip(names, types, strict=True), 1):
        text = "::varchar" if _TEXT_ONLY.search(dtype) else ""
        escaped = name.replace('"', '""')
        chosen.append(f'#{number}{text} as "{escaped}"')
    answer.project(", ".join(chosen)).write_parquet(str(aside))
    frame = polars.read_parquet(aside)
    # DuckDB's sums have 128 bits, which the file holds as floats, and its decimals are no numbers to JSON.
    whole = [name for name, dtype in zip(names, types, strict=True) if "HUGEINT" in dtype and _fits(frame[name])]
    return frame.with_columns(polars.col(whole).cast(polars.Int64), polars.selectors.decimal().cast(polars.Float64))


def _fits(column: polars.Series) -> bool:
    return column.dtype.is_float() and bool((column.drop_nulls().abs() < 2.0**53).all())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _distinct(names: list[str]) -> list[str]:
    """Column names as a frame needs them: a name that is there already gets a number."""
    distinct: list[str] = []
    for name in names:
        candidate, number = name, 1
        # DuckDB's names do not tell capitals apart.
        while candidate.lower() in {known.lower() for known in distinct}:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return distinct
