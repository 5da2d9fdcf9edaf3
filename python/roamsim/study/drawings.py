"""The drawings of a study, which its own code makes of its data or of one run.

What shows data is an interactive figure: a Vega-Lite specification, or panels over time. What shows how a network or
a packet is built is a picture, drawn by matplotlib.
"""

from __future__ import annotations

import io
from typing import Any

from roamsim._roamsim import ScenarioError
from roamsim.pictures import timed
from roamsim.pictures.paper import style, write_figure
from roamsim.results import run
from roamsim.study.data import Data
from roamsim.study.definition import Drawing, Study


def drawn(study: Study, drawing: Drawing, data: Data, seed: int) -> str | dict[str, Any]:
    """A drawing as SVG or as a Vega-Lite specification.

    Its scenario, if it has one, is run with replication 0 of the study's seed.

    Raises:
        ScenarioError: the scenario is not valid.
    """
    source: object = data
    if drawing.scenario:
        settings = dict(drawing.set)
        if drawing.settings:
            settings |= study.function(drawing.settings)(drawing.values)
        try:
            source = run(study.scenario_path(drawing), set=settings, seed=seed, trace=list(drawing.trace))
        except ScenarioError as error:
            raise ScenarioError(f"drawing {drawing.id}:\n{error}") from None
    with style():
        made = study.exhibit(drawing.function)(source, **drawing.values)
    if isinstance(made, timed.Figure):
        return made.specification()
    if isinstance(made, dict):
        return made
    file = io.BytesIO()
    write_figure(lambda: made, file, ".svg")
    return file.getvalue().decode()
