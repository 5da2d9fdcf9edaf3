"""Files and folders that commands write: an ending that names another format is refused before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest
import roamsim as package
from conftest import Command
from roamsim import study

GOOD = "scenario.toml"
VARY = "link.path.delay=1ms,2ms"

#: Commands that write a file, what they write, and the endings that it may have.
OF_FILES = [
    (["run", GOOD, "--report"], "a report is HTML", ".html or .htm"),
    (["live", GOOD, "--report"], "a report is HTML", ".html or .htm"),
    (["report", "out", "--out"], "a report is HTML", ".html or .htm"),
    (["run", GOOD, "--pcap"], "a capture is pcapng", ".pcapng"),
    (["live", GOOD, "--pcap"], "a capture is pcapng", ".pcapng"),
    (["init"], "the scenario is TOML", ".toml"),
]

#: Commands that write a folder.
OF_FOLDERS = [
    ["run", GOOD, "--parquet"],
    ["run", GOOD, "--qlog"],
    ["live", GOOD, "--out"],
    ["sweep", GOOD, "--vary", VARY, "--out"],
    ["compare", GOOD, "--vary", VARY, "--out"],
    ["sensitivity", GOOD, "--metric", "flows.goodput_bps", "--vary", "link.path.delay=1ms:2ms", "--out"],
    ["optimise", GOOD, "--maximise", "flows.goodput_bps", "--vary", "link.path.delay=1ms:2ms", "--out"],
    ["merge", "out", "--out"],
    ["study", "run", "sctp-mobile-ip", "--quick", "--out"],
    ["study", "run", "sctp-mobile-ip", "--quick", "--shard", "1/2", "--out"],
    ["study", "compare", "sctp-mobile-ip", "--quick", "--out"],
    ["demo", "--out"],
    ["examples", "wifi-roaming", "--to"],
]


@pytest.fixture
def out(scenario: Path, tmp_path: Path) -> Path:
    package.sweep(scenario, {"link.path.delay": "1ms"}, replications=1, out=tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize(("command", "content", "endings"), OF_FILES, ids=lambda value: str(value))
@pytest.mark.parametrize("ending", [".foo", ".pcap", ".json"])
def test_a_file_of_another_format_is_refused(
    roamsim: Command, out: Path, command: list[str], content: str, endings: str, ending: str
) -> None:
    before = sorted(out.parent.iterdir())
    assert roamsim(*command, f"new{ending}", code=2).stderr == (
        f"roamsim: 'new{ending}' ends in {ending}, but {content}; end its name in {endings}\n"
    )
    assert sorted(out.parent.iterdir()) == before


@pytest.mark.parametrize("command", OF_FOLDERS, ids=" ".join)
@pytest.mark.parametrize("name", ["new.csv", "new.HTML"])
def test_a_folder_is_not_named_like_a_file(roamsim: Command, out: Path, command: list[str], name: str) -> None:
    before = sorted(out.parent.iterdir())
    ending = name.removeprefix("new")
    assert roamsim(*command, name, code=2).stderr.endswith(
        f"roamsim: '{name}' has the name of a file, but it becomes a folder; leave {ending} out\n"
    )
    assert sorted(out.parent.iterdir()) == before


@pytest.mark.parametrize("name", ["page.html", "page.HTM", "page"])
def test_a_report_has_an_ending_of_html_or_none(roamsim: Command, out: Path, name: str) -> None:
    assert roamsim("report", out, "--out", name).stdout == f"{name}\n"
    assert (out.parent / name).read_text().startswith("<!doctype html>")


def test_names_that_end_in_no_format_are_taken(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--pcap", "capture", "--parquet", "results.v2", "--report", "/dev/null")
    assert (tmp_path / "results.v2" / "manifest.json").is_file()
    assert (tmp_path / "capture").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    roamsim("init", "mine")
    roamsim("check", "mine")


def test_results_in_a_folder_named_like_a_file_are_continued(roamsim: Command, out: Path) -> None:
    there = out.rename(out.with_suffix(".csv"))
    sweep = ("sweep", GOOD, "--vary", VARY, "--replications", "1", "--out")
    assert "1 of them were there already" in roamsim(*sweep, there.name).stderr


@pytest.mark.parametrize("name", ["/dev/stdout", "to.browser"])
def test_a_pipe_may_have_any_name(roamsim: Command, out: Path, name: str) -> None:
    (out.parent / "to.browser").symlink_to("/dev/stdout")
    assert roamsim("report", out, "--out", name).stdout.startswith("<!doctype html>")


@pytest.mark.parametrize("ending", ["SVG", "Pdf", "PNG"])
def test_the_ending_of_a_figure_chooses_its_format_in_any_case(roamsim: Command, out: Path, ending: str) -> None:
    roamsim("plot", out, "--what", "flows.goodput_bps", "--out", f"figure.{ending}")
    begins = {"SVG": b"<?xml", "Pdf": b"%PDF", "PNG": b"\x89PNG"}
    assert (out.parent / f"figure.{ending}").read_bytes().startswith(begins[ending])


def test_a_study_makes_no_runs_for_a_report_under_another_ending(small: Path, tmp_path: Path) -> None:
    study.run(small, level="quick", out=tmp_path / "out")
    written = (tmp_path / "out" / "report.html").stat().st_mtime_ns
    with pytest.raises(package.UsageError, match="a report is HTML"):
        package.report(tmp_path / "out", tmp_path / "again.md", study=small)
    assert (tmp_path / "out" / "report.html").stat().st_mtime_ns == written


def test_a_capture_of_a_stepped_world_is_pcapng(scenario: Path, tmp_path: Path) -> None:
    with pytest.raises(package.UsageError, match="a capture is pcapng"):
        package.World(scenario, pcap=tmp_path / "world.pcap")
    assert not (tmp_path / "world.pcap").exists()
