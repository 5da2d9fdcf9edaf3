"""Shows that what moves costs in proportion to its number: instructions of a terminal among 50, 200, 800 and 1600.

    python -m benches.stations [--only mobile-ip | mobile-sctp] [COUNT]...

Terminals walk between two cells, under Mobile IP and under mobile SCTP (`benches/scenarios/stations-*.toml`), for
20 s. Two numbers each, counted by callgrind: of the run, and of everything, which is reading, checking and building
the scenario as well. A terminal that takes more than 1.25 times what it takes among the fewest is an error.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from benches.counts import COUNTED, FailedError, build, left_out, missing_programs, run
from peers.document import table
from peers.simulators import ROOT

SCENARIOS = ["mobile-ip", "mobile-sctp"]
COUNTS = [50, 200, 800, 1600]
TOLERANCE = 1.25
DURATION = "20s"


def instructions(program: Path, scenario: str, stations: int, *, whole: bool) -> tuple[int, int]:
    """Instructions of a run, or of everything around it as well; the events of the run."""
    path = ROOT / "benches" / "scenarios" / f"stations-{scenario}.toml"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        collect = [] if whole else [f"--toggle-collect={COUNTED}"]
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *collect]
        settings = [f"scenario.duration={DURATION}", f"node.terminal-{{i}}.count={stations}"]
        told = run([*callgrind, str(program), str(path), *settings])
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if not found or not int(found[1]):
        raise FailedError(f"{scenario}: callgrind counted nothing; is there a function like {COUNTED}?")
    return int(found[1]), json.loads(told)["events"]


def main(words: list[str] | None = None) -> int:
    """Counts and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", metavar="COUNT", nargs="*", type=int, help="terminals, of each run")
    parser.add_argument("--only", choices=SCENARIOS, help="this scheme")
    arguments = parser.parse_args(words)
    if missing := missing_programs():
        return left_out(f"instructions are not counted without {', '.join(missing)}")
    counts = sorted(arguments.counts or COUNTS)
    rows, complaints = [], []
    try:
        program = build()
        for scenario in [arguments.only] if arguments.only else SCENARIOS:
            first: dict[str, float] = {}
            for stations in counts:
                each = {}
                for what, whole in (("the run", False), ("everything", True)):
                    counted, events = instructions(program, scenario, stations, whole=whole)
                    each[what] = counted / stations
                    ratio = each[what] / first.setdefault(what, each[what])
                    if ratio > TOLERANCE:
                        complaints.append(
                            f"{scenario}: among {stations} a terminal takes {ratio:.2f} times the instructions of "
                            f"{what} that it takes among {counts[0]}"
                        )
                numbers = [f"{each[what]:,.0f}" for what in each]
                rows.append([scenario, str(stations), f"{events / stations:,.0f}", *numbers])
                sys.stderr.write(f"{scenario}, {stations} terminals\n")
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
