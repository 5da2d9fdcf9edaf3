"""Draws docs/images/window-shapes-*.svg: the congestion window of each TCP variant, round trip by round trip.

The path has no queue and a round trip of 100 ms, and the losses are named, so that nothing but the variant shapes
the window. The shapes also stand as numbers in `window_shapes.txt`, which tests/validation/test_window_shapes.py
compares: a change of a variant's window shows there. Run it with `make figures`.
"""

from __future__ import annotations

import bisect
from functools import cache
from pathlib import Path

import roamsim
from figure_style import VARIANTS, panels

SHAPES = Path(__file__).parent / "window_shapes.txt"

SEGMENT_BYTES = 1000
ROUNDS = 60

#: The round trip: 2 x 50 ms, and 1060 B there and 60 B back at 1 Gb/s. The segments of a window of 100 leave within a
#: millisecond, so that round trips stand apart.
ROUND_TRIP_S = 0.1 + 8 * (1060 + 60) / 1e9

#: What is lost, as numbers of the packets with data. With additive increase the windows are 10, 20, 32 (the threshold
#: of slow start), 33, 34, ...: segment 500 is one of the 44 of the 15th round trip, and 543 the last that goes
#: without an ACK of it.
PATTERNS = {
    "single": ("Single losses", [500, 1200, 1900]),
    "four": ("Four losses in one window", [500, 504, 508, 512]),
    "window": ("A whole window", list(range(500, 544))),
}

SCENARIO = f"""
[scenario]
name = "window shapes"
duration = "{ROUNDS / 10 + 1}s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Gb/s"
delay = "50ms"
queue = {{ packets = 1000 }}
loss = {{ from = "a", model = "list", segments = [] }}
[[flow]]
name = "bulk"
from = "a"
to = "b"
application = {{ kind = "bulk" }}
[flow.transport]
protocol = "tcp"
mss = "{SEGMENT_BYTES}B"
initial_ssthresh = "{32 * SEGMENT_BYTES}B"
delayed_ack = false
"""


@cache
def windows(variant: str, pattern: str) -> list[float]:
    """The window in segments in each round trip from the first on, when its ACKs are in and its segments sent."""
    changes = {"flow.bulk.transport.variant": variant, "link.path.loss.segments": PATTERNS[pattern][1]}
    result = roamsim.run(SCENARIO, set=changes, trace=["cwnd", "segments"])
    begin_s = result.segments["time_s"][0]
    samples = [
        (time_s, cwnd_bytes / SEGMENT_BYTES)
        for time_s, sender, quantity, cwnd_bytes in result.samples.select(
            "time_s", "from", "quantity", "value"
        ).iter_rows()
        if (sender, quantity) == ("a", "cwnd")
    ]
    times = [time_s for time_s, _ in samples]
    found = []
    for number in range(ROUNDS):
        # ACKs come and segments go within the first hundredth of a round trip; what follows a timer falls anywhere.
        place = bisect.bisect_right(times, begin_s + (number + 0.5) * ROUND_TRIP_S)
        found.append(round(samples[place - 1][1], 2))
    return found


def shapes() -> str:
    """The shapes as text: a line for each pattern and variant."""
    lines = ["# cwnd in segments in each round trip; written by docs/figures/window_shapes.py (make figures)"]
    for pattern in PATTERNS:
        lines += ["", f"# {PATTERNS[pattern][0]}"]
        lines += [
            f"{pattern} {variant}: " + " ".join(f"{cwnd:g}" for cwnd in windows(variant, pattern))
            for variant in VARIANTS
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draws a figure for each pattern, and writes the numbers."""
    SHAPES.write_text(shapes(), encoding="utf-8")
    for pattern, (title, _) in PATTERNS.items():
        with panels(f"window-shapes-{pattern}", height=1.8) as (figure, grid):
            for axes, (variant, name) in zip(grid, VARIANTS.items(), strict=True):
                axes.step(range(ROUNDS), windows(variant, pattern), where="post", color="#0072b2", linewidth=1.2)
                axes.set_title(name)
                axes.set_xlabel("round trip")
                axes.set_ylabel("cwnd [segments]")
                axes.set_xlim(0, ROUNDS)
                axes.set_ylim(0, 1.05 * max(max(windows(any_variant, pattern)) for any_variant in VARIANTS))
                axes.grid(alpha=0.25)
            figure.suptitle(title, fontsize=10)


if __name__ == "__main__":
    main()
