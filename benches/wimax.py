"""Shows what busy stations of 802.16 cost: frames by a second of processor time, an octet among 1, 10 and 100.

    python -m benches.wimax [--duration SECONDS] [COUNT]...

Two kinds of load for 60 s of frames of 5 ms: one packet each way in each frame and for each station ("light"; with
one station, frames of one burst each way), and more than the cell carries, shared by all ("saturated"). The best of
five runs counts. An octet that costs over three times as much among 100 stations as among 10 is an error.
"""

import argparse
import sys
import time

import roamsim

from benches.wimax_cell import cell
from peers.document import machine, table

COUNTS = [1, 10, 100]
TOLERANCE = 3.0


def measure(stations: int, duration_s: float, *, saturated: bool) -> tuple[float, float, int]:
    """Seconds of processor time, busy frames, and octets delivered."""
    tree = cell(stations, duration_s, saturated=saturated)
    best, busy, delivered = float("inf"), 0, 0
    for _ in range(5):
        before = time.process_time()
        result = roamsim.run(tree, seed=1, jobs=1)
        best = min(best, time.process_time() - before)
        busy = int(result.tables["wimax"]["busy_frames"].sum())
        delivered = int(result.flows["delivered_bytes"].sum())
    return best, busy, delivered


def main(words: list[str] | None = None) -> int:
    """Measures and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", metavar="COUNT", nargs="*", type=int, help="stations, of each run")
    parser.add_argument("--duration", type=float, default=60.0, help="seconds of simulated time")
    arguments = parser.parse_args(words)
    rows, cost = [], {}
    for saturated in (False, True):
        for stations in sorted(arguments.counts or COUNTS):
            cpu_s, busy, delivered = measure(stations, arguments.duration, saturated=saturated)
            if saturated:
                cost[stations] = cpu_s / delivered
            rows.append(
                [
                    "saturated" if saturated else "light",
                    str(stations),
                    f"{cpu_s:.3f}",
                    f"{busy / cpu_s:,.0f}",
                    f"{1e9 * cpu_s / delivered:.2f}",
                ]
            )
    head = ["load", "stations", "processor time, s", "busy frames a second of it", "ns an octet delivered"]
    sys.stdout.write(f"Measured on: {machine()}.\n\n{table(head, rows)}\n")
    if 10 in cost and 100 in cost and cost[100] > TOLERANCE * cost[10]:
        sys.stderr.write(f"an octet costs {cost[100] / cost[10]:.2f} times as much among 100 stations as among 10\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
