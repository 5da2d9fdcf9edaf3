"""Formats of values: with units for readers, and exact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from roamsim.tables.cells import Cell
from roamsim.tables.significant import grouped, significant
from roamsim.tables.words import scale

#: Shares from which on they are told as a number (chosen: less is read as nothing).
LEAST_SHARE = 1e-4

#: Numbers from which on they are told (chosen likewise).
LEAST = 1e-3


def shown_value(value: Any) -> str:
    """A value as a reader wants it: five significant digits, a dash where there is none."""
    if isinstance(value, Cell):
        return value.text
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return grouped(str(value))
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return shown_value(int(value))
        return significant(value, 5)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown_value(v)}" for key, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown_value(v) for v in value)
    return str(value)


def exact_value(value: Any) -> str:
    """A value as it is, numbers with all their digits; a dash where there is none."""
    if isinstance(value, Cell):
        return value.exact
    if isinstance(value, float):
        return "–" if math.isnan(value) else repr(value)
    if isinstance(value, list | tuple):
        return ", ".join(exact_value(v) for v in value)
    return "–" if value is None else str(value)


def plain(value: float) -> str:
    """A number without a unit: four significant digits, counts as they are; of one too small, that it is there."""
    if 0 < abs(value) < LEAST:
        return f"below {LEAST:g}" if value > 0 else f"above -{LEAST:g}"
    return significant(value, 4)


def percent(value: float) -> str:
    """A share, in three significant digits; of one that nobody would miss, that it is there."""
    return f"below {100 * LEAST_SHARE:g} %" if 0 < value < LEAST_SHARE else f"{100 * value:.3g} %"


def bit_rate(value: float) -> str:
    """A rate in bit/s."""
    return scale("bit/s", [value]).words(value)


def octets(value: float) -> str:
    """A number of octets."""
    return scale("B", [value]).words(value)


def duration(value: float) -> str:
    """A time in seconds, below one in milliseconds."""
    return f"{significant(1e3 * value, 3)} ms" if abs(value) < 1 else f"{significant(value, 4)} s"
