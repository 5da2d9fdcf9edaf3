"""The documentation's site: it is built without a warning, links lead somewhere, and the search knows its pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, module_of
from roamsim.scenarios.bundled import example


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; its gallery as it is there, since `make docs` alone runs the examples."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", "docs"]
    done = subprocess.run([*command, ".", folder], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "python/roamsim/studies").rglob("README.md")]
    for page in pages:
        if "gallery" not in page.parts:
            assert (site / page.relative_to(ROOT)).with_suffix(".html").is_file(), page
    assert "url=docs/index.html" in (site / "index.html").read_text()


def test_the_search_works_from_a_file(site: Path) -> None:
    # A page that is opened as a file may load scripts, and nothing else.
    assert (site / "searchindex.js").read_text().startswith("Search.setIndex(")
    assert "docs/models/tcp" in (site / "searchindex.js").read_text()
    # What explains comes before lists of keys.
    assert "docs/reference/scenario/" in (site / "_static/language_data.js").read_text()


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    for page in (site / "docs/index.html", site / "docs/models/tcp.html"):
        text = page.read_text()
        assert 'src="http' not in text
        assert '<link rel="stylesheet" type="text/css" href="http' not in text


def test_a_dead_link_fails(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Page\n\n[nowhere](nowhere.md)\n")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-q",
        "-b",
        "html",
        "-c",
        ROOT / "docs",
        tmp_path,
        tmp_path / "out",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "nowhere" in done.stderr


def test_an_example_of_the_gallery_has_picture_report_and_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = module_of(ROOT / "docs/gallery.py")
    monkeypatch.setattr(gallery, "GALLERY", tmp_path)
    monkeypatch.setattr(gallery, "REPORTS", tmp_path / "reports")
    gallery.main(["slow-start"])
    assert "<path" in (tmp_path / "slow-start.svg").read_text()
    assert 'id="course"' in (tmp_path / "reports/slow-start.html").read_text()
    assert example("slow-start").text.strip() in (tmp_path / "slow-start.md").read_text()
    assert 'href="slow-start.html"' in (tmp_path / "index.md").read_text()


def test_a_study_of_the_gallery_has_picture_report_and_page(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = module_of(ROOT / "docs/gallery.py")
    monkeypatch.setattr(gallery, "GALLERY", tmp_path)
    monkeypatch.setattr(gallery, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(gallery.study, "available", lambda: {"small": small})
    gallery.main(["small"])
    assert "<path" in (tmp_path / "study-small.svg").read_text()
    assert "Published statements" in (tmp_path / "reports/study-small.html").read_text()
    page = (tmp_path / "study-small.md").read_text()
    assert "study-small.svg" in page
    assert "../../study-small.html" in page
    assert "roamsim study run small --quick" in page
    listed = (tmp_path / "index.md").read_text()
    assert 'href="study-small.html"><img src="../../_images/study-small.svg"' in listed
