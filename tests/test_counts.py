"""What the count of instructions judges, and what it says where it cannot count."""

import json
import shutil
import subprocess

import pytest

from benches import counts
from benches.counts import Count

KEPT = {
    "bulk": {"instructions": 1_000_000, "events": 100, "delivered_bytes": 50_000},
    "sctp": {"instructions": 2_000_000, "events": 200, "delivered_bytes": 70_000},
}


def judged(**instructions: int) -> list[str]:
    now = {
        name: Count(value, KEPT[name]["events"], KEPT[name]["delivered_bytes"])
        for name, value in instructions.items()
    }
    return counts.compare(now, KEPT)[1]


def test_what_is_within_three_percent_passes():
    # 3 % of 1,000,000 are 30,000.
    assert judged(bulk=1_030_000, sctp=1_940_000) == []


def test_more_and_less_than_three_percent_fail():
    assert judged(bulk=1_031_000, sctp=2_000_000) == ["bulk: 3.1% more instructions for the same events and octets"]
    assert judged(bulk=968_000) == ["bulk: 3.2% fewer instructions for the same events and octets"]


def test_a_run_that_does_other_work_is_told_as_such():
    text, complaints = counts.compare({"bulk": Count(1_100_000, 110, 55_000)}, KEPT)
    assert complaints == ["bulk: 10.0% more instructions for 110 events, not 100"]
    assert "| bulk | 1,000,000 | 1,100,000 | +10.00% |" in text


def test_a_run_without_a_count_is_told():
    assert counts.compare({"new": Count(1, 1, 1)}, KEPT)[1] == ["new: no count is kept"]


@pytest.mark.parametrize(("required", "code", "word"), [("0", 0, "LEFT OUT"), ("1", 1, "MISSING")])
def test_without_valgrind_it_says_so(monkeypatch, capsys, required, code, word):
    monkeypatch.setenv("ROAMSIM_REQUIRE_TOOLS", required)
    monkeypatch.setattr(counts, "missing_programs", lambda: ["valgrind"])
    assert counts.main([]) == code
    assert capsys.readouterr().err.startswith(f"{word}: instructions are not counted without valgrind")


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Every case takes 1000 instructions; this compiler is A."""
    monkeypatch.setattr(counts, "KEPT", tmp_path / "counts.json")
    monkeypatch.setattr(counts, "missing_programs", list)
    monkeypatch.setattr(counts, "compiler", lambda: "A")
    monkeypatch.setattr(counts, "count", lambda case: Count(1000, 10, 20))
    return counts.KEPT


def test_another_compiler_has_no_counts_to_hold_against(monkeypatch, capsys, counted):
    monkeypatch.setenv("ROAMSIM_REQUIRE_TOOLS", "1")
    counted.write_text(json.dumps({"B": {}}))
    assert counts.main([]) == 0
    told = capsys.readouterr().err
    assert told.startswith("LEFT OUT: no counts are kept for A, only for B")
    assert "make new-counts" in told


def test_renewed_counts_hold_and_those_of_other_compilers_stay(capsys, counted):
    counted.write_text(json.dumps({"B": {"bulk": {"instructions": 7}}}))
    assert counts.main(["--renew"]) == 0
    assert counts.main([]) == 0
    kept = json.loads(counted.read_text())
    assert kept["B"] == {"bulk": {"instructions": 7}}
    assert set(kept["A"]) == {case.name for case in counts.CASES}
    counted.write_text(counted.read_text().replace("1000", "900"))
    assert counts.main([]) == 1
    assert "bulk: 11.1% more instructions" in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_the_patch_that_leaves_shortcuts_out_applies():
    patch = counts.ROOT / "benches" / "without.patch"
    checked = subprocess.run(
        ["git", "apply", "--check", str(patch)], cwd=counts.ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    # docs/performance.md names these.
    assert all(f'Ok("{name}")' in patch.read_text() for name in ("wheel", "short-way", "undisturbed"))
