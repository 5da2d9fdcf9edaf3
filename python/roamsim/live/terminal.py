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

        The shell has its side by now.
        """
        self._close_theirs()
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
            termios.tcsetattr(_TYPED, termios.TCSADRAIN, before)
            signal.signal(signal.SIGWINCH, resized)
            os.close(woken)

    def _copy(self, woken: int) -> None:
        os.set_blocking(self._ours, False)
        # What is typed while the program reads nothing waits here, and all further typing in our terminal.
        typed = b""
        while True:
            reads, writes = ([], [self._ours]) if typed else ([_TYPED], [])
            ready, writable, _ = select.select([self._ours, woken, *reads], writes, [])
            if self._ours in ready and not self._print():
                return
            if woken in ready:
                self._print_rest()
                return
            if _TYPED in ready:
                typed = _read(_TYPED)
                if not typed:
                    return
            if writable:
                typed = typed[_write(self._ours, typed) :]

    def _print(self) -> int:
        """Shows what is printed already: how many octets; 0 where the shell and its children have gone."""
        octets = rest = _read(self._ours)
        while rest:
            rest = rest[_write(_PRINTED, rest) :]
        return len(octets)

    def _print_rest(self) -> None:
        """At the end shows what is printed already, and no more of a program that prints on."""
        most = _MOST_PRINTED
        while most > 0 and select.select([self._ours], [], [], 0)[0]:
            shown = self._print()
            if shown == 0:
                return
            most -= shown


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
