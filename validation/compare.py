"""Runs the same scenarios in Roamsim, ns-3 and ns-2 and prints ours beside theirs, as Markdown.

    python -m validation.compare [--quick] [--only PART]... [--variant NAME]... [--json FILE | --from FILE]
                                 [--update docs/validation.md]

    python -m validation.compare --only sctp --only "sctp six losses" --update docs/validation.md

A simulator that is missing is left out, and said so. A difference over 10 % carries the letter of its explanation
(validation/explanations.py); one without an explanation is marked and, unless the look is a quick one, makes the exit
code 1. `--from FILE` prints the tables of runs that `--json` wrote, and runs nothing. `--update` writes the measured
part of the document, in brief: all of it, or with `--only` the tables of these parts, if the others were measured on
the same machine with the same builds. It leaves the document as it was when a simulator is missing that has a variant
of them.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from peers import document, simulators
from peers.simulators import MissingError, Program
from validation import ours
from validation.parts import SCTP_VARIANTS, VARIANTS, Case, Part, parts
from validation.runs import Outcome, Run
from validation.tables import Outcomes, report, update_parts

PROGRAMS = Path(__file__).parent / "programs"
#: All there are, ours first.
SIMULATORS = ("roamsim", "ns-3", "ns-2")
NS3_VARIANTS = frozenset({"newreno", "sack", "vegas", "cubic"})


@dataclass(frozen=True)
class Simulator:
    """One simulator: how it is run, and which variants it has (`None`: all)."""

    name: str
    build: str
    run: Callable[[Run], Outcome]
    variants: frozenset[str] | None = None
    slow: bool = False

    def has(self, variant: str) -> bool:
        """Whether it has a variant."""
        return self.variants is None or variant in self.variants

    def runs(self, part: Part, case: Case) -> tuple[Run, ...]:
        """Those runs of a case that it makes."""
        return case.runs[: part.dear] if self.slow else case.runs


def roamsim() -> Simulator:
    """Roamsim, in this process."""
    return Simulator("roamsim", f"Roamsim {simulators.roamsim_version()}", ours.run)


def ns3() -> Simulator:
    """ns-3, which has no Tahoe and no Reno recovery."""
    program = simulators.ns3(PROGRAMS / "ns3.cc")
    return Simulator("ns-3", program.build, _peer(program), NS3_VARIANTS, slow=True)


def ns2() -> Simulator:
    """ns-2, with a program for each protocol."""
    program = simulators.ns2(PROGRAMS / "ns2.tcl")
    tcp, sctp = _peer(program), _peer(simulators.ns2(PROGRAMS / "ns2_sctp.tcl"))
    return Simulator("ns-2", program.build, lambda run: (sctp if run.variant in SCTP_VARIANTS else tcp)(run))


def wanted(plan: Sequence[Part]) -> list[str]:
    """The simulators that have something to run of a plan, ours first."""
    variants = {case.variant for part in plan for case in part.cases}
    return [name for name in SIMULATORS if name != "ns-3" or variants & NS3_VARIANTS]


def available(names: Sequence[str] = SIMULATORS) -> list[Simulator]:
    """Those of the simulators that can be run here, ours first; says loudly which cannot."""
    found = [roamsim()]
    for name, make in (("ns-3", ns3), ("ns-2", ns2)):
        if name not in names:
            continue
        try:
            found.append(make())
        except MissingError as missing:
            sys.stderr.write(f"LEFT OUT: {name}: {missing}\n")
    return found


def _peer(program: Program) -> Callable[[Run], Outcome]:
    """How a peer program makes a run."""
    return lambda settings: Outcome(**program.run(settings.words()))


def measure(plan: Sequence[Part], found: Sequence[Simulator]) -> Outcomes:
    """All runs, as many at a time as there are processors."""
    tasks = [
        (simulator, part, case, run)
        for part in plan
        for case in part.cases
        for simulator in found
        if simulator.has(case.variant)
        for run in simulator.runs(part, case)
    ]
    results: dict[int, Outcome] = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        futures = {executor.submit(simulator.run, run): i for i, (simulator, _, _, run) in enumerate(tasks)}
        said = -1
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                if (share := 20 * len(results) // len(tasks)) > said:
                    said = share
                    sys.stderr.write(f"{5 * share} % of {len(tasks)} runs\n")
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise
    outcomes: Outcomes = {}
    for i, (simulator, part, case, run) in enumerate(tasks):
        outcomes.setdefault((part.name, case.labels), {}).setdefault(simulator.name, []).append((run, results[i]))
    return outcomes


def write(path: Path, found: Sequence[Simulator], outcomes: Outcomes) -> None:
    """All runs, with their outcomes, as JSON."""
    rows = [
        {"part": part, "labels": labels, "simulator": name, "run": asdict(run), "outcome": asdict(outcome)}
        for (part, labels), by_simulator in outcomes.items()
        for name, pairs in by_simulator.items()
        for run, outcome in pairs
    ]
    content = {"builds": {simulator.name: simulator.build for simulator in found}, "runs": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content) + "\n")


def read(path: Path) -> tuple[dict[str, str], Outcomes]:
    """What `write` wrote: the builds, and the outcomes."""
    content = json.loads(path.read_text())
    outcomes: Outcomes = {}
    for row in content["runs"]:
        run = Run(**{**row["run"], "drop": tuple(row["run"]["drop"])})
        by_simulator = outcomes.setdefault((row["part"], tuple(row["labels"])), {})
        by_simulator.setdefault(row["simulator"], []).append((run, Outcome(**row["outcome"])))
    return content["builds"], outcomes


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [part.name for part in parts(VARIANTS, quick=True)]
    parser.add_argument("--quick", action="store_true", help="few and short replications: a look, not a result")
    parser.add_argument("--only", action="append", choices=names, help="this part")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="this variant")
    parser.add_argument("--json", type=Path, help="also write all runs to this file")
    parser.add_argument("--from", type=Path, dest="source", help="run nothing: take the runs of such a file")
    parser.add_argument("--update", type=Path, help="also replace the measured part of this document")
    arguments = parser.parse_args()
    if arguments.update and (arguments.quick or arguments.variant):
        parser.error("--update writes whole tables: without --quick and --variant")
    asked = [
        part
        for part in parts(arguments.variant or VARIANTS, quick=arguments.quick)
        if not arguments.only or part.name in arguments.only
    ]
    plan = asked
    if arguments.source:
        builds, outcomes = read(arguments.source)
        plan = [part for part in plan if all((part.name, case.labels) in outcomes for case in part.cases)]
    else:
        found = available(wanted(plan))
        if len(found) == 1:
            sys.stderr.write("There is no other simulator here: nothing to compare with.\n")
        builds = {simulator.name: simulator.build for simulator in found}
        outcomes = measure(plan, found)
        if arguments.json:
            write(arguments.json, found, outcomes)
    text, unexplained = report(plan, builds, outcomes)
    sys.stdout.write(text)
    if arguments.update and (set(builds) < set(wanted(asked)) or len(plan) < len(asked)):
        whole = f"{', '.join(arguments.only or ['all parts'])} in {', '.join(wanted(asked))}"
        sys.stderr.write(f"{arguments.update} is left as it was: it is about {whole}\n")
    elif arguments.update and arguments.only:
        update_parts(arguments.update, plan, builds, outcomes)
    elif arguments.update:
        document.replace(arguments.update, "validation", report(plan, builds, outcomes, brief=True)[0])
    if unexplained and not arguments.quick:
        raise SystemExit(f"{unexplained} differences over 10 % are not explained")


if __name__ == "__main__":
    main()
