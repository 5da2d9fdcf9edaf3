"""Campaigns over worker processes: how well two do beside one, and how many runs a second a driver takes in.

    python -m benches.engines [--seconds 10]

Each line is a sweep of equal runs of about so many milliseconds, which takes one worker some `--seconds`: by one and
by two worker processes of Dask on this machine, and by threads. The workers have made runs before the clock
starts; the tables of the sweep are written within the time. Two workers need two processors that do nothing else: the
driver takes its share of them.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from concurrent.futures import Executor
from pathlib import Path

import roamsim
from roamsim.running.clusters import cluster

SCENARIO = Path(__file__).parent / "scenarios" / "bulk.toml"

#: Milliseconds that a run takes; of the shortest ones nearly all is the driver's.
RUNS_MS = (1, 5, 50, 500)


def duration_s(run_ms: float) -> float:
    """Simulated time for which a run takes so long here, without what it takes to begin and to end."""
    one_s = roamsim.run(SCENARIO, set={"scenario.duration": "10s"}).wall_s / 10
    return run_ms / 1000 / one_s


def swept_s(simulated_s: float, replications: int, jobs: int, executor: Executor | None) -> float:
    """Seconds that a sweep takes."""
    with tempfile.TemporaryDirectory(prefix="roamsim-bench-") as folder:
        begun_s = time.perf_counter()
        roamsim.sweep(
            SCENARIO,
            {},
            set={"scenario.duration": f"{simulated_s:.6f}s"},
            replications=replications,
            jobs=jobs,
            out=folder,
            executor=executor,
        )
        return time.perf_counter() - begun_s


def measured(seconds: float) -> list[str]:
    """The lines of the table."""
    took: dict[tuple[int, str], float] = {}
    simulated_s = {run_ms: duration_s(run_ms) for run_ms in RUNS_MS}
    counts = {run_ms: max(20, round(seconds * 1000 / run_ms)) for run_ms in RUNS_MS}
    for who, jobs, on in (("one", 1, "dask"), ("two", 2, "dask"), ("threads", 2, None)):
        with cluster(on, jobs) as executor:
            swept_s(simulated_s[5], 200, jobs, executor)
            for run_ms in RUNS_MS:
                took[run_ms, who] = swept_s(simulated_s[run_ms], counts[run_ms], jobs, executor)
    lines = [
        "| a run takes | runs | one worker, runs/s | two workers, runs/s | efficiency of two | two threads, runs/s |",
        "|---|---|---|---|---|---|",
    ]
    for run_ms, count in counts.items():
        one, two, threads = (took[run_ms, who] for who in ("one", "two", "threads"))
        rates = " | ".join(
            [f"{count / one:.3g}", f"{count / two:.3g}", f"{one / two / 2:.0%}", f"{count / threads:.3g}"]
        )
        lines.append(f"| {run_ms} ms | {count} | {rates} |")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="what one worker needs for a line; 10 unless given"
    )
    lines = measured(parser.parse_args().seconds)
    machine = platform.processor() or platform.machine()
    sys.stdout.write("\n".join([f"{machine}, Python {platform.python_version()}", "", *lines, ""]))
