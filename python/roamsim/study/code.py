"""Imports a study's code: its files are modules of one package (`from .cases import ...`)."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from roamsim.files import read_whole


def read_code(folder: Path) -> dict[str, ModuleType]:
    """Those of the modules `study`, `statements` and `exhibits` that there are: a file, or a package of several."""
    package = "roamsim_study_" + "".join(c if c.isalnum() else "_" for c in folder.name)
    # Another folder of that name, or the files as they were, may have been read before.
    for known in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[known]
    importlib.invalidate_caches()
    sys.modules[package] = ModuleType(package)
    sys.modules[package].__path__ = [str(folder)]
    names = [
        name
        for name in ("study", "statements", "exhibits")
        if (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file()
    ]
    with _without_bytecode():
        return {name: importlib.import_module(f"{package}.{name}") for name in names}


@contextlib.contextmanager
def _without_bytecode() -> Iterator[None]:
    """Keeps no bytecode: it would stand for a file that is changed within a second to its old length."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def code_digest(function: Callable[..., Any]) -> str:
    """A digest of what a function does: of its body, and of what that uses of the study's files and of Roamsim.

    Functions, classes and constants are followed by their names, from module to module. Comments, layout, docstrings
    and whatever is not used change nothing; other packages are taken as they are.
    """
    used: dict[tuple[str, str], str] = {}
    _follow(function.__module__, function.__name__, used, {})
    return hashlib.sha256("\n".join(f"{where}\n{used[where]}" for where in sorted(used)).encode()).hexdigest()


def _follow(
    module: str, name: str, used: dict[tuple[str, str], str], read: dict[str, dict[str, list[ast.stmt]]]
) -> None:
    """Adds what a name of a module stands for, and whatever that uses."""
    if (module, name) in used or not _is_ours(module):
        return
    if module not in read:
        read[module] = _definitions(module)
    statements = read[module].get(name, [])
    used[module, name] = "\n".join(ast.unparse(statement) for statement in statements)
    if not statements:
        # A package may give what lies elsewhere, and load it when it is asked for.
        meant = getattr(sys.modules[module], name, None)
        if isinstance(meant, FunctionType | type) and meant.__module__ != module:
            _follow(meant.__module__, meant.__name__, used, read)
    for statement in statements:
        # At the top of a module one name is used of an import; those inside of a function are its own.
        top = isinstance(statement, ast.Import | ast.ImportFrom)
        bound = dict(vars(sys.modules[module]))
        for node in ast.walk(statement):
            for other, imported, known_as in _imports(module, node):
                if top and known_as != name:
                    continue
                if hasattr(sys.modules.get(other), imported):
                    bound[known_as] = getattr(sys.modules[other], imported)
                    _follow(other, imported, used, read)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id in read[module]:
                _follow(module, node.id, used, read)
            elif isinstance(node, ast.Attribute):
                meant = _module(node.value, bound)
                if meant is not None:
                    _follow(meant.__name__, node.attr, used, read)


def _module(node: ast.expr, bound: Mapping[str, Any]) -> ModuleType | None:
    """The module that a name, or names with dots between them, stand for; none where it is no module."""
    if isinstance(node, ast.Name):
        meant = bound.get(node.id)
    elif isinstance(node, ast.Attribute):
        meant = getattr(_module(node.value, bound), node.attr, None)
    else:
        return None
    return meant if isinstance(meant, ModuleType) else None


def _is_ours(module: str) -> bool:
    return (
        module.split(".")[0].startswith("roamsim") and getattr(sys.modules.get(module), "__file__", None) is not None
    )


def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    """The statements at the top of a module by the names that they give a meaning to, without docstrings."""
    path = str(sys.modules[module].__file__)
    if not path.endswith(".py"):
        return {}  # the extension module, which the digest of the build covers
    tree = ast.parse(read_whole(path), path)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node, False):
            node.body = node.body[1:] or [ast.Pass()]
    found: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _named(statement):
            found.setdefault(name, []).append(statement)
    return found


def _named(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a module gives a meaning to, or changes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    else:
        # Assignments, also of entries and in loops, and calls such as TABLE.update(...).
        yield from {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _imports(module: str, node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """What an import of names brings: the module, the name there, and the name here; the module is loaded by it."""
    if not isinstance(node, ast.ImportFrom):
        return
    package = module.rsplit(".", node.level)[0] if node.level else ""
    if node.level and hasattr(sys.modules[module], "__path__"):
        package = module.rsplit(".", node.level - 1)[0] if node.level > 1 else module
    origin = ".".join(filter(None, (package, node.module)))
    for alias in node.names:
        for other in (origin, f"{origin}.{alias.name}"):
            if other.startswith("roamsim") and other not in sys.modules:
                with contextlib.suppress(ImportError):
                    importlib.import_module(other)
        yield origin, alias.name, alias.asname or alias.name
