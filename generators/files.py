"""What is generated, and into which file."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from roamsim import _roamsim

from generators import scenario, statements, tables

ROOT = Path(__file__).parent.parent


def schema() -> str:
    """The schema of scenarios, a line a value, so that a change of it can be read."""
    return json.dumps(json.loads(_roamsim.schema()), indent=1, ensure_ascii=False) + "\n"


def metrics() -> str:
    """The metrics as JSON, which commands read sooner; before what is made of it."""
    tree = tomllib.loads((ROOT / "python/roamsim/tables/metrics.toml").read_text(encoding="utf-8"))
    return json.dumps(tree, indent=1, ensure_ascii=False) + "\n"


#: The text of each file, before it is formatted.
FILES: dict[Path, Callable[[], str]] = {
    ROOT / "python/roamsim/tables/metrics.json": metrics,
    ROOT / "python/roamsim/scenario.py": scenario.text,
    ROOT / "python/roamsim/tables/named.py": tables.text,
    ROOT / "python/roamsim/scenarios/scenario.schema.json": schema,
    statements.PAGE: statements.page,
}


def text(file: Path) -> str:
    """What a generated file should hold."""
    return formatted(FILES[file](), file)


def formatted(code: str, file: Path) -> str:
    """The same, as the project formats its code; other files as they are."""
    if file.suffix != ".py":
        return code
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(file), "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=True, cwd=ROOT).stdout
