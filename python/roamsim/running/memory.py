"""The memory that runs, and reading their results, may take."""

from __future__ import annotations

from roamsim import _roamsim
from roamsim.errors import UsageError
from roamsim.scenarios.vary import quantity


def limit_memory(size: str | int | None) -> None:
    """Sets the memory at which runs are stopped and results are refused with an error, for this process from now on.

    What counts is all that the process has in memory, as the system tells it (on Linux; elsewhere there is no limit).

    Args:
        size: a size with its unit, such as `8GB` or `500MiB`, or octets; `None` for three quarters of the machine's
            memory, or of that of the control group that the process is in.

    Raises:
        UsageError: it is no size.
    """
    if size is None:
        _roamsim.limit_memory(0)
        return
    number, unit = (float(size), "bytes") if isinstance(size, int) else quantity(size.strip()) or (0.0, "")
    if unit != "bytes" or not 1 <= number < 2**63:
        raise UsageError(f"a limit of memory is a size with its unit, as in 8GB; this is {size!r}")
    _roamsim.limit_memory(int(number))
