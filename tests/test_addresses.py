"""Chosen addresses of nodes: in captures, at the edge, for programs, and in what is refused."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import roamsim
from conftest import ROOT, run_command
from test_capture import capture, tshark
from test_live import PATIENT, WIRE, echo

#: The wire of the live tests, and a flow over it.
FLOW = (
    WIRE
    + """
[[flow]]
name = "download"
from = "server"
to = "phone"
transport = { protocol = "tcp" }
application = { kind = "bulk" }
"""
)

WRONG = (
    "_ws.malformed || tcp.checksum.status == 0 || udp.checksum.status == 0 || ip.checksum.status == 0 "
    "|| sctp.checksum.status == 0 || icmp.checksum.status == 0"
)


def chosen(addresses: dict[str, str], ip: str = "ipv4") -> dict[str, Any]:
    return {"scenario.ip": ip, **{f"node.{node}.address": address for node, address in addresses.items()}}


def rows(file: Path, which: str, *fields: str) -> set[tuple[str, ...]]:
    """The different combinations of fields of the packets that a filter lets pass."""
    shown = tshark(file, "-Y", which, "-T", "fields", *(word for field in fields for word in ("-e", field)))
    return {tuple(line.split("\t")) for line in shown.splitlines()}


@pytest.mark.needs("tshark")
@pytest.mark.parametrize(
    ("ip", "layer", "server", "phone"),
    [("ipv4", "ip", "192.0.2.7", "10.0.0.2"), ("ipv6", "ipv6", "2001:db8:1::7", "2001:db8::2")],
)
def test_captures_show_them_with_right_checksums(
    tmp_path: Path, ip: str, layer: str, server: str, phone: str
) -> None:
    file = capture(tmp_path, FLOW, **chosen({"server": server}, ip))
    assert tshark(file, "-Y", WRONG) == ""
    # The phone has chosen none, and keeps its automatic one.
    assert rows(file, "tcp", f"{layer}.src", f"{layer}.dst") == {(server, phone), (phone, server)}


def test_no_result_depends_on_them() -> None:
    runs = [roamsim.run(FLOW, set=settings) for settings in ({}, chosen({"server": "192.0.2.7"}))]
    assert runs[0].flows.equals(runs[1].flows) and runs[0].links.equals(runs[1].links)


@pytest.mark.needs("tshark")
def test_a_mobile_node_has_one_address_in_all_cells(tmp_path: Path) -> None:
    settings = chosen({"terminal": "192.0.2.9", "server": "203.0.113.5"})
    for agent, access, address in [
        ("home agent", "home cell", "192.0.2.1"),
        ("foreign agent", "foreign cell", "198.51.100.1"),
    ]:
        settings[f"node.{agent}.addresses"] = [{"access": access, "address": address}]
    settings |= {"scenario.duration": "60s", "mobile_ip.walk.reverse_tunnel": True}
    file = capture(tmp_path, ROOT / "examples" / "mobile-ip.toml", **settings)
    assert tshark(file, "-Y", WRONG) == ""
    fields = ("mip.homeaddr", "mip.haaddr", "mip.coa")
    assert rows(file, "mip.type == 1", *fields) == {
        ("192.0.2.9", "192.0.2.1", "198.51.100.1"),
        ("192.0.2.9", "192.0.2.1", "192.0.2.9"),
    }
    tunnels = rows(file, "ip.proto == 4 && tcp.len > 0", "ip.src", "ip.dst")
    assert tunnels == {("198.51.100.1,192.0.2.9", "192.0.2.1,203.0.113.5")}


@pytest.mark.needs("tshark")
def test_a_multihomed_station_tells_its_address_in_each_cell(tmp_path: Path) -> None:
    scenario = (ROOT / "examples" / "mobile-sctp.toml").read_text()
    cells = """addresses = [
  { access = "west cell", address = "192.0.2.7" },
  { access = "east cell", address = "198.51.100.7" },
]"""
    scenario = scenario.replace('name = "terminal"', f'name = "terminal"\n{cells}')
    file = capture(tmp_path, scenario, **{"scenario.duration": "60s", "scenario.ip": "ipv4"})
    assert tshark(file, "-Y", WRONG) == ""
    # The address by which the association is found, and the one that is added: on the way there and back.
    told = rows(file, "sctp.chunk_type == 0xc1 && sctp.parameter_type == 0xc001", "sctp.parameter_ipv4_address")
    assert told == {("192.0.2.7,198.51.100.7",), ("198.51.100.7,192.0.2.7",)}
    result = roamsim.run(scenario, set={"scenario.duration": "60s", "scenario.ip": "ipv4"}, trace="packets")
    added = {text.split()[-1] for text in result.packets["description"] if "ASCONF" in text and " add " in text}
    assert added == {"192.0.2.7", "198.51.100.7"}


def test_packets_from_outside_find_them() -> None:
    nodes = {"server": "192.0.2.7", "phone": "198.51.100.7"}
    world = roamsim.World(WIRE, external=list(nodes), set=chosen(nodes))
    assert [world.addresses(node)[0] for node in nodes] == [[address] for address in nodes.values()]
    server, phone = (bytes(int(part) for part in address.split(".")) for address in nodes.values())
    request = echo(8, server, phone)
    world.inject("server", request)
    # Nobody has the automatic ones.
    world.inject("server", echo(8, bytes([10, 0, 0, 1]), phone))
    world.inject("server", echo(8, server, bytes([10, 0, 0, 2])))
    # The error comes from the chosen address too.
    world.inject("server", echo(8, server, phone, 1502))
    world.step(1_000_000_000)
    error, arrived = world.emitted()
    assert error.octets[12:20] == phone + server
    assert arrived == ("phone", 21_000_000, request)
    row = world.finish().tables["external"].row(0, named=True)
    refused = {name: row[name] for name in row if name.endswith("_packets") and row[name]}
    assert refused == {
        "offered_packets": 4,
        "injected_packets": 1,
        "foreign_source_packets": 1,
        "unknown_destination_packets": 1,
        "too_large_packets": 1,
    }


def test_a_station_of_several_cells_has_one_address_outside() -> None:
    scenario = (ROOT / "examples" / "wifi-roaming.toml").read_text().partition("[[flow]]")[0]
    world = roamsim.World(scenario, external=["walker", "server"], set=chosen({"walker": "192.0.2.7"}))
    assert world.addresses("walker")[0] == ["192.0.2.7"]


@pytest.mark.needs("tun")
def test_programs_have_them_and_names_lead_to_them(tmp_path: Path) -> None:
    wire = tmp_path / "wire.toml"
    wire.write_text(
        WIRE.replace('name = "server"', 'name = "server"\naddress = "192.0.2.7"').replace(
            'name = "phone"', 'name = "phone"\naddress = "198.51.100.7"'
        )
    )
    serve = textwrap.dedent("""
        import socket
        port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        port.bind(("192.0.2.7", 7))
        while True:
            data, sender = port.recvfrom(2000)
            port.sendto(sender[0].encode(), sender)
    """)
    ask = textwrap.dedent("""
        import socket, time
        time.sleep(0.5)
        port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        port.settimeout(5)
        port.sendto(b"x", ("server", 7))
        print("SEEN AS", port.recv(100).decode(), "BY", socket.gethostbyname("server"))
    """)
    python = sys.executable
    done = run_command(
        "live", wire, *PATIENT, "--on", "server", "--", python, "-c", serve, "--on", "phone", "--", python, "-c", ask,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "SEEN AS 198.51.100.7 BY 192.0.2.7" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("server", "phone", "said", "advice"),
    [
        ('address = "192.0.2.7/24"', "", "has a prefix length", 'write "192.0.2.7"'),
        ('address = "fe80::7%sim0"', "", "has a zone", 'write "fe80::7"'),
        ('address = "server.example"', "", '"server.example" is not an IP address', "write an address such as"),
        ('address = "224.0.0.1"', "", "224.0.0.1 is a multicast address", "write an address such as"),
        ('address = "127.0.0.1"', "", "127.0.0.1 is a loopback address", "write an address such as"),
        ('address = "0.0.0.0"', "", "0.0.0.0 stands for no address", "write an address such as"),
        ('address = "255.255.255.255"', "", "255.255.255.255 is the broadcast address", "write an address such as"),
        ('address = "2001:db8::7"', "", "is an address of IPv6, and the scenario has IPv4", 'ip = "ipv6"'),
        ('address = "10.0.0.2"', "", 'is the automatic address of "phone" on "path"', 'an address for "phone" too'),
        ('address = "192.0.2.7"', 'address = "192.0.2.7"', "192.0.2.7 is used twice", "an address of its own"),
        (
            'addresses = [{ access = "pth", address = "192.0.2.7" }]',
            "",
            '"server" is on no link or cell "pth"',
            "it may be `path`",
        ),
        (
            'address = "192.0.2.7"\naddresses = [{ access = "path", address = "192.0.2.8" }]',
            "",
            'every link of "server" has an address in `addresses`',
            "leave `address` out",
        ),
        (
            'addresses = [{ access = "path", address = "192.0.2.7" }, { access = "path", address = "192.0.2.8" }]',
            "",
            '"server" has an address on "path" already',
            "leave one of them out",
        ),
    ],
)
def test_what_no_node_can_have_is_refused(server: str, phone: str, said: str, advice: str) -> None:
    scenario = FLOW.replace('name = "server"', f'name = "server"\n{server}', 1)
    scenario = scenario.replace('name = "phone"', f'name = "phone"\n{phone}', 1)
    with pytest.raises(roamsim.ScenarioError) as refused:
        roamsim.run(scenario)
    told = " ".join(str(refused.value).split())
    assert said in told and advice in told, told
    line = scenario[: scenario.rindex(phone or server)].count("\n") + 1
    assert f":{line}:" in told and told.count("help:") == 1, told


def test_one_address_for_all_links_is_refused_where_each_has_its_own() -> None:
    scenario = (ROOT / "examples" / "mobile-sctp.toml").read_text()
    settings = chosen({"terminal": "192.0.2.7"})
    with pytest.raises(
        roamsim.ScenarioError, match='"terminal" has an address on each link, and this is one for all'
    ):
        roamsim.run(scenario, set=settings)
