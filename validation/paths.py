"""The paths that the kernel's TCP and the simulated one share, without traffic.

Data goes from "server" to "client" from `START_S` on, over 10 Mb/s, 20 ms and a queue of 100 packets, and these
happen (times count from the begin of the data):

| case | value |
| --- | --- |
| `loss` | independent losses in both directions, in percent |
| `numbers` | losses of data by packet number, in percent of the packets: the same numbers for every transport |
| `outage` | everything is lost for so many seconds, from 6 to 9.5 s on, half a second later in each run |
| `reordering` | an exponential delay of so many milliseconds more for each packet, in the sender's direction |
| `step` | so many Mb/s from 6 s to 12 s |
| `handover` | a name of `HANDOVERS`; the first change is at 6 to 6.7 s, a tenth of a second later in each run |
"""

import random
from typing import NamedTuple

#: When the sender connects, in seconds.
START_S = 1.0

#: Data packets that get a number of `numbers`: more than 10 Mb/s carry in 20 s.
NUMBERED = 20_000


class Access(NamedTuple):
    """What a path is over one access."""

    rate: str
    delay: str


class Handover(NamedTuple):
    """A path that goes from access to access."""

    accesses: tuple[Access, ...]
    #: Nothing arrives for so long before each change. Without an outage, packets overtake (make before break).
    outage_s: float = 0.0
    every_s: float = 3.5
    changes: int = 4


NEAR, FAR = Access("10Mb/s", "20ms"), Access("10Mb/s", "150ms")
CELLULAR, SLOW_AND_FAR = Access("4Mb/s", "50ms"), Access("2Mb/s", "150ms")

#: Handovers by name. Accesses repeat in turn.
HANDOVERS = {
    "break-0.3": Handover((NEAR, CELLULAR), outage_s=0.3),
    "break-1": Handover((NEAR, CELLULAR), outage_s=1.0),
    "rise": Handover((NEAR, FAR), changes=1),
    "fall": Handover((FAR, NEAR), changes=1),
    "to-and-fro": Handover((NEAR, FAR)),
    "slower": Handover((NEAR, SLOW_AND_FAR), changes=1),
    "faster": Handover((SLOW_AND_FAR, NEAR), changes=1),
    "slower-and-faster": Handover((NEAR, SLOW_AND_FAR)),
}


def handed_over(handover: Handover, run: int) -> dict[str, object]:
    """Rates, delays and outages of a link in one run of a handover."""
    first, *_ = accesses = handover.accesses
    rates: list[dict[str, str]] = [{"at": "0s", "rate": first.rate}]
    delays: list[dict[str, str]] = [{"at": "0s", "delay": first.delay}]
    outages = []
    for change in range(handover.changes):
        start_s = START_S + 6 + handover.every_s * change + 0.1 * (run % 8)
        if handover.outage_s:
            outages.append({"start": f"{start_s:.1f}s", "duration": f"{handover.outage_s}s"})
        at = f"{start_s + handover.outage_s:.1f}s"
        rate, delay = accesses[(change + 1) % len(accesses)]
        rates.append({"at": at, "rate": rate})
        delays.append({"at": at, "delay": delay})
    link: dict[str, object] = {"rate": {"steps": rates}, "delay": {"steps": delays, "reordering": True}}
    return link | ({"outages": outages} if outages else {})


def path(case: str, value: str, run: int, duration: str, late_ms: float = 0.0) -> dict[str, object]:
    """A scenario with the path of a case, in one of its runs, and no traffic.

    Packets may be late between "server" and "sender" behind it, by an exponential time of this mean, in their order.
    """
    link: dict[str, object] = {"name": "path", "between": ["client", "server"], "rate": "10Mb/s", "delay": "20ms"}
    if case == "loss":
        link["loss"] = {"model": "bernoulli", "probability": float(value) / 100}
    elif case == "numbers":
        draws = random.Random(f"{value} {run}")
        lost = [number for number in range(1, NUMBERED) if draws.random() < float(value) / 100]
        link["loss"] = {"from": "server", "model": "list", "segments": lost}
    elif case == "outage":
        link["outages"] = [{"start": f"{START_S + 6 + 0.5 * (run % 8)}s", "duration": f"{value}s"}]
    elif case == "reordering":
        jitter = {"distribution": "exponential", "mean": f"{value}ms"}
        varying = {"from": "server", "constant": "20ms", "jitter": jitter, "reordering": True}
        link["delay"] = [varying, {"from": "client", "constant": "20ms"}]
    elif case == "step":
        steps = [
            {"at": "0s", "rate": "10Mb/s"},
            {"at": f"{START_S + 6}s", "rate": f"{value}Mb/s"},
            {"at": f"{START_S + 12}s", "rate": "10Mb/s"},
        ]
        link["rate"] = [{"from": "server", "steps": steps}, {"from": "client", "constant": "10Mb/s"}]
    elif case == "handover":
        if value not in HANDOVERS:
            raise SystemExit(f"there is no handover {value}; handovers: {', '.join(HANDOVERS)}")
        link |= handed_over(HANDOVERS[value], run)
    else:
        cases = "loss, numbers, outage, reordering, step, handover"
        raise SystemExit(f"there is no case {case}; cases: {cases}")
    nodes, links = ["client", "server"], [link]
    if late_ms:
        nodes.append("sender")
        delay = {"constant": "0s", "jitter": {"distribution": "exponential", "mean": f"{late_ms}ms"}}
        links.append({"name": "clock", "between": ["server", "sender"], "rate": "1Gb/s", "delay": delay})
    return {
        "scenario": {"name": "The same path", "duration": duration, "ip": "ipv4"},
        "node": [{"name": name} for name in nodes],
        "link": links,
    }
