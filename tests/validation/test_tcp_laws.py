"""TCP against closed forms: what a window, a line and random loss allow."""

import math

import pytest
import roamsim
from one_link import one_link
from roamsim.theory import tcp

MSS_BYTES = 1000
HEADERS_BYTES = 60  # IPv6 40, TCP 20


def bulk(*, rate: str = "10Mb/s", loss: float = 0.0, transport: str = "", duration_s: int = 60) -> str:
    """One bulk flow over a path of 20 ms one way."""
    return one_link(
        f"""
name = "path"
rate = "{rate}"
delay = "20ms"
queue = {{ packets = 100 }}
loss = {{ from = "a", model = "bernoulli", probability = {loss} }}
""",
        f"""
name = "bulk"
transport = {{ protocol = "tcp", mss = "{MSS_BYTES}B", min_rto = "200ms", delayed_ack = false{transport} }}
application = {{ kind = "bulk" }}
""",
        duration=f"{duration_s}s",
    )


def goodput_bps(scenario: str, replications: int = 1) -> list[float]:
    """The goodput of each replication."""
    return roamsim.run(scenario, replications=replications).flows["goodput_bps"].to_list()


def test_a_receive_window_limits_to_a_window_a_round_trip() -> None:
    """20 segments of 1000 B each round trip: 40 ms and the transmission of one segment and one ACK, to 0.5 %."""
    rate_bps = 10e6
    round_trip_s = 0.040 + 8 * (MSS_BYTES + HEADERS_BYTES + HEADERS_BYTES) / rate_bps
    expected = 8 * 20 * MSS_BYTES / round_trip_s
    measured = goodput_bps(bulk(transport=', receive_window = "20000B"', duration_s=120))[0]
    assert math.isclose(measured, expected, rel_tol=5e-3), (measured, expected)


@pytest.mark.parametrize("variant", ["reno", "newreno"])
def test_a_loss_free_line_is_filled(variant: str) -> None:
    """A queue of two bandwidth-delay products keeps the line busy after start-up: 1000 of 1060 octets, to 2 %."""
    expected = 10e6 * MSS_BYTES / (MSS_BYTES + HEADERS_BYTES)
    measured = goodput_bps(bulk(transport=f', variant = "{variant}"', duration_s=300))[0]
    assert 0.98 * expected < measured <= expected, (measured, expected)


@pytest.mark.parametrize("loss", [0.0005, 0.001, 0.002, 0.005])
def test_square_root_law(loss: float) -> None:
    """Goodput = MSS / RTT sqrt(3 / 2p) (Mathis, Semke, Mahdavi, Ott, 1997), every segment acknowledged, to 10 %.

    The path is wide enough for no queue; below 0.0005 the mean of few cycles is too noisy, above 0.005 timeouts
    count, which the law leaves out.
    """
    rate_bps = 1e9
    round_trip_s = 0.040 + 8 * (MSS_BYTES + 2 * HEADERS_BYTES) / rate_bps
    expected = 8 * MSS_BYTES * tcp.square_root_law(loss, round_trip_s)
    runs = goodput_bps(bulk(rate="1Gb/s", loss=loss, transport=', initial_ssthresh = "40000B"', duration_s=600), 8)
    measured = sum(runs) / len(runs)
    assert math.isclose(measured, expected, rel_tol=0.10), (measured / expected, runs)
