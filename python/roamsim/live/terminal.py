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


def is_there() -> bool:
    """Whether we have a terminal, on which another one can be shown."""
    return os.isatty(_TYPED) and os.isatty(_PRINTED)


class Terminal:
    """A pseudo-terminal; `theirs` is the descriptor that the shell gets."""

    def __init__(self) -> None:
        self._ours, self.theirs = os.openpty()
        self._take_size()

    def _take_size(self) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, fcntl.ioctl(_TYPED, termios.TIOCGWINSZ, bytes(8)))

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Copies what is typed and printed for as long as it lasts, and leaves our terminal as it was."""
        os.close(self.theirs)
        before = termios.tcgetattr(_TYPED)
        resized = signal.signal(signal.SIGWINCH, lambda *_: self._take_size())
        woken, wake = os.pipe()
        copying = threading.Thread(target=self._copy, args=(woken,), daemon=True)
        # What was typed ahead is kept.
        tty.setraw(_TYPED, termios.TCSADRAIN)
        copying.start()
        try:
            yield
        finally:
            os.close(wake)
            copying.join()
            termios.tcsetattr(_TYPED, termios.TCSADRAIN, before)
            signal.signal(signal.SIGWINCH, resized)
            os.close(woken)
            os.close(self._ours)

    def _copy(self, woken: int) -> None:
        sources = {_TYPED: self._ours, self._ours: _PRINTED}
        while sources:
            ready, _, _ = select.select([*sources, woken], [], [])
            # At the end what is printed already is shown; what is typed then is left to whoever reads next.
            if woken in ready and self._ours not in ready:
                return
            for source in sources.keys() & set(ready):
                try:
                    octets = os.read(source, 4096)
                except OSError:
                    # The shell and its children have closed their side.
                    octets = b""
                if not octets:
                    del sources[source]
                while octets:
                    # The program's own octets, as if it wrote them to our terminal itself.
                    octets = octets[os.write(sources[source], octets) :]  # noqa: TID251
