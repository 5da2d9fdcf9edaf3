"""Wired links against queueing theory."""

import math

import roamsim

PACKET_BYTES = 952  # and 48 of headers: 1000 B, 1 ms at 8 Mb/s
SERVICE_S = 1e-3
DELAY_S = 5e-3


def md1(utilisation: float) -> str:
    """A Poisson flow of packets of one size through one link: an M/D/1 queue of the given utilisation."""
    return f"""
[scenario]
name = "M/D/1"
duration = "400s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "link"
between = ["a", "b"]
rate = "8Mb/s"
delay = "5ms"
queue = {{ packets = 100000 }}
[[flow]]
name = "poisson"
from = "a"
to = "b"
transport = {{ protocol = "udp" }}
application = {{ kind = "poisson", packet_size = "{PACKET_BYTES}B", mean_interval = "{round(1e6 / utilisation)}ns" }}
"""


def test_waiting_time_of_md1() -> None:
    """The Pollaczek-Khinchine formula: mean wait = rho s / (2 (1 - rho)), within 3 standard errors of 20 runs."""
    for utilisation in (0.3, 0.6, 0.8):
        flows = roamsim.run(md1(utilisation), replications=20).flows
        waits = flows["mean_delay_s"] - SERVICE_S - DELAY_S
        expected = utilisation * SERVICE_S / (2 * (1 - utilisation))
        error = float(waits.std()) / math.sqrt(len(waits))
        assert abs(float(waits.mean()) - expected) < 3 * error, (utilisation, waits.mean(), expected, error)
        assert error < 0.02 * expected  # the test can tell


def test_little_and_utilisation() -> None:
    """Mean queue = arrival rate x mean wait (Little), and utilisation = rho, from the link's own statistics."""
    result = roamsim.run(md1(0.6))
    flow = result.flows.row(0, named=True)
    link = result.links.row(0, named=True)
    arrivals_per_s = flow["sent_packets"] / 400
    wait_s = flow["mean_delay_s"] - SERVICE_S - DELAY_S
    assert math.isclose(link["mean_queue_packets"], arrivals_per_s * wait_s, rel_tol=1e-3)
    assert math.isclose(link["utilisation"], arrivals_per_s * SERVICE_S, rel_tol=1e-4)
