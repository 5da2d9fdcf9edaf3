"""Phones with several radios, as the benches make them: they select, and do not disturb each other."""

import polars
import roamsim

from benches.growth import phones
from benches.radios import with_five_interfaces


def short(tree: dict[str, object]) -> dict[str, object]:
    """The same for 45 s, in which a phone leaves its access point."""
    general = tree["scenario"]
    assert isinstance(general, dict)
    return tree | {"scenario": general | {"duration": "45s"}}


def test_phones_use_wifi_first_and_the_cell_then():
    run = roamsim.run(short(phones(10)))
    first = run.switches.filter(polars.col("node") == "phone-0")
    assert first["to_link"].to_list()[-2:] == ["wifi-0", "cell-0"]


def test_a_node_with_five_interfaces_changes_nothing_for_others():
    alone, beside = (roamsim.run(short(tree)) for tree in (phones(10), with_five_interfaces(phones(10))))
    assert alone.flows.equals(beside.flows)
    assert alone.switches.equals(beside.switches)
