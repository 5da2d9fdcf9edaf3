"""Network entry of 802.16 beside its law (docs/models/wimax.md): DCD and UCD together or apart, over the arrival's phase."""

import math
import random
import statistics
from pathlib import Path

import pytest
import roamsim
from roamsim import study

WALK = Path(study.available()["mih-handover"]) / "scenarios" / "entry.toml"
INTERVAL_S = 5.0
RUNS = 48


def entries(apart_s: float) -> list[tuple[float, float]]:
    """(Link_Detected, Link_Up) of walks into the cell at random phases of the descriptors, in frames of 4 ms."""
    phases = random.Random(16)
    found = []
    for seed in range(1, RUNS + 1):
        # The edge is 500 m away, at 1 m/s.
        changed = {
            "node.mn.position.x": f"{500.1 + round(phases.uniform(0, INTERVAL_S), 3):.3f}m",
            "scenario.duration": "15.5s",
            "wimax.wimax.entry.known_descriptors": False,
            "wimax.wimax.entry.ucd_start": f"{apart_s}s",
        }
        table = roamsim.run(WALK, set=changed, seed=seed, trace=["link_events"]).tables["link_events"]
        events = table.to_dict(as_series=False)
        at = {}
        for time_s, event in zip(events["time_s"], events["event"], strict=True):
            at.setdefault(event, time_s)
        found.append((at["link_detected"], at["link_up"]))
    return found


def below(wait_s: float, apart_s: float) -> float:
    """The law: the probability that both descriptors have come within so long of a time at any phase."""

    def uniform(least_s: float) -> float:
        return min(1.0, max(0.0, (wait_s - least_s) / (INTERVAL_S - least_s))) if least_s < INTERVAL_S else 0.0

    part = apart_s / INTERVAL_S
    return (part * uniform(INTERVAL_S - apart_s) if part else 0.0) + (1 - part) * uniform(apart_s)


@pytest.mark.parametrize("apart_s", [0.0, 1.0, 2.5])
def test_entry_waits_for_both_descriptors_and_then_takes_whole_frames(apart_s: float) -> None:
    found = entries(apart_s)
    # The DCD comes at whole intervals, the UCD so long behind it.
    waits_s = [max(-heard_s % INTERVAL_S, (apart_s - heard_s) % INTERVAL_S) for heard_s, _ in found]
    # In the frame of the later one is a region of ranging; from there seven frames, the acknowledgement ending 0.75 ms into the last
    # one. A window of 4 over two opportunities a region: this one or the next one, 20 ms later.
    behind_us = [
        round(1e6 * (up_s - heard_s - wait_s)) for (heard_s, up_s), wait_s in zip(found, waits_s, strict=True)
    ]
    assert set(behind_us) == {28_750, 48_750}
    assert abs(behind_us.count(28_750) / RUNS - 1 / 2) < 3.3 * math.sqrt(1 / 4 / RUNS)

    mean_s = INTERVAL_S / 2 + apart_s * (INTERVAL_S - apart_s) / INTERVAL_S + 0.02875 + 0.02 / 2
    taken_s = [up_s - heard_s for heard_s, up_s in found]
    assert abs(statistics.fmean(taken_s) - mean_s) < 3 * statistics.stdev(taken_s) / math.sqrt(RUNS)
    ordered = sorted(waits_s)
    distance = max(
        max(abs(below(wait_s, apart_s) - i / RUNS), abs(below(wait_s, apart_s) - (i + 1) / RUNS))
        for i, wait_s in enumerate(ordered)
    )
    # One in a thousand is beyond 1.95 / sqrt(n).
    assert distance < 1.95 / math.sqrt(RUNS)
