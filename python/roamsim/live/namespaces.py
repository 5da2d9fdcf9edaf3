"""Programs in namespaces of their own, seen from outside: their devices, and their end.

They live as long as this process holds its end of a Unix socket (`inside.py`).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamsim.errors import UsageError

_DEVICE = Path("/dev/net/tun")


class NoNamespaces(RuntimeError):
    """This system lets nobody make what `roamsim live` needs; the text says what is missing."""


@dataclass(frozen=True)
class Program:
    """A command at a node."""

    node: str
    host: str
    """The host name of its node."""
    command: Sequence[str]
    """Empty: no program, but a kernel that answers."""
    addresses: Sequence[str]
    mtu: int
    terminal: int | None = None
    """The descriptor of a terminal that the command controls."""


@dataclass(frozen=True)
class End:
    """A command has ended."""

    node: str
    command: Sequence[str]
    code: int
    """Its exit code; of one that a signal ended, the signal's number below zero."""
    unstarted: str
    """Why it was not even started; empty where it was."""


@dataclass(frozen=True)
class Lost:
    """Packets that the kernel of a node dropped, outside of the simulation."""

    node: str
    device_packets: int
    """Of its programs, which found the queue of the device full."""
    datagrams: int
    """For its programs, which found the buffer of a socket full."""


def _lost(node: str, dev: str, snmp: str, snmp6: str) -> Lost:
    """Read in the counters of a network namespace."""
    device = next((line for line in dev.splitlines() if line.strip().startswith("sim0:")), "")
    # Eight columns of what was received come first.
    dropped = device.split(":")[-1].split()[11:12]
    head, row = [line.split() for line in snmp.splitlines() if line.startswith("Udp:")] or [[], []]
    datagrams = [int(count) for name, count in zip(head, row, strict=True) if name == "RcvbufErrors"]
    datagrams += [int(line.split()[1]) for line in snmp6.splitlines() if line.startswith("Udp6RcvbufErrors")]
    return Lost(node, sum(map(int, dropped)), sum(datagrams))


class Namespaces:
    """A user namespace with a network namespace for each program.

    Raises:
        NoNamespaces: the system refuses them.
    """

    def __init__(self, programs: Sequence[Program], hosts: str, *, is_v4: bool) -> None:
        if not os.access(_DEVICE, os.R_OK | os.W_OK):
            raise NoNamespaces(
                f"roamsim live needs TUN devices, and {_DEVICE} cannot be opened; `modprobe tun` makes it"
            )
        self._programs = programs
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        terminals = [p.terminal for p in programs if p.terminal is not None]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-IS", str(Path(__file__).with_name("inside.py")), str(theirs.fileno())],
                pass_fds=[theirs.fileno(), *terminals],
            )
        self.devices: dict[str, int] = {}
        self._counters: dict[str, Sequence[int]] = {}
        self._unstarted: dict[int, str] = {}
        try:
            nodes = [
                {
                    "name": p.node,
                    "host": p.host,
                    "command": list(p.command),
                    "addresses": list(p.addresses),
                    "mtu": p.mtu,
                    "terminal": p.terminal,
                }
                for p in programs
            ]
            self._ours.send(json.dumps({"nodes": nodes, "hosts": hosts, "is_v4": is_v4}).encode())
            while len(self.devices) < len(programs):
                self._take_device()
        except OSError as error:
            self.close()
            raise UsageError(f"the commands do not fit: {error.strerror or error}") from None
        except BaseException:
            self.close()
            raise

    def _take_device(self) -> None:
        message, devices, _, _ = socket.recv_fds(self._ours, 1 << 16, 4)
        said: dict[str, Any] = json.loads(message) if message else {"failed": "its first process ended"}
        if "device" in said:
            node = self._programs[said["device"]].node
            self.devices[node], *self._counters[node] = devices
            return
        if "refused" in said:
            raise NoNamespaces(
                f"roamsim live needs user namespaces, and this system refuses them ({said['refused']}); "
                "`sysctl user.max_user_namespaces` says how many it allows"
            )
        raise NoNamespaces(f"a network namespace could not be set up: {said.get('failed', said)}")

    def fileno(self) -> int:
        """Readable when there is something for `ended`."""
        return self._ours.fileno()

    def go(self) -> None:
        """Lets the programs begin."""
        self._ours.send(b"go")

    def ended(self) -> End | None:
        """The next program that has ended; `None` where none has."""
        try:
            message = self._ours.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        if not message:
            raise NoNamespaces("the first process of the namespaces was killed")
        said = json.loads(message)
        if "unstarted" in said:
            self._unstarted[said["unstarted"]] = said["why"]
            return None
        if "ended" not in said:
            raise NoNamespaces(f"a network namespace could not be set up: {said.get('failed', said)}")
        program = self._programs[said["ended"]]
        return End(program.node, program.command, said["status"], self._unstarted.get(said["ended"], ""))

    def lost(self) -> Sequence[Lost]:
        """What the kernels of the nodes have dropped by now."""
        return [
            _lost(node, *(os.pread(counter, 1 << 16, 0).decode() for counter in counters))
            for node, counters in self._counters.items()
        ]

    def close(self) -> None:
        """Ends every program, its children included."""
        for descriptor in (*self.devices.values(), *(each for node in self._counters.values() for each in node)):
            os.close(descriptor)
        self.devices, self._counters = {}, {}
        self._ours.close()
        # Init goes at once, and takes the rest with it.
        killer = threading.Timer(5, self._process.kill)
        killer.start()
        self._process.wait()
        killer.cancel()
