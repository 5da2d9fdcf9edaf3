"""The package's own errors; those of the compiled part are `ScenarioError` and `RunFailed`."""

from __future__ import annotations


class UsageError(ValueError):
    """Something was asked for that cannot be done: a missing file, a malformed path or range, an unknown metric."""


class CheckFailed(RuntimeError):
    """One of the project's own checks against a closed form failed; results should not be trusted."""


class Interrupted(KeyboardInterrupt):
    """A sweep was interrupted; what was finished is kept, and the same call goes on from there."""


class Notice(UserWarning):
    """Something that a user of a folder of results should know: what was set aside, removed, or is made again."""


#: The extra of pyproject.toml that brings a package which not everything needs (`rich` brings markdown-it-py).
EXTRAS = {
    "SALib": "sensitivity",
    "altair": "report",
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
    """A package is not installed that is asked for; the text has the line that installs it."""


def missing_extra(error: ModuleNotFoundError, extra: str | None = None) -> MissingExtra | None:
    """What is said of a package that is not installed; `None` where no extra brings it.

    Args:
        error: of the import.
        extra: the one to install, where several packages are needed; the one that brings the package unless given.
    """
    brings = EXTRAS.get((error.name or "").partition(".")[0])
    if brings is None:
        return None
    text = f"this needs {error.name}; this installs it: pip install 'roamsim[{extra or brings}]'"
    return MissingExtra(text)
