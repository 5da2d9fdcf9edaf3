"""Fonts for characters that matplotlib's own font lacks, such as Chinese, Japanese and Korean ones."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection

#: Fonts that have a box for every character, or glyphs in places of other characters.
_NO_LETTERS = ("Last Resort", "cm", "STIXSize")

_MISSING = re.compile(r"Glyph (\d+) .*missing from")


def missing_glyphs(draw: Callable[[], None]) -> set[int]:
    """Draws, and collects the characters that no font in use has in place of matplotlib's warning of each."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        draw()
    missing = set()
    for warning in heard:
        found = _MISSING.match(str(warning.message))
        if found:
            missing.add(int(found[1]))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return missing


def fonts_with(characters: Collection[int]) -> list[str]:
    """The names of fonts of this machine that have the characters, as few as it takes; empty where none has any."""
    from matplotlib.font_manager import fontManager, get_font

    left, chosen = set(characters), []
    there: dict[str, set[int]] = {}
    for entry in sorted(
        fontManager.ttflist, key=lambda entry: (entry.name, entry.style, str(entry.weight), entry.fname)
    ):
        if entry.name.startswith(_NO_LETTERS) or entry.name in there:
            continue
        try:
            there[entry.name] = {one for one in left if get_font(entry.fname).get_char_index(one)}
        except (OSError, RuntimeError):  # a font file that is gone, or damaged
            continue
    while left and there:
        best = max(there, key=lambda name: len(there[name] & left))
        if not there[best] & left:
            break
        chosen.append(best)
        left -= there[best]
    return chosen
