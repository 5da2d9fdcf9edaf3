"""Every example in README.md and docs/ is run.

A page's examples run one after the other in a copy of the project:
- ```console blocks: each line that starts with `$ ` is run by bash; what follows it is output and not compared;
- ```python blocks: run, and share their variables within a page; those with a file name are written there;
- ```toml blocks that hold a [scenario]: must be valid. Those with a file name after the word toml are written there,
  so that commands below can use them.

An HTML comment in front of a block changes this: `<!-- not-run: reason -->` leaves it out, `<!-- exit-code: 3 -->` says
that its commands end so. A page that starts a program of `PROGRAMS` needs it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import roamsim
from conftest import ROOT, SERVERS, environment, lacks_tun
from markdown_it import MarkdownIt
from roamsim import study

#: Without those that `make docs` writes.
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(ROOT.glob("docs/**/*.md")) if "gallery" not in page.parts),
    *sorted(ROOT.glob("studies/**/README.md")),
]

#: Programs of commands which not everybody has.
PROGRAMS = ("chromium", "curl", "openssl", "ping", "tshark")

IGNORED = shutil.ignore_patterns("target", ".git", ".venv*", "__pycache__", ".*_cache", "results", "*.so")


@dataclass(frozen=True)
class Block:
    """One example of a page."""

    place: str
    language: str
    file: str
    text: str
    exit_code: int


def blocks(page: Path) -> Iterator[Block]:
    """The examples of a page that are to be run."""
    remark = ""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            remark = token.content.strip()
        elif token.type == "fence":
            words = token.info.split()
            language = words[0] if words else ""
            left_out = re.fullmatch(r"<!--\s*not-run:\s*\S.*-->", remark, re.DOTALL)
            code = re.fullmatch(r"<!--\s*exit-code:\s*(\d+)\s*-->", remark)
            runnable = language in ("console", "python") or (
                language == "toml" and ("[scenario]" in token.content or len(words) > 1)
            )
            if runnable and not left_out:
                line = token.map[0] + 1 if token.map else 0
                file = words[1] if len(words) > 1 else ""
                yield Block(f"{page.name}:{line}", language, file, token.content, int(code[1]) if code else 0)
            remark = ""
        elif token.type not in ("inline", "paragraph_close"):
            remark = ""


def commands(text: str) -> list[str]:
    """The commands of a console block; a backslash at the end continues a line."""
    found, continued = [], False
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif continued:
            found[-1] += "\n" + line
        continued = bool(found) and (line.startswith("$ ") or continued) and line.endswith("\\")
    return found


def execute(block: Block, folder: Path, variables: dict[str, object], env: dict[str, str]) -> None:
    if block.language == "python" and block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
        return
    if block.language == "python":
        exec(compile(block.text, block.place, "exec"), variables)
        return
    if block.language == "toml":
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        if "[scenario]" in block.text:
            roamsim.load(block.text)
        return
    found = commands(block.text)
    assert found, f"{block.place}: a console block without a line that starts with '$ '"
    for command in found:
        if "--max-lateness" not in command:
            # Beside other tests, no run by the clock is punctual.
            command = command.replace("roamsim live ", "roamsim live --max-lateness 60s ")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == block.exit_code, f"{block.place}: $ {command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if p.exists()], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = list(blocks(page))
    if not examples:
        return
    if any("$ roamsim live" in block.text for block in examples) and (lacking := lacks_tun()):
        pytest.skip(f"{page.name} runs programs in namespaces, and this machine lets nobody: {lacking}")
    started = {program for block in examples for program in PROGRAMS if re.search(rf"(^|\s){program} ", block.text)}
    if missing := sorted(program for program in started if not shutil.which(program)):
        pytest.skip(f"{page.name} starts {', '.join(missing)}, which this machine does not have")
    folder = tmp_path / "roamsim"
    shutil.copytree(ROOT, folder, ignore=IGNORED, symlinks=True)
    monkeypatch.chdir(folder)
    variables: dict[str, object] = {}
    # The commands of the README start as they do for its reader, those of other pages are forked by a server.
    env = environment() if page.name == "README.md" else next(SERVERS).environment()
    for block in examples:
        execute(block, folder, variables, env)


#: A path of the project in a text: `crates/network/src/link/NAME.rs`, where NAME is the reader's to choose.
PROJECT_PATH = re.compile(r"`((?:crates|python|docs|tests|examples|studies|benches|validation|peers)/[^`\s:]*)`")


def missing_paths(text: str) -> list[str]:
    """Paths that a text names and the project does not have; NAME and * stand for anything, {a,b} for each."""
    missing = []
    for named in PROJECT_PATH.findall(text):
        braces = re.search(r"\{([^}]*)\}", named)
        each = [named.replace(braces[0], one) for one in braces[1].split(",")] if braces else [named]
        missing += [path for path in each if not list(ROOT.glob(re.sub(r"\bNAME\b", "*", path).rstrip("/")))]
    return missing


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_exist(page: Path) -> None:
    assert missing_paths(page.read_text(encoding="utf-8")) == []


def test_a_path_that_does_not_exist_is_found() -> None:
    text = "`crates/scenario/src/build.rs`, `crates/network/src/link/NAME.rs`, `tests/{conftest,nothing}.py`, `results/x`"
    assert missing_paths(text) == ["crates/scenario/src/build.rs", "tests/nothing.py"]


@cache
def headings(page: Path) -> set[str]:
    """What a link may name behind the `#`: each heading in lower case, without marks, with `-` for each space."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    titles = (after.children for token, after in pairwise(tokens) if token.type == "heading_open")
    texts = ("".join(part.content for part in title or ()) for title in titles)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def dead_links(page: Path) -> list[str]:
    """Links of a page to files, or to headings of pages, that there are not."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    parts = [part for token in tokens for part in token.children or ()]
    dead = []
    # Written by `make docs` alone; the site's build fails on its dead links.
    built = ROOT / "docs/gallery"
    for link in [str(part.attrs["href"]) for part in parts if part.type == "link_open"]:
        file, _, heading = link.partition("#")
        target = page.parent / file if file else page
        there = (
            "://" in link
            or target.parent == built
            or (target.exists() and (not heading or heading in headings(target)))
        )
        if not there:
            dead.append(link)
    return dead


@pytest.mark.parametrize(
    "page", [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    assert dead_links(page) == []


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# What `make` does, in short\n")
    page = tmp_path / "page.md"
    links = [
        "other.md#what-make-does-in-short",
        "#own",
        "https://example.org/x",
        "other.md",
        "none.md",
        "other.md#own",
    ]
    page.write_text("## Own\n" + "".join(f"[x]({link})\n" for link in links))
    assert dead_links(page) == ["none.md", "other.md#own"]


def test_every_picture_is_on_a_page() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [one.name for one in sorted(ROOT.glob("docs/images/*")) if f"images/{one.name}" not in shown] == []


def test_the_readme_has_examples_to_run() -> None:
    assert len(list(blocks(ROOT / "README.md"))) >= 2


def test_the_readme_stays_a_landing_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_the_readme_counts_what_the_studies_have() -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| [`")]
    for name in study.available():
        row = next(row for row in rows if f"`{name}`" in row)
        found = study.load(name)
        published = [statement for statement in found.statements if not statement.own]
        [count] = re.findall(r"(\d+) published statements", row)
        assert int(count) == len(published), f"{name}: {count}"


def test_blocks_are_found_and_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo a \\\n  b\nout\n$ false\n```\n\n<!-- not-run: takes long -->\n```console\n$ sleep 9\n```\n\n"
        "<!-- exit-code: 3 -->\n```console\n$ exit 3\n```\n\ntext\n\n```toml x.toml\n[scenario]\n```\n\n"
        "```toml\n[other]\n```\n\n```text\nplain\n```\n"
    )
    found = list(blocks(page))
    assert [(b.language, b.file, b.exit_code) for b in found] == [
        ("console", "", 0),
        ("console", "", 3),
        ("toml", "x.toml", 0),
    ]
    assert commands(found[0].text) == ["echo a \\\n  b", "false"]
    with pytest.raises(AssertionError, match="false"):
        execute(found[0], tmp_path, {}, environment())
    execute(found[1], tmp_path, {}, environment())


@pytest.mark.parametrize("file", sorted(ROOT.glob("examples/*.toml")), ids=lambda file: file.name)
def test_every_example_runs(file: Path) -> None:
    # Shortened: an example shows how to say something, its results are not tested here. Not with a warm-up, before which
    # its flows do not begin.
    scenario = roamsim.load(file)
    warm_up = any(access.get("warm_up", "0s") != "0s" for access in json.loads(scenario.canonical).get("dect", []))
    duration_s = scenario.duration_s if warm_up else min(scenario.duration_s, 60.0)
    assert roamsim.run(scenario, set={"scenario.duration": f"{duration_s:g}s"}).events > 0
