"""Typed tables and typed scenarios: what is generated is up to date, and a type checker finds what is misspelt."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
import roamsim
from conftest import ROOT, SCENARIO
from roamsim import scenario as scenario_types
from roamsim.scenario import (
    BulkApplication,
    DropTailQueue,
    Flow,
    General,
    GilbertElliottLoss,
    Link,
    LinkDelayTable,
    Node,
    Scenario,
    TcpTransport,
)
from roamsim.tables.metrics import table_meanings

from generators.files import FILES, text


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_generated_is_up_to_date(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == text(file), "`make generated` writes it anew"


def test_every_table_is_an_attribute_that_says_what_it_is() -> None:
    for table, meaning in table_meanings().items():
        if table != "run":
            said = getattr(roamsim.Result, table).__doc__
            assert " ".join(said.split()) == meaning


def test_an_attribute_that_there_is_not_is_named() -> None:
    result = roamsim.run(SCENARIO)
    assert result.flows is result["flows"]
    assert hasattr(result, "flows")
    assert not hasattr(result, "handovers")
    assert "flows" in dir(result)
    assert "handovers" not in dir(result)
    with pytest.raises(AttributeError, match=r"'flwos'; did you mean flows\?"):
        _ = result.flwos
    with pytest.raises(
        AttributeError, match=r"no table 'handovers' \(one row per change .*only where there are cells\)"
    ):
        _ = result.handovers


def pipe() -> Scenario:
    return Scenario(
        scenario=General(name="A pipe", duration="20s"),
        node=[Node(name="server"), Node(name="phone")],
        link=[
            Link(
                name="pipe",
                between=["server", "phone"],
                rate="1Mb/s",
                delay=["20ms", LinkDelayTable(constant="30ms", from_="phone")][:1],
                queue=DropTailQueue(packets=20),
                loss=GilbertElliottLoss(per="packet", good_to_bad=0.01, bad_to_good=0.5),
            )
        ],
        flow=[
            Flow(
                name="ftp",
                from_="server",
                to="phone",
                transport=TcpTransport(variant="reno", nagle=False),
                application=BulkApplication(start="1s"),
            )
        ],
    )


WRITTEN = """
[scenario]
name = "A pipe"
duration = "20s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "pipe"
between = ["server", "phone"]
rate = "1Mb/s"
delay = ["20ms"]
queue = { discipline = "drop_tail", packets = 20 }
loss = { model = "gilbert_elliott", per = "packet", good_to_bad = 0.01, bad_to_good = 0.5 }
[[flow]]
name = "ftp"
from = "server"
to = "phone"
transport = { protocol = "tcp", variant = "reno", nagle = false }
application = { kind = "bulk", start = "1s" }
"""


def test_typed_objects_are_the_scenario_that_a_file_writes() -> None:
    written = roamsim.load(WRITTEN).canonical
    assert roamsim.load(pipe()).canonical == written
    assert roamsim.load(pipe().to_toml()).canonical == written
    assert roamsim.load(pipe().to_dict()).canonical == written
    assert roamsim.run(pipe()).flows.equals(roamsim.run(WRITTEN).flows)
    assert "rate='1Mb/s'" in repr(pipe())
    assert "None" not in repr(pipe())


def test_typed_objects_are_values_too() -> None:
    vary = {"flow.ftp.transport": [TcpTransport(variant="reno"), TcpTransport(variant="cubic")]}
    swept = roamsim.sweep(pipe(), vary, set={"link.pipe.queue": DropTailQueue(packets=5)})
    assert swept.flows["variant"].to_list() == ["reno", "cubic"]
    assert [link["queue"]["packets"] for link in swept.manifest.canonical["link"]] == [5]


def test_typed_objects_within_dictionaries_are_values_too() -> None:
    tree = {**pipe().to_dict(), "scenario": pipe().scenario}
    assert roamsim.load(tree).canonical == roamsim.load(WRITTEN).canonical
    flow = {**pipe().to_dict()["flow"][0], "transport": TcpTransport(variant="tahoe")}
    changed = roamsim.load(pipe(), set={"flow.0": flow})
    assert json.loads(changed.canonical)["flow"][0]["transport"]["variant"] == "tahoe"
    endless: dict[str, object] = {}
    endless["flow"] = endless
    with pytest.raises(roamsim.ScenarioError, match="holds itself"):
        roamsim.load(endless)
    with pytest.raises(roamsim.UsageError, match="holds itself"):
        roamsim.load(pipe(), set={"flow.0": endless})


def test_an_error_says_which_key_of_typed_objects_it_is_about() -> None:
    scenario = pipe()
    scenario.link[0].delay = "20"
    with pytest.raises(roamsim.ScenarioError, match=r"Scenario: link\.pipe\.delay: `20` has no unit"):
        roamsim.run(scenario)
    with pytest.raises(AttributeError, match="no attribute 'varaint'"):
        scenario.flow[0].transport.varaint = "reno"
    with pytest.raises(TypeError, match="varaint"):
        TcpTransport(varaint="reno")


def test_every_key_of_the_schema_is_documented_with_its_default() -> None:
    said = " ".join((TcpTransport.__doc__ or "").split())
    rule = "min_rto: Lower bound of the retransmission timeout. Default: RFC 6298 section 2.4. Without it: "
    assert f'{rule}"1s".' in said
    for name in scenario_types.__all__:
        found = getattr(scenario_types, name)
        if isinstance(found, type) and hasattr(found, "fixed"):
            for field in dataclasses.fields(found):
                assert f"{field.name}:" in (found.__doc__ or ""), f"{name}.{field.name}"


CHECKED = """
import roamsim
from roamsim.scenario import BernoulliLoss, General, Link, LinkRateTable, Node, Scenario, TcpTransport

result = roamsim.run("scenario.toml")
result.flows
result.flwos  # wrong
roamsim.sweep("scenario.toml", {}).handovers
roamsim.sweep("scenario.toml", {}).handover  # wrong
result.report().read_text()
TcpTransport(variant="reno", min_rto="200ms")
TcpTransport(varaint="reno")  # wrong
TcpTransport(variant="renoo")  # wrong
Node()  # wrong
Link(name="a", between=["b", "c"], rate=LinkRateTable(constant="1Mb/s"), delay="1ms", loss=[BernoulliLoss(probability=1)])
Link(name="a", between="bc", rate="1Mb/s", delay="1ms")  # wrong
tree = Scenario(scenario=General(name="a", duration="1s"), node=[Node(name="b")])
tree.node[0].nmae  # wrong
roamsim.run(tree)
roamsim.run(5)  # wrong
"""


# What others wrote is of any type: to check polars takes most of a minute, and `make lint` does it.
MYPY = """
[mypy]
strict = true
python_version = 3.11
follow_imports = skip
[mypy-roamsim.*]
follow_imports = silent
"""


def test_a_type_checker_finds_what_is_misspelt(tmp_path: Path) -> None:
    file = tmp_path / "checked.py"
    file.write_text(CHECKED)
    (tmp_path / "mypy.ini").write_text(MYPY)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "checked.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    wrong = {number for number, line in enumerate(CHECKED.splitlines(), 1) if "# wrong" in line}
    assert found == wrong, done.stdout + done.stderr
