"""The findings: pages are those of their numbers, numbers of short commands those of this commit."""

from __future__ import annotations

import itertools
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, module_of
from roamsim.scenarios.reading import parse, parse_setting
from roamsim.scenarios.vary import parse_variation, product

FOLDER = ROOT / "docs/findings"

#: Short commands whose numbers are made again in full.
AGAIN = (
    ("sctp-mobile-ip", "mobile-sctp-near"),
    ("mih-transport", "edca"),
    ("mih-handover", "place"),
    ("tcp-dect", "pages-wire"),
    ("tcp-wifi-mobility", "today-step"),
)


measure: Any = module_of(FOLDER / "measure.py")
COMMANDS = [(name, run) for name in measure.studies() for run in measure.declared(name)["run"]]


def test_pages_are_those_of_their_numbers() -> None:
    for file, text in measure.pages().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: python docs/findings/measure.py"


@pytest.mark.parametrize(("name", "run"), AGAIN)
def test_numbers_are_those_of_this_commit(name: str, run: str) -> None:
    found = measure.execute(measure.declared(name)["run"][run])
    assert found == measure.kept(name)[run], "results have changed: python docs/findings/measure.py --again"


@pytest.mark.parametrize(("name", "run"), COMMANDS)
def test_every_point_of_a_command_is_a_scenario(name: str, run: str) -> None:
    words = shlex.split(measure.declared(name)["run"][run])
    assert words[0] == "compare"
    options = list(itertools.pairwise(words[2:]))
    settings = [parse_setting(text) for option, text in options if option == "--set"]
    varied = [parse_variation(text) for option, text in options if option == "--vary"]
    for point in product(varied):
        parse(ROOT / words[1], [*settings, *((path, value.toml) for path, value in point.items())])
    assert len({row["value"] for row in measure.kept(name)[run]["means"]}) == len(varied[0].values)


@pytest.mark.parametrize("name", measure.studies())
def test_each_command_of_a_page_is_declared_and_each_declared_one_is_used(name: str) -> None:
    data = measure.declared(name)
    used = {run for entry in [*data["question"], *data.get("today", ())] for run in entry.get("runs", ())}
    assert used == set(data["run"])


def test_a_command_on_a_page_is_the_one_that_was_executed() -> None:
    command = measure.declared("sctp-mobile-ip")["run"]["windows"]
    lines = measure.shown(command)
    assert lines in (FOLDER / "sctp-mobile-ip.md").read_text(encoding="utf-8")
    assert max(map(len, lines.splitlines()[:1])) <= measure.WIDTH
    assert shlex.split(lines.removeprefix("$ ").replace("\\\n", " ")) == ["roamsim", *shlex.split(command)]


def test_a_command_that_was_changed_has_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tcp-dect.toml").write_text("[run]\na = 'compare x'\n")
    (tmp_path / "tcp-dect.json").write_text('{"a": {"command": "compare y"}}')
    monkeypatch.setattr(measure, "FOLDER", tmp_path)
    with pytest.raises(measure.Stale, match="tcp-dect: execute a"):
        measure.pages()


def test_labels_must_fit_one_row() -> None:
    rows = [
        {"metric": "flows.ftp.goodput_bps", "value": value, "rate": rate, "mean": 1.0, "low": 0.5, "high": 1.5, "samples": 3}
        for value in ("tcp linux", "tcp linux sack")
        for rate in ("1Mb/s", "2Mb/s")
    ]  # fmt: skip
    numbers = measure.Numbers({"a": {"means": rows}})
    assert numbers.mean("a", "goodput_bps", "tcp linux", "1Mb/s", scale=2.0) == "2.0 ± 1.0"
    assert numbers.mean("a", "goodput_bps", "~sack", "2Mb/s") == "1.00 ± 0.50"
    for labels in (("tcp linux",), ("reno", "1Mb/s"), ("1.0", "1Mb/s")):
        with pytest.raises(KeyError, match="rows of means have"):
            numbers.mean("a", *labels)


def test_a_share_of_all_adds_outcomes_that_exclude_each_other() -> None:
    rows = [
        {"metric": "mih_handovers.handover_s", "value": "repeat", "outcome": outcome, "mean": 1.0, "low": 0.5, "high": 1.5, "samples": samples}
        for outcome, samples in (("committed", 6), ("no_answer", 3))
    ]  # fmt: skip
    numbers = measure.Numbers({"a": {"replications": 10, "means": rows}})
    nine = measure.Numbers({"a": {"replications": 10, "means": [{**rows[0], "samples": 9}]}})
    assert numbers.share_of_all("a", "handover_s", "repeat") == nine.share("a", "repeat")
    assert numbers.share_of_all("a", "handover_s", "repeat").startswith("90 % (")
    assert numbers.share("a", "handover_s", "no_answer").startswith("30 %")
    assert numbers.share_of_all("a", "handover_s", "abort").startswith("0 %")
    numbers = measure.Numbers({"a": {"replications": 8, "means": rows}})
    with pytest.raises(KeyError, match="rows of repeat do not exclude each other"):
        numbers.share_of_all("a", "repeat")


def test_a_table_of_sentences_has_their_numbers() -> None:
    rows = [{"metric": "flows.goodput_bps", "value": "sack", "mean": 1e3, "low": 5e2, "high": 1.5e3, "samples": 3}]
    numbers = measure.Numbers({"a": {"means": rows}})
    table = {"title": "Goodput", "columns": ["of", "kb/s"], "rows": [["SACK", '{{ mean("a", "sack", scale=1e-3) }}']]}
    assert list(measure._table(table, numbers)) == [
        "Goodput:\n", "| of | kb/s |", "|---|---|", "| SACK | 1.00 ± 0.50 |", "",
    ]  # fmt: skip


def test_a_table_has_a_cell_for_each_pair_of_values() -> None:
    rows = [
        {"metric": "signalling.success_rate", "value": f"bucket {bucket}", "queue": queue, "mean": bucket / queue, "low": 0.5, "high": 1.5, "samples": 3}
        for bucket in (1, 10)
        for queue in (2, 10)
    ]  # fmt: skip
    numbers = measure.Numbers({"a": {"means": rows}})
    table = {
        "title": "Shares", "corner": "bucket", "run": "a", "metric": "success_rate", "key": "queue",
        "rows": ["1", "10"], "columns": ["2", "10"],
    }  # fmt: skip
    lines = list(measure._map(table, numbers))
    assert lines[1:3] == ["| bucket | 2 | 10 |", "|---|---|---|"]
    assert [line.split(" | ")[0] for line in lines[3:5]] == ["| 1", "| 10"]
    assert lines[3].startswith("| 1 | 0.50 (0.50 … 1.50) | ")
    with pytest.raises(KeyError, match="0 rows have success_rate, 2 and queue = 2"):
        list(measure._map({**table, "rows": ["2"]}, numbers))


def test_a_short_look_prints_answers_and_writes_nothing() -> None:
    before = {file: file.stat().st_mtime_ns for file in FOLDER.iterdir()}
    command = [sys.executable, str(FOLDER / "measure.py"), "--quick", "tcp-blocks", "walk-blocks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("How many SACK blocks does TCP need?\n  One.")
    assert {file: file.stat().st_mtime_ns for file in FOLDER.iterdir()} == before
