"""Scenarios checked without a run, and the schema that they are checked by; loads no library of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from roamsim import _roamsim
from roamsim._roamsim import Scenario
from roamsim.running.foresight import foresee
from roamsim.scenarios.reading import Overrides, ScenarioLike, load, parse


def check(scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None, allow_files_outside: bool = False) -> str:
    """Validates a scenario without running it, and describes it in a line.

    A `Notice` warns if a run would take very many events, or more memory than there is.

    Raises:
        ScenarioError: the scenario is not valid.
        UsageError: the file does not exist.
    """
    return contents(load(scenario, set=set, allow_files_outside=allow_files_outside))


def check_text(scenario: ScenarioLike, settings: Overrides, *, color: bool) -> str:
    """`check` with overrides that are already text."""
    return contents(parse(scenario, settings, color=color))


def contents(scenario: Scenario) -> str:
    """One line: the name, the duration, and the number of each kind of entry. Warns of excessive runs."""
    foresee([(scenario, 1)], (), at_once=1)
    tree = json.loads(scenario.canonical)
    counts = []
    for key, entries in tree.items():
        if isinstance(entries, list) and entries:
            # Abbreviations, and what cannot be counted, have no plural.
            plural = "s" if len(entries) > 1 and key in ("node", "link", "cell", "flow") else ""
            counts.append(f"{len(entries)} {key}{plural}")
    return f"{scenario.name}: {scenario.duration_s:g} s, {', '.join(counts)}"


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario, with every default and its source."""
    tree: dict[str, Any] = json.loads(_roamsim.schema())
    return tree
