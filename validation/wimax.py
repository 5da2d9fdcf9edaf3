"""One cell of 802.16 in Roamsim and in ns-3, ours beside theirs, as Markdown.

    python -m validation.wimax [--quick] [--update docs/validation.md]

Stations enter a cell and send by unsolicited grants or by polls, or get datagrams by best effort, at loads that
ns-3 carries: octets delivered, mean delay, and when stations were connected. A difference of the first two over 5 %
has the letter of its explanation (validation/explanations.py); one without makes the exit code 1. Without ns-3
nothing is compared, and the document stays as it was.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import roamsim

from peers import document, simulators
from peers.simulators import Program
from validation.explanations import explanation, listed
from validation.section import write_section

PROGRAM = Path(__file__).parent / "programs" / "ns3_wimax.cc"
TOLERANCE = 0.05
#: Ratios that are as good as one.
EQUAL = 0.005
KINDS = {
    "up": "uplink, UGS",
    "polled": "uplink, rtPS",
    "down": "downlink, best effort",
}
PART = "wimax"
#: Of datagrams: 2.618 frames, the square of the golden ratio, by which few datagrams come at all phases alike, of our
#: frames and of ns-3's longer ones. Of polled stations 4.236, its cube: in ns-3 the second grant for a datagram, in
#: the frame behind that in which it went, is over by then.
INTERVALS_NS = {"up": 26_180_340, "polled": 42_360_680, "down": 26_180_340}
FRAME_MS = 10
#: By then stations have entered on both sides.
WARMUP_S = 5.0


@dataclass(frozen=True)
class Run:
    """A run of both sides."""

    kind: str
    stations: int = 1
    payload_bytes: int = 1000
    duration_s: float = 20.0

    @property
    def interval_ns(self) -> int:
        """From one datagram to the next."""
        return INTERVALS_NS[self.kind]

    def words(self) -> list[str]:
        """The words of the peer's program."""
        return [
            f"--kind={self.kind}",
            f"--stations={self.stations}",
            f"--payload={self.payload_bytes}",
            f"--interval={self.interval_ns / 1e9:.9g}",
            f"--frame={FRAME_MS / 1e3:g}",
            f"--warmup={WARMUP_S:g}",
            f"--duration={self.duration_s:g}",
        ]


@dataclass(frozen=True)
class Told:
    """What a side tells: Mb/s of payload, mean delay, and when the last station was connected."""

    goodput_mbps: float
    delay_s: float
    entered_s: float


def runs(*, quick: bool) -> list[Run]:
    """What is compared."""
    counts = (1, 5) if quick else (1, 2, 5, 10)
    payloads = (1000,) if quick else (200, 1000)
    return [Run(kind, stations, payload) for kind in KINDS for payload in payloads for stations in counts]


def scenario(run: Run) -> dict[str, object]:
    """The run as a scenario."""
    stations = [f"station-{i}" for i in range(run.stations)]
    flows = []
    for i, station in enumerate(stations):
        ends = ["base-station", station] if run.kind == "down" else [station, "base-station"]
        start_ns = round(1e9 * WARMUP_S) + run.interval_ns * i // run.stations
        application = {
            "kind": "cbr",
            "packet_size": f"{run.payload_bytes}B",
            "interval": f"{run.interval_ns}ns",
            "start": f"{start_ns}ns",
            "stop": f"{WARMUP_S + run.duration_s:g}s",
        }
        flow = {"name": station, "from": ends[0], "to": ends[1], "transport": {"protocol": "udp"}}
        flows.append(flow | {"application": application})
    wimax: dict[str, object] = {
        "name": "air",
        "base_station": "base-station",
        "stations": stations,
        "bandwidth": "10MHz",
        "cyclic_prefix": "1/4",
        "frame": f"{FRAME_MS}ms",
        "transmit_gap": "50us",
        "receive_gap": "50us",
        "entry": {"radius": "1km", "dcd_interval": "3s", "ucd_interval": "3s", "ranging_interval": "50ms"},
    }
    if run.kind == "up":
        grants = {"stations": stations, "packet_size": f"{run.payload_bytes + 28}B", "interval": f"{FRAME_MS}ms"}
        wimax["unsolicited_grants"] = [grants]
    elif run.kind == "polled":
        wimax["real_time_polling"] = [{"stations": stations, "interval": f"{FRAME_MS}ms"}]
    return {
        "scenario": {"name": "Cell", "duration": f"{WARMUP_S + run.duration_s + 1:g}s", "ip": "ipv4"},
        "node": [{"name": name, "position": {"x": "0m", "y": "0m"}} for name in ["base-station", *stations]],
        "wimax": [wimax],
        "flow": flows,
    }


def ours(run: Run) -> Told:
    """In this process."""
    result = roamsim.run(scenario(run), seed=1, jobs=1, trace=["link_events"])
    events = result.tables["link_events"]
    entered = events.filter(event="link_up")["time_s"].to_list()
    delivered = result.flows["delivered_packets"]
    delays = (result.flows["mean_delay_s"] * delivered).sum() / delivered.sum()
    mbps = 8e-6 * float(result.flows["delivered_bytes"].sum()) / run.duration_s
    return Told(mbps, float(delays), max(entered, default=float("nan")))


def theirs(program: Program, run: Run) -> Told:
    """The same from ns-3."""
    told = program.run(run.words())
    return Told(8e-6 * told["delivered_bytes"] / told["seconds"], told["mean_delay_s"], told["last_entry_s"])


def report(plan: Sequence[Run], measured: dict[Run, tuple[Told, Told]], build: str) -> tuple[str, str, int]:
    """The table with the explanations that it uses, its ratios alone, and how many differences have no explanation.

    These are marked. The ratios alone have no row if all of it are within `EQUAL` of one.
    """
    rows, used, too_large = [], set[str](), 0
    cells: dict[tuple[tuple[str, ...], str], str] = {}
    differing = set[tuple[str, ...]]()
    for run in plan:
        own, other = measured[run]
        ratios = []
        for quantity, here, there in (
            ("goodput, Mb/s", own.goodput_mbps, other.goodput_mbps),
            ("delay, ms", own.delay_s, other.delay_s),
        ):
            mark = ""
            if abs(here / there - 1) > TOLERANCE:
                because = explanation(PART, run.kind, (str(run.stations),), quantity, "ns-3")
                mark = f" ({because.letter if because else '!'})"
                used |= {because.letter} if because else set()
                too_large += because is None
            ratios.append(f"{here / there:.3f}{mark}")
            row = KINDS[run.kind], str(run.payload_bytes), quantity.partition(",")[0]
            cells[row, f"stations: {run.stations}"] = ratios[-1]
            if abs(here / there - 1) > EQUAL:
                differing.add(row)
        rows.append(
            [
                KINDS[run.kind],
                str(run.stations),
                str(run.payload_bytes),
                f"{own.goodput_mbps:.3f}",
                ratios[0],
                f"{1e3 * own.delay_s:.3f}",
                f"{1e3 * other.delay_s:.3f}",
                ratios[1],
                f"{own.entered_s:.3f}",
                f"{other.entered_s:.3f}",
            ]
        )
    head = ["what", "stations", "octets", "Mb/s", "ratio", "delay, ms", "ns-3, ms", "ratio", "entered, s", "ns-3, s"]
    shown = {key: cell for key, cell in cells.items() if key[0] in differing}
    tables = document.table(head, rows), document.crossed(["what", "octets", "ours / ns-3"], shown)
    full, brief = (document.measured(build, table, listed(used)) for table in tables)
    return full, brief, too_large


def compared(program: Program, quick: bool) -> tuple[str, str, int]:
    """The section in full and in brief, and how many differences are too large."""
    plan = runs(quick=quick)
    with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        futures = {run: (executor.submit(ours, run), executor.submit(theirs, program, run)) for run in plan}
        measured = {run: (here.result(), there.result()) for run, (here, there) in futures.items()}
    return report(plan, measured, program.build)


if __name__ == "__main__":
    fault = f"differences are over {TOLERANCE:.0%}"
    write_section(__doc__, "wimax", PROGRAM, simulators.NS3_WIMAX_MODULES, compared, fault)
