"""The paths of `python -m validation.kernel`: valid scenarios that do what their names say."""

from __future__ import annotations

import statistics

import pytest
import roamsim

from validation.paths import HANDOVERS, START_S, path

CASES = [
    ("loss", "1"),
    ("numbers", "1"),
    ("outage", "0.5"),
    ("reordering", "5"),
    ("step", "2"),
    *(("handover", name) for name in HANDOVERS),
]
BULK = {
    "name": "bulk",
    "from": "server",
    "to": "client",
    "application": {"kind": "bulk", "start": f"{START_S}s"},
    "transport": {"protocol": "tcp", "stack": "linux"},
}


@pytest.mark.parametrize(("case", "value"), CASES)
def test_data_crosses_the_path_of_each_case(case: str, value: str) -> None:
    result = roamsim.run({**path(case, value, 1, "30s"), "flow": [BULK]}, seed=1)
    assert result.flows["delivered_bytes"][0] > 1_000_000


def test_losses_by_number_are_those_of_the_run() -> None:
    def lost(run: int) -> list[int]:
        (link,) = path("numbers", "1", run, "8s")["link"]
        return link["loss"]["segments"]

    assert lost(1) == lost(1)
    assert lost(1) != lost(2)
    # 1 % of 20,000 is 200, with a standard deviation of 14.
    assert 150 < len(lost(1)) < 250


def test_a_handover_changes_rate_and_delay_behind_its_outage() -> None:
    (link,) = path("handover", "break-0.3", 2, "30s")["link"]
    # The first one is 6 s and two tenths behind the begin of the data, the others 3.5 s apart.
    assert [outage["start"] for outage in link["outages"]] == ["7.2s", "10.7s", "14.2s", "17.7s"]
    assert [(step["at"], step["rate"]) for step in link["rate"]["steps"]][:3] == [
        ("0s", "10Mb/s"),
        ("7.5s", "4Mb/s"),
        ("11.0s", "10Mb/s"),
    ]
    assert [step["delay"] for step in link["delay"]["steps"]] == ["20ms", "50ms", "20ms", "50ms", "20ms"]


@pytest.mark.parametrize(("case", "value"), [("nothing", "1"), ("handover", "nowhere")])
def test_what_is_no_case_is_refused_with_those_there_are(case: str, value: str) -> None:
    with pytest.raises(SystemExit, match="handovers: break-0.3" if case == "handover" else "cases: loss"):
        path(case, value, 1, "8s")


@pytest.mark.parametrize(("case", "value"), CASES)
def test_late_packets_come_by_a_link_of_their_own(case: str, value: str) -> None:
    on_time, late = path(case, value, 1, "30s"), path(case, value, 1, "30s", 1.5)
    clock = late["link"].pop()
    assert late["link"] == on_time["link"]
    assert clock["delay"] == {"constant": "0s", "jitter": {"distribution": "exponential", "mean": "1.5ms"}}
    late["link"].append(clock)
    result = roamsim.run({**late, "flow": [{**BULK, "from": "sender"}]}, seed=1)
    assert result.flows["delivered_bytes"][0] > 1_000_000


def test_by_the_rules_of_linux_most_reductions_stay_where_much_is_reordered() -> None:
    """Packets are late by 20 ms on average: a retransmission is in flight most of the time.

    The kernel's Reno has 3.72 ± 0.20 Mb/s.
    """

    def goodput_bps(rules: str) -> float:
        reno = {"congestion_control": "reno", "hystart": False}
        transport = {"protocol": "tcp", "stack": "linux", "undo_rules": rules, **reno}
        bulk = {**BULK, "transport": transport}
        runs = [
            roamsim.run({**path("reordering", "20", seed, "21s"), "flow": [bulk]}, seed=seed) for seed in range(1, 16)
        ]
        return statistics.mean(run.flows["goodput_bps"][0] for run in runs)

    of_linux = goodput_bps("linux")
    assert 3.3e6 < of_linux < 4e6
    assert goodput_bps("rfc3522") > 1.1 * of_linux
