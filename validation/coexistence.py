"""BBR beside CUBIC at a drop-tail queue of 0.5 to 8 products of rate and round trip, as Markdown.

    python -m validation.coexistence [--runs 8] [--update docs/validation.md]
    python -m validation.coexistence --elsewhere [--late 1] [--runs 8] [--update docs/validation.md]

One flow of each, both with `stack = "linux"`, share 20 Mb/s and a round trip of 40 ms for 120 s. They start within
the first second, at random. The table has BBR's share of what both deliver from 30 s on, with a 95 % interval.

Version 1 has a closed form (Ware et al., "Modeling BBR's Interactions with Loss-Based Congestion Control", IMC 2019):
beside others it keeps its window of two products in flight. Its round trip is the smallest that it has met: it then
keeps four segments in flight itself, and the queue holds the others' share. With a queue of q packets and a product
of b the others' share p follows from q = 2 (p q + 4 + b) - b. Version 1 sends nothing during ProbeRTT: 0.2 s, and the
time that the queue takes to empty and fill, in every ten. The form has the others' window at its largest. After a
loss CUBIC's is 0.7 of that, and p q above is 0.7 p q. The smallest round trip lies between, and so must the share,
within two hundredths. Packets are late by 1 ms on average, as on a machine: without that version 1 finds the rate
exactly.

`--elsewhere` measures version 1 over other rates and round trips, where the form often misses. That is no failure.

No published model fits version 3 (Sarpkaya et al., "BBR's Sharing Behavior with CUBIC and Reno", IFIP Networking
2025). So only starving is a fault there.
"""

import argparse
import pathlib
import random
import sys
from typing import NamedTuple

import roamsim
from roamsim.statistics import Estimate, mean

from peers import document
from validation.tables import show

#: Queues in products of rate and round trip.
QUEUES = (0.5, 1, 2, 4, 8)
DURATION_S = 120
WARM_UP_S = 30
#: A flow with less than this share of the rate counts as starved.
LEAST_SHARE = 0.05
#: Of a full segment with IPv4 and TCP headers.
PACKET_BYTES = 1500
#: What CUBIC's window keeps after a loss (RFC 9438 section 4.6).
BETA_CUBIC = 0.7
#: How far the share of version 1 may lie outside of theory.
TOLERANCE = 0.02


class Path(NamedTuple):
    """What both share."""

    rate_mbps: float = 20
    round_trip_ms: float = 40
    #: The lateness of packets beside version 1, on average.
    late_ms: float = 1

    @property
    def product(self) -> float:
        """Of rate and round trip, in packets."""
        return self.rate_mbps * self.round_trip_ms * 1000 / 8 / PACKET_BYTES


HERE = Path()
ELSEWHERE = tuple(Path(rate_mbps, round_trip_ms) for round_trip_ms in (10, 40, 100) for rate_mbps in (5, 20, 50))


def theory(queue: float, path: Path = HERE) -> tuple[float, float]:
    """The share of version 1, with CUBIC's window at its smallest and at its largest where the round trip is met."""
    packets = queue * path.product
    probing_s = packets * PACKET_BYTES * 8 / (path.rate_mbps * 1e6) + 0.2 + path.round_trip_ms / 1000
    others = [max(0.0, (packets - 8 - path.product) / (2 * kept * packets)) for kept in (BETA_CUBIC, 1)]
    low, high = ((1 - share) * (1 - probing_s / 10) for share in others)
    return low, high


def scenario(variant: str, queue: float, starts_s: tuple[float, float], path: Path = HERE) -> dict[str, object]:
    """A flow of this variant and one of CUBIC over one link with a queue of so many products."""
    delay = f"{path.round_trip_ms / 2}ms"
    jitter = {"distribution": "exponential", "mean": f"{path.late_ms}ms"}
    late = [{"from": end, "constant": delay, "jitter": jitter} for end in ("server", "client")]
    flows = [
        {
            "name": control,
            "from": "server",
            "to": "client",
            "transport": {"protocol": "tcp", "stack": "linux", "variant": control},
            "application": {"kind": "bulk", "start": f"{start_s}s"},
        }
        for control, start_s in zip((variant, "cubic"), starts_s, strict=True)
    ]
    return {
        "scenario": {
            "name": "coexistence",
            "duration": f"{DURATION_S}s",
            "warm_up": f"{WARM_UP_S}s",
            "ip": "ipv4",
        },
        "node": [{"name": "server"}, {"name": "client"}],
        "link": [
            {
                "name": "path",
                "between": ["server", "client"],
                "rate": f"{path.rate_mbps}Mb/s",
                "delay": late if variant == "bbr1" else delay,
                "queue": {"packets": round(queue * path.product)},
            }
        ],
        "flow": flows,
    }


def measured(variant: str, queue: float, runs: int, path: Path = HERE) -> tuple[Estimate, Estimate, Estimate]:
    """BBR's share of both, the share of the rate that both have, and the retransmitted share of BBR's segments."""
    shares, uses, repeats = [], [], []
    for run in range(1, runs + 1):
        drawn = random.Random(f"{queue} {run}")
        starts_s = (round(drawn.random(), 3), round(drawn.random(), 3))
        flows = roamsim.run(scenario(variant, queue, starts_s, path), seed=run).flows
        of = {row["name"]: row for row in flows.iter_rows(named=True)}
        both_bps = of[variant]["goodput_bps"] + of["cubic"]["goodput_bps"]
        shares.append(of[variant]["goodput_bps"] / both_bps)
        uses.append(both_bps / (path.rate_mbps * 1e6))
        repeats.append(of[variant]["retransmissions"] / of[variant]["segments_sent"])
    return mean(shares), mean(uses), mean(repeats)


def version_3(runs: int) -> tuple[str, int]:
    """The table, and at how many queues a flow starves."""
    rows, starved = [], 0
    for queue in QUEUES:
        share, use, repeats = measured("bbr", queue, runs)
        fair = min(share.mean, 1 - share.mean) >= LEAST_SHARE
        starved += not fair
        rows.append([f"{queue:g}", show(share, 2), show(use, 3), show(repeats, 4), "yes" if fair else "**no**"])
    header = ["queue, products", "BBR's share", "both, of the rate", "BBR's retransmitted share", "neither starves"]
    return document.table(header, rows) + "\n", starved


def fits(share: float, low: float, high: float) -> bool:
    """Whether a share is that of theory."""
    return low - TOLERANCE <= share <= high + TOLERANCE


def elsewhere(runs: int, late_ms: float = HERE.late_ms) -> str:
    """The table of version 1 over other rates and round trips: by how much its share misses theory, if it does."""
    cells = {}
    for path in ELSEWHERE:
        row = (f"{path.rate_mbps:g} Mb/s", f"{path.round_trip_ms:g} ms")
        for queue in QUEUES:
            share, _, _ = measured("bbr1", queue, runs, path._replace(late_ms=late_ms))
            low, high = theory(queue, path)
            beside = share.mean - min(max(share.mean, low), high)
            told = "" if fits(share.mean, low, high) else f" ({beside:+.2f})"
            cells[row, f"{queue:g}"] = show(share, 2) + told
    return document.crossed(["rate", "round trip"], cells) + "\n"


def version_1(runs: int) -> tuple[str, int]:
    """The table, and at how many queues the share is not that of theory."""
    rows, missed = [], 0
    for queue in QUEUES:
        share, use, repeats = measured("bbr1", queue, runs)
        low, high = theory(queue)
        agrees = fits(share.mean, low, high)
        missed += not agrees
        told = f"{low:.2f} to {high:.2f}" if f"{low:.2f}" != f"{high:.2f}" else f"{low:.2f}"
        rows.append(
            [f"{queue:g}", show(share, 2), told, show(use, 3), show(repeats, 4), "yes" if agrees else "**no**"]
        )
    header = ["queue, products", "share", "theory", "both, of the rate", "retransmitted share", "agree"]
    return document.table(header, rows) + "\n", missed


def main() -> None:
    """Measures, prints, and writes the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8, help="runs for each queue (default 8)")
    parser.add_argument("--update", type=pathlib.Path, help="also replace the measured part of this document")
    parser.add_argument("--elsewhere", action="store_true", help="only version 1, over other rates and round trips")
    parser.add_argument("--late", type=float, default=HERE.late_ms, help="the lateness there, in ms (default 1)")
    arguments = parser.parse_args()
    if arguments.elsewhere:
        of_1 = elsewhere(arguments.runs, arguments.late)
        sys.stdout.write(of_1)
        if arguments.update:
            document.replace(arguments.update, "coexistence-elsewhere", of_1)
        return
    of_3, starved = version_3(arguments.runs)
    of_1, missed = version_1(arguments.runs)
    sys.stdout.write(f"{of_3}\n{of_1}")
    if arguments.update:
        document.replace(arguments.update, "coexistence", of_3)
        document.replace(arguments.update, "coexistence-1", of_1)
    if starved:
        raise SystemExit(f"a flow has less than {LEAST_SHARE:.0%} of the rate at {starved} of the queues")
    if missed:
        raise SystemExit(f"the share of version 1 is not that of theory at {missed} of the queues")


if __name__ == "__main__":
    main()
