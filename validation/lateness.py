"""How late packets were, from what `roamsim live` says at the end."""

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(\d+) packets to programs; lateness: median ([\d.]+) ms, 99\.9th percentile ([\d.]+) ms, maximum [\d.]+ ms"
    r".*; ([\d.]+) s of processor time"
)


@dataclass(frozen=True)
class Lateness:
    """Packets to programs, their lateness, and the simulation's processor time."""

    packets: int
    median_ms: float
    p999_ms: float
    processor_s: float


def lateness(stderr: str) -> Lateness:
    """What a run said."""
    found = _LINE.search(stderr)
    if found is None:
        raise RuntimeError(f"roamsim live does not say how late packets were:\n{stderr}")
    return Lateness(int(found[1]), float(found[2]), float(found[3]), float(found[4]))
