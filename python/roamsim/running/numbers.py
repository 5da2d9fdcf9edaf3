"""Checks of numbers that a call takes: replications, threads, the seed."""

from __future__ import annotations

import operator

from roamsim.errors import UsageError

#: What no number of replications or threads exceeds (chosen, because a folder of results holds a row for each run).
MOST = 1_000_000


def check_number(what: str, value: int, least: int) -> None:
    """Refuses a number below or above what makes sense, and what is not a whole number."""
    _check_whole(what, value)
    if value < least:
        raise UsageError(f"{what}: {value} is less than {least}")
    if value > MOST:
        raise UsageError(f"{what}: {value} is more than {MOST}")


def check_given(what: str, value: int | None, least: int) -> None:
    """The same of a number that may be left out."""
    if value is not None:
        check_number(what, value, least)


def check_seed(seed: int) -> None:
    """Refuses a seed that does not fit into 64 bits."""
    _check_whole("seed", seed)
    if not 0 <= seed < 2**64:
        raise UsageError(f"the seed {seed} is not between 0 and 2^64 - 1")


def _check_whole(what: str, value: object) -> None:
    try:
        # Python's True is 1.
        whole = not isinstance(value, bool) and operator.index(value) is not None  # type: ignore[arg-type]
    except TypeError:
        whole = False
    if not whole:
        raise UsageError(f"{what}: {value!r} is not a whole number")
