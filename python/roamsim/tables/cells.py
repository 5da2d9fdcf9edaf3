"""Columns of tables for readers: one number format for all cells of a column, means with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roamsim.tables.metrics import Metric
from roamsim.tables.words import metric_words, scale, titled

#: Digits behind the point that a column has at most (chosen).
MOST_DECIMALS = 9

#: Orders of magnitude over which one number of decimals suits a column of numbers, or of half-widths (chosen: beyond,
#: small ones would be zeros).
ORDERS, ORDERS_OF_WIDTHS = 4, 1.5


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


def decimals(values: Iterable[float], digits: int = 3, orders: float = ORDERS) -> int | None:
    """Digits behind the point that give the median of the values so many; `None` where the values differ much."""
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    if not sizes:
        return 0
    if sizes[-1] > 10**orders * sizes[0]:
        return None
    median = sizes[len(sizes) // 2]
    return min(MOST_DECIMALS, max(0, digits - 1 - math.floor(math.log10(median) + 1e-12)))


def numbers(values: Sequence[float | None]) -> list[Cell]:
    """Numbers in one format: three significant digits of the median, or of each where they differ much.

    Those that were chosen, as 28.8 beside 1500, have no more digits than that, and keep them.
    """
    there = [value for value in values if value is not None and math.isfinite(value)]
    chosen = all(1e-4 <= abs(value) < 1e5 and value == float(f"{value:.3g}") for value in there if value)
    places = None if chosen else decimals(there)
    return [_number(value, places) for value in values]


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
    suited = scale(metric.unit, means, share=metric.share)
    shown, low, high = ([suited.of(value) for value in of] for of in (means, lows, highs))
    halves = [
        (above - below) / 2 for below, above in zip(low, high, strict=True) if below is not None and above is not None
    ]
    widths = [half for half in halves if half > 0]
    plain = decimals(value for value in shown if value is not None)
    places = decimals(widths, 2, ORDERS_OF_WIDTHS) if widths else plain
    uneven = any(
        mean is not None
        and below is not None
        and above is not None
        and abs((above - mean) - (mean - below)) > 0.02 * (above - below)
        for mean, below, above in zip(shown, low, high, strict=True)
    )
    cells = []
    for mean, below, above, exact in zip(shown, low, high, zip(means, lows, highs, strict=True), strict=True):
        cell = _number(mean, places if places is not None else plain)
        if mean is not None and below is not None and above is not None and above > below:
            own = places if places is not None else decimals([(above - below) / 2], 2)
            cell = _number(mean, own)
            first, last = _number(below, own).text, _number(above, own).text
            half = _number((above - below) / 2, own).text
            words = f"{cell.text} ({first} to {last})" if uneven else f"{cell.text} ± {half}"
            cell = Cell(words, f"{exact[0]!r} ({exact[1]!r} to {exact[2]!r})")
        elif mean is not None:
            cell = Cell(cell.text, repr(exact[0]))
        cells.append(cell)
    return titled(metric_words(metric), suited.unit), cells


def _number(value: float | None, places: int | None) -> Cell:
    if value is None or not math.isfinite(value):
        return Cell("–", "–")
    # Three digits each, where no number of decimals suits all.
    shown = f"{value:.{places}f}" if places is not None else f"{value:.3g}"
    shown = f"{float(shown):g}" if "e" in shown and abs(value) < 1e5 else shown
    if float(shown) == 0 and value:
        shown = f"{value:.2g}"
    whole, point, rest = shown.partition(".")
    if whole.lstrip("-").isdigit() and len(whole.lstrip("-")) > 5:
        whole = f"{int(whole):,}".replace(",", "\u202f")
    return Cell(f"{whole}{point}{rest}", repr(value))
