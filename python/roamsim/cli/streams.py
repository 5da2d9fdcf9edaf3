"""The standard streams of the command, and the only way to them.

File names, folders of results, scenarios and studies may come from a stranger. Printed as they are, their texts could
move the cursor, change colours or the title, write to the clipboard, or reverse the order of the text around them. So
whatever a person reads passes `safe`. What a program reads (`put_out`, `tell_path`) passes it where stdout is a
terminal. A lint keeps everything else from writing.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
from collections.abc import Sequence

#: Controls of C0 and C1 but tab and line feed; controls of direction (Unicode 16, UAX #9, table 1: ALM, LRM, RLM,
#: LRE to RLO, LRI to PDI); characters without width that no script needs (ZWSP, word joiner and its kin, BOM), and
#: separators of lines and paragraphs. The same as in `crates/scenario/src/printable.rs`.
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
_CONTROL = re.compile(f"[{_UNSAFE}]")
_CONTROL_BUT_COLOR = re.compile(f"(\x1b\\[[0-9;]*m)|[{_UNSAFE}]")


def safe(text: str) -> str:
    r"""A text for a terminal: what is no plain character is shown by its number, as in `\u001b`.

    Line feeds and tabs stay. The notation is that of JSON, which therefore stays valid.
    """
    return _CONTROL.sub(_shown, text)


def safe_line(text: str) -> str:
    """The same for one line of a terminal: line feeds and tabs are shown too, so that a cell cannot pose as a row."""
    return safe(text).replace("\n", "\\n").replace("\t", "\\t")


def _shown(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def put_in_order() -> None:
    """Makes all three usable: nothing is lost in silence, and no file of results gets the number of a closed one."""
    # What is closed is opened the wrong way round, so that using it is an error; what is said of a run may be lost.
    for number, way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    codecs.register_error("roamsim", _as_it_was)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="roamsim")


def shows_color() -> bool:
    """Whether what is said may have colours."""
    return is_watched() and "NO_COLOR" not in os.environ


def say(text: str, *, colored: bool = False) -> None:
    """Says something about what is done, on stderr; that nobody listens is no error.

    Args:
        text: what is said.
        colored: whether its colours are ours and stay, as those of what is wrong with a scenario.
    """
    shown = _CONTROL_BUT_COLOR.sub(lambda found: found[1] or _shown(found), text) if colored else safe(text)
    with contextlib.suppress(OSError, ValueError):
        print(shown, file=sys.stderr, flush=True)


def is_watched() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def shows(text: str) -> bool:
    """Whether stderr has the characters of a text."""
    try:
        text.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Foot:
    """The last rows of the terminal of stderr, which stay where they are while others print above."""

    def __init__(self) -> None:
        self._rows = self._height = 0
        self._measure()

    def _measure(self) -> None:
        size = os.get_terminal_size(2)
        self.columns, self._now = size.columns, size.lines

    def draw(self, lines: Sequence[str], least_rows: int) -> None:
        """Draws lines, as many as leave so many rows to others.

        Raises:
            OSError: the terminal is gone.
        """
        self._measure()
        height = min(len(lines), max(0, self._now - least_rows))
        text = ""
        if (height, self._now) != (self._height, self._rows):
            text = self._cleared()
            self._height, self._rows = height, self._now
            if height:
                # What is there makes room; then others have the rows above.
                last = self._now - height
                text += "\n" * height + f"\x1b[{height}A\x1b7\x1b[1;{last}r\x1b8"
        if height:
            first = self._now - height + 1
            drawn = (f"\x1b[{first + at};1H\x1b[2K{safe_line(line)}" for at, line in enumerate(lines[:height]))
            text += "\x1b7" + "".join(drawn) + "\x1b8"
        self._put(text)

    def clear(self) -> None:
        """Gives the rows back.

        Raises:
            OSError: the terminal is gone.
        """
        self._put(self._cleared())
        self._height = 0

    def _cleared(self) -> str:
        if not self._height:
            return ""
        return f"\x1b7\x1b[r\x1b[{self._rows - self._height + 1};1H\x1b[J\x1b8"

    def _put(self, text: str) -> None:
        # At once, so that nothing of others comes in between.
        octets = text.encode(sys.stderr.encoding or "ascii", "replace")
        while octets:
            octets = octets[os.write(2, octets) :]


def tell(text: str = "") -> None:
    """Prints lines for a person on stdout.

    Raises:
        OSError: stdout is closed or full.
    """
    print(safe(text))


def tell_path(path: str | os.PathLike[str]) -> None:
    """Prints a path on stdout: as it is for programs, safe for terminals.

    Raises:
        OSError: stdout is closed or full.
    """
    text = os.fspath(path)
    print(safe_line(text) if sys.stdout.isatty() else text)


def flush() -> None:
    """Writes what waits for stdout.

    Raises:
        OSError: stdout is closed or full.
    """
    sys.stdout.flush()


def put_out(text: str) -> None:
    """Writes what a program will read, as UTF-8 whatever the terminal's encoding is; safe where it is a terminal.

    Raises:
        OSError: stdout is closed or full.
    """
    if sys.stdout.isatty():
        text = safe(text)
    octets = getattr(sys.stdout, "buffer", None)
    try:
        sys.stdout.flush()
        if octets is None:
            sys.stdout.write(text)
        else:
            octets.write(text.encode(errors="backslashreplace"))
            octets.flush()
    except OSError as error:
        error.filename = "stdout"
        raise


def fault(error: OSError) -> str:
    """What went wrong, and with which file; of stdout, what could not be written is given up."""
    try:
        sys.stdout.flush()
    except OSError:
        error.filename = "stdout"
    if error.filename == "stdout":
        give_up_stdout()
    where = f"{os.fspath(error.filename)}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def give_up_stdout() -> None:
    """Lets go of what stdout could not take, so that nothing tries again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _as_it_was(error: UnicodeError) -> tuple[bytes, int]:
    """Octets of a file's name that are no text, as they came; for characters that the encoding lacks, a `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    codes = map(ord, error.object[error.start : error.end])
    return b"".join(bytes([c - 0xDC00]) if 0xDC80 <= c <= 0xDCFF else b"?" for c in codes), error.end
