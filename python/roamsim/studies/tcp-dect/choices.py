"""What holds with each choice that the publication leaves open, by the rules of the statements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from roamsim.study.data import Data, Metric, Share
from roamsim.study.judging import Verdict, positive, within

from .cases import BATCH_SIZES, BATCHES, BELOW, ERRORS, HANDOVERS, HEAVY_TAIL, LOAD, MUCH, POISSON, REFERENCE

Holds = Callable[[Data, Any], Verdict]


def _is(metric: Metric, low: float, high: float, **where: str) -> Holds:
    """Whether a metric lies in a range with a choice, in a situation or with arrivals."""

    def holds(data: Data, choice: Any) -> Verdict:
        experiment = "sensitivity" if "situation" in where else "delay-choices"
        return within(data.estimate(experiment, metric, choice=choice, **where), low, high, "").verdict

    return holds


def _lower(metric: Metric, small: str, large: str) -> Holds:
    """Whether a metric is lower in one situation than in another with a choice, replication by replication."""

    def holds(data: Data, choice: Any) -> Verdict:
        more = data.compared("sensitivity", metric, "less", {"situation": small}, choice=choice, situation=large)
        return positive(more, "").verdict

    return holds


def _much_higher(arrivals: str) -> Holds:
    """Whether the mean delay with arrivals in batches is much higher than with Poisson arrivals, with a choice."""

    def holds(data: Data, choice: Any) -> Verdict:
        if not data.rows("delay-choices"):
            return "not decidable"  # the full run alone has them
        other = {"arrivals": POISSON}
        ratio = data.compared("delay-choices", "mean_s", "over", other, choice=choice, arrivals=arrivals)
        return within(ratio, MUCH, math.inf, "").verdict

    return holds


def _no_timeout(data: Data, choice: Any) -> Verdict:
    """Whether no run has a timeout with a choice; not decidable where too few of the same runs have one as chosen."""
    if any(row["timeouts"] for row in data.rows("sensitivity", choice=choice)):
        return "differs"
    chosen = data.labels("sensitivity", "choice")[0]
    with_any = sum(row["timeouts"] > 0 for row in data.rows("sensitivity", choice=chosen))
    return "not decidable" if 0 < with_any < RUNS_OF_SIGN_TEST else "agrees"


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
    "high load lowers TH_teo": _lower("throughput_teo", LOAD, REFERENCE),
    "the DLC drops less than one frame in 10 000 with doubled BER": _is(DROPPED, 0, 1e-4, situation=ERRORS),
    "there is no TCP timeout": _no_timeout,
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
}

#: The findings that follow the rule of a statement, by its id, one for each of its parts. The choices cover one part
#: of 3f and 4b: they can refute agreement, and not show it.
BY_STATEMENT = {
    "2a": ("TH_teo is 30 to 33 segments/s in the reference case",),
    "2b": ("TH is 22.5 to 27.5 segments/s at the limit in the reference case",),
    "3a": ("TH / TH_teo is 0.76 to 0.80 in the reference case",),
    "3b": ("TH / TH_teo is 0.76 to 0.80 with doubled handover probability",),
    "3c": ("TH / TH_teo is 0.76 to 0.80 with batch arrivals",),
    "3d": ("TH / TH_teo is 0.66 to 0.70 with doubled BER",),
    "3e": ("TH / TH_teo is 0.81 to 0.85 under high load",),
    "3f": ("high load lowers TH_teo",),
    "3g": ("doubled BER lowers TH / TH_teo", "high load raises TH / TH_teo"),
    "4a": ("there is no TCP timeout",),
    "4b": ("the DLC drops less than one frame in 10 000 with doubled BER",),
    "5a": ("the mean delay at 20 segments/s is below 1 s",),
    "5b": ("10 to 14 % of the delays at 20 segments/s are beyond 10 s",),
    "5c": ("the delays at 20 segments/s have a heavy tail",),
    "5d": tuple(f"17 to 23 % of the delays with batches of {size} are beyond 25 s" for size in BATCH_SIZES),
    "5e": tuple(f"batches of {size} make the mean delay twice as long at least" for size in BATCH_SIZES),
}


def turned_by_choices(data: Data, statement: str, verdict: Verdict) -> tuple[str, ...]:
    """The choices with which the rule of a statement gives the opposite verdict, where it does not as chosen."""

    def judged(choice: Any) -> Verdict:
        found = {FINDINGS[name](data, choice) for name in BY_STATEMENT[statement]}
        return "differs" if "differs" in found else "not decidable" if "not decidable" in found else "agrees"

    chosen, *others = data.labels("sensitivity", "choice")
    opposite = {"agrees": "differs", "differs": "agrees"}.get(verdict)
    turning = [str(choice) for choice in others if judged(choice) == opposite]
    if not turning or judged(chosen) == opposite:
        return ()
    return (f"the chosen settings (it {opposite} with {', '.join(turning)})",)
