"""How the documentation's figures look, and where they go: equal results give equal files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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


def write_block(page: Path, name: str, lines: Iterable[str]) -> None:
    """Puts lines into a page between `<!-- NAME:start -->` and `<!-- NAME:end -->`."""
    text = page.read_text(encoding="utf-8")
    between = re.compile(rf"(?<=<!-- {name}:start -->\n).*(?=<!-- {name}:end -->)", re.DOTALL)
    page.write_text(between.sub(lambda _: "\n".join(lines) + "\n", text), encoding="utf-8")


@contextmanager
def drawn(name: str, width: float, height: float) -> Iterator[Figure]:
    """A figure of this size in inches, written to `docs/images/NAME.svg` when it has been drawn."""
    style = {"svg.hashsalt": "roamsim", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 10}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.savefig(DOCS / "images" / f"{name}.svg", metadata={"Date": None})


@contextmanager
def panels(name: str, height: float) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with a panel for each variant, two in a row, on common axes; written to `docs/images/NAME.svg`."""
    rows = (len(VARIANTS) + 1) // 2
    with drawn(name, 9.0, height * rows) as figure:
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
