"""Markdown tables, and the part of a document that a program writes."""

import os
import platform
from pathlib import Path


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *["| " + " | ".join(row) + " |" for row in rows]])


def machine() -> str:
    """What it was measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    system = f"{platform.system()} {platform.machine()}"
    return f"{model}, {os.cpu_count()} cores, {system}, Python {platform.python_version()}"


def replace(path: Path, name: str, text: str) -> None:
    """Replaces what stands between the two markers `<!-- NAME:start -->` and `<!-- NAME:end -->` of a file."""
    begin, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    old = path.read_text()
    if old.count(begin) != 1 or old.count(end) != 1:
        raise SystemExit(f"{path} must hold {begin} and {end} once each")
    before, rest = old.split(begin)
    path.write_text(f"{before}{begin}\n{text}{end}{rest.split(end)[1]}")
