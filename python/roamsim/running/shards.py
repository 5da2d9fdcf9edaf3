"""Shards of a campaign: `3/16` is the third of sixteen. The machines that run them need no connection.

Which share a run belongs to is its key's and its replication's affair alone. So the shares of a campaign are disjoint
and make up all of it, whichever machine makes which and whatever is there already; the replications of a point are
spread evenly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from roamsim.errors import UsageError

#: What no number of shares exceeds (chosen: more than a laboratory or a cloud lends).
MOST_SHARES = 100_000


@dataclass(frozen=True)
class Shard:
    """One of several shares.

    Attributes:
        number: which, from 1.
        of: how many there are.
    """

    number: int
    of: int

    @staticmethod
    def parse(text: str) -> Shard:
        """Reads `3/16`.

        Raises:
            UsageError: it is no share.
        """
        match = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
        if match is None:
            raise UsageError(f"a shard is NUMBER/TOTAL, as in 3/16; this is {text!r}")
        number, of = int(match[1]), int(match[2])
        if not 1 <= of <= MOST_SHARES:
            raise UsageError(f"shard {text!r}: the total may be 1 to {MOST_SHARES}")
        if not 1 <= number <= of:
            raise UsageError(f"shard {text!r}: shards of {of} are numbered from 1/{of} to {of}/{of}")
        return Shard(number, of)

    def holds(self, key: str, replication: int) -> bool:
        """Whether a run belongs to it."""
        return (int(key, 16) + replication) % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


#: The share of one who makes everything.
ALL = Shard(1, 1)
