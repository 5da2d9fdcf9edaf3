"""Which layer moves a transfer on the walks of three studies: the second table of docs/layers.md.

    python docs/figures/layers_studies.py [STUDY]...

With studies, their rows alone go to the terminal.

Each walk is the scenario of its study, with its radios, wires and motion. Its flow gets each transport, and is moved
by a selection, by the study's own agents of Mobile IPv4, or by commands of IEEE 802.21.
"""

from __future__ import annotations

import sys
import tomllib
import warnings
from dataclasses import dataclass
from typing import Any

import polars
import roamsim
from figure_style import DOCS, write_block
from layers import QUIC, SCTP, TCP, estimated, interruption, shown, to_full_rate

PAGE = DOCS / "layers.md"
REPLICATIONS = 5
STUDIES = DOCS.parent / "studies"
Tree = dict[str, Any]


@dataclass(frozen=True)
class Walk:
    """A study's walk.

    Attributes:
        study: its folder.
        file: its scenario.
        node: who walks.
        flow: what is moved.
        prefer: of the selection.
        handover: from and to which access 802.21 moves it, with the router of their points of service, where
            the study has no handover itself.
        has_one_radio: so that no link is made before the other one breaks, and 802.21 does not move it.
        until_s: the run's end.
    """

    study: str
    file: str
    node: str
    flow: str
    prefer: list[str]
    handover: tuple[str, str, str] | None = None
    until_s: float = 60.0
    has_one_radio: bool = False

    def tree(self, transport: Tree, scheme: str) -> Tree:
        """The scenario, moved by a scheme."""
        tree = tomllib.loads((STUDIES / self.study / "scenarios" / self.file).read_text())
        agents, commands = tree.pop("mobile_ip", None), tree.pop("handover", None)
        tree["scenario"] |= {"duration": f"{self.until_s:g}s", "ip": "ipv4"}
        (node,) = (node for node in tree["node"] if node["name"] == self.node)
        if "start" in node["motion"]:
            node["motion"]["start"] = "6s"
        (flow,) = (flow for flow in tree["flow"] if flow["name"] == self.flow)
        flow |= {"transport": dict(transport), "application": {"kind": "bulk", "start": "1s"}}
        if transport["protocol"] == "quic":
            flow["transport"]["client"] = "from" if flow["from"] == self.node else "to"
        if scheme == "mih":
            node["multihomed"] = True
            tree["handover"] = commands or self.commands(tree)
        elif scheme == "mobile_ip" and agents:
            tree["mobile_ip"] = agents
        else:
            node.pop("multihomed", None)
            tree["selection"] = [
                {"name": "walk", "node": self.node, "policy": "preference", "prefer": self.prefer, "scheme": scheme}
            ]
        return tree

    def commands(self, tree: Tree) -> list[Tree]:
        """Points of service for a study that has none, as close to the router as in `layers-wimax.toml`."""
        assert self.handover
        source, target, router = self.handover
        for name in ("pos-1", "pos-2"):
            tree["node"].append({"name": name})
            tree["link"].append({"name": name, "between": [router, name], "rate": "100Mb/s", "delay": "1ms"})
        for cell in tree.get("cell", []):
            # Chosen: the messages of a handover take several round trips of up to 0.8 s.
            cell.setdefault("advertisement", {})["going_down_ahead"] = "5s"
        return [
            {
                "name": "walk",
                "mobile_node": self.node,
                "initiated_by": "mobile_node",
                "from": {"access": source, "pos": "pos-1"},
                "to": [{"access": target, "pos": "pos-2"}],
                "transport": {"protocol": "udp"},
                "scan_time": "600ms",
            }
        ]


WALKS: dict[str, Walk] = {
    "sctp-mobile-ip": Walk(
        "sctp-mobile-ip", "walk.toml", "mh", "ftp", ["cell"], ("home", "foreign", "router"), until_s=50.0
    ),
    "tcp-wifi-mobility": Walk("tcp-wifi-mobility", "moving.toml", "n3", "ftp", ["wifi"], has_one_radio=True),
    "mih-handover": Walk("mih-handover", "walk.toml", "mn", "stream", ["wifi", "wimax"]),
}
#: What moves it, its transport, and the scheme.
MOVERS: dict[str, tuple[dict[str, object], str]] = {
    "TCP, nothing": (TCP, "none"),
    "TCP, Mobile IPv4": (TCP, "mobile_ip"),
    "TCP, 802.21 commands": (TCP, "mih"),
    "SCTP, mobile SCTP": (SCTP, "mobile_sctp"),
    "QUIC, migration": (QUIC, "migration"),
}


def measured(walk: Walk, mover: str) -> dict[str, list[float]]:
    """What each replication of a walk measured."""
    transport, scheme = MOVERS[mover]
    found: dict[str, list[float]] = {name: [] for name in ("interruption", "back", "lost", "goodput")}
    tree = walk.tree(transport, scheme)
    for seed in range(1, REPLICATIONS + 1):
        with warnings.catch_warnings():
            # That a scheme does not move the other flows is meant.
            warnings.simplefilter("ignore")
            run = roamsim.run(tree, seed=seed, trace=["throughput", "packets"])
        flow = run.flows.row(by_predicate=polars.col("name") == walk.flow, named=True)
        delivered = (polars.col("quantity") == "delivered") & (polars.col("name") == walk.flow)
        samples = run.samples.filter(delivered)
        times = samples["time_s"].to_list()
        longest, end_s = interruption(times, walk.until_s)
        found["interruption"].append(longest)
        found["back"].append(to_full_rate(times, samples["value"].to_list(), end_s, walk.until_s))
        dropped = (polars.col("event") == "dropped") & (polars.col("flow") == walk.flow)
        # A full queue loses packets without a walk, too.
        dropped &= polars.col("reason") != "queue full"
        found["lost"].append(run.packets.filter(dropped).height)
        found["goodput"].append(flow["goodput_bps"] / 1e6)
    return found


def rows_of(name: str) -> list[str]:
    """The rows of a walk."""
    lines = []
    movers = [mover for mover, (_, scheme) in MOVERS.items() if not (WALKS[name].has_one_radio and scheme == "mih")]
    for place, mover in enumerate(movers):
        found = {key: estimated(values) for key, values in measured(WALKS[name], mover).items()}
        digits = {"interruption": 2, "back": 1, "lost": 0, "goodput": 2}
        cells = [name if place == 0 else "", mover, *(shown(found[key], many) for key, many in digits.items())]
        lines.append(f"| {' | '.join(cells)} |")
        if sys.argv[1:]:
            sys.stdout.write(lines[-1] + "\n")
            sys.stdout.flush()
    return lines


def main(names: list[str]) -> None:
    """Runs everything and writes the table into the page."""
    lines = ["| walk of | moved by | interruption, s | full rate, s | packets lost | goodput, Mb/s |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for name in names or WALKS:
        lines += rows_of(name)
    if not names:
        write_block(PAGE, "layers-studies", lines)


if __name__ == "__main__":
    main(sys.argv[1:])
