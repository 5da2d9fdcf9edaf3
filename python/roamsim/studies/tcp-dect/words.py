"""Words of numbers in checks and statements.

They have a module of their own: what is in `cases` or `study` is in the keys of finished runs.
"""

from __future__ import annotations

from roamsim.tables.words import count


def ber_words(factor: float) -> str:
    """What a multiple of the published BER is called."""
    return "the published BER" if factor == 1 else f"{factor:g} times the published BER"


def frames_words(number: int) -> str:
    """A number of frames."""
    return count(number, "frame")
