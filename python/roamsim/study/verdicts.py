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
    """A statement's finding, the alternatives that turn its verdict round, and those that do not."""

    finding: Finding
    turned_by: tuple[str, ...]
    tried: tuple[str, ...] = ()


def verdict(study: Study, statement: Statement, data: Data, level: Level) -> Verdict:
    """Judges a statement, by its readings and beside the alternatives of what it asks for."""
    if statement.full_only and level == "quick":
        return Verdict(Finding("not decidable", LEFT, brief=LEFT), ())
    data.experiments_read.clear()
    main, runs = _by_rule(study, statement, data)
    read = set(data.experiments_read)
    others = {}
    for one in study.alternatives:
        if read & set(one.experiments) and data.has(one.id):
            other, of_other = _by_rule(study, statement, data.under(one.id))
            # What it does not change has the same runs, if fewer of them.
            if of_other - runs:
                others[one.id] = other
    bearing = [one for one in study.alternatives if one.id in others]
    readings = [one for one in bearing if one.id in statement.readings_by]
    finding = main
    if readings:
        finding = either({readings[0].instead_of: main, **{one.name: others[one.id] for one in readings}}, "reading")
    alone = [one for one in bearing if one not in readings]
    turning = [one for one in alone if {finding.verdict, others[one.id].verdict} == {"agrees", "differs"}]
    turned = [_turned(one, others[one.id]) for one in turning]
    tried = (
        study.measurement(statement.conditions)(data, statement.id, finding.verdict) if statement.conditions else ()
    )
    # A condition may judge the runs of an alternative by a rule of its own.
    left = [
        (one, others[one.id])
        for one in alone
        if one not in turning and not any(text.startswith(f"{one.instead_of} (with {one.name} ") for text in tried)
    ]
    return Verdict(finding, (*finding.turned_by, *turned, *tried), _tried(finding, left))


#: What a verdict that is another one is called, where it turns nothing round.
OTHERWISE = {"agrees": "agrees", "differs": "differs", "not decidable": "open"}


def _tried(finding: Finding, others: Iterable[tuple[Alternative, Finding]]) -> tuple[str, ...]:
    """The choices whose alternatives do not turn a verdict round: "a timer (tried: 1 s; open with 2 s)"."""
    names: dict[str, dict[str, list[str]]] = {}
    for one, other in others:
        how = "tried:" if other.verdict == finding.verdict else f"{OTHERWISE[other.verdict]} with"
        names.setdefault(one.instead_of, {}).setdefault(how, []).append(str(one.name))
    return tuple(
        f"{of} ({'; '.join(f'{how} {_listed(found[how])}' for how in sorted(found, reverse=True))})"
        for of, found in names.items()
    )


def _by_rule(study: Study, statement: Statement, data: Data) -> tuple[Finding, set[str]]:
    """What the rule says, and the keys of the runs that it asked for."""
    data.runs_read.clear()
    found: Finding = (
        study.measurement(statement.function)(data) if statement.function else judged(statement, data, study.function)
    )
    return found, set(data.runs_read)


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
    """Names in a row, in quotes if any of several has a comma or a conjunction of its own."""
    if len(names) == 1:
        return names[0]
    if any(re.search(r",| or | and ", name) for name in names):
        names = [f"“{name}”" for name in names]
    return f"{', '.join(names[:-1])} or {names[-1]}"
