"""Python values in TOML's notation, and the one form in which varied values are written, kept and compared."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeGuard

from roamsim.errors import UsageError

#: Powers of ten beyond which a number is no quantity of a scenario (chosen: 64 bits hold 19 digits).
MOST_DIGITS = 30

_BARE_KEY = re.compile("[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """A Python value in TOML's notation.

    Raises:
        UsageError: TOML has no such value.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if hasattr(value, "item"):  # a numpy number
        return toml_value(value.item())
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        exact = Decimal(repr(value))
        return format(exact, "f") if abs(exact.adjusted()) < MOST_DIGITS and "e+" not in repr(value) else repr(value)
    if isinstance(value, Mapping):
        entries = (f"{_key(str(key))} = {toml_value(entry)}" for key, entry in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_value(entry) for entry in value) + "]"
    raise UsageError(f"{value!r} is not a value that a scenario can hold")


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def read_value(text: str) -> Any:
    """What a value of `--set` or `--vary` stands for: a TOML value if it reads as one, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def bare(value: object) -> TypeGuard[str]:
    """Whether a value is a text that is read back as itself where it stands without quotes."""
    if not isinstance(value, str) or "," in value or value.startswith(("{", "[", '"', "'")):
        return False
    return value == value.strip() and bool(value) and read_value(value) == value


def written(value: Any) -> str:
    """A value as varied values are written: TOML, but a text without the quotes that it does not need.

    Raises:
        UsageError: TOML has no such value.
    """
    return value if bare(value) else toml_value(value)


@lru_cache(1 << 16)
def rewritten(text: str) -> str:
    """A value that somebody wrote, as `written` writes it."""
    try:
        return written(read_value(text))
    except UsageError:  # a date: the scenario says what is wrong with it
        return text
