"""The answer to a study's question: a template of study.toml, filled with numbers of the runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import jinja2

from roamsim.errors import UsageError
from roamsim.study.data import Data, Metric, Share
from roamsim.study.definition import Study
from roamsim.study.judging import Finding, number, with_interval

#: How a line of Markdown begins that must stay a line: an item of a list, or a row of a table.
_OWN_LINE = re.compile(r"\s*(\||[-*+]\s|\d+[.)]\s)")


def answer(study: Study, data: Data, findings: Mapping[str, Finding]) -> str:
    """The answer in words, as Markdown: each paragraph on one line, lists and tables line by line.

    The template is Jinja's. It may ask for `mean(experiment, metric, scale=1, **labels)`, a mean with its interval.
    With `trials` it is the share of counted trials, with Wilson's interval. `ours(id)` and `verdict(id)` are of a
    statement, `decided(id)` is its number that decided. `count(verdict)` and `statements` say how many of the
    publication's there are. Each function of study.py is there by its name, with `data` for its argument.

    Raises:
        UsageError: the template is malformed, or asks for what is not there.
    """

    def mean(experiment: str, metric: Metric, scale: float = 1.0, trials: str = "", **where: Any) -> str:
        estimate = data.estimate(experiment, Share(str(metric), trials) if trials else metric, **where)
        if not estimate.samples:
            raise UsageError(f"no run of experiment {experiment!r} has {metric!r} where {where}")
        return with_interval(estimate.scaled(scale))

    published = [findings[statement.id] for statement in study.statements if not statement.own]

    def count(verdict: str) -> int:
        return sum(finding.verdict == verdict for finding in published)

    names = {name: value for name, value in vars(study.code).items() if callable(value)} if study.code else {}
    names |= {
        "mean": mean,
        "ours": lambda name: findings[name].ours,
        "verdict": lambda name: findings[name].verdict,
        "decided": lambda name: str(findings[name].decided_by or ""),
        "count": count,
        "statements": len(published),
        "data": data,
        "number": number,
    }
    try:
        template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(study.answer)
        return _unwrapped(template.render(names))
    except (jinja2.TemplateError, UsageError, KeyError, TypeError) as error:
        raise UsageError(f"{study.folder}: [study] answer: {error or type(error).__name__}") from None


def _unwrapped(text: str) -> str:
    """Markdown whose lines end where paragraphs, items and rows do, not where its source was broken."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        words = " ".join(line.split())
        if lines and lines[-1] and words and not _OWN_LINE.match(line):
            lines[-1] += f" {words}"
        elif words or lines[-1]:
            lines.append(words)
    return "\n".join(lines)
