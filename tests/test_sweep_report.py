"""Reports of sweeps: what stands first, what it says, and what its figures draw."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import Command
from roamsim.estimates.curves import Curves, curves
from roamsim.estimates.findings import answer, ordered, variation
from roamsim.estimates.summaries import worded
from roamsim.pictures import charts
from roamsim.pictures.charts import Look, Palette, chart
from roamsim.storing.manifests import Manifest, PointEntry
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target, numeric
from roamsim.tables.words import digits, in_words, metric_words, path_words, scale, value_label, varied_unit

LOSS = "link.path.loss.probability"


def of_means(
    points: list[tuple[Any, str, float, float]], metric: str = "flows.goodput_bps", row: str = "download"
) -> Curves:
    """Curves of made-up points: x, group, mean, half-width."""
    rows = [
        {"x": x, "row": row, "group": group, "mean": mean, "low": mean - half, "high": mean + half}
        for x, group, mean, half in points
    ]
    frame = polars.DataFrame(rows).with_columns(samples=polars.lit(5), missing=polars.lit(0.0))
    return Curves(Target.parse(metric), frame, "loss", "", frame.schema["x"].is_numeric(), "variant")


def page_data(page: str) -> dict[str, Any]:
    """The specifications of a page's figures."""
    charts = re.search(r'id="charts">(.*?)</script>', page, re.DOTALL)
    assert charts is not None
    return json.loads(charts[1])  # type: ignore[no-any-return]


def test_metrics_and_paths_are_called_by_words() -> None:
    words = {
        "flows.goodput_bps": "goodput",
        "flows.mean_delay_s": "mean delay",
        "flows.p95_delay_s": "95th percentile of delay",
        "links.mean_queue_packets": "mean queue",
        "signalling.tcp_segments_per_message": "TCP segments per message",
        "transfers.median_completion_time_s": "median completion time",
    }
    for name, shown in words.items():
        assert metric_words(numeric(*name.split("."))) == shown
    tree = {"link": [{"name": "path"}], "flow": [{"name": "my.flow"}], "scenario": {}}
    assert path_words("link.path.loss.probability", tree) == "loss probability of path"
    assert path_words('flow."my.flow".transport.min_rto', tree) == "transport min RTO of my.flow"
    assert path_words("scenario.duration", tree) == "duration"
    assert path_words("link.path.queue.packets", tree) == "queue length of path"
    assert path_words("link.path.queue.bytes", tree) == "queue length of path"
    # By its number; one whose name is a number is meant by its name, and a number of none stays as it is.
    assert path_words("link.0.delay", {"link": [{"name": "path"}]}) == "delay of path"
    assert path_words("link.0.delay", {"link": [{"name": "1"}, {"name": "0"}]}) == "delay of 0"
    assert path_words("link.7.delay", {"link": [{"name": "path"}]}) == "delay of 7"


def test_varied_values_are_told_with_their_quantity() -> None:
    assert value_label("wifi.cell.rts_threshold", "500B", ["wifi.cell.rts_threshold"]) == "RTS threshold 500 B"
    assert value_label("link.path.queue.packets", 60, ["link.path.queue.packets"]) == "queue length 60 packets"
    assert value_label("wifi.cell.shadowing_deviation_db", 4, []) == "shadowing deviation 4 dB"
    # Names tell by themselves what they are of.
    assert value_label("flow.call.transport.variant", "sack", []) == "sack"
    # Two paths that read alike keep the entries that they belong to, or all of themselves.
    alike = ["link.a.delay", "link.b.delay"]
    assert [value_label(path, "10ms", alike) for path in alike] == ["delay of a 10 ms", "delay of b 10 ms"]
    alike = ["link.a.delay", "cell.a.delay"]
    assert [value_label(path, "10ms", alike) for path in alike] == ["link.a.delay 10 ms", "cell.a.delay 10 ms"]


def test_values_have_the_unit_that_suits_them() -> None:
    assert (scale("s", [0.002, 0.9]).unit, scale("s", [0.002, 0.9996]).unit) == ("ms", "s")
    assert scale("bit/s", [1.5e6, None]).of(1.5e6) == 1.5
    assert in_words(0.0456, numeric("flows", "mean_delay_s")) == "45.6 ms"
    assert in_words(0.925, numeric("signalling", "success_rate")) == "92.5 %"
    assert [digits(value) for value in (0.00012345, 0.5, 12.345, 1234.5, 123456, 0)] == [
        "0.000123", "0.5", "12.3", "1234", "123\u202f456", "0",
    ]  # fmt: skip


def test_what_varies_most_beyond_its_intervals_is_first() -> None:
    # Goodput halves; the delay's means are further apart, but within their intervals.
    rate = of_means([(0, "", 2e6, 1e3), (0.1, "", 1e6, 1e3)])
    delay = of_means([(0, "", 0.1, 0.2), (0.1, "", 0.4, 0.3)], "flows.mean_delay_s")
    assert (variation(rate), variation(delay)) == (pytest.approx(0.499), 0.0)
    # What is neither good nor bad stands behind what is, however much it varies.
    counted = of_means([(0, "", 0, 0), (0.1, "", 99, 0)], "flows.retransmissions")
    assert ordered([delay, counted, rate]) == [rate, delay, counted]
    # What replications were added for stands before all.
    assert ordered([rate, delay], Target.parse("flows.download.mean_delay_s")) == [delay, rate]


def test_the_answer_says_where_a_metric_goes_and_who_is_best() -> None:
    falls = [(x, group, (3 - 10 * x) * factor, 0.01) for x in (0.0, 0.1, 0.2) for group, factor in
             (("reno", 1e6), ("sack", 1.2e6))]  # fmt: skip
    assert answer(of_means(falls)) == (
        "Goodput of download falls from 3 to 1 Mb/s with reno and from 3.6 to 1.2 Mb/s with sack as loss goes from 0 to 0.2. "
        "sack has the highest mean at all 3 values."
    )
    # 3, 2, 1 Mb/s and 3.6, 2.4, 1.2 Mb/s are at most 0.6 Mb/s apart, and their half-widths add up to 0.8.
    tied = [(x, group, mean, 0.4e6) for x, group, mean, _ in falls]
    assert answer(of_means(tied)).endswith(f" No {of_means(tied).group_words} is best beyond the intervals.")
    # Of more groups the ranges; the words of several things have no s.
    many = [(x, name, 10 * (1 + x) * size, 0.01) for x in (0, 1, 2) for size, name in enumerate("abcd", 1)]
    assert (
        answer(of_means(many, "flows.timeouts"))
        == "Timeouts of download rise from 10–40 to 30–120 as loss goes from 0 to 2."
    )
    assert "1 to 3 b/s. No difference beyond the intervals is shown." in answer(
        of_means([(0, "", 1, 5), (1, "", 2, 5), (2, "", 3, 5)])
    )
    peaked = [(0, "", 1e6, 1.0), (1, "", 5e6, 1.0), (2, "", 2e6, 1.0)]
    assert answer(of_means(peaked)).endswith("The largest, 5 Mb/s, is at 1.")
    names = [("reno", "", 1e6, 1e5), ("sack", "", 2e6, 1e5)]
    assert answer(of_means(names)) == (
        "Goodput of download: highest with sack, 2 Mb/s (1.9 to 2.1); lowest with reno, 1 Mb/s (0.9 to 1.1)."
    )
    even = [("reno", "", 1e6, 1.0), ("sack", "", 2e6, 1e5)]
    assert answer(of_means(even)).endswith("lowest with reno, 1 Mb/s.")


def swept_shares(shares: list[tuple[int, int]]) -> Results:
    """A sweep over a loss probability with so many successes of so many messages in each replication."""
    points = [0.0, 0.1]
    frame = polars.DataFrame(
        [
            {"point": number, LOSS: loss, "replication": run, "name": "pings", "successes": good, "messages": all_,
             "success_rate": good / all_, "given_up": all_ - good}
            for number, loss in enumerate(points)
            for run, (good, all_) in enumerate(shares)
        ]
    )  # fmt: skip
    links = frame.select("point", LOSS, "replication", name=polars.lit("path"))
    entries = [PointEntry({LOSS: str(p)}, {LOSS: p}, str(p), len(shares)) for p in points]
    manifest = Manifest("sweep", "s", "", {"scenario": {}}, "0", 1, [], vary={LOSS: ["0", "0.1"]}, points=entries)
    return Results(Path(), manifest, {"signalling": frame, "links": links})


def test_no_interval_leaves_where_a_share_can_be() -> None:
    # Student's t of 0.9, 1, 1 reaches 1.11.
    results = swept_shares([(9, 10), (10, 10), (10, 10)])
    drawn = curves(results, Target.parse("signalling.success_rate"))
    assert results.estimate("signalling", "success_rate")["high"][0] > 1
    assert drawn.frame["mean"].to_list() == [pytest.approx(29 / 30)] * 2
    assert all(0 < low < 29 / 30 < high <= 1 for low, high in drawn.frame.select("low", "high").rows())
    # Where all succeed that is not certain for ever.
    certain = curves(swept_shares([(10, 10)] * 3), Target.parse("signalling.success_rate")).frame
    assert certain["low"][0] < 1 == certain["high"][0]


def test_lines_are_drawn_of_numbers_and_dots_of_names_and_of_few_points() -> None:
    line = chart(of_means([(x / 10, "", 1e6 * (x + 1), 1e5) for x in range(5)]))
    assert [layer["mark"]["type"] for layer in line["layer"]] == ["area", "line", "point", "point"]
    encoding = line["layer"][1]["encoding"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("loss", "goodput, Mb/s")
    assert [row["mean"] for row in line["data"]["values"]] == [1, 2, 3, 4, 5]
    dots = chart(of_means([("reno", "", 1.0, 0.1), ("sack", "", 2.0, 0.1)]))
    assert [layer["mark"]["type"] for layer in dots["layer"]] == ["rule", "point", "point"]
    assert dots["height"] < 100


def test_numbers_stand_on_the_horizontal_axis_however_few_they_are() -> None:
    for count, marks in ((2, ["rule", "point", "point"]), (3, ["rule", "line", "point", "point"])):
        few = chart(of_means([(x / 10, "", 1.0 + x, 0.1) for x in range(count)]))
        assert [layer["mark"]["type"] for layer in few["layer"]] == marks
        for layer in few["layer"]:
            assert (layer["encoding"]["x"]["field"], layer["encoding"]["x"]["title"]) == ("x", "loss")
            assert layer["encoding"]["y"]["title"] == "goodput, b/s"


def test_intervals_of_many_lines_are_no_bands() -> None:
    def intervals(series: int) -> list[str]:
        points = [(x, f"s{n}", 1.0 + n, 0.1) for x in range(5) for n in range(series)]
        marks = [layer["mark"]["type"] for layer in chart(of_means(points))["layer"]]
        return [mark for mark in marks if mark in ("area", "rule")]

    assert (intervals(6), intervals(7), intervals(24), intervals(25)) == (["area"], ["rule"], ["rule"], [])


def test_counts_have_whole_ticks() -> None:
    def steps(metric: str, largest: float) -> list[int | None]:
        numbers = chart(of_means([(x, "", largest * x / 4, 0.1) for x in range(5)], metric))["layer"][1]
        names = chart(of_means([(name, "", largest, 0.1) for name in ("reno", "sack")], metric))["layer"][0]
        axes = (numbers["encoding"]["y"]["axis"], names["encoding"]["x"]["axis"])
        return [axis.get("tickMinStep") for axis in axes]

    assert steps("flows.timeouts", 3.0) == steps("flows.retransmissions", 4.0) == [1, 1]
    # Below two an axis of whole numbers would have one tick; a mean is no count.
    assert steps("flows.timeouts", 0.5) == [None, None]
    for measured in ("links.mean_queue_packets", "flows.goodput_bps", "flows.loss_ratio"):
        assert steps(measured, 4.0) == [None, None]


def test_an_axis_is_logarithmic_where_the_values_ask_for_it() -> None:
    def scales(points: list[tuple[Any, str, float, float]]) -> list[Any]:
        encoding = chart(of_means(points))["layer"][1]["encoding"]
        return [encoding[axis]["scale"].get("type", "linear") for axis in "xy"]

    assert scales([(x, "", 1e6 - x, 0.0) for x in (1, 10, 100, 1000)]) == ["log", "linear"]
    assert scales([(x, "", 10.0**x, 0.0) for x in (1, 2, 3, 4)]) == ["linear", "log"]
    # An interval down to 0 has no place on it.
    assert scales([(x, "", 10.0**x, 10.0**x) for x in (1, 2, 3, 4)]) == ["linear", "linear"]


def test_a_series_has_one_colour_in_all_figures_and_a_row_its_panel() -> None:
    palette = Palette()
    groups = [(x, group, 1.0 + x, 0.0) for x in range(4) for group in ("reno", "sack")]
    first = chart(of_means(groups), palette)["layer"][1]["encoding"]["color"]["scale"]
    other = chart(of_means([point for point in groups if point[1] == "sack"] + [(0, "vegas", 1.0, 0.0)]), palette)
    second = other["layer"][1]["encoding"]["color"]["scale"]
    colours = dict(zip(first["domain"], first["range"], strict=True))
    assert dict(zip(second["domain"], second["range"], strict=True))["sack"] == colours["sack"]
    assert len({*colours.values(), *second["range"]}) == 3
    one = of_means(groups)
    both = polars.concat([one.frame, one.frame.with_columns(row=polars.lit("upload"))])
    panels = chart(Curves(one.target, both, "loss", "", True, "variant"))
    assert panels["facet"]["sort"] == ["download", "upload"]
    assert {row["series"] for row in panels["data"]["values"]} == {"reno", "sack"}


def test_no_two_colours_of_series_are_much_alike() -> None:
    def apart(one: str, other: str) -> float:
        """Distance of colours as `redmean` has it: 0 to 765."""
        (r, g, b), (s, h, c) = ([int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (one, other))
        red = (r + s) / 2
        weighted = (2 + red / 256) * (r - s) ** 2 + 4 * (g - h) ** 2 + (2 + (255 - red) / 256) * (b - c) ** 2
        return float(weighted**0.5)

    assert min(apart(*pair) for pair in combinations(charts.COLOURS, 2)) > 80


def test_series_of_more_than_there_are_colours_differ_in_shape_and_dashes() -> None:
    def known_by(series: int) -> list[tuple[Any, ...]]:
        layers = chart(of_means([(x, f"s{n}", 1.0, 0.0) for x in range(4) for n in range(series)]))["layer"]
        line, point, *_ = (layer for layer in layers if layer["mark"]["type"] in ("line", "point"))
        scales = (line["encoding"].get("strokeDash"), point["encoding"].get("shape"), point["encoding"]["color"])
        return list(zip(*(scale["scale"]["range"] for scale in scales if scale), strict=True))

    assert len(known_by(12)[0]) == 1
    many = known_by(22)
    assert len({colour for *_, colour in many}) == 12
    assert len({(shape, colour) for _, shape, colour in many}) == 22
    assert len({(tuple(dash), colour) for dash, _, colour in many}) == 22


def test_rows_that_are_no_series_look_alike_however_many_there_are() -> None:
    flows = chart(of_means([(f"flow {n}", f"flow {n}", 1.0 + n, 0.0) for n in range(14)]))
    assert not any("shape" in layer["encoding"] for layer in flows["layer"])


def test_two_measured_values_are_not_joined_and_stand_beside_each_other() -> None:
    def marks(values: int) -> list[tuple[str, Any]]:
        rows = [
            {"panel": "", "series": name, "x": x, "mean": 1.0, "low": 0.5, "high": 1.5}
            for name in ("ours", "theirs", "published")
            for x in range(values)
        ]
        layers = charts.curves(rows, Look("load", "goodput"), levels=["published"])["layer"]
        return [
            (
                layer["mark"]["type"],
                [test["filter"] for test in layer["transform"] if isinstance(test["filter"], str)],
            )
            for layer in layers
            if layer["mark"].get("opacity") != 0
        ]

    # What was published is known between its ends, and was not measured there.
    assert marks(3) == [
        ("area", ["datum.low !== null && datum.level"]),
        ("rule", ["datum.low !== null && !datum.level"]),
        ("line", []),
        ("point", ["datum.missing === 0", "!datum.level"]),
    ]
    assert marks(2) == [
        ("area", ["datum.low !== null && datum.level"]),
        ("line", ["datum.level"]),
        *(
            (mark, [test, f'datum.series === "{name}"'])
            for name in ("ours", "theirs")
            for mark, test in (("rule", "datum.low !== null"), ("point", "datum.missing === 0"))
        ),
    ]


def test_the_first_screen_of_a_sweep_is_its_answer(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim(
        "sweep", scenario, "--vary", f"{LOSS}=0:0.1:0.02", "--vary", "flow.download.transport.variant=reno,sack",
        "--replications", "3", "--out", "out",
    )  # fmt: skip
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    # There is one link, and one flow.
    assert "<h1>Goodput of download by loss probability and transport variant</h1>" in page
    assert "<figcaption>Goodput of download by loss probability of path and transport variant<" in page
    order = [
        page.index(mark) for mark in ('class="answer"', 'class="chart"', 'class="contents"', 'class="parameters"')
    ]
    assert order == sorted(order)
    assert "Goodput of download falls from" in page
    first, *_ = page_data(page)
    assert first == "flows-goodput_bps"
    # A figure of what does not change says nothing.
    for spec in page_data(page).values():
        assert len({row["mean"] for row in spec["data"]["values"]}) > 1


def test_a_table_has_what_was_varied_once_and_in_words() -> None:
    frame = polars.DataFrame(
        {
            "link.path.delay": ["10ms", "20ms"], "link.path.delay_s": [0.01, 0.02], "flow.a.loss_ratio": [0.1, 0.2],
            "name": ["air", "air"], "data_s": [1.0, 2.0],
        }
    )  # fmt: skip
    assert list(worded("wifi", frame)[0]) == ["path delay", "a loss ratio", "name", "data, s"]


def test_a_unit_in_the_name_of_a_key_stands_behind_its_words() -> None:
    scenario = {"wifi": [{"name": "air"}], "link": [{"name": "a"}, {"name": "b"}]}
    path = "wifi.air.radio.shadowing_deviation_db"
    assert path_words(path, scenario) == "radio shadowing deviation of air"
    assert varied_unit(path, path) == "dB"
    # A title leaves out the name of what there is one of.
    assert path_words(path, scenario, brief=True) == "radio shadowing deviation"
    assert path_words("link.a.delay", scenario, brief=True) == "delay of a"
