"""BBRv3 beside CUBIC at a drop-tail queue of 0.5 to 8 products of rate and round trip, as Markdown.

    python -m validation.coexistence [--runs 8] [--update docs/validation.md]

One flow of each, both with `stack = "linux"`, share 20 Mb/s and a round trip of 40 ms for 120 s. They start within
the first second, at random. The table has BBR's share of what both deliver from 30 s on, with a 95 % interval.

Theory has a value for BBR version 1 only: its window of two products sets its share (Ware et al., "Modeling BBR's
Interactions with Loss-Based Congestion Control", IMC 2019). No published model fits version 3 (Sarpkaya et al.,
"BBR's Sharing Behavior with CUBIC and Reno", IFIP Networking 2025). So only starving is a fault.
"""

import argparse
import random
import sys
from pathlib import Path

import roamsim
from roamsim.statistics import Estimate, mean

from peers import document
from validation.tables import show

RATE_BPS = 20_000_000
DELAY_S = 0.02
#: Queues in products of rate and round trip.
QUEUES = (0.5, 1, 2, 4, 8)
DURATION_S = 120
WARM_UP_S = 30
#: A flow with less than this share of the rate counts as starved.
LEAST_SHARE = 0.05
#: Of a full segment with IPv4 and TCP headers.
PACKET_BYTES = 1500


def scenario(queue: float, starts_s: tuple[float, float]) -> dict[str, object]:
    """Both flows over one link with a queue of so many products."""
    packets = round(queue * RATE_BPS * 2 * DELAY_S / 8 / PACKET_BYTES)
    flows = [
        {
            "name": control,
            "from": "server",
            "to": "client",
            "transport": {"protocol": "tcp", "stack": "linux", "variant": control},
            "application": {"kind": "bulk", "start": f"{start_s}s"},
        }
        for control, start_s in zip(("bbr", "cubic"), starts_s, strict=True)
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
                "rate": f"{RATE_BPS}b/s",
                "delay": f"{DELAY_S}s",
                "queue": {"packets": packets},
            }
        ],
        "flow": flows,
    }


def measured(queue: float, runs: int) -> tuple[Estimate, Estimate, Estimate]:
    """BBR's share of both, the share of the rate that both have, and the retransmitted share of BBR's segments."""
    shares, uses, repeats = [], [], []
    for run in range(1, runs + 1):
        drawn = random.Random(f"{queue} {run}")
        starts_s = (round(drawn.random(), 3), round(drawn.random(), 3))
        flows = roamsim.run(scenario(queue, starts_s), seed=run).flows
        of = {row["name"]: row for row in flows.iter_rows(named=True)}
        both_bps = of["bbr"]["goodput_bps"] + of["cubic"]["goodput_bps"]
        shares.append(of["bbr"]["goodput_bps"] / both_bps)
        uses.append(both_bps / RATE_BPS)
        repeats.append(of["bbr"]["retransmissions"] / of["bbr"]["segments_sent"])
    return mean(shares), mean(uses), mean(repeats)


def compared(runs: int) -> tuple[str, int]:
    """The table, and how many queues starve a flow."""
    rows, starved = [], 0
    for queue in QUEUES:
        share, use, repeats = measured(queue, runs)
        fair = min(share.mean, 1 - share.mean) >= LEAST_SHARE
        starved += not fair
        rows.append([f"{queue:g}", show(share, 2), show(use, 3), show(repeats, 4), "yes" if fair else "**no**"])
    header = ["queue, products", "BBR's share", "both, of the rate", "BBR's retransmitted share", "neither starves"]
    return document.table(header, rows) + "\n", starved


def main() -> None:
    """Measures, prints, and writes the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8, help="runs for each queue (default 8)")
    parser.add_argument("--update", type=Path, help="also replace the measured part of this document")
    arguments = parser.parse_args()
    text, starved = compared(arguments.runs)
    sys.stdout.write(text)
    if arguments.update:
        document.replace(arguments.update, "coexistence", text)
    if starved:
        raise SystemExit(f"a flow has less than {LEAST_SHARE:.0%} of the rate at {starved} of the queues")


if __name__ == "__main__":
    main()
