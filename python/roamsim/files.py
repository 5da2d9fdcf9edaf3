"""Regular files: written whole or not at all; anything else is not read."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

from roamsim.errors import UsageError

#: Endings of files that a folder of results might be taken for.
OF_FILES = (
    ".csv", ".gz", ".htm", ".html", ".json", ".md", ".parquet", ".pcap", ".pcapng", ".pdf", ".png", ".qlog", ".sqlog",
    ".svg", ".toml", ".txt", ".xlsx", ".zip",
)  # fmt: skip

#: Octets of a file of text that is read (chosen: a scenario of a million nodes has a quarter of it).
MOST_BYTES = 2**28


#: Height of the frame in which a notebook shows a page, in pixels (chosen: the first screen of most reports).
FRAME_HEIGHT = 700

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())


class NoRegularFile(UsageError):
    """What should be a file is a device, a pipe or a socket."""


def is_wrong_path(error: OSError) -> bool:
    """Whether a file was not written because its path is wrong, and not because of a disk or of rights."""
    return isinstance(error, FileNotFoundError | FileExistsError | NotADirectoryError | IsADirectoryError)


def check_file(file: str | os.PathLike[str]) -> None:
    """Refuses a file that cannot be written, before anything is run.

    Raises:
        UsageError: its folder does not exist, or it is a folder.
    """
    target = Path(file)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder of {os.fspath(file)!r} does not exist")
    if target.is_dir():
        raise UsageError(f"{os.fspath(file)!r} is a folder; name a file in it")


def check_ending(file: str | os.PathLike[str], content: str, *endings: str) -> None:
    """Refuses a file whose ending names another format than that of its content, before anything is run.

    A name without an ending names no format. Pipes and devices have none either.

    Args:
        file: to be written.
        content: what it holds, and in which format: "a report is HTML".
        endings: of this format, the usual one first.

    Raises:
        UsageError: the file has another ending.
    """
    target = Path(file)
    ending = target.suffix
    if not ending or ending.lower() in endings or (target.exists() and not target.is_file()):
        return
    raise UsageError(f"{os.fspath(file)!r} ends in {ending}, but {content}; end its name in {' or '.join(endings)}")


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuses a new folder with the ending of a file, before anything is run.

    Args:
        folder: a path, or a URL.

    Raises:
        UsageError: the folder does not exist, and its name has the ending of a file.
    """
    ending = Path(folder).suffix
    if ending.lower() in OF_FILES and not Path(folder).exists():
        raise UsageError(f"{os.fspath(folder)!r} has the name of a file, but it becomes a folder; leave {ending} out")


def write_whole(path: str | os.PathLike[str], data: bytes | memoryview, *, follow: bool = False) -> Path:
    """Writes a file so that a reader sees either all of it or what was there before; `follow` as in `write_aside`.

    Raises:
        OSError: the folder does not exist or cannot be written to.
    """
    return write_aside(path, lambda aside: aside.write_bytes(data), follow=follow)


def write_aside(path: str | os.PathLike[str], write: Callable[[Path], object], *, follow: bool = False) -> Path:
    """Lets `write` fill a new file beside `path`, then renames it to `path`.

    The new file keeps the ending of `path`, since many libraries choose a format by it.

    Args:
        path: of the file.
        write: fills the file at the path that it is given.
        follow: where the user named the file: what a link leads to is replaced, not the link, and what is no file,
            such as /dev/stdout, is written to. Else a link itself is replaced, since the folder may be someone else's
            and its links may lead anywhere.

    Raises:
        OSError: the folder does not exist or cannot be written to.
    """
    asked = Path(path)
    target = Path(os.path.realpath(asked)) if follow else asked
    # Asked of the name as it is: for a pipe, `realpath` gives a name in /proc that does not exist.
    if follow and asked.exists() and not asked.is_file() and not asked.is_dir():
        write(asked)
        return asked
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
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, name):
            error.filename = os.fspath(asked)
        raise
    return asked


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a file for reading, which has to be one: devices and pipes have no end, or wait for a writer.

    Raises:
        OSError: it is not there, or cannot be read.
        NoRegularFile: it is no file.
    """
    # A pipe without a writer would keep us from opening it. Windows, which has no such pipes, would change line ends.
    flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, os.O_RDONLY | flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NoRegularFile(f"{os.fspath(path)!r} is not a regular file")
    return file


def read_whole(path: str | os.PathLike[str], most_bytes: int = MOST_BYTES) -> bytes:
    """All of a file.

    Raises:
        OSError: it is not there, or cannot be read.
        NoRegularFile: it is no file.
        UsageError: it is larger than so many octets.
    """
    with open_file(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UsageError(f"{os.fspath(path)!r} is too large: it has more than {most_bytes} bytes")
    return data


class Written(_Path):
    """The path of a page or a figure that was written; a notebook shows the file, not the path."""

    _kept: object = None

    @staticmethod
    def of(path: Path, kept: object = None) -> Written:
        """The same path, which keeps alive what the file goes with."""
        written = Written(path)
        written._kept = kept
        return written

    def _repr_html_(self) -> str | None:
        """A page, in a frame of its own: its style and scripts stay inside."""
        if self.suffix != ".html" or not self.is_file():
            return None
        import html

        page = html.escape(self.read_text(encoding="utf-8"))
        rights = "allow-scripts allow-downloads"
        return f'<iframe srcdoc="{page}" sandbox="{rights}" width="100%" height="{FRAME_HEIGHT}"></iframe>'

    def _repr_svg_(self) -> str | None:
        return self.read_text(encoding="utf-8") if self.suffix == ".svg" and self.is_file() else None

    def _repr_png_(self) -> bytes | None:
        return self.read_bytes() if self.suffix == ".png" and self.is_file() else None


def goes_with(owner: object, folder: Path) -> Path:
    """A folder that is removed when an object, or the process, goes."""
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder
