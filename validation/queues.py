"""Queue disciplines in Roamsim and in ns-3 under the same load, ours beside theirs, as Markdown.

    python -m validation.queues [--quick] [--update docs/validation.md]

Bulk flows over TCP, or constant rates that begin and end, share a link with a thin flow of datagrams: goodput of the
ones, waits of the other, drops. A difference over 5 % carries the letter of its explanation
(validation/explanations.py); one without makes the exit code 1. Without ns-3 nothing is compared, and the document
stays as it was.
"""

import os
import random
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import roamsim
from roamsim.statistics import mean

from peers import document, simulators
from peers.simulators import Program
from validation import ours as bulk
from validation.explanations import explanation, listed
from validation.runs import Run as Bulk
from validation.section import write_section
from validation.tables import show

PART = "queues"
PROGRAM = Path(__file__).parent / "programs" / "ns3_queues.cc"
TOLERANCE = 0.05
RATE_BPS = 5_000_000
DELAY_S = 0.02
#: Of a call: G.711 with RTP, each 20 ms.
THIN_BYTES = 172
THIN_INTERVAL_NS = 20_000_000
#: Of each constant rate, 1 Mb/s of datagrams of 1000 octets.
STREAM_INTERVAL_NS = 8_000_000
#: Our queues, with the limits that ns-3's are given; all else are our defaults.
QUEUES: dict[str, dict[str, object]] = {
    "drop_tail": {"packets": 100},
    "red": {"discipline": "red", "packets": 100},
    "codel": {"discipline": "codel", "packets": 1000},
    "pie": {"discipline": "pie", "packets": 1000},
    "fq_codel": {"discipline": "fq_codel", "packets": 10_240},
}


@dataclass(frozen=True)
class Load:
    """What fills the queue: so many bulk flows of a variant of TCP, or without one so many constant rates."""

    name: str
    flows: int
    variant: str = ""


LOADS = (
    Load("constant rates", 10),
    Load("1 SACK", 1, "sack"),
    Load("5 SACK", 5, "sack"),
    Load("1 CUBIC", 1, "cubic"),
    Load("5 CUBIC", 5, "cubic"),
)


@dataclass(frozen=True)
class Run:
    """A run of both sides."""

    discipline: str
    load: Load
    duration_s: int = 60
    seed: int = 1

    def _instants(self) -> list[int]:
        """In whole nanoseconds, from the seed: one within the first second for the thin flow and each bulk flow."""
        drawn = random.Random(self.seed)
        return [drawn.randrange(10**9) for _ in range(1 + self.load.flows)]

    @property
    def thin_start_ns(self) -> int:
        """When the thin flow begins."""
        return self._instants()[0]

    @property
    def starts_ns(self) -> list[int]:
        """When each bulk flow begins."""
        return self._instants()[1:] if self.load.variant else []

    @property
    def streams_ns(self) -> list[tuple[int, int]]:
        """When each constant rate begins, and when it ends: half the run later, so that five are there on average."""
        if self.load.variant:
            return []
        half_ns = self.duration_s * 10**9 // 2
        return [(start * half_ns // 10**9, (start + 10**9) * half_ns // 10**9) for start in self._instants()[1:]]

    def words(self) -> list[str]:
        """The words of the peer's program."""
        if self.load.variant:
            load = [f"--variant={self.load.variant}", f"--starts={','.join(map(str, self.starts_ns))}"]
        else:
            load = [f"--streams={','.join(str(instant) for stream in self.streams_ns for instant in stream)}"]
        return [
            f"--discipline={self.discipline}",
            *load,
            f"--stream_interval={STREAM_INTERVAL_NS}",
            f"--thin_start={self.thin_start_ns}",
            f"--thin_interval={THIN_INTERVAL_NS}",
            f"--thin_bytes={THIN_BYTES}",
            f"--rate={RATE_BPS}",
            f"--delay={DELAY_S:g}",
            f"--duration={self.duration_s}",
            f"--seed={self.seed}",
        ]


@dataclass(frozen=True)
class Told:
    """What a side tells: octets of the bulk flows or constant rates, drops, and delays of the thin flow."""

    delivered_bytes: int
    drops: int
    mean_delay_s: float
    p95_delay_s: float


#: What a datagram of the thin flow takes where nothing waits: it, 28 octets of headers, and the way.
UNQUEUED_S = 8 * (THIN_BYTES + 28) / RATE_BPS + DELAY_S
#: What is compared: digits behind the point, and how it is read off.
QUANTITIES: dict[str, tuple[int, Callable[[Run, Told], float]]] = {
    "goodput, Mb/s": (3, lambda run, told: 8e-6 * told.delivered_bytes / run.duration_s),
    "mean wait, ms": (2, lambda _, told: 1e3 * (told.mean_delay_s - UNQUEUED_S)),
    "95 % of waits, ms": (2, lambda _, told: 1e3 * (told.p95_delay_s - UNQUEUED_S)),
    "drops": (0, lambda _, told: float(told.drops)),
}


def scenario(run: Run) -> dict[str, object]:
    """The run as a scenario."""
    ends = {"from": "source", "to": "sink"}
    datagrams = {"protocol": "udp"}
    flows: list[dict[str, object]] = [
        {
            "name": "thin",
            **ends,
            "transport": datagrams,
            "application": {
                "kind": "cbr",
                "packet_size": f"{THIN_BYTES}B",
                "interval": f"{THIN_INTERVAL_NS}ns",
                "start": f"{run.thin_start_ns}ns",
            },
        }
    ]
    for i, start_ns in enumerate(run.starts_ns):
        transport = bulk.tcp(Bulk(run.load.variant))
        application = {"kind": "bulk", "start": f"{start_ns}ns"}
        flows.append({"name": f"bulk-{i}", **ends, "transport": transport, "application": application})
    for i, (start_ns, stop_ns) in enumerate(run.streams_ns):
        application = {
            "kind": "cbr",
            "packet_size": "1000B",
            "interval": f"{STREAM_INTERVAL_NS}ns",
            "start": f"{start_ns}ns",
            "stop": f"{stop_ns}ns",
        }
        flows.append({"name": f"stream-{i}", **ends, "transport": datagrams, "application": application})
    link = {
        "name": "path",
        "between": ["source", "sink"],
        "rate": f"{RATE_BPS}b/s",
        "delay": f"{DELAY_S:g}s",
        "queue": QUEUES[run.discipline],
    }
    return {
        "scenario": {"name": "Queue", "duration": f"{run.duration_s}s", "ip": "ipv4"},
        "node": [{"name": "source"}, {"name": "sink"}],
        "link": [link],
        "flow": flows,
    }


def ours(run: Run) -> Told:
    """In this process."""
    result = roamsim.run(scenario(run), seed=run.seed, jobs=1)
    # The thin flow is the first.
    thin, others = result.flows.row(0, named=True), result.flows[1:]
    return Told(
        delivered_bytes=int(others["delivered_bytes"].sum()),
        drops=int(result.links["dropped_packets"].sum()),
        mean_delay_s=thin["mean_delay_s"],
        p95_delay_s=thin["p95_delay_s"],
    )


def theirs(program: Program, run: Run) -> Told:
    """The same from ns-3."""
    return Told(**program.run(run.words()))


def runs(*, quick: bool) -> list[Run]:
    """All that is compared."""
    seeds = range(1, 3 if quick else 11)
    return [Run(discipline, load, seed=seed) for load in LOADS for discipline in QUEUES for seed in seeds]


def measure(plan: Sequence[Run], program: Program) -> list[tuple[Told, Told]]:
    """Both sides of each run, as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
        told = []
        for both in executor.map(lambda run: (ours(run), theirs(program, run)), plan):
            told.append(both)
            if 20 * len(told) % len(plan) < 20:
                sys.stderr.write(f"{100 * len(told) // len(plan)} % of {len(plan)} runs\n")
        return told


def report(plan: Sequence[Run], measured: Sequence[tuple[Told, Told]], build: str) -> tuple[str, str, int]:
    """The table with the explanations that it uses, its ratios alone, and how many differences have no explanation.

    Ratios are those of pairs.
    """
    cases: dict[tuple[str, str], list[tuple[Run, Told, Told]]] = {}
    for run, (own, other) in zip(plan, measured, strict=True):
        cases.setdefault((run.load.name, run.discipline), []).append((run, own, other))
    rows, used, unexplained = [], set[str](), 0
    cells: dict[tuple[tuple[str, ...], str], str] = {}
    for (load, discipline), sides in cases.items():
        for name, (digits, value) in QUANTITIES.items():
            here, there = ([value(run, side[i]) for run, *side in sides] for i in range(2))
            compared = mean([one / other for one, other in zip(here, there, strict=True)])
            mark = ""
            if abs(compared.mean - 1) > TOLERANCE:
                because = explanation(PART, sides[0][0].load.variant, (load, discipline), name, "ns-3")
                mark = because.letter if because else "not explained"
                used |= {because.letter} if because else set()
                unexplained += because is None
            told = show(compared, 3)
            cells[(load, discipline), name.partition(",")[0]] = (
                f"**{compared.mean:.3f}** {mark}" if mark else f"{compared.mean:.3f}"
            )
            rows.append(
                [
                    load,
                    discipline,
                    name,
                    show(mean(here), digits),
                    show(mean(there), digits),
                    f"**{told}** {mark}" if mark else told,
                ]
            )
    head = ["load", "discipline", "quantity", "ours", "ns-3", "ours / ns-3"]
    tables = document.table(head, rows), document.crossed(head[:2], cells)
    full, brief = (document.measured(build, table, listed(used)) for table in tables)
    return full, brief, unexplained


def compared(program: Program, quick: bool) -> tuple[str, str, int]:
    """The section in full and in brief, and how many differences are not explained."""
    plan = runs(quick=quick)
    return report(plan, measure(plan, program), program.build)


if __name__ == "__main__":
    fault = f"differences over {TOLERANCE:.0%} are not explained"
    write_section(__doc__, PART, PROGRAM, simulators.NS3_QUEUES_MODULES, compared, fault)
