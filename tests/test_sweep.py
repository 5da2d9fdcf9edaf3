"""Sweeps: products, merging, killing and resuming, precision, independence of the number of jobs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import ROOT, SCENARIO, Command, begin, environment
from filelock import FileLock
from polars.testing import assert_frame_equal
from roamsim.errors import Notice
from roamsim.storing.parts import Parts

LOSS = "link.path.loss.probability"
DELAY = "link.path.delay"


def rows(folder: Path, table: str = "flows") -> polars.DataFrame:
    return polars.read_parquet(folder / f"{table}.parquet")


def parts(folder: Path) -> dict[str, float]:
    return {part.name: part.stat().st_mtime_ns for part in (folder / "parts").iterdir()}


def test_a_sweep_runs_the_product(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    done = roamsim(
        "sweep", scenario, "--vary", f"{LOSS}=0:0.1:0.05", "--vary", f"{DELAY}=10ms,50ms",
        "--replications", "2", "--out", "out",
    )  # fmt: skip
    assert done.stdout == "out\n"
    flows = rows(tmp_path / "out")
    columns = ["point", LOSS, DELAY, f"{DELAY}_s", "replication", "seed"]
    expected = [
        (3 * 0 + 2 * i + j, loss, delay, seconds, replication, 1)
        for i, loss in enumerate([0.0, 0.05, 0.1])
        for j, (delay, seconds) in enumerate([("10ms", 0.01), ("50ms", 0.05)])
        for replication in range(2)
    ]
    assert flows.select(columns).rows() == expected
    assert set(flows["scenario"]) == {"Both kinds of traffic"}
    # More loss, less goodput, at either delay.
    mean = package.open_results(tmp_path / "out").estimate("flows", "goodput_bps").sort(DELAY, LOSS)["mean"]
    assert mean[0] > mean[1] > mean[2]
    assert mean[3] > mean[4] > mean[5]


def test_a_sweep_gives_what_single_runs_give(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.03,0.06", "--replications", "2", "--out", "out")
    own = ["scenario", "point", LOSS]
    for table in ("flows", "signalling", "links", "drops"):
        swept = rows(tmp_path / "out", table).filter(polars.col(LOSS) == 0.06).drop(own)
        alone = package.run(scenario, set={LOSS: 0.06}, replications=2)[table].drop("scenario", "point")
        assert_frame_equal(swept, alone)


def test_results_do_not_depend_on_jobs(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    for jobs in ("1", "4"):
        roamsim(
            "sweep", scenario, "--vary", f"{LOSS}=0:0.1:0.02", "--replications", "3", "--jobs", jobs, "--out", jobs
        )
    for table in ("flows", "signalling", "links", "drops"):
        assert_frame_equal(rows(tmp_path / "1", table), rows(tmp_path / "4", table))


def test_a_wider_sweep_adds_to_what_is_there(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02,0.04", "--replications", "2", "--out", "out")
    flows = rows(out)
    wider = roamsim("sweep", scenario, "--vary", f"{LOSS}=0.04,0.06", "--replications", "3", "--out", "out")
    assert "3 points, 8 runs (4 of them were there already)" in wider.stderr
    wider = rows(out)
    assert wider.group_by(LOSS, maintain_order=True).len().rows() == [(0.02, 2), (0.04, 3), (0.06, 3)]
    assert_frame_equal(wider.filter((polars.col(LOSS) < 0.05) & (polars.col("replication") < 2)), flows)
    again = parts(out)
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.04,0.06", "--replications", "3", "--out", "out")
    assert parts(out) == again


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (["--vary", f"{DELAY}=1ms"], "a sweep over"),
        (["--vary", f"{LOSS}=0.02", "--seed", "2"], "seed 1"),
        (["--vary", f"{LOSS}=0.02", "--set", "link.path.rate=1Mb/s"], "another scenario"),
    ],
)
def test_a_folder_holds_one_sweep(roamsim: Command, scenario: Path, change: list[str], complaint: str) -> None:
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02", "--out", "out")
    assert complaint in roamsim("sweep", scenario, *change, "--out", "out", code=2).stderr


def python(scenario: Path, values: list[object], out: Path) -> int:
    return package.sweep(scenario, {DELAY: values}, out=out).made


@pytest.mark.parametrize("first", ["command line", "Python"])
def test_a_sweep_of_python_goes_on_on_the_command_line_and_back(
    roamsim: Command, scenario: Path, tmp_path: Path, first: str
) -> None:
    line = ["sweep", scenario, "--out", "out", "--vary"]
    if first == "Python":
        assert python(scenario, ["10ms", "50ms"], tmp_path / "out") == 2
        told = roamsim(*line, f"{DELAY}=10ms:50ms:20ms").stderr
    else:
        roamsim(*line, f"{DELAY}=10ms,'50ms'")
        assert python(scenario, ["10ms", "50ms"], tmp_path / "out") == 0
        told = roamsim(*line, f'{DELAY}="10ms",50ms,30ms').stderr
    assert "3 points, 3 runs (2 of them were there already)" in told
    assert rows(tmp_path / "out").select("point", DELAY).rows() == [(0, "10ms"), (1, "50ms"), (2, "30ms")]


def test_a_point_that_a_folder_has_twice_is_there_once_when_the_sweep_goes_on(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    sweep = ["sweep", scenario, "--out", "out", "--vary", f"{DELAY}=10ms,50ms", "--replications", "2"]
    roamsim(*sweep)
    manifest = tmp_path / "out" / "manifest.json"
    held = json.loads(manifest.read_text())
    double = {**held["points"][1], "values": {DELAY: '"50ms"'}, "replications": 3}
    held["points"].append(double)
    held["vary"][DELAY].append('"50ms"')
    manifest.write_text(json.dumps(held))
    assert "2 points, 6 runs (4 of them were there already)" in roamsim(*sweep, "--replications", "3").stderr
    assert rows(tmp_path / "out").group_by(DELAY, maintain_order=True).len().rows() == [("10ms", 3), ("50ms", 3)]


@pytest.mark.parametrize(("path", "held", "asked"), [(DELAY, "50ms", "0.05s"), (LOSS, "0.0", "0")])
def test_a_value_that_a_folder_has_in_other_words_is_refused(
    roamsim: Command, scenario: Path, path: str, held: str, asked: str
) -> None:
    roamsim("sweep", scenario, "--vary", f"{path}={held}", "--out", "out")
    done = roamsim("sweep", scenario, "--vary", f"{path}={asked}", "--out", "out", code=2)
    assert f"write {path}={held} as there, not {asked}" in " ".join(done.stderr.split())


def test_a_value_that_names_a_file_with_other_contents_is_refused(roamsim: Command, scenario: Path) -> None:
    (scenario.parent / "rate.csv").write_text("0,1\n")
    sweep = ["sweep", scenario, "--vary", "link.path.rate={ file = 'rate.csv' }", "--out", "out"]
    roamsim(*sweep)
    (scenario.parent / "rate.csv").write_text("0,2\n")
    assert "a file that it names has changed since" in " ".join(roamsim(*sweep, code=2).stderr.split())


def test_a_class_whose_file_has_changed_is_refused(roamsim: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "import roamsim\nclass Mine(roamsim.CongestionControl):\n"
    text += "".join(
        f"    def {method}(self, sample): pass\n" for method in ("on_ack", "on_loss", "on_ecn", "on_timeout")
    )
    file.write_text(text)
    law = "flow.download.transport.congestion_control=reno,mine.py:Mine"
    sweep = ["sweep", ROOT / "examples/slow-start.toml", "--vary", law, "--out", "out"]
    roamsim(*sweep)
    roamsim(*sweep)
    file.write_text(text + "# changed\n")
    said = " ".join(roamsim(*sweep, code=2).stderr.split())
    assert "'out' holds the point flow.download.transport.congestion_control=mine.py:Mine, and a file" in said


def test_many_points_are_told_before_they_are_checked(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamsim.running.sweeps.MANY", 2)
    with pytest.warns(Notice, match="all 3 points are checked before the first run"):
        package.sweep(scenario, {LOSS: "0:0.2:0.1"})


def start(scenario: Path, *more: str) -> subprocess.Popen[str]:
    """Starts a sweep that takes a while, and returns when some of its parts are there."""
    long = SCENARIO.replace('duration = "10s"', 'duration = "2000s"').replace('stop = "8s"', 'stop = "1990s"')
    scenario.write_text(long)
    process = begin(
        "sweep", scenario, "--vary", f"{LOSS}=0.01:0.2:0.01",
        "--replications", "40", "--jobs", "2", "--out", scenario.parent / "out", *more,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    folder = scenario.parent / "out" / "parts"
    deadline = time.monotonic() + 60
    while not list(folder.glob("[!.]*.zip")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def shrunk(scenario: Path) -> list[str]:
    """The part of the long sweep that is checked after resuming."""
    return ["sweep", str(scenario), "--vary", f"{LOSS}=0.01,0.02", "--replications", "2", "--out"]


def test_a_killed_sweep_resumes_and_repeats_nothing(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    process = start(scenario)
    process.kill()
    process.wait()
    out = tmp_path / "out"
    (out / "parts" / ".tmp-left").mkdir()
    (out / "parts" / ".tmp-left" / "flows.parquet").write_bytes(b"half")
    kept = Parts(out).rows("flows")
    # What is there can be read: where runs are slow, the first part holds a single one.
    assert package.open_results(out).flows.height == kept.height >= 1
    told = f"{kept.height} of 800 runs are there, and no others"
    reading = [("query", "out", "select count(*) from flows"), ("plot", "out", "--what", "flows.goodput_bps")]
    for command in reading:
        assert told in roamsim(*command).stderr
    part = package.open_results(out)
    for read in (lambda: part.query("select 1"), lambda: part.plot("flows.goodput_bps")):
        with pytest.warns(Notice, match="are there, and no others"):
            read()
    roamsim(*shrunk(scenario), "out")
    assert not (out / "parts" / ".tmp-left").exists()
    now = Parts(out).rows("flows")
    assert now.join(kept, on=["key", "replication"], how="semi").height == kept.height
    roamsim(*shrunk(scenario), "fresh")
    for command, _, *more in reading:
        assert "and no others" not in roamsim(command, "fresh", *more).stderr
    some = (polars.col("point") < 2) & (polars.col("replication") < 2)
    assert_frame_equal(rows(out).filter(some), rows(tmp_path / "fresh"))


def test_an_interrupted_sweep_says_so_and_keeps_what_is_finished(scenario: Path, tmp_path: Path) -> None:
    process = start(scenario)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == ""
    assert "goes on from there" in stderr
    assert "Traceback" not in stderr
    assert rows(tmp_path / "out").height >= 1


@pytest.mark.parametrize("out", [["--out", "out"], []])
def test_ctrl_c_while_tables_are_loaded_waits_until_they_are(scenario: Path, tmp_path: Path, out: list[str]) -> None:
    code = (
        "import os, signal, sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'polars.series.struct': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from roamsim.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "sweep", str(scenario), "--vary", f"{LOSS}=0.01", "--jobs", "1", *out],
        capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    kept = "; what is finished is kept, and the same command goes on from there" if out else ""
    assert (done.returncode, done.stderr) == (130, f"roamsim: interrupted{kept}\n")


def test_failed_runs_without_a_folder_are_told_with_what_keeps_the_others(roamsim: Command, scenario: Path) -> None:
    vary = ("--vary", "scenario.duration=10s,100000000s", "--time-limit", "500ms", "--jobs", "1")
    told = roamsim("sweep", scenario, *vary, code=1).stderr
    assert "1 of 2 runs failed; a folder (--out) keeps the others:" in told


def test_two_processes_do_not_write_to_one_folder(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / ".lock"):
        error = roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02", "--out", "out", code=2).stderr
    assert "another process is writing" in error
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02", "--out", "out")


def test_precision_adds_replications_until_the_interval_is_narrow(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    options = [
        "--vary",
        f"{LOSS}=0.02,0.05",
        "--precision",
        "flows.download.goodput_bps=5%",
        "--max-replications",
        "60",
    ]
    for jobs in ("1", "3"):
        roamsim("sweep", scenario, *options, "--jobs", jobs, "--out", jobs)
    assert_frame_equal(rows(tmp_path / "1"), rows(tmp_path / "3"))
    estimates = package.open_results(tmp_path / "1").estimate("flows", "goodput_bps")
    for mean, high, samples in estimates.select("mean", "high", "samples").iter_rows():
        assert samples == 60 or high - mean <= 0.05 * mean
        assert samples >= 5
    # A folder that holds more replications already is judged over the first ones, and stops at the same number.
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02,0.05", "--replications", "70", "--out", "more")
    (tmp_path / "again").mkdir()
    (tmp_path / "more" / "parts").rename(tmp_path / "again" / "parts")
    manifest = json.loads((tmp_path / "1" / "manifest.json").read_text())
    for point in manifest["points"]:
        point["replications"] = 0
    (tmp_path / "again" / "manifest.json").write_text(json.dumps(manifest))
    roamsim("sweep", scenario, *options, "--out", "again")
    assert_frame_equal(rows(tmp_path / "1"), rows(tmp_path / "again"))


def test_precision_stops_at_the_maximum(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    options = ["--precision", "flows.goodput_bps=0.01%", "--max-replications", "6"]
    done = roamsim("sweep", scenario, "--vary", f"{LOSS}=0.05,1.0", *options, "--out", "out")
    assert rows(tmp_path / "out").height == 6 + 5  # where everything is lost, five zeros are precise
    assert "not as precise as asked for after 6 replications: link.path.loss.probability=0.05\n" in done.stderr
    assert package.open_results(tmp_path / "out").manifest.unmet == [{LOSS: "0.05"}]
    plain = ["--precision", "flows.goodput_bps=99%"]
    assert (
        "not as precise" not in roamsim("sweep", scenario, "--vary", f"{LOSS}=0.05", *plain, "--out", "fine").stderr
    )


def test_a_precision_of_what_has_no_value_is_refused(roamsim: Command, scenario: Path) -> None:
    options = ["--precision", "flows.completion_time_s=2%", "--out", "out"]
    error = roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02,0.05", *options, code=2).stderr
    assert "flows.completion_time_s has no value in any run" in error


ACCESSES = {
    "link": 'between = ["a", "b"]\nrate = "1Mb/s"\ndelay = "1ms"',
    "wifi": 'access_point = "a"\nstations = ["b"]',
    "dect": 'terminal = "a"\ngateway = "b"',
    "cell": 'base_station = "a"\nstations = ["b"]\nrate = "1Mb/s"\ncoverage = { model = "disc", radius = "9m" }',
}


@pytest.mark.parametrize("access", ACCESSES)
def test_a_precision_may_be_of_the_links_of_any_access(tmp_path: Path, access: str) -> None:
    scenario = (
        '[scenario]\nname = "x"\nduration = "1s"\n'
        + "".join(f'[[node]]\nname = "{node}"\nposition = {{ x = "0m", y = "0m" }}\n' for node in "ab")
        + f'[[{access}]]\nname = "air"\n{ACCESSES[access]}\n'
        + '[[flow]]\nname = "f"\nfrom = "a"\nto = "b"\ntransport = { protocol = "udp" }\n'
        + 'application = { kind = "poisson", packet_size = "100B", mean_interval = "10ms" }\n'
    )

    def sweep(metric: str) -> package.SweepResult:
        return package.sweep(
            scenario, {f"{access}.air.mtu": "1300B,1400B"}, precision=f"{metric}=50%", out=tmp_path / "out"
        )

    assert sweep("links.air.utilisation").links.height >= 4
    for metric, complaint in (
        ("links.aire.utilisation", "links has no row 'aire'; did you mean 'air'. There are 'air'"),
        ("drops.aire.packets", "drops has no row 'aire'; did you mean 'air'. There are 'air'"),
        ("handovers.b.interruption_s", "rows of handovers have no name; node, scheme, from_cell, to_cell tell them"),
    ):
        with pytest.raises(package.UsageError, match=complaint):
            sweep(metric)


def test_a_sweep_says_what_was_there_already(roamsim: Command, scenario: Path) -> None:
    def said(loss: str) -> str:
        return roamsim("sweep", scenario, "--vary", f"{LOSS}={loss}", "--replications", "2", "--out", "out").stderr

    assert said("0.02,0.04").startswith("2 points, 4 runs; next")
    assert said("0.02,0.04").startswith("2 points, 4 runs (4 of them were there already); next")
    assert said("0.02,0.04,0.06").startswith("3 points, 6 runs (4 of them were there already); next")


def test_python_sweeps_in_memory_and_in_a_folder(scenario: Path, tmp_path: Path) -> None:
    vary = {LOSS: [0.02, 0.04], "flow.download.transport.variant": "reno,newreno"}
    memory = package.sweep(scenario, vary, replications=2)
    folder = package.sweep(scenario, vary, replications=2, out=tmp_path / "out")
    assert_frame_equal(memory.flows, folder.flows)
    assert_frame_equal(package.open_results(tmp_path / "out").flows, folder.flows)
    assert folder.query("select count(*) as n from flows")["n"].to_list() == [8]
    # Variants meet the same losses: that is what makes them comparable in pairs.
    assert memory.flows["flow.download.transport.variant"].to_list() == (["reno"] * 2 + ["newreno"] * 2) * 2


def test_the_number_of_copies_is_varied(roamsim: Command, tmp_path: Path) -> None:
    many = Path(__file__).parent.parent / "examples" / "many-flows.toml"
    count = "node.client-{i}.count"
    varied = ["--vary", f"{count}=1,3", "--set", "scenario.duration=2s", "--out", str(tmp_path / "many")]
    assert roamsim("sweep", many, *varied).returncode == 0
    flows = rows(tmp_path / "many")
    assert flows.group_by(count).len().sort(count).rows() == [(1, 1), (3, 3)]
    # A scenario that was read has not forgotten that its number can be another.
    scenario = package.load(many, set={"scenario.duration": "2s"})
    again = package.sweep(scenario, {count: [1, 3]})
    assert again.flows["goodput_bps"].to_list() == flows["goodput_bps"].to_list()


def test_the_summary_of_many_flows_shows_some_and_counts_the_others(roamsim: Command) -> None:
    done = roamsim(
        "run",
        Path(__file__).parent.parent / "examples" / "many-flows.toml",
        "--set",
        "node.client-{i}.count=100",
        "--set",
        "scenario.duration=2s",
    )
    assert "40 more rows; `--parquet DIR` keeps all" in done.stdout
    assert "download-59" in done.stdout
    assert "download-60" not in done.stdout


def test_what_is_varied_in_vain_is_refused(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    whole = 'link.path={name="path",between=["server","phone"],rate="1Mb/s",delay="5ms",queue={packets=9}}'
    for more, complaint in (
        (f"{DELAY}=3ms,4ms", f"{DELAY} is varied twice"),
        (whole, f"{DELAY} is varied without effect: link.path is varied behind it, and sets all of it"),
    ):
        for command in ("sweep", "compare"):
            vary = ["--vary", f"{DELAY}=1ms,2ms", "--vary", more, "--out", f"vain-{command}"]
            assert complaint in roamsim(command, scenario, *vary, code=2).stderr
            assert not (tmp_path / f"vain-{command}").exists()


def test_what_is_set_where_something_is_varied_is_told(roamsim: Command, scenario: Path) -> None:
    vary = ["--vary", f"{DELAY}=1ms,2ms", "--replications", "1"]
    told = "--set link.path.delay has no effect on the runs, for link.path.delay is varied"
    assert told in roamsim("sweep", scenario, *vary, "--set", f"{DELAY}=3ms").stderr
    # The scenario itself needs it, where it says nothing.
    scenario.write_text(re.sub(r"^delay = .*\n", "", SCENARIO, flags=re.MULTILINE))
    assert told in roamsim("sweep", scenario, *vary, "--set", f"{DELAY}=3ms").stderr
    transports = [{"protocol": "tcp"}, {"protocol": "sctp"}]
    scenario.write_text(SCENARIO)
    with pytest.warns(Notice, match=r"^set flow.download.transport.mss has no effect"):
        package.sweep(scenario, {"flow.download.transport": transports}, set={"flow.download.transport.mss": "500B"})
    # Around it, and inside by what is varied, both count.
    swept = package.sweep(
        scenario,
        {"flow.download.transport.mss": ["500B", "900B"]},
        set={"flow.download.transport": {"protocol": "tcp", "variant": "reno"}},
    )
    assert set(swept.flows["variant"]) == {"reno"}
