"""The command `roamsim`. Results go to stdout, messages to stderr.

Exit codes:
- 0: done
- 1: a run failed
- 2: usage
- 3: the scenario is not valid
- 4: a study's check against a closed form failed
- 5: a study's results differ from its reference
- 130: interrupted; the same command resumes

`roamsim live` ends with the code of its first program that ended, 124 if packets were late, 125 without namespaces.
"""

import os
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from roamsim._roamsim import ScenarioError, version
from roamsim.cli import answers, completion, examples, streams
from roamsim.cli.faults import Commands
from roamsim.cli.live import live
from roamsim.cli.options import (
    AllowFilesOutside,
    Jobs,
    Kind,
    MaxMemory,
    OnOption,
    OwnStudy,
    ResultFolder,
    ScenarioFile,
    Seed,
    Settings,
    ShardOption,
    TimeLimit,
    Trace,
    color,
    command,
    next_step,
    overrides,
    seconds,
)
from roamsim.cli.shards import share, tell_of
from roamsim.cli.streams import put_out, tell, tell_path
from roamsim.cli.study import app as study_app
from roamsim.errors import UsageError

app = typer.Typer(
    name="roamsim",
    cls=Commands,
    help="Simulates networks whose terminals move: TCP, SCTP, QUIC, UDP and IEEE 802.21 over wires and radio.",
    epilog="Start with `roamsim demo`, or with `roamsim init` and `roamsim run scenario.toml`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain text: what draws boxes takes longer to load than all the rest of a command that prints its help.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(study_app, name="study")


def _print_version(asked: bool) -> None:
    if asked:
        tell(f"roamsim {version()}")
        raise typer.Exit


@app.callback()
def _main(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    file: ScenarioFile,
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    seed: Seed = 1,
    replications: Annotated[int, typer.Option(metavar="N", help="Independent repetitions.", min=1)] = 1,
    jobs: Jobs = None,
    _: MaxMemory = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all tables.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="The table that --csv prints; flows by default, else signalling.",
            autocompletion=completion.tables,
        ),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all tables as Parquet, with a manifest.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report of the run over time: one HTML file that works offline."),
    ] = None,
    pcap: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a pcapng capture.")] = None,
    pcap_at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE",
            help="Capture only packets that this node sends or receives. May be repeated.",
        ),
    ] = None,
    pcap_frames: Annotated[
        str | None,
        typer.Option(
            metavar="all|NODE",
            help="Capture 802.11 frames instead: all, or those that a node sends or hears.",
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the qlog of each end of a QUIC connection."),
    ] = None,
    trace: Trace = None,
) -> None:
    """Run a scenario and print a summary, or its tables."""
    from roamsim.cli.bars import progress
    from roamsim.running.run import run_loaded, traces
    from roamsim.scenarios.reading import parse_source, source

    if json and csv:
        raise UsageError("--json and --csv both write to stdout; choose one")
    if table and not csv:
        raise UsageError("--table chooses what --csv prints; add --csv")
    kinds = traces(trace or [])
    if kinds and not (json or csv or parquet or report):
        raise UsageError(
            "the summary does not show what --trace records; add --parquet DIR, --report FILE, --json or --csv"
        )
    # What keeps results takes longer to load than a short run takes.
    if json or csv or parquet is not None or report is not None:
        from roamsim.storing import outputs
    if kinds:
        from roamsim.storing.spool import spooling
    if report is not None:
        # Before anything is run, for it may lack what it needs.
        from roamsim.reports.run import report as page_of

        outputs.check_page(report)
    read = source(file, allow_files_outside=allow_files_outside)
    scenario = parse_source(read, overrides(settings), color=color())
    with ExitStack() as open_folders:
        if parquet is not None:
            open_folders.enter_context(outputs.prepared(parquet))
        spool = open_folders.enter_context(spooling(parquet)) if kinds else None
        with progress("run") as heard:
            result = run_loaded(
                scenario,
                seed=seed,
                replications=replications,
                trace=kinds,
                pcap=pcap,
                pcap_at=pcap_at or [],
                pcap_frames=pcap_frames,
                qlog=qlog,
                jobs=jobs,
                progress=heard,
                spool=spool,
            )
        if parquet is not None:
            outputs.write_parquet(parquet, scenario, result, spool, read.text, command())
            _say(f"wrote {parquet}")
        if report is not None:
            page_of(outputs.in_memory(scenario, result, spool, read.text, command())).write(report, follow=True)
            _say(f"wrote {report}")
        if pcap is not None:
            _say(f"wrote {pcap}")
        if qlog is not None:
            _say(f"wrote {qlog}")
        if json:
            outputs.put_json(result, spool, put_out)
            put_out("\n")
        elif csv:
            name, others = outputs.csv_table(result, table)
            outputs.put_csv(result, name, spool, put_out)
            if table is None:
                _say(f"this is {name}; --table prints another: {', '.join(others)}")
        else:
            # What draws tables takes a while to load.
            from roamsim.cli.summary import summary

            summary(result, scenario)


@app.command()
def sweep(
    file: ScenarioFile,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=SPEC",
            help="Values a,b,c or a range start:end:step, end included, with units (10ms:100ms:10ms). Several "
            "--vary run all combinations.",
            autocompletion=completion.keys,
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder or URL of the results; finished runs in it are used. Without it, print the means.",
        ),
    ] = None,
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    replications: Annotated[int | None, typer.Option(metavar="N", help="Repetitions of each point.", min=1)] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC=2%",
            help="Add replications until the half-width of the 95 % interval is this share of the mean.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    max_replications: Annotated[
        int | None, typer.Option(metavar="N", help="Limit of --precision; 100 by default.", min=2)
    ] = None,
    trace: Trace = None,
    jobs: Jobs = None,
    _: MaxMemory = None,
    seed: Seed = 1,
    time_limit: TimeLimit = None,
    shard: ShardOption = None,
    on: OnOption = None,
) -> None:
    """Run a scenario over varied values; the same command resumes an interrupted sweep."""
    from roamsim.cli.bars import progress
    from roamsim.cli.campaigns import sweep_summary
    from roamsim.running.clusters import cluster
    from roamsim.running.run import traces
    from roamsim.running.sweeps import MAX_REPLICATIONS, Precision
    from roamsim.running.sweeps import sweep as run_sweep
    from roamsim.scenarios.reading import source
    from roamsim.scenarios.vary import parse_variation
    from roamsim.tables.words import count

    if max_replications is not None and precision is None:
        raise UsageError("--max-replications bounds --precision; add it, or use --replications")
    kinds = traces(trace or [])
    if kinds and out is None:
        raise UsageError("the table does not show what --trace records; add --out DIR")
    shared = share(shard, out)
    with cluster(on, jobs) as executor, progress("sweep") as heard:
        results = run_sweep(
            source(file, allow_files_outside=allow_files_outside),
            [parse_variation(text) for text in vary],
            settings=overrides(settings),
            replications=replications,
            precision=Precision.parse(precision) if precision else None,
            max_replications=max_replications or MAX_REPLICATIONS,
            jobs=jobs,
            seed=seed,
            out=out,
            traces=kinds,
            command=command(),
            progress=heard,
            color=color(),
            shard=shared,
            executor=executor,
            time_limit_s=seconds("--time-limit", time_limit),
        )
    if shard is not None:
        tell_of(shard, results, out)
        return
    if out is None:
        sweep_summary(results)
    runs = sum(point.replications for point in results.manifest.points)
    kept = f" ({runs - results.made} of them were there already)" if results.made < runs else ""
    for values in results.manifest.unmet:
        where = ", ".join(f"{path}={value}" for path, value in values.items())
        most = max_replications or MAX_REPLICATIONS
        _say(f"not as precise as asked for after {most} replications: {where or 'the only point'}")
    for note in (results.alike_in_words, *results.failures.values()):
        if note:
            _say(note)
    if out is not None:
        _say(f"{count(len(results.manifest.points), 'point')}, {count(runs, 'run')}{kept}; next: {next_step(out)}")
        tell_path(out)


@app.command()
def merge(
    folders: Annotated[
        list[str], typer.Argument(metavar="DIR...", help="Folders or URLs of shards; they are not changed.")
    ],
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the merged results; runs in it are kept.")],
) -> None:
    """Merge the shards of a sweep or a study, without running anything."""
    from roamsim.storing.manifests import StudyManifest
    from roamsim.storing.merging import merge as put_together
    from roamsim.tables.words import count

    done = put_together(folders, out)
    named = shlex.quote(out)
    if isinstance(done.manifest, StudyManifest):
        quick = " --quick" if done.manifest.level == "quick" else ""
        then = f"roamsim study run {done.manifest.study}{quick} --out {named}"
    else:
        then = f"roamsim report {named}"
    if done.missing:
        _say(f"{count(done.missing, 'run')} in none of the folders: merge more of them, or sweep with --out {named}")
    _say(f"{count(done.taken, 'new run')}; next: {then}")
    tell_path(out)


@app.command()
def compare(
    file: ScenarioFile,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=a,b,c",
            help="The values to compare. With further paths, values of the first are compared at each "
            "combination of the others.",
            autocompletion=completion.keys,
        ),
    ],
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="TABLE.COLUMN, TABLE.NAME.COLUMN or TABLE.COLUMN:jain; by default the scenario's main metric "
            "(flows.goodput_bps of bulk streams). May be repeated.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="The value to compare others with; the first by default."),
    ] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Repetitions of each value, 2 or more; 10 by default.")
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="1%",
            help="Add replications until every difference's 95 % interval has this half-width.",
        ),
    ] = None,
    max_replications: Annotated[
        int | None, typer.Option(metavar="N", help="Limit of --precision; 100 by default.", min=2)
    ] = None,
    trace: Trace = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder or URL that keeps the results; finished runs in it are used."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: sentences, means, differences.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the differences as CSV.")] = False,
    jobs: Jobs = None,
    _: MaxMemory = None,
    seed: Seed = 1,
    time_limit: TimeLimit = None,
    shard: ShardOption = None,
    on: OnOption = None,
) -> None:
    """Compare values of a key on the same random losses; print their differences with intervals."""
    from roamsim.cli.bars import progress
    from roamsim.cli.campaigns import comparison_summary
    from roamsim.estimates.comparisons import Comparison, compared_runs
    from roamsim.running.clusters import cluster
    from roamsim.running.run import traces
    from roamsim.running.sweeps import MAX_REPLICATIONS
    from roamsim.scenarios.reading import source
    from roamsim.scenarios.vary import parse_variation
    from roamsim.storing.outputs import csv_text

    if json and csv:
        raise UsageError("--json and --csv both write to stdout; choose one")
    kinds = traces(trace or [])
    if kinds and out is None:
        raise UsageError("the comparison does not show what --trace records; add --out DIR")
    shared = share(shard, out, printed=json or csv)
    if max_replications is not None and precision is None:
        raise UsageError("--max-replications bounds --precision; add it, or use --replications")
    with cluster(on, jobs) as executor, progress("compare") as heard:
        runs = compared_runs(
            source(file, allow_files_outside=allow_files_outside),
            [parse_variation(text) for text in vary],
            settings=overrides(settings),
            metrics=metric or [],
            baseline=baseline,
            replications=replications,
            precision=precision,
            max_replications=max_replications or MAX_REPLICATIONS,
            traces=kinds,
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
        tell_of(shard, runs[0], out)
        return
    compared = Comparison(*runs)
    if json:
        put_out(f"{compared.to_json()}\n")
    elif csv:
        put_out(csv_text(compared.differences))
    else:
        comparison_summary(compared)
    if precision is not None:
        for pair in compared.wide(precision):
            _say(f"not as precise as asked for after {max_replications or MAX_REPLICATIONS} replications: {pair}")
    if out is not None:
        _say(f"kept in {out}; next: {next_step(out)}")


app.command()(live)
app.command()(examples.demo)
app.command()(examples.examples)
app.command()(answers.sensitivity)
app.command()(answers.optimise)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Scenarios; - reads stdin.")],
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
) -> None:
    """Validate scenarios without running them."""
    from roamsim.running.checking import check_text
    from roamsim.scenarios.reading import source

    replaced = overrides(settings)
    # A scenario that is not valid tells more than a file that cannot be read: its exit code goes first.
    invalid, unreadable = [], []
    for file in files:
        try:
            read = source(file, allow_files_outside=allow_files_outside)
            tell(f"{file} is valid. {check_text(read, replaced, color=color())}")
        except ScenarioError as error:
            invalid.append(error)
        except UsageError as error:
            unreadable.append(error)
    failed: list[Exception] = [*unreadable, *invalid]
    for early in failed[:-1]:
        _complain(early)
    if failed:
        raise failed[-1]


@app.command()
def init(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="The file to write; - prints it.")] = "scenario.toml",
    kind: Annotated[
        Kind,
        typer.Option(help="basic: every common key, with comments; phone: a node that selects among its radios."),
    ] = Kind.BASIC,
) -> None:
    """Write a commented scenario to start from."""
    from roamsim._roamsim import template
    from roamsim.files import check_ending, is_wrong_path, write_whole
    from roamsim.scenarios.bundled import copy_files, example, with_schema

    chosen = None if kind is Kind.BASIC else example(kind.value)
    text = with_schema(template()) if chosen is None else chosen.copy
    if file == "-":
        put_out(text)
        if chosen is not None:
            _say(f"it reads {', '.join(chosen.files)}; `roamsim init --kind {chosen.name} FILE` copies that too")
        return
    check_ending(file, "the scenario is TOML", ".toml")
    try:
        if os.path.lexists(file):
            raise UsageError(f"{file} exists already; choose another name")
        if chosen is not None:
            copy_files(chosen, Path(file).parent)
        write_whole(file, text.encode())
    except OSError as error:
        if is_wrong_path(error):
            raise UsageError(f"{file} cannot be written: {error.strerror}") from None
        raise
    _say(f"try: roamsim run {shlex.quote(file)}")
    tell_path(file)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenarios: every key with its unit, default and source."""
    from roamsim._roamsim import schema as text

    put_out(f"{text()}\n")


@app.command()
def explain(
    metric: Annotated[
        str | None,
        typer.Argument(
            metavar="[METRIC]",
            help="A column, a table, table.column, or a trace.",
            autocompletion=completion.explained,
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="STACK",
            help="Print the settings of a TCP preset (`stack = ...`), with sources.",
            autocompletion=completion.stacks,
        ),
    ] = None,
) -> None:
    """Explain a column of the results, with unit, formula and source; without a name, list all."""
    from roamsim.tables import metrics

    if preset is not None:
        from roamsim.cli.presets import lines

        if metric is not None:
            raise UsageError("give either a column or --preset")
        tell("\n".join(lines(preset)))
        return
    if metric is None:
        for name, meaning in metrics.table_meanings().items():
            tell(f"{name}: {meaning}")
            for column in metrics.explain(name):
                tell(f"  {column.column:26}{f'[{column.unit}] ' if column.unit else ''}{column.meaning}")
            tell()
        tell("traces: What --trace records.")
        for trace in metrics.traces():
            tell(f"  {trace.column:26}{f'[{trace.unit}] ' if trace.unit else ''}{trace.meaning}")
        return
    tell("\n\n".join(str(found) for found in metrics.explain(metric)))


@app.command()
def query(
    folder: ResultFolder,
    question: Annotated[str, typer.Argument(metavar="SQL", help="For instance: select * from flows")],
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list of rows.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    vertical: Annotated[bool, typer.Option("--vertical", help="Print each row as a list.")] = False,
    study: OwnStudy = None,
    _: MaxMemory = None,
) -> None:
    """Query the tables of results in SQL. It changes nothing."""
    from roamsim.api import ask
    from roamsim.cli.summary import print_frame
    from roamsim.storing.outputs import csv_text
    from roamsim.tables.result import rows_json

    if json and csv:
        raise UsageError("--json and --csv both write to stdout; choose one")
    if vertical and (json or csv):
        raise UsageError("--vertical works on the printed table only; leave it out with --json and --csv")
    answer = ask(folder, question, study)
    if json:
        put_out(f"{rows_json(answer)}\n")
    elif csv:
        put_out(csv_text(answer))
    else:
        print_frame(answer, vertical=vertical)


@app.command()
def plot(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of a run or a sweep; a study's figures are in its report.")
    ],
    what: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="A trace (cwnd, segments, ...), one panel a point; or a metric (flows.goodput_bps, or "
            "flows.NAME.goodput_bps for one row). Without it, say what DIR has.",
            autocompletion=completion.drawn,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .svg, .png or .pdf file; DIR/WHAT.svg by default.")
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For a trace: only this flow, link, signalling source or DECT access."),
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="For a trace: where the figure begins (1.5s).")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="For a trace: where it ends.")] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="For a metric: the metric along x.", autocompletion=completion.metrics),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE", help="Only these rows (name=download, link.path.delay=10ms). May be repeated."
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(metavar="x|y|xy|none", help="Logarithmic axes; chosen from the values by default."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title; the scenario's name by default.")] = None,
    x_label: Annotated[str | None, typer.Option(metavar="TEXT", help="Text of the x axis.")] = None,
    y_label: Annotated[str | None, typer.Option(metavar="TEXT", help="Text of the y axis.")] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Width and height in inches, as in 6x4.")] = None,
    _: MaxMemory = None,
) -> None:
    """Draw a figure for a paper."""
    from roamsim.pictures.paper import Dress, inches
    from roamsim.pictures.timeseries import Part
    from roamsim.reports.plot import Figured, choices
    from roamsim.reports.plot import plot as draw

    if what is None:
        raise UsageError(f"--what is missing; {choices(folder)}")
    dress = Dress("" if log == "none" else log, title, x_label, y_label, inches(size))
    part = Part(flow, seconds("--from", start), seconds("--to", end))
    tell_path(draw(folder, what, out, Figured(part, against, tuple(where or ()), dress)))


@app.command()
def report(
    folder: ResultFolder,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The HTML file; DIR/report.html by default.")
    ] = None,
    study: OwnStudy = None,
    _: MaxMemory = None,
) -> None:
    """Write a report that works offline: one HTML file with figures, tables and parameters."""
    from roamsim.api import write_report

    tell_path(write_report(folder, out, study))


def _complain(error: Exception) -> None:
    text = str(error).rstrip()
    of_scenario = isinstance(error, ScenarioError) and "\n" in text
    streams.say(text if of_scenario else f"roamsim: {text}", colored=of_scenario)


def _say(text: str) -> None:
    streams.say(text)
