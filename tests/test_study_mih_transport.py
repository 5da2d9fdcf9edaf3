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


class Far:
    """Runs with a far server, in which messages take so long."""

    def __init__(self, delay_s: float, *, run: bool = True) -> None:
        self.delay_s, self.run = delay_s, run

    def has(self, alternative: str) -> bool:
        assert alternative == "far"
        return self.run

    def under(self, _alternative: str) -> "Far":
        return self

    def estimate(self, *_: object, **_where: object) -> Estimate:
        return Estimate(self.delay_s, self.delay_s - 0.001, self.delay_s + 0.001, 5)


def test_a_far_server_is_judged_by_its_own_round_trip() -> None:
    loaded = study.load("mih-transport")
    tried = loaded.measurement("beside_a_far_server")
    # 13 ms more than half of 0.5 s are 5 %, and 31 ms more than 0.5 s are 6 %; of the next RTT they are none of it.
    turned = ["an RTT of 0.1 s among background stations (with 0.5 s it agrees)"]
    assert tried(Far(0.263), "9a", "differs") == tried(Far(0.531), "9b", "differs") == turned
    assert tried(Far(0.263), "9a", "agrees") == tried(Far(0.28), "9a", "differs") == []
    assert tried(Far(0.263), "9b", "differs") == tried(Far(0.263, run=False), "9a", "differs") == []
    assert loaded.function("far_server")({"transport": "UDP with MIH ACK"}) == {
        "link.core.delay": "250000000ns",
        "signalling.mih.acknowledgement.timeout": "1000ms",
    }
    assert loaded.function("longer_max_rto")({"transport": "UDP"}) == {}
