"""Scenarios from files, text or dictionaries, and values that replace parts of them."""

from __future__ import annotations

import copyreg
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from roamsim._roamsim import RunFailed, Scenario, ScenarioError, decode_text
from roamsim.errors import OF_PYTHON, UsageError, missing_extra, words_of_python
from roamsim.files import MOST_BYTES, NoRegularFile, read_whole
from roamsim.scenarios.bundled import EXAMPLES
from roamsim.scenarios.laws import named
from roamsim.scenarios.typed import TypedScenario, plain, value_at


class Source(NamedTuple):
    """Text of a scenario.

    Attributes:
        text: as it was written.
        name: what errors call it by.
        is_json: whether it is JSON rather than TOML.
        folder: where its files lie; that of `name`, or the current one, unless given.
        allow_files_outside: whether it may name files outside of that folder.
    """

    text: str
    name: str
    is_json: bool
    folder: os.PathLike[str] | None = None
    allow_files_outside: bool = False


_Unread = Scenario | TypedScenario | str | os.PathLike[str] | Mapping[str, Any]

#: What the API takes as a scenario: a path, TOML or JSON text, a dictionary, typed objects, one loaded before, or
#: one that was read.
ScenarioLike = _Unread | Source

#: (path, value as TOML) pairs.
Overrides = list[tuple[str, str]]


def load(
    scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None, allow_files_outside: bool = False
) -> Scenario:
    """Reads and validates a scenario.

    Args:
        scenario: a path to a TOML or JSON (`.json`) file, the text itself, a dictionary with the same keys, objects
            of `roamsim.scenario`, or a `Scenario`. A line break, or a brace at the start, marks a text.
        set: values to replace, by dotted path. Array entries go by name or index:
            `{"link.path.loss.probability": 0.05, "flow.0.transport.mss": "1280B"}`.
        allow_files_outside: whether the scenario may name files outside its folder; `set` always may.

    Returns:
        The scenario, ready to run.

    Raises:
        ScenarioError: the scenario is not valid; the message says where, and what to do.
        UsageError: the file is missing or unreadable.
    """
    with in_words_of_python():
        return parse(scenario, overrides(set), allow_files_outside=allow_files_outside)


def of_vary(error: ScenarioError) -> str:
    """An error of varied values, which are set as `--set` sets others. Those of `--set` were checked before."""
    return str(error).replace("[--set:", "[--vary:")


@contextmanager
def in_words_of_python() -> Iterator[None]:
    """Lets errors and notices call arguments by their names in Python (`set`, not `--set`).

    Raises:
        MissingExtra: for a package that an extra brings.
    """
    outside = OF_PYTHON.set(True)
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(str(error).replace("[--set:", "[set:").replace("[--vary:", "[vary:")) from None
    except (UsageError, RunFailed) as error:
        error.args = (words_of_python(str(error)), *error.args[1:])
        raise
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        raise missing from None
    finally:
        OF_PYTHON.reset(outside)


def parse(
    scenario: ScenarioLike, replaced: Overrides, *, color: bool = False, allow_files_outside: bool = False
) -> Scenario:
    """`load` with overrides that are already text."""
    if isinstance(scenario, Scenario) and not replaced:
        return scenario
    return parse_source(source(scenario, allow_files_outside=allow_files_outside), replaced, color=color)


def parse_source(read: Source, replaced: Overrides, *, color: bool = False) -> Scenario:
    """`parse` for a `Source`."""
    return Scenario.parse(
        read.text,
        name=read.name,
        format="json" if read.is_json else "toml",
        overrides=replaced,
        color=color,
        folder=read.folder,
        allow_files_outside=read.allow_files_outside,
    )


# Pickles and copies of a scenario are read again from its text.
copyreg.pickle(Scenario, lambda scenario: (parse_source, (_source(scenario), [])))


def source(scenario: ScenarioLike, *, allow_files_outside: bool = False) -> Source:
    """Reads the text of a scenario; standard input can be read once."""
    read = scenario if isinstance(scenario, Source) else _source(scenario)
    return read._replace(allow_files_outside=read.allow_files_outside or allow_files_outside)


def _source(scenario: _Unread) -> Source:
    if isinstance(scenario, Scenario):
        return Source(scenario.written, scenario.name, True, scenario.folder, scenario.allows_files_outside)
    if isinstance(scenario, Mapping | TypedScenario):
        name = "dictionary" if isinstance(scenario, Mapping) else "Scenario"
        try:
            return Source(json.dumps(plain(scenario), allow_nan=False), name, True)
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioError(f"the {name} does not fit a scenario: {error}") from None
    if isinstance(scenario, str):
        if scenario.lstrip().startswith("{"):
            return Source(scenario, "text", True)
        if "\n" in scenario:
            return Source(scenario, "text", False)
    try:
        path = os.fspath(scenario)
    except TypeError:
        raise UsageError(
            f"a scenario is a path, TOML or JSON text, a dictionary or a Scenario; {scenario!r} is none of them"
        ) from None
    text = _read(path)
    if not text.strip():
        raise ScenarioError(f"{path} is empty; `roamsim init` writes a scenario to start from")
    is_json = path.removesuffix(".gz").endswith(".json") or (path == "-" and text.lstrip().startswith("{"))
    return Source(text, "standard input" if path == "-" else path, is_json)


def _read(path: str) -> str:
    """A scenario file's text; `-` is standard input."""
    try:
        data = _standard_input() if path == "-" else read_whole(path)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path!r}{_instead(path)}") from None
    except IsADirectoryError:
        raise UsageError(f"{path!r} is a folder, not a scenario file") from None
    except NoRegularFile as error:
        raise UsageError(f"{error}; - reads a scenario from standard input, from a pipe too") from None
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"{path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        return decode_text(data).removeprefix("\ufeff")
    except ScenarioError as error:
        raise ScenarioError(f"{path} {error}") from None


def _instead(path: str) -> str:
    """A file of a similar name in that folder, or the bundled example of that name; empty if there is neither."""
    wanted = Path(path)
    try:
        there = [entry.name for entry in wanted.parent.iterdir() if entry.suffix in (".toml", ".json", ".gz")]
    except OSError:
        there = []
    if near := get_close_matches(wanted.name, there, 1):
        return f"; did you mean {os.fspath(wanted.with_name(near[0]))!r}?"
    example = wanted.name.removesuffix(".toml")
    if example in {path.stem for path in EXAMPLES.glob("*.toml")}:
        return f"; `roamsim examples {example} --to .` copies the example of that name"
    return ""


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"standard input has more than {MOST_BYTES} bytes; a scenario has fewer")
    return data


def overrides(values: Mapping[str, Any] | None) -> Overrides:
    """The user's `set`, as the extension module takes it. A file that it names as a class is run."""
    if values is not None and not isinstance(values, Mapping):
        raise UsageError(f"set: {values!r} is not a dictionary, such as {{'link.path.delay': '50ms'}}")
    return replacements({path: named(path, value) for path, value in (values or {}).items()})


def replacements(values: Mapping[str, Any]) -> Overrides:
    """Python values as the extension module takes them: paths and TOML values. Nothing that they name is run."""
    return [(path, value_at(path, value)) for path, value in values.items()]


def parse_setting(text: str) -> tuple[str, str]:
    """Splits `PATH=VALUE` of the command line.

    Raises:
        UsageError: there is no `=`, or nothing before it.
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise UsageError(f"--set takes PATH=VALUE, as in --set link.path.loss.probability=0.05; this is {text!r}")
    return path.strip(), named(path.strip(), value.strip())
