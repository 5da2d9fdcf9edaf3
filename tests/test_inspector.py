"""The time line of a report: its lanes against the tables of real runs, and what a browser makes of it at both ends of zoom."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import roamsim
from conftest import ROOT, Command
from roamsim.pages.page import Report
from roamsim.reports import inspector
from roamsim.reports.inspector import radio
from roamsim.reports.inspector.packets import packets
from roamsim.reports.inspector.point import scenario_of
from roamsim.reports.inspector.rows import BINS, Lane, Row, chosen, columns, counts, distance, encoded, thinned
from roamsim.reports.results import report
from roamsim.storing.store import open_results
from test_report import open_in_browser

EXAMPLES = ROOT / "examples"
TRACES = ["link_events", "packets", "messages", "cwnd", "segments"]

Event = tuple[int, float, str, str, str]


def story(*events: Event, words: dict[int, str], to: dict[int, str] | None = None) -> polars.DataFrame:
    """A table of packets, those from b for a, and the others for b unless it is said."""
    sender = {packet: node for packet, _, event, node, _ in events if event == "sent"}
    for_whom = {packet: "a" if node == "b" else "b" for packet, node in sender.items()} | (to or {})
    return polars.DataFrame(
        [
            {
                "packet_id": packet, "time_s": time_s, "event": event, "node": node, "name": link, "to": "", "reason": "loss" if event == "dropped" else "",
                "destination": for_whom[packet], "flow": "f",
                "protocol": "udp", "description": words[packet], "size_bytes": 100,
            }
            for packet, time_s, event, node, link in events
        ]
    )  # fmt: skip


def lanes(name: str, **options: Any) -> tuple[dict[str, Any], Any]:
    """The lanes of a run of an example by title, and the run."""
    results = roamsim.run(EXAMPLES / f"{name}.toml", trace=TRACES, **options)
    canonical = json.loads(roamsim.load(EXAMPLES / f"{name}.toml", set=options.get("set")).canonical)
    model = inspector.time_line(inspector.first_run(results, 0), canonical)
    return {lane["title"]: lane for lane in model["lanes"]} | {"": model}, results


#: Of which nothing is known.


def kinds(row: dict[str, Any]) -> list[str]:
    kind = row["columns"]["kind"]
    return [kind["words"][at] for at in kind["at"]]


def test_a_message_that_was_lost_and_its_repetition_and_a_lost_acknowledgement() -> None:
    words = {
        0: "MIH_X.indication tid 7 ACK-Req",
        1: "MIH_X.indication tid 7 ACK-Req",
        2: "ACK of MIH_X.indication tid 7",
        3: "MIH_Z.indication tid 8",
    }
    found = packets(
        story(
            (0, 1.0, "sent", "a", ""), (0, 1.5, "dropped", "a", "path"),
            (1, 2.0, "sent", "a", ""), (1, 2.5, "delivered", "b", ""),
            (2, 2.5, "sent", "b", ""), (2, 2.75, "dropped", "b", "path"),
            (3, 3.0, "sent", "a", ""), (3, 3.5, "delivered", "b", ""),
            words=words,
        )
    )  # fmt: skip
    assert found["kind"].to_list() == ["lost", "repetition", "lost ACK", "message"]
    # Also what did not arrive names its destination.
    assert found["to"].to_list() == ["b", "b", "a", "b"]
    assert found["t"].to_list() == [1.0, 2.0, 2.5, 3.0]
    assert found["until"].to_list() == [1.5, 2.5, 2.75, 3.5]
    assert found["lost on"].to_list() == ["path", None, "path", None]


def test_a_number_that_has_come_round_is_no_repetition() -> None:
    # 4095 messages with numbers 1 ... 4095, and then number 1 again, and once more.
    numbers = [*range(1, 4096), 1, 1]
    words = {i: f"MIH_X.indication tid {number}" for i, number in enumerate(numbers)}
    events = [
        (i, i + part, event, node, "")
        for i in words
        for part, event, node in ((0.0, "sent", "a"), (0.5, "delivered", "b"))
    ]
    found = packets(story(*events, words=words))
    assert found["kind"].to_list() == ["message"] * 4096 + ["repetition"]


def test_a_segment_that_is_sent_again_with_another_acknowledgement_repeats_its_message() -> None:
    part = "length 9 [part of MIH_X.request tid 1]"
    words = {0: f"Flags [.], seq 1:10, ack 3, win 9, {part}", 1: f"Flags [.], seq 10:19, ack 3, win 9, {part}", 2: f"Flags [.], seq 1:10, ack 7, win 8, {part}"}  # fmt: skip
    found = packets(story(*[(i, float(i), "sent", "a", "") for i in words], words=words))  # fmt: skip
    # The second one carries another part of the message.
    assert found["repeated"].to_list() == [False, False, True]


def test_an_acknowledgement_that_rides_with_a_message_is_a_message() -> None:
    words = {0: "Flags [P.], seq 1:2, length 9 [ACK of MIH_X.request tid 1; MIH_Y.request tid 4]", 1: "Flags [.] [ACK of MIH_X.request tid 1]", 2: "Flags [.], ack 3"}  # fmt: skip
    found = packets(story(*[(i, float(i), "sent", "a", "") for i in words], words=words))
    assert found["carries"].to_list() == ["message", "ACK", "data"]
    assert found["outcome"].to_list() == ["on its way"] * 3


def test_a_broadcast_arrived_when_anybody_heard_it() -> None:
    words = {0: "agent advertisement 3 for 3 s", 1: "agent advertisement 4 for 3 s"}
    found = packets(
        story(
            (0, 1.0, "sent", "a", ""), (0, 1.1, "dropped", "a", "cell"), (0, 1.2, "delivered", "b", ""),
            (1, 2.0, "sent", "a", ""), (1, 2.1, "dropped", "a", "cell"), words=words, to={0: "", 1: ""},
        )
    )  # fmt: skip
    assert found["kind"].to_list() == ["agent advertisement", "unheard"]
    assert found["to"].to_list() == ["b", ""]
    assert found["until"].to_list() == [1.2, 2.1]


def test_marks_that_are_kept_are_rare_or_near_an_instant_and_the_others_are_counted() -> None:
    kind = ["delivered"] * 100
    kind[3] = "lost"
    frame = polars.DataFrame({"t": np.arange(100.0), "kind": kind})
    held, others = chosen(frame, 6, [50.0])
    # The lost one, then the five nearest to 50: of 48 and 52, which are as near, both.
    assert held["t"].to_list() == [3.0, 48.0, 49.0, 50.0, 51.0, 52.0]
    assert others.height == 94
    assert {kind: sum(number) for kind, number in counts(others, 100.0).items()} == {"delivered": 94}
    assert len(counts(others, 100.0)["delivered"]) == BINS
    assert distance(np.array([0.0, 4.0, 6.0, 99.0]), [5.0, 1.0]).tolist() == [1.0, 1.0, 1.0, 94.0]


def test_a_page_holds_few_marks_of_a_million_packets() -> None:
    frame = polars.DataFrame({"t": np.arange(1_000_000) / 1e4, "kind": ["delivered"] * 1_000_000})
    row = encoded(Lane("all", [Row("all", "packets", frame)]), 100.0, [50.0])["rows"][0]
    assert row["all"] == 1_000_000
    assert len(row["columns"]["t"]) == 4000
    assert sum(row["bins"]["delivered"]) == 996_000


def test_a_line_of_many_points_keeps_its_ends_and_extremes() -> None:
    value = np.zeros(10_000)
    value[1234], value[9876] = 7.0, -7.0
    frame = polars.DataFrame({"t": np.arange(10_000) / 10, "value": value})
    kept = thinned(frame, 400)
    assert kept.height <= 400
    assert kept["t"].is_sorted()
    assert (kept["t"][0], kept["t"][-1]) == (0.0, 999.9)
    assert {7.0, -7.0} <= set(kept["value"])
    assert thinned(frame, 10_000).equals(frame)


def test_texts_are_written_once() -> None:
    frame = polars.DataFrame({"t": [0.1, 0.2], "kind": ["a", "a"], "empty": ["", ""], "none": [None, None]})
    assert columns(frame) == {"t": [0.1, 0.2], "kind": {"words": ["a"], "at": [0, 0]}}


def test_steps_of_a_handover_by_mih_stand_where_the_table_has_them() -> None:
    found, results = lanes("mih-handover")
    (account,) = results["mih_handovers"].iter_rows(named=True)
    steps = found["Handovers of terminal"]["rows"][0]
    assert kinds(steps) == ["scanning", "asking for resources", "commitment", "redirection"]
    begins = ["scan_begun_s", "resources_asked_s", "commit_asked_s", "redirect_begun_s"]
    ends = ["scan_done_s", "resources_known_s", "committed_s", "redirected_s"]
    assert steps["columns"]["t"] == [round(account[name], 9) for name in begins]
    assert steps["columns"]["until"] == [round(account[name], 9) for name in ends]
    # All MIH messages, a row for each node that sends any; all others are of the flow and the redirection.
    sent = results["packets"].filter(event="sent")
    rows = found["MIH messages"]["rows"]
    assert [row["name"] for row in rows] == ["from terminal", "from pos-1", "from pos-2"]
    assert sum(row["all"] for row in rows) == sent["description"].str.contains("MIH_").sum()
    (stream,) = found["Application packets"]["rows"]
    assert kinds(stream) == ["delivered"] * 60
    assert found[""]["packets"]["all"] == sent.height


def test_a_link_is_up_from_link_up_to_link_down() -> None:
    found, _ = lanes("link-events")
    (west, east) = found["Link events at terminal"]["rows"]
    up = kinds(west).index("up")
    # 170 m from its base station: 20 m + 5 m/s * t at 10 m beside it, so that it leaves at (sqrt(170^2 - 10^2) - 20) / 5 = 29.94 s;
    # the next beacon is missed at 293 * 102.4 ms = 30.0032 s, and the third one in a row ends the link at 30.208 s.
    assert west["columns"]["t"][up] == 0.0
    assert west["columns"]["until"][up] == pytest.approx(30.208)
    assert east["columns"]["until"][kinds(east).index("up")] == 60.0
    distances = found["Distance to base stations at terminal [m]"]["rows"]
    assert [row["name"] for row in distances] == ["west cell", "east cell"]
    assert distances[0]["columns"]["value"][0] == pytest.approx(np.hypot(20, 10))


def test_a_network_is_heard_from_its_detection_until_it_is_up_or_lost() -> None:
    told = ["link_detected", "link_up", "link_down", "link_detected", "link_lost", "link_detected"]
    events = polars.DataFrame(
        {"time_s": [1.0, 3.0, 4.0, 5.0, 7.0, 8.0], "link": "air", "node": "phone", "event": told}
    )  # fmt: skip
    (lane,) = radio.links(events, 9.0)
    spans = lane.rows[0].frame.filter(polars.col("until").is_not_null())
    assert spans.select("kind", "t", "until").rows() == [
        ("heard", 1.0, 3.0), ("up", 3.0, 4.0), ("heard", 5.0, 7.0), ("heard", 8.0, 9.0),
    ]  # fmt: skip


def test_the_line_of_a_signal_ends_where_reports_fail_to_come() -> None:
    times = [0.0, 0.1, 0.2, 0.3, 5.0, 5.1]
    events = polars.DataFrame(
        {"time_s": times, "link": "air", "node": "phone", "event": "link_parameters_report", "signal_dbm": [-40.0 - t for t in times], "distance_m": None},
        schema_overrides={"distance_m": polars.Float64},
    )  # fmt: skip
    (lane,) = radio.signals(events, {"node": [{"name": "phone", "wifi": {"signal_threshold": "-80dBm"}}]})
    # Five times the usual interval of 100 ms.
    assert lane.rows[0].gap_s == pytest.approx(0.5)
    assert lane.levels == [("given up below", -80.0)]
    assert lane.title == "Signal at phone [dBm]"


def test_packet_errors_of_a_link_are_a_line_with_their_thresholds() -> None:
    events = polars.DataFrame(
        {"time_s": [0.5, 1.0, 1.5], "link": "wire", "node": "server", "event": "link_parameters_report", "packet_error_rate": [0.0, 0.25, 0.01]}
    )  # fmt: skip
    thresholds = [{"link": link, "packet_error_percent": percent} for link, percent in (("wire", 10), ("other", 20))]
    canonical = {
        "signalling": [{"from": "client"}, {"from": "server", "thresholds": [*thresholds, {"link": "wire"}]}]
    }
    (lane,) = radio.signals(events, canonical)
    assert lane.title == "Packet errors at server [%]"
    assert lane.rows[0].frame["value"].to_list() == [0.0, 25.0, 1.0]
    assert lane.levels == [("threshold", 10.0)]
    # Nothing happened to the link itself.
    assert not radio.links(events, 2.0)


def test_messages_are_delivered_late_or_lost() -> None:
    # 160-byte messages over a slow cell that is left: those that waited longer than 150 ms are late.
    found, results = lanes(
        "mih-handover",
        set={
            "link.e.loss": {"model": "bernoulli", "probability": 0.3},
            "link.d.delay": "10ms",
            "link.e.delay": "140ms",
        },
    )
    (stream,) = found["Application packets"]["rows"]
    delivered = results["messages"].filter(name="stream").height
    lost = results["flows"]["lost_packets"][0]
    assert lost > 5
    assert kinds(stream).count("lost") == lost
    # 140 ms + 10 ms and the time of transmission: all that arrive are late.
    assert kinds(stream).count("late") == delivered


def test_what_was_not_recorded_is_named(roamsim: Command, tmp_path: Path) -> None:
    roamsim("run", EXAMPLES / "mih-handover.toml", "--parquet", "out")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    said = re.search(r"Not recorded: (.*?)</p>", page)
    assert said is not None
    assert said[1] == (
        "all link events, signalling and losses, messages of applications. "
        "Run again with <code>--trace link_events,packets,messages</code>."
    )
    # Handovers are recorded always.
    assert 'data-time-line="time-line"' in page


def test_what_was_asked_for_in_vain_is_not_asked_for_again(roamsim: Command, tmp_path: Path) -> None:
    # A cell without beacons tells nothing of its link; a bulk stream has no messages.
    roamsim(
        "run", EXAMPLES / "wifi-rates.toml", "--set", "scenario.duration=2s", "--parquet", "out", "--trace", "link_events,cwnd,segments,messages"
    )  # fmt: skip
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Not recorded: signalling and losses. Run again with <code>--trace packets</code>." in page
    assert "Asked for, but nothing in this scenario has: signals and link events." in page


def test_a_run_in_which_nothing_moves_has_no_time_line(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--parquet", "out", "--trace", "packets")
    roamsim("report", "out")
    assert "Time line" not in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("name", ["cell-walk", "mobile-ip", "mobile-sctp", "wifi-roaming"])
def test_every_walk_has_its_lanes(name: str) -> None:
    found, results = lanes(name, set={"scenario.duration": "20s"})
    model = found.pop("")
    assert any(title.startswith(("Signal at", "Distance to")) for title in found)
    assert any(title.startswith("Link events at") for title in found)
    for lane in found.values():
        for row in lane["rows"]:
            t = row["columns"]["t"]
            assert t == sorted(t)
            assert len(t) + sum(map(sum, row.get("bins", {}).values())) == row["all"] or lane["shape"] == "lines"
            assert all(0 <= time_s <= 20 for time_s in t)
    assert model["packets"]["all"] == results["packets"].filter(event="sent").height


@pytest.mark.parametrize(
    ("name", "measured"),
    [("wimax-walk", "signal_dbm"), ("cell-walk", "distance_m"), ("wifi-roaming", "signal_dbm")],
)
def test_a_plain_run_draws_what_stations_heard(name: str, measured: str) -> None:
    """Lanes of what each run keeps, without a trace, are those of all link events, with fewer reports."""
    options = {"set": {"scenario.duration": "40s"}}
    traced, all_rows = lanes(name, **options)
    plain = roamsim.run(EXAMPLES / f"{name}.toml", **options)
    canonical = json.loads(roamsim.load(EXAMPLES / f"{name}.toml", **options).canonical)
    model = inspector.time_line(inspector.first_run(plain, 0), canonical)
    found = {lane["title"]: lane for lane in model["lanes"]}
    walker = next(title for title in found if title.startswith(("Signal at", "Distance to")))
    assert found[walker]["levels"] == traced[walker]["levels"]
    for row in found[walker]["rows"]:
        assert row["table"] == "signals"
        reported = all_rows["link_events"].filter(link=row["name"]).drop_nulls(measured)
        assert 20 < row["all"] < reported.height
        held = set(zip(row["columns"]["t"], row["columns"]["value"], strict=True))
        assert held <= set(reported.select(polars.col("time_s", measured).round(9)).iter_rows())
    (links,) = (title for title in found if title.startswith("Link events at"))
    for kept, row in zip(found[links]["rows"], traced[links]["rows"], strict=True):
        told = [
            (t, kind)
            for t, kind in zip(row["columns"]["t"], kinds(row), strict=True)
            if kind in ("heard", "up", "link_detected", "link_up", "link_down", "link_lost")
        ]
        assert list(zip(kept["columns"]["t"], kinds(kept), strict=True)) == told
    assert "Signals: the last report of each 200th of the run. " in inspector._note(model)
    assert "200th" not in inspector._note(traced[""])


def test_of_many_walkers_it_is_said_whose_signals_are_kept_and_which_are_drawn() -> None:
    def kept(walkers: int) -> polars.DataFrame:
        rows = [
            (float(t), "air", f"w{i}", "link_parameters_report", -50.0 - i * t)
            for i in range(walkers)
            for t in (0, 1)
        ]
        columns = ["time_s", "link", "node", "event", "signal_dbm"]
        return polars.DataFrame(rows, schema=columns, orient="row").with_columns(
            distance_m=polars.lit(None, polars.Float64)
        )

    few, many = (inspector._note(inspector.time_line({"signals": kept(n)}, STAR)) for n in (4, 100))
    assert "left out" not in few and "first 100 nodes that move" not in few
    assert "Signals and link events of 96 more nodes are left out" in many
    assert "for the first 100 moving nodes only" in many


#: A correspondent that streams through a router to mobile nodes that forward nothing.
STAR: dict[str, Any] = {
    "scenario": {"name": "star", "duration": "10s", "ip": "ipv4"},
    "node": [{"name": name} for name in ("cn", "router", "a", "b", "c")],
    "link": [
        {"name": f"to {name}", "between": [name, "router"], "rate": "10Mb/s", "delay": "5ms"} for name in ("cn", "a", "b", "c")
    ],
    "flow": [
        {
            "name": f"stream {name}", "from": "cn", "to": name, "transport": {"protocol": "udp"},
            "application": {"kind": "cbr", "packet_size": "160B", "interval": "20ms"},
        }
        for name in ("a", "b", "c")
    ],
}  # fmt: skip


def streams(
    *ways: tuple[str, str, str], receivers: str = "abc", canonical: dict[str, Any] = STAR
) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """What the rows of applications count, of messages 5 from cn to (node, who lost it, the next node), and the model."""
    steps = []
    for i, (to, by, following) in enumerate(ways):
        packet = {
            "packet_id": i, "protocol": "udp", "description": "message 5 (160 B)", "size_bytes": 188,
            "destination": to, "flow": f"stream {to}",
        }  # fmt: skip
        steps.append({**packet, "time_s": 1.0, "event": "sent", "node": "cn", "name": "", "to": "", "reason": ""})
        end = ("dropped", by, "link", following, "loss") if by else ("delivered", to, "", "", "")
        steps.append(
            {**packet, "time_s": 1.1, **dict(zip(("event", "node", "name", "to", "reason"), end, strict=True))}
        )
    flows = [
        {"name": f"stream {to}", "from": "cn", "to": to, "protocol": "udp", "sent_packets": 1.0} for to in receivers
    ]
    messages = [
        {"name": f"stream {to}", "from": "cn", "to": to, "generated_s": 1.0, "delivered_s": 1.1, "delay_s": 0.1}
        for to, by, _ in ways
        if not by
    ]
    tables = {
        "packets": polars.DataFrame(steps).sort("time_s", maintain_order=True),
        "flows": polars.DataFrame(flows), "messages": polars.DataFrame(messages),
    }  # fmt: skip
    model = inspector.time_line(tables, canonical)
    rows = next(lane["rows"] for lane in model["lanes"] if lane["title"] == "Application packets")
    return {row["name"]: {kind: kinds(row).count(kind) for kind in kinds(row)} for row in rows}, model


def test_a_loss_counts_for_the_flow_whose_packet_it_was() -> None:
    # Lost toward b before the ways part, arrived at a and c.
    found, _ = streams(("b", "cn", "router"), ("a", "", ""), ("c", "", ""))
    delivered = {"delivered": 1}
    assert found == {"stream a to a": delivered, "stream b to b": {"lost": 1}, "stream c to c": delivered}


def test_losses_of_a_run_are_counted_where_they_happened() -> None:
    # One link in five loses before the ways part, and one on the way to b alone.
    loss = {"model": "bernoulli", "probability": 0.2}
    links = [
        {**link, "loss": loss, "from": link["between"][0 if link["name"] == "to cn" else 1]} if link["name"] in ("to cn", "to b") else link
        for link in STAR["link"]
    ]  # fmt: skip
    for link in links:
        link.pop("from", None)
    scenario = {**STAR, "link": links}
    results = roamsim.run(scenario, trace=["packets", "messages"])
    lane = next(
        lane
        for lane in inspector.time_line(inspector.first_run(results, 0), scenario)["lanes"]
        if lane["title"] == "Application packets"
    )
    lost = {row["name"]: kinds(row).count("lost") for row in lane["rows"]}
    drops = {(link, node): packets for link, node, packets in results["packets"].filter(event="dropped").group_by("name", "node").len().rows()}  # fmt: skip
    assert drops["to b", "router"] > 50
    assert lost == {f"{name} to {to}": packets for name, to, packets in results["flows"]["name", "to", "lost_packets"].rows()}  # fmt: skip
    assert sum(lost.values()) == sum(drops.values())


def test_two_nodes_with_equal_transaction_ids_keep_their_responses() -> None:
    words = dict(enumerate(["MIH_X.request tid 7"] * 2 + ["MIH_X.response tid 7"] * 2))
    found = packets(
        story(
            (0, 1.0, "sent", "mn-1", ""), (0, 1.1, "delivered", "pos", ""),
            (1, 1.0, "sent", "mn-2", ""), (1, 1.1, "delivered", "pos", ""),
            (2, 1.2, "sent", "pos", ""), (2, 1.3, "dropped", "pos", "path"),
            (3, 1.2, "sent", "pos", ""), (3, 1.4, "delivered", "mn-2", ""),
            words=words, to={0: "pos", 1: "pos", 2: "mn-1", 3: "mn-2"},
        )
    )  # fmt: skip
    assert found["to"].to_list() == ["pos", "pos", "mn-1", "mn-2"]
    assert found["kind"].to_list() == ["message", "message", "lost", "message"]


def test_radio_phases_are_bars_of_their_networks() -> None:
    found, results = lanes("wimax-walk", set={"scenario.duration": "15s"})
    (row,) = found["Radio phases at walker"]["rows"]
    table = results["radio_phases"]
    assert row["name"] == "air"
    assert kinds(row) == table["phase"].to_list() == ["scanning", "ranging", "capabilities", "registration", "service_flows"]  # fmt: skip
    # One begins where the one before ends, and the last ends when the link is up.
    up = results["link_events"].filter(event="link_up")["time_s"].to_list()
    assert [*table["begin_s"].to_list()[1:], *up] == table["end_s"].to_list()
    found, _ = lanes("wifi-roaming", set={"scenario.duration": "5s"})
    phases = {kind for title in found if title.startswith("Radio phases") for row in found[title]["rows"] for kind in kinds(row)}  # fmt: skip
    assert phases == {"scanning", "authentication", "association"}


def sweep_of(tmp_path: Path, scenario: str, vary: dict[str, Any], **options: Any) -> tuple[Any, dict[str, Any], str]:
    """A sweep whose first point is traced, its time line as the page holds it, and the page."""
    results = roamsim.sweep(
        EXAMPLES / f"{scenario}.toml", vary, replications=1, out=tmp_path / "out", trace=["link_events", "packets", "messages"],
        **options,
    )  # fmt: skip
    page = report(tmp_path / "out").read_text()
    held = re.search(r'id="time-lines">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    return results, json.loads(held[1])["time-line"], page


@pytest.mark.parametrize("replaced", [{}, {"flow.stream.application.packet_size": "300B"}])
@pytest.mark.parametrize("duration", ["8s", "40s"])
def test_the_time_line_of_a_sweep_ends_with_its_point(
    tmp_path: Path, duration: str, replaced: dict[str, str]
) -> None:
    # The scenario itself has 30 s.
    _, model, page = sweep_of(tmp_path, "mih-handover", {"scenario.duration": [duration]}, set=replaced)
    assert model["end"] == float(duration[:-1])
    assert "cannot be read again" not in page
    # The parameters do not say how long it would have been.
    parameters = page.split('<details class="parameters"')[1].split("</details>")[0]
    assert duration in parameters
    assert "30s" not in parameters
    rows = [row for lane in model["lanes"] for row in lane["rows"] if "until" in row["columns"]]
    assert max(until for row in rows for until in row["columns"]["until"] if until is not None) <= model["end"]


def test_what_was_varied_decides_what_is_late(tmp_path: Path) -> None:
    # Packets take 20.2 ms: late with a delay of 10 ms, in time with the 1 s that the scenario has before it is varied.
    film = {"kind": "video", "film": "lecture_room_cam", "packet_size": "200B", "playout_delay": "1s"}
    results, model, _ = sweep_of(
        tmp_path, "mih-handover", {"flow.stream.application.playout_delay": ["10ms"]},
        set={"scenario.duration": "3s", "flow.stream.application": film},
    )  # fmt: skip
    (stream,) = next(lane["rows"] for lane in model["lanes"] if lane["title"] == "Application packets")
    assert results["messages"]["delay_s"].max() < 1
    assert kinds(stream) == ["late"] * results["messages"].height


@pytest.mark.parametrize(
    ("scenario", "path", "value", "level"),
    [
        ("mih-handover", "cell.large.coverage.radius", "400m", ["edge of large", 400.0]),
        ("wifi-roaming", "node.walker.wifi.signal_threshold", "-60dBm", ["given up below", -60.0]),
    ],
)
def test_levels_are_those_of_the_point(
    tmp_path: Path, scenario: str, path: str, value: str, level: list[Any]
) -> None:
    _, model, _ = sweep_of(tmp_path, scenario, {path: [value]}, set={"scenario.duration": "3s"})
    assert level in [level for lane in model["lanes"] for level in lane["levels"]]


def test_a_scenario_that_cannot_be_read_again_is_not_taken_for_that_of_a_point(tmp_path: Path) -> None:
    results, _, _ = sweep_of(tmp_path, "mih-handover", {"scenario.duration": ["5s"]})
    manifest = results.manifest
    (point,) = manifest.points
    canonical, whole = scenario_of(manifest, point)
    assert (canonical["scenario"]["duration"], whole) == ("5s", True)
    # Another build wrote it, and values that were replaced are in no text: neither can be proven.
    point.fingerprint, manifest.build, manifest.text = (
        "of another",
        "of another",
        manifest.text.replace("200B", "300B"),
    )
    canonical, whole = scenario_of(manifest, point)
    assert not whole
    assert "scenario" not in canonical
    assert canonical["flow"] == manifest.canonical["flow"]
    # Without such values the text itself is enough.
    manifest.text = (EXAMPLES / "mih-handover.toml").read_text()
    assert scenario_of(manifest, point)[1]
    # Where flows were varied, of the rest only the duration is known.
    manifest.text, point.values = "", {"flow.stream.to": "nobody"}
    assert scenario_of(manifest, point) == ({"scenario": manifest.canonical["scenario"]}, False)


def test_rows_and_nodes_that_are_left_out_are_counted(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(20)]
    flows = [
        {**STAR["flow"][0], "name": f"stream {name}", "to": name} for name in names
    ]  # fmt: skip
    found, model = streams(*[(name, "", "") for name in names], receivers=names, canonical={**STAR, "flow": flows})  # type: ignore[arg-type]
    assert len(found) == 12
    assert "Application packets: 8 more rows left out, from the end of the tables." in inspector._note(model)
    # Six nodes have link events, four are shown.
    events = polars.DataFrame({"time_s": [1.0] * 6, "link": "air", "node": names[:6], "event": "link_up"})
    events = events.with_columns(
        signal_dbm=polars.lit(None, polars.Float64), distance_m=polars.lit(None, polars.Float64)
    )
    told = inspector.time_line({"link_events": events}, STAR)
    assert sum(lane["title"].startswith("Link events at") for lane in told["lanes"]) == 4
    assert "Signals and link events of 2 more nodes are left out" in inspector._note(told)


HOSTILE = "</script><img src=x onerror=document.title='broken'>\"'`${1}"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run in which nodes, a cell and a flow have names that would break out of markup or a script."""
    folder = tmp_path_factory.mktemp("hostile")
    text = (EXAMPLES / "mih-handover.toml").read_text()
    for what in ("terminal", "small", "stream", "walk", "pos-1"):
        text = text.replace(f'"{what}"', json.dumps(f"{what} {HOSTILE}"))
    roamsim.sweep(text, {"scenario.duration": ["20s"]}, replications=1, out=folder / "out", trace=TRACES)
    return report(folder / "out")


class Elements(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def test_names_do_not_break_out_of_a_page(hostile: Path) -> None:
    text = hostile.read_text()
    page = Elements(text)
    assert "img" not in page.tags
    assert page.handlers == []
    # As many scripts are opened as are meant, and none ends before its end.
    held = re.search(r'id="time-lines">(.*?)</script>', text, re.DOTALL)
    assert held is not None
    model = json.loads(held[1])["time-line"]
    assert f"Link events at terminal {HOSTILE}" in [lane["title"] for lane in model["lanes"]]
    rows = {row["name"] for lane in model["lanes"] for row in lane["rows"]}
    assert {f"small {HOSTILE}", f"from pos-1 {HOSTILE}", f"stream {HOSTILE} to terminal {HOSTILE}"} <= rows


@pytest.mark.needs("chromium")
def test_names_do_not_break_out_in_a_browser(hostile: Path, tmp_path: Path) -> None:
    # Every mark is told in turn, at all zooms of the chart: titles, details, ways of packets, arrows and labels.
    script = """
        const place = document.querySelector("[data-time-line]"), board = place.querySelector(".lanes");
        const key = (key) => board.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        for (let n = 0; n < 9; n++) key("+");
        let told = "";
        const tell = (n) => {
            key("n");
            told += place.querySelector(".detail").textContent;
            if (n < 40) return setTimeout(() => tell(n + 1), 5);
            const figure = place.closest("figure");
            figure.dataset.told = told.includes("<img src=x onerror=");
            figure.dataset.images = document.querySelectorAll("img, [onerror]").length;
            figure.dataset.title = document.title;
        };
        tell(0);
    """
    figure = opened(hostile, tmp_path, script=script)
    said = dict(re.findall(r'data-(told|images|title)="([^"]*)"', figure.split(">", 1)[0]))
    assert said["told"] == "true"
    assert said["images"] == "0"
    assert said["title"] != "broken"
    assert "<img" not in figure
    assert "&lt;img src=x" in figure


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the handover by MIH, with losses."""
    folder = tmp_path_factory.mktemp("walk")
    results = roamsim.sweep(
        EXAMPLES / "mih-handover.toml", {"link.c.loss.probability": [0.3]}, replications=1, out=folder / "out",
        set={"link.c.loss": {"model": "bernoulli", "probability": 0.3}}, trace=TRACES,
    )  # fmt: skip
    page = Report("A walk")
    inspector.report(page, results)
    return page.write(folder / "out" / "page.html")


def opened(page: Path, tmp_path: Path, *, at: str = "", width: int = 1280, script: str = "") -> str:
    """The time line of a page after it was opened at a span, and a script was run in it."""
    copy = tmp_path / "page.html"
    head, tail = page.read_text().rsplit("</body>", 1)
    copy.write_text(f"{head}<script type='module'>{script}</script></body>{tail}")
    dom, console = open_in_browser(copy, tmp_path, width, f"#time-line@{at}" if at else "")
    assert console == []
    figure = re.search(r'<figure id="time-line".*?</figure>', dom, re.DOTALL)
    assert figure is not None
    return figure[0]


def row(figure: str, name: str) -> str:
    found = re.search(rf'<g data-row="{name}".*?</g></g>', figure, re.DOTALL)
    assert found is not None, name
    return found[0]


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("width", [1280, 500])
def test_the_whole_run_and_a_microsecond_are_drawn(walk: Path, tmp_path: Path, width: int) -> None:
    whole = opened(walk, tmp_path, width=width)
    assert 'data-span="0,30"' in whole
    assert ">30 s</text>" in whole
    for name in ("small", "steps by MIH", "from terminal", "from pos-1", "stream to terminal"):
        assert "<path" in row(whole, name) or "<rect" in row(whole, name), name
    assert 'data-line="small"' in whole
    # Few elements, however many marks.
    assert whole.count("<path") < 600
    results = open_results(walk.parent)
    scan_s = results["mih_handovers"]["scan_begun_s"][0]
    narrow = opened(walk, tmp_path, at=f"{scan_s},{scan_s + 2e-6}", width=width)
    labels = re.findall(r">\+([\d.]+) (µs|ns)</text>", narrow)
    assert len(labels) >= 2
    assert len(set(labels)) == len(labels)
    assert max(len(number) for number, _ in labels) <= 6
    assert "scanning 600 ms" in narrow


def on_their_way(sent: polars.DataFrame, begin: float, end: float) -> int:
    return sent.filter((polars.col("t") <= end) & (polars.col("until") >= begin)).height


@pytest.mark.needs("chromium")
def test_a_click_shows_the_message_and_the_chart_has_the_same_span(walk: Path, tmp_path: Path) -> None:
    results = open_results(walk.parent)
    sent = packets(results["packets"])
    lost = sent.filter(kind="lost").row(0, named=True)
    click = """
        const board = document.querySelector(".lanes"), sign = board.querySelector('g[data-row="from NODE"] path[data-kind="lost"]');
        const box = sign.getBoundingClientRect(), at = {bubbles: true, pointerId: 1, clientX: box.left + 1, clientY: box.top + box.height / 2};
        board.dispatchEvent(new PointerEvent("pointerdown", at));
        board.dispatchEvent(new PointerEvent("pointerup", at));
    """.replace("NODE", lost["from"])
    begin, end = lost["t"] - 0.001, lost["t"] + 0.05
    figure = opened(walk, tmp_path, at=f"{begin},{end}", script=click)
    told = re.search(r'<div class="detail".*', figure, re.DOTALL)
    assert told is not None
    for text in (
        lost["description"],
        f"<dd>{lost['packet_id']}</dd>",
        "<dd>dropped</dd>",
        "<td>dropped</td>",
        "<dd>loss</dd>",
        "on c to",
    ):
        assert text in told[0], text
    # An arrow for each packet that was on its way in the span, and the selected one is marked.
    assert figure.count('class="target"') == on_their_way(sent, begin, end)
    assert figure.count(' selected"') == 1
    # One that ended before the span has no arrow, though another took longer than it is ago.
    begin, end = lost["until"] + 1e-4, lost["until"] + 0.05
    assert (sent["until"] - sent["t"]).max() > begin - lost["t"]  # type: ignore[operator]
    later = opened(walk, tmp_path, at=f"{begin},{end}")
    assert later.count('class="target"') == on_their_way(sent, begin, end)


@pytest.mark.needs("chromium")
def test_a_line_a_drag_and_a_count_answer_to_the_pointer(tmp_path: Path) -> None:
    # 10,000 packets in 100 s, of which one was lost at 50.005 s, and a line from 0 to 99.
    times = np.arange(10_000) / 100 + 0.005
    kind = ["delivered"] * 10_000
    kind[5000] = "lost"
    marks = Lane("Packets", [Row("all", "packets", polars.DataFrame({"t": times, "kind": kind}))])
    line = Lane(
        "Line [m]",
        [Row("one", "link_events", polars.DataFrame({"t": np.arange(100.0), "value": np.arange(100.0)}))],
        "lines",
    )
    page = Report("Both")
    model = {"end": 100.0, "lanes": [encoded(lane, 100.0, [50.0]) for lane in (line, marks)]}
    page.time_line("time-line", model, "All")
    script = """
        const board = document.querySelector(".lanes"), place = document.querySelector("[data-time-line]"), said = [];
        const tell = (type, x, y, more) => { const box = board.getBoundingClientRect(); board.dispatchEvent(new PointerEvent(type, {bubbles: true, pointerId: 1, clientX: box.left + x, clientY: box.top + y, ...more})); };
        const click = (x, y) => { tell("pointerdown", x, y); tell("pointerup", x, y); said.push(place.querySelector(".detail").textContent); };
        const frame = board.querySelector(".frame").getBBox(), row = board.querySelector('g[data-row="all"]').getBBox();
        said.push(board.querySelector('g[data-row="all"]').dataset.count);
        click(frame.x + frame.width / 2, frame.y + 20);
        click(frame.x + frame.width / 2 + 1, row.y + row.height / 2);
        tell("pointerdown", frame.x + 300, 60); tell("pointermove", frame.x + 250, 60); tell("pointerup", frame.x + 250, 60);
        said.push(place.dataset.span);
        place.querySelector('[data-act="in"]').click();
        tell("pointerdown", frame.x + 300, 60); tell("pointermove", frame.x + 300 - frame.width / 10, 60); tell("pointerup", frame.x, 60);
        said.push(place.dataset.span);
        place.closest("figure").dataset.said = said.join("|");
    """
    figure = opened(page.write(tmp_path / "both.html"), tmp_path, script=script)
    found = re.search(r'data-said="([^"]*)"', figure)
    assert found is not None
    all_, at, count, whole, moved = found[1].split("|")
    assert all_ == "10000"
    # At 50 s, where the line is at 49 until 50 comes, or at 50 just then.
    assert re.search(r"one(49|50)", at)
    # Without packets there is no sequence chart, and the lanes are as wide as the place: a column of four points of some
    # 1090 is 100 s * 4 / 1090 wide, 37 packets, the lost one among them.
    assert 'class="chart"' not in figure
    number = re.search(r"lost1", count), re.search(r"delivered(\d+)", count)
    assert number[0] is not None
    assert number[1] is not None
    assert 30 < int(number[1][1]) < 45
    # The whole run cannot be moved; half of it, from 25 s to 75 s, goes 5 s further.
    assert whole == "0,100"
    assert [float(end) for end in moved.split(",")] == pytest.approx([30, 80])


@pytest.mark.needs("chromium")
def test_a_lane_says_how_many_rows_and_names_it_lacks(tmp_path: Path) -> None:
    frame = polars.DataFrame({"t": [0.0, 1.0], "value": [1.0, 2.0]})
    lines = Lane("Line [m]", [Row(f"line {n}", "samples", frame) for n in range(8)], "lines", left_out=3)
    page = Report("Lines")
    page.time_line("time-line", {"end": 1.0, "lanes": [encoded(lines, 1.0, [])]}, "All")
    figure = opened(page.write(tmp_path / "lines.html"), tmp_path)
    assert ">Line [m] (3 more rows are left out)</text>" in figure
    named = re.findall(r'<text class="name[^>]*>(?:<title>[^<]*</title>)?([^<]+)</text>', figure)
    assert sorted(named) == ["3 more: click", *(f"line {n}" for n in range(5))]


def texts_of(figure: str, kind: str) -> list[tuple[float, str]]:
    """Where texts of a kind begin, and what is seen of them."""
    found = re.findall(
        rf'<text class="{kind}[^"]*" x="([\d.]+)"[^>]*>(?:<title>[^<]*</title>)?([^<]*)</text>', figure
    )
    return [(float(x), text) for x, text in found if text]


@pytest.mark.needs("chromium")
def test_labels_of_a_time_line_do_not_merge(tmp_path: Path) -> None:
    # Two packets on their way at once, each for a second, the second 50 ms after the first.
    packets = polars.DataFrame({"t": [0.1, 0.15], "until": [1.1, 1.15], "kind": ["delivered"] * 2})
    described = packets.with_columns(description=polars.lit("download of a large file"))
    frame = polars.DataFrame({"t": [0.0, 1.0], "value": [1.0, 2.0]})
    begin = "download of a large file from the server"
    lanes = [
        Lane("Packets", [Row("all", "packets", described)]),
        Lane("Marks", [Row(f"{begin} to {to}", "packets", packets) for to in ("walker", "waiter")]),
        Lane("Lines", [Row(f"{begin} {what}", "samples", frame) for what in ("cwnd", "ssthresh")], "lines",
             levels=[("going down", 1.5), ("up", 1.51)]),
    ]  # fmt: skip
    page = Report("Labels")
    page.time_line("time-line", {"end": 2.0, "lanes": [encoded(lane, 2.0, []) for lane in lanes]}, "All")
    figure = opened(page.write(tmp_path / "labels.html"), tmp_path)
    words = texts_of(figure.partition('data-row="all"')[2].partition("data-row=")[0], "word")
    assert words
    # 6.2 points a letter: no label begins before another one ends.
    assert all(left + 6.2 * len(text) <= right for (left, text), (right, _) in pairwise(words))
    names = [text for _, text in texts_of(figure, "name")]
    assert names == ["all", "…walker", "…waiter", "…cwnd", "…ssthresh"]
    assert [text for _, text in texts_of(figure, "scale") if "up" in text] == ["up, going down"]


@pytest.mark.needs("chromium")
def test_a_time_line_opens_where_something_happens(tmp_path: Path) -> None:
    marks = polars.DataFrame({"t": [20.0, 20.5, 21.0], "kind": ["delivered"] * 3})
    page = Report("Short")
    lane = encoded(Lane("Packets", [Row("all", "packets", marks)]), 60.0, [])
    page.time_line("time-line", {"end": 60.0, "lanes": [lane]}, "All")
    figure = opened(page.write(tmp_path / "short.html"), tmp_path)
    span = re.search(r'data-span="([\d.]+),([\d.]+)"', figure)
    assert span is not None
    assert 19.9 < float(span[1]) < 20
    assert 21 < float(span[2]) < 21.1
    assert 'data-count="3"' in figure


@pytest.mark.needs("chromium")
def test_the_chart_says_how_many_packets_of_a_span_the_page_lacks(tmp_path: Path) -> None:
    # 100 packets a second for 100 s, each on its way for 1 ms; the first 6000 are held, for there is no instant to be near to.
    sent = polars.DataFrame(
        {
            "packet_id": np.arange(10_000, dtype=np.uint64), "time_s": np.arange(10_000) / 100, "event": "sent", "node": "a", "name": "",
            "to": "", "reason": "", "protocol": "udp", "description": "message", "size_bytes": 100,
        }
    )  # fmt: skip
    delivered = sent.with_columns(
        polars.col("time_s") + 0.001, polars.lit("delivered").alias("event"), polars.lit("b").alias("node")
    )
    model = inspector.time_line({"packets": polars.concat([sent, delivered])}, {"scenario": {"duration": "100s"}})
    page = Report("Many")
    page.time_line("time-line", model, "All")
    figure = opened(page.write(tmp_path / "many.html"), tmp_path, at="59.905,60.5")
    # 59.91 s to 59.99 s are held, nine packets; from 60 s on 50 a half second are not.
    assert "Sequence chart: 9 packets; some 50 others of this span are not in this page" in figure
    assert figure.count('class="target"') == 9


@pytest.mark.needs("chromium")
def test_keys_the_wheel_and_buttons_zoom(walk: Path, tmp_path: Path) -> None:
    script = """
        const board = document.querySelector(".lanes"), place = document.querySelector("[data-time-line]");
        const box = board.getBoundingClientRect(), spans = [];
        const after = (act) => { act(); spans.push(place.dataset.span); };
        const key = (key) => board.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        after(() => key("+"));
        after(() => key("ArrowRight"));
        after(() => place.querySelector('[data-act="all"]').click());
        after(() => board.dispatchEvent(new WheelEvent("wheel", {deltaY: -120, ctrlKey: true, clientX: box.left + 160, clientY: box.top + 60, bubbles: true, cancelable: true})));
        after(() => board.dispatchEvent(new WheelEvent("wheel", {deltaY: -120, clientX: box.left + 160, clientY: box.top + 60, bubbles: true, cancelable: true})));
        for (let n = 0; n < 60; n++) key("+");
        after(() => {});
        after(() => key("n"));
        place.closest("figure").dataset.spans = spans.join(" ");
    """
    figure = opened(walk, tmp_path, script=script)
    said = re.search(r'data-spans="([^"]*)"', figure)
    assert said is not None
    spans = [tuple(map(float, span.split(","))) for span in said[1].split(" ")]
    # Twice as near around the middle; a quarter of 15 s later; all; twice as near around the left end; the page scrolls.
    assert spans[0] == (7.5, 22.5)
    assert spans[1] == (11.25, 26.25)
    assert spans[2] == (0, 30)
    assert spans[3] == pytest.approx((0, 15), abs=0.1)
    assert spans[4] == spans[3]
    # No nearer than a microsecond.
    assert spans[5][1] - spans[5][0] == pytest.approx(1e-6, rel=1e-3)
    # The next mark is not in so short a span: it comes to it.
    assert spans[6][0] > spans[5][0]
    assert "a row of the table" in figure
