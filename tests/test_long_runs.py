"""Runs that would take more memory or time than there is, and captures that are not finished."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import roamsim
from conftest import begin, environment
from roamsim import _roamsim

Command = Any

#: Packets of 2 octets at 1 Tb/s: 62,500,000 in a millisecond, of which few are served.
FLOOD = """
[scenario]
name = "flood"
duration = "50ms"

[[node]]
name = "a"
[[node]]
name = "b"

[[link]]
name = "wire"
between = ["a", "b"]
rate = "1Tb/s"
delay = "40ms"

[[flow]]
name = "flood"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "2B", rate = "1Tb/s" }
"""

#: One message of a gigabyte over 2 Mb/s for a second: some 250 segments.
LARGE = """
[scenario]
name = "large"
duration = "1s"

[[node]]
name = "a"
[[node]]
name = "b"

[[link]]
name = "wire"
between = ["a", "b"]
rate = "2Mb/s"
delay = "1ms"

[[flow]]
name = "large"
from = "a"
to = "b"
transport = { protocol = "%s" }
application = { kind = "cbr", packet_size = "1GB", rate = "1Gb/s" }
"""


@pytest.fixture
def default_limit() -> Any:
    """Takes back what a test sets."""
    yield
    roamsim.limit_memory(None)


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not tell how much memory is taken"
)
def test_a_run_that_takes_too_much_memory_ends_with_what_it_reached(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "flood.toml").write_text(FLOOD)
    stderr = roamsim("run", "flood.toml", "--max-memory", "400MB", code=1).stderr
    assert "too much memory" in stderr
    assert "--max-memory allows 400.0 MB" in stderr
    assert "packets under way" in stderr
    assert "Traceback" not in stderr
    stderr = roamsim("run", "flood.toml", "--max-memory", "many", code=2).stderr
    assert "8GB" in stderr


#: In a process of its own: the limit is that of the process, and other tests have taken memory in this one.
MORE_RUNS = """
import sys
import pytest
import roamsim
from roamsim import _roamsim

flood = sys.stdin.read()
roamsim.limit_memory("400MB")
small = roamsim.load(flood.replace("1Tb/s", "10Mb/s"))
for _ in range(3):
    with pytest.raises(roamsim.RunFailed, match="too much memory"):
        roamsim.run(flood)
    assert roamsim.run(small).events > 1000
# One at a time: what is not begun when the first is stopped is not passed over in silence.
batch = _roamsim.Batch([(roamsim.load(flood), 1, 0), (small, 1, 0), (small, 1, 1)], jobs=1)
texts = {index: str(failed) for index, failed in batch}
assert sorted(texts) == [0, 1, 2]
assert "it takes too much memory" in texts[0]
assert all("it was not begun" in texts[index] and "too much memory" in texts[index] for index in (1, 2))
"""


def test_after_too_much_memory_other_runs_begin_with_what_there_is() -> None:
    done = subprocess.run([sys.executable, "-c", MORE_RUNS], input=FLOOD, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_limit_is_that_of_the_process(tmp_path: Path, default_limit: None) -> None:
    roamsim.limit_memory(2**20)
    with pytest.raises(roamsim.RunFailed, match="too much memory"):
        roamsim.run(FLOOD)
    for wrong in ("8", "1s", "-1GB", 0, "1e30GB"):
        with pytest.raises(roamsim.UsageError, match="as in 8GB"):
            roamsim.limit_memory(wrong)


def test_an_interrupted_run_ends_at_once_and_leaves_the_earlier_capture(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(FLOOD.replace("1Tb/s", "10Mb/s").replace("50ms", "1000000s"))
    (tmp_path / "run.pcapng").write_bytes(b"earlier")
    process = begin("run", "long.toml", "--pcap", "run.pcapng", cwd=tmp_path)
    aside: list[Path] = []
    until_s = time.monotonic() + 60
    while not aside:
        assert time.monotonic() < until_s, "no capture was begun aside"
        time.sleep(0.05)
        aside = [file for file in tmp_path.glob(".tmp-*") if file.stat().st_size > 0]
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    # Within a second where nothing else runs.
    assert time.monotonic() - begun < 20
    assert (tmp_path / "run.pcapng").read_bytes() == b"earlier"
    assert not list(tmp_path.glob(".tmp-*"))


def test_a_capture_that_cannot_be_written_leaves_the_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(LARGE % "tcp")
    (tmp_path / "run.pcapng").write_bytes(b"earlier")

    def no_large_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = subprocess.run(
        [sys.executable, "-m", "roamsim", "run", "scenario.toml", "--pcap", "run.pcapng"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=no_large_files,
    )
    assert done.returncode == 1
    assert "the capture could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run.pcapng").read_bytes() == b"earlier"
    assert not list(tmp_path.glob(".tmp-*"))


@pytest.mark.parametrize("protocol", ["tcp", "sctp"])
def test_a_capture_costs_by_what_it_holds_not_by_message_size(protocol: str, tmp_path: Path) -> None:
    scenario = roamsim.load(LARGE % protocol)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plain = _roamsim.run(scenario)
    result = _roamsim.run(scenario, pcap=str(tmp_path / "run.pcapng"))
    # 2 Mb/s carry 250 kB in a second, captured at both ends.
    assert 200_000 < (tmp_path / "run.pcapng").stat().st_size < 1_000_000
    assert result.events == plain.events
    # Each of some 200 segments took a message of a gigabyte, 0.5 s each; all of them together take milliseconds.
    assert result.cpu_s < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_run_tells_how_far_it_is() -> None:
    scenario = roamsim.load(FLOOD.replace("1Tb/s", "100Mb/s").replace("50ms", "100s"))
    heard: list[float] = []

    class Enough(Exception):
        pass

    def hear(share: float) -> None:
        heard.append(share)
        if len(heard) == 5:
            raise Enough

    with pytest.raises(Enough):
        _roamsim.run(scenario, heard=hear)
    assert heard == sorted(heard)
    assert 0 < heard[-1] < 1
    batch = _roamsim.Batch([(scenario, 1, 0), (scenario, 1, 1)], jobs=2, heard=hear)
    heard.clear()
    with pytest.raises(Enough):
        next(batch)
    assert 0 < heard[-1] < 2
