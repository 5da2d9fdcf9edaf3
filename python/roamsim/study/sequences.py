"""The message-sequence charts of a study: one run each, drawn from its packets."""

from __future__ import annotations

from functools import partial

from roamsim import _roamsim
from roamsim._roamsim import ScenarioError
from roamsim.pictures.sequence import Mark, draw, packets_of
from roamsim.scenarios.reading import parse_source, replacements, source
from roamsim.study.definition import Sequencechart, Study
from roamsim.study.runs import Columns


def picture(study: Study, chart: Sequencechart, seed: int) -> str:
    """Runs the chart's scenario and draws it as SVG.

    Raises:
        ScenarioError: the scenario is not valid.
    """
    read = source(study.scenario_path(chart), allow_files_outside=True)
    settings = dict(chart.set)
    if chart.function:
        settings |= study.function(chart.function)(chart.values)
    try:
        scenario = parse_source(read, replacements(settings))
    except ScenarioError as error:
        raise ScenarioError(f"sequence chart {chart.id}:\n{error}") from None
    result = _roamsim.run(scenario, seed=seed, trace=["packets"])
    describe = None
    if study.describe_packet:
        numbers: dict[str, int] = {}
        describe = partial(
            study.function(study.describe_packet), number=lambda key: numbers.setdefault(key, len(numbers) + 1)
        )
    packets = packets_of(
        Columns(result.tables["packets"]),
        since_s=chart.since_s,
        until_s=chart.until_s,
        describe=describe,
        order=list(chart.nodes),
    )
    marks = study.function(chart.marks)(chart.values, packets) if chart.marks else []
    return draw(packets, nodes=chart.nodes, title=chart.title, marks=[Mark(*mark) for mark in marks])
