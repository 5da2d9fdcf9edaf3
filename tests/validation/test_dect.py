"""The closed forms of the DECT user plane, held against hand calculations and the simulator."""

import math

import polars
import pytest
import roamsim
from roamsim.theory import dect


def test_subfields_are_those_of_the_paper() -> None:
    # The paper has 0.0135 and 0.2137, and at ten times the BER 0.127 and 0.913.
    ratios = [dect.failure(ber, dect.SUBFIELD_BITS) for ber in (1.7e-4, 3e-3, 1.7e-3, 3e-2)]
    assert [round(ratio, 4) for ratio in ratios] == [0.0135, 0.2137, 0.1273, 0.9126]
    assert dect.failure(0.0, 80) == 0.0
    assert dect.failure(1.0, 80) == 1.0
    with pytest.raises(ValueError, match="from 0 to 1"):
        dect.failure(1.5, 80)


def test_fragments_of_segments_and_acknowledgements() -> None:
    # 552 + 2 octets in 29: 19.1; 40 + 2: 1.4. Over LU1 in 40: 13.9 and 1.05.
    assert [dect.fragments(552), dect.fragments(40)] == [20, 2]
    assert [dect.fragments(552, 40), dect.fragments(40, 40)] == [14, 2]


def test_one_state_needs_no_chain() -> None:
    # SER s = 0.91255: after k attempts incomplete with 1 - (1 - s^k)^4; the sum over k = 0..9 and the value at 10.
    channel = dect.ip_channel(ber_good=0.03, ber_bad=0.03)
    ratio = 1 - 0.97**80
    after = [1 - (1 - ratio**k) ** 4 for k in range(11)]
    assert channel.mean_attempts == pytest.approx(math.fsum(after[:10]), abs=1e-12)
    assert channel.discarded == pytest.approx(after[10], abs=1e-12)
    assert dect.ip_channel(0.0, 0.0).packets_per_frame == 1.0
    assert dect.saturated_ratio(dect.ip_channel(0.0, 0.0)) == pytest.approx(20 / 22)


def test_a_state_that_lasts_for_ever_is_the_only_one() -> None:
    stays = dect.ip_channel(bad_to_good=1.0, good_to_bad=0.0)
    assert stays.packets_per_frame == pytest.approx(dect.ip_channel(ber_bad=1.7e-4).packets_per_frame, abs=1e-12)


def test_windows() -> None:
    assert [dect.window_limit(10, d) for d in (1, 6, 7, 9)] == [10, 10, 9, 7]
    # 63 fragments of ten bearers go out in 7 frames: at a loop of 16 the sender is silent for 9, at 17 for 10.
    assert dect.window_limit(10, 16) == 63 / 16
    with pytest.raises(ValueError, match=r"a loop of 17 frames the sender is silent for 10, .* ends at a loop of 16"):
        dect.window_limit(10, 17)
    assert dect.window_limit(10, 17, retransmission_timer_frames=11) == 63 / 17
    # One bearer takes 63 frames, and is silent for 9 of 72.
    assert dect.window_limit(1, 72) == 63 / 72
    with pytest.raises(ValueError, match="ends at a loop of 72"):
        dect.window_limit(1, 73)
    with pytest.raises(ValueError, match="1 or more"):
        dect.window_limit(0, 5)


SATURATED = """
[scenario]
name = "saturated"
duration = "3000s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[dect]]
name = "air"
terminal = "a"
gateway = "b"
fixed_bearers = 2
"""


def flow(start: str, end: str) -> str:
    """A TCP transfer without end in segments of 512 bytes, each acknowledged at once."""
    return f"""
[[flow]]
name = "{start} to {end}"
from = "{start}"
to = "{end}"
application = {{ kind = "bulk" }}
[flow.transport]
protocol = "tcp"
variant = "reno"
mss = "512B"
delayed_ack = false
receive_window = "16KiB"
window_scaling = false
min_rto = "8s"
initial_rto = "8s"
"""


def datagrams(loop_frames: int, packet_bytes: int = 524) -> dict[str, float]:
    """The row of `dect` of 2000 s in which one direction always has datagrams, without errors, over ten bearers."""
    text = (
        SATURATED
        + f"""
[[flow]]
name = "up"
from = "a"
to = "b"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", packet_size = "{packet_bytes}B", interval = "15ms" }}
"""
    )
    changed = {
        "scenario.duration": "2000s",
        "dect.air.fixed_bearers": 10,
        "dect.air.errors.ber_factor": 0,
        "dect.air.dlc": {"service": "lu2", "acknowledgement_delay_frames": loop_frames},
    }
    (row,) = roamsim.run(text, set=changed).tables["dect"].rows(named=True)
    return row


def test_a_loop_limits_the_window_until_t1_takes_its_silence_for_a_loss() -> None:
    # The first window finds an empty loop and the run ends within one: a window of 63 in 200,000 frames.
    within = datagrams(16)
    assert within["retransmission_requests_up"] == 0
    assert within["fragments_up"] / 200_000 == pytest.approx(dect.window_limit(10, 16), abs=63 / 200_000)
    beyond = datagrams(17)
    assert beyond["retransmission_requests_up"] > 1000
    assert beyond["fragments_repeated_up"] > beyond["fragments_up"] / 10
    assert beyond["fragments_up"] / 200_000 < 0.95 * 63 / 17
    assert beyond["dlc_frames_dropped_up"] == 0
    # 30 frames of silence: T1 and T2, and a frame of which nothing was lost is dropped.
    assert datagrams(36)["dlc_frames_dropped_up"] == 0
    assert datagrams(37)["dlc_frames_dropped_up"] > 0
    # 21 fragments a DLC frame, three of them a window: nothing is incomplete in the silence.
    whole = datagrams(17, 21 * 29 - 2 - 28)
    assert whole["retransmission_requests_up"] == 0
    assert whole["fragments_up"] / 200_000 == pytest.approx(63 / 17, abs=63 / 200_000)


@pytest.mark.parametrize("factor", [1, 2])
def test_saturated_bearers_carry_what_the_chain_allows(factor: int) -> None:
    # Two bearers never wait for a window of 63, and hardly a packet is discarded. What is left beside the closed form
    # is that a direction runs dry now and then, when all segments of its window are behind those of the other one.
    text = SATURATED + flow("a", "b") + flow("b", "a")
    result = roamsim.run(text, replications=10, set={"dect.air.errors.ber_factor": factor})
    rates = result.flows.group_by("replication").agg(polars.col("goodput_bps").mean())["goodput_bps"] / 8 / 512
    access = result.tables["dect"]
    busy = (access["attempts_up"] + access["attempts_down"]).mean() / (2 * 2 * 3000 * 100)
    assert 0.999 < busy < 1.0
    expected = busy * dect.saturated_ratio(dect.ip_channel(1.7e-4 * factor, 3e-3 * factor)) * 5 * 2
    mean, error = rates.mean(), rates.std() / math.sqrt(10)
    assert error < 0.0003 * expected
    assert abs(mean - expected) < 3 * error
