"""Figures over time: what they hold, what is kept of long recordings, and on which part they open."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import ROOT
from roamsim.pages.page import Report
from roamsim.pictures import recorded, timed, timesequence
from roamsim.pictures.timeseries import Panel
from test_page_in_a_browser import looked_at
from test_report import open_in_browser

#: What a browser reads and shows of the figure "big" as it is zoomed into.
ZOOM = """
const place = document.querySelector('[data-chart="big"]'), pause = () => new Promise((resume) => setTimeout(resume, 500));
const press = (label) => [...place.closest("figure").querySelectorAll("button")].find((one) => one.textContent === label).click();
const ticks = () => [...place.querySelectorAll(".role-axis .role-axis-label text")].map((text) => text.textContent);
const points = () => place.querySelector(".mark-line path").getAttribute("d").split("L").length;
const box = () => place.querySelector("svg.marks").getBoundingClientRect();
found.whole = {points: points()};
place.firstElementChild.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: box().left + 300, clientY: box().top + 60}));
await pause();
found.read = document.querySelector("#vg-tooltip-element").innerText;
for (let n = 0; n < 12; n++) { press("Closer"); await pause(); }
found.closer = {points: points()};
press("Whole");
await pause();
found.again = {points: points()};
"""

#: What a browser reads in the second panel of the figure "both", with all of its lines and with one of them alone; and
#: how far it shows the time after it was zoomed and clicked twice.
BOTH = """
const place = document.querySelector('[data-chart="both"]'), pause = () => new Promise((resume) => setTimeout(resume, 500));
const press = (label) => [...place.closest("figure").querySelectorAll("button")].find((one) => one.textContent === label).click();
const svg = () => place.querySelector("svg.marks"), points = () => place.querySelector(".mark-line path").getAttribute("d").split("L").length;
const at = (type, kind, x, y, target = svg()) => target.dispatchEvent(new kind(type, {bubbles: true, clientX: x, clientY: y, view: window}));
const panel = () => [...place.querySelectorAll(".mark-line path")].at(-1).getBoundingClientRect();
const read = async () => {
  at("pointermove", PointerEvent, panel().left + 300, panel().top + 20);
  await pause();
  const cells = (kind) => [...document.querySelectorAll(`#vg-tooltip-element .${kind}`)].map((cell) => cell.textContent.replace("\u2060", ""));
  return {names: cells("key"), values: cells("value")};
};
found.all = await read();
found.whole = points();
for (let n = 0; n < 4; n++) { press("Closer"); await pause(); }
found.closer = points();
for (const type of ["mousedown", "mouseup", "click", "dblclick"]) at(type, MouseEvent, panel().left + 300, panel().top + 20, place.querySelector(".concat_1_group path.background"));
await pause();
found.again = points();
const symbol = place.querySelector(".mark-symbol.role-legend-symbol path"), box = symbol.getBoundingClientRect();
for (const type of ["mousedown", "mouseup", "click"]) at(type, MouseEvent, box.left + 3, box.top + 3, symbol);
await pause();
found.alone = await read();
found.markup = place.querySelectorAll("b").length + document.querySelectorAll("#vg-tooltip-element b").length;
"""


def saw(count: int, name: str = "a", step_s: float = 0.01) -> polars.DataFrame:
    """Samples of a window that grows by 10 octets to 1990 and begins anew."""
    return polars.DataFrame(
        {
            "time_s": [step_s * n for n in range(count)],
            "series": [name] * count,
            "quantity": ["cwnd"] * count,
            "value": [1000.0 + 10 * (n % 100) for n in range(count)],
            "unit": ["B"] * count,
        }
    )


def test_a_figure_holds_every_sample_to_the_nanosecond() -> None:
    figure, notes = recorded.samples([Panel("", saw(3, step_s=0.123456789))], "cwnd", 1000)
    assert notes == []
    (held,) = figure.specification()["usermeta"]["held"]
    # Times are told as what is added to the one before; values in the unit of the axis.
    assert (held["t"], held["v"]) == ("0,123456789,123456789", "1.0,1.01,1.02")
    assert figure.specification()["vconcat"][0]["title"]["text"] == "congestion window, threshold, kB"


def test_octets_beyond_a_billion_are_not_rounded() -> None:
    frame = polars.DataFrame({"t": [1.0], "low": [1_234_567_000], "high": [1_234_568_000]})
    figure = timed.Figure([timed.Panel("p", [timed.Marks("s", "#000", "rule", frame)])])
    (held,) = figure.specification()["usermeta"]["held"]
    assert (held["low"], held["high"]) == ("1234567000", "1234568000")
    one = events(1).with_columns(polars.col("start_bytes") + 1_234_567_000, polars.col("end_bytes") + 1_234_567_000)
    drawn, _ = recorded.segments([Panel("", one)], 100)
    sent = next(held for held in drawn.specification()["usermeta"]["held"] if held["s"] == "sent")
    assert sent["v"] == "1234567500"
    # Of a million segments each has a place: the last one's middle is half a segment after its begin.
    frame = polars.DataFrame({"t": [1.0], "v": [999_999.5]})
    figure = timed.Figure([timed.Panel("p", [timed.Marks("s", "#000", "dot", frame)])])
    assert figure.specification()["usermeta"]["held"][0]["v"] == "999999.5"


def test_of_a_long_line_the_ends_and_extremes_of_its_parts_are_kept() -> None:
    frame = saw(100_000).select(t="time_s", v="value")
    frame = frame.with_columns(v=polars.when(polars.int_range(polars.len()) == 70_005).then(9999.0).otherwise("v"))
    kept = timed.kept(frame, 400)
    assert kept.height <= 404
    assert (kept["v"].max(), kept["v"].min()) == (9999.0, 1000.0)
    assert (kept["t"][0], kept["t"][-1]) == (0.0, frame["t"][-1])
    assert kept["t"].is_sorted()
    _, notes = recorded.samples([Panel("", saw(10_000))], "cwnd", 400)
    assert notes[0].endswith(
        "of 10000 samples are held: of each part of the time the first, last, lowest and highest."
    )


def test_panels_of_a_sweep_have_one_scale_and_one_legend() -> None:
    both = polars.concat([saw(10), saw(10, "b")])
    figure, _ = recorded.samples([Panel("loss 1 %", both), Panel("loss 2 %", both)], "cwnd", 1000)
    spec = figure.specification()
    assert spec["resolve"]["scale"]["y"] == "shared"
    legends = [
        [layer["encoding"].get("color", {}).get("legend") for layer in view["layer"]] for view in spec["vconcat"]
    ]
    assert [any(one) for one in legends] == [True, False]
    # A name in it switches the lines of both.
    filters = [view["layer"][0]["transform"] for view in spec["vconcat"]]
    assert filters == [[{"filter": {"param": "alone"}}]] * 2
    assert {param["name"] for param in spec["params"]} == {"here", "zoom", "alone"}


def events(count: int, lost: int | None = None) -> polars.DataFrame:
    """Segments of 1000 octets, one each 10 ms, acknowledged after 5 ms; one is lost."""
    rows = []
    for n in range(count):
        low, high = 1000 * n, 1000 * (n + 1)
        rows.append((0.01 * n, "sent", low, high))
        rows.append(
            (0.01 * n + 0.001, "lost", low, high) if n == lost else (0.01 * n + 0.005, "acknowledged", low, high)
        )
    return polars.DataFrame(rows, schema=["time_s", "event", "start_bytes", "end_bytes"], orient="row")


def test_a_short_time_sequence_chart_shows_all_and_a_long_one_its_first_loss() -> None:
    assert recorded.interesting(events(100)) == (0.0, pytest.approx(0.995))
    begin, end = recorded.interesting(events(5000, lost=3000))
    # 400 marks, two a segment: a fifth of them before the loss at 30.001 s.
    assert (begin, end) == (pytest.approx(30.001 - 0.4, abs=0.02), pytest.approx(30.001 + 1.6, abs=0.02))
    # With its repetition 3 s later: 600 marks after it, and a fifth of 400 more.
    again = polars.DataFrame(
        {"time_s": [33.0], "event": ["retransmitted"], "start_bytes": [3_000_000], "end_bytes": [3_001_000]}
    )
    begin, end = recorded.interesting(events(5000, lost=3000).vstack(again))
    assert (begin, end) == (pytest.approx(30.001 - 0.4, abs=0.02), pytest.approx(33.0 + 0.4, abs=0.02))
    begin, end = recorded.interesting(events(5000, lost=3000))
    # Nothing lost: it begins at the beginning.
    assert recorded.interesting(events(5000))[0] == 0.0
    figure, notes = recorded.segments([Panel("", events(5000, lost=3000))], 10**6)
    assert notes == ["It opens on 29.61 s to 31.6 s; Whole shows all."]
    spec = figure.specification()
    assert spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"] == [begin, end]
    assert spec["usermeta"]["whole"] == [0.0, pytest.approx(49.995)]


def test_marks_of_a_time_sequence_chart_are_those_of_the_table() -> None:
    told = events(3, lost=1).vstack(
        polars.DataFrame(
            [(0.026, "acknowledged", 1000, 1000), (0.026, "sacked", 2000, 3000), (0.03, "retransmitted", 1000, 2000)],
            schema=["time_s", "event", "start_bytes", "end_bytes"],
            orient="row",
        )
    )
    marks = {mark.series: mark.frame for mark in recorded.sequence(told, segment_bytes=1000)}
    assert marks["sent"]["v"].to_list() == [1.0, 2.0, 3.0]
    assert marks["lost"].rows() == [(pytest.approx(0.011), 2.0)]
    assert marks["sent again"].rows() == [(pytest.approx(0.03), 2.0)]
    assert marks["SACK block"].rows() == [(pytest.approx(0.026), 2.5, 3.5)]
    assert marks["duplicate ACK"].rows() == [(pytest.approx(0.026), 1.5)]
    # An ACK that was overtaken takes nothing back.
    assert marks["acknowledged"]["v"].to_list() == [1.5, 3.5, 3.5]


def run_script(script: str, tmp_path: Path) -> Any:
    """What JavaScript beside the page's own script gives, as its `found`."""
    pages = ROOT / "python" / "roamsim" / "pages"
    own = "".join((pages / name).read_text() for name in ("ordered.js", "thinned.js"))
    page = tmp_path / "script.html"
    page.write_text(
        f"<pre id='found'></pre><script>{own}\n{script}\ndocument.all.found.textContent = JSON.stringify(found);</script>"
    )
    dom, console = open_in_browser(page, tmp_path)
    assert console == []
    return json.loads(re.search(r'<pre id="found">(.*?)</pre>', dom)[1])  # type: ignore[index]


@pytest.mark.needs("chromium")
def test_a_line_is_thinned_to_the_ends_and_extremes_of_parts_and_whole_where_it_fits(tmp_path: Path) -> None:
    found = run_script(
        """
        const t = Float64Array.from({length: 100000}, (_, n) => n), v = t.map((n) => n % 100);
        v[54321] = 999;
        const all = placesOfLine(t, v, 0, 100000, 100), near = placesOfLine(t, v, 54300, 54340, 100);
        const found = {count: all.length, peak: all.includes(54321), sorted: all.every((p, n) => !n || p > all[n - 1]), near};
        """,
        tmp_path,
    )
    assert found["count"] <= 400
    assert found["peak"]
    assert found["sorted"]
    # The value that holds at the beginning, and one beyond the end.
    assert found["near"] == list(range(54299, 54341))


@pytest.mark.needs("chromium")
def test_marks_on_each_other_are_one_and_long_spans_stay(tmp_path: Path) -> None:
    found = run_script(
        """
        const t = Float64Array.from({length: 100000}, (_, n) => n / 100), low = t.map(() => 1), high = low;
        const until = t.map((at, n) => n === 50000 ? at + 300 : at + 0.001);
        const spans = placesOfMarks({t, until, low, high}, 0, 1000, 300, 100);
        const found = {count: spans.length, long: spans.includes(50000), late: placesOfMarks({t, until, low, high}, 700, 701, 300, 100)[0]};
        """,
        tmp_path,
    )
    # A mark in each cell of three pixels.
    assert found["count"] <= 102
    assert found["long"]
    # One that began long before what is shown is there.
    assert found["late"] == 50000


@pytest.mark.needs("chromium")
def test_panels_of_one_scale_are_read_switched_and_zoomed_back(tmp_path: Path) -> None:
    page = Report("Both")
    # Names that objects of JavaScript would order first, and that tooltips would take for something else.
    both = polars.concat([saw(300, "title"), saw(300, "7"), saw(300, "<b>more</b>")])
    figure, _ = recorded.samples([Panel("loss 1 %", both), Panel("loss 2 %", both)], "cwnd", 100_000)
    page.figure("both", figure.specification(), "Both")
    found = looked_at(page.write(tmp_path / "both.html"), tmp_path, 1280, BOTH)
    assert found["all"]["names"] == ["at, s", "title", "7", "<b>more</b>"]
    assert len(set(found["all"]["values"][1:])) == 1
    # 3 s, halved four times, are 187 ms: 19 of the samples, each a step.
    assert found["closer"] < 50 < found["whole"]
    assert found["again"] == found["whole"]
    assert found["alone"]["names"] == ["at, s", "title"]
    assert found["markup"] == 0


@pytest.mark.needs("chromium")
def test_a_part_beyond_an_end_is_moved_and_a_panel_without_marks_has_a_logarithm(tmp_path: Path) -> None:
    found = run_script(
        """
        const one = {data: "d", panel: 0, kind: "step", s: "a", t: Float64Array.of(), v: Float64Array.of()};
        const found = {
          over: within([90, 130], [0, 100]), below: within([-150, -130], [0, 100]), wide: within([-50, 150], [0, 100]),
          empty: thinned([one], [0, 1], 100, [50]).d.map(({v}) => v),
        };
        """,
        tmp_path,
    )
    assert found == {"over": [60, 100], "below": [0, 20], "wide": [0, 100], "empty": [1]}


@pytest.mark.needs("chromium")
def test_a_million_samples_are_read_and_zoomed_into(tmp_path: Path) -> None:
    page = Report("Large")
    figure, _ = recorded.samples([Panel("", saw(1_000_000, step_s=0.001))], "cwnd", timed.HELD)
    page.figure("big", figure.specification(), "A million")
    file = page.write(tmp_path / "big.html")
    assert file.stat().st_size < 16e6
    found = looked_at(file, tmp_path, 1280, ZOOM)
    # Four samples a pixel of the whole, each a step of two points; each sample of a part that has fewer.
    assert 1000 < found["whole"]["points"] < 2 * 4 * 1088
    assert found["again"]["points"] == found["whole"]["points"]
    assert "at, s" in found["read"]
    # 1000 s, halved twelve times, are 244 ms: as many samples of a millisecond, and one on either side. Each is a step.
    assert found["closer"]["points"] == pytest.approx(2 * 245, abs=6)


def test_acknowledgements_and_duplicates_have_colours_of_their_own() -> None:
    marks = (recorded.SENT, *recorded.AGAIN_FOR.values(), recorded.PROBE, recorded.LOST, recorded.SACKED)
    others = {colour for _, colour, _ in marks}
    assert len({recorded.ACKNOWLEDGED[1], recorded.DUPLICATE[1]} - others) == 2
    paper = {timesequence.ACKNOWLEDGED, timesequence.DUPLICATE}
    assert len(paper - {timesequence.SENT, timesequence.AGAIN, timesequence.LOST, timesequence.SACKED}) == 2
