"""Merges the shards of a sweep or a study."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from roamsim._roamsim import build
from roamsim.errors import UsageError
from roamsim.storing.manifests import Manifest, StudyManifest, read_manifest
from roamsim.storing.parts import Parts, run_key
from roamsim.storing.remote import fetched, is_url
from roamsim.storing.rows import SweepTables
from roamsim.storing.store import forget_drawn, refuse_other_files, write_tables, writing


@dataclass(frozen=True)
class Merged:
    """What merging has made.

    Attributes:
        manifest: of the merged folder.
        taken: runs that were not there before.
        missing: runs of a sweep that no folder has; a study's are found by the study itself.
    """

    manifest: Manifest | StudyManifest
    taken: int
    missing: int


def merge(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Merged:
    """Puts the finished runs of folders into one, which may hold some of them already.

    Nothing is run, and the folders stay as they are. Runs that several of them have are taken once.

    Args:
        folders: what `roamsim sweep --shard` or `roamsim study run --shard` wrote, by one command but for the shard;
            or URLs of such.
        out: the folder of them all: a new one, or one that was merged before.

    Raises:
        UsageError: a folder holds no shard, or one of another campaign; nothing was written.
        Damaged: a folder is not as Roamsim left it.
    """
    if is_url(out):
        raise UsageError(f"{os.fspath(out)}: what is merged goes to a folder of this machine")
    with ExitStack() as open_places:
        return _merged(
            [
                open_places.enter_context(fetched(os.fspath(folder))) if is_url(folder) else Path(folder)
                for folder in folders
            ],
            Path(out),
        )


def _merged(folders: Sequence[Path], target: Path) -> Merged:
    read = [(folder, _manifest(folder)) for folder in folders]
    if not read:
        raise UsageError("name the folders that are to be merged")
    first_folder, manifest = read[0]
    for folder, other in read[1:]:
        _require_alike(first_folder, manifest, folder, other)
    found = [Parts(folder) for folder, _ in read if folder.resolve() != target.resolve()]
    with writing(target):
        held = read_manifest(target)
        if held is None:
            refuse_other_files(target)
        else:
            _require_alike(target, held, first_folder, manifest)
        all_of_them = _together([*([held] if held else []), *(other for _, other in read)])
        # What is killed halfway is a folder that the same command goes on with.
        all_of_them.write(target)
        parts = Parts(target, mend=True)
        taken = sum(parts.take(other) for other in found)
        parts.put_together()
        missing = 0
        if isinstance(all_of_them, Manifest):
            if taken:
                forget_drawn(target)
            write_tables(target, SweepTables(target, all_of_them, parts))
            missing = _missing(all_of_them, parts)
    return Merged(all_of_them, taken, missing)


def _manifest(folder: Path) -> Manifest | StudyManifest:
    named = os.fspath(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {named!r}")
    manifest = read_manifest(folder)
    if manifest is None:
        raise UsageError(f"{named!r} holds no results")
    if manifest.kind == "run":
        raise UsageError(f"{named!r} holds a run, which has no shards; sweeps and studies are merged")
    if manifest.build != build():
        raise UsageError(
            f"another build of Roamsim made {named!r}; runs of two builds cannot share a table, so merge it "
            "with the build that made it"
        )
    return manifest


#: What has to be the same in folders of one campaign, and how it is called.
_OF_SWEEPS: dict[str, Callable[[Manifest], object]] = {
    "another scenario or other settings": lambda manifest: manifest.canonical,
    "other values": lambda manifest: [(list(point.values.items()), point.fingerprint) for point in manifest.points],
    "another seed": lambda manifest: manifest.seed,
    "other traces": lambda manifest: manifest.traces,
    "samples of another sensitivity": lambda manifest: manifest.sampled,
}
_OF_STUDIES: dict[str, Callable[[StudyManifest], object]] = {
    "another study": lambda manifest: (manifest.study, manifest.own),
    "another level": lambda manifest: manifest.level,
    "another seed": lambda manifest: manifest.seed,
}


def _require_alike(
    folder: Path, manifest: Manifest | StudyManifest, other_folder: Path, other: Manifest | StudyManifest
) -> None:
    """Refuses two folders of different campaigns."""
    differs: str | None = None
    if isinstance(manifest, Manifest) and isinstance(other, Manifest):
        differs = next((what for what, of in _OF_SWEEPS.items() if of(manifest) != of(other)), None)
    elif isinstance(manifest, StudyManifest) and isinstance(other, StudyManifest):
        differs = next((what for what, of in _OF_STUDIES.items() if of(manifest) != of(other)), None)
    else:
        differs = f"a {other.kind}, not a {manifest.kind}"
    if differs:
        raise UsageError(
            f"{os.fspath(other_folder)!r} is not a shard of the campaign of {os.fspath(folder)!r}: it holds {differs}"
        )


def _together(manifests: Sequence[Manifest | StudyManifest]) -> Manifest | StudyManifest:
    """The manifest of all: of each point the most replications that one of them asked for."""
    first = manifests[0]
    if isinstance(first, StudyManifest):
        of_studies = [one.made_with for one in manifests if isinstance(one, StudyManifest)]
        # Of the machines, and of the time that each took, nothing is said of all of them.
        shared: dict[str, str | int | float] = {
            name: value
            for name, value in first.made_with.items()
            if isinstance(value, str) and all(one.get(name) == value for one in of_studies)
        }
        return replace(first, made_with=shared)
    sweeps = [one for one in manifests if isinstance(one, Manifest)]
    points = [
        replace(point, replications=max(one.points[number].replications for one in sweeps))
        for number, point in enumerate(first.points)
    ]
    return replace(first, points=points, command=_without_shard(first.command))


def _without_shard(command: Sequence[str]) -> list[str]:
    """The command of a shard, changed so that it makes all runs."""
    before = ["", *command]
    return [
        word
        for earlier, word in zip(before, command, strict=False)
        if not (word.startswith("--shard") or earlier == "--shard")
    ]


def _missing(manifest: Manifest, parts: Parts) -> int:
    recorded: list[Sequence[str]] = [(), manifest.traces] if manifest.traces else [()]
    wanted = [
        (run_key(point.fingerprint, manifest.seed, traces), 1 if traces else point.replications)
        for point in manifest.points
        for traces in recorded
    ]
    return sum(not parts.has(key, replication) for key, count in wanted for replication in range(count))
