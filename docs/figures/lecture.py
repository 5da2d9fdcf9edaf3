"""The figures of docs/lecture.md: the commands of the page itself, as SVG in docs/images/lecture-NAME.svg.

python docs/figures/lecture.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/lecture.md"
IMAGES = ROOT / "docs/images"
#: The page shows one figure a topic.
SHOWN = ("slow-start", "recovery", "bloat", "hidden", "handover")


def main() -> None:
    """Runs the page's commands in a temporary folder; figures that the page shows go to docs/images."""
    text = PAGE.read_text(encoding="utf-8").replace("\\\n", "")
    commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            words = command.split()
            if words[:2] in (["roamsim", "query"], ["roamsim", "compare"], ["roamsim", "report"]):
                continue
            name = words[-1].removesuffix(".png")
            if words[1] == "plot" and name not in SHOWN:
                continue
            shown = command.replace(f"--out {name}.png", f"--out {IMAGES / f'lecture-{name}.svg'}")
            run = shown.replace("roamsim ", f"{sys.executable} -m roamsim ")
            subprocess.run(["bash", "-c", run], cwd=folder, check=True)


if __name__ == "__main__":
    main()
