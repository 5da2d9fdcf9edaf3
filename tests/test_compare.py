"""Comparisons: pairs of replications, their intervals, what is said of them, and the folders that keep them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import SCENARIO, Command, simulated
from roamsim import statistics
from roamsim.estimates.paired import Difference, Question, differences, rounded, samples
from roamsim.estimates.ranking import Ranking, rows
from roamsim.pictures import charts
from roamsim.storing.manifests import PointEntry
from roamsim.storing.parts import Parts, run_key
from roamsim.storing.store import PointRows
from roamsim.tables.metrics import Target

from benches.pages import browser

VARIANTS = "flow.download.transport.variant=tahoe,newreno,sack"
OVER = "flow.f.transport.variant"


def compared(
    metric: str, values: dict[str, Sequence[float | None]], *, baseline: str | None = None
) -> list[Difference]:
    """Differences of made-up values of one row `f`, a sequence of replications for each variant."""
    target = Target.parse(metric)
    points = [
        PointRows(
            PointEntry({OVER: name}, {OVER: name}, name, len(found)),
            len(found),
            polars.DataFrame(
                {
                    "name": ["f"] * len(found),
                    "direction": ["forward"] * len(found),
                    "replication": range(len(found)),
                    target.column: found,
                },
                schema=dict.fromkeys(("name", "direction"), polars.String)
                | {"replication": polars.Int64, target.column: polars.Float64},
            ),
        )
        for name, found in values.items()
    ]
    question = Question(OVER, tuple(values), baseline or next(iter(values)), (target,))
    return list(differences(question, target, samples(question, target, points)))


def said(metric: str, reno: Sequence[float | None], sack: Sequence[float | None]) -> str:
    """The sentence about two variants."""
    (difference,) = compared(metric, {"reno": reno, "sack": sack})
    return difference.sentence()


def test_a_difference_is_told_beside_what_it_is_compared_with() -> None:
    # Reno's mean is 100. Differences 4, 5, 6: mean 5, deviation 1, t(2) = 4.303, 4.303 / sqrt(3) = 2.484.
    assert said("flows.goodput_bps", [100, 100, 100], [104, 105, 106]) == "sack is 2.5 % to 7.5 % faster than reno"
    assert said("flows.goodput_bps", [100, 100, 100], [96, 95, 94]) == "sack is 2.5 % to 7.5 % slower than reno"
    # 104, 100, 99: mean 101, deviation sqrt(7) = 2.646, half-width 4.303 x 2.646 / sqrt(3) = 6.57.
    assert (
        said("flows.goodput_bps", [100, 100, 100], [104, 100, 99])
        == "no difference shown between sack and reno: -6 % to 8 %"
    )


def ranked(metric: str, values: dict[str, Sequence[float | None]]) -> Ranking:
    """A ranking of made-up values, as `compared` takes them."""
    found = compared(metric, values)
    there = {sample.value: sample for pair in found for sample in (pair.value, pair.against)}
    larger = Target.parse(metric).metric.better != "smaller"
    mean = {name: sum(v or 0 for v in sample.values) / 3 for name, sample in there.items()}
    return Ranking(Target.parse(metric), "", sorted(there.values(), key=lambda s: mean[s.value], reverse=larger))


def test_a_ranking_says_who_is_best_and_by_how_much() -> None:
    clear = {"tahoe": [50, 50, 50], "reno": [100, 100, 100], "sack": [104, 105, 106]}
    found = ranked("flows.goodput_bps", clear)
    assert found.told() == (
        "sack is best with 105 b/s. It is 2.5 % to 7.5 % faster than reno, and 105.0 % to 115.0 % faster than tahoe"
    )
    assert found.best == "sack"
    # Each pair once, the better first.
    assert [(p.value.label, p.against.label) for p in found.pairs] == [
        ("sack", "reno"), ("sack", "tahoe"), ("reno", "tahoe"),
    ]  # fmt: skip
    tied = ranked("flows.goodput_bps", {"tahoe": [50, 50, 50], "reno": [104, 100, 99], "sack": [100, 100, 100]})
    assert tied.told() == (
        "reno has the highest mean, 101 b/s, but no difference from sack is shown. It is 89 % to 115 % faster than tahoe"
    )
    assert tied.best is None
    # Of those that are beaten the first and the last. 79, 75 and 74 more than 25: 76 with a deviation of sqrt(7), so
    # (76 +- 4.303 sqrt(7 / 3)) / 25 = 3.04 +- 0.263.
    worse = {"tahoe": [50, 50, 50], "reno": [104, 100, 99], "sack": [100, 100, 100], "vegas": [25, 25, 25]}
    assert (
        ranked("flows.goodput_bps", worse)
        .told()
        .endswith("% faster than tahoe, and 278 % to 330 % faster than vegas")
    )
    two = {"reno": [104, 100, 99], "sack": [100, 100, 100]}
    assert ranked("flows.goodput_bps", two).told() == "no difference shown between reno and sack: -6 % to 8 %"
    equal = ranked("flows.goodput_bps", two | {"tahoe": [99, 103, 98]})
    assert equal.told().startswith(
        "no two values differ beyond their intervals. For the two best, no difference shown between reno"
    )
    # Of delays the smallest is best.
    delays = ranked("flows.mean_delay_s", {"a": [2, 2, 2], "b": [1, 1, 1.01]})
    assert delays.best == "b"
    assert delays.told() == "b is best with 1 s. That is 49.1 % to 50.6 % lower than with a"


def test_the_figure_of_pairs_has_their_intervals() -> None:
    values = {"tahoe": [50.0, 50, 50], "reno": [104.0, 100, 99], "sack": [100.0, 100, 100]}
    drawn, title = rows([ranked("flows.goodput_bps", values)])
    assert title == "difference, %"
    assert [row["pair"] for row in drawn] == ["reno against sack", "reno against tahoe", "sack against tahoe"]
    assert [row["shown"] for row in drawn] == ["no difference shown", "difference shown", "difference shown"]
    # 104, 100, 99 against 100: 1 % and 6.57 % to either side.
    assert [drawn[0][name] for name in ("mean", "low", "high")] == pytest.approx([1, -5.57, 7.57], abs=0.005)
    spec = charts.differences(drawn, title)
    assert [row["mean"] for row in spec["data"]["values"]] == [row["mean"] for row in drawn]
    assert spec["layer"][1]["encoding"]["x"]["title"] == "difference, %"
    assert "facet" not in spec
    apart = [row | {"panel": panel} for panel in ("10 ms", "20 ms") for row in drawn]
    assert charts.differences(apart, title)["facet"]["sort"] == ["10 ms", "20 ms"]
    # Of panels that fill their rows the last row has the axis; of three each has its own.
    assert "axis" not in charts.differences(apart, title)["resolve"]
    three = [*apart, *(row | {"panel": "30 ms"} for row in drawn)]
    assert charts.differences(three, title)["resolve"]["axis"] == {"x": "independent"}


def test_the_report_of_a_comparison_is_titled_and_answers(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("compare", scenario, "--vary", VARIANTS, "--replications", "5", "--out", "out")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h1>Goodput by transport variant</h1>" in page
    parts = ('class="answer"', 'id="flows-goodput_bps"', 'id="flows-goodput_bps-pairs"', "<nav ")
    order = [page.index(part) for part in parts]
    assert order == sorted(order)
    assert re.search(r'class="answer"><p>Goodput: \w+ (is best|has the highest mean)', page)


#: The first sentence of a page, and which pairs the figure of pairs draws as different.
DRAWN = """
(async () => {
  while (document.documentElement.dataset.drawn !== "yes") await new Promise(requestAnimationFrame);
  const figure = document.getElementById("flows-goodput_bps-pairs"), texts = (role) => [...figure.querySelectorAll(`${role} text`)].map((one) => one.textContent);
  const points = [...figure.querySelectorAll(".mark-symbol.role-mark path")].map((one) => one.getAttribute("fill"));
  return JSON.stringify({told: document.querySelector(".answer p").textContent, pairs: texts(".role-axis-label"), legend: texts(".role-legend-label"), points});
})()
"""


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(
    ("variants", "told", "shown"),
    [
        ("reno,newreno", "Goodput: no difference shown between newreno and reno: ", {"newreno against reno": False}),
        (
            "tahoe,reno,vegas",
            "Goodput: vegas is best with ",
            {"vegas against reno": True, "vegas against tahoe": True, "reno against tahoe": False},
        ),
    ],
)
def test_a_page_shows_which_pairs_differ_and_which_do_not(
    scenario: Path, tmp_path: Path, variants: str, told: str, shown: dict[str, bool]
) -> None:
    compared = package.compare(scenario, {"flow.download.transport.variant": variants}, replications=3)
    with browser() as opened:
        opened.open(compared.results.report(tmp_path / "page.html"), (1280, 900))
        drawn = json.loads(opened.said(DRAWN))
    assert drawn["told"].startswith(told)
    assert [pair for pair in drawn["pairs"] if " against " in pair] == list(shown)
    words = ["difference shown", "no difference shown"]
    # One look needs no legend: the first sentence says it.
    assert drawn["legend"] == (words if len(set(shown.values())) > 1 else [])
    colours = [charts.SHOWN[words[0] if different else words[1]] for different in shown.values()]
    assert drawn["points"] == colours


def test_types_of_dect_terminals_are_compared_each_with_itself() -> None:
    over = "dect.air.load_factor"
    target = Target.parse("dect_states.share")
    rows = polars.DataFrame(
        {
            "name": ["air"] * 4,
            "type": ["P32", "User"] * 2,
            "state": ["Active_Locked"] * 4,
            "replication": [0, 0, 1, 1],
            "share": [0.9, 0.5, 0.8, 0.4],
        }
    )
    points = [PointRows(PointEntry({over: 1}, {over: 1}, "one", 2), 2, rows)]
    found = samples(Question(over, ("1",), "1", (target,)), target, points)
    assert [(sample.where["type"], list(sample.values)) for sample in found] == [
        ("P32", [0.9, 0.8]),
        ("User", [0.5, 0.4]),
    ]


def test_of_handovers_the_mean_of_a_run_is_compared() -> None:
    # Two replications; in the second one the walk with a hysteresis has a single handover. One has no value.
    def point(name: str, rows: list[tuple[int, str, float | None]]) -> PointRows:
        columns = {"node": "walker", "from_cell": "west", "to_cell": "east", "scheme": "bridged"}
        table = polars.DataFrame(
            [columns | {"replication": n, "to_cell": to, "interruption_s": value} for n, to, value in rows],
            schema_overrides={"interruption_s": polars.Float64},
        )
        return PointRows(PointEntry({OVER: name}, {OVER: name}, name, 2), 2, table)

    target = Target.parse("handovers.interruption_s")
    points = [
        point("none", [(0, "east", 1.0), (0, "east", 2.0), (0, "north", 9.0), (1, "east", 4.0)]),
        point("some", [(0, "east", 2.5), (0, "east", None), (1, "east", 5.0)]),
    ]
    question = Question(OVER, ("none", "some"), "none", (target,))
    east, *others = samples(question, target, points)
    assert (east.where["to_cell"], east.values) == ("east", [1.5, 4.0])
    (difference,) = [d for d in differences(question, target, [east, *others]) if d.where["to_cell"] == "east"]
    # 2.5 - 1.5 and 5.0 - 4.0.
    assert (difference.absolute.mean, difference.replications) == (1.0, 2)


def test_words_follow_the_metric() -> None:
    assert (
        said("flows.completion_time_s", [10, 10, 10], [10.4, 10.5, 10.6])
        == "completion time: 2.5 % to 7.5 % higher with sack than with reno"
    )
    # A share of 0.10 against 0.14, 0.15, 0.16: points, not per cent of 10 %.
    assert (
        said("flows.loss_ratio", [0.1, 0.1, 0.1], [0.14, 0.15, 0.16])
        == "loss ratio: 2.5 to 7.5 percentage points higher with sack than with reno"
    )
    assert said("flows.goodput_bps", [1, 2, 3], [1, 2, 3]) == "sack and reno are equal in every replication"
    assert said("flows.goodput_bps", [100, 100], [110, 110]) == "sack is 10.0 % faster than reno"


def test_beside_nothing_a_difference_is_told_in_its_unit() -> None:
    # t(2) x 1 / sqrt(3) = 2.48 around 3: beside a mean of 0 there are no per cents.
    assert said("flows.jitter_s", [0, 0, 0], [2, 3, 4]) == "jitter: 0.5 to 5.5 s higher with sack than with reno"
    # Reno's mean is 4 +- 9.9, which may be 0; the difference is 5 +- 9.9.
    assert said("flows.timeouts", [0, 4, 8], [9, 9, 9]).endswith("between sack and reno: -5 to 15")


def test_a_missing_value_leaves_its_pair_out_and_is_said() -> None:
    text = said("flows.completion_time_s", [10, 10, None, 10], [10.4, 10.5, 10.5, 10.6])
    assert text.endswith("(in 3 of 4 replications; the others lack a value)")
    assert "2.5 % to 7.5 %" in text
    assert "cannot be compared: one replication" in said("flows.completion_time_s", [10, None], [10, 11])
    assert "cannot be compared: no replication" in said("flows.completion_time_s", [10, None], [None, 11])


def test_each_value_meets_the_baseline_and_the_one_before_it() -> None:
    values = {name: [1.0, 2.0] for name in ("tahoe", "reno", "newreno", "sack")}
    pairs = [(d.value.label, d.against.label) for d in compared("flows.goodput_bps", values, baseline="reno")]
    assert pairs == [("tahoe", "reno"), ("newreno", "reno"), ("sack", "reno"), ("sack", "newreno")]


@pytest.mark.parametrize(
    ("metric", "sack", "verdict"),
    [
        ("flows.goodput_bps", [12.0, 12.1], "better"),
        ("flows.mean_delay_s", [12.0, 12.1], "worse"),
        ("flows.segments_sent", [12.0, 12.1], "higher"),
        ("flows.segments_sent", [8.0, 7.9], "lower"),
        ("flows.goodput_bps", [12.0, 15.0], "no difference shown"),
        ("flows.goodput_bps", [10.0, 10.0], "equal"),
        ("flows.goodput_bps", [10.0, None], "open"),
    ],
)
def test_the_verdict_knows_which_value_is_better(metric: str, sack: list[float | None], verdict: str) -> None:
    # Of two pairs t is 12.7 and the half-width 12.7 x half of their distance: 0.64 for 0.1, 19 for 3.
    (difference,) = compared(metric, {"reno": [10, 10], "sack": sack})
    assert difference.verdict == verdict


def test_pairs_that_differ_by_the_same_tell_no_interval() -> None:
    """Counts that vary, all by two: the spread of the differences is 0, which is no knowledge of it."""
    (difference,) = compared("flows.timeouts", {"reno": [9, 5, 7], "sack": [7, 3, 5]})
    assert difference.verdict == "open"
    assert (
        difference.sentence()
        == "timeouts: 2 lower with sack than with reno in each of 3 replications, too few to tell an interval"
    )
    # Where nothing varies at all, the difference is what it is.
    (fixed,) = compared("flows.timeouts", {"reno": [9, 9, 9], "sack": [7, 7, 7]})
    assert fixed.verdict != "open"


def test_ends_of_an_interval_have_two_digits_of_its_width() -> None:
    assert rounded(4.123, 6.345) == ("4.1", "6.3")
    assert rounded(12.3, 45.6) == ("12", "46")
    assert rounded(-0.0004, 0.0321) == ("-0.0004", "0.0321")
    # An end that is not 0 does not read as 0.
    assert rounded(0.004, 6.3) == ("0.004", "6.300")
    assert rounded(5, 5) == ("5.00", "5.00")


def test_differences_are_those_of_single_runs(roamsim: Command, scenario: Path) -> None:
    answer = json.loads(roamsim("compare", scenario, "--vary", VARIANTS, "--replications", "4", "--json").stdout)
    goodput = {}
    for variant in ("tahoe", "newreno", "sack"):
        settings = {"flow.download.transport.variant": variant}
        goodput[variant] = package.run(scenario, set=settings, replications=4).flows["goodput_bps"].to_list()
    assert [(d["value"], d["against"]) for d in answer["differences"]] == [
        ("newreno", "tahoe"), ("sack", "tahoe"), ("sack", "newreno")
    ]  # fmt: skip
    for found in answer["differences"]:
        paired = statistics.paired_difference(goodput[found["against"]], goodput[found["value"]])
        assert found["pairs"] == 4
        assert found["difference"] == pytest.approx(paired.mean)
        assert found["difference_low"] == pytest.approx(paired.low)
        share = found["difference"] / (sum(goodput[found["against"]]) / 4)
        assert found["relative"] == pytest.approx(share)
    assert [m["mean"] for m in answer["means"]] == pytest.approx([sum(v) / 4 for v in goodput.values()])
    assert len(answer["sentences"]) == 3
    assert "Only 4 pairs" in answer["notes"][0]


def test_the_summary_says_who_is_faster(roamsim: Command, scenario: Path) -> None:
    done = roamsim("compare", scenario, "--vary", "flow.download.transport.variant=tahoe,sack")
    assert "10 replications" in done.stdout
    assert "Mb/s" in done.stdout
    assert "than tahoe" in done.stdout or "between sack and tahoe" in done.stdout
    assert "Only" not in done.stdout
    rows = roamsim("compare", scenario, "--vary", "flow.download.transport.variant=tahoe,sack", "--csv").stdout
    assert rows.startswith("metric,name,direction,value,against,pairs,difference,")
    assert len(rows.splitlines()) == 2


def test_values_are_compared_at_each_combination_of_the_others(scenario: Path) -> None:
    answer = package.compare(
        scenario,
        {"flow.download.transport.variant": ["newreno", "sack"], "link.path.delay": ["10ms", "80ms"]},
        metric=["flows.goodput_bps", "links.utilisation", "drops.packets"],
        replications=3,
    )
    flows = answer.differences.filter(metric="flows.goodput_bps")
    assert flows["link.path.delay"].to_list() == ["10ms", "80ms"]
    assert {sentence.split(":")[0] for sentence in answer.sentences[:2]} == {"delay 10 ms", "delay 80 ms"}
    # Two directions of the link, two delays.
    assert answer.differences.filter(metric="links.utilisation").height == 4
    assert answer.means["samples"].unique().to_list() == [3]


def test_a_place_without_drops_has_none_of_them(scenario: Path) -> None:
    settings = {"link.path.loss.probability": 0, "flow.download.application.stop": "3s"}
    values = {"link.path.queue.packets": [5, 1000]}
    answer = package.compare(scenario, values, set=settings, metric="drops.packets", replications=2)
    (row,) = answer.differences.filter(reason="queue full", name="path", node="server").to_dicts()
    assert (row["value"], row["against"]) == ("queue length 1000 packets", "queue length 5 packets")
    means = answer.means.filter(reason="queue full", name="path", node="server")
    assert means["mean"].to_list()[1] == 0
    assert row["difference"] == -means["mean"].to_list()[0]


def test_what_does_not_vary_between_replications_is_said(scenario: Path) -> None:
    answer = package.compare(
        scenario,
        {"flow.download.transport.variant": "reno,newreno"},
        set={"link.path.loss.probability": 0},
        replications=2,
        baseline="newreno",
    )
    assert answer.notes == [
        "All replications are identical: nothing random happens. One is enough; intervals mean nothing."
    ]
    assert "Only" not in str(answer)


def test_a_comparison_goes_on_and_grows(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    first = ["compare", scenario, "--vary", "flow.download.transport.variant=tahoe,sack", "--out", "out"]
    roamsim(*first, "--replications", "3")
    wider = roamsim("compare", scenario, "--vary", VARIANTS, "--replications", "3", "--out", "out", "--json")
    assert Parts(tmp_path / "out").rows("flows").height == 9
    alone = roamsim("compare", scenario, "--vary", VARIANTS, "--replications", "3", "--json")
    assert json.loads(wider.stdout) == json.loads(alone.stdout)
    # It is a sweep like any other.
    counted = roamsim("query", "out", "select count(*) n from flows", "--csv").stdout
    assert counted == "n\n9\n"
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for sentence in json.loads(wider.stdout)["sentences"]:
        assert sentence in page


def test_an_unfinished_comparison_counts_what_is_there(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    vary = ["--vary", "flow.download.transport.variant=tahoe,sack", "--metric", "drops.packets"]
    roamsim("compare", scenario, *vary, "--replications", "2", "--out", "out")
    (tmp_path / "early").mkdir()
    shutil.copytree(tmp_path / "out" / "parts", tmp_path / "early" / "parts")
    roamsim("compare", scenario, *vary, "--replications", "4", "--out", "out")
    # As if it had been killed before the last two replications of one value.
    later, key = Parts(tmp_path / "out"), package.open_results(tmp_path / "out").manifest.points[0].fingerprint
    key = run_key(key, 1)
    there = [
        (
            key,
            number,
            {
                name: simulated(later.rows(name).filter(key=key, replication=number).drop("key", "replication"))
                for name in later.names()
            },
        )
        for number in (2, 3)
    ]
    shutil.rmtree(tmp_path / "out" / "parts")
    (tmp_path / "early" / "parts").rename(tmp_path / "out" / "parts")
    Parts(tmp_path / "out").add(there)
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Only 2 pairs" in page
    assert "6 of 8 runs are finished" in page
    shutil.rmtree(tmp_path / "out" / "parts")
    roamsim("report", "out")
    assert ">Differences<" not in (tmp_path / "out" / "report.html").read_text()


def test_traces_of_first_replications_are_kept_and_change_nothing(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    plain = roamsim("compare", scenario, "--vary", VARIANTS, "--replications", "2", "--json").stdout
    traced = ["compare", scenario, "--vary", VARIANTS, "--replications", "2", "--out", "out", "--json"]
    assert roamsim(*traced, "--trace", "cwnd,segments").stdout == plain
    rows = "select distinct point, replication from segments order by all"
    assert roamsim("query", "out", rows, "--csv").stdout == "point,replication\n0,0\n1,0\n2,0\n"
    assert roamsim("query", "out", "select count(*) n from flows", "--csv").stdout == "n\n6\n"
    for what in ("segments", "cwnd"):
        roamsim("plot", "out", "--what", what, "--from", "1s", "--to", "4s")
        drawn = (tmp_path / "out" / f"{what}.svg").read_text()
        for title in ("tahoe", "newreno", "sack"):
            assert f">{title}<" in drawn, (what, title)
    assert "sent again" in (tmp_path / "out" / "segments.svg").read_text()
    # A single run has the same events.
    one = package.run(scenario, set={"flow.download.transport.variant": "sack"}, trace="segments").segments
    kept = package.open_results(tmp_path / "out").tables["segments"].filter(point=2)
    assert kept.select("time_s", "event", "start_bytes").equals(one.select("time_s", "event", "start_bytes"))


def test_precision_narrows_every_difference(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    asked = ["compare", scenario, "--vary", VARIANTS, "--precision", "12%", "--json"]
    fresh = json.loads(roamsim(*asked).stdout)
    widths = [(d["relative_high"] - d["relative_low"]) / 2 for d in fresh["differences"]]
    assert all(width <= 0.12 for width in widths), widths
    # Five replications, with which it begins, would not do.
    assert min(d["pairs"] for d in fresh["differences"]) > 5
    # What a folder holds already does not change where it stops, and jobs do not either.
    roamsim("compare", scenario, "--vary", VARIANTS, "--replications", "2", "--out", "out")
    assert json.loads(roamsim(*asked, "--out", "out", "--jobs", "1").stdout) == fresh
    unmet = roamsim("compare", scenario, "--vary", VARIANTS, "--precision", "0.1%", "--max-replications", "6")
    assert "not as precise as asked for after 6 replications: sack and newreno\n" in unmet.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--vary", "flow.download.transport.variant=sack"], "has one value only, sack"),
        (["--vary", VARIANTS, "--baseline", "vegas"], "'vegas' is not among the values"),
        (["--vary", VARIANTS, "--metric", "flows.godput_bps"], "did you mean flows.goodput_bps"),
        (["--vary", VARIANTS, "--metric", "goodput_bps"], "TABLE.COLUMN"),
        (["--vary", VARIANTS, "--metric", "flows.upload.goodput_bps"], "there are 'download'"),
        (
            ["--vary", VARIANTS, "--metric", "samples.value"],
            "what can be compared is in the tables flows, signalling, links",
        ),
        (["--vary", VARIANTS, "--metric", "flows.variant"], "is not a number"),
        (["--vary", VARIANTS, "--metric", "flows.completion_time_s"], "has no value in any run"),
        (["--vary", VARIANTS, "--replications", "1"], "an interval needs 2 or more replications"),
        (["--vary", VARIANTS, "--replications", "0"], "needs 2 or more"),
        (["--vary", VARIANTS, "--replications", "2000000"], "is more than 1000000"),
        (["--vary", VARIANTS, "--precision", "much"], "a share, as in 1% or 0.01"),
        (["--vary", VARIANTS, "--precision", "1%", "--replications", "4"], "not both"),
        (["--vary", VARIANTS, "--max-replications", "9"], "--precision"),
        (["--vary", VARIANTS, "--trace", "cwnd"], "add --out DIR"),
        (["--vary", VARIANTS, "--json", "--csv"], "choose one"),
    ],
)
def test_what_cannot_be_compared(roamsim: Command, scenario: Path, arguments: list[str], complaint: str) -> None:
    done = roamsim("compare", scenario, *arguments, code=2)
    assert complaint in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_scenario_without_the_flow_is_refused_with_its_flows(roamsim: Command, scenario: Path) -> None:
    error = roamsim("compare", scenario, "--vary", "flow.upload.transport.variant=reno,sack", code=3).stderr
    assert "`download`" in error


def test_the_metric_follows_the_application(tmp_path: Path) -> None:
    transfer = SCENARIO.replace('kind = "bulk"', 'kind = "transfer", size = "100kB"')
    file = tmp_path / "transfer.toml"
    file.write_text(transfer)
    vary = {"flow.download.transport.variant": "reno,sack"}
    assert package.compare(file, vary, replications=2).means["metric"].unique().to_list() == [
        "flows.completion_time_s"
    ]
    vary = {"signalling.indications.acknowledgement.timeout": "200ms,400ms"}
    only = SCENARIO[: SCENARIO.index("[[flow]]")] + SCENARIO[SCENARIO.index("[[signalling]]") :]
    assert package.compare(only, vary, replications=2).means["metric"].unique().to_list() == [
        "signalling.mean_delay_s"
    ]


def test_standard_input_is_read_once(roamsim: Command) -> None:
    done = roamsim("compare", "-", "--vary", VARIANTS, "--replications", "2", "--csv", stdin=SCENARIO)
    assert len(done.stdout.splitlines()) == 4
