"""Statements of RFCs (docs/statements/): each named test exists, and each statement has one answer."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from generators.statements import RFCS, answer, place, statements

LEVELS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "step"}


def is_there(test: str) -> bool:
    """Whether a test of this name exists: a script, or a function that is a test."""
    file, name = place(test)
    if not (ROOT / file).is_file():
        return False
    if not name:
        return file.endswith(".pkt")
    text = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".py"):
        return name.startswith("test_") and re.search(rf"^def {name}\(", text, re.MULTILINE) is not None
    # Within proptest! a test has arguments.
    return re.search(rf"#\[test\]\s+(?:#\[[^\]]*\]\s+)*fn {name}\(", text) is not None


@pytest.mark.parametrize("rfc", RFCS)
def test_each_statement_names_tests_that_exist_or_says_why_not(rfc: int) -> None:
    _, listed = statements(rfc)
    assert listed
    for each in listed:
        assert each["level"] in LEVELS, each
        if answer(each) == "tests":
            assert each["tests"], each
            missing = [test for test in each["tests"] if not is_there(test)]
            assert not missing, f"RFC {rfc}, {each['at']}: {each['says']}"


def test_what_is_no_test_is_found() -> None:
    rtt = "crates/protocols/src/tcp/rtt.rs"
    assert is_there(f"{rtt}::first_and_second_measurement")
    assert is_there("crates/protocols/tests/tcp_properties.rs::no_sequence_of_segments_harms")
    assert is_there("initial-window.pkt")
    assert is_there("tests/test_statements.py::test_what_is_no_test_is_found")
    for missing in (
        "no-such-script.pkt",
        f"{rtt}::whole_ticks",
        f"{rtt}::first_and_second",
        rtt,
        "crates/protocols/src/tcp/nothing.rs::first_and_second_measurement",
        "tests/test_statements.py::is_there",
    ):
        assert not is_there(missing), missing


def numbers(identifiers: str) -> dict[str, set[int]]:
    """The numbers in an identifier such as "MUST-50 to 53, SHLD-24", by their kind."""
    found: dict[str, set[int]] = {"MUST": set(), "SHLD": set()}
    kind, last = "", 0
    for to, named, number in re.findall(r"(to )?(?:(MUST|SHLD)-)?(\d+)", identifiers):
        kind, first = named or kind, last + 1 if to else int(number)
        last = int(number)
        found[kind].update(range(first, last + 1))
    return found


def test_every_numbered_requirement_of_rfc_9293_is_answered_once() -> None:
    """Table 8 of its appendix B numbers 69 MUSTs and 31 SHOULDs. MUST-20 is two requirements there."""
    _, listed = statements(9293)
    identifiers = [numbers(each["id"]) for each in listed]
    for kind, count in (("MUST", 69), ("SHLD", 31)):
        every = sorted(number for each in identifiers for number in each[kind])
        assert sorted(set(every)) == list(range(1, count + 1)), kind
        assert [number for number in set(every) if every.count(number) > 1] in ([], [20]), kind
