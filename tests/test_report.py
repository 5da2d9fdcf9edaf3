"""Reports: what is in the file, and what a browser makes of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import altair
import polars
import pytest
from conftest import ROOT, Command
from roamsim.pages import runtime
from roamsim.pages.page import Report


def open_in_browser(page: Path, tmp_path: Path, width: int = 1280, place: str = "") -> tuple[str, list[str]]:
    """Opens a page, at a place of it, without a network in headless Chromium; returns its DOM and what its console said."""
    # On a busy machine the time of the page may be up before the browser has made a frame of it.
    for budget_ms in (30_000, 120_000, 480_000, 480_000, 480_000):
        done = subprocess.run(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={tmp_path / f'profile-{width}'}", "--enable-logging=stderr", "--hide-scrollbars",
                f"--window-size={width},3000", f"--virtual-time-budget={budget_ms}", "--dump-dom",
                f"{page.as_uri()}{place}",
            ],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        if 'data-drawn="no"' not in done.stdout:
            break
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE:" in line]


def test_what_draws_figures_is_put_together_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import vl_convert

    made: list[str] = []

    def bundle() -> str:
        made.append("<!-- </script")
        return made[-1]

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    first = runtime.script()
    assert first.startswith("<\\!-- <\\/script")
    assert runtime.script() == first
    assert len(made) == 1
    # Another release is another script; one that was cut short is made again.
    monkeypatch.setattr(vl_convert, "__version__", "0.0")
    assert runtime.script() == first
    assert len(made) == 2
    for kept in (tmp_path / "caches" / "roamsim").iterdir():
        kept.write_text(first[:9])
    assert runtime.script() == first
    assert len(made) == 3
    # Where nothing can be kept it is made each time, and nothing is said.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches" / "roamsim" / "vega-0.0.js"))
    assert runtime.script() == runtime.script() == first
    assert len(made) == 5


def example() -> Report:
    report = Report("A <title>", "and a subtitle")
    report.heading("First")
    report.text("Some **bold** text.")
    frame = polars.DataFrame({"x": [1, 2, 3], "y": [1.0, 4.0, 9.0], "series": ["</script>", "b", "b"]})
    chart = altair.Chart(frame).mark_line().encode(x="x", y="y", color="series")
    report.figure("squares", chart, "Squares", note="A remark.")
    report.figure("facets", chart.properties(width=100).facet("series:N"), "Facets")
    report.figure(
        "plain", {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}, "Plain"
    )
    report.picture("chart", '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"></svg>', "A picture")
    report.table([{"name": "a", "value": 0.1234567}, {"name": "b", "value": None}], "Values")
    report.statements(
        [
            {
                "id": "1",
                "published": "`acked` gives p^2 and p^(i+1)",
                "measured": 0.5,
                "interval": [0.4, 0.6],
                "verdict": "agrees",
            },
            {"id": "2", "published": "p", "measured": 2, "interval": None, "verdict": "differs: because"},
            {"id": "3", "published": "p", "measured": None, "interval": None, "verdict": "not decidable"},
        ]
    )
    report.parameters({"seed": 1, "network": {"rate": "10Mb/s"}})
    report.table([{"n": i} for i in range(3)], "All three", folded=True)
    report.preformatted("a < b", "Source")
    return report


def test_the_page_names_no_address_to_load_from(tmp_path: Path) -> None:
    text = example().write(tmp_path / "report.html").read_text()
    assert not re.search(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert "default-src 'none'" in text


def test_a_value_stays_with_its_unit_and_code_as_it_is() -> None:
    page = Report("t")
    page.table([{"n": 1}], "All", "`delay = 10 ms` takes 10 ms.")
    assert "<code>delay = 10 ms</code> takes 10\u00a0ms." in page.html()
    page = Report("Delay of 20 ms", "rate 10 Mb/s · 2 s")
    page.heading("After 30 ms")
    page.plain("It took 40 ms.")
    page.text("After **70 ms** of 8 s, `delay = 80 ms` and\n\n    rate = 90 Mb/s\n")
    page.table([{"n": 1}], "Within 50 ms")
    page.preformatted("wait 60 ms", "Source")
    for value in ("20 ms", "10 Mb/s", "2 s<", "30 ms", "40 ms", "50 ms", "70 ms", "8 s,"):
        assert value.replace(" ", "\u00a0") in page.html()
    # What is copied from there goes into a scenario.
    assert all(value in page.html() for value in ("wait 60 ms", "delay = 80 ms", "rate = 90 Mb/s"))


def test_the_page_holds_what_was_added_and_escapes_it(tmp_path: Path) -> None:
    text = example().html()
    assert "<title>A &lt;title&gt;</title>" in text
    assert "<strong>bold</strong>" in text
    assert ">0.123</td>" in text
    assert 'title="0.1234567"' in text
    assert "0.4\u00a0…\u00a00.6" in text
    assert "network.rate" in text
    assert "<code>acked</code> gives p<sup>2</sup> and p<sup>i+1</sup>" in text
    assert '<details class="statement agrees" id="statement-1">' in text
    assert "<details><summary>All three</summary>" in text
    assert "a &lt; b" in text
    for verdict in ("agrees", "differs", "not decidable"):
        assert f">{verdict}</span>" in text
    charts = re.search(r'id="charts">(.*?)</script>', text, re.DOTALL)
    assert charts is not None
    assert set(json.loads(charts[1])) == {"squares", "facets", "plain"}


def test_a_table_says_how_much_of_it_is_not_shown() -> None:
    report = Report("t")
    report.table([{"x": i} for i in range(10)], max_rows=4)
    assert "Not shown: 6 more rows." in report.html()
    assert report.html().count("<tr>") == 1 + 4


def test_columns_of_prose_break_their_lines_and_others_do_not() -> None:
    report = Report("t")
    sentence = "A sentence that is too long to stand on one line beside others."
    report.table([{"name": "short", "why": sentence, "n": 1}, {"name": "x", "why": "short", "n": 2}])
    text = report.html()
    assert f'<td class="prose">{sentence}</td>' in text
    assert '<th class="prose">why</th>' in text
    assert '<td class="prose">short</td>' in text
    # A first column of short names stays on one line on a telephone.
    assert '<td class="brief">short</td>' in text
    assert '<td class="number">1</td>' in text
    # As wide as a name may be.
    report.table([{"name": "n" * 40}])
    assert f"<td>{'n' * 40}</td>" in report.html()


def test_cells_break_before_an_interval_and_heads_behind_an_underscore() -> None:
    report = Report("t")
    shown = {"Connection_HO (%)": "0.82 ± 0.01", "share": "9.5 (4.7 … 18.4) not decidable", "by": "SCTP (RFC 2960)"}
    report.table([shown])
    text = report.html()
    assert '<th class="interval">Connection_<wbr>HO (%)</th>' in text
    assert '<td class="interval">0.82 ±\u00a00.01</td>' in text
    assert '<td class="interval">9.5 (4.7\u00a0…\u00a018.4) not decidable</td>' in text
    assert "<td>SCTP (RFC 2960)</td>" in text


def test_an_id_is_used_once() -> None:
    report = example()
    with pytest.raises(ValueError, match="squares"):
        report.picture("squares", "<svg/>", "again")


def test_an_unwritable_report_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        example().write(tmp_path / "missing" / "report.html")
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OSError, match="report"):
        example().write(tmp_path / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_draws_every_figure_without_a_complaint(tmp_path: Path, width: int) -> None:
    page = example().write(tmp_path / "report.html")
    dom, console = open_in_browser(page, tmp_path, width)
    assert console == []
    assert 'data-drawn="yes"' in dom
    assert dom.count('class="marks"') == 3
    # The figure takes the width that the page has.
    drawn = re.search(r'data-chart="squares".*?<svg[^>]*? width="(\d+)', dom, re.DOTALL)
    assert drawn is not None
    assert width / 2 < int(drawn[1]) <= width


@pytest.mark.needs("chromium")
def test_the_report_of_a_sweep_opens_in_a_browser(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim(
        "sweep", scenario, "--vary", "link.path.loss.probability=0.02,0.05", "--vary", "link.path.delay=10ms,20ms",
        "--replications", "3", "--out", "out",
    )  # fmt: skip
    assert roamsim("report", "out").stdout == "out/report.html\n"
    dom, console = open_in_browser(tmp_path / "out" / "report.html", tmp_path)
    assert console == []
    assert re.search(r'id="flows-goodput_bps".*?class="marks"', dom, re.DOTALL)
    assert re.search(r"The intervals show no change of .*signalling.success_rate", dom)
    for word in ("roamsim sweep", "Both kinds of traffic", "goodput, Mb/s", "utilisation, %"):
        assert word in dom


@pytest.mark.needs("chromium")
def test_the_report_of_a_run_draws_its_time_series(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--trace", "cwnd,queue", "--parquet", "out")
    roamsim("report", "out", "--out", "page.html")
    dom, console = open_in_browser(tmp_path / "page.html", tmp_path)
    assert console == []
    for anchor in ("samples-cwnd", "samples-queue"):
        assert re.search(rf'id="{anchor}".*?class="marks"', dom, re.DOTALL), anchor


def cells(page: str, caption: str) -> list[list[str]]:
    """The texts of a table of a page, its head first."""
    table = re.search(rf"<figcaption>{caption}.*?</figcaption>.*?</table>", page, re.DOTALL)
    assert table is not None, caption
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table[0])]


def test_the_report_of_a_run_shows_each_handover(roamsim: Command, tmp_path: Path) -> None:
    roamsim("run", ROOT / "examples" / "mobile-sctp.toml", "--parquet", "out")
    roamsim("report", "out")
    head, *rows = cells((tmp_path / "out" / "report.html").read_text(), "handovers: one row each")
    frame = polars.read_parquet(tmp_path / "out" / "handovers*.parquet")
    assert frame.height >= 2
    assert [row[head.index("to cell")] for row in rows] == frame["to_cell"].to_list()
    shown = [float(row[head.index("begun, s")]) for row in rows]
    assert shown == [pytest.approx(value, abs=5e-4) for value in frame["begun_s"]]
    assert "point" not in head


def test_the_report_of_several_runs_shows_means_of_handovers_and_of_mobile_ip(
    roamsim: Command, tmp_path: Path
) -> None:
    roamsim("run", ROOT / "examples" / "mobile-ip.toml", "--replications", "3", "--parquet", "out")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    head, *rows = cells(page, "handovers: count and means of each run")
    frame = polars.read_parquet(tmp_path / "out" / "handovers*.parquet")
    ends = frame.select("from_cell", "to_cell").unique(maintain_order=True).rows()
    for row, (from_cell, to_cell) in zip(rows, ends, strict=True):
        assert row[head.index("name")] == f"at terminal from {from_cell}"
        own = frame.filter(from_cell=from_cell, to_cell=to_cell)
        of_runs = own.group_by("replication").agg(polars.len(), polars.col("lost_data").mean())
        assert float(row[head.index("handovers")].split()[0]) == pytest.approx(of_runs["len"].sum() / 3, abs=0.006)
        mean = of_runs["lost_data"].mean()
        assert isinstance(mean, float)
        assert float(row[head.index("lost data, packets")].split()[0]) == pytest.approx(mean, abs=0.051)
    assert len(rows) == frame.select("from_cell", "to_cell").n_unique()
    head, *rows = cells(page, "handover_flows: losses of each flow")
    of_flows = polars.read_parquet(tmp_path / "out" / "handover_flows*.parquet")
    means = of_flows.group_by("from_cell", "to_cell", "replication", maintain_order=True).agg(
        polars.col("lost_data").mean()
    )
    shown = [float(row[head.index("lost data, packets")].split()[0]) for row in rows]
    kinds = means.group_by("from_cell", "to_cell", maintain_order=True).agg(polars.col("lost_data").mean())
    assert shown == pytest.approx(kinds["lost_data"].to_list(), abs=0.051)
    head, *rows = cells(page, "mobile_ip: means")
    machines = polars.read_parquet(tmp_path / "out" / "mobile_ip*.parquet").select("node", "role", "cell").unique()
    assert len(rows) == machines.height
    assert "accepted, messages" in head


def test_the_report_of_a_run_without_cells_has_no_handovers(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    roamsim("report", "out")
    assert "Handovers" not in (tmp_path / "out" / "report.html").read_text()
