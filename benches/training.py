"""What a wheel is trained on: of these runs the compiler learns which ways the code goes, `maturin build --pgo`.

    python benches/training.py

Every example, for 30 s at most or as long as it has to be, and what no example has: many flows at one bottleneck,
cells of several stations. None of them is a run that `benches/counts.py` counts.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import wimax_cell
from cell import cell
from dumbbell import dumbbell
from roamsim import ScenarioError, _roamsim

EXAMPLES = Path(__file__).parent.parent / "examples"
LONGEST_S = 30


def scenarios() -> Iterator[_roamsim.Scenario]:
    """What is run."""
    for file in sorted(EXAMPLES.glob("*.toml")):
        text, name = file.read_text(), str(file)
        whole = _roamsim.Scenario.parse(text, name=name, format="toml")
        if whole.duration_s > LONGEST_S:
            short = [("scenario.duration", f"{LONGEST_S}s")]
            # What begins later than that needs all of its time.
            with suppress(ScenarioError):
                whole = _roamsim.Scenario.parse(text, name=name, format="toml", overrides=short)
        yield whole
    trees = [
        dumbbell(5),
        dumbbell(50),
        dumbbell(300),
        dumbbell(5, control={"variant": "bbr"}),
        dumbbell(5, control={"stack": "linux"}),
        cell(5, 4),
        wimax_cell.entered(5, 10),
    ]
    for tree, duration in zip(trees, ("4s", "2s", "2s", "4s", "4s", "4s", "10s"), strict=True):
        short = [("scenario.duration", duration)]
        yield _roamsim.Scenario.parse(json.dumps(tree), name="training", format="json", overrides=short)


def main() -> None:
    """Runs all of them once."""
    for scenario in scenarios():
        result = _roamsim.run(scenario, series=True)
        sys.stdout.write(f"{scenario.name}: {result.events} events in {result.wall_s:.2f} s\n")


if __name__ == "__main__":
    main()
