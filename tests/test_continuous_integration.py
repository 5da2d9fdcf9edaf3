"""What tests need and what continuous integration installs are the same programs: it starts on a machine without any."""

from __future__ import annotations

import re
import tomllib
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


def test_wheels_are_built_and_tried_with_the_oldest_python_there_may_be() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = set(re.findall(r'python-version: "([^"]+)"', workflow))
    assert {f">={version}" for version in versions} == {project["requires-python"]}
    # Of each kind of job that builds something: it is tried.
    assert workflow.count("PyO3/maturin-action@v1") == len(re.findall(r"python (tests/try_wheel\.py)", workflow)) == 2
    assert (ROOT / "tests/try_wheel.py").is_file()


def test_pull_requests_run_what_every_submission_must_pass() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert "pull_request:" in workflow
    assert "- run: .ci/run\n" in workflow


def test_the_site_that_is_published_is_that_of_make_docs() -> None:
    workflow = (ROOT / ".github/workflows/docs.yml").read_text()
    assert "- run: make docs\n" in workflow
    path = re.search(r"path: (\S+)", workflow)
    assert path
    assert f"--jobs=2 -b html -c docs . {path[1]}\n" in (ROOT / "Makefile").read_text()
