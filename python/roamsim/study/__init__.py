"""Published studies, reproduced: a folder `studies/NAME` becomes runs, figures, verdicts and a report.

    >>> from roamsim import study
    >>> outcome = study.run("mih-transport", level="quick")
    >>> outcome.report

`definition` reads the folder, `runs` runs it and keeps what is finished, `data` holds the estimates, `judging` the
rules of the verdicts, `figures` and `publish` what the reader sees. How to write a study: studies/README.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from roamsim._roamsim import build, version
from roamsim.errors import UsageError
from roamsim.files import write_whole
from roamsim.running.engines import Engine, engine
from roamsim.running.numbers import check_given, check_seed
from roamsim.running.shards import ALL, Shard
from roamsim.running.work import Listener, Progress, heard
from roamsim.storing.manifests import StudyManifest, read_manifest
from roamsim.storing.parts import Parts
from roamsim.storing.remote import is_url, mirrored
from roamsim.storing.store import refuse_other_files, writing
from roamsim.study.answer import answer
from roamsim.study.checks import Check
from roamsim.study.data import Data
from roamsim.study.definition import BUNDLED, LEVELS, Level, Study, available, load, of_folder
from roamsim.study.full import turned_in_full
from roamsim.study.judging import Finding
from roamsim.study.provenance import provenance
from roamsim.study.publish import NO_REASON, Outcome, write_report
from roamsim.study.reference import Comparison, Moved, compare, update
from roamsim.study.runs import Effort, Planned, distinct, execute, plan
from roamsim.tables.words import count

__all__ = [
    "Check",
    "Comparison",
    "Data",
    "Finding",
    "Level",
    "Moved",
    "Outcome",
    "Study",
    "available",
    "compare",
    "load",
    "run",
    "run_shard",
    "show",
    "update",
]


def show(study: Study) -> str:
    """Describes a study for a terminal: question, publication, runs, figures, statements.

    Raises:
        ScenarioError: a scenario of the study is not valid.
    """
    lines = [study.title, f"published as: {study.published_as}", "", study.question, ""]
    for level in LEVELS:
        total = sum(map(len, distinct(plan(study, level, study.seed)).values()))
        lines.append(f"{level}: {count(total, 'run')} of {count(len(study.experiments), 'experiment')}")
    parts = {
        "experiments": [f"{e.id:<28} {e.title}" for e in study.experiments],
        "figures": [f"{f.id:<36} {f.title}" for f in study.figures],
        "sequence charts": [f"{s.id:<36} {s.title}" for s in study.sequences],
        "tables": [f"{t.id:<36} {t.title}" for t in study.tables],
        "drawings": [f"{d.id:<36} {d.title}" for d in study.drawings],
        "statements": [f"{s.id:<4} {s.published}" for s in study.statements],
    }
    for heading, rows in parts.items():
        if rows:
            lines += ["", f"{heading}:", *(f"  {row}" for row in rows)]
    return "\n".join(lines)


def run(
    name: str | os.PathLike[str],
    *,
    level: Level = "full",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    seed: int | None = None,
    progress: Progress | Listener | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> Outcome:
    """Runs a study, or what is missing of it, and writes its report.

    Args:
        name: the name of one of `available()`, or the path of a study's folder.
        level: "quick" for a short look, "full" for the whole publication.
        out: folder of results and report; `results/NAME-quick` or `results/NAME-full` unless given. Runs that are
            there are not made again.
        jobs: runs side by side; as many as there are processors unless given.
        seed: of every run; the study's own unless given.
        progress: hears how it gets on.
        executor: makes the runs in place of threads, as of `roamsim.sweep`.
        time_limit_s: seconds after which a run is stopped, as of `roamsim.sweep`.

    Returns:
        Figures, statements with verdicts, and checks; its `require_checks()` raises when a closed form was missed.

    Raises:
        UsageError: there is no such study, or its definition is malformed, or the folder cannot be used.
        ScenarioError: a scenario of the study is not valid.
        RunFailed: runs failed; all others were made, and are kept.
        Interrupted: the user stopped it; the same call goes on from there.
    """
    study = load(os.fspath(name))
    check_given("jobs", jobs, 1)
    seed = study.seed if seed is None else seed
    check_seed(seed)
    makers = engine(jobs, executor, time_limit_s)
    if out is not None and is_url(out):
        raise UsageError(
            f"{os.fspath(out)}: the report of a study goes to a folder of this machine. Have the runs made by "
            f"--shard 1/1 --out {os.fspath(out)}, and merge them into one"
        )
    folder = Path(out) if out is not None else Path("results") / f"{study.name}-{level}"
    planned = plan(study, level, seed)
    with writing(folder):
        runs, effort, finished = _make(study, planned, folder, level, seed, makers, progress, ALL)
        outcome = _conclude(study, level, seed, Data(planned, runs, study.places), effort, folder, finished.made_with)
        write_report(outcome, planned, finished.command)
        finished.write(folder)
    return outcome


def run_shard(
    name: str | os.PathLike[str],
    shard: str,
    *,
    level: Level = "full",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    seed: int | None = None,
    progress: Progress | Listener | None = None,
    executor: Executor | None = None,
    time_limit_s: float | None = None,
) -> tuple[str | os.PathLike[str], Effort]:
    """Makes a shard of a study's runs, or what is missing of it; `run` in the folder of all shards writes the report.

    Args:
        name: as for `run`, and so are the others.
        shard: which of how many, as in `3/16`.
        level: as for `run`.
        out: folder of the runs, or a URL that fsspec understands; `results/NAME-LEVEL-shard-3-of-16` unless given.
        jobs: as for `run`.
        seed: as for `run`.
        progress: hears how it gets on.
        executor: as for `run`.
        time_limit_s: as for `run`.

    Returns:
        The folder, and what it took.

    Raises:
        UsageError: as for `run`, and so are the others.
    """
    study = load(os.fspath(name))
    check_given("jobs", jobs, 1)
    seed = study.seed if seed is None else seed
    check_seed(seed)
    makers = engine(jobs, executor, time_limit_s)
    share = Shard.parse(shard)
    usual = Path("results") / f"{study.name}-{level}-shard-{share.number}-of-{share.of}"
    planned = plan(study, level, seed)
    place = mirrored(os.fspath(out)) if out is not None and is_url(out) else nullcontext(Path(out or usual))
    with place as folder, writing(folder):
        _, effort, finished = _make(study, planned, folder, level, seed, makers, progress, share)
        finished.write(folder)
    return out or usual, effort


def _make(
    study: Study,
    planned: list[Planned],
    folder: Path,
    level: Level,
    seed: int,
    engine: Engine,
    progress: Progress | Listener | None,
    shard: Shard,
) -> tuple[Parts, Effort, StudyManifest]:
    """The runs of a folder, once those that were missing are made; what that took; and the manifest to be written."""
    before = _earlier(folder, study)
    command = f"roamsim study run {study.name}{' --quick' if level == 'quick' else ''} --seed {seed}"
    own, made_by = study.folder.parent != BUNDLED.resolve(), provenance()

    def manifest(effort: Effort, wall_s: float) -> StudyManifest:
        made_with = {**made_by, **_time(before, level, seed, effort, wall_s)}
        return StudyManifest("study", study.name, own, level, seed, version(), build(), command, made_with)

    # Before the first run is kept: a study that is interrupted leaves a folder that says what it holds.
    manifest(Effort(0, 0, 0, 0.0), 0.0).write(folder)
    begun_s = time.monotonic()
    runs = Parts(folder, mend=True)
    effort = execute(planned, runs, seed=seed, engine=engine, progress=heard(progress), shard=shard)
    return runs, effort, manifest(effort, time.monotonic() - begun_s)


def _earlier(folder: Path, study: Study) -> StudyManifest | None:
    """The manifest of an earlier run of this study in a folder.

    Raises:
        UsageError: it holds something else.
    """
    held = read_manifest(folder)
    if held is None:
        refuse_other_files(folder)
        return None
    if not isinstance(held, StudyManifest):
        raise UsageError(f"{os.fspath(folder)!r} holds results of a {held.kind}; choose another folder")
    if held.study != study.name:
        raise UsageError(f"{os.fspath(folder)!r} holds results of the study {held.study!r}; choose another folder")
    return held


def publish_again(
    held: StudyManifest,
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    own: str | os.PathLike[str] | None = None,
) -> Path:
    """Writes the report of a study's folder again from its finished runs; those that are missing are run first.

    Args:
        held: the folder's manifest.
        folder: of the study's results.
        out: the HTML file; `FOLDER/report.html` unless given.
        own: the folder of the study's definition, where it is no study of the package.
    """
    definition = of_folder(held, folder, own).folder
    outcome = run(definition, level="quick" if held.level == "quick" else "full", seed=held.seed, out=folder)
    return outcome.report if out is None else write_whole(out, outcome.report.read_bytes(), follow=True)


#: What the manifest adds up over the calls that made runs.
RUNS, WALL_S, PROCESSOR_S = "runs made", "seconds that they took", "seconds of processor time"


def _time(
    before: StudyManifest | None, level: Level, seed: int, effort: Effort, wall_s: float
) -> dict[str, str | int | float]:
    """How long the runs of this level and seed took, with those of earlier calls."""
    made = {RUNS: effort.made, WALL_S: round(wall_s, 1) if effort.made else 0, PROCESSOR_S: effort.processor_s}
    if before and (before.level, before.seed, before.build) == (level, seed, build()):
        earlier = {name: before.made_with.get(name, 0) for name in made}
        made = {name: value + (0 if isinstance(past := earlier[name], str) else past) for name, value in made.items()}
    return {name: round(value, 1) for name, value in made.items()}


def _conclude(
    study: Study, level: Level, seed: int, data: Data, effort: Effort, folder: Path, made_with: Mapping[str, Any]
) -> Outcome:
    from roamsim.study.declared import filled
    from roamsim.study.drawings import drawn
    from roamsim.study.figures import figure_rows
    from roamsim.study.sequences import picture
    from roamsim.study.shown import is_shown
    from roamsim.study.verdicts import in_words, verdict

    statements = []
    findings: dict[str, Finding] = {}
    # Few runs may not show what turns a verdict round: a quick look says what the full run has found as well.
    known = turned_in_full(study) if level == "quick" else {}
    for statement in study.statements:
        judged = verdict(study, statement, data, level)
        finding = findings[statement.id] = judged.finding
        turned = dict.fromkeys((*judged.turned_by, *known.get((statement.id, finding.verdict), ())))
        entry: Mapping[str, Any] = {
            "id": statement.id,
            "published": statement.published,
            "source": statement.source or None,
            "ours": finding.ours,
            "own": statement.own,
            "rests_on": "; ".join(filter(None, (statement.rests_on, *finding.rests_on, *in_words(turned)))) or None,
            "turned_by": list(judged.turned_by),
            "does_not_rest_on": "; ".join(judged.tried) or None,
            "judged_by": finding.source,
            "replications": finding.replications or None,
            "replications_needed": finding.needed,
            "measured": finding.measured,
            "interval": list(finding.interval) if finding.interval else None,
            "interval_of": finding.decided_by.what if finding.decided_by else None,
            "values": [asdict(value) for value in finding.values],
            "verdict": finding.verdict,
            "rule": statement.rule,
            "why": (statement.if_differs or NO_REASON) if finding.verdict == "differs" else None,
        }
        statements.append(entry)
    return Outcome(
        study=study,
        level=level,
        seed=seed,
        answer=answer(study, data, findings),
        figures={f.id: figure_rows(study, f, data) for f in study.figures if is_shown(study, f, level)},
        statements=statements,
        checks=study.function(study.checks)(data) if study.checks else [],
        pictures={
            **{s.id: picture(study, s, seed) for s in study.sequences if is_shown(study, s, level)},
            **{d.id: drawn(study, d, data, seed) for d in study.drawings if is_shown(study, d, level)},
        },
        tables={
            table.id: study.exhibit(table.function)(data)
            if table.function
            else filled(table, data, study.function(table.published) if table.published else None, study.words)
            for table in study.tables
            if is_shown(study, table, level)
        },
        data=data,
        effort=effort,
        made_with=made_with,
        report=folder / "report.html",
    )
