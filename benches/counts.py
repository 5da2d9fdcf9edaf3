"""Counts the instructions of some runs with callgrind, and holds them against the counts that are kept.

    python -m benches.counts [--only NAME]... [--renew]

Instructions do not depend on what else the machine does, so that a change of a few percent shows. They do depend on
the compiler: `benches/counts.json` keeps them by compiler, for the profile `release` of `Cargo.toml`, in which
`make setup` builds the extension module; another compiler is told that nothing is kept for it, and fails nothing. A
count further than 3 % from what is kept is an error, whether it is more or less: less is to be kept as well, by
`--renew`, which writes the counts of this compiler anew. The processor and the C library hardly count: other variants
of the library's copying and an allocator without caches move the dumbbell of ten flows by 0.01 %.

Only the run is counted (`counted_run` in `crates/python/src/crew.rs`), not Python, the reading of the scenario, nor
the building of its world.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches import cell, wimax_cell
from benches.dumbbell import dumbbell
from peers.document import table
from peers.simulators import ROOT

KEPT = ROOT / "benches" / "counts.json"
SCENARIOS = ROOT / "benches" / "scenarios"
TOLERANCE = 0.03
PROGRAM = ROOT / "benches" / "counted.py"
# The function of crates/python/src/crew.rs around the run, however its name is mangled.
COUNTED = "*counted_run*"


@dataclass(frozen=True)
class Case:
    """A run: a file of benches/scenarios or of a study, or a tree that is made here, for so long."""

    name: str
    duration: str
    scenario: Path | dict[str, object]


def clean(**transport: object) -> dict[str, object]:
    """The bulk flow over a pipe that loses nothing, within a window that its queue holds, with such a transport."""
    scenario: dict[str, Any] = tomllib.loads((SCENARIOS / "bulk.toml").read_text())
    del scenario["link"][0]["loss"]
    kept = {key: value for key, value in scenario["flow"][0]["transport"].items() if key != "variant"}
    scenario["flow"][0]["transport"] = kept | {"receive_window": "100kB"} | transport
    return scenario


#: CUBIC with RACK, PRR and pacing.
PARTS: dict[str, object] = {"stack": "rfc", "timestamps": False, "hystart": False, "pacing": True}

CASES = [
    Case("bulk", "60s", SCENARIOS / "bulk.toml"),
    # What options and parts cost a segment, beside `clean`. The bound that is wanted is 1.3 times.
    Case("clean", "60s", clean(variant="newreno")),
    Case("clean-sack", "60s", clean(variant="sack")),
    Case("clean-timestamps", "60s", clean(variant="cubic", timestamps=True)),
    Case("clean-parts", "60s", clean(stack="rfc", timestamps=False, pacing=True)),
    Case("dumbbell-10", "3s", dumbbell(10)),
    Case("dumbbell-1000", "3s", dumbbell(1000)),
    # The same amid losses, by octets delivered beside `dumbbell-cubic`. Wanted are 1.4 times, and 1.6 with BBR.
    Case("dumbbell-cubic", "3s", dumbbell(10, control={"variant": "cubic"})),
    Case("dumbbell-parts", "3s", dumbbell(10, control=PARTS)),
    Case("dumbbell-bbr", "3s", dumbbell(10, control={"variant": "bbr"})),
    # The same, most of it without losses.
    Case("steady-cubic", "15s", dumbbell(10, control={"variant": "cubic"})),
    Case("steady-parts", "15s", dumbbell(10, control=PARTS)),
    Case("steady-bbr", "15s", dumbbell(10, control={"variant": "bbr"})),
    Case("sctp", "3s", SCENARIOS / "sctp.toml"),
    Case("dect", "300s", SCENARIOS / "dect.toml"),
    Case("signalling", "4005s", SCENARIOS / "signalling.toml"),
    Case("walk", "240s", SCENARIOS / "walk.toml"),
    Case("cell-1", "10s", cell.cell(1, 10)),
    Case("cell-10", "10s", cell.cell(10, 10)),
    Case("wimax-1", "60s", wimax_cell.cell(1, 60, saturated=True)),
    Case("wimax-10", "10s", wimax_cell.cell(10, 10, saturated=True)),
    Case("wimax-100", "10s", wimax_cell.cell(100, 10, saturated=True)),
    Case("handover", "30s", ROOT / "studies" / "mih-handover" / "scenarios" / "walk.toml"),
]


@dataclass(frozen=True)
class Count:
    """What a run took, and what it did."""

    instructions: int
    events: int
    delivered_bytes: int


class FailedError(Exception):
    """Something could not be built or run."""


def run(command: list[str]) -> str:
    """A program's output."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FailedError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def compiler() -> str:
    """The Rust compiler and what it compiles for: what counts are kept by."""
    about = dict(line.split(": ", 1) for line in run(["rustc", "-vV"]).splitlines() if ": " in line)
    return f"rustc {about['release']}, {about['host']}"


def callgrind(words: list[str], *options: str) -> tuple[int, str]:
    """The instructions of `counted.py` with these words that the options have callgrind collect; its output."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *options]
        told = run([*valgrind, sys.executable, "-IS", str(PROGRAM), *words])
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if not found or not int(found[1]):
        raise FailedError(f"{' '.join(words)}: callgrind counted nothing with {' '.join(options)}")
    return int(found[1]), told


def count(case: Case) -> Count:
    """Runs a case under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(case.scenario, Path):
            path = case.scenario
        else:
            path = Path(folder) / f"{case.name}.json"
            path.write_text(json.dumps(case.scenario))
        words = [str(path), f"scenario.duration={case.duration}"]
        instructions, told = callgrind(words, f"--toggle-collect={COUNTED}")
    return Count(instructions=instructions, **json.loads(told))


def read() -> dict[str, dict[str, dict[str, int]]]:
    """The counts that are kept: by compiler, then by case."""
    kept: dict[str, dict[str, dict[str, int]]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return kept


def compare(counts: dict[str, Count], kept: dict[str, dict[str, int]]) -> tuple[str, list[str]]:
    """A table of all counts, and a sentence about each that is not what is kept."""
    rows, complaints = [], []
    for name, now in counts.items():
        before = kept.get(name)
        if before is None:
            complaints.append(f"{name}: no count is kept")
            continue
        ratio = now.instructions / before["instructions"]
        rows.append([name, f"{before['instructions']:,}", f"{now.instructions:,}", f"{ratio - 1:+.2%}"])
        if abs(now.instructions - before["instructions"]) > TOLERANCE * before["instructions"]:
            more = "more" if ratio > 1 else "fewer"
            same = (now.events, now.delivered_bytes) == (before["events"], before["delivered_bytes"])
            work = (
                "for the same events and octets" if same else f"for {now.events:,} events, not {before['events']:,}"
            )
            complaints.append(f"{name}: {abs(ratio - 1):.1%} {more} instructions {work}")
    return table(["run", "kept", "now", "difference"], rows), complaints


def missing_programs() -> list[str]:
    """What is needed and not there."""
    return [program for program in ("valgrind", "rustc") if shutil.which(program) is None]


def left_out(why: str) -> int:
    """Says why nothing is counted; the exit code, a failure in continuous integration."""
    required = os.environ.get("ROAMSIM_REQUIRE_TOOLS") == "1"
    sys.stderr.write(f"{'MISSING' if required else 'LEFT OUT'}: {why}\n")
    return int(required)


def main(words: list[str] | None = None) -> int:
    """Counts and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[case.name for case in CASES], help="this run")
    parser.add_argument("--renew", action="store_true", help="keep these counts for this compiler")
    arguments = parser.parse_args(words)
    missing = missing_programs()
    if missing:
        return left_out(f"instructions are not counted without {', '.join(missing)}")
    cases = [case for case in CASES if not arguments.only or case.name in arguments.only]
    try:
        by, kept = compiler(), read()
        if by not in kept and not arguments.renew:
            sys.stderr.write(
                f"LEFT OUT: no counts are kept for {by}, only for {'; '.join(kept)}. Run `make new-counts` where "
                "nothing has changed since they held, and commit benches/counts.json\n"
            )
            return 0
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            counts = dict(zip([case.name for case in cases], pool.map(count, cases), strict=True))
    except FailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if arguments.renew:
        kept[by] = kept.get(by, {}) | {name: vars(count) for name, count in counts.items()}
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    text, complaints = compare(counts, kept[by])
    sys.stdout.write(f"Instructions, {by}:\n\n{text}\n")
    if complaints:
        sys.stderr.write(
            "\n".join(["", *complaints, ""])
            + f"The tolerance is {TOLERANCE:.0%}. If you mean this change, run `make new-counts`.\n"
        )
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
