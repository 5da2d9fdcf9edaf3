"""QUIC from a user's side: beside TCP, in samples, in captures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars
import pytest
import roamsim
from conftest import ROOT

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


@pytest.mark.needs("tshark")
def test_tshark_finds_its_handshake_in_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "run.pcapng"
    roamsim.run(TRANSFER, set={"scenario.duration": "1s"}, pcap=file, pcap_at="phone")
    fields = ("-T", "fields", "-e", "udp.length", "-e", "quic.long.packet_type")
    command = ["tshark", "-r", str(file), "-Y", "quic.header_form == 1", *fields]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    # The client's first datagram: an Initial packet (type 0), padded to 1200 octets behind UDP's header of 8.
    assert shown[0].split("\t") == ["1208", "0"]
