"""How far frames of 802.11 reach, against the sensitivities of the standard and the path loss."""

from __future__ import annotations

import pytest
import roamsim

RADIUS_M, EXPONENT = 50, 3.0

#: Minimum sensitivity at the rate and at 6 Mb/s, in dBm (IEEE 802.11-2007 table 17-13).
SENSITIVITY_DBM = {"54Mb/s": -65, "24Mb/s": -74, "6Mb/s": -82}


def delivered_share(rate: str, control: str, distance_m: float) -> float:
    """Of a packet each 100 ms to a station at this distance, the share that arrives."""
    flows = roamsim.run(f"""
[scenario]
name = "reach"
duration = "20s"
[[node]]
name = "ap"
position = {{ x = "0m", y = "0m" }}
[[node]]
name = "far"
position = {{ x = "{distance_m:.3f}m", y = "0m" }}
[[wifi]]
name = "air"
access_point = "ap"
stations = ["far"]
standard = "802.11g"
rate = "{rate}"
{control}
radio = {{ radius = "{RADIUS_M}m", path_loss = {{ model = "log_distance", exponent = {EXPONENT} }} }}
[[flow]]
name = "probe"
from = "ap"
to = "far"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", packet_size = "500B", rate = "40kb/s" }}
""").flows
    return float(flows["delivered_packets"].item()) / float(flows["sent_packets"].item())


@pytest.mark.parametrize("rate", SENSITIVITY_DBM)
def test_a_radius_is_that_of_the_rate_and_slower_frames_reach_farther(rate: str) -> None:
    """With rate control the cell ends where 6 Mb/s does: 10^(dB / (10 exponent)) times the radius."""
    farther_db = SENSITIVITY_DBM[rate] - SENSITIVITY_DBM["6Mb/s"]
    edge_m = RADIUS_M * 10 ** (farther_db / (10 * EXPONENT))
    control = 'rate_control = { algorithm = "arf" }'
    for keys, last_m in ((control, edge_m), ("", RADIUS_M)):
        assert delivered_share(rate, keys, 0.99 * last_m) > 0.9
        with pytest.raises(roamsim.ScenarioError, match="make a cell larger"):
            delivered_share(rate, keys, 1.01 * last_m)
