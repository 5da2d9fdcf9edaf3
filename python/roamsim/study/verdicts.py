"""Verdicts of statements: by the rule, under the readings of the publication, with the assumptions they rest on.

What a verdict rests on is found by running the alternatives: the statement is judged again with the rows of each
alternative that runs one of the experiments it asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

from roamsim.study.data import Data
from roamsim.study.declared import judged
from roamsim.study.definition import Level, Statement, Study
from roamsim.study.entries import Alternative
from roamsim.study.judging import Finding, either

#: The measured value of a statement that the quick look has no runs of.
LEFT = "the quick look has no runs of it"


@dataclass(frozen=True)
class Verdict:
    """A statement's finding, and the alternatives that turn its verdict round."""

    finding: Finding
    turned_by: tuple[str, ...]


def verdict(study: Study, statement: Statement, data: Data, level: Level) -> Verdict:
    """Judges a statement, by its readings and beside the alternatives of what it asks for."""
    if statement.full_only and level == "quick":
        return Verdict(Finding("not decidable", LEFT, brief=LEFT), ())
    data.experiments_read.clear()
    main = _by_rule(study, statement, data)
    read = set(data.experiments_read)
    bearing = [one for one in study.alternatives if read & set(one.experiments) and data.has(one.id)]
    others = {one.id: _by_rule(study, statement, data.under(one.id)) for one in bearing}
    readings = [one for one in bearing if one.id in statement.readings_by]
    finding = main
    if readings:
        finding = either({readings[0].instead_of: main, **{one.name: others[one.id] for one in readings}}, "reading")
    turned = [
        _turned(one, others[one.id])
        for one in bearing
        if one not in readings and {finding.verdict, others[one.id].verdict} == {"agrees", "differs"}
    ]
    tried = (
        study.measurement(statement.conditions)(data, statement.id, finding.verdict) if statement.conditions else ()
    )
    return Verdict(finding, (*finding.turned_by, *turned, *tried))


def _by_rule(study: Study, statement: Statement, data: Data) -> Finding:
    if statement.function:
        found: Finding = study.measurement(statement.function)(data)
        return found
    return judged(statement, data, study.function)


def _turned(alternative: Alternative, other: Finding) -> str:
    """What a verdict rests on, for its line."""
    return f"{alternative.instead_of} (with {alternative.name} it {other.verdict})"
