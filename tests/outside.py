"""A program at one end of a path, and two hundred transfers between it and ours, with losses and overtaking.

The program of the transfers gets, as its one argument, a list of port, octets and way of each. It prints `TOLD`, how
many went well, how many there were, and which did not.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import polars
import roamsim
from conftest import run_command
from test_capture import tshark

FIRST_PORT = 49152

SCENARIO = """
[scenario]
name = "A program at the end"
duration = "{duration}"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "phone"
external = true
[[link]]
name = "path"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "20ms"
"""

FLOW = """
[[flow]]
name = "{name}"
from = "{source}"
to = "{sink}"
transport = {transport}
application = {application}
"""


def transfers(
    folder: Path,
    program: str,
    draw: random.Random,
    transport_of: Callable[[], dict[str, object]],
    path: str = "",
) -> polars.DataFrame:
    """Runs them; all are whole, and most are closed before the program goes.

    Args:
        folder: keeps the results and the capture.
        program: in Python, of the phone.
        draw: where ways, sizes and starts come from.
        transport_of: draws the keys of a flow's transport.
        path: more keys of the path.

    Returns:
        The table `flows`.
    """
    flows, plan = [], []
    for number in range(200):
        way, size = draw.choice(["down", "up"]), draw.choice([1, 1000, 20_000, 100_000])
        keys = transport_of()
        ends = ("server", "phone") if way == "down" else ("phone", "server")
        start = f"{draw.uniform(2.5, 5):.3f}s"
        application = (
            f'{{ kind = "transfer", start = "{start}", size = "{size}B" }}' if way == "down" else '{ kind = "bulk" }'
        )
        transport = "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in keys.items()) + " }"
        flows.append(
            FLOW.format(name=f"f{number}", source=ends[0], sink=ends[1], transport=transport, application=application)
        )
        plan.append((FIRST_PORT + number, size, way))
    text = SCENARIO.format(duration="120s").replace('rate = "10Mb/s"', 'rate = "50Mb/s"')
    # Losses, packets that overtake each other, and an outage.
    text = text.replace(
        'delay = "20ms"',
        'delay = { constant = "20ms", jitter = { distribution = "uniform", min = "0s", max = "5ms" }, '
        "reordering = true }\n"
        'loss = { model = "bernoulli", probability = 0.01 }\n'
        f'outages = [{{ start = "4s", duration = "700ms" }}]\n{path}',
    )
    (folder / "all.toml").write_text(text + "".join(flows))
    done = run_command(
        "live", "all.toml", "--max-lateness", "60s", "--out", "kept", "--pcap", "all.pcapng", "--on", "phone", "--",
        sys.executable, "-c", program, json.dumps(plan), cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "TOLD 200 200 []" in done.stdout, done.stdout
    kept = roamsim.open_results(folder / "kept")["flows"]
    assert kept.sort("name")["delivered_bytes"].to_list() == [
        size for _, size in sorted((f"f{port - FIRST_PORT}", size) for port, size, _ in plan)
    ]
    # But for some whose last packets are lost and sent again.
    assert kept.filter(polars.col("connection") == "completed").height > 190
    return kept


def are_well_formed(folder: Path, wrong: str, right: str, most: int, *options: str) -> None:
    """The capture has no packet that tshark finds wrong, and more than so many whose checksum it finds right."""
    # A port that the kernel picks may belong to a protocol that tshark knows, such as EtherNet/IP: octets are octets.
    as_octets = [part for key in ("tcp.port", "sctp.port") for part in ("-d", f"{key}==1-65535,data")]
    found = tshark(folder / "all.pcapng", *as_octets, *options, "-Y", wrong)
    assert found == "", found
    assert len(tshark(folder / "all.pcapng", *as_octets, *options, "-Y", right).splitlines()) > most
