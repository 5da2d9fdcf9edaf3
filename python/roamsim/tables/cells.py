"""Columns of tables for readers: one number format for all cells of a column, means with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roamsim.tables.metrics import Metric
from roamsim.tables.significant import grouped
from roamsim.tables.words import VARIED_UNITS, metric_words, scale, titled

#: The share of a column's largest number below which others do not decide on its digits (chosen: they read as less
#: than the least that it shows).
NEGLIGIBLE = 1e-5

#: Digits behind the point of shares in per cent and of means of what is counted, at most, where no interval asks for
#: more (chosen: less is read as nothing).
MOST_DECIMALS_OF_COUNTS = 4

#: Digits behind the point from which on all numbers of a column have powers of ten (chosen).
MOST_DECIMALS = 6

#: The power of ten of a column's largest mean from which on its cells have none, however small others are (chosen).
READ_PLAINLY = -3

#: Digits of the largest mean of a column at most (chosen: of runs that hardly differ, intervals ask for more).
MOST_DIGITS = 6

#: Digits behind the point of instants: a millisecond, and up to a microsecond where that tells them apart (chosen).
DECIMALS_OF_INSTANTS, MOST_DECIMALS_OF_INSTANTS = 3, 6

#: Orders of magnitude over which one number of decimals suits half-widths (chosen: beyond, small ones are zeros).
ORDERS_OF_WIDTHS = 1.5


@dataclass(frozen=True)
class Cell:
    """A number as a column shows it, and as it is.

    Attributes:
        text: in the column's format.
        exact: with all digits.
    """

    text: str
    exact: str

    def __str__(self) -> str:
        return self.text


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Format:
    """How all numbers of a column are written.

    Attributes:
        places: digits behind the point.
        powers: whether with a power of ten, where no number of digits suits all.
    """

    places: int
    powers: bool = False

    def text(self, value: float) -> str:
        """A number; one that is not zero but would read so, as less than the smallest that does not."""
        if value == 0:
            return "0"
        if self.powers:
            digits, _, power = f"{value:.{self.places}e}".partition("e")
            return f"{digits}·10{str(int(power)).translate(_RAISED)}"
        shown = f"{value:.{self.places}f}"
        if float(shown) == 0:
            return f"{'>-' if value < 0 else '<'}{10.0**-self.places:.{self.places}f}"
        return grouped(shown)


def suited(values: Iterable[float]) -> Format:
    """The format that gives the median of the values three digits, or two where the largest has four with them.

    Whole numbers are whole.
    """
    there = [float(value) for value in values if math.isfinite(value)]
    if all(value.is_integer() for value in there):
        return Format(0)
    places = min(_places(there, 3), max(_places(there, 2), 3 - _order(max(map(abs, there)))))
    return Format(2, powers=True) if places > MOST_DECIMALS else Format(places)


def _places(values: Iterable[float], digits: int) -> int:
    """Digits behind the point that give the median of the values so many."""
    sizes = sorted(abs(value) for value in values if value)
    sizes = [size for size in sizes if size > NEGLIGIBLE * sizes[-1]]
    return max(0, digits - 1 - _order(sizes[(len(sizes) - 1) // 2]))


def _order(size: float) -> int:
    return math.floor(math.log10(size) + 1e-12)


def numbers(values: Sequence[float | None]) -> list[Cell]:
    """Numbers in one format: three significant digits of the median.

    Those that were chosen, as 28.8 beside 1500, have no more digits than that, and keep them.
    """
    there = [value for value in values if value is not None and math.isfinite(value)]
    if all(1e-4 <= abs(value) < 1e5 and value == float(f"{value:.3g}") for value in there if value):
        return [_cell(value, f"{value + 0.0:g}" if value is not None else "") for value in values]
    form = suited(there)
    return [_cell(value, form.text(value) if value is not None else "") for value in values]


def instants(columns: Sequence[Sequence[float | None]]) -> list[list[Cell]]:
    """Points in time, columns of one format that tells apart those that differ, to the microsecond."""
    times = {value for column in columns for value in column if value is not None and math.isfinite(value)}
    enough = (
        places
        for places in range(DECIMALS_OF_INSTANTS, MOST_DECIMALS_OF_INSTANTS)
        if len({f"{value:.{places}f}" for value in times}) == len(times)
    )
    places = next(enough, MOST_DECIMALS_OF_INSTANTS)
    return [
        [_cell(value, f"{value:.{places}f}" if value is not None else "") for value in column] for column in columns
    ]


def estimated(
    metric: Metric,
    means: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
) -> tuple[str, list[Cell]]:
    """The heading of a column of means, with its unit, and its cells.

    Cells are `1.01 ± 0.15`, with two digits of the median half-width; where intervals are not as wide to both
    sides, as those of shares, `92.5 (88.1 to 95.3)`.
    """
    means, lows, highs = ([_if_finite(value) for value in of] for of in (means, lows, highs))
    size = scale(metric.unit, means, share=metric.share)
    shown, low, high = ([size.of(value) for value in of] for of in (means, lows, highs))
    widths = [
        (above - below) / 2
        for below, above in zip(low, high, strict=True)
        if below is not None and above is not None and above > below
    ]
    plain = suited(value for value in shown if value is not None)
    largest = max((_order(abs(value)) for value in shown if value), default=0)
    counted = metric.share or (metric.unit and metric.unit not in VARIED_UNITS.values())
    if counted and not widths and (plain.powers or plain.places > MOST_DECIMALS_OF_COUNTS):
        plain = Format(MOST_DECIMALS_OF_COUNTS)
    elif plain.powers and largest >= READ_PLAINLY:
        # A queue of 1.3 packets beside one of 0.00005 on the way back: each cell by its own interval.
        plain = Format(max(0, 2 - largest))
    most = MOST_DIGITS - 1 - largest
    alike = widths and max(widths) <= 10**ORDERS_OF_WIDTHS * min(widths)

    def of(*halves: float) -> Format:
        """The format of means with such half-widths: two digits of these."""
        return Format(min(max(0, most), _places(halves, 2)))

    together = plain if plain.powers or not widths else of(*widths) if alike else None
    uneven = any(
        mean is not None
        and below is not None
        and above is not None
        and abs((above - mean) - (mean - below)) > 0.02 * (above - below)
        for mean, below, above in zip(shown, low, high, strict=True)
    )
    cells = []
    for mean, below, above, exact in zip(shown, low, high, zip(means, lows, highs, strict=True), strict=True):
        cell = _cell(exact[0], (together or plain).text(mean) if mean is not None else "")
        if mean is not None and below is not None and above is not None and above > below:
            form = together or of((above - below) / 2)
            half = form.text((above - below) / 2)
            words = f"({form.text(below)} to {form.text(above)})" if uneven else f"± {half}"
            cell = Cell(f"{form.text(mean)} {words}", f"{exact[0]!r} ({exact[1]!r} to {exact[2]!r})")
        cells.append(cell)
    return titled(metric_words(metric), size.unit), cells


def _if_finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _cell(value: float | None, text: str) -> Cell:
    return Cell("–", "–") if _if_finite(value) is None else Cell(text, repr(value))
