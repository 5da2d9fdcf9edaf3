"""`--shard` of commands: run a share of the runs and keep it, for `roamsim merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamsim.cli.streams import say, tell_path
from roamsim.errors import UsageError

if TYPE_CHECKING:
    from roamsim.running.shards import Shard
    from roamsim.storing.store import Results


def share(text: str | None, out: str | None, *, printed: bool = False) -> Shard:
    """The share that `--shard` names; without the option, all runs.

    Raises:
        UsageError: it is no share, it has no folder, or its results were to be printed as JSON or CSV.
    """
    from roamsim.running.shards import ALL, Shard

    if text is None:
        return ALL
    shard = Shard.parse(text)
    if out is None or printed:
        raise UsageError(
            "a shard has no results before it is merged with the others: it needs --out DIR"
            + (", and prints neither --json nor --csv" if printed else "")
        )
    return shard


def tell_of(shard: str, results: Results, out: str | None) -> None:
    """Says how many runs of the share were made, and the next step."""
    from roamsim.tables.words import count

    points = results.manifest.points
    runs = sum(point.replications for point in points)
    say(
        f"shard {shard} of {count(len(points), 'point')}, {count(runs, 'run')}: {results.made} made now; "
        "when all are made: roamsim merge DIR... --out OUT"
    )
    tell_path(out or "")
