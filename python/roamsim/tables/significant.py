"""Numbers with a count of significant digits. Digits before the point are never rounded away: 16379 stays
16379.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

#: Digits of integers from which on they are grouped by thousands (chosen: 16379 reads well, 163 790 better).
GROUPED = 6


def decimals(value: float, figures: int) -> int:
    """Digits behind the point that give a number so many significant digits; 0 where those before it suffice."""
    if value == 0 or not math.isfinite(value):
        return 0
    # The exponent after rounding: 9.996 with three digits is 10.0.
    order = int(f"{value:.{figures - 1}e}".partition("e")[2])
    return max(0, figures - 1 - order)


def significant(value: float, figures: int) -> str:
    """A number with so many significant digits, without zeros at its end and without a sign for zero.

    Numbers below 1e-6 keep their exponent, for zeros would hide them.
    """
    if not math.isfinite(value) or 0 < abs(value) < 1e-6:
        return f"{value:.{figures}g}"
    text = f"{value:.{decimals(value, figures)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return grouped("0" if text == "-0" else text)


def rounded(value: float, figures: int) -> float:
    """The number that `significant` shows."""
    return round(value, min(decimals(value, figures), 300)) if math.isfinite(value) else value


def grouped(text: str) -> str:
    """A number's digits with its integer part grouped by thousands where it is long."""
    whole, point, rest = text.partition(".")
    if whole.lstrip("-").isdigit() and len(whole.lstrip("-")) >= GROUPED:
        whole = f"{int(whole):,}".replace(",", "\u202f")
    return f"{whole}{point}{rest}"


def d3_format(values: Iterable[Any], figures: int) -> str:
    """The format of d3 that shows such numbers with so many significant digits, and their integer parts whole."""
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    before = len(str(int(largest))) if largest >= 1 else 0
    return f".{max(figures, before)}~g"
