"""What an installation without extras does, and what it says where one is missing."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, Command, begin, environment
from roamsim.errors import EXTRAS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment in which no package of an extra is installed."""
    hidden = tmp_path / "hidden"
    for name in EXTRAS:
        (hidden / name).mkdir(parents=True)
        missing = f'raise ModuleNotFoundError("No module named {name!r}", name={name!r})\n'
        (hidden / name / "__init__.py").write_text(missing)
    found = dict(environment())
    paths = [str(hidden), *filter(None, [found.get("PYTHONPATH", "")])]
    return {**found, "PYTHONPATH": os.pathsep.join(paths)}


def told(bare: dict[str, str], folder: Path, *arguments: str | Path, code: int = 0) -> str:
    process = begin(*arguments, env=bare, cwd=folder, stdout=-1)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, f"{out}\n{err}"
    return out + err


def test_the_core_runs_sweeps_and_compares(bare: dict[str, str], scenario: Path, tmp_path: Path) -> None:
    vary = ["--vary", "link.path.delay=10ms,20ms"]
    assert "goodput" in told(bare, tmp_path, "run", scenario, "--trace", "cwnd", "--parquet", "run")
    told(bare, tmp_path, "run", scenario, "--json")
    told(bare, tmp_path, "run", scenario, "--csv")
    told(bare, tmp_path, "sweep", scenario, *vary, "--out", "sweep", "--shard", "1/2")
    told(bare, tmp_path, "merge", "sweep", "--out", "all")
    told(bare, tmp_path, "compare", scenario, *vary, "--replications", "2")
    for other in (
        ["init", "new.toml"],
        ["check", scenario],
        ["explain", "flows.goodput_bps"],
        ["schema"],
        ["--help"],
    ):
        told(bare, tmp_path, *other)


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("report run", "report"),
        ("plot run --what cwnd", "plot"),
        ("query run 'select 1'", "sql"),
        ("study run sctp-mobile-ip --quick", "all"),
        ("sweep scenario.toml --vary link.path.delay=10ms --out new --on dask", "dask"),
        ("optimise scenario.toml --vary link.path.delay=10ms:20ms --maximise flows.goodput_bps", "optimise"),
        ("sensitivity scenario.toml --vary link.path.delay=10ms:20ms", "sensitivity"),
        ("sweep scenario.toml --vary link.path.delay=10ms --out memory://new", "url"),
    ],
)
def test_a_missing_extra_is_named_with_the_line_that_installs_it(
    bare: dict[str, str], roamsim: Command, scenario: Path, tmp_path: Path, command: str, extra: str
) -> None:
    roamsim("run", scenario, "--trace", "cwnd", "--parquet", "run")
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
    said = told(bare, tmp_path, *words, code=2)
    assert f"pip install 'roamsim[{extra}]'" in said
    assert "Traceback" not in said


def test_every_package_of_an_extra_is_known_to_the_commands() -> None:
    """What is added to an extra later has a line that installs it too."""
    extras = PROJECT["optional-dependencies"]
    packages = {"vl-convert-python": "vl_convert"}
    declared = {
        packages.get(name, name): extra
        for extra in ("dask", "optimise", "plot", "report", "sensitivity", "sql", "url")
        for requirement in extras[extra]
        for name in [re.split(r"[<>=]", requirement)[0]]
        if name != "markdown-it-py"  # `rich` brings it
    }
    assert declared == EXTRAS
    assert extras["all"] == ["roamsim[dask,optimise,plot,report,sensitivity,sql,url]"]
