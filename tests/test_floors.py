"""Which way imports run inside of the rooms: a file imports from its own floor and from those below it.

Lazy imports, inside of functions, count, and so do those for types alone and names of modules in texts: they bind two
files together as much as others do. Within a floor no two files import each other, over however many steps.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: The floors of a room, the lowest first, each with the files and folders that stand on it.
Floors = Sequence[tuple[str, ...]]

#: docs/architecture.md says what lives on each.
PYTHON: Floors = (
    ("_roamsim", "errors", "files", "statistics", "theory"),
    ("scenarios", "scenario"),
    ("tables",),
    ("storing",),
    ("running",),
    ("estimates",),
    ("pages", "pictures"),
    ("technologies",),
    ("reports",),
    ("results", "answers"),
    ("world",),
    ("live",),
    ("study",),
    ("studies",),
    ("api", ""),  # the package itself, whose names stand for what lies in the floors
    ("cli", "__main__"),
)

Imports = Mapping[str, set[str]]
"""The files of a room by name, `storing.store`, with those that each imports."""


def imports_of_python(package: Path) -> dict[str, set[str]]:
    """The imports of a package's files among themselves."""
    files = {}
    for path in sorted(package.rglob("*.py")):
        steps = list(path.relative_to(package).with_suffix("").parts)
        files[".".join(steps[:-1] if steps[-1] == "__init__" else steps)] = path
    known = {*files, "_roamsim"}
    # What the package gives under its own name stands for where it lies.
    homes = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(files[""].read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def found(whole: str) -> str | None:
        """The file that a whole name, `roamsim.storing.store.Results`, lies in; none for what is another package's."""
        first, _, rest = whole.partition(".")
        if first != package.name:
            return None
        while rest and rest not in known:
            rest, _, last = rest.rpartition(".")
            if not rest and last in homes and homes[last] != whole:
                return found(homes[last])
        return rest

    imports = {}
    for name, path in files.items():
        said = texts(path)
        places = {found(whole) for whole in imported(path, f"{package.name}.{name}")}
        places |= {other for other in known if f"{package.name}.{other}" in said}
        imports[name] = {place for place in places if place is not None} - {name}
    return imports


def imported(path: Path, module: str) -> Iterator[str]:
    """The whole names that a file imports, anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # From a file `a.b` one dot leads to `a`; from the package `a.b`, whose file is `__init__`, to itself.
            steps = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
            base = steps[: len(steps) - node.level + 1] if node.level else []
            yield from (".".join([*base, *filter(None, (node.module, alias.name))]) for alias in node.names)


def texts(path: Path) -> set[object]:
    """The texts in a file, which may be names of modules."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant)}


def floor(floors: Floors, name: str) -> int:
    """The number of the floor that a file stands on."""
    (number,) = (n for n, places in enumerate(floors) if name.partition(".")[0] in places)
    return number


def upward(floors: Floors, imports: Imports) -> list[str]:
    """The imports that lead to a floor above."""
    return [
        f"{name or 'the package'} imports {other or 'the package'}, which stands above it"
        for name, others in imports.items()
        for other in sorted(others)
        if floor(floors, other) > floor(floors, name)
    ]


HOUSE = imports_of_python(ROOT / "python" / "roamsim")


def test_every_file_stands_on_one_floor() -> None:
    for name in HOUSE:
        floor(PYTHON, name)
    there = {name.partition(".")[0] for name in HOUSE} | {"_roamsim"}
    assert {place for places in PYTHON for place in places} == there


def test_no_import_leads_upward() -> None:
    assert upward(PYTHON, HOUSE) == []


def test_no_files_import_each_other() -> None:
    graphlib.TopologicalSorter(HOUSE).prepare()


@pytest.mark.parametrize(
    "line",
    [
        "from roamsim.upper import b",
        "def f():\n    from roamsim.upper.b import thing",
        "def f():\n    import roamsim.upper.b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from roamsim.upper import b",
        "from ..upper import b",
        "from roamsim import thing",
        "HOME = 'roamsim.upper.b'",
    ],
)
def test_an_import_upward_is_found(line: str, tmp_path: Path) -> None:
    package = tmp_path / "roamsim"
    for folder in ("upper", "lower"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").touch()
    (package / "__init__.py").write_text("if True:\n    from roamsim.upper.b import thing\n")
    (package / "upper" / "b.py").write_text("from roamsim.lower import a\nthing = 1\n")
    (package / "lower" / "a.py").write_text(line)
    floors = (("lower",), ("upper",), ("",))
    found = imports_of_python(package)
    assert found["upper.b"] == {"lower.a"}
    assert upward(floors, found) == ["lower.a imports upper.b, which stands above it"]
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(found).prepare()


def unmarked(crates: Path) -> list[str]:
    """The Rust files with tests that neither lie in `tests` nor have them in a module of that name."""
    return sorted(
        str(path.relative_to(crates))
        for path in crates.rglob("src/**/*.rs")
        if "#[test]" in (text := path.read_text(encoding="utf-8"))
        and "tests" not in path.relative_to(crates).with_suffix("").parts
        and "mod tests {" not in text
    )


def test_rust_tests_are_marked_as_tests(tmp_path: Path) -> None:
    assert unmarked(ROOT / "crates") == []
    source = tmp_path / "network" / "src"
    (source / "tests").mkdir(parents=True)
    for name in ("roaming.rs", "tests/roaming.rs", "tests.rs"):
        (source / name).write_text("#[test]\nfn roams() {}\n")
    assert unmarked(tmp_path) == ["network/src/roaming.rs"]
