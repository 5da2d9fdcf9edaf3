"""TCP senders over time: why data is sent again, in columns, traces, sentences and figures of the command line."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import ROOT, Command
from roamsim.errors import UsageError
from roamsim.pictures.recorded import sequence
from roamsim.pictures.timeseries import Part
from roamsim.reports import outcome
from roamsim.storing.store import Results, open_results
from roamsim.technologies import senders

EXAMPLES = ROOT / "examples"
WALK = EXAMPLES / "walk-bbr.toml"
TRACES = "states,pacing,in_flight,cwnd,segments"
REASONS = {"duplicate_acks": "duplicate_ack", "rack": "rack", "loss_probe": "loss_probe", "timeout": "timeout"}


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The example, of 18 s: a gap, and a slower cell behind it."""
    folder = tmp_path_factory.mktemp("walk") / "bbr"
    package.run(WALK, set={"scenario.duration": "18s"}, trace=TRACES).save(folder)
    return open_results(folder)


def test_columns_and_trace_count_the_same_reasons(walked: Results) -> None:
    flow = walked["flows"].row(0, named=True)
    again = walked["segments"].filter(event="retransmitted")
    counts = dict(again.group_by("reason").len().iter_rows())
    assert {reason: flow[f"{column}_retransmissions"] for reason, column in REASONS.items()} == {
        reason: counts.get(reason, 0) for reason in REASONS
    }
    assert sum(counts.values()) == flow["retransmissions"]
    assert counts["rack"] > 0
    assert counts["timeout"] > 0


def test_reductions_that_are_undone_are_in_both() -> None:
    walk = package.run(EXAMPLES / "walk-pause.toml", set={"scenario.duration": "30s"}, trace="segments")
    undone = walk["segments"].filter(event="undone")
    assert undone.height == walk["flows"]["undone_reductions"].sum() > 0
    assert set(undone["reason"]) <= {"frto", "timestamp", "dsack"}
    assert (undone["start_bytes"] < undone["end_bytes"]).all()


def test_a_transport_that_tells_no_reason_has_none() -> None:
    quic = package.run(EXAMPLES / "quic-transfer.toml")["flows"].filter(protocol="quic")
    assert quic.height > 0
    assert quic["rack_retransmissions"].null_count() == quic.height
    sctp = package.run(EXAMPLES / "mobile-sctp.toml")["flows"].filter(protocol="sctp")
    reasons = ("duplicate_ack", "timeout", "path_removed")
    told = sum(sctp[f"{reason}_retransmissions"] for reason in reasons)
    assert sctp["path_removed_retransmissions"].sum() > 0
    assert told.to_list() == sctp["retransmissions"].to_list()


def test_the_trace_tells_that_a_path_was_removed() -> None:
    walk = package.run(EXAMPLES / "mobile-sctp.toml", trace="segments")
    again = walk["segments"].filter(event="retransmitted")
    counts = dict(again.group_by("reason").len().iter_rows())
    flows = walk["flows"].filter(protocol="sctp")
    for reason, column in {**REASONS, "path_removed": "path_removed"}.items():
        assert counts.get(reason, 0) == flows[f"{column}_retransmissions"].sum(), reason


def test_the_first_screen_says_why(walked: Results) -> None:
    [said, *_] = outcome.came_out(walked)
    flow = walked["flows"].row(0, named=True)
    assert f"{flow['rack_retransmissions']:.0f} by RACK" in said
    assert f"{flow['timeout_retransmissions']:.0f} after timeouts" in said
    assert " and " in said


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (
            {"rack": 280.0, "loss_probe": 20.0, "timeout": 13.0},
            "280 by RACK, 20 by loss probes and 13 after timeouts",
        ),
        ({"rack": 0.0, "timeout": 13.0}, "all after timeouts"),
        ({"rack": None}, ""),
        ({}, ""),
    ],
)
def test_reasons_in_words(counts: dict[str, float | None], words: str) -> None:
    assert outcome.reasons({f"{reason}_retransmissions": count for reason, count in counts.items()}) == words


def test_states_are_bands_in_their_order(walked: Results) -> None:
    states = walked["states"]
    assert states["state"].head(2).to_list() == ["startup", "drain"]
    figure = senders.picture(walked, Part())
    assert [panel.title.split(":")[0] for panel in figure.panels] == [
        "state of the congestion control; below it repairs",
        "rate, Mb/s",
        "window, kB",
        "retransmissions",
    ]
    bands = {mark.series: mark.frame for mark in figure.panels[0].marks}
    assert {"Startup", "Drain", "ProbeBW_DOWN", "ProbeBW_CRUISE", "timeout recovery"} <= bands.keys()
    # The states follow each other without a gap, up to the end of what was recorded.
    of_states = polars.concat(frame for frame in bands.values() if frame["low"][0] > 0.5).sort("t")
    assert of_states["until"].head(-1).to_list() == of_states["t"].tail(-1).to_list()
    last_s = max(float(walked[table]["time_s"].max()) for table in ("states", "samples", "segments"))  # type: ignore[arg-type]
    assert of_states["until"].max() == last_s
    marks = {mark.series: mark.frame.height for mark in figure.panels[3].marks}
    assert marks["sent again: RACK"] == walked["flows"]["rack_retransmissions"][0]
    within = senders.picture(walked, Part(None, 5.0, 6.0))
    shown = polars.concat(mark.frame for mark in within.panels[0].marks)
    assert (shown["t"].min(), shown["until"].max()) == (5.0, 6.0)


def test_a_time_sequence_chart_marks_reasons(walked: Results) -> None:
    named = {mark.series for mark in sequence(walked["segments"])}
    assert {"sent again: RACK", "sent again: timeout"} <= named
    assert "sent again" not in named
    # A folder of before that column.
    assert "sent again" in {mark.series for mark in sequence(walked["segments"].drop("reason"))}


def test_plot_and_report_show_a_sender(roamsim: Command, walked: Results, tmp_path: Path) -> None:
    picture = tmp_path / "states.svg"
    roamsim("plot", walked.path, "--what", "states", "--out", picture, "--flow", "download")
    text = picture.read_text()
    assert all(f">{words}<" in text for words in ("ProbeBW_UP", "pacing rate", "in flight", "sent again: RACK"))
    for what in ("pacing", "in_flight", "segments"):
        roamsim("plot", walked.path, "--what", what, "--out", tmp_path / f"{what}.svg")
    assert ">sent again: RACK<" in (tmp_path / "segments.svg").read_text().replace(
        "<!-- sent again: RACK -->", ">sent again: RACK<"
    )
    roamsim("report", walked.path, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "TCP sender over time" in page
    assert "retransmissions by reason" in page
    assert "ProbeBW_CRUISE" in page


def test_a_run_without_these_traces_says_which_to_ask_for(roamsim: Command, tmp_path: Path) -> None:
    roamsim("run", EXAMPLES / "slow-start.toml", "--trace", "cwnd", "--parquet", tmp_path / "out")
    told = roamsim("plot", tmp_path / "out", "--what", "states", code=2).stderr
    assert "run again with --trace states,pacing,in_flight,cwnd,segments" in " ".join(told.split())


def test_too_many_senders_are_refused(tmp_path: Path) -> None:
    package.run(EXAMPLES / "many-flows.toml", trace="states").save(tmp_path / "many")
    with pytest.raises(UsageError, match="choose a flow with --flow NAME"):
        senders.picture(open_results(tmp_path / "many"), Part())


def test_a_window_law_has_states_too(roamsim: Command) -> None:
    told = roamsim("run", EXAMPLES / "slow-start.toml", "--trace", "states", "--csv", "--table", "states").stdout
    states = polars.read_csv(told.encode())
    assert states["from"].unique().to_list() == ["server"]
    assert states["state"][0] == "slow_start"


SHORT = """
scenario = { name = "s", duration = "2s" }
node = [{ name = "a" }, { name = "b" }]
link = [{ name = "path", between = ["a", "b"], rate = "10Mb/s", delay = "20ms" }]
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "tcp" }
application = { kind = "transfer", size = "20kB" }
"""


def test_a_sender_of_one_state_is_drawn_until_the_end_of_the_run(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    roamsim("run", "short.toml", "--trace", "states", "--parquet", "out", "--report", "page.html")
    picture = ["plot", "out", "--what", "states", "--out", "states.png"]
    roamsim(*picture, "--to", "1s")
    assert "the run ends at 2 s" in roamsim(*picture, "--from", "3s", code=2).stderr


def test_each_run_of_a_sweep_ends_when_it_does(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT)
    roamsim("sweep", "short.toml", "--vary", "scenario.duration=2s,4s", "--trace", "states", "--out", "out")
    manifest = open_results(tmp_path / "out").manifest
    assert [manifest.duration_s(point) for point in (0, 1)] == [2, 4]
    picture = ["plot", "out", "--what", "states", "--out", "states.svg"]
    roamsim(*picture, "--from", "3s")
    assert "the run ends at 4 s" in roamsim(*picture, "--from", "5s", code=2).stderr
