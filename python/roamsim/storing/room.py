"""The memory that reading results may take, because a small file may unpack to more than the machine has.

The limit is that of runs (`--max-memory`, `roamsim.limit_memory`): three quarters of the machine's memory unless set.
How many rows a table has stands in its file and is asked before a row is read.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars

from roamsim._roamsim import memory_bytes
from roamsim.errors import NotEnoughMemory

#: Octets of a value in memory. Texts are views of 16 octets; those of a column mostly share their letters.
NUMBER_BYTES, TEXT_BYTES = 8, 16

#: Times that a table is in memory while it is checked, sorted and drawn. Measured: the report of a table of 5 million
#: rows and, by these widths, 1.6 GB takes 3.7 GB.
COPIES = 2.5


def free_bytes() -> int | None:
    """Octets that are left below the limit; `None` where the system does not tell."""
    used, limit = memory_bytes()
    return max(0, limit - used) if limit else None


def require_room(source: Path | BytesIO, place: Path, what: str, *, copies: float = COPIES) -> None:
    """Refuses a Parquet file that would not fit into memory, by the number of its rows and its columns.

    Args:
        source: the file, or its octets.
        place: where it lies.
        what: its name in the error.
        copies: as often as it will be in memory.

    Raises:
        NotEnoughMemory: it would not fit.
    """
    free = free_bytes()
    if free is None:
        return
    scanned = polars.scan_parquet(source)
    widths = (TEXT_BYTES if dtype == polars.String else NUMBER_BYTES for dtype in scanned.collect_schema().values())
    row_bytes = sum(widths)
    rows = int(scanned.select(polars.len()).collect().item())
    if isinstance(source, BytesIO):
        source.seek(0)
    needed = copies * rows * row_bytes
    if needed > free:
        limit = memory_bytes()[1]
        raise NotEnoughMemory(
            f"{what} in {place} has {rows:,} rows, which take {_size(needed)} of memory. --max-memory allows "
            f"{_size(limit)}, and {_size(free)} of it are left; raise the limit, or use a machine with more memory"
        )


def out_of_memory() -> NotEnoughMemory:
    """What is said of a question whose answer does not fit."""
    return NotEnoughMemory(
        f"the question takes more memory than --max-memory allows ({_size(memory_bytes()[1])}): ask for fewer rows, "
        "or raise the limit"
    )


def _size(octets: float) -> str:
    return f"{octets / 1e9:.3g} GB" if octets >= 1e9 else f"{octets / 1e6:.3g} MB"
