"""The gallery of the documentation: every example run, with its picture, its question, its command and its report.

    python docs/gallery.py [NAME ...]

writes Markdown pages, pictures and reports into `docs/gallery/`, from where `make docs` takes them. An example is run
again only if its text, or the build of the simulator, has changed.
"""

from __future__ import annotations

import hashlib
import html
import re
import sys
import tomllib
from pathlib import Path

import roamsim
import vl_convert
from roamsim import _roamsim, study
from roamsim.reports.run import course_of
from roamsim.reports.run import report as report_of
from roamsim.scenarios.bundled import Example, examples
from roamsim.storing import outputs
from roamsim.storing.store import Results

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs/gallery"
REPORTS = GALLERY / "reports"

#: Width of a picture, in points (chosen: the text of the site is as wide).
WIDTH = 720


def comment(example: Example) -> tuple[str, list[str]]:
    """The text at the head of an example, and the commands in it, for a copy of the example in the same folder."""
    head: list[str] = []
    for line in example.text.splitlines():
        if not line.startswith("#"):
            break
        head.append(line.removeprefix("#"))
    words = " ".join(line.strip() for line in head if not line.startswith("   "))
    # A command may go on behind a backslash.
    indented = "\n".join(line.strip() for line in head if line.startswith("   ")).replace("\\\n", "")
    commands = [line.replace("examples/", "") for line in indented.splitlines() if line.startswith("roamsim ")]
    scenario = tomllib.loads(example.text)["scenario"]
    return words.strip() or scenario.get("description", ""), commands


def first_sentence(text: str) -> str:
    """The sentence that a card shows."""
    return re.split(r"(?<=[^A-Z][.?]) ", text, maxsplit=1)[0]


def draw(results: Results, target: Path) -> None:
    """Draws the report's figure of the run over time; a run in which nothing happens has none."""
    drawn = course_of(results)
    if drawn is None:
        target.unlink(missing_ok=True)
        return
    specification, _ = drawn
    for view in specification["vconcat"]:
        view["width"] = WIDTH
    specification |= {"config": {"background": "white"}}
    target.write_text(vl_convert.vegalite_to_svg(specification), encoding="utf-8")


def build(example: Example) -> tuple[str, str, bool]:
    """Runs an example and writes its page; gives its title, its question and whether it has a picture."""
    words, commands = comment(example)
    picture, report = GALLERY / f"{example.name}.svg", REPORTS / f"{example.name}.html"
    stamp = GALLERY / f"{example.name}.stamp"
    key = hashlib.sha256(f"{_roamsim.version()} {_roamsim.build()}\n{example.text}".encode()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == key and report.exists()):
        print(f"running {example.name}", file=sys.stderr)  # noqa: T201
        scenario = roamsim.load(example.path)
        results = outputs.in_memory(scenario, roamsim.run(scenario), None, example.text, [])
        report_of(results).write(report)
        draw(results, picture)
        stamp.write_text(key)
    shown = [f"roamsim run {example.name}.toml --report {example.name}.html", *commands]
    page = [
        f"# {example.title}",
        words,
        *(
            [f"![{example.title}: rates, windows, queue delays and losses over time]({picture.name})"]
            * picture.exists()
        ),
        f'<p><a href="../../{report.name}">The interactive report of this run</a></p>',
        "```console\n"
        + f"$ roamsim examples {example.name} --to .\n"
        + "\n".join(f"$ {line}" for line in shown)
        + "\n```",
        "```toml\n" + example.text.rstrip() + "\n```",
    ]
    (GALLERY / f"{example.name}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    return example.title, first_sentence(words), picture.exists()


def main(names: list[str]) -> None:
    """Builds the pages of the named examples, or of all, and their overview."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    chosen = [found for found in examples() if not names or found.name in names]
    cards = []
    for example in chosen:
        title, question, pictured = build(example)
        picture = f'<img src="../../_images/{example.name}.svg" alt="" loading="lazy">' if pictured else ""
        cards.append(
            f'<a class="card" href="{example.name}.html">{picture}'
            f"<b>{html.escape(title)}</b><span>{html.escape(question)}</span></a>"
        )
    listed = "\n".join(found.name for found in chosen)
    published = [study.load(folder) for folder in study.available().values()]
    studies = [
        f'<a class="card" href="../../python/roamsim/studies/{one.name}/README.html"><b>{html.escape(one.title)}</b>'
        f"<span>{html.escape(' '.join(one.question.split()))}</span>"
        f"<code>roamsim study run {one.name} --quick</code></a>"
        for one in published
    ]
    (GALLERY / "index.md").write_text(
        "# Gallery\n\nEvery example of the package, run when this site was built. Each page has the scenario, the "
        "command and the interactive report. [Studies](#studies) follow.\n\n"
        '<div class="gallery">\n' + "\n".join(cards) + "\n</div>\n\n"
        "## Studies\n\nEach reproduces a publication; its page has the results of the full run.\n\n"
        '<div class="gallery">\n' + "\n".join(studies) + "\n</div>\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
