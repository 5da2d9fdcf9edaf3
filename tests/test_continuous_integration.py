"""What tests need and what continuous integration installs are the same programs: it starts on a machine without any."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_program_that_tests_need_is_installed_by_continuous_integration() -> None:
    needed = {
        program
        for file in (ROOT / "tests").glob("*.py")
        for program in re.findall(r'mark\.needs\("([^"]+)"', file.read_text())
    }
    script = (ROOT / ".ci/run").read_text()
    programs = re.search(r"^for program in (.+); do$", script, flags=re.MULTILINE)
    assert programs, "the programs that .ci/run installs stand elsewhere"
    installed = set(re.findall(r"(\S+)=\S+", programs[1]))
    assert needed, "no test needs a program: the pattern no longer finds the marks"
    assert needed <= installed, f".ci/run does not install {sorted(needed - installed)}"
