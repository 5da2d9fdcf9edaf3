"""Congestion controls of the user: classes in Python, named on the command line or given to the API.

In a scenario `CLASS@DIGEST` stands for a class, with a digest of the text of its file. So results are filed under its
source. Nothing here reads a scenario or a folder of results: only the user names a file that is run.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from roamsim._roamsim import CongestionControl, register_congestion_control
from roamsim.errors import UsageError
from roamsim.files import NoRegularFile, read_whole

#: Methods that a class must have.
METHODS = ("on_ack", "on_loss", "on_ecn", "on_timeout")

#: Hexadecimal digits of the digest in a name (chosen: 128 bits).
DIGITS = 32

#: Modules of files that were run, by path and text: a class that is named twice is one class.
_modules: dict[tuple[str, str], ModuleType] = {}


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
        text = read_whole(file).decode()
    except (OSError, ValueError, NoRegularFile) as error:
        raise UsageError(
            f"{path}: {file!r} cannot be read: {getattr(error, 'strerror', None) or error}; a file of Python is "
            "named from the current folder"
        ) from None
    module = _modules.get((file, text))
    if module is None:
        module = ModuleType(f"roamsim_law_{_digest(text)}")
        module.__file__ = str(Path(file).absolute())
        try:
            # The file that the user has named, and no other.
            exec(compile(text, file, "exec"), module.__dict__)
        except Exception as error:
            raise UsageError(f"{path}: {_place(error, file)}: {type(error).__name__}: {error}") from None
        sys.modules[module.__name__] = module
        _modules[file, text] = module
    law = getattr(module, name, None)
    if not isinstance(law, type):
        classes = [key for key, entry in vars(module).items() if _is_law(entry)]
        there = f"its congestion controls: {', '.join(classes)}" if classes else "it has no congestion control"
        raise UsageError(f"{path}: {file} has no class {name!r}; {there}")
    return _registered(path, law, file, text)


def _of_class(path: str, law: type) -> str:
    import inspect

    try:
        file = inspect.getsourcefile(law)
        text = (
            inspect.getsource(sys.modules[law.__module__])
            if file and Path(file).is_file()
            else inspect.getsource(law)
        )
    except (OSError, TypeError, KeyError):
        file = None
    if file is None:
        raise UsageError(
            f"{path}: the source of the class {law.__name__} is not known, and results are filed under it; write the "
            "class into a file"
        )
    return _registered(path, law, file, text)


def _registered(path: str, law: type, file: str, text: str) -> str:
    name = law.__name__
    if not _is_law(law):
        raise UsageError(
            f"{path}: {name} of {file} is no congestion control; write class {name}(roamsim.CongestionControl)"
        )
    missing = [method for method in METHODS if getattr(law, method) is getattr(CongestionControl, method)]
    if missing:
        raise UsageError(
            f"{path}: {name} of {file} has no {' and no '.join(missing)}; a congestion control has "
            f"{', '.join(METHODS[:-1])} and {METHODS[-1]}"
        )
    if not hasattr(law, "__deepcopy__"):
        law.__deepcopy__ = _copied  # type: ignore[attr-defined]
    registered = f"{name}@{_digest(text)}"
    register_congestion_control(registered, law, file)
    return registered


def _copied(law: CongestionControl, memo: dict[int, Any]) -> CongestionControl:
    """A deep copy, kept at a reduction that may prove needless; the class of the extension module has none."""
    import copy

    made = type(law).__new__(type(law))
    made.__dict__.update(copy.deepcopy(law.__dict__, memo))
    made.window_bytes, made.ssthresh_bytes = law.window_bytes, law.ssthresh_bytes
    made.pacing_rate_bps = law.pacing_rate_bps
    return made


def _is_law(entry: object) -> bool:
    return isinstance(entry, type) and issubclass(entry, CongestionControl) and entry is not CongestionControl


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _place(error: Exception, file: str) -> str:
    """Where in a file an error is."""
    import traceback

    if isinstance(error, SyntaxError):
        return f"{file}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}" if lines else file
