"""The closed forms of docs/models/mih-exact.md against the enumeration and against hand-worked values."""

import math

import pytest
from roamsim.theory import enumeration, mih_tcp, mih_udp
from roamsim.theory.mih_udp import Timing

TIMEOUT_S = 0.1
LOSSES = (0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99)


@pytest.mark.parametrize("retransmissions", [0, 1, 2])
@pytest.mark.parametrize("rtt_s", [0.07, 0.13, 0.23, 0.34, 0.45])
@pytest.mark.parametrize("processing_s", [0.0, 0.02, 0.05, 0.1, 0.2, 0.3])
def test_closed_forms_equal_the_enumeration(rtt_s: float, processing_s: float, retransmissions: int) -> None:
    timing = Timing(rtt_s, TIMEOUT_S, processing_s, retransmissions)
    for loss in LOSSES:
        played = enumeration.exact("indication", loss, timing)
        assert played.success == pytest.approx(mih_udp.indication_success(loss, retransmissions), abs=1e-12)
        assert played.delay_s == pytest.approx(mih_udp.indication_delay_s(loss, timing), abs=1e-12)
        assert played.overhead == pytest.approx(mih_udp.indication_overhead(loss, timing), abs=1e-12)
        for validity in mih_udp.VALIDITIES:
            played = enumeration.exact("request", loss, timing, validity)
            assert played.success == pytest.approx(mih_udp.request_success(loss, timing, validity), abs=1e-12)
            assert played.overhead == pytest.approx(mih_udp.request_overhead(loss, timing, validity), abs=1e-12)
            expected_s = mih_udp.request_delay_s(loss, timing, validity)
            assert played.delay_s == pytest.approx(expected_s, abs=1e-9, nan_ok=True)


# Values printed in the publication and worked by hand: p = 0.2, so f = 0.36.
@pytest.mark.parametrize(
    ("rtt_s", "at_zero", "at_fifth"),
    [
        (0.05, 2.0, 2.68128),  # 1.8 (1 + 0.36 + 0.1296)
        (0.15, 4.0, 4.248),  # 1.8 (2 + 0.36)
        (0.25, 6.0, 5.4),  # 1.8 x 3
    ],
)
def test_indication_overhead_in_each_regime(rtt_s: float, at_zero: float, at_fifth: float) -> None:
    timing = Timing(rtt_s, TIMEOUT_S)
    assert mih_udp.indication_overhead(0.0, timing) == at_zero
    assert mih_udp.indication_overhead(0.2, timing) == pytest.approx(at_fifth, abs=1e-12)


@pytest.mark.parametrize("loss", [0.1, 0.3, 0.5])
def test_request_success_as_printed(loss: float) -> None:
    p, f = loss, loss * (2 - loss)
    first, second, third = (Timing(rtt_s, TIMEOUT_S) for rtt_s in (0.05, 0.15, 0.25))
    success = mih_udp.request_success
    assert success(p, first, "open") == pytest.approx((1 - p**3) ** 2)
    assert success(p, third, "open") == pytest.approx((1 - p**3) ** 2)
    assert success(p, first, "strict") == pytest.approx(1 - 4 * p**3 + 3 * p**4)
    assert success(p, second, "strict") == pytest.approx(1 - 3 * p**2 + 2 * p**3)
    assert success(p, third, "strict") == pytest.approx((1 - p) ** 2)
    assert success(p, first, "acked") == pytest.approx((1 - p**3) ** 2 - p**4 * (1 - p) ** 2 * (1 + p + f))
    assert success(p, second, "acked") == pytest.approx((1 - p) ** 2 * (1 + p - p**2) * (1 + p + 2 * p**2 - p**3))
    assert success(p, third, "acked") == pytest.approx((1 - p) ** 2 * (1 + p - p**3))


def test_nothing_succeeds_when_no_answer_can_be_in_time() -> None:
    timing = Timing(0.35, TIMEOUT_S)  # RTT > 3 T
    assert mih_udp.request_success(0.1, timing, "strict") == 0.0
    assert mih_udp.request_success(0.1, timing, "acked") == 0.0
    assert math.isnan(mih_udp.request_delay_s(0.1, timing, "acked"))
    # 3 requests, 3 ACKs, 3 responses that nobody acknowledges, over 2 messages
    assert mih_udp.request_overhead(0.0, timing, "acked") == 4.5


def test_processing_time_makes_a_response_late() -> None:
    # R = 0.05, T = 0.1: with P = 0.2 only n + k = 0 is back before 0.3 s; with P = 0.3 nothing is.
    assert mih_udp.request_success(0.3, Timing(0.05, TIMEOUT_S, 0.2), "strict") == pytest.approx(0.7**2)
    assert mih_udp.request_success(0.3, Timing(0.05, TIMEOUT_S, 0.3), "strict") == 0.0
    # `acked` at P = 0.3: every response is late, so success needs an ACK of the request in time:
    # (1-p)^2 (1 + p + p^2) sum p^n (1 - p f^(2-n)), p = 0.3, f = 0.51:
    # 0.49 x 1.39 x (0.92197 + 0.3 x 0.847 + 0.09 x 0.7) = 0.49 x 1.39 x 1.23907 = 0.843930577
    assert mih_udp.request_success(0.3, Timing(0.05, TIMEOUT_S, 0.3), "acked") == pytest.approx(0.843930577, abs=1e-9)


def test_published_delay_is_lower_by_the_probability_of_success() -> None:
    timing = Timing(0.04, TIMEOUT_S)
    # p = 0.5: 0.02 + 0.1 (0.5 + 0.5)/1.75 = 0.0771429; times 1 - 0.125 = 0.0675
    assert mih_udp.indication_delay_s(0.5, timing) == pytest.approx(0.0771429, abs=1e-7)
    assert mih_udp.indication_delay_as_published_s(0.5, timing) == pytest.approx(0.0675, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "max_rto_s", "delay_s"),
    [
        (0.1, 0.2, 0.0422222),  # 0.02 + 0.2 x 0.1/0.9
        (0.5, 0.5, 0.345),  # 0.02 + 0.5 x 0.2 + 0.25 x 0.4 + 0.5 x (0.125 + 0.0625 + ...) = 0.02 + 0.1 + 0.1 + 0.125
        (0.5, 1.0, 0.445),  # 0.02 + 0.1 + 0.1 + 0.1 + 1.0 x 0.125
    ],
)
def test_tcp_bound(loss: float, max_rto_s: float, delay_s: float) -> None:
    assert mih_tcp.isolated_delay_s(loss, 0.02, 0.2, max_rto_s) == pytest.approx(delay_s, abs=1e-7)
    both = mih_tcp.isolated_request_delay_s(loss, 0.04, 0.2, 0.2, max_rto_s)
    assert both == pytest.approx(0.2 + 2 * delay_s, abs=1e-6)


@pytest.mark.parametrize("arguments", [(1.0, 0.02, 0.2, 1.0), (0.1, 0.02, 0.2, 0.1)])
def test_tcp_bound_refuses_what_has_no_meaning(arguments: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match=r"loss|min_rto_s"):
        mih_tcp.isolated_delay_s(*arguments)


def test_standard_errors_shrink_with_the_root_of_n() -> None:
    exact = enumeration.exact("request", 0.3, Timing(0.05, TIMEOUT_S), "acked")
    for few, many in zip(exact.standard_errors(100), exact.standard_errors(10_000), strict=True):
        assert few == pytest.approx(10 * many)
    # success is a Bernoulli trial
    assert exact.standard_errors(100)[0] == pytest.approx(math.sqrt(exact.success * (1 - exact.success) / 100))
