"""The congestion window of each variant, round trip by round trip, on three fixed patterns of losses.

The shapes stand in docs/figures/window_shapes.txt, whose figures are in docs/fall-floyd.md. When one is meant to change,
`make figures` writes it anew; the difference belongs into CHANGELOG.md.
"""

import pytest
from window_shapes import PATTERNS, SHAPES, VARIANTS, shapes, windows

CASES = [(variant, pattern) for variant in VARIANTS for pattern in PATTERNS]


def test_the_shapes_are_those_on_record() -> None:
    recorded, measured = SHAPES.read_text(encoding="utf-8").splitlines(), shapes().splitlines()
    changed = [f"- {old}\n+ {new}" for old, new in zip(recorded, measured, strict=True) if old != new]
    assert not changed, "\n".join(changed)


@pytest.mark.parametrize("variant", ["tahoe", "reno", "newreno", "sack"])
def test_additive_increase_is_a_segment_a_round_trip(variant: str) -> None:
    """Slow start doubles 10 to 20 and stops at the threshold of 32; then one more each round trip (RFC 5681)."""
    assert windows(variant, "single")[:14] == [10, 20, *range(32, 44)]


@pytest.mark.parametrize(("variant", "window"), [("tahoe", 1), ("sack", 22), ("cubic", 30.8)])
def test_the_window_after_a_single_loss(variant: str, window: float) -> None:
    """Half of 44, 0.7 of it for CUBIC (RFC 9438 section 4.6), one segment for Tahoe."""
    assert windows(variant, "single")[15] == window


@pytest.mark.parametrize("variant", ["reno", "newreno"])
def test_the_inflated_window_of_fast_recovery(variant: str) -> None:
    """A single loss: ssthresh and a segment for each duplicate; then ssthresh, 22, and a segment more a round trip."""
    shape = windows(variant, "single")
    assert shape[15] > 44
    assert shape[16:20] == [22, 23, 24, 25]


@pytest.mark.parametrize(("variant", "pattern"), CASES)
def test_a_whole_window_lost_leaves_only_the_timer(variant: str, pattern: str) -> None:
    """Slow start from one segment to half of the window, for every variant; four losses do so to Reno."""
    smallest = min(windows(variant, pattern))
    by_timer = pattern == "window" or variant == "tahoe" or (variant, pattern) == ("reno", "four")
    assert (smallest <= 2) == by_timer
    # Vegas starts again from two segments.
    assert smallest == (2 if variant == "vegas" else 1) or not by_timer
