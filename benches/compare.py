"""Measures the bench scenarios in Roamsim and in its peers, side by side, and prints the comparison as Markdown.

    python -m benches.compare [--rounds N] [--only NAME]... [--without PEER]... [--htsim PATH] [--json FILE]
        [--update FILE]

Each round runs each simulator once, each run in a process of its own, so that a disturbance of the machine meets all
of them. Ratios are taken within a round; medians of rounds are printed, with the smallest and the largest. A
simulator that is missing is left out, and said so; htsim, which has no package, takes part where a copy of its source
is given. These are benchmarks, not tests: a missed goal is no error.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benches import programs
from peers.document import crossed, machine, replace, table
from peers.simulators import ROOT, MissingError, Program, htsim_sources


@dataclass(frozen=True)
class Bench:
    """A scenario: its words on the command line, its unit of work, and how much less CPU we want than a peer."""

    name: str
    words: list[str]
    unit: str
    pending: int  # the size of the bare hold model to set beside it: flows, or 10
    goals: Mapping[str, float]
    simulators: tuple[str, ...]  # those that can run it


WITHOUT_HTSIM = ("roamsim", "ns-3", "ns-2", "ns-2 splay")
ALL = (*WITHOUT_HTSIM, "htsim")
WIRED = {"ns-3": 120, "ns-2": 5, "ns-2 splay": 3}
DUMBBELL = {**WIRED, "htsim": 3}

BENCHES = [
    Bench("bulk", ["bulk"], "segment", 10, WIRED, ALL),
    Bench("signalling", ["signalling"], "message", 10, {"ns-3": 40}, WITHOUT_HTSIM),
    Bench("dumbbell-10", ["dumbbell", "10"], "segment", 10, DUMBBELL, ALL),
    Bench("dumbbell-100", ["dumbbell", "100"], "segment", 100, DUMBBELL, ALL),
    Bench("dumbbell-1000", ["dumbbell", "1000"], "segment", 1000, {"ns-3": 40, "ns-2": 3, "htsim": 2.5}, ALL),
    # Version 3 of BBR beside version 1 of ns-3, which has RFC 8312's CUBIC.
    Bench("dumbbell-cubic-10", ["dumbbell", "10", "cubic"], "segment", 10, {"ns-3": 100}, ("roamsim", "ns-3")),
    Bench("dumbbell-bbr-10", ["dumbbell", "10", "bbr"], "segment", 10, {"ns-3": 100}, ("roamsim", "ns-3")),
    # ns-2 keeps the next hop of each pair of nodes, 4e8 of them; at what a segment of dumbbell-1000 costs it, ns-3
    # would take six minutes a round.
    Bench("wide-10000", ["wide", "10000"], "segment", 10_000, {"htsim": 3}, ("roamsim", "htsim")),
    Bench("cell-1", ["cell", "1", "60"], "frame", 10, {"ns-3": 40, "ns-2": 8}, WITHOUT_HTSIM),
    Bench("cell-10", ["cell", "10", "60"], "frame", 10, {"ns-3": 40, "ns-2": 8}, WITHOUT_HTSIM),
    Bench("cell-100", ["cell", "100", "6"], "frame", 100, {"ns-3": 40, "ns-2": 8}, WITHOUT_HTSIM),
    # ns-2 has no 802.16; ns-3 serves some 29 stations at most.
    Bench("wimax-1", ["wimax", "1", "60"], "datagram", 10, {"ns-3": 20}, ("roamsim", "ns-3")),
    Bench("wimax-10", ["wimax", "10", "60"], "datagram", 10, {"ns-3": 20}, ("roamsim", "ns-3")),
]

Run = dict[str, float]
Runs = dict[str, dict[str, list[Run]]]  # by bench, by program


def available(htsim: Path | None) -> list[Program]:
    """The simulators that can be run here, htsim from this copy of its source; says loudly which cannot."""
    found = []
    makers: list[Callable[[], Program]] = [
        programs.ours,
        programs.ns3,
        lambda: programs.ns2("Calendar"),
        lambda: programs.ns2("Splay"),
        lambda: programs.htsim(htsim),
    ]
    for make in makers:
        try:
            found.append(make())
        except MissingError as missing:
            sys.stderr.write(f"LEFT OUT: {missing}\n")
    return found


def measure(benches: list[Bench], found: list[Program], rounds: int) -> Runs:
    """All runs, in rounds."""
    runs: Runs = {
        bench.name: {program.name: [] for program in found if program.name in bench.simulators} for bench in benches
    }
    for round_number in range(1, rounds + 1):
        for bench in benches:
            for program in found:
                if program.name not in bench.simulators:
                    continue
                run = program.run(bench.words)
                runs[bench.name][program.name].append(run)
                sys.stderr.write(f"round {round_number}: {bench.name}, {program.name}: {run['cpu_s']:.3f} s\n")
    return runs


def hold_ns() -> dict[int, float]:
    """Nanoseconds of one step of the bare hold model by number of pending events, as criterion left them.

    That whose spans are mixed, as those of packets on links and of timers are.
    """
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    estimates = target.glob("criterion/hold_mixed/*/new/estimates.json")
    held = {
        int(e.parent.parent.name): float(json.loads(e.read_text())["median"]["point_estimate"]) for e in estimates
    }
    if not held:
        sys.stderr.write("LEFT OUT: the bare hold model; run `cargo bench -p roamsim-engine --bench queue` first\n")
    return held


def spread(values: list[float], digits: int = 3) -> str:
    """Median (smallest to largest)."""

    def told(value: float) -> str:
        return f"{float(f'{value:.{digits}g}'):g}"

    if len(values) == 1:
        return told(values[0])
    return f"{told(statistics.median(values))} ({told(min(values))} to {told(max(values))})"


def work_table(benches: list[Bench], runs: Runs) -> str:
    """What each simulator did and what it cost."""
    rows = []
    for bench in benches:
        for name, measured in runs[bench.name].items():
            cpu_s = [run["cpu_s"] for run in measured]
            first = measured[0]
            per_unit_ns = 1e9 * statistics.median(cpu_s) / max(1, first["delivered_units"])
            events_per_s = first["events"] / statistics.median(cpu_s) if "events" in first else None
            rows.append(
                [
                    bench.name,
                    name,
                    spread(cpu_s),
                    f"{first['delivered_units']:,.0f} {bench.unit}s",
                    f"{first['goodput_bps'] / 1e6:.4g}",
                    f"{per_unit_ns:,.0f}",
                    f"{events_per_s / 1e6:.3g}" if events_per_s else "",
                    f"{first['max_rss_bytes'] / 1e6:.0f}",
                ]
            )
    head = ["scenario", "simulator", "CPU, s", "delivered", "goodput, Mb/s", "ns a unit", "million events/s"]
    return table([*head, "peak memory, MB"], rows)


def ratio_table(benches: list[Bench], runs: Runs) -> str:
    """How many times the CPU of Roamsim each peer needs."""
    rows = []
    for bench in benches:
        mine = runs[bench.name]["roamsim"]
        for name, theirs in runs[bench.name].items():
            if name == "roamsim":
                continue
            ratios = [b["cpu_s"] / a["cpu_s"] for a, b in zip(mine, theirs, strict=True)]
            work = mine[0]["delivered_units"] / max(1, theirs[0]["delivered_units"])
            goal = bench.goals.get(name)
            median = statistics.median(ratios)
            verdict = "" if goal is None else f"{goal:g}: {'met' if median >= goal else 'missed'}"
            rows.append([bench.name, name, spread(ratios), spread([r * work for r in ratios]), verdict])
    return table(["scenario", "peer", "CPU, ratio", "CPU a delivered unit, ratio", "goal"], rows)


def event_table(benches: list[Bench], runs: Runs, held: dict[int, float]) -> str:
    """Cost of an event in Roamsim beside the bare event queue."""
    rows = []
    for bench in benches:
        mine = runs[bench.name]["roamsim"]
        event_ns = statistics.median([1e9 * run["cpu_s"] / run["events"] for run in mine])
        bare_ns = held.get(bench.pending)
        rows.append(
            [
                bench.name,
                f"{mine[0]['events']:,.0f}",
                f"{1e3 / event_ns:.3g}",
                f"{event_ns:.1f}",
                f"{bare_ns:.1f} at {bench.pending} pending" if bare_ns else "",
                f"{statistics.median([run['run_rss_bytes'] for run in mine]) / 1e6:.1f}",
            ]
        )
    head = [
        "scenario",
        "events",
        "million events/s",
        "ns an event",
        "bare hold model, ns",
        "memory of world and run, MB",
    ]
    text = table(head, rows)
    per_flow = memory_per_flow(runs)
    return text if per_flow is None else f"{text}\n\nMemory: {per_flow:,.0f} bytes a flow, packets included."


def brief_table(benches: list[Bench], runs: Runs) -> str:
    """A row a scenario: what Roamsim takes, and how many times its CPU each peer takes."""
    cells: dict[tuple[tuple[str, ...], str], str] = {}
    for bench in benches:
        mine = runs[bench.name]["roamsim"]
        cpu_s = statistics.median([run["cpu_s"] for run in mine])
        row = (bench.name,)
        cells[row, "CPU, s"] = f"{cpu_s:.3g}"
        cells[row, "ns a unit"] = f"{1e9 * cpu_s / max(1, mine[0]['delivered_units']):,.0f} a {bench.unit}"
        cells[row, "million events/s"] = f"{mine[0]['events'] / cpu_s / 1e6:.3g}"
        cells[row, "peak MB"] = f"{mine[0]['max_rss_bytes'] / 1e6:.0f}"
        for name, theirs in runs[bench.name].items():
            if name != "roamsim":
                cells[row, f"{name} / ours"] = spread(
                    [b["cpu_s"] / a["cpu_s"] for a, b in zip(mine, theirs, strict=True)]
                )
    return crossed(["scenario"], cells)


def memory_per_flow(runs: Runs) -> float | None:
    """The difference between the largest and the smallest dumbbell, by flow: what is there once falls out."""
    sizes = {flows: runs.get(f"dumbbell-{flows}", {}).get("roamsim") for flows in (10, 1000)}
    small, large = sizes[10], sizes[1000]
    if not small or not large:
        return None
    at_large, at_small = (statistics.median([run["run_rss_bytes"] for run in part]) for part in (large, small))
    return (at_large - at_small) / 990


def report(
    benches: list[Bench],
    found: list[Program],
    runs: Runs,
    rounds: int,
    held: dict[int, float],
    *,
    brief: bool = False,
) -> str:
    """The whole comparison as Markdown, or it in brief."""
    parts = [f"Measured on: {machine()}; {rounds} rounds; medians (smallest to largest)."]
    parts.append("\n".join(f"- {program.name}: {program.build}" for program in found))
    if brief and found[0].name == "roamsim":
        return "\n\n".join([*parts, brief_table(benches, runs)]) + "\n"
    parts.append(work_table(benches, runs))
    if any(program.name == "roamsim" for program in found):
        if len(found) > 1:
            parts.append(ratio_table(benches, runs))
        parts.append(event_table(benches, runs, held))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each simulator a scenario (3)")
    parser.add_argument("--only", action="append", choices=[bench.name for bench in BENCHES], help="this scenario")
    parser.add_argument("--without", action="append", choices=ALL[1:], default=[], help="not this simulator")
    parser.add_argument("--htsim", type=Path, metavar="PATH", help="a copy of the source of Broadcom/csg-htsim")
    parser.add_argument("--json", type=Path, help="also write all runs to this file")
    parser.add_argument("--update", type=Path, help="also write the measured part of this document, in brief")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    if arguments.htsim is not None:
        # Asked for by name, so that a wrong path is an error, not a simulator that is left out.
        try:
            htsim_sources(arguments.htsim)
        except MissingError as missing:
            parser.error(f"--htsim: {missing}")
    benches = [bench for bench in BENCHES if not arguments.only or bench.name in arguments.only]
    found = [program for program in available(arguments.htsim) if program.name not in arguments.without]
    if not found:
        raise SystemExit("no simulator can be run here")
    runs = measure(benches, found, arguments.rounds)
    held = hold_ns()
    text = report(benches, found, runs, arguments.rounds, held)
    sys.stdout.write(text)
    if arguments.json:
        document = {
            "machine": machine(),
            "builds": {program.name: program.build for program in found},
            "runs": runs,
            "hold_ns": held,
        }
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    if arguments.update:
        replace(arguments.update, "bench", report(benches, found, runs, arguments.rounds, held, brief=True))


if __name__ == "__main__":
    main()
