"""What every measured section beside ns-3 has in common as a program: its options, and where its text goes."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from peers import document, simulators
from peers.simulators import MissingError, Program


def write_section(
    doc: str | None,
    section: str,
    source: Path,
    modules: Sequence[str],
    compared: Callable[[Program, bool], tuple[str, str, int]],
    fault: str,
) -> None:
    """Reads the command line, measures, prints, and writes the section of a document in brief if that is asked for.

    Args:
        doc: the module's own words, for `--help`.
        section: its name in the document.
        source: of the program against ns-3.
        modules: of ns-3 that it needs.
        compared: makes the section, in full and in brief, of few runs if its second argument says so; tells how many
            differences are wrong.
        fault: what is said of these.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and short runs: a look, not a result")
    parser.add_argument("--update", type=Path, help="also replace the measured part of this document")
    arguments = parser.parse_args()
    if arguments.update and arguments.quick:
        parser.error("--update writes the whole table: without --quick")
    try:
        program = simulators.ns3(source, modules)
    except MissingError as missing:
        sys.stderr.write(f"LEFT OUT: ns-3: {missing}\n")
        return
    text, brief, wrong = compared(program, arguments.quick)
    sys.stdout.write(text)
    if arguments.update:
        document.replace(arguments.update, section, brief)
    if wrong and not arguments.quick:
        raise SystemExit(f"{wrong} {fault}")
