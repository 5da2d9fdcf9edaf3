"""What a browser makes of pages: nothing cut or over each other at two widths, light and dark; buttons that work."""

from __future__ import annotations

import json
import re
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any

import polars
import pytest
import roamsim as package
import small_study
from conftest import SCENARIO, Command
from roamsim import study
from roamsim.api import report
from roamsim.pages.page import Report
from roamsim.pictures import bars, charts, timed
from roamsim.study.entries import Curve, Figure
from roamsim.study.figures import specification
from test_report import open_in_browser
from test_run_report import FRAMES, Frame
from test_run_report import looked_at as framed

from benches.pages import browser

pytestmark = pytest.mark.needs("chromium")

LOSS = "link.path.loss.probability"

#: Has all figures drawn, as for print, then writes what it finds into the page.
LOOK = """
dispatchEvent(new Event("beforeprint"));
const cut = (text, svg) => {
  const box = text.getBoundingClientRect(), room = svg.getBoundingClientRect();
  return box.width > 0 && (box.left < room.left - 1 || box.right > room.right + 1 || box.top < room.top - 1 || box.bottom > room.bottom + 1);
};
const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
const wait = setInterval(async () => {
  if (document.documentElement.dataset.drawn !== "yes") return;
  clearInterval(wait);
  const found = {cut: [], over: [], wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, saved: []};
  for (const svg of document.querySelectorAll("[data-chart] svg.marks")) {
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent && text.getBoundingClientRect().width);
    found.cut.push(...texts.filter((text) => cut(text, svg)).map((text) => text.textContent));
    texts.forEach((a, n) => texts.slice(n + 1).forEach((b) => {
      if (getComputedStyle(a).opacity !== "0" && getComputedStyle(b).opacity !== "0" && over(a.getBoundingClientRect(), b.getBoundingClientRect())) found.over.push([a.textContent, b.textContent]);
    }));
  }
  HTMLAnchorElement.prototype.click = function () { found.saved.push([this.download, this.href.slice(0, 15)]); };
  for (const button of document.querySelectorAll(".tools button")) if (button.textContent.startsWith("Save")) button.click();
  for (const button of document.querySelectorAll(".table .open button")) button.click();
  found.opened = document.querySelectorAll(".opened dl").length;
  /* more */
  await new Promise((resume) => setTimeout(resume, 3000));
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
}, 50);
"""


#: Chooses the first name of each figure's legend, and says how many names and lines there are, and lines then.
SWITCH = """
  found.switched = [];
  for (const place of document.querySelectorAll("[data-chart]")) {
    const lines = () => [...place.querySelectorAll(".mark-line path")].filter((path) => path.getAttribute("d")).length;
    const labels = [...place.querySelectorAll(".role-legend-label text")], before = lines();
    if (labels.length < 2 || !before) continue;
    labels[0].dispatchEvent(new MouseEvent("click", {bubbles: true}));
    await new Promise((resume) => setTimeout(resume, 500));
    found.switched.push([labels.length, before, lines()]);
  }
"""


def looked_at(page: Path, tmp_path: Path, width: int, more: str = "") -> dict[str, Any]:
    """What a browser of that width found of a page; `more` is a script that looks for more."""
    copy = tmp_path / f"looked-at-{width}.html"
    head, tail = page.read_text().rsplit("</body>", 1)
    look = LOOK.replace("/* more */", more)
    copy.write_text(f"{head}<script type='module'>{look}</script></body>{tail}")
    dom, console = open_in_browser(copy, tmp_path, width)
    assert console == []
    found = re.search(r'<pre id="found">(.*?)</pre>', dom)
    assert found is not None
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of sweeps of one and of two parameters with long names, of a comparison of six, and of a study."""

    folder = tmp_path_factory.mktemp("pages")
    text = SCENARIO.replace('"download"', '"a download with a rather long name"')
    second = text[text.index("[[flow]]") : text.index("[[signalling]]")].replace("a download with", "another one of")
    sweep = package.sweep(
        text.replace("[[signalling]]", f"{second}[[signalling]]"),
        {LOSS: "0:0.1:0.02", "link.path.queue.packets": "5,20,100"}, replications=3, out=folder / "sweep",
    )  # fmt: skip
    compared = package.compare(
        SCENARIO, {"flow.download.transport.variant": "tahoe,reno,newreno,sack,vegas,cubic"},
        replications=3, out=folder / "six",
    )  # fmt: skip
    one = package.sweep(
        SCENARIO, {LOSS: "0:0.1:0.02"}, replications=3, out=folder / "one", trace=["cwnd", "segments"]
    )
    for name, text in small_study.FILES.items():
        (folder / name).write_text(text)
    return {
        "one": report(one.path), "sweep": report(sweep.path), "six": report(compared.results.path),
        "study": study.run(folder, level="quick", out=folder / "study").report,
    }  # fmt: skip


@pytest.mark.parametrize("width", [1280, 500])
@pytest.mark.parametrize("name", ["sweep", "six"])
def test_no_text_of_a_figure_is_cut_or_lies_on_another(
    pages: dict[str, Path], tmp_path: Path, name: str, width: int
) -> None:
    found = looked_at(pages[name], tmp_path, width)
    assert (found["cut"], found["over"], found["wide"]) == ([], [], 0)
    assert found["opened"] > 0
    first = dict(reversed(found["saved"]))
    assert first["flows-goodput_bps.svg"].startswith("blob:")
    assert first["flows-goodput_bps.png"].startswith("data:image/png")


@pytest.fixture(scope="module", params=["one", "sweep", "six", "study"])
def seen(
    request: pytest.FixtureRequest, pages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[Frame, dict[str, Any]]:
    """What a browser says of one of them in frames."""
    return framed(pages[request.param], tmp_path_factory.mktemp("framed"), FRAMES[1:])


@pytest.mark.parametrize(("width", "dark"), FRAMES[1:])
def test_every_figure_can_be_read_on_a_telephone_and_in_the_dark(
    seen: dict[Frame, dict[str, Any]], width: int, dark: bool
) -> None:
    told = seen[width, dark]
    # Long names are cut where a telephone has no room for them.
    assert [wrong for wrong in told["wrong"] if not (width == 390 and wrong.startswith("cut: "))] == []
    assert told["texts"] > 5


def test_a_name_in_a_legend_of_a_study_shows_its_line_alone(tmp_path: Path) -> None:
    page = Report("t")
    figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve("column", "c")], "y", ["series"])
    rows = [
        {
            "series": name,
            "curve": "c",
            "x": x,
            "mean": 1.0 * x,
            "low": 0.5 * x,
            "high": 2.0 * x,
            "closed_form": 3.0 * x,
        }
        for name in ("a", "<b>b</b>", "c")
        for x in (1, 2, 3)
    ]
    page.figure("declared", specification(figure, rows), "Three series, each with its closed form")
    found = looked_at(page.write(tmp_path / "page.html"), tmp_path, 1280, SWITCH)
    assert found["switched"] == [[3, 3, 1]]


@pytest.mark.parametrize("names", [["ap", "a"], ["a station with a rather long name that ends", "mm mm"]])
def test_names_before_bars_have_the_room_that_they_need(tmp_path: Path, names: list[str]) -> None:
    page = Report("t")
    shares = bars.Bars("% of the run", ["medium"], {"data": [40.0], "idle": [60.0]}, ["#4c78a8", "#d6d9dc"])
    attempts = bars.Bars(
        "attempts", names, {"answered": [12345.0, 4.0], "without answer": [3.0, 0.0]}, ["#4c78a8", "#e45756"]
    )
    page.figure("airtime", bars.specification([shares, attempts]), "Airtime")
    told = framed(page.write(tmp_path / "page.html"), tmp_path, [(1280, False), (390, False)])
    # A telephone has no room for a name of 44 letters beside its bars.
    cut = [f"cut: {names[0][:11]}"] if len(names[0]) > 40 else []
    assert told[1280, False]["wrong"] == []
    assert [wrong[: len(cut[0])] if cut else wrong for wrong in told[390, False]["wrong"]] == cut


#: What scripts that speak with a page need: a frame, and that all near the window is drawn, which is told after one.
QUIET = """
  const root = document.documentElement, frame = () => new Promise(requestAnimationFrame);
  const quiet = async () => {
    const last = performance.now() + 60000;
    await frame();
    do await frame(); while (root.dataset.drawn !== "yes" && performance.now() < last);
  };
"""

#: Follows a reader through a page of many figures: which are drawn at first, at the end, after a fold, for print.
LAZY = (
    f"""
(async () => {{{QUIET}"""
    + """
  const told = {}, all = [...document.querySelectorAll("[data-chart]")];
  const drawn = () => all.filter((place) => place.querySelector("svg.marks")).map((place) => place.dataset.chart);
  await quiet();
  told.first = drawn();
  told.before = root.scrollHeight;
  root.style.scrollBehavior = "auto";
  location.hash = "#last";
  await quiet();
  told.last = drawn();
  told.top = document.getElementById("last").getBoundingClientRect().top;
  const details = document.querySelector("details");
  details.open = true;
  await quiet();
  told.folded = drawn().includes("folded");
  details.open = false;
  // As a browser prints: no timer and no frame before it goes on.
  dispatchEvent(new Event("beforeprint"));
  for (let n = 0; n < 1e6 && drawn().length < all.length; n++) await null;
  told.printed = drawn().length;
  told.after = root.scrollHeight;
  return JSON.stringify(told);
})()
"""
)


def of_three_points() -> dict[str, Any]:
    """A figure of two series."""
    figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve("column", "c")], "y", ["series"])
    rows = [
        {"series": name, "curve": "c", "x": x, "mean": x, "low": x, "high": x, "closed_form": None}
        for name in ("one series", "another one")
        for x in (1.0, 2.0, 3.0)
    ]
    return specification(figure, rows)


@pytest.mark.parametrize("width", [1280, 390])
def test_figures_are_drawn_when_they_come_near_and_the_page_does_not_move(tmp_path: Path, width: int) -> None:
    page = Report("t")
    for name in (*map(str, range(40)), "last"):
        page.figure(name, of_three_points(), name)
    page.figure("folded", of_three_points(), "Folded", folded=True)
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (width, 3000))
        told = json.loads(opened.said(LAZY))
    # The window is 3000 points high, and a figure with its caption some 470: what is in it, and in another one below.
    assert 10 <= len(told["first"]) <= 16
    assert told["first"] == list(map(str, range(len(told["first"]))))
    assert "last" in told["last"]
    assert "20" not in told["last"]
    # Its place was known before anything between was drawn.
    assert 0 <= told["top"] < 3000
    assert told["folded"]
    assert told["printed"] == 42
    # The fold is closed again, and no figure has moved anything.
    assert told["after"] == told["before"]


#: Opens a fold while the figure of another one is being drawn, closes it before its turn, and opens it again.
CLOSED = (
    f"""
(async () => {{{QUIET}"""
    + """
  const [held, closed] = document.querySelectorAll("details"), place = closed.querySelector("[data-chart]"), told = {};
  await quiet();
  const embed = window.vegaEmbed;
  let go, begun;
  const gate = new Promise((resume) => { go = resume; }), first = new Promise((resume) => { begun = resume; });
  window.vegaEmbed = async (...all) => { begun(); await gate; return embed(...all); };
  held.open = true;
  await first;
  closed.open = true;
  await frame(); await frame(); await frame();
  closed.open = false;
  go();
  await quiet();
  told.closed = place.childElementCount;
  closed.open = true;
  await quiet();
  told.room = place.clientWidth;
  told.width = place.querySelector("svg.marks")?.clientWidth;
  return JSON.stringify(told);
})()
"""
)


def test_a_fold_that_closes_before_its_figure_is_drawn_has_it_when_it_opens_again(tmp_path: Path) -> None:
    page = Report("t")
    for name in ("held", "closed"):
        page.figure(name, of_three_points(), name, folded=True)
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900))
        told = json.loads(opened.said(CLOSED))
    assert told["closed"] == 0
    # The page has some thousand points for a figure.
    assert told["room"] > 900
    assert abs(told["width"] - told["room"]) < 5


def test_a_figure_of_a_shape_that_nobody_knows_keeps_no_other_from_being_drawn(tmp_path: Path) -> None:
    page = Report("t")
    # Bars that say nothing of what is on their axes.
    page.figure("unknown", {"concat": [{"mark": "bar"}]}, "Unknown")
    page.figure("known", of_three_points(), "Known")
    asked = f"""(async () => {{{QUIET}
        await quiet();
        return JSON.stringify([...document.querySelectorAll("[data-chart]")].map(
            (place) => [place.dataset.chart, place.textContent.includes("could not be drawn"), Boolean(place.querySelector("svg.marks"))]));
    }})()"""
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900))
        told = json.loads(opened.said(asked))
    assert told == [["unknown", True, False], ["known", False, True]]


@pytest.mark.parametrize("follow", [False, True], ids=["opened there", "followed"])
def test_a_link_to_a_statement_unfolds_it_where_it_stands(tmp_path: Path, follow: bool) -> None:
    page = Report("t")
    for name in map(str, range(40)):
        page.figure(name, of_three_points(), name)
    page.statements([{"id": n, "published": "a", "verdict": v} for n, v in (("0", "differs"), ("1", "agrees"))])
    page.text("\n\n".join("word " * 200 for _ in range(20)))
    asked = f"""(async () => {{{QUIET}
        if ({json.dumps(follow)}) {{ await quiet(); location.hash = "#statement-1"; }}
        // The way there takes some frames.
        for (let before = -1; before !== scrollY;) {{ before = scrollY; for (let n = 0; n < 20; n++) await frame(); }}
        await quiet();
        const target = document.getElementById("statement-1");
        const groups = [...document.querySelectorAll("details.verdict")].map(({{open}}) => open);
        return JSON.stringify([target.open, target.getBoundingClientRect().top, groups]);
    }})()"""
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900), "" if follow else "#statement-1")
        unfolded, top, groups = json.loads(opened.said(asked))
    assert unfolded
    assert -5 < top < 5
    assert groups == [False, True]


@pytest.mark.parametrize("follow", [False, True], ids=["opened there", "followed"])
def test_a_link_into_a_folded_section_unfolds_it_and_its_figure_is_drawn_there(tmp_path: Path, follow: bool) -> None:
    page = Report("t")
    for title in ("First", "Second"):
        with page.section(title, "20 exhibits", folded=title != "First"):
            for number in range(20):
                page.figure(f"{title}-{number}", of_three_points(), f"{title} {number}")
    asked = f"""(async () => {{{QUIET}
        const folds = () => [...document.querySelectorAll("details.section")].map(({{open}}) => open);
        if ({json.dumps(follow)}) {{ await quiet(); location.hash = "#Second-15"; }}
        for (let before = -1; before !== scrollY;) {{ before = scrollY; for (let n = 0; n < 20; n++) await frame(); }}
        await quiet();
        const target = document.getElementById("Second-15");
        return JSON.stringify([folds(), target.getBoundingClientRect().top, Boolean(target.querySelector("svg.marks"))]);
    }})()"""
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900), "" if follow else "#Second-15")
        folds, top, drawn = json.loads(opened.said(asked))
    assert folds == [True, True]
    assert -5 < top < 5
    assert drawn


def test_a_folded_section_takes_no_room_until_it_is_asked_for(tmp_path: Path) -> None:
    heights = {}
    for folded in (False, True):
        page = Report("t")
        with page.section("All", folded=folded):
            for number in range(20):
                page.figure(f"{number}", of_three_points(), f"{number}")
        with browser() as opened:
            opened.open(page.write(tmp_path / "page.html"), (1280, 900))
            asked = f"(async () => {{{QUIET} await quiet(); return document.documentElement.scrollHeight; }})()"
            heights[folded] = int(opened.said(asked))
    assert heights[True] <= 900 < heights[False] / 5


@pytest.mark.parametrize("width", [1280, 500])
def test_legends_of_long_names_are_whole(tmp_path: Path, width: int) -> None:
    names = [f"transfer of the station number {n}" for n in range(12)]
    page = Report("t")
    series = [
        {"panel": "", "series": name, "x": x, "mean": x + n, "low": x, "high": x + 2 * n}
        for n, name in enumerate(names)
        for x in range(5)
    ]
    words = "transport variant of download and queue length of pipe, packets"
    page.figure("curves", charts.curves(series, charts.Look("load", "goodput", words)), "Twelve curves")
    frame = polars.DataFrame({"t": [0.0, 1.0, 2.0], "v": [1.0, 3.0, 2.0]})
    marks = [timed.Marks(name, charts.COLOURS[n], "step", frame) for n, name in enumerate(names)]
    page.figure("timed", timed.Figure([timed.Panel("rate, Mb/s", marks)]).specification(), "Twelve lines over time")
    titles = (
        'found.titles = [...document.querySelectorAll(".role-legend-title text")].map((text) => text.textContent);'
    )
    found = looked_at(page.write(tmp_path / "page.html"), tmp_path, width, NAMES + titles)
    assert (found["cut"], found["wide"]) == ([], 0)
    # Its lines, of which a browser gives the text without spaces between.
    assert [title.replace(" ", "") for title in found["titles"]] == [words.replace(" ", "")]
    assert not any(set(texts) & set(names) for texts in found["over"])
    assert found["names"]["curves"] == found["names"]["timed"] == names


def test_pairs_of_long_names_stand_under_each_other_with_whole_names(tmp_path: Path) -> None:
    page = Report("t")
    pairs = [
        {"panel": f"shadowing {panel} dB", "pair": f"threshold of {n} B against one of {n + 1} B", "mean": -n, "low": -n - 1,
         "high": 1 - n, "shown": "no difference shown", "sentence": "s"}
        for panel in (0, 4, 8)
        for n in range(100, 106)
    ]  # fmt: skip
    page.figure("pairs", charts.differences(pairs, "difference, s"), "Pairs in panels")
    asked = f"""(async () => {{{QUIET}
        await quiet();
        const svg = document.querySelector("svg.marks"), room = document.querySelector(".vega").getBoundingClientRect();
        const texts = [...svg.querySelectorAll(".role-axis-label text")].map((text) => text.textContent);
        const lefts = [...svg.querySelectorAll("path.background")].map((panel) => Math.round(panel.getBoundingClientRect().left));
        return JSON.stringify({{names: texts.filter((text) => text.startsWith("threshold")), lefts, over: svg.getBoundingClientRect().right - room.right}});
    }})()"""
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900))
        told = json.loads(opened.said(asked))
    assert told["names"] == [pair["pair"] for pair in pairs]
    assert told["over"] <= 1


#: The names of each figure: of its legend or, where it has none, of its rows.
NAMES = """
  found.names = Object.fromEntries([...document.querySelectorAll("[data-chart]")].map((place) => {
    const texts = (which) => [...place.querySelectorAll(which)].map((text) => text.textContent);
    const legend = texts(".role-legend-label text");
    return [place.dataset.chart, legend.length ? legend : texts(".role-axis-label text").filter((text) => text.startsWith("threshold"))];
  }));
"""


#: Goes to the last section by the table of contents; says where the table and the section are, and which link is marked.
CONTENTS = (
    f"""
(async () => {{{QUIET}"""
    + """
  root.style.scrollBehavior = "auto";
  const nav = document.querySelector(".contents"), fold = nav.querySelector("details"), told = {open: [fold.open]};
  fold.open = true;
  nav.querySelectorAll("a")[2].click();
  await quiet();
  await frame(); await frame();
  told.open.push(fold.open);
  const bar = nav.getBoundingClientRect(), section = document.getElementById("Third").getBoundingClientRect();
  return JSON.stringify({...told, bar: [bar.top, bar.bottom, bar.right], section: [section.left, section.top],
    marked: [...nav.querySelectorAll("[aria-current]")].map((link) => link.textContent),
    wide: root.scrollWidth - root.clientWidth});
})()
"""
)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_table_of_contents_stays(tmp_path: Path, width: int) -> None:
    page = Report("t")
    for title in ("First", "Second", "Third", "Fourth"):
        page.heading(title)
        page.figure(f"figure-{title}", of_three_points(), title)
        page.text("\n\n".join("word " * 200 for _ in range(20)))
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (width, 900))
        told = json.loads(opened.said(CONTENTS))
    top, bottom, right = told["bar"]
    assert -1 <= top <= 1
    assert told["marked"] == ["Third"]
    assert told["wide"] == 0
    if width == 1280:
        # Beside the page, always open.
        assert told["open"] == [True, True]
        assert right < told["section"][0]
        assert -5 < told["section"][1] < 5
    else:
        # Above the page, folded unless it is asked for; the section stands below it.
        assert told["open"] == [False, False]
        assert bottom <= told["section"][1] < 60


def test_a_table_of_ten_intervals_fits_beside_the_contents(tmp_path: Path) -> None:
    page = Report("t")
    for title in ("First", "Second", "Third"):
        page.heading(title)
    page.table(
        [{"condition": "a name of some words"} | {f"Active_Locked {n} (%)": "0.8272 ± 0.0010" for n in range(10)}]
    )
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900))
        told = opened.said(
            "(() => { const t = document.querySelector('.table .scroll'); return `${t.scrollWidth - t.clientWidth}`; })()"
        )
    assert told == "0"


def test_the_table_of_an_answer_fits_a_telephone(tmp_path: Path) -> None:
    rows = ["| UDP with MIH ACK, 0.1 s | 99.208 (99.116 … 99.290) | 42.81 ± 0.82 | 2.676 ± 0.021 |"] * 3
    table = "\n".join(
        ["| transport, timer | arrive (%) | mean delay (ms) | MIH packets |", "|---|---|---|---|", *rows]
    )
    page = Report("t")
    page.answer("Which one?", table)
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (390, 800))
        told = opened.said(
            "(() => { const t = document.querySelector('.answer'); return `${innerWidth} ${t.scrollWidth - t.clientWidth}`; })()"
        )
    assert told == "390 0"


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("- one\n- two\n- three\n\nAll:\n\n| a | b |\n|---|---|\n| 1 | 2 |", ["one"]),
        ("Of all:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two", []),
        ("1. one\n2. two", ["one"]),
    ],
)
def test_on_a_telephone_the_figure_stands_behind_the_first_part_of_the_answer(
    tmp_path: Path, answer: str, first: list[str]
) -> None:
    page = Report("t")
    page.answer("Which one?", answer)
    svg = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 300 200'/>"
    page.picture("figure", svg, "A figure", lead=True)
    asked = """
      (() => {
        const [first, further, figure] = [".answer", ".further", "figure"].map((one) => document.querySelector(one));
        const top = (one) => Math.round(one.getBoundingClientRect().top), end = (one) => Math.round(one.getBoundingClientRect().bottom);
        return JSON.stringify({
          first: [...first.querySelectorAll("li")].map((item) => item.textContent), items: document.querySelectorAll("li").length,
          start: further.querySelector("ol")?.start, apart: top(further) - end(first), figure: top(figure) - end(first),
          further: top(further) - end(figure), width: Math.round(first.offsetWidth - further.offsetWidth),
        });
      })()"""
    told = {}
    with browser() as opened:
        for width in (390, 1280):
            opened.open(page.write(tmp_path / "page.html"), (width, 800))
            told[width] = json.loads(opened.said(asked))
    for one in told.values():
        assert (one["first"], one["items"]) == (first, sum(mark in answer for mark in ("one", "two", "three")))
        assert one.get("start") == (2 if answer.startswith("1.") else None)
    assert 0 < told[390]["figure"] < 30
    assert 0 < told[390]["further"] < 30
    # On a wide screen both parts are one card, and the figure is below.
    assert (told[1280]["apart"], told[1280]["width"]) == (0, 0)
    assert told[1280]["further"] < 0


#: Goes down a page step by step: how high tables are before and after, and which of their hints are seen.
DOWN = (
    f"""
(async () => {{{QUIET}"""
    + """
  root.style.scrollBehavior = "auto";
  const tables = [...document.querySelectorAll(".table .scroll")], high = () => [root.scrollHeight, ...tables.map((table) => table.offsetHeight)];
  // What the page does when it opens is done.
  for (let still = 0, last = 0; still < 5; last = root.scrollHeight) { await frame(); still = root.scrollHeight === last ? still + 1 : 0; }
  const skipped = tables.map((table) => !table.querySelector("td").checkVisibility({contentVisibilityAuto: true}));
  const before = high();
  while (scrollY + innerHeight < root.scrollHeight - 1) { scrollBy(0, 400); await frame(); await frame(); }
  const hints = [...document.querySelectorAll(".table .hint")].map((hint) => !hint.hidden && getComputedStyle(hint).visibility === "visible");
  return JSON.stringify({skipped, before, after: high(), hints});
})()
"""
)


def test_long_tables_are_laid_out_when_they_come_near_and_nothing_moves(tmp_path: Path) -> None:
    page = Report("t")
    page.text("\n\n".join("word " * 400 for _ in range(12)))
    wide = {f"a column with a long name {n}": n for n in range(24)}
    for rows in ([{"n": 1}] * 16, [{"n": 1}] * 17, [wide] * 17, [wide] * 300):
        page.table(rows)
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (1280, 900))
        told = json.loads(opened.said(DOWN))
    # The last three have the height that no table exceeds, 38 rem of 16 points.
    assert told["skipped"] == [False, True, True, True]
    assert told["before"][1] < 608
    assert told["before"][2:] == [608] * 3
    assert told["after"] == told["before"]
    assert told["hints"] == [False, False, True, True]


def test_a_page_that_is_read_in_the_dark_is_printed_in_dark_ink(tmp_path: Path) -> None:
    page = Report("t")
    bar = bars.Bars("% of the run", ["medium"], {"data": [40.0], "idle": [60.0]}, ["#4c78a8", "#d6d9dc"])
    for number in range(12):
        page.figure(f"bars-{number}", bars.specification([bar]), "Shares")
    page.write(tmp_path / "page.html")
    subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
            "--blink-settings=preferredColorScheme=0", f"--print-to-pdf={tmp_path / 'page.pdf'}",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    streams = re.findall(rb"stream\r?\n(.*?)endstream", (tmp_path / "page.pdf").read_bytes(), re.DOTALL)
    drawn = b"".join(zlib.decompress(stream) for stream in streams if stream.startswith(b"x"))
    # Colours of the dark page's text, #e4e8ed, and of a part of each figure, #4c78a8.
    assert b".8941 .9098 .9294 rg" not in drawn
    assert drawn.count(b".298 .4706 .6588 rg") >= 12


def test_a_picture_can_be_saved(tmp_path: Path) -> None:
    page = Report("t")
    square = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" viewBox="0 0 9 9"></svg>'
    page.picture("square", square, "A picture")
    page.table([{f"column {n}": n for n in range(9)}])
    found = looked_at(page.write(tmp_path / "report.html"), tmp_path, 500)
    assert dict(found["saved"]) == {"square.svg": "data:image/svg+", "square.png": "data:image/png;"}


#: How wide the two pictures stand beside the room that each has, and whether the page itself is wider than the screen.
PICTURES = """(() => {
  const widths = [...document.querySelectorAll(".picture .scroll")].map((room) => room.querySelector("img").clientWidth / room.clientWidth);
  return JSON.stringify({widths, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth});
})()"""


@pytest.mark.parametrize(("width", "wide"), [(1280, 1.0), (390, 700 / 390)])
def test_a_wide_picture_scrolls_on_a_telephone_and_a_narrow_one_does_not(
    tmp_path: Path, width: int, wide: float
) -> None:
    page = Report("t")
    for name, points in (("wide", 1000), ("narrow", 600)):
        picture = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{points}" height="90" viewBox="0 0 {points} 90"></svg>'
        )
        page.picture(name, picture, name)
    with browser() as opened:
        opened.open(page.write(tmp_path / "page.html"), (width, 900))
        for _ in range(50):  # the picture is fitted once the browser has laid it out
            told = json.loads(opened.said(PICTURES))
            if told["widths"][0] > 0.9 * wide:
                break
            time.sleep(0.1)
    assert told["wide"] == 0
    assert told["widths"] == pytest.approx([wide, 1.0], rel=0.15)


def test_the_report_of_many_series_opens_soon(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    values = ",".join(f"{n}ms" for n in range(1, 101))
    roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02,0.05,0.1,0.2", "--vary", f"link.path.delay={values}", "--set",
            "scenario.duration=9s", "--out", "out")  # fmt: skip
    roamsim("report", "out")
    page = tmp_path / "out" / "report.html"
    assert page.stat().st_size < 4e6
    found = looked_at(page, tmp_path, 1280)
    assert (found["cut"], found["wide"]) == ([], 0)
