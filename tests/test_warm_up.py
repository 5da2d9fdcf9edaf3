"""What is measured of a run, and from when: warm-ups that are cut, percentiles by choice."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
import roamsim
from conftest import ROOT, SCENARIO, Command

# 952 octets are 1000 of IP (RFC 768: 8 more, RFC 8200: 40), which take 1 ms at 8 Mb/s.
WIRE = """
scenario = { name = "One wire", duration = "10s" }
node = [{ name = "a" }, { name = "b" }]
link = [{ name = "wire", between = ["a", "b"], rate = "8Mb/s", delay = "10ms", queue = { packets = 10 } }]
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "952B", interval = "10ms" }
"""


def of(result: roamsim.Result, table: str, **where: str) -> dict[str, object]:
    (row,) = result[table].filter(**where).to_dicts()
    return row


def test_what_happens_before_the_end_of_the_warm_up_is_not_counted() -> None:
    # Packets leave at 0, 10, ..., 9990 ms; 500 of them at 5 s or later. One takes 1 ms on the wire and 10 ms to arrive: those
    # that left at 4990, ..., 9980 ms arrive within.
    result = roamsim.run(WIRE, set={"scenario.warm_up": "5s"})
    flow = of(result, "flows")
    assert (flow["sent_packets"], flow["delivered_packets"], flow["lost_packets"]) == (500, 500, 0)
    assert flow["sent_bytes"] == flow["delivered_bytes"] == 500 * 952
    assert flow["goodput_bps"] == 8 * 500 * 952 / 5
    assert flow["mean_delay_s"] == pytest.approx(0.011, rel=1e-12)
    assert (flow["start_s"], flow["stop_s"]) == (0, 10)
    link = of(result, "links", **{"from": "a"})
    assert (link["sent_packets"], link["sent_bytes"], link["utilisation"]) == (500, 500 * 1000, 0.1)
    # Of a flow that starts after the warm-up all is counted, over its own time.
    late = of(roamsim.run(WIRE, set={"scenario.warm_up": "5s", "flow.f.application.start": "6s"}), "flows")
    assert (late["sent_packets"], late["goodput_bps"]) == (400, 8 * 399 * 952 / 4)


def test_a_saturated_wire_is_used_all_the_time_that_is_measured() -> None:
    # A packet every half millisecond, from 2 s on; each takes 1 ms: one of two is dropped.
    changes = {"flow.f.application.interval": "500us", "flow.f.application.start": "2s"}
    whole = of(roamsim.run(WIRE, set=changes), "links", **{"from": "a"})
    assert whole["utilisation"] == 0.8
    result = roamsim.run(WIRE, set=changes | {"scenario.warm_up": "5s"})
    link = of(result, "links", **{"from": "a"})
    assert link["utilisation"] == 1.0
    assert (link["sent_packets"], link["dropped_packets"]) == (5000, 5000)
    assert of(result, "drops")["packets"] == 5000
    assert of(result, "flows")["loss_ratio"] == 0.5


def test_the_longest_queue_is_that_of_what_is_measured() -> None:
    # A burst within the warm-up, twice as fast as the wire, and then a packet in ten milliseconds.
    burst = """
[[flow]]
name = "burst"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "952B", interval = "500us", start = "1s", stop = "1100ms" }
"""
    whole = roamsim.run(WIRE + burst)
    assert of(whole, "links", **{"from": "a"})["max_queue_packets"] == 10
    assert whole.drops.height == 1
    cut = roamsim.run(WIRE + burst, set={"scenario.warm_up": "5s"})
    link = of(cut, "links", **{"from": "a"})
    assert (link["max_queue_packets"], link["mean_queue_packets"], link["dropped_packets"]) == (0, 0, 0)
    assert cut.drops.height == 0
    assert of(cut, "flows", name="burst")["delivered_packets"] == 0
    managed = roamsim.run(WIRE + burst, set={"scenario.warm_up": "5s", "link.wire.queue": {"discipline": "codel"}})
    assert of(managed, "queues", flow="f")["longest_wait_s"] == 0
    assert managed.queues.filter(flow="burst").height == 0


# Counts of the whole less those of a run that ends just before the warm-up does.
@pytest.mark.parametrize(
    "example",
    [
        "dumbbell",
        "cell-walk",
        "request-response",
        "wifi-contention",
        "wimax",
        "queue-management",
        "sctp-streams",
        "wimax-walk",
    ],
)
def test_counts_are_those_of_the_whole_less_those_before(example: str) -> None:
    file = ROOT / "examples" / f"{example}.toml"
    warm_up_ms = int(roamsim.load(file).duration_s * 1000) // 3
    whole = roamsim.run(file)
    before = roamsim.run(file, set={"scenario.duration": f"{warm_up_ms * 1_000_000 - 1}ns"})
    cut = roamsim.run(file, set={"scenario.warm_up": f"{warm_up_ms}ms"})
    assert cut.events == whole.events
    for table, keys in (("flows", ["name", "direction"]), ("links", ["name", "from", "to"])):
        counts = [name for name, dtype in cut.schema(table).items() if dtype.is_integer()]
        counts = [name for name in counts if name not in ("point", "replication", "seed", "max_queue_packets")]
        counts += ["sent_packets", "lost_packets"] if table == "flows" else []
        rest = whole[table].join(before[table], on=keys, how="left", suffix="_before", nulls_equal=True)
        for name in counts:
            expected = rest[name] - rest[f"{name}_before"].fill_null(0)
            assert cut[table][name].to_list() == expected.to_list(), f"{table}.{name}"
    dropped = whole.drops["packets"].sum() - before.drops["packets"].sum()
    assert cut.drops["packets"].sum() == dropped


def test_signalling_is_that_which_begins_after_the_warm_up() -> None:
    # Indications at 1, 1.5, ..., 7.5 s, six of them at 5 s or later.
    row = of(roamsim.run(SCENARIO, set={"scenario.warm_up": "5s"}), "signalling")
    assert row["messages"] == 6
    assert row["information_messages"] == 6
    assert row["mih_packets"] >= 12


def test_without_a_warm_up_nothing_is_cut() -> None:
    assert roamsim.run(SCENARIO).flows.equals(roamsim.run(SCENARIO, set={"scenario.warm_up": "0s"}).flows)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("warm_up", "10s", "nothing is counted, because the run ends after 10s"),
        ("warm_up", "1min", "nothing is counted"),
        ("percentiles", [50, 0], "0 is not a percentile"),
        ("percentiles", [100.5], r"100\.5 is not a percentile"),
        ("percentiles", [50, 90, 50], "the percentile 50 is listed twice"),
        ("percentiles", [p / 2 for p in range(1, 102)], "these are 101 percentiles"),
    ],
)
def test_what_cannot_be_measured_is_refused(key: str, value: object, says: str) -> None:
    with pytest.raises(roamsim.ScenarioError, match=says):
        roamsim.load(WIRE, set={f"scenario.{key}": value})


def test_an_error_tells_file_and_line(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(SCENARIO.replace('duration = "10s"', 'duration = "10s"\nwarm_up = "10s"'))
    said = roamsim("check", "late.toml", code=3).stderr
    assert "late.toml:5:11" in said


def test_tables_that_are_not_cut_are_named() -> None:
    with pytest.warns(UserWarning, match=r"the tables of wifi count from the beginning of the run on"):
        roamsim.run(
            ROOT / "examples" / "wifi-contention.toml", set={"scenario.warm_up": "1s", "scenario.duration": "2s"}
        )


def test_percentiles_are_chosen() -> None:
    # Packet k of a hundred, one a millisecond, takes 2 ms on the wire and waits k ms: its delay is 3 + k ms (nearest rank).
    changes = {
        "link.wire.rate": "4Mb/s",
        "link.wire.delay": "1ms",
        "link.wire.queue.packets": 200,
        "flow.f.application.interval": "1ms",
        "flow.f.application.stop": "100ms",
        "scenario.percentiles": [1, 10, 50, 99.9, 100],
    }
    found = roamsim.run(WIRE, set=changes).percentiles
    assert found["percent"].to_list() == [1, 10, 50, 99.9, 100]
    assert found["delay_s"].to_list() == pytest.approx([0.003, 0.012, 0.052, 0.102, 0.102], rel=1e-12)
    assert set(found["name"]) == {"f"}
    measured = roamsim.run(WIRE, set=changes | {"scenario.warm_up": "53ms"})
    cut = measured.percentiles
    # The first that arrives at 53 ms or later is that which left at 25 ms: 28 ms of delay; it and 74 more.
    assert cut["delay_s"].to_list() == pytest.approx([0.028, 0.035, 0.065, 0.102, 0.102], rel=1e-12)
    # Their mean is that of 3 + 25, ..., 3 + 99 ms, and the 95th percentile that of rank 72: 3 + 96 ms.
    flow = of(measured, "flows")
    assert (flow["mean_delay_s"], flow["p95_delay_s"]) == pytest.approx((0.065, 0.099), rel=1e-12)
    assert not hasattr(roamsim.run(WIRE), "percentiles")


def test_percentiles_are_a_metric() -> None:
    changes = {"scenario.percentiles": [90]}
    found = roamsim.compare(WIRE, {"link.wire.delay": ["10ms", "20ms"]}, set=changes, metric="percentiles.f.delay_s")
    assert found.means["mean"].to_list() == pytest.approx([0.011, 0.021], rel=1e-12)
    signalled = roamsim.run(SCENARIO, set={"scenario.percentiles": [50, 95]})
    own = signalled.percentiles.filter(polars.col("name") == "indications")["delay_s"].to_list()
    assert own == list(signalled.signalling.select("median_delay_s", "p95_delay_s").row(0))


STREAM = """
scenario = { name = "One buffer", duration = "25s" }
node = [{ name = "a" }, { name = "b" }]
[[link]]
name = "path"
between = ["a", "b"]
rate = "10Mb/s"
delay = "20ms"
outages = [{ start = "5s", duration = "13500ms" }]
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "tcp", send_buffer = "64kB", max_rto = "1s" }
application = { kind = "bulk" }
"""


def test_the_time_for_which_a_buffer_is_the_limit_is_split_where_the_warm_up_ends() -> None:
    def limited_s(changes: dict[str, str]) -> float:
        return float(roamsim.run(STREAM, set=changes)["send_buffers"]["limited_s"].sum())

    # The outage ends half a second behind the warm-up.
    warmed, whole = limited_s({"scenario.warm_up": "18s"}), limited_s({})
    before = limited_s({"scenario.duration": "18s"})
    assert before > 12
    assert 0.5 < warmed < 7
    assert before + warmed == pytest.approx(whole, rel=1e-9)
    # A connection that gives up after 3 s of the outage has no buffer any more, though the run goes on.
    given_up = limited_s({"flow.f.transport.user_timeout": "3s", "scenario.duration": "18s"})
    assert before - 10.5 < given_up < before - 9


CALL = """
scenario = { name = "A call", duration = "20s" }
node = [{ name = "a" }, { name = "b" }]
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Mb/s"
delay = "20ms"
outages = [{ start = "3s", duration = "5s" }]
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "sctp", max_lifetime = "200ms", ordered = false }
application = { kind = "cbr", packet_size = "160B", interval = "20ms", stop = "5010ms" }
"""


def test_what_is_lost_in_the_measured_time_was_sent_in_it(tmp_path: Path) -> None:
    lost = of(roamsim.run(CALL), "flows")["lost_packets"]
    # Behind the end of the warm-up one message is written, and all that went before it in the outage are given up.
    cut = roamsim.run(CALL, set={"scenario.warm_up": "5s"})
    flow = of(cut, "flows")
    assert flow["sent_packets"] == 1
    assert flow["lost_packets"] <= 1 < 50 < lost  # type: ignore[operator]
    cut.save(tmp_path / "call")
    assert roamsim.open_results(tmp_path / "call")["flows"].height == 1
