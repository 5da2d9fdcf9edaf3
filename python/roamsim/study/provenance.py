"""Commit, build and machine of a study's runs, for its report. They decide no result."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from roamsim import _roamsim

#: Digits of a commit and of the build's digest that are shown (chosen: what git takes for unique in a large project).
DIGITS = 12

#: Files of a study's folder that `study compare --update` writes; the star is the level. No run depends on them.
REFERENCES = "reference-*.json"


def provenance() -> dict[str, str]:
    """What made the runs, each in a few words; what is not known is left out."""
    found = {
        "commit": commit(Path(__file__).parent),
        "build": f"roamsim {_roamsim.version()}, sources of the simulator sha256 {_roamsim.build()[:DIGITS]}",
        "machine": _machine(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    return {name: text for name, text in found.items() if text}


def commit(folder: Path) -> str:
    """The commit of the source tree that the package's folder lies in, where it is one that git keeps."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    # An installed package may lie inside of somebody else's tree, in a folder that git does not keep.
    if git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return ""
    # Of several studies' references, the first to be written anew changes nothing of what the others are made with.
    status = git("status", "--porcelain", "-uno", "--", ":/", f":(top,exclude,glob)**/{REFERENCES}")
    if status is None:
        changed = ", it is not known whether with changes"
    else:
        changed = ", with changes that were not committed" if status else ""
    head = git("rev-parse", "HEAD")
    return f"{head[:DIGITS]}{changed}" if head else ""


def _machine() -> str:
    cores = os.cpu_count() or 1
    words = [_processor(), f"{cores} processor{'s' if cores > 1 else ''}", platform.system(), platform.machine()]
    return ", ".join(word for word in words if word)


def _processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
