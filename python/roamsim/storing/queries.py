"""SQL queries over the tables of results."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import polars

from roamsim.errors import UsageError
from roamsim.storing.room import free_bytes, out_of_memory, require_room
from roamsim.storing.store import Results, no_table, write_tables

if TYPE_CHECKING:
    import duckdb

#: Octets without which DuckDB does not begin (measured, with a margin).
LEAST_BYTES = 64_000_000

#: Statements that only read; PIVOT is one of several parts.
READING = ("SELECT", "MULTI")

#: DuckDB's types that a frame has no column for; they become text.
_TEXT_ONLY = re.compile(r"INTERVAL|BLOB|BIT\b|BITSTRING|UNION|VARIANT|BIGNUM|GEOMETRY|WITH TIME ZONE\[|^TIME WITH")

#: What DuckDB says of a table that there is not. Its hint behind that may be at a table of its own.
_NO_TABLE = re.compile(r"Table with name (.+) does not exist!")

#: The table that an answer is put into, in a schema of its own, which `show tables` does not tell.
_ANSWER = "roamsim.answer"


def answer_of(results: Results, question: str) -> polars.DataFrame:
    """Answers a question over results, and tells where they are a part of a sweep."""
    results.tell_unfinished()
    return answer(results.tables, question)


def answer(tables: Mapping[str, polars.DataFrame], question: str, *, recorded: bool = True) -> polars.DataFrame:
    """Answers a question in SQL (DuckDB's) over tables, which it reads, and nothing else: no file, no network.

    Args:
        tables: by their names in the question.
        question: in SQL.
        recorded: whether the user says what is recorded, as for runs and sweeps.

    Raises:
        UsageError: the text is no question, or it is not valid SQL; the text is DuckDB's.
        NotEnoughMemory: the question or its answer takes more memory than runs may.
    """
    import duckdb

    if not isinstance(question, str):
        raise UsageError(f"the question is a text in SQL, not {question!r}")
    # DuckDB reads the rows from files: it would need pyarrow to read them from memory, and those of a folder may be
    # older than its parts.
    with tempfile.TemporaryDirectory(prefix="roamsim-") as aside, duckdb.connect() as connection:
        write_tables(Path(aside), tables)
        for name in tables:
            path = _text(str(Path(aside) / f"{name}.parquet"))
            connection.execute(f"create view {_name(name)} as select * from read_parquet({path})")
        connection.execute("create schema roamsim")
        # What does not fit into memory goes there too, and not into the user's folder.
        connection.execute(f"set temp_directory = {_text(str(Path(aside) / '.spilled'))}")
        free = free_bytes()
        if free is not None:
            connection.execute(f"set memory_limit = '{max(free, LEAST_BYTES)}B'")
        # Whoever wrote the folder may have chosen names, and whoever gave the question its text: neither may reach a
        # file or the network.
        connection.execute(f"set allowed_directories = [{_text(aside)}]")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        try:
            statements = connection.extract_statements(question)
            if not statements:
                raise UsageError("the query is empty; write one, such as: select * from flows")
            if len(statements) > 1:
                raise UsageError(f"these are {len(statements)} queries; give one at a time")
            if statements[0].type.name not in READING:
                raise UsageError("a query can only read tables: begin with select, with, from, describe or summarize")
            answered = Path(aside) / ".answer.parquet"
            return _interruptible(connection, lambda: _frame(connection, question, answered))
        except duckdb.OutOfMemoryException:
            raise out_of_memory() from None
        except duckdb.Error as error:
            if unknown := _NO_TABLE.search(str(error)):
                raise no_table(unknown[1], tables, recorded=recorded) from None
            raise UsageError(f"the query failed: {error}") from None


def _interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], polars.DataFrame]) -> polars.DataFrame:
    """What a question gives; Ctrl-C ends it, which DuckDB does not hear of while it works in the main thread."""
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(work)
        try:
            # Polars has signals handled so that the system resumes a wait without an end: Ctrl-C would go unheard.
            while not answer.done():
                wait([answer], timeout=0.05)
            return answer.result()
        except KeyboardInterrupt:
            # Between two statements nobody hears it: say it until somebody does.
            while not answer.done():
                connection.interrupt()
                wait([answer], timeout=0.05)
            raise


def _frame(connection: duckdb.DuckDBPyConnection, question: str, aside: Path) -> polars.DataFrame:
    """What DuckDB answers, with names made distinct; handed over as a file, for it loads pyarrow for more."""
    answer = connection.sql(question)
    types = [str(dtype) for dtype in answer.types]
    names = _distinct(answer.columns)
    chosen = []
    for number, (name, dtype) in enumerate(zip(names, types, strict=True), 1):
        text = "::varchar" if _TEXT_ONLY.search(dtype) else ""
        chosen.append(f"#{number}{text} as {_name(name)}")
    # Of the ways to have it worked out, only this one lets others work meanwhile: whoever hears Ctrl-C.
    answer.project(", ".join(chosen)).create(_ANSWER)
    connection.table(_ANSWER).write_parquet(str(aside))
    require_room(aside, aside.parent, "the answer", copies=1)
    frame = polars.read_parquet(aside)
    # DuckDB's sums have 128 bits, which the file holds as floats, and its decimals are no numbers to JSON.
    whole = [name for name, dtype in zip(names, types, strict=True) if "HUGEINT" in dtype and _fits(frame[name])]
    return frame.with_columns(polars.col(whole).cast(polars.Int64), polars.selectors.decimal().cast(polars.Float64))


def _fits(column: polars.Series) -> bool:
    return column.dtype.is_float() and bool((column.drop_nulls().abs() < 2.0**53).all())


def _text(text: str) -> str:
    """A text in SQL's notation."""
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    """The name of a table or a column in SQL's notation."""
    return '"' + name.replace('"', '""') + '"'


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
