"""`roamsim live`: real programs over a simulated network."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import tomllib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
from roamsim.errors import UsageError, there_are

if TYPE_CHECKING:
    from roamsim.live.run import Lived
    from roamsim.scenarios.reading import Source

#: The 99.9th percentile of lateness above which a run is late. Chosen: a twentieth of a path of 20 ms.
MOST_LATE = "1ms"

#: Flows of which a sentence is said, at most (chosen: half a screen).
MOST_FLOWS = 10

USAGE = "--on NODE -- COMMAND [--on NODE -- COMMAND]..."
LINK = "RATE,DELAY,..."


def live(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Scenario as TOML, or JSON; - reads stdin. Not with --link.", show_default=False
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar=USAGE, help="Programs, each with its node.", show_default=False),
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
            help="Instead of FILE: one wire between the nodes client and server, 10Mb/s,20ms,loss=1%,queue=fq_codel."
            " The rate may be the file of a mahimahi trace. A command without --on runs at client.",
        ),
    ] = None,
    settings: Settings = None,
    allow_files_outside: AllowFilesOutside = False,
    seed: Seed = 1,
    without_flows: Annotated[
        bool,
        typer.Option(
            "--without-flows", help="Leave out flows of the scenario that begin or end at a program's node."
        ),
    ] = False,
    speed: Annotated[
        float,
        typer.Option(
            metavar="FACTOR",
            help="Simulated seconds per second: 0.1 plays a scenario ten times slower. Only without programs.",
        ),
    ] = 1.0,
    max_lateness: Annotated[
        str,
        typer.Option(metavar="TIME", help="Largest 99.9th percentile of lateness; above it the exit code is 124."),
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

    The run ends when the first program ends, at Ctrl-C, or after the scenario's duration. The exit code is that of
    the first program that ended, 124 if packets were late, 125 without namespaces or TUN devices. Without programs,
    the scenario plays in real time.
    """
    if not sys.platform.startswith("linux"):
        say("roamsim: roamsim live needs Linux: its network namespaces and TUN devices")
        raise typer.Exit(NO_NAMESPACES)
    from roamsim.cli.view import drawn, is_drawn
    from roamsim.live.namespaces import NoNamespaces
    from roamsim.live.run import live as run_live
    from roamsim.live.wire import CLIENT, wire
    from roamsim.running.run import check_capture, traces
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
    if not (math.isfinite(speed) and speed > 0):
        raise UsageError(f"--speed {speed:g} is not a number above zero; write for example --speed 0.1")
    most_late_s = seconds("--max-lateness", max_lateness)
    kinds = traces(trace or [])
    if kinds and not (out or report):
        raise UsageError("what --trace records is not part of the summary; add --out DIR or --report FILE")
    if pcap_at and pcap is None:
        raise UsageError("--pcap-at needs a capture; add --pcap FILE")
    if pcap is not None:
        check_capture(pcap)
    if report is not None:
        outputs.check_page(report)
        # Before anything is run, for it may lack what it needs.
        from roamsim.reports.run import report as page_of
    if without_flows:
        read = _without_flows(read, set(commands))
    for node in commands.keys() - (_nodes(read) or commands.keys()):
        known = there_are(node, _nodes(read), quoted=True)
        raise UsageError(f"there is no node {node!r} to run a program on; {known}")
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
        flows = [ProgramFlow(*flow) for flow in scenario.program_flows]
        for sentence in _meetings(flows):
            say(sentence)
        try:
            lived = run_live(world, commands, shell, speed=speed, beside=drawn(world) if is_drawn() else None)
        except NoNamespaces as error:
            say(f"roamsim: {error}")
            raise typer.Exit(NO_NAMESPACES) from None
        is_late = most_late_s is not None and lived.p999_late_ns > 1e9 * most_late_s
        if is_late:
            say(
                f"roamsim: packets were late: the 99.9th percentile is {_ms(lived.p999_late_ns)}, "
                f"above the {max_lateness} of --max-lateness; "
                "the machine is too slow for this path, or too busy"
            )
        for sentence in (*_sentences(lived), *_alone(flows, lived)):
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


def _tree(read: Source) -> dict[str, Any]:
    """A scenario before it is checked."""
    tree: dict[str, Any] = json.loads(read.text) if read.is_json else tomllib.loads(read.text)
    return tree


def _nodes(read: Source) -> list[str]:
    """The names of the scenario's nodes; none if it cannot be read, or if a name stands for several nodes."""
    try:
        nodes = _tree(read)["node"]
        return [] if any("count" in node for node in nodes) else [str(node["name"]) for node in nodes]
    except (ValueError, TypeError, KeyError, AttributeError):
        # Whoever reads the scenario says what is wrong with it.
        return []


def _without_flows(read: Source, nodes: set[str]) -> Source:
    """The scenario without the flows that end in one of these nodes."""
    try:
        tree = _tree(read)
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
    elif on or words:
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


def _histogram(late_packets: Sequence[tuple[int, int]]) -> str:
    """How many packets were late by less than some times, of those that were."""
    bounds = {"10 us": 1e4, "100 us": 1e5, "1 ms": 1e6, "10 ms": 1e7, "100 ms": 1e8, "more": math.inf}
    counts = dict.fromkeys(bounds, 0)
    for most_ns, packets in late_packets:
        counts[next(name for name, bound in bounds.items() if most_ns <= bound)] += packets
    return "packets by lateness up to " + ", ".join(f"{name}: {count}" for name, count in counts.items() if count)


class ProgramFlow(NamedTuple):
    """A flow with a program at one end."""

    name: str
    program: str
    """The node of the program."""
    peer: str
    protocol: str
    port: int
    """Of the end that is connected to, or gets the first datagram."""
    begins: bool
    """Whether the program does that."""


def _meetings(flows: Sequence[ProgramFlow]) -> list[str]:
    """Where programs meet the simulated ends of flows."""
    from roamsim.tables.words import count

    told = [
        f"flow {flow.name}: {flow.program} has to reach {flow.protocol} port {flow.port} of {flow.peer}"
        if flow.begins
        else f"flow {flow.name}: {flow.program} has to listen at {flow.protocol} port {flow.port}, for {flow.peer}"
        for flow in flows
    ]
    more = [f"and {count(len(told) - MOST_FLOWS, 'more flow')} of programs"] if len(told) > MOST_FLOWS else []
    return told[:MOST_FLOWS] + more


def _alone(flows: Sequence[ProgramFlow], lived: Lived) -> list[str]:
    """Flows whose other end never was there."""
    from roamsim.tables.words import count

    ends = dict(lived.result.iter_rows("flows", ["name", "connection"]))
    refused = [flow for flow in flows if ends.get(flow.name) == "refused"]
    told = [
        f"flow {flow.name} was refused: no program at {flow.program} listened at {flow.protocol} port {flow.port} "
        f"when {flow.peer} connected; start one that does, or leave the flow out by --without-flows"
        for flow in refused
    ]
    more = [f"and {count(len(told) - MOST_FLOWS, 'more refused flow')}"] if len(told) > MOST_FLOWS else []
    return told[:MOST_FLOWS] + more


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.3f} ms"


def _sentences(lived: Lived) -> list[str]:
    """How the run ended, and how punctual it was."""
    from roamsim.tables.words import count

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
        f"{count(lived.packets, 'packet')} to programs; lateness: median {_ms(lived.median_late_ns)}, "
        f"99.9th percentile {_ms(lived.p999_late_ns)}, maximum {_ms(lived.most_late_ns)}"
    )
    if lived.packets:
        late += f"; {_histogram(lived.late_packets)}"
    told = [ended, f"{late}; {lived.processor_s:.2f} s of processor time"]
    if lived.p999_wait_ns > 1e6:
        told.append(f"packets of programs waited to be read, with a 99.9th percentile of {_ms(lived.p999_wait_ns)}")
    if lived.unwritten:
        told.append(f"devices refused {count(lived.unwritten, 'packet')}")
    for lost in lived.lost:
        if lost.device_packets:
            told.append(
                f"{lost.node}: its full device dropped {count(lost.device_packets, 'packet')} of its programs"
            )
        if lost.datagrams:
            told.append(f"{lost.node}: full sockets of its programs dropped {count(lost.datagrams, 'datagram')}")
    return told
