"""Writes rows of traces to disk during a run, so that its memory does not grow with them.

    FOLDER/TABLE-RRRRRRR-NNNNNN.parquet    of replication R the n-th rows of a table, in their order

A run hands out some ten thousand rows at a time (`ROWS_AT_ONCE` of the compiled part); each lot becomes a file, and
the files of a table, one after the other, are the table.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars

#: Seconds after which a spool that nobody holds was left by a process that was killed (chosen: one is held at once).
LEFT_AFTER_S = 60.0

#: The file of a spool that its process holds.
HELD = ".held"

#: Rows of a group in the table's file, and the groups that are in memory at once (chosen: a group has some MB).
ROW_GROUP = 1 << 17


class Spool:
    """The rows that runs have handed out.

    Args:
        folder: where they lie; it is empty, and nobody else's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[str, dict[int, int]] = {}

    def add(self, table: str, replication: int, frame: polars.DataFrame) -> None:
        """Writes further rows of a table.

        Raises:
            OSError: the disk is full.
        """
        counts = self._parts.setdefault(table, {})
        number = counts.get(replication, 0)
        # Polars itself says of a full disk that the table is out of specification.
        octets = io.BytesIO()
        frame.write_parquet(octets, compression="lz4", statistics=False)
        try:
            self._file(table, replication, number).write_bytes(octets.getbuffer())
        except OSError as error:
            error.filename = os.fspath(self.folder.parent)
            raise
        counts[replication] = number + 1

    def has(self, table: str) -> bool:
        """Whether there are rows of a table."""
        return table in self._parts

    def frames(self, table: str) -> Iterator[polars.DataFrame]:
        """The rows of a table by replications and then in their order, some at a time."""
        for file in self._files(table):
            yield polars.read_parquet(file, memory_map=False)

    def write(self, table: str, path: Path) -> bool:
        """Writes a table as one Parquet file; false where it has no rows, and nothing was written.

        Raises:
            OSError: the disk is full.
        """
        files = self._files(table)
        if not files:
            return False
        rows = polars.scan_parquet(files, glob=False)
        try:
            rows.sink_parquet(path, row_group_size=ROW_GROUP)
        except polars.exceptions.PolarsError as error:
            raise OSError(str(error)) from None
        return True

    def _file(self, table: str, replication: int, number: int) -> Path:
        return self.folder / f"{table}-{replication:07}-{number:06}.parquet"

    def _files(self, table: str) -> list[Path]:
        counts = sorted(self._parts.get(table, {}).items())
        return [self._file(table, replication, number) for replication, count in counts for number in range(count)]


@contextmanager
def spooling(folder: str | os.PathLike[str] | None = None) -> Iterator[Spool]:
    """A spool that is gone afterwards.

    Args:
        folder: beside what its tables become; without one, in the system's folder for temporary files.
    """
    from filelock import FileLock

    prefix = ".tmp-spool-" if folder is not None else "roamsim-spool-"
    for left in Path(folder or tempfile.gettempdir()).glob(f"{prefix}*/{HELD}"):
        _remove_left(left)
    with (
        tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True) as temporary,
        FileLock(Path(temporary) / HELD),
    ):
        yield Spool(Path(temporary))


def _remove_left(held: Path) -> None:
    """Removes a spool whose process was killed; one that somebody holds, or that is somebody else's, stays."""
    from filelock import FileLock, Timeout

    if held.is_symlink() or held.parent.is_symlink():
        return
    try:
        if time.time() - held.stat().st_mtime < LEFT_AFTER_S:
            return
        with FileLock(held, timeout=0):
            shutil.rmtree(held.parent, ignore_errors=True)
    except (OSError, Timeout):
        return
