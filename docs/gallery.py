"""The gallery of the documentation: every example and study, with its picture, question, command and report.

    python docs/gallery.py [NAME ...]

writes Markdown pages, pictures and reports into `docs/gallery/`, from where `make docs` takes them. Examples run in
full, studies in their quick look: some three minutes of processor time the first time. Later calls run only what has
changed: the text of an example, files of a study, the build of the simulator.
"""

from __future__ import annotations

import hashlib
import html
import re
import shutil
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
from roamsim.study.figures import specification

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


def build(example: Example) -> tuple[str, str]:
    """Runs an example and writes its page; gives its title and its question."""
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
    return example.title, first_sentence(words)


def picture_of(outcome: study.Outcome) -> str:
    """The study's headline as SVG, or its first figure where the headline is a table."""
    defined = outcome.study
    made = outcome.pictures.get(defined.headline)
    if isinstance(made, str):
        return made
    if made is None:
        figures = [one for one in defined.figures if one.id in outcome.figures]
        figure = next((one for one in figures if one.id == defined.headline), figures[0])
        made = specification(figure, outcome.figures[figure.id])
    # On a telephone the right end of a picture is out of sight.
    config = {"background": "white", "legend": {"orient": "bottom"}}
    drawn: str = vl_convert.vegalite_to_svg({**made, "width": WIDTH, "config": config})
    return drawn


def build_study(name: str, folder: Path) -> tuple[str, str]:
    """Takes a quick look at a study and writes its page; gives its title and its question."""
    defined = study.load(folder)
    question = " ".join(defined.question.split())
    picture, report = GALLERY / f"study-{name}.svg", REPORTS / f"study-{name}.html"
    stamp = GALLERY / f"study-{name}.stamp"
    files = sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    read = b"".join(file.read_bytes() for file in files)
    key = hashlib.sha256(f"{_roamsim.version()} {_roamsim.build()}\n".encode() + read).hexdigest()
    if not (stamp.exists() and stamp.read_text() == key and report.exists()):
        print(f"running study {name}", file=sys.stderr)  # noqa: T201
        outcome = study.run(folder, level="quick", out=GALLERY / f"runs/{name}")
        shutil.copyfile(outcome.report, report)
        picture.write_text(picture_of(outcome), encoding="utf-8")
        stamp.write_text(key)
    page = [
        f"# {defined.title}",
        question,
        f"![{defined.title}: the main figure of the quick look]({picture.name})",
        f'<p><a href="../../{report.name}">The interactive report of this quick look</a></p>',
        f"```console\n$ roamsim study run {name} --quick\n$ roamsim study run {name}\n```",
        f"[The study's page](../../python/roamsim/studies/{name}/README.md) has the results of the full run, the "
        "choices and what differs from the publication.",
    ]
    (GALLERY / f"study-{name}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    return defined.title, question


def card(name: str, title: str, question: str, command: str = "") -> str:
    """A card of the overview; a run in which nothing happens has no picture."""
    pictured = (GALLERY / f"{name}.svg").exists()
    picture = f'<img src="../../_images/{name}.svg" alt="" loading="lazy">' if pictured else ""
    told = f"<b>{html.escape(title)}</b><span>{html.escape(question)}</span>"
    shown = f"<code>{html.escape(command)}</code>" if command else ""
    return f'<a class="card" href="{name}.html">{picture}{told}{shown}</a>'


def main(names: list[str]) -> None:
    """Builds the pages of the named examples and studies, or of all, and their overview."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    chosen = [found for found in examples() if not names or found.name in names]
    published = {name: folder for name, folder in study.available().items() if not names or name in names}
    cards = [card(example.name, *build(example)) for example in chosen]
    studies = [
        card(f"study-{name}", *build_study(name, folder), f"roamsim study run {name} --quick")
        for name, folder in published.items()
    ]
    listed = "\n".join([*(found.name for found in chosen), *(f"study-{name}" for name in published)])
    (GALLERY / "index.md").write_text(
        "# Gallery\n\nEvery example and study of the package, run when this site was built. Each page has the "
        "question, the picture, the commands and the interactive report. [Studies](#studies) follow the examples.\n\n"
        '<div class="gallery">\n' + "\n".join(cards) + "\n</div>\n\n"
        "## Studies\n\nEach reproduces a publication. The pictures are of quick looks.\n\n"
        '<div class="gallery">\n' + "\n".join(studies) + "\n</div>\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
