"""Searches: an optimum that is known, fresh replications that confirm it, resuming, bad input."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import polars
import pytest
import roamsim as package
from conftest import SCENARIO, Command, begin
from one_link import one_link
from roamsim import statistics
from roamsim.scenarios.ranges import parse_varied
from roamsim.storing.manifests import Damaged

#: A packet's delay is 8 bit/B x 100 B / rate and more, and the link's delay: the shorter and the faster the better.
SHORT = one_link(
    'name = "path"\ndelay = "20ms"\nrate = "1Mb/s"\nqueue = { packets = 20 }',
    'name = "f"\ntransport = { protocol = "udp" }\napplication = { kind = "cbr", interval = "100ms", packet_size = "100B" }',
    duration="1s",
)
DELAY = {"link.path.delay": "5ms:50ms"}
MEAN_DELAY = {"minimise": "flows.mean_delay_s"}

#: A window that fits into no queue loses packets, one that is too small does not fill the path.
LOSSY = {"link.path.queue.packets": "2:60", "flow.download.transport.mss": "200B:1400B"}
VARY = ["--vary", "link.path.queue.packets=2:60", "--vary", "flow.download.transport.mss=200B:1400B"]
BEST = ["--maximise", "flows.goodput_bps"]


def search(scenario: str = SCENARIO, vary: dict[str, Any] = LOSSY, **how: Any) -> package.Optimum:
    options = {"maximise": "flows.goodput_bps", "trials": 12, "replications": 2, "fresh": 4}
    if "minimise" in how:
        del options["maximise"]
    return package.optimise(scenario, vary, **{**options, **how})


def test_a_known_optimum_is_found_and_confirmed() -> None:
    found = search(SHORT, {**DELAY, "link.path.rate": "1Mb/s:10Mb/s"}, trials=40, **MEAN_DELAY)
    means = found.means.to_dicts()
    assert [row["what"] for row in means] == ["the winner", "the scenario as written", "the runner-up"]
    # 148 octets with their headers at 1 Mb/s, and 20 ms.
    assert means[1]["mean"] == pytest.approx(0.02 + 148 * 8 / 1e6)
    # Of a range of 45 ms forty trials leave some ms to the best there is, 5 ms and 148 octets at 10 Mb/s.
    assert 0.005 + 148 * 8 / 1e7 <= means[0]["mean"] < 0.009
    assert found.confirmed
    assert found.trials["mean"].min() == means[0]["search_mean"]
    assert found.sentences[0].startswith("The winner, with the lowest flows.mean_delay_s: link.path.delay = ")
    assert found.sentences[2].startswith("Confirmed: ")
    assert found.trials["best"].to_list() == found.trials["mean"].cum_min().to_list()
    # The other way round the same range has its best at the other end.
    other = search(SHORT, DELAY, trials=40, maximise="flows.mean_delay_s")
    assert 0.046 < other.means["mean"][0] <= 0.05 + 148 * 8 / 1e6


def test_the_best_of_some_choices_is_found_and_told_by_its_name(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    variants = {"flow.download.transport.variant": "tahoe,newreno,sack"}
    lossy = {"link.path.loss.probability": 0.03, "scenario.duration": "60s"}
    found = search(vary={**variants, **LOSSY}, set=lossy, trials=16, out=tmp_path / "out")
    tried = found.trials["flow.download.transport.variant"]
    assert set(tried) <= {"tahoe", "newreno", "sack"}
    assert len(set(tried)) > 1
    best = found.trials.sort("mean", descending=True).row(0, named=True)
    assert found.winner["flow.download.transport.variant"] == best["flow.download.transport.variant"]
    # The scenario as written has one of them, and is one point with it.
    (written,) = found.means.filter(what="the scenario as written")["flow.download.transport.variant"]
    assert written == "newreno"
    again = search(vary={**variants, **LOSSY}, set=lossy, trials=16, out=tmp_path / "out")
    assert again.results.made == 0
    assert again.to_dict() == found.to_dict()
    listed = search(
        vary={"flow.download.transport.variant": ["tahoe", "newreno", "sack"], **LOSSY}, set=lossy, trials=16
    )
    assert listed.to_dict() == found.to_dict()
    roamsim("report", tmp_path / "out")
    assert "search-flow.download.transport.variant" in (tmp_path / "out" / "report.html").read_text()
    vary = ["--vary", "flow.download.transport.variant=tahoe,newreno,sack", "--trials", "3", "--fresh", "2"]
    told = json.loads(roamsim("optimise", scenario, *vary, *BEST, "--json").stdout)
    assert told["vary"] == {"flow.download.transport.variant": "tahoe,newreno,sack"}


TABLES = '{ packets = 1 },{ discipline = "codel" },{ packets = 20 }'


def test_tables_are_chosen_from_in_the_words_of_a_comparison(roamsim: Command, scenario: Path) -> None:
    of_tables = [{"packets": 1}, {"discipline": "codel"}, {"packets": 20}]
    path, best = "link.path.queue", ["--maximise", "flows.goodput_bps", "--trials", "6", "--fresh", "2", "--json"]
    found = json.loads(roamsim("optimise", scenario, "--vary", f"{path}={TABLES}", *best).stdout)
    assert found["winner"][path] in TABLES
    assert {row[path] for row in found["trials"]} <= {"packets=1", "codel", "packets=20"}
    by_python = search(SCENARIO, {path: of_tables}, trials=6, fresh=2, replications=5)
    assert by_python.trials[path].to_list() == [row[path] for row in found["trials"]]
    compared = json.loads(roamsim("compare", scenario, "--vary", f"{path}={TABLES}", "--json").stdout)
    assert compared["values"] == [value.toml for value in parse_varied(f"{path}={TABLES}").values]
    alone = roamsim("optimise", scenario, "--vary", 'link.path.queue={ discipline = "codel" }', *best, code=2)
    assert "there is one value only, codel; a choice needs two or more" in alone.stderr


def test_what_the_scenario_leaves_to_a_default_is_written_with_it() -> None:
    path = "flow.download.transport.min_rto"
    assert "min_rto" not in SCENARIO
    found = search(vary={path: "200ms:400ms"}, trials=2, replications=1, fresh=2)
    (written,) = found.means.filter(what="the scenario as written")[path]
    # RFC 6298 section 2.4.
    assert written == "1s"
    said = search(vary={path: "200ms:400ms"}, trials=2, replications=1, fresh=2, set={path: "1s"})
    assert said.means.equals(found.means)


def test_the_winner_is_told_by_replications_that_did_not_choose_it() -> None:
    found = search(trials=10, replications=3, fresh=5)
    flows = found.results.flows
    at = {row["what"]: row for row in found.means.to_dicts()}
    numbers = (found.searched.winner, found.searched.as_written, found.searched.runner_up)
    fresh: dict[str, list[float]] = {}
    for (what, row), point in zip(at.items(), numbers, strict=True):
        rows = flows.filter(polars.col("point") == point).sort("replication")
        assert rows["replication"].to_list() == list(range(8))
        values = rows["goodput_bps"].to_list()
        fresh[what] = values[3:]
        estimate = statistics.mean(values[3:])
        assert (row["mean"], row["low"], row["high"], row["samples"]) == (
            estimate.mean,
            estimate.low,
            estimate.high,
            5,
        )
        if what != "the scenario as written":
            assert row["search_mean"] == pytest.approx(sum(values[:3]) / 3)
    # All others have those of the search alone.
    counts = flows.group_by("point").len().filter(~polars.col("point").is_in(list(numbers)))
    assert set(counts["len"]) == {3}
    (against_written, against_runner_up) = found.differences.to_dicts()
    pairs = [a - b for a, b in zip(fresh["the winner"], fresh["the scenario as written"], strict=True)]
    expected = statistics.mean(pairs)
    assert against_written["difference"] == pytest.approx(expected.mean)
    assert (against_written["difference_low"], against_written["difference_high"]) == pytest.approx(
        (expected.low, expected.high)
    )
    assert against_runner_up["against"] == "the runner-up"
    assert found.confirmed == (expected.low > 0)


def test_what_makes_no_difference_is_not_confirmed() -> None:
    found = search(SHORT, {"link.path.queue.packets": "5:50"}, **MEAN_DELAY)
    assert not found.confirmed
    assert (
        "Not confirmed: mean delay: the winner and the scenario as written are equal in every replication."
        in found.sentences
    )
    same = search(SHORT, {"link.path.queue.packets": "20:21"}, trials=4, **MEAN_DELAY)
    assert same.searched.runner_up is not None
    assert len({point.fingerprint for point in same.results.manifest.points}) == 2


def test_what_is_worse_than_the_scenario_as_written_is_told() -> None:
    # The ranges leave out what the scenario has.
    found = search(SHORT, {"link.path.delay": "30ms:50ms"}, **MEAN_DELAY)
    assert not found.confirmed
    assert found.sentences[2].startswith("Not confirmed: mean delay: ")
    assert found.sentences[3].startswith("Mean delay: ") and found.sentences[3].endswith(" than with the runner-up.")
    better = (
        "In the fresh replications the scenario as written is better than the winner: use the scenario as written."
    )
    assert better in found.notes


def test_combinations_that_are_not_valid_count_as_no_good() -> None:
    text = SCENARIO.replace('mss = "1000B"', 'mss = "1000B", min_rto = "500ms", max_rto = "60s"')
    vary = {
        "flow.download.transport.min_rto": "100ms:5000ms",
        "flow.download.transport.max_rto": "1000ms:10000ms",
    }
    found = search(text, vary, trials=16)
    invalid = found.trials.filter(polars.col("point").is_null())
    assert 0 < invalid.height < 16
    assert invalid["mean"].null_count() == invalid.height
    assert found.notes[0] == f"Not valid as scenarios, and counted as bad: {invalid.height} of 16 trials."


def test_a_trial_that_lacks_a_value_is_no_winner() -> None:
    # Half of the flows' packets lost: hardly a transfer ends, and one that does would be a mean of its own.
    text = SCENARIO.replace('kind = "bulk"', 'kind = "transfer", size = "300kB"')
    found = search(text, {"link.path.loss.probability": "0:0.3"}, trials=16, minimise="flows.completion_time_s")
    lacking = found.trials.filter(polars.col("mean").is_null())
    assert 0 < lacking.height < 16
    assert any(
        note.startswith("Without flows.completion_time_s in some replication")
        and note.endswith(f"{lacking.height} of 16 trials.")
        for note in found.notes
    )
    flows = found.results.flows.filter(polars.col("replication") < 2)
    without = flows.filter(polars.col("completion_time_s").is_null())["point"].unique()
    assert set(lacking["point"]) <= set(without)
    assert found.searched.winner not in set(without)


def test_a_metric_without_any_value_is_told() -> None:
    with pytest.raises(package.UsageError, match=r"no trial has a value of flows\.completion_time_s"):
        search(trials=2, minimise="flows.completion_time_s")


def test_any_number_of_jobs_and_any_folder_give_the_same(tmp_path: Path) -> None:
    first = search(jobs=1).to_dict()
    assert search(jobs=4, out=tmp_path / "a").to_dict() == first
    again = search(jobs=2, out=tmp_path / "a")
    assert again.to_dict() == first
    assert again.results.made == 0
    other = search(seed=2).to_dict()
    assert [row["link.path.queue.packets"] for row in other["trials"]] != [
        row["link.path.queue.packets"] for row in first["trials"]
    ]


def test_more_trials_go_on_where_fewer_ended(tmp_path: Path) -> None:
    few = search(SHORT, DELAY, trials=11, out=tmp_path / "a", **MEAN_DELAY)
    more = search(SHORT, DELAY, trials=24, out=tmp_path / "a", **MEAN_DELAY)
    assert more.trials["link.path.delay"].to_list()[:11] == few.trials["link.path.delay"].to_list()
    whole = search(SHORT, DELAY, trials=24, **MEAN_DELAY)
    assert more.trials.drop("point").equals(whole.trials.drop("point"))
    assert more.means.equals(whole.means)
    assert more.results.made < whole.results.made


def test_killed_it_goes_on_and_nothing_differs(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    ask = ["optimise", scenario, *VARY, *BEST, "--trials", "24", "--replications", "8", "--fresh", "8"]
    ask += ["--set", "scenario.duration=120s"]
    process = begin(*ask, "--out", tmp_path / "killed", "--jobs", "1", cwd=tmp_path)
    parts = tmp_path / "killed" / "parts"
    until = time.monotonic() + 60
    while not list(parts.glob("[!.]*.zip")) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert "search is not finished" in roamsim("report", tmp_path / "killed", code=2).stderr
    done = roamsim(*ask, "--out", tmp_path / "killed", "--json")
    whole = roamsim(*ask, "--out", tmp_path / "whole", "--json")
    # Some of the runs were there.
    made = [int(re.findall(r"(\d+) new runs", said.stderr)[0]) for said in (done, whole)]
    assert 0 < made[0] < made[1]
    assert json.loads(done.stdout) == json.loads(whole.stdout)
    for file in (tmp_path / "whole").glob("*.parquet"):
        assert file.read_bytes() == (tmp_path / "killed" / file.name).read_bytes()


def test_on_a_cluster_it_is_the_same(roamsim: Command, scenario: Path) -> None:
    ask = ["optimise", scenario, *VARY, *BEST, "--trials", "4", "--replications", "1", "--fresh", "2", "--json"]
    assert roamsim(*ask, "--on", "dask", "--jobs", "2", "--time-limit", "60s").stdout == roamsim(*ask).stdout


def test_the_report_has_the_search_and_keeps_a_sensitivity_beside_it(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    small = ["--replications", "2", "--out", "out"]
    roamsim("sensitivity", scenario, *VARY, "--samples", "2", *small)
    ask = ["optimise", scenario, *VARY, *BEST, "--trials", "8", "--fresh", "4", *small]
    said = roamsim(*ask)
    assert "next: roamsim report out" in said.stderr
    for word in ("the runner-up", "the scenario as written", "search_mean"):
        assert word in said.stdout
    assert roamsim(*ask, "--csv").stdout.startswith("trial,point,link.path.queue.packets,")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for word in ("Sensitivity and Search", "search-trials", "search-link.path.queue.packets", "fresh replications"):
        assert word in page
    for sentence in json.loads(roamsim(*ask, "--json").stdout)["sentences"]:
        assert sentence in page.replace("\u00a0", " ")
    # A further sweep or sensitivity leaves what was found.
    roamsim("sensitivity", scenario, *VARY, "--samples", "4", *small)
    roamsim("report", "out")
    assert "search-trials" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("vary", "how", "error", "complaint"),
    [
        (LOSSY, {"maximise": "flows.nonsense"}, package.UsageError, "there is no metric"),
        (LOSSY, {"maximise": "flows.name"}, package.UsageError, "is not a number"),
        (LOSSY, {"maximise": ""}, package.UsageError, "a metric is TABLE.COLUMN"),
        (LOSSY, {"maximise": "flows.nobody.goodput_bps"}, package.UsageError, "there are 'download'"),
        (LOSSY, {"maximise": "segments.time_s"}, package.UsageError, "many values a run"),
        (LOSSY, {"trials": 0}, package.UsageError, "trials: 0 is less than 1"),
        (LOSSY, {"replications": 0}, package.UsageError, "replications: 0 is less than 1"),
        (LOSSY, {"fresh": 1}, package.UsageError, "fresh replications: 1 is less than 2"),
        (LOSSY, {"maximise": None}, package.UsageError, "either maximise or minimise"),
        (LOSSY, {"minimise": "flows.loss_ratio"}, package.UsageError, "either maximise or minimise"),
        (LOSSY, {"seed": -1}, package.UsageError, "seed -1"),
        ({}, {}, package.UsageError, "nothing is varied"),
        (["link.path.delay=1:2"], {}, package.UsageError, "not a dictionary"),
        ({"link.path.delay": "50ms:10ms"}, {}, package.UsageError, "write the lower end first"),
        ({"link.path.delay": "10ms"}, {}, package.UsageError, "is not a range"),
        ({"flow.download.transport.variant": "reno:sack"}, {}, package.UsageError, "'reno' is not a number"),
        ({"flow.download.transport.variant": "reno,snack"}, {}, package.ScenarioError, "variant=snack"),
        ({"flow.download.transport.variant": "reno,reno"}, {}, package.UsageError, "value reno is there twice"),
        ({"flow.download.transport.variant": ["reno"]}, {}, package.UsageError, "a choice needs two or more"),
        ({"flow.download.transport.variant": "reno,"}, {}, package.UsageError, "an empty value"),
        ({"link.nowhere.delay": "10ms:20ms"}, {}, package.ScenarioError, "no element `nowhere`"),
        ({"link.path.loss.probability": "0:1.5"}, {}, package.ScenarioError, r"at link.path.loss.probability=1\.5"),
        (
            {"flow.download.transport.initial_window": "1:9"},
            {},
            package.UsageError,
            "no value in the scenario and no default",
        ),
    ],
)
def test_bad_input_is_refused_before_the_first_run(
    tmp_path: Path, vary: Any, how: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    asked = {"maximise": "flows.goodput_bps", **how}
    with pytest.raises(error, match=complaint):
        package.optimise(SCENARIO, vary, out=tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (VARY, 2, "either --maximise METRIC or --minimise METRIC"),
        ([*VARY, *BEST, "--minimise", "flows.loss_ratio"], 2, "either --maximise METRIC or --minimise METRIC"),
        ([*VARY, *BEST, "--json", "--csv"], 2, "choose one"),
        ([*BEST, "--vary", "link.nowhere.delay=10ms:20ms"], 3, "no element `nowhere`"),
    ],
)
def test_the_command_refuses_bad_input_by_its_exit_code(
    roamsim: Command, scenario: Path, tmp_path: Path, options: list[str], code: int, complaint: str
) -> None:
    done = roamsim("optimise", scenario, *options, "--out", tmp_path / "out", code=code)
    assert complaint in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("searched") / "out"
    search(trials=2, replications=1, fresh=2, out=folder)
    return folder


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("goal", "best"),
        ("trials", [99]),
        ("as_written", -1),
        ("winner", 0),
        ("fresh", 0),
        ("ranges", {}),
    ],
)
def test_a_manifest_that_does_not_fit_is_told(searched: Path, tmp_path: Path, key: str, value: object) -> None:
    tree = json.loads((searched / "manifest.json").read_text())
    tree["searched"][key] = value
    (tmp_path / "manifest.json").write_text(json.dumps(tree))
    with pytest.raises(Damaged, match=r"is no manifest of this version \(searched"):
        package.open_results(tmp_path)
