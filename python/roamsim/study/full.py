"""The reference results of a study, and the verdicts of the full run for a quick look."""

from __future__ import annotations

import json
from pathlib import Path

from roamsim.study.definition import Level, Study
from roamsim.study.provenance import REFERENCES


def path_of(study: Study, level: Level) -> Path:
    """The file of the reference results."""
    return study.folder / REFERENCES.replace("*", level)


def turned_in_full(study: Study) -> dict[tuple[str, str], list[str]]:
    """What turns a statement's verdict round by the reference of the full run, by statement and verdict."""
    try:
        statements = json.loads(path_of(study, "full").read_text(encoding="utf-8"))["statements"]
        return {(name, one["verdict"]): list(one.get("turned_by", [])) for name, one in statements.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def verdicts_in_full(study: Study) -> dict[str, str]:
    """The verdict of each statement by the reference of the full run; none if there is no such file."""
    return dict(turned_in_full(study).keys())
