"""The study `mih-transport`: the closed forms of its figures."""

import pytest
from roamsim import study
from roamsim.statistics import Estimate


class Data:
    """Runs in which one way takes 0.15 s."""

    def estimate(self, *_: object, **_where: object) -> Estimate:
        return Estimate(0.15, 0.15, 0.15, 5)


@pytest.mark.parametrize(("kind", "success", "delay_s"), [("indication", 0.8, 0.15), ("request", 0.64, 0.3)])
def test_without_acknowledgement_each_metric_over_the_round_trip_has_its_own_law(
    kind: str, success: float, delay_s: float
) -> None:
    # 0.8 of packets arrive, and a request needs two. Each message is sent once.
    data = Data()
    law = study.load("mih-transport").function("rtt_plain")
    row = {"transport": "UDP", "kind": kind, "loss_percent": 20, "rtt": 0.3}
    found = [law(row, column, data) for column in ("success_rate", "mean_delay_s", "overhead")]
    assert found == pytest.approx([success, delay_s, 1.0])
    assert law(row | {"transport": "TCP"}, "overhead", data) is None
