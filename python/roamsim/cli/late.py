"""Packages that are imported on first use, because many commands need none of them and imports take longer than a
short run.

A module that stands in for such a package is in its place before anybody imports it. (`importlib.util.LazyLoader`
loads it at the second `import`, before any use.)
"""

from __future__ import annotations

import importlib.util
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
            with _until_whole():
                self._loaded = import_module(self.__name__)
        return getattr(self._loaded, name)


@contextmanager
def _until_whole() -> Iterator[None]:
    """Lets Ctrl-C wait: half of a package would be in the way of whatever tidies up. Other threads never see it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        signal.raise_signal(asked[0])


def load_late() -> None:
    """Puts stand-ins in the place of packages that are not loaded yet."""
    for name in LATE:
        if name not in sys.modules:
            sys.modules[name] = _Late(name)
