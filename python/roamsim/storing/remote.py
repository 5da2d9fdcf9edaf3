"""Folders of results at a URL that fsspec understands, as `s3://bucket/campaign`.

Who makes runs works in a folder of its own machine, and puts what is finished to the URL every few seconds. A part
lies there under the digest of its octets, so that two drivers at one URL write over nothing of each other's but
manifest and tables, which either can make of the parts. Who reads fetches manifest and parts.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from warnings import warn

from roamsim.errors import Notice, UsageError
from roamsim.files import check_folder, is_wrong_path
from roamsim.storing.manifests import MANIFEST

#: Seconds between two looks for what is finished: what is lost with this machine (chosen: an object store is asked a
#: few times a minute).
PUT_EVERY_S = 5.0

#: What is fetched: nothing else of a URL that may be anybody's is taken for a file's name.
_FETCHED = re.compile(rf"{re.escape(MANIFEST)}|parts/[0-9a-z]+\.zip")


def is_url(out: str | os.PathLike[str]) -> bool:
    """Whether results are to lie at a URL."""
    return "://" in os.fspath(out)


@contextmanager
def mirrored(url: str) -> Iterator[Path]:
    """A folder with the finished runs that the URL holds; what is added to it is put there.

    Raises:
        UsageError: nothing can be read or written there.
        OSError: it could be before, and cannot be any longer; the text says where the results lie.
    """
    check_folder(url)
    store = _Store(url)
    store.require_writable()
    folder = Path(tempfile.mkdtemp(prefix="roamsim-"))
    try:
        store.fetch(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    closed = Event()

    def put_regularly() -> None:
        told = False
        while not closed.wait(PUT_EVERY_S):
            try:
                store.put(folder)
            except Exception as error:  # of whatever library the URL's kind has
                if not told:
                    warn(f"{url} cannot be written to for now: {_words(error)}", Notice, stacklevel=2)
                told = True

    thread = Thread(target=put_regularly, daemon=True)
    thread.start()
    try:
        yield folder
    finally:
        closed.set()
        thread.join()
        try:
            store.put(folder)
        except Exception as error:
            text = f"{_words(error)}. Finished runs are in {folder}; `roamsim merge {folder} --out DIR` reads them"
            raise OSError(errno.EIO, text, url) from error
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fetched(url: str) -> Iterator[Path]:
    """A folder with the finished runs that the URL holds, while the context lasts.

    Raises:
        UsageError: nothing can be read there.
    """
    with tempfile.TemporaryDirectory(prefix="roamsim-") as temporary:
        _Store(url).fetch(Path(temporary))
        if not (Path(temporary) / MANIFEST).is_file():
            raise UsageError(f"{url} holds no results")
        yield Path(temporary)


class _Store:
    """A place at a URL."""

    def __init__(self, url: str) -> None:
        from fsspec.core import url_to_fs

        self.url = url
        #: Parts of the local folder with their names there.
        self._parts: dict[str, str] = {}
        #: When other files of the local folder were last changed, as they lie there.
        self._others: dict[str, int] = {}
        try:
            self._files: Any
            self._files, root = url_to_fs(url)
            self._root = root.rstrip("/")
        except Exception as error:  # of whatever library the URL's kind has
            raise UsageError(f"{url} cannot keep results: {_words(error)}") from None

    def require_writable(self) -> None:
        """Tells before anything is made that nothing can be kept.

        Raises:
            UsageError: there is no such place, or it wants other credentials.
            OSError: it is full, or cannot be written to.
        """
        try:
            self._files.makedirs(self._at("parts"), exist_ok=True)
            self._files.pipe_file(self._at(".probe"), b"roamsim")
            self._files.rm_file(self._at(".probe"))
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None and not is_wrong_path(error):
                raise OSError(error.errno, error.strerror, self.url) from None
            raise UsageError(f"{self.url} cannot be written to: {_words(error)}") from None

    def fetch(self, folder: Path) -> None:
        """Copies manifest and parts.

        Raises:
            UsageError: they cannot be read.
        """
        try:
            # Other programs may have written there since somebody in this process looked.
            self._files.invalidate_cache()
            for name in self._files.find(self._root):
                own = name.removeprefix(f"{self._root}/")
                if not _FETCHED.fullmatch(own):
                    continue
                (folder / own).parent.mkdir(exist_ok=True)
                self._files.get_file(name, os.fspath(folder / own))
                if own != MANIFEST:
                    self._parts[own] = own
        except FileNotFoundError:
            return
        except Exception as error:
            raise UsageError(f"{self.url} cannot be read: {_words(error)}") from None

    def put(self, folder: Path) -> None:
        """Copies what is new: parts, tables, manifest; then removes what is in larger parts now."""
        # Looked for first: what these were put together to is there before they go.
        gone = [name for name in self._parts if not (folder / name).is_file()]
        here = {f"parts/{file.name}" for file in (folder / "parts").glob("[!.]*.zip")}
        for name in sorted(here - self._parts.keys()):
            try:
                with (folder / name).open("rb") as part:
                    there = f"parts/{hashlib.file_digest(part, 'sha256').hexdigest()[:24]}.zip"
                self._files.put_file(os.fspath(folder / name), self._at(there))
            except FileNotFoundError:
                # It has been put together with others meanwhile.
                continue
            self._parts[name] = there
        others = [*sorted(folder.glob("*.parquet")), folder / MANIFEST]
        for file in others:
            changed = file.stat().st_mtime_ns if file.is_file() else None
            if changed is not None and self._others.get(file.name) != changed:
                self._files.put_file(os.fspath(file), self._at(file.name))
                self._others[file.name] = changed
        for name in gone:
            there = self._parts.pop(name)
            if there not in self._parts.values():
                self._files.rm_file(self._at(there))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
