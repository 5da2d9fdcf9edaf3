"""Defaults of keys that a scenario leaves out, from the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from roamsim import _roamsim
from roamsim.scenarios.vary import inner, path_steps


def default_at(scenario: Mapping[str, Any], path: str) -> Any:
    """The default of the key at a path; `None` where there is none that hangs on nothing else.

    Args:
        scenario: the tree, which says of what kind the tables on the way are.
        path: dotted path into it.
    """
    whole: dict[str, Any] = json.loads(_roamsim.schema())
    place: Any = scenario
    nodes = [whole]
    for step in path_steps(path):
        shapes = [shape for node in nodes for shape in _shapes(whole, node, place)]
        if isinstance(place, list):
            nodes = [shape["items"] for shape in shapes if "items" in shape]
        else:
            nodes = [shape["properties"][step] for shape in shapes if step in shape.get("properties", {})]
        usual = next((node["default"] for node in nodes if "default" in node), None)
        written = inner(place, step)
        place = usual if written is None else written
        if place is None or not nodes:
            return None
    return place


def _shapes(whole: Mapping[str, Any], node: Mapping[str, Any], place: Any) -> Iterator[Mapping[str, Any]]:
    """The schemas that a node stands for, of alternatives those whose constants are the tree's."""
    if "$ref" in node:
        yield from _shapes(whole, whole["$defs"][node["$ref"].rpartition("/")[2]], place)
    for alternative in (*node.get("oneOf", ()), *node.get("anyOf", ()), *node.get("allOf", ())):
        yield from _shapes(whole, alternative, place)
    kinds = {name: shape for name, shape in node.get("properties", {}).items() if "const" in shape}
    table = place if isinstance(place, Mapping) else {}
    if all(table.get(name, shape.get("default")) == shape["const"] for name, shape in kinds.items()):
        yield node
