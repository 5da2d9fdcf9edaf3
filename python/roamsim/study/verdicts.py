"""Verdicts of statements: by the rule, under the readings of the publication, with the assumptions they rest on.

What a verdict rests on is found by running the alternatives: the statement is judged again with the rows of each
alternative that runs one of the experiments it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
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


#: What `_turned` and the conditions of the studies write.
TURNED = re.compile(r"(?P<of>.*) \(with (?P<name>.*) it (?P<verdict>agrees|differs)\)", re.DOTALL)


def in_words(turned: Iterable[str]) -> list[str]:
    """What turns a verdict round, the alternatives to one choice together: "a timer (it differs with 1 s or 2 s)"."""
    names: dict[tuple[str, str], list[str]] = {}
    found: dict[tuple[str, str], str] = {}
    for text in turned:
        told = TURNED.fullmatch(text)
        if told:
            names.setdefault((told["of"], told["verdict"]), []).append(told["name"])
        found[(told["of"], told["verdict"]) if told else (text, "")] = text
    return [
        f"{of} (it {verdict} with {_listed(names[of, verdict])})" if len(names.get((of, verdict), [])) > 1 else text
        for (of, verdict), text in found.items()
    ]


def _listed(names: list[str]) -> str:
    """Names in a row, in quotes if any has a comma or a conjunction of its own."""
    if any(re.search(r",| or | and ", name) for name in names):
        names = [f"“{name}”" for name in names]
    return f"{', '.join(names[:-1])} or {names[-1]}"
