"""The drawings of a study: pictures that its own code makes with matplotlib, of its data or of one run."""

from __future__ import annotations

import io

from roamsim._roamsim import ScenarioError
from roamsim.pictures.paper import write_figure
from roamsim.results import run
from roamsim.study.data import Data
from roamsim.study.definition import Drawing, Study


def drawn(study: Study, drawing: Drawing, data: Data, seed: int) -> str:
    """A drawing as SVG; its scenario, if it has one, is run with replication 0 of the study's seed.

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
    file = io.BytesIO()
    write_figure(lambda: study.exhibit(drawing.function)(source, **drawing.values), file, ".svg")
    return file.getvalue().decode()
