"""What holds with each choice that the publication leaves open, by the rules of the statements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from roamsim.study.data import Data, Metric, Share
from roamsim.study.judging import Finding, Verdict, every, positive, within, yes

from .cases import (
    BATCH_SIZES,
    BATCHES,
    BELOW,
    BURST_S,
    CASES,
    ERRORS,
    HANDOVERS,
    HEAVY_TAIL,
    LOAD,
    MUCH,
    POISSON,
    REFERENCE,
    air_interface_of,
    over_before,
)

Holds = Callable[[Data, Any], Finding]


def _is(metric: Metric, low: float, high: float, **where: str) -> Holds:
    """Whether a metric lies in a range with a choice, in a situation or with arrivals."""

    def holds(data: Data, choice: Any) -> Finding:
        experiment = "sensitivity" if "situation" in where else "delay-choices"
        return within(data.estimate(experiment, metric, choice=choice, **where), low, high, "")

    return holds


def _lower(metric: Metric, small: str, large: str) -> Holds:
    """Whether a metric is lower in one situation than in another with a choice, replication by replication."""

    def holds(data: Data, choice: Any) -> Finding:
        more = data.compared("sensitivity", metric, "less", {"situation": small}, choice=choice, situation=large)
        return positive(more, "")

    return holds


def _all(*parts: Holds) -> Holds:
    """Whether all of several things hold with a choice."""

    def holds(data: Data, choice: Any) -> Finding:
        return every([part(data, choice) for part in parts])

    return holds


def _much_higher(arrivals: str) -> Holds:
    """Whether the mean delay with arrivals in batches is much higher than with Poisson arrivals, with a choice."""

    def holds(data: Data, choice: Any) -> Finding:
        other = {"arrivals": POISSON}
        ratio = data.compared("delay-choices", "mean_s", "over", other, choice=choice, arrivals=arrivals)
        return within(ratio, MUCH, math.inf, "")

    return holds


def _no_timeout(data: Data, choice: Any) -> Finding:
    """Whether no run has a timeout with a choice; not decidable where too few of the same runs have one as chosen."""
    if any(row["timeouts"] for row in data.rows("sensitivity", choice=choice)):
        return yes(False, "")
    chosen = data.labels("sensitivity", "choice")[0]
    with_any = sum(row["timeouts"] > 0 for row in data.rows("sensitivity", choice=chosen))
    few = 0 < with_any < RUNS_OF_SIGN_TEST
    return replace(yes(True, ""), verdict="not decidable") if few else yes(True, "")


def _of_air_interface(case: str) -> Holds:
    """Whether the limit of TH is what the closed form of the air interface leaves of TH_teo, with a choice."""

    def holds(data: Data, choice: Any) -> Finding:
        ratio = data.estimate("sensitivity", "ratio", choice=choice, situation=case)
        return within(ratio.scaled(1 / air_interface_of(case)), 0.95, math.inf, "")

    return holds


def _fewer_timeouts(data: Data, choice: Any) -> Finding:
    """Whether an RTO that is held has more timeouts than one that adapts, with a choice."""
    adapting = {"retransmission_timer": "adapting"}
    more = data.compared("rto-choices", "timeouts", "less", adapting, choice=choice, retransmission_timer="held")
    return positive(more, "")


def _raised_by(without: str) -> Holds:
    """Whether a cause raises the mean delay with a choice, against runs without it."""

    def holds(data: Data, choice: Any) -> Finding:
        both = {"cause": "errors and handovers"}
        return positive(
            data.compared("cause-choices", "mean_delay_s", "less", {"cause": without}, choice=choice, **both), ""
        )

    return holds


def _burst_raises(data: Data, choice: Any) -> Finding:
    """Whether delays in the burst are above those before it, with a choice."""
    ratio, _ = over_before(data.rows("burst-choices", choice=choice, arrivals=POISSON), *BURST_S)
    return within(ratio, 1, math.inf, "")


def _burst_without_timeout(data: Data, choice: Any) -> Finding:
    """Whether no run around the burst has a timeout, with a choice; not decidable where too few runs have one."""
    rows = data.rows("burst-choices", choice=choice)
    with_any = len({(row["arrivals"], row["replication"]) for row in rows if row["timeouts"]})
    if 0 < with_any < RUNS_OF_SIGN_TEST:
        return replace(yes(False, ""), verdict="not decidable")
    return yes(not with_any, "")


#: Runs that all have to change the same way, so that it is no chance: the sign test with 95 %.
RUNS_OF_SIGN_TEST = 6

#: DLC frames, that is IP packets, that the DLC dropped.
DROPPED = Share("dlc_frames_dropped", "dlc_frames_dropped + dlc_frames_delivered")

#: What may hold with a choice, by the rules of the statements.
FINDINGS: dict[str, Holds] = {
    "TH_teo is 30 to 33 segments/s in the reference case": _is("throughput_teo", 30, 33, situation=REFERENCE),
    "TH is 22.5 to 27.5 segments/s at the limit in the reference case": _is(
        "throughput", 22.5, 27.5, situation=REFERENCE
    ),
    "TH / TH_teo is 0.76 to 0.80 in the reference case": _is("ratio", 0.76, 0.80, situation=REFERENCE),
    "TH / TH_teo is 0.76 to 0.80 with doubled handover probability": _is("ratio", 0.76, 0.80, situation=HANDOVERS),
    "TH / TH_teo is 0.76 to 0.80 with batch arrivals": _is("ratio", 0.76, 0.80, situation=BATCHES),
    "TH / TH_teo is 0.66 to 0.70 with doubled BER": _is("ratio", 0.66, 0.70, situation=ERRORS),
    "TH / TH_teo is 0.81 to 0.85 under high load": _is("ratio", 0.81, 0.85, situation=LOAD),
    "doubled BER lowers TH / TH_teo": _lower("ratio", ERRORS, REFERENCE),
    "high load raises TH / TH_teo": _lower("ratio", REFERENCE, LOAD),
    "TH_teo is lowest under high load": _all(
        *(_lower("throughput_teo", LOAD, case) for case in CASES if case != LOAD)
    ),
    "the DLC drops less than one frame in 10 000 in each case": _all(
        *(_is(DROPPED, 0, 1e-4, situation=case) for case in CASES)
    ),
    "there is no TCP timeout": _no_timeout,
    "TH is 95 % of the closed form at least in each case": _all(*map(_of_air_interface, CASES)),
    "an RTO that adapts has fewer timeouts": _fewer_timeouts,
    "the mean delay at 20 segments/s is below 1 s": _is("mean_delay_s", 0, 1, situation=BELOW),
    "10 to 14 % of the delays at 20 segments/s are beyond 10 s": _is("beyond_10_s", 0.10, 0.14, arrivals=POISSON),
    "the delays at 20 segments/s have a heavy tail": _is("beyond_5_means", HEAVY_TAIL, 1, arrivals=POISSON),
    **{
        f"17 to 23 % of the delays with batches of {size} are beyond 25 s": _is(
            "beyond_25_s", 0.17, 0.23, arrivals=arrivals
        )
        for size, arrivals in BATCH_SIZES.items()
    },
    **{
        f"batches of {size} make the mean delay twice as long at least": _much_higher(arrivals)
        for size, arrivals in BATCH_SIZES.items()
    },
    "errors raise the mean delay at 20 segments/s": _raised_by("no errors"),
    "handovers raise the mean delay at 20 segments/s": _raised_by("no handovers"),
    "the burst raises delays": _burst_raises,
    "the burst causes no TCP timeout": _burst_without_timeout,
}

#: The findings that follow the rule of a statement, by its id, one for each of its parts.
BY_STATEMENT = {
    "2a": ("TH_teo is 30 to 33 segments/s in the reference case",),
    "2b": ("TH is 22.5 to 27.5 segments/s at the limit in the reference case",),
    "3a": ("TH / TH_teo is 0.76 to 0.80 in the reference case",),
    "3b": ("TH / TH_teo is 0.76 to 0.80 with doubled handover probability",),
    "3c": ("TH / TH_teo is 0.76 to 0.80 with batch arrivals",),
    "3d": ("TH / TH_teo is 0.66 to 0.70 with doubled BER",),
    "3e": ("TH / TH_teo is 0.81 to 0.85 under high load",),
    "3f": ("TH_teo is lowest under high load",),
    "3g": ("doubled BER lowers TH / TH_teo", "high load raises TH / TH_teo"),
    "4a": ("there is no TCP timeout",),
    "4b": ("the DLC drops less than one frame in 10 000 in each case",),
    "4c": ("TH is 95 % of the closed form at least in each case",),
    "4d": ("an RTO that adapts has fewer timeouts",),
    "5a": ("the mean delay at 20 segments/s is below 1 s",),
    "5b": ("10 to 14 % of the delays at 20 segments/s are beyond 10 s",),
    "5c": ("the delays at 20 segments/s have a heavy tail",),
    "5d": tuple(f"17 to 23 % of the delays with batches of {size} are beyond 25 s" for size in BATCH_SIZES),
    "5e": tuple(f"batches of {size} make the mean delay twice as long at least" for size in BATCH_SIZES),
    "5f": ("errors raise the mean delay at 20 segments/s",),
    "5g": ("handovers raise the mean delay at 20 segments/s",),
    "6a": ("the burst raises delays",),
    "6b": ("the burst causes no TCP timeout",),
}

#: The findings about the burst, whose ten bearers stay: no other choice has a part in it.
ABOUT_THE_BURST = ("the burst raises delays", "the burst causes no TCP timeout")


def choices_of(data: Data, finding: str) -> list[Any]:
    """The choices with which a finding was tried, the chosen settings first; none in a quick look."""
    experiment = "burst-choices" if finding in ABOUT_THE_BURST else "sensitivity"
    return data.labels(experiment, "choice") if data.rows(experiment) else []


def turned_by_choices(data: Data, statement: str, verdict: Verdict) -> tuple[str, ...]:
    """The choices with which the rule of a statement gives the opposite verdict, where it does not as chosen."""
    findings = BY_STATEMENT[statement]

    def judged(choice: Any) -> Verdict:
        return every([FINDINGS[name](data, choice) for name in findings]).verdict

    choices = choices_of(data, findings[0])
    opposite = {"agrees": "differs", "differs": "agrees"}.get(verdict)
    turning = [str(choice) for choice in choices[1:] if judged(choice) == opposite]
    if not turning or judged(choices[0]) == opposite:
        return ()
    return tuple(f"the chosen settings (with {choice} it {opposite})" for choice in turning)
