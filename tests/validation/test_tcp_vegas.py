"""Vegas against what its thresholds promise: alpha to beta segments of each flow in the bottleneck's queue.

Diff = W (1 - B / R) with W / R = 1 / s on a busy line, s the time a segment takes, is (R - B) / s: the segments that wait.
It holds where every flow has measured the true B, a round trip through an empty queue, and the line is kept busy.
"""

import math

import pytest
import roamsim


def bulk(
    count: int, start: str, thresholds: str, *, rate: str = "10Mb/s", delay: str = "20ms", settings: str = ""
) -> str:
    """So many bulk flows over one bottleneck, the i-th from `start` i times after the first."""
    scenario = f"""
[scenario]
name = "vegas"
duration = "120s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "{rate}"
delay = "{delay}"
queue = {{ packets = 300 }}
"""
    for number in range(count):
        scenario += f"""
[[flow]]
name = "flow{number}"
from = "a"
to = "b"
transport = {{ protocol = "tcp", variant = "vegas", mss = "1000B", vegas = {{ {thresholds} }}, {settings} }}
application = {{ kind = "bulk", start = "{number * int(start.removesuffix("ms"))}ms" }}
"""
    return scenario


def second_half(result: roamsim.Result) -> tuple[float, float]:
    """The least and the greatest number of packets that wait in the bottleneck's queue after 60 s."""
    queue = [
        (time_s, value)
        for time_s, sender, value in result.samples.select("time_s", "from", "value").iter_rows()
        if sender == "a"
    ]
    settled = [value for time_s, value in queue if time_s > 60]
    assert len(settled) > 10
    return min(settled), max(settled)


@pytest.mark.parametrize(("alpha", "beta"), [(2, 4), (1, 3), (4, 8)])
@pytest.mark.parametrize(
    ("rate", "delay"), [("10Mb/s", "20ms"), ("1Mb/s", "20ms"), ("100Mb/s", "20ms"), ("10Mb/s", "100ms")]
)
def test_one_flow_keeps_alpha_to_beta_segments_in_the_queue(alpha: int, beta: int, rate: str, delay: str) -> None:
    """From 60 s on at every sample, exactly: one wire, one flow, every segment acknowledged, no cross traffic."""
    scenario = bulk(
        1, "0ms", f"alpha = {alpha}, beta = {beta}", rate=rate, delay=delay, settings="delayed_ack = false"
    )
    least, greatest = second_half(roamsim.run(scenario, trace="queue"))
    assert alpha <= least <= greatest <= beta, (least, greatest)


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_flows_keep_alpha_to_beta_segments_each(count: int) -> None:
    """n alpha to n beta, where each flow's first segment finds the line idle: one segment each, 2 ms apart."""
    scenario = bulk(count, "2ms", "alpha = 2, beta = 4", settings="delayed_ack = false, initial_window = 1")
    result = roamsim.run(scenario, trace="queue")
    least, greatest = second_half(result)
    assert 2 * count <= least <= greatest <= 4 * count, (least, greatest)
    # The line is full: 1000 of 1060 octets, to 3 %.
    assert math.isclose(sum(result.flows["goodput_bps"]), 10e6 * 1000 / 1060, rel_tol=0.03)


def test_a_flow_that_never_sees_an_empty_queue_keeps_more() -> None:
    """Beyond the range of validity: a flow that comes later takes the others' queue for a part of its path."""
    scenario = bulk(3, "20000ms", "alpha = 2, beta = 4", settings="delayed_ack = false")
    least, _ = second_half(roamsim.run(scenario, trace="queue"))
    assert least > 3 * 4, least


def test_no_loss_where_newreno_loses() -> None:
    """A queue of 40 packets, less than a bandwidth-delay product: the line is full, and nothing is ever lost."""
    scenario = bulk(1, "0ms", "alpha = 2, beta = 4", settings="delayed_ack = false, initial_window = 2").replace(
        "packets = 300", "packets = 40"
    )
    vegas = roamsim.run(scenario).flows.row(0, named=True)
    newreno = scenario.replace('variant = "vegas"', 'variant = "newreno"').replace(
        "vegas = { alpha = 2, beta = 4 }, ", ""
    )
    other = roamsim.run(newreno).flows.row(0, named=True)
    assert vegas["retransmissions"] == 0, vegas
    assert other["retransmissions"] > 0, other
    assert vegas["goodput_bps"] > 0.97 * 10e6 * 1000 / 1060
