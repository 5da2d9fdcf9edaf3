"""The picture of docs/how-to/tcp-senders.md: a BBR sender on a walk into a slower cell.

    python docs/figures/tcp_sender.py

It is what `roamsim plot --what states` draws.
"""

from __future__ import annotations

import roamsim
from figure_style import DOCS
from roamsim.scenarios.bundled import example

TRACES = ["states", "pacing", "in_flight", "cwnd", "segments"]


def main() -> None:
    """Runs the example and draws its sender."""
    run = roamsim.run(example("walk-bbr").path, trace=TRACES)
    run.plot("states", out=DOCS / "images" / "tcp-sender.svg")


if __name__ == "__main__":
    main()
