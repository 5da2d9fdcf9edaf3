"""The base of typed scenarios: they turn into dictionaries and TOML."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from roamsim.errors import UsageError
from roamsim.scenarios.notation import toml_value


@dataclass(repr=False)
class Table:
    """A table of a scenario; what is `None` is left out."""

    __slots__ = ()

    #: Keys whose values say what kind of table it is.
    fixed: ClassVar[dict[str, object]] = {}

    def to_dict(self) -> dict[str, Any]:
        """The table as a dictionary with the keys of a scenario's file."""
        # `from_` is the key `from`, which is a word of Python.
        return {**self.fixed, **{name.rstrip("_"): plain(value) for name, value in self._given()}}

    def _given(self) -> Iterator[tuple[str, Any]]:
        """The attributes that have a value."""
        there = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return ((name, value) for name, value in there if value is not None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._given())})"


class TypedScenario(Table):
    """A whole scenario."""

    __slots__ = ()

    def to_toml(self) -> str:
        """The scenario as the text of a file."""
        tables = [
            (f"[[{key}]]" if isinstance(value, list) else f"[{key}]", table)
            for key, value in self.to_dict().items()
            for table in (value if isinstance(value, list) else [value])
        ]
        parts = (
            "\n".join([head, *(f"{name} = {toml_value(value)}" for name, value in table.items())])
            for head, table in tables
        )
        return "\n\n".join(parts) + "\n"


def plain(value: Any) -> Any:
    """A value with dictionaries in place of typed tables.

    Raises:
        UsageError: it holds itself.
    """
    try:
        if isinstance(value, Table):
            return value.to_dict()
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        if isinstance(value, Mapping):
            return {key: plain(entry) for key, entry in value.items()}
    except RecursionError:
        raise UsageError("a value holds itself, or tables without end") from None
    return value


def value_at(path: str, value: Any) -> str:
    """A Python value, or typed objects, in TOML's notation, for a path of a scenario.

    Raises:
        UsageError: TOML has no such value; the text says of which path.
    """
    try:
        return toml_value(plain(value))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
