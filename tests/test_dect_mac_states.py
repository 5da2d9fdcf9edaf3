"""The state diagram of the DECT MAC: what is counted of each type of terminal, and how it is drawn."""

import math
from pathlib import Path

import pytest
import roamsim
from conftest import Command
from roamsim.technologies.dect import mac_states

SCENARIO = """
[scenario]
name = "A DECT access"
duration = "600s"
[[node]]
name = "terminal"
[[node]]
name = "host"
[[dect]]
name = "air"
terminal = "terminal"
gateway = "host"
terminals = [{ type = "p32", offered_erlang = 100 }, { type = "data", offered_erlang = 20 }]
"""


def counts(seed: int = 1) -> dict[str, mac_states.Counts]:
    result = roamsim.run(SCENARIO, seed=seed)
    return {kind: found for _, kind, found in mac_states.of_types(result.tables)}


def test_runs_are_added_up_and_rest_has_no_time() -> None:
    states = [
        {"state": "Idle_Locked", "time_s": None},
        {"state": "Active_Locked", "time_s": 2700.0},
        {"state": "Call_Setup", "time_s": 900.0},
    ]
    arrows = [
        {"from": "Call_Setup", "to": "Active_Locked", "count": 7},
        {"from": "Active_Locked", "to": "Idle_Locked", "count": 0},
    ]
    found = mac_states.added_up(states * 2, arrows * 2)
    assert found.hours == 2.0
    assert found.share("Active_Locked") == 0.75
    assert math.isnan(found.share("Idle_Locked"))
    assert found.transitions == {("Call_Setup", "Active_Locked"): 14, ("Active_Locked", "Idle_Locked"): 0}
    assert (found.entries("Active_Locked"), found.entries("Idle_Locked")) == (14, 0)


def test_every_type_that_had_a_call_is_counted() -> None:
    found = counts()
    assert list(found) == ["User", "P32", "Data"]  # the access' own first, and none of types without traffic
    user, telephones = found["User"], found["P32"]
    assert user.hours == pytest.approx(600 / 3600)
    assert set(user.transitions) == set(telephones.transitions) == set(found["Data"].transitions)
    # Nobody but the user modifies its connection, and its call has no end.
    assert telephones.entries("Connection_Mod") == found["Data"].entries("Connection_Mod") == 0
    assert user.transitions["Active_Locked", "Idle_Locked"] == 0 < user.transitions["Idle_Locked", "Call_Setup"]
    # What comes goes: a call is in progress, or has come to rest.
    for one in (telephones, found["Data"]):
        for state in ("Call_Setup", "Active_Locked", "Bearer_HO", "Connection_HO"):
            left = sum(count for (start, _), count in one.transitions.items() if start == state)
            assert 0 <= one.entries(state) - left < 200, state
    # About 100 E of telephones are set up or connected: 100 * 600 s, less the time in which calls build up (120 s).
    assert telephones.hours * 3600 == pytest.approx(100 * (600 - 120), rel=0.15)


def test_the_diagram_draws_every_arrow_and_those_never_taken_pale() -> None:
    user = counts()["User"]
    figure = mac_states.draw(user)
    (axes,) = figure.axes
    texts = {text.get_text(): text for text in axes.texts}
    assert set(mac_states.PLACES) <= set(texts)
    arrows = [patch for patch in axes.patches if "Arrow" in type(patch).__name__]
    assert len(arrows) == len(user.transitions) == 16
    labels = axes.texts[2 * len(mac_states.PLACES) :]
    assert [label.get_text() for label in labels] == [str(count) for count in user.transitions.values()]
    for label, count in zip(labels, user.transitions.values(), strict=True):
        assert label.get_color() == (mac_states.TAKEN if count else mac_states.NEVER)
    share = 100 * user.share("Active_Locked")
    assert f"{share:.3g} %" in texts


def test_a_report_has_the_diagram_of_each_type(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "dect.toml").write_text(SCENARIO)
    roamsim("run", "dect.toml", "--replications", "2", "--parquet", "out")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "air: MAC states and transitions of its terminal, all 2 runs" in page
    assert "air: MAC states and transitions of terminals of type P32, all 2 runs" in page
    assert "terminals of type P80" not in page
    assert "In the boxes shares of 20 min" in page
    roamsim("sweep", "dect.toml", "--vary", "dect.air.load_factor=1,2", "--out", "swept")
    roamsim("report", "swept")
    page = (tmp_path / "swept" / "report.html").read_text()
    assert "of its terminal, the only run of the first point" in page
