"""Isolated MIH transactions in the simulator against the exact values of docs/models/mih-exact.md."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import roamsim
from roamsim.theory import enumeration, mih_tcp, mih_udp
from roamsim.theory.mih_udp import Timing

TRANSACTIONS = 5000
SPACING_S = 5  # against 3 timeouts of 0.1 s and 0.34 s of round trip
TIMEOUT_S = 0.1
WIRE_S = 2e-9  # 200 B and 48 B of IPv6 and UDP headers at 1000 Gb/s, to the nanosecond

SCENARIO = f"""
[scenario]
name = "isolated"
duration = "{TRANSACTIONS * SPACING_S + 20}s"
[[node]]
name = "mn"
[[node]]
name = "pos"
[[link]]
name = "path"
between = ["mn", "pos"]
rate = "1000Gb/s"
delay = "35ms"
loss = {{ model = "bernoulli", probability = 0.1, start = "5s" }}
[[signalling]]
name = "mih"
kind = "indication"
from = "mn"
to = "pos"
transport = {{ protocol = "udp" }}
message_size = "200B"
interval = "{SPACING_S}s"
start = "5s"
stop = "{TRANSACTIONS * SPACING_S + 5}s"
"""


@dataclass(frozen=True)
class Case:
    """A point of the sample: kind, policy, one way (ms), processing time (s), loss."""

    kind: str
    validity: str
    one_way_ms: int
    processing_s: float
    loss: float

    def __str__(self) -> str:
        policy = f"-{self.validity}" if self.kind == "request" else ""
        return f"{self.kind}{policy}-{self.one_way_ms}ms-P{self.processing_s:g}-p{self.loss:g}"

    @property
    def timing(self) -> Timing:
        """R = 0.07, 0.13, 0.23, 0.34 s: the three regimes of T = 0.1 s, and a round trip beyond 3 T."""
        return Timing(2 * (self.one_way_ms * 1e-3 + WIRE_S), TIMEOUT_S, self.processing_s)


def cases() -> Iterator[Case]:
    for one_way_ms in (35, 65, 115, 170):
        for loss in (0.1, 0.4):
            yield Case("indication", "acked", one_way_ms, 0.0, loss)
        for validity in mih_udp.VALIDITIES:
            # P moves R + P over a multiple of T, and once over two of them.
            for processing_s, loss in ((0.0, 0.2), (0.05, 0.4), (0.2, 0.3)):
                yield Case("request", validity, one_way_ms, processing_s, loss)


CASES = list(cases())


@pytest.fixture(scope="module")
def z_scores() -> dict[Case, tuple[float, float, float]]:
    """Deviation of success, delay and overhead from the exact value, in standard errors; each case has its own seed."""
    return {case: measure(case, seed) for seed, case in enumerate(CASES, start=1)}


def measure(case: Case, seed: int) -> tuple[float, float, float]:
    acknowledgement = {"timeout": "100ms", "retransmissions": 2, "mode": "separate", "validity": case.validity}
    settings = {
        "link.path.delay": f"{case.one_way_ms}ms",
        "link.path.loss.probability": case.loss,
        "signalling.mih.kind": case.kind,
        "signalling.mih.acknowledgement": acknowledgement,
    }
    if case.kind == "request":
        settings["signalling.mih.processing_time"] = f"{round(case.processing_s * 1e3)}ms"
    row = roamsim.run(SCENARIO, set=settings, seed=seed).signalling.row(0, named=True)
    assert row["messages"] == TRANSACTIONS
    exact = enumeration.exact(case.kind, case.loss, case.timing, case.validity)
    errors = exact.standard_errors(TRANSACTIONS)
    measured = (row["success_rate"], row["mean_delay_s"], row["overhead"])
    scores = [
        deviation(value, expected, error)
        for value, expected, error in zip(
            measured, (exact.success, exact.delay_s, exact.overhead), errors, strict=True
        )
    ]
    return scores[0], scores[1], scores[2]


def deviation(measured: float | None, exact: float, standard_error: float) -> float:
    if math.isnan(exact):  # no transaction can succeed, so there is no delay
        return 0.0 if measured is None else math.inf
    assert measured is not None
    if standard_error < 1e-7:  # nothing random is left: equal but for nanoseconds that packets wait for each other
        return 0.0 if measured == pytest.approx(exact, abs=1e-8) else math.inf
    return (measured - exact) / standard_error


@pytest.mark.parametrize("case", CASES, ids=str)
def test_within_three_standard_errors(case: Case, z_scores: dict[Case, tuple[float, float, float]]) -> None:
    for metric, z in zip(("success", "delay", "overhead"), z_scores[case], strict=True):
        assert abs(z) <= 3, f"{metric} is {z:+.2f} standard errors from the exact value"


def test_deviations_have_no_common_direction(z_scores: dict[Case, tuple[float, float, float]]) -> None:
    # A bias too small to be seen in one case adds up over all: z is standard normal if the simulator is exact.
    for metric in range(3):
        z = [scores[metric] for scores in z_scores.values() if scores[metric] != 0.0]
        assert len(z) > 25
        assert abs(sum(z)) / math.sqrt(len(z)) < 3
        assert 0.6 < math.sqrt(sum(value * value for value in z) / len(z)) < 1.4


@pytest.mark.parametrize(("kind", "packets"), [("indication", 1), ("request", 2)])
def test_without_acknowledgement(kind: str, packets: int) -> None:
    settings = {"signalling.mih.kind": kind}
    if kind == "request":
        settings["signalling.mih.processing_time"] = "50ms"
    row = roamsim.run(SCENARIO, set=settings, seed=7).signalling.row(0, named=True)
    success = 0.9**packets
    assert abs(row["success_rate"] - success) <= 3 * math.sqrt(success * (1 - success) / TRANSACTIONS)
    # One trip, or two and the processing time; whatever is lost, what arrives is not late.
    assert row["mean_delay_s"] == pytest.approx(packets * (0.035 + WIRE_S) + (0.05 if packets == 2 else 0), abs=1e-8)
    assert row["overhead"] == 1.0


@pytest.mark.parametrize(("loss", "max_rto_s"), [(0.1, 0.2), (0.1, 1.0), (0.3, 0.5)])
def test_tcp_stays_above_its_lower_bound(loss: float, max_rto_s: float) -> None:
    transport = {
        "protocol": "tcp",
        "min_rto": "200ms",
        "max_rto": f"{round(max_rto_s * 1e3)}ms",
        "delayed_ack": False,
    }
    settings = {"signalling.mih.transport": transport, "link.path.loss.probability": loss}
    result = roamsim.run(SCENARIO, set=settings, seed=11, trace=["transactions"])
    row = result.signalling.row(0, named=True)
    assert row["success_rate"] == 1.0
    delays = result.transactions["delay_s"]
    error = delays.std() / math.sqrt(delays.len())
    bound = mih_tcp.isolated_delay_s(loss, 0.035, 0.2, max_rto_s)
    assert row["mean_delay_s"] > bound - 3 * error
    # Messages are 5 s apart, so little is left of queueing; the timer that stays backed off costs the rest.
    assert row["mean_delay_s"] < 1.5 * bound
    if max_rto_s == 0.2:  # equal to the minimum: the timer never backs off, and the bound is exact
        assert abs(row["mean_delay_s"] - bound) < 3 * error
