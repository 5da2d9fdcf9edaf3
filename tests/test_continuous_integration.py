"""What tests need and what continuous integration installs are the same programs: it starts on a machine without any."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from test_documentation import PROGRAMS

ROOT = Path(__file__).parent.parent


def test_every_program_that_tests_need_is_installed_by_continuous_integration() -> None:
    needed = {
        program
        for file in (ROOT / "tests").glob("*.py")
        for programs in re.findall(r"mark\.needs\(([^)]+)\)", file.read_text())
        for program in re.findall(r'"([^"]+)"', programs)
    }
    # A device of the kernel, which no package brings, and a library.
    needed = needed - {"tun", "libusrsctp.so.2"} | set(PROGRAMS)
    script = (ROOT / ".ci/run").read_text()
    programs = re.search(r"^programs=\(([^)]+)\)$", script, flags=re.MULTILINE)
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


def test_links_of_release_notes_lead_to_the_pages_of_the_tag() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    assert 's#](docs/#]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/$GITHUB_REF_NAME/docs/#g" notes.md' in workflow
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "CHANGELOG.md").read_text())
    assert targets
    assert [target for target in targets if not target.startswith(("docs/", "https://"))] == []


def test_pull_requests_run_what_every_submission_must_pass() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert "pull_request:" in workflow
    assert "- run: .ci/run\n" in workflow


def test_the_site_that_is_published_is_that_of_make_docs() -> None:
    workflow = (ROOT / ".github/workflows/docs.yml").read_text()
    assert "- run: make docs\n" in workflow
    # A dead link fails before it is on main, where alone the site is published.
    assert "\n  pull_request:\n" in workflow
    assert "  publish:\n    if: github.ref == 'refs/heads/main'\n" in workflow
    path = re.search(r"path: (\S+)", workflow)
    assert path
    assert f"--jobs=2 -b html -c docs . {path[1]}\n" in (ROOT / "Makefile").read_text()


def test_a_version_is_named_the_same_everywhere_and_has_its_notes() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE) == [version]
    newest = re.search(r"^## (\S+)\n(.+?)(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE | re.DOTALL)
    assert newest
    assert newest[1] == version
    assert len(newest[2].split()) > 50, "a release has notes"


def test_only_files_of_a_looked_over_release_are_published() -> None:
    release = (ROOT / ".github/workflows/release.yml").read_text()
    publish = (ROOT / ".github/workflows/publish.yml").read_text()
    steps = [release.index(step) for step in ("Refuse a tag", "attest-build-provenance", "gh release create")]
    assert steps == sorted(steps)
    assert "--draft" in release
    assert "gh-action-pypi-publish" not in release
    assert "types: [published]" in publish
    assert publish.index("gh attestation verify") < publish.index("gh-action-pypi-publish")
