"""How the documentation's figures look, and where they go: equal results give equal files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOCS = Path(__file__).parent.parent

#: The variants in the order of their invention, and what they are called.
VARIANTS = {
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "sack": "SACK",
    "vegas": "Vegas",
    "cubic": "CUBIC",
}


@contextmanager
def panels(name: str, height: float) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with a panel for each variant, two in a row, on common axes; written to `docs/images/NAME.svg`."""
    style = {"svg.hashsalt": "roamsim", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 10}
    with matplotlib.rc_context(style):
        rows = (len(VARIANTS) + 1) // 2
        figure = Figure(figsize=(9.0, height * rows), layout="constrained")
        grid = figure.subplots(rows, 2, sharex=True, sharey=True)
        used = list(grid.flat)[: len(VARIANTS)]
        yield figure, used
        for number, axes in enumerate(grid.flat):
            axes.set_visible(number < len(used))
            axes.tick_params(labelleft=number % 2 == 0, labelbottom=number + 2 >= len(used))
            if number % 2:
                axes.set_ylabel("")
            if number + 2 < len(used):
                axes.set_xlabel("")
        figure.savefig(DOCS / "images" / f"{name}.svg", metadata={"Date": None})
