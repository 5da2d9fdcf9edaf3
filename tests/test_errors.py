"""Errors as a user deserves: where, what, what to do; the exit code; never a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import roamsim as package
from conftest import SCENARIO, Command, run_command

GOOD = "scenario.toml"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "missing.toml"], "no file 'missing.toml'"),
        (["run", "scenarios.tml"], "did you mean 'scenario.toml'?"),
        (["run", "wifi-roaming"], "`roamsim examples wifi-roaming --to .` copies"),
        (["run", "nowhere/wifi-roaming"], "`roamsim examples wifi-roaming --to .` copies"),
        (["run", "nowhere/roaming.toml"], "there is no file 'nowhere/roaming.toml'\n"),
        (["run", GOOD, "--report", "page.pdf"], "end its name in .html or .htm"),
        (["run", "."], "is a folder"),
        (["run", GOOD, "--set", "nonsense"], "PATH=VALUE"),
        (["run", GOOD, "--trace", "windows"], "there are cwnd"),
        (["run", GOOD, "--trace", "cwn"], "did you mean cwnd? There are cwnd"),
        (["run", GOOD, "--csv", "--table", "flow"], "did you mean flows? There are flows"),
        (["run", GOOD, "--pcap", "x.pcapng", "--pcap-at", "sever"], "did you mean 'server'? There are 'server'"),
        (["explain", "--preset", "linx"], "did you mean linux? There are classic"),
        (["study", "show", "mih-transprt"], "did you mean mih-transport? There are mih-handover"),
        (["run", GOOD, "--seed", "-1"], "seed"),
        (["run", GOOD, "--replications", "0"], "replications"),
        (["run", GOOD, "--json", "--csv"], "choose one"),
        (["run", GOOD, "--table", "links"], "--csv"),
        (["run", GOOD, "--pcap", "no/such/folder.pcapng"], "does not exist"),
        (["run", GOOD, "--pcap", "."], "is a folder"),
        (["run", GOOD, "--parquet", GOOD], "is a file; results go to a folder"),
        (["run", GOOD, "--parquet", "."], "other files"),
        (["sweep", GOOD, "--vary", "nonsense", "--out", "x"], "PATH=SPEC"),
        (["sweep", GOOD, "--vary", "link.path.delay=1ms:5ms:0ms", "--out", "x"], "step of 0"),
        (["sweep", GOOD, "--vary", "link.path.delay=1ms", "--out", GOOD], "is a file; results go to a folder"),
        (["sweep", GOOD, "--vary", "link.path.delay=1ms", "--out", "."], "other files"),
        (["sweep", GOOD, "--vary", "link.path.delay=1ms", "--precision", "x=2%", "--out", "x"], "METRIC=SHARE"),
        (
            ["sweep", GOOD, "--vary", "link.path.delay=1ms", "--precision", "flows.god_bps=2%", "--out", "x"],
            "goodput",
        ),
        (
            ["sweep", GOOD, "--vary", "link.path.delay=1ms", "--precision", "flows.x.goodput_bps=2%", "--out", "x"],
            "download",
        ),
        (["sweep", GOOD, "--vary", "link.path.delay=1ms", "--max-replications", "9", "--out", "x"], "--precision"),
        (["report", "missing"], "no folder"),
        (["report", GOOD], "perhaps a scenario"),
        (["plot", __file__, "--what", "cwnd"], "is a file, not a folder"),
        (["report", "."], "no results: it has no manifest.json; `run` with --parquet"),
        (["plot", "missing", "--what", "cwnd"], "no"),
        (["query", "missing", "select 1"], "no folder"),
        (["explain", "nonsense"], "the results have no column or table"),
        (["study", "show", "nonsense"], "there is no study"),
        (["study", "show", "."], "it has no study.toml"),
        (["study", "run", "nonsense"], "no study"),
        (["init", "no/such/folder.toml"], "cannot be written"),
        (["check", "missing.toml"], "no file"),
        (["nonsense"], "nonsense"),
        (["run"], "FILE"),
    ],
)
def test_usage_errors(roamsim: Command, scenario: Path, arguments: list[str], complaint: str) -> None:
    done = roamsim(*arguments, code=2)
    assert complaint in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("before", "after", "complaints"),
    [
        ('rate = "2Mb/s"', 'bandwith = "2Mb/s"', ["scenario.toml:14", "bandwith", "rate"]),
        ('delay = "20ms"', "delay = 20", ["unit", "delay"]),
        ('to = "phone"', 'to = "fone"', ["fone", "phone", "server"]),
        ("probability = 0.02", "probability = 1.2", ["1.2"]),
        ('rate = "2Mb/s"', 'rate = "-2Mb/s"', ["-2"]),
        ('[[node]]\nname = "phone"', '[[node]]\nname = "server"', ["server"]),
        ('between = ["server", "phone"]', 'between = ["server", "server"]', ["server"]),
        ("mss =", 'min_rto = "2s", max_rto = "1s", mss =', ["max_rto"]),
        ("[scenario]", "[scenario", ["scenario.toml"]),
        ('duration = "10s"', "", ["duration"]),
    ],
)
def test_invalid_scenarios(roamsim: Command, scenario: Path, before: str, after: str, complaints: list[str]) -> None:
    assert before in SCENARIO
    scenario.write_text(SCENARIO.replace(before, after))
    for command in ("check", "run"):
        done = roamsim(command, "scenario.toml", code=3)
        for complaint in complaints:
            assert complaint in done.stderr
        assert done.stdout == ""
    with pytest.raises(package.ScenarioError, match=complaints[0].replace("scenario.toml:", "")):
        package.run(scenario)


def test_an_unknown_key_is_shown_with_a_caret(roamsim: Command, scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace('rate = "2Mb/s"', 'bandwith = "2Mb/s"'))
    error = roamsim("check", "scenario.toml", code=3).stderr
    assert 'bandwith = "2Mb/s"' in error
    assert "did you mean `rate`?" in error


@pytest.mark.parametrize("data", [b"\x7fELF\x00\xff\xfe", b"", b"\xff\xfe[\x00", b"[" * 10_000, b"{" * 10_000])
def test_files_that_are_no_scenario(roamsim: Command, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "odd.toml").write_bytes(data)
    roamsim("run", "odd.toml", code=3)
    (tmp_path / "odd.json").write_bytes(data)
    roamsim("run", "odd.json", code=3)


@pytest.mark.parametrize(
    "setting",
    [
        "link.path=1",
        "link=1",
        "scenario=",
        "link.path.delay=",
        "link.9.delay=1ms",
        "link.nowhere.delay=1ms",
        ".=1",
        "a..b=1",
    ],
)
def test_settings_that_lead_nowhere(roamsim: Command, scenario: Path, setting: str) -> None:
    roamsim("run", scenario, "--set", setting, code=3)


def test_a_point_that_is_not_valid_stops_the_sweep_before_it_runs(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    error = roamsim("sweep", scenario, "--vary", "link.path.loss.probability=0.5,1.5", "--out", "out", code=3).stderr
    assert "link.path.loss.probability=1.5" in error
    assert not (tmp_path / "out").exists()


def test_python_gets_the_same_errors(scenario: Path) -> None:
    with pytest.raises(package.UsageError, match="no file"):
        package.load("missing.toml")
    with pytest.raises(package.ScenarioError, match="does not fit"):
        package.load({"scenario": object()})
    with pytest.raises(package.UsageError, match="there are cwnd"):
        package.run(scenario, trace=["windows"])
    with pytest.raises(package.UsageError, match=r"link\.path\.delay: .*not a value that a scenario can hold"):
        package.run(scenario, set={"link.path.delay": object()})
    with pytest.raises(package.UsageError, match=r"link\.path\.delay: None is not a value that a scenario can hold"):
        package.sweep(scenario, {"link.path.delay": ["1ms", None]})
    for number, complaint in ((True, "jobs: True is not a whole number"), (0, "jobs: 0 is less than 1")):
        with pytest.raises(package.UsageError, match=complaint):
            package.run(scenario, jobs=number)
        with pytest.raises(package.UsageError, match=complaint):
            package.sweep(scenario, {"link.path.delay": ["1ms", "2ms"]}, jobs=number)
    with pytest.raises(package.UsageError, match="seed: 'x' is not a whole number"):
        package.run(scenario, seed="x")  # type: ignore[arg-type]
    with pytest.raises(package.UsageError, match="5 is none of them"):
        package.run(5)  # type: ignore[arg-type]
    with pytest.raises(package.UsageError, match=r"replications: 1\.5"):
        package.run(scenario, replications=1.5)  # type: ignore[arg-type]
    with pytest.raises(package.UsageError, match="not a dictionary"):
        package.run(scenario, set=["a=1"])  # type: ignore[arg-type]
    with pytest.raises(package.UsageError, match=r"precision takes METRIC=SHARE"):
        package.sweep(scenario, {"link.path.delay": ["1ms"]}, precision={"flows.goodput_bps": 0.5})  # type: ignore[arg-type]
    with pytest.raises(package.ScenarioError, match=r"\[set:1:1\]"):
        package.load(scenario, set={"a": 1})
    with pytest.raises(package.ScenarioError, match=r"\[set:1:1\]"):
        package.sweep(scenario, {"link.path.delay": "1ms"}, set={"a": 1})


def test_a_manifest_of_another_kind_is_said_without_words_of_python(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for text in ('{"kind": "run", "colour": 1}', "[]", "{", "{}"):
        (tmp_path / "out" / "manifest.json").write_text(text)
        error = roamsim("query", "out", "select 1", code=2).stderr
        assert "is no manifest of this version" in error
        assert "__init__" not in error


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a scenario whose names have spaces, with windows and queues traced, and messages that it has none of."""
    folder = tmp_path_factory.mktemp("traced")
    text = SCENARIO.replace('name = "path"', 'name = "long path"').replace(
        'name = "download"', 'name = "the download"'
    )
    (folder / "scenario.toml").write_text(text)
    recorded = ("--trace", "cwnd,queue,bearers", "--parquet", "out")
    assert run_command("run", "scenario.toml", *recorded, cwd=folder).returncode == 0
    return folder / "out"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["sweep", GOOD], "Missing option '--vary'. Values a,b,c or a range"),
        (["sweep", GOOD, "--vary"], "'--vary' requires an argument. Values a,b,c or a range"),
        (["run", GOOD, "--trace"], "requires an argument. Record also: cwnd, rtt"),
        (["run", GOOD, "--table"], "requires an argument. The table that --csv prints"),
        (["explain", "--preset"], "There are classic, linux, rfc."),
        (["init", "--kind"], "basic: every common key"),
        (["study", "run"], "Missing argument 'NAME'. A study, or its folder. There are mih-handover, mih-transport"),
        (["study", "run", "--shard"], "requires an argument. Run only share K of N"),
        (["query", "x"], "Missing argument 'SQL'. For instance: select * from flows"),
    ],
)
def test_what_is_missing_is_told_with_its_choices(roamsim: Command, arguments: list[str], expected: str) -> None:
    assert expected in " ".join(roamsim(*arguments, code=2).stderr.split())


def test_plot_without_what_names_what_was_recorded(roamsim: Command, traced: Path) -> None:
    told = roamsim("plot", traced, code=2).stderr
    assert "--what is missing; the traces here are cwnd, queue, bearers; a metric is drawn too" in told


def test_plot_names_no_trace_that_is_a_table(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--trace", "packets,cwnd", "--parquet", "out")
    assert "the traces here are cwnd; a metric is drawn too" in roamsim("plot", "out", code=2).stderr
    roamsim("run", scenario, "--trace", "packets", "--parquet", "out")
    assert "no trace that is drawn was recorded here" in roamsim("plot", "out", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--what", "goodput"], "did you mean flows.goodput_bps? There are "),
        (["--what", "nonsense"], "under the name 'nonsense'; there are "),
        (["--what", "nod"], "under the name 'nod'; there are "),
        (["--what", "packets"], "packets are a table, not a figure; ask it: run again with --trace packets"),
        (["--what", "rto"], "run again with --trace rtt"),
        (["--what", "bearers"], "--trace bearers was given, and recorded nothing"),
        (["--what", "cwnd", "--flow", "path"], "there are 'the download'"),
        (["--what", "queue", "--flow", "path"], "did you mean 'long path'? There are 'long path'"),
    ],
)
def test_plot_advises_what_there_is(roamsim: Command, traced: Path, arguments: list[str], expected: str) -> None:
    done = roamsim("plot", traced, *arguments, code=2)
    assert done.stdout == ""
    assert expected in " ".join(done.stderr.split())


@pytest.mark.parametrize(("what", "name"), [("cwnd", "the download"), ("queue", "long path")])
def test_plot_takes_the_names_of_flows_and_links(
    roamsim: Command, traced: Path, what: str, name: str, tmp_path: Path
) -> None:
    roamsim("plot", traced, "--what", what, "--flow", name, "--out", tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size > 0


ROAMING = """
[scenario]
name = "roaming"
duration = "1s"
[[node]]
name = "walker"
position = { x = "0m", y = "0m" }
MULTIHOMED
[[node]]
name = "west"
position = { x = "1m", y = "0m" }
[[node]]
name = "east"
position = { x = "5m", y = "0m" }
[[node]]
name = "server"
[[link]]
name = "w"
between = ["west", "server"]
rate = "10Mb/s"
delay = "1ms"
[[link]]
name = "e"
between = ["east", "server"]
rate = "10Mb/s"
delay = "1ms"
[[flow]]
name = "f"
from = "server"
to = "walker"
transport = { protocol = "sctp" }
application = { kind = "bulk" }
"""
CELL = """
[[wifi]]
name = "{0}"
access_point = "{0}"
stations = ["walker"]
standard = "802.11g"
rate = "24Mb/s"
beacons = {{}}
radio = {{ radius = "45m", path_loss = {{ model = "log_distance", exponent = 3.0 }} }}
"""
WIRE = """
[[link]]
name = "wire"
between = ["walker", "server"]
rate = "1Mb/s"
delay = "1ms"
"""


def test_advice_on_two_cells_and_a_wire_leads_to_a_valid_scenario() -> None:
    both, one = CELL.format("west") + CELL.format("east"), CELL.format("west")

    def refused(multihomed: str, accesses: str) -> str:
        try:
            package.load(ROAMING.replace("MULTIHOMED", multihomed) + accesses)
        except package.ScenarioError as error:
            return " ".join(re.sub("[^ -~]", " ", str(error)).split())
        return ""

    advice = "add a [[selection]] with this `node`, which selects one of its interfaces at a time"
    assert advice in refused("", both + WIRE)
    assert "[[selection]]" in refused("multihomed = true", both + WIRE)
    assert "write `multihomed = true` in its [[node]], so that it keeps an address on each" in refused("", one + WIRE)
    # What the advice names is valid.
    selection = '[[selection]]\nname = "choice"\nnode = "walker"\npolicy = "preference"\nscheme = "none"\nprefer = ["wifi", "wire"]\n'
    assert not refused("", both + WIRE + selection)
    assert not refused("multihomed = true", one + WIRE)
    assert not refused("", both)


def test_a_discipline_that_needs_a_length_says_so(scenario: Path, roamsim: Command) -> None:
    fair = ("--set", 'link.path.queue={ discipline = "fq_codel" }')
    said = roamsim("check", scenario, *fair, "--set", "link.path.queue.discipline=drop_tail", code=3).stderr
    assert 'discipline = "drop_tail" needs `packets` or `bytes`' in said
    assert 'write the whole table, { discipline = "drop_tail", packets = ... }, by --set and --vary' in said
    whole = 'link.path.queue={ discipline = "drop_tail", packets = 9 }'
    roamsim("check", scenario, "--set", whole)
