"""A scenario by the clock, with programs at some of its nodes."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from roamsim.errors import UsageError
from roamsim.live.namespaces import End, Namespaces, Program
from roamsim.results import Result
from roamsim.world import World


@dataclass(frozen=True)
class Lived:
    """What became of a run by the clock."""

    result: Result
    end: End | None
    """The first program that ended; `None` where the scenario or an interrupt ended the run."""
    interrupted: bool
    after_ns: int
    """How long it lasted."""
    packets: int
    """How many went out to programs."""
    median_late_ns: int
    p999_late_ns: int
    most_late_ns: int
    unwritten: int
    """Packets that a device refused."""


def host_name(node: str) -> str:
    """By which programs know a node: its name, with a hyphen for what a host name cannot have."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", node)


def live(world: World, commands: Sequence[tuple[str, Sequence[str]]]) -> Lived:
    """Runs a world by the clock, with a command at each of some nodes.

    The first command that ends, an interrupt, or the end of the scenario ends all.

    Raises:
        NoNamespaces: the system does not let us make namespaces or devices.
        RunFailed: the run broke a rule of the simulator.
    """
    canonical = json.loads(world.scenario.canonical)
    nodes = [node["name"] for node in canonical["node"]]
    known = {node: world.addresses(node) for node in nodes}
    homeless = next((node for node, _ in commands if not known[node][0]), None)
    if homeless is not None:
        raise UsageError(f"node {homeless!r} is on no link, so that it has no address")
    names = [f"{addresses[0]} {host_name(node)}" for node, (addresses, _) in known.items() if addresses]
    hosts = "\n".join(["127.0.0.1 localhost", "::1 localhost", *names, ""])
    programs = [Program(node, host_name(node), command, *known[node]) for node, command in commands]
    is_v4 = "." in known[commands[0][0]][0][0]
    end, interrupted = None, False
    with closing(Namespaces(programs, hosts, is_v4=is_v4)) as namespaces, _heard_signals() as signals:
        namespaces.go()
        try:
            while not world.live(namespaces.devices, [namespaces.fileno(), signals]):
                if (end := namespaces.ended()) is not None:
                    break
        except KeyboardInterrupt:
            interrupted = True
        after_ns, lateness = world.now_ns, world.lateness
    return Lived(world.finish(), end, interrupted, after_ns, *lateness)


@contextmanager
def _heard_signals() -> Iterator[int]:
    """A descriptor that is readable when a signal has come, so that a wait outside of Python ends."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        yield woken
    finally:
        signal.set_wakeup_fd(before)
        os.close(woken)
        os.close(wake)
