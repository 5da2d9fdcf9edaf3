"""Draws docs/images/fall-floyd-*.svg, which docs/fall-floyd.md explains: how TCP variants repair the same losses.

The scenario is examples/fall-floyd.toml, after K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe, Reno,
and SACK TCP" (1996). Run it with `make figures`; tests/validation/test_fall_floyd.py asserts what the figures show.
"""

import polars
import roamsim
from figure_style import DOCS, VARIANTS, panels
from roamsim import timesequence

SCENARIO = DOCS.parent / "examples" / "fall-floyd.toml"

SEGMENT_BYTES = 1000

#: What the figures show: from the round trip before the losses to the slowest variant's return.
SHOWN_S = (0.8, 3.45)
SHOWN_SEGMENTS = (11, 52)

#: The segments of the window 15 to 29 that are lost. The last pattern is not the paper's: every other segment from
#: the start of the window.
PATTERNS = {
    "one": [15],
    "two": [15, 29],
    "three": [15, 27, 29],
    "four": [15, 25, 27, 29],
    "six": [15, 17, 19, 21, 23, 25],
}


def run(variant: str, segments: list[int]) -> roamsim.Result:
    """One run of the scenario, with what became of each segment in its table `segments`."""
    changes = {"flow.ftp.transport.variant": variant, "link.bottleneck.loss.segments": segments}
    return roamsim.run(SCENARIO, set=changes, trace=["segments"])


def main() -> None:
    """Draws a figure for each pattern."""
    for pattern, segments in PATTERNS.items():
        with panels(f"fall-floyd-{pattern}", height=2.6) as (figure, grid):
            for axes, (variant, name) in zip(grid, VARIANTS.items(), strict=True):
                events = run(variant, segments).segments.filter(polars.col("time_s").is_between(*SHOWN_S))
                timesequence.draw(axes, events, segment_bytes=SEGMENT_BYTES)
                axes.set_title(name)
                axes.set_xlim(SHOWN_S)
                axes.set_ylim(*SHOWN_SEGMENTS)
            timesequence.legend(figure, grid)


if __name__ == "__main__":
    main()
