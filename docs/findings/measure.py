"""The findings: questions that the publications leave open, answered by commands whose numbers fill the sentences.

    python docs/findings/measure.py [--quick] [--again] [--jobs N] [RUN ...]

`NAME.toml` has the questions about a study: the commands (`[run]`), and sentences as Jinja templates over their
numbers. This program executes the commands that have no numbers yet, keeps their numbers in `NAME.json`, and writes
`NAME.md` and `index.md`. `--again` executes the named commands, or all, once more. `--quick` executes them with two
replications, prints the answers, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from roamsim.statistics import Estimate, share
from roamsim.study.judging import number, with_interval

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
STUDIES = ("mih-transport", "mih-handover", "tcp-dect", "tcp-wifi-mobility", "sctp-mobile-ip")
#: Replications of a short look: the least that a comparison takes.
QUICK = ("--replications", "2")
#: Significant digits that are kept, so that a page shows the numbers and a test compares them.
DIGITS = 6
#: Share of a mean below which the width of its interval is left out (chosen: four digits are shown).
EVEN = 1e-4
#: Columns of a command on a page.
WIDTH = 110
#: Between the first sentence of an answer and the next.
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z0-9`])")
#: What templates may call.
TEMPLATES = ("mean", "share", "share_of_all", "gain", "less", "value", "at")
#: Page titles of what two chapters and the index contain.
ASKED = "What the publication asked next"
TODAY = "What it would conclude today"

HEAD = """\
The five reproduced publications ended with open questions. These pages answer them with runs, and say which published
conclusions still hold with the transports, queues and radios of today.

- *13 ± 4 Mb/s* is a mean and its 95 % interval over replications.
- *+13 % (9 to 17)* is a paired change: both sides meet the same random draws. If the interval contains 0, the runs
  show no difference.
- Expect one interval of twenty to miss its value.
- An answer holds for the named scenario. *Depends on* lists the other settings that were tried: seeds, speeds,
  loads, distances, delays and loss in bursts.

`python docs/findings/measure.py --again` executes all commands and writes these pages.
"""


class Stale(Exception):
    """A command has no numbers, or numbers of another command."""


def declared(name: str) -> dict[str, Any]:
    """The questions about a study, as `NAME.toml` has them."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def kept(name: str) -> dict[str, Any]:
    """The numbers of each of its commands, as `NAME.json` has them."""
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def studies() -> list[str]:
    """The studies that have questions."""
    return [name for name in STUDIES if (FOLDER / f"{name}.toml").exists()]


def execute(command: str, *more: str, jobs: int = 1) -> dict[str, Any]:
    """The numbers that a command prints.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    arguments = [*shlex.split(command), *more, "--jobs", str(jobs), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "roamsim", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, f"roamsim {command}", done.stdout, done.stderr)
    found = json.loads(done.stdout)
    # Each value has a row against the first value, and one against the value before it.
    first = found["means"][0]["value"]
    found["differences"] = [row for row in found["differences"] if row["against"] == first]
    replications = int(arguments[len(arguments) - arguments[::-1].index("--replications")])
    return {
        "command": command,
        "replications": replications,
        **{part: rounded(_lean(found[part])) for part in ("means", "differences")},
    }


def _lean(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows without columns that no sentence asks for, and names that all rows share."""
    unused = {"against", "verdict"}
    unused |= {key for key in ("name", "direction") if len({row.get(key) for row in rows}) == 1}
    return [{key: value for key, value in row.items() if key not in unused} for row in rows]


def rounded(value: Any) -> Any:
    """The same with numbers of `DIGITS` significant digits; null where there is none."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if abs(value) < float("inf") else None
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return {key: rounded(part) for key, part in value.items()} if isinstance(value, dict) else value


class Numbers:
    """What the sentences may ask of the numbers of a study's commands.

    A row is named by labels: the last part of its metric, its value, and the values of further `--vary`. A label is
    the whole text or its last words; behind `~` any part of it. The labels must fit exactly one row.
    """

    def __init__(self, runs: Mapping[str, Any]) -> None:
        self.runs = runs

    def _row(self, part: str, run: str, labels: Sequence[Any]) -> Mapping[str, Any]:
        if run not in self.runs:
            raise Stale(f"no command {run!r} was executed")
        rows = [row for row in self.runs[run][part] if all(_fits(row, str(label)) for label in labels)]
        if len(rows) != 1:
            raise KeyError(f"{run}: {len(rows)} rows of {part} have {', '.join(map(str, labels))}")
        return dict(rows[0])

    def value(self, run: str, *labels: Any, scale: float = 1.0) -> float:
        """A mean as a number, for arithmetic."""
        return float(self._row("means", run, labels)["mean"]) * scale

    def mean(self, run: str, *labels: Any, scale: float = 1.0) -> str:
        """A mean with its interval."""
        row = self._row("means", run, labels)
        if None not in (row["low"], row["high"]) and row["high"] - row["low"] <= EVEN * abs(row["mean"]):
            return number(row["mean"] * scale)
        low, high = (float("nan") if row[end] is None else row[end] * scale for end in ("low", "high"))
        return with_interval(Estimate(row["mean"] * scale, low, high, row["samples"]))

    def at(self, run: str, metric: str, value: str, key: str, other: str, scale: float) -> str:
        """A mean with its interval, by the value of the comparison and that of a further `--vary`."""
        rows = [
            row
            for row in self.runs[run]["means"]
            if row["metric"].endswith(f".{metric}")
            and f" {row['value']}".endswith(f" {value}")
            and str(row[key]) == other
        ]
        if len(rows) != 1:
            raise KeyError(f"{run}: {len(rows)} rows have {metric}, {value} and {key} = {other}")
        low, high = (rows[0][end] * scale for end in ("low", "high"))
        return with_interval(Estimate(rows[0]["mean"] * scale, low, high, rows[0]["samples"]))

    def share(self, run: str, *labels: Any) -> str:
        """The share of replications that have the row, in percent, with Wilson's interval."""
        rows = [row for row in self.runs[run]["means"] if all(_fits(row, str(label)) for label in labels)]
        if len(rows) > 1:
            raise KeyError(f"{run}: {len(rows)} rows of means have {', '.join(map(str, labels))}")
        trials = self.runs[run]["replications"]
        there = rows[0]["samples"] if rows else 0
        return _percent(there, trials)

    def share_of_all(self, run: str, *labels: Any) -> str:
        """The share of replications that have any of the rows, of which no replication has two."""
        rows = [row for row in self.runs[run]["means"] if all(_fits(row, str(label)) for label in labels)]
        trials, there = self.runs[run]["replications"], sum(row["samples"] for row in rows)
        if there > trials:
            raise KeyError(f"{run}: rows of {', '.join(map(str, labels))} do not exclude each other")
        return _percent(there, trials)

    def gain(self, run: str, *labels: Any) -> str:
        """The change from the first value of the comparison, in percent."""
        row = self._row("differences", run, labels)
        return _range(row["relative"], row["relative_low"], row["relative_high"], 100.0, " %")

    def less(self, run: str, *labels: Any, scale: float = 1.0, unit: str = "") -> str:
        """The same change in the unit of the metric."""
        row = self._row("differences", run, labels)
        return _range(row["difference"], row["difference_low"], row["difference_high"], scale, f" {unit}".rstrip())


#: Columns of a row that are numbers, and no labels.
_MEASURED = ("mean", "low", "high", "samples", "missing", "pairs", "difference", "relative")


def _percent(there: int, trials: int) -> str:
    found = share([int(at < there) for at in range(trials)], [1] * trials)
    return f"{found.mean:.0%} ({found.low:.0%} to {found.high:.0%})".replace("%", " %")


def _fits(row: Mapping[str, Any], label: str) -> bool:
    texts = [str(value) for key, value in row.items() if not key.startswith(_MEASURED)]
    if label.startswith("~"):
        return any(label[1:] in text for text in texts)
    return row["metric"].endswith(f".{label}") or any(text == label or text.endswith(f" {label}") for text in texts)


def _range(middle: float | None, low: float | None, high: float | None, scale: float, unit: str) -> str:
    if middle is None:
        raise Stale("a difference is not a number")
    if low is None or high is None:
        return f"{_short(middle * scale)}{unit}"
    if low == high:
        return f"{_short(middle * scale)}{unit} in every replication"
    digits = max(0, 1 - _magnitude(max(abs(low), abs(high)) * scale))
    least, mean, most = (f"{round(part * scale, digits) + 0.0:.{digits}f}" for part in (low, middle, high))
    sign = "+" if middle > 0 else ""
    return f"{sign}{mean}{unit} ({least} to {most})"


def _short(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"


def _magnitude(value: float) -> int:
    return int(f"{value:.0e}".split("e")[1])


def filled(template: str, numbers: Numbers) -> str:
    """A sentence with its numbers, as one line of Markdown; lists and paragraphs keep theirs."""
    names = {name: getattr(numbers, name) for name in TEMPLATES}
    text = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(template).render(names)
    return " ".join(text.split())


def shown(command: str) -> str:
    """A command on a page, in lines."""
    words = re.findall(r"(?:'[^']*'|\S)+", f"roamsim {command}")
    parts: list[str] = []
    for word in words:  # an option and its value stay together
        if parts and parts[-1].startswith("--") and " " not in parts[-1] and not word.startswith("--"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) > WIDTH - 4:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".strip()
    return "$ " + " \\\n    ".join(lines)


def chapters(name: str, runs: Mapping[str, Any]) -> Iterator[str]:
    """The page of a study."""
    data, numbers = declared(name), Numbers(runs)
    yield f"# Questions after `{name}`\n"
    yield f"<!-- Written by docs/findings/measure.py from {name}.toml and {name}.json. -->\n"
    yield "\n".join(textwrap.wrap(" ".join(data["about"].split()), WIDTH)) + "\n"
    yield f"The study: [{name}](../../python/roamsim/studies/{name}/README.md). [All questions](index.md).\n"
    yield f"## {ASKED}\n"
    printed: set[str] = set()
    for entry in data["question"]:
        yield f"### {entry['asked']}\n"
        yield f"**{filled(entry['answer'], numbers)}**\n"
        for key, head in (("why", "Why"), ("depends", "Depends on"), ("open", "Open")):
            if isinstance(entry.get(key), str):
                yield f"- **{head}:** {filled(entry[key], numbers)}"
            elif key in entry:
                yield f"- **{head}:**"
                yield from (f"  - {filled(item, numbers)}" for item in entry[key])
        yield ""
        for table in entry.get("table", ()):
            yield from _table(table, numbers)
        for table in entry.get("map", ()):
            yield from _map(table, numbers)
        new = [run for run in entry.get("runs", ()) if run not in printed]
        if new:
            yield from _commands(new, data["run"])
        elif entry.get("runs"):
            yield "By commands above.\n"
        else:
            yield "By arithmetic, without a run.\n"
        printed.update(new)
    yield f"## {TODAY}\n"
    if not data.get("today"):
        yield "No run of today's transports yet.\n"
        return
    yield "| sentence | in the study | now | why |\n|---|---|---|---|"
    for row in data["today"]:
        yield "| " + " | ".join(filled(row[key], numbers) for key in ("sentence", "then", "now", "why")) + " |"
    yield ""
    used = dict.fromkeys(run for row in data["today"] for run in row["runs"])
    if printed.intersection(used):
        yield "Commands of the questions above give some of these numbers.\n"
    if new := [run for run in used if run not in printed]:
        yield from _commands(new, data["run"])


def _table(table: Mapping[str, Any], numbers: Numbers) -> Iterator[str]:
    """Rows of sentences."""
    yield f"{table['title']}:\n"
    yield "| " + " | ".join(table["columns"]) + " |"
    yield "|---" * len(table["columns"]) + "|"
    for row in table["rows"]:
        yield "| " + " | ".join(filled(cell, numbers) for cell in row) + " |"
    yield ""


def _map(table: Mapping[str, Any], numbers: Numbers) -> Iterator[str]:
    """A metric by the values of the comparison (rows) and of a further `--vary` (columns)."""
    yield f"{table['title']}:\n"
    yield f"| {table['corner']} | " + " | ".join(table["columns"]) + " |"
    yield "|---" * (1 + len(table["columns"])) + "|"
    for value in table["rows"]:
        cells = [
            numbers.at(table["run"], table["metric"], value, table["key"], other, table.get("scale", 1.0))
            for other in table["columns"]
        ]
        yield f"| {value} | " + " | ".join(cells) + " |"
    yield ""


def _commands(used: Sequence[str], declared_runs: Mapping[str, str]) -> Iterator[str]:
    yield f"<details><summary>{'Command' if len(used) == 1 else f'{len(used)} commands'}</summary>\n"
    yield "<!-- not-run: tests/test_findings.py checks it and executes some in full -->"
    yield "```console"
    yield from (shown(declared_runs[run]) for run in used)
    yield "```\n\n</details>\n"


def index(all_runs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The page of all questions, with the first sentence of each answer."""
    yield "# Questions that publications left open\n"
    yield "<!-- Written by docs/findings/measure.py. -->\n"
    yield HEAD
    for name, runs in all_runs.items():
        data, numbers = declared(name), Numbers(runs)
        yield f"## {name}\n"
        yield f"[Numbers, dependences and commands]({name}.md).\n"
        yield "| question | answer |\n|---|---|"
        for entry in data["question"]:
            anchor = re.sub(r"[^\w\- ]", "", entry["asked"].lower()).replace(" ", "-")
            answer = SENTENCE_END.split(filled(entry["answer"], numbers), 1)[0]
            yield f"| [{entry['asked']}]({name}.md#{anchor}) | {answer} |"
        yield ""
    pages = "\n".join(all_runs)
    yield f"```{{toctree}}\n:hidden:\n\n{pages}\n```"


def pages() -> dict[Path, str]:
    """Each page with its text, from the questions and the numbers that are kept.

    Raises:
        Stale: a command has no numbers, or numbers of another command.
    """
    all_runs = {}
    for name in studies():
        all_runs[name] = kept(name)
        for run, command in declared(name)["run"].items():
            if all_runs[name].get(run, {}).get("command") != command:
                raise Stale(f"{name}: execute {run}")
    texts = {FOLDER / f"{name}.md": chapters(name, runs) for name, runs in all_runs.items()}
    texts[FOLDER / "index.md"] = index(all_runs)
    return {file: "\n".join(lines).rstrip() + "\n" for file, lines in texts.items()}


def main() -> None:
    """Executes what is missing or named, and writes the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="*", metavar="RUN", help="names of commands; all unless given")
    parser.add_argument("--quick", action="store_true", help="two replications, and nothing is written")
    parser.add_argument("--again", action="store_true", help="also those that have numbers")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    asked = parser.parse_args()
    for name in studies():
        commands, numbers = declared(name)["run"], {} if asked.quick else kept(name)
        numbers = {run: found for run, found in numbers.items() if run in commands}
        for run, command in commands.items():
            fresh = numbers.get(run, {}).get("command") == command and not asked.again and not asked.quick
            if fresh or (asked.runs and run not in asked.runs):
                continue
            sys.stderr.write(f"{name}: {run}\n")
            try:
                numbers[run] = execute(command, *(QUICK if asked.quick else ()), jobs=asked.jobs)
            except subprocess.CalledProcessError as error:
                sys.exit(f"{error.cmd}\n{error.stderr}")
            if not asked.quick:
                text = json.dumps({key: numbers[key] for key in commands if key in numbers}, separators=(",", ":"))
                text = re.sub(r'(\{"metric"|"(?:means|differences)"|"[\w-]+":\{"command")', r"\n\1", text)
                (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        if asked.quick:
            for entry in declared(name)["question"]:
                if entry.get("runs") and all(run in numbers for run in entry["runs"]):
                    try:
                        answer = filled(entry["answer"], Numbers(numbers))
                    except KeyError:  # a row of an outcome that no replication had
                        answer = "Two replications give no answer."
                    sys.stdout.write(f"{entry['asked']}\n  {answer}\n")
    if not asked.quick:
        try:
            for file, text in pages().items():
                file.write_text(text, encoding="utf-8")
        except Stale as missing:
            sys.exit(f"no page was written: {missing}")


if __name__ == "__main__":
    main()
