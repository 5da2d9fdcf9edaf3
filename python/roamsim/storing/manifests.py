"""Manifests of folders of results: contents and origin. Only this module reads and checks them.

A folder may come from anywhere. What leaves `read_manifest` has the types that its classes say, names that fit
together, and text that can be written; whatever else a manifest holds is refused with the place that is wrong.
"""

from __future__ import annotations

import json
import os
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from roamsim._roamsim import trace_kinds
from roamsim.errors import UsageError
from roamsim.files import read_whole, write_whole
from roamsim.scenarios.notation import rewritten
from roamsim.scenarios.ranges import Choice, as_range, as_varied
from roamsim.scenarios.vary import quantity

MANIFEST = "manifest.json"

#: Number of the layout of folders; one of another layout is refused.
LAYOUT = 2

#: Octets of a manifest that are read (chosen: that of 10^6 points has a third of it), and the depth of its tree
#: (chosen: a scenario needs ten).
MOST_BYTES, MOST_DEPTH = 2**30, 100


def duration_s(canonical: Mapping[str, Any]) -> float | None:
    """How long a run of a scenario lasts; `None` where its duration cannot be read."""
    told = canonical.get("scenario", {}).get("duration")
    read = quantity(told) if isinstance(told, str) else None
    return read[0] if read and read[0] > 0 else None


class Damaged(UsageError):
    """A folder of results is not as Roamsim leaves it."""


@dataclass
class PointEntry:
    """One point of a sweep, as its manifest keeps it.

    Attributes:
        values: for each varied path its value, as `notation.written` writes it.
        shown: the same as tables show it.
        fingerprint: of the point's scenario and the build.
        replications: how many belong to the result.
    """

    values: dict[str, str]
    shown: dict[str, int | float | bool | str]
    fingerprint: str
    replications: int


@dataclass
class Compared:
    """What `compare` compared.

    Attributes:
        over: the varied path.
        values: its values that were compared, as points have them.
        baseline: the one that the others were compared with.
        metrics: `TABLE.COLUMN` or `TABLE.NAME.COLUMN` each.
    """

    over: str
    values: list[str]
    baseline: str
    metrics: list[str]


@dataclass
class Sampled:
    """What `sensitivity` sampled.

    Attributes:
        method: `sobol` or `morris`.
        metrics: `TABLE.COLUMN` or `TABLE.NAME.COLUMN` each.
        ranges: of each varied path, as `LOW:HIGH:STEP`.
        samples: base samples of Sobol's method, trajectories of Morris'.
        replications: of each point that count.
        rows: of each row of the design, in its order, the number of its point.
    """

    method: str
    metrics: list[str]
    ranges: dict[str, str]
    samples: int
    replications: int
    rows: list[int]


@dataclass
class Searched:
    """What `optimise` searched for.

    Attributes:
        metric: `TABLE.COLUMN` or `TABLE.NAME.COLUMN`.
        goal: `maximise` or `minimise`.
        ranges: of each varied path, as `LOW:HIGH:STEP`, or its choices as `A,B,C`.
        replications: of each trial.
        fresh: further replications that confirm the winner.
        trials: of each trial, in its order, the number of its point; `None` where the scenario was not valid.
        as_written: the point of the scenario as it was given.
        winner: the point that was best in the search; `None` until it is finished.
        runner_up: the second best, where there is any.
    """

    metric: str
    goal: str
    ranges: dict[str, str]
    replications: int
    fresh: int
    trials: list[int | None]
    as_written: int
    winner: int | None = None
    runner_up: int | None = None


@dataclass
class Manifest:
    """What a folder of a run or a sweep holds and how it came about.

    Attributes:
        kind: `run` or `sweep`; `roamsim compare` writes a sweep.
        scenario: name of the scenario.
        text: its text, as given.
        canonical: its tree after `--set`, before anything was varied.
        version: of the simulator.
        seed: of every run.
        command: how to get these results again.
        build: digest of the simulator's sources.
        vary: values of each varied path, as points have them.
        precision: what was asked for, such as `flows.goodput_bps to 0.02`.
        unmet: the points, by their values, that are not that precise after the most replications.
        traces: what was recorded of the first replication of each point of a sweep.
        compared: what `roamsim compare` compared.
        sampled: what `roamsim sensitivity` sampled.
        searched: what `roamsim optimise` searched for.
        points: in the order of the `point` column.
        tables: of a run, the digest (SHA-256) of each table's file.
        layout: number of the layout.
    """

    kind: str
    scenario: str
    text: str
    canonical: dict[str, Any]
    version: str
    seed: int
    command: list[str]
    build: str = ""
    vary: dict[str, list[str]] = field(default_factory=dict)
    precision: str | None = None
    unmet: list[dict[str, str]] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    compared: Compared | None = None
    sampled: Sampled | None = None
    searched: Searched | None = None
    points: list[PointEntry] = field(default_factory=list)
    tables: dict[str, str] = field(default_factory=dict)
    layout: int = LAYOUT

    def duration_s(self, point: int) -> float | None:
        """How long each run of a point lasts; `None` where that cannot be read."""
        varied = self.points[point].values.get("scenario.duration")
        return duration_s({"scenario": {"duration": varied} if varied else self.canonical["scenario"]})

    def write(self, folder: Path) -> None:
        """Writes the manifest, whole or not at all."""
        _write(self, folder)

    def rewrite(self) -> None:
        """Writes its values as `notation.written` does, whoever wrote them before."""

        def each(values: Mapping[str, str]) -> dict[str, str]:
            return {path: rewritten(value) for path, value in values.items()}

        self.vary = {path: list(dict.fromkeys(map(rewritten, values))) for path, values in self.vary.items()}
        self.unmet = [each(values) for values in self.unmet]
        for point in self.points:
            point.values = each(point.values)
        if self.compared is not None:
            self.compared.values = list(dict.fromkeys(map(rewritten, self.compared.values)))
            self.compared.baseline = rewritten(self.compared.baseline)

    def faults(self) -> Iterator[str]:
        """What does not fit together."""
        paths = set(self.vary)
        if self.kind == "run" and (len(self.points) != 1 or paths):
            yield "points: a run has one, and nothing varied"
        if not self.points:
            yield "points: there is none"
        values = {path: set(of_path) for path, of_path in self.vary.items()}
        for number, point in enumerate(self.points):
            if set(point.values) != paths or set(point.shown) != paths:
                yield f"points[{number}]: its values are not those of the varied paths"
            elif any(value not in values[path] for path, value in point.values.items()):
                yield f"points[{number}].values: one is not among those in vary"
            if any(isinstance(shown, int) and not -(2**63) <= shown < 2**63 for shown in point.shown.values()):
                yield f"points[{number}].shown: a number has more than 64 bits"
            if not 0 <= point.replications <= 10**9:
                yield f"points[{number}].replications: {point.replications}"
        if any(not path or path in _RUN_COLUMNS for path in paths):
            yield "vary: a path is the name of another column"
        unknown = [kind for kind in self.traces if kind not in trace_kinds()]
        if unknown:
            yield f"traces: there is no {unknown[0]!r}"
        about = self.canonical.get("scenario")
        if not isinstance(about, dict) or not isinstance(about.get("duration"), str):
            yield "canonical: it is no scenario"
        if self.compared is not None:
            yield from self._faults_of(self.compared)
        if self.sampled is not None:
            yield from self._faults_of_samples(self.sampled)
        if self.searched is not None:
            yield from self._faults_of_search(self.searched)

    def _faults_of(self, compared: Compared) -> Iterator[str]:
        if compared.over not in self.vary:
            yield f"compared.over: nothing was varied there: {compared.over!r}"
            return
        there = {point.values.get(compared.over) for point in self.points}
        if len(compared.values) < 2 or not set(compared.values) <= there or compared.baseline not in compared.values:
            yield "compared.values: they are not those of the points"
        if not compared.metrics:
            yield "compared.metrics: there is none"

    def _faults_of_samples(self, sampled: Sampled) -> Iterator[str]:
        paths = len(sampled.ranges)
        rows = {"sobol": paths + 2, "morris": paths + 1}.get(sampled.method)
        if rows is None:
            yield f"sampled.method: there is no {sampled.method!r}"
        elif paths < 1 or len(sampled.rows) != sampled.samples * rows or sampled.samples < 2:
            yield "sampled.rows: they are not those of so many samples"
        yield from self._faults_of_ranges("sampled.ranges", sampled.ranges)
        if not all(0 <= row < len(self.points) for row in sampled.rows):
            yield "sampled.rows: there is no such point"
        if not sampled.metrics or not 1 <= sampled.replications <= 10**9:
            yield "sampled: it has no metric or no replication"

    def _faults_of_search(self, searched: Searched) -> Iterator[str]:
        if searched.goal not in ("maximise", "minimise"):
            yield f"searched.goal: there is no {searched.goal!r}"
        yield from self._faults_of_ranges("searched.ranges", searched.ranges, choices=True)
        if not (1 <= searched.replications <= 10**9 and 2 <= searched.fresh <= 10**9):
            yield "searched.replications: there are too few"
        numbers = [searched.as_written, searched.winner, searched.runner_up, *searched.trials]
        if not all(number is None or 0 <= number < len(self.points) for number in numbers):
            yield "searched: there is no such point"
        if not {searched.winner, searched.runner_up} <= {None, *searched.trials}:
            yield "searched.winner: it is of no trial"

    def _faults_of_ranges(self, where: str, ranges: dict[str, str], *, choices: bool = False) -> Iterator[str]:
        if set(ranges) != set(self.vary):
            yield f"{where}: they are not those of the varied paths"
        for path, text in ranges.items():
            try:
                varied = as_varied(path, text) if choices else as_range(path, text)
                whole = isinstance(varied, Choice) or varied.step > 0
            except UsageError:
                whole = False
            if not whole:
                yield f"{where}: {text!r} is no range with its step"


#: Columns that every table has before those of what was varied.
_RUN_COLUMNS = ("scenario", "point", "replication", "seed")


@dataclass
class StudyManifest:
    """What a folder of a study holds.

    Attributes:
        kind: `study`.
        study: its name.
        own: whether it was the user's own; else it is one of the package. A folder never says where code lies.
        level: how much of it was run.
        seed: of every run.
        version: of the simulator.
        build: digest of the simulator's sources.
        command: how to get these results again.
        made_with: commit, build and machine, where they are known, and the time that the runs took.
        layout: number of the layout.
    """

    kind: str
    study: str
    own: bool
    level: str
    seed: int
    version: str
    build: str
    command: str
    made_with: dict[str, str | int | float] = field(default_factory=dict)
    layout: int = LAYOUT

    def write(self, folder: Path) -> None:
        """Writes the manifest, whole or not at all."""
        _write(self, folder)

    def faults(self) -> Iterator[str]:
        """What does not fit together."""
        if self.level not in ("quick", "full"):
            yield f"level: there is no {self.level!r}"


def _write(manifest: Manifest | StudyManifest, folder: Path) -> None:
    text = json.dumps(asdict(manifest), indent=2, ensure_ascii=False)
    # Of arguments of the command that are no text, such as names of files, a ? stands for each octet.
    write_whole(folder / MANIFEST, text.encode(errors="replace"))


def read_manifest(folder: Path) -> Manifest | StudyManifest | None:
    """The manifest of a folder; `None` where there is none.

    Raises:
        Damaged: it cannot be read, or is none of this layout.
    """
    path = folder / MANIFEST
    try:
        tree = json.loads(read_whole(path, MOST_BYTES), parse_constant=_no_number)
        json.dumps(tree, ensure_ascii=False).encode()  # text that no file can hold
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Damaged(f"{path} cannot be read: {error.strerror or error}") from None
    except UsageError as error:
        raise Damaged(str(error)) from None
    except (ValueError, RecursionError, MemoryError):
        raise _no_manifest(path, "it is no JSON") from None
    if not isinstance(tree, dict) or _depth(tree) > MOST_DEPTH:
        raise _no_manifest(path, "its tree is none of a manifest")
    if tree.get("layout") != LAYOUT:
        raise _no_manifest(path, "another version wrote it")
    kinds = {"run": Manifest, "sweep": Manifest, "study": StudyManifest}
    kind = kinds.get(str(tree.get("kind")))
    if kind is None:
        raise _no_manifest(path, f"kind: there is no {tree.get('kind')!r}")
    try:
        manifest: Manifest | StudyManifest = _typed(kind, tree, "")
    except _Misfit as misfit:
        raise _no_manifest(path, str(misfit)) from None
    if isinstance(manifest, Manifest):
        manifest.rewrite()
    if not 0 <= manifest.seed < 2**64:
        raise _no_manifest(path, f"seed: {manifest.seed}")
    for fault in manifest.faults():
        raise _no_manifest(path, fault)
    return manifest


def results_manifest(folder: Path) -> Manifest | None:
    """The manifest of a run or a sweep; `None` where there is none.

    Raises:
        Damaged: it cannot be read, or is none of this layout.
        UsageError: the folder holds a study.
    """
    manifest = read_manifest(folder)
    if isinstance(manifest, StudyManifest):
        raise UsageError(
            f"{os.fspath(folder)!r} holds a study; `roamsim report` shows its figures, `roamsim query` its runs"
        )
    return manifest


def study_manifest(folder: str | os.PathLike[str]) -> StudyManifest | None:
    """The manifest of a study's folder; `None` for other folders.

    Raises:
        Damaged: it cannot be read, or is none of this layout.
    """
    manifest = read_manifest(Path(folder))
    return manifest if isinstance(manifest, StudyManifest) else None


def _no_manifest(path: Path, why: str) -> Damaged:
    return Damaged(f"{path} is no manifest of this version ({why}): make the results again, in a new folder")


def _no_number(text: str) -> float:
    raise ValueError(text)


class _Misfit(ValueError):
    """A place of a tree that is not of the type it should be of; the text names both."""


_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _typed(expected: Any, value: Any, where: str) -> Any:
    """A value of JSON as an instance of a type: a class with fields, a list, a mapping, alternatives, a scalar."""
    if expected is Any:
        return value
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        for one in arguments:
            try:
                return _typed(one, value, where)
            except _Misfit as misfit:
                wrong = misfit
        raise wrong
    if origin is list and isinstance(value, list):
        return [_typed(arguments[0], entry, f"{where}[{number}]") for number, entry in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {key: _typed(arguments[1], entry, f"{where}.{key}") for key, entry in value.items()}
    if isinstance(expected, type) and is_dataclass(expected) and isinstance(value, dict):
        hints = _hints(expected)
        for key in value:
            if key not in hints:
                raise _Misfit(f"{where}.{key}".lstrip(".") + ": there is no such key")
        for one in fields(expected):
            if one.name not in value and one.default is MISSING and one.default_factory is MISSING:
                raise _Misfit(f"{where}.{one.name}".lstrip(".") + ": it is missing")
        return expected(**{key: _typed(hints[key], entry, f"{where}.{key}") for key, entry in value.items()})
    if type(value) is expected or (type(value) is int and expected is float):
        return value
    words = _WORDS.get(expected, "nothing" if expected is type(None) else "a list" if origin is list else "a table")
    raise _Misfit(f"{where.lstrip('.')}: {words} belongs there")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _depth(tree: Any) -> int:
    depth, level = 0, [tree]
    while level and depth <= MOST_DEPTH:
        depth += 1
        level = [
            entry
            for node in level
            if isinstance(node, dict | list)
            for entry in (node.values() if isinstance(node, dict) else node)
        ]
    return depth
