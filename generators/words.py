"""Prose in docstrings."""

from __future__ import annotations

import textwrap

#: Characters of a line of code.
WIDTH = 118


def docstring(text: str, indent: int) -> str:
    """A docstring with its indentation; a line of the text is a paragraph, or an entry of a list that is set in."""
    pad = " " * indent
    said = text.replace("\\", "\\\\").replace('"""', "'''")
    first, *rest = said.split("\n")
    lines = _wrapped(first, indent, '"""')
    for line in rest:
        lines += _wrapped(line, indent) if line.strip() else [""]
    alone = len(lines) == 1 and not lines[0].endswith('"')
    end = '"""' if alone else f'\n{pad}"""'
    return "\n".join(f"{pad}{line}".rstrip() for line in lines) + end + "\n"


def _wrapped(line: str, indent: int, opening: str = "") -> list[str]:
    """A line broken where the code's lines end; what follows in an entry is set in further."""
    lead = len(line) - len(line.lstrip())
    return textwrap.wrap(
        opening + line,
        WIDTH - indent - len('"""'),
        subsequent_indent=" " * (lead + 4) if lead else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
