"""CoDel and FQ-CoDel beside the published interface queues: measurements of the statements about them."""

from __future__ import annotations

from collections.abc import Iterator

from roamsim.study.data import Data
from roamsim.study.entries import Label
from roamsim.study.judging import Finding, every, positive, within

from .findings import DISTANCES_M, NAMES

EXPERIMENT = "disciplines"
DROP_TAIL = ("25 packets", "50 packets", "100 packets")
#: Percent of its throughput that a transfer may lose and still have lost nothing.
NOTHING = 5.0


def _points(data: Data) -> Iterator[tuple[str, dict[str, Label]]]:
    """Every variant and distance, in words and as labels."""
    for variant in data.labels(EXPERIMENT, "variant"):
        for metres in DISTANCES_M:
            yield f"{NAMES[str(variant)]}, {metres} m", {"variant": variant, "distance_m": metres}


def others_do_not_wait(data: Data) -> Finding:
    """8a: each drop-tail queue delays the game and the chat by more than FQ-CoDel."""
    findings = []
    for words, at in _points(data):
        for flow, column in (("game", "game_server_p95_delay_s"), ("chat", "chat_down_p95_delay_s")):
            for queue in DROP_TAIL:
                more = data.compared(EXPERIMENT, column, "less", {"queue": "FQ-CoDel"}, queue=queue, **at).scaled(
                    1000
                )
                findings.append(
                    positive(more, f"95 % of the delays of the {flow}, {words}: {queue} less FQ-CoDel (ms)")
                )
    return every(findings)


def transfer_loses_nothing(data: Data) -> Finding:
    """8b: with FQ-CoDel a transfer carries nearly what it carries with 100 packets."""
    findings = []
    for words, at in _points(data):
        other = {"queue": "100 packets"}
        gain = data.compared(EXPERIMENT, "goodput_bps", "gain_over", other, queue="FQ-CoDel", **at).scaled(100)
        findings.append(within(gain, -NOTHING, float("inf"), f"{words}: FQ-CoDel over 100 packets (%)"))
    return every(findings)
