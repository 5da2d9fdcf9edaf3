"""What verdicts rest on: the same with one choice changed, of the station that stands and of the one that walks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from roamsim.study.data import Data
from roamsim.study.entries import Label
from roamsim.study.judging import Finding


def with_conditions(finding: Finding, data: Data, experiment: str, measure: Callable[[Label], Finding]) -> Finding:
    """A finding, and the conditions of an experiment that turn it round.

    Args:
        finding: of the experiment that decides.
        data: the rows of all.
        experiment: the one whose dimension `condition` changes a choice; the first label is as chosen.
        measure: judges the same of the runs with a condition.
    """
    chosen, *others = data.labels(experiment, "condition")
    # With fewer queues and replications a clause may agree more easily: what it says there as chosen counts, too.
    base = measure(chosen).verdict
    turned = []
    for condition in others:
        verdict = measure(condition).verdict
        if {verdict, finding.verdict} == {"agrees", "differs"} and verdict != base:
            turned.append(f"the chosen settings (with {condition} it {verdict})")
    return replace(finding, turned_by=tuple(turned))


def of_walk(data: Data, runs: Callable[..., Any], measure: Callable[[Any], Finding]) -> Finding:
    """A finding of the walk, and the conditions that turn it round; these have an interface queue of 50 packets.

    Args:
        data: the rows of all.
        runs: makes the runs that are judged of the data and, for conditions, an experiment and labels.
        measure: judges them.
    """

    def of(condition: Label) -> Finding:
        return measure(runs(data, "moving-conditions", {"condition": condition}))

    return with_conditions(measure(runs(data)), data, "moving-conditions", of)
