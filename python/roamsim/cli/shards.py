"""What commands do with `--shard`: a share of the runs is made and kept, and what they tell is told when all are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamsim.cli.streams import say, tell_path
from roamsim.errors import UsageError

if TYPE_CHECKING:
    from roamsim.running.shards import Shard
    from roamsim.storing.store import Results


def share(text: str | None, out: str | None, *, printed: bool = False) -> Shard:
    """What `--shard` says; everything where it is not given.

    Raises:
        UsageError: it is no share, it has no folder, or its results were to be printed as JSON or CSV.
    """
    from roamsim.running.shards import ALL, Shard

    if text is None:
        return ALL
    shard = Shard.parse(text)
    if out is None or printed:
        raise UsageError(
            "a shard is merged with the others before anything is told of it: it needs --out DIR"
            + (", and prints neither --json nor --csv" if printed else "")
        )
    return shard


def tell_of(shard: str, results: Results, out: str | None) -> None:
    """Says what of a share was made, and what is next."""
    points = results.manifest.points
    runs = sum(point.replications for point in points)
    say(
        f"shard {shard} of {len(points)} points, {runs} runs: {results.made} made now; "
        "when all are made: roamsim merge DIR... --out OUT"
    )
    tell_path(out or "")
