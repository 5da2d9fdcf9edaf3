"""What commands load: a short command waits for nothing that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import environment

#: Packages that draw, ask or compute; each takes longer to load than a short simulation to run.
HEAVY = {
    "altair",
    "duckdb",
    "jinja2",
    "matplotlib",
    "numpy",
    "optuna",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "SALib",
    "vl_convert",
}

RUN = "import sys; sys.argv[0] = 'roamsim'\nfrom roamsim.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\nprint('LOADED', *sorted(name for name, module in sys.modules.items() if type(module).__name__ != '_Late'))"


def loaded(*arguments: str, cwd: Path) -> set[str]:
    """The modules that a command has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(),
        check=True,
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["check", "scenario.toml"], set()),
        (["explain", "flows.goodput_bps"], set()),
        (["schema"], set()),
        (["run", "scenario.toml", "--json"], set()),
        (["run", "scenario.toml", "--csv"], {"polars"}),
        (["run", "scenario.toml"], {"rich"}),
        (["plot", "out", "--what", "cwnd"], {"matplotlib", "numpy", "polars"}),
    ],
)
def test_a_command_loads_what_it_needs_and_no_more(scenario: Path, arguments: list[str], needed: set[str]) -> None:
    folder = scenario.parent
    scenario.rename(folder / "scenario.toml")
    if arguments[0] == "plot":
        loaded("run", "scenario.toml", "--trace", "cwnd", "--parquet", "out", cwd=folder)
    there = loaded(*arguments, cwd=folder)
    assert {name.partition(".")[0] for name in there} & HEAVY <= needed
    if arguments[0] == "run":
        # A run estimates nothing, and draws no bar where nobody sees it.
        assert not {
            name for name in there if name.startswith(("roamsim.estimates", "roamsim.pictures", "rich.progress"))
        }
