"""Files that a scenario names, and the scenario file itself, however they are stored."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import roamsim as package
from conftest import Command

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
    links = package.run(tmp_path / "s.toml")["links"]
    # (1 + 5 + 2) Mb/s for 10 s each are 10 MB; the link has a packet of 1028 B in service at the end.
    assert links["sent_bytes"][0] == pytest.approx(10e6, abs=2000)


def test_a_first_line_that_names_no_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    for first in ("x0,1", "a,b,c", "<html>"):
        (tmp_path / "rate.csv").write_text(f"{first}\n{RATES}")
        with pytest.raises(package.ScenarioError, match=r"rate\.csv:1:1"):
            package.load(tmp_path / "s.toml")
    (tmp_path / "rate.csv").write_text('"time (s)","rate (Mb/s)"\n"0","1"\n"10","5"\n')
    assert package.load(tmp_path / "s.toml")


def test_a_scenario_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    for octets, message in (
        (gzip.compress(SCENARIO.encode())[:-9], r"s\.toml cannot be unpacked: .*; compress it again with gzip"),
        (b"[scenario]\n\xe4", r"s\.toml is not a text file: byte 0xe4 at offset 11 is not UTF-8"),
        ("x".encode("utf-16") + b"y", r"s\.toml is not a text file: byte 0x79 at offset 4 is not UTF-16"),
        # 300 MB of one line in 300 kB.
        (gzip.compress(bytes(3 * 10**8), compresslevel=1), r"s\.toml is too large when it is unpacked"),
    ):
        file.write_bytes(octets)
        with pytest.raises(package.ScenarioError, match=message):
            package.load(file)


def test_a_file_outside_is_read_only_where_that_is_allowed(tmp_path: Path, roamsim: Command) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "rate.csv").write_text(RATES)
    (tmp_path / "secret.txt").write_text("the word is swordfish\n")
    file = tmp_path / "own" / "s.toml"
    file.write_text(SCENARIO.replace('"rate.csv"', '"../rate.csv"'))
    vary = ("--vary", "link.line.delay=10ms,20ms")
    for command in (
        ("run", file),
        ("check", file),
        ("sweep", file, *vary),
        ("compare", file, *vary, "--replications", "2"),
        ("sensitivity", file, "--vary", "link.line.delay=10ms:20ms"),
        ("optimise", file, "--vary", "link.line.delay=10ms:20ms", "--maximise", "flows.goodput_bps"),
    ):
        refused = roamsim(*command, code=3).stderr
        assert "lies outside of the scenario's folder" in refused
        assert "--allow-files-outside" in refused
    assert "is valid" in roamsim("check", "--allow-files-outside", file).stdout
    sent = package.run(file, allow_files_outside=True)["links"]["sent_bytes"][0]
    # What is kept needs no file, and a loaded scenario keeps the permission.
    loaded = package.load(file, allow_files_outside=True)
    assert package.run(loaded, set={"link.line.delay": "30ms"})["links"]["sent_bytes"][0] == sent
    results = package.sweep(file, {"link.line.delay": "10ms,20ms"}, out=tmp_path / "out", allow_files_outside=True)
    again = package.sweep(file, {"link.line.delay": "10ms,20ms"}, out=tmp_path / "out", allow_files_outside=True)
    assert again.made == 0 < results.made
    # Nothing of the file is in the error.
    for name in ("../secret.txt", str(tmp_path / "secret.txt"), "/etc/hostname", "../none.txt"):
        file.write_text(SCENARIO.replace("rate.csv", name))
        with pytest.raises(package.ScenarioError, match="lies outside") as refused_too:
            package.load(file)
        assert "swordfish" not in str(refused_too.value)


def test_a_file_that_the_user_names_is_read_wherever_it_lies(tmp_path: Path, roamsim: Command) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "slow.csv").write_text("0,1\n")
    (tmp_path / "fast.csv").write_text("0,8\n")
    (tmp_path / "own" / "rate.csv").write_text(RATES)
    file = tmp_path / "own" / "s.toml"
    file.write_text(SCENARIO)
    roamsim("check", file, "--set", "link.line.rate.file=../slow.csv")
    vary = {"link.line.rate.file": ["../slow.csv", str(tmp_path / "fast.csv")]}
    sent = package.sweep(file, vary)["links"]["sent_bytes"].to_list()
    assert sent[0] < 4e6 < 20e6 < sent[2]


def test_a_file_whose_times_are_in_another_unit_is_told(tmp_path: Path, roamsim: Command) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SCENARIO)
    (tmp_path / "rate.csv").write_text("0,1\n10000,5\n20000,2\n")
    for command in ("check", "run"):
        told = " ".join(roamsim(command, file).stderr.split())
        assert "of 3 values only the first falls into the run: the second is at" in told
    (tmp_path / "rate.csv").write_text(RATES)
    assert "falls into the run" not in roamsim("check", file).stderr


def test_the_wrong_key_for_a_trace_names_the_other(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    (tmp_path / "rate.csv").write_text("0\n5\n10\n")
    file.write_text(SCENARIO)
    with pytest.raises(package.ScenarioError, match="this is a trace of mahimahi"):
        package.load(file)
    (tmp_path / "rate.csv").write_text(RATES)
    file.write_text(SCENARIO.replace("file =", "mahimahi ="))
    with pytest.raises(package.ScenarioError, match="these are times and rates"):
        package.load(file)
