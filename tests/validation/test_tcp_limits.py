"""TCP at the ends of its ranges: streams that wrap the sequence space, receive buffers of two segments."""

import math

import pytest
import roamsim
from one_link import one_link

NAMES = roamsim.schema()["$defs"]
VARIANTS = [variant["const"] for variant in NAMES["TcpVariant"]["oneOf"]]
#: Those whose window falls by the share of marks.
NEED_ECN = [law["const"] for law in NAMES["QuicCongestionControl"]["oneOf"] if ", with `ecn`" in law["description"]]


def flow(
    *, variant: str, loss: float, rate: str, duration_s: int, size_bytes: int, transport: str
) -> dict[str, float]:
    """The flow's row of one run."""
    scenario = one_link(
        f"""
name = "path"
rate = "{rate}"
delay = "5ms"
mtu = "65535B"
queue = {{ packets = 20000 }}
loss = {{ from = "a", model = "bernoulli", probability = {loss} }}
""",
        f"""
name = "f"
transport = {{ protocol = "tcp", variant = "{variant}", ecn = {"true" if variant in NEED_ECN else "false"}, {transport} }}
application = {{ kind = "transfer", size = "{size_bytes}B" }}
""",
        duration=f"{duration_s}s",
    )
    return roamsim.run(scenario).flows.row(0, named=True)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", [0.0, 0.0005])
def test_a_flow_of_20_gb_wraps_the_sequence_space_and_arrives_whole(variant: str, loss: float) -> None:
    """20e9 octets are 4.66 times around the 2^32 sequence numbers; windows need scaling, timestamps pass PAWS."""
    row = flow(
        variant=variant,
        loss=loss,
        rate="100Gb/s",
        duration_s=3000,
        size_bytes=20_000_000_000,
        transport='mss = "60000B", receive_window = "1GiB", timestamps = true, min_rto = "200ms"',
    )
    assert row["delivered_bytes"] == 20_000_000_000
    if loss == 0:
        # 1.6 s at 100 Gb/s if the line is full; a window of 1 GiB is less than 20,000 segments.
        assert row["retransmissions"] == 0
        assert row["completion_time_s"] >= 1.6


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("delayed_ack", ["true", "false"])
def test_a_receive_buffer_of_two_segments_carries_two_segments_a_round_trip(variant: str, delayed_ack: str) -> None:
    """Two full segments are acknowledged at once, so a delayed ACK changes nothing: 2000 octets in 10 ms and the
    time on the line of two segments and an ACK, to 0.5 %. BBR paces at 99 % of the rate that it measures
    (draft-ietf-ccwg-bbr, BBR.PacingMarginPercent). Version 1 remembers for ten rounds what it measures in a phase that
    sends the two segments closer together, if each is acknowledged by itself: then it does not wait."""
    rate_bps = 10e6
    row = flow(
        variant=variant,
        loss=0.0,
        rate="10Mb/s",
        duration_s=60,
        size_bytes=1_000_000,
        transport=f'mss = "1000B", receive_window = "2000B", delayed_ack = {delayed_ack}',
    )
    segments = 2 if delayed_ack == "true" else 1
    round_trip_s = 0.010 + 8 * (segments * 1060 + 60) / rate_bps
    paced = 0.99 if variant == "bbr" or (variant == "bbr1" and delayed_ack == "true") else 1.0
    # One round trip for the handshake, 500 of two segments.
    assert math.isclose(row["completion_time_s"], 500 * round_trip_s / paced, rel_tol=5e-3)
    assert row["retransmissions"] == 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_receive_buffer_of_two_segments_survives_loss(variant: str) -> None:
    """With two segments in flight there are never three duplicates: timeouts repair, and all arrives."""
    row = flow(
        variant=variant,
        loss=0.05,
        rate="10Mb/s",
        duration_s=600,
        size_bytes=1_000_000,
        transport='mss = "1000B", receive_window = "2000B", min_rto = "200ms"',
    )
    assert row["delivered_bytes"] == 1_000_000
    assert row["timeouts"] > 0
