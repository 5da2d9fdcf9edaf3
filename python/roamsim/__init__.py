"""Roamsim simulates transport protocols on the move.

    >>> import roamsim
    >>> result = roamsim.run("scenario.toml", seed=1)
    >>> result.flows.select("name", "goodput_bps")

`load`, `check` and `schema` read scenarios. `run`, `sweep`, `compare`, `sensitivity` and `optimise` run them, and
`open_results` reads a folder of results. All results have `report`, `plot`, `query` and `save`. Tables are polars
frames; `roamsim.explain` explains their columns. `roamsim.study` lists and runs the published studies.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from roamsim._roamsim import (
    CongestionControl,
    InterfaceState,
    RunFailed,
    Sample,
    Scenario,
    ScenarioError,
    SelectionPolicy,
    version,
)
from roamsim.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from roamsim import study
    from roamsim.answers import Comparison, Optimum, Sensitivity
    from roamsim.api import (
        compare,
        open_results,
        optimise,
        plot,
        query,
        report,
        sensitivity,
        sweep,
    )
    from roamsim.pictures import timesequence
    from roamsim.results import Result, SweepResult, run
    from roamsim.running.checking import check, schema
    from roamsim.running.memory import limit_memory
    from roamsim.scenarios.reading import load
    from roamsim.statistics import jain_index
    from roamsim.storing.merging import merge
    from roamsim.tables.metrics import explain
    from roamsim.world import World

__version__ = version()

__all__ = [
    "CheckFailed",
    "Comparison",
    "CongestionControl",
    "InterfaceState",
    "Optimum",
    "Result",
    "RunFailed",
    "Sample",
    "Scenario",
    "ScenarioError",
    "SelectionPolicy",
    "Sensitivity",
    "SweepResult",
    "UsageError",
    "World",
    "__version__",
    "check",
    "compare",
    "explain",
    "jain_index",
    "limit_memory",
    "load",
    "merge",
    "open_results",
    "optimise",
    "plot",
    "query",
    "report",
    "run",
    "schema",
    "sensitivity",
    "study",
    "sweep",
    "timesequence",
]

# Loaded when first used, so that `roamsim --help` does not wait for polars.
_HOMES = {
    "check": "roamsim.running.checking",
    "compare": "roamsim.api",
    "explain": "roamsim.tables.metrics",
    "jain_index": "roamsim.statistics",
    "limit_memory": "roamsim.running.memory",
    "load": "roamsim.scenarios.reading",
    "merge": "roamsim.storing.merging",
    "open_results": "roamsim.api",
    "optimise": "roamsim.api",
    "plot": "roamsim.api",
    "query": "roamsim.api",
    "report": "roamsim.api",
    "run": "roamsim.results",
    "schema": "roamsim.running.checking",
    "sensitivity": "roamsim.api",
    "sweep": "roamsim.api",
    "Comparison": "roamsim.answers",
    "Optimum": "roamsim.answers",
    "Result": "roamsim.results",
    "Sensitivity": "roamsim.answers",
    "SweepResult": "roamsim.results",
    "World": "roamsim.world",
}


#: Modules that are public under another name than their own, or loaded when first used.
_MODULES = {
    "study": "roamsim.study",
    "timesequence": "roamsim.pictures.timesequence",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'roamsim' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
