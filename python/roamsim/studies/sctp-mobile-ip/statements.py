"""Measurements of the published statements, one function a clause; the rule of each stands in statements.toml.

Clauses 2 and 3 are about all 30 pairs of bandwidths. They are judged with SCTP by either RFC, and with conditions of
the walk changed: a verdict that is another one there rests on the conditions as chosen. The report has a table of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps

from roamsim import statistics
from roamsim.study.data import Data
from roamsim.study.judging import (
    Finding,
    Value,
    Verdict,
    either,
    every,
    number,
    positive,
    simultaneous,
    value_of,
    with_interval,
    yes,
)

from .gains import (
    BOTTLENECK_WIRES,
    FAST,
    FAST_WIRES,
    SLOW,
    SLOW_WIRES,
    UP_TO_384,
    average,
    gains,
    over_replications,
    received,
    spread,
)
from .levels import RENO, SACK, SCTP, SCTP_2960, beside_mean, levels, mean_of_published
from .recovery import block_limits, blocks_matter, reno_recovery, sack_recovery, stalls

__all__ = ["block_limits", "blocks_matter", "levels", "reno_recovery", "sack_recovery", "stalls"]

#: The experiments with all pairs of bandwidths; the first one decides.
CONDITIONS_OF_WALK = {
    "as chosen": "bandwidths",
    "errors by air time": "bandwidths-air-time",
    "ns-2's windows": "bandwidths-windows",
    "both": "bandwidths-both",
}

#: What the publication ran, and what is in force.
RULES_OF_SCTP = {"RFC 9260": SCTP, "RFC 2960": SCTP_2960}

Measurement = Callable[[Data, str, str], Finding]
"""Measures a clause of an experiment, with the SCTP of one of the RFCs."""


def _with_conditions(measure: Measurement, data: Data, sctp: str) -> Finding:
    """A clause as chosen, naming the conditions with which its verdict is another one."""
    chosen, *others = (measure(data, of, sctp) for of in CONDITIONS_OF_WALK.values())
    names = list(CONDITIONS_OF_WALK)[1:]
    moved = [f"{name}: {f.verdict}" for name, f in zip(names, others, strict=True) if f.verdict != chosen.verdict]
    rests = (f"windows and radio errors as chosen ({'; '.join(moved)})",) if moved else ()
    return replace(chosen, rests_on=(*chosen.rests_on, *rests))


def of_tcp(measure: Measurement) -> Callable[..., Finding]:
    """A clause without SCTP."""

    @wraps(measure)
    def measured(data: Data, experiment: str = "", sctp: str = SCTP) -> Finding:
        return measure(data, experiment, sctp) if experiment else _with_conditions(measure, data, sctp)

    return measured


def of_sctp(measure: Measurement) -> Callable[..., Finding]:
    """A clause about SCTP: by either RFC, or of the one and the experiment that are asked for."""

    @wraps(measure)
    def measured(data: Data, experiment: str = "", sctp: str = SCTP) -> Finding:
        if experiment:
            return measure(data, experiment, sctp)
        return either(
            {name: _with_conditions(measure, data, protocol) for name, protocol in RULES_OF_SCTP.items()}, "SCTP by"
        )

    return measured


# 1. Recovery


def _timeouts(data: Data, protocol: str, condition: str = "") -> list[int]:
    """By pattern: as chosen, or with a condition of the recovery changed."""
    of = {"condition": condition} if condition else {}
    experiment = "recovery-conditions" if condition else "recovery"
    return [int(row["timeouts"]) for row in data.rows(experiment, protocol=protocol, **of)]


def turned_by_recovery(data: Data, clause: str, verdict: str) -> tuple[str, ...]:
    """The conditions of the recovery with which a clause about the ten patterns has the other verdict."""
    turned = []
    for condition in (str(label) for label in data.labels("recovery-conditions", "condition")):
        found = _UNDER_CONDITIONS[clause](data, condition).verdict
        if condition != "as chosen" and {found, verdict} == {"agrees", "differs"}:
            turned.append(f"the recovery as chosen (with {condition} it {found})")
    return tuple(turned)


def _sooner(column: str, behind: str, data: Data, condition: str) -> Finding:
    """Whether SCTP, or SACK, takes less of a time than the other, in pairs over the patterns."""

    def less(ahead: str) -> Finding:
        at = {"protocol": behind, "condition": condition}
        what = f"{behind} less {ahead}"
        return positive(data.compared("recovery-conditions", column, "less", {"protocol": ahead}, **at), what)

    if behind == RENO:
        return less(SACK)
    return either({name: less(protocol) for name, protocol in RULES_OF_SCTP.items()}, "SCTP by")


def reno_waits(data: Data, condition: str = "") -> Finding:
    """1e."""
    timeouts = _timeouts(data, RENO, condition)
    least, most = min(timeouts), max(timeouts)
    words = f"timeouts of Reno in each pattern: {least if least == most else f'{least} to {most}'}"
    found = yes(least >= 1, words, Value("fewest timeouts in a pattern", least))
    return replace(found, brief=words)


def others_do_not_wait(data: Data, condition: str = "") -> Finding:
    """1f."""

    def judged(sctp: str) -> Finding:
        timeouts = {protocol: _timeouts(data, protocol, condition) for protocol in (SACK, sctp)}
        waited = {protocol: sum(count > 0 for count in counts) for protocol, counts in timeouts.items()}
        words = " and ".join(
            f"{protocol} in {waited[protocol]} of {len(timeouts[protocol])} patterns" for protocol in waited
        )
        values = (Value(f"patterns with a timeout of {protocol}", count) for protocol, count in waited.items())
        found = yes(not any(waited.values()), f"a timeout: {words}", *values)
        return replace(
            found, brief=f"patterns with a timeout: {words.replace(' patterns', '').replace(' and ', ', ')}"
        )

    return either({name: judged(protocol) for name, protocol in RULES_OF_SCTP.items()}, "SCTP by")


#: The clauses about the ten patterns, under a condition of the recovery.
_UNDER_CONDITIONS: dict[str, Callable[[Data, str], Finding]] = {
    "1c": partial(_sooner, "repaired_s", RENO),
    "1d": partial(_sooner, "repaired_s", SACK),
    "1e": reno_waits,
    "1f": others_do_not_wait,
    "1h": stalls,
    "1i": partial(_sooner, "window_s", SACK),
}


# 2. Orders and gains


def _nowhere_below(data: Data, experiment: str, behind: str, ahead: str, exceptions: int) -> Finding:
    """Whether the mean of one protocol is below another's in no more cells than so many."""
    first, second = (received(data, experiment, protocol) for protocol in (behind, ahead))
    less, clearly_less = [], []
    for cell in first:
        order = sorted(first[cell].keys() & second[cell].keys())
        difference = statistics.paired_difference(
            [first[cell][r] / 1000 for r in order], [second[cell][r] / 1000 for r in order]
        )
        if difference.mean < 0:
            less.append((difference, cell))
        if simultaneous(difference, len(first)).high < 0:
            clearly_less.append(cell)
    whole = f"in {len(clearly_less)} with its whole interval, which holds for all cells together"
    words = f"{ahead} is below {behind} in {len(less)} of {len(first)} cells, {whole}"
    if less:
        worst, (wire, radio) = min(less, key=lambda one: one[0].mean)
        words += f"; furthest at {wire:g} and {radio} kb/s, by {with_interval(worst)} segments"
    values = (Value("cells below", len(less)), Value("cells below with their whole interval", len(clearly_less)))
    verdict: Verdict = "agrees" if len(less) <= exceptions else "not decidable"
    if len(clearly_less) > exceptions:
        verdict = "differs"
    brief = (
        f"{ahead} below {behind} in {len(less)} of {len(first)} cells, in {len(clearly_less)} with its whole interval"
    )
    return Finding(verdict, words, values, brief=brief)


@of_sctp
def sctp_over_sack(data: Data, experiment: str, sctp: str) -> Finding:
    """2a."""
    return _nowhere_below(data, experiment, SACK, sctp, 3)


@of_tcp
def sack_over_reno(data: Data, experiment: str, _sctp: str) -> Finding:
    """2b."""
    return _nowhere_below(data, experiment, RENO, SACK, 1)


@of_sctp
def sctp_over_reno(data: Data, experiment: str, sctp: str) -> Finding:
    """2j."""
    return _nowhere_below(data, experiment, RENO, sctp, 0)


def _slow_less_fast(data: Data, experiment: str, behind: str, ahead: str, what: str) -> Finding:
    """Whether a gain averaged over all wires is larger over slow radio links than over fast ones."""
    slow, fast = average(None, SLOW), average(None, FAST)
    found = gains(data, experiment, behind, ahead)
    finding = positive(over_replications(found, lambda g: slow(g) - fast(g)), what)
    slow_gain, fast_gain = (with_interval(over_replications(found, function)) for function in (slow, fast))
    return replace(finding, measured=f"{finding.measured}; slow {slow_gain} %, fast {fast_gain} %")


@of_sctp
def largest_where_slow(data: Data, experiment: str, sctp: str) -> Finding:
    """2c."""
    what = "gain over Reno at slow radio links less that at fast ones (points)"
    return _slow_less_fast(data, experiment, RENO, sctp, what)


@of_tcp
def sack_gains_more_where_slow(data: Data, experiment: str, _sctp: str) -> Finding:
    """2h."""
    what = "SACK's gain over Reno at slow radio links less that at fast ones (points)"
    return _slow_less_fast(data, experiment, RENO, SACK, what)


@of_sctp
def large_where_slow(data: Data, experiment: str, sctp: str) -> Finding:
    """2d."""
    return beside_mean(data, experiment, RENO, sctp, None, SLOW)


@of_sctp
def small_over_reno(data: Data, experiment: str, sctp: str) -> Finding:
    """2e."""
    return beside_mean(data, experiment, RENO, sctp, None, FAST)


@of_sctp
def small_over_sack(data: Data, experiment: str, sctp: str) -> Finding:
    """2f."""
    return beside_mean(data, experiment, SACK, sctp, None, FAST)


@of_sctp
def large_over_sack_where_slow(data: Data, experiment: str, sctp: str) -> Finding:
    """2g."""
    return beside_mean(data, experiment, SACK, sctp, None, SLOW)


@of_sctp
def more_where_the_wire_is_slow(data: Data, experiment: str, sctp: str) -> Finding:
    """2k: over Reno and over SACK, beside the same of the published table."""
    slow, fast = average(SLOW_WIRES, None), average(FAST_WIRES, None)

    def over(behind: str) -> Finding:
        there = mean_of_published(behind, SCTP, SLOW_WIRES, None) - mean_of_published(behind, SCTP, FAST_WIRES, None)
        difference = over_replications(gains(data, experiment, behind, sctp), lambda g: slow(g) - fast(g))
        what = f"gain over {behind} with slow wires less that with fast ones (points)"
        return positive(difference, f"{what}, published {number(round(there, 1))}")

    return every([over(RENO), over(SACK)])


@of_tcp
def sack_gains_more_with_slow_wire(data: Data, experiment: str, _sctp: str) -> Finding:
    """2l: beside the same of the published table."""
    slow, fast = average(SLOW_WIRES, None), average(FAST_WIRES, None)
    there = mean_of_published(RENO, SACK, SLOW_WIRES, None) - mean_of_published(RENO, SACK, FAST_WIRES, None)
    difference = over_replications(gains(data, experiment, RENO, SACK), lambda g: slow(g) - fast(g))
    what = "SACK's gain over Reno with slow wires less that with fast ones (points)"
    return positive(difference, f"{what}, published {number(round(there, 1))}")


@of_sctp
def sctp_over_sack_in_the_mean(data: Data, experiment: str, sctp: str) -> Finding:
    """2m: beside the same of the published table."""
    there = mean_of_published(SACK, SCTP, None, None)
    gain = over_replications(gains(data, experiment, SACK, sctp), average(None, None))
    return positive(gain, f"gain over SACK over all pairs (%), published {number(round(there, 1))}")


# 3. Where the bottleneck is


@of_sctp
def considerable_with_fast_wire(data: Data, experiment: str, sctp: str) -> Finding:
    """3a."""
    return beside_mean(data, experiment, RENO, sctp, [1500.0], UP_TO_384)


@of_sctp
def considerable_over_sack(data: Data, experiment: str, sctp: str) -> Finding:
    """3d."""
    return beside_mean(data, experiment, SACK, sctp, [1500.0], UP_TO_384)


@of_sctp
def small_with_slow_wire(data: Data, experiment: str, sctp: str) -> Finding:
    """3b."""
    return beside_mean(data, experiment, RENO, sctp, BOTTLENECK_WIRES, FAST)


@of_sctp
def small_over_sack_with_slow_wire(data: Data, experiment: str, sctp: str) -> Finding:
    """3e."""
    return beside_mean(data, experiment, SACK, sctp, BOTTLENECK_WIRES, FAST)


def _more_sensitive_to_radio(data: Data, experiment: str, behind: str, sctp: str) -> Finding:
    found = gains(data, experiment, behind, sctp)

    radio, wire = (over_replications(found, partial(spread, index=index)) for index in (1, 0))
    finding = positive(
        over_replications(found, lambda g: spread(g, 1) - spread(g, 0)),
        f"spread of the gain over {behind} along the radio bandwidth less that along the wire's (points)",
    )
    values = (value_of("spread along the radio bandwidth", radio), value_of("spread along the wire's", wire))
    both = f"{with_interval(radio)} points along the radio bandwidth, {with_interval(wire)} along the wire's"
    return replace(finding, measured=f"{finding.measured}; {both}", values=(*values, *finding.values))


@of_sctp
def more_sensitive_to_radio(data: Data, experiment: str, sctp: str) -> Finding:
    """3c."""
    return _more_sensitive_to_radio(data, experiment, RENO, sctp)


@of_sctp
def more_sensitive_over_sack(data: Data, experiment: str, sctp: str) -> Finding:
    """3f."""
    return _more_sensitive_to_radio(data, experiment, SACK, sctp)
