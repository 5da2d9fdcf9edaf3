"""Shell completion: studies, traces, tables, metrics, and the keys of the scenario at hand.

A completion never complains: where nothing can be read, nothing is offered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import typer


def studies(incomplete: str) -> list[str]:
    """Names of the studies that come with the package."""
    from roamsim import study

    return [name for name in study.available() if name.startswith(incomplete)]


def examples(incomplete: str) -> list[str]:
    """Names of the examples that come with the package."""
    from roamsim.scenarios import bundled

    return [found.name for found in bundled.examples() if found.name.startswith(incomplete)]


def traces(incomplete: str) -> list[str]:
    """Kinds of traces; of a list with commas, the last one."""
    from roamsim._roamsim import trace_kinds

    given, comma, last = incomplete.rpartition(",")
    chosen = given.split(",")
    return [f"{given}{comma}{kind}" for kind in trace_kinds() if kind.startswith(last) and kind not in chosen]


def tables(incomplete: str) -> list[str]:
    """Names of the result tables."""
    from roamsim.tables.metrics import table_meanings

    return [name for name in table_meanings() if name.startswith(incomplete)]


def metrics(incomplete: str) -> list[str]:
    """Columns that can be averaged, as `TABLE.COLUMN`."""
    from roamsim.tables.metrics import metrics as known

    return [m.name for m in known() if m.unit is not None and m.table != "run" and m.name.startswith(incomplete)]


def explained(incomplete: str) -> list[str]:
    """Whatever `roamsim explain` knows: tables, columns, traces."""
    from roamsim.tables.metrics import metrics as known
    from roamsim.tables.metrics import traces as recorded

    names = [*tables(""), *(m.name for m in known()), *(t.column for t in recorded())]
    return [name for name in names if name.startswith(incomplete)]


def stacks(incomplete: str) -> list[str]:
    """Presets of TCP."""
    from roamsim._roamsim import tcp_stacks

    return [name for name, _ in tcp_stacks() if name.startswith(incomplete)]


def drawn(incomplete: str) -> list[str]:
    """What `roamsim plot` draws: traces, or metrics."""
    from roamsim._roamsim import trace_kinds

    kinds = [*trace_kinds(), "transfer_times"]
    return [kind for kind in kinds if kind.startswith(incomplete)] + metrics(incomplete)


def keys(context: typer.Context, incomplete: str) -> list[str]:
    """Paths of values, `link.path.rate`, of the scenario whose file stands on the command line."""
    from roamsim._roamsim import ScenarioError, schema
    from roamsim.errors import UsageError
    from roamsim.scenarios.reading import load

    # An option that still lacks its value keeps click from assigning the arguments.
    file = context.params.get("file") or next((word for word in context.args if not word.startswith("-")), "-")
    if file == "-":
        return []
    try:
        scenario = json.loads(load(file).written)
    except (ScenarioError, UsageError):
        return []
    whole = json.loads(schema())
    found = _paths(scenario, whole, whole["$defs"], ())
    return [path for path in found if path.startswith(incomplete)]


def _paths(
    value: Any, definition: Mapping[str, Any], types: Mapping[str, Any], steps: tuple[str, ...]
) -> Iterator[str]:
    """Every path below a value: what is set, and what its type allows to be set."""
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        for number, entry in enumerate(value):
            name = str(entry.get("name", number)) if isinstance(entry, dict) else str(number)
            yield from _paths(
                entry, _listed(definition, types), types, (*steps, f'"{name}"' if "." in name else name)
            )
    elif isinstance(value, dict):
        allowed = _properties(value, definition, types)
        for key in {**dict.fromkeys(value), **dict.fromkeys(allowed)}:
            below = value.get(key)
            yield from _paths(below, allowed.get(key, {}), types, (*steps, key))
    elif steps:
        yield ".".join(steps)


def _variants(definition: Mapping[str, Any], types: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A type's alternatives, references followed; a plain type is its own only one."""
    while "$ref" in definition:
        definition = types[definition["$ref"].removeprefix("#/$defs/")]
    several = definition.get("oneOf") or definition.get("anyOf")
    return [one for each in several for one in _variants(each, types)] if several else [definition]


def _listed(definition: Mapping[str, Any], types: Mapping[str, Any]) -> Mapping[str, Any]:
    """The type of a list's elements."""
    return next((one["items"] for one in _variants(definition, types) if "items" in one), {})


def _properties(value: Mapping[str, Any], definition: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that a table may have: of the first variant whose tags fit what is set."""
    for variant in _variants(definition, types):
        properties = variant.get("properties")
        if properties is None:
            continue
        tags = {key: about["const"] for key, about in properties.items() if "const" in about}
        default = {key: about.get("default") for key, about in properties.items()}
        if all(value.get(key, default[key]) == tag for key, tag in tags.items()):
            return dict(properties)
    return {}
