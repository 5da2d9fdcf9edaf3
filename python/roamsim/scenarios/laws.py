"""Congestion controls of the user: classes in Python, named on the command line or given to the API.

In a scenario `CLASS@DIGEST` stands for a class, with a digest of the text of its file. So results are filed under its
source. Nothing here reads a scenario or a folder of results: only the user names a file that is run.
"""

from __future__ import annotations

import hashlib
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from roamsim._roamsim import CongestionControl, register_congestion_control
from roamsim.errors import UsageError
from roamsim.files import NoRegularFile, read_whole

#: Methods that a class must have.
METHODS = ("on_ack", "on_loss", "on_ecn", "on_timeout")

#: Hexadecimal digits of the digest in a name (chosen: 128 bits).
DIGITS = 32

#: Modules of files that were run, by path and text: a class that is named twice is one class.
_modules: dict[tuple[str, str], ModuleType] = {}

#: The texts under which classes are filed, which stay when their files change.
_texts: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def named(path: str, value: Any) -> Any:
    """A value for a path of a scenario, with the name of a class in place of the class or of `FILE.py:CLASS`.

    Raises:
        UsageError: there is no such class, or it is no congestion control.
    """
    if isinstance(value, type):
        return _of_class(path, value)
    if isinstance(value, str) and path.endswith("congestion_control") and ".py:" in value:
        return _of_file(path, value.strip().strip("\"'"))
    return value


def _of_file(path: str, value: str) -> str:
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
        classes = [key for key, entry in vars(module).items() if _is_law(entry)]
        there = f"its congestion controls: {', '.join(classes)}" if classes else "it has no congestion control"
        raise UsageError(f"{path}: {file} has no class {name!r}; {there}")
    return _registered(path, law, file, text)


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


def _of_class(path: str, law: type) -> str:
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
    return _registered(path, law, file, text)


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


def _registered(path: str, law: type, file: str, text: str) -> str:
    name = law.__name__
    if not _is_law(law):
        raise UsageError(
            f"{path}: {name} of {file} is not a congestion control; write class {name}(roamsim.CongestionControl)"
        )
    missing = [method for method in METHODS if getattr(law, method) is getattr(CongestionControl, method)]
    if missing:
        raise UsageError(
            f"{path}: {name} of {file} has no {' and no '.join(missing)}; a congestion control has "
            f"{', '.join(METHODS[:-1])} and {METHODS[-1]}"
        )
    if not hasattr(law, "__deepcopy__"):
        law.__deepcopy__ = _copied  # type: ignore[attr-defined]
    _texts[law] = text
    registered = f"{name}@{_digest(text)}"
    register_congestion_control(registered, law, file)
    return registered


def _copied(law: CongestionControl, memo: dict[int, Any]) -> CongestionControl:
    """A deep copy, kept at a reduction that may prove needless; the class of the extension module has none."""
    import copy

    made = memo[id(law)] = type(law).__new__(type(law))
    made.__dict__.update(copy.deepcopy(law.__dict__, memo))
    made.window_bytes, made.ssthresh_bytes = law.window_bytes, law.ssthresh_bytes
    made.pacing_rate_bps = law.pacing_rate_bps
    return made


def _is_law(entry: object) -> bool:
    return isinstance(entry, type) and issubclass(entry, CongestionControl) and entry is not CongestionControl


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
