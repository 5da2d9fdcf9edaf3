"""QUIC over sockets, and the same library in simulated time, over the same path with the same losses.

`roamsim live` joins two programs (`crates/live/examples/quic.rs`) by the path: quinn-proto with TLS, over sockets of
the kernel. The simulation runs quinn-proto with a null session. Each packet of a direction draws its loss in turn, so
one seed loses the packets of the same numbers on both sides. The client writes 2 MB. Goodput counts from its first
datagram to the arrival of the last octet. A row has the mean of the seeds' ratios with its 95 % interval.

    cargo build -p roamsim-live --example quic
    python -m validation.quic --losses 0,0.1,1,3 --seeds 1,2,3
    python -m validation.quic --losses 1,3 --seeds 1,2,3 --later 50,100,200,300

The second command shows how much a seed's goodput moves when packets come a little later: the simulation with some
microseconds more of delay, beside itself.

The machine has to keep the clock: the lateness of packets is part of the path. It is printed.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import roamsim
from roamsim.statistics import mean

from validation.kernel import COMMAND
from validation.lateness import lateness

OCTETS = 2_000_000
PROGRAM = Path(__file__).parent.parent / "target" / "debug" / "examples" / "quic"


def path(loss: float, later_us: int = 0) -> dict[str, object]:
    """A scenario with the path, and no traffic."""
    link: dict[str, object] = {
        "name": "path",
        "between": ["client", "server"],
        "rate": "10Mb/s",
        "delay": f"{20_000 + later_us}us",
    }
    if loss:
        link["loss"] = {"model": "bernoulli", "probability": loss / 100}
    return {
        "scenario": {"name": "The same path", "duration": "10min", "ip": "ipv4"},
        "node": [{"name": "client"}, {"name": "server"}],
        "link": [link],
    }


def over_sockets(loss: float, seed: int) -> tuple[float, float]:
    """Goodput in bit/s, and the 99.9th percentile of lateness in ms."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "path.json"
        file.write_text(json.dumps(path(loss)), encoding="utf-8")
        done = subprocess.run(
            [
                COMMAND, "live", str(file), "--seed", str(seed), "--max-lateness", "1s",
                "--on", "server", "--", str(PROGRAM), "server",
                "--on", "client", "--", "sh", "-c", f"sleep 1; exec {PROGRAM} client server {OCTETS}",
            ],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
    told = dict(re.findall(r"(connects|received) ([\d.]+)", done.stdout))
    if len(told) != 2:
        raise RuntimeError(f"no result: {done.stdout}\n{done.stderr}")
    return OCTETS * 8 / (float(told["received"]) - float(told["connects"])), lateness(done.stderr).p999_ms


def simulated(loss: float, seed: int, later_us: int = 0) -> float:
    """Goodput in bit/s."""
    flow = {
        "name": "transfer",
        "from": "client",
        "to": "server",
        "transport": {"protocol": "quic"},
        "application": {"kind": "transfer", "size": f"{OCTETS}B"},
    }
    done = roamsim.run({**path(loss, later_us), "flow": [flow]}, seed=seed).flows
    return OCTETS * 8 / float(done["completion_time_s"][0])


def main() -> None:
    """Prints a table of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--losses", default="0,0.1,1,3", help="in percent")
    parser.add_argument("--seeds", default="1,2,3", help="of the losses")
    parser.add_argument("--later", default="", help="no sockets; microseconds of more delay in the simulation")
    arguments = parser.parse_args()
    say = sys.stdout.write
    losses = [float(loss) for loss in arguments.losses.split(",")]
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if arguments.later:
        say("| loss | later / simulated | least, most |\n|---|---|---|\n")
        for loss in losses:
            before = {seed: simulated(loss, seed) for seed in seeds}
            ratios = [
                simulated(loss, seed, int(later)) / before[seed]
                for seed in seeds
                for later in arguments.later.split(",")
            ]
            say(f"| {loss:g} % | {mean(ratios).mean:.3f} | {min(ratios):.3f}, {max(ratios):.3f} |\n")
        return
    say("| loss | sockets, Mb/s | simulated, Mb/s | sockets / simulated | least, most | late, ms |\n")
    say("|---|---|---|---|---|---|\n")
    for loss in losses:
        both = [(*over_sockets(loss, seed), simulated(loss, seed)) for seed in seeds]
        theirs, late, ours = zip(*both, strict=True)
        ratios = [real / simulation for real, _, simulation in both]
        ratio = mean(ratios)
        rates = [f"{mean(rates).mean / 1e6:.3f}" for rates in (theirs, ours)]
        share = f"{ratio.mean:.3f} ± {ratio.half_width:.3f}"
        extremes = f"{min(ratios):.3f}, {max(ratios):.3f}"
        say(f"| {loss:g} % | {rates[0]} | {rates[1]} | {share} | {extremes} | {max(late):.1f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
