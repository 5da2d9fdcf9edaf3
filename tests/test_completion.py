"""What Tab offers, asked as a shell asks."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT, environment

EXAMPLE = ROOT / "examples" / "one-tcp-flow.toml"


def offered(*words: str) -> list[str]:
    """What bash is told when Tab is pressed at the end of the last word."""
    asked = environment() | {
        "_ROAMSIM_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("roamsim", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "roamsim"], env=asked, capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("study", "run", "tcp"), ["tcp-dect", "tcp-wifi-mobility"]),
        (("study", "show", "sctp"), ["sctp-mobile-ip"]),
        (("run", EXAMPLE, "--trace", "cw"), ["cwnd"]),
        (("run", EXAMPLE, "--trace", "cwnd,cw"), []),
        (("run", EXAMPLE, "--trace", "rtt,cw"), ["rtt,cwnd"]),
        (("run", EXAMPLE, "--csv", "--table", "handov"), ["handovers", "handover_flows"]),
        (("compare", EXAMPLE, "--metric", "flows.goodput_"), ["flows.goodput_bps"]),
        (("plot", "DIR", "--what", "dlc_q"), ["dlc_queue"]),
        (("explain", "flows.goodput_"), ["flows.goodput_bps"]),
    ],
)
def test_names_are_offered(words: tuple[object, ...], expected: list[str]) -> None:
    assert offered(*map(str, words)) == expected


@pytest.mark.parametrize(
    "words", [("run", EXAMPLE, "--set"), ("sweep", EXAMPLE, "--vary"), ("compare", EXAMPLE, "--vary")]
)
def test_keys_of_the_scenario_at_hand_are_offered(words: tuple[object, ...]) -> None:
    asked = tuple(map(str, words))
    # What the file sets, and what the schema allows beside it: of a TCP flow, nothing of SCTP.
    transport = offered(*asked, "flow.ftp.transport.m")
    assert {"flow.ftp.transport.min_rto", "flow.ftp.transport.mss", "flow.ftp.transport.max_rto"} <= set(transport)
    assert offered(*asked, "flow.ftp.transport.heartbeat") == []
    assert offered(*asked, "link.pipe.loss.pro") == ["link.pipe.loss.probability"]
    assert offered(*asked, "link.pipe.outages.0.") == ["link.pipe.outages.0.duration", "link.pipe.outages.0.start"]


def test_a_file_that_cannot_be_read_offers_nothing() -> None:
    assert offered("run", "nothing.toml", "--set", "li") == []
    assert offered("run", "-", "--set", "li") == []
