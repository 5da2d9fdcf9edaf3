"""Wired links against queueing theory."""

import math

import roamsim
from one_link import one_link

PACKET_BYTES = 952  # and 48 of headers: 1000 B, 1 ms at 8 Mb/s
SERVICE_S = 1e-3
DELAY_S = 5e-3


def queue(packet_size: str, mean_interval_ns: int, *, mtu: str = "1500B", duration: str, ip: str = "ipv6") -> str:
    """A Poisson flow of packets through one link of 8 Mb/s."""
    return one_link(
        f'name = "link"\nrate = "8Mb/s"\ndelay = "5ms"\nmtu = "{mtu}"\nqueue = {{ packets = 100000 }}',
        f"""
name = "poisson"
transport = {{ protocol = "udp" }}
application = {{ kind = "poisson", packet_size = {packet_size}, mean_interval = "{mean_interval_ns}ns" }}
""",
        duration=duration,
        ip=ip,
    )


def md1(utilisation: float) -> str:
    """Packets of one size: an M/D/1 queue of the given utilisation."""
    return queue(f'"{PACKET_BYTES}B"', round(1e6 / utilisation), duration="400s")


def test_waiting_time_of_md1() -> None:
    """The Pollaczek-Khinchine formula: mean wait = rho s / (2 (1 - rho)), within 3 standard errors of 20 runs."""
    for utilisation in (0.3, 0.6, 0.8):
        flows = roamsim.run(md1(utilisation), replications=20).flows
        waits = flows["mean_delay_s"] - SERVICE_S - DELAY_S
        expected = utilisation * SERVICE_S / (2 * (1 - utilisation))
        error = float(waits.std()) / math.sqrt(len(waits))
        assert abs(float(waits.mean()) - expected) < 3 * error, (utilisation, waits.mean(), expected, error)
        assert error < 0.02 * expected  # the test can tell


MEAN_BYTES = 4000
HEADER_BYTES = 28  # of UDP and IPv4
RATE_BPS = 8e6


def mm1(utilisation: float) -> str:
    """Packets of exponential sizes: an M/M/1 queue, but for headers, whole octets and a largest packet.

    No packet is larger than 16 times the mean, which takes e^-16 = 1e-7 of them.
    """
    interval_ns = round(1e9 * 8 * (MEAN_BYTES + HEADER_BYTES) / RATE_BPS / utilisation)
    size = f'{{ distribution = "exponential", mean = "{MEAN_BYTES}B", max = "{16 * MEAN_BYTES}B" }}'
    return queue(size, interval_ns, mtu="65535B", duration="2000s", ip="ipv4")


def test_sojourn_time_of_mm1() -> None:
    """M/M/1: the mean time in the system is s / (1 - rho), s the mean service time.

    Service times are h + X, h the header's and X exponential: by Pollaczek and Khinchine the mean wait is
    rho (s^2 + (s - h)^2) / (2 s (1 - rho)), below that of M/M/1 by the share h / s, 0.7 %, and a little more than half of
    its square. Hence 1 % beside the 3 standard errors of 20 runs for M/M/1, and nothing beside them for the exact form.
    """
    service_s = 8 * (MEAN_BYTES + HEADER_BYTES) / RATE_BPS
    header_s = 8 * HEADER_BYTES / RATE_BPS
    for utilisation in (0.3, 0.6, 0.8):
        flows = roamsim.run(mm1(utilisation), replications=20).flows
        sojourns = flows["mean_delay_s"] - DELAY_S
        mean, error = float(sojourns.mean()), float(sojourns.std()) / math.sqrt(len(sojourns))
        expected = service_s / (1 - utilisation)
        assert abs(mean - expected) < 3 * error + 0.01 * expected, (utilisation, mean, expected, error)
        second_moment = service_s**2 + (service_s - header_s) ** 2
        exact = service_s + utilisation * second_moment / (2 * service_s * (1 - utilisation))
        assert abs(mean - exact) < 3 * error, (utilisation, mean, exact, error)
        assert error < 0.02 * expected  # the test can tell: without random sizes the wait is half of it


def test_little_and_utilisation() -> None:
    """Mean queue = arrival rate x mean wait (Little), and utilisation = rho, from the link's own statistics."""
    result = roamsim.run(md1(0.6))
    flow = result.flows.row(0, named=True)
    link = result.links.row(0, named=True)
    arrivals_per_s = flow["sent_packets"] / 400
    wait_s = flow["mean_delay_s"] - SERVICE_S - DELAY_S
    assert math.isclose(link["mean_queue_packets"], arrivals_per_s * wait_s, rel_tol=1e-3)
    assert math.isclose(link["utilisation"], arrivals_per_s * SERVICE_S, rel_tol=1e-4)
