"""The page of RFC statements: which test holds each MUST and SHOULD, or why none does."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NotRequired, TypedDict

ROOT = Path(__file__).parent.parent
STATEMENTS = ROOT / "docs/statements"
PAGE = ROOT / "docs/rfc-statements.md"
SCRIPTS = "crates/protocols/tests/tcp_scripts"

#: The order of the page.
RFCS = (9293, 5681, 6298, 6675, 8985, 9937, 9438, 9406)
#: What a statement has one of, and the column of the first table that counts it.
ANSWERS = {
    "tests": "met, tested",
    "untested": "met, not tested",
    "open": "not met",
    "outside": "not simulated",
}


class Statement(TypedDict):
    """One statement: where it is, how strong, what it asks for in short, and the answer."""

    at: str
    level: str
    says: str
    #: Its names in an RFC that has some, such as MUST-13.
    id: NotRequired[str]
    #: Tests that fail if the statement is broken: `NAME.pkt` is a script, others are `PATH::NAME`.
    tests: NotRequired[list[str]]
    note: NotRequired[str]
    untested: NotRequired[str]
    open: NotRequired[str]
    outside: NotRequired[str]


def statements(rfc: int) -> tuple[str, list[Statement]]:
    """Title and statements of an RFC."""
    tree = tomllib.loads((STATEMENTS / f"rfc{rfc}.toml").read_text(encoding="utf-8"))
    return tree["title"], tree["statements"]


def answer(statement: Statement) -> str:
    """Which of `ANSWERS` a statement has; exactly one."""
    found = [key for key in ANSWERS if key in statement]
    if len(found) != 1:
        raise ValueError(f"'{statement['says']}' must have one of {', '.join(ANSWERS)}, and has {found}")
    return found[0]


def place(test: str) -> tuple[str, str]:
    """The file of a test, and its name within; a script is its file."""
    if test.endswith(".pkt"):
        return f"{SCRIPTS}/{test}", ""
    file, _, name = test.partition("::")
    return file, name


def link(test: str) -> str:
    """A link to a test."""
    file, name = place(test)
    shown = name.replace("_", "_<wbr>") if name else Path(file).stem
    return f"[{shown}](../{file})"


def cell(statement: Statement) -> str:
    """The answer to a statement in words."""
    kind = answer(statement)
    if kind == "tests":
        text = ", ".join(link(test) for test in statement["tests"])
        return f"{text}: {statement['note']}" if "note" in statement else text
    reason = {"untested": statement.get("untested"), "open": statement.get("open")}.get(
        kind, statement.get("outside")
    )
    return f"*{ANSWERS[kind]}*: {reason}"


def page() -> str:
    """The page."""
    lines = [
        "# Statements of the RFCs of TCP",
        "",
        "This page lists each MUST and SHOULD of eight RFCs in our own words, with the tests that fail if the code",
        "breaks it. A *step* is a part of an algorithm without a keyword. A test without underscores is a script in",
        "`crates/protocols/tests/tcp_scripts/`. If a statement has no test, the reason begins with one of these:",
        "",
        "- *met, not tested*: the code does it, and no test would notice if it stopped.",
        "- *not met*: a choice or a gap.",
        "- *not simulated*: nothing in a simulation depends on it.",
        "",
        f"| RFC | {' | '.join(ANSWERS.values())} |",
        f"|---|{'---|' * len(ANSWERS)}",
    ]
    sections: list[str] = []
    for rfc in RFCS:
        title, listed = statements(rfc)
        counts = [sum(answer(each) == kind for each in listed) for kind in ANSWERS]
        anchor = f"rfc-{rfc}-{''.join(c for c in title.lower() if c.isalnum() or c in ' -').replace(' ', '-')}"
        lines.append(f"| [{rfc}](#{anchor}) | {' | '.join(map(str, counts))} |")
        sections += ["", f"## RFC {rfc}: {title}", "", "| section | statement | tested by |", "|---|---|---|"]
        for each in listed:
            # The names of an RFC begin with the keyword.
            named = each.get("id", each["level"])
            sections.append(f"| {each['at']} {named} | {each['says']} | {cell(each)} |")
    lines += [
        "",
        "The data is in `docs/statements/`; `make generated` writes this page. A test checks that each named test",
        "exists (`tests/test_statements.py`).",
    ]
    return "\n".join(lines + sections) + "\n"
