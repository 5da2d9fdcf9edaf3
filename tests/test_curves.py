"""What figures draw: the axis, the series, and throughput out of delivered bytes."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
import roamsim
from roamsim.curves import curves, delays
from roamsim.store import Manifest, Results
from roamsim.timeseries import time_series


def recorded(samples: list[tuple[float, str, float, str]]) -> Results:
    """Results that hold nothing but samples."""
    frame = polars.DataFrame(samples, schema=["time_s", "series", "value", "unit"], orient="row").with_columns(
        polars.lit(0).alias("point"), polars.lit(0).alias("replication")
    )
    manifest = Manifest(kind="run", scenario="s", text="", canonical={}, version="0", seed=1, command=[])
    return Results(Path(), manifest, {"samples": frame})


def test_throughput_is_the_slope_of_what_was_delivered() -> None:
    # 1000 B each second for 100 s, then nothing: 8000 bit/s, then 0; a hundredth of 200 s is 2 s.
    samples = [(float(t), "flow f/delivered", 1000.0 * min(t, 100), "B") for t in range(201)]
    rates = time_series(recorded(samples), "throughput")[0].frame
    assert rates["time_s"].to_list() == pytest.approx([2.0 * n for n in range(100)])
    assert rates["value"].to_list() == pytest.approx([8000.0] * 50 + [0.0] * 50)
    assert set(rates["unit"]) == {"bit/s"}


def test_a_window_that_never_moves_and_a_threshold_that_was_never_set_are_not_drawn() -> None:
    moving = [(float(t), "flow f/cwnd", 1000.0 * t, "B") for t in range(5)]
    still = [(0.0, "flow f (sink)/cwnd", 1.0, "B"), (1.0, "flow f (sink)/cwnd", 10.0, "B")]
    unset = [(0.0, "flow f/ssthresh", 2.0**64, "B")]
    drawn = time_series(recorded(moving + still + unset), "cwnd")[0].frame
    assert set(drawn["series"]) == {"flow f/cwnd"}


def test_what_was_not_recorded_is_said() -> None:
    with pytest.raises(roamsim.UsageError, match="the samples are of cwnd"):
        time_series(recorded([(0.0, "flow f/cwnd", 1.0, "B")]), "queue")


def test_a_number_is_the_axis_and_words_make_the_series(scenario: Path) -> None:
    vary = {"flow.download.transport.variant": "reno,newreno", "link.path.delay": "10ms,20ms"}
    drawn = curves(roamsim.sweep(scenario, vary, replications=2), "flows", "goodput_bps")
    assert drawn.x_title == "link.path.delay_s"
    assert drawn.frame.sort("series")["x"].to_list() == [0.01, 0.02] * 2
    assert sorted(set(drawn.frame["series"])) == ["variant=newreno", "variant=reno"]
    assert drawn.y_title == "goodput_bps [bit/s]"


def test_delays_are_shares_of_all_transactions() -> None:
    frame = polars.DataFrame({"signalling": ["a", "a", "b", "a", "a"], "delay_s": [0.3, None, 0.5, 0.1, 0.2]})
    manifest = Manifest(kind="run", scenario="s", text="", canonical={}, version="0", seed=1, command=[])
    drawn = delays(Results(Path(), manifest, {"transactions": frame}))
    # Three of the four of a succeeded: the curve ends at 3/4.
    assert drawn.filter(signalling="a").rows() == [("a", 0.1, 0.25), ("a", 0.2, 0.5), ("a", 0.3, 0.75)]
    assert drawn.filter(signalling="b").rows() == [("b", 0.5, 1.0)]


def test_a_unit_is_not_said_twice(scenario: Path) -> None:
    assert curves(roamsim.sweep(scenario, {}), "drops", "packets").y_title == "packets"
