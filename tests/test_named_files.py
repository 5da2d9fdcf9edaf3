"""Files that a scenario names, and the scenario file itself, however they are stored."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import roamsim

SCENARIO = """
[scenario]
name = "a rate from a file"
duration = "30s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = { file = "rate.csv" }
delay = "20ms"
[[flow]]
name = "flow"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1000B", rate = "10Mb/s" }
"""

#: 1 Mb/s for 10 s, 5 Mb/s for 10 s, 2 Mb/s for 10 s.
RATES = "0,1\n10,5\n20,2\n"

STORED = {
    "plain": str.encode,
    "byte order mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "gzip": lambda text: gzip.compress(text.encode("utf-8-sig")),
}


@pytest.mark.parametrize("stored", STORED)
def test_a_file_says_the_same_however_it_is_stored(tmp_path: Path, stored: str) -> None:
    (tmp_path / "rate.csv").write_bytes(STORED[stored](RATES))
    (tmp_path / "s.toml").write_bytes(STORED[stored](SCENARIO))
    links = roamsim.run(tmp_path / "s.toml")["links"]
    # (1 + 5 + 2) Mb/s for 10 s each are 10 MB; the link has a packet of 1028 B in service at the end.
    assert links["sent_bytes"][0] == pytest.approx(10e6, abs=2000)


def test_a_first_line_that_names_no_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    for first in ("x0,1", "a,b,c", "<html>"):
        (tmp_path / "rate.csv").write_text(f"{first}\n{RATES}")
        with pytest.raises(roamsim.ScenarioError, match=r"rate\.csv:1:1"):
            roamsim.load(tmp_path / "s.toml")
    (tmp_path / "rate.csv").write_text('"time (s)","rate (Mb/s)"\n"0","1"\n"10","5"\n')
    assert roamsim.load(tmp_path / "s.toml")


def test_a_packed_scenario_that_is_cut_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.toml.gz").write_bytes(gzip.compress(SCENARIO.encode())[:-9])
    with pytest.raises(roamsim.ScenarioError, match="cannot be unpacked"):
        roamsim.load(tmp_path / "s.toml.gz")
