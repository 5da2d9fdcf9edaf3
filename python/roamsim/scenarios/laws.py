"""Congestion controls and policies of the user: classes in Python, named on the command line or given to the API.

In a scenario `CLASS@DIGEST` stands for a class, with a digest of the text of its file. So results are filed under its
source. Nothing here reads a scenario or a folder of results: only the user names a file that is run.
"""

from __future__ import annotations

import hashlib
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from roamsim._roamsim import (
    CongestionControl,
    SelectionPolicy,
    register_congestion_control,
    register_selection_policy,
)
from roamsim.errors import UsageError
from roamsim.files import NoRegularFile, read_whole


@dataclass(frozen=True)
class Kind:
    """What a class may be.

    Attributes:
        base: what it is a subclass of.
        named: what it is, in words.
        all: several of them.
        methods: those that it must have.
        register: keeps it under a name.
    """

    base: type
    named: str
    all: str
    methods: tuple[str, ...]
    register: Callable[[str, type, str], None]


CONTROL = Kind(
    CongestionControl,
    "congestion control",
    "congestion controls",
    ("on_ack", "on_loss", "on_ecn", "on_timeout"),
    register_congestion_control,
)
POLICY = Kind(SelectionPolicy, "policy of a selection", "policies", ("select",), register_selection_policy)

#: Hexadecimal digits of the digest in a name (chosen: 128 bits).
DIGITS = 32

#: Modules of files that were run, by path and text: a class that is named twice is one class.
_modules: dict[tuple[str, str], ModuleType] = {}

#: The texts under which classes are filed, which stay when their files change.
_texts: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def named(path: str, value: Any) -> Any:
    """A value for a path of a scenario, with the name of a class in place of the class or of `FILE.py:CLASS`.

    Raises:
        UsageError: there is no such class, or it is none of what the key takes.
    """
    if isinstance(value, type):
        return _of_class(path, value, _kind(path) or CONTROL)
    kind = _kind(path)
    if isinstance(value, str) and kind and ".py:" in value:
        return _of_file(path, value.strip().strip("\"'"), kind)
    return value


def _kind(path: str) -> Kind | None:
    """What a class at this path must be."""
    if path.endswith("congestion_control"):
        return CONTROL
    return POLICY if path.startswith("selection.") and path.endswith(".policy") else None


def _of_file(path: str, value: str, kind: Kind) -> str:
    file, _, name = value.rpartition(":")
    try:
        text = decode_source(read_whole(file))
    except (OSError, ValueError, SyntaxError, NoRegularFile) as error:
        raise UsageError(
            f"{path}: {file!r} cannot be read: {getattr(error, 'strerror', None) or error}; a file of Python is "
            "named from the current folder"
        ) from None
    module = _modules.get((file, text)) or _run(path, file, text)
    law = getattr(module, name, None)
    if not isinstance(law, type):
        classes = [key for key, entry in vars(module).items() if _is(kind, entry)]
        there = f"its {kind.all}: {', '.join(classes)}" if classes else f"it has no {kind.named}"
        raise UsageError(f"{path}: {file} has no class {name!r}; {there}")
    return _registered(path, law, (file, text), kind)


def _run(path: str, file: str, text: str) -> ModuleType:
    """The module of a file that the user has named."""
    module = ModuleType(f"roamsim_law_{_digest(file + text)}")
    module.__file__ = str(Path(file).absolute())
    # Where decorators look for it, those of dataclasses among them.
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, file, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        what = "it ends the program" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        raise UsageError(f"{path}: {_place(error, file)}: {what}") from None
    except BaseException:
        del sys.modules[module.__name__]
        raise
    _modules[file, text] = module
    return module


def _of_class(path: str, law: type, kind: Kind) -> str:
    import inspect

    module = sys.modules.get(law.__module__)
    if getattr(module, law.__qualname__, law) is not law or "<locals>" in law.__qualname__:
        raise UsageError(
            f"{path}: the class {law.__qualname__} is not what its file has under this name; write it at the "
            "top level of a file, under a name of its own"
        )
    try:
        file = inspect.getsourcefile(law)
        in_file = file is not None and Path(file).is_file()
        text = _texts.get(law) or inspect.getsource(module if in_file and module else law)
    except (OSError, TypeError):
        file = None
    if file is None:
        raise UsageError(
            f"{path}: the source of the class {law.__name__} is not known, and results are filed under it; write the "
            "class into a file"
        )
    if law not in _texts and not _is_made_from(law, text, file):
        raise UsageError(
            f"{path}: {file} has changed since its class {law.__name__} was imported, and results are filed under "
            "the file; import it again"
        )
    return _registered(path, law, (file, text), kind)


def _is_made_from(law: type, text: str, file: str) -> bool:
    """Whether the methods of a class are those of a text. Its attributes, and other functions, are not compared."""
    try:
        found = set(_codes(compile(textwrap.dedent(text), file, "exec")))
    except (SyntaxError, ValueError):
        return False
    functions = [entry for entry in vars(law).values() if isinstance(entry, FunctionType)]
    # A decorator may have made others, as that of dataclasses does.
    bodies = [_body(entry.__code__) for entry in functions if entry.__code__.co_filename == file]
    # A test runner puts names of its own, which begin with "@", into functions that assert.
    return all(body in found for body in bodies if not any("@" in name for name in (*body[3], *body[4])))


def _codes(code: CodeType) -> Iterator[tuple[Any, ...]]:
    yield _body(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _body(code: CodeType) -> tuple[Any, ...]:
    """A function's instructions, and what they use; lines are those of the text, which may be that of a class."""
    constants = tuple(repr(_body(c)) if isinstance(c, CodeType) else repr(c) for c in code.co_consts)
    return code.co_name, code.co_code, constants, code.co_names, code.co_varnames


def _registered(path: str, law: type, source: tuple[str, str], kind: Kind) -> str:
    name, (file, text) = law.__name__, source
    if not _is(kind, law):
        raise UsageError(
            f"{path}: {name} of {file} is not a {kind.named}; write class {name}(roamsim.{kind.base.__name__})"
        )
    missing = [method for method in kind.methods if getattr(law, method) is getattr(kind.base, method)]
    if missing:
        raise UsageError(
            f"{path}: {name} of {file} has no {' and no '.join(missing)}; a {kind.named} has "
            f"{' and '.join(filter(None, [', '.join(kind.methods[:-1]), kind.methods[-1]]))}"
        )
    if kind is CONTROL and not hasattr(law, "__deepcopy__"):
        law.__deepcopy__ = _copied  # type: ignore[attr-defined]
    _texts[law] = text
    registered = f"{name}@{_digest(text)}"
    kind.register(registered, law, file)
    return registered


def _copied(law: CongestionControl, memo: dict[int, Any]) -> CongestionControl:
    """A deep copy, kept at a reduction that may prove needless; the class of the extension module has none."""
    import copy

    made = memo[id(law)] = type(law).__new__(type(law))
    made.__dict__.update(copy.deepcopy(law.__dict__, memo))
    made.window_bytes, made.ssthresh_bytes = law.window_bytes, law.ssthresh_bytes
    made.pacing_rate_bps = law.pacing_rate_bps
    return made


def _is(kind: Kind, entry: object) -> bool:
    return isinstance(entry, type) and issubclass(entry, kind.base) and entry is not kind.base


def _digest(text: str) -> str:
    """The digest of a text, however its lines end."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _place(error: BaseException, file: str) -> str:
    """Where in a file an error is."""
    import traceback

    if isinstance(error, SyntaxError):
        return f"{file}:{error.lineno}" if error.lineno else file
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}" if lines else file
