"""Figures for paper, against what they are drawn from: distributions, one metric against another, rows, axes, labels."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars
import pytest
import roamsim as package
from conftest import ROOT, Command
from matplotlib.figure import Figure
from roamsim.errors import Notice
from roamsim.estimates.against import against
from roamsim.estimates.curves import Curves, curves
from roamsim.estimates.distributions import messages, transfers
from roamsim.pictures import fonts
from roamsim.pictures.charts import COLOURS
from roamsim.pictures.paper import (
    Dress,
    alike,
    draw_against,
    draw_curves,
    draw_distribution,
    draw_time_series,
    names_of,
    style,
    write_figure,
)
from roamsim.pictures.timeseries import Part
from roamsim.reports.plot import Figured, _figure
from roamsim.storing.chosen import chosen
from roamsim.storing.manifests import Manifest
from roamsim.storing.store import Results, open_results
from roamsim.tables.metrics import Target

VARY = {"link.path.delay": "10ms,20ms,40ms", "flow.download.transport.variant": "reno,sack"}


BULK = """
[scenario]
name = "bulk"
duration = "1s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "path"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "10ms"
[[flow]]
name = "download"
from = "server"
to = "phone"
transport = { protocol = "tcp" }
application = { kind = "bulk" }
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A sweep of a delay and a variant."""
    from conftest import SCENARIO

    return package.sweep(SCENARIO, VARY, replications=3, out=tmp_path_factory.mktemp("swept") / "out")


def axes_of(draw: Any, *arguments: Any) -> Any:
    """Axes on which something was drawn."""
    axes = Figure().add_subplot()
    draw(axes, *arguments)
    return axes


def test_a_legend_of_many_names_has_them_all_beside_panels_and_note(tmp_path: Path) -> None:
    vary = {"link.path.delay": "2ms:62ms:2ms", "link.path.queue.packets": "1:36:1"}
    # Of identical replications a note tells.
    results = package.sweep(BULK, vary, replications=2, out=tmp_path / "out")
    for size in (None, (6.0, 2.5), (14.0, 9.0)):
        with style():
            figure = _figure(results, "flows.download.goodput_bps", Figured(dress=Dress(size=size)))
            figure.draw_without_rendering()
        legend, (panel,) = figure.legends[0], figure.axes
        names = [text.get_text() for text in legend.get_texts()]
        assert names == [f"{delay} ms" for delay in range(2, 63, 2)]
        [note] = [text for text in figure.texts if text.get_text() == figure.get_supxlabel()]
        place = legend.get_window_extent()
        assert panel.get_tightbbox().x1 <= place.x0 and note.get_window_extent().y1 <= place.y0
        assert place.x1 <= figure.bbox.x1 and place.y1 <= figure.bbox.y1
    with pytest.raises(package.UsageError, match="31 names have no room beside a figure of 2x1 inches"):
        _figure(results, "flows.download.goodput_bps", Figured(dress=Dress(size=(2.0, 1.0))))


def test_lines_that_look_alike_are_told() -> None:
    def drawn(names: int) -> tuple[set[Any], str]:
        rows = [
            {"x": float(x), "row": "download", "group": f"{n} ms", "mean": 1e6 + n, "low": None, "high": None}
            for n in range(names)
            for x in range(3)
        ]
        lows = {"low": polars.Float64, "high": polars.Float64}
        frame = polars.DataFrame(rows, schema_overrides=lows).with_columns(samples=1, missing=polars.lit(0.0))
        axes = axes_of(draw_curves, Curves(Target.parse("flows.goodput_bps"), frame, "load", "", True, "delay"))
        lines = [mark[0] for mark in names_of([axes]).values()]
        assert {line.get_color() for line in lines} <= set(COLOURS)
        return {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}, alike([axes])

    # Ten colours, three marks and three dashes.
    for names in (31, 42, 90):
        looks, told = drawn(names)
        assert (len(looks), told) == (names, "")
    looks, told = drawn(93)
    assert len(looks) == 90
    assert told.startswith("3 of 93 names look like another one")


def test_a_figure_of_very_many_lines_says_that_some_look_alike(tmp_path: Path) -> None:
    vary = {"link.path.delay": "1ms:31ms:1ms", "scenario.duration": "200ms"}
    results = package.sweep(BULK, vary, trace=["cwnd"], out=tmp_path / "out")
    # Over time there are no marks: three kinds of dashes of ten colours.
    recorded = results.tables["samples"].filter(quantity="cwnd")
    panel = recorded.select("time_s", "quantity", "unit", "value", series=polars.format("{} ms", "point"))
    axes = Figure().add_subplot()
    draw_time_series([axes], [panel], "cwnd")
    assert panel["series"].n_unique() == 31
    assert alike([axes]).startswith("1 of 31 names look like another one")


def test_names_are_taken_as_they_are(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "names.toml").write_text(BULK.replace('"download"', r"'_a$\frac$'"))
    roamsim("run", "names.toml", "--trace", "cwnd", "--parquet", "out")
    results = open_results(tmp_path / "out")
    with style():
        figure = _figure(results, "cwnd", Figured())
        figure.draw_without_rendering()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {
        rf" _a$\frac$ {of}" for of in ("cwnd", "ssthresh")
    }


def test_one_metric_is_drawn_against_another(swept: Results) -> None:
    names = ("flows.goodput_bps", "links.path.mean_queue_packets")
    with pytest.raises(package.UsageError, match="choose one"):
        against(swept, Target.parse("links.utilisation"), Target.parse("drops.packets"))
    one = chosen(swept, ["from=server"])
    drawn = against(one, *map(Target.parse, names))
    rates = one.flows.group_by("point", maintain_order=True).agg(polars.col("goodput_bps").mean())["goodput_bps"]
    waits = one.links.group_by("point", maintain_order=True).agg(polars.col("mean_queue_packets").mean())
    wanted = set(
        zip((round(v / 1e6, 9) for v in rates), (round(v, 9) for v in waits["mean_queue_packets"]), strict=True)
    )
    assert {(round(y, 9), round(x, 9)) for y, x in drawn.frame.select("y", "x").rows()} == wanted
    axes = axes_of(draw_against, drawn)
    assert axes.get_ylabel() == "goodput of download, Mb/s"
    assert list(names_of([axes])) == ["reno", "sack"]
    (line, *_) = axes.get_lines()
    reno = drawn.frame.filter(series="reno")
    assert line.get_xdata().tolist() == reno["x"].to_list()


def test_delays_of_messages_and_completion_times_are_distributions() -> None:
    rows = {"name": ["a", "b", "a", "a", "a"], "delay_s": [0.3, 0.5, 0.1, 0.2, 0.4], "point": [0] * 5}
    manifest = Manifest(kind="run", scenario="s", text="", canonical={}, version="0", seed=1, command=[])
    drawn = messages(Results(Path(), manifest, {"messages": polars.DataFrame(rows)}))
    assert drawn.frame.filter(series="a").select("time_s", "share").rows() == [
        (0.1, 0.25), (0.2, 0.5), (0.3, 0.75), (0.4, 1.0),
    ]  # fmt: skip
    axes = axes_of(draw_distribution, drawn)
    assert axes.get_ylabel() == "share of delivered messages"
    assert [line.get_xdata().tolist() for line in axes.get_lines()] == [[0, 0.1, 0.2, 0.3, 0.4, 0.4], [0, 0.5, 0.5]]
    with pytest.raises(package.UsageError, match="--trace messages"):
        messages(Results(Path(), manifest, {}))
    with pytest.raises(package.UsageError, match="no transfers"):
        transfers(Results(Path(), manifest, {}))


def test_rows_are_chosen_by_what_was_varied_and_by_columns(swept: Results) -> None:
    drawn = curves(chosen(swept, ["flow.download.transport.variant=sack"]), Target.parse("flows.goodput_bps"))
    assert drawn.groups == [""]
    assert drawn.frame.height == 3
    assert chosen(swept, ["link.path.delay=20ms", "from=server"]).links["name"].to_list() == ["path"] * 6
    assert chosen(swept, ["link.path.delay_s=0.02"]).flows.height == 6
    for condition, complaint in {
        "delay": "COLUMN=VALUE",
        "dleay=1": "no table has a column 'dleay'; there are link.path.delay,",
        "link.path.delay=30ms": "no row has '30ms' in link.path.delay; there are 10ms, 20ms, 40ms",
    }.items():
        with pytest.raises(package.UsageError, match=complaint):
            chosen(swept, [condition])


def test_a_figure_is_dressed_as_asked(swept: Results) -> None:
    figure = Figure()
    draw_curves(figure.add_subplot(), curves(swept, Target.parse("flows.goodput_bps")))
    Dress("xy", "A title", "way", "rate", (5, 3)).on(figure)
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_title()) == ("log", "log", "A title")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("way", "rate")
    assert figure.get_size_inches().tolist() == [5, 3]
    Dress("").on(figure)
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    named = Figure()
    draw_curves(
        named.add_subplot(), curves(chosen(swept, ["link.path.delay=10ms"]), Target.parse("flows.goodput_bps"))
    )
    with pytest.raises(package.UsageError, match="x axis cannot be logarithmic"):
        Dress("x").on(named)
    with pytest.raises(package.UsageError, match="1 to 50 inches"):
        Dress(size=(0.1, 4))


def test_panels_share_an_axis_that_holds_all_of_them(swept: Results) -> None:
    drawn = curves(swept, Target.parse("links.utilisation"))
    assert drawn.rows == ["path from server", "path from phone"]
    for row in drawn.rows:
        axes = Figure().add_subplot()
        draw_curves(axes, drawn, [row])
        low, high = axes.get_ylim()
        assert low == 0
        assert high > 100 * drawn.frame["mean"].max()  # type: ignore[operator]
        assert len(axes.get_lines()) > 0


def test_plot_takes_all_of_this(roamsim: Command, swept: Results, tmp_path: Path) -> None:
    folder = swept.path
    options = ["--where", "flow.download.transport.variant=sack", "--log", "x", "--title", "Mine", "--size", "5x3"]
    roamsim("plot", folder, "--what", "flows.goodput_bps", *options, "--y-label", "rate", "--out", "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert ">Mine<" in drawn
    assert ">rate<" in drawn
    assert 'width="360pt" height="216pt"' in drawn
    roamsim("plot", folder, "--what", "links.utilisation", "--out", "panels.svg")
    assert ">path from phone<" in (tmp_path / "panels.svg").read_text()
    roamsim("plot", folder, "--what", "flows.goodput_bps", "--against", "signalling.mean_delay_s", "--out", "b.svg")
    assert ">mean delay of indications, ms<" in (tmp_path / "b.svg").read_text()
    roamsim("run", ROOT / "examples" / "short-transfers.toml", "--parquet", "transfers")
    roamsim("plot", "transfers", "--what", "transfer_times", "--log", "x")
    assert "share of completed transfers" in (tmp_path / "transfers" / "transfer_times.svg").read_text()
    for wrong, complaint in {
        "--log z": "x, y, xy or none", "--size 6": "WIDTHxHEIGHT", "--size 600x4": "inches",
        "--against nonsense": "a metric is TABLE.COLUMN", "--where x": "COLUMN=VALUE",
    }.items():  # fmt: skip
        done = roamsim("plot", folder, "--what", "flows.goodput_bps", *wrong.split(), code=2)
        assert complaint in done.stderr
    assert (
        "one metric is drawn against another"
        in roamsim("plot", folder, "--what", "cwnd", "--against", "flows.goodput_bps", code=2).stderr
    )


def test_a_long_time_sequence_chart_opens_around_the_first_loss(roamsim: Command, tmp_path: Path) -> None:
    roamsim(
        "run",
        ROOT / "examples" / "one-tcp-flow.toml",
        "--set",
        "scenario.duration=60s",
        "--trace",
        "segments",
        "--parquet",
        "out",
    )
    results = open_results(tmp_path / "out")
    first_lost = results["segments"].filter(event="lost")["time_s"].min()

    def drawn(part: Part) -> tuple[float, float, str]:
        figure = _figure(results, "segments", Figured(part))
        begin, end = figure.axes[0].get_xlim()
        note = figure.legends[0].get_title().get_text()
        # The note stands in the legend, not on it.
        assert figure.get_supxlabel() == ""
        return begin, end, note

    begin, end, note = drawn(Part())
    assert begin < first_lost < end < 2.0
    assert note.startswith("From 238 ms to ") and note.endswith(" of 59.99 s, where no time is chosen.")
    begin, end, note = drawn(Part(start_s=0.0))
    assert (end > 59.0, note) == (True, "")


def test_a_flow_is_chosen_of_messages_and_metrics_too(roamsim: Command, tmp_path: Path) -> None:
    text = """
[scenario]
name = "Two calls"
duration = "2s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Mb/s"
delay = "10ms"
"""
    call = 'from = "a"\nto = "b"\ntransport = { protocol = "udp" }\napplication = { kind = "poisson", packet_size = "100B", mean_interval = "20ms" }'
    (tmp_path / "calls.toml").write_text(text + "".join(f'[[flow]]\nname = "{n}"\n{call}\n' for n in ("one", "two")))
    roamsim("run", "calls.toml", "--trace", "messages", "--parquet", "out")
    for what in ("messages", "flows.mean_delay_s"):
        roamsim("plot", "out", "--what", what, "--flow", "two", "--out", "two.svg")
        roamsim("plot", "out", "--what", what, "--out", "both.svg")
        drawn, both = ((tmp_path / name).read_text() for name in ("two.svg", "both.svg"))
        assert drawn != both
        assert (
            "messages has no row of 'three'; there are 'one', 'two'"
            in roamsim("plot", "out", "--what", "messages", "--flow", "three", code=2).stderr
        )
        timed = roamsim("plot", "out", "--what", what, "--from", "1s", code=2).stderr
        assert f"{what} is not drawn over time, so --from and --to do not apply" in timed


def titled_figure() -> Figure:
    figure = Figure()
    figure.suptitle("\u7db2\u8def\u8def")  # three Chinese characters, two of them alike
    return figure


def test_a_character_without_a_font_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "fonts_with", lambda characters: [])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        write_figure(titled_figure, tmp_path / "figure.png", ".png")
        write_figure(titled_figure, tmp_path / "figure.svg", ".svg")
    (notice,) = heard
    assert notice.category is Notice
    assert str(notice.message).startswith(
        "no font of this machine has '\u7db2\u8def', which the figure shows as boxes"
    )
    assert "\u7db2\u8def\u8def" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_another_font_has_what_the_usual_one_lacks(tmp_path: Path) -> None:
    # Of the fonts that matplotlib brings, serif ones alone have U+1D15.
    assert len(fonts.fonts_with({0x1D15})) == 1
    assert fonts.fonts_with({0x10FFFE}) == []

    def drawn() -> Figure:
        figure = Figure()
        figure.suptitle("\u1d15")
        return figure

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_figure(drawn, tmp_path / "figure.png", ".png")
    with warnings.catch_warnings(record=True):
        drawn().savefig(tmp_path / "boxed.png", dpi=200)
    assert (tmp_path / "figure.png").read_bytes() != (tmp_path / "boxed.png").read_bytes()
