"""A scenario by the clock, with programs at some of its nodes."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass

from roamsim.errors import UsageError
from roamsim.live.namespaces import End, Lost, Namespaces, Program
from roamsim.live.terminal import Terminal
from roamsim.live.terminal import is_there as terminal_is_there
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
    late_packets: Sequence[tuple[int, int]]
    """The histogram of lateness: nanoseconds at most, and how many packets."""
    p999_wait_ns: int
    """How long 99.9 % of the packets from programs may have waited for the simulation to read them."""
    processor_s: float
    """Processor time of this process meanwhile: that of programs is not in it."""
    lost: Sequence[Lost]
    """Drops by kernels, outside of the simulation, by node."""


def host_name(node: str) -> str:
    """By which programs know a node: its name, with a hyphen for what a host name cannot have."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", node)


def live(
    world: World,
    commands: Mapping[str, Sequence[str]],
    controlling: str | None = None,
    *,
    speed: float = 1.0,
    beside: AbstractContextManager[object] | None = None,
) -> Lived:
    """Runs a world by the clock, with a command at each of some nodes.

    The first command that ends, an interrupt, or the end of the scenario ends all. At external nodes without a
    command nothing runs, but their kernels answer, to `ping` for one.

    Args:
        world: at time zero.
        commands: by node.
        controlling: the node whose command is a shell. If we have a terminal, it controls one of its own.
        speed: simulated seconds in a second of the clock. Kernels have their own, so other speeds than 1 need a
            scenario without external nodes.
        beside: what watches the world meanwhile, once everything is set up; not where a shell has the terminal.

    Raises:
        NoNamespaces: the system does not let us make namespaces or devices.
        RunFailed: the run broke a rule of the simulator.
    """
    canonical = json.loads(world.scenario.canonical)
    known = {node["name"]: world.addresses(node["name"]) for node in canonical["node"]}
    external = [node["name"] for node in canonical["node"] if node.get("external")]
    if external and speed != 1:
        raise UsageError(
            f"--speed {speed:g} does not work with external nodes such as {external[0]!r}, because their kernels "
            "keep real time; remove --speed or the external nodes"
        )
    homeless = next((node for node in external if not known[node][0]), None)
    if homeless is not None:
        raise UsageError(f"node {homeless!r} has no address, because it is on no link")
    names = [f"{addresses[0]} {host_name(node)}" for node, (addresses, _) in known.items() if addresses]
    hosts = "\n".join(["127.0.0.1 localhost", "::1 localhost", *names, ""])
    end, interrupted = None, False
    with ExitStack() as open_things:
        terminal = open_things.enter_context(Terminal()) if controlling and terminal_is_there() else None
        terminals = {controlling: terminal.theirs} if terminal else {}
        programs = [
            Program(node, host_name(node), commands.get(node, []), *known[node], terminals.get(node))
            for node in external
        ]
        namespaces = None
        if programs:
            is_v4 = "." in programs[0].addresses[0]
            namespaces = open_things.enter_context(closing(Namespaces(programs, hosts, is_v4=is_v4)))
        devices, ends = (namespaces.devices, [namespaces.fileno()]) if namespaces else ({}, [])
        signals = open_things.enter_context(_heard_signals())
        if terminal:
            open_things.enter_context(terminal.shown())
        elif beside is not None:
            open_things.enter_context(beside)
        before_s = time.process_time()
        if namespaces:
            namespaces.go()
        try:
            watched = beside is not None and terminal is None
            while not world.live(devices, [*ends, signals], speed=speed, watched=watched):
                if namespaces and (end := namespaces.ended()) is not None:
                    break
        except KeyboardInterrupt:
            interrupted = True
        after_ns, lateness, late_packets = world.now_ns, world.lateness, world.late_packets
        processor_s = time.process_time() - before_s
        p999_wait_ns, lost = world.waits[0], namespaces.lost() if namespaces else []
    return Lived(world.finish(), end, interrupted, after_ns, *lateness, late_packets, p999_wait_ns, processor_s, lost)


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
