"""The exhibits of a study at a level, and their captions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from roamsim.study.definition import LEVELS, Drawing, Figure, Level, Sequencechart, Study, Tabulation, labels_of

Exhibit = Figure | Tabulation | Drawing | Sequencechart

#: Places of a curve below which it says nothing of a course, where the full run has more (chosen).
FEWEST_PLACES = 3


def is_shown(study: Study, exhibit: Exhibit, level: Level) -> bool:
    """Whether a level draws an exhibit: what a quick look cannot say is left to the full run.

    A figure of fewer than three places is left out where the full run has more.
    """
    if level == "full":
        return True
    if exhibit.full_only:
        return False
    if not isinstance(exhibit, Figure):
        return True
    quick, full = (len(_places(study, exhibit, one)) for one in LEVELS)
    return quick >= min(full, FEWEST_PLACES)


def _places(study: Study, figure: Figure, level: Level) -> set[Any]:
    """The values of a figure's axis at a level."""
    wanted = figure.where.get(figure.x)
    chosen = None if wanted is None else set(wanted) if isinstance(wanted, list | tuple) else {wanted}
    return {
        label
        for name in figure.experiments
        for label in labels_of(study.experiment(name), figure.x, level)
        if chosen is None or label in chosen
    }


def in_order(exhibits: Sequence[Exhibit]) -> list[Exhibit]:
    """The exhibits of a section: the publication's figures by their numbers, its others, and then ours."""

    def place(exhibit: Exhibit) -> tuple[bool, float, str]:
        ours = not exhibit.shows or exhibit.shows.startswith("ours")
        numbered = re.match(r"figure (\d+)", exhibit.shows)
        return (ours, float(numbered[1]), exhibit.shows) if numbered else (ours, math.inf, "")

    return sorted(exhibits, key=place)


def caption(exhibit: Exhibit) -> str:
    """A title, with the number or the caption that the publication has for it, or that it is ours."""
    return f"{exhibit.title} ({exhibit.shows})" if exhibit.shows else exhibit.title


def note(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> str:
    """A figure's remark, and what of it lies beyond the published range."""
    if not beyond(figure, rows):
        return figure.note
    least, most = figure.published_x
    return f"{figure.note} Grey: ours, beyond the published range of {least:g} to {most:g}.".strip()


def beyond(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """The parts of a figure's axis that the publication does not show, from and to."""
    places = [float(row["x"]) for row in rows]
    if not figure.published_x or not places:
        return []
    least, most = figure.published_x
    parts = [(min(places), float(least)), (float(most), max(places))]
    return [(start, end) for start, end in parts if end - start > 1e-9 * max(map(abs, places))]
