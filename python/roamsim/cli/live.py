"""`roamsim live`: real programs over a simulated network."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roamsim.cli.faults import LATE, NO_NAMESPACES
from roamsim.cli.options import (
    AllowFilesOutside,
    Seed,
    Settings,
    Trace,
    color,
    command,
    overrides,
    seconds,
)
from roamsim.cli.streams import say
from roamsim.errors import UsageError

if TYPE_CHECKING:
    from roamsim.live.run import Lived
    from roamsim.scenarios.reading import Source

#: The 99.9th percentile of lateness above which a run is late. Chosen: a twentieth of a path of 20 ms.
MOST_LATE = "1ms"

USAGE = "--on NODE -- COMMAND [--on NODE -- COMMAND]..."
LINK = "RATE,DELAY,..."


def live(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Scenario as TOML, or JSON; - reads stdin. Left out with --link.", show_default=False
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar=USAGE, help="Programs, each with the node that it runs at.", show_default=False),
    ] = None,
    on: Annotated[
        list[str] | None, typer.Option("--on", metavar="NODE", help="Node of the command after --.")
    ] = None,
    shell: Annotated[
        str | None, typer.Option("--shell", metavar="NODE", help="Open a shell at this node; the run ends with it.")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            "--link",
            metavar=LINK,
            help="In place of FILE, one wire between the nodes client and server: 10Mb/s,20ms,loss=1%,queue=fq_codel."
            " The rate may be a mahimahi trace, a file. A command without --on runs at client.",
        ),
    ] = None,
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    seed: Seed = 1,
    without_flows: Annotated[
        bool, typer.Option("--without-flows", help="Leave out the scenario's flows that end where a program runs.")
    ] = False,
    max_lateness: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="99.9th percentile of lateness above which the run is late (exit code 124)."
        ),
    ] = MOST_LATE,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all tables as Parquet, with a manifest.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report: one HTML file that works offline.")
    ] = None,
    pcap: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a pcapng capture.")] = None,
    pcap_at: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE", help="Capture only packets that this node sends or receives. May be repeated."),
    ] = None,
    trace: Trace = None,
) -> None:
    """Run real programs at nodes of a scenario, connected only by the simulated network.

    All of them end with the first program that ends, at Ctrl-C, or after the scenario's duration. The exit code is
    that of the first program that ended, 124 if packets were late, 125 without namespaces or TUN devices.
    """
    from roamsim.live.namespaces import NoNamespaces
    from roamsim.live.run import live as run_live
    from roamsim.live.wire import CLIENT, wire
    from roamsim.running.run import traces
    from roamsim.scenarios.reading import overrides as in_python
    from roamsim.scenarios.reading import parse_source, source
    from roamsim.storing import outputs
    from roamsim.world import World

    words = [*([file] if file is not None else []), *(words or [])]
    if link is None:
        if not words:
            raise UsageError(f"live needs a scenario: roamsim live FILE {USAGE}, or --link {LINK}")
        read = source(words.pop(0), allow_files_outside=allow_files_outside)
    else:
        read = wire(link)
    commands = programs(on or [], words, shell, CLIENT if link else None)
    if shell:
        commands[shell] = [os.environ.get("SHELL", "/bin/sh")]
    most_late_s = seconds("--max-lateness", max_lateness)
    kinds = traces(trace or [])
    if kinds and not (out or report):
        raise UsageError("what --trace records is not part of the summary; add --out DIR or --report FILE")
    if pcap_at and pcap is None:
        raise UsageError("--pcap-at says what a capture shows; add --pcap FILE")
    for target in (report, pcap):
        if target is not None:
            outputs.check_file(target)
    if report is not None:
        # Before anything is run, for it may lack what it needs.
        from roamsim.reports.run import report as page_of
    if without_flows:
        read = _without_flows(read, set(commands))
    outside = in_python({f"node.{node}.external": True for node in commands})
    scenario = parse_source(read, [*overrides(settings), *outside], color=color())
    lived: Lived
    with ExitStack() as open_folders:
        if out is not None:
            open_folders.enter_context(outputs.prepared(out))
        world = World(
            scenario,
            seed=seed,
            allow_files_outside=allow_files_outside or link is not None,
            trace=kinds,
            pcap=pcap,
            pcap_at=pcap_at or [],
        )
        try:
            lived = run_live(world, commands, shell)
        except NoNamespaces as error:
            say(f"roamsim: {error}")
            raise typer.Exit(NO_NAMESPACES) from None
        is_late = most_late_s is not None and lived.p999_late_ns > 1e9 * most_late_s
        if is_late:
            say(
                f"roamsim: packets were late: 99.9 % of them by up to {_ms(lived.p999_late_ns)}, "
                f"and {max_lateness} was allowed; "
                "the machine is too slow for this path, or too busy"
            )
        for sentence in _sentences(lived):
            say(sentence)
        if out is not None:
            outputs.write_parquet(out, scenario, lived.result, None, read.text, command())
            say(f"wrote {out}")
        if report is not None:
            page_of(outputs.in_memory(scenario, lived.result, None, read.text, command())).write(report, follow=True)
            say(f"wrote {report}")
        if pcap is not None:
            say(f"wrote {pcap}")
    from roamsim.cli.summary import summary

    summary(lived.result, scenario)
    code = 0 if lived.end is None else lived.end.code
    if code == 0 and is_late:
        code = LATE
    # As of shells: of what a signal ended, 128 and its number.
    raise typer.Exit(code if code >= 0 else 128 - code)


def _without_flows(read: Source, nodes: set[str]) -> Source:
    """The scenario without the flows that end in one of these nodes."""
    try:
        tree = json.loads(read.text) if read.is_json else tomllib.loads(read.text)
        kept = [flow for flow in tree.pop("flow", []) if not nodes & {flow["from"], flow["to"]}]
        return read._replace(text=json.dumps(tree | ({"flow": kept} if kept else {})), is_json=True)
    except (ValueError, TypeError, KeyError, AttributeError):
        # Whoever reads the scenario says what is wrong with it.
        return read


def programs(
    on: Sequence[str], words: Sequence[str], shell: str | None = None, without_on: str | None = None
) -> dict[str, list[str]]:
    """The command of each node.

    Args:
        on: the node whose command comes first.
        words: what stands behind its `--`; other nodes follow as `--on NODE -- COMMAND`.
        shell: the node with a shell.
        without_on: the node of a command that has none.

    Raises:
        UsageError: a command is missing, or a node has two.
    """
    found: list[tuple[str, list[str]]] = []
    if len(on) == 1:
        found = [(on[0], [])]
    elif not on and words and without_on:
        found = [(without_on, [])]
    elif not on and without_on and not shell:
        raise UsageError(f"live needs a command: roamsim live --link {LINK} -- COMMAND, or --shell {without_on}")
    elif on or words or not shell:
        raise UsageError(f"each --on NODE has its command behind --, as in: roamsim live FILE {USAGE}")
    at = 0
    while at < len(words):
        if words[at] == "--on" and words[at + 2 : at + 3] == ["--"]:
            found.append((words[at + 1], []))
            at += 3
        else:
            found[-1][1].append(words[at])
            at += 1
    nodes = [node for node, _ in found] + ([shell] if shell else [])
    for node, words_of_node in found:
        if not words_of_node:
            raise UsageError(f"--on {node} has no command; write --on {node} -- COMMAND")
    for node in nodes:
        if nodes.count(node) > 1:
            raise UsageError(f"{node} has two commands; a node runs one (a shell may start several)")
    return dict(found)


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.3f} ms"


def _sentences(lived: Lived) -> list[str]:
    """How the run ended, and how punctual it was."""
    after = f"after {lived.after_ns / 1e9:.3f} s"
    if lived.end is not None:
        how = f"exit code {lived.end.code}" if lived.end.code >= 0 else f"signal {-lived.end.code}"
        how += f" ({lived.end.unstarted})" if lived.end.unstarted else ""
        ended = f"{shlex.join(lived.end.command)} at {lived.end.node} ended {after}: {how}"
    elif lived.interrupted:
        ended = f"interrupted {after}"
    else:
        ended = f"the scenario ended {after}"
    late = (
        f"{lived.packets} packets went out to programs; late by {_ms(lived.median_late_ns)} (half of them), "
        f"{_ms(lived.p999_late_ns)} (99.9 %), {_ms(lived.most_late_ns)} (all)"
    )
    refused = [f"devices refused {lived.unwritten} packets"] if lived.unwritten else []
    return [ended, late, *refused]
