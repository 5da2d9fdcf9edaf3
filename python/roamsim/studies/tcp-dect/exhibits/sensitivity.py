"""What depends on the choices that the publication leaves open."""

from __future__ import annotations

from roamsim.study.data import Data
from roamsim.study.judging import Verdict

from ..choices import FINDINGS, choices_of
from .cells import Rows


def robustness(data: Data) -> Rows:
    """Of each finding, with which choices it holds."""
    rows = []
    for finding, holds in FINDINGS.items():
        choices = choices_of(data, finding)
        verdicts: dict[Verdict, list[str]] = {"agrees": [], "differs": [], "not decidable": []}
        for choice in choices:
            verdicts[holds(data, choice).verdict].append(str(choice))
        yes, no = verdicts["agrees"], verdicts["differs"]
        open_ones = verdicts["not decidable"]
        # One choice in ten may be open (chosen): more, and nothing is said of all of them.
        if yes and no:
            kind = "depends on the choice"
        elif 10 * len(open_ones) > len(choices):
            kind = "not decidable"
        else:
            kind = "robust" if yes else "never"
        few, word = (yes, "only") if len(yes) < len(no) else (no, "not")
        named = f"{word} with {', '.join(f'“{choice}”' for choice in few)}"
        rows.append(
            {
                "finding": finding,
                "verdict": kind,
                "holds": len(yes),
                "does not": len(no),
                "not decidable": len(open_ones),
                "exceptions": named if yes and no else "",
            }
        )
    return rows
