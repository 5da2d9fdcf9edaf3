"""Arguments and options that several commands of `roamsim` share."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roamsim._roamsim import trace_kinds
from roamsim.cli import completion, streams
from roamsim.errors import UsageError

if TYPE_CHECKING:
    from roamsim.scenarios.reading import Overrides


class Kind(StrEnum):
    """A scenario that `roamsim init` writes: the template, or the example of this name."""

    BASIC = "basic"
    PHONE = "phone"


ScenarioFile = Annotated[str, typer.Argument(metavar="FILE", help="Scenario as TOML, or JSON; - reads stdin.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a value; a name or an index selects an array entry. May be repeated.",
        autocompletion=completion.keys,
    ),
]
AllowFilesOutside = Annotated[
    bool,
    typer.Option(
        "--allow-files-outside",
        help="Let the scenario name files outside its folder. --set and --vary always may.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the random streams.")]
Trace = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help=f"Record also: {', '.join(trace_kinds())}. A sweep records the first replication of each point. "
        "Separate by commas, or repeat.",
        autocompletion=completion.traces,
    ),
]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Threads; all processors by default.", min=1)]
ShardOption = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Run only share K of N, for `roamsim merge`.",
    ),
]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        help="dask: processes of this machine; tcp://HOST:PORT: a Dask scheduler. Threads by default.",
    ),
]


TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        help="Stop a run after this time, such as 60s, and try it once more at the end.",
    ),
]


def _limit_memory(size: str | None) -> str | None:
    if size is not None:
        from roamsim.running.memory import limit_memory

        limit_memory(size)
    return size


# Memory is the process's, so the limit is too: the callback sets it, and the commands have nothing to do.
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Limit of memory, such as 8GB; by default three quarters of the machine's memory.",
        callback=_limit_memory,
    ),
]
ResultFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, a sweep or a study.")]
OwnStudy = Annotated[
    Path | None,
    typer.Option("--study", metavar="DIR", help="Folder that defines your own study."),
]


def seconds(option: str, text: str | None) -> float | None:
    """The seconds of an option that takes a time.

    Raises:
        UsageError: the text is not a time.
    """
    from roamsim.scenarios.vary import quantity

    if text is None:
        return None
    number, unit = quantity(text) or (0.0, "")
    if unit != "s":
        raise UsageError(f"{option} takes a time with its unit, as in 1.5s or 200ms; this is {text!r}")
    return number


def overrides(settings: list[str] | None) -> Overrides:
    """The replacements of `--set`."""
    from roamsim.scenarios.reading import parse_setting

    return [parse_setting(text) for text in settings or []]


def color() -> bool:
    """Whether errors of scenarios are coloured."""
    return streams.shows_color()


def command() -> list[str]:
    """The command as it was given, for manifests."""
    return ["roamsim", *sys.argv[1:]]


def next_step(out: str) -> str:
    """The command that shows what a folder or a URL holds."""
    from roamsim.storing.remote import is_url

    return f"roamsim merge {shlex.quote(out)} --out DIR" if is_url(out) else f"roamsim report {shlex.quote(out)}"
