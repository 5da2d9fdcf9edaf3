"""The study `mih-transport`: the closed forms of its figures."""

import math

import pytest
from roamsim import study
from roamsim.statistics import Estimate


class Data:
    """Runs at a round trip of 0.3 s on the wire, in which one way takes 0.16 s."""

    def labels(self, *_: object) -> list[float]:
        return [0.3]

    def estimate(self, *_: object, rtt: float, **_where: object) -> Estimate:
        one_way_s = 0.16 if rtt == 0.3 else math.nan
        return Estimate(one_way_s, one_way_s, one_way_s, 5)


@pytest.mark.parametrize(("kind", "success", "delay_s"), [("indication", 0.8, 0.16), ("request", 0.64, 0.32)])
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


@pytest.mark.parametrize("law", ["rtt_plain", "rtt_ack"])
def test_a_law_holds_at_round_trips_that_an_alternative_does_not_run(law: str) -> None:
    row = {"transport": "UDP", "kind": "indication", "validity": "acked", "loss_percent": 0, "rtt": 0.12}
    # The access of 0.02 s is that of 0.3 s.
    delay_s = study.load("mih-transport").function(law)(row, "mean_delay_s", Data())
    assert delay_s == pytest.approx(0.07)


def test_each_place_of_the_mobility_server_stands_below_its_words() -> None:
    figure = study.load("mih-transport").exhibit("concept")(None, concept={"id": "scenarios"})
    texts = figure.axes[0].texts
    places = {text.get_text(): text.get_position()[0] for text in texts if text.get_text().startswith("S")}
    above = {
        place: text.get_text().replace("\n", " ")
        for place, x in places.items()
        for text in texts
        if text.get_position()[0] == x and text.get_text() != place
    }
    assert above["S1: home"] == "MN, server and services in the home network"
    assert above["S2: visited"] == "MN in the visited network, server too"
