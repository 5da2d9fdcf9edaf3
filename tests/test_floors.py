"""Which way imports run inside of each crate and of the package: a module imports from its own floor and from those
below it, and never in a circle.

The floors are the tables "Floors of ..." of docs/architecture.md, the ground first. In a crate a module is a file or a
folder of `src`; whatever stands in its paths counts, tests included. In the package it is a file: lazy imports, inside
of functions, count, and so do those for types alone and names of modules in texts, which bind two files together as
much as others do.
"""

from __future__ import annotations

import ast
import graphlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: The floors of a room, the lowest first, each with the files and folders that stand on it.
Floors = Sequence[tuple[str, ...]]

Imports = Mapping[str, set[str]]
"""The modules of a room by name, of the package `storing.store`, with those that each imports."""


def tables(page: str) -> dict[str, Floors]:
    """The floors that a page lists, by what its headings say they are of."""
    found = {}
    for section in re.split(r"^#+ ", page, flags=re.MULTILINE):
        heading, _, text = section.partition("\n")
        if heading.startswith("Floors of "):
            cells = re.findall(r"^\| (`[^|]*) \|", text, flags=re.MULTILINE)
            found[heading.removeprefix("Floors of ")] = [tuple(re.findall("`([^`]+)`", cell)) for cell in cells]
    return found


TOKEN = re.compile(
    r'//[^\n]*|r(?P<raw>#+)".*?"(?P=raw)|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|(?P<token>\w+|::|\S)', re.DOTALL
)


def tokens(text: str) -> list[str]:
    """Words and signs of Rust, without comments and without what stands in quotes."""
    return [found["token"] for found in TOKEN.finditer(text) if found["token"]]


def paths(words: Sequence[str], at: int) -> tuple[list[list[str]], int]:
    """How a path goes on at a place, which braces may divide; and where that ends. A new name is not part of it."""
    if words[at : at + 1] != ["::"]:
        return [[]], at
    at += 1
    if words[at] != "{":
        rests, end = paths(words, at + 1)
        return [[words[at], *rest] for rest in rests], end
    found: list[list[str]] = []
    while words[at] != "}":
        at += 1
        if words[at] == "}":
            break
        rests, end = paths(words, at + 1)
        found += [[words[at], *rest] for rest in rests]
        while words[end] not in {",", "}"}:
            end += 1
        at = end
    return found, at + 1


def named(module: Sequence[str], text: str) -> Iterator[list[str]]:
    """The paths from the crate's root that the text of a module names."""
    words = tokens(text)
    # Modules within the file: their names, and at which depth of braces each began.
    inner: list[tuple[str, int]] = []
    depth = 0
    for at, word in enumerate(words):
        if word == "{":
            depth += 1
            if at >= 2 and words[at - 2] == "mod":
                inner.append((words[at - 1], depth))
        elif word == "}":
            if inner and inner[-1][1] == depth:
                inner.pop()
            depth -= 1
        elif (
            word in {"crate", "super", "self"} and words[at - 1 : at] != ["::"] and words[at - 2 : at] != ["(", "in"]
        ):
            here = [*module, *(name for name, _ in inner)]
            base = [] if word == "crate" else here[:-1] if word == "super" else here
            # A word that stands alone says who may see something, or is a value.
            for path in filter(None, paths(words, at + 1)[0]):
                climbs = next((steps for steps, step in enumerate(path) if step != "super"), len(path))
                yield base[: len(base) - climbs] + path[climbs:]


def given(text: str) -> dict[str, str]:
    """By the names that the root of a crate or of a folder gives, the modules where they lie."""
    words = tokens(text)
    found = {}
    for at, word in enumerate(words):
        if word == "use":
            # As if the name of the crate stood before it.
            for path in paths(["::", *words[at + 1 :]], 0)[0]:
                steps = [step for step in path if step not in {"crate", "self"}]
                found[steps[-1]] = steps[0]
    return found


def given_by_folder(module: Sequence[str], text: str, files: Mapping[tuple[str, ...], Path]) -> Iterator[list[str]]:
    """The paths that a folder's own file imports from the files of the folder, by their bare names."""
    words = tokens(text)
    for at, word in enumerate(words):
        if word == "use":
            for path in paths(["::", *words[at + 1 :]], 0)[0]:
                if path and (*module, path[0]) in files:
                    yield [*module, *path]


def files_of_rust(source: Path, *, strict: bool = True) -> dict[str, set[str]]:
    """The imports among the files of a crate, by their modules. A name that a module gives counts as its own.

    If it is not strict, tests do not count, nor does what a file takes from the `mod.rs` of a folder around it.
    """
    files = {}
    for path in sorted(source.rglob("*.rs")):
        steps = path.relative_to(source).with_suffix("").parts
        if strict or "tests" not in steps:
            files[steps[:-1] if steps[-1] in {"mod", "lib"} else steps] = path
    homes = given(files[()].read_text(encoding="utf-8"))
    imports: dict[str, set[str]] = {}
    for module, path in files.items():
        found = imports["::".join(module)] = set()
        text = path.read_text(encoding="utf-8")
        if not strict:
            text = text.partition("#[cfg(test)]\nmod tests {")[0]
        for path_of_name in (*named(module, text), *given_by_folder(module, text, files)) if module else ():
            steps = tuple(path_of_name)
            if steps and steps[:1] not in files:
                steps = (homes.get(steps[0], ""),)
            while steps not in files:
                steps = steps[:-1]
            if strict or module[: len(steps)] != steps:
                found.add("::".join(steps))
        found -= {"", "::".join(module)}
    return imports


def imports_of_rust(source: Path, folder: str = "") -> dict[str, set[str]]:
    """The imports among the modules of a crate, or of a folder of it."""
    top = source / folder
    start = list(Path(folder).parts)
    root = top / ("mod.rs" if folder else "lib.rs")
    homes = given(root.read_text(encoding="utf-8"))
    imports: dict[str, set[str]] = {
        path.stem: set() for path in top.iterdir() if path != root and (path.is_dir() or path.suffix == ".rs")
    }
    for path in sorted(top.rglob("*.rs")):
        if path == root:
            continue
        module = list(path.relative_to(source).with_suffix("").parts)
        own = module[len(start)]
        if module[-1] == "mod":
            module.pop()
        for steps in named(module, path.read_text(encoding="utf-8")):
            if steps[: len(start)] == start and len(steps) > len(start):
                name = steps[len(start)]
                imports[own].add(name if name in imports else homes.get(name, ""))
    return {name: (others & set(imports)) - {name} for name, others in imports.items()}


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
    """The number of the floor that a module stands on."""
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


def rooms() -> dict[str, Imports]:
    """Whatever has floors, by the words of the page."""
    crates = {name: ROOT / "crates" / name / "src" for name in ("engine", "protocols", "network", "quic", "scenario")}
    return {
        "the package": imports_of_python(ROOT / "python" / "roamsim"),
        **{f"`{name}`": imports_of_rust(source) for name, source in crates.items()},
        "`network/src/link`": imports_of_rust(crates["network"], "link"),
    }


ROOMS = rooms()
PAGE = tables((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))


def floors_of(room: str) -> Floors:
    """The floors of a room by the names of its modules: without the slash of a folder, the package itself empty."""
    return [tuple(name.rstrip("/") if name != "roamsim" else "" for name in floor) for floor in PAGE[room]]


def test_the_page_has_the_floors_of_every_room() -> None:
    assert set(PAGE) == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_stands_on_one_floor(room: str) -> None:
    there = {name.partition(".")[0] for name in ROOMS[room]} | ({"_roamsim"} if room == "the package" else set())
    listed = sorted(name for floor in floors_of(room) for name in floor)
    assert listed == sorted(there), f'docs/architecture.md, "Floors of {room}", lists other modules than there are'


@pytest.mark.parametrize("room", ROOMS)
def test_no_import_leads_upward(room: str) -> None:
    assert upward(floors_of(room), ROOMS[room]) == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_modules_import_each_other(room: str) -> None:
    graphlib.TopologicalSorter(ROOMS[room]).prepare()


def test_no_files_of_scenarios_import_each_other() -> None:
    graphlib.TopologicalSorter(files_of_rust(ROOT / "crates" / "scenario" / "src")).prepare()


CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/src"))


@pytest.mark.parametrize("crate", CRATES)
def test_no_files_of_a_crate_import_each_other(crate: str) -> None:
    graphlib.TopologicalSorter(files_of_rust(ROOT / "crates" / crate / "src", strict=False)).prepare()


def test_a_circle_of_files_is_found_also_through_the_folder_of_one(tmp_path: Path) -> None:
    test = "#[cfg(test)]\nmod tests {\n use crate::room::upper::Upper;\n}\n"
    files = {
        "lib.rs": "mod room; mod tests;",
        "room/mod.rs": "mod lower; mod upper; pub use lower::Lower; struct Room;",
        "room/lower.rs": "use super::Room; pub struct Lower;" + "\n" + test,
        "room/upper.rs": "use super::Lower; pub struct Upper;",
        "tests/mod.rs": "use crate::room::Room;",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    # What a folder's own file defines, and tests, make no circle.
    graphlib.TopologicalSorter(files_of_rust(tmp_path, strict=False)).prepare()
    (tmp_path / "other.rs").write_text("use crate::room::Lower;")
    (tmp_path / "room" / "lower.rs").write_text("use crate::other::Other;")
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(files_of_rust(tmp_path, strict=False)).prepare()


def test_a_page_lists_floors_in_tables() -> None:
    page = "# Page\n### Floors of `a`\nFrom the ground up:\n\n| floor | holds |\n|---|---|\n| `x`, `y/` | `n` |\n| `z` | n |\n"
    assert tables(page + "## Other\n| `q` | n |\n") == {"`a`": [("x", "y/"), ("z",)]}


def test_imports_of_rust_are_found_however_they_are_written(tmp_path: Path) -> None:
    text = """
        use crate::{
            flow::{Association, Flow},
            socket::SocketId, world,
        };
        use super::super::handover as other;
        use super::wired::Wire;
        fn f<'a>() -> crate::recorder::Recorder { let _ = ("crate::capture", '"', r#"crate::"capture"#); }
        // use crate::signalling;
        mod tests {
            use super::super::Link;
            use super::super::super::network::Network;
            mod inner { use super::super::super::super::application; }
        }
        use super::super::{queue, drops::Dropped};
        use crate::World;
    """
    files = {
        "lib.rs": "pub mod flow;\npub use self::given::{World, Other as Another};",
        "link/mod.rs": "",
        "link/dect.rs": text,
        "link/wired.rs": "use crate::link::dect::Dect;",
    }
    found = ["application", "drops", "flow", "given", "handover", "network", "queue", "recorder", "socket", "world"]
    files |= {f"{name}.rs": "use crate::World;" for name in (*found, "capture", "signalling")}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    imports = imports_of_rust(tmp_path)
    assert sorted(imports["link"]) == found
    assert imports["flow"] == {"given"}
    assert imports_of_rust(tmp_path, "link") == {"dect": {"wired"}, "wired": {"dect"}}
    assert files_of_rust(tmp_path)["link::wired"] == {"link::dect"}
    assert "link::wired" in files_of_rust(tmp_path)["link::dect"]


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


def test_kept_runs_are_told_apart_by_every_crate_that_they_go_through() -> None:
    """A crate that `build.rs` leaves out may change, and runs of the old one would be reused."""
    digested = re.search(r"const CRATES: .* = \[(.*)\];", (ROOT / "crates/python/build.rs").read_text())
    assert digested
    passed: set[str] = set()
    following = ["scenario"]
    while following:
        crate = following.pop()
        passed.add(crate)
        manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
        own = [name.removeprefix("roamsim-") for name in manifest["dependencies"] if name.startswith("roamsim-")]
        following += [name for name in own if name not in passed]
    assert set(re.findall(r'"(\w+)"', digested[1])) == passed | {"python"}
