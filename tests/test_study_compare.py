"""Reference results of a study: equal to the bit, or what moved."""

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Command
from roamsim import study
from roamsim.errors import UsageError
from roamsim.study.provenance import commit
from small_study import change


def test_a_run_is_equal_to_the_reference_that_it_made(roamsim: Command, small: Path) -> None:
    asked = ("study", "compare", small, "--quick", "--out", "out")
    assert "there are no reference results; --update writes them" in roamsim(*asked, code=2).stderr
    assert roamsim(*asked, "--update").stdout == f"reference: {small / 'reference-quick.json'}\n"
    told = roamsim(*asked).stdout
    assert "equal to the bit in 1 experiment, 2 statements and all checks" in told
    # Other runs of the same definition, from nothing.
    assert roamsim("study", "compare", small, "--quick", "--out", "again", "--jobs", "1").stdout == told
    assert json.loads(roamsim(*asked, "--json").stdout)["moved"] == []


def test_a_reference_has_one_result_a_line(small: Path, tmp_path: Path) -> None:
    file = study.update(study.run(small, level="quick", out=tmp_path / "out"))
    lines = file.read_text().splitlines()
    kept = json.loads(file.read_text())
    assert '"success without loss": 1.0' in lines
    assert f'"lossy": "{kept["experiments"]["lossy"]}"' in lines
    (what, mean, low, high), *_ = kept["statements"]["2"]["values"]
    assert f' ["{what}", {mean}, {low}, {high}]]}}' in lines
    assert '"2": {"verdict": "differs", "values": [' in lines


def test_what_moved_is_named_with_its_intervals(roamsim: Command, small: Path) -> None:
    asked = ("study", "compare", small, "--quick", "--out", "out")
    roamsim(*asked, "--update")
    # Another rule moves a verdict and no value.
    change(small, "statements.py", '0.98, 1.0, "success")', '0.999, 1.0, "success")')
    told = roamsim(*asked, code=5).stdout
    assert "1 difference\n" in told
    assert "statement 1, verdict: agrees -> not decidable" in told
    # Other runs move values, the verdict of which may stay; the check is exact at any delay.
    change(small, "two-nodes.toml", "probability = 0.0", "probability = 0.1")
    change(small, "study.toml", 'quick = "0,0.5"', 'quick = "0,0.4"')
    change(small, "study.toml", "loss=0.5", "loss=0.4")
    change(small, "statements.py", "loss=0.5", "loss=0.4")
    moved = {one["where"]: one for one in json.loads(roamsim(*asked, "--json", code=5).stdout)["moved"]}
    assert set(moved) == {"statement 1, verdict", "statement 2, success", "runs of experiment lossy"}
    success = moved["statement 2, success"]
    assert success["before"] != success["now"]
    assert "(" in success["before"]  # the ends of an interval that is not symmetric


def test_a_column_more_moves_nothing_and_a_value_does(small: Path, tmp_path: Path) -> None:
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    study.update(outcome)
    rows = [row for rows in outcome.data._rows.values() for row in rows]
    for row in rows:
        row["a_column_more"] = 1.0
    assert study.compare(outcome).moved == []
    rows[0]["messages"] += 1
    assert [one.where for one in study.compare(outcome).moved] == ["runs of experiment lossy"]
    del rows[0]["messages"]
    assert [one.where for one in study.compare(outcome).moved] == ["runs of experiment lossy"]


def test_statements_and_checks_come_and_go(small: Path, tmp_path: Path) -> None:
    study.update(study.run(small, level="quick", out=tmp_path / "out"))
    change(small, "statements.toml", 'id = "2"', 'id = "3"')
    change(small, "coverage.toml", '["1", "2"]', '["1", "3"]')
    change(small, "figures.toml", '["2"]', '["3"]')
    change(small, "study.toml", 'verdict("2")', 'verdict("3")')
    change(small, "study.py", '"success without loss"', '"all of it"')
    words = [str(one) for one in study.compare(study.run(small, level="quick", out=tmp_path / "out")).moved]
    assert words[0] == "statement 2, verdict: gone, was differs"
    assert words[1].startswith("statement 2, success: gone, was ")
    assert words[2] == "statement 3, verdict: new, differs"
    assert "check, success without loss: gone, was 1" in words
    assert "check, all of it: new, 1" in words


def test_a_malformed_reference_is_refused(small: Path, tmp_path: Path) -> None:
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    for text in ("{", "[]", "{}", '{"seed": 1, "statements": 3}'):
        (small / "reference-quick.json").write_text(text)
        with pytest.raises(UsageError, match=r"reference-quick.json: these are not reference results .*--update"):
            study.compare(outcome)


def test_references_written_anew_are_no_change_of_what_they_are_made_with(tmp_path: Path) -> None:
    package, studies = tmp_path / "package", tmp_path / "studies" / "one"
    for folder, name in ((package, "provenance.py"), (studies, "reference-full.json")):
        folder.mkdir(parents=True)
        (folder / name).write_text("before")

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "all")
    (studies / "reference-full.json").write_text("after")
    assert "not committed" not in commit(package)
    (studies / "study.toml").write_text("")
    git("add", ".")
    assert commit(package).endswith(", with changes that were not committed")
