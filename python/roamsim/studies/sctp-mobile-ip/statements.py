"""Measurements of the published statements, one function a clause; the rule of each stands in statements.toml.

Clauses 2 and 3 are about all 30 pairs of bandwidths. They are measured with conditions of the walk changed, too: a
verdict that is another one there rests on the conditions as chosen, and exhibits.py makes a table of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, wraps
from statistics import fmean

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.study.data import Data
from roamsim.study.judging import Finding, Value, positive, value_of, with_interval, within, yes

from .levels import RENO, SACK, SCTP, beside_mean, levels
from .recovery import block_limits, blocks_matter, reno_recovery, sack_recovery

__all__ = ["block_limits", "blocks_matter", "levels", "reno_recovery", "sack_recovery"]

SLOW, FAST, UP_TO_384 = (150, 200), (1000, 2000), (150, 200, 384)

Cell = tuple[float, int]
"""Bandwidths of wire and radio in kb/s."""

#: The experiments with all pairs of bandwidths; the first one decides.
CONDITIONS_OF_WALK = {
    "as chosen": "bandwidths",
    "errors by air time": "bandwidths-air-time",
    "ns-2's windows": "bandwidths-windows",
    "both": "bandwidths-both",
}


def by_condition(measure: Callable[[Data, str], Finding]) -> Callable[..., Finding]:
    """A clause as chosen, naming the conditions with which its verdict is another one; or with the one asked for."""

    @wraps(measure)
    def measured(data: Data, experiment: str = "") -> Finding:
        if experiment:
            return measure(data, experiment)
        chosen, *others = (measure(data, of) for of in CONDITIONS_OF_WALK.values())
        names = list(CONDITIONS_OF_WALK)[1:]
        moved = [f"{name}: {f.verdict}" for name, f in zip(names, others, strict=True) if f.verdict != chosen.verdict]
        rests = (f"windows and radio errors as chosen ({'; '.join(moved)})",) if moved else ()
        return replace(chosen, rests_on=(*chosen.rests_on, *rests))

    return measured


# 1. Recovery


def _timeouts(data: Data, protocol: str) -> list[int]:
    return [int(row["timeouts"]) for row in data.rows("recovery", protocol=protocol)]


def reno_waits(data: Data) -> Finding:
    """1e."""
    timeouts = _timeouts(data, RENO)
    words = f"timeouts of Reno: {min(timeouts)} to {max(timeouts)} a pattern"
    return yes(min(timeouts) >= 1, words, Value("fewest timeouts in a pattern", min(timeouts)))


def others_do_not_wait(data: Data) -> Finding:
    """1f."""
    timeouts = {protocol: _timeouts(data, protocol) for protocol in (SACK, SCTP)}
    waited = {protocol: sum(count > 0 for count in counts) for protocol, counts in timeouts.items()}
    words = " and ".join(
        f"{protocol} in {waited[protocol]} of {len(timeouts[protocol])} patterns" for protocol in waited
    )
    values = (Value(f"patterns with a timeout of {protocol}", count) for protocol, count in waited.items())
    return yes(not any(waited.values()), f"a timeout: {words}", *values)


# 2. Orders and gains


@cache
def _received(data: Data, experiment: str, protocol: str) -> dict[Cell, dict[int, float]]:
    """Bytes received, by bandwidths and replication."""
    found: dict[Cell, dict[int, float]] = {}
    for row in data.rows(experiment, protocol=protocol):
        cell = (float(row["wireline_kbps"]), int(row["radio_kbps"]))
        found.setdefault(cell, {})[row["replication"]] = float(row["delivered_bytes"])
    return found


@cache
def _gains(data: Data, experiment: str, behind: str, ahead: str) -> dict[int, dict[Cell, float]]:
    """For each replication, the gain at each pair of bandwidths in percent."""
    first, second = (_received(data, experiment, protocol) for protocol in (behind, ahead))
    found: dict[int, dict[Cell, float]] = {}
    for cell in first:
        for replication in first[cell].keys() & second[cell].keys():
            gain = 100 * (second[cell][replication] / first[cell][replication] - 1)
            found.setdefault(replication, {})[cell] = gain
    return found


def _of(gains: Mapping[int, Mapping[Cell, float]], function: Callable[[Mapping[Cell, float]], float]) -> Estimate:
    """An estimate of a function of all gains, over replications."""
    return statistics.mean([function(gains[replication]) for replication in sorted(gains)])


def _average(wires: Sequence[float] | None, radios: Sequence[int]) -> Callable[[Mapping[Cell, float]], float]:
    """The gain averaged over some wires (all: None) and some radio links."""

    def average(gains: Mapping[Cell, float]) -> float:
        return fmean(g for (wire, radio), g in gains.items() if (wires is None or wire in wires) and radio in radios)

    return average


def _nearly_everywhere(data: Data, experiment: str, behind: str, ahead: str, exceptions: int) -> Finding:
    first, second = (_received(data, experiment, protocol) for protocol in (behind, ahead))
    less, clearly_less = [], []
    for cell in first:
        order = sorted(first[cell].keys() & second[cell].keys())
        difference = statistics.paired_difference(
            [first[cell][r] / 1000 for r in order], [second[cell][r] / 1000 for r in order]
        )
        if difference.mean < 0:
            less.append((difference, cell))
        if difference.high < 0:
            clearly_less.append(cell)
    whole = f"in {len(clearly_less)} with its whole interval"
    words = f"{ahead} is below {behind} in {len(less)} of {len(first)} cells, {whole}"
    if less:
        worst, (wire, radio) = min(less, key=lambda one: one[0].mean)
        words += f"; furthest at {wire:g} and {radio} kb/s, by {with_interval(worst)} segments"
    values = (Value("cells below", len(less)), Value("cells below with their whole interval", len(clearly_less)))
    if len(clearly_less) > exceptions:
        return Finding("differs", words, values)
    return Finding("agrees" if len(less) <= exceptions else "not decidable", words, values)


@by_condition
def sctp_over_sack(data: Data, experiment: str) -> Finding:
    """2a."""
    return _nearly_everywhere(data, experiment, SACK, SCTP, 3)


@by_condition
def sack_over_reno(data: Data, experiment: str) -> Finding:
    """2b."""
    return _nearly_everywhere(data, experiment, RENO, SACK, 1)


@by_condition
def largest_where_slow(data: Data, experiment: str) -> Finding:
    """2c."""
    slow, fast = _average(None, SLOW), _average(None, FAST)
    gains = _gains(data, experiment, RENO, SCTP)
    return positive(
        _of(gains, lambda g: slow(g) - fast(g)), "gain over Reno at slow radio links less that at fast ones (points)"
    )


@by_condition
def large_where_slow(data: Data, experiment: str) -> Finding:
    """2d."""
    return beside_mean(_of(_gains(data, experiment, RENO, SCTP), _average(None, SLOW)), RENO, SCTP, None, SLOW)


@by_condition
def small_over_reno(data: Data, experiment: str) -> Finding:
    """2e."""
    return within(_of(_gains(data, experiment, RENO, SCTP), _average(None, FAST)), 3, 22, "gain over Reno (%)")


@by_condition
def small_over_sack(data: Data, experiment: str) -> Finding:
    """2f."""
    return within(_of(_gains(data, experiment, SACK, SCTP), _average(None, FAST)), -2, 8, "gain over SACK (%)")


@by_condition
def large_over_sack_where_slow(data: Data, experiment: str) -> Finding:
    """2g."""
    return beside_mean(_of(_gains(data, experiment, SACK, SCTP), _average(None, SLOW)), SACK, SCTP, None, SLOW)


@by_condition
def sack_gains_more_where_slow(data: Data, experiment: str) -> Finding:
    """2h."""
    slow, fast = _average(None, SLOW), _average(None, FAST)
    gains = _gains(data, experiment, RENO, SACK)
    finding = positive(
        _of(gains, lambda g: slow(g) - fast(g)),
        "SACK's gain over Reno at slow radio links less that at fast ones (points)",
    )
    both = f"slow {with_interval(_of(gains, slow))} %, fast {with_interval(_of(gains, fast))} %"
    return Finding(finding.verdict, f"{finding.measured}; {both}", finding.values, finding.decided_by)


# 3. Where the bottleneck is


@by_condition
def considerable_with_fast_wire(data: Data, experiment: str) -> Finding:
    """3a."""
    gain = _of(_gains(data, experiment, RENO, SCTP), _average([1500.0], UP_TO_384))
    return beside_mean(gain, RENO, SCTP, [1500.0], UP_TO_384)


@by_condition
def considerable_over_sack(data: Data, experiment: str) -> Finding:
    """3d."""
    gain = _of(_gains(data, experiment, SACK, SCTP), _average([1500.0], UP_TO_384))
    return beside_mean(gain, SACK, SCTP, [1500.0], UP_TO_384)


@by_condition
def small_over_sack_with_slow_wire(data: Data, experiment: str) -> Finding:
    """3e."""
    return within(
        _of(_gains(data, experiment, SACK, SCTP), _average([28.8, 54.0, 200.0], FAST)),
        float("-inf"),
        8,
        "gain over SACK (%)",
    )


@by_condition
def small_with_slow_wire(data: Data, experiment: str) -> Finding:
    """3b."""
    return within(
        _of(_gains(data, experiment, RENO, SCTP), _average([28.8, 54.0, 200.0], FAST)),
        float("-inf"),
        22,
        "gain over Reno (%)",
    )


def _spread(gains: Mapping[Cell, float], index: int) -> float:
    """Largest less smallest gain along one of the bandwidths, averaged over the other."""
    along = {cell[index] for cell in gains}
    means = [fmean(gain for cell, gain in gains.items() if cell[index] == at) for at in along]
    return max(means) - min(means)


@by_condition
def more_sensitive_to_radio(data: Data, experiment: str) -> Finding:
    """3c."""
    gains = _gains(data, experiment, RENO, SCTP)
    radio, wire = _of(gains, lambda g: _spread(g, 1)), _of(gains, lambda g: _spread(g, 0))
    finding = positive(
        _of(gains, lambda g: _spread(g, 1) - _spread(g, 0)),
        "spread of the gain over Reno along the radio bandwidth less that along the wire's (points)",
    )
    values = (value_of("spread along the radio bandwidth", radio), value_of("spread along the wire's", wire))
    both = f"{with_interval(radio)} points along the radio bandwidth, {with_interval(wire)} along the wire's"
    return replace(finding, measured=f"{finding.measured}; {both}", values=(*values, *finding.values))
