"""Delays of messages that arrived get no verdict where the shares that did not arrive differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import roamsim as package
from conftest import Command
from one_link import one_link
from roamsim.estimates import survivors
from roamsim.estimates.findings import answered
from roamsim.estimates.ranking import answer, rankings

#: A call beside a download. The shorter the queue, the shorter the delay, and the more of the call is lost.
CALL = (
    one_link(
        'name = "path"\nrate = "1Mb/s"\ndelay = "10ms"\nqueue = { packets = 60 }',
        'name = "bulk"\ntransport = { protocol = "tcp" }\napplication = { kind = "bulk" }',
        duration="10s",
    )
    + """
[[flow]]
name = "call"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "poisson", packet_size = "160B", mean_interval = "20ms" }
"""
)
QUEUE = "link.path.queue.packets"
DELAY = "flows.call.mean_delay_s"
ADVICE = 'Set deadline = "100ms" in the application and use flows.call.in_time_share instead'


#: The same, whose application says what is too late.
PROMPT_CALL = CALL.replace('mean_interval = "20ms"', 'mean_interval = "20ms", deadline = "100ms"')


def test_shares_differ_only_beyond_chance() -> None:
    # Differences 0.07, 0.08, 0.09: mean 0.08, deviation 0.01, t(2) = 4.303, half-width 4.303 x 0.01 / sqrt(3) = 0.025.
    assert survivors.uneven([[0.01, 0.01, 0.01], [0.08, 0.09, 0.10]]) == (pytest.approx(0.01), pytest.approx(0.09))
    # Differences -0.02, 0.02, 0.06: mean 0.02, deviation 0.04, half-width 0.099.
    assert survivors.uneven([[0.04, 0.04, 0.04], [0.02, 0.06, 0.10]]) is None
    # One message in ten thousand is none of the matter, however sure it is.
    assert survivors.uneven([[0.0, 0.0], [0.0001, 0.0001]]) is None
    # Of one replication nothing tells what chance does.
    assert survivors.uneven([[0.0], [0.08]]) == (0.0, pytest.approx(0.08))
    assert survivors.uneven([[], [0.08]]) is None
    # Three values could be chosen in three pairs. Residuals of the two replications: blocks are 0.047 and 0.053, so those
    # of the first value are 0.0033 and -0.0033, of the second -0.0067 and 0.0067, of the third 0.0033 and -0.0033. Their
    # squares add up to 0.000133, two degrees of freedom: 0.0082 each, and as much for a difference of means of two.
    # t(2) at 98.33 % is 7.65: half-width 0.062, and 0.09 - 0.01 lies beyond, 0.07 - 0.01 does not.
    assert survivors.uneven([[0.01, 0.01], [0.08, 0.10], [0.05, 0.05]]) == (0.01, pytest.approx(0.09))
    assert survivors.uneven([[0.03, 0.03], [0.08, 0.10], [0.05, 0.05]]) is None


def test_a_lossy_survivor_is_not_best() -> None:
    found = package.compare(CALL, {QUEUE: [2, 60]}, metric=DELAY, replications=4)
    assert found.differences["verdict"].to_list() == ["none"]
    (sentence,) = found.sentences
    assert sentence.startswith(
        "no verdict on queue length 60 packets and queue length 2 packets: mean delay counts only messages that arrived"
    )
    assert "did not" in sentence
    assert any(note.startswith(ADVICE) for note in found.notes)
    (said,) = answer(rankings(found))
    assert said.startswith("Mean delay: no verdict on ")
    assert "best" not in said
    assert rankings(found)[0].best is None


def test_percentiles_of_lossy_survivors_get_no_verdict() -> None:
    changes = {"scenario.percentiles": [90, 99.9]}
    delay = "percentiles.call.delay_s"
    found = package.compare(CALL, {QUEUE: [2, 60]}, set=changes, metric=delay, replications=4)
    assert found.differences["verdict"].to_list() == ["none", "none"]
    assert any(note.startswith(ADVICE) for note in found.notes)
    # An application that says what is too late is judged by that.
    found = package.compare(PROMPT_CALL, {QUEUE: [2, 60]}, set=changes, metric=delay, replications=4)
    assert found.differences["metric"].to_list() == [delay, delay, "flows.call.in_time_share"]
    assert found.differences["verdict"].to_list() == ["none", "none", "worse"]
    # Without losses percentiles keep their verdict.
    found = package.compare(CALL, {"link.path.rate": ["4Mb/s", "8Mb/s"], QUEUE: [2000]}, set=changes, metric=delay)
    assert found.differences["verdict"].to_list() == ["better", "better"]


def test_delays_with_equal_losses_keep_their_verdict() -> None:
    found = package.compare(CALL, {"link.path.rate": ["4Mb/s", "8Mb/s"], QUEUE: [2000]}, metric=DELAY, replications=3)
    assert found.differences["verdict"].to_list() == ["better"]
    assert not any("no verdict" in note or "deadline" in note for note in (*found.sentences, *found.notes))


def test_what_counts_the_lost_as_late_takes_the_place_of_the_delay(tmp_path: Path) -> None:
    found = package.compare(PROMPT_CALL, {QUEUE: [2, 60]}, metric=DELAY, replications=4)
    assert found.differences["metric"].to_list() == [DELAY, "flows.call.in_time_share"]
    # Nearly all of what arrives through the short queue is in time; the long one holds most for longer than 100 ms.
    assert found.differences["verdict"].to_list() == ["none", "worse"]
    assert found.sentences[1].startswith("in time share: ")
    assert not any("deadline" in note for note in found.notes)
    page = found.report(tmp_path / "page.html").read_text()
    assert "no verdict on" in page
    assert "flows-call-in_time_share-pairs" in page
    assert "flows-call-mean_delay_s-pairs" not in page


def test_a_search_for_the_shortest_delay_finds_no_winner_among_lossy_trials() -> None:
    options = {"trials": 8, "replications": 2, "fresh": 3}
    found = package.optimise(CALL, {QUEUE: "2:60"}, minimise=DELAY, **options)
    assert not found.confirmed
    assert found.sentences[0].startswith(f"No verdict on {DELAY}: it counts only messages that arrived")
    assert found.sentences[1].startswith(ADVICE)
    assert found.differences["verdict"][0] == "none"
    # What loses nothing is judged as ever.
    judged = package.optimise(CALL, {QUEUE: "2:60"}, maximise="flows.bulk.goodput_bps", **options)
    assert judged.sentences[0].startswith("The winner, with the highest ")


def test_a_sensitivity_of_lossy_delays_names_no_quantity(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "call.toml").write_text(CALL)
    options = ["--vary", f"{QUEUE}=2:60", "--metric", DELAY, "--samples", "8", "--replications", "6", "--json"]
    found = json.loads(roamsim("sensitivity", "call.toml", *options).stdout)
    assert found["sentences"][0].startswith(f"No verdict on {DELAY}: it counts only messages that arrived")
    assert found["sentences"][1].startswith(ADVICE)


def test_a_sweep_answers_with_another_metric() -> None:
    found = package.sweep(CALL, {QUEUE: [2, 60]}, replications=4)
    (sentence,) = answered(found)
    assert "delay" not in sentence.lower()
    asked = package.sweep(CALL, {QUEUE: [2, 60]}, precision=f"{DELAY}=50%", max_replications=4)
    why, advice = answered(asked)
    assert why.startswith("Mean delay of call: no verdict. It counts only messages that arrived")
    assert "use flows.in_time_share instead: it" in advice
