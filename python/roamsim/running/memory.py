"""The limit of memory for runs, and for reading their results."""

from __future__ import annotations

from roamsim import _roamsim
from roamsim.errors import UsageError
from roamsim.scenarios.vary import quantity


def limit_memory(size: str | int | None) -> None:
    """Limits the memory of this process: beyond it, runs are stopped and results refused with an error.

    The limit covers all memory of the process, and works on Linux only.

    Args:
        size: a size with its unit, such as `8GB` or `500MiB`, or octets. `None` is three quarters of the memory of
            the machine or of the process's control group.

    Raises:
        UsageError: `size` is not a size.
    """
    if size is None:
        _roamsim.limit_memory(0)
        return
    number, unit = (float(size), "bytes") if isinstance(size, int) else quantity(size.strip()) or (0.0, "")
    if unit != "bytes" or not 1 <= number < 2**63:
        raise UsageError(f"a memory limit is a size with its unit, such as 8GB; this is {size!r}")
    _roamsim.limit_memory(int(number))
