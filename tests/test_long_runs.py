"""Runs that would take more memory or time than there is, and captures that are not finished."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import types
import warnings
from pathlib import Path
from typing import Any

import filelock
import polars
import pytest
import roamsim
from conftest import begin, environment
from roamsim import _roamsim
from roamsim.errors import Notice
from roamsim.running.foresight import foresee, pace
from roamsim.storing.spool import spooling

Command = Any

#: Where a fixture has the package's name.
package = roamsim

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


#: One point of three takes too much memory, and is stopped with those at work beside it.
AMONG_OTHERS = """
import sys
import pytest
import roamsim

flood = sys.stdin.read()
vary = {"flow.flood.application.rate": "10Mb/s,1Tb/s,20Mb/s"}
roamsim.limit_memory("400MB")
for limit_s in (None, 60):
    out = f"{sys.argv[1]}/{limit_s}"
    with pytest.raises(roamsim.RunFailed) as told:
        roamsim.sweep(flood, vary, replications=2, jobs=2, out=out, time_limit_s=limit_s)
    first, *failures = str(told.value).splitlines()
    assert first.startswith("2 of 6 runs failed"), first
    for replication, failure in enumerate(failures):
        assert f"rate=1Tb/s, replication {replication}, seed 1: it takes too much memory" in failure, failure
    found = roamsim.open_results(out).flows
    assert found.group_by("point", maintain_order=True).len().rows() == [(0, 2), (2, 2)], found
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not tell how much memory is taken"
)
def test_what_takes_too_much_memory_keeps_no_other_run_from_being_made(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", AMONG_OTHERS, str(tmp_path)]
    done = subprocess.run(command, input=FLOOD, text=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_after_too_much_memory_other_runs_begin_with_what_there_is() -> None:
    done = subprocess.run([sys.executable, "-c", MORE_RUNS], input=FLOOD, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore::roamsim.errors.Notice")
def test_the_limit_is_that_of_the_process(tmp_path: Path, default_limit: None) -> None:
    roamsim.limit_memory(2**20)
    with pytest.raises(roamsim.RunFailed, match="too much memory"):
        roamsim.run(FLOOD)
    for wrong in ("8", "1s", "-1GB", 0, "1e30GB"):
        with pytest.raises(roamsim.UsageError, match="such as 8GB"):
            roamsim.limit_memory(wrong)


def test_what_plainly_takes_long_or_too_much_is_told_before(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "flood.toml").write_text(FLOOD)
    stderr = roamsim("run", "flood.toml", "--max-memory", "400MB", code=1).stderr
    # 1 Tb/s over 16 bits: 62.5e9 packets a second for 50 ms, which are generated and arrive. Over the wire of 1 Tb/s 50 octets
    # take 0.4 ns, which is no whole nanosecond: all are under way for 40 ms.
    assert "6.25 billion events" in stderr
    assert "260 GB of memory (2.5 billion packets under way) beside the " in stderr
    assert " in use, and is stopped above the 400 MB of --max-memory" in stderr
    (tmp_path / "small.toml").write_text(FLOOD.replace("1Tb/s", "10Mb/s"))
    assert roamsim("run", "small.toml", "--max-memory", "400MB").stderr == ""
    # Rows that are held in memory count.
    held = FLOOD.replace("1Tb/s", "100Mb/s").replace("50ms", "10s")
    with pytest.warns(Notice, match="rows of traces"):
        begun = time.process_time()
        foresee([(package.load(held), 100)], ["packets"], at_once=2, held=100)
        foreseen_s = time.process_time() - begun
    # Less than a ten thousandth of what it is about: a run of a hundredth of the time takes some 0.1 s.
    assert foreseen_s < _roamsim.run(package.load(held, set={"scenario.duration": "100ms"})).cpu_s


def test_rows_that_plainly_do_not_fit_on_the_disk_are_told_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = package.load(STREAM)
    # 80 Mb/s in 500 octets for 6 s are 120,000 packets; of each is told that it is sent, carried twice and delivered. A row
    # takes 20 octets: 9.6 MB.
    monkeypatch.setattr("shutil.disk_usage", lambda _: types.SimpleNamespace(free=9_500_000))
    with pytest.warns(Notice, match=r"9\.6 MB on the disk \(480,000 rows of traces\), where .* has 9\.5 MB left"):
        foresee([(scenario, 1)], ["packets"], at_once=1, folder=tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: types.SimpleNamespace(free=9_700_000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        foresee([(scenario, 1)], ["packets"], at_once=1, folder=tmp_path)


def test_a_sweep_tells_before_what_takes_long(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "flood.toml").write_text(FLOOD)
    # Two points of 62.5e9 packets a second for 5 ms, generated and arriving.
    options = ("--vary", "link.wire.delay=10ms,20ms", "--set", "scenario.duration=5ms", "--max-memory", "400MB")
    stderr = roamsim("sweep", "flood.toml", *options, "--out", "swept", code=1).stderr
    assert "flood: by rates, sizes, delays and duration this takes some 1.25 billion events" in stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_the_memory_of_the_process_is_what_the_system_tells() -> None:
    used, _ = _roamsim.memory_bytes()
    [resident_kb] = re.findall(r"^VmRSS:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert used == pytest.approx(1024 * int(resident_kb), rel=0.1)


def test_the_pace_of_a_run_tells_what_is_left() -> None:
    # A hundredth in 60 s: 99 min more. Its memory does not grow.
    used, _ = _roamsim.memory_bytes()
    assert pace(0.01, 60.0, (0.005, used)) == ["at this pace the run takes 99 min more; Ctrl-C ends it"]
    assert pace(0.99, 60.0, (0.98, used)) == []


def test_an_estimate_is_of_the_traces_that_are_asked_for() -> None:
    scenario = package.load(FLOOD)
    events, packets, rows = scenario.estimate(["packets"])
    assert rows > 1e6
    # The last is remembered.
    assert scenario.estimate([]) == (events, packets, 0)
    assert scenario.estimate(["packets"]) == scenario.estimate(["packets"]) == (events, packets, rows)


def test_memory_is_foreseen_by_what_it_grows_not_by_what_was_taken_to_begin_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roamsim.running.foresight.memory_bytes", lambda: (300_000_000, 1_000_000_000))
    # 25 MB for a hundredth: 2.45 GB more for the rest.
    told = "at this pace it takes 2.75 GB of memory, and is stopped at 1 GB (--max-memory)"
    assert pace(0.02, 1.0, (0.01, 275_000_000)) == [told]
    # A large world, of which nothing is added.
    assert pace(0.02, 1.0, (0.01, 299_000_000)) == []


#: Small datagrams over two wires, one of which loses some: four events each.
STREAM = """
[scenario]
name = "stream"
duration = "6s"

[[node]]
name = "a"
[[node]]
name = "r"
[[node]]
name = "b"

[[link]]
name = "first"
between = ["a", "r"]
rate = "100Mb/s"
delay = "5ms"
[[link]]
name = "second"
between = ["r", "b"]
rate = "100Mb/s"
delay = "5ms"
loss = { model = "bernoulli", probability = 0.01 }

[[flow]]
name = "data"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "500B", rate = "80Mb/s" }
"""


def peak_kb(*arguments: str, cwd: Path) -> int:
    """The most memory that a command takes."""
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
    )
    measure += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    command = [sys.executable, "-c", measure, sys.executable, "-m", "roamsim", *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_traces_go_to_disk_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "stream.toml").write_text(STREAM)
    peaks, rows = [], []
    for duration in ("2s", "16s"):
        trace = ("--trace", "packets", "--parquet", duration)
        peaks.append(peak_kb("run", "stream.toml", "--set", f"scenario.duration={duration}", *trace, cwd=tmp_path))
        rows.append(package.open_results(tmp_path / duration).packets.height)
        assert not list((tmp_path / duration).glob(".tmp-*"))
    # A million rows more, which take 170 MB where they are held in memory.
    assert rows[1] - rows[0] > 1_000_000
    assert peaks[1] - peaks[0] < 80_000


def test_what_a_killed_run_has_spooled_is_removed_by_a_later_one(
    roamsim: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stream.toml").write_text(STREAM)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))

    def spools(folder: Path) -> list[Path]:
        return [file.parent for file in folder.glob("*spool-*/.held")]

    for folder, options in ((tmp_path / "out", ["--parquet", "out"]), (tmp_path / "temporary", ["--csv"])):
        long = ("run", "stream.toml", "--trace", "packets", "--set", "scenario.duration=1h")
        process = begin(*long, *options, cwd=tmp_path, stdout=subprocess.DEVNULL)
        while not spools(folder):
            assert process.poll() is None
            time.sleep(0.01)
        (left,) = spools(folder)
        short = ("run", "stream.toml", "--trace", "packets", "--set", "scenario.duration=10ms")
        # A run that goes on keeps its rows, however long it has had them.
        os.utime(left / ".held", (0, 0))
        roamsim(*short, "--csv")
        if folder.name == "out":
            roamsim(*short, *options, code=2)
        assert left.is_dir()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert left.is_dir()
        os.utime(left / ".held", (0, 0))
        roamsim(*short, *options)
        assert not spools(folder)


def test_a_link_in_the_place_of_a_spool_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / ".held").write_text("theirs")
    (tmp_path / ".tmp-spool-folder").symlink_to(tmp_path / "another")
    (tmp_path / ".tmp-spool-file").mkdir()
    (tmp_path / ".tmp-spool-file" / ".held").symlink_to(tmp_path / "another" / ".held")
    os.utime(tmp_path / "another" / ".held", (0, 0))
    locked: list[Path] = []

    class Told(filelock.FileLock):
        def __init__(self, path: Path, **options: Any) -> None:
            locked.append(path)
            super().__init__(path, **options)

    monkeypatch.setattr(filelock, "FileLock", Told)
    with spooling(tmp_path) as spool:
        assert locked == [spool.folder / ".held"]
    assert (tmp_path / "another" / ".held").read_text() == "theirs"
    assert (tmp_path / ".tmp-spool-file").is_dir()


def test_rows_on_disk_are_those_in_memory(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "stream.toml").write_text(STREAM.replace("6s", "900ms"))
    options = ("run", "stream.toml", "--replications", "2", "--trace", "packets,messages,queue")
    roamsim(*options, "--parquet", "traced")
    held = package.run(tmp_path / "stream.toml", replications=2, trace="packets,messages,queue")
    written = package.open_results(tmp_path / "traced")
    assert list(written) == list(held)
    # More than one lot of each replication.
    assert held.packets.height > 2 * 2**15
    for name, frame in held.items():
        assert written[name].schema == frame.schema
        assert written[name].equals(frame), name
    assert roamsim(*options, "--csv", "--table", "packets").stdout == held.packets.write_csv()
    short = {"scenario.duration": "50ms"}
    few = package.run(tmp_path / "stream.toml", replications=2, trace="packets,messages,queue", set=short)
    printed = json.loads(roamsim(*options, "--json", "--set", "scenario.duration=50ms").stdout)
    assert printed == few.to_dict()
    # A capture beside them changes nothing.
    one = ("run", "stream.toml", "--trace", "packets,messages,queue", "--parquet", "captured", "--pcap", "x.pcapng")
    roamsim(*one)
    first = held.packets.filter(polars.col("replication") == 0)
    assert package.open_results(tmp_path / "captured").packets.equals(first)


def test_a_trace_that_the_disk_cannot_take_leaves_the_earlier_results(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "stream.toml").write_text(STREAM)
    roamsim("run", "stream.toml", "--set", "scenario.duration=10ms", "--trace", "packets", "--parquet", "kept")
    before = package.open_results(tmp_path / "kept").packets

    def no_large_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = subprocess.run(
        [sys.executable, "-m", "roamsim", "run", "stream.toml", "--trace", "packets", "--parquet", "kept"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=no_large_files,
    )
    assert done.returncode == 1
    assert "kept: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert package.open_results(tmp_path / "kept").packets.equals(before)
    assert not list((tmp_path / "kept").glob(".tmp-*"))


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
    small = roamsim.load(LARGE % protocol, set={"flow.large.application.packet_size": "50kB"})
    small_s = _roamsim.run(small, pcap=str(tmp_path / "small.pcapng")).cpu_s
    # 2 Mb/s carry 250 kB in a second, captured at both ends.
    assert 200_000 < (tmp_path / "run.pcapng").stat().st_size < 1_000_000
    assert result.events == plain.events
    # Each of some 200 segments took a message of a gigabyte, 0.5 s each; it takes what messages of 50 kB take.
    assert result.cpu_s < 20 * small_s
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


def test_threads_are_ahead_of_who_takes_their_runs_by_a_few() -> None:
    """Outcomes of runs that are shorter than what is done with them would fill the memory."""
    nothing = roamsim.load(
        {
            "scenario": {"name": "Next to nothing", "duration": "1ms"},
            "node": [{"name": "a"}, {"name": "b"}],
            "link": [{"name": "pipe", "between": ["a", "b"], "rate": "1Mb/s", "delay": "1ms"}],
            "flow": [
                {
                    "name": "flow",
                    "from": "a",
                    "to": "b",
                    "transport": {"protocol": "udp"},
                    "application": {"kind": "cbr", "rate": "1Mb/s", "packet_size": "100B"},
                }
            ],
        }
    )
    batch = _roamsim.Batch([(nothing, 1, replication) for replication in range(2000)], jobs=2)
    time.sleep(1)
    batch.cancel()
    made = sum(not isinstance(outcome, Exception) for _, outcome in batch)
    assert 2 <= made <= 2 * (8 + 1)
