"""Runs one bench scenario in Roamsim and prints one JSON object, as the peer programs do.

    python benches/ours.py bulk | signalling | dumbbell FLOWS [cubic | bbr] | wide FLOWS
    python benches/ours.py cell STATIONS SECONDS | wimax STATIONS SECONDS

`cpu_s` is the processor time of the run's own loop: without start-up, and without building the world.
"""

import ctypes
import json
import re
import sys
from pathlib import Path

import wimax_cell
from cell import PAYLOAD_BYTES, cell
from dumbbell import dumbbell
from roamsim import _roamsim

HERE = Path(__file__).parent
MESSAGE_BYTES = 200
SEGMENT_BYTES = 1000


def status_bytes(key: str) -> int:
    """A memory size of this process, from Linux's /proc; 0 elsewhere."""
    status = Path("/proc/self/status")
    found = re.search(rf"^{key}:\s+(\d+) kB", status.read_text(), re.MULTILINE) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


def parse(arguments: list[str]) -> _roamsim.Scenario:
    """The scenario that the arguments name."""
    match arguments:
        case ["bulk" | "signalling" as name]:
            path = HERE / "scenarios" / f"{name}.toml"
            return _roamsim.Scenario.parse(path.read_text(), name=str(path), format="toml")
        case ["dumbbell" | "wide" as name, flows] if flows.isdecimal() and int(flows) > 0:
            tree = dumbbell(int(flows), wide=name == "wide")
            return _roamsim.Scenario.parse(json.dumps(tree), name="dumbbell", format="json")
        case ["dumbbell", flows, "cubic" | "bbr" as variant] if flows.isdecimal() and int(flows) > 0:
            tree = dumbbell(int(flows), control={"variant": variant})
            return _roamsim.Scenario.parse(json.dumps(tree), name="dumbbell", format="json")
        case ["cell" | "wimax" as name, *numbers] if len(numbers) == 2 and all(
            n.isdecimal() and int(n) > 0 for n in numbers
        ):
            make = cell if name == "cell" else wimax_cell.entered
            return _roamsim.Scenario.parse(json.dumps(make(*map(int, numbers))), name=name, format="json")
        case _:
            raise SystemExit(
                "usage: ours.py bulk | signalling | dumbbell FLOWS [cubic | bbr] | wide FLOWS"
                " | cell STATIONS SECONDS | wimax STATIONS SECONDS"
            )


def main() -> None:
    """Runs and prints."""
    scenario = parse(sys.argv[1:])
    # What parsing has freed goes back to the system (glibc) and the peak is reset (Linux): the rest is of the run.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    rss_bytes = status_bytes("VmRSS")
    reset_peak = Path("/proc/self/clear_refs")
    if reset_peak.exists():
        reset_peak.write_text("5")
    result = _roamsim.run(scenario, seed=1)
    cpu_s = result.cpu_s
    if sys.argv[1] == "signalling":
        table = result.tables["signalling"]
        units = sum(round(float(m) * float(s)) for m, s in zip(table["messages"], table["success_rate"], strict=True))
        delivered_bytes = units * MESSAGE_BYTES
        traffic_s = 4000.0
    else:
        delivered_bytes = int(sum(result.tables["flows"]["delivered_bytes"]))
        units = delivered_bytes // (PAYLOAD_BYTES if sys.argv[1] == "cell" else SEGMENT_BYTES)
        traffic_s = int(sys.argv[3]) if sys.argv[1] == "wimax" else scenario.duration_s
    measured = {
        "version": _roamsim.version(),
        "cpu_s": cpu_s,
        "wall_s": result.wall_s,
        "events": result.events,
        "delivered_bytes": delivered_bytes,
        "delivered_units": units,
        "goodput_bps": 8 * delivered_bytes / traffic_s,
        "max_rss_bytes": status_bytes("VmHWM"),
        "run_rss_bytes": max(0, status_bytes("VmHWM") - rss_bytes),
    }
    sys.stdout.write(json.dumps(measured) + "\n")


if __name__ == "__main__":
    main()
