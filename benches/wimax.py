"""Shows what busy stations of 802.16 cost: frames by a second of processor time, an octet among 1, 10 and 100.

    python -m benches.wimax [--duration SECONDS] [--rounds N] [COUNT]...

Two kinds of load for 60 s of frames of 5 ms: one packet each way in each frame and for each station ("light"; with
one station, frames of one burst each way), and more than the cell carries, shared by all ("saturated"). Rounds have a
run of each by turns, so that what else a machine does falls on all; the best run of each counts. An octet that costs
over three times as much among 100 stations as among 10 is an error.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import roamsim

from benches.wimax_cell import cell
from peers.document import machine, table

COUNTS = [1, 10, 100]
TOLERANCE = 3.0


@dataclass
class Best:
    """The best run so far of a load: seconds of processor time, busy frames, and octets delivered."""

    cpu_s: float = float("inf")
    busy: int = 0
    delivered: int = 0

    def try_again(self, tree: dict[str, object]) -> None:
        """Runs the load once more."""
        before = time.process_time()
        result = roamsim.run(tree, seed=1, jobs=1)
        self.cpu_s = min(self.cpu_s, time.process_time() - before)
        self.busy = int(result.tables["wimax"]["busy_frames"].sum())
        self.delivered = int(result.flows["delivered_bytes"].sum())


def main(words: list[str] | None = None) -> int:
    """Measures and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", metavar="COUNT", nargs="*", type=int, help="stations, of each run")
    parser.add_argument("--duration", type=float, default=60.0, help="seconds of simulated time")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each load")
    arguments = parser.parse_args(words)
    counts = sorted(arguments.counts or COUNTS)
    loads = [(saturated, stations) for saturated in (False, True) for stations in counts]
    trees = {load: cell(load[1], arguments.duration, saturated=load[0]) for load in loads}
    best = {load: Best() for load in loads}
    for _ in range(arguments.rounds):
        for load in loads:
            best[load].try_again(trees[load])
    cost = {stations: best[True, stations].cpu_s / best[True, stations].delivered for stations in counts}
    rows = [
        [
            "saturated" if saturated else "light",
            str(stations),
            f"{run.cpu_s:.3f}",
            f"{run.busy / run.cpu_s:,.0f}",
            f"{1e9 * run.cpu_s / run.delivered:.2f}",
        ]
        for (saturated, stations), run in best.items()
    ]
    head = ["load", "stations", "processor time, s", "busy frames a second of it", "ns an octet delivered"]
    sys.stdout.write(f"Measured on: {machine()}.\n\n{table(head, rows)}\n")
    if 10 in cost and 100 in cost and cost[100] > TOLERANCE * cost[10]:
        sys.stderr.write(f"an octet costs {cost[100] / cost[10]:.2f} times as much among 100 stations as among 10\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
