"""A technology is found by where it lies: reports and plot hear of it without being told."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import polars
import pytest
import roamsim
from roamsim import technologies
from roamsim.errors import UsageError
from roamsim.technologies import wimax
from roamsim.technologies.wifi import airtime, categories, signals
from roamsim.technologies.wifi import rates as wifi_rates

TOWER = """
import polars
from roamsim.pictures.timed import Figure, Marks, Panel

HEIGHT = Marks("tower", "#000", "step", polars.DataFrame({"t": [0.0, 1.0], "v": [1.0, 2.0]}))
PICTURES = {"tower": lambda results, part: Figure([Panel("height, m", [HEIGHT])])}


def report(page, results):
    page.heading(f"Tower of {results['links'].height} rows")
"""


def test_what_is_there() -> None:
    assert [one.__name__ for one in technologies.technologies()] == [
        "roamsim.technologies.dect",
        "roamsim.technologies.mobility",
        "roamsim.technologies.selection",
        "roamsim.technologies.senders",
        "roamsim.technologies.wifi",
        "roamsim.technologies.wimax",
    ]
    assert list(technologies.pictures()) == ["occupancy", "states", "link_events"]


def test_a_new_one_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tower.py").write_text(TOWER)
    monkeypatch.setattr(technologies, "__path__", [*technologies.__path__, str(tmp_path)])
    example = Path(__file__).parent.parent / "examples" / "wifi-signalling.toml"
    try:
        results = roamsim.sweep(example, {"scenario.duration": ["20s"]}, out=tmp_path / "out")
        rows = results["links"].height
        assert f"Tower of {rows} rows" in results.report().read_text()
        assert ">height, m<" in results.plot("tower").read_text()
        assert results.plot("tower", out=tmp_path / "tower.pdf").read_bytes().startswith(b"%PDF")
        assert results.plot("tower", out=tmp_path / "tower.png").read_bytes().startswith(b"\x89PNG")
    finally:
        sys.modules.pop("roamsim.technologies.tower", None)


def widths(figure: dict[str, Any]) -> list[list[float]]:
    """What the bars of each part of a figure are long, part by part."""
    return [[row["value"] for row in view["data"]["values"] if row["opacity"] == 1] for view in figure["concat"]]


def names(figure: dict[str, Any]) -> list[list[str]]:
    """What the bars of each part of a figure are of."""
    return [view["encoding"]["y"]["scale"]["domain"] for view in figure["concat"]]


def test_the_time_of_a_wifi_cell_adds_up_to_the_run(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wifi-contention.toml"
    results = roamsim.sweep(
        example, {"wifi.air.cw_min": [15, 31]}, replications=1, set={"scenario.duration": "2s"}, out=tmp_path / "out"
    )
    parts = results["wifi"].select("data_s", "control_s", "management_s", "collision_s", "backoff_s", "idle_s")
    assert parts.sum_horizontal().to_list() == pytest.approx([2.0, 2.0])
    radios = results["wifi_stations"]
    assert radios.height == 2 * 11
    assert radios["node"][0] == "access-point"
    # Who sends data is understood now and then only; ten stations that upload collide.
    assert 0 < radios["failed_attempts"].sum() < radios["attempts"].sum() / 2
    page = results.report().read_text()
    assert "Airtime of air: first point" in page
    assert "of them unanswered" in page


def test_a_radio_shows_its_airtime_its_contention_and_what_became_of_its_attempts() -> None:
    medium = {
        "data_s": 2.0,
        "control_s": 0.5,
        "management_s": 0.0,
        "collision_s": 0.5,
        "backoff_s": 1.0,
        "idle_s": 1.0,
    }
    own = {"data_s": [1.0], "control_s": [0.25], "management_s": [0.0], "lost_s": [0.5], "contention_s": [2.0]}
    radios = polars.DataFrame({"node": ["ap"], "attempts": [8], "failed_attempts": [2], **own})
    # Of 5 s: 40, 10, 0, 10, 20, 20 %; 20, 5, 0, 10 %; 40 %; and 8 - 2 attempts with an answer.
    shown = widths(airtime.draw(medium, radios))
    assert shown == [[40, 10, 0, 10, 20, 20], [20, 5, 0, 10], [40], [6, 2]]


def test_a_walk_between_access_points_shows_signals_and_associations(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wifi-roaming.toml"
    results = roamsim.sweep(example, {"scenario.duration": ["40s"]}, trace=["link_events"], out=tmp_path / "out")
    events = signals.recorded(results)
    assert events is not None
    spans = signals.associations(events, "walker", 40.0)
    # It is with one access point at a time, and changes to the other on its way.
    assert {link for link, _, _ in spans} == {"west cell", "east cell"}
    assert all(before[2] <= after[1] for before, after in itertools.pairwise(spans))
    assert spans[-1][2] == 40.0
    page = results.report().read_text()
    assert "Signals of access points and associations over time" in page
    assert results.plot("link_events").read_text().startswith("<svg")
    with pytest.raises(UsageError, match="a figure from 50 s on shows nothing: the run ends at 40 s"):
        results.plot("link_events", start_s=50.0)


def test_signals_of_a_plain_run_are_drawn_as_recorded_ones_are() -> None:
    rows = [
        (0.1, "west cell", "link_detected", -50.0),
        (0.2, "west cell", "link_up", None),
        (4.0, "west cell", "link_parameters_report", -70.0),
        (5.0, "west cell", "link_down", None),
    ]
    kept = polars.DataFrame(rows, schema=["time_s", "link", "event", "signal_dbm"], orient="row")
    kept = kept.with_columns(point=0, replication=0, node=polars.lit("walker"), distance_m=None)
    events = signals.recorded({"signals": kept})
    assert events is not None
    assert signals.associations(events, "walker", 9.0) == [("west cell", 0.2, 5.0)]
    assert "200th" in signals.note(events)
    assert [panel.title for panel in signals.draw(events).panels] == ["walker: signal, dBm", "walker: associated"]
    # Of many, those are drawn that change most, and the page says so.
    others = [
        kept.with_columns(node=polars.lit(f"w{i}"), signal_dbm=polars.col("signal_dbm") / (i + 2)) for i in range(9)
    ]
    assert "drawn" not in signals.note(polars.concat([kept, *others[:7]]))
    crowd = polars.concat([*reversed(others), kept])
    assert "8 of 10 stations are drawn" in signals.note(crowd)
    assert signals.stations(crowd) == [f"w{i}" for i in range(6, -1, -1)] + ["walker"]
    # What a trace has recorded is more.
    traced = kept.with_columns(reason=None)
    assert "200th" not in signals.note(traced)
    assert signals.recorded({"signals": kept, "link_events": traced}) is not None


def test_events_of_other_links_have_no_signals(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "cell-walk.toml"
    results = roamsim.sweep(example, {"scenario.duration": ["20s"]}, trace=["link_events"], out=tmp_path / "out")
    assert results["link_events"].height
    assert signals.recorded(results) is None
    with pytest.raises(UsageError, match="no signals of a"):
        results.plot("link_events")


def test_rates_that_adapt_are_told_and_drawn(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wifi-rates.toml"
    results = roamsim.sweep(
        example, {"wifi.air.rate_control.algorithm": ["arf"]}, replications=1, out=tmp_path / "out"
    )
    rates = results["wifi_rates"]
    to_walker = rates.filter(to="walker")
    assert to_walker["rate_bps"].to_list() == [1_000_000 * rate for rate in (6, 9, 12, 18, 24, 36, 48, 54)]
    assert all(attempts > 100 for attempts in to_walker["attempts"])
    # The neighbour stays at 5 m: nearly all at the highest rate.
    to_neighbour = rates.filter(to="neighbour")
    assert to_neighbour["attempts"][-1] > 0.99 * to_neighbour["attempts"].sum()
    drawn = wifi_rates.draw(rates)
    assert names(drawn)[0] == [
        "access-point to walker",
        "access-point to neighbour",
        "neighbour to access-point",
    ]
    assert "Attempts of air by rate" in results.report().read_text()


def test_rates_over_time_are_drawn_where_they_adapt(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wifi-rates.toml"
    results = roamsim.sweep(example, {"scenario.duration": ["55s"]}, trace=["rates"], out=tmp_path / "out")
    samples = results["samples"]
    assert samples["quantity"].unique().to_list() == ["rate"]
    to_walker = samples.filter(to="walker")
    assert to_walker.select("kind", "name", "from").unique().rows() == [("link", "air", "access-point")]
    # It begins at the lowest rate, is at the highest near the access point, and at the lowest again at 115 m.
    assert to_walker["value"][0] == 6e6
    assert to_walker.filter(polars.col("time_s") < 5.0)["value"].max() == 54e6
    assert to_walker.filter(polars.col("time_s") > 50.0)["value"].max() < 18e6
    # Only changes are kept.
    assert all(before != after for before, after in itertools.pairwise(to_walker["value"]))
    assert results.plot("rates").read_text().startswith("<?xml")
    page = results.report().read_text()
    assert "Over time: rate of data frames" in page
    assert "look-around frames of Minstrel, use another rate" in page


def test_access_categories_show_their_attempts_their_collisions_and_their_delay(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wifi-edca.toml"
    results = roamsim.sweep(example, {"scenario.duration": ["5s"]}, replications=1, out=tmp_path / "out")
    page = results.report().read_text()
    assert "Access categories of air" in page
    assert "Before an attempt frames contended in the mean: AC_BE" in page
    own = {
        "attempts": [10, 4],
        "failed_attempts": [4, 0],
        "internal_collisions": [0, 3],
        "contention_s": [0.05, 0.002],
    }
    two = polars.DataFrame({"node": ["ap", "ap"], "category": ["AC_BE", "AC_VO"], **own})
    drawn = categories.draw(two)
    shown = widths(drawn)
    # 10 - 4 and 4 with an answer, 4 and 0 without; 50 ms over 10 attempts, 2 ms over 4.
    assert shown == [[6, 4, 4, 0], [0, 3], pytest.approx([5.0, 0.5])]
    assert names(drawn)[0] == ["ap, AC_BE", "ap, AC_VO"]


def test_a_walk_in_an_802_16_cell_shows_its_frames_and_its_burst_profiles(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wimax-walk.toml"
    results = roamsim.sweep(example, {"scenario.duration": ["60s"]}, replications=1, out=tmp_path / "out")
    parts = results["wimax"].select(*wimax.FRAME)
    # 12,000 frames of 5 ms, and the one that begins when the run ends.
    assert parts.sum_horizontal().to_list() == pytest.approx([60.005])
    changes = wimax.first_run(results, "wimax_profiles")
    down = changes.filter(direction="downlink")["profile"].to_list()
    # Near the base station it begins with the fastest, as the cell has it; then it goes down step by step.
    assert down == wimax.PROFILES[::-1]
    line = wimax.profiles(changes, wimax.end_s(results)).panels[0].marks[0].frame
    # The last one holds to the end of the panel.
    assert [round(level) for level in line["v"]] == [6, 5, 4, 3, 2, 1, 0, 0]
    assert line["t"][-1] == pytest.approx(60.005)
    page = results.report().read_text()
    assert "Frames of air" in page
    assert "Burst profiles over time, first run" in page
    assert "14 changes of burst profile by 1 station, entries included." in page


def test_service_flows_of_classes_are_rows_of_the_picture_and_what_was_refused_is_told(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "wimax-classes.toml"
    results = roamsim.sweep(example, {"scenario.duration": ["20s"]}, replications=1, out=tmp_path / "out")
    rows = wimax.by_flow(results["wimax_flows"])
    # The first one of a station, and behind it those of its classes.
    expected = ["first, BE", "first, UGS DSCP 46", "first, rtPS DSCP 34", "second, BE", "second, UGS DSCP 46"]
    assert rows["node"].to_list() == expected
    drawn = wimax.draw(results["wimax"].to_dicts()[0], rows)
    assert names(drawn)[1] == expected
    assert widths(drawn)[1][:5] == (rows["burst_bytes"] - rows["padding_bytes"]).to_list()
    page = results.report().read_text()
    assert "Refused, and served best effort: UGS of second at" in page
    assert ">wimax_flows<" in page


def test_notes_count_one_in_the_singular() -> None:
    stations = polars.DataFrame({"requests": [1] + wimax.MAX_STATIONS * [0], "collided_requests": 0})
    assert wimax._note(stations).startswith("1 bandwidth request in contention, no collision.")
    assert wimax._note(stations).endswith(" In the table only: 1 station with fewer PDUs.")
    radios = polars.DataFrame({"attempts": [1] + airtime.MAX_RADIOS * [0], "failed_attempts": 0})
    assert (
        airtime._note(radios) == "1 attempt, 0.0 % of them unanswered. In the table only: 1 radio with less airtime."
    )


def test_a_station_shows_its_bursts_and_its_requests() -> None:
    cell = dict.fromkeys(wimax.FRAME, 0.0) | {"maps_s": 1.0, "uplink_data_s": 3.0}
    own = {"burst_bytes": [100], "padding_bytes": [30], "uplink_pdus": [2], "downlink_pdus": [0]}
    asked = {"requests": [5], "collided_requests": [2], "answered_polls": [4], "piggybacked_requests": [7]}
    stations = polars.DataFrame({"node": ["a"], **own, **asked})
    frame, bursts, requests = widths(wimax.draw(cell, stations))
    # 25 and 75 %; 100 - 30 used; 5 - 2 heard.
    assert (sum(frame), frame[1], frame[6]) == (100, 25, 75)
    assert (bursts, requests) == ([70, 30], [3, 2, 4, 7])
