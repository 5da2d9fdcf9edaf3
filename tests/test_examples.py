"""What somebody sees first: `roamsim demo`, the bundled examples, and the schema that editors read."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from conftest import ROOT, Command, begin, environment
from roamsim.scenarios import bundled


def test_the_demo_compares_four_tcps_and_ends_with_its_page(roamsim: Command, tmp_path: Path) -> None:
    shown = roamsim("demo", "--out", "first")
    page = Path(shown.stdout.splitlines()[-1])
    assert page == (tmp_path / "first/report.html").resolve()
    assert "Handovers" in page.read_text()
    variants = [line.split()[0] for line in shown.stdout.splitlines()[3:7]]
    assert variants == ["newreno", "sack", "cubic", "vegas"]
    # What it says can be done by hand gives the same results: the same folder takes it as its own.
    by_hand = next(line for line in shown.stderr.splitlines() if line.startswith("  roamsim compare"))
    (tmp_path / "wifi-roaming.toml").write_text(roamsim("examples", "wifi-roaming").stdout)
    again = roamsim(*by_hand.split()[1:])
    assert again.stdout.splitlines()[:7] == shown.stdout.splitlines()[:7]


def test_without_the_extra_the_demo_compares_and_says_how_to_get_its_page(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "hidden/jinja2").mkdir(parents=True)
    missing = 'raise ModuleNotFoundError("No module named \'jinja2\'", name="jinja2")\n'
    (tmp_path / "hidden/jinja2/__init__.py").write_text(missing)
    found = environment() | {"PYTHONPATH": str(tmp_path / "hidden")}
    shown = begin("demo", "--out", "first", cwd=tmp_path, env=found, stdout=subprocess.PIPE)
    told, hints = shown.communicate()
    assert shown.returncode == 0, hints
    assert told.splitlines()[3].startswith("newreno")
    assert hints.endswith("  pip install 'roamsim[report]'\n  roamsim report first\n")
    # With the extra, that makes the page of these runs.
    assert not (tmp_path / "first/report.html").exists()
    roamsim("report", "first")
    assert (tmp_path / "first/report.html").is_file()


def test_every_example_is_listed_by_name_and_title(roamsim: Command, tmp_path: Path) -> None:
    listed = dict(line.split(maxsplit=1) for line in roamsim("examples").stdout.splitlines())
    files = sorted((ROOT / "examples").glob("*.toml"))
    assert listed == {file.stem: tomllib.loads(file.read_text())["scenario"]["name"] for file in files}


def test_an_example_is_copied_with_the_files_that_it_reads(roamsim: Command, tmp_path: Path) -> None:
    printed = roamsim("examples", "cellular-trace")
    assert "traces/cellular-down.trace" in printed.stderr
    roamsim("examples", "cellular-trace", "--to", "mine")
    assert (tmp_path / "mine/cellular-trace.toml").read_text() == printed.stdout
    roamsim("check", "mine/cellular-trace.toml")
    again = roamsim("examples", "cellular-trace", "--to", "mine", code=2)
    assert "exists already" in again.stderr


def test_an_unknown_example_names_the_nearest(roamsim: Command, tmp_path: Path) -> None:
    told = roamsim("examples", "wifi-roming", code=2).stderr
    assert "did you mean wifi-roaming?" in told


@pytest.mark.parametrize("words", [("init", "-"), ("examples", "wifi-roaming")], ids=["init", "examples"])
def test_a_new_scenario_names_the_schema_that_editors_check_it_by(
    roamsim: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    text = roamsim(*words).stdout
    directive, _, address = text.splitlines()[0].partition(" ")
    assert directive == "#:schema"
    schema = json.loads(Path(unquote(urlsplit(address).path)).read_text())
    jsonschema.validate(tomllib.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError, match="durations"):
        jsonschema.validate(tomllib.loads(text.replace("duration =", "durations =", 1)), schema)


def test_examples_and_schema_are_files_of_the_package() -> None:
    package = ROOT / "python/roamsim"
    assert package / "examples" == bundled.EXAMPLES
    assert bundled.SCHEMA.is_relative_to(package)
