"""Bars of parts, one behind the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["stacked_bars"]


def stacked_bars(
    axes: Axes, frame: polars.DataFrame, names: list[str], parts: dict[str, tuple[str, str]], scale: float
) -> None:
    """Draws for each row of `frame`, named by `names`, a bar of `parts`: columns, of each its label and colour.

    Values are drawn times `scale`.
    """
    places = list(range(len(names)))
    left = [0.0] * len(names)
    for column, (label, colour) in parts.items():
        widths = [scale * value for value in frame[column]]
        axes.barh(places, widths, left=left, height=0.7, color=colour, label=label)
        left = [begin + width for begin, width in zip(left, widths, strict=True)]
    axes.set_yticks(places, names)
    axes.spines[["top", "right"]].set_visible(False)
