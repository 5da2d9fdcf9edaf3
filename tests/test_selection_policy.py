"""Policies of a selection that are classes in Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import roamsim
from roamsim.scenarios.laws import named

KEY = "selection.choice.policy"

SCENARIO = """
[scenario]
name = "two links"
duration = "30s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "lte"
between = ["server", "phone"]
rate = [{ from = "server", constant = "8Mb/s" }, { from = "phone", constant = "1Mb/s" }]
delay = "10ms"
signal = { constant = "-70dBm", steps = [{ at = "12s", signal = "-90dBm" }] }
outages = [{ start = "20s", duration = "2s" }]
[[link]]
name = "satellite"
between = ["server", "phone"]
rate = "20Mb/s"
delay = "40ms"
[[selection]]
name = "choice"
node = "phone"
policy = "preference"
prefer = ["lte", "satellite"]
scheme = "redirect"
prices = [{ access = "satellite", cost_per_mb = 2 }]
[[flow]]
name = "call"
from = "server"
to = "phone"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5ms" }
"""

#: The preference of the scenario, again.
AGAIN = """
import roamsim

class Again(roamsim.SelectionPolicy):
    def select(self, now_s, interfaces):
        return next((one.name for one in interfaces if one.up), None)
"""


def policy(folder: Path, text: str = AGAIN, name: str = "mine.py") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def choosing(body: str) -> str:
    head = "import roamsim\nclass Mine(roamsim.SelectionPolicy):\n    def select(self, now_s, interfaces):\n"
    return f"{head}        {body}\n"


def switches(result: roamsim.Result) -> list[tuple[float, str]]:
    return [(row["time_s"], row["to_link"]) for row in result.switches.to_dicts()]


def test_a_preference_in_python_is_the_preference(tmp_path: Path) -> None:
    built_in, own = (roamsim.run(SCENARIO, set=values) for values in ({}, {KEY: f"{policy(tmp_path)}:Again"}))
    assert switches(own) == switches(built_in) == [(0.0, "lte"), (20.0, "satellite"), (22.0, "lte")]
    assert own.flows.equals(built_in.flows)
    assert own.selection["policy"].to_list() == ["Again"]


def test_a_class_is_told_of_each_interface(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    keys = ["name", "technology", "up", "selected", "since_s", "signal_dbm", "going_down", "rate_bps", "cost_per_mb"]
    body = f"open({str(seen)!r}, 'a').write(repr([now_s] + [[getattr(i, k) for k in {keys!r}] for i in interfaces]) + '\\n')"
    file = policy(tmp_path, choosing(f"{body}; return interfaces[0].name if interfaces[0].up else None"))
    result = roamsim.run(SCENARIO, set={KEY: f"{file}:Mine"})
    lines = [ast.literal_eval(line) for line in seen.read_text().splitlines()]
    satellite = ["satellite", "link", True, False, 0.0, None, False, 20_000_000, 2.0]
    lte = ["lte", "link", True, False, 0.0, -70.0, False, 8_000_000, None]
    assert lines[0] == [0.0, lte, satellite]
    assert [12.0, ["lte", "link", True, True, 0.0, -90.0, False, 8_000_000, None], satellite] in lines
    assert [20.0, ["lte", "link", False, True, 20.0, -90.0, False, 8_000_000, None], satellite] in lines
    # Without an answer, nothing takes the place of an interface that is lost.
    assert switches(result) == [(0.0, "lte"), (20.0, ""), (22.0, "lte")]


def test_the_dwell_time_holds_for_a_class(tmp_path: Path) -> None:
    file = policy(tmp_path, choosing("return 'lte' if now_s < 5 or now_s >= 12 else 'satellite'"))
    values = {
        KEY: f"{file}:Mine",
        "link.lte.signal": {"steps": [{"at": f"{s}s", "signal": "-70dBm"} for s in (0, 6, 12)]},
    }
    values["link.lte.outages"] = []
    assert switches(roamsim.run(SCENARIO, set=values)) == [(0.0, "lte"), (6.0, "satellite"), (12.0, "lte")]
    held = roamsim.run(SCENARIO, set={**values, "selection.choice.dwell_time": "2s"})
    assert switches(held) == [(0.0, "lte"), (8.0, "satellite"), (14.0, "lte")]


def test_results_are_filed_under_the_source_and_runs_side_by_side_are_the_same(tmp_path: Path) -> None:
    texts = (AGAIN, AGAIN + "# another\n", AGAIN)
    prints = [roamsim.load(SCENARIO, set={KEY: f"{policy(tmp_path, text)}:Again"}).fingerprint for text in texts]
    assert prints[0] == prints[2] != prints[1]
    one, two = (
        roamsim.run(SCENARIO, replications=3, jobs=jobs, set={KEY: f"{policy(tmp_path)}:Again"}).switches
        for jobs in (1, 2)
    )
    assert one.equals(two)


class Given(roamsim.SelectionPolicy):
    """The first interface that is up."""

    def select(self, now_s: float, interfaces: list[roamsim.InterfaceState]) -> str | None:
        return next((one.name for one in interfaces if one.up), None)


def test_a_class_is_given_in_python_and_compared(tmp_path: Path) -> None:
    assert roamsim.run(SCENARIO, set={KEY: Given}).selection["policy"].to_list() == ["Given"]
    values = ["preference", f"{policy(tmp_path)}:Again"]
    compared = roamsim.sweep(SCENARIO, vary={KEY: values}, out=tmp_path / "out")
    assert compared.selection["policy"].to_list() == ["preference", "Again"]


def test_a_scenario_alone_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    file = policy(tmp_path, f"open({str(marker)!r}, 'w')\n" + AGAIN)
    text = SCENARIO.replace('policy = "preference"', f'policy = "{file}:Again"')
    with pytest.raises(roamsim.ScenarioError, match=r"a scenario alone runs no program[\s\S]*--set\s+selection"):
        roamsim.run(text)
    forged = SCENARIO.replace('policy = "preference"', f'policy = "Again@{"0" * 32}"')
    with pytest.raises(roamsim.RunFailed, match="a scenario alone runs no program"):
        roamsim.run(forged)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("1 / 0", 4, "in Mine.select: ZeroDivisionError: division by zero"),
        ("return 3", None, "select returned 3; it must return the name of an interface, or None"),
        ("return 'wifi'", None, "select returned 'wifi'; the interfaces are lte, satellite"),
        ("return 'lte'", None, "select returned 'lte', which is down"),
    ],
)
def test_an_error_ends_the_run_and_names_the_line(tmp_path: Path, body: str, line: int | None, said: str) -> None:
    file = policy(tmp_path, choosing(body))
    with pytest.raises(roamsim.RunFailed) as caught:
        roamsim.run(SCENARIO, set={KEY: f"{file}:Mine"})
    assert f"{file}:{line}, in" in str(caught.value) if line else f"{file}, in select:" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (AGAIN, "Yours", "no class 'Yours'; its policies: Again"),
        ("class Mine: pass", "Mine", "is not a policy of a selection; write class Mine(roamsim.SelectionPolicy)"),
        (AGAIN.replace("select", "choose"), "Again", "has no select; a policy of a selection has select"),
        ("def (", "Mine", "mine.py:1: SyntaxError"),
    ],
)
def test_what_is_no_policy_is_refused(tmp_path: Path, text: str, name: str, said: str) -> None:
    with pytest.raises(roamsim.UsageError, match=r".") as caught:
        named(KEY, f"{policy(tmp_path, text)}:{name}")
    assert said in str(caught.value)


@pytest.mark.parametrize("key", ["hold_time", "threshold", "leave_when_going_down"])
def test_what_does_not_go_with_a_class_is_refused(tmp_path: Path, key: str) -> None:
    value = {"hold_time": "1s", "threshold": "-80dBm", "leave_when_going_down": True}[key]
    with pytest.raises(roamsim.ScenarioError, match=rf"`{key}` has no effect: the class"):
        roamsim.load(SCENARIO, set={KEY: f"{policy(tmp_path)}:Again", f"selection.choice.{key}": value})


def test_a_policy_that_is_misspelt_is_refused() -> None:
    with pytest.raises(roamsim.ScenarioError, match="did you mean `strongest`"):
        roamsim.load(SCENARIO, set={KEY: "strongst"})
