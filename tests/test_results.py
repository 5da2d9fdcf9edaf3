"""What is made of results in Python: pages, figures, folders, answers, in the words of the command line."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import roamsim
from conftest import ROOT, Command, environment
from polars.testing import assert_frame_equal
from roamsim.errors import EXTRAS, Notice
from roamsim.scenarios.reading import in_words_of_python


def without_command(page: str) -> str:
    """A report without the line that says how it came about."""
    kept = (line for line in page.splitlines() if "roamsim run" not in line and "run of the Python" not in line)
    return "\n".join(kept)


def test_a_run_writes_the_page_of_the_command_line(scenario: Path, tmp_path: Path, roamsim: Command) -> None:
    import roamsim as package

    roamsim("run", scenario, "--report", "by_command.html")
    written = package.run(scenario).report(tmp_path / "by_python.html")
    assert written == tmp_path / "by_python.html"
    by_command = (tmp_path / "by_command.html").read_text()
    assert "The run over time" in by_command
    # How long a run took stands in no report.
    assert without_command(written.read_text()) == without_command(by_command)


def test_a_run_draws_the_figure_of_the_command_line(scenario: Path, tmp_path: Path, roamsim: Command) -> None:
    import roamsim as package

    roamsim("run", scenario, "--trace", "cwnd,segments", "--parquet", "folder")
    roamsim("plot", "folder", "--what", "segments", "--from", "2s", "--to", "4s", "--title", "Losses")
    result = package.run(scenario, trace="cwnd,segments")
    drawn = result.plot("segments", start_s=2.0, end_s=4.0, title="Losses")
    assert drawn.read_bytes() == (tmp_path / "folder" / "segments.svg").read_bytes()
    assert result.plot("cwnd", tmp_path / "cwnd.png", size=(3, 2)).read_bytes().startswith(b"\x89PNG")
    assert package.plot(tmp_path / "folder", "cwnd").read_bytes() == result.plot("cwnd").read_bytes()


def test_a_notebook_shows_the_file_and_not_its_path(scenario: Path, tmp_path: Path) -> None:
    result = roamsim.run(scenario, trace="cwnd")
    page = result.report()
    shown = page._repr_html_()
    assert shown is not None
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html')
    assert "allow-same-origin" not in shown
    assert page._repr_svg_() is None
    assert result.plot("cwnd")._repr_svg_() == result.plot("cwnd", tmp_path / "cwnd.svg").read_text()
    png = result.plot("cwnd", tmp_path / "cwnd.png")
    assert png._repr_png_() == png.read_bytes()
    assert page.parent._repr_html_() is None


def test_what_was_run_is_saved_as_the_command_line_writes_it(
    scenario: Path, tmp_path: Path, roamsim: Command
) -> None:
    import roamsim as package

    result = package.run(scenario, replications=2, trace="cwnd", set={"link.path.delay": "5ms"})
    assert result.save(tmp_path / "folder") == tmp_path / "folder"
    opened = package.open_results(tmp_path / "folder")
    assert opened.tables.keys() == result.tables.keys()
    for name, frame in result.tables.items():
        assert_frame_equal(opened[name], frame)
    assert opened.manifest.canonical["link"][0]["delay"] == "5ms"
    asked = "select sum(delivered_bytes) as octets from flows"
    assert_frame_equal(result.query(asked), opened.query(asked))
    assert roamsim("query", "folder", asked, "--csv").stdout.split() == ["octets", str(result.query(asked)[0, 0])]
    roamsim("report", "folder")
    roamsim("plot", "folder", "--what", "cwnd")
    # A later run takes its place; a sweep does not.
    package.run(scenario).save(tmp_path / "folder")
    assert package.open_results(tmp_path / "folder").flows.height == 1
    with pytest.raises(package.UsageError, match="holds other files"):
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "mine.txt").touch()
        result.save(tmp_path / "other")


def test_a_sweep_without_a_folder_is_told_and_saved_as_well(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    vary = {"link.path.delay": ["10ms", "20ms"]}
    swept = roamsim.sweep(scenario, vary, replications=2, trace="cwnd")
    kept = roamsim.sweep(scenario, vary, replications=2, trace="cwnd", out=tmp_path / "out")
    assert swept.report().read_text() == kept.report().read_text()
    assert swept.plot("cwnd").read_bytes() == kept.plot("cwnd").read_bytes()
    assert swept.query("select count(*) as n from flows")["n"].to_list() == [4]
    swept.save(tmp_path / "saved")
    opened = roamsim.open_results(tmp_path / "saved")
    assert_frame_equal(opened.flows, kept.flows)
    assert opened.samples.height == kept.samples.height > 0
    # What is missing of a wider one is added to it.
    assert roamsim.sweep(scenario, vary, replications=3, out=tmp_path / "saved").made == 2
    assert any((tmp_path / "temporary").iterdir())
    path = swept.report()
    del swept
    gc.collect()
    assert path.is_file()
    del path
    gc.collect()
    assert not any((tmp_path / "temporary").iterdir())


def test_a_comparison_is_told_by_itself(scenario: Path, tmp_path: Path) -> None:
    found = roamsim.compare(scenario, {"flow.download.transport.variant": "reno,newreno"}, replications=3)
    assert "<h1>Goodput by transport variant</h1>" in found.report().read_text()
    assert found.plot("flows.goodput_bps", tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert found.query("select count(*) as n from flows")["n"].to_list() == [6]
    opened = roamsim.open_results(found.save(tmp_path / "saved"))
    assert opened.manifest.compared is not None


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        ("result.report()", "report"),
        ("result.plot('cwnd')", "plot"),
        ("result.query('select 1')", "sql"),
        ("roamsim.report('folder')", "report"),
        ("roamsim.plot('folder', 'cwnd')", "plot"),
        ("roamsim.query('folder', 'select 1')", "sql"),
        ("roamsim.sensitivity('scenario.toml', {'link.path.delay': '10ms:20ms'})", "sensitivity"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(scenario: Path, tmp_path: Path, call: str, extra: str) -> None:
    hidden = tmp_path / "hidden"
    for name in EXTRAS:
        (hidden / name).mkdir(parents=True)
        missing = f'raise ModuleNotFoundError("No module named {name!r}", name={name!r})\n'
        (hidden / name / "__init__.py").write_text(missing)
    code = f"""import roamsim
result = roamsim.run({str(scenario)!r}, trace="cwnd")
result.save("folder")
try:
    {call}
except roamsim.UsageError as error:
    assert isinstance(error, ModuleNotFoundError)
    print(error)
"""
    found = environment() | {"PYTHONPATH": os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=found, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"this installs it: pip install 'roamsim[{extra}]'\n")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda result: result.plot("segments"), "run again with trace segments$"),
        (lambda result: result.plot("queue"), "run again with trace queue$"),
        (lambda result: result.plot("cwnd", "figure.gif"), "ends in none of .svg, .pdf, .png"),
        (lambda result: result.plot("flows.goodput_bps", where=["name"]), "^where takes COLUMN=VALUE"),
        (lambda result: result.report("missing/page.html"), "the folder of 'missing/page.html' does not exist"),
        (lambda result: result.query("select * from segments"), "add trace segments"),
    ],
)
def test_errors_call_arguments_by_their_names(
    scenario: Path, call: Callable[[roamsim.Result], object], says: str
) -> None:
    with pytest.raises(roamsim.UsageError, match=says):
        call(roamsim.run(scenario, trace="cwnd"))


def test_commands_in_errors_stay_commands() -> None:
    told = (
        "`roamsim run x.toml --parquet DIR` makes one; --max-memory allows it, --from and --pcap-frames --parquet DIR"
    )
    made = "`roamsim run x.toml --parquet DIR` makes one; limit_memory allows it, start_s and pcap_frames"
    for kind in (roamsim.UsageError, roamsim.RunFailed):
        with pytest.raises(kind) as caught, in_words_of_python():
            raise kind(told)
        assert str(caught.value) == made
    with pytest.warns(Notice) as heard, in_words_of_python():
        warnings.warn(told, Notice, stacklevel=1)
    # Outside of the package's functions, as in a command, options are options.
    with pytest.warns(Notice) as outside:
        warnings.warn(told, Notice, stacklevel=1)
    assert [str(one.message) for one in (*heard, *outside)] == [made, told]


def test_a_notice_of_python_says_set_without_dashes() -> None:
    short = {"scenario.warm_up": "1s", "scenario.duration": "1100ms"}
    with pytest.warns(Notice, match=r"\[set:1:"):
        roamsim.run(ROOT / "examples" / "wifi-contention.toml", set=short)


def test_what_a_trace_was_asked_for_in_vain_is_not_advised_again(scenario: Path, tmp_path: Path) -> None:
    result = roamsim.run(scenario, trace="bearers")
    for told in (result, roamsim.open_results(result.save(tmp_path / "saved"))):
        with pytest.raises(roamsim.UsageError, match="trace bearers was given, and recorded nothing"):
            told.plot("bearers")


def test_a_manifest_without_a_duration_is_of_no_scenario(scenario: Path, tmp_path: Path) -> None:
    folder = roamsim.run(scenario).save(tmp_path / "crafted")
    tree = json.loads((folder / "manifest.json").read_text())
    for wrong in ({}, {"duration": 5}):
        tree["canonical"]["scenario"] = wrong
        (folder / "manifest.json").write_text(json.dumps(tree))
        with pytest.raises(roamsim.UsageError, match="canonical: it is no scenario"):
            roamsim.open_results(folder)


def test_results_in_the_folder_where_one_is_are_drawn_there(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roamsim.run(scenario).save(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    assert roamsim.open_results(".").report() == Path("report.html")
    assert (tmp_path / "here" / "report.html").is_file()


def unfolded(shown: str) -> str:
    """What a notebook shows before anything is folded out."""
    return shown.partition("<details>")[0]


def test_a_notebook_shows_of_a_run_what_the_terminal_does(scenario: Path, roamsim: Command) -> None:
    import roamsim as package

    result = package.run(scenario)
    shown = result._repr_html_()
    said = roamsim("run", scenario).stdout
    # In words and units: "1.11 Mb/s", not 1110400.0.
    goodput = re.search(r"[\d.]+ [kM]b/s", said)
    assert goodput is not None
    assert f">{goodput[0]}</td>" in unfolded(shown)
    assert unfolded(shown).count("<th ") < 45
    assert "goodput_bps" not in unfolded(shown)
    assert "goodput_bps" in shown
    assert f"flows: 1 row, {result.flows.width} columns" in shown


def test_a_notebook_shows_of_sweeps_and_comparisons_what_was_found(scenario: Path) -> None:
    vary = {"flow.download.transport.variant": "reno,newreno"}
    compared = roamsim.compare(scenario, vary, replications=3)
    assert compared.sentences[0] in unfolded(compared._repr_html_())
    assert "flow.download.transport.variant" not in unfolded(compared.results._repr_html_())
    assert '<td style="text-align: left">newreno</td>' in unfolded(compared.results._repr_html_())


def test_names_stay_text_in_a_notebook(scenario: Path) -> None:
    result = roamsim.run(scenario, set={"flow.download.name": "<b>x</b>", "scenario.name": "<i>"})
    shown = unfolded(result._repr_html_())
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert "<b>x" not in shown
    assert "<i>" not in shown


SHARED = """
scenario = { name = "Three on one wire", duration = "10s" }
node = [{ name = "a" }, { name = "b" }]
link = [{ name = "wire", between = ["a", "b"], rate = "1Gb/s", delay = "1ms" }]
[[flow]]
name = "flow-{i}"
count = 3
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "10ms" }
[[flow]]
name = "other"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "5ms" }
"""


def test_fairness_is_a_metric_of_runs(tmp_path: Path) -> None:
    # Rates 1, 1, 1 and r, r = 2 or 4: (3 + r)^2 / (4 (3 + r^2)) is 25/28, or 49/76.
    vary = {"flow.other.application.interval": ["5ms", "2.5ms"]}
    found = roamsim.compare(SHARED, vary, metric="flows.sent_packets:jain", replications=2)
    assert found.means["mean"].to_list() == pytest.approx([25 / 28, 49 / 76], rel=1e-12)
    assert found.means["name"].to_list() == ["all rows"] * 2
    (difference,) = found.differences.to_dicts()
    assert difference["verdict"] == "worse"
    assert "less fair" in found.sentences[0]
    page = found.report(tmp_path / "page.html").read_text()
    assert "Jain&#x27;s index of sent packets" in page or "Jain's index of sent packets" in page
    assert found.plot("flows.sent_packets:jain").name == "flows.sent_packets-jain.svg"
    with pytest.raises(roamsim.UsageError, match="index covers all rows"):
        roamsim.compare(SHARED, vary, metric="flows.other.sent_packets:jain")
    with pytest.raises(roamsim.UsageError, match="those of drops are not"):
        roamsim.compare(SHARED, vary, metric="drops.packets:jain")


def test_the_fairest_values_are_found() -> None:
    path = {"flow.other.application.interval": "5ms:20ms:5ms"}
    found = roamsim.optimise(SHARED, path, maximise="flows.sent_packets:jain", trials=4, replications=2, fresh=2)
    assert found.winner == {"flow.other.application.interval": "10ms"}
