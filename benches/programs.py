"""The simulators that are compared, with the bench program of each."""

import sys
from pathlib import Path

from peers import simulators
from peers.simulators import MissingError, Program

HERE = Path(__file__).parent


def ours() -> Program:
    """Roamsim, as installed for the interpreter that runs this."""
    build = f"Roamsim {simulators.roamsim_version()}, release profile"
    return Program("roamsim", build, [sys.executable, str(HERE / "ours.py")])


def ns2(scheduler: str) -> Program:
    """ns-2 with one of its event queues."""
    program = simulators.ns2(HERE / "peers" / "ns2_bench.tcl", scheduler)
    name = "ns-2" if scheduler == "Calendar" else f"ns-2 {scheduler.lower()}"
    return Program(name, f"{program.build}, untraced, event queue {scheduler}", program.command)


def ns3() -> Program:
    """ns-3 with the bench program compiled against it."""
    return simulators.ns3(
        HERE / "peers" / "ns3_bench.cc", [*simulators.NS3_WIFI_MODULES, *simulators.NS3_WIMAX_MODULES]
    )


def htsim(path: Path | None) -> Program:
    """Broadcom's htsim with the bench program, from a copy of its source.

    Raises:
        MissingError: there is no path, or no htsim there.
    """
    if path is None:
        raise MissingError(
            "htsim (Broadcom/csg-htsim) has no package: give the path of a copy of its source, `--htsim PATH` or "
            "`make bench HTSIM=PATH`"
        )
    return simulators.htsim(HERE / "peers" / "htsim_bench.cc", path)
