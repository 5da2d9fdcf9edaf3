"""The standard streams of the command: closed ones, full ones, and those whose encoding lacks a character."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys


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


def say(text: str) -> None:
    """Says something about what is done, on stderr; that nobody listens is no error."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def put_out(text: str) -> None:
    """Writes what a program will read, as UTF-8 whatever the terminal's encoding is.

    Raises:
        OSError: stdout is closed or full.
    """
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
