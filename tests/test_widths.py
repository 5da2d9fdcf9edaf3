"""Comments of Rust are no wider than its code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
WIDTH = tomllib.loads((ROOT / "rustfmt.toml").read_text(encoding="utf-8"))["max_width"]


def too_wide(folder: Path) -> Iterator[str]:
    """The lines that are comments alone and wider than code may be, by file and number."""
    for path in sorted(folder.rglob("*.rs")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if line.lstrip().startswith("//") and len(line) > WIDTH:
                yield f"{path.relative_to(folder)}:{number}"


def test_comments_keep_the_width_of_code(tmp_path: Path) -> None:
    assert list(too_wide(ROOT / "crates")) == []
    wide = "    // " + "x" * (WIDTH - 6)
    (tmp_path / "a.rs").write_text(f'{wide[:-1]}\n{wide}\nlet text = "{wide}";\n')
    assert list(too_wide(tmp_path)) == ["a.rs:2"]
