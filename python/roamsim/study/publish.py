"""A study's output: JSON, and a report with figures, statements, sequence charts and provenance."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from roamsim._roamsim import version
from roamsim.errors import CheckFailed
from roamsim.pages.page import Report
from roamsim.study.checks import Check, failed, limit
from roamsim.study.data import Data
from roamsim.study.definition import (
    FILES,
    OPTIONAL_FILES,
    Figure,
    Level,
    Parameter,
    Sequencechart,
    Study,
    Tabulation,
)
from roamsim.study.figures import specification
from roamsim.study.full import verdicts_in_full
from roamsim.study.judging import Verdict, number
from roamsim.study.runs import Effort, Planned
from roamsim.study.shown import Exhibit, caption, in_order, is_shown, note
from roamsim.tables.words import count, value_words

Statements = Sequence[Mapping[str, Any]]

#: What stands beside a difference whose study gives no reason for it.
NO_REASON = "no reason is known yet"

#: Columns of the answer on a terminal that is not narrower (chosen).
WIDTH = 100


@dataclass(frozen=True)
class Outcome:
    """A finished study.

    Attributes:
        study: its definition.
        level: how much of it was run.
        seed: of every run.
        answer: to the study's question, with numbers of the runs.
        figures: rows of each figure by its id.
        statements: one mapping a statement: id, published, source, ours, measured, interval, verdict, rule, what
            the verdict rests on and does not rest on, and why it differs; `ours` is the value that decided with its
            interval, `values` are all measured numbers, and `interval` is that of `interval_of`. `own` marks a
            statement that is ours, not
            the publication's; `judged_by` says what the verdict comes from, `turned_by` which alternatives turn it
            round, and `replications_needed` how many would decide where these `replications` do not.
        checks: comparisons with closed forms.
        pictures: sequence charts and drawings by their id, as SVG; those that show data as Vega-Lite specifications.
        tables: rows of each table by its id.
        data: the rows of the runs.
        effort: runs and seconds that it took.
        made_with: commit, build and machine, where they are known, and the time that the runs took.
        report: the written HTML file.
    """

    study: Study
    level: Level
    seed: int
    answer: str
    figures: Mapping[str, Sequence[Mapping[str, Any]]]
    statements: Sequence[Mapping[str, Any]]
    checks: Sequence[Check]
    pictures: Mapping[str, str | dict[str, Any]]
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    data: Data
    effort: Effort
    made_with: Mapping[str, Any]
    report: Path

    @property
    def version(self) -> str:
        """Of the simulator that judged the runs."""
        return version()

    def to_dict(self) -> dict[str, Any]:
        """The object that `roamsim study run NAME --json` prints."""
        return {
            "study": self.study.name,
            "level": self.level,
            "version": self.version,
            "seed": self.seed,
            "answer": self.answer,
            "figures": {name: [dict(row) for row in rows] for name, rows in self.figures.items()},
            "tables": {name: [dict(row) for row in rows] for name, rows in self.tables.items()},
            "axes": {figure.id: _axes(figure) for figure in self.study.figures if figure.id in self.figures},
            "statements": [dict(statement) for statement in self.statements],
            "coverage": self.coverage(),
            "checks": [
                {
                    "what": check.what,
                    "measured": check.measured,
                    "exact": check.exact,
                    "standard_error": check.standard_error,
                    "z": check.z,
                }
                for check in self.checks
            ],
            "failed_checks": [check.what for check in failed(self.checks)],
            "made_with": dict(self.made_with),
            "report": str(self.report),
        }

    def coverage(self) -> list[dict[str, Any]]:
        """Where each sentence and figure of the publication is shown, with the verdicts of its statements."""
        verdicts = {statement["id"]: statement["verdict"] for statement in self.statements}
        return [
            {
                "published": entry.published,
                "place": entry.place,
                "statements": {name: verdicts[name] for name in entry.statements},
                "exhibits": self.study.covered_exhibits(entry),
                "left_out": entry.left_out or None,
            }
            for entry in self.study.coverage
        ]

    def left_to_the_full_run(self) -> dict[str, str]:
        """The statements that a quick look leaves open, with the verdict of the full run's reference."""
        if self.level != "quick":
            return {}
        known = verdicts_in_full(self.study)
        return {
            one["id"]: known.get(one["id"], "not run yet")
            for one in self.statements
            if one["verdict"] == "not decidable"
        }

    def to_json(self) -> str:
        """`to_dict` as JSON; what is not a finite number becomes null."""
        return json.dumps(plain(self.to_dict()), ensure_ascii=False, allow_nan=False)

    def require_checks(self) -> None:
        """Raises `CheckFailed` when a closed form was missed."""
        bad = failed(self.checks)
        if bad:
            lines = "\n".join(
                f"  {c.what}: measured {c.measured:.6g}, exact {c.exact:.6g}, {c.z:+.1f} standard errors" for c in bad
            )
            raise CheckFailed(
                f"{len(bad)} of {len(self.checks)} closed-form checks failed "
                f"(more than {limit(self.checks):.2f} standard errors away):\n{lines}"
            )

    def summary(self, width: int = WIDTH) -> str:
        """A few lines for a terminal, the answer broken at this width."""
        bad = failed(self.checks)
        published, own = _apart(self.statements)
        lines = [f"{self.study.title} ({self.level})", "", *_wrapped(self.answer, width), ""]
        left = self.left_to_the_full_run()
        lines += [
            f"  {s['id']:<4} {s['verdict']:<14} {s['published']}" for s in self.statements if s["id"] not in left
        ]
        if left:
            lines += ["", "Open in this quick look, with the verdict of the full run:"]
            lines += [
                f"  {s['id']:<4} {left[s['id']]:<14} {s['published']}" for s in self.statements if s["id"] in left
            ]
        lines += [
            "",
            f"statements: {_tally(published)}",
            *([f"statements of ours: {_tally(own)}"] if own else []),
            *(
                [f"closed-form checks: {len(self.checks) - len(bad)} of {len(self.checks)} hold"]
                if self.checks
                else []
            ),
            f"runs: {self.effort.made} made, {self.effort.kept} kept from before, {self.effort.events:.3g} events, "
            f"{self.effort.processor_s:.1f} s of processor time",
            f"report: {self.report}",
        ]
        return "\n".join(lines)


def _wrapped(markdown: str, width: int) -> list[str]:
    """Lines for a terminal, each paragraph and item broken by itself, without the marks of bold text."""
    return [
        line
        for text in markdown.replace("**", "").splitlines()
        for line in textwrap.wrap(text, width, subsequent_indent="  " if text.startswith("- ") else "") or [""]
    ]


def write_report(outcome: Outcome, planned: Sequence[Planned], command: str) -> None:
    """Writes the report of an outcome to its path."""
    study = outcome.study
    extent = "Quick look" if outcome.level == "quick" else "Full run"
    report = Report(study.title, f"{extent} · roamsim {outcome.version} · seed {outcome.seed}")
    bad = failed(outcome.checks)
    if bad:
        report.text(
            f"**{len(bad)} of {len(outcome.checks)} checks against closed forms failed. "
            "Do not trust these results.**",
            lead=True,
        )
    report.answer(study.question, outcome.answer)
    if study.headline and is_shown(study, study.exhibit_of(study.headline), outcome.level):
        _exhibit(report, outcome, study.headline, lead=True)
    report.heading("Published statements")
    published, own = _apart(outcome.statements)
    left = outcome.left_to_the_full_run()
    if outcome.level == "quick":
        report.text(_what_is_left(published, left))
        report.text(
            "This look has less traffic, coarser steps and fewer replications, so its intervals are wide. "
            f"`roamsim study run {study.name}` runs the whole publication."
        )
    report.text(f"Published as: {study.published_as}")
    if study.terms:
        terms = (f"- **{name}**: {text}" for name, text in study.terms.items())
        report.text("\n".join(["Words of the statements:\n", *terms]))
    if published:
        report.text(
            "Each statement has a rule that was written before the runs. Click a line to see its rule, all measured "
            "values with 95 % intervals and, if it differs, the reason. A verdict comes from runs, from an exact "
            "law, or from both; its line says which. A statement that differs is a result, not a failure."
        )
    report.statements([_statement(statement, outcome.level, left, study.terms) for statement in published])
    if own:
        report.heading("Statements of ours")
        report.text("The publication says nothing about these. They are judged in the same way and counted apart.")
        report.statements([_statement(statement, outcome.level, left, study.terms) for statement in own], "statement")
    parts = {
        title: in_order([exhibit for exhibit in study.all_exhibits if exhibit.part == part])
        for part, title in study.parts.items()
    }
    # One group is open; the others would make a page that nobody scrolls through.
    shown = [title for title, exhibits in parts.items() if exhibits]
    for title in shown:
        with report.section(title, count(len(parts[title]), "exhibit"), folded=title != shown[0]):
            _exhibits(report, outcome, parts[title])
    if outcome.checks:
        report.heading("Checks against closed forms")
        report.text(
            f"{len(outcome.checks) - len(bad)} of {len(outcome.checks)} hold. A check fails beyond "
            f"{limit(outcome.checks):.2f} standard errors, so that all together fail by chance once in a thousand."
        )
        rows = [_check_row(check) for check in outcome.checks]
        report.table(rows, f"All {count(len(rows), 'check')}: measured beside exact", max_rows=len(rows), folded=True)
    report.heading("Parameters")
    report.table([{"parameter": p.name, "value": _filled(p, planned), "source": p.source} for p in study.parameters])
    if study.coverage:
        report.heading("Where each part of the publication is shown")
        report.table([_covered(entry) for entry in outcome.coverage()], max_rows=len(study.coverage))
    report.heading("Provenance")
    report.text(f"`{command}`")
    report.parameters(outcome.made_with, "Made with")
    report.table(_provenance(study, planned, outcome.level), "Experiments", max_rows=1000)
    report.table(
        [
            {"figure": f.id, "experiments": ", ".join(f.experiments), "rows": len(outcome.figures[f.id])}
            for f in study.figures
            if f.id in outcome.figures
        ],
        "Figures and their experiments",
        max_rows=1000,
    )
    scenarios = {e.scenario for e in study.experiments} | {d.scenario for d in study.drawings if d.scenario}
    for name in sorted(scenarios):
        report.preformatted((study.folder / name).read_text(encoding="utf-8"), name)
    for name in (*FILES, *OPTIONAL_FILES):
        if (study.folder / name).is_file():
            report.preformatted((study.folder / name).read_text(encoding="utf-8"), name)
    report.write(outcome.report)


def _exhibits(report: Report, outcome: Outcome, exhibits: Sequence[Exhibit]) -> None:
    """Adds a group of exhibits, and behind them the names of those that are left to the full run."""
    study = outcome.study
    drawn = [exhibit for exhibit in exhibits if is_shown(study, exhibit, outcome.level)]
    for exhibit in drawn:
        if exhibit.id == study.headline:
            report.text(f"[{exhibit.title}](#{exhibit.id}) is at the head of this page.")
        else:
            _exhibit(report, outcome, exhibit.id)
    if left_out := [exhibit.title for exhibit in exhibits if exhibit not in drawn]:
        report.text("\n".join(("In the full run alone:\n", *(f"- {title}" for title in left_out))))


def _exhibit(report: Report, outcome: Outcome, id: str, *, lead: bool = False) -> None:
    """Adds a figure, table, drawing or sequence chart."""
    from altair.utils.schemapi import debug_mode

    exhibit, head = outcome.study.exhibit_of(id), caption(outcome.study.exhibit_of(id))
    if isinstance(exhibit, Figure):
        # The charts have one form, which tests draw: checking each against Altair's schema is slow.
        with debug_mode(False):
            chart = specification(exhibit, outcome.figures[id])
        remark = note(exhibit, outcome.figures[id]) or None
        report.figure(id, chart, head, remark, statements=exhibit.clauses, lead=lead)
    elif isinstance(exhibit, Tabulation):
        report.table(outcome.tables[id], head, exhibit.note or None, folded=exhibit.folded, lead=lead, id=id)
    else:
        words = _sentence(exhibit.remark) if isinstance(exhibit, Sequencechart) else exhibit.note
        made = outcome.pictures[id]
        add: Any = report.picture if isinstance(made, str) else report.figure
        add(id, made, head, words or None, lead=lead)


def _what_is_left(statements: Statements, left: Mapping[str, str]) -> str:
    """What a quick look shows already, and what only the full run can tell."""
    open_ = [one["id"] for one in statements if one["id"] in left]
    told = f"The quick look decides {len(statements) - len(open_)} of {count(len(statements), 'statement')}"
    if not open_:
        return f"{told}."
    return f"{told}. Open here, with the verdict of the full run: {', '.join(f'{id_} {left[id_]}' for id_ in open_)}."


def _statement(
    statement: Mapping[str, Any], level: Level, left: Mapping[str, str], terms: Mapping[str, str]
) -> dict[str, Any]:
    """A statement as the report shows it, with the terms that it uses: its numbers stand in `measured` already."""
    kept = ("values", "own", "turned_by", "replications", "replications_needed")
    shown = {key: value for key, value in statement.items() if value is not None and key not in kept}
    if statement["verdict"] == "not decidable":
        full = left.get(statement["id"], "not run yet")
        open_ = _what_would_decide(statement) if full in ("not run yet", "not decidable") else ""
        found = "" if full == "not run yet" else f"full run: {full}"
        shown["ours"] = "; ".join(filter(None, (statement["ours"], found, open_)))
    if level == "quick" and shown.pop("why", None) not in (None, NO_REASON):
        # Reasons are written of the full run. Beside other numbers they would claim what these may not show.
        shown["why"] = "the report of the full run gives the reason, with its own numbers"
    if statement.get("interval"):
        low, high = statement["interval"]
        shown["interval"] = f"{number(low)} … {number(high)} ({shown.pop('interval_of')})"
    told = " ".join(str(shown.get(key, "")) for key in ("published", "ours", "rests_on", "measured", "rule"))
    used = [name for name in terms if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", told)]
    return {**shown, "words": "; ".join(f"{name}: {terms[name]}" for name in used)}


def _what_would_decide(statement: Mapping[str, Any]) -> str:
    """How many replications would decide a statement that these do not."""
    if statement["replications_needed"] is None:
        return "no number of runs would decide" if statement["replications"] else ""
    return (
        f"about {statement['replications_needed']} replications would decide; "
        f"this run has {statement['replications']}"
    )


def _apart(statements: Statements) -> tuple[Statements, Statements]:
    """The publication's statements, and ours."""
    return [one for one in statements if not one["own"]], [one for one in statements if one["own"]]


def _tally(statements: Statements) -> str:
    """How many statements have each verdict."""
    words = [one["verdict"] for one in statements]
    several = {"agrees": "agree", "differs": "differ"}
    counts = [(words.count(verdict), verdict) for verdict in get_args(Verdict)]
    return ", ".join(f"{n} {verdict if n == 1 else several.get(verdict, verdict)}" for n, verdict in counts)


def _covered(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table of coverage."""
    return {
        "published": entry["published"],
        "where": entry["place"],
        "statements": [f"{name} {verdict}" for name, verdict in entry["statements"].items()],
        "shown in": entry["exhibits"],
        "left out, and why": entry["left_out"] or "",
    }


def _axes(figure: Figure) -> dict[str, Any]:
    """What the numbers of a figure are: its title, and label and unit of its axes."""

    def axis(title: str) -> dict[str, str | None]:
        labelled = re.fullmatch(r"(.*) \(([^()]*)\)", title)
        return {"label": labelled[1], "unit": labelled[2]} if labelled else {"label": title, "unit": None}

    return {"title": figure.title, "x": axis(figure.x_title), "y": axis(figure.y_title)}


def _filled(parameter: Parameter, planned: Sequence[Planned]) -> str:
    """The text of a parameter, with the values that its experiment was run with."""
    points = [one for one in planned if one.experiment.id == parameter.experiment]
    if not points:
        return parameter.value
    scenario = json.loads(points[0].scenario.canonical)

    def value(path: re.Match[str]) -> str:
        found: Any = scenario
        for key in path[1].split("."):
            found = next(e for e in found if e["name"] == key) if isinstance(found, list) else found[key]
        return value_words(found)

    return re.sub(r"\{([\w.-]+)\}", value, parameter.value)


def _settings(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Settings one by one, as `path = value`."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key} = {json.dumps(value) if isinstance(value, bool) else value}"


def _sentence(text: str) -> str:
    """A remark as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _check_row(check: Check) -> dict[str, Any]:
    return {
        "what": check.what,
        "measured": check.measured,
        "exact": check.exact,
        "standard error": check.standard_error,
        "z": round(check.z, 2),
    }


def _provenance(study: Study, planned: Sequence[Planned], level: Level) -> list[dict[str, Any]]:
    rows = []
    for experiment in study.experiments:
        points = [one for one in planned if one.experiment.id == experiment.id]
        rows.append(
            {
                "experiment": experiment.id,
                "what": experiment.title,
                "scenario": experiment.scenario,
                "varied": ", ".join(d.name for d in experiment.dimensions),
                "points": len(points),
                "replications": points[0].replications if points else 0,
                "runs": sum(one.replications for one in points),
                "settings": "; ".join(
                    _settings({**experiment.set, **(experiment.quick if level == "quick" else experiment.full).set})
                ),
            }
        )
    return rows


def plain(value: Any) -> Any:
    """A tree as JSON takes it: what is not a finite number becomes `None`."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value
