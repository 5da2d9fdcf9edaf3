"""The closed forms of the DECT access against values worked by hand, and against each other."""

import pytest
from roamsim.theory import dect, dect_mac


def test_subfields_fail_with_the_published_ratios() -> None:
    """SER = 1 - (1 - BER)^80: the publication has 0.0135 and 0.2137, and at ten times the BER 0.127 and 0.913."""
    for ber, ratio in ((1.7e-4, 0.0135), (3e-3, 0.2137), (1.7e-3, 0.1273), (3e-2, 0.9126)):
        assert dect.failure(ber, dect.SUBFIELD_BITS) == pytest.approx(ratio, abs=5e-5)
    assert (dect.failure(0.0, 80), dect.failure(1.0, 80)) == (0.0, 1.0)


def test_fragments_of_a_segment_and_of_an_ack() -> None:
    """ceil(554 / 29) = ceil(19.1) and ceil(42 / 29) = ceil(1.4); in slots of 40 octets ceil(13.85) and ceil(1.05)."""
    assert [dect.fragments(size) for size in (552, 40)] == [20, 2]
    assert [dect.fragments(size, fragment_bytes=40) for size in (552, 40)] == [14, 2]


def test_one_state_without_memory_of_it() -> None:
    """A chain that stays good, one attempt: four subfields at once, (1 - BER)^320.

    BER 1e-3: 0.999^320 = exp(-320 * 0.00100050) = 0.726033.
    """
    channel = dect.ip_channel(ber_good=1e-3, good_to_bad=0.0, max_attempts=1)
    assert channel.mean_attempts == pytest.approx(1.0)
    assert channel.packets_per_frame == pytest.approx(0.726033, abs=1e-6)
    assert channel.discarded == pytest.approx(1 - 0.726033, abs=1e-6)


def test_correct_subfields_are_remembered() -> None:
    """SER 1/2: a packet is complete after k attempts with (1 - 2^-k)^4, incomplete after ten with 1 - (1 - 2^-10)^4.

    Mean attempts, the sum over k = 0..9 of 1 - (1 - 2^-k)^4: 1 + 0.9375 + 0.683594 + 0.413818 + 0.227524 + 0.119262 +
    0.061050 + 0.030886 + 0.015534 + 0.007790 = 3.496957. Without memory it would be 1/16 a frame.
    """
    ber = 1 - 0.5 ** (1 / 80)
    channel = dect.ip_channel(ber_good=ber, good_to_bad=0.0)
    assert channel.mean_attempts == pytest.approx(3.496957, abs=2e-6)
    assert channel.discarded == pytest.approx(1 - (1 - 2**-10) ** 4)


def test_both_states_alike_are_one() -> None:
    """Where good and bad have one bit error ratio, the chain does not matter."""
    alone = dect.ip_channel(ber_good=2e-3, good_to_bad=0.0)
    both = dect.ip_channel(ber_good=2e-3, ber_bad=2e-3)
    assert both.mean_attempts == pytest.approx(alone.mean_attempts)
    assert both.discarded == pytest.approx(alone.discarded)


def test_the_saturated_ratio() -> None:
    """Without errors a bearer carries a fragment a frame, and of 22 fragments 20 are the segment's: 10/11."""
    assert dect.saturated_ratio(dect.ip_channel(ber_good=0.0, ber_bad=0.0)) == pytest.approx(10 / 11)
    # One fragment less a frame and it is in proportion.
    assert dect.saturated_ratio(dect.IpChannel(mean_attempts=1.25, discarded=0.0)) == pytest.approx(8 / 11)


def test_the_window_limits_a_long_loop() -> None:
    """63 fragments in 6 frames are more than 10 bearers carry, in 7 frames less: 9 a frame."""
    assert dect.window_limit(10, 6) == 10.0
    assert dect.window_limit(10, 7) == 9.0


def test_lost_calls() -> None:
    """Erlang's formula by hand: B(1) = 2/3, B(2) = 2 (2/3) / (2 + 2 (2/3)) = 2/5 for 2 erlang."""
    assert dect_mac.erlang_b(0, 2.0) == 1.0
    assert dect_mac.erlang_b(1, 2.0) == pytest.approx(2 / 3)
    assert dect_mac.erlang_b(2, 2.0) == pytest.approx(2 / 5)
    with pytest.raises(ValueError, match="not negative"):
        dect_mac.erlang_b(-1, 2.0)


def test_bearers_lost_one_by_one() -> None:
    """From 3 to 2 and back: 2 / (1/2 + 1/3) = 12/5. From 10 to 4: 7 / 1.095635 = 6.38899."""
    assert dect_mac.mean_bearers(3, 2) == pytest.approx(12 / 5)
    assert dect_mac.mean_bearers(10, 4) == pytest.approx(6.38899, abs=1e-5)
    # Restored at once, whatever is lost.
    assert dect_mac.mean_bearers(10, 10) == pytest.approx(10.0)
    with pytest.raises(ValueError, match="from 1 to the target"):
        dect_mac.mean_bearers(10, 11)
