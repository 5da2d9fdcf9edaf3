"""Access technologies, mobility and TCP senders: the figures and report sections of each.

A technology is a module, or a package, of this folder. Reports and `roamsim plot` find it by being here, and nothing
lists it. It has

    report      a function of a page and of results, which adds a section where the results have tables of its own
    outcome     where it has main figures of its own, a function of the results of a run: sentences with them
    PICTURES    where it draws any, functions of results and of the part asked for, by what `roamsim plot` calls them:
                the kind of trace that they are drawn of
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roamsim.pictures.timed import Figure
    from roamsim.pictures.timeseries import Part
    from roamsim.storing.store import Results

    Picture = Callable[[Results, Part], Figure]


def technologies() -> list[Any]:
    """The modules of the technologies, in the order of their names."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]


def pictures() -> Mapping[str, Picture]:
    """What technologies draw, by name."""
    return {name: draw for one in technologies() for name, draw in getattr(one, "PICTURES", {}).items()}
