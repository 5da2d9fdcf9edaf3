"""The compiled part: reads scenarios and runs them. Use it through the functions of `roamsim`."""

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self, final

from typing_extensions import disjoint_base

__all__ = [
    "Batch",
    "CongestionControl",
    "InterfaceState",
    "Result",
    "RunFailed",
    "Sample",
    "Scenario",
    "ScenarioError",
    "SelectionPolicy",
    "Table",
    "World",
    "build",
    "decode_text",
    "limit_memory",
    "memory_bytes",
    "register_congestion_control",
    "register_selection_policy",
    "run",
    "schema",
    "tcp_stack_exceptions",
    "tcp_stacks",
    "template",
    "trace_kinds",
    "version",
]

# Takes the number of a run, the name of a table, and rows of it.
_Rows = Callable[[int, str, Table], object]

class ScenarioError(ValueError):
    """A scenario that cannot be run; the text says where it is wrong and what to do about it."""

class RunFailed(RuntimeError):
    """A run that broke one of the simulator's own rules, with the story of what happened."""

def version() -> str:
    """The simulator's version."""

def build() -> str:
    """Hex digest of the simulator's sources; equal ones give equal results."""

def schema() -> str:
    """The JSON Schema of a scenario, as text."""

def template() -> str:
    """A commented scenario to start from."""

def limit_memory(bytes: int) -> None:
    """Octets of memory at which runs of this process are stopped; 0 for three quarters of the machine's."""

def memory_bytes() -> tuple[int, int]:
    """Octets that this process has in memory, and at which its runs are stopped; 0 where the system does not tell."""

def tcp_stack_exceptions(name: str) -> list[tuple[str, list[str], str]]: ...
def tcp_stacks() -> list[tuple[str, str]]:
    """The presets of TCP by name, as TOML with a source beside each setting."""

def trace_kinds() -> list[str]:
    """What a run can record beside its tables."""

def decode_text(octets: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 behind a byte order mark, perhaps compressed by gzip. A mark stays.

    Raises:
        ScenarioError: the octets are no text; the message is the end of a sentence about the file.
    """

def register_congestion_control(name: str, class_: type[CongestionControl], file: str) -> None:
    """Keeps a class under the name that stands for it in scenarios; `file` is what its tracebacks call its file."""

@disjoint_base
class CongestionControl:
    """A congestion control of TCP, to be subclassed; each end of a connection has an instance.

    A method sets `window_bytes`, `ssthresh_bytes` and `pacing_rate_bps` and returns nothing. What it does not set
    stays. The end of a repair and an idle time change the window between two calls. An exception ends the run.
    """

    def __new__(cls) -> Self: ...
    @property
    def window_bytes(self) -> float:
        """The congestion window. At least one segment applies."""
    @window_bytes.setter
    def window_bytes(self, value: float, /) -> None: ...
    @property
    def ssthresh_bytes(self) -> float:
        """The slow-start threshold, infinite at first. Repairs end with a window of it, if it is finite."""
    @ssthresh_bytes.setter
    def ssthresh_bytes(self, value: float, /) -> None: ...
    @property
    def pacing_rate_bps(self) -> float | None:
        """Bits of payload a second at which data goes; `None` leaves it to the key `pacing`."""
    @pacing_rate_bps.setter
    def pacing_rate_bps(self, value: float | None, /) -> None: ...
    @property
    def segment_bytes(self) -> int:
        """Payload of a full-sized segment."""
    def on_start(self, sample: Sample) -> None:
        """The handshake is complete, and `window_bytes` is the initial window. Need not be there."""
    def on_ack(self, sample: Sample) -> None:
        """New data was acknowledged."""
    def on_loss(self, sample: Sample) -> None:
        """Acknowledgements told of a loss; once a repair."""
    def on_ecn(self, sample: Sample) -> None:
        """A queue has marked packets; once a round trip."""
    def on_timeout(self, sample: Sample) -> None:
        """The retransmission timer expired, and everything is sent again."""

@final
class Sample:
    """What is known when a method of a congestion control is called."""

    @property
    def now_s(self) -> float:
        """The simulated time in seconds."""
    @property
    def acked_bytes(self) -> int:
        """Octets that are acknowledged for the first time."""
    @property
    def in_flight_bytes(self) -> int:
        """Octets in flight: after an acknowledgement, or before a reduction."""
    @property
    def in_use_bytes(self) -> int:
        """The largest flight in this and the last round trip."""
    @property
    def may_grow(self) -> bool:
        """Whether no loss is being repaired and the peer tells of no mark."""
    @property
    def rtt_s(self) -> float | None:
        """The round trip measured last, with `rack = true`."""
    @property
    def srtt_s(self) -> float | None:
        """The smoothed round trip."""
    @property
    def delivery_rate_bps(self) -> float | None:
        """The rate of delivery, with `rack = true`."""
    @property
    def app_limited(self) -> bool:
        """Whether that rate is limited by the application."""
    @property
    def delivered_bytes(self) -> int | None:
        """Octets delivered so far, with `rack = true`."""
    @property
    def repeated(self) -> bool:
        """Of a timeout: the same octets timed out before."""
    @property
    def repairing(self) -> bool:
        """Of a timeout: a loss was being repaired."""

def register_selection_policy(name: str, class_: type[SelectionPolicy], file: str) -> None:
    """Keeps a class under the name that stands for it in scenarios; `file` is what its tracebacks call its file."""

class SelectionPolicy:
    """A policy of a selection, to be subclassed; each node that selects by it has an instance.

    An exception ends the run.
    """

    def __new__(cls) -> Self: ...
    def select(self, now_s: float, interfaces: list[InterfaceState]) -> str | None:
        """The name of the interface that is preferred now, which is up; `None`: the selected one stays.

        Called at each link event of the node's interfaces, and at the end of a dwell time.
        """

@final
class InterfaceState:
    """An interface of a node that selects, as it is now."""

    @property
    def name(self) -> str:
        """Its link or cell."""
    @property
    def technology(self) -> str:
        """The section of the scenario that it is in: `link`, `wifi`, `cell`, `wimax` or `dect`."""
    @property
    def up(self) -> bool:
        """Whether it is up."""
    @property
    def selected(self) -> bool:
        """Whether it is the selected one."""
    @property
    def since_s(self) -> float:
        """When it came up or went down, in seconds of simulated time."""
    @property
    def signal_dbm(self) -> float | None:
        """Its signal as it was reported last; `None` without a report."""
    @property
    def going_down(self) -> bool:
        """Whether its link has announced its end."""
    @property
    def rate_bps(self) -> int | None:
        """Its nominal rate to the node: of a series the highest, of a trace the mean; `None` if it adapts."""
    @property
    def cost_per_mb(self) -> float | None:
        """Its price in `prices`; `None` without one."""

@final
class Scenario:
    """A scenario that has been read and found valid."""

    @staticmethod
    def parse(
        text: str,
        *,
        name: str,
        format: Literal["toml", "json"],
        overrides: list[tuple[str, str]] = ...,
        color: bool = False,
        folder: os.PathLike[str] | None = None,
        allow_files_outside: bool = False,
    ) -> Scenario:
        """Reads and validates a scenario.

        Args:
            text: the scenario as TOML or JSON.
            name: what errors call the text, usually its file name.
            format: the notation of `text`.
            overrides: (path, value) pairs that replace values before validation; a value is TOML, or else text.
            color: whether errors are written with terminal colours.
            folder: where its files lie; that of `name` unless given.
            allow_files_outside: whether it may name files outside of that folder. Those of overrides are read anyway.

        Raises:
            ScenarioError: the text or an override is not a valid scenario.
        """

    @property
    def name(self) -> str:
        """The scenario's own name."""
    @property
    def folder(self) -> Path:
        """Where its files lie."""
    @property
    def allows_files_outside(self) -> bool:
        """Whether it may name files outside of that folder."""
    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def warnings(self) -> list[str]:
        """What in it is valid and hardly meant, each as a report for a person: where, what, and the way out."""
    @property
    def external_nodes(self) -> list[str]:
        """The nodes whose programs run outside."""
    @property
    def program_flows(self) -> list[tuple[str, str, str, str, int, bool]]:
        """The flows with a program outside at one end.

        For each its name, the program's node, the other node, the transport, the port of the end that is connected
        to or gets the first datagram, and whether the program does that.
        """
    @property
    def meetings_in_step(self) -> list[tuple[str, str, list[str]]]:
        """Queues that the data of several flows pass with nothing random on their way.

        For each the link and the node that sends there, as in the table `drops`, and the names of the flows.
        """
    def estimate(self, trace: list[str]) -> tuple[float, float, float]:
        """What a run with these traces will take, as far as rates, sizes, delays and durations plainly say so.

        Returns:
            Events, packets under way at one time, and rows of the traces `packets`, `messages` and `queue`.
        """
    @property
    def row_names(self) -> dict[str, list[str]]:
        """Values of the column `name` in the result tables that have rows for each entry of their kind, by table."""
    @property
    def canonical(self) -> str:
        """The scenario as JSON with sorted keys, after overrides."""
    @property
    def written(self) -> str:
        """The same with elements that stand for many as they were written: to read it again with other values."""

    @property
    def fingerprint(self) -> str:
        """Hex digest of `canonical` and the simulator's sources."""

@final
class Table:
    """A table of results: columns of one length, which stay where the run left them.

    Whatever reads the Arrow C data interface gets it without copying numbers, as in `polars.DataFrame(table)`; a
    missing number is null there.
    """

    def __new__(cls, columns: dict[str, array[float] | array[int] | list[str]]) -> Table:
        """Columns by name: arrays of the type code `d`, `q` or `Q`, or texts.

        Raises:
            TypeError: values are of another type.
            ValueError: columns are not of one length.
        """
    @staticmethod
    def of_runs(scenario: str, seed: int, replications: Sequence[int]) -> Table:
        """The columns that say which run rows are of, for runs of one scenario by itself: a row for each."""
    @staticmethod
    def stack(tables: Sequence[Table], runs: Table) -> Table:
        """The tables of several runs below each other.

        Args:
            tables: of the same columns, one at least.
            runs: a row for each, which stands before each of its own.

        Raises:
            ValueError: columns differ, or there is not a row for each.
        """
    @property
    def columns(self) -> list[str]:
        """Names of the columns, in their order."""
    @property
    def units(self) -> dict[str, str]:
        """Unit of each column; an empty text where there is none."""
    @property
    def height(self) -> int:
        """How many rows there are."""
    def __getitem__(self, name: str, /) -> list[Any]:
        """The values of a column, a new list each time; NaN where there is no number.

        Raises:
            KeyError: there is no such column.
        """
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Capsules of the Arrow C data interface: an array of structs, with a child for each column."""
    def __reduce__(self) -> tuple[type[Table], tuple[dict[str, Any]]]:
        """What is sent to another process."""

@final
class Result:
    """Everything one run produced."""

    @property
    def events(self) -> int:
        """Number of events that were worked off."""
    @property
    def build_s(self) -> float:
        """Seconds that building the network took."""
    @property
    def wall_s(self) -> float:
        """Seconds that the run took, start-up and building of the network excluded."""
    @property
    def cpu_s(self) -> float:
        """Seconds of processor time of the same part."""
    @property
    def fingerprints(self) -> dict[str, str]:
        """Digests of the run at several grains, when they were asked for."""
    @property
    def tables(self) -> dict[str, Table]:
        """The tables by name."""

def run(
    scenario: Scenario,
    *,
    seed: int = 1,
    replication: int = 0,
    trace: list[str] = ...,
    pcap: str | None = None,
    pcap_at: Sequence[str] = ...,
    pcap_frames: str | None = None,
    qlog: str | None = None,
    fingerprints: bool = False,
    heard: Callable[[float], object] | None = None,
    rows: _Rows | None = None,
    rows_at_once: int | None = None,
    series: bool = False,
) -> Result:
    """Runs a scenario once.

    Args:
        scenario: what to run.
        seed: selects the random streams together with `replication`.
        replication: number of the independent repetition, from 0.
        trace: what to record beside the tables that every run has; `trace_kinds` lists it.
        pcap: where to write a pcapng capture.
        pcap_at: the nodes whose packets it holds, sent and received; none for the packets at every interface.
        pcap_frames: not IP packets, but the frames of Wi-Fi cells: `all`, or those of a node.
        qlog: a folder that exists, for the qlog files of QUIC connections.
        fingerprints: whether to compute `Result.fingerprints`.
        heard: is called now and then with the share of the simulated time that is over.
        rows: takes the rows of traces as they become final, some at a time and in their order; the tables of the
            result have no row of them then, nor do `Result.fingerprints` hold them.
        rows_at_once: rows of a table that are handed to it together, some 32,000 unless given. Results do not depend
            on it.
        series: whether the table `series` is made, what flows and links do over time in some 200 parts of the run.

    Raises:
        RunFailed: the run broke a rule of the simulator, or took too much memory.
        OSError: the capture cannot be written.
    """

@final
class World:
    """A run that is driven from outside; `roamsim.World` is for users."""

    def __new__(
        cls,
        scenario: Scenario,
        *,
        seed: int = 1,
        replication: int = 0,
        trace: list[str] = ...,
        pcap: str | None = None,
        pcap_at: list[str] = ...,
        series: bool = False,
    ) -> World:
        """Builds the world, at time zero."""
    @property
    def now_ns(self) -> int:
        """The instant that it has come to."""
    @property
    def end_ns(self) -> int:
        """When it ends at the latest."""
    @property
    def next_deadline_ns(self) -> int | None:
        """An instant before which nothing happens by itself."""
    @property
    def lateness(self) -> tuple[int, int, int, int, int]:
        """Packets; how late half, 99.9 % and all of them were at most; packets that a device refused."""
    @property
    def waits(self) -> tuple[int, int]:
        """How long 99.9 % of packets, and all, may have waited to be read."""
    def addresses(self, node: str) -> tuple[list[str], int]:
        """Addresses of a node, and the MTU of its smallest interface."""
    def step(self, until_ns: int) -> None:
        """Goes on to an instant."""
    def inject(self, node: str, octets: bytes) -> None:
        """A program of an external node sends a packet."""
    def emitted(self) -> list[tuple[str, int, bytes]]:
        """Packets that have left: node, nanoseconds, octets."""
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
        """What it did when it was looked at last: nanoseconds, links, flows, stations, changes of their links."""
    @property
    def late_packets(self) -> list[tuple[int, int]]:
        """The histogram of lateness: the most nanoseconds, and how many packets."""
    def live(self, gates: list[tuple[str, int]], wakes: list[int], speed: float, watched: bool) -> bool:
        """Goes on by the clock; takes the descriptors, and closes them."""
    def finish(self) -> Result:
        """Ends it where it is."""

@final
class Batch:
    """Many runs side by side; iterating yields (index, result or exception) in the order of completion."""

    def __new__(
        cls,
        runs: list[tuple[Scenario, int, int]],
        *,
        jobs: int,
        trace: list[str] = ...,
        heard: Callable[[float], object] | None = None,
        rows: _Rows | None = None,
        rows_at_once: int | None = None,
        series: bool = False,
    ) -> Batch:
        """Begins the runs.

        Args:
            runs: scenario, seed and replication of each.
            jobs: how many threads work on them.
            trace: what to record of each beside its tables.
            heard: is called while one waits for the next, with the sum over the runs at work of the share of their
                simulated time that is over.
            rows: as of `run`; the number that it gets is the index.
            rows_at_once: as of `run`.
            series: as of `run`, of those that are replication 0.
        """
    def __iter__(self) -> Iterator[tuple[int, Result | Exception]]: ...
    def __next__(self) -> tuple[int, Result | Exception]: ...
    def cancel(self) -> None:
        """Begins no further run, and stops those at work."""
