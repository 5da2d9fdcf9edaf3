"""The package's own errors; those of the compiled part are `ScenarioError` and `RunFailed`."""

from __future__ import annotations

import re
from contextvars import ContextVar

#: Whether a function of the package was called, and not a command: errors and notices then say `set`, not `--set`.
OF_PYTHON: ContextVar[bool] = ContextVar("OF_PYTHON", default=False)

#: What stands in backquotes is for a terminal and stays; a folder for the rows of traces is of commands alone.
_WORD = re.compile(r"`[^`]*`| --parquet DIR\b|(?<![\w-])--([a-z]+(?:-[a-z]+)*)")

#: Options that have another name in Python.
_NAMES = {"from": "start_s", "to": "end_s", "max-memory": "limit_memory"}


def words_of_python(text: str) -> str:
    """A text with arguments of functions in place of options."""

    def word(found: re.Match[str]) -> str:
        option = found[1]
        if option is None:
            return found[0] if found[0].startswith("`") else ""
        return _NAMES.get(option, option.replace("-", "_"))

    return _WORD.sub(word, text)


class UsageError(ValueError):
    """A request that cannot be met: a missing file, a malformed path or range, an unknown metric."""


class CheckFailed(RuntimeError):
    """A check of a study against a closed form failed. Do not trust the results."""


class Interrupted(KeyboardInterrupt):
    """A sweep was interrupted. Finished runs are kept, and the same call resumes."""


class NotEnoughMemory(MemoryError):
    """Results need more memory than allowed. The message says how much, and how to allow more."""


class Notice(UserWarning):
    """A warning about a folder of results: parts set aside, files removed, or runs made again."""

    def __init__(self, text: str) -> None:
        super().__init__(words_of_python(text) if OF_PYTHON.get() else text)


#: The extra of pyproject.toml that brings a package which not everything needs (`rich` brings markdown-it-py).
EXTRAS = {
    "SALib": "sensitivity",
    "altair": "report",
    "cryptography": "dask",
    "distributed": "dask",
    "duckdb": "sql",
    "fsspec": "url",
    "jinja2": "report",
    "markupsafe": "report",
    "platformdirs": "report",
    "matplotlib": "plot",
    "numpy": "report",
    "optuna": "optimise",
    "vl_convert": "report",
}


class MissingExtra(UsageError, ModuleNotFoundError):
    """An optional package is not installed. The message has the line that installs it."""


def missing_extra(error: ModuleNotFoundError, extra: str | None = None) -> MissingExtra | None:
    """The error for a package that is not installed; `None` if no extra brings it.

    Args:
        error: of the import.
        extra: the one to install, where several packages are needed; the one that brings the package unless given.
    """
    brings = EXTRAS.get((error.name or "").partition(".")[0])
    if brings is None:
        return None
    text = f"this needs {error.name}; this installs it: pip install 'roamsim[{extra or brings}]'"
    return MissingExtra(text)
