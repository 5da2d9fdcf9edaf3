"""QUIC from a user's side: beside TCP, in samples, in captures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars
import pytest
import roamsim
from conftest import ROOT, environment, run_command

TRANSFER = ROOT / "examples" / "quic-transfer.toml"


def test_its_window_and_round_trip_time_are_recorded() -> None:
    result = roamsim.run(TRANSFER, trace=["cwnd", "rtt"])
    flow = result.flows.row(by_predicate=polars.col("name") == "over_quic", named=True)
    assert (flow["protocol"], flow["variant"], flow["connection"]) == ("quic", "newreno", "completed")
    samples = result.samples.filter(polars.col("name").str.contains("over_quic"))
    window = samples.filter(polars.col("quantity") == "cwnd")["value"]
    # Ten datagrams of 1200 octets at first, and no less than two later.
    assert window[0] == 12_000
    assert window.min() >= 2400
    # 40 ms of delay, and up to 50 packets of 1480 octets in the queue: 59 ms.
    srtt = samples.filter(polars.col("quantity") == "srtt")["value"]
    assert 0.04 <= srtt.min() <= srtt.max() < 0.2


def test_a_key_of_its_congestion_control_is_compared(tmp_path: Path) -> None:
    key = "flow.over_quic.transport.fast_convergence"
    cubic = ("--set", "flow.over_quic.transport.congestion_control=cubic")
    compared = ("--vary", f"{key}=true,false", "--metric", "flows.over_quic.goodput_bps", "--replications", "3")
    done = run_command("compare", TRANSFER, *cubic, *compared, "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (told["over"], told["values"]) == (key, ["true", "false"])
    off, on = sorted(told["means"], key=lambda mean: mean["value"])
    assert (off["value"], on["value"]) == ("transport fast convergence no", "transport fast convergence yes")
    assert off["mean"] != on["mean"]
    # NewReno of the library has no such key.
    refused = run_command("compare", TRANSFER, *compared, cwd=tmp_path)
    assert refused.returncode == 3
    assert 'has no effect with congestion_control = "newreno"' in " ".join(refused.stderr.replace("│", "").split())


def test_its_flight_and_pacing_are_recorded() -> None:
    result = roamsim.run(TRANSFER, trace=["cwnd", "in_flight", "pacing"])
    samples = result.samples.filter((polars.col("name") == "over_quic") & (polars.col("from") == "phone"))
    of = {
        kind: samples.filter(polars.col("quantity") == kind)
        for kind in ("cwnd", "ssthresh", "in_flight", "pacing_rate")
    }
    assert all(frame.height > 10 for frame in of.values()), {kind: frame.height for kind, frame in of.items()}
    # The flight fills the window but for less than two datagrams, and is above it only after a reduction.
    assert of["in_flight"]["value"].max() <= of["cwnd"]["value"].max() + 2 * 1452
    assert of["in_flight"]["value"].max() >= 0.9 * of["cwnd"]["value"].max()
    # 1.25 windows a round trip of 40 ms or more: ten datagrams of 1200 octets at first.
    first = of["pacing_rate"]["value"][0]
    assert 0.5 * 1.25 * 12_000 * 8 / 0.04 < first <= 1.25 * 12_000 * 8 / 0.04


def test_each_end_writes_a_qlog(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    result = roamsim.run(TRANSFER, qlog=folder)
    flow = result.flows.row(by_predicate=polars.col("name") == "over_quic", named=True)
    assert sorted(file.name for file in folder.iterdir()) == ["over_quic-phone.sqlog", "over_quic-server.sqlog"]
    # JSON text sequences: each record begins with RS (RFC 7464).
    records = [json.loads(text) for text in (folder / "over_quic-phone.sqlog").read_text().split("\x1e")[1:]]
    head, events = records[0], records[1:]
    assert (head["qlog_version"], head["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert head["trace"]["title"] == "over_quic, phone"
    times = [event["time"] for event in events]
    assert times == sorted(times) and times[0] >= 0 and times[-1] <= 30_000
    names = [event["name"] for event in events]
    # Lost packets are those that the table counts, and metrics hold what is in flight.
    assert sum(name.endswith("packet_lost") for name in names) == flow["retransmissions"] > 0
    assert sum(name.endswith("packet_sent") for name in names) > 5_000_000 / 1452
    metrics = [event["data"] for event in events if event["name"].endswith("metrics_updated")]
    assert {"congestion_window", "bytes_in_flight", "smoothed_rtt"} <= set().union(*metrics)
    # The same run, the same octets.
    again = tmp_path / "again"
    roamsim.run(TRANSFER, qlog=again)
    for file in folder.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes()


def test_a_qlog_is_one_that_qvis_draws(tmp_path: Path) -> None:
    """By the rules of its loader (FileLoader, TextSequenceJSONToQlog, QlogLoaderV2) and of its congestion graph."""
    lossy = {"link.0.loss": {"model": "bernoulli", "probability": 0.01}}
    roamsim.run(TRANSFER, set={"scenario.duration": "10s"} | lossy, qlog=tmp_path)
    # By its ending a file is a text sequence: each record begins with RS. One that is no JSON ends the reading.
    for side, node in (("client", "phone"), ("server", "server")):
        records = [json.loads(text) for text in (tmp_path / f"over_quic-{node}.sqlog").read_text().split("\x1e")[1:]]
        head, events = records[0], records[1:]
        assert head["qlog_version"] in {"draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3"}
        assert head["qlog_format"] == "JSON-SEQ"
        assert head["trace"]["vantage_point"]["type"] == side
        # Times are absolute unless common fields say otherwise, and in order, or it warns and sorts.
        assert "common_fields" not in head["trace"]
        times = [event["time"] for event in events]
        assert times == sorted(times)
        # Each group would be a connection of its own.
        assert not any("group_id" in event for event in events)
        of = {
            name: [event["data"] for event in events if event["name"] == name]
            for name in ("transport:packet_sent", "recovery:packet_lost", "recovery:metrics_updated")
        }
        assert sum(map(len, of.values())) + sum(
            event["name"] == "transport:packet_received" for event in events
        ) == len(events)
        # It draws packets by their size in `raw`, and losses by the number of a packet that was sent. Sizes elsewhere are
        # called errors.
        sent = of["transport:packet_sent"]
        assert all(data["raw"]["length"] > 0 for data in sent)
        assert not any({"packet_size", "payload_length", "length"} & data["header"].keys() for data in sent)
        assert {data["header"]["packet_type"] for data in sent} <= {"initial", "handshake", "1RTT"}
        numbers = {data["header"]["packet_number"] for data in sent}
        assert {data["header"]["packet_number"] for data in of["recovery:packet_lost"]} <= numbers
        # Round-trip times are in ms: 40 of delay, and what the queue adds.
        smoothed = [data["smoothed_rtt"] for data in of["recovery:metrics_updated"] if "smoothed_rtt" in data]
        assert 40 <= min(smoothed) <= max(smoothed) < 1000
    assert of["recovery:packet_lost"] == [] or side == "server"


def test_a_qlog_needs_quic_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(roamsim.RunFailed, match="no transport of this scenario is QUIC"):
        roamsim.run(ROOT / "examples" / "slow-start.toml", qlog=tmp_path / "logs")
    with pytest.raises(roamsim.UsageError, match="is a file"):
        roamsim.run(TRANSFER, qlog=Path(__file__))
    with pytest.raises(roamsim.UsageError, match="one replication"):
        roamsim.run(TRANSFER, qlog=tmp_path, replications=2)


def test_a_qlog_that_does_not_fit_on_the_disk_fails_the_run(tmp_path: Path) -> None:
    done = run_command("run", TRANSFER, "--qlog", "logs", cwd=tmp_path, largest_file_bytes=100_000)
    assert done.returncode == 1
    assert "qlog could not be written: over_quic-" in done.stderr
    assert "Traceback" not in done.stderr


# A window law runs within the library. It panics at a loss: PyO3 passes a panic of Rust through Python by a type of its
# own, and goes on with the panic in Rust.
PANICS = """
import polars
import roamsim


class Mine(roamsim.CongestionControl):
    def on_ack(self, sample):
        self.window_bytes += sample.acked_bytes

    def on_loss(self, sample):
        kinds = [kind for kind in BaseException.__subclasses__() if kind.__name__ == "PanicException"]
        (panic,) = (kind for kind in kinds if kind is not polars.exceptions.PanicException)
        raise panic("no such state")

    def on_ecn(self, sample):
        pass

    def on_timeout(self, sample):
        pass
"""

LOSSY = """
[scenario]
name = "lossy uploads"
duration = "20s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Mb/s"
delay = "50ms"
loss = { model = "bernoulli", probability = 0.002 }
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "quic", congestion_control = "reno" }
application = { kind = "transfer", size = "100kB" }
"""


def test_a_panic_within_the_library_is_told_with_its_run_and_the_campaign_goes_on(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PANICS)
    (tmp_path / "lossy.toml").write_text(LOSSY)
    law = "flow.f.transport.congestion_control=mine.py:Mine"
    campaign = ("sweep", "lossy.toml", "--vary", law, "--replications", "12", "--jobs", "1", "--out", "out")
    # A process of its own, in which no other extension has such a type.
    command = [sys.executable, "-m", "roamsim", *campaign]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    told = done.stderr[done.stderr.index("roamsim: ") :].splitlines()
    count = re.match(r"roamsim: (\d+) of 12 runs failed; what is finished is kept", told[0])
    assert count, told
    line = re.compile(
        r'  "lossy uploads", flow\.f\.transport\.congestion_control=Mine@\w+, replication (\d+), seed 1: a fault of the simulator, please report it: '
        r"the QUIC library quinn-proto 0\.11\.19 panicked at \d+\.\d+s: no such state"
    )
    matches = [line.fullmatch(text) for text in told[1:]]
    assert all(matches), told
    failed = {int(match[1]) for match in matches if match}
    assert len(failed) == int(count[1]) and 0 < len(failed) < 12
    # All others were made, also after the first that failed. They had no loss, so they are those of a calm law.
    made = roamsim.open_results(tmp_path / "out").flows
    assert sorted(made["replication"]) == sorted(set(range(12)) - failed)
    assert max(made["replication"]) > min(failed)
    assert set(made["connection"]) == {"completed"} and set(made["retransmissions"]) == {0}
    columns = ["replication", "completion_time_s", "delivered_bytes", "segments_sent"]
    calm = tmp_path / "calm.py"
    calm.write_text(re.sub(r"kinds = .*?raise [^\n]*", "pass", PANICS, flags=re.DOTALL))
    beside = roamsim.sweep(tmp_path / "lossy.toml", {law.split("=")[0]: [f"{calm}:Mine"]}, replications=12).flows
    beside = beside.filter(polars.col("replication").is_in(made["replication"].to_list()))
    assert made.select(columns).sort("replication").equals(beside.select(columns).sort("replication"))


TLS = {"flow.over_quic.transport.crypto": "tls", "scenario.duration": "2s"}


def run_over_tls(settings: dict[str, object], pcap: Path | None = None) -> roamsim.Result:
    """A run over TLS, if the build has it."""
    try:
        return roamsim.run(TRANSFER, set=TLS | settings, pcap=pcap, pcap_at="phone" if pcap else ())
    except roamsim.ScenarioError as error:
        # A developer's build.
        assert "this build has no TLS" in str(error)
        assert "ROAMSIM_REQUIRE_TOOLS" not in os.environ, "the build has lost its cargo feature `tls`"
        pytest.skip("the build has no cargo feature `tls`")


@pytest.mark.parametrize("early_data", ["none", "accepted", "refused"])
def test_a_transfer_over_tls_takes_the_time_of_the_null_session(early_data: str) -> None:
    # One certificate: the null session is told its octets.
    settings: dict[str, object] = {
        "flow.over_quic.transport.early_data": early_data,
        "flow.over_quic.transport.certificate_size": "332B",
        "flow.over_quic.application.size": "20kB",
    }
    of = [
        result.flows.row(by_predicate=polars.col("name") == "over_quic", named=True)
        for result in (run_over_tls(settings), roamsim.run(TRANSFER, set={"scenario.duration": "2s"} | settings))
    ]
    assert of[0] == of[1]
    assert of[0]["connection"] == "completed"


@pytest.mark.needs("tshark")
def test_tshark_reads_early_data_in_a_capture(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.pcapng" for number in range(2)]
    for file in files:
        run_over_tls({"flow.over_quic.transport.early_data": "accepted"}, file)
    # The same octets, tickets and secrets among them.
    assert files[0].read_bytes() == files[1].read_bytes()
    # 0-RTT packets are of type 1.
    command = ["tshark", "-r", str(files[0]), "-Y", "quic.long.packet_type == 1", "-T", "fields", "-e"]
    command.append("quic.stream.stream_id")
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    assert len(shown) >= 9 and all(line.strip() for line in shown), shown


@pytest.mark.needs("tshark")
def test_tshark_reads_the_frames_of_tls_in_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    run_over_tls({}, file)
    fields = ("-T", "fields", "-e", "quic.stream.stream_id", "-e", "quic.frame_type", "-e", "tls.handshake.type")
    command = ["tshark", "-r", str(file), "-Y", "quic", *fields]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    streams = [line.split("\t")[0] for line in shown.splitlines()]
    # Packets with data are read: STREAM frames need the secrets of the data.
    assert sum(bool(length) for length in streams) > 100
    # Certificate and Finished need those of the handshake.
    handshake = {kind for line in shown.splitlines() for kind in line.split("\t")[2].split(",")}
    assert {"1", "2", "11", "20"} <= handshake


@pytest.mark.needs("tshark")
def test_tshark_finds_its_handshake_in_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    roamsim.run(TRANSFER, set={"scenario.duration": "1s"}, pcap=file, pcap_at="phone")
    fields = ("-T", "fields", "-e", "udp.length", "-e", "quic.long.packet_type")
    command = ["tshark", "-r", str(file), "-Y", "quic.header_form == 1", *fields]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    # The client's first datagram: an Initial packet (type 0), padded to 1200 octets behind UDP's header of 8.
    assert shown[0].split("\t") == ["1208", "0"]
