"""Sensitivities: indices that are known in closed form, their intervals, resuming, bad input."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import roamsim as package
from conftest import SCENARIO, Command, begin
from roamsim.errors import UsageError
from roamsim.estimates.rows import values_of_runs
from roamsim.estimates.sensitivities import default_targets, design, estimates, indices
from roamsim.scenarios.ranges import as_range, as_varied, written_value
from roamsim.storing.manifests import Damaged
from roamsim.tables.metrics import Target

#: A packet's delay is the sum of the links' delays and of what does not vary. Each link's delay is uniform over its
#: range, and the variance of the sum the sum of their variances, the squares of the widths by 12.
CHAIN = """
[scenario]
name = "Three hops"
duration = "1s"
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[node]]
name = "d"
[[link]]
name = "first"
between = ["a", "b"]
rate = "10Mb/s"
delay = "20ms"
[[link]]
name = "second"
between = ["b", "c"]
rate = "10Mb/s"
delay = "20ms"
[[link]]
name = "third"
between = ["c", "d"]
rate = "10Mb/s"
delay = "20ms"
queue = { packets = 20 }
[[flow]]
name = "calls"
from = "a"
to = "d"
transport = { protocol = "udp" }
application = { kind = "cbr", interval = "200ms", packet_size = "100B" }
"""

DELAYS = {"link.first.delay": "0ms:10ms", "link.second.delay": "20ms:40ms", "link.third.delay": "10ms:50ms"}

#: Widths of 10, 20 and 40 ms: 100, 400 and 1600 of 2100.
SHARES = (100 / 2100, 400 / 2100, 1600 / 2100)

LOSSY = {"link.path.loss.probability": "0:0.1", "link.path.delay": "10ms:50ms"}
LOSS = ["--vary", "link.path.loss.probability=0:0.1", "--vary", "link.path.delay=10ms:50ms"]


def index(found: package.Sensitivity, name: str) -> list[dict[str, Any]]:
    return found.indices.filter(index=name).to_dicts()


def test_sobol_indices_of_a_sum_are_the_shares_of_its_variance() -> None:
    found = package.sensitivity(CHAIN, DELAYS, metric="flows.calls.mean_delay_s", samples=256, replications=2)
    for name in ("first", "total"):
        for row, share in zip(index(found, name), SHARES, strict=True):
            assert row["path"] == list(DELAYS)[SHARES.index(share)]
            assert row["low"] <= share <= row["high"], row
            assert row["value"] == pytest.approx(share, abs=0.06)
            assert row["high"] - row["low"] < 0.4
            # Nothing is random but the choice of points.
            assert row["of_replications"] == pytest.approx(0, abs=1e-12)
    assert found.results.made == 256 * 5 * 2
    assert found.sentences[0].startswith("link.third.delay explains ")
    assert "flows.calls.mean_delay_s" in found.sentences[0]


def test_morris_effects_of_a_sum_are_the_widths_of_its_ranges() -> None:
    found = package.sensitivity(CHAIN, DELAYS, metric="flows.mean_delay_s", method="morris", replications=1)
    for name in ("mu_star", "mu"):
        for row, width_s in zip(index(found, name), (0.01, 0.02, 0.04), strict=True):
            # The ranges are cut into steps of a millionth.
            assert row["value"] == pytest.approx(width_s, rel=1e-5)
    assert [row["value"] for row in index(found, "sigma")] == pytest.approx([0, 0, 0], abs=1e-7)
    assert len(found.sampled.rows) == 16 * 4
    assert found.sentences[0] == "Over its range link.third.delay raises flows.mean_delay_s by 40 ms on average."
    assert "One replication a point" in found.notes[0]


def test_what_works_together_has_a_total_above_its_own_share() -> None:
    # Of x y over the unit square: variance 1/9 - 1/16 = 7/144, of E(xy|x) = x/2 that is 1/48 = 3/144; so the first
    # indices are 3/7 each, and the totals 4/7.
    points = design("sobol", 2, 1024, seed=3)
    found, spread = estimates("sobol", points, points.prod(axis=1))
    assert found["first"] == pytest.approx([3 / 7, 3 / 7], abs=0.02)
    assert found["total"] == pytest.approx([4 / 7, 4 / 7], abs=0.02)
    assert all(0 < half < 0.15 for half in (*spread["first"], *spread["total"]))


def test_the_chance_of_replications_is_in_the_intervals() -> None:
    few = package.sensitivity(SCENARIO, LOSSY, samples=8, replications=3, set={"scenario.duration": "2s"})
    for row in few.indices.to_dicts():
        assert row["of_replications"] > 0
        half = (row["high"] - row["low"]) / 2
        assert half == pytest.approx(np.hypot(row["of_points"], row["of_replications"]))
    # By hand: three means of two replications each; t(2) = 4.3027, and the jackknife's factor is 2/3.
    values = few.values(Target.parse("flows.goodput_bps"))
    assert values.shape == (8 * 4, 3)
    points = design("sobol", 2, 8, seed=1)
    left = [estimates("sobol", points, np.delete(values, r, axis=1).mean(axis=1), 2)[0]["first"][0] for r in range(3)]
    error = np.sqrt(2 / 3 * sum((one - sum(left) / 3) ** 2 for one in left))
    assert index(few, "first")[0]["of_replications"] == pytest.approx(4.3027 * error, rel=1e-4)


def test_intervals_hold_the_true_index_about_as_often_as_they_say() -> None:
    # x + 2 y, of which each replication has weights of its own, 1 and 2 on average: 1/5 and 4/5 of the variance.
    held = total = 0
    for seed in range(100):
        points = design("sobol", 2, 32, seed)
        weights = np.array([1.0, 2.0]) * (1 + 0.3 * np.random.default_rng(seed).standard_normal((5, 2)))
        found = [of for of in indices("sobol", points, points @ weights.T) if of.name == "total"]
        held += sum(
            abs(of.value - share) <= (of.half_width or 0) for of, share in zip(found, (0.2, 0.8), strict=True)
        )
        # What the design leaves to chance is not all there is.
        total += sum(
            abs(of.value - share) <= (of.of_points or 0) for of, share in zip(found, (0.2, 0.8), strict=True)
        )
    assert held >= 0.93 * 200
    assert total < held


def test_every_point_meets_the_same_streams() -> None:
    # Nothing of what is varied reaches the losses, so that packets are lost at the same places everywhere.
    lossy = CHAIN.replace("queue = { packets = 20 }", 'loss = { model = "bernoulli", probability = 0.3 }').replace(
        'interval = "200ms"', 'interval = "20ms", stop = "800ms"'
    )
    found = package.sensitivity(lossy, DELAYS, metric="flows.delivered_packets", samples=4, replications=3)
    counts = found.results.flows.group_by("replication").agg(polars.col("delivered_packets").n_unique())
    assert counts["delivered_packets"].to_list() == [1, 1, 1]
    assert found.results.flows["delivered_packets"].n_unique() > 1
    assert found.notes[0].startswith("flows.delivered_packets is the same at every point")
    assert found.indices["value"].null_count() == found.indices.height == 6


def test_where_there_is_no_variance_to_divide_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of a block's rows the first and the last give the variance, and here only the second one differs.
    values = np.zeros((4 * 4, 2))
    values[1] = 1
    monkeypatch.setattr(package.Sensitivity, "values", lambda *_: values)
    found = package.sensitivity(SCENARIO, LOSSY, samples=4, replications=2)
    assert found.indices["low"].null_count() == found.indices.height
    assert found.sentences == []
    assert any(note.startswith("Too few samples: flows.goodput_bps") for note in found.notes)
    assert "NaN" not in found.to_json()


def test_whole_numbers_stay_whole() -> None:
    found = package.sensitivity(
        CHAIN, {"link.third.queue.packets": "5:8", "link.third.rate": "1Mb/s:9Mb/s:4Mb/s"}, samples=8, replications=1
    )
    points = found.results.manifest.points
    assert {point.values["link.third.queue.packets"] for point in points} == {"5", "6", "7", "8"}
    assert {point.values["link.third.rate"] for point in points} == {"1Mb/s", "5Mb/s", "9Mb/s"}
    # A design meets some of these twelve several times; what is there is not made again.
    assert len(points) == found.results.made <= 12 < len(found.sampled.rows)


def test_ranges_are_read_and_cut_as_the_scenario_takes_them() -> None:
    # A millionth of the power of ten in the range; times are whole nanoseconds.
    for path, text, step in (
        ("link.path.loss.probability", "0:0.5", "0.0000001"),
        ("link.path.delay", "1us:2us", "0.001us"),
        ("link.path.queue.packets", "5:50", "1"),
    ):
        found = package.sensitivity(SCENARIO, {path: text}, samples=2, replications=1)
        assert found.sampled.ranges[path] == f"{text}:{step}"
    assert as_range("a", (1, 2.5)).text() == "1:2.5:0"
    assert as_range("a", "0:10ms:5ms").at(2).toml == "10ms"
    assert as_range("a", "-1:1:0.5").share("0.5") == 0.75
    with pytest.raises(package.UsageError, match="not a range"):
        as_varied("a", "b,0:9e999999:1")
    # A list of three quantities is a range with its step; what was meant is said.
    for several in (["10ms", "20ms", "40ms"], ["10ms", "20ms", "40ms", "80ms"], "10ms,20ms,40ms"):
        written = several if isinstance(several, str) else ",".join(several)
        with pytest.raises(package.UsageError, match=f"values to choose from are one text, '{written}'"):
            as_range("a", several)


def test_what_a_scenario_says_is_found_by_name_and_number() -> None:
    tree = json.loads(package.load(CHAIN).written)
    for path in ("link.third.queue.packets", "link.2.queue.packets"):
        assert written_value(tree, path).toml == "20"  # type: ignore[union-attr]
    assert written_value(tree, 'link."first".delay').toml == "20ms"  # type: ignore[union-attr]
    for path in ("link.first.queue.packets", "link.9.delay", "link.none.delay", "scenario.name.x", "link.x"):
        assert written_value(tree, path) is None


def table(rows: list[tuple[int, int, str, float | None]]) -> polars.DataFrame:
    names = ("point", "replication", "name", "goodput_bps")
    return polars.DataFrame(rows, schema=names, orient="row").with_columns(direction=polars.lit("forward"))


def of_kinds(*kinds: str) -> dict[str, Any]:
    """A scenario's tree with flows of these applications."""
    return {"flow": [{"name": f"f{number}", "application": {"kind": kind}} for number, kind in enumerate(kinds)]}


def test_a_download_and_a_call_have_no_mean() -> None:
    def names(scenario: dict[str, Any]) -> list[str]:
        return [target.name for target in default_targets(scenario)]

    assert names(of_kinds("bulk", "cbr")) == ["flows.f0.goodput_bps"]
    assert names(of_kinds("cbr", "bulk", "bulk")) == ["flows.f1.goodput_bps", "flows.f2.goodput_bps"]
    assert names(of_kinds("cbr", "cbr")) == ["flows.f0.mean_delay_s", "flows.f1.mean_delay_s"]
    assert names(of_kinds("cbr", "poisson")) == ["flows.f0.mean_delay_s"]
    assert names(of_kinds("bulk")) == ["flows.goodput_bps"]
    assert names({"signalling": [{"name": "up"}, {"name": "down"}]}) == [
        "signalling.up.mean_delay_s",
        "signalling.down.mean_delay_s",
    ]
    # Many flows of one kind have a mean that says something; of several kinds one has to be chosen.
    assert names(of_kinds(*["bulk"] * 20)) == ["flows.goodput_bps"]
    with pytest.raises(UsageError, match=r"flows of several kinds; name one, as in --metric flows\.f0\.goodput_bps"):
        names(of_kinds(*["bulk"] * 20, "cbr"))


def test_a_metric_is_one_number_a_run() -> None:
    rows = table(
        [
            (0, 0, "a", 1.0),
            (0, 0, "b", 3.0),
            (0, 1, "a", 2.0),
            (0, 1, "b", None),
            (1, 0, "a", 5.0),
            (1, 0, "b", 7.0),
            (2, 0, "a", 99.0),
            (0, 0, "never", None),
        ]
    )
    several = values_of_runs(Target.parse("flows.goodput_bps"), rows, [0, 1], 2)
    # Without b a run is not better for what is left of it; there is no second run of point 1.
    assert np.array_equal(several, [[2.0, np.nan], [6.0, np.nan]], equal_nan=True)
    one = values_of_runs(Target.parse("flows.a.goodput_bps"), rows, [1, 0], 2)
    assert np.array_equal(one, [[5.0, np.nan], [1.0, 2.0]], equal_nan=True)
    drops = polars.DataFrame(
        {"point": [0, 0], "replication": [1, 1], "name": "l", "node": "n", "reason": ["x", "y"], "packets": [2, 3]}
    )
    assert values_of_runs(Target.parse("drops.packets"), drops, [0], 2).tolist() == [[0.0, 5.0]]
    handovers = polars.DataFrame({"point": 0, "replication": 0, "interruption_s": [1.0, None, 3.0]})
    assert values_of_runs(Target.parse("handovers.interruption_s"), handovers, [0], 1).tolist() == [[2.0]]


def test_any_number_of_jobs_and_any_folder_give_the_same(tmp_path: Path) -> None:
    def found(**how: Any) -> dict[str, Any]:
        options = {"samples": 8, "replications": 2, "set": {"scenario.duration": "2s"}}
        return package.sensitivity(SCENARIO, LOSSY, **{**options, **how}).to_dict()

    first = found(jobs=1)
    assert found(jobs=4, out=tmp_path / "a") == first
    assert found(jobs=2, out=tmp_path / "a") == first
    assert found(seed=2) != first


def test_more_samples_and_replications_add_to_a_folder(tmp_path: Path) -> None:
    def run(**how: Any) -> package.Sensitivity:
        return package.sensitivity(CHAIN, DELAYS, metric="flows.mean_delay_s", out=tmp_path / "a", **how)

    assert run(samples=4, replications=1).results.made == 4 * 5
    assert run(samples=4, replications=2).results.made == 4 * 5
    # The sequence goes on: what the first samples were they are still.
    more = run(samples=8, replications=2)
    assert more.results.made == 4 * 5 * 2
    whole = package.sensitivity(CHAIN, DELAYS, metric="flows.mean_delay_s", samples=8, replications=2)
    assert more.to_dict() == whole.to_dict()
    # Fewer replications count fewer, whatever the folder has.
    assert run(samples=4, replications=1).values(Target.parse("flows.mean_delay_s")).shape == (4 * 5, 1)


def test_killed_it_goes_on_and_nothing_differs(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    ask = ["sensitivity", scenario, *LOSS, "--samples", "64", "--replications", "8", "--set", "scenario.duration=60s"]
    process = begin(*ask, "--out", tmp_path / "killed", "--jobs", "1", cwd=tmp_path)
    parts = tmp_path / "killed" / "parts"
    until = time.monotonic() + 60
    while not list(parts.glob("[!.]*.zip")) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert "the sensitivity is not finished" in roamsim("report", tmp_path / "killed", code=2).stderr
    done = roamsim(*ask, "--out", tmp_path / "killed", "--json")
    assert "256 points, 2048 runs (" in done.stderr
    assert "were there already" in done.stderr
    whole = roamsim(*ask, "--out", tmp_path / "whole", "--json")
    assert "already" not in whole.stderr
    assert json.loads(done.stdout) == json.loads(whole.stdout)
    for file in (tmp_path / "whole").glob("*.parquet"):
        assert file.read_bytes() == (tmp_path / "killed" / file.name).read_bytes()


def test_the_report_has_indices_as_chart_and_table(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    ask = ["sensitivity", scenario, *LOSS, "--samples", "4", "--replications", "2", "--out", "out"]
    said = roamsim(*ask)
    assert "next: roamsim report out" in said.stderr
    for word in ("link.path.delay", "total", "of_replications"):
        assert word in said.stdout
    assert roamsim(*ask, "--csv").stdout.startswith("metric,path,index,value,low,high,of_points,of_replications\n")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for word in ("Sensitivity of flows.goodput_bps", "sensitivity-flows.goodput_bps", "Sobol&#39; indices", "0:0.1:"):
        assert word in page
    for sentence in json.loads(roamsim(*ask, "--json").stdout)["sentences"]:
        assert sentence in page.replace("\u00a0", " ")
    # The runs are a sweep's, to be asked like any others.
    assert roamsim("query", "out", "select count(*) as n from flows", "--csv").stdout == "n\n32\n"


def test_on_a_cluster_it_is_the_same(roamsim: Command, scenario: Path) -> None:
    ask = ["sensitivity", scenario, *LOSS, "--samples", "4", "--replications", "2", "--json"]
    assert roamsim(*ask, "--on", "dask", "--jobs", "2", "--time-limit", "60s").stdout == roamsim(*ask).stdout


@pytest.mark.parametrize(
    ("vary", "how", "error", "complaint"),
    [
        ({"link.path.delay": "50ms:10ms"}, {}, package.UsageError, "write the lower end first"),
        ({"link.path.delay": "10ms"}, {}, package.UsageError, "is not a range; write LOW:HIGH"),
        ({"link.path.delay": "10ms,20ms"}, {}, package.UsageError, "is not a range; write LOW:HIGH"),
        ({"link.path.delay": "10ms:10ms"}, {}, package.UsageError, "has one value only"),
        ({"link.path.delay": ("10ms",)}, {}, package.UsageError, "is not a range"),
        ({"link.path.delay": 5}, {}, package.UsageError, "is not a range"),
        ({"link.path.delay": "10ms:20us"}, {}, package.UsageError, "write the lower end first"),
        ({"link.path.delay": "10ms:20kB"}, {}, package.UsageError, "must measure the same thing"),
        ({"link.path.delay": "10ms:20ms:3ms"}, {}, package.UsageError, "the steps do not reach the upper end"),
        ({"link.path.delay": "10ms:20ms:0ms"}, {}, package.UsageError, "a step of 0"),
        ({"link.path.delay": "10ms:20ms:-1ms"}, {}, package.UsageError, "a step of -1"),
        ({"link.path.delay": "1ms:1e999999999ms"}, {}, package.UsageError, "is not a number"),
        ({"link.path.loss.probability": (0, float("nan"))}, {}, package.UsageError, "'nan' is not a number"),
        ({"flow.download.transport.variant": "reno:sack"}, {}, package.UsageError, "'reno' is not a number"),
        ({}, {}, package.UsageError, "nothing is varied"),
        ([], {}, package.UsageError, "is not a dictionary"),
        ({"link.nowhere.delay": "10ms:20ms"}, {}, package.ScenarioError, "no element `nowhere`"),
        ({"link.path.dela": "10ms:20ms"}, {}, package.ScenarioError, "unknown key `dela`"),
        ({"link.path.delay": "-5ms:5ms"}, {}, package.ScenarioError, "may not be negative"),
        ({"link.path.loss.probability": "0:1.5"}, {}, package.ScenarioError, r"at link.path.loss.probability=1\.5"),
        ({"scenario.name": "1:2"}, {}, package.ScenarioError, "a string is needed"),
        (LOSSY, {"metric": "flows.nonsense"}, package.UsageError, "there is no metric"),
        (LOSSY, {"metric": "flows.name"}, package.UsageError, "is not a number"),
        (LOSSY, {"metric": "flows.nobody.goodput_bps"}, package.UsageError, "there are 'download'"),
        (LOSSY, {"metric": "messages.delay_s"}, package.UsageError, "many values a run|there is no metric"),
        (LOSSY, {"replications": 0}, package.UsageError, "replications: 0 is less than 1"),
        (LOSSY, {"samples": 1}, package.UsageError, "samples: 1 is less than 2"),
        (LOSSY, {"samples": 1.5}, package.UsageError, "not a whole number"),
        (LOSSY, {"samples": 100}, package.UsageError, "ask for 64 or 128"),
        (LOSSY, {"samples": 32768}, package.UsageError, "131072 points, more than 100000"),
        (LOSSY, {"method": "guess"}, package.UsageError, "there are sobol, morris"),
        (LOSSY, {"seed": -1}, package.UsageError, "seed -1"),
        (LOSSY, {"jobs": -1}, package.UsageError, "jobs: -1"),
    ],
)
def test_bad_input_is_refused_before_the_first_run(
    tmp_path: Path, vary: Any, how: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    with pytest.raises(error, match=complaint):
        package.sensitivity(SCENARIO, vary, out=tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (["--vary", "nonsense"], 2, "PATH=LOW:HIGH"),
        (["--vary", "link.path.delay=1ms:2ms", "--vary", "link.path.delay=1ms:3ms"], 2, "varied twice"),
        (["--vary", "link.².delay=1ms:2ms"], 3, "no element `²`"),
        (["--vary", "link.nowhere.delay=10ms:20ms"], 3, "no element `nowhere`"),
        ([*LOSS, "--json", "--csv"], 2, "choose one"),
        ([*LOSS, "--on", "nowhere"], 2, "--on takes"),
        ([*LOSS, "--time-limit", "fast"], 2, "--time-limit takes a time"),
    ],
)
def test_the_command_refuses_bad_input_by_its_exit_code(
    roamsim: Command, scenario: Path, tmp_path: Path, options: list[str], code: int, complaint: str
) -> None:
    done = roamsim("sensitivity", scenario, *options, "--out", tmp_path / "out", code=code)
    assert complaint in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_metric_without_a_value_is_told() -> None:
    with pytest.raises(
        package.UsageError,
        match=r"flows.completion_time_s has no value at some points, for example at link.path.loss.probability=",
    ):
        package.sensitivity(SCENARIO, LOSSY, metric="flows.completion_time_s", samples=2, replications=1)


def test_folders_of_something_else_are_refused(tmp_path: Path) -> None:
    package.sweep(SCENARIO, {"link.path.delay": "10ms"}, out=tmp_path / "out")
    with pytest.raises(package.UsageError, match=r"a sweep over link\.path\.delay, not over"):
        package.sensitivity(SCENARIO, LOSSY, samples=2, out=tmp_path / "out")
    (tmp_path / "mine").write_text("not to be touched")
    with pytest.raises(package.UsageError, match="other files"):
        package.sensitivity(SCENARIO, LOSSY, samples=2, out=tmp_path)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampled") / "out"
    package.sensitivity(SCENARIO, LOSSY, samples=2, replications=1, out=folder)
    return folder


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("method", "guess"),
        ("rows", [0]),
        ("rows", [99] * 8),
        ("ranges", {"link.path.delay": "1ms:2ms:1ms"}),
        ("ranges", {"link.path.loss.probability": "0:0.1", "link.path.delay": "x"}),
        ("metrics", []),
        ("replications", 0),
        ("samples", -1),
    ],
)
def test_a_manifest_that_does_not_fit_is_told(sampled: Path, tmp_path: Path, key: str, value: object) -> None:
    tree = json.loads((sampled / "manifest.json").read_text())
    tree["sampled"][key] = value
    (tmp_path / "manifest.json").write_text(json.dumps(tree))
    with pytest.raises(Damaged, match=r"is no manifest of this version \(sampled"):
        package.open_results(tmp_path)
