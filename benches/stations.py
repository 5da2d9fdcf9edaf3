"""Shows that what moves costs in proportion to its number: instructions of a terminal among 50, 200, 800 and 1600.

    python -m benches.stations [--only mobile-ip | mobile-sctp] [COUNT]...

Terminals walk between two cells, under Mobile IP and under mobile SCTP (`benches/scenarios/stations-*.toml`), for
20 s. Two numbers each, counted by callgrind: of the run, and of everything but the start of Python, which is reading,
checking and building the scenario as well. A terminal that takes more than 1.25 times what it takes among the fewest
is an error.
"""

import argparse
import json
import sys

from benches.counts import COUNTED, SCENARIOS, FailedError, callgrind, left_out, missing_programs
from peers.document import table

SCHEMES = ["mobile-ip", "mobile-sctp"]
COUNTS = [50, 200, 800, 1600]
TOLERANCE = 1.25
DURATION = "20s"


def instructions(scheme: str, stations: int) -> tuple[int, int, int]:
    """Instructions of a run, and of everything around it as well; the events of the run."""
    scenario = str(SCENARIOS / f"stations-{scheme}.toml")
    words = [scenario, f"scenario.duration={DURATION}", f"node.terminal-{{i}}.count={stations}"]
    run, told = callgrind(words, f"--toggle-collect={COUNTED}")
    everything, _ = callgrind(words)
    return run, everything, json.loads(told)["events"]


def main(words: list[str] | None = None) -> int:
    """Counts and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", metavar="COUNT", nargs="*", type=int, help="terminals, of each run")
    parser.add_argument("--only", choices=SCHEMES, help="this scheme")
    arguments = parser.parse_args(words)
    if missing := missing_programs():
        return left_out(f"instructions are not counted without {', '.join(missing)}")
    counts = sorted(arguments.counts or COUNTS)
    rows, complaints = [], []
    try:
        start, _ = callgrind([])
        for scheme in [arguments.only] if arguments.only else SCHEMES:
            first: dict[str, float] = {}
            for stations in counts:
                run, everything, events = instructions(scheme, stations)
                each = {"the run": run / stations, "everything": (everything - start) / stations}
                for what, counted in each.items():
                    ratio = counted / first.setdefault(what, counted)
                    if ratio > TOLERANCE:
                        complaints.append(
                            f"{scheme}: among {stations} a terminal takes {ratio:.2f} times the instructions of "
                            f"{what} that it takes among {counts[0]}"
                        )
                numbers = [f"{each[what]:,.0f}" for what in each]
                rows.append([scheme, str(stations), f"{events / stations:,.0f}", *numbers])
                sys.stderr.write(f"{scheme}, {stations} terminals\n")
    except FailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    head = ["scheme", "terminals", "events each", "instructions each, the run", "everything"]
    sys.stdout.write(table(head, rows) + "\n")
    if complaints:
        sys.stderr.write("\n".join(complaints) + "\n")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
