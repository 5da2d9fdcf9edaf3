"""What this machine holds: real programs over a path by the clock, and how late packets are.

    python -m validation.live --times 3

| case | path | program |
| --- | --- | --- |
| `ping` | 100 Mb/s, 20 ms | 200 echoes |
| `udp` | 1 Gb/s, 5 ms | `iperf3 -u -b 500M`, datagrams of 1448 octets, a socket's buffer of 4 MB |
| `tcp` | 1 Gb/s, 5 ms | `iperf3`, full-sized packets |
| `node` | 1 Gb/s, 5 ms | a simulated node sends full-sized packets to a program that reads none of them |

A socket's usual buffer of 208 kB is full after 2 ms in which the machine does not run `iperf3`. `node` measures the
path alone: neither the sender nor the receiver needs a processor.

Below the table stands the machine's own share: for how long loops that only read the clock, one on each processor,
are stopped. No program is more punctual than that.

`--prefix` stands before each command, such as `taskset -c 0` for one processor. Needs Debian's `iperf3` and
`iputils-ping`. It prints the machine's load average before each run.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from validation.kernel import COMMAND
from validation.lateness import lateness

SECONDS = 5
SERVER = ["--on", "server", "--", "iperf3", "-s", "-1", "--on", "client", "--", "sh", "-c"]
CLIENT = f"sleep 1; exec iperf3 -J -c server -t {SECONDS} "
#: A gigabit a second of packets of 1500 octets, from the simulation.
FROM_A_NODE = f"""
[scenario]
name = "A gigabit from a simulated node"
duration = "{SECONDS + 2}s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "client"
external = true
[[link]]
name = "path"
between = ["server", "client"]
rate = "1Gb/s"
delay = "5ms"
[[flow]]
name = "stream"
from = "server"
to = "client"
port = 5000
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", packet_size = "1472B", interval = "12us", start = "1s" }}
"""
DEAF = """
import socket, time
listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listening.bind(("", 5000))
time.sleep(60)
"""
CASES: dict[str, tuple[str, list[str]]] = {
    "ping": ("100Mb/s,20ms", ["--on", "client", "--", "ping", "-q", "-i", "0.02", "-c", "200", "server"]),
    "udp": ("1Gb/s,5ms,queue=2000", [*SERVER, CLIENT + "-u -b 500M -l 1448 -w 4M"]),
    "tcp": ("1Gb/s,5ms,queue=2000", [*SERVER, CLIENT]),
    "node": ("", ["--on", "client", "--", sys.executable, "-c", DEAF]),
}


def run(case: str, prefix: Sequence[str]) -> str:
    """One run, as cells of a table."""
    load = Path("/proc/loadavg").read_text(encoding="ascii").split()[0]
    link, programs = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "node.toml"
        scenario.write_text(FROM_A_NODE)
        path = ["--link", link] if link else [str(scenario)]
        done = subprocess.run(
            [*prefix, COMMAND, "live", *path, "--max-lateness", "10s", *programs],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
    late = lateness(done.stderr)
    lost = ", ".join(re.findall(r"\w+: (.* dropped .*)", done.stderr)) or "nothing"
    if case == "ping":
        found = re.search(r"= ([\d.]+)/([\d.]+)/([\d.]+)/", done.stdout)
        told = f"{found[1]} to {found[3]} ms, mean {found[2]}" if found else done.stdout
    elif case == "node":
        # From the first packet's arrival on; of octets on the wire.
        told = f"{late.packets * 1500 * 8 / (SECONDS + 1 - 0.005) / 1e6:.0f} Mb/s"
    else:
        rate = re.findall(r'"bits_per_second":\s*([\d.]+)', done.stdout)[-1]
        shares = re.findall(r'"lost_percent":\s*([\d.e-]+)', done.stdout)
        told = f"{float(rate) / 1e6:.0f} Mb/s" + (f", {float(shares[-1]):.3f} % lost" if shares else "")
    us = late.processor_s / max(late.packets, 1) * 1e6
    return f"{load} | {told} | {late.median_ms:.3f} ms | {late.p999_ms:.3f} ms | {lost} | {us:.1f}"


def pauses_ms(processor: int) -> list[float]:
    """For how long a loop that only reads the clock is stopped on a processor: what is above 0.2 ms."""
    os.sched_setaffinity(0, {processor})
    found = []
    before = time.perf_counter_ns()
    end = before + SECONDS * 10**9
    while before < end:
        now = time.perf_counter_ns()
        if now - before > 200_000:
            found.append((now - before) / 1e6)
        before = now
    return found


def machine() -> str:
    """What its own pauses are while all processors work, in a sentence."""
    processors = sorted(os.sched_getaffinity(0))
    with ProcessPoolExecutor(len(processors)) as pool:
        found = [pause for each in pool.map(pauses_ms, processors) for pause in each]
    share = sum(found) / (10 * SECONDS * len(processors))
    return (
        f"Loops that only read the clock, on {len(processors)} processors for {SECONDS} s: {len(found)} pauses above "
        f"0.2 ms, {max(found, default=0):.2f} ms at most, {share:.3f} % of the time"
    )


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=CASES, help="by default all")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--prefix", default="", help="words before each command")
    arguments = parser.parse_args()
    say = sys.stdout.write
    say("| case | load | measured | late, half | late, 99.9 % | dropped outside | processor time a packet, us |\n")
    say("|---|---|---|---|---|---|---|\n")
    for case in arguments.case or CASES:
        for _ in range(arguments.times):
            say(f"| {case} | {run(case, shlex.split(arguments.prefix))} |\n")
            sys.stdout.flush()
    say(f"\n{machine()}\n")


if __name__ == "__main__":
    main()
