"""Tables too large for memory: some rows, or some columns, at a time.

Whoever asks these functions does not care whether a table is a frame or lies in files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars

#: Rows of a table that is held (chosen: some hundred MB of memory).
HELD_ROWS = 1_000_000


class InLots(Mapping[str, "polars.DataFrame"]):
    """Tables by name that are read when they are asked for."""

    def __contains__(self, name: object) -> bool:
        """Whether there is a table, which is not read for that."""
        return any(name == there for there in self)

    @abstractmethod
    def schema(self, name: str) -> polars.Schema:
        """The columns of a table."""

    @abstractmethod
    def height(self, name: str) -> int:
        """How many rows a table has."""

    @abstractmethod
    def lots(self, name: str, columns: Sequence[str] | None = None) -> Iterator[polars.DataFrame]:
        """The rows of a table in their order, some whole runs at a time; of all columns, or of some."""

    def names(self, name: str) -> list[str]:
        """The names of a table's columns."""
        return self.schema(name).names()

    def iter_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The rows of a table in their order, of some columns; a missing value is `None`."""
        for lot in self.lots(name, columns):
            yield from lot.iter_rows()


def schema(tables: Mapping[str, polars.DataFrame], name: str) -> polars.Schema:
    """The columns of a table."""
    return tables.schema(name) if isinstance(tables, InLots) else tables[name].schema


def height(tables: Mapping[str, polars.DataFrame], name: str) -> int:
    """How many rows a table has; none where there is no such table."""
    if name not in tables:
        return 0
    return tables.height(name) if isinstance(tables, InLots) else tables[name].height


def lots(
    tables: Mapping[str, polars.DataFrame], name: str, columns: Sequence[str] | None = None
) -> Iterator[polars.DataFrame]:
    """The rows of a table in their order, some at a time; of all columns, or of some."""
    if isinstance(tables, InLots):
        yield from tables.lots(name, columns)
    else:
        yield tables[name] if columns is None else tables[name].select(columns)


def columns(tables: Mapping[str, polars.DataFrame], name: str, chosen: Sequence[str]) -> polars.DataFrame:
    """Some columns of a table, all rows of it."""
    return polars.concat(lots(tables, name, list(dict.fromkeys(chosen))))


def names(tables: Mapping[str, polars.DataFrame], name: str) -> list[str]:
    """The names of a table's columns."""
    return tables.names(name) if isinstance(tables, InLots) else tables[name].columns


def iter_rows(tables: Mapping[str, polars.DataFrame], name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a table in their order, of some columns; a missing value is `None`.

    Of a run that was just made, no frame is needed for that.
    """
    return tables.iter_rows(name, columns) if isinstance(tables, InLots) else tables[name].select(columns).iter_rows()
