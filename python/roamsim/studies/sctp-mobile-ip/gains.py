"""What one protocol receives more than another, at each pair of bandwidths and over several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import fmean

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data

SLOW, FAST, UP_TO_384 = (150, 200), (1000, 2000), (150, 200, 384)
#: The two slowest and the two fastest wires, in kb/s, and those that are the bottleneck beside a fast radio link.
SLOW_WIRES, FAST_WIRES, BOTTLENECK_WIRES = (28.8, 54.0), (1000.0, 1500.0), (28.8, 54.0, 200.0)

Cell = tuple[float, int]
"""Bandwidths of wire and radio in kb/s."""


@cache
def received(data: Data, experiment: str, protocol: str) -> dict[Cell, dict[int, float]]:
    """Bytes received, by bandwidths and replication."""
    found: dict[Cell, dict[int, float]] = {}
    for row in data.rows(experiment, protocol=protocol):
        cell = (float(row["wireline_kbps"]), int(row["radio_kbps"]))
        found.setdefault(cell, {})[row["replication"]] = float(row["delivered_bytes"])
    return found


@cache
def gains(data: Data, experiment: str, behind: str, ahead: str) -> dict[int, dict[Cell, float]]:
    """For each replication, the gain at each pair of bandwidths in percent."""
    first, second = (received(data, experiment, protocol) for protocol in (behind, ahead))
    found: dict[int, dict[Cell, float]] = {}
    for cell in first:
        for replication in first[cell].keys() & second[cell].keys():
            gain = 100 * (second[cell][replication] / first[cell][replication] - 1)
            found.setdefault(replication, {})[cell] = gain
    return found


def over_replications(
    by_replication: Mapping[int, Mapping[Cell, float]], function: Callable[[Mapping[Cell, float]], float]
) -> Estimate:
    """An estimate of a function of all gains of a replication."""
    return statistics.mean([function(by_replication[replication]) for replication in sorted(by_replication)])


def average(wires: Sequence[float] | None, radios: Sequence[int] | None) -> Callable[[Mapping[Cell, float]], float]:
    """The gain averaged over some wires and some radio links (all: `None`)."""

    def averaged(of: Mapping[Cell, float]) -> float:
        return fmean(
            gain
            for (wire, radio), gain in of.items()
            if (wires is None or wire in wires) and (radios is None or radio in radios)
        )

    return averaged


def spread(of: Mapping[Cell, float], index: int) -> float:
    """Largest less smallest gain along one of the bandwidths (0: wire, 1: radio), averaged over the other."""
    along = {cell[index] for cell in of}
    means = [fmean(gain for cell, gain in of.items() if cell[index] == at) for at in along]
    return max(means) - min(means)
