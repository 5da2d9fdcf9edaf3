"""The commands `roamsim study ...`."""

from typing import Annotated

import typer

from roamsim.cli import completion
from roamsim.cli.faults import WholeSentences
from roamsim.cli.options import Jobs, MaxMemory, OnOption, ShardOption, TimeLimit, seconds
from roamsim.cli.streams import put_out, say, tell, tell_path
from roamsim.errors import UsageError

StudyName = Annotated[
    str, typer.Argument(metavar="NAME", help="A study, or its folder.", autocompletion=completion.studies)
]

#: Exit code where results are not as in the reference.
MOVED = 5

app = typer.Typer(
    cls=WholeSentences,
    help="Reproduce published studies.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def study_list() -> None:
    """List the studies."""
    from roamsim import study

    for name in study.available():
        tell(f"{name}: {study.load(name).title}")


@app.command("show")
def study_show(name: StudyName) -> None:
    """Show what a study reproduces: question, figures, published statements."""
    from roamsim import study

    tell(study.show(study.load(name)))


@app.command("compare")
def study_compare(
    name: StudyName,
    quick: Annotated[bool, typer.Option("--quick", help="A short look, with its own reference.")] = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder of results and report; results/NAME-full or -quick by default."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Make these results the reference.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
    jobs: Jobs = None,
    _: MaxMemory = None,
    time_limit: TimeLimit = None,
    on: OnOption = None,
) -> None:
    """Run what is missing of a study, and compare its results with the reference in its folder.

    The exit code is 5 if a verdict, a value, a check or a run differs from the reference.
    """
    from roamsim import study
    from roamsim.cli.bars import progress
    from roamsim.running.clusters import cluster

    level: study.Level = "quick" if quick else "full"
    limit_s = seconds("--time-limit", time_limit)
    with cluster(on, jobs) as executor, progress(name) as heard:
        outcome = study.run(
            name, level=level, out=out, jobs=jobs, progress=heard, executor=executor, time_limit_s=limit_s
        )
    outcome.require_checks()
    if update:
        tell(f"reference: {study.update(outcome)}")
        return
    comparison = study.compare(outcome)
    if json:
        put_out(f"{comparison.to_json()}\n")
    else:
        tell(comparison.summary())
    if comparison.moved:
        raise typer.Exit(MOVED)


@app.command("run")
def study_run(
    name: StudyName,
    quick: Annotated[bool, typer.Option("--quick", help="A short look: fewer points, shorter runs.")] = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder of results and report; results/NAME-full or -quick by default."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print figures and statements as JSON.")] = False,
    jobs: Jobs = None,
    _: MaxMemory = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of every run; the study's own by default.")
    ] = None,
    time_limit: TimeLimit = None,
    shard: ShardOption = None,
    on: OnOption = None,
) -> None:
    """Run a study and write its report; the same command resumes an interrupted study."""
    from roamsim import study
    from roamsim.cli.bars import progress
    from roamsim.cli.console import on_stdout
    from roamsim.running.clusters import cluster
    from roamsim.study.publish import WIDTH
    from roamsim.tables.words import count

    level: study.Level = "quick" if quick else "full"
    limit_s = seconds("--time-limit", time_limit)
    if shard is not None:
        if json:
            raise UsageError("a shard has no figures and statements for --json; merge the shards first")
        with cluster(on, jobs) as executor, progress(f"{name} {shard}") as heard:
            folder, effort = study.run_shard(
                name,
                shard,
                level=level,
                out=out,
                jobs=jobs,
                seed=seed,
                progress=heard,
                executor=executor,
                time_limit_s=limit_s,
            )
        there = f" ({effort.kept} of them were there already)" if effort.kept else ""
        say(
            f"shard {shard}: {count(effort.kept + effort.made, 'run')}{there}; "
            "when all are made: roamsim merge DIR... --out OUT, "
            f"then roamsim study run {name}{' --quick' if quick else ''} --out OUT"
        )
        tell_path(folder)
        return
    with cluster(on, jobs) as executor, progress(name) as heard:
        outcome = study.run(
            name,
            level=level,
            out=out,
            jobs=jobs,
            seed=seed,
            progress=heard,
            executor=executor,
            time_limit_s=limit_s,
        )
    if json:
        put_out(f"{outcome.to_json()}\n")
        say(f"report: {outcome.report}")
    else:
        console = on_stdout()
        tell(outcome.summary(min(console.width, WIDTH)) if console.is_terminal else outcome.summary())
    outcome.require_checks()
