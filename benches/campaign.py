"""What campaigns cost beside their runs: runs a second that a driver takes in, memory, files, and reading many rows.

    python -m benches.campaign [--runs 100000] [--rows 10000000]

First a sweep of so many runs that simulate next to nothing, so that what it takes is the frame's; then one of a
hundred flows a run, until its table `flows` has so many rows, the tables written anew from the parts, and the report.
Each step is a process of its own, whose peak of memory is told. How well worker processes do: `benches.engines`.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Flows of a run where rows are wanted.
FLOWS = 100


def scenario(flows: int) -> dict[str, object]:
    """Some flows of one packet each over a lossy link."""
    return {
        "scenario": {"name": "Next to nothing", "duration": "10ms"},
        "node": [{"name": "source"}, {"name": "sink"}],
        "link": [
            {
                "name": "pipe",
                "between": ["source", "sink"],
                "rate": "100Mb/s",
                "delay": "1ms",
                "loss": {"model": "bernoulli", "probability": 0.1},
            }
        ],
        "flow": [
            {
                "name": f"flow-{number}",
                "from": "source",
                "to": "sink",
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "rate": "1Mb/s", "packet_size": "100B"},
            }
            for number in range(flows)
        ],
    }


def sweep(folder: Path, runs: int, flows: int) -> None:
    """A campaign of that many runs, half of them at each of two points."""
    import roamsim

    roamsim.sweep(scenario(flows), {"link.pipe.delay": ["1ms", "2ms"]}, replications=runs // 2, out=folder)


def write(folder: Path) -> None:
    """Its tables, from its parts."""
    from roamsim.storing.store import open_results, write_tables

    write_tables(folder, open_results(folder).tables)


def report(folder: Path) -> None:
    """Its report."""
    import roamsim

    roamsim.open_results(folder).report()


def measured(step: str, folder: Path, *arguments: int) -> tuple[float, float]:
    """Seconds that a step takes as a process, and its peak of memory in MB."""
    begun_s = time.perf_counter()
    words = [sys.executable, "-m", "benches.campaign", "--step", step, "--folder", str(folder)]
    process = subprocess.Popen([*words, *map(str, arguments)])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{step} failed")
    return time.perf_counter() - begun_s, usage.ru_maxrss * (1024 if sys.platform != "darwin" else 1) / 1e6


def table(runs: int, rows: int) -> list[str]:
    """The lines of the table."""
    lines = ["| what | takes | a run | peak of memory | files |", "|---|---|---|---|---|"]

    def line(what: str, took: tuple[float, float], folder: Path, each: int | None) -> None:
        files = sum(file.is_file() for file in folder.rglob("*"))
        a_run = f"{took[0] / each * 1e3:.3f} ms, {each / took[0]:.0f} runs/s" if each else ""
        lines.append(f"| {what} | {took[0]:.1f} s | {a_run} | {took[1]:.0f} MB | {files} |")

    with tempfile.TemporaryDirectory(prefix="roamsim-bench-") as place:
        trivial, many = Path(place) / "trivial", Path(place) / "many"
        line(f"a sweep of {runs} runs", measured("sweep", trivial, runs, 1), trivial, runs)
        line("the same again: nothing to make", measured("sweep", trivial, runs, 1), trivial, None)
        if rows:
            count = rows // FLOWS
            line(f"a sweep of {rows} rows", measured("sweep", many, count, FLOWS), many, count)
            line("its tables", measured("write", many), many, None)
            line("its report", measured("report", many), many, None)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=100_000, help="of the first sweep; 100000 unless given")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the second one; 10000000 unless given")
    parser.add_argument("--step", choices=["sweep", "write", "report"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("numbers", type=int, nargs="*", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.step:
        {"sweep": sweep, "write": write, "report": report}[asked.step](asked.folder, *asked.numbers)
    else:
        machine = platform.processor() or platform.machine()
        sys.stdout.write(
            "\n".join([f"{machine}, Python {platform.python_version()}", "", *table(asked.runs, asked.rows), ""])
        )
