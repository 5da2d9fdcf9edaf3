"""Tables, styles and progress bars on a terminal: rich, with untrusted text made safe."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from roamsim.cli.streams import safe

#: Columns of text where stdout is no terminal; a wider table is as wide as it needs to be (chosen).
WIDTH = 140


class _SafeConsole(Console):
    """A console on which controls of a terminal come from rich alone, never from a text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As of `Console`. Everything that is printed passes here, piece by piece."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(safe(piece.text), piece.style)


def on_stdout() -> Console:
    """A console for what a command found."""
    return _SafeConsole() if sys.stdout.isatty() else _SafeConsole(width=WIDTH, no_color=True)


def on_stderr() -> Console:
    """A console for what is said meanwhile."""
    return _SafeConsole(stderr=True)
