"""A study's code: its files are modules of one package, and may import each other (`from .cases import ...`)."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType


def read_code(folder: Path) -> dict[str, ModuleType]:
    """Those of the modules `study`, `statements` and `exhibits` that there are: a file, or a package of several."""
    package = "roamsim_study_" + "".join(c if c.isalnum() else "_" for c in folder.name)
    # Another folder of that name, or the files as they were, may have been read before.
    for known in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[known]
    importlib.invalidate_caches()
    sys.modules[package] = ModuleType(package)
    sys.modules[package].__path__ = [str(folder)]
    modules = {}
    for name in ("study", "statements", "exhibits"):
        if (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file():
            modules[name] = importlib.import_module(f"{package}.{name}")
    return modules
