"""Markdown tables, and the part of a document that a program writes."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *["| " + " | ".join(row) + " |" for row in rows]])


def crossed(head: list[str], cells: Mapping[tuple[tuple[str, ...], str], str]) -> str:
    """A Markdown table of cells by row and column; `head` is above the labels of the rows."""
    rows, columns = dict.fromkeys(row for row, _ in cells), dict.fromkeys(column for _, column in cells)
    lines = [[*row, *(cells.get((row, column), "") for column in columns)] for row in rows]
    return table([*head, *columns], lines)


def machine() -> str:
    """What times were measured on: the processor and the system. Results of runs do not depend on it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    system = f"{platform.system()} {platform.machine()}"
    return f"{model}, {os.cpu_count()} cores, {system}"


def measured(build: str, *paragraphs: str) -> str:
    """A section: the peer's build, then the paragraphs that are not empty."""
    return "\n\n".join(filter(None, [f"Measured with: {build}.", *paragraphs])) + "\n"


def marked(path: Path, name: str) -> str:
    """What stands between the two markers `<!-- NAME:start -->` and `<!-- NAME:end -->` of a file."""
    return _parts(path, name)[1]


def replace(path: Path, name: str, text: str) -> None:
    """Replaces what stands between the two markers."""
    before, _, after = _parts(path, name)
    path.write_text(f"{before}{text}{after}")


def _parts(path: Path, name: str) -> tuple[str, str, str]:
    """What stands before, between and behind the markers, which belong to what is around them."""
    begin, end = f"<!-- {name}:start -->\n", f"<!-- {name}:end -->"
    text = path.read_text()
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"{path} must hold {begin.rstrip()} and {end} once each")
    before, rest = text.split(begin)
    between, after = rest.split(end)
    return before + begin, between, end + after
