"""Typed tables and typed scenarios: what is generated is up to date, and a type checker finds what is misspelt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import roamsim
from conftest import ROOT, SCENARIO
from roamsim.tables.metrics import table_meanings

from generators.files import FILES, text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_generated_is_up_to_date(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == text(file), "`make generated` writes it anew"


def test_every_table_is_an_attribute_that_says_what_it_is() -> None:
    for table, meaning in table_meanings().items():
        if table != "run":
            said = getattr(roamsim.Result, table).__doc__
            assert " ".join(said.split()) == meaning


def test_an_attribute_that_there_is_not_is_named() -> None:
    result = roamsim.run(SCENARIO)
    assert result.flows is result["flows"]
    assert hasattr(result, "flows")
    assert not hasattr(result, "handovers")
    assert "flows" in dir(result)
    assert "handovers" not in dir(result)
    with pytest.raises(AttributeError, match=r"'flwos'; did you mean flows\?"):
        _ = result.flwos
    with pytest.raises(AttributeError, match=r"no table 'handovers' \(one row a change .*only where there are cells\)"):
        _ = result.handovers


CHECKED = '''
import roamsim

result = roamsim.run("scenario.toml")
result.flows
result.flwos  # wrong
roamsim.sweep("scenario.toml", {}).handovers
roamsim.sweep("scenario.toml", {}).handover  # wrong
result.report().read_text()
'''


def test_a_type_checker_finds_what_is_misspelt(tmp_path: Path) -> None:
    file = tmp_path / "checked.py"
    file.write_text(CHECKED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), "checked.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    wrong = {number for number, line in enumerate(CHECKED.splitlines(), 1) if "# wrong" in line}
    assert found == wrong, done.stdout + done.stderr
