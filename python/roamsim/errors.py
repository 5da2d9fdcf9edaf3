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
