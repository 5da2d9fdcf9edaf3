"""Files that are complete or absent: written aside, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes) -> Path:
    """Writes a file so that a reader sees either all of it or what was there before.

    Raises:
        OSError: the folder does not exist or cannot be written to.
    """
    return write_aside(path, lambda aside: aside.write_bytes(data))


def write_aside(path: str | os.PathLike[str], write: Callable[[Path], object]) -> Path:
    """Lets `write` fill a new file beside `path`, then renames it to `path`.

    The new file keeps the ending of `path`, since many libraries choose a format by it.

    Raises:
        OSError: the folder does not exist or cannot be written to.
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".tmp-", suffix=target.suffix)
    os.close(handle)
    aside = Path(name)
    try:
        write(aside)
        # mkstemp gives a file that only its owner may read; a result is a file like any other.
        mask = os.umask(0)
        os.umask(mask)
        aside.chmod(0o666 & ~mask)
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return target
