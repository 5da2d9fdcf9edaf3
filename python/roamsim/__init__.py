"""Roamsim simulates transport protocols on the move.

    >>> import roamsim
    >>> result = roamsim.run("scenario.toml", seed=1)
    >>> result.flows.select("name", "goodput_bps")

`load`, `check` and `schema` deal with scenarios, `run`, `sweep` and `compare` run them, `open_results` reads what a
command wrote, with `query`, `plot` and `report` as methods. `roamsim.study` lists and runs studies. Tables are polars
frames; `roamsim.explain` says what each of their columns means.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from roamsim._roamsim import RunFailed, Scenario, ScenarioError, version
from roamsim.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from roamsim import study
    from roamsim.api import check, compare, run, schema, sweep
    from roamsim.comparisons import Comparison
    from roamsim.memory import limit_memory
    from roamsim.metrics import explain
    from roamsim.queries import query
    from roamsim.result import Result
    from roamsim.scenarios import load
    from roamsim.store import open_results
    from roamsim.sweeps import SweepResult

__version__ = version()

__all__ = [
    "CheckFailed",
    "Comparison",
    "Result",
    "RunFailed",
    "Scenario",
    "ScenarioError",
    "SweepResult",
    "UsageError",
    "__version__",
    "check",
    "compare",
    "explain",
    "limit_memory",
    "load",
    "open_results",
    "query",
    "run",
    "schema",
    "study",
    "sweep",
]

# Loaded when first used, so that `roamsim --help` does not wait for polars.
_HOMES = {
    "check": "roamsim.api",
    "compare": "roamsim.api",
    "Comparison": "roamsim.comparisons",
    "limit_memory": "roamsim.memory",
    "run": "roamsim.api",
    "schema": "roamsim.api",
    "sweep": "roamsim.api",
    "explain": "roamsim.metrics",
    "query": "roamsim.queries",
    "Result": "roamsim.result",
    "load": "roamsim.scenarios",
    "open_results": "roamsim.store",
    "SweepResult": "roamsim.sweeps",
}


def __getattr__(name: str) -> Any:
    if name == "study":
        return importlib.import_module("roamsim.study")
    if name not in _HOMES:
        raise AttributeError(f"module 'roamsim' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
