"""Shows how cost grows with size: exponents of set-up, run and memory for networks of one kind and several sizes.

    python -m benches.growth [--only NAME]...

Each kind is built in two sizes, the larger four times the smaller. Callgrind counts the instructions of the run, and
of reading, checking and building the scenario. Memory is the peak of a run outside of callgrind, less that of an
interpreter that runs nothing. An exponent is the logarithm of the ratio to the base 4. Those of set-up and memory may
be at most 1.2, that of an event at most 0.2; more is an error. An event in which n stations collide is the work of n:
where all collide (`together`) a station is judged in place of an event.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benches.counts import COUNTED, PROGRAM, FailedError, callgrind, left_out, missing_programs
from peers.document import table

FACTOR = 4
#: The largest exponents: of set-up and memory, and of what an event costs.
MOST, MOST_OF_EVENT = 1.2, 0.2
#: Phones.
IN_A_CELL = 10

Tree = dict[str, object]
List = list[Tree]


def scenario(duration: str, **lists: object) -> Tree:
    """A scenario of these lists."""
    return {"scenario": {"name": "Bench: growth", "duration": duration, "ip": "ipv4"}, **lists}


def datagrams(name: str, ends: tuple[str, str], interval: str, start_us: int) -> Tree:
    """A flow of 200 octets at a time."""
    application = {"kind": "cbr", "packet_size": "200B", "interval": interval, "start": f"{start_us}us"}
    return {
        "name": name,
        "from": ends[0],
        "to": ends[1],
        "transport": {"protocol": "udp"},
        "application": application,
    }


def wire(name: str, a: str, b: str) -> Tree:
    """A link of 1 Gb/s."""
    return {"name": name, "between": [a, b], "rate": "1Gb/s", "delay": "10us"}


def nodes(names: list[str]) -> List:
    """Nodes of these names."""
    return [{"name": name} for name in names]


def chain(size: int) -> Tree:
    """Nodes in a row, and one flow from end to end."""
    names = [f"node-{i}" for i in range(size)]
    links = [wire(f"link-{i}", *names[i : i + 2]) for i in range(size - 1)]
    return scenario("1s", node=nodes(names), link=links, flow=[datagrams("flow", (names[0], names[-1]), "10ms", 0)])


def tree(size: int) -> Tree:
    """A binary tree, and a flow from each leaf to the root."""
    names = [f"node-{i}" for i in range(size)]
    links = [wire(f"link-{i}", names[(i - 1) // 2], names[i]) for i in range(1, size)]
    leaves = range(size // 2, size)
    flows = [datagrams(f"flow-{i}", (names[i], names[0]), "100ms", i) for i in leaves]
    return scenario("1s", node=nodes(names), link=links, flow=flows)


def ring(size: int) -> Tree:
    """Nodes in a ring, and ten flows from nodes apart to the node a quarter of the ring ahead."""
    names = [f"node-{i}" for i in range(size)]
    links = [wire(f"link-{i}", name, names[(i + 1) % size]) for i, name in enumerate(names)]
    ends = [(names[i * size // 10], names[(i * size // 10 + size // 4) % size]) for i in range(10)]
    flows = [datagrams(f"flow-{i}", pair, "10ms", i) for i, pair in enumerate(ends)]
    return scenario("1s", node=nodes(names), link=links, flow=flows)


def parallel(size: int) -> Tree:
    """Links side by side between two nodes with an address on each."""
    pair = [{"name": name, "multihomed": True} for name in ("a", "b")]
    links = [wire(f"link-{i}", "a", "b") for i in range(size)]
    return scenario("1s", node=pair, link=links, flow=[datagrams("flow", ("a", "b"), "1ms", 0)])


def tcp(size: int) -> Tree:
    """Bulk flows over one link, with 0.1 Mb/s and three packets of queue each."""
    bulk = [
        {
            "name": f"flow-{i}",
            "from": "a",
            "to": "b",
            "transport": {"protocol": "tcp", "variant": "newreno", "mss": "1000B"},
            "application": {"kind": "bulk", "start": f"{1_000_000 * i // size}us"},
        }
        for i in range(size)
    ]
    link = wire("link", "a", "b") | {"rate": f"{size // 10}Mb/s", "queue": {"packets": 3 * size}}
    return scenario("1s", node=nodes(["a", "b"]), link=[link], flow=bulk)


def quiet(size: int, within_us: int = 10_000_000) -> Tree:
    """One Wi-Fi cell in which all hear each other, and each sends a packet within ten seconds."""
    names = [f"station-{i}" for i in range(size)]
    flows = [datagrams(f"flow-{i}", (name, "ap"), "10s", within_us * i // size) for i, name in enumerate(names)]
    cell = {"name": "air", "access_point": "ap", "stations": names, "standard": "802.11g"}
    return scenario("10s", node=nodes(["ap", *names]), wifi=[cell], flow=flows)


def together(size: int) -> Tree:
    """The same cell, and all begin at once."""
    return quiet(size, within_us=0)


def media(size: int) -> Tree:
    """Wi-Fi cells of three stations each that hear nobody else."""
    hosts: List = []
    cells: List = []
    flows: List = []
    for cell in range(size // 4):
        access_point = f"ap-{cell}"
        names = [f"station-{cell}-{i}" for i in range(3)]
        hosts += nodes([access_point, *names])
        cells.append({"name": f"cell-{cell}", "access_point": access_point, "stations": names, "standard": "802.11g"})
        for i, name in enumerate(names):
            start_us = (cell * 7919 + i * 10007) % 100_000
            flows.append(datagrams(f"flow-{cell}-{i}", (name, access_point), "100ms", start_us))
    return scenario("1s", node=hosts, wifi=cells, flow=flows)


def wifi(size: int, walk_m: float = 0.0) -> Tree:
    """Wi-Fi cells of ten stations and one channel, 200 m apart on a grid: each hears its neighbours alone."""
    side = math.ceil(math.sqrt(size / 10))
    hosts: List = []
    cells: List = []
    flows: List = []
    radio = {"radius": "50m", "path_loss": {"model": "log_distance", "exponent": 3.0}}
    for cell in range(size // 10):
        x_m, y_m = 200 * (cell % side), 200 * (cell // side)
        access_point = f"ap-{cell}"
        names = [f"station-{cell}-{i}" for i in range(10)]
        hosts.append({"name": access_point, "position": {"x": f"{x_m}m", "y": f"{y_m}m"}})
        for i, name in enumerate(names):
            station: Tree = {"name": name, "position": {"x": f"{x_m + 3 * i - 15}m", "y": f"{y_m + 5}m"}}
            if walk_m:
                to = {"x": f"{x_m + 3 * i - 15}m", "y": f"{y_m + 5 + walk_m}m"}
                station["motion"] = {"kind": "linear", "to": to, "speed": "2m/s"}
            hosts.append(station)
            start_us = (cell * 7919 + i * 10007) % 100_000
            flows.append(datagrams(f"flow-{cell}-{i}", (name, access_point), "100ms", start_us))
        cells.append(
            {
                "name": f"cell-{cell}",
                "access_point": access_point,
                "stations": names,
                "standard": "802.11g",
                "channel": 1,
                "beacons": {},
                "radio": radio,
            }
        )
    return scenario("500ms", node=hosts, wifi=cells, flow=flows)


def walking(size: int) -> Tree:
    """The same, and all stations walk."""
    return wifi(size, walk_m=10.0)


def cells(size: int) -> Tree:
    """A terminal in reach of all cells, whose SCTP association has an address in each."""
    terminal = {
        "name": "terminal",
        "multihomed": True,
        "position": {"x": "10m", "y": "10m"},
        "motion": {"kind": "linear", "to": {"x": "50m", "y": "10m"}, "speed": "10m/s"},
    }
    bases = [f"base-{i}" for i in range(size)]
    places = [{"name": name, "position": {"x": f"{50 * i / size}m", "y": "0m"}} for i, name in enumerate(bases)]
    coverage = {"model": "distance_power", "radius": "170m", "error_at_edge": 0.2}
    air = [
        {
            "name": f"cell-{i}",
            "base_station": name,
            "stations": ["terminal"],
            "rate": "100Mb/s",
            "coverage": coverage,
            "advertisement": {"start": f"{50_000 * i // size}us"},
        }
        for i, name in enumerate(bases)
    ]
    links = [wire("core", "server", "router"), *(wire(f"to-{name}", "router", name) for name in bases)]
    flow = datagrams("flow", ("terminal", "server"), "20ms", 0)
    flow["transport"] = {"protocol": "sctp", "dynamic_addresses": True}
    return scenario("2s", node=[*nodes(["server", "router"]), *places, terminal], link=links, cell=air, flow=[flow])


def phones(size: int, radios: tuple[str, ...] = ("wifi", "cell", "link")) -> Tree:
    """Phones that walk 100 m along a street, ten to a cell, and select one of these radios.

    Wi-Fi reaches all the way if it is alone.
    """
    hosts: List = [{"name": "server"}]
    links: List = []
    access_points: List = []
    cells: List = []
    selections: List = []
    flows: List = []
    for phone in range(size):
        name, group = f"phone-{phone}", phone // IN_A_CELL
        x_m = 1000 * group
        to = {"x": f"{x_m + 100}m", "y": "5m"}
        motion = {"kind": "linear", "to": to, "speed": f"{1 + phone % IN_A_CELL / 10}m/s"}
        walks: Tree = {} if radios == ("link",) else {"position": {"x": f"{x_m}m", "y": "5m"}, "motion": motion}
        hosts.append({"name": name, **walks})
        if "link" in radios:
            links.append(wire(f"lte-{phone}", "server", name) | {"rate": "10Mb/s", "delay": "30ms"})
        flows.append(datagrams(f"call-{phone}", ("server", name), "100ms", 7919 * phone % 100_000))
        if len(radios) > 1:
            choice: Tree = {"name": name, "node": name, "policy": "preference", "prefer": list(radios)}
            selections.append(choice | {"scheme": "redirect"})
    for group in range(size // IN_A_CELL):
        stations = [f"phone-{group * IN_A_CELL + i}" for i in range(IN_A_CELL)]
        places = {"wifi": ("ap", 0), "cell": ("mast", 50)}
        for kind, offset_m in (places[radio] for radio in radios if radio in places):
            hosts.append({"name": f"{kind}-{group}", "position": {"x": f"{1000 * group + offset_m}m", "y": "0m"}})
            links.append(wire(f"to-{kind}-{group}", "server", f"{kind}-{group}"))
        radius = "40m" if len(radios) > 1 else "120m"
        radio = {"radius": radius, "path_loss": {"model": "log_distance", "exponent": 3.0}}
        access_points.append(
            {
                "name": f"wifi-{group}",
                "access_point": f"ap-{group}",
                "stations": stations,
                "standard": "802.11g",
                "beacons": {},
                "radio": radio,
            }
        )
        coverage = {"model": "disc", "radius": "60m"}
        air: Tree = {"name": f"cell-{group}", "base_station": f"mast-{group}", "stations": stations, "rate": "10Mb/s"}
        cells.append(air | {"coverage": coverage})
    lists = {"wifi": access_points, "cell": cells, "selection": selections}
    used = {name: entries for name, entries in lists.items() if name in radios or name == "selection"}
    return scenario("60s", node=hosts, link=links, **used, flow=flows)


@dataclass(frozen=True)
class Kind:
    """A kind of network, its smaller size, and whether its run is judged by event; else by station."""

    make: Callable[[int], Tree]
    size: int
    by_event: bool = True


KINDS = {
    "chain": Kind(chain, 1000),
    "tree": Kind(tree, 1000),
    "ring": Kind(ring, 500),
    "parallel": Kind(parallel, 500),
    "tcp": Kind(tcp, 1000),
    "quiet": Kind(quiet, 500),
    "together": Kind(together, 500, by_event=False),
    "media": Kind(media, 1000),
    "wifi": Kind(wifi, 400),
    "walking": Kind(walking, 400),
    "cells": Kind(cells, 100),
    "phones": Kind(phones, 100),
}


@dataclass(frozen=True)
class Cost:
    """What a network cost."""

    set_up: int
    run: int
    events: int
    memory_kb: int


def peak_kb(words: list[str]) -> int:
    """The peak memory of `counted.py` with these words."""
    with subprocess.Popen([sys.executable, "-IS", str(PROGRAM), *words], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise FailedError(f"{' '.join(words)} failed")
    return usage.ru_maxrss


def measure(kind: Kind, size: int, start: tuple[int, int]) -> Cost:
    """Counts a network of this size; `start` are the instructions and the memory of a start alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(json.dumps(kind.make(size)))
        run, told = callgrind([str(path)], f"--toggle-collect={COUNTED}")
        everything, _ = callgrind([str(path)])
        memory_kb = peak_kb([str(path)]) - start[1]
    events = json.loads(told)["events"] if kind.by_event else size
    return Cost(everything - run - start[0], run, events, memory_kb)


def exponents(small: Cost, large: Cost) -> tuple[float, float, float]:
    """Of set-up, of what an event costs, and of memory."""

    def exponent(before: float, after: float) -> float:
        return math.log(after / before, FACTOR)

    return (
        exponent(small.set_up, large.set_up),
        exponent(small.run / small.events, large.run / large.events),
        exponent(max(small.memory_kb, 1), max(large.memory_kb, 1)),
    )


def main(words: list[str] | None = None) -> int:
    """Counts and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(KINDS), help="this kind of network")
    arguments = parser.parse_args(words)
    if missing := missing_programs():
        return left_out(f"instructions are not counted without {', '.join(missing)}")
    rows, complaints = [], []
    try:
        start = callgrind([])[0], peak_kb([])
        for name in arguments.only or KINDS:
            kind = KINDS[name]
            sizes = kind.size, FACTOR * kind.size
            costs = [measure(kind, size, start) for size in sizes]
            found = exponents(*costs)
            for what, exponent, most in zip(
                ("set-up", "an event", "memory"), found, (MOST, MOST_OF_EVENT, MOST), strict=True
            ):
                if exponent > most:
                    complaints.append(f"{name}: {what} grows with the power {exponent:.2f} of the size, above {most}")
            numbers = [f"{costs[1].set_up:,}", f"{costs[1].run / costs[1].events:,.0f}", f"{costs[1].memory_kb:,}"]
            rows.append([name, f"{sizes[0]:,} to {sizes[1]:,}", *(f"{exponent:.2f}" for exponent in found), *numbers])
            sys.stderr.write(f"{name}: {', '.join(rows[-1][1:])}\n")
    except FailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    head = ["network", "sizes", "set-up", "an event", "memory"]
    sys.stdout.write(table([*head, "set-up, instructions", "an event, instructions", "memory, kB"], rows) + "\n")
    if complaints:
        sys.stderr.write("\n".join(complaints) + "\n")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
