"""Packages that are imported on first use, because many commands need none of them and imports take longer than a
short run.

A module that stands in for such a package is in its place before anybody imports it. (`importlib.util.LazyLoader`
loads it at the second `import`, before any use.)
"""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

#: The packages.
LATE = ("polars",)


class _Late(ModuleType):
    """Stands in for a package until an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._loaded: ModuleType | None = None
        # Others look here whether a package is installed.
        self.__spec__ = importlib.util.find_spec(name)

    def __getattr__(self, name: str) -> Any:
        if self._loaded is None:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            self._loaded = import_module(self.__name__)
        return getattr(self._loaded, name)


def load_late() -> None:
    """Puts stand-ins in the place of packages that are not loaded yet."""
    for name in LATE:
        if name not in sys.modules:
            sys.modules[name] = _Late(name)
