"""The examples that come with the package: scenarios to start from, with the files that they read."""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from roamsim.errors import UsageError

#: The examples of the package; `examples` in a source tree is a link to this folder.
EXAMPLES = Path(__file__).parents[1] / "examples"

#: The JSON Schema of scenarios (`make generated`). Editors complete and check keys by it.
SCHEMA = Path(__file__).with_name("scenario.schema.json")


@dataclass(frozen=True)
class Example:
    """A scenario of the package."""

    name: str
    """Its file's name without the ending."""
    text: str
    """The TOML text."""

    @property
    def title(self) -> str:
        """The name that the scenario gives itself."""
        return str(tomllib.loads(self.text)["scenario"]["name"])

    @property
    def path(self) -> Path:
        """Where it lies."""
        return EXAMPLES / f"{self.name}.toml"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it reads, relative to its folder."""
        quoted = dict.fromkeys(re.findall(r'"([^"\n]+/[^"\n]+)"', self.text))
        return tuple(path for path in quoted if (EXAMPLES / path).is_file())

    @property
    def copy(self) -> str:
        """The text for a file of one's own: its first line names the schema for editors."""
        return with_schema(self.text)


def copy_files(chosen: Example, to: Path) -> None:
    """Copies the files that an example reads into a folder, unless one is there already.

    Raises:
        UsageError: a file of that name has other contents.
    """
    for name in chosen.files:
        target = to / name
        if target.exists():
            if target.read_bytes() != (EXAMPLES / name).read_bytes():
                raise UsageError(f"{target} exists already, and is another file; choose another folder")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(EXAMPLES / name, target)


def with_schema(text: str) -> str:
    """A scenario whose first line names the schema, as TOML language servers read it (`#:schema URL`)."""
    return f"#:schema {SCHEMA.as_uri()}\n{text}"


def examples() -> list[Example]:
    """All examples, by name."""
    return [
        Example(file.stem, file.read_text(encoding="utf-8"))
        for file in sorted(EXAMPLES.glob("*.toml"), key=lambda file: file.stem)
    ]


def example(name: str) -> Example:
    """The example of this name.

    Raises:
        UsageError: there is none; the error names the nearest.
    """
    known = {found.name: found for found in examples()}
    if found := known.get(name.removesuffix(".toml")):
        return found
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"there is no example {name!r}; {hint}`roamsim examples` lists them")
