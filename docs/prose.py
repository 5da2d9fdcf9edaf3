"""Checks the prose of pages and messages, as far as a program can.

    python docs/prose.py [--words] [FILE ...]

It finds sentences of more than 30 words, sentences with three passives or more, and the phrases of `docs/prose.toml`.
It reads Markdown pages, messages of the Python package and of the Rust crates, docstrings of the public API, and
`metrics.toml`. Code counts as one word. Headings, code blocks and HTML are left out. A list item and a table cell are
texts of their own. So is each item of a list within a sentence: three items or more, with semicolons between them.

`docs/prose.toml` lists the files that still have findings, with their number. A file fails if it has more. It also
fails if it has none, until its line is removed. Named files are checked without regard to the list.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "docs/prose.toml"

LONGEST_SENTENCE_WORDS = 30
PASSIVES_OF_A_CHAIN = 3
#: A string of fewer words is a name, a key or a fragment that the program puts into a message.
SHORTEST_MESSAGE_WORDS = 5

ABBREVIATIONS = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bFig)(?<!\bSec)(?<!\bNo)(?<!\bal)(?<!\bp)(?<!\bpp)"
SENTENCE_END = re.compile(rf"{ABBREVIATIONS}[.!?][\"')\]”’]*\s+(?=[\"'(\[“‘]*(?:[A-Z0-9§]|ns-\d))")
WORD = re.compile(r"[A-Za-z0-9][\w'’.,/%+-]*")
IRREGULAR = (
    "begun built chosen done drawn driven found given held kept known laid led left lost made meant met paid put read"
    " run said seen sent set shown spent stood taken taught thrown told thought understood written"
).replace(" ", "|")
PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being)(?: (?:not|also|then|only|never|always|thus|again|\w+ly))?"
    rf" (?:\w{{2,}}ed|{IRREGULAR})\b",
    re.IGNORECASE,
)
CODE = "Code"

#: Modules whose docstrings users read: the public API, and the command line, whose help they are.
DOCUMENTED = (
    "__init__.py answers.py api.py errors.py results.py statistics.py cli/answers.py cli/app.py cli/campaigns.py"
    " cli/examples.py cli/options.py cli/shards.py cli/study.py running/checking.py running/memory.py"
    " scenarios/reading.py storing/merging.py study/__init__.py pictures/timesequence.py"
)


@dataclass(frozen=True)
class Finding:
    """One sentence that a person should write again."""

    file: Path
    line: int
    problem: str
    sentence: str

    def __str__(self) -> str:
        return f"{os.path.relpath(self.file, ROOT)}:{self.line}: {self.problem}: {self.sentence}"


def shown(token: Token) -> str:
    """The text of a paragraph, item or cell as a reader sees it; code and mathematics as one word."""
    parts = []
    for part in token.children or ():
        if part.type in ("code_inline", "image"):
            parts.append(CODE)
        elif part.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif part.type == "text":
            parts.append(part.content)
    return re.sub(r"\$[^$]+\$", CODE, "".join(parts))


def of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items and table cells, each with its line."""
    previous = ""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "inline" and previous != "heading_open":
            yield (token.map[0] + 1 if token.map else 0), shown(token)
        previous = token.type


def of_python(text: str, docstrings: bool) -> Iterator[tuple[int, str]]:
    """Strings that are long enough to be messages, and docstrings if they are wanted."""
    tree = ast.parse(text)
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    inside = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(tree):
        if isinstance(node, described):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                inside.add(id(first.value))
            if docstrings and (said := ast.get_docstring(node)):
                yield from ((getattr(node, "lineno", 1), each) for each in paragraphs(said))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(v.value if isinstance(v, ast.Constant) else CODE for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield from ((node.lineno, each) for each in paragraphs(node.value))


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, arguments and list items, without examples."""
    text = re.sub(r"^ *(?:>>>|\.\.\.).*$", "", text, flags=re.MULTILINE)
    return re.split(r"\n\s*\n|\n\s*(?=[-*] |[\w, ]+: )|(?<=:)\n", text)


def of_rust(text: str) -> Iterator[tuple[int, str]]:
    """Strings outside of tests that are long enough to be messages."""
    text = text.partition("#[cfg(test)]\nmod ")[0]
    for found in re.finditer(r'//[^\n]*|\'"\'|b?"((?:[^"\\]|\\.)*)"', text, re.DOTALL):
        if found[1]:
            said = re.sub(r"\\\n\s*", "", found[1])
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"\{[^}]*\}", CODE, said)


def of_toml(text: str) -> Iterator[tuple[int, str]]:
    """Every string of a file of descriptions."""

    def strings(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for each in value.values():
                yield from strings(each)
        elif isinstance(value, list):
            for each in value:
                yield from strings(each)

    for said in strings(tomllib.loads(text)):
        place = text.find(said[:40])
        yield text.count("\n", 0, max(place, 0)) + 1, said


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """What a file says to people, each text with its line."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return of_python(text, file in [ROOT / "python/roamsim" / name for name in DOCUMENTED.split()])
    return {".md": of_markdown, ".rs": of_rust, ".toml": of_toml}[file.suffix](text)


def sentences(text: str) -> list[str]:
    """The sentences of a text without its line breaks; what stands behind a colon belongs to the sentence."""
    text = re.sub(r"`[^`]*`", CODE, " ".join(text.split()))
    found, start = [], 0
    for end in SENTENCE_END.finditer(text):
        found.append(text[start : end.end()].strip())
        start = end.end()
    return [*found, text[start:].strip()]


def longest(sentence: str) -> int:
    """The words of a sentence; of a list with semicolons those of its longest item."""
    items = sentence.split("; ")
    return max(len(WORD.findall(item)) for item in (items if len(items) > 2 else [sentence]))


def check(file: Path, phrases: dict[str, str]) -> list[Finding]:
    """What a person should write again in a file."""
    findings = []
    messages = file.suffix in (".py", ".rs")
    for line, text in texts(file):
        if messages and len(WORD.findall(text)) < SHORTEST_MESSAGE_WORDS:
            continue
        for sentence in sentences(text):
            words, passives = longest(sentence), len(PASSIVE.findall(sentence))
            if words > LONGEST_SENTENCE_WORDS:
                findings.append(Finding(file, line, f"{words} words", sentence))
            if passives >= PASSIVES_OF_A_CHAIN:
                findings.append(Finding(file, line, f"{passives} passives", sentence))
            for phrase, instead in phrases.items():
                if found := re.search(phrase, sentence):
                    findings.append(Finding(file, line, f"'{found[0]}' ({instead})", sentence))
    return findings


def pages() -> list[Path]:
    """The Markdown pages that a person reads; without the gallery, which examples make."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("python/roamsim/studies/**/README.md")]
    return sorted(page for page in found if "gallery" not in page.parts)


def files() -> list[Path]:
    """Every file that is checked."""
    # `scenario.py` is generated from the schema, as `docs/reference/scenario.md` is.
    generated = ROOT / "python/roamsim/scenario.py"
    package = [f for f in ROOT.glob("python/roamsim/**/*.py") if "studies" not in f.parts and f != generated]
    crates = [file for file in ROOT.glob("crates/*/src/**/*.rs") if "test" not in file.stem]
    return [*pages(), *sorted(package), *sorted(crates), ROOT / "python/roamsim/tables/metrics.toml"]


def main(arguments: list[str]) -> int:
    """Checks the files, prints findings, and returns 1 if a file has more of them than it may have."""
    parser = argparse.ArgumentParser(description="Checks the prose of pages and messages.")
    parser.add_argument("files", nargs="*", type=Path, help="check these without regard to docs/prose.toml")
    parser.add_argument("--words", action="store_true", help="count the words of every page, and check nothing")
    options = parser.parse_args(arguments)
    if options.words:
        for page in pages():
            print(f"{len(page.read_text(encoding='utf-8').split()):6} {page.relative_to(ROOT)}")
        return 0
    rules = tomllib.loads(RULES.read_text(encoding="utf-8"))
    allowed: dict[str, int] = {} if options.files else dict(rules["not_yet"])
    wrong = 0
    for file in [named.resolve() for named in options.files] or files():
        name = os.path.relpath(file, ROOT)
        findings, most = check(file, rules["phrases"]), allowed.pop(name, 0)
        if len(findings) > most:
            wrong += 1
            print(*findings, sep="\n")
            if most:
                print(f"{name}: {len(findings)} findings; docs/prose.toml allows {most}")
        elif most and not findings:
            wrong += 1
            print(f"docs/prose.toml: remove {name}, it has no findings")
    for name in allowed:
        wrong += 1
        print(f"docs/prose.toml: remove {name}, there is no such file")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
