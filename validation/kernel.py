"""The kernel's TCP over a simulated path, and `stack = "linux"` over the same path.

`roamsim live` joins two programs of this machine by the path. One sends as much as it can by the kernel's TCP, and
reads the smoothed round trip after 5.5 s and the number of timeouts. The other counts the octets of 20 s from the
first one on. The simulation counts the same. `validation/paths.py` has the paths of the cases.

    python -m validation.kernel --case loss=0,0.1,1,3 --case outage=0.2,0.5,1,2,3 --runs 8
    python -m validation.kernel --case reordering=1,2,5 --case step=5,2,1 --control reno
    python -m validation.kernel --case handover=all --case numbers=0.1,1,3

Losses and delays of `loss` and `reordering` have different draws on both sides. Runs of `numbers` and `handover` are
pairs: the kernel's run and the simulated one of the same number have the same path.

The column "theory", of losses, is the rate of the path less headers if that is the smallest, and of BBR less losses.
Otherwise it has two laws. Padhye et al. (2000) count timeouts, and losses that take the rest of a round trip. Mathis
et al. (1997) do not. Both hold for CUBIC too, whose windows are Reno's on this path (RFC 9438 section 4.3).

`--set KEY=VALUE` sets a key of the simulated transport beside the preset. With `--runs 0` the kernel does not run.

The machine has to keep the clock: the lateness of packets is part of the path. It is printed. `--late MS` makes the
packets of the simulation late as well, each by an exponential time of that mean, in their order.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import polars
import roamsim
from roamsim.statistics import Estimate, mean
from roamsim.theory.tcp import pftk_throughput, square_root_law

from validation.lateness import lateness
from validation.paths import HANDOVERS, START_S, path

SECONDS = 20
#: The simulation's name for a congestion control of the kernel, where it has another.
OURS = {"bbr": "bbr1"}
#: Cases whose runs are pairs of equal paths.
PAIRED = ("numbers", "handover")
#: The `roamsim` beside the interpreter.
COMMAND = str(Path(sys.executable).parent / "roamsim")

#: The smoothed round trip is taken so many seconds after the start, before outages and steps.
STEADY_S = 5.5

#: The program begins with the path, and waits until `START_S` of its age. Of `struct tcp_info`
#: (include/uapi/linux/tcp.h, Linux 6.7): `tcpi_rtt` in microseconds is a number of 32 bits at octet 68,
#: `tcpi_total_rto` is one of 16 bits at octet 240.
SOURCE = """
    import os, socket, struct, time
    with open("/proc/self/stat") as stat:
        begun_ticks = int(stat.read().rpartition(")")[2].split()[19])
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - begun_ticks / os.sysconf("SC_CLK_TCK")
    time.sleep(max(0, START_S - age_s))
    for _ in range(100):
        try:
            there = socket.create_connection(("client", 5001))
            break
        except OSError:
            time.sleep(0.1)
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"CONTROL")
    begun = time.monotonic()
    try:
        while True:
            there.send(bytes(16384))
            info = there.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 248)
            with open("TIMEOUTS", "a") as file:
                rtt, timeouts = struct.unpack_from("I", info, 68)[0], struct.unpack_from("H", info, 240)[0]
                file.write(f"{time.monotonic() - begun:.3f} {rtt} {timeouts}\\n")
    except OSError:
        pass
"""

SINK = """
    import socket, time
    there, _ = socket.create_server(("", 5001)).accept()
    there.settimeout(0.05)
    octets, begun = 0, None
    while begun is None or time.monotonic() - begun < SECONDS:
        try:
            octets += len(there.recv(1 << 20))
        except TimeoutError:
            continue
        if begun is None:
            begun = time.monotonic()
    print("octets", octets, flush=True)
"""


def program(text: str, **words: object) -> list[str]:
    """A command that runs a text of Python with some words in place of others."""
    text = textwrap.dedent(text)
    for word, value in words.items():
        text = text.replace(word, str(value))
    return [sys.executable, "-c", text]


class Measured(NamedTuple):
    """Goodput, timeouts, smoothed round trip, and the 99.9th percentile of lateness (the simulation has none)."""

    rate_bps: float
    timeouts: int
    srtt_ms: float
    late_ms: float = 0.0


def kernel(case: str, value: str, run: int, control: str) -> Measured:
    """One run of the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file, timeouts = Path(folder) / "path.json", Path(folder) / "timeouts"
        file.write_text(json.dumps(path(case, value, run, "10min")), encoding="utf-8")
        done = subprocess.run(
            [
                COMMAND, "live", str(file), "--seed", str(run), "--max-lateness", "1s",
                "--on", "client", "--", *program(SINK, SECONDS=SECONDS),
                "--on", "server", "--", *program(SOURCE, CONTROL=control, TIMEOUTS=timeouts, START_S=START_S),
            ],
            capture_output=True, text=True, check=True, timeout=4 * SECONDS,
        )  # fmt: skip
        octets = re.search(r"octets (\d+)", done.stdout)
        if octets is None:
            raise RuntimeError(f"no result: {done.stdout}\n{done.stderr}")
        late_ms = lateness(done.stderr).p999_ms
        rows = [line.split() for line in timeouts.read_text().splitlines()]
        srtt_ms = max((row for row in rows if float(row[0]) < STEADY_S), key=lambda row: float(row[0]))[1]
        return Measured(int(octets.group(1)) * 8 / SECONDS, int(rows[-1][2]), int(srtt_ms) / 1000, late_ms)


def simulated(case: str, value: str, run: int, settings: dict[str, object], late_ms: float = 0.0) -> Measured:
    """One run of the simulation over the same time."""
    # The handshake and the way of the first octet.
    scenario = path(case, value, run, f"{START_S + SECONDS + 0.0624}s", late_ms)
    sender = "sender" if late_ms else "server"
    transport = {"protocol": "tcp", "stack": "linux", **settings}
    application = {"kind": "bulk", "start": f"{START_S}s"}
    bulk = {"name": "bulk", "from": sender, "to": "client", "application": application, "transport": transport}
    result = roamsim.run({**scenario, "flow": [bulk]}, seed=run, trace="rtt")
    of_sender = result.samples.filter(
        (polars.col("from") == sender)
        & (polars.col("quantity") == "srtt")
        & (polars.col("time_s") < START_S + STEADY_S)
    )
    flows = result.flows
    srtt_ms = of_sender["value"][-1] * 1000
    return Measured(flows["delivered_bytes"][0] * 8 / SECONDS, flows["timeouts"][0], srtt_ms)


def theory(case: str, value: str, control: str) -> str:
    """The goodput that theory gives, in Mb/s; of losses alone."""
    if case != "loss":
        return "-"
    # 1448 octets of a packet of 1500 are data, which takes 1.2 ms, and its ACK 42 us.
    loss, segment_bits, round_trip_s = float(value) / 100, 8 * 1448, 0.04 + 0.001242
    most = 10e6 * 1448 / 1500
    if control == "bbr":
        return f"{most * (1 - loss) / 1e6:.3f}"
    if not loss:
        return f"{most / 1e6:.3f}"
    # The kernel's timeout is the round trip and 200 ms.
    laws = (pftk_throughput(loss, round_trip_s, 0.2 + round_trip_s), square_root_law(loss, round_trip_s))
    low, high = (f"{min(segment_bits * law, most) / 1e6:.3f}" for law in laws)
    return low if low == high else f"{low} to {high}"


def megabits(rate: Estimate) -> str:
    """A rate in Mb/s with its interval."""
    return f"{rate.mean / 1e6:.3f} ± {rate.half_width / 1e6:.3f}"


def main() -> None:
    """Prints a table of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--case", action="append", metavar="CASE=VALUES", help="by default loss=0,0.1,1,3; may be repeated"
    )
    parser.add_argument("--runs", type=int, default=8, help="runs of the kernel for each")
    parser.add_argument("--simulated", type=int, default=40, help="runs of the simulation for each, but for pairs")
    parser.add_argument("--side-by-side", type=int, default=3, help="runs of the kernel at once")
    parser.add_argument("--control", default="cubic", help="the congestion control of both, by the kernel's name")
    parser.add_argument("--late", type=float, default=0.0, metavar="MS", help="mean lateness of simulated packets")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the transport, as TOML"
    )
    arguments = parser.parse_args()
    control = OURS.get(arguments.control, arguments.control)
    settings: dict[str, object] = {} if control == "cubic" else {"congestion_control": control}
    if arguments.control == "reno":
        # The kernel's HyStart is a part of its CUBIC.
        settings["hystart"] = False
    settings |= tomllib.loads("\n".join(arguments.set))
    say = sys.stdout.write
    say("| case | kernel, Mb/s | timeouts | SRTT, ms | simulated, Mb/s | timeouts | SRTT, ms ")
    say("| kernel / simulated | theory, Mb/s | late, ms |\n|---|---|---|---|---|---|---|---|---|---|\n")
    for cases in arguments.case or ["loss=0,0.1,1,3"]:
        case, _, values = cases.partition("=")
        for value in HANDOVERS if (case, values) == ("handover", "all") else values.split(","):
            with ThreadPoolExecutor(arguments.side_by_side) as pool:
                runs = range(1, arguments.runs + 1)
                theirs = list(
                    pool.map(lambda run, case=case, value=value: kernel(case, value, run, arguments.control), runs)
                )
            count = arguments.runs if case in PAIRED and theirs else arguments.simulated
            ours = [simulated(case, value, run, settings, arguments.late) for run in range(1, count + 1)]
            rate = mean([each.rate_bps for each in ours])
            timeouts = sum(each.timeouts for each in ours) / len(ours)
            srtt_ms = statistics.median(each.srtt_ms for each in ours)
            law = theory(case, value, arguments.control)
            say(f"| {case} {value} | ")
            if theirs:
                kernels = mean([each.rate_bps for each in theirs])
                their_timeouts = sum(each.timeouts for each in theirs) / len(theirs)
                late = max(each.late_ms for each in theirs)
                their_srtt_ms = statistics.median(each.srtt_ms for each in theirs)
                say(f"{megabits(kernels)} | {their_timeouts:.1f} | {their_srtt_ms:.0f} | ")
                say(f"{megabits(rate)} | {timeouts:.1f} | {srtt_ms:.0f} | ")
                ratio = f"{kernels.mean / rate.mean:.3f}"
                if case in PAIRED:
                    pairs = mean([a.rate_bps / b.rate_bps for a, b in zip(theirs, ours, strict=True)])
                    ratio = f"{pairs.mean:.3f} ± {pairs.half_width:.3f}"
                say(f"{ratio} | {law} | {late:.1f} |\n")
            else:
                say(f"- | - | - | {megabits(rate)} | {timeouts:.1f} | {srtt_ms:.0f} | - | {law} | - |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
