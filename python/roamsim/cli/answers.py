"""The commands `roamsim sensitivity` and `roamsim optimise`."""

from typing import Annotated, Any

import typer

from roamsim.cli import completion
from roamsim.cli.options import (
    AllowFilesOutside,
    Jobs,
    MaxMemory,
    OnOption,
    ScenarioFile,
    Seed,
    Settings,
    ShardOption,
    TimeLimit,
    color,
    command,
    next_step,
    overrides,
    seconds,
)
from roamsim.cli.shards import share, tell_of
from roamsim.cli.streams import put_out, say
from roamsim.errors import UsageError

Ranges = Annotated[
    list[str],
    typer.Option(
        "--vary",
        metavar="PATH=LOW:HIGH",
        help="A quantity and its range (10ms:100ms), or LOW:HIGH:STEP. May be repeated.",
        autocompletion=completion.keys,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder or URL that keeps the results; finished runs in it are used."),
]


def sensitivity(
    file: ScenarioFile,
    vary: Ranges,
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="TABLE.COLUMN, TABLE.NAME.COLUMN or TABLE.COLUMN:jain; by default the scenario's main metric. "
            "May be repeated.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="sobol|morris",
            help="sobol: shares of the variance; morris: sizes of effects, with fewer runs.",
        ),
    ] = "sobol",
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Base samples of Sobol's method, 128 by default; trajectories of Morris', 16."
        ),
    ] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Repetitions of each point, on the same streams; 5 by default.")
    ] = None,
    out: Out = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object: sentences, indices.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the indices as CSV.")] = False,
    jobs: Jobs = None,
    _: MaxMemory = None,
    seed: Seed = 1,
    time_limit: TimeLimit = None,
    shard: ShardOption = None,
    on: OnOption = None,
) -> None:
    """Rank quantities by their effect on a metric, with intervals."""
    from roamsim.cli.bars import progress
    from roamsim.cli.campaigns import answer_summary
    from roamsim.estimates.sensitivities import Sensitivity
    from roamsim.estimates.sensitivities import sensitivity as run_sensitivity
    from roamsim.running.clusters import cluster
    from roamsim.scenarios.ranges import parse_range
    from roamsim.scenarios.reading import source
    from roamsim.storing.outputs import csv_text
    from roamsim.tables.metrics import Target
    from roamsim.tables.units import in_unit
    from roamsim.tables.words import count

    if json and csv:
        raise UsageError("--json and --csv both write to stdout; choose one")
    shared = share(shard, out, printed=json or csv)
    with cluster(on, jobs) as executor, progress("sensitivity") as heard:
        results = run_sensitivity(
            source(file, allow_files_outside=allow_files_outside),
            [parse_range(text) for text in vary],
            settings=overrides(settings),
            metrics=metric or [],
            method=method,
            samples=samples,
            replications=replications,
            jobs=jobs,
            seed=seed,
            out=out,
            command=command(),
            progress=heard,
            color=color(),
            executor=executor,
            time_limit_s=seconds("--time-limit", time_limit),
            shard=shared,
        )
    if shard is not None:
        tell_of(shard, results, out)
        return
    found = Sensitivity(results)
    if json:
        put_out(f"{found.to_json()}\n")
    elif csv:
        put_out(csv_text(found.indices))
    else:
        numbers = found.indices.columns[3:] if method == "morris" else ()

        def effect(row: dict[str, Any], column: str) -> str | None:
            return in_unit(Target.parse(row["metric"]).metric)(row[column]) if column in numbers else None

        answer_summary(results, found.indices, (*found.sentences, *found.notes), effect)
    sampled = found.sampled
    runs = len(set(sampled.rows)) * sampled.replications
    kept = f" ({runs - results.made} of them were there already)" if results.made < runs else ""
    say(f"{count(len(set(sampled.rows)), 'point')}, {count(runs, 'run')}{kept}")
    if out is not None:
        say(f"kept in {out}; next: {next_step(out)}")


def optimise(
    file: ScenarioFile,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=LOW:HIGH|A,B",
            help="A quantity and its range (10ms:100ms) or LOW:HIGH:STEP; or values to choose "
            'from (reno,sack), also tables ({ packets = 20 },{ discipline = "codel" }). May be repeated.',
            autocompletion=completion.keys,
        ),
    ],
    maximise: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="TABLE.COLUMN, TABLE.NAME.COLUMN or TABLE.COLUMN:jain: the metric that should be high.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="The metric that should be low.", autocompletion=completion.metrics),
    ] = None,
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    trials: Annotated[
        int | None, typer.Option(metavar="N", help="Combinations of values to try; 50 by default.")
    ] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Repetitions of each trial, on the same streams; 5 by default.")
    ] = None,
    fresh: Annotated[
        int | None, typer.Option(metavar="N", help="Fresh repetitions that confirm the winner; 20 by default.")
    ] = None,
    out: Out = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: sentences, means, differences, trials.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the trials as CSV.")] = False,
    jobs: Jobs = None,
    _: MaxMemory = None,
    seed: Seed = 1,
    time_limit: TimeLimit = None,
    shard: Annotated[str | None, typer.Option("--shard", hidden=True)] = None,
    on: OnOption = None,
) -> None:
    """Search for the best values of several quantities, and confirm them by fresh runs."""
    from roamsim.cli.bars import progress
    from roamsim.cli.campaigns import answer_summary
    from roamsim.estimates.optima import Optimum
    from roamsim.estimates.optima import optimise as run_search
    from roamsim.running.clusters import cluster
    from roamsim.scenarios.ranges import parse_varied
    from roamsim.scenarios.reading import source
    from roamsim.storing.outputs import csv_text
    from roamsim.tables.units import in_unit
    from roamsim.tables.words import count

    if json and csv:
        raise UsageError("--json and --csv both write to stdout; choose one")
    if shard is not None:
        raise UsageError(
            "a search has no shards, because each trial depends on those before. Use --on dask or --on "
            "tcp://SCHEDULER, which spreads the runs of each lot of trials over machines"
        )
    if (maximise is None) == (minimise is None):
        raise UsageError("add either --maximise METRIC or --minimise METRIC")
    with cluster(on, jobs) as executor, progress("optimise") as heard:
        results = run_search(
            source(file, allow_files_outside=allow_files_outside),
            [parse_varied(text) for text in vary],
            settings=overrides(settings),
            metric=maximise or minimise or "",
            goal="maximise" if maximise is not None else "minimise",
            trials=trials,
            replications=replications,
            fresh=fresh,
            jobs=jobs,
            seed=seed,
            out=out,
            command=command(),
            progress=heard,
            color=color(),
            executor=executor,
            time_limit_s=seconds("--time-limit", time_limit),
        )
    found = Optimum(results)
    if json:
        put_out(f"{found.to_json()}\n")
    elif csv:
        put_out(csv_text(found.trials))
    else:
        shown = in_unit(found.target.metric)

        def mean(row: dict[str, Any], column: str) -> str | None:
            return shown(row[column]) if column in ("search_mean", "mean", "low", "high") else None

        answer_summary(results, found.means, (*found.sentences, *found.notes), mean)
    say(f"{count(found.trials.height, 'trial')}, {count(results.made, 'new run')}")
    if out is not None:
        say(f"kept in {out}; next: {next_step(out)}")
