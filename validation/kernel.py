"""The kernel's TCP over a simulated path, and `stack = "linux"` over the same path.

`roamsim live` joins two programs of this machine by the path. One sends as much as it can by the kernel's CUBIC.
The other counts the octets of 20 s from the first one on. The simulation counts the same. Both lose each packet on
its own, in both directions, with different draws.

    python -m validation.kernel --loss 0,0.1,1,3 --runs 8

`--set KEY=VALUE` sets a key of the simulated transport beside the preset. With `--runs 0` the kernel does not run.

The machine has to keep the clock: the lateness of packets is part of the path. It is printed.
"""

import argparse
import re
import subprocess
import sys
import textwrap
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import roamsim
from roamsim.statistics import Estimate, mean

SECONDS = 20
#: The `roamsim` beside the interpreter.
COMMAND = str(Path(sys.executable).parent / "roamsim")

SOURCE = """
    import socket, sys, time
    for _ in range(100):
        try:
            there = socket.create_connection(("client", 5001))
            break
        except OSError:
            time.sleep(0.1)
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"CONTROL")
    try:
        while True:
            there.sendall(bytes(65536))
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


def kernel(loss_percent: str, seed: int, control: str) -> tuple[float, float]:
    """Goodput of one run of the kernel, in bit/s, and the 99.9th percentile of lateness, in ms."""
    done = subprocess.run(
        [
            COMMAND, "live", "--link", f"10Mb/s,20ms,loss={loss_percent}%", "--seed", str(seed),
            "--max-lateness", "1s",
            "--on", "client", "--", *program(SINK, SECONDS=SECONDS),
            "--on", "server", "--", *program(SOURCE, CONTROL=control),
        ],
        capture_output=True, text=True, check=True, timeout=4 * SECONDS,
    )  # fmt: skip
    octets = re.search(r"octets (\d+)", done.stdout)
    late = re.search(r"([\d.]+) ms \(99.9 %\)", done.stderr)
    if octets is None or late is None:
        raise RuntimeError(f"no result: {done.stdout}\n{done.stderr}")
    return int(octets.group(1)) * 8 / SECONDS, float(late.group(1))


def simulated(loss_percent: str, runs: int, settings: dict[str, object]) -> Estimate:
    """Goodput of the simulation over the same time, in bit/s."""
    scenario = {
        # The handshake and the way of the first octet.
        "scenario": {"name": "The same path", "duration": f"{SECONDS + 0.0624}s", "ip": "ipv4"},
        "node": [{"name": "client"}, {"name": "server"}],
        "link": [
            {
                "name": "path", "between": ["client", "server"], "rate": "10Mb/s", "delay": "20ms",
                "loss": {"model": "bernoulli", "probability": float(loss_percent) / 100},
            }
        ],
        "flow": [
            {
                "name": "bulk", "from": "server", "to": "client", "application": {"kind": "bulk"},
                "transport": {"protocol": "tcp", "stack": "linux", **settings},
            }
        ],
    }  # fmt: skip
    octets = roamsim.run(scenario, replications=runs).flows["delivered_bytes"].to_list()
    return mean([count * 8 / SECONDS for count in octets])


def megabits(rate: Estimate) -> str:
    """A rate in Mb/s with its interval."""
    return f"{rate.mean / 1e6:.3f} ± {rate.half_width / 1e6:.3f}"


def main() -> None:
    """Prints a table of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loss", default="0,0.1,1,3", help="probabilities of loss, in percent")
    parser.add_argument("--runs", type=int, default=8, help="runs of the kernel for each")
    parser.add_argument("--side-by-side", type=int, default=3, help="runs of the kernel at once")
    parser.add_argument("--control", default="cubic", help="the congestion control of both")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the transport, as TOML"
    )
    arguments = parser.parse_args()
    settings: dict[str, object] = {} if arguments.control == "cubic" else {"congestion_control": arguments.control}
    settings |= tomllib.loads("\n".join(arguments.set))
    say = sys.stdout.write
    say("| loss | kernel, Mb/s | simulated, Mb/s | kernel / simulated | late, ms |\n|---|---|---|---|---|\n")
    for loss in arguments.loss.split(","):
        with ThreadPoolExecutor(arguments.side_by_side) as pool:
            seeds = range(1, arguments.runs + 1)
            measured = list(pool.map(lambda seed, loss=loss: kernel(loss, seed, arguments.control), seeds))
        ours = simulated(loss, 40, settings)
        say(f"| {loss} % | ")
        if measured:
            theirs = mean([bits for bits, _ in measured])
            late = max(ms for _, ms in measured)
            say(f"{megabits(theirs)} | {megabits(ours)} | {theirs.mean / ours.mean:.3f} | {late:.1f} |\n")
        else:
            say(f"- | {megabits(ours)} | - | - |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
