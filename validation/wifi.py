"""One cell of 802.11 in Roamsim and in ns-3, ours beside theirs, as Markdown.

    python -m validation.wifi [--quick] [--update docs/validation.md]

Saturated stations, TCP through the access point, and two stations that do not hear each other. A difference over 5 %
that nothing explains makes the exit code 1. Without ns-3 nothing is compared, and the document stays as it was.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import roamsim
from roamsim.statistics import Estimate, mean

from peers import document, simulators
from peers.simulators import Program
from validation.section import write_section

PROGRAM = Path(__file__).parent / "programs" / "ns3_wifi.cc"
TOLERANCE = 0.05
#: More than a cell carries, whose stations share it.
OFFERED_BPS = {"b": 16_000_000, "g": 80_000_000}
KINDS = {
    "up": "uplink, UDP",
    "down": "downlink, UDP",
    "tcp-up": "uplink, TCP",
    "tcp-down": "downlink, TCP",
    "hidden": "hidden stations, UDP",
}


#: Why 802.11b with RTS and CTS differs where many contend.
RTS_COLLISIONS = (
    "As we read ns-3's DSSS model, it receives the first of two RTS frames that collide at 2 Mb/s with equal power. "
    "Here frames that overlap are lost. This was not traced frame by frame. With control frames at 11 Mb/s the ratio "
    "does not depend on the number of stations (1, 20 and 50: 1.04, 1.05, 1.05)."
)


@dataclass(frozen=True)
class Run:
    """A run of both sides; `payload_bytes` are of a datagram, or of a segment."""

    standard: str
    kind: str
    stations: int = 1
    payload_bytes: int = 1472
    rts: bool = False
    duration_s: float = 5.0
    seed: int = 1

    def words(self) -> list[str]:
        """The words of the peer's program."""
        return [
            f"--standard={self.standard}",
            f"--kind={self.kind}",
            f"--stations={self.stations}",
            f"--payload={self.payload_bytes}",
            f"--rts={int(self.rts)}",
            f"--duration={self.duration_s:g}",
            f"--seed={self.seed}",
        ]


def runs(*, quick: bool) -> list[Run]:
    """What is compared, without seeds."""
    found = []
    for standard in ("b", "g"):
        duration_s = 2.0 if quick else 3.0
        for rts in (False, True):
            counts = (1, 10) if quick else (1, 2, 5, 10, 20, 50)
            found += [Run(standard, "up", stations, rts=rts, duration_s=duration_s) for stations in counts]
        found.append(Run(standard, "down", duration_s=duration_s))
        found += [Run(standard, kind, payload_bytes=1460, duration_s=duration_s) for kind in ("tcp-up", "tcp-down")]
        found += [Run(standard, "hidden", 2, 500, rts=rts, duration_s=duration_s) for rts in (False, True)]
    return found


def scenario(run: Run) -> dict[str, object]:
    """The run as a scenario."""
    stations = [f"station-{i}" for i in range(run.stations)]
    place = {"access-point": (0, 0), "station-0": (-40, 0), "station-1": (40, 0)}
    hidden = run.kind == "hidden"
    nodes: list[dict[str, object]] = []
    for name in ["access-point", *stations]:
        node: dict[str, object] = {"name": name}
        if hidden:
            x, y = place[name]
            node["position"] = {"x": f"{x}m", "y": f"{y}m"}
        nodes.append(node)
    wifi: dict[str, object] = {
        "name": "air",
        "access_point": "access-point",
        "stations": stations,
        "standard": f"802.11{run.standard}",
        "queue": {"packets": 100},
    }
    if run.rts:
        wifi["rts_threshold"] = "0B"
    if hidden:
        wifi["radio"] = {
            "path_loss": {"model": "log_distance", "exponent": 2.7},
            "radius": "50m",
            # Up to 50 m as well.
            "carrier_sense_threshold": "-66dBm",
        }
    down = run.kind in ("down", "tcp-down")
    tcp = run.kind.startswith("tcp")
    interval_ns = round(8e9 * run.payload_bytes * run.stations / OFFERED_BPS[run.standard])
    transport: dict[str, object] = {"protocol": "udp"}
    application: dict[str, object] = {
        "kind": "cbr",
        "packet_size": f"{run.payload_bytes}B",
        "interval": f"{interval_ns}ns",
    }
    if tcp:
        transport = {
            "protocol": "tcp",
            "variant": "newreno",
            "mss": f"{run.payload_bytes}B",
            "initial_window": 10,
            "receive_window": "65535B",
            "window_scaling": False,
            "delayed_ack": False,
            "timestamps": False,
        }
        application = {"kind": "bulk"}
    flows = []
    for i, station in enumerate(stations):
        ends = ["access-point", station] if down else [station, "access-point"]
        # All at once they would collide at once.
        start = {} if tcp else {"start": f"{i * interval_ns // run.stations}ns"}
        flows.append(
            {
                "name": station,
                "from": ends[0],
                "to": ends[1],
                "transport": transport,
                "application": application | start,
            }
        )
    return {
        "scenario": {"name": "Cell", "duration": f"{run.duration_s:g}s", "ip": "ipv4"},
        "node": nodes,
        "wifi": [wifi],
        "flow": flows,
    }


def ours(run: Run) -> float:
    """Mb/s of payload, in this process."""
    result = roamsim.run(scenario(run), seed=run.seed, jobs=1)
    return 8e-6 * float(result.flows["delivered_bytes"].sum()) / run.duration_s


def theirs(program: Program, run: Run) -> float:
    """The same from ns-3."""
    told = program.run(run.words())
    return float(8e-6 * told["delivered_bytes"] / told["seconds"])


def interval(estimate: Estimate) -> str:
    """A mean with its interval."""
    return f"{estimate.mean:.3f} ± {estimate.half_width:.3f}"


def report(
    plan: Sequence[Run], measured: dict[Run, tuple[list[float], list[float]]], build: str
) -> tuple[str, str, int]:
    """The table, its ratios alone, and how many differences are too large and not explained; these are marked."""
    rows, too_large = [], 0
    cells: dict[tuple[tuple[str, ...], str], str] = {}
    for run in plan:
        here, there = measured[run]
        own, other = mean(here), mean(there)
        ratio = own.mean / other.mean
        differs = abs(ratio - 1) > TOLERANCE
        told = f"{ratio:.3f}"
        if differs:
            explained = run.standard == "b" and run.rts and run.stations > 1
            told += " (a)" if explained else " (!)"
            too_large += not explained
        standard, rts = f"802.11{run.standard}", "yes" if run.rts else "no"
        rows.append([standard, KINDS[run.kind], str(run.stations), rts, interval(own), interval(other), told])
        cells[(standard, KINDS[run.kind], rts), f"stations: {run.stations}"] = told
    head = ["standard", "what", "stations", "RTS/CTS", "Roamsim, Mb/s", "ns-3, Mb/s", "ratio"]
    tables = document.table(head, rows), document.crossed(["standard", "what", "RTS/CTS"], cells)
    full, brief = (document.measured(build, table, f"(a) {RTS_COLLISIONS}") for table in tables)
    return full, brief, too_large


def compared(program: Program, quick: bool) -> tuple[str, str, int]:
    """The section in full and in brief, and how many differences are too large."""
    plan = runs(quick=quick)
    seeds = range(1, 3 if quick else 4)
    with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        futures = {
            run: [
                [executor.submit(side, replace(run, seed=seed)) for seed in seeds]
                for side in (ours, lambda run: theirs(program, run))
            ]
            for run in plan
        }
        measured = {}
        for run, (here, there) in futures.items():
            measured[run] = ([future.result() for future in here], [future.result() for future in there])
            sys.stderr.write(f"{len(measured)} of {len(plan)}\n")
    return report(plan, measured, program.build)


if __name__ == "__main__":
    fault = f"differences are over {TOLERANCE:.0%}"
    write_section(__doc__, "wifi", PROGRAM, simulators.NS3_WIFI_MODULES, compared, fault)
