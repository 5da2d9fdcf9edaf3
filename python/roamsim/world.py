"""A run that is driven from outside: step by step, with packets as octets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from roamsim import _roamsim
from roamsim.results import Result
from roamsim.running.run import check_capture, traces
from roamsim.scenarios.reading import ScenarioLike, in_words_of_python, overrides, parse_source, source
from roamsim.tables import result


class Emitted(NamedTuple):
    """A packet that has left the simulation."""

    node: str
    time_ns: int
    octets: bytes


class World:
    """A run under way. Programs of external nodes are the caller: they send by `inject` and receive by `emitted`.

        >>> world = roamsim.World("scenario.toml", external=["phone", "server"])
        >>> world.inject("phone", packet)
        >>> world.step(20_000_000)
        >>> world.emitted()

    The same packets at the same instants meet the same losses. How a run is cut into steps changes nothing.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        external: Sequence[str] = (),
        seed: int = 1,
        set: Mapping[str, Any] | None = None,
        allow_files_outside: bool = False,
        trace: str | Sequence[str] = (),
        pcap: str | os.PathLike[str] | None = None,
        pcap_at: Sequence[str] = (),
    ) -> None:
        """Builds the world, at time zero.

        Args:
            scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
            external: the nodes whose programs are outside, beside those with `external = true`. A flow that ends
                in one is of TCP, SCTP or UDP, with its other end in the simulation.
            seed: selects the random streams.
            set: values to replace, by dotted path.
            allow_files_outside: whether the scenario may name files outside of its folder.
            trace: what to record beside the usual tables.
            pcap: where to write a pcapng capture.
            pcap_at: the nodes whose packets it shows, sent and received.

        Raises:
            ScenarioError: the scenario is not valid: there is no such node, or a flow cannot end in an external one.
            UsageError: there is no such file or trace, or the capture cannot be written.
        """
        with in_words_of_python():
            read, self._kinds = source(scenario, allow_files_outside=allow_files_outside), traces(trace)
            outside = {f"node.{node}.external": True for node in external}
            self.scenario = parse_source(read, overrides({**(set or {}), **outside}))
            if pcap is not None:
                check_capture(pcap)
        self._text = read.text
        self._seed = seed
        self._world = _roamsim.World(
            self.scenario,
            seed=seed,
            trace=self._kinds,
            pcap=None if pcap is None else os.fspath(pcap),
            pcap_at=list(pcap_at),
            series=True,
        )

    @property
    def now_ns(self) -> int:
        """The instant that the run has come to."""
        return self._world.now_ns

    @property
    def end_ns(self) -> int:
        """When it ends at the latest: the scenario's duration."""
        return self._world.end_ns

    @property
    def next_deadline_ns(self) -> int | None:
        """An instant before which nothing happens by itself: mostly that of the next event.

        `None` where nothing does.
        """
        return self._world.next_deadline_ns

    def addresses(self, node: str) -> tuple[list[str], int]:
        """The addresses of a node, the one first by which others know it, and the MTU of its smallest interface."""
        return self._world.addresses(node)

    def step(self, until_ns: int) -> None:
        """Goes on to an instant, what happens then included, and no further than the end.

        Raises:
            RunFailed: the run broke a rule of the simulator.
        """
        self._world.step(until_ns)

    def inject(self, node: str, octets: bytes) -> None:
        """A program of an external node sends a packet now: IPv4 or IPv6, as the scenario says.

        What is no packet of this node for this network is refused, and counted in the table `external`.
        """
        self._world.inject(node, octets)

    def emitted(self) -> list[Emitted]:
        """The packets for programs of external nodes since this was last asked, in order."""
        return [Emitted(*packet) for packet in self._world.emitted()]

    def live(
        self, devices: Mapping[str, int], wakes: Sequence[int], *, speed: float = 1.0, watched: bool = False
    ) -> bool:
        """Goes on by the clock until the end (true), or until one of `wakes` is readable (false).

        Args:
            devices: by external node, the descriptor of a device that gives and takes one packet at a time, without
                blocking.
            wakes: descriptors.
            speed: simulated seconds in a second of the clock. Whoever uses the devices has to go as fast.
            watched: whether `snapshot` follows.
        """
        return self._world.live(
            [(node, os.dup(device)) for node, device in devices.items()],
            [os.dup(wake) for wake in wakes],
            speed,
            watched,
        )

    @property
    def snapshot(
        self,
    ) -> tuple[
        int,
        list[tuple[str, str, str, int, int, int]],
        list[tuple[str, int]],
        list[tuple[str, str, bool, float | None, str]],
        list[tuple[int, str, str, bool]],
    ]:
        """What the world did when it was looked at last, twice a second while it goes by the clock and is watched.

        Returns:
            The instant in nanoseconds. Of the first six directions of links: name, ends, octets sent, packets dropped
            and waiting. Of the first six flows: name and octets delivered. Of the first six stations that move: name,
            cell, whether they are associated with it, how well they hear it, and the unit of that. Of the last four
            changes of the links of stations: when, station, cell, and whether the link came up.
        """
        return self._world.snapshot

    @property
    def late_packets(self) -> list[tuple[int, int]]:
        """The histogram of lateness: the most nanoseconds that packets were late, and how many packets."""
        return self._world.late_packets

    @property
    def lateness(self) -> tuple[int, int, int, int, int]:
        """How late packets went to devices.

        Returns:
            Packets; nanoseconds that half of them, 99.9 % of them and all of them did not exceed; packets that a
            device refused.
        """
        return self._world.lateness

    @property
    def waits(self) -> tuple[int, int]:
        """Nanoseconds that packets may have waited in their devices to be read: 99.9 % of them, and all."""
        return self._world.waits

    def finish(self) -> Result:
        """Ends the run where it is.

        Raises:
            RunFailed: the run broke a rule of the simulator, such as the conservation of packets.
        """
        made = self._world.finish()
        frames = result.Frames(self.scenario.name, self._seed, made.tables)
        of_run = result.Result(
            frames,
            scenario=self.scenario.name,
            seed=self._seed,
            replications=1,
            events=made.events,
            wall_s=made.wall_s,
        )
        return Result.of(of_run, self.scenario, self._text, self._kinds)
