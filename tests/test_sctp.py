"""SCTP from a user's side: beside TCP on the same losses, in figures, in tables."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import Command

SCENARIO = """
[scenario]
name = "TCP beside SCTP"
duration = "20s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "pipe"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "20ms"
queue = { packets = 100 }
loss = { from = "server", model = "bernoulli", probability = 0.02, start = "2s" }
[[flow]]
name = "ftp"
from = "server"
to = "phone"
transport = { protocol = "tcp" }
application = { kind = "bulk" }
"""

#: The same packets of 1000 bytes of user data.
BOTH = 'flow.ftp.transport={ protocol = "tcp", variant = "sack", mss = "1000B" },{ protocol = "sctp", message_size = "1000B" }'


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The scenario as a file."""
    file = tmp_path / "both.toml"
    file.write_text(SCENARIO)
    return file


def test_protocols_are_compared_on_the_same_losses(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    told = json.loads(
        roamsim(
            *("compare", scenario, "--vary", BOTH, "--replications", "4"),
            *("--trace", "segments,cwnd,rtt", "--out", "out", "--json"),
        ).stdout
    )
    values = [row["value"] for row in told["means"]]
    assert values == ["tcp sack mss=1000B", "sctp message_size=1000B"]
    assert [row["pairs"] for row in told["differences"]] == [4]
    for what in ("segments", "cwnd", "rtt"):
        roamsim("plot", "out", "--what", what, "--from", "2s", "--to", "5s")
        drawn = (tmp_path / "out" / f"{what}.svg").read_text()
        assert all(f">{title}<" in drawn for title in values), what
    drawn = (tmp_path / "out" / "segments.svg").read_text()
    assert all(mark in drawn for mark in ("sent again", "lost", "duplicate ACK", "SACK block"))
    flows = package.open_results(tmp_path / "out").tables["flows"]
    assert flows["protocol"].unique(maintain_order=True).to_list() == ["tcp", "sctp"]
    assert flows["variant"].unique(maintain_order=True).to_list() == ["sack", "rfc9260"]


def test_a_protocol_alone_can_be_varied_where_no_setting_is_of_the_other(roamsim: Command, scenario: Path) -> None:
    vary = "flow.ftp.transport.protocol=tcp,sctp"
    rows = roamsim("compare", scenario, "--vary", vary, "--replications", "2", "--json").stdout
    assert [row["value"] for row in json.loads(rows)["means"]] == ["tcp", "sctp"]
    scenario.write_text(SCENARIO.replace('protocol = "tcp"', 'protocol = "tcp", mss = "1000B"'))
    error = roamsim("compare", scenario, "--vary", vary, code=3).stderr
    assert "at flow.ftp.transport.protocol=sctp" in error
    assert "unknown key `mss`" in error
    assert """--vary 'flow.ftp.transport={ protocol = "tcp" },{ protocol = "sctp" }'""" in error


def test_gap_blocks_lie_above_what_is_acknowledged() -> None:
    sctp = {"flow.ftp.transport": {"protocol": "sctp", "message_size": "1000B"}}
    segments = package.run(SCENARIO, set=sctp, trace="segments").segments
    last = segments.with_columns(
        acknowledged=polars.when(event="acknowledged").then("end_bytes").cum_max().forward_fill()
    )
    blocks = last.filter(event="sacked")
    assert blocks.height > 100
    assert (blocks["start_bytes"] > blocks["acknowledged"]).all()
    assert (blocks["end_bytes"] % 1000 == 0).all()
    repeated = segments.filter(event="retransmitted")
    flows = package.run(SCENARIO, set=sctp).flows
    assert repeated.height == flows["retransmissions"].item()
    assert segments.filter(event="sent").height == flows["segments_sent"].item() - repeated.height


@pytest.mark.parametrize("rules", ["rfc9260", "rfc2960"])
def test_packets_say_what_they_carry(rules: str) -> None:
    settings = {
        "flow.ftp.transport": {"protocol": "sctp", "rules": rules, "streams": 2},
        "flow.ftp.application": {"kind": "cbr", "packet_size": "2000B", "interval": "50ms"},
    }
    packets = package.run(SCENARIO, set=settings, trace="packets").packets
    assert packets["protocol"].unique().to_list() == ["sctp"]
    told = packets["description"]
    assert told.str.starts_with("INIT tag").any()
    assert told.str.contains(r"DATA TSN \d+ stream 1 SSN 0 \(\d+ B\) \[part of message 1 \(2000 B\)\]").any()
    assert told.str.contains(r"SACK up to \d+ rwnd \d+ gap \d+-\d+").any()


def test_settings_of_fast_recovery_and_of_sacks_are_checked() -> None:
    def run(**settings: object) -> None:
        package.run(SCENARIO, set={"flow.ftp.transport": {"protocol": "sctp", **settings}, "scenario.duration": "3s"})

    run(fast_retransmit_in_recovery=True, max_gap_ack_blocks=1)
    with pytest.raises(package.ScenarioError, match="RFC 2960 has no fast recovery"):
        run(rules="rfc2960", fast_retransmit_in_recovery=True)
    with pytest.raises(package.ScenarioError, match="a SACK without gap ack blocks"):
        run(max_gap_ack_blocks=0)
