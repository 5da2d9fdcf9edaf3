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
    wide = mac_states.draw(user)
    # Beside the wide form a narrow one: the same states and arrows, turned.
    for form in (wide, wide["usermeta"]["narrow"]):
        arcs, heads, boxes, _, _, labels = (layer["data"]["values"] for layer in form["layer"])
        assert {box["state"] for box in boxes} == set(mac_states.PLACES)
        taken = {f"{start} to {end}": count for (start, end), count in user.transitions.items()}
        assert len(taken) == 16
        assert {head["arrow"] for head in heads} == {arc["arrow"] for arc in arcs} == set(taken)
        assert {label["arrow"]: label["taken"] for label in labels} == {arrow: str(n) for arrow, n in taken.items()}
        for label in labels:
            assert (label["opacity"] == 1) == (taken[label["arrow"]] > 0)
        shares = {box["state"]: box["share"] for box in boxes}
        assert shares["Active_Locked"] == f"{100 * user.share('Active_Locked'):.3g} %"
        # Boxes lie beside each other, and no arrow runs through one.
        for one in boxes:
            inside = [arc for arc in arcs if one["x"] < arc["x"] < one["x2"] and one["y"] < arc["y"] < one["y2"]]
            assert not inside, (one["state"], inside)
            beside = (o for o in boxes if o is not one)
            assert all(
                o["x2"] < one["x"] or one["x2"] < o["x"] or o["y2"] < one["y"] or one["y2"] < o["y"] for o in beside
            )


def test_a_report_has_the_diagram_of_each_type(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "dect.toml").write_text(SCENARIO)
    roamsim("run", "dect.toml", "--replications", "2", "--parquet", "out")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "air: MAC states and transitions of its terminal, all 2 runs" in page
    assert "air: MAC states and transitions of terminals of type P32, all 2 runs" in page
    assert "terminals of type P80" not in page
    assert "Boxes: share of 20\u00a0min" in page
    roamsim("sweep", "dect.toml", "--vary", "dect.air.load_factor=1,2", "--out", "swept")
    roamsim("report", "swept")
    page = (tmp_path / "swept" / "report.html").read_text()
    assert "of its terminal, the only run of the first point" in page
