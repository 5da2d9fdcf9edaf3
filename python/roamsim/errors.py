"""The package's own errors; those of the compiled part are `ScenarioError` and `RunFailed`."""

from __future__ import annotations

import re
from collections.abc import Iterable
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


#: Names that an error lists (chosen: they fill a few lines).
MOST_NAMES = 30


def there_are(wanted: object, names: Iterable[object], *, quoted: bool = False) -> str:
    """The end of an error about a name: the nearest one that there is, and all of them."""
    import difflib

    known = [str(name) for name in names]
    low = {name.lower(): name for name in reversed(known)}
    asked = str(wanted).lower()
    # No number is near another one.
    close = difflib.get_close_matches(asked, low, n=1) if not asked[:1].isdigit() else []
    close = close or [name for name in low if len(asked) > 2 and name.startswith(asked)]
    shown = [repr(name) if quoted else name for name in known]
    more = ", ..." if len(shown) > MOST_NAMES else ""
    listed = ", ".join(shown[:MOST_NAMES]) + more or "none"
    if not close:
        return f"there are {listed}"
    return f"did you mean {shown[known.index(low[close[0]])]}? There are {listed}"


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
