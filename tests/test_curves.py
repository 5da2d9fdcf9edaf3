"""What figures draw: the axis, the series, and throughput out of delivered bytes."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
import roamsim
from matplotlib.figure import Figure
from roamsim import timesequence
from roamsim.estimates.curves import curves, delays
from roamsim.pictures.timeseries import Part, segments, time_series
from roamsim.storing.manifests import Manifest, PointEntry
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target


def recorded(samples: list[tuple[float, str, float, str]], sender: str = "a") -> Results:
    """Results that hold nothing but samples, of a flow f from a to b or of what b answers."""
    frame = polars.DataFrame(samples, schema=["time_s", "quantity", "value", "unit"], orient="row").with_columns(
        **about("f", sender), point=0, replication=0
    )
    manifest = Manifest(kind="run", scenario="s", text="", canonical={}, version="0", seed=1, command=[])
    return Results(Path(), manifest, {"samples": frame})


def about(name: str, sender: str = "a") -> dict[str, polars.Expr]:
    """The columns that say what a row is about."""
    values = {"kind": "flow", "name": name, "from": sender, "to": "b" if sender == "a" else "a"}
    return {column: polars.lit(value) for column, value in values.items()}


def test_throughput_is_the_slope_of_what_was_delivered() -> None:
    # 1000 B each second for 100 s, then nothing: 8000 bit/s, then 0; a hundredth of 200 s is 2 s.
    samples = [(float(t), "delivered", 1000.0 * min(t, 100), "B") for t in range(201)]
    rates = time_series(recorded(samples), "throughput")[0].frame
    assert rates["time_s"].to_list() == pytest.approx([2.0 * n for n in range(100)])
    assert rates["value"].to_list() == pytest.approx([8000.0] * 50 + [0.0] * 50)
    assert set(rates["unit"]) == {"bit/s"}


def test_a_window_that_never_moves_and_a_threshold_that_was_never_set_are_not_drawn() -> None:
    moving = [(float(t), "cwnd", 1000.0 * t, "B") for t in range(5)]
    still = [(0.0, "cwnd", 1.0, "B"), (1.0, "cwnd", 10.0, "B")]
    unset = [(0.0, "ssthresh", 2.0**64, "B")]
    results = recorded(moving + unset)
    results.tables["samples"] = polars.concat([results.samples, recorded(still, "b").samples])
    drawn = time_series(results, "cwnd")[0].frame
    assert drawn.select("series", "quantity").unique().rows() == [("f", "cwnd")]


def test_lines_are_told_apart_by_as_few_words_as_it_takes() -> None:
    moving = recorded([(float(t), "cwnd", 1000.0 * t, "B") for t in range(5)]).samples
    threshold = recorded([(float(t), "ssthresh", 500.0 * t, "B") for t in range(5)]).samples
    answers = recorded([(float(t), "cwnd", 1000.0 * t, "B") for t in range(5)], "b").samples

    def series(*frames: polars.DataFrame) -> list[str]:
        results = recorded([])
        results.tables["samples"] = polars.concat(frames)
        return time_series(results, "cwnd")[0].frame["series"].unique(maintain_order=True).to_list()

    assert series(moving) == ["f"]
    assert series(moving, threshold) == ["f cwnd", "f ssthresh"]
    assert series(moving, answers) == ["f from a", "f from b"]
    assert series(moving, moving.with_columns(name=polars.lit("g"))) == ["f", "g"]
    # A signalling entry may be called like a flow.
    assert series(moving, moving.with_columns(kind=polars.lit("signalling"))) == ["f flow", "f signalling"]


def test_what_was_not_recorded_is_said() -> None:
    with pytest.raises(roamsim.UsageError, match="the samples are of cwnd"):
        time_series(recorded([(0.0, "cwnd", 1.0, "B")]), "queue")


def test_a_number_is_the_axis_and_words_make_the_series(scenario: Path) -> None:
    vary = {"flow.download.transport.variant": "reno,newreno", "link.path.delay": "10ms,20ms"}
    drawn = curves(roamsim.sweep(scenario, vary, replications=2), Target.parse("flows.goodput_bps"))
    assert drawn.x_title == "delay of path, ms"
    assert drawn.frame.sort("group")["x"].to_list() == [0.01, 0.02] * 2
    assert (drawn.groups, drawn.group_words) == (["reno", "newreno"], "transport variant of download")
    assert drawn.y_title == "goodput, Mb/s"


def test_a_metric_may_be_that_of_one_row(scenario: Path) -> None:
    # As `compare` takes it: the link's name stands between the table and the column.
    results = roamsim.sweep(scenario, {"link.path.delay": "10ms,20ms"})
    drawn = curves(results, Target.parse("links.path.utilisation")).frame
    whole = curves(results, Target.parse("links.utilisation")).frame
    assert drawn["mean"].to_list() == whole["mean"].to_list()
    with pytest.raises(roamsim.UsageError, match=r"links has no row 'pth'; did you mean 'path'\? There are 'path'"):
        curves(results, Target.parse("links.pth.utilisation"))


def test_delays_are_shares_of_all_transactions() -> None:
    rows = {"name": ["a", "a", "b", "a", "a"], "delay_s": [0.3, None, 0.5, 0.1, 0.2], "point": [0] * 5}
    frame = polars.DataFrame(rows)
    manifest = Manifest(kind="run", scenario="s", text="", canonical={}, version="0", seed=1, command=[])
    drawn = delays(Results(Path(), manifest, {"transactions": frame}))
    # Three of the four of a succeeded: the curve ends at 3/4.
    assert drawn.filter(name="a").rows() == [("a", 0.1, 0.25), ("a", 0.2, 0.5), ("a", 0.3, 0.75)]
    assert drawn.filter(name="b").rows() == [("b", 0.5, 1.0)]
    # The points of a sweep are apart.
    drawn = delays(
        swept({"transactions": frame.with_columns(point=polars.Series([0, 0, 0, 1, 1]))}, ["reno", "sack"])
    )
    assert drawn.filter(name="a, reno").rows() == [("a, reno", 0.3, 0.5)]
    assert drawn.filter(name="a, sack").rows() == [("a, sack", 0.1, 0.5), ("a, sack", 0.2, 1.0)]


def test_a_unit_is_not_said_twice(scenario: Path) -> None:
    assert curves(roamsim.sweep(scenario, {}), Target.parse("drops.packets")).y_title == "packets"


def events(rows: list[tuple[float, str, int, int]], *, name: str = "f", point: int = 0) -> polars.DataFrame:
    """Rows of the table `segments`."""
    frame = polars.DataFrame(rows, schema=["time_s", "event", "start_bytes", "end_bytes"], orient="row")
    return frame.with_columns(**about(name), point=polars.lit(point), replication=0)


# Segments of 1000 B: the second is lost and sent again; a duplicate ACK names the third in a SACK block.
LOST_AND_REPAIRED = [
    (0.0, "sent", 0, 1000),
    (0.0, "sent", 1000, 2000),
    (0.1, "lost", 1000, 2000),
    (0.2, "sent", 2000, 3000),
    (1.0, "acknowledged", 0, 1000),
    (1.2, "acknowledged", 1000, 1000),
    (1.2, "sacked", 2000, 3000),
    (1.3, "retransmitted", 1000, 2000),
    (2.3, "acknowledged", 1000, 3000),
]


def drawn_marks(segment_bytes: int | None) -> dict[str, list[tuple[float, float]]]:
    """What a time-sequence chart shows: for each kind of mark its places."""
    figure = Figure()
    axes = figure.add_subplot()
    timesequence.draw(axes, events(LOST_AND_REPAIRED), segment_bytes=segment_bytes)
    found = {str(line.get_label()): [(float(x), float(y)) for x, y in line.get_xydata()] for line in axes.lines}
    (bars,) = axes.collections
    found["SACK block"] = [(float(x), float(y)) for path in bars.get_paths() for x, y in path.vertices]
    return found


def test_a_time_sequence_chart_marks_what_happened_where() -> None:
    marks = drawn_marks(None)
    assert marks["sent"] == [(0.0, 500), (0.0, 1500), (0.2, 2500)]
    assert marks["lost"] == [(0.1, 1500)]
    assert marks["sent again"] == [(1.3, 1500)]
    assert marks["duplicate ACK"] == [(1.2, 1000)]
    assert marks["SACK block"] == [(1.2, 2000), (1.2, 3000)]
    assert marks["acknowledged"] == [(1.0, 1000), (1.2, 1000), (2.3, 3000)]


def test_a_time_sequence_chart_counts_segments_from_one() -> None:
    marks = drawn_marks(1000)
    assert marks["sent"] == [(0.0, 1), (0.0, 2), (0.2, 3)]
    # The line of acknowledgements runs between the last segment that it covers and the next.
    assert marks["acknowledged"] == [(1.0, 1.5), (1.2, 1.5), (2.3, 3.5)]
    assert marks["SACK block"] == [(1.2, 2.5), (1.2, 3.5)]


def test_an_ack_that_was_overtaken_takes_nothing_back() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    timesequence.draw(axes, events([(1.0, "acknowledged", 0, 2000), (1.1, "acknowledged", 1000, 1000)]))
    line = next(line for line in axes.lines if line.get_label() == "acknowledged")
    assert [float(y) for _, y in line.get_xydata()] == [2000, 2000]


def swept(tables: dict[str, polars.DataFrame], variants: list[str]) -> Results:
    """Results of a sweep over variants."""
    path = "flow.f.transport.variant"
    entries = [PointEntry({path: v}, {path: v}, v, 1) for v in variants]
    manifest = Manifest("sweep", "s", "", {}, "0", 1, [], vary={path: variants}, points=entries)
    return Results(Path(), manifest, tables)


def test_points_and_senders_make_panels() -> None:
    frames = [events(LOST_AND_REPAIRED, point=0), events(LOST_AND_REPAIRED, point=1)]
    results = swept({"segments": polars.concat(frames)}, ["reno", "sack"])
    assert [panel.title for panel in segments(results)] == ["reno", "sack"]
    frames.append(events(LOST_AND_REPAIRED, name="g", point=1))
    results = swept({"segments": polars.concat(frames)}, ["reno", "sack"])
    assert [panel.title for panel in segments(results)] == ["reno, f", "sack, f", "sack, g"]
    assert [panel.frame["name"][0] for panel in segments(results, Part(flow="g"))] == ["g"]
    many = [events(LOST_AND_REPAIRED, name=f"{n}") for n in range(13)]
    with pytest.raises(roamsim.UsageError, match="13 panels"):
        segments(swept({"segments": polars.concat(many)}, ["reno"]))


def test_a_part_of_the_time_carries_the_values_that_hold() -> None:
    samples = [(0.0, "cwnd", 1.0, "B"), (1.0, "cwnd", 2.0, "B"), (4.0, "cwnd", 3.0, "B")]
    (panel,) = time_series(recorded(samples), "cwnd", Part(start_s=2.0, end_s=3.0))
    assert panel.frame.select("time_s", "value").rows() == [(2.0, 2.0), (3.0, 2.0)]
    (panel,) = time_series(recorded(samples), "cwnd")
    assert panel.frame["time_s"].to_list()[-1] == 4.0
    measured = [(0.5, "rtt", 0.1, "s"), (2.5, "rtt", 0.2, "s")]
    (panel,) = time_series(recorded(measured), "rtt", Part(start_s=2.0))
    assert panel.frame.select("time_s", "value").rows() == [(2.5, 0.2)]  # a measurement holds no longer than itself
    with pytest.raises(roamsim.UsageError, match="has no width"):
        Part(start_s=2.0, end_s=1.0)
    with pytest.raises(roamsim.UsageError, match="between these times"):
        segments(swept({"segments": events(LOST_AND_REPAIRED)}, ["reno"]), Part(start_s=5.0))
    with pytest.raises(roamsim.UsageError, match="nothing was recorded of 'g'; there are 'f'"):
        segments(swept({"segments": events(LOST_AND_REPAIRED)}, ["reno"]), Part(flow="g"))


def test_throughput_counts_from_the_start_of_the_part() -> None:
    # 1000 B each second: 8000 bit/s from 50 s to 100 s too, and nothing of what came before in the first slot.
    samples = [(float(t), "delivered", 1000.0 * t, "B") for t in range(201)]
    (panel,) = time_series(recorded(samples), "throughput", Part(start_s=50.0, end_s=150.0))
    assert panel.frame["time_s"].to_list() == pytest.approx([50.0 + n for n in range(100)])
    assert panel.frame["value"].to_list() == pytest.approx([8000.0] * 100)
