"""What a call costs beside its run: from Python to rows, and from a scenario to a world of a thousand flows.

    python -m benches.calls [--rounds 200]

Times are the least of many rounds: what is left where nothing else takes the processor. A run tells how long its own
loop took (`wall_s`), and its world (`build_s`); the rest of a call is reading arguments, building the small world,
making tables, and frames of them, which are made when they are asked for: of one table, or of all.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections.abc import Callable

import roamsim
from roamsim import _roamsim

from benches.dumbbell import dumbbell

#: Flows of the world that is built.
FLOWS = 1000


def least_ms(call: Callable[[], float], rounds: int) -> float:
    """The least time of many, in ms; the call says what of it does not count, in seconds."""

    def once() -> float:
        begun = time.perf_counter()
        not_counted = call()
        return time.perf_counter() - begun - not_counted

    return 1000 * min(once() for _ in range(rounds))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="rounds; the fastest counts")
    rounds = parser.parse_args().rounds
    short = roamsim.load(_roamsim.template(), set={"scenario.duration": "10s"})
    loops: list[float] = []

    def rows() -> float:
        result = roamsim.run(short)
        assert result.flows["goodput_bps"][0] > 0
        loops.append(result.wall_s)
        return result.wall_s

    def frames() -> float:
        result = roamsim.run(short)
        assert all(frame.width for frame in result.tables.values())
        return result.wall_s

    of_flows, of_all = least_ms(rows, rounds), least_ms(frames, rounds)
    few = max(rounds // 10, 3)
    # So short that nearly nothing is run; all flows have to have begun by then.
    text = re.sub(r'"start": "\d+us"', '"start": "0s"', json.dumps(dumbbell(FLOWS)))
    text = text.replace('"duration": "60s"', '"duration": "1ms"')

    def parse() -> float:
        _roamsim.Scenario.parse(text, name="dumbbell", format="json")
        return 0.0

    world = _roamsim.Scenario.parse(text, name="dumbbell", format="json")
    built: list[float] = []

    def tables() -> float:
        run = _roamsim.run(world)
        built.append(run.build_s)
        return run.wall_s + run.build_s

    beside_world = least_ms(tables, few)
    sys.stdout.write(
        f"Python {platform.python_version()}, {platform.machine()}\n"
        f"a run of {1000 * min(loops):.2f} ms, from the call to the rows of its flows: {of_flows:.3f} ms beside it; "
        f"to frames of all tables: {of_all:.3f} ms\n"
        f"reading and checking a scenario of {FLOWS} flows: {least_ms(parse, few):.1f} ms\n"
        f"building its world: {1000 * min(built):.1f} ms; making its tables, and the rest: {beside_world:.1f} ms\n"
    )


if __name__ == "__main__":
    main()
