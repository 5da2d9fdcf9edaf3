"""What the clauses about background stations rest on besides the alternatives: the round trip time."""

from __future__ import annotations

from typing import Any

from roamsim.study.data import Data
from roamsim.study.judging import within

from ..study import FAR_RTT_S

#: How far a delay may be from the round trip, or half of it (9a, 9b).
NEAR = 0.1


def beside_a_far_server(data: Data, id: str, verdict: str) -> list[str]:
    """Whether a clause about a delay has the other verdict at the longest published RTT.

    The entry's range is of an RTT of 0.1 s, so the alternative `far` cannot judge it.
    """
    if not data.has("far"):
        return []
    kind = "indication" if id == "9a" else "request"
    expected_s = FAR_RTT_S / 2 if kind == "indication" else FAR_RTT_S
    at: dict[str, Any] = {
        "kind": kind,
        "transport": "UDP",
        "background": "from the stations",
        "loss": 0.0,
        "stations": 10,
    }
    delay = data.under("far").estimate("background", "mean_delay_s", **at)
    far = within(delay, (1 - NEAR) * expected_s, (1 + NEAR) * expected_s, "delay (s)")
    if {far.verdict, verdict} != {"agrees", "differs"}:
        return []
    return [f"an RTT of 0.1 s among background stations (with {FAR_RTT_S:g} s it {far.verdict})"]
