"""A terminal of its own for a shell at a node, shown on the one that `roamsim` was started from.

The shell is in another PID namespace, so it cannot control our terminal: it would have no jobs, and Ctrl-C would end
the run in place of a command. It controls a pseudo-terminal, and what is typed and printed is copied.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager

#: Ours.
_TYPED, _PRINTED = 0, 1

#: Octets that are still shown at the end, at most: what the kernel keeps of a terminal (drivers/tty/tty_buffer.c).
_MOST_PRINTED = 640 * 1024

#: How long the end waits for a terminal that takes nothing (chosen: what nobody minds).
_PATIENCE_S = 0.5


def is_there() -> bool:
    """Whether we have a terminal, on which another one can be shown."""
    return os.isatty(_TYPED) and os.isatty(_PRINTED)


class Terminal:
    """A pseudo-terminal; `theirs` is the descriptor that the shell gets."""

    theirs: int | None

    def __enter__(self) -> Terminal:
        self._ours, self.theirs = os.openpty()
        self._take_size()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ours)
        self._close_theirs()

    def _close_theirs(self) -> None:
        if self.theirs is not None:
            os.close(self.theirs)
            self.theirs = None

    def _take_size(self) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, fcntl.ioctl(_TYPED, termios.TIOCGWINSZ, bytes(8)))

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Copies what is typed and printed for as long as it lasts, and leaves our terminal as it was.

        The shell has its side by now. Our terminal may stop reading: then the shell's output waits, and nothing else.
        """
        self._close_theirs()
        self._screen = _without_blocking(_PRINTED)
        before = termios.tcgetattr(_TYPED)
        resized = signal.signal(signal.SIGWINCH, lambda *_: self._take_size())
        woken, wake = os.pipe()
        copying = threading.Thread(target=self._copy, args=(woken,), daemon=True)
        try:
            # What was typed ahead is kept.
            tty.setraw(_TYPED, termios.TCSADRAIN)
            copying.start()
            yield
        finally:
            os.close(wake)
            if copying.ident is not None:
                copying.join()
            # A terminal that does not read would never drain.
            termios.tcsetattr(_TYPED, termios.TCSANOW, before)
            signal.signal(signal.SIGWINCH, resized)
            os.close(woken)
            os.close(self._screen)

    def _copy(self, woken: int) -> None:
        os.set_blocking(self._ours, False)
        # What is typed while the program reads nothing waits here, and all further typing in our terminal; likewise
        # what is printed while our terminal reads nothing.
        typed = printed = b""
        while True:
            reads = [woken, *([] if printed else [self._ours]), *([] if typed else [_TYPED])]
            writes = [*([self._screen] if printed else []), *([self._ours] if typed else [])]
            ready, writable, _ = select.select(reads, writes, [])
            if self._ours in ready:
                printed = _read(self._ours)
                if not printed:
                    return
            if self._screen in writable:
                printed = printed[_write(self._screen, printed) :]
            if woken in ready:
                self._print_rest(printed)
                return
            if _TYPED in ready:
                typed = _read(_TYPED)
                if not typed:
                    return
            if self._ours in writable:
                typed = typed[_write(self._ours, typed) :]

    def _print_rest(self, printed: bytes) -> None:
        """At the end shows what is printed already, and no more of a program that prints on.

        No longer than our terminal takes some of it every now and then.
        """
        most = _MOST_PRINTED
        while True:
            if not printed and most > 0 and select.select([self._ours], [], [], 0)[0]:
                printed = _read(self._ours)
                most -= len(printed)
            if not printed or not select.select([], [self._screen], [], _PATIENCE_S)[1]:
                return
            printed = printed[_write(self._screen, printed) :]


def _without_blocking(descriptor: int) -> int:
    """The same file, whose writes do not block; others who have it open do not notice."""
    try:
        return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        # Without the file system of processes, or of another user: then it blocks.
        return os.dup(descriptor)


def _read(descriptor: int) -> bytes:
    """What is there; nothing at its end."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def _write(descriptor: int, octets: bytes) -> int:
    """Writes what fits: how much; all of it where nobody reads any more."""
    try:
        # The program's own octets, as if it wrote them to our terminal itself.
        return os.write(descriptor, octets)  # noqa: TID251
    except BlockingIOError:
        return 0
    except OSError:
        return len(octets)
