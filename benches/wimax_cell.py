"""The 802.16 cells of the benches: stations with a flow by UDP each way.

They fill the cell, or send a packet every frame, or enter it first as ns-3's do.
"""

PAYLOAD_BYTES = 1472
#: More than 48 symbols of 108 octets each way in 5 ms.
OFFERED_BPS = 10_000_000


def both_ways(names: list[str], payload_bytes: int, interval_ns: int, start_ns: int = 0) -> list[dict[str, object]]:
    """A flow from each station and one to it; stations begin one after the other within an interval."""
    flows: list[dict[str, object]] = []
    for i, name in enumerate(names):
        application = {
            "kind": "cbr",
            "packet_size": f"{payload_bytes}B",
            "interval": f"{interval_ns}ns",
            "start": f"{start_ns + i * interval_ns // len(names)}ns",
        }
        for way, ends in (("up", [name, "base-station"]), ("down", ["base-station", name])):
            flow = {"name": f"{way}-{i}", "from": ends[0], "to": ends[1], "transport": {"protocol": "udp"}}
            flows.append(flow | {"application": application})
    return flows


def cell(stations: int, duration_s: float, *, saturated: bool) -> dict[str, object]:
    """The scenario as a tree: a flow each way for each station."""
    names = [f"station-{i}" for i in range(stations)]
    interval_ns = 8_000_000_000 * PAYLOAD_BYTES * stations // OFFERED_BPS if saturated else 5_000_000
    payload_bytes = PAYLOAD_BYTES if saturated else max(1, min(PAYLOAD_BYTES, 2000 // stations))
    return {
        "scenario": {
            "name": f"Bench: 802.16 cell of {stations} stations",
            "duration": f"{duration_s:g}s",
            "ip": "ipv4",
        },
        "node": [{"name": name} for name in ["base-station", *names]],
        "wimax": [{"name": "air", "base_station": "base-station", "stations": names, "queue": {"packets": 100}}],
        "flow": both_ways(names, payload_bytes, interval_ns),
    }


def entered(stations: int, duration_s: int) -> dict[str, object]:
    """What ns-3 carries too: stations enter, send by unsolicited grants, and get as much by best effort."""
    names = [f"station-{i}" for i in range(stations)]
    interval_ns, entry_s, payload_bytes = 12_000_000, 5, 1000
    place = {"x": "0m", "y": "0m"}
    cell_of_all = {
        "name": "air",
        "base_station": "base-station",
        "stations": names,
        "bandwidth": "10MHz",
        "cyclic_prefix": "1/4",
        "frame": "10ms",
        "entry": {"radius": "1km", "dcd_interval": "3s", "ucd_interval": "3s", "ranging_interval": "50ms"},
        "unsolicited_grants": [{"stations": names, "packet_size": f"{payload_bytes + 28}B", "interval": "10ms"}],
    }
    return {
        "scenario": {
            "name": f"Bench: 802.16 cell of {stations} stations that enter it",
            "duration": f"{entry_s + duration_s}s",
            "ip": "ipv4",
        },
        "node": [{"name": name, "position": place} for name in ["base-station", *names]],
        "wimax": [cell_of_all],
        "flow": both_ways(names, payload_bytes, interval_ns, 1_000_000_000 * entry_s),
    }
