"""The commands for a first look: `roamsim demo` and `roamsim examples`."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from roamsim.cli import completion
from roamsim.cli.options import Jobs
from roamsim.cli.streams import put_out, say, tell, tell_path
from roamsim.errors import UsageError, missing_extra

#: What `roamsim demo` compares, on which example, by which metric, how often.
COMPARED = "flow.download.transport.variant=newreno,sack,cubic,vegas"
EXAMPLE = "wifi-roaming"
METRIC = "flows.download.goodput_bps"
REPLICATIONS = 5
TRACED = "link_events,cwnd"


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the results and of the page.")] = Path(
        "roamsim-demo"
    ),
    jobs: Jobs = None,
) -> None:
    """Compare four TCPs on a walk between two access points; a first result within a minute."""
    from roamsim.api import write_report
    from roamsim.cli.bars import progress
    from roamsim.cli.campaigns import comparison_summary
    from roamsim.estimates.comparisons import Comparison, compared_runs
    from roamsim.running.run import traces
    from roamsim.scenarios.bundled import example
    from roamsim.scenarios.vary import parse_variation

    chosen = example(EXAMPLE)
    words = ["roamsim", "compare", f"{EXAMPLE}.toml", "--vary", COMPARED, "--metric", METRIC]
    words += ["--replications", str(REPLICATIONS), "--trace", TRACED, "--out", str(out)]
    with progress("demo") as heard:
        runs = compared_runs(
            str(chosen.path),
            [parse_variation(COMPARED)],
            settings=[],
            metrics=[METRIC],
            replications=REPLICATIONS,
            traces=traces([TRACED]),
            jobs=jobs,
            out=out,
            command=words,
            progress=heard,
        )
    comparison_summary(Comparison(*runs))
    report = f"roamsim report {shlex.quote(str(out))}"
    try:
        page = write_report(str(out), None, None)
    except ModuleNotFoundError as error:
        if missing_extra(error) is None:
            raise
        say(f"\nIts page, with the walk's time line, needs an extra:\n  pip install 'roamsim[report]'\n  {report}")
        return
    say(
        "\nThe same by hand:\n"
        f"  roamsim examples {EXAMPLE} > {EXAMPLE}.toml\n"
        f"  {shlex.join(words)}\n"
        f"  {report}\n"
        "\nThe page, with the walk's time line:"
    )
    tell_path(page.resolve())


def examples(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The example to print.", autocompletion=completion.examples),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Copy it into this folder, with the files that it reads."),
    ] = None,
) -> None:
    """List the examples that come with the package, or print one: roamsim examples wifi-roaming > mine.toml."""
    from roamsim.files import check_folder, write_whole
    from roamsim.scenarios import bundled

    if name is None:
        if to is not None:
            raise UsageError("--to copies one example; name it, or leave --to out for the list")
        known = bundled.examples()
        width = max(len(found.name) for found in known)
        for found in known:
            tell(f"{found.name:{width}}  {found.title}")
        say("\nOne of them as a file: roamsim examples wifi-roaming > mine.toml")
        return
    chosen = bundled.example(name)
    if to is None:
        put_out(chosen.copy)
        if chosen.files:
            say(f"it reads {', '.join(chosen.files)}; `roamsim examples {chosen.name} --to DIR` copies that too")
        return
    check_folder(to)
    target = to / chosen.path.name
    for file in (target, *(to / other for other in chosen.files)):
        if file.exists():
            raise UsageError(f"{file} exists already; choose another folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    for other in chosen.files:
        (to / other).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bundled.EXAMPLES / other, to / other)
    write_whole(target, chosen.copy.encode())
    say(f"try: roamsim run {shlex.quote(str(target))}")
    tell_path(target)
