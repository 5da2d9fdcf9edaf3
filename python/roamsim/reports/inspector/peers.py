"""Who sends to whom, and through whom no way leads, by the scenario: it tells where a lost packet was to go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any, NamedTuple

#: What packets carry that is no signalling.
DATA = "data"


class Peer(NamedTuple):
    """That a node may send to another, over which protocol, and about what."""

    source: str
    to: str
    protocol: str
    about: str


def ends(canonical: Mapping[str, Any]) -> set[str]:
    """Nodes that forward nothing: a packet that is sent to one is for it.

    Stations of cells, nodes whose addresses stay with their links, and those that have one neighbour.
    """
    try:
        found = {node["name"] for node in canonical.get("node", []) if node.get("multihomed")}
        pairs = [link["between"] for link in canonical.get("link", [])]
        pairs += [[entry["terminal"], entry["gateway"]] for entry in canonical.get("dect", [])]
        for kind, base in (("cell", "base_station"), ("wimax", "base_station"), ("wifi", "access_point")):
            for entry in canonical.get(kind, []):
                found.update(entry["stations"])
                pairs += [[entry[base], station] for station in entry["stations"]]
        there = [node for pair in pairs for node in pair]
        return found | {node for node in set(there) if there.count(node) == 1}
    except (AttributeError, KeyError, TypeError):
        return set()  # no scenario that can be read: nothing is known


def peers(canonical: Mapping[str, Any]) -> set[Peer]:
    """Who may send to whom."""
    try:
        return {*_of_flows(canonical), *_of_signalling(canonical), *_of_mobility(canonical)}
    except (AttributeError, KeyError, TypeError):
        return set()  # as above


def answering(flow: Mapping[str, Any]) -> bool:
    """Whether both ends of a flow over UDP send."""
    return bool(flow.get("bidirectional")) or flow.get("application", {}).get("kind") == "request_response"


def _of_flows(canonical: Mapping[str, Any]) -> Iterator[Peer]:
    for flow in canonical.get("flow", []):
        protocol = flow["transport"]["protocol"]
        yield Peer(flow["from"], flow["to"], protocol, DATA)
        if protocol != "udp" or answering(flow):
            yield Peer(flow["to"], flow["from"], protocol, DATA)
        if protocol == "sctp":
            for source, to in permutations((flow["from"], flow["to"])):
                yield Peer(source, to, protocol, "SCTP addresses")


def _of_signalling(canonical: Mapping[str, Any]) -> Iterator[Peer]:
    groups = [({entry["from"], entry["to"]}, entry) for entry in canonical.get("signalling", [])]
    for entry in canonical.get("handover", []):
        points = [entry["from"]["pos"], *(candidate["pos"] for candidate in entry["to"])]
        groups.append(({entry["mobile_node"], *points}, entry))
    for nodes, entry in groups:
        protocol = entry["transport"]["protocol"]
        for source, to in permutations(nodes, 2):
            yield Peer(source, to, protocol, "MIH")
            if protocol != "udp":
                # Segments without a message: acknowledgements, the opening of a connection.
                yield Peer(source, to, protocol, DATA)


def _of_mobility(canonical: Mapping[str, Any]) -> Iterator[Peer]:
    for entry in canonical.get("mobile_ip", []):
        for source, to in permutations({*entry["mobile_nodes"], entry["home_agent"], *entry["foreign_agents"]}, 2):
            yield Peer(source, to, "udp", "Mobile IP")
    for entry in canonical.get("handover", []):
        for flow in canonical.get("flow", []):
            pair = (flow["from"], flow["to"])
            if entry["mobile_node"] in pair:
                yield from (Peer(source, to, "udp", "redirection") for source, to in permutations(pair))
